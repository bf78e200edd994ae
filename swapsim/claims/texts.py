# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes and their ranges as text."""

from typing import Final

from swapsim.checks import checked
from swapsim.frames.figures import LARGE_PERCENT, factor_text

NO_PERCENT: Final = 0.005  # percentages and points below this are shown as zero


@checked
def range_text(low: float | None, high: float | None) -> str:
    """Return a range of changes in percent, once if its ends look the same; a factor from +1000 %.

    It is empty without an end.
    """
    if low is None or high is None:
        return ""
    if high >= LARGE_PERCENT:
        first, last = factor_text(low), factor_text(high)
    else:
        first, last = _change(low), f"{_change(high)} %"
    return last if last in (first, f"{first} %") else f"{first} to {last}"


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
