# SPDX-License-Identifier: GPL-2.0-or-later
"""The answers of a model or a real kernel to claims, from RESULTS with the names of the mails."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import copysign, inf
from statistics import fmean
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from swapsim.checks import checked
from swapsim.claims.published import kinds
from swapsim.claims.tables import ANSWERS, CLAIMS, RESULTS
from swapsim.errors import InputError
from swapsim.study.ranking import interval

_LOCATOR: Final = re.compile(r"(.+?) \| (.+) \| (.+?) -> (.+)")
_NOT_IN_A_TABLE: Final = "not in a table"
_Runs = Mapping[Any, float]  # value of a metric by seed, round or setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One row of ANSWERS, whose other fields are null."""

    claim: str
    source: str
    what: str | None = None
    base: float | None = None
    value: float | None = None
    figure: float | None = None
    low: float | None = None
    high: float | None = None
    range_over: str | None = None
    rounds: int | None = None
    base_ratio: float | None = None
    base_spread: float | None = None
    held: int | None = None
    cases: int | None = None


@checked
def table_of(rows: Sequence[Answer]) -> pl.DataFrame:
    """Return answers as a frame (ANSWERS)."""
    fields = ANSWERS.names()
    frame = pl.DataFrame(
        [[getattr(row, name) for name in fields] for row in rows],
        schema=ANSWERS.schema,
        orient="row",
    )
    return ANSWERS.check(frame)


@checked
def answers(
    claims: pl.DataFrame, results: pl.DataFrame, *, over: str = "seed", at: str | int | None = None
) -> pl.DataFrame:
    """Return what results answer to the claims whose rows and kernels they have (ANSWERS).

    Simulated: the figure of a change or figure is that of the means over all values of the column
    ``over``, or that of its value ``at``, and the range is over these values. A direction, and all
    that is measured, is the change of the medians, with the interval of the paired difference over
    the seeds or rounds. Metrics and kernels are those of the claim's locator; a row of the locator
    may be a sum ``a + b``, a quotient ``a / b``, or ``a against b``, b in the base.

    ``results`` are RESULTS of one source and one set-up, without published ones. ``over`` is
    ``seed``, or ``policy`` for open constants, which answer no direction.
    """
    CLAIMS.check(claims)
    RESULTS.check(results)
    sources = results["source"].unique().to_list()
    if "published" in sources:
        raise InputError("has published rows: drop them, the claims hold them", field="source")
    if len(sources) > 1:
        raise InputError("has two sources: give those of one", field="source")
    if results.is_empty():
        return table_of([])
    known = _Known(results, over)
    kind_of = dict(kinds().select("claim", "kind").iter_rows())
    found = []
    for claim in claims.iter_rows(named=True):
        sides = known.sides(claim)
        if sides is None:
            continue
        kind = kind_of.get(claim["claim"])
        if kind == "direction" and over != "seed":
            continue
        if kind == "direction" or (sources[0] == "measured" and kind != "figure"):
            answer = paired(claim["claim"], sources[0], sides.base, sides.value)
        else:
            answer = _of_means(claim, sources[0], sides, over, at)
        if answer is not None:
            found.append(answer)
    return table_of(found)


@checked
def paired(
    claim: str, source: str, base: _Runs, value: _Runs, *, what: str | None = None
) -> Answer | None:
    """Return the answer by rounds against the same rounds of a base; None without a common round.

    The figure is the change of the medians in percent, as one computes it from the two cells of a
    table, and low and high the ends of the interval of the rounds' own changes, whose median is not
    always the figure. The spread of the base is the width of its own interval, in percent as well.
    From a median base of zero all of these are differences.
    """
    rounds = sorted(base.keys() & value.keys())
    if not rounds:
        return None
    before, after = ([side[each] for each in rounds] for side in (base, value))
    start, end = float(np.median(before)), float(np.median(after))
    changes = [
        _percent(old, new) if start else new - old for old, new in zip(before, after, strict=True)
    ]
    low, high = interval(changes)
    least, most = interval(before)
    return Answer(
        claim=claim,
        source=source,
        what=what,
        base=start,
        value=end,
        figure=_percent(start, end) if start else end,
        low=low,
        high=high,
        range_over="interval",
        rounds=len(rounds),
        base_spread=100 * (most - least) / abs(start) if start else most - least,
    )


