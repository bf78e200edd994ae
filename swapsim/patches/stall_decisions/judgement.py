# SPDX-License-Identifier: GPL-2.0-or-later
"""The world's tables held against the mail's, by what was stored before (world-tolerances.csv).

The rules stand in data/published/README.md; nothing is decided here that is not said there.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, Final

import polars as pl

from swapsim import claims
from swapsim.claims.directions import STAYS_WITHIN_PERCENT
from swapsim.claims.paired import difference
from swapsim.claims.tables import DIRECTION_VERDICT, RESULTS
from swapsim.patches.stall_decisions.mail import KERNELS, PATCH
from swapsim.patches.stall_decisions.tables import (
    SIMULATED_CELLS,
    SIMULATED_ORDERS,
    SIMULATED_SCORE,
    SIMULATED_VERDICTS,
)
from swapsim.patches.stall_decisions.worlds import ELAPSED

FACTOR: Final = 2.0
"""How far a size may lie from the printed one, either way."""

NOTHING: Final = 1 / 1000
"""Of a row's largest cell: what prints no more is none, where the row has no limit of its own."""

MAY_STAY: Final = 1 / 20
"""Of a row's largest cell: so much may be there of a cell that is none."""

ALONE: Final = "Ops memcachetest-0M"
"""The round without a file."""

RULES: Final = tuple(KERNELS.values())
BEFORE, BASE, SERIES = RULES

Values = Mapping[str, float]
"""Of a row: by rules."""


def cells(simulated: pl.DataFrame) -> pl.DataFrame:
    """Set each modelled cell of the mail's tables beside the world's.

    Parameters
    ----------
    simulated : polars.DataFrame
        Schema RESULTS, of `worlds.tell`; rows of other rules are left out.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_CELLS, in the order of the tables.

    Raises
    ------
    InputError
        A table has another schema.
    """
    rows = [cell for row in _rows(simulated) for cell in _cells(row)]
    return SIMULATED_CELLS.check(pl.DataFrame(rows, schema=SIMULATED_CELLS.schema))


def verdicts(simulated: pl.DataFrame) -> pl.DataFrame:
    """Judge each row of the mail's tables.

    Parameters
    ----------
    simulated : polars.DataFrame
        As for `cells`.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_VERDICTS, in the order of the tables; rows that are not modelled are there.

    Raises
    ------
    InputError
        A table has another schema.
    """
    found = _rows(simulated)
    alone = {row.rule["table"]: row for row in found if row.rule["metric"] == ALONE}
    rows = [_verdict(row, alone.get(row.rule["table"])) for row in found]
    return SIMULATED_VERDICTS.check(pl.DataFrame(rows, schema=SIMULATED_VERDICTS.schema))


def score(judged: pl.DataFrame) -> pl.DataFrame:
    """Count what was judged, table by table.

    Parameters
    ----------
    judged : polars.DataFrame
        Schema SIMULATED_VERDICTS.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_SCORE.
    """
    order = pl.col("order")
    frame = (
        SIMULATED_VERDICTS.check(judged)
        .group_by("table", maintain_order=True)
        .agg(
            rows=pl.len(),
            modelled=(pl.col("cells") > 0).sum(),
            order_asked=order.is_not_null().sum(),
            **{
                f"order_{word}": (order == word).sum()
                for word in DIRECTION_VERDICT.dtype.categories
            },
            sized=((pl.col("cells") > 0) & (pl.col("inside") == pl.col("cells"))).sum(),
            cells=pl.col("cells").cast(pl.UInt32).sum(),
            cells_sized=pl.col("inside").cast(pl.UInt32).sum(),
        )
    )
    return SIMULATED_SCORE.check(frame.cast(SIMULATED_SCORE.schema))


def orders(simulated: pl.DataFrame) -> pl.DataFrame:
    """Say what the mail's order of the kernels asks of each row.

    Parameters
    ----------
    simulated : polars.DataFrame
        As for `cells`: of which rules and rows.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_ORDERS.

    Raises
    ------
    InputError
        A table has another schema.
    """
    rows = [
        (row.rule["table"], row.rule["metric"], *pair)
        for row in _rows(simulated)
        for pair in _asked(row)
    ]
    found = pl.DataFrame(rows, schema=SIMULATED_ORDERS.schema, orient="row")
    return SIMULATED_ORDERS.check(found)


class _Row:
    """A row of the tables: its rule, what is printed, and by seed what was simulated."""

    def __init__(
        self, rule: dict[str, Any], published: Values, found: dict[str, pl.DataFrame]
    ) -> None:
        self.rule = rule
        self.published = published
        self.found = found
        self.largest = max(published.values(), default=0.0)
        nothing = rule["nothing"]
        self.nothing = self.largest * NOTHING if nothing is None else nothing

    def mean(self, rules: str) -> float:
        """Return the mean over the seeds."""
        return float(self.found[rules]["value"].mean())  # type: ignore[arg-type]

    def is_nothing(self, rules: str) -> bool:
        """Return whether the printed cell is none."""
        return self.published[rules] <= self.nothing

    def is_inside(self, rules: str) -> bool:
        """Return whether the simulated cell is as large as the printed one, or none as it."""
        found, printed = self.mean(rules), self.published[rules]
        if self.is_nothing(rules):
            return found <= max(self.rule["nothing"] or 0.0, self.largest * MAY_STAY)
        return printed / FACTOR <= found <= printed * FACTOR


