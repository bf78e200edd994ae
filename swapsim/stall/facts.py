# SPDX-License-Identifier: GPL-2.0-or-later
"""Who saw and who wrote flags in a trace of reclaim, and between which rows."""

from collections.abc import Iterator
from typing import Final

import numpy as np
import polars as pl

from swapsim.stall.flags import BEFORE_ALL, FACTS
from swapsim.stall.lists import ReclaimLists
from swapsim.stall.recording import ReclaimRows

_NODE: Final = 3
"""Flags that are a node's by all rules."""
_CONGESTED: Final = 4
"""The flag that is a node's too, or that of the lruvec that reclaim aims at."""
_ALL: Final = 7
_NEVER: Final = (1 << 63) - 1
_GROUPS: Final = 1 << 16
"""Keys: a node, or above so many nodes a node and a cgroup."""


def seen_flags(
    rows: ReclaimRows, lists: ReclaimLists, *, own_congestion: bool
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield, by the table of their row, the flags that were seen.

    Parameters
    ----------
    rows : ReclaimRows
    lists : ReclaimLists
    own_congestion : bool
        Congestion is a cgroup's own, as in 6.1, not the node's.

    Yields
    ------
    tuple of str and polars.DataFrame
        Schema FACTS.
    """
    filled_in = _filled_in(rows)
    for table, frame in (
        ("passes", lists.passes.rename({"memcg": "target"})),
        ("lists", lists.lists),
    ):
        decides = "decides" if table == "passes" else "last"
        before = frame.with_columns(
            row="seq",
            seq="first",
            flags="flags_before",
            sure=_none(),
            told=pl.col("first") < pl.col("seq"),
        )
        after = frame.join(filled_in, on="seq", maintain_order="left").with_columns(
            row="seq", after=decides, seq="until", flags="flags_after", sure="flags_set"
        )
        yield table, _facts(before, own_congestion=own_congestion)
        yield table, _facts(after, own_congestion=own_congestion)
    yield "lists", _of_folios(lists)
    if not own_congestion:
        yield "throttles", _of_sleeps(rows, lists)


def written_flags(rows: ReclaimRows, lists: ReclaimLists, *, own_congestion: bool) -> pl.DataFrame:
    """Return the flags that were set and cleared.

    A reclaimer that the recording's end caught may have set or cleared flags that others saw before
    it wrote its row: it wrote them at an unknown time.

    Parameters
    ----------
    rows, lists, own_congestion
        As for `seen_flags`.

    Returns
    -------
    polars.DataFrame
        Schema FACTS.
    """
    first = lists.lists.select("list", after=pl.col("last").cast(pl.Int64))
    ended = rows.lists.join(first, on="list", how="left")
    decides = lists.passes.select("pass", after="decides")
    decided = rows.passes.rename({"memcg": "target"}).join(decides, on="pass", how="left")
    before = lists.moments.select("seq", after="before")
    cleared = rows.clears.rename({"memcg": "target", "flags": "mask"}).join(before, on="seq")
    parts = [
        *(part.with_columns(mask="flags_set", flags="flags_set") for part in (ended, decided)),
        cleared.with_columns(flags=_none()),
        _caught(rows, lists),
    ]
    return pl.concat(
        [
            _facts(
                part.with_columns(
                    pl.col("after").cast(pl.Int64).fill_null(BEFORE_ALL), row="seq", sure=_none()
                ),
                own_congestion=own_congestion,
            )
            for part in parts
        ]
    )


def _none() -> pl.Expr:
    return pl.lit(0, dtype=pl.UInt8)


def _facts(frame: pl.DataFrame, *, own_congestion: bool) -> pl.DataFrame:
    """Give each row its key; where congestion is a cgroup's own, a key of its own."""
    usual = {"mask": pl.lit(_ALL, pl.UInt8), "told": pl.lit(value=True)}
    frame = frame.with_columns(
        told.alias(name) for name, told in usual.items() if name not in frame.columns
    )
    node = pl.col("nid").cast(pl.UInt64)
    if not own_congestion:
        return _shaped(frame.with_columns(key=node))
    group = node + (pl.col("target") + 1) * _GROUPS
    return pl.concat(
        [
            _shaped(frame.with_columns(key=node, mask=pl.col("mask") & _NODE)),
            _shaped(frame.with_columns(key=group, mask=pl.col("mask") & _CONGESTED)),
        ]
    ).filter(pl.col("mask") > 0)


def _shaped(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.col(name).cast(dtype) for name, dtype in FACTS.items())


def _filled_in(rows: ReclaimRows) -> pl.DataFrame:
    """Return the last row up to which each was filled in: its CPU or its task wrote the next.

    What none follows may have been filled in after the recording, and is left out.
    """
    tables = (rows.folios, rows.lists, rows.passes, rows.throttles, rows.rounds, rows.clears)
    following = pl.col("place").shift(-1)
    following = pl.min_horizontal(following.over("cpu"), following.over("pid"))
    seq = pl.col("seq").cast(pl.Int64)
    return (
        pl.concat([table.select("cpu", "pid", "seq") for table in tables])
        .sort("seq")
        .with_row_index("place")
        .select("seq", until=seq.gather(following - 1))
        .drop_nulls()
    )


def _of_folios(lists: ReclaimLists) -> pl.DataFrame:
    """Return what lists' folios saw: of those one after the other that saw the same, two.

    A list of which all saw what it found and left tells no more than it does itself.
    """
    ends = lists.ends.astype(np.int64)
    if not len(ends):
        return pl.DataFrame(schema=FACTS)
    starts = np.concatenate([[0], ends[:-1]])
    seen = lists.folios["node_flags"]
    # What was not looked at is above all flags.
    flags = seen.fill_null(_ALL + 1).to_numpy() & (_ALL + 1 + _NODE)
    seq = lists.folios["seq"].to_numpy().astype(np.int64)
    changes = np.zeros(len(flags) + 1, dtype=bool)
    changes[1:-1] = flags[1:] != flags[:-1]
    changes[starts] = changes[-1] = True
    edges = np.flatnonzero((changes[:-1] | changes[1:]) & (flags <= _ALL))
    of_list = np.searchsorted(ends, edges, side="right")
    found, left = (lists.lists[name].to_numpy() & _NODE for name in ("flags_before", "flags_after"))
    news = (flags[edges] != found[of_list]) | (flags[edges] != left[of_list])
    other = np.zeros(len(ends), dtype=bool)
    other[of_list[news]] = True
    edges, of_list = edges[other[of_list]], of_list[other[of_list]]
    is_first = edges == starts[of_list]
    before = np.where(is_first, lists.lists["after"].to_numpy()[of_list], seq[edges - 1])
    return pl.DataFrame(
        {
            "row": lists.lists["seq"].to_numpy()[of_list],
            "key": lists.lists["nid"].to_numpy()[of_list],
            "after": before,
            "seq": seq[edges],
            "mask": np.full(len(edges), _NODE),
            "flags": flags[edges],
            "sure": np.zeros(len(edges)),
            "told": np.ones(len(edges), dtype=bool),
        }
    ).select(pl.col(name).cast(dtype) for name, dtype in FACTS.items())


def _of_sleeps(rows: ReclaimRows, lists: ReclaimLists) -> pl.DataFrame:
    """Return what wait_iff_congested saw: its list had set the congestion before."""
    own = lists.lists.select("list", "last", sure=pl.col("flags_set") & _CONGESTED)
    asked = (
        rows.throttles.filter(pl.col("reason") == "wait_iff_congested")
        .join(lists.moments.select("seq", after="before"), on="seq", maintain_order="left")
        .join(own, on="list", how="left", maintain_order="left")
        .with_columns(
            pl.col("sure").fill_null(0),
            after=pl.when(pl.col("sure") > 0)
            .then(pl.col("last").cast(pl.Int64))
            .otherwise("after"),
            row="seq",
        )
    )
    return _facts(asked, own_congestion=False)


def _caught(rows: ReclaimRows, lists: ReclaimLists) -> pl.DataFrame:
    """Return what reclaimers may have written that the recording's end caught.

    It may have slept since it set them. Of one that ended nothing before, nobody knows where it
    reclaims, nor whether it is kswapd: it may be anywhere. Only kswapd clears flags, at any time.
    """
    awake = lists.moments.filter(pl.col("kind") != "throttle")
    last = awake.group_by("pid", maintain_order=True).last()
    known = pl.concat(
        [
            rows.lists.select("pid", "nid", "kswapd", "target"),
            rows.passes.select("pid", "nid", "kswapd", target="memcg"),
        ]
    )
    places = known.select("nid", "target").unique(maintain_order=True)
    has_open_list = lists.moments.filter(pl.col("kind") == "open")["pid"].unique()
    within = (pl.col("kind") == "list") | pl.col("pid").is_in(has_open_list.implode())
    going = within | (pl.col("kswapd") & (pl.col("kind") != "clear"))
    own = known.unique("pid", keep="last", maintain_order=True)
    at_home = last.join(own, on="pid")
    strangers = last.join(own, on="pid", how="anti").join(places, how="cross").filter(within)
    sets = pl.concat([at_home.filter(going).drop("kswapd"), strangers])
    clears = pl.concat([at_home.filter("kswapd").drop("kswapd"), strangers])
    return pl.concat(
        [sets.with_columns(flags=pl.lit(_ALL, pl.UInt8)), clears.with_columns(flags=_none())]
    ).with_columns(
        after="seq", seq=pl.lit(_NEVER, dtype=pl.UInt64), mask=pl.lit(_ALL, dtype=pl.UInt8)
    )
