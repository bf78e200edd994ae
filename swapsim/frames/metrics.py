# SPDX-License-Identifier: GPL-2.0-or-later
"""The metrics of a subject, declared once: unit, meaning, and which direction is better.

::

    METRICS = Metrics("the workbench", {"run": Metric("slots", "adjacent slots ...", "higher")})

    study rows:  study, settings ..., seed, metric, value      one row for each figure of a run

A name that ends in ``.*`` stands for a family: ``cycles.*`` is each metric that begins so.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl

from swapsim.checks import suggestion
from swapsim.errors import ConfigError, InputError
from swapsim.frames.table import Column, Table

BETTER: Final = ("higher", "lower", "neither")


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric's unit, meaning and better direction (one of BETTER)."""

    unit: str
    meaning: str
    better: str = "neither"

    def __post_init__(self) -> None:
        """Require a unit, a meaning and a direction."""
        if not (self.unit and self.meaning and self.better in BETTER):
            raise ConfigError(f"{self}: a metric needs a unit, a meaning and one of {BETTER}")


class Metrics(Mapping[str, Metric]):
    """The dictionary of a subject's metrics."""

    def __init__(self, subject: str, metrics: Mapping[str, Metric]) -> None:
        self.subject = subject
        self._metrics = dict(metrics)

    def __getitem__(self, name: str) -> Metric:
        """Return a metric, or that of its family; an InputError names those that are known."""
        if name in self._metrics:
            return self._metrics[name]
        families = (each for each in self._metrics if each.endswith(".*"))
        for family in families:
            if name.startswith(family[:-1]):
                return self._metrics[family]
        raise InputError(
            f"{self.subject} has no {name!r}: {suggestion(name, self._metrics)}choose one of "
            f"{', '.join(self._metrics)}",
            field="metric",
        )

    def __repr__(self) -> str:
        """Return the subject and the names of its metrics."""
        return f"Metrics({self.subject!r}: {', '.join(self._metrics)})"

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names as they are declared."""
        return iter(self._metrics)

    def __len__(self) -> int:
        """Return how many names are declared."""
        return len(self._metrics)

    def check(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return long rows if each of their metrics is known."""
        if missing := {"metric", "value"} - set(rows.columns):
            raise InputError(
                f"the rows lack {' and '.join(sorted(missing))}: give them in long form",
                field=min(missing),
            )
        for name in rows["metric"].cast(pl.String).unique(maintain_order=True):
            self[name]
        return rows

    def table(self, name: str) -> Table:
        """Return the metrics as columns of a table, by which frames and pages know their units."""
        columns = (
            Column(each, pl.Float64, f"{metric.meaning} (better: {metric.better})", metric.unit)
            for each, metric in self._metrics.items()
        )
        row = f"One figure per metric of {self.subject}, in long form or as a column of its own."
        return Table(name, row, *columns)

    def axis(self, name: str) -> str:
        """Return the words of a metric at an axis: its meaning, unit and better direction."""
        metric = self[name]
        better = "" if metric.better == "neither" else f" ({metric.better} is better)"
        return f"{metric.meaning}, {metric.unit}{better}"
