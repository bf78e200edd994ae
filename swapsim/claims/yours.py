# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's own measurements, and their comparison with published, simulated and measured."""

import re
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from swapsim import io
from swapsim.checks import checked, nearest
from swapsim.claims.judging import range_verdict
from swapsim.claims.published import published_claims, published_tables, require_unique
from swapsim.claims.tables import (
    CLAIMS,
    FOUR_COLUMNS,
    KNOWN_METRICS,
    SIMULATED_VERDICT,
    THREE_COLUMNS,
    UNMATCHED,
    YOUR_RUNS,
)
from swapsim.errors import InputError
from swapsim.frames.cases import first
from swapsim.frames.files import other_columns, read_csv
from swapsim.frames.table import BY_ROW, Column, Table
from swapsim.io.paths import data_root
from swapsim.study.ranking import CONFIDENCE, FEWEST_RUNS

BASE, PATCHED = "base", "patched"  # default names of the two kernels

_BOTH_SIDES: Final = Table(
    "measurements",
    "One row per metric, with one run of each kernel.",
    Column("metric", pl.String, "metric, by the name that its tool gives it"),
    Column("base", pl.Float64, "figure without the change", BY_ROW),
    Column("patched", pl.Float64, "figure with the change", BY_ROW),
    Column("unit", pl.String, "unit of both figures"),
)
_NO_CLAIM: Final = "fits no claim"
_MAY_LACK: Final = ("test", "unit")
_STRIPPED: Final = pl.col(pl.String).str.strip_chars()  # names, without a space after a comma
_SUGGESTED: Final = 50
"""Metrics without a claim up to which similar names are looked for: tools report thousands."""
_SIZED: Final = r"^[kKMGTmun]i?(B/s|s)$"  # units in which a change in percent is the same
_TWO_METRICS: Final = f"give several runs with the columns {', '.join(YOUR_RUNS.schema)}"
_TWO_RUNS: Final = "number the runs of a metric and kernel 1, 2, 3"


@checked
def your_runs(path: Path | str) -> pl.DataFrame:
    """Read a user's measurements (YOUR_RUNS).

    The path is a CSV file with the columns ``kernel, test, metric, value, unit, run``, a line a
    run, or with ``metric, base, patched, unit``, a line a metric. A metric has the name that its
    tool or a mail gives it, or that of a claim.

    An InputError says that there is no such file, or names file, line and field of the first row
    that does not fit.
    """
    path = Path(path)
    if path.is_dir():
        names = ",".join(YOUR_RUNS.schema)
        raise InputError(f"is a folder: give a CSV file that begins with {names}", path=path)
    if not path.exists():
        raise InputError("no such file: give a CSV file", path=path)
    if path.suffix in (".gz", ".xz", ".zst", ".bz2"):
        raise InputError("is compressed: unpack it", path=path)
    head = _head(path)
    if not head:
        names = " or ".join(",".join(table.schema) for table in (YOUR_RUNS, _BOTH_SIDES))
        what = "begins with an empty line" if io.read_text(path) else "is empty"
        raise InputError(f"{what}: write {names}", path=path, line=1)
    if head == ",".join(_BOTH_SIDES.schema):
        sides = read_csv(path, _BOTH_SIDES, _MAY_LACK).with_columns(_STRIPPED)
        require_unique(sides, ["metric"], path, _TWO_METRICS)
        return _long(sides)
    if any(re.fullmatch(r"\s*[+-]?\d[\d.]*\s*", field) for field in head.split(",")):
        names = " or ".join(",".join(table.schema) for table in (YOUR_RUNS, _BOTH_SIDES))
        raise InputError(
            f"looks like data: the header is missing; begin with {names}", path=path, line=1
        )
    plain = ",".join(name.strip().lower() for name in head.split(","))
    if plain != head and plain in (",".join(table.schema) for table in (YOUR_RUNS, _BOTH_SIDES)):
        raise InputError(
            f"write the names in lower case, without spaces: {plain}", path=path, line=1
        )
    if head != ",".join(YOUR_RUNS.schema):
        nearest, other = sorted(
            (table.names() for table in (YOUR_RUNS, _BOTH_SIDES)),
            key=lambda names: -sum(name in head for name in names),
        )
        wrong = other_columns(head.split(","), nearest)
        if head.startswith("procs "):
            wrong += " (a log of vmstat becomes a row for each of its columns, such as si, with "
            wrong += "metric vmstat.swap.si and the column's mean as value)"
        raise InputError(f"{wrong}; or give {', '.join(other)}", path=path, line=1)
    frame = read_csv(path, YOUR_RUNS, _MAY_LACK).with_columns(_STRIPPED)
    frame = frame.with_columns(pl.col(_MAY_LACK).fill_null(""))
    require_unique(frame, ["kernel", "test", "metric", "run"], path, _TWO_RUNS)
    _require_one_unit(frame, path)
    return frame