def _percent(base: float, value: float) -> float:
    """Return a change in percent of its base; one from zero is larger than any other."""
    if base:
        return 100 * (value - base) / abs(base)
    return copysign(inf, value) if value else 0.0


class _Sides(NamedTuple):
    """Runs of a claim's two kernels, and their unit."""

    base: _Runs
    value: _Runs
    unit: str


class _Known:
    """Results by patch, metric and kernel: the mean for each value of a column."""

    def __init__(self, results: pl.DataFrame, over: str) -> None:
        if (results["source"] == "measured").any():
            keys = ["patch", "metric", "kernel", "seed"]
            if results.select(keys).is_duplicated().any():
                raise InputError("a round occurs twice: give one set-up", field="seed")
        means = (
            results.sort(pl.all())  # float sums depend on their order
            .group_by("patch", "metric", "kernel", over, maintain_order=True)
            .agg(pl.col("value").mean(), pl.col("unit").first())
        )
        self.runs: dict[tuple[str, str, str], dict[Any, float]] = {}
        self.units: dict[tuple[str, str], str] = {}
        for patch, metric, kernel, key, value, unit in means.iter_rows():
            self.runs.setdefault((patch, metric, kernel), {})[key] = value
            self.units[patch, metric] = unit

    def sides(self, claim: Mapping[str, Any]) -> _Sides | None:
        """Return the runs of a claim's kernels; None if one has none."""
        locator = _LOCATOR.fullmatch(claim["locator"])
        if not locator:
            raise InputError(
                f"{claim['locator']!r} of {claim['claim']!r} is no place: write 'table or place | "
                "row | kernel -> kernel'",
                field="locator",
            )
        where, row, before, after = locator.groups()
        names = [claim["metric"]]
        if where.startswith("prose") and row != _NOT_IN_A_TABLE:
            names.append(row)
        for name in names:
            of_value, _, of_base = name.partition(" against ")
            base, value = (
                self._row(claim["patch"], each, kernel)
                for each, kernel in ((of_base or of_value, before), (of_value, after))
            )
            if value and (base or claim["base"] is None):
                first = _terms(of_value)[1][0]
                return _Sides(base, value, self.units[claim["patch"], first])
        return None

    def _row(self, patch: str, row: str, kernel: str) -> _Runs:
        """Return the runs of a row, which may be a sum or a quotient of rows."""
        combine, terms = _terms(row)
        parts = [self.runs.get((patch, term, kernel), {}) for term in terms]
        keys = set.intersection(*(set(part) for part in parts))
        values = {key: combine([part[key] for part in parts]) for key in sorted(keys)}
        return {key: value for key, value in values.items() if value is not None}


def _terms(row: str) -> tuple[Callable[[list[float]], float | None], list[str]]:
    """Return how a row is computed, and the rows it is computed of."""
    if " / " in row:
        above, below = row.split(" / ")
        prefix = above.partition(": ")[0] + ": " if ": " in above else ""
        terms = [above, below if below.startswith(prefix) else prefix + below]
        return (lambda parts: parts[0] / parts[1] if parts[1] else None), terms
    return sum, row.split(" + ")


def _of_means(
    claim: Mapping[str, Any], source: str, sides: _Sides, over: str, at: str | int | None
) -> Answer | None:
    """Return the answer by means, with the range over all values of a column."""
    relative = claim["change"] is not None
    if at is not None and at not in sides.value:
        return None
    keys = sorted(sides.base.keys() & sides.value.keys() if relative else sides.value.keys())
    ends = [_figure(sides.base.get(key), sides.value[key], relative) for key in keys]
    known = [end for end in ends if end is not None]
    middle = np.median if source == "measured" else fmean
    base, value = (
        (float(middle(list(side.values()))) if at is None else side.get(at)) if side else None
        for side in (sides.base, sides.value)
    )
    if value is None or not keys:
        return None
    stated = claim["base"] if relative and sides.unit == claim["unit"] else None
    return Answer(
        claim=claim["claim"],
        source=source,
        base=base,
        value=value,
        figure=_figure(base, value, relative),
        low=min(known, default=None),
        high=max(known, default=None),
        range_over="seeds" if over == "seed" else "open constants",
        rounds=len(keys),
        base_ratio=base / stated if stated and base is not None else None,
    )


def _figure(base: float | None, value: float, relative: bool) -> float | None:
    """Return the change in percent, or the value; None for a change from nothing."""
    if not relative:
        return value
    return 100 * (value - base) / base if base else None
