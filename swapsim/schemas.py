# SPDX-License-Identifier: GPL-2.0-or-later
"""Every table that crosses a border of swapsim, as one schema each.

A schema is compared with ``==`` on entry and exit. Casting is no check: it
would turn 1.5 into 1 without a word.
"""

from collections.abc import Mapping
from typing import Final

import polars as pl

from swapsim.errors import InputError


def _schema(columns: Mapping[str, pl.DataType | type[pl.DataType]]) -> pl.Schema:
    """Make a schema of types and of instances, which mypy would call objects."""
    return pl.Schema(columns)


EVENT_HEAD: Final = _schema(
    {
        "seq": pl.UInt64,
        "t_ns": pl.Int64,
        "cpu": pl.UInt16,
        "pid": pl.Int32,
        "comm": pl.String,
    }
)
"""The columns that each imported event table starts with; its own fields follow."""

BETTER: Final = pl.Enum(["higher", "lower", "neither"])
"""Which direction of a metric is the better one."""

PUBLISHED: Final = _schema(
    {
        "patch": pl.String,
        "mail": pl.String,
        "locator": pl.String,
        "table": pl.String,
        "metric": pl.String,
        "parameters": pl.String,
        "kernel": pl.String,
        "value": pl.Float64,
        "printed": pl.String,
        "decimals": pl.UInt8,
        "stddev_percent": pl.Float64,
        "change_percent_printed": pl.String,
        "change_percent": pl.Float64,
        "unit": pl.String,
        "better": BETTER,
    }
)
"""One row per printed cell of a mail's table (data/published)."""

CLAIMS: Final = _schema(
    {
        "claim": pl.String,
        "patch": pl.String,
        "mail": pl.String,
        "locator": pl.String,
        "metric": pl.String,
        "base": pl.Float64,
        "value": pl.Float64,
        "change": pl.Float64,
        "error": pl.Float64,
        "unit": pl.String,
    }
)
"""One row per published claim, in a table or in prose, against its own base.

``change`` is ``100 * (value - base) / base`` in percent with its plain sign (as the mail prints
it, where it does), ``error`` one standard deviation of it in points. ``locator`` reads
``table | row | base kernel -> value kernel``; the kernels are the labels of PUBLISHED and RESULTS.
"""

TOLERANCES: Final = _schema({"claim": pl.String, "tolerance": pl.Float64, "note": pl.String})
"""How far a result may lie from a claim's change (points) or, without one, from its value."""

COSTS: Final = _schema(
    {
        "name": pl.String,
        "value": pl.Int64,
        "low": pl.Int64,
        "high": pl.Int64,
        "unit": pl.String,
        "source": pl.String,
    }
)
"""One row per constant that turns work into time (data/costs.csv), in the order of the struct of
``machine.h``; low and high are what its source leaves open."""

CARDS: Final = _schema(
    {
        "patch": pl.String,
        "title": pl.String,
        "author": pl.String,
        "date": pl.String,
        "message_id": pl.String,
        "fate": pl.String,
        "before": pl.String,
        "after": pl.String,
        "claims": pl.List(pl.String),
        "contradicted": pl.List(pl.String),
        "model": pl.List(pl.String),
        "not_modelled": pl.List(pl.String),
        "body": pl.String,
    }
)
"""One row per patch card."""

COMPARISON: Final = _schema(
    {
        "metric": pl.String,
        "kernel": pl.String,
        "value": pl.Float64,
        "decimals": pl.UInt8,
        "stddev_percent": pl.Float64,
        "better": BETTER,
    }
)
"""What a printed comparison is made of: one row per metric and kernel, the base kernel first."""

VERDICT: Final = pl.Enum(["agrees", "contradicts", "not simulated", "not measured", "not judged"])
"""How a result stands to a claim; not judged: no figure is published, or no tolerance stored."""