def _head(path: Path) -> str:
    return io.read_text(path).partition("\n")[0].strip().replace('"', "")


def _line(path: Path | str | None, row: int, rows: int) -> int | None:
    """Return the line of a row of `your_runs` in its CSV file."""
    if path is None:
        return None
    both = _head(Path(path)) == ",".join(_BOTH_SIDES.schema)
    return 2 + (row % (rows // 2) if both else row)


def _require_one_unit(runs: pl.DataFrame, path: Path) -> None:
    """Refuse a metric whose rows have several units: a comparison would leave some out."""
    first_unit = pl.col("unit").first().over("test", "metric")
    other = runs.with_row_index("line", 2).with_columns(usual=first_unit)
    for row in other.filter(pl.col("unit") != pl.col("usual")).head(1).iter_rows(named=True):
        raise InputError(
            f"{row['metric']} has {row['unit']!r} here and {row['usual']!r} above: convert it",
            path=path,
            line=row["line"],
            field="unit",
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


_KEY = ["test", "metric", "unit"]
_NAMED: Final = 10  # largest number of kernels in an error


@checked
def two_kernels(runs: pl.DataFrame, base: str | None, patched: str | None) -> tuple[str, str]:
    """Return the names of a user's two kernels, which are in YOUR_RUNS and differ."""
    known = YOUR_RUNS.check(runs)["kernel"].unique(maintain_order=True).to_list()
    if not known:
        raise InputError("there is no run below the columns' names: write a line for each")
    base, patched = BASE if base is None else base, PATCHED if patched is None else patched
    for field, name in (("base", base), ("patched", patched)):
        if name not in known:
            some = ", ".join(known[:_NAMED]) + ", ..." * (len(known) > _NAMED) or "none"
            two = f"base={known[0]!r} and patched={known[1]!r}" if len(known) > 1 else ""
            remedy = f"name yours, as {two}" if two else "give runs of two kernels"
            raise InputError(
                f"no runs of a kernel {name!r}; there are: {some}: {remedy}", field=field
            )
    if base == patched:
        raise InputError(f"{base!r} would be compared with itself: name another", field="patched")
    return base, patched


def known_metrics() -> pl.DataFrame:
    """Return the metrics of tools that fit claims (KNOWN_METRICS)."""
    return read_csv(data_root() / "published" / "metrics.csv", KNOWN_METRICS)


@checked
def fitting(
    runs: pl.DataFrame, claims: pl.DataFrame, path: Path | str | None = None
) -> pl.DataFrame:
    """Return the claims that a user's metrics fit.

    A metric fits the claim of its name; the claims that metrics.csv lists for it and its test, or
    for all tests if the user's rows name none; and if metrics.csv does not list it, the claims
    with that metric. An InputError names the row, with its line in the file at ``path``, that is
    below zero or has the unit of another quantity than the claim.
    """
    known = known_metrics()
    named = CLAIMS.check(claims).select("claim", "metric")
    theirs = YOUR_RUNS.check(runs).select("test", "metric").unique()
    listed = theirs.join(known, on="metric", suffix="_known").filter(
        (pl.col("test") == "") | (pl.col("test") == pl.col("test_known"))
    )
    by_name = theirs.join(named.select("claim"), left_on="metric", right_on="claim").with_columns(
        claim="metric"
    )
    # A name that metrics.csv lists is that of some tests; other tests may have it, too.
    by_metric = theirs.join(known, on="metric", how="anti").join(named, on="metric")
    pairs = pl.concat(
        [each.select("test", "metric", "claim") for each in (by_name, by_metric, listed)]
    )
    theirs = runs.with_row_index("row").join(pairs, on=["test", "metric"], maintain_order="left")
    for row in theirs.filter(pl.col("value") < 0).head(1).iter_rows(named=True):
        raise InputError(
            "{value:.15g} with kernel {kernel!r}, run {run}, and it cannot be below zero: fix or "
            "remove it".format(**row),
            path=path,
            line=_line(path, row["row"], runs.height),
            field=row["metric"],
        )
    printed = claims.filter(pl.col("change").is_not_null()).select("claim", printed="unit")
    same = _quantity("unit") == _quantity("printed")
    for row in (
        theirs.join(printed, on="claim", maintain_order="left")
        .filter(pl.col("unit") != "", ~same.any().over("row"))
        .head(1)
        .iter_rows(named=True)
    ):
        raise InputError(
            "{metric} in {unit!r} is another quantity than that of {claim}, in {printed!r}: "
            "convert it, or leave its unit empty".format(**row),
            path=path,
            line=_line(path, row["row"], runs.height),
            field="unit",
        )
    order = claims.select("claim", "patch", has_change=pl.col("change").is_not_null())
    return (
        pairs.unique()
        .join(order.with_row_index("place"), on="claim")
        .sort("place", "test", "metric")
        .select("test", "metric", "claim", "patch", "has_change")
    )


def _quantity(unit: str) -> pl.Expr:
    """Return what a unit measures, whatever its size: KiB/s and MB/s are both B/s.

    pmbench prints "aps" for accesses a second.
    """
    measured = pl.col(unit).str.split(" ").list.first().str.replace(_SIZED, "$1")
    return measured.replace("aps", "accesses/s")


@checked
def four_columns(
    three_columns: pl.DataFrame,
    runs: pl.DataFrame,
    fitting: pl.DataFrame,
    *,
    base: str | None = None,
    patched: str | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Compare a user's change with the published, simulated and measured one, and judge it.

    The change of the means over the runs, in percent, and its 95 % interval (Student's t, with
    Welch's degrees of freedom) are computed, and the interval is judged as the range of a model
    (`range_verdict`); with fewer than FEWEST_RUNS runs of a kernel it is open. Without a reproduced
    base no simulated change is given. A claim that repeats the figure of another one in the
    comparison is left out.
    """
    THREE_COLUMNS.check(three_columns)
    changes = _changes(runs, *two_kernels(runs, base, patched))
    order = three_columns.select("claim").with_row_index("place").join(_setups(), on="claim")
    judged = range_verdict("your_low", "your_high")
    verdict = first((too_few_runs(), "open"), (pl.lit(value=True), judged))
    known = pl.col("simulated_verdict").cast(pl.String) != "base not reproduced"
    fitted = (
        fitting.filter("has_change")
        .drop("patch")
        .join(changes.filter(pl.col("why").is_null()), on=["test", "metric"])
        .join(three_columns.drop("unit").rename({"metric": "row"}), on="claim")
    )
    stated = fitted.select("test", "metric", repeats="claim")
    four = FOUR_COLUMNS.check(
        fitted.join(stated, on=stated.columns, how="anti")
        .join(order, on="claim")
        .sort("place", "test", "metric")
        .with_columns(
            your_metric="metric",
            metric="row",
            your_verdict=verdict.cast(SIMULATED_VERDICT.dtype),
            simulated=pl.when(known).then("simulated"),
        )
        .select(FOUR_COLUMNS.names())
    )
    fits = fitting.select("test", "metric", fits=pl.lit(value=True)).unique()
    why = first(
        (pl.col("fits").is_null(), _NO_CLAIM),
        (pl.col("why").is_not_null(), pl.col("why")),
        otherwise="its claim has no change in percent",
    )
    unmatched = UNMATCHED.check(
        changes.join(fits, on=["test", "metric"], how="left", maintain_order="left")
        .filter(
            pl.col("fits").is_null()
            | ~pl.col("metric").is_in(four["your_metric"].unique().to_list())
        )
        .select(
            "test",
            "metric",
            "unit",
            runs=(pl.col("base_runs") + pl.col("patched_runs")).cast(pl.UInt32),
            why=why,
        )
        .sort("test", "metric", "unit")
    )
    return four, _with_suggestions(unmatched)


def too_few_runs() -> pl.Expr:
    """Return whether a kernel has too few runs for a verdict."""
    return pl.min_horizontal("base_runs", "patched_runs") < FEWEST_RUNS


def _setups() -> pl.DataFrame:
    """Return the error and the setup of each claim: its row's parameters, else table or place."""
    parts = pl.col("locator").str.split(" | ")
    row = parts.list.head(2).list.join(" | ").alias("row")
    cells = published_tables().select("mail", row, "parameters")
    return (
        published_claims()
        .select(
            "claim",
            "mail",
            "error",
            row,
            place=parts.list.first().str.replace("^(prose.*)$", "not named ($1)"),
        )
        .join(cells.unique(["mail", "row"]), on=["mail", "row"], how="left")
        .select("claim", "error", setup=pl.coalesce("parameters", "place"))
    )


def _with_suggestions(unmatched: pl.DataFrame) -> pl.DataFrame:
    """Say of each metric that fits no claim which known name is like its own."""
    nameless = unmatched.filter(why=_NO_CLAIM)
    if nameless.height > _SUGGESTED:
        return unmatched
    known, published = known_metrics(), published_claims()
    metrics = [*known["metric"], *published["claim"], *published["metric"]]

    def suggestion(row: dict[str, str]) -> str:
        tests = known.filter(metric=row["metric"])["test"].unique(maintain_order=True).to_list()
        near = tests or nearest(row["metric"], metrics)
        what = f" of test {row['test']!r}" if tests else ""
        return f"{_NO_CLAIM}{what}; did you mean {' or '.join(near)}?" if near else _NO_CLAIM

    why = [
        suggestion(row) if row["why"] == _NO_CLAIM else row["why"] for row in unmatched.to_dicts()
    ]
    return unmatched.with_columns(why=pl.Series(why, dtype=pl.String))


def _changes(runs: pl.DataFrame, base: str, patched: str) -> pl.DataFrame:
    """Return each metric's change in percent, its spread and interval, or why it is missing."""
    quotient = pl.col("patched_mean") / pl.col("base_mean")
    change = 100 * (quotient - 1)
    # What the variance of each kernel's runs adds to that of the change, of a run and of the mean.
    patched_part = (100 * pl.col("patched_deviation") / pl.col("base_mean")).pow(2)
    base_part = (100 * quotient * pl.col("base_deviation") / pl.col("base_mean")).pow(2)
    patched_mean_part, base_mean_part = (
        part / pl.col(runs)
        for part, runs in ((patched_part, "patched_runs"), (base_part, "base_runs"))
    )
    error = (patched_mean_part + base_mean_part).sqrt()
    of_patched = patched_mean_part / (patched_mean_part + base_mean_part)
    freedom = 1 / (
        of_patched.pow(2) / (pl.col("patched_runs") - 1)
        + (1 - of_patched).pow(2) / (pl.col("base_runs") - 1)
    )
    half = pl.when(error == 0).then(0.0).otherwise(error * freedom.map_batches(_student))
    why = first(
        (pl.col("base_mean").is_null(), f"not measured with {base}"),
        (pl.col("patched_mean").is_null(), f"not measured with {patched}"),
        (pl.col("base_mean") == 0, "0 without the patch: no change in percent"),
        (change.is_finite().not_(), "its change in percent is not finite"),
    )
    return (
        _side(runs, base, "base")
        .join(_side(runs, patched, "patched"), on=_KEY, how="full", coalesce=True)
        .with_columns(
            pl.col("base_runs", "patched_runs").fill_null(0),
            yours=change,
            your_low=change - half,
            your_high=change + half,
            spread=(patched_part + base_part).sqrt(),
            why=why,
        )
        .sort(_KEY)
    )


def _student(freedom: pl.Series) -> pl.Series:
    """Return Student's t of the confidence for degrees of freedom; null stays null."""
    from scipy.special import stdtrit

    t = stdtrit(freedom.fill_null(np.nan).to_numpy(), (1 + CONFIDENCE) / 2)
    return pl.Series(freedom.name, t).fill_nan(None)


def _side(runs: pl.DataFrame, kernel: str, name: str) -> pl.DataFrame:
    """Return mean, deviation and number of runs of each metric of a kernel."""
    return (
        runs.filter(kernel=kernel)
        .sort(pl.all())  # float sums depend on their order
        .group_by(_KEY, maintain_order=True)
        .agg(
            pl.col("value").mean().alias(f"{name}_mean"),
            pl.col("value").std().alias(f"{name}_deviation"),
            pl.len().cast(pl.UInt32).alias(f"{name}_runs"),
        )
    )
