# SPDX-License-Identifier: GPL-2.0-or-later
"""A laboratory for four Linux kernel patches on swapping and page reclaim.

Polars in, polars out, over a C core. The verbs are those of the packages, as
``traces.import_text``; ``help(swapsim.traces)`` lists them:

- ``traces``: what real kernels did, as tables: import, describe, read,
- ``probes``: what to record of a kernel of your own,
- ``replay``: a trace and a mechanism to counts, and a kernel's own decisions decided again,
- ``slots``: policies of the slot allocator on a workbench, measured and ranked,
- ``machine``: counts to time: one run, fits, what-ifs, a lab's kernel counted,
- ``export``: a trace, or a run of the machine, as tracks for perfetto and chrome://tracing,
- ``vm``: the world in which reclaim decides: one run of its kernel, tasks and disk,
- ``claims``: published, simulated and measured, side by side and judged,
- ``patches``: a room for each patch: its machines, fit, prediction, questions and verdict,
- ``charts``: checked tables to pictures,
- ``tables``: any table as a reader sees it, in notebooks and in the report,
- ``sweep``: many runs on many processes or machines, stored and kept,
- ``site``: what spans patches: the overview, README's tables, the report, benchmarks,
- ``config``: what mechanisms and machines are made with,
- ``schemas``, ``errors``, ``files``, ``paths``, ``progress``: each table's columns, what can go
  wrong, the door that each file comes through, where files lie, and the bar of what takes long,
- ``interrupt``, ``bounded``: Ctrl-C before all this is imported, and a limit of memory,
- ``cli``: the commands, a file for each subject,
- ``native``: the calls into the C core, for the packages above.

What each command does is done by a function of the same name, or nearly so::

    swapsim import                  traces.import_text
    swapsim info                    traces.info
    swapsim probes                  probes.recording_script
    swapsim export                  export.trace, export.machine
    swapsim replay writeback-tags   replay.writeback_tags
    swapsim replay batched-removal  replay.batched_removal
    swapsim replay stall-decisions  replay.stall_decisions
    swapsim replay cluster-next     replay.cluster_next
    swapsim verify slots            replay.verify_slots
    swapsim verify stalls           replay.verify_stalls
    swapsim rank                    patches.cluster_next.rank
    swapsim compare                 site.yours.compare
    swapsim report                  site.report.write
    swapsim notebooks               site.notebooks.lay_out
    swapsim simulate                site.simulated.simulate
    swapsim bench                   site.bench.run

``@swapsim.policy`` makes a policy of a function of your own.
"""

# As typing's: importing that would be the longest part of importing this.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from swapsim.policies.policy import policy

    __version__: str

__all__ = ["__version__", "policy"]


def __getattr__(name: str) -> object:
    """Return what is asked for: read then, as `policy` and its libraries take most of a second."""
    if name == "policy":
        from swapsim.policies.policy import policy

        return policy
    if name == "__version__":
        from importlib.metadata import version

        return version("swapsim")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
