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


WRITTEN_OVER_TIME: Final = _schema(
    {"kind": pl.String, "second": pl.Float64, "pages_per_second": pl.Float64}
)
"""Pages whose writeback starts per bin of time; kind is swap or file, second the bin's start."""

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