THREE_COLUMNS: Final = _schema(
    {
        "claim": pl.String,
        "patch": pl.String,
        "metric": pl.String,
        "published": pl.Float64,
        "simulated": pl.Float64,
        "measured": pl.Float64,
        "unit": pl.String,
        "tolerance": pl.Float64,
        "simulated_verdict": VERDICT,
        "measured_verdict": VERDICT,
    }
)
"""One row per claim: published beside simulated beside measured, with a verdict on each."""

SOURCE: Final = pl.Enum(["published", "simulated", "measured"])
"""The three columns that stand side by side."""

RESULTS: Final = _schema(
    {
        "patch": pl.String,
        "source": SOURCE,
        "kernel": pl.String,
        "policy": pl.String,
        "n_tasks": pl.UInt32,
        "seed": pl.UInt64,
        "metric": pl.String,
        "value": pl.Float64,
        "unit": pl.String,
    }
)
"""Results in long form: one row per metric of one run."""

MEDIANS: Final = _schema(
    {
        "patch": pl.String,
        "source": SOURCE,
        "kernel": pl.String,
        "policy": pl.String,
        "n_tasks": pl.UInt32,
        "metric": pl.String,
        "unit": pl.String,
        "rounds": pl.UInt32,
        "median": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
    }
)
"""RESULTS over their rounds: the median of each metric and the interval that holds it."""

HELD_AGAINST: Final = _schema(
    {
        "policy": pl.String,
        "metric": pl.String,
        "unit": pl.String,
        "simulated": pl.Float64,
        "measured": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "apart_percent": pl.Float64,
        "agrees": pl.Boolean,
    }
)
"""A simulated count beside the median of a real kernel's rounds and its interval: how far apart
they are, in percent of the measured one, and whether that is within the tolerance."""

SLOTS_IN_USE: Final = _schema(
    {
        "policy": pl.String,
        "seed": pl.UInt64,
        "set": pl.String,
        "first": pl.UInt32,
        "count": pl.UInt32,
    }
)
"""One row per run of neighbouring swap slots that a set has in use: ``count`` from ``first`` on, in
order. Policy and seed are those of the RESULTS that were measured with them."""

TREE_NODES: Final = _schema(
    {
        "experiment": pl.String,
        "slots_of_a_trunk": pl.UInt32,
        "slots_of_a_node": pl.UInt32,
        "set": pl.String,
        "seed": pl.UInt64,
        "slots": pl.UInt32,
        "shadows": pl.UInt32,
        "nodes": pl.UInt32,
        "nodes_by_call_stack": pl.UInt32,
        "nodes_of_the_model": pl.UInt32,
        "apart_percent": pl.Float64,
    }
)
"""One row per set of slots in use and round: how many slots, how many of them with a shadow and not
a page; the nodes that a real kernel had more than before, those whose allocation it puts down to
the swap cache, and those of ``mapping.h`` for the same slots, with its distance from ``nodes``."""

SITE: Final = pl.Enum(["add", "dirty", "start", "end", "move", "delete", "clear-shadow"])
"""Code paths that may take a mapping's lock, in the order in which a page meets them."""

REPLAY_ROWS: Final = _schema(
    {
        "seq": pl.UInt64,
        "op": pl.UInt8,
        "folio": pl.UInt64,
        "index": pl.UInt64,
        "file": pl.UInt64,
        "shadow": pl.UInt64,
    }
)
"""One row per event that touches a mapping, in trace order; ops and markers of ``replay.h``."""

FLOW: Final = pl.Enum(["swap, written", "swap, not written", "file"])
"""Whose page: in the swap cache with a writeback during its stay (swapped out), in the swap
cache without one (swapped in, or not written after all), or in a file's page cache."""

LOCK_SITES: Final = _schema(
    {
        "kernel": pl.String,
        "tags": pl.Boolean,
        "flow": FLOW,
        "site": SITE,
        "calls": pl.UInt64,
        "unresolved": pl.UInt64,
        "contradicted": pl.UInt64,
        "acquisitions": pl.UInt64,
        "descents": pl.UInt64,
        "nodes": pl.UInt64,
        "tag_words": pl.UInt64,
    }
)
"""One row per flow and site of a replay of writeback-tags: calls of the site, those whose
place in a tree the trace does not tell, stays in the swap cache that the trace contradicts
there, acquisitions of the mapping's lock, and the work under those holds: descents of the tree,
nodes touched, tag words touched. ``tags`` says whether the
swap cache keeps writeback tags (patch A off)."""

