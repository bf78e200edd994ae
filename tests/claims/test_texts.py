# SPDX-License-Identifier: GPL-2.0-or-later
"""The texts of claims: digits and units."""

import pytest

from swapsim.claims.texts import figure_text, range_text


@pytest.mark.parametrize(
    ("value", "unit", "relative", "text"),
    [
        (None, "%", True, ""),
        (26.3407, "%", True, "+26.3 %"),
        (-15.95, "%", True, "-15.9 %"),
        (-0.004, "%", True, "0.0 %"),
        (-0.04, "%", True, "-0.04 %"),
        (-99.96, "%", True, "-99.96 %"),
        (-100.0, "%", True, "-100.0 %"),
        (999.9, "%", True, "+999.9 %"),
        (44175.0, "%", True, "\u00d7443"),
        (1706.0, "%", True, "\u00d718.1"),
        (3291610.4, "%", True, "\u00d732,917"),
        (66.0, "%", False, "66 %"),
        (1428002.4, "KiB/s", False, "1,428,002 KiB/s"),
        (8.561, "% of cycles", False, "8.56 % of cycles"),
        (0.000449, "% of cycles", False, "0 % of cycles"),
        (0.0, "pages", False, "0 pages"),
    ],
)
def test_a_figure_has_its_digits_and_unit(
    value: float | None, unit: str, relative: bool, text: str
) -> None:
    """A change has a sign and a decimal, two next to nothing and all; else three digits."""
    assert figure_text(value, unit, relative=relative) == text


def test_a_range_has_its_unit_once() -> None:
    """Both ends have the digits of a figure."""
    assert range_text(15.0, 60.04, "%", relative=True) == "+15.0 to +60.0 %"
    assert range_text(1.5e6, 2e6, "KiB/s", relative=False) == "1,500,000 to 2,000,000 KiB/s"
    assert range_text(None, 1.0, "%", relative=True) == ""