def _rows(simulated: pl.DataFrame) -> list[_Row]:
    RESULTS.check(simulated)
    found = {
        key: frame.select("seed", "value")
        for key, frame in simulated.partition_by("metric", "policy", as_dict=True).items()
    }
    printed = _printed()
    made = []
    for rule in claims.world_tolerances().iter_rows(named=True):
        target = rule["table"].rpartition(", ")[2]
        rows: dict[str, pl.DataFrame] = {}
        values: dict[str, float] = {}
        one, _, other = rule["metric"].partition(" : ")
        below = other or (ELAPSED if rule["per"] == "second" else "")
        for rules in RULES if rule["standing"] != "not modelled" else ():
            values[rules] = printed[target, one, rules]
            if below:
                values[rules] /= printed[target, below, rules]
            seeds = found.get((f"{target}: {one}", rules))
            if seeds is None:
                continue
            if below:
                seeds = _quotient(seeds, found[f"{target}: {below}", rules])
            if not seeds.is_empty():
                rows[rules] = seeds
        made.append(_Row(rule, values, rows))
    return made


def _quotient(above: pl.DataFrame, below: pl.DataFrame) -> pl.DataFrame:
    both = above.join(below.filter(pl.col("value") > 0), on="seed", suffix="_below")
    return both.sort("seed").select("seed", value=pl.col("value") / pl.col("value_below"))


def _printed() -> dict[tuple[str, str, str], float]:
    """Return each printed figure by target, row and rules, with the time of each run."""
    tables = claims.published_tables().filter(
        pl.col("patch") == PATCH, pl.col("kernel").is_in(list(KERNELS))
    )
    found = {
        (row["table"].rpartition(", ")[2], row["metric"], KERNELS[row["kernel"]]): row["value"]
        for row in tables.iter_rows(named=True)
    }
    for target, metric, rules in list(found):
        if metric == "Kswapd velocity":
            scanned = found[target, "Kswapd pages scanned", rules]
            found[target, ELAPSED, rules] = scanned / found[target, metric, rules]
    return found


def _cells(row: _Row) -> list[dict[str, Any]]:
    made = []
    for rules, seeds in row.found.items():
        mean, printed = row.mean(rules), row.published[rules]
        made.append(
            {
                "table": row.rule["table"],
                "metric": row.rule["metric"],
                "rules": rules,
                "published": printed,
                "simulated": mean,
                "low": seeds["value"].min(),
                "high": seeds["value"].max(),
                "ratio": mean / printed if mean and printed else None,
                "inside": None if _is_fitted(row, rules) else row.is_inside(rules),
            }
        )
    return made


def _is_fitted(row: _Row, rules: str) -> bool:
    return bool(row.rule["standing"] == "fitted" and rules == BEFORE)


def _verdict(row: _Row, alone: _Row | None) -> dict[str, Any]:
    judged = [rules for rules in row.found if not _is_fitted(row, rules)]
    told = {name: row.rule[name] for name in ("table", "metric", "standing", "note")}
    return {
        **told,
        "order": _order(row),
        "inside": sum(map(row.is_inside, judged)),
        "cells": len(judged),
        **_points(row),
        "collapse": _collapse(row, alone),
    }


def _order(row: _Row) -> str | None:
    """Judge the order of the kernels by each two that differ in the mail."""
    says = {_says(claimed, row, one, other) for one, other, claimed in _asked(row)}
    return next((word for word in ("contradicted", "open", "holds") if word in says), None)


def _asked(row: _Row) -> Iterator[tuple[str, str, str]]:
    """Yield each two kernels that differ in the mail, and which way it goes from one to other."""
    for one, other in combinations(row.found, 2):
        printed = row.published[one], row.published[other]
        alike = abs(printed[0] - printed[1]) <= STAYS_WITHIN_PERCENT / 100 * max(printed)
        if not alike and not (row.is_nothing(one) and row.is_nothing(other)):
            yield one, other, "rises" if printed[1] > printed[0] else "falls"


def _says(claimed: str, row: _Row, one: str, other: str) -> str:
    """Judge a fall or a rise from one kernel to another, seed against the same seed."""
    found = difference(row.found[one], row.found[other])
    if found is None or found["seen"] == "either":
        return "open"
    return "holds" if found["seen"] == claimed else "contradicted"


def _points(row: _Row) -> dict[str, Any]:
    allowed = row.rule["points"]
    if allowed is None or len(row.found) < len(RULES):
        return {"change": None, "points": None, "near": None, "worse": None}
    change = 100 * (row.published[SERIES] / row.published[BASE] - 1)
    points = 100 * (row.mean(SERIES) / row.mean(BASE) - 1)
    worse = _says("falls", row, BASE, SERIES)
    near = abs(points - change) <= allowed
    return {"change": change, "points": points, "near": near, "worse": worse}


def _collapse(row: _Row, alone: _Row | None) -> bool | None:
    """Say whether 3.9 alone falls below its share of the round without a file."""
    share = row.rule["collapse"]
    if share is None or alone is None or len(row.found) < len(RULES):
        return None
    collapsed = [row.mean(rules) < share * alone.mean(rules) for rules in RULES]
    return collapsed == [True, False, False]
