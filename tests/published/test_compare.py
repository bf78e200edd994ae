# SPDX-License-Identifier: GPL-2.0-or-later
"""The mails' percentages follow from their cells; results are printed and compared as theirs."""

import re
from collections.abc import Callable

import polars as pl
import pytest

from swapsim.errors import InputError
from swapsim.patches.rounds import COMPARISON, MEDIANS, as_printed, compare_counts, lkp
from swapsim.published.data import RESULTS, published_tables
from swapsim.published.data import results as as_results

TABLES = published_tables()
A = "01-writeback-tags"


def of_mmtests(base: float, value: float, better: str) -> float:
    """Return the percentage that mmtests prints after a value; zero cells have fixed answers."""
    if value in (base, 0):
        return 0.0
    if base == 0:
        return -99.0 if better == "lower" else 100.0
    change = 100 * value / base - 100
    return -change if better == "lower" else change


def printable(change: tuple[float, float], decimals: int) -> set[str]:
    """Return every text that a change in this range prints as."""
    step = 10**decimals
    low, high = (round(end * step) for end in sorted(change))
    return {
        f"{number / step:.{decimals}f}".replace("-0.00", "0.00") for number in range(low, high + 1)
    }


def corners(
    base: dict[str, float], cell: dict[str, float], counts: bool = False
) -> list[tuple[float, float]]:
    """Return the extremes of the values that print as these cells; zeros and counts are exact."""
    ends = []
    for row in (base, cell):
        half = 0.0 if counts or not row["value"] else 0.5 * 10.0 ** -row["decimals"]
        ends.append([row["value"] - half, row["value"] + half])
    return [(one, other) for one in ends[0] for other in ends[1]]


@pytest.mark.parametrize(
    ("mail", "table", "determined"),
    [
        ("B-batched-removal", "usemem", 12),
        ("B-batched-removal", "xfsio", 2),
        ("C-stall-decisions-series", "parallelio, disk", 72),
        ("C-stall-decisions-series", "parallelio, nfs", 72),
    ],
)
def test_the_published_percentages_of_mmtests_follow_from_their_cells(
    mail: str, table: str, determined: int
) -> None:
    """Each percentage of the mail is one that its cells can have by the rules of the tool."""
    published = TABLES.filter(mail=mail, table=table)
    counts = published["value"].floor().equals(published["value"])  # a table of whole numbers
    exact = 0
    for _, row in published.group_by("metric", maintain_order=True):
        base = row.row(0, named=True)
        for cell in row.iter_rows(named=True):
            ends = corners(base, cell, counts)
            changes = [of_mmtests(*pair, cell["better"]) for pair in ends]
            possible = printable((min(changes), max(changes)), 2)
            if cell["kernel"] == base["kernel"]:
                possible = {"0.00"}
            assert cell["change_percent_printed"].removesuffix("%") in possible, cell
            exact += len(possible) == 1
    assert exact == determined


def test_lkp_layout_reprints_the_published_rows() -> None:
    """Values, deviations, and each change that its cells determine stand as in the mail."""
    published = TABLES.filter(table="lkp comparison")
    text = lkp(published.select(COMPARISON.names()))
    rows = re.findall(r"([\d.]+) ±\s*(-?\d+)% +([+-][\d.]+)% +([\d.]+) ±\s*(-?\d+)%  (\S+)\n", text)
    exact = 0
    for printed, (metric, row) in zip(
        rows, published.group_by("metric", maintain_order=True), strict=True
    ):
        base, other = row.to_dicts()
        assert printed[:2] == (base["printed"], f"{base['stddev_percent']:.0f}")
        assert printed[3:5] == (other["printed"], f"{other['stddev_percent']:.0f}")
        assert printed[5] == metric[0]
        changes = [100 * new / old - 100 for old, new in corners(base, other)]
        possible = printable((min(changes), max(changes)), 1)
        assert f"{other['change_percent']:.1f}" in possible
        if len(possible) == 1:
            assert f"{printed[2]}%" == other["change_percent_printed"]
            exact += 1
    assert exact == 4  # two lock rows print too few digits to fix their change


def test_lkp_prints_a_change_from_zero_as_infinite() -> None:
    """A zero base has no quotient; a missing deviation leaves its place empty."""
    rows = [("row", "base", 0.0, 2, None, "lower"), ("row", "patch", 1.5, 2, 4.0, "lower")]
    line = lkp(pl.DataFrame(rows, schema=COMPARISON.schema, orient="row")).splitlines()[-1]
    assert re.fullmatch(r" +0\.00 {6} +\+Inf% +1\.50 ±  4%  row", line)


