# SPDX-License-Identifier: GPL-2.0-or-later
"""What README, report and notebooks show of all patches, and a user's figures next to it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from swapsim import claims, frames, mapping, removal, slots, stall, traces
from swapsim import progress as bars
from swapsim.checks import checked
from swapsim.claims.mthp import fallback_shares
from swapsim.claims.tables import CHANCES, RESULTS, SIMULATED_CLAIMS, THREE_COLUMNS
from swapsim.ffi import POLICIES
from swapsim.frames.table import Table
from swapsim.patches import Patch
from swapsim.patches.cluster_next.notebook_04 import slots_matched
from swapsim.site.patches import PATCHES
from swapsim.site.tables import AT_A_GLANCE

if TYPE_CHECKING:
    import altair as alt

_MERGED: Final = "percpu-rerandomise"
_Pair = tuple[float | None, float | None]


def fits() -> dict[str, pl.DataFrame]:
    """Return the constants of each patch whose base is fitted, by patch (CONSTANTS)."""
    found = {patch.PATCH: patch.headline_fit() for patch in PATCHES}
    return {name: fit.constants for name, fit in found.items() if fit is not None}


def judged(patches: Sequence[Patch] = PATCHES, *, simulate: bool = True) -> pl.DataFrame:
    """Judge all claims of patches (THREE_COLUMNS): the verdicts of all pages and notebooks.

    With ``simulate``, the figures of stored studies are judged, too.
    """
    stated = claims.published_claims().filter(
        pl.col("patch").is_in([patch.PATCH for patch in patches])
    )
    simulated = (patch.simulated_claims() for patch in patches if simulate)
    return claims.three_columns(
        stated,
        measured(patches),
        claims.tolerances(),
        _all(SIMULATED_CLAIMS, simulated),
        _all(CHANCES, (patch.chances() for patch in patches)),
    )


def judged_texts(patch: Patch) -> pl.DataFrame:
    """Return the texts of a patch's simulated claims, for its notebook."""
    return (
        claims.claim_texts(judged([patch]))
        .filter(pl.col("simulated") != "")
        .select("claim", "published", "simulated", "range", "simulated_verdict")
    )


def measured(patches: Sequence[Patch] = PATCHES) -> pl.DataFrame:
    """Return what a real kernel measured, under the names of the mails' tables (RESULTS)."""
    return _all(RESULTS, (patch.measured_as_mailed() for patch in patches))


def _all(table: Table, frames: Iterable[pl.DataFrame | None]) -> pl.DataFrame:
    """Return the rows of all frames of a table."""
    found = [frame for frame in frames if frame is not None]
    return pl.concat([pl.DataFrame(schema=table.schema), *found])


def picture() -> "alt.ConcatChart":
    """Draw the picture at the top of README and the report: patch A on a trace, by site."""
    sites = mapping.writeback_tags(traces.shipped("writeback-tags")["random-80-20"])
    return mapping.charts.work_by_site(mapping.per_page(sites))


