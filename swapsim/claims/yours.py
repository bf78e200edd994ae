# SPDX-License-Identifier: GPL-2.0-or-later
"""What a reader measured himself: a table in CSV, or the result folder of lkp-tests or mmtests."""

from pathlib import Path
from typing import Final

import polars as pl

from swapsim import io
from swapsim.claims import lkp_results, mmtests_results
from swapsim.claims.tables import YOUR_RUNS
from swapsim.errors import InputError
from swapsim.frames.files import read_csv
from swapsim.frames.table import BY_ROW, Column, Table

BASE: Final = "base"
PATCHED: Final = "patched"
"""What the two kernels are called where a reader has no names for them."""

_BOTH_SIDES: Final = Table(
    "measurements",
    "One row per metric, with one run of each kernel.",
    Column("metric", pl.String, "metric, by the name that its tool gives it"),
    Column("base", pl.Float64, "figure without the change", BY_ROW),
    Column("patched", pl.Float64, "figure with the change", BY_ROW),
    Column("unit", pl.String, "unit of both figures"),
)
_MAY_LACK: Final = ("test", "unit")


def your_runs(path: Path | str) -> pl.DataFrame:
    """Read a reader's measurements.

    Parameters
    ----------
    path : Path or str
        A CSV file with the columns ``kernel, test, metric, value, unit, run``, a line a run, or
        with ``metric, base, patched, unit``, a line a metric; or a folder with results of lkp-tests
        or of mmtests, for two kernels or more. A metric is called as its tool calls it, as
        a mail does, or by the name of a claim.

    Returns
    -------
    polars.DataFrame
        Schema YOUR_RUNS.

    Raises
    ------
    InputError
        There is no such file or folder, nothing that is known in it, or naming file, line and field
        of the first thing that does not fit.
    """
    path = Path(path)
    if path.is_dir():
        return _folder(path)
    if not path.exists():
        raise InputError("no such file or folder: give a CSV file, or a result folder", path=path)
    head = io.read_text(path).partition("\n")[0].strip().replace('"', "")
    if head == ",".join(_BOTH_SIDES.schema):
        return _long(_named_once(read_csv(path, _BOTH_SIDES, _MAY_LACK), path))
    if head != ",".join(YOUR_RUNS.schema):
        raise InputError(
            f"its columns must be {', '.join(YOUR_RUNS.names())}, "
            f"or {', '.join(_BOTH_SIDES.names())}",
            path=path,
            line=1,
        )
    frame = read_csv(path, YOUR_RUNS, _MAY_LACK)
    return _each_once(frame.with_columns(pl.col(_MAY_LACK).fill_null("")), path)


def _folder(folder: Path) -> pl.DataFrame:
    """Read a folder by whichever tool wrote it."""
    for tool in (lkp_results, mmtests_results):
        rows = tool.rows(folder)
        if rows:
            with io.translate_errors(
                folder, "holds names that are no text", "rename them", quote=True
            ):
                frame = pl.DataFrame(rows, schema=YOUR_RUNS.schema, orient="row")
            return _all_finite(YOUR_RUNS.check(frame), folder)
    raise InputError(
        "holds no results that are known: of lkp-tests (stats.json or matrix.json of a run) or of "
        "mmtests (logs of parallelio or usemem, tests-timestamp)",
        path=folder,
    )


def _all_finite(frame: pl.DataFrame, folder: Path) -> pl.DataFrame:
    for kernel, metric, value in (
        frame.filter(pl.col("value").is_finite().not_())
        .select("kernel", "metric", "value")
        .iter_rows()
    ):
        raise InputError(
            f"{value} with kernel {kernel!r} is no figure: mend it, or take it out",
            path=folder,
            field=metric,
        )
    return frame


def _named_once(sides: pl.DataFrame, path: Path) -> pl.DataFrame:
    twins = sides["metric"].is_first_distinct().not_().arg_true()
    if len(twins):
        raise InputError(
            f"{sides['metric'][twins[0]]!r} is given twice: several runs are given with the "
            f"columns {', '.join(YOUR_RUNS.schema)}",
            path=path,
            line=twins[0] + 2,
            field="metric",
        )
    return sides


def _long(sides: pl.DataFrame) -> pl.DataFrame:
    frames = [
        sides.select(
            kernel=pl.lit(kernel),
            test=pl.lit(""),
            metric="metric",
            value=kernel,
            unit=pl.col("unit").fill_null(""),
            run=pl.lit(1, dtype=pl.Int64),
        )
        for kernel in (BASE, PATCHED)
    ]
    return YOUR_RUNS.check(pl.concat(frames))


def _each_once(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    key = ["kernel", "test", "metric", "run"]
    twins = frame.select(pl.struct(key).is_first_distinct().not_()).to_series().arg_true()
    if len(twins):
        raise InputError(
            f"run {frame['run'][twins[0]]} of {frame['metric'][twins[0]]!r} is given twice: number "
            "the runs of a kernel 1, 2, 3",
            path=path,
            line=twins[0] + 2,
            field="run",
        )
    return frame
