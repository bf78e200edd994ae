# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebook 05 asks: the reviewers' guesses, each answered by a count, and the verdict."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import polars as pl

from swapsim import claims
from swapsim.machine.run import PAGES_MOVED
from swapsim.machine.what_if import gain, gains
from swapsim.patches.cluster_next import studies
from swapsim.patches.cluster_next.answered import answers
from swapsim.patches.cluster_next.machines import aged_device
from swapsim.patches.cluster_next.notebook_04 import gain_by_fill, last_gain, settled
from swapsim.patches.cluster_next.reviewers import COUNTED, REVIEWERS, V1_CLAIM
from swapsim.patches.cluster_next.studies import MERGED
from swapsim.policies.policy import Policy
from swapsim.slots import ChurnConfig, SlotsConfig, one_at_a_time
from swapsim.study.summary import against, over


def guesses() -> pl.DataFrame:
    """Return the guesses of the mail thread as judged: figures over the seeds and rounds, verdicts.

    A row has the medians of both sides by the model, their change with its interval, and the
    verdicts of `claims.three_columns`.
    """
    rows = [
        {name: getattr(each, name) for name in ("claim", "asks", "guess")}
        | {"metric": ", ".join(COUNTED[each.metric][:2])}
        for each in REVIEWERS
        if each.claim != V1_CLAIM
    ]
    asked = pl.DataFrame(rows)
    stated = claims.published_claims().filter(pl.col("claim").is_in(asked["claim"].implode()))
    found = answers()
    judged = claims.claim_texts(claims.three_columns(stated, found, claims.tolerances()))
    sides = found.filter(source="simulated").select("claim", "base", other="value")
    return (
        asked.join(sides, on="claim", how="left", maintain_order="left")
        .join(judged, on="claim", how="left", maintain_order="left")
        .select(
            *("claim", "asks", "guess", "metric", "base", "other", "simulated", "range"),
            *("simulated_verdict", "measured", "interval", "measured_verdict"),
        )
    )


def against_merged(results: pl.DataFrame) -> pl.DataFrame:
    """Return the pages that each policy moves a second, and their change from the merged rule.

    ``median`` is over the seeds; ``change, low, high`` are the median of the changes of equal
    seeds, in percent, and its interval.
    """
    rows = results.filter(metric=PAGES_MOVED).select("policy", "seed", "value")
    changes = against(rows, {"policy": MERGED}).select("policy", "seed", "change")
    found = over(changes, value="change", spread="interval").rename({"middle": "change"})
    medians = over(rows).select("policy", median="middle").sort("median", descending=True)
    return medians.join(found.drop("runs"), on="policy", how="left", maintain_order="left")


def near_and_far(changes: pl.DataFrame) -> pl.DataFrame:
    """Return `against_merged` without patch D, and whether a rule is near it or far below."""
    is_far = pl.col("high") < -FAR_PERCENT
    return changes.drop_nulls("change").with_columns(
        rules=pl.when(is_far).then(pl.lit("far below")).otherwise(pl.lit("near patch D"))
    )


FAR_PERCENT: Final = 5.0
"""How much slower than patch D a rule far below it is: another panel of the chart."""


