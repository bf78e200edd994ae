# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's own measurements: a CSV file, or a result folder of lkp-tests or mmtests."""

from pathlib import Path
from typing import Final

import polars as pl

from swapsim import io
from swapsim.claims import lkp_results, mmtests_results
from swapsim.claims.published import require_unique
from swapsim.claims.tables import YOUR_RUNS
from swapsim.errors import InputError
from swapsim.frames.files import read_csv
from swapsim.frames.table import BY_ROW, Column, Table

BASE: Final = "base"
PATCHED: Final = "patched"
"""Default names of the two kernels."""

_BOTH_SIDES: Final = Table(
    "measurements",
    "One row per metric, with one run of each kernel.",
    Column("metric", pl.String, "metric, by the name that its tool gives it"),
    Column("base", pl.Float64, "figure without the change", BY_ROW),
    Column("patched", pl.Float64, "figure with the change", BY_ROW),
    Column("unit", pl.String, "unit of both figures"),
)
_MAY_LACK: Final = ("test", "unit")
_TWO_METRICS: Final = f"give several runs with the columns {', '.join(YOUR_RUNS.schema)}"
_TWO_RUNS: Final = "number the runs of a metric and kernel 1, 2, 3"


def your_runs(path: Path | str) -> pl.DataFrame:
    """Read a user's measurements.

    Parameters
    ----------
    path : Path or str
        A CSV file with the columns ``kernel, test, metric, value, unit, run``, a line a run, or
        with ``metric, base, patched, unit``, a line a metric; or a folder with results of lkp-tests
        or of mmtests, for two kernels or more. A metric has the name that its tool or a mail gives
        it, or that of a claim.

    Returns
    -------
    polars.DataFrame
        Schema YOUR_RUNS.

    Raises
    ------
    InputError
        There is no such file or folder, or no known result in it; or naming file, line and field of
        the first row that does not fit.
    """
    path = Path(path)
    if path.is_dir():
        return _folder(path)
    if not path.exists():
        raise InputError("no such file or folder: give a CSV file, or a result folder", path=path)
    head = io.read_text(path).partition("\n")[0].strip().replace('"', "")
    if head == ",".join(_BOTH_SIDES.schema):
        sides = read_csv(path, _BOTH_SIDES, _MAY_LACK)
        require_unique(sides, ["metric"], path, _TWO_METRICS)
        return _long(sides)
    if head != ",".join(YOUR_RUNS.schema):
        raise InputError(
            f"its columns must be {', '.join(YOUR_RUNS.names())}, "
            f"or {', '.join(_BOTH_SIDES.names())}",
            path=path,
            line=1,
        )
    frame = read_csv(path, YOUR_RUNS, _MAY_LACK)
    frame = frame.with_columns(pl.col(_MAY_LACK).fill_null(""))
    require_unique(frame, ["kernel", "test", "metric", "run"], path, _TWO_RUNS)
    return frame


def _folder(folder: Path) -> pl.DataFrame:
    """Read the results of the tool that wrote a folder."""
    for tool in (lkp_results, mmtests_results):
        rows = tool.rows(folder)
        if rows:
            with io.translate_errors(
                folder, "holds names that are no text", "rename them", quote=True
            ):
                frame = pl.DataFrame(rows, schema=YOUR_RUNS.schema, orient="row")
            for kernel, _, metric, value, *_ in frame.filter(~pl.col("value").is_finite()).rows():
                raise InputError(
                    f"{value} with kernel {kernel!r} is no figure: fix or remove it",
                    path=folder,
                    field=metric,
                )
            return YOUR_RUNS.check(frame)
    raise InputError(
        "holds no known results: neither of lkp-tests (stats.json or matrix.json of a run) nor "
        "of mmtests (logs of parallelio or usemem, tests-timestamp)",
        path=folder,
    )


def _long(sides: pl.DataFrame) -> pl.DataFrame:
    """Return a line a metric as a line a run."""
    empty, unit, run = pl.lit(""), pl.col("unit").fill_null(""), pl.lit(1, dtype=pl.Int64)
    frames = [
        sides.select(
            kernel=pl.lit(each), test=empty, metric="metric", value=each, unit=unit, run=run
        )
        for each in (BASE, PATCHED)
    ]
    return YOUR_RUNS.check(pl.concat(frames))
