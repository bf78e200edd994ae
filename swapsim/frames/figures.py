# SPDX-License-Identifier: GPL-2.0-or-later
"""The values of a column as texts.

A figure has four significant digits, and all digits before its decimal point::

    855576.76592        855,577
        27.41            27.41
         0.826249         0.8262
         0.000952         0.000952

A column has no more decimals than its figures need: 28.1 is 28.1. Missing decimals are filled with
blanks, so that decimal points are aligned.
"""

import math
import re
from collections.abc import Sequence
from typing import Any, Final

import polars as pl

MISSING: Final = "\u2013"
"""The text of a missing value."""

DIGIT_WIDE: Final = "\u2007"
POINT_WIDE: Final = "\u2008"
"""Spaces of the width of a digit, and of a decimal point."""

_SIGNIFICANT: Final = 4
_MOST_DECIMALS: Final = 9
_NOISE: Final = 1e-12
"""Share of a column's largest figure below which a figure is a rounding error of zero."""

_FIGURE: Final = re.compile(r"-|[-+]?\d[\d.,]*(e[-+]?\d+)?%?( \[.*\])?")


def cells(column: pl.Series) -> list[str]:
    """Return the text of each value of a column."""
    if column.dtype.is_float():
        return _floats(column.to_list())
    return [_word(value) for value in column.to_list()]


def is_figures(column: pl.Series) -> bool:
    """Whether a column contains figures: numbers, or texts that all look like numbers."""
    if column.dtype == pl.String:
        texts = column.drop_nulls().to_list()
        return bool(texts) and all(_FIGURE.fullmatch(text) for text in texts)
    return column.dtype.is_numeric()


def _word(value: Any) -> str:
    match value:
        case None:
            return MISSING
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:.{_SIGNIFICANT}g}"
        case list():
            return ", ".join(_word(each) for each in value) or "none"
        case dict():
            return ", ".join(f"{name} {_word(each)}" for name, each in value.items())
    return str(value)


def _floats(values: Sequence[float | None]) -> list[str]:
    finite = [abs(value) for value in values if value is not None and math.isfinite(value)]
    least = _NOISE * max(finite, default=0.0)
    values = [0.0 if value is not None and abs(value) <= least else value for value in values]
    enough = max((_needed_decimals(value) for value in finite if value > least), default=0)
    texts = [_figure(value, enough) for value in values]
    behind = [len(text.partition(".")[2]) for text in texts]
    return [
        text + _blank(decimals, max(behind, default=0))
        for text, decimals in zip(texts, behind, strict=True)
    ]


def _figure(value: float | None, enough: int) -> str:
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "-\u221e" if value < 0 else "\u221e"
    if value == 0:
        return "0"
    if abs(value) < 10 ** (_SIGNIFICANT - _MOST_DECIMALS):
        return f"{value:.{_SIGNIFICANT - 1}e}"
    return f"{value:,.{min(_decimals(value), enough)}f}"


def _decimals(value: float) -> int:
    """Return the number of decimals of a figure that is not zero."""
    wanted = _SIGNIFICANT - 1 - math.floor(math.log10(abs(value)))
    return min(max(wanted, 0), _MOST_DECIMALS)


def _needed_decimals(value: float) -> int:
    """Return the number of decimals without trailing zeros."""
    return len(f"{value:.{_decimals(value)}f}".partition(".")[2].rstrip("0"))


def _blank(decimals: int, most: int) -> str:
    if decimals == most:
        return ""
    return (POINT_WIDE if decimals == 0 else "") + DIGIT_WIDE * (most - decimals)
