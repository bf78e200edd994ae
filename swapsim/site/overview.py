# SPDX-License-Identifier: GPL-2.0-or-later
"""What README, report and notebooks show of all patches, and a user's figures next to it."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from swapsim import claims, frames, mapping, removal, slots, stall, traces
from swapsim.charts import colours, general
from swapsim.checks import checked
from swapsim.claims.cells import require_cells
from swapsim.claims.tables import ANSWERS, CHANCES, THREE_COLUMNS
from swapsim.errors import InputError, errors_of
from swapsim.ffi import POLICIES
from swapsim.frames.table import Table
from swapsim.patches import Patch
from swapsim.patches.cluster_next.answered import slots_matched
from swapsim.site.patches import PATCHES
from swapsim.site.standing import DECIDED, seen_in, totals, verdict_of
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
    """Judge all claims of patches in a frame (THREE_COLUMNS): the verdicts of all pages.

    Without ``simulate`` only real kernels answer. README and the pages do not count claims that
    repeat another one (``repeats``).

    Examples
    --------
    >>> from swapsim.site import overview
    >>> judged = overview.judged()
    >>> judged.filter(claim="A-swap-out").select("published", "simulated_verdict").rows()
    [(22.3, 'open')]
    """
    require_cells()
    stated = claims.published_claims().filter(
        pl.col("patch").is_in([patch.PATCH for patch in patches])
    )
    answers = _all(ANSWERS, (patch.answers() for patch in patches))
    return claims.three_columns(
        stated,
        answers if simulate else answers.filter(source="measured"),
        claims.tolerances(),
        chances=_all(CHANCES, (patch.chances() for patch in patches)),
    )


def of_claims(
    three_columns: pl.DataFrame,
    which: str | None,
    verdicts: Sequence[str] = (),
    *,
    unseen: bool = False,
) -> pl.DataFrame:
    """Return the rows of THREE_COLUMNS of a patch, a mail or a beginning of names, by verdict.

    ``unanswered`` is a verdict of claims that have a reason in both columns. With ``unseen`` only
    verdicts that decide a claim count whose rule was stored before a page had shown the figure. A
    patch, mail or beginning that no claim has is an InputError.
    """
    if which is not None:
        three_columns = three_columns.filter(_is_of(which))
        if three_columns.is_empty():
            raise InputError(_ELSEWHERE if which == "E" else _no_claims(which))
    if not verdicts and not unseen:
        return three_columns
    wanted = tuple(verdicts) or (*DECIDED["simulated"], *DECIDED["measured"])
    none = pl.all_horizontal(
        verdict_of(source).is_in(["not simulated", "not measured"]) for source in DECIDED
    )
    return three_columns.filter(
        pl.any_horizontal(
            none & ("unanswered" in wanted and not unseen),
            *(verdict_of(source).is_in(wanted) & ~(seen_in(source) & unseen) for source in DECIDED),
        )
    )


_ELSEWHERE: Final = (
    "'E', the alternatives to patch D, has no claims of its own: what D's review says of them is "
    "judged as 'swapsim claims D-prose', and notebooks 05 and 07 (on 7.3) compare them"
)


_SUGGESTED: Final = 3  # names that an error suggests
_ALIKE: Final = 0.75  # least similarity of a word that is suggested (difflib's ratio)


def _is_of(which: str) -> pl.Expr:
    """Return whether a claim is of a patch, a mail or a beginning of names."""
    begins = pl.col("claim").str.to_lowercase().str.starts_with(which.lower())
    return (pl.col("patch") == which) | (pl.col("mail") == which) | begins


def _no_claims(which: str) -> str:
    unbuilt = _published(built=False).filter(_is_of(which))["patch"]
    if len(unbuilt):
        return (
            f"{which!r} is published, but no package answers the claims of {unbuilt[0]} yet: "
            "that is step 6 of the guide, help(swapsim.guide.add_a_patch)"
        )
    letters = sorted({name[0] for name in _published()["claim"]})
    patches = ", ".join(patch.PATCH for patch in PATCHES)
    near = _similar(which.lower().replace("_", "-"))
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return (
        f"{which!r} is no patch, mail or beginning of a claim's name: {hint}"
        f"choose one of {patches}, or a beginning ({', '.join(letters)})"
    )


def _published(*, built: bool = True) -> pl.DataFrame:
    """Return the claims of patches that have a package, or of the others."""
    has_package = pl.col("patch").is_in([patch.PATCH for patch in PATCHES])
    return claims.published_claims().filter(has_package if built else ~has_package)


def _similar(which: str) -> list[str]:
    """Return patches, mails and claims, first those that have the words, then those spelt alike.

    The words of a claim are those of its name, then those of its metric; the words of a mail are
    also those of its address and of its authors.
    """
    published = _published()
    names = [*(patch.PATCH for patch in PATCHES), *published["mail"].unique(maintain_order=True)]
    senders = claims.mails().join(
        claims.links().select("target", mail="name"), on="mail", maintain_order="left"
    )
    texts = [
        *((name, name.lower()) for name in [*names, *published["claim"]]),
        *(
            (mail, f"{said} {of}".lower())
            for mail, said, of in senders.select("mail", "message", "target").iter_rows()
            if mail in names
        ),
        *((name, of.lower()) for name, of in published.select("claim", "metric").iter_rows()),
    ]
    words = {text: [word for word in re.split(r"[^a-z0-9]+", text) if word] for _, text in texts}
    parts = [word for word in re.split(r"[^a-z0-9]+", which) if word]
    beginnings = {"-".join(name.split("-")[:n]) for name in published["claim"] for n in (2, 3, 9)}
    spelt = {name.lower(): name for name in [*sorted(beginnings), *names]}
    if begins := [name for each, name in spelt.items() if each.startswith(which)]:
        return sorted(begins, key=len)[:_SUGGESTED]

    def has(text: str) -> bool:
        return all(any(word.startswith(part) for word in words[text]) for part in parts)

    same = [name for name, text in texts if len(which) > 2 and has(text)]
    like = [spelt[each] for each in get_close_matches(which, spelt, 1, _ALIKE)]
    of_like = set(get_close_matches(which, set(chain(*words.values())), 1, _ALIKE))
    other = [name for name, text in texts if of_like & {*words[text]}]
    return list(dict.fromkeys([*same, *like] or other))[:_SUGGESTED]


def judged_texts(patch: Patch) -> pl.DataFrame:
    """Return the texts of all of a patch's claims in three columns, for its notebook.

    ``counted`` is what a real kernel counted where that is not the mail's own figure.
    """
    three_columns = judged([patch])
    counted = three_columns["measured_what"].fill_null("").alias("counted")
    return claims.claim_texts(three_columns).select(
        *("claim", "published", "simulated", "range", "simulated_verdict"),
        *("measured", "measured_verdict", counted),
    )


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


def draw_headlines(rows: pl.DataFrame) -> "alt.ConcatChart":
    """Draw the changes of `headlines`: published, simulated on a reproduced base, and measured."""
    known = pl.col("simulated_verdict").cast(pl.String) != "base not reproduced"
    changes = rows.filter("relative").with_columns(
        pl.when(known).then(pl.col("simulated", "low", "high"))
    )
    ends = {"simulated": ("low", "high"), "measured": ("measured_low", "measured_high")}
    claim = pl.format("{}  {}", pl.col("patch").str.slice(0, 2), "metric").alias("claim")
    drawn = pl.concat(
        [
            changes.select(claim, "published", source=pl.lit("published")),
            *(
                changes.select(claim, source=pl.lit(source), change=source, low=low, high=high)
                for source, (low, high) in ends.items()
            ),
        ],
        how="diagonal",
    )
    figures = drawn.unpivot(["published", "low", "high"])["value"].drop_nulls().to_list()
    return general.dots(
        drawn,
        "change",
        "claim",
        "source",
        published="published",
        colour={
            "published": colours.PUBLISHED,
            "simulated": colours.PATCHED,
            "measured": colours.LAB_AND_SIMULATION["lab"],
        },
        domain=(min(figures) - _MARGIN, max(figures) + _MARGIN),
        words={"change": "change, in percent of the claim's own base"},
    )


_MARGIN: Final = 4  # percent on both sides of a chart, so that no mark touches a name


def main_answers(three_columns: pl.DataFrame) -> pl.DataFrame:
    """Return what each of the four patches claims first, and what answers, in words.

    The columns are ``patch, title, mail, by, merged, main claim, answer``.
    """
    texts = claims.claim_texts(headlines(three_columns))
    rows = []
    merged = outcomes()
    for card in claims.patch_cards().filter(pl.col("patch").is_in([*merged])).to_dicts():
        (first, *_) = texts.filter(patch=card["patch"]).to_dicts()
        rows.append(
            {
                "patch": card["patch"],
                "title": f"{first['claim'][0]}: {card['title']}",
                "mail": first["mail"],
                "by": f"{card['author'].partition(';')[0]}, {card['date'][:4]}",
                "merged": merged[card["patch"]],
                "main claim": f"{first['what']}: {first['published']}",
                "answer": f"{_answer(first, 'simulated', 'range')}; "
                f"{_answer(first, 'measured', 'interval')}",
            }
        )
    return pl.DataFrame(rows)


def outcomes() -> dict[str, str]:
    """Return what became of each of the four patches, in a few words."""
    return {
        patch: re.split(r"\. |:|, not|\.$", outcome)[0]
        for patch, outcome in claims.patch_cards().select("patch", "outcome").iter_rows()
    }


def _answer(text: Mapping[str, str], source: str, within: str) -> str:
    """Return a source's figure with its range and verdict, or why there is none."""
    says = text[f"{source}_verdict"]
    if not text[source]:
        return says if says.startswith("not ") else f"{source}: {says}"
    return f"{source} {text[source]} ({text[within]}): {says}"


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


