# SPDX-License-Identifier: GPL-2.0-or-later
"""Conclusions: the verdicts of notebooks 04 and 05, and how the swap cache's lock is relieved."""

from collections.abc import Mapping

import polars as pl

from swapsim import claims, slots, traces
from swapsim.machine import summary
from swapsim.machine.tables import WHAT_IF_RANGES
from swapsim.patches.cluster_next.alternatives import mean_of
from swapsim.patches.cluster_next.prediction import PATCH
from swapsim.patches.cluster_next.prediction import runs as simulated_runs
from swapsim.slots.tables import SLOT_ANSWERS, SLOT_RANKING, VERIFIED_SLOTS


def verdict(
    verified: pl.DataFrame, measures: pl.DataFrame, predicted: pl.DataFrame, life: pl.DataFrame
) -> str:
    """Return what patch D does to the swap cache's locks, and its gain, in five sentences.

    Parameters
    ----------
    verified : polars.DataFrame
        Schema VERIFIED_SLOTS.
    measures : polars.DataFrame
        Schema SLOT_SWEEP: one factor, of which the last setting is used, for V1 the first as well;
        policies shared, percpu and percpu-rerandomise.
    predicted : polars.DataFrame
        Schema RESULTS, as `predict` returns for version V3.
    life : polars.DataFrame
        Schema WHAT_IF_RANGES, as `studies.life` returns: what V1 gains by its age.
    """
    handed_out, alike = slots_matched(verified)
    moved = slots.ranking(measures, "lock.moved.add")
    factor, last = moved.select("factor", "setting").row(-1)
    young = 100 * mean_of(moved, factor, moved["setting"][0], "percpu")["mean"]
    percent = {
        policy: 100 * mean_of(moved, factor, last, policy)["mean"]
        for policy in ("shared", "percpu", "percpu-rerandomise")
    }
    cpus = int(moved["n_cpus"].to_list()[-1])
    stated = claims.published_claims().filter(claim="D3-prose-score")
    three = claims.three_columns(stated, predicted, claims.tolerances())
    score = three.row(0, named=True)
    return (
        f"Of {handed_out:,} slots that a real kernel handed out in {verified.height} runs, the "
        f"model hands out {alike:,}. In the model, {cpus} CPUs on a fragmented device must fetch "
        f"the cache line of the swap cache's lock from another CPU in {percent['shared']:.0f} of "
        f"100 additions to the swap cache with one scan base for all CPUs, in "
        f"{percent['percpu-rerandomise']:.0f} with the merged patch. With the patch as first "
        f"posted it is {young:.0f} of 100 while the device is young and {percent['percpu']:.0f} "
        "in the end, when its CPUs are in the same part of the device. Fitted to the base column "
        "of V3's mail alone, the contention machine predicts "
        f"{score['simulated']:+.1f} % in pmbench's score for the merged patch; "
        f"{score['published']:+.1f} % is published. {by_age(life)}"
    )


def by_age(life: pl.DataFrame) -> str:
    """Return what V1 and the merged patch gain by age, in one sentence.

    Parameters
    ----------
    life : polars.DataFrame
        Schema WHAT_IF_RANGES, as `studies.life` returns.
    """
    gain = dict(WHAT_IF_RANGES.check(life).select("label", "middle").iter_rows())
    settled = {
        policy: [at for label, at in gain.items() if label.startswith(f"{policy}, settled")]
        for policy in ("percpu", "percpu-rerandomise")
    }
    stated = claims.published_claims().filter(claim="D-prose-score")["change"].item()
    return (
        f"As first posted it gains {gain['percpu, 50 ms']:+.1f} % 50 ms after the fill, "
        f"{gain['percpu, half a second']:+.1f} % after half a second, and "
        f"{min(settled['percpu']):+.1f} to {max(settled['percpu']):+.1f} % settled, by how often "
        f"tasks change CPU, on a smaller device, where the merged patch gains "
        f"{max(settled['percpu-rerandomise']):+.1f} %: whether that is the published "
        f"{stated:+.1f} % is open."
    )


def verdict_on_alternatives(answers: pl.DataFrame, ranking: pl.DataFrame) -> str:
    """Return how many of the reviewers' guesses hold and which policy is best, in two sentences.

    Parameters
    ----------
    answers : polars.DataFrame
        Schema SLOT_ANSWERS.
    ranking : polars.DataFrame
        Schema SLOT_RANKING of "lock.moved.add", one setting.
    """
    SLOT_ANSWERS.check(answers)
    SLOT_RANKING.check(ranking)
    best = ranking.row(0, named=True)
    merged = ranking.filter(policy="percpu-rerandomise").row(0, named=True)
    tied = f" (tied with {' and '.join(best['tied_with'])})" if best["tied_with"] else ""
    return (
        f"Of {answers.height} questions and guesses in the mail thread, "
        f"{int(answers['holds'].sum())} hold in the model. Of {ranking.height} rules for the scan "
        f"base, {best['policy']} keeps CPUs apart best{tied}: {100 * best['mean']:.1f} of 100 "
        f"additions to the swap cache fetch the lock's cache line from another CPU, against "
        f"{100 * merged['mean']:.1f} with the merged patch."
    )


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
