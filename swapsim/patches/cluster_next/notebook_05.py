# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebook 05 asks: the reviewers' guesses, each answered by a count, and the verdict."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import polars as pl

from swapsim import claims
from swapsim.machine.what_if import gains
from swapsim.patches.cluster_next import studies
from swapsim.patches.cluster_next.answered import answers
from swapsim.patches.cluster_next.notebook_04 import gain_by_fill, last_gain, settled
from swapsim.patches.cluster_next.reviewers import REVIEWERS
from swapsim.patches.cluster_next.studies import MERGED


def guesses() -> pl.DataFrame:
    """Return the questions of REVIEWERS as judged: figures over the seeds and rounds, verdicts.

    A row has the medians of both sides by the model, the change with its interval, and the verdicts
    of `claims.three_columns`.
    """
    words = ("claim", "asks", "guess")
    asked = pl.DataFrame([{name: getattr(each, name) for name in words} for each in REVIEWERS])
    stated = claims.published_claims().filter(pl.col("claim").is_in(asked["claim"].implode()))
    found = answers()
    judged = claims.claim_texts(claims.three_columns(stated, found, claims.tolerances()))
    sides = found.filter(source="simulated").select("claim", "base", other="value")
    return (
        asked.join(sides, on="claim", how="left", maintain_order="left")
        .join(judged, on="claim", how="left", maintain_order="left")
        .select(
            *("claim", "asks", "guess", "base", "other", "simulated", "range"),
            *("simulated_verdict", "measured", "interval", "measured_verdict"),
        )
    )


def verdict_on_alternatives(
    guesses: pl.DataFrame, lines: pl.DataFrame, aged: pl.DataFrame, traced: pl.DataFrame
) -> str:
    """Return the lead of notebook 05, from `guesses`, three rankings, and V1's stored gains.

    ``lines`` ranks "lock.moved.add" at one setting (`slots.ranking`); ``aged`` and ``traced`` rank
    the pages moved (`claims.ranks`) on the aged device and on a trace's requests.
    """
    life = gains(studies.life(), "pmbench score")
    best = lines.row(0, named=True)
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
        f"{best['policy']}, {_rate(rate[MERGED])} with the merged patch and "
        f"{_rate(rate['shared'])} with one base for all. {v1_in_step(gain_by_fill(), life)}",
        when=f"On a device that is not aged: on the requests of a short trace only "
        f"{' and '.join(slower)} {'is' if len(slower) == 1 else 'are'} slower, all others are "
        f"tied. {standing(guesses)}",
    )


def v1_in_step(filled: pl.DataFrame, life: pl.DataFrame) -> str:
    """Return what V1 loses on the aged device, and why notebook 04 has another figure.

    ``filled`` is `gain_by_fill`, ``life`` are the `gains` of notebook 04 by age.
    """
    fills = (studies.ABOVE_HALF, studies.UNDER_HALF)
    above, under = (f"{last_gain(filled, fill):+.1f} %" for fill in fills)
    return (
        f"V1's gain in the end depends on the fill ({above} here with {studies.ABOVE_HALF} % of "
        f"the slots in use, where scans drop si->lock to take slots back; {under} with "
        f"{studies.UNDER_HALF} %; {settled(life)} in notebook 04, just under half full)."
    )


def standing(guesses: pl.DataFrame) -> str:
    """Return a sentence on how many questions of the thread have which verdict."""
    of_models, of_kernels = (
        Counter(guesses[f"{source}_verdict"].to_list()) for source in ("simulated", "measured")
    )
    return (
        f"The model reproduces {of_models['reproduced']} of {guesses.height} questions and guesses "
        f"of the mail thread ({of_models['missed']} missed, {of_models['open']} open); a real "
        f"kernel confirms {of_kernels['confirmed']} ({of_kernels['contradicted']} contradicted)."
    )


def _share(row: Mapping[str, Any]) -> str:
    mean, low, high = (100 * row[name] for name in ("mean", "low", "high"))
    return f"{mean:.1f} % ({low:.1f} to {high:.1f} %)"


def _rate(row: Mapping[str, Any]) -> str:
    return f"{row['median']:,.0f} ({row['low']:,.0f} to {row['high']:,.0f})"
