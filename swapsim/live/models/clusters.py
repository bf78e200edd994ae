# SPDX-License-Identifier: GPL-2.0-or-later
"""Large folios on a swap device of clusters: its lists over time, and the folios that are split.

CPUs map folios of several sizes and swap them out at once. When the device is filled to its share,
a random one is given back first. The draws are those of the library's generator.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from swapsim.clusters import folios
from swapsim.clusters.requests import ACCESS, CLUSTER, DROP, OUT, Requests
from swapsim.clusters.requests import CLUSTER as LARGEST
from swapsim.clusters.tables import FOLIO_STEPS, STEP
from swapsim.ffi import CLUSTER_RULES
from swapsim.ffi import FOLIO_STEPS as STEPS
from swapsim.live import _native

_COUNTED: Final = ("swapped_out", "fallbacks")
SINGLES: Final = 16  # single pages that are mapped in one step


SETTING: Final[dict[str, Any]] = {
    "rules": [*CLUSTER_RULES],
    "slots": 64 * CLUSTER,
    "cpus": 8,
    "fill_percent": 80,
    "large_percent": 75,
    "orders": [[4, 1]],
    "switches": {},
    "return_cache": True,
    "stages": 24,
    "seed": "1",
}
"""A device and its folios: ``fill_percent`` is the share of the device's slots that stays in use,
``large_percent`` that of large folios in the pages mapped. ``orders`` has their orders, each with
its share in relation to the others. A stage is a quarter of the device swapped out."""


def rows(values: Mapping[str, Any]) -> pl.DataFrame:
    """Return ``rules, stage, metric, name, value``: clusters by list, and folios by order.

    ``metric`` is clusters at the end of the stage, swapped_out or fallbacks (split) of the stage.
    Rows ``split`` of the last stage are the percentages that were split in all stages, null
    without folios, and ``folios`` the number of these.
    """
    found = folios.run(
        _stream(values),
        values["rules"],
        switches=values["switches"],
        return_cache=values["return_cache"],
    )
    lists = found.lists.drop("in_use").rename({"seq": "stage"})
    by = ["rules", "stage"]
    parts = [lists.unpivot(index=by, variable_name="name").with_columns(metric=pl.lit("clusters"))]
    for order, _ in values["orders"]:
        # A stage without such folios has no row.
        counted = found.out.filter(order=order).select(*by, *_COUNTED)
        counts = lists.select(by).join(counted, on=by, how="left", maintain_order="left")
        long = counts.fill_null(0).unpivot(_COUNTED, index=by, variable_name="metric")
        parts.append(long.with_columns(name=pl.lit(str(order))))
    names = [*by, "metric", "name", "value"]
    parts.append(_split(pl.concat(part.select(names) for part in parts[1:])).select(names))
    ranks = {name: rank for rank, name in enumerate(values["rules"])}
    rank = pl.col("rules").cast(pl.String).replace_strict(ranks)
    frame = pl.concat([part.select(names) for part in parts], how="vertical_relaxed")
    return frame.sort(rank, "stage", maintain_order=True)


def _split(counts: pl.DataFrame) -> pl.DataFrame:
    """Return the share of folios that are split, by order and of all."""
    both = pl.concat([counts, counts.with_columns(name=pl.lit("all"))])
    sums = both.group_by("rules", "name", maintain_order=True).agg(
        *(pl.col("value").filter(metric=name).sum().alias(name) for name in _COUNTED),
        stage=pl.max("stage"),
    )
    tried = pl.sum_horizontal(_COUNTED)
    share = pl.when(tried > 0).then(100 * pl.col("fallbacks") / tried)
    return pl.concat(
        sums.with_columns(metric=pl.lit(metric), value=value.cast(pl.Float64))
        for metric, value in (("split", share), ("folios", tried))
    )


@dataclass(slots=True)
class _Kind:
    """What a step may map: its order and pages, its chance, and where its pages begin."""

    order: int
    n: int
    chance: int
    base: int
    free: list[int] = field(default_factory=list)
    places: int = 0

    def place(self) -> int:
        """Return the first page of a place that is not in use."""
        if self.free:
            return self.free.pop()
        self.places += 1
        return self.base + (self.places - 1) * self.n


def _kinds(values: Mapping[str, Any]) -> list[_Kind]:
    large, total = values["large_percent"], sum(share for _, share in values["orders"])
    shares = [(0, (100 - large) * total)]
    shares += [(order, large * share) for order, share in values["orders"]]
    made, base = [], 0
    for order, share in shares:
        n = 1 << order if order else SINGLES
        made.append(_Kind(order, n, share * LARGEST // n, base))
        base += -(-(values["slots"] // n + 1) * n // LARGEST) * LARGEST
    return made


def _stream(values: Mapping[str, Any]) -> Requests:
    """Return the steps of the CPUs."""
    kinds, below = _kinds(values), _native.draws(int(values["seed"]))
    goal = values["slots"] * values["fill_percent"] // 100
    ends = [0]
    for kind in kinds:
        ends.append(ends[-1] + kind.chance)
    live: list[tuple[_Kind, int]] = []
    steps: list[tuple[int, ...]] = []
    marks: list[int] = []
    used = written = 0
    while len(marks) < values["stages"]:
        cpu, draw = below(values["cpus"]), below(ends[-1])
        kind = next(each for each, end in zip(kinds, ends[1:], strict=True) if draw < end)
        while live and used + kind.n > goal:
            at = below(len(live))
            old, page = live[at]
            live[at] = live[-1]
            live.pop()
            steps.append((0, cpu, DROP, 0, page, old.n))
            old.free.append(page)
            used -= old.n
        page = kind.place()
        steps += [(0, cpu, ACCESS, kind.order, page, kind.n), (0, cpu, OUT, 0, page, kind.n)]
        live.append((kind, page))
        used += kind.n
        written += kind.n
        if written * 4 >= values["slots"] * (len(marks) + 1):
            marks.append(len(steps))
    step = pl.col("step").replace_strict(dict(enumerate(STEPS)), return_dtype=STEP)
    frame = pl.DataFrame(steps, schema=list(FOLIO_STEPS), orient="row").with_columns(step)
    return Requests(
        name="live",
        steps=frame.cast(pl.Schema(FOLIO_STEPS)),
        marks=tuple(marks),
        slots=values["slots"],
    )