LOCK_SITES_PER_PAGE: Final = _schema(
    {
        "kernel": pl.String,
        "tags": pl.Boolean,
        "flow": FLOW,
        "site": SITE,
        "pages": pl.UInt64,
        "acquisitions": pl.Float64,
        "descents": pl.Float64,
        "nodes": pl.Float64,
        "tag_words": pl.Float64,
    }
)
"""LOCK_SITES divided by the pages whose writeback started in the flow; flows that wrote none
are left out, for there is no page to divide by."""


SLOT_OP: Final = pl.Enum(["call", "alloc", "done", "fail", "free", "reuse"])
"""What happened to swap slots, in the order of ``enum sws_slot_replay_op``."""

SLOT_EVENTS: Final = _schema(
    {
        "seq": pl.UInt64,
        "cpu": pl.UInt16,
        "pid": pl.Int32,
        "mm": pl.UInt64,
        "op": SLOT_OP,
        "n": pl.UInt32,
        "offset": pl.UInt32,
        "base": pl.UInt32,
        "next": pl.UInt32,
        "lowest": pl.UInt32,
        "highest": pl.UInt32,
    }
)
"""One row per event of the slot allocator while si->lock is held, in lock order.

call: ``n`` slots wanted, the ``base`` before it, ``lowest`` and ``highest``; alloc: ``offset``;
done: ``n`` slots given, ``next`` the base after it; fail: the call ends and stores no base; free:
``n`` slots from ``offset`` on; reuse: a slot held by the swap cache alone was tried, ``n`` = 1 if
that freed it. Null where an op has no such field. ``mm`` is the caller's address space, 0 for a
kernel thread.
"""

SLOT_FAULT: Final = pl.Enum(["none", "base before", "limits", "reuse", "slots", "base after"])
"""Where a call first differs from the model's, in the order of ``enum sws_slot_replay_fault``."""

SLOT_CALLS: Final = _schema(
    {
        "seq": pl.UInt64,
        "cpu": pl.UInt16,
        "pid": pl.Int32,
        "wanted": pl.UInt32,
        "slots": pl.UInt32,
        "exact": pl.UInt32,
        "raced": pl.UInt32,
        "mismatched": pl.UInt32,
        "fault": SLOT_FAULT,
    }
)
"""One row per call of a SLOT_EVENTS trace that ended, in the order of their ends: the slots that
it was given, and of these the ones that the model gives too, those that another task's rows inside
an unlocked scan explain, and the others. ``seq`` and ``cpu`` are those of the call's first row."""


VERIFIED: Final = _schema(
    {
        "trace": pl.String,
        "cpus": pl.UInt32,
        "policy": pl.String,
        "trunks": pl.UInt32,
        "calls": pl.UInt32,
        "slots": pl.UInt64,
        "exact": pl.UInt64,
        "raced": pl.UInt64,
        "mismatched": pl.UInt64,
        "reuses": pl.UInt64,
    }
)
"""One row per SLOT_EVENTS trace: its set-up, and SLOT_CALLS added up. ``reuses`` are the slots
held by the swap cache alone that the kernel tried."""

HANDED_OUT: Final = _schema(
    {
        "run": pl.String,
        "nth": pl.UInt32,
        "cpu": pl.UInt16,
        "pid": pl.Int32,
        "offset": pl.UInt32,
        "trunk": pl.UInt32,
        "mebibytes": pl.Float64,
    }
)
"""One row per slot of a SLOT_EVENTS trace, in the order in which they were handed out: the CPU and
the task that got it, and where it lies on the device."""


