# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures and ranges as text."""

from typing import Final

from swapsim.checks import checked
from swapsim.frames.figures import LARGE_PERCENT, factor_text

_NO_DECIMALS: Final = 100
NO_PERCENT: Final = 0.005  # percentages and points below this are shown as zero


def figure_text(value: float | None, unit: str, *, relative: bool) -> str:
    """Return a figure with its unit; empty without a figure.

    A change has its sign and one decimal (two next to 0 and -100 %), or is a factor from +1000 %
    on; any other figure has three significant digits, and no decimals from 100 on.
    """
    if value is None:
        return ""
    if relative:
        return factor_text(value) if value >= LARGE_PERCENT else f"{_change(value)} %"
    if abs(value) >= _NO_DECIMALS:
        return f"{value:,.0f} {unit}".strip()
    nothing = unit.startswith("%") and abs(value) < NO_PERCENT
    return f"{0.0 if nothing else value:.3g} {unit}".strip()


@checked
def range_text(low: float | None, high: float | None, unit: str, *, relative: bool) -> str:
    """Return a range with one unit, once if its ends look the same; empty without an end."""
    if low is None or high is None:
        return ""
    if relative and high >= LARGE_PERCENT:
        first, last = factor_text(low), factor_text(high)
    elif relative:
        first, last = _change(low), f"{_change(high)} %"
    else:
        first = figure_text(low, unit, relative=False).removesuffix(f" {unit}")
        last = figure_text(high, unit, relative=False)
    return last if last in (first, f"{first} %", f"{first} {unit}") else f"{first} to {last}"


def _change(percent: float) -> str:
    """Return a change in percent with its sign; zero has none.

    Next to zero and to -100 % it has two decimals.
    """
    text = f"{percent:+.1f}"
    if text not in ("+0.0", "-0.0", "-100.0"):
        return text
    if abs(percent) < NO_PERCENT:
        return "0.0"
    return text if percent <= NO_PERCENT - 100 else f"{percent:+.2f}"
