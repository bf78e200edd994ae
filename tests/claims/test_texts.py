# SPDX-License-Identifier: GPL-2.0-or-later
"""The texts of claims: digits, units, words and counts."""

import polars as pl
import pytest

from swapsim import claims
from swapsim.claims.tables import RESULTS, THREE_COLUMNS
from swapsim.claims.texts import figure_text, range_text


@pytest.mark.parametrize(
    ("value", "unit", "relative", "text"),
    [
        (None, "%", True, ""),
        (26.3407, "%", True, "+26.3 %"),
        (-15.95, "%", True, "-15.9 %"),
        (-0.04, "%", True, "0.0 %"),
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
    """A change has a sign and a decimal, any other figure three significant digits."""
    assert figure_text(value, unit, relative=relative) == text


def test_a_range_has_its_unit_once() -> None:
    """Both ends have the digits of a figure."""
    assert range_text(15.0, 60.04, "%", relative=True) == "+15.0 to +60.0 %"
    assert range_text(1.5e6, 2e6, "KiB/s", relative=False) == "1,500,000 to 2,000,000 KiB/s"
    assert range_text(None, 1.0, "%", relative=True) == ""


def row(**changed: object) -> pl.DataFrame:
    """Return THREE_COLUMNS of one claim, A-swap-out, with some columns changed."""
    stated = claims.published_claims().filter(claim="A-swap-out")
    nothing = pl.DataFrame(schema=RESULTS.schema)
    judged = claims.three_columns(stated, nothing, claims.tolerances())
    literals = {name: pl.lit(value, THREE_COLUMNS.schema[name]) for name, value in changed.items()}
    return judged.with_columns(**literals)


@pytest.mark.parametrize(
    ("direction", "size", "worst", "text"),
    [
        (None, "not measured", "not measured", "not measured"),
        (None, "agrees", "agrees", "agrees"),
        ("agrees", "agrees", "agrees", "agrees"),
        ("agrees", "not judged", "agrees", "agrees"),
        ("agrees", "contradicts", "contradicts", "direction agrees, size contradicts"),
        ("open", "agrees", "open", "direction open, size agrees"),
        ("contradicts", "not measured", "contradicts", "contradicts"),
    ],
)
def test_a_measured_verdict_names_direction_and_size_where_they_differ(
    direction: str | None, size: str, worst: str, text: str
) -> None:
    """One word if both say the same, or if only one is judged."""
    found = claims.claim_texts(row(direction=direction, size=size, measured_verdict=worst))
    assert found["measured_verdict"].to_list() == [text]


@pytest.mark.parametrize(
    ("metric", "unit", "text"),
    [
        ("disk: Swap Outs: falls, almost to none", "direction", "falls, almost to none"),
        ("file pages keep their tags", "behaviour", "what the code does"),
        ("add_to_swap_cache, absent after", "% of cycles", "absent after"),
    ],
)
def test_a_claim_without_a_figure_is_in_words(metric: str, unit: str, text: str) -> None:
    """Its direction, that it is about the code, or what its row becomes."""
    found = claims.claim_texts(row(metric=metric, unit=unit, published=None))
    assert found["published"].to_list() == [text]


def test_verdicts_are_counted_by_patch_and_source() -> None:
    """Every claim of a source that has a figure is in one column; a source without has no row."""
    judged = pl.concat(
        row(simulated_verdict=verdict)
        for verdict in ("agrees", "agrees", "open", "not determinable", "not simulated")
    )
    found = claims.verdicts_by_patch(judged)
    assert found.rows() == [("01-writeback-tags", "simulated", 5, 2, 0, 1, 1, 0, 1)]
