# SPDX-License-Identifier: GPL-2.0-or-later
"""Sentences about what-ifs read their figures from the tables."""

import polars as pl
import pytest

from swapsim.errors import InputError
from swapsim.machine.in_words import gains_in_words, sensitivity_in_words
from swapsim.machine.tables import SENSITIVITY, WHAT_IF_RANGES


def gained(*rows: tuple[str, float, float, float]) -> pl.DataFrame:
    """Return WHAT_IF_RANGES by hand: label, low, middle, high."""
    return pl.DataFrame(
        [
            ("cpus", at, label, low, middle, high, 9.0, 1.0, low < 0 < high)
            for at, (label, low, middle, high) in enumerate(rows)
        ],
        schema=WHAT_IF_RANGES.schema,
        orient="row",
    )


def test_the_least_and_the_most_are_named() -> None:
    """By their middles, with the ends of their bands."""
    said = gains_in_words(gained(("8 tasks", 4.0, 5.0, 6.0), ("1 task", 1.0, 2.0, 3.0)))
    assert "smallest gain is +1.0 to +3.0 % (1 task), the largest +4.0 to +6.0 % (8 tasks)" in said
    assert said.endswith("The sign never changes.")


def test_where_the_sign_is_not_told_is_said() -> None:
    """A band with both signs is named."""
    said = gains_in_words(gained(("8 tasks", -1.0, 5.0, 6.0), ("1 task", 1.0, 2.0, 3.0)))
    assert said.endswith("Both signs occur for 8 tasks.")
    with pytest.raises(InputError, match="field 'ranges'"):
        gains_in_words(gained())


def test_the_constant_that_moves_most_is_named() -> None:
    """With its own ends; one without a fit at an end counts by the other."""
    asked = pl.DataFrame(
        [("map_ns", 30.0, 660.0, 12.0, 18.0, False), ("in_memory", 0.2, 0.4, None, 19.5, False)],
        schema=SENSITIVITY.schema,
        orient="row",
    )
    said = sensitivity_in_words(asked)
    assert "each of 2 constants" in said
    assert "between 12.0 and 19.5 %. map_ns matters most: 12.0 % at 30, 18.0 % at 660" in said
    flipped = asked.with_columns(low=pl.lit(-1.0), flips=pl.lit(value=True))
    assert sensitivity_in_words(flipped).endswith("The sign changes with map_ns, in_memory.")
    with pytest.raises(InputError, match="no constant has a fit"):
        sensitivity_in_words(asked.tail(1))