def verdict(
    three_columns: pl.DataFrame, sites_of: Mapping[str, pl.DataFrame], verified: pl.DataFrame
) -> str:
    """Return the lead of notebook 00: how all claims stand (THREE_COLUMNS, VERIFIED_SLOTS)."""
    handed_out, alike = slots_matched(verified)
    counts = claims.verdicts_by_mail(three_columns)
    of_models, of_kernels = (totals(counts, source) for source in DECIDED)
    own = three_columns.filter(pl.col("repeats").is_null())
    models, kernels = (
        own.select(verdict_of(source).is_in(words)).to_series() for source, words in DECIDED.items()
    )
    nfs = three_columns.filter(pl.col("claim").str.contains("-nfs-"), pl.col("repeats").is_null())
    alike_nfs, against_nfs = (
        nfs.filter(measured_verdict=word).height for word in DECIDED["measured"]
    )
    return claims.lead(
        f"Of {own.height} claims in the patches' mails {(models | kernels).sum()} are decided: "
        f"{models.sum()} by models, {kernels.sum()} by real kernels, {(models & kernels).sum()} by "
        f"both; the others are open, or have a reason.",
        {
            "What is simulated": f"{of_models['reproduced']} are reproduced and "
            f"{of_models['missed']} missed; in {of_models['base_not_reproduced']} more the base, "
            f"the figure without the patch, is not reproduced. A model that misses a figure says "
            f"nothing against the mail.",
            "What is counted": f"The model of the allocator that patch D changes repeats "
            f"{alike:,} of {handed_out:,} swap slots that a real kernel handed out. Patch A's "
            f"locks are counted on {len(sites_of)} traces of a real kernel.",
            "What is measured": f"{of_kernels['confirmed']} are confirmed and "
            f"{of_kernels['contradicted']} contradicted, by direction only, in small guests under "
            f"an emulator ({alike_nfs} and {against_nfs} of them over NFS, in a guest that is its "
            f"own server and so stalls itself).",
        },
    )