def headlines(three_columns: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the patches' main claims, in the words and the order of the cards."""
    split = pl.col("headlines").str.splitn(": ", 2).struct.rename_fields(["claim", "words"])
    order = claims.patch_cards().explode("headlines").select(split.alias("split")).unnest("split")
    frame = order.join(three_columns, on="claim", maintain_order="left")
    return frame.with_columns(metric="words").select(THREE_COLUMNS.names())


def lock_relief(constants: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Compare how each patch relieves the swap cache's lock, by the constants of `fits`."""
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


def standing(counted: pl.DataFrame) -> str:
    """Return two sentences on how many claims have each verdict, by `claims.verdicts_by_patch`."""
    sentences = []
    for source in ("simulated", "measured"):
        rows = counted.filter(source=source)
        total = {name: int(rows[name].sum()) for name in counted.columns[2:]}
        figures = total["claims"] - total["no_figure"]
        others = {
            words: total[words.replace(" ", "_")]
            for words in ("open", "not determinable", "not judged")
        }
        rest = ", ".join(f"{count} are {words}" for words, count in others.items() if count)
        sentences.append(
            f"Of {figures} {source} figures {total['agrees']} agree with the mails and "
            f"{total['contradicts']} contradict them; {rest}."
        )
    return " ".join(sentences)


def verdict(
    three_columns: pl.DataFrame, sites_of: Mapping[str, pl.DataFrame], verified: pl.DataFrame
) -> str:
    """Return the lead of notebook 00: how all claims stand (THREE_COLUMNS, VERIFIED_SLOTS)."""
    moved = three_columns.filter(pl.col("claimed") != "stays")
    agreed = (moved["direction"] == "agrees").sum()
    handed_out, alike = slots_matched(verified)
    counts = claims.verdicts_by_patch(three_columns).filter(source="simulated")
    total = {name: int(counts[name].sum()) for name in counts.columns[2:]}
    figures = total["claims"] - total["no_figure"]
    others = figures - total["agrees"] - total["contradicts"]
    return claims.lead(
        f"Of the {figures} claims that are simulated {total['agrees']} agree, "
        f"{total['contradicts']} contradict, and {others} are open or cannot be judged.",
        {
            "What is simulated": f"The mails on the four patches and on large folios make more "
            f"claims ({total['claims']}); the others are sentences on the code, or rows that a "
            f"model does not have. Of the figures {total['open']} are open, "
            f"{total['not_determinable']} are not determinable by the mail's own noise, and "
            f"{total['not_judged']} are not judged, mostly where the mail prints zeros.",
            "What is counted": f"The model of patch D's allocator repeats {alike:,} of "
            f"{handed_out:,} slots that a real kernel handed out. Patch A's locks are counted on "
            f"{len(sites_of)} traces of a real kernel.",
            "What is measured": f"Of patch C's claims that a figure falls or rises {agreed} of "
            f"{moved.height} agree in a small version of its test on a real kernel. Rates of A, B "
            f"and D are not measured, because an emulator distorts time.",
        },
    )


def at_a_glance(folder: Path | str, *, kernel: str = "6.1") -> pl.DataFrame:
    """Run each replay that a trace can feed, and return one figure of each (AT_A_GLANCE).

    ``kernel`` has the rules of locks for the first two patches.
    """
    can = traces.replays_of(traces.events(folder)["event"]).filter("can")["replay"]
    rows = [
        (replay, figure.quantity, *figure.of(traces.locate(folder), kernel))
        for replay, figure in _FIGURES.items()
        if replay in can
    ]
    columns = {name: AT_A_GLANCE.schema[name] for name in ("replay", "quantity", "base", "patched")}
    frame = pl.DataFrame(rows, schema=columns, orient="row").with_columns(
        change=pl.when(pl.col("base") != 0).then(100 * (pl.col("patched") / pl.col("base") - 1))
    )
    return AT_A_GLANCE.check(frame)


def on_your_own(
    trace: str,
    feeds: pl.DataFrame,
    glance: pl.DataFrame,
    ranked: pl.DataFrame,
    gains: pl.DataFrame,
    parts: pl.DataFrame,
) -> str:
    """Return the lead of notebook 06, whose tables a user changes."""
    figures = ", and ".join(
        f"{row['quantity']} from {row['base']:.2f} to {row['patched']:.2f}"
        for row in glance.drop_nulls("change").iter_rows(named=True)
    )
    share = {
        row["policy"]: f"{100 * row['mean']:.0f} % ({100 * row['low']:.0f} to "
        f"{100 * row['high']:.0f} %)"
        for row in ranked.iter_rows(named=True)
    }
    own = next((name for name in share if name not in POLICIES), _MERGED)
    usual, yours = (
        fmean(gains.filter(costs=gains["costs"][at])["gain_percent"].to_list()) for at in (0, -1)
    )
    return claims.lead(
        f"The models run on your own case: here on the trace {trace}, a rule {own}, costs "
        f"{gains['costs'][-1]}, and a patch of which {parts['there'].sum()} of {parts.height} "
        f"parts are there.",
        {
            "Your trace": f"It can feed {feeds['can'].sum()} of {feeds.height} replays. "
            f"The patches change {figures or 'no figure'}.",
            "Your rule": f"With {own} {share[own]} of the additions to the swap cache fetch the "
            f"lock's line from another CPU, with the merged rule {share[_MERGED]}.",
            "Your machine": f"The merged patch D gains {yours:.0f} % on it, and {usual:.0f} % with "
            f"the usual costs.",
        },
    )


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
        "acquisitions of the swap cache's lock per page written to swap", _acquisitions_written
    ),
    "batched-removal": _Figure(
        "acquisitions of the mappings' locks per page that reclaim removes", _acquisitions_removed
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
    """Metrics that fit claims (FOUR_COLUMNS), those that do not (UNMATCHED), and both kernels.

    ``shares`` (FALLBACK_SHARES) is empty unless the counters of large folios are given.
    """

    columns: pl.DataFrame
    unmatched: pl.DataFrame
    shares: pl.DataFrame
    base: str
    patched: str


@checked
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
    fitting = claims.fitting(runs, claims.published_claims())
    patches = [patch for patch in PATCHES if patch.PATCH in fitting["patch"]]
    three = [judged((), simulate=simulate)]
    with bars.bar(len(patches), "simulate", "patches", shown=progress and simulate) as bar:
        for patch in patches:
            three.append(judged([patch], simulate=simulate))
            bar.update()
    columns, unmatched = claims.four_columns(
        pl.concat(three), runs, fitting, base=kernels[0], patched=kernels[1]
    )
    shares = fallback_shares(runs, claims.published_claims(), base=kernels[0], patched=kernels[1])
    return Compared(
        columns=columns, unmatched=unmatched, shares=shares, base=kernels[0], patched=kernels[1]
    )


if __name__ == "__main__":
    print(frames.text(claims.verdicts_by_patch(judged())))
