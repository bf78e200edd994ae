# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes and their ranges as text."""

from typing import Final

LARGE_PERCENT: Final = 1000  # from this change in percent on, its factor is shown
NO_PERCENT: Final = 0.005  # percentages and points below this are shown as zero


def range_text(low: float | None, high: float | None) -> str:
    """Return a range of changes in percent, once if its ends look the same; a factor from +1000 %.

    It is empty without an end.
    """
    if low is None or high is None:
        return ""
    if high >= LARGE_PERCENT:
        first, last = _factor(low), _factor(high)
    else:
        first, last = _change(low), f"{_change(high)} %"
    return last if last in (first, f"{first} %") else f"{first} to {last}"


def _factor(percent: float) -> str:
    """Return the factor of a change in percent, after a multiplication sign."""
    times = 1 + percent / 100
    return f"\N{MULTIPLICATION SIGN}{f'{times:,.0f}' if times >= 100 else f'{times:.3g}'}"


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
