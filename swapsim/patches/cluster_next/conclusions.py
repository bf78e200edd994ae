# SPDX-License-Identifier: GPL-2.0-or-later
"""Conclusions: the verdicts of notebooks 04 and 05, and how the swap cache's lock is relieved."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from swapsim import claims, slots, traces
from swapsim.machine import summary
from swapsim.machine.tables import WHAT_IF_RANGES
from swapsim.patches.cluster_next.alternatives import mean_of
from swapsim.patches.cluster_next.prediction import PATCH
from swapsim.patches.cluster_next.prediction import runs as simulated_runs
from swapsim.patches.cluster_next.studies import MERGED
from swapsim.slots.tables import SLOT_ANSWERS, SLOT_RANKING, VERIFIED_SLOTS


def verdict(
    verified: pl.DataFrame,
    measures: pl.DataFrame,
    predicted: pl.DataFrame,
    life: pl.DataFrame,
    *,
    tasks: pl.DataFrame,
    drives: pl.DataFrame,
) -> str:
    """Return the lead of notebook 04.

    Parameters
    ----------
    verified : polars.DataFrame
        Schema VERIFIED_SLOTS.
    measures : polars.DataFrame
        Schema SLOT_SWEEP: one factor, of which the last setting is used, for V1 the first as well;
        policies shared, percpu and percpu-rerandomise.
    predicted : polars.DataFrame
        Schema RESULTS, as `predict` returns for version V3.
    life, tasks, drives : polars.DataFrame
        Schema WHAT_IF_RANGES: what V1 gains by its age, as `studies.life` returns, and what the
        merged patch gains by the number of tasks and by drive.
    """
    handed_out, alike = slots_matched(verified)
    moved = slots.ranking(measures, "lock.moved.add")
    factor, last = moved.select("factor", "setting").row(-1)
    young = 100 * mean_of(moved, factor, moved["setting"][0], "percpu")["mean"]
    percent = {
        policy: 100 * mean_of(moved, factor, last, policy)["mean"]
        for policy in ("shared", "percpu", "percpu-rerandomise")
    }
    stated = claims.published_claims().filter(claim="D3-prose-score")
    simulated = claims.simulated_claims(stated, predicted)
    empty = predicted.clear()
    three = claims.three_columns(stated, empty, claims.tolerances(), simulated)
    score, texts = (found.row(0, named=True) for found in (three, claims.claim_texts(three)))
    slow = drives.filter("flips")
    return claims.lead_on(
        f"With the merged patch {percent['percpu-rerandomise']:.0f} % of the additions to the swap "
        f"cache fetch the lock's line from another CPU in place of {percent['shared']:.0f} %, "
        f"and the predicted gain {_VERBS[score['simulated_verdict']]} the published "
        f"{texts['published']}.",
        does=f"Each CPU scans from a base of its own, so CPUs are in different trunks and use "
        f"different locks; the model repeats {alike:,} of {handed_out:,} slots of a real kernel. "
        f"As first posted, {young:.0f} % of the additions fetch the line at first and "
        f"{percent['percpu']:.0f} % in the end, when all CPUs are in the same trunks.",
        worth=f"Fitted to the base column of V3's mail, the merged patch gains "
        f"{texts['simulated']} ({texts['range']}) in pmbench's score. {by_age(life)}",
        when=f"On rotational disks, which have one base, and on drives of {slow['factor'][0]} or "
        f"slower ({_ends(slow)}). Nor with {_fewest(tasks)} tasks or more, where other locks "
        f"decide ({_ends(tasks.filter('flips'))}).",
    )


_VERBS: Final = {"agrees": "agrees with", "contradicts": "contradicts", "open": "leaves open"}


def _ends(ranges: pl.DataFrame) -> str:
    """Return the range over several ranges of a gain."""
    low, high = min(ranges["low"].to_list()), max(ranges["high"].to_list())
    return claims.range_text(low, high, "%", relative=True)


def _fewest(ranges: pl.DataFrame) -> str:
    """Return the least setting at which both signs occur."""
    return f"{min(ranges.filter('flips')['setting'].to_list()):.0f}"


def by_age(life: pl.DataFrame) -> str:
    """Return what V1 gains by age, in one sentence.

    Parameters
    ----------
    life : polars.DataFrame
        Schema WHAT_IF_RANGES, as `studies.life` returns.
    """
    gain = dict(WHAT_IF_RANGES.check(life).select("label", "middle").iter_rows())
    settled = [at for label, at in gain.items() if label.startswith("percpu, settled")]
    stated = claims.published_claims().filter(claim="D-prose-score")["change"].item()
    span = claims.range_text(min(settled), max(settled), "%", relative=True)
    return (
        f"As first posted it gains {gain['percpu, 50 ms']:+.1f} % at first and {span} in the end, "
        f"by how often tasks change CPU (published: {stated:+.1f} %, open)."
    )


def verdict_on_alternatives(
    answers: pl.DataFrame, lines: pl.DataFrame, aged: pl.DataFrame, traced: pl.DataFrame
) -> str:
    """Return the lead of notebook 05.

    Parameters
    ----------
    answers : polars.DataFrame
        Schema SLOT_ANSWERS.
    lines : polars.DataFrame
        Schema SLOT_RANKING of "lock.moved.add", one setting.
    aged, traced : polars.DataFrame
        As `claims.ranks` returns of the pages moved: on the aged device, and on a trace's requests.
    """
    agree = (SLOT_ANSWERS.check(answers)["verdict"] == "agrees").sum()
    best = SLOT_RANKING.check(lines).row(0, named=True)
    of = {row["policy"]: row for row in lines.iter_rows(named=True)}
    rate = {row["policy"]: row for row in aged.iter_rows(named=True)}
    faster = [each for each, row in rate.items() if row["low"] > rate[MERGED]["high"]]
    ahead = f"{' and '.join(faster)} beat" if faster else "No base beats"
    tied = f" (tied with {' and '.join(best['tied_with'])})" if best["tied_with"] else ""
    slower = traced.filter(pl.col("high") < traced.filter(policy=MERGED)["low"])["policy"].to_list()
    return claims.lead_on(
        f"{ahead} the merged one in throughput; what {best['policy']} avoids is most of the cache "
        f"lines that the merged one still moves.",
        does=f"A base that avoids the trunks of other CPUs, or uses trunks of its own, meets them "
        f"less. With {best['policy']}{tied} {_share(best)} of the additions to the swap cache "
        f"fetch the lock's line from another CPU, with the merged patch {_share(of[MERGED])}, with "
        f"one base for all {_share(of['shared'])}.",
        worth=f"On an aged device {_rate(rate[best['policy']])} pages a second go out and in with "
        f"{best['policy']} and {_rate(rate[MERGED])} with the merged patch. One base for all moves "
        f"{_rate(rate['shared'])}.",
        when=f"On a device that is not aged: on the requests of a short trace only "
        f"{' and '.join(slower)} {'is' if len(slower) == 1 else 'are'} slower, all others are "
        f"tied. Of the {answers.height} guesses in the mail thread {agree} agree with the model.",
    )


def _share(row: Mapping[str, Any]) -> str:
    mean, low, high = (100 * row[name] for name in ("mean", "low", "high"))
    return f"{mean:.1f} % ({low:.1f} to {high:.1f} %)"


def _rate(row: Mapping[str, Any]) -> str:
    return f"{row['median']:,.0f} ({row['low']:,.0f} to {row['high']:,.0f})"


def slots_matched(verified: pl.DataFrame) -> tuple[int, int]:
    """Return the number of slots that a real kernel handed out, and of those that match."""
    VERIFIED_SLOTS.check(verified)
    exact, raced, given = (int(verified[name].sum()) for name in ("exact", "raced", "slots"))
    return given, exact + raced


def counted() -> str:
    """Return a sentence on the slots of the shipped traces that match."""
    verified = slots.verified_slots(traces.shipped("cluster-next"))
    handed_out, alike = slots_matched(verified)
    return (
        f"Of {handed_out:,} swap slots that a real kernel handed out in {verified.height} runs, "
        f"the model of patch D's allocator hands out {alike:,}."
    )


def chances() -> None:
    """Return None: the scores of the mail deviate by 1 % at most."""


def measured_as_mailed() -> None:
    """Return None: the lab's tests count locks and have no row of the mail's tables."""


def headline_locks(constants: pl.DataFrame) -> pl.DataFrame:
    """Return `lock_relief` of the test run with the fit's constants."""
    return lock_relief(simulated_runs(constants))


def lock_relief(runs: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Compare how the patch relieves the swap cache's lock: mail, machine, real kernel.

    Parameters
    ----------
    runs : mapping of str to polars.DataFrame
        As `runs` returns.

    Returns
    -------
    polars.DataFrame
        As `summary.lock_relief` returns; the mail's kernel is 5.7, the real one 6.1.
    """
    return summary.lock_relief(
        claims.published_tables().filter(
            pl.col("metric").str.contains("add_to_swap_cache|__remove_mapping"),
            patch=PATCH,
            table="perf profile",
        ),
        (runs["shared"], runs["percpu"]),
        claims.medians(claims.measured_results("scan-base-under-half")),
        ("shared", "percpu"),
    )
