# SPDX-License-Identifier: GPL-2.0-or-later
"""The type that reclaim takes first by the refault rates of both: where the choice turns."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from swapsim.ffi import MGLRU_RULES
from swapsim.mglru._native import chooses_file

SETTING: Final[dict[str, Any]] = {
    "rules": [*MGLRU_RULES],
    "anon_percent": 4,
    "file_percent": 12,
    "upper_percent": 0,
    "swappiness": 60,
    "anon_generations": 3,
    "file_generations": 3,
    "io": True,
    "evicted": 10_000,
    "few_refaults": 64,
    "anon_percents": [*range(0, 51, 2)],
    "most_swappiness": {"6.12": 200, "7.3": 201},
}
"""Both refault rates, and what else decides: ``upper_percent`` is the part of refaulted file pages
that are not of the first tier, ``evicted`` the evicted pages of each type, a multiple of 100, and
``few_refaults`` the number of refaulted file pages below which file pages are taken. Rules
whose kernel refuses a swappiness, above ``most_swappiness``, then have one row without a value."""


def _takes_file(values: Mapping[str, Any], rules: str, anon: int, file: int) -> bool:
    upper = file * values["upper_percent"] // 100
    newest = max(values["anon_generations"], values["file_generations"])
    evicted = [values["evicted"], 0, 0, 0]
    return chooses_file(
        rules,
        {
            "sides": [
                {"refaulted": [anon, 0, 0, 0], "evicted": evicted},
                {"refaulted": [file - upper, upper, 0, 0], "evicted": evicted},
            ],
            "max_seq": newest,
            "min_seq": [newest + 1 - values[f"{each}_generations"] for each in ("anon", "file")],
            "swappiness": values["swappiness"],
            "io": values["io"],
        },
        {"few_refaults": values["few_refaults"]},
    )


def _turn(values: Mapping[str, Any], rules: str, anon: int) -> float | None:
    """Return the least file rate at which file pages are not taken, in percent; None for none."""
    evicted = values["evicted"]
    if _takes_file(values, rules, anon, evicted):
        return None
    low, high = -1, evicted
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _takes_file(values, rules, anon, middle) else (low, middle)
    return float(high / (evicted // 100))


def rows(values: Mapping[str, Any]) -> pl.DataFrame:
    """Return ``rules, metric, anon_percent, value``.

    ``turn`` is the file rate from which anonymous pages are taken, for rates of these in steps.
    """
    found: list[tuple[str, str, int, float | None]] = []
    x, y, percent = values["anon_percent"], values["file_percent"], values["evicted"] // 100
    for rules in values["rules"]:
        if values["swappiness"] > values["most_swappiness"][rules]:
            found.append((rules, "takes file", x, None))
            continue
        found += [
            (rules, "turn", each, _turn(values, rules, each * percent))
            for each in values["anon_percents"]
        ]
        at = _turn(values, rules, x * percent)
        takes = _takes_file(values, rules, x * percent, y * percent)
        found += [
            (rules, "turn at the setting", x, at),
            (rules, "file rate", x, y),
            (rules, "margin", x, None if at is None else at - y),
            (rules, "takes file", x, int(takes)),
        ]
    schema = {
        "rules": pl.String,
        "metric": pl.String,
        "anon_percent": pl.Int64,
        "value": pl.Float64,
    }
    return pl.DataFrame(found, schema=schema, orient="row")
