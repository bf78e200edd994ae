# SPDX-License-Identifier: GPL-2.0-or-later
"""The values of a column as texts.

A figure has three significant digits, and all digits before its decimal point::

    855576.76592        855,577
        27.41            27.4
         0.826249         0.826
         0.0005           0.0005

A column has no more decimals than its figures need: 28.1 is 28.1. Nor has it more than its largest
figure makes sensible: 0.00003 next to 12 is 0. Percentages and points have at most two decimals;
from 1000 % on a change is a factor: 5400 % is shown as a multiplication sign and 55. Missing
decimals are filled with blanks, so that decimal points are aligned.
"""

import math
import re
from collections.abc import Sequence
from typing import Any, Final

import polars as pl

MISSING: Final = "\u2013"  # the text of a missing value
DIGIT_WIDE: Final = "\u2007"  # a space of the width of a digit
POINT_WIDE: Final = "\u2008"  # a space of the width of a decimal point
_SIGNIFICANT: Final = 3
_MOST_DECIMALS: Final = 9
_NOISE: Final = 1e-12
"""Share of a column's largest figure below which a figure is a rounding error of zero."""

_FINEST: Final = 300
_SENSIBLE: Final = 4  # decimals next to a figure from 0.1 on; each power of ten below adds one
_OF_PERCENT: Final = 2
LARGE_PERCENT: Final = 1000  # from this change in percent on, its factor is shown
_FIGURE: Final = re.compile(r"-|[-+]?\d[\d.,]*(e[-+]?\d+)?%?( \[.*\])?")


def cells(column: pl.Series, unit: str = "") -> list[str]:
    """Return the text of each value of a column, whose unit may limit its decimals."""
    if column.dtype.is_float():
        return _floats(column.to_list(), unit)
    return [_word(value) for value in column.to_list()]


def factor_text(percent: float) -> str:
    """Return the factor of a change in percent, after a multiplication sign."""
    times = 1 + percent / 100
    digits = f"{times:,.0f}" if times >= 10 ** (_SIGNIFICANT - 1) else f"{times:.{_SIGNIFICANT}g}"
    return f"\N{MULTIPLICATION SIGN}{digits}"


def is_percent(unit: str) -> bool:
    """Whether figures of a unit are percentages or their differences."""
    return unit.startswith("%") or unit == "points"


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


def _floats(values: Sequence[float | None], unit: str) -> list[str]:
    finite = [abs(value) for value in values if value is not None and math.isfinite(value)]
    largest = max(finite, default=0.0)
    most = _OF_PERCENT if is_percent(unit) else _sensible(largest)
    least = max(_NOISE * largest, 0.5 * 10**-most)
    values = [0.0 if value is not None and abs(value) < least else value for value in values]
    enough = max((_needed_decimals(value) for value in finite if value >= least), default=0)
    texts = [_figure(value, min(enough, most), unit) for value in values]
    behind = [len(text.partition(".")[2]) for text in texts]
    return [
        text + _blank(decimals, max(behind, default=0))
        for text, decimals in zip(texts, behind, strict=True)
    ]


def _sensible(largest: float) -> int:
    """Return the most decimals of a column, by its largest figure."""
    if largest == 0:
        return 0
    return min(max(_SENSIBLE, _SENSIBLE - 1 - math.floor(math.log10(largest))), _FINEST)


def _figure(value: float | None, enough: int, unit: str) -> str:
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "-\u221e" if value < 0 else "\u221e"
    if value == 0:
        return "0"
    if abs(value) < 10 ** (_SIGNIFICANT - _MOST_DECIMALS):
        return f"{value:.{_SIGNIFICANT - 1}e}"
    if unit == "%" and value >= LARGE_PERCENT:
        return factor_text(value)
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
