# SPDX-License-Identifier: GPL-2.0-or-later
"""What-ifs as sentences: their figures are computed where they are said."""

import polars as pl

from swapsim.errors import InputError, require_some
from swapsim.machine.tables import SENSITIVITY, WHAT_IF_RANGES


def gains_in_words(ranges: pl.DataFrame) -> str:
    """Say from where to where gains go over some cases, and where their sign is not told.

    Parameters
    ----------
    ranges : polars.DataFrame
        Schema WHAT_IF_RANGES.

    Returns
    -------
    str
        Two sentences.

    Raises
    ------
    InputError
        No case is given.
    """
    frame = WHAT_IF_RANGES.check(ranges)
    require_some(frame.rows(), "ranges")
    least, most = (
        frame.sort("middle", descending=down).row(0, named=True) for down in (False, True)
    )
    unsure = frame.filter("flips")["label"].to_list()
    sign = f"Both signs occur for {', '.join(unsure)}." if unsure else "The sign never changes."
    return (
        f"Over fits and seeds, the smallest gain is {_span(least)} ({least['label']}), the "
        f"largest {_span(most)} ({most['label']}). {sign}"
    )


def sensitivity_in_words(asked: pl.DataFrame) -> str:
    """Say from where to where a gain goes over all constants' ends, and which moves it most.

    Parameters
    ----------
    asked : polars.DataFrame
        Schema SENSITIVITY.

    Returns
    -------
    str
        Three sentences.

    Raises
    ------
    InputError
        No constant has a fit at both ends.
    """
    frame = SENSITIVITY.check(asked)
    both = frame.drop_nulls(["low", "high"])
    if both.is_empty():
        raise InputError("no constant has a fit at its low and at its high", field="asked")
    ends = pl.concat([frame["low"], frame["high"]]).drop_nulls()
    first = both.row(0, named=True)
    flips = both.filter("flips")["constant"].to_list()
    sign = f"The sign changes with {', '.join(flips)}." if flips else "The sign never changes."
    return (
        f"With each of {frame.height} constants at its low and its high value, the gain is between "
        f"{min(ends):.1f} and {max(ends):.1f} %. {first['constant']} matters most: "
        f"{first['low']:.1f} % at {first['at_low']:g}, {first['high']:.1f} % at "
        f"{first['at_high']:g}. {sign}"
    )


def _span(row: dict[str, float]) -> str:
    low, high = (round(row[end], 1) + 0.0 for end in ("low", "high"))  # no minus before a zero
    return f"{low:+.1f} to {high:+.1f} %"
