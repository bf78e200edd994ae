# SPDX-License-Identifier: GPL-2.0-or-later
"""What each patch would do for a trace: one figure of every replay that it can feed."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from swapsim import slots, traces
from swapsim.mapping.replay import totals_per_page, writeback_tags
from swapsim.removal.replay import batched_removal
from swapsim.site.tables import AT_A_GLANCE
from swapsim.slots.replay import cluster_next
from swapsim.stall.replay import stall_decisions

_SEEDS: Final = 3
_OF_SWAP: Final = "swap, written"
_MOVED: Final = "lock.moved.add"
_POLICIES: Final = ("shared", "percpu-rerandomise")
_RULES: Final = ("mmotm", "series-8")

_Pair = tuple[float | None, float | None]


class _Figure(NamedTuple):
    """What a replay's figure is of, and how to take it, without the patch and with it."""

    quantity: str
    of: Callable[[Path, str], _Pair]


def at_a_glance(folder: Path | str, *, kernel: str = "6.1") -> pl.DataFrame:
    """Replay a trace by all means that its events allow, and take one figure of each.

    Parameters
    ----------
    folder : Path or str
    kernel : {"4.8", "5.8", "6.1"}
        Whose locks to follow, for the first two patches.

    Returns
    -------
    polars.DataFrame
        Schema AT_A_GLANCE; no row for a replay that lacks an event.

    Raises
    ------
    InputError
        As for the replays themselves.
    """
    can = traces.replays_of(traces.events(folder)["event"]).filter("can")["replay"]
    rows = [
        (replay, figure.quantity, *figure.of(Path(folder), kernel))
        for replay, figure in _FIGURES.items()
        if replay in can
    ]
    columns = {name: AT_A_GLANCE.schema[name] for name in ("replay", "quantity", "base", "patched")}
    frame = pl.DataFrame(rows, schema=columns, orient="row").with_columns(
        change=pl.when(pl.col("base") != 0).then(100 * (pl.col("patched") / pl.col("base") - 1))
    )
    return AT_A_GLANCE.check(frame)


def _acquisitions_written(folder: Path, kernel: str) -> _Pair:
    totals = totals_per_page(writeback_tags(folder, kernel=kernel)).filter(flow=_OF_SWAP)
    return _pair(
        totals.filter(tags=True)["acquisitions"], totals.filter(tags=False)["acquisitions"]
    )


def _acquisitions_removed(folder: Path, kernel: str) -> _Pair:
    counted = batched_removal(folder).filter(kernel=kernel)
    pages = counted["pages"]
    return _pair(counted["page_by_page"] / pages, counted["batched"] / pages)


def _flagged_dirty(folder: Path, _kernel: str) -> _Pair:
    decided = stall_decisions({folder.name: folder})
    share = pl.Series(decided["tail_lru_dirty"] / decided["lists"])
    old, new = (share.filter(decided["rules"] == rules) for rules in _RULES)
    return _pair(old, new)


def _lines_moved(folder: Path, _kernel: str) -> _Pair:
    ranked = slots.ranking(cluster_next(folder, policies=_POLICIES, seeds=_SEEDS), _MOVED)
    old, new = (ranked.filter(policy=policy)["mean"] for policy in _POLICIES)
    return _pair(old, new)


def _pair(base: pl.Series, patched: pl.Series) -> _Pair:
    """Return two figures, None where the trace has nothing of the kind."""
    return (base.first(), patched.first())  # type: ignore[return-value]


_FIGURES: Final[Mapping[str, _Figure]] = {
    "writeback-tags": _Figure(
        "acquisitions of the swap cache's lock a page written to swap", _acquisitions_written
    ),
    "batched-removal": _Figure(
        "acquisitions of the mappings' locks a page that reclaim removes", _acquisitions_removed
    ),
    "stall-decisions": _Figure(
        "share of the lists after which kswapd writes file pages (tail_lru_dirty)",
        _flagged_dirty,
    ),
    "cluster-next": _Figure(
        "share of additions to the swap cache that fetch the lock's line from another CPU",
        _lines_moved,
    ),
}
