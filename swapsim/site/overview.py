# SPDX-License-Identifier: GPL-2.0-or-later
"""What README, report and notebooks show of all patches, and a user's figures next to it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from swapsim import claims, mapping, removal, slots, stall, traces
from swapsim import progress as bars
from swapsim.claims.tables import RANGES, RESULTS
from swapsim.frames.table import Table
from swapsim.patches import Patch
from swapsim.patches.cluster_next.conclusions import slots_matched
from swapsim.site.patches import PATCHES
from swapsim.site.tables import AT_A_GLANCE

if TYPE_CHECKING:
    import altair as alt

FEW_SEEDS: Final = (1, 2, 3, 4, 5)
"""Seeds of the runs behind a headline, which is rounded to percent."""

_Pair = tuple[float | None, float | None]


def fits() -> dict[str, pl.DataFrame]:
    """Return the constants of each patch whose base is fitted, by patch (CONSTANTS)."""
    found = {patch.PATCH: patch.headline_fit() for patch in PATCHES}
    return {name: fit.constants for name, fit in found.items() if fit is not None}


def simulated(patches: Sequence[Patch] = PATCHES) -> pl.DataFrame:
    """Return the tables of patches' mails as they are simulated with FEW_SEEDS (RESULTS)."""
    return _all(RESULTS, (patch.headline_results(FEW_SEEDS) for patch in patches))


def ranges(patches: Sequence[Patch] = PATCHES) -> pl.DataFrame:
    """Return the claims of patches' mails over all fits that meet their bases (RANGES)."""
    return _all(RANGES, (patch.headline_ranges() for patch in patches))


def measured(patches: Sequence[Patch] = PATCHES) -> pl.DataFrame:
    """Return what a real kernel measured, under the names of the mails' tables (RESULTS)."""
    return _all(RESULTS, (patch.measured_as_mailed() for patch in patches))


def _all(table: Table, frames: Iterable[pl.DataFrame | None]) -> pl.DataFrame:
    """Return the rows of all frames of a table."""
    found = [frame for frame in frames if frame is not None]
    return pl.concat([pl.DataFrame(schema=table.schema), *found])


def picture() -> "alt.Chart":
    """Draw the picture at the top of README and the report: patch A on a trace, by site."""
    sites = mapping.writeback_tags(traces.shipped("writeback-tags")["random-80-20"])
    return mapping.charts.acquisitions_by_site(mapping.per_page(sites))


def headlines(results: pl.DataFrame) -> pl.DataFrame:
    """Compare each patch's main claims with what was simulated and measured (RESULTS).

    Returns
    -------
    polars.DataFrame
        ``patch``, ``claim`` in words, ``published``, ``simulated`` and ``measured`` changes in
        percent, null where there is no figure.
    """
    three = claims.three_columns(claims.published_claims(), results, claims.tolerances())
    split = pl.col("headlines").str.splitn(": ", 2).struct.rename_fields(["claim", "words"])
    order = claims.patch_cards().explode("headlines").select(split.alias("split")).unnest("split")
    return order.join(three, on="claim", how="left", maintain_order="left").select(
        "patch", pl.col("words").alias("claim"), "published", "simulated", "measured"
    )


