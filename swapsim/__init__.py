# SPDX-License-Identifier: GPL-2.0-or-later
"""A laboratory for four Linux kernel patches on swapping and page reclaim.

Polars frames in, polars frames out, over a C core. New here? Begin with the guide:

- ``guide``: five tasks, line by line: record and replay, compare your runs, write a policy, a
  machine of your own, add a patch,
- ``cli``: the command line; each command calls a function of this package.

One package for each subject, with the same name in ``corelib/src``; ``help(swapsim.stall)`` lists
its functions:

- ``mapping``: a mapping's tree and its writeback tags (patch A),
- ``removal``: batched removal under one tree_lock (patch B),
- ``stall``: reclaim's stall decisions, and a real kernel's decisions replayed (patch C),
- ``slots``: the swap slot allocator, its workbench and its policies' ranking (patches D and E),
- ``clusters``: the cluster allocators of Linux 6.12 to 7.3, and a real kernel's replayed,
- ``generations``: what reclaim decides with generations on 6.12 and 7.3, a real kernel's verified,
- ``policies``: policies of the swap slots: for the scan base, built in and a user's own, and a
  user's own for lists of clusters and for the type of pages that reclaim takes,
- ``machine``: the contention machine, which turns counts of the mechanisms into time,
- ``reclaim``: the simulated machine in which reclaim decides.

What they share:

- ``traces``: trace folders of real kernels: import, description, probes for recording,
- ``published``: the mails' tables, row by row: published, simulated, measured,
- ``claims``: what the mails print and a real kernel counted, read and summed up,
- ``study``: many runs on many processes, stored results and their fingerprints,
- ``frames``: declared columns and tables, and how a frame is shown,
- ``charts``: theme, colours and interaction of all charts,
- ``errors``: what a call may raise; each message is one line.

And over the subjects:

- ``patches``: each patch's machine, fit, prediction, lab runs and columns; what became
  of them on Linux 6.12 and 7.3 (``patches.newer_kernels``),
- ``live``: panels that run in a page, and the same rows from the native library,
- ``site``: what covers all patches: report, stored results, benchmarks.

Internal, without a page: ``checks``, ``ffi``, ``interrupt``, ``io``, ``lazy``,
``progress``, ``version``.

Each command is done by a function of the same or nearly the same name:

- ``swapsim import``: `traces.import_text`,
- ``swapsim info``: `traces.info`,
- ``swapsim probes``: `traces.probes.recording_script`,
- ``swapsim replay writeback-tags``: `mapping.writeback_tags`,
- ``swapsim replay batched-removal``: `removal.batched_removal`,
- ``swapsim replay stall-decisions``: `stall.stall_decisions`,
- ``swapsim replay cluster-next``: `slots.cluster_next`,
- ``swapsim replay clusters``: `clusters.replay`,
- ``swapsim replay generations``: `generations.replay`,
- ``swapsim verify slots``: `slots.verify_slots`,
- ``swapsim verify stalls``: `stall.verify_stalls`,
- ``swapsim verify clusters``: `clusters.verify_clusters`,
- ``swapsim verify generations``: `generations.verify_generations`,
- ``swapsim rank``: `patches.cluster_next.rank`, `clusters.ranking.rank_policies`,
- ``swapsim tables``: `published.compare`, `charts.mails.show`,
- ``swapsim compare``: `published.read`, `published.compare`,
- ``swapsim report``: `site.report.write`,
- ``swapsim notebooks``: `site.notebooks.lay_out`,
- ``swapsim simulate``: `site.simulated.simulate`,
- ``swapsim bench``: `site.bench.run`.

``@swapsim.policy``, ``@swapsim.list_policy`` and ``@swapsim.type_policy`` make a policy of a Python
function.
"""

from swapsim import lazy

# The same name as in typing, whose import would take longer than the rest of this module.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from swapsim import charts as charts
    from swapsim import claims as claims
    from swapsim import clusters as clusters
    from swapsim import errors as errors
    from swapsim import frames as frames
    from swapsim import generations as generations
    from swapsim import guide as guide
    from swapsim import live as live
    from swapsim import machine as machine
    from swapsim import mapping as mapping
    from swapsim import patches as patches
    from swapsim import policies as policies
    from swapsim import published as published
    from swapsim import reclaim as reclaim
    from swapsim import removal as removal
    from swapsim import site as site
    from swapsim import slots as slots
    from swapsim import stall as stall
    from swapsim import study as study
    from swapsim import traces as traces
    from swapsim.policies.lists import list_policy as list_policy
    from swapsim.policies.page_types import type_policy as type_policy
    from swapsim.policies.policy import policy as policy
    from swapsim.version import __version__ as __version__
else:
    lazy.export(__name__)
