# SPDX-License-Identifier: GPL-2.0-or-later
"""RESULTS, the long form in which what was simulated stands beside what was measured."""

from collections.abc import Mapping, Sequence

import polars as pl

from swapsim.claims.tables import RESULTS

Row = tuple[str, float, str]
"""A metric, its value and its unit."""


def results(rows: pl.DataFrame | Sequence[Row], labels: Mapping[str, str | int]) -> pl.DataFrame:
    """Give each row the labels of the run that it comes from.

    Parameters
    ----------
    rows : polars.DataFrame or sequence of Row
        A frame may have more columns of RESULTS than a row's three.
    labels : mapping of str to str or int
        Of all rows: what they lack. The source is simulated where nothing says another.

    Returns
    -------
    polars.DataFrame
        Schema RESULTS, in the order of the rows.

    Raises
    ------
    InputError
        A column of RESULTS is in neither.
    """
    if not isinstance(rows, pl.DataFrame):
        columns = {name: RESULTS.schema[name] for name in ("metric", "value", "unit")}
        rows = pl.DataFrame(rows, schema=columns, orient="row")
    labelled = {"source": "simulated", **labels}
    frame = rows.with_columns(
        pl.lit(label).alias(name) for name, label in labelled.items() if name not in rows.columns
    )
    typed = [
        pl.col(name).cast(RESULTS.schema[name]) for name in RESULTS.schema if name in frame.columns
    ]
    return RESULTS.check(frame.select(typed))
