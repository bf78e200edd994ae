# SPDX-License-Identifier: GPL-2.0-or-later
"""Round against round: what one policy changes against another, in the same rounds."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, TypedDict

import numpy as np
import polars as pl

from swapsim.claims.intervals import interval
from swapsim.claims.tables import PAIRED, RESULTS
from swapsim.errors import InputError

CONFIDENCE: Final = 0.95


class Difference(TypedDict):
    """What the rounds of a base and of another have between them."""

    rounds: int
    base: float
    value: float
    low: float
    high: float
    seen: str


def difference(base: pl.DataFrame, value: pl.DataFrame) -> Difference | None:
    """Hold the rounds of one metric against the same rounds of a base.

    Parameters
    ----------
    base, value : polars.DataFrame
        ``seed`` and ``value``, each seed once; rounds that only one has are left out.

    Returns
    -------
    Difference or None
        The medians of both, the bootstrap interval of the median of the rounds' differences, and
        its sign if it has one; None if there is no round that both have.
    """
    both = base.join(value, on="seed", suffix="_other").sort("seed")
    if both.is_empty():
        return None
    low, high = interval((both["value_other"] - both["value"]).to_list(), np.median, CONFIDENCE)
    return {
        "rounds": both.height,
        "base": float(np.median(both["value"])),
        "value": float(np.median(both["value_other"])),
        "low": low,
        "high": high,
        "seen": "falls" if high < 0 else "rises" if low > 0 else "either",
    }


def steps(results: pl.DataFrame, policies: Sequence[str], metrics: Sequence[str]) -> pl.DataFrame:
    """Say what each policy of a row changes against the one before it.

    Parameters
    ----------
    results : polars.DataFrame
        Schema RESULTS, of one source, kernel and number of tasks.
    policies, metrics : sequence of str
        In the order of the steps and of the rows.

    Returns
    -------
    polars.DataFrame
        Schema PAIRED, by metric, and in it a row per step.

    Raises
    ------
    InputError
        The table has another schema, or a metric is in none of its rows.
    """
    RESULTS.check(results)
    rows = []
    for metric in metrics:
        of_metric = results.filter(metric=metric)
        if of_metric.is_empty():
            raise InputError(f"no such metric: {metric!r}; take one of the results", field="metric")
        for base_policy, policy in pairwise(policies):
            found = difference(
                *(of_metric.filter(policy=name).select("seed", "value")
                  for name in (base_policy, policy))
            )  # fmt: skip
            if found is not None:
                labels = {"metric": metric, "unit": of_metric["unit"][0]}
                rows.append({**labels, "base_policy": base_policy, "policy": policy, **found})
    return PAIRED.check(pl.DataFrame(rows, schema=PAIRED.schema))