REQUEST_OP: Final = pl.Enum(["get", "put"])
"""A page is swapped out, or in."""

REQUESTS: Final = _schema(
    {
        "task": pl.UInt32,
        "mm": pl.Int32,
        "op": REQUEST_OP,
        "owner": pl.UInt32,
        "ordinal": pl.UInt32,
    }
)
"""What the tasks of a SLOT_EVENTS trace ask of the allocator, without where they were served: each
task's rows are in its own order. The page is the one of the ``owner``'s so manieth get, from 0; a
get's owner is the task itself. ``mm`` is the task's address space, -1 for a kernel thread."""

_MEASURES: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    "policy": pl.String,
    "n_cpus": pl.UInt32,
    "seed": pl.UInt64,
    "metric": pl.String,
    "value": pl.Float64,
    "unit": pl.String,
}

SLOT_MEASURES: Final = _schema(_MEASURES)
"""One row per metric of one run of the slot workbench; ``value`` is a quotient of counted numbers,
null where there was nothing to divide by. ``slots.METRICS`` says what each metric is."""

SLOT_SWEEP: Final = _schema({"factor": pl.String, "setting": pl.String, **_MEASURES})
"""SLOT_MEASURES of many runs: the ``factor`` that was varied, and its ``setting``."""

SLOT_RANKING: Final = _schema(
    {
        "factor": pl.String,
        "setting": pl.String,
        "policy": pl.String,
        "n_cpus": pl.UInt32,
        "metric": pl.String,
        "unit": pl.String,
        "seeds": pl.UInt32,
        "mean": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "median": pl.Float64,
        "lowest": pl.Float64,
        "highest": pl.Float64,
        "rank": pl.UInt32,
        "tied_with": pl.List(pl.String),
    }
)
"""One metric of a SLOT_SWEEP over its seeds: the mean with its bootstrap interval, the median, the
least and the most. A rank, within a setting, is one more than the policies whose interval is better
as a whole; ``tied_with`` are those whose interval overlaps."""


MIX: Final = _schema(
    {
        "trace": pl.String,
        "tags": pl.Boolean,
        "pages": pl.UInt64,
        "file_share": pl.Float64,
        "acquisitions": pl.Float64,
    }
)
"""One row per trace and tags: pages written, the share of file pages among them, and
acquisitions of a mapping's lock per page written."""


MACHINE_SITES: Final = _schema(
    {
        "site": pl.String,
        "acquisitions": pl.UInt64,
        "contended": pl.UInt64,
        "moved": pl.UInt64,
        "wait_ns": pl.UInt64,
        "hold_ns": pl.UInt64,
    }
)
"""One row per site where the contention machine takes a lock, as ``lock.function``: acquisitions,
those that found the lock held, those after another CPU's, and the time of all together."""

ACTOR: Final = pl.Enum(["none", "writer", "walker", "kswapd", "interrupt", "stream"])
"""Who has a CPU of the contention machine, in the order of ``enum sws_actor_kind``."""

MACHINE_CPUS: Final = _schema(
    {
        "cpu": pl.UInt32,
        "actor": ACTOR,
        "node": pl.UInt32,
        "run_ns": pl.UInt64,
        "hold_ns": pl.UInt64,
        "wait_ns": pl.UInt64,
        "idle_ns": pl.UInt64,
        "touched": pl.UInt64,
        "accesses": pl.UInt64,
        "pages_out": pl.UInt64,
        "pages_in": pl.UInt64,
        "reclaimed": pl.UInt64,
        "activated": pl.UInt64,
    }
)
"""One row per CPU of the contention machine: where its time went, pages that a writer wrote,
accesses of a walker, pages that it gave to and read from a device, pages of memory that it freed,
and pages that it found referenced on the inactive list."""