def at_a_glance(folder: Path | str, *, kernel: str = "6.1") -> pl.DataFrame:
    """Run each replay that a trace can feed, and return one figure of each (AT_A_GLANCE).

    ``kernel`` has the rules of locks for the first two patches.

    Examples
    --------
    >>> from swapsim import frames
    >>> from swapsim.site import overview
    >>> frames.show(overview.at_a_glance("swap-w-seq").select("replay", "base", "patched"))
    replay           base  patched
    writeback-tags      5    3.00
    batched-removal     1    0.122
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


def show_glance(glance: pl.DataFrame) -> list[object]:
    """Return the bars and the table of AT_A_GLANCE, of a trace without a replay the table alone."""
    table = frames.show(glance, fold="In figures, with the change")
    long = glance.unpivot(
        ["base", "patched"], index="quantity", variable_name="is", value_name="figure"
    )
    if long.is_empty():
        return [table]
    bars = general.bars(
        *(long, "figure", "is"),
        panel="quantity",
        own_axes=True,
        columns=1,
        figures=".3g",
        words={"figure": "by the rules without the patch and with it"},
    )
    return [bars, table]


def on_your_own(
    trace: str,
    feeds: pl.DataFrame,
    glance: pl.DataFrame,
    ranked: pl.DataFrame,
    gains: pl.DataFrame,
    parts: pl.DataFrame,
) -> str:
    """Return the lead of notebook 06, whose tables a user changes."""
    rules = ranked.partition_by("setting", maintain_order=True)
    own = next((name for name in ranked["policy"] if name not in POLICIES), _MERGED)
    (_, young, tied_young), (share, of_seeds, tied) = (_moved(rules[at], own) for at in (0, -1))
    tied_then = "tied" if tied_young else "not tied"
    younger = f" On a younger device the two are {tied_then} ({' and '.join(young)})."
    return claims.lead(
        f"The models run on your own case: here on the trace {trace}, the rule {own}, the cost "
        f"{gains['costs'][-1]}, and a patch of which {parts['there'].sum()} of {parts.height} "
        f"parts are there.",
        {
            "Your trace": _on_a_trace(feeds, glance),
            "Your rule": f"With {own} {share[0]} ({of_seeds[0]}) of the additions to the swap "
            "cache fetch the lock's cache line from another CPU, with the merged rule "
            f"{share[1]} ({of_seeds[1]}){tied}.{younger if len(rules) > 1 else ''}",
            "Your machine": "The merged patch D, a scan base for each CPU, gains "
            f"{_gained(gains.row(-1, named=True))} on it, and "
            f"{_gained(gains.row(0, named=True))} with the usual costs. Ranges are over seeds, "
            "not costs.",
        },
    )


def _gained(row: Mapping[str, float]) -> str:
    waits = f"{row['base_waits']:.0f} % lock waits"
    return f"{row['middle']:.1f} % ({row['low']:.1f} to {row['high']:.1f}, {waits})"


def _moved(ranked: pl.DataFrame, policy: str) -> tuple[list[str], list[str], str]:
    """Return the medians of a policy and of the merged one, their intervals, and if they tie."""
    rows = {row["policy"]: row for row in ranked.iter_rows(named=True)}
    both = (rows[policy], rows[_MERGED])
    medians = [f"{100 * row['median']:.0f} %" for row in both]
    intervals = [f"{100 * row['low']:.0f} to {100 * row['high']:.0f}" for row in both]
    return medians, intervals, ", tied" if _MERGED in rows[policy]["tied_with"] else ""


def _on_a_trace(feeds: pl.DataFrame, glance: pl.DataFrame) -> str:
    """Return which replays a trace feeds and what they change, or what those of A and B lack."""
    can = feeds.filter("can")["replay"].to_list()
    fed = f"It can feed {len(can)} of {feeds.height} replays"
    fed += f": {', '.join(can)}." if can else "."
    if glance.is_empty():
        lacking = "; ".join(
            f"{row['replay']} lacks {row['missing']}"
            for row in feeds.filter(~pl.col("can")).head(2).iter_rows(named=True)
        )
        return f"{fed} No change by a patch is counted: {lacking}."
    figures = ", and ".join(
        f"{row['quantity']} from {row['base']:.2f} to {row['patched']:.2f}"
        for row in glance.drop_nulls("change").iter_rows(named=True)
    )
    return f"{fed} The patches change {figures or 'no figure'}."


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
    """Metrics that fit claims (FOUR_COLUMNS), those that do not (UNMATCHED), and both kernels."""

    columns: pl.DataFrame
    unmatched: pl.DataFrame
    base: str
    patched: str


@checked
def compare(
    path: Path | str, *, base: str | None = None, patched: str | None = None, simulate: bool = True
) -> Compared:
    """Compare a user's measurements with published, simulated and measured figures.

    Examples
    --------
    >>> import polars as pl
    >>> from swapsim.site import overview
    >>> runs = {"metric": ["vmstat.swap.so"], "base": [1207402], "patched": [1476578]}
    >>> pl.DataFrame(runs).with_columns(unit=pl.lit("KiB/s")).write_csv("runs.csv")
    >>> compared = overview.compare("runs.csv")
    >>> compared.columns.filter(claim="A-swap-out").select("published", "yours").rows()
    [(22.3, 22.293817634888804)]
    """
    runs = claims.your_runs(path)
    with errors_of(path):
        kernels = claims.two_kernels(runs, base, patched)
    fitting = claims.fitting(runs, claims.published_claims(), path)
    patches = [patch for patch in PATCHES if patch.PATCH in fitting["patch"]]
    columns, unmatched = claims.four_columns(
        judged(patches, simulate=simulate), runs, fitting, base=kernels[0], patched=kernels[1]
    )
    return Compared(columns=columns, unmatched=unmatched, base=kernels[0], patched=kernels[1])


if __name__ == "__main__":
    print(frames.text(claims.verdicts_by_mail(judged())))