def verdict_on_alternatives(
    guesses: pl.DataFrame, lines: pl.DataFrame, aged: pl.DataFrame, traced: pl.DataFrame
) -> str:
    """Return the lead of notebook 05.

    From `guesses`, "lock.moved.add" at one setting (`slots.ranking`), and the pages moved on the
    aged device and on a trace's requests (`against_merged`).
    """
    best = lines.row(0, named=True)
    of = {row["policy"]: row for row in lines.iter_rows(named=True)}
    rate = {row["policy"]: row for row in aged.iter_rows(named=True)}
    own, shared = rate[best["policy"]], rate["shared"]
    most = float(aged["high"].max())  # type: ignore[arg-type]
    tied = f", tied with {' and '.join(best['tied_with'])}," if best["tied_with"] else ""
    slower = traced.filter(pl.col("high") < 0)["policy"].to_list()
    device = aged_device(policy=MERGED)
    trunks = (device.slots >> device.trunk_shift) // device.walkers
    return claims.lead_on(
        f"With {trunks} trunks a task no rule gains more than {most:.1f} % over patch D; the best "
        f"moves a lock's cache line in {_share(best)} of additions, D in {_share(of[MERGED])} "
        "(medians).",
        does=f"Scans for free slots begin at a CPU's *base*. With {best['policy']}{tied} bases "
        "avoid each other's trunks, parts of 64 MB with a lock each; with one base for all "
        f"{_share(of['shared'])} of additions to the swap cache fetch the line from another CPU.",
        worth=f"On the stored aged device {rate[MERGED]['median']:,.0f} pages a second go out and "
        f"in with patch D, with {best['policy']} {own['change']:+.1f} % ({own['low']:+.1f} to "
        f"{own['high']:+.1f}), with one base for all {shared['change']:+.1f} % "
        f"({shared['low']:+.1f} to {shared['high']:+.1f}).",
        when="On the requests of a short trace, where only "
        f"{' and '.join(slower).replace('shared', 'one base for all')} "
        f"{'is' if len(slower) == 1 else 'are'} slower than patch D. {standing(guesses)}",
    )


def rows_of(
    name: str,
    device: SlotsConfig,
    churn: ChurnConfig,
    factors: Mapping[str, Sequence[object]],
    mine: Sequence[Policy],
) -> pl.DataFrame:
    """Return the rows of a study of the workbench and those of a user's rules, on one device.

    The stored rows are of the notebook's device; on another one their rules run again.
    """
    stored = studies.counts(name)
    is_stored = (device, churn) == (studies.DEVICE, studies.CHURN)
    again = [] if is_stored else stored["policy"].unique(maintain_order=True).to_list()
    policies = [*again, *mine]
    if not policies:
        return stored
    own = one_at_a_time(device, churn, factors, policies=policies)
    return stored.vstack(own).sort("setting", maintain_order=True) if is_stored else own


def with_more_tasks() -> str:
    """Return what `avoid` gains over patch D with twice the tasks on the aged device."""
    usual = aged_device(policy=MERGED)
    tasks = 2 * usual.walkers
    crowded = replace(usual, walkers=tasks, pages=usual.pages // 2)
    trunks = usual.slots >> usual.trunk_shift
    (gained,) = gain(crowded, [MERGED, "avoid"], seeds=range(1, 6)).to_dicts()
    within = claims.range_text(gained["low"], gained["high"], "%", relative=True)
    return f"avoid over patch D with {tasks} tasks on {trunks} trunks, five seeds: {within}"


def v1_in_step() -> str:
    """Return what V1 loses on the aged device, and why notebook 04 has another figure."""
    filled, life = gain_by_fill(), gains(studies.life(), "pmbench score")
    fills = (studies.ABOVE_HALF, studies.UNDER_HALF)
    above, under = (f"{last_gain(filled, fill):+.1f} %" for fill in fills)
    return (
        f"V1's gain in the end: {above} here, with {studies.ABOVE_HALF} % of the slots in use; "
        f"{under} with {studies.UNDER_HALF} %; {settled(life)} in notebook 04, just under half "
        f"full."
    )


def standing(guesses: pl.DataFrame) -> str:
    """Return a sentence on how many guesses of the thread have which verdict, by how many counts.

    Two guesses are answered by one count if all their figures are equal.
    """
    of_models, of_kernels = (
        Counter(guesses[f"{source}_verdict"].to_list()) for source in ("simulated", "measured")
    )
    held = guesses.filter(simulated_verdict="reproduced")
    counts = held.select("metric", "base", "other", "range").n_unique()
    notes = [f"by {counts} counts"] if counts < held.height else []
    notes += [f"{n} {word}" for word in ("missed", "open") if (n := of_models[word])]
    others = f" ({', '.join(notes)})" if notes else ""
    against = f", contradicts {n}" if (n := of_kernels["contradicted"]) else ""
    return (
        f"Of {guesses.height} guesses in the thread the model reproduces "
        f"{held.height}{others}; a real kernel confirms {of_kernels['confirmed']}{against}."
    )


def _share(row: Mapping[str, Any]) -> str:
    return f"{100 * row['median']:.1f} %"