def results(metric: str, source: str, base: list[float], patched: list[float]) -> pl.DataFrame:
    """Return runs of patch A, one per seed, with the base's values and the patched kernel's."""
    rows = [
        (A, source, kernel, "-", 8, seed, metric, value, "KiB/s")
        for kernel, values in (("base", base), ("base+patch", patched))
        for seed, value in enumerate(values)
    ]
    return pl.DataFrame(rows, schema=RESULTS.schema, orient="row")


@pytest.mark.parametrize(
    ("values", "apart", "agrees"),
    [([5.0], 0.0, True), ([5.2, 5.3], 5.0, True), ([5.2, 5.31], 5.1, False), ([4.7], -6.0, False)],
)
def test_a_count_agrees_within_five_percent(
    values: list[float], apart: float, agrees: bool
) -> None:
    """The mean over the seeds is compared with the measured median."""
    labels = {"patch": A, "kernel": "6.1", "policy": "on", "n_tasks": 8}
    rows = pl.DataFrame({"seed": range(len(values)), "value": values, "metric": "locks"})
    simulated = as_results(rows.with_columns(unit=pl.lit("1/page")), labels)
    medians = pl.DataFrame(
        [(A, "measured", "6.1", "on", 8, "locks", "1/page", 7, 5.0, 4.9, 5.1)],
        schema=MEDIANS.schema,
        orient="row",
    )
    row = compare_counts(simulated, medians).row(0, named=True)
    assert row["apart_percent"] == pytest.approx(apart)
    assert row["verdict"] == ("reproduced" if agrees else "missed")
    with pytest.raises(InputError, match="in common"):
        compare_counts(simulated, medians.with_columns(policy=pl.lit("off")))


def cells(metrics: dict[str, int], kernels: tuple[str, ...]) -> pl.DataFrame:
    """Return printed cells by hand: metric -> its decimals, and the order of the kernels."""
    made = TABLES.filter(table="lkp comparison").head(1)
    return pl.concat(
        made.with_columns(
            metric=pl.lit(metric), decimals=pl.lit(decimals, dtype=pl.UInt8), kernel=pl.lit(kernel)
        )
        for metric, decimals in metrics.items()
        for kernel in kernels
    )


def test_results_take_the_rows_digits_and_order_of_a_printed_table() -> None:
    """Means and deviations over the seeds; a metric that lacks a kernel is left out."""
    runs = pl.concat(
        [
            results("so", "simulated", [90.0, 110.0], [3.0, 3.0]),
            results("rate", "simulated", [4.0, 8.0], [0.0, 0.0]),
            results("tides", "simulated", [1.0], [1.0]),
            results("half", "simulated", [1.0], [2.0]).filter(kernel="base"),
        ]
    )
    printed = cells({"rate": 2, "unseen": 1, "half": 1, "so": 0}, ("base+patch", "other", "base"))
    table = as_printed(runs, printed)
    assert table.schema == COMPARISON.schema
    columns = ["metric", "kernel", "value", "decimals"]
    assert table.select(columns).rows() == [
        ("rate", "base+patch", 0.0, 2),
        ("rate", "base", 6.0, 2),
        ("so", "base+patch", 3.0, 0),
        ("so", "base", 100.0, 0),
    ]
    assert table["better"].unique().to_list() == printed["better"].unique().to_list()
    # Of two values the sample's deviation is their distance over the root of two.
    deviations = [None, 100 * 4 / 2**0.5 / 6, 0.0, 100 * 20 / 2**0.5 / 100]
    assert table["stddev_percent"].to_list() == pytest.approx(deviations)
    assert as_printed(runs.reverse(), printed).equals(table)


DISK = TABLES.filter(table="parallelio, disk").select(COMPARISON.names())
SO = results("so", "simulated", [1.0], [2.0])


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (lambda: lkp(DISK), "two kernels"),
        (lambda: as_printed(SO, cells({"rate": 2}, ("base", "base+patch"))), "one patch"),
    ],
)
def test_tables_that_do_not_belong_together_are_refused(
    call: Callable[[], object], remedy: str
) -> None:
    """Other kernels, or nothing in common: the line says what to give."""
    with pytest.raises(InputError, match=remedy):
        call()
