# SPDX-License-Identifier: GPL-2.0-or-later
"""A panel as data: its question, controls, the configs that a model runs, and what is drawn.

::

    setting   control -> value          what the reader turns; the first one is the notebook's
    together  controls -> fields        what values of several controls together set
    cases     names -> fields           runs of a setting that stand next to each other
    model     config -> rows            one of `models`, the same in Python and in the page
    chart     Vega-Lite over "rows"     drawn again with other rows, not with another chart

The same panel runs in the page (``panel.js``) and here, with the same rows bit for bit.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from statistics import median
from typing import Any, Final

import polars as pl

from swapsim.errors import InputError, check_choice
from swapsim.live import models

Fields = Mapping[str, Any]
"""Fields of a model's config; a field that is a mapping, such as ``costs``, has fields itself."""

Setting = Mapping[str, str]  # the value of each control, as it is shown
SEEDS: Final = (1, 2, 3, 4, 5)  # the first is drawn at once, the others widen its band

UNMET: Final = "no constants meet the base column at these values, so there is nothing to run"
"""What a panel says where a combination of values sets nothing."""

ROWS: Final = "rows"  # the data of a panel's chart


@dataclass(frozen=True, kw_only=True)
class Control:
    """What a reader turns: a slider over values, or a choice of a few words."""

    name: str
    label: str
    sets: Mapping[str, Fields]  # of the config, by the value
    first: str
    choice: bool = False
    released: bool = False  # whether a model that takes long follows when the slider is let go

    def __post_init__(self) -> None:
        """Check that the first value is one of them."""
        check_choice("first", self.first, self.sets)


def slider(
    name: str,
    label: str,
    values: Iterable[object] | Mapping[Any, Fields],
    first: object,
    field: str = "",
    **how: bool,
) -> Control:
    """Return a slider over values: those of a field, or each with the fields that it sets."""
    if not isinstance(values, Mapping):
        values = {value: {field: value} if field else {} for value in values}
    sets = {str(value): fields for value, fields in values.items()}
    return Control(name=name, label=label, sets=sets, first=str(first), **how)


choice: Final = partial(slider, choice=True)  # of a few words


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A line of text below the chart: the median over seeds of some rows, or its change."""

    label: str
    where: Mapping[str, Any]  # labels of the rows
    base: Mapping[str, Any] | None = None  # labels that differ in the row of the change, in percent
    unit: str = "%"
    digits: int = 1
    scale: float = 1.0
    paired: bool = False  # the median of each seed's change, not the change of medians
    ranged: bool = False  # with the least and the greatest of the seeds


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A question whose answer follows a few controls.

    A run's config has the fields ``base``, those ``together``, each control's, and a case's.
    """

    name: str  # in an address
    question: str
    notebook: str  # whose setting it shows first
    limits: str  # what it is not, in one line
    model: str  # of `models.MODELS`
    controls: tuple[Control, ...]
    chart: Mapping[str, Any]  # Vega-Lite over the data named `ROWS`
    figures: tuple[Figure, ...]
    base: Fields = field(default_factory=dict)
    # Controls, and what their values, joined by "|", set together.
    together: tuple[tuple[tuple[str, ...], Mapping[str, Fields]], ...] = ()
    cases: tuple[tuple[Mapping[str, Any], Fields], ...] = (({}, {}),)  # columns of rows, fields
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # values that rows may have
    seeds: int = len(SEEDS)  # 1 for a model without chance
    seeded: str = "seed"  # the field of the seed as a text; "seeds": in a list; or none

    @property
    def first(self) -> dict[str, str]:
        """Return the setting that is shown first."""
        return {control.name: control.first for control in self.controls}

    @property
    def sets(self) -> tuple[tuple[tuple[str, ...], Mapping[str, Fields]], ...]:
        """Return what the values of several controls set, and of each of them."""
        return *self.together, *(((each.name,), each.sets) for each in self.controls)


