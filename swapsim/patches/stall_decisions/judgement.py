# SPDX-License-Identifier: GPL-2.0-or-later
"""The simulated tables judged by the mail's: size, order, points and collapse, row by row.

The rules were stored before the first run, in data/published/simulation-tolerances.csv;
data/published/stored-before.md explains them.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, Final

import polars as pl

from swapsim import claims
from swapsim.claims.judging import STAYS_WITHIN_PERCENT
from swapsim.claims.rounds import difference
from swapsim.claims.tables import RESULTS
from swapsim.patches.stall_decisions.mail import BASE, RULES, SERIES, printed_values
from swapsim.patches.stall_decisions.tables import SIMULATED_VERDICTS

FACTOR: Final = 2.0  # maximum ratio between a simulated and a printed size, either way

ZERO_SHARE: Final = 1 / 1000
"""Cells up to this share of a row's largest count as zero, unless the row has its own limit."""

ZERO_MARGIN: Final = 1 / 20
"""Maximum of a simulated cell that is zero in the mail, as a share of the row's largest cell."""


def cells(simulated: pl.DataFrame) -> pl.DataFrame:
    """Return each modelled cell of the mail's tables, published and simulated.

    ``simulated`` are RESULTS of `runs.mail_rows`; rows of other rule sets are left out. ``ratio``
    is the mean over the seeds by the published figure, null where either is zero; ``inside`` says
    that it is within the allowed factor. A cell that gives a constant is not ``judged``.
    """
    rows = [row.cell(rules) for row in _rows(simulated) for rules in row.found]
    return pl.DataFrame(rows, infer_schema_length=None)


def verdicts(simulated: pl.DataFrame) -> pl.DataFrame:
    """Judge each row of the mail's tables, also of those not modelled (SIMULATED_VERDICTS)."""
    found = list(_rows(simulated))
    alone = {row.rule["table"]: row for row in found if row.rule["metric"] == "Ops memcachetest-0M"}
    rows = [row.verdict(alone.get(row.rule["table"])) for row in found]
    return SIMULATED_VERDICTS.check(pl.DataFrame(rows, schema=SIMULATED_VERDICTS.schema))


def orders(simulated: pl.DataFrame) -> pl.DataFrame:
    """Return each ``one`` and ``other`` kernel that differ in a row, and which way they differ."""
    rows = [
        (row.rule["table"], row.rule["metric"], *pair)
        for row in _rows(simulated)
        for pair in row.ordered()
    ]
    columns = ["table", "metric", "one", "other", "claimed"]
    return pl.DataFrame(rows, schema=columns, orient="row")


class _Row:
    """A row of the tables: its rule, the printed values and, by seed, the simulated ones."""

    def __init__(
        self, rule: dict[str, Any], published: Mapping[str, float], found: dict[str, pl.DataFrame]
    ) -> None:
        self.rule = rule
        self.published = published
        self.found = found
        self.largest = max(published.values(), default=0.0)
        zero = rule["nothing"]
        self.zero = self.largest * ZERO_SHARE if zero is None else zero
        used = (rule["identifies"] or "").split()
        self.judged = [name for name in found if name not in used]

    def mean(self, rules: str) -> float:
        """Return the mean over the seeds."""
        return float(self.found[rules]["value"].mean())  # type: ignore[arg-type]

    def is_inside(self, rules: str) -> bool:
        """Return whether the simulated cell is as large as the printed one, or zero as it is."""
        found, printed = self.mean(rules), self.published[rules]
        if printed <= self.zero:
            return found <= max(self.rule["nothing"] or 0.0, self.largest * ZERO_MARGIN)
        return printed / FACTOR <= found <= printed * FACTOR

    def cell(self, rules: str) -> dict[str, Any]:
        """Return the cell of one rule set."""
        seeds, mean, printed = self.found[rules]["value"], self.mean(rules), self.published[rules]
        return {
            "table": self.rule["table"],
            "metric": self.rule["metric"],
            "rules": rules,
            "published": printed,
            "simulated": mean,
            "low": seeds.min(),
            "high": seeds.max(),
            "ratio": mean / printed if mean and printed else None,
            "inside": self.is_inside(rules),
            "judged": rules in self.judged,
        }

    def ordered(self) -> Iterator[tuple[str, str, str]]:
        """Yield two kernels that differ in the mail, and the direction from one to the other."""
        for one, other in combinations(self.found, 2):
            low, high = sorted((self.published[one], self.published[other]))
            if high - low > STAYS_WITHIN_PERCENT / 100 * high and high > self.zero:
                rises = self.published[other] > self.published[one]
                yield one, other, "rises" if rises else "falls"

    def direction(self, one: str, other: str, claimed: str) -> str:
        """Judge a fall or a rise between two kernels, each seed against the same seed."""
        found = difference(self.found[one], self.found[other])
        if found is None or found["seen"] == "either":
            return "open"
        return "reproduced" if found["seen"] == claimed else "missed"

    def verdict(self, alone: "_Row | None") -> dict[str, Any]:
        """Return the row of SIMULATED_VERDICTS; ``alone`` is the round without a file."""
        orders = {self.direction(*pair) for pair in self.ordered()}
        found: dict[str, Any] = {
            **{name: self.rule[name] for name in ("table", "metric", "standing", "note")},
            "order": next((w for w in ("missed", "open", "reproduced") if w in orders), None),
            "inside": sum(map(self.is_inside, self.judged)),
            "cells": len(self.judged),
        }
        allowed, share = self.rule["points"], self.rule["collapse"]
        complete = len(self.found) == len(RULES)
        if complete and allowed is not None:
            change = 100 * (self.published[SERIES] / self.published[BASE] - 1)
            points = 100 * (self.mean(SERIES) / self.mean(BASE) - 1)
            near = abs(points - change) <= allowed
            found |= {"change": change, "points": points}
            found["size"] = "reproduced" if near else "missed"
            found["direction"] = self.direction(BASE, SERIES, "falls")
        if complete and share is not None and alone is not None:
            collapsed = [self.mean(rules) < share * alone.mean(rules) for rules in RULES]
            found["collapse"] = collapsed == [True, False, False]
        return found


def _rows(simulated: pl.DataFrame) -> Iterator[_Row]:
    """Yield each row with its cells; a row ``A : B`` is a quotient of two."""
    by_row = RESULTS.check(simulated).partition_by("metric", "policy", as_dict=True)
    values = printed_values()
    for rule in claims.simulation_tolerances().iter_rows(named=True):
        target = rule["table"].rpartition(", ")[2]
        one, _, below = rule["metric"].partition(" : ")
        found: dict[str, pl.DataFrame] = {}
        printed: dict[str, float] = {}
        for rules in RULES if rule["standing"] != "not modelled" else ():
            printed[rules] = values[target, one, rules]
            if below:
                printed[rules] /= values[target, below, rules]
            seeds = by_row.get((f"{target}: {one}", rules))
            if seeds is not None and below:
                seeds = _quotient(seeds, by_row[f"{target}: {below}", rules])
            if seeds is not None and not seeds.is_empty():
                found[rules] = seeds.select("seed", "value")
        yield _Row(rule, printed, found)


def _quotient(above: pl.DataFrame, below: pl.DataFrame) -> pl.DataFrame:
    both = above.join(below.filter(pl.col("value") > 0), on="seed", suffix="_below")
    return both.sort("seed").select("seed", value=pl.col("value") / pl.col("value_below"))