def lock_relief(constants: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Compare how each patch relieves the swap cache's lock: mail, machine, real kernel.

    ``constants`` are those of `fits`. The columns are ``patch`` and those of
    `machine.summary.lock_relief`.
    """
    found = {
        patch.PATCH: patch.headline_locks(constants[patch.PATCH])
        for patch in PATCHES
        if patch.PATCH in constants
    }
    return pl.concat(
        frame.select(pl.lit(name).alias("patch"), pl.all())
        for name, frame in found.items()
        if frame is not None
    )


def verdict(
    three_columns: pl.DataFrame,
    sites_of: Mapping[str, pl.DataFrame],
    verified: pl.DataFrame,
    directions: pl.DataFrame,
) -> str:
    """Summarise in five sentences how all claims stand.

    Parameters
    ----------
    three_columns : polars.DataFrame
        Schema THREE_COLUMNS, all claims.
    sites_of : mapping of str to polars.DataFrame
        Name of a trace -> its LOCK_SITES under kernel 4.8.
    verified : polars.DataFrame
        Schema VERIFIED_SLOTS: the slot allocator compared with the slot traces.
    directions : polars.DataFrame
        Schema DIRECTIONS: claims of direction, judged by a real kernel's runs.
    """
    moved = directions.filter(pl.col("claimed") != "stays")
    supported = (moved["says"] == "for").sum()
    handed_out, alike = slots_matched(verified)
    simulated = three_columns["simulated"].is_not_null().sum()
    agree, differ, wide, other = (
        (three_columns["simulated_verdict"] == verdict).sum()
        for verdict in ("agrees", "contradicts", "open", "not judged")
    )
    return (
        f"The four mails make {three_columns.height} claims. For {simulated} of them the "
        f"simulations give a figure: {agree} agree within their tolerance, {differ} contradict the "
        f"published figure, {wide} are open, and {other} have no tolerance. Patch A's locks are "
        f"counted on {len(sites_of)} traces of a real kernel. Of {handed_out:,} slots that a real "
        f"kernel handed out in {verified.height} more, the model of patch D's allocator hands out "
        f"{alike:,}. Of patch C's {moved.height} claims that a figure falls or rises, a small "
        f"version of its test on a real kernel supports {supported}."
    )


def at_a_glance(folder: Path | str, *, kernel: str = "6.1") -> pl.DataFrame:
    """Run each replay that a trace can feed, and return one figure of each.

    Parameters
    ----------
    folder : Path or str
    kernel : {"4.8", "5.8", "6.1"}
        Rules of locks, for the first two patches.

    Returns
    -------
    polars.DataFrame
        Schema AT_A_GLANCE; a replay that lacks an event has no row.
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


class _Figure(NamedTuple):
    """The quantity of a replay's figure, and how to compute it without the patch and with it."""

    quantity: str
    of: Callable[[Path, str], _Pair]


def _acquisitions_written(folder: Path, kernel: str) -> _Pair:
    sites = mapping.writeback_tags(folder, kernel=kernel)
    totals = mapping.totals_per_page(sites).filter(flow="swap, written")
    return _pair(
        totals.filter(tags=True)["acquisitions"], totals.filter(tags=False)["acquisitions"]
    )


def _acquisitions_removed(folder: Path, kernel: str) -> _Pair:
    counted = removal.batched_removal(folder).filter(kernel=kernel)
    pages = counted["pages"]
    return _pair(counted["page_by_page"] / pages, counted["batched"] / pages)


def _flagged_dirty(folder: Path, _kernel: str) -> _Pair:
    decided = stall.stall_decisions({folder.name: folder})
    share = pl.Series(decided["tail_lru_dirty"] / decided["lists"])
    old, new = (share.filter(decided["rules"] == rules) for rules in ("mmotm", "series-8"))
    return _pair(old, new)


def _lines_moved(folder: Path, _kernel: str) -> _Pair:
    policies = ("shared", "percpu-rerandomise")
    counted = slots.cluster_next(folder, policies=policies, seeds=3)
    ranked = slots.ranking(counted, "lock.moved.add")
    old, new = (ranked.filter(policy=policy)["mean"] for policy in policies)
    return _pair(old, new)


def _pair(base: pl.Series, patched: pl.Series) -> _Pair:
    """Return two figures, None where the trace has no page of the kind."""
    return (base.first(), patched.first())  # type: ignore[return-value]


_FIGURES: Final[Mapping[str, _Figure]] = {
    "writeback-tags": _Figure(
        "acquisitions of the swap cache's lock a page written to swap", _acquisitions_written
    ),
    "batched-removal": _Figure(
        "acquisitions of the mappings' locks a page that reclaim removes", _acquisitions_removed
    ),
    "stall-decisions": _Figure(
        "share of the lists after which kswapd writes file pages (tail_lru_dirty)", _flagged_dirty
    ),
    "cluster-next": _Figure(
        "share of additions to the swap cache that fetch the lock's line from another CPU",
        _lines_moved,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Metrics that fit claims (FOUR_COLUMNS), those that do not (UNMATCHED), and both kernels."""

    columns: pl.DataFrame
    unmatched: pl.DataFrame
    base: str
    patched: str


def compare(
    path: Path | str,
    *,
    base: str | None = None,
    patched: str | None = None,
    simulate: bool = True,
    progress: bool = False,
) -> Compared:
    """Compare a user's measurements with published, simulated and measured figures."""
    runs = claims.your_runs(path)
    kernels = claims.two_kernels(runs, base, patched)
    published = claims.published_claims()
    fitting = claims.fitting(runs, published)
    patches = [patch for patch in PATCHES if patch.PATCH in fitting["patch"]]
    results, over_fits = [measured(patches)], ranges(())
    with bars.bar(len(patches), "simulate", "patches", shown=progress) as bar:
        for patch in patches if simulate else ():
            results.append(simulated([patch]))
            over_fits.vstack(ranges([patch]), in_place=True)
            bar.update()
    three = claims.three_columns(published, pl.concat(results), claims.tolerances(), over_fits)
    columns, unmatched = claims.four_columns(
        three, runs, fitting, base=kernels[0], patched=kernels[1]
    )
    return Compared(columns=columns, unmatched=unmatched, base=kernels[0], patched=kernels[1])