SLOT_ANSWERS: Final = _schema(
    {
        "claim": pl.String,
        "asks": pl.String,
        "guess": pl.String,
        "metric": pl.String,
        "base_mean": pl.Float64,
        "base_low": pl.Float64,
        "base_high": pl.Float64,
        "other_mean": pl.Float64,
        "other_low": pl.Float64,
        "other_high": pl.Float64,
        "holds": pl.Boolean,
    }
)
"""One row per question of patch D's thread: a metric on both sides of what was asked, with
bootstrap intervals over the seeds, and whether the guess holds."""


FIT: Final = _schema(
    {
        "target": pl.String,
        "wanted": pl.Float64,
        "found": pl.Float64,
        "off_percent": pl.Float64,
    }
)
"""One row per figure of a base column that a fit had to meet, and by how much it missed."""

OPEN_SHARES: Final = _schema(
    {
        "tag_share": pl.Float64,
        "map_share": pl.Float64,
        "converged": pl.Boolean,
        "tree_ns": pl.UInt32,
        "unmap_ns": pl.UInt32,
        "claim": pl.String,
        "published": pl.Float64,
        "tolerance": pl.Float64,
        "simulated": pl.Float64,
        "patched": pl.Float64,
    }
)
"""One row per fit of patch A's base and claim: the shares that were given, the constants that were
found, the published and the predicted change in percent, and the patched kernel's own figure."""

RANGES: Final = _schema(
    {
        "claim": pl.String,
        "published": pl.Float64,
        "tolerance": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "width": pl.Float64,
        "verdict": pl.String,
        "flips": pl.Boolean,
        "patched_low": pl.Float64,
        "patched_high": pl.Float64,
        "fits": pl.UInt32,
    }
)
"""One row per claim: its change in percent as published, and from where to where several fits of
the same base predict it; ``patched_low`` and ``patched_high`` are the patched kernel's figure."""

TIME_PER_PAGE: Final = _schema(
    {
        "kernel": pl.String,
        "part": pl.String,
        "microseconds": pl.Float64,
        "percent": pl.Float64,
    }
)
"""Where the CPUs' time goes between two pages swapped out: work without a lock, holds and waits of
the swap cache's lock, of si->lock (in 4.8 each look at a map byte takes it), and of all others."""

WHAT_IF: Final = _schema(
    {
        "factor": pl.String,
        "setting": pl.Float64,
        "label": pl.String,
        "fit": pl.String,
        "seed": pl.UInt64,
        "base": pl.Float64,
        "patched": pl.Float64,
        "gain_percent": pl.Float64,
        "base_waits": pl.Float64,
        "patched_waits": pl.Float64,
    }
)
"""One row per case, set of constants and seed: a rate without the patch and with it, and the share
of all CPUs' busy time that is spent in waiting for locks, in percent."""

WHAT_IF_RANGES: Final = _schema(
    {
        "factor": pl.String,
        "setting": pl.Float64,
        "label": pl.String,
        "low": pl.Float64,
        "middle": pl.Float64,
        "high": pl.Float64,
        "base_waits": pl.Float64,
        "patched_waits": pl.Float64,
        "flips": pl.Boolean,
    }
)
"""One row per case: the least, the median and the greatest gain in percent over the fits."""


def require(frame: pl.DataFrame, schema: pl.Schema, name: str) -> pl.DataFrame:
    """Return the frame if its schema is exactly the one asked for.

    Parameters
    ----------
    frame : polars.DataFrame
    schema : polars.Schema
    name : str
        The table's name, for the message.

    Raises
    ------
    InputError
        Naming the first column that is missing, unknown, misplaced or of another type.
    """
    if frame.schema == schema:
        return frame
    for column, dtype in schema.items():
        if column not in frame.columns:
            raise InputError(
                f"table {name} has no such column; it has: {', '.join(frame.columns)}",
                field=column,
            )
        if frame.schema[column] != dtype:
            raise InputError(
                f"table {name} holds {frame.schema[column]} where {dtype} is needed", field=column
            )
    extra = [column for column in frame.columns if column not in schema]
    if extra:
        raise InputError(f"table {name} does not know this column: drop it", field=extra[0])
    raise InputError(f"table {name} has its columns out of order: {', '.join(schema)} is needed")