def setting_of(panel: Panel, turned: Mapping[str, object]) -> dict[str, str]:
    """Return a complete setting; InputError for an unknown control or value."""
    values = {control.name: control.sets for control in panel.controls}
    for name, value in turned.items():
        if name not in values:
            raise InputError(f"{name}={value!r}: {panel.name} has {', '.join(values)}")
        check_choice(name, str(value), values[name])
    return panel.first | {name: str(value) for name, value in turned.items()}


def configs(panel: Panel, setting: Setting, seed: int) -> list[tuple[Fields, Fields]]:
    """Return the labels and the config of each run of a setting."""
    chosen = [_set_by(table, [setting[name] for name in names]) for names, table in panel.sets]
    name = panel.seeded
    seeded: Fields = {name: [seed] if name == "seeds" else str(seed)} if name else {}
    return [
        (labels, _merged(panel.base, *chosen, fields, seeded)) for labels, fields in panel.cases
    ]


def _set_by(table: Mapping[str, Fields], values: Sequence[str]) -> Fields:
    found = table.get("|".join(values))
    if found is None:
        raise InputError(f"{', '.join(values)}: {UNMET}")
    return found


def _merged(*parts: Fields) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for part in parts:
        for name, value in part.items():
            both = isinstance(value, Mapping) and isinstance(made.get(name), Mapping)
            made[name] = _merged(made[name], value) if both else value
    return made


def run(panel: Panel, setting: Setting, seeds: Sequence[int] | None = None) -> pl.DataFrame:
    """Run a setting by the native library; return its rows, one seed after the other."""
    model = models.MODELS[panel.model]
    kept = [pl.col(name).is_in(values) for name, values in panel.columns.items()]
    return pl.concat(
        model(config)
        .filter(*kept)
        .select(
            *(pl.lit(value).alias(name) for name, value in labels.items()),
            pl.all().exclude("seed"),
            seed=pl.lit(seed),
        )
        for seed in (SEEDS[: panel.seeds] if seeds is None else seeds)
        for labels, config in configs(panel, setting, seed)
    )


def figures(panel: Panel, rows: pl.DataFrame) -> list[str]:
    """Return the text below the chart, a line for each figure."""
    return [f"{each.label}: {_figure(each, rows)}" for each in panel.figures]


def _figure(figure: Figure, rows: pl.DataFrame) -> str:
    of_each = [
        value
        for part in rows.partition_by("seed", maintain_order=True)
        if (value := _of_rows(figure, part)) is not None
    ]
    of_all = (median(of_each) if of_each else None) if figure.paired else _of_rows(figure, rows)
    if not figure.ranged or len(of_each) < 2:
        return _text(of_all, figure)
    low, high = _text(min(of_each), figure), _text(max(of_each), figure)
    return f"{_text(of_all, figure)} ({low} to {high})"


def _of_rows(figure: Figure, rows: pl.DataFrame) -> float | None:
    """Return the median of the rows that a figure names, or its change from the base's."""
    value = _median(rows, figure.where)
    if figure.base is None:
        return value
    base = _median(rows, {**figure.where, **figure.base})
    return 100 * (value / base - 1) if value is not None and base else None


def _median(rows: pl.DataFrame, where: Mapping[str, Any]) -> float | None:
    found = rows.filter(**where)["value"].drop_nulls().to_list()
    return median(found) if found else None


def _text(value: float | None, figure: Figure) -> str:
    if value is None:
        return "none"
    sign = figure.base is not None
    scaled = Decimal(value * (1 if sign else figure.scale))
    # As JavaScript rounds: a half goes away from zero.
    rounded = scaled.quantize(Decimal(1).scaleb(-figure.digits), ROUND_HALF_UP)
    shown = f"{rounded:{'+' if sign else ''}z.{figure.digits}f}"
    return f"{shown} {figure.unit}".strip()


def as_json(panel: Panel, setting: Setting) -> dict[str, Any]:
    """Return all that the page needs of a panel, which has this setting at first."""
    made = asdict(panel) | {"first": setting, "rowsName": ROWS, "unmet": UNMET}
    made["sets"] = panel.sets
    del made["together"]
    for control in made["controls"]:
        control["values"] = [*control.pop("sets")]
    return made
