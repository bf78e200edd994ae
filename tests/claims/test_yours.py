# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's own measurements: read from CSV, and compared with the claims."""

import csv
import math
import re
import statistics
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from swapsim import claims
from swapsim.claims.tables import ANSWERS, FOUR_COLUMNS, THREE_COLUMNS, UNMATCHED, YOUR_RUNS
from swapsim.cli import main
from swapsim.io.paths import data_root
from swapsim.study.ranking import FEWEST_RUNS

SIDES = "metric,base,patched,unit"
LONG = "kernel,test,metric,value,unit,run"
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=9)
FIGURES = st.floats(allow_nan=False, allow_infinity=False)


def compared(runs: pl.DataFrame, **names: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return a user's four columns, and the metrics that fit no claim."""
    nothing = pl.DataFrame(schema=ANSWERS.schema)
    three = claims.three_columns(claims.published_claims(), nothing, claims.tolerances())
    fitting = claims.fitting(runs, claims.published_claims())
    return claims.four_columns(three, runs, fitting, **names)


def write_csv(path: Path, head: str, rows: list[tuple[Any, ...]]) -> Path:
    """Write a table as any spreadsheet does."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(head.split(","))
        writer.writerows(rows)
    return path


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.builds(
            # A metric has one unit: here its name again.
            lambda kernel, test, metric, value, run: (kernel, test, metric, value, metric, run),
            *(WORDS, st.sampled_from(["", "pmbench"]), WORDS, FIGURES, st.integers(0, 99)),
        ),
        max_size=12,
        unique_by=lambda row: (row[0], row[1], row[2], row[5]),
    )
)
def test_what_is_written_as_csv_is_read(tmp_path: Path, rows: list[tuple[Any, ...]]) -> None:
    """Any names and figures come back, whatever has to be quoted."""
    frame = claims.your_runs(write_csv(tmp_path / "runs.csv", LONG, rows))
    assert frame.schema == YOUR_RUNS.schema
    assert frame.rows() == rows


@given(
    base=st.lists(st.floats(1, 1e9), min_size=1, max_size=6),
    patched=st.lists(st.floats(1, 1e9), min_size=1, max_size=6),
)
def test_the_change_is_that_of_the_means(base: list[float], patched: list[float]) -> None:
    """Spread is the quotient's deviation, empty with one run; few runs decide nothing."""
    rows = [
        (kernel, "vm-scalability", "vm-scalability.throughput", value, "KiB/s", run)
        for kernel, values in (("base", base), ("patched", patched))
        for run, value in enumerate(values)
    ]
    four, rest = compared(pl.DataFrame(rows, schema=YOUR_RUNS.schema, orient="row"))
    assert rest.is_empty()
    row = four.row(0, named=True)
    mean = {"base": statistics.fmean(base), "patched": statistics.fmean(patched)}
    change = 100 * (mean["patched"] / mean["base"] - 1)
    assert row["claim"] == "A-throughput"
    assert row["yours"] == pytest.approx(change, rel=1e-6, abs=1e-6)
    assert (row["base_runs"], row["patched_runs"]) == (len(base), len(patched))
    low, high = row["your_low"], row["your_high"]
    if min(len(base), len(patched)) == 1:
        assert (row["spread"], low, high) == (None, None, None)
        assert row["your_verdict"] == "open"
        return
    few = min(len(base), len(patched)) < FEWEST_RUNS
    apart = low > 28.1 + 9.33 or high < 28.1 - 9.33 or high < 0
    within = low >= 28.1 - 9.33 and high <= 28.1 + 9.33
    decided = "missed" if apart else "reproduced" if within else "open"
    assert row["your_verdict"] == ("open" if few else decided)
    assume(all(statistics.stdev(values) > 1e-3 for values in (base, patched)))
    shares = [statistics.stdev(v) / statistics.fmean(v) for v in (base, patched)]
    expected = 100 * mean["patched"] / mean["base"] * math.hypot(*shares)
    assert row["spread"] == pytest.approx(expected, rel=1e-6)
    if len(base) == len(patched):
        assert low <= change <= high
        errors = {
            "patched": statistics.variance(patched) / len(patched),
            "base": (mean["patched"] / mean["base"]) ** 2 * statistics.variance(base) / len(base),
        }
        freedom = (len(base) - 1) * sum(errors.values()) ** 2 / sum(e**2 for e in errors.values())
        half = 100 * math.sqrt(sum(errors.values())) / mean["base"] * stats.t.ppf(0.975, freedom)
        assert high - change == pytest.approx(half, rel=1e-5)


@pytest.mark.parametrize(
    ("claim", "patched", "verdict"),
    [
        ("A-throughput", (122, 124, 121, 123, 125), "reproduced"),
        ("A-throughput", (60, 260, 90, 120, 85), "open"),
        ("A-throughput", (137, 139, 138, 136, 140), "open"),
        ("A-throughput", (118, 121, 120, 119, 122), "open"),
        ("A-throughput", (148, 149, 148, 147, 150), "missed"),
        ("A-throughput", (900, 2600, 1900, 1200, 1850), "missed"),
        ("D2-optane-score", (98, 97, 99, 98, 97), "missed"),
        ("D2-optane-score", (102, 103, 102, 101, 102), "open"),
        ("B-pwrite-elapsed", (100, 100.5, 99.5, 101, 99), "reproduced"),
    ],
)
def test_five_runs_are_judged_as_a_model_is(
    claim: str, patched: tuple[int, ...], verdict: str
) -> None:
    """They decide if all lie on one side; a fall misses +1.7 %, and no change reproduces -0.05."""
    rows = [
        (kernel, "", claim, float(value), "", run)
        for kernel, values in (("base", (100, 99.5, 100.5, 99, 101)), ("patched", patched))
        for run, value in enumerate(values)
    ]
    four, _ = compared(pl.DataFrame(rows, schema=YOUR_RUNS.schema, orient="row"))
    assert four["your_verdict"].item() == verdict


def test_a_metric_has_the_name_of_a_tool_a_mail_or_a_claim(tmp_path: Path) -> None:
    """All three names fit the claim, and a test's name excludes the claims of other tests."""
    rows = [(" Amean System-5", 200, 100, "s"), ("B-system-7", 100, 90, ""), ("syst-1", 10, 8, "s")]
    four, rest = compared(claims.your_runs(write_csv(tmp_path / "a.csv", SIDES, rows)))
    assert rest.is_empty()
    assert four.schema == FOUR_COLUMNS.schema
    found = {(row["claim"], row["yours"]) for row in four.iter_rows(named=True)}
    assert ("B-system-5", -50.0) in found
    assert {claim for claim, _ in found} == {"B-system-5", "B-system-7", "B-system-1"}
    rows = [(kernel, "pmbench", "vmstat.swap.so", 3, "", 1) for kernel in ("base", " patched")]
    four, _ = compared(claims.your_runs(write_csv(tmp_path / "b.csv", LONG, rows)))
    assert four["claim"].to_list() == [
        "D-prose-swap-out",
        "D3-prose-swap-out",
        "D2-optane-swap-out",
    ]


def test_what_is_compared_with_no_claim_is_listed(tmp_path: Path) -> None:
    """A metric of no claim, of one kernel, without a finite change, of a claim without a change."""
    rows = [
        ("base", "", "meminfo.Active", 1, "", 1),
        ("patched", "", "meminfo.Active", 1, "", 1),
        ("base", "", "A-throughput", 1, "", 1),
        ("base", "", "A-swap-out", 0, "", 1),
        ("patched", "", "A-swap-out", 1, "", 1),
        ("base", "", "C-disk-swap-ins", 2, "", 1),
        ("patched", "", "C-disk-swap-ins", 1, "", 1),
        ("base", "", "D-prose-deviation", 2, "%", 1),
        ("patched", "", "D-prose-deviation", 1, "%", 1),
        ("base", "", "A-lock-add", 5e-324, "", 1),
        ("patched", "", "A-lock-add", 1e308, "", 1),
    ]
    four, rest = compared(claims.your_runs(write_csv(tmp_path / "a.csv", LONG, rows)))
    assert four.is_empty()
    assert rest.schema == UNMATCHED.schema
    assert dict(rest.select("metric", "why").iter_rows()) == {
        "A-swap-out": "0 without the patch: no change in percent",
        "A-lock-add": "its change in percent is not finite",
        "A-throughput": "not measured with patched",
        "C-disk-swap-ins": "its claim has no change in percent",
        "D-prose-deviation": "its claim has no change in percent",
        "meminfo.Active": "fits no claim",
    }


@pytest.mark.parametrize(
    ("test", "metric", "near"),
    [
        ("", "vmstat.swap_so", "vmstat.swap.so"),
        ("vmscalability", "vmstat.swap.so", "vm-scalability or pmbench"),
        ("", "A-thruput", "A-throughput"),
        ("", "meminfo.Active", ""),
    ],
)
def test_a_name_that_fits_no_claim_has_a_suggestion(
    tmp_path: Path, test: str, metric: str, near: str
) -> None:
    """The known name that is like it, of the metric or of its test."""
    rows = [(kernel, test, metric, 3, "", 1) for kernel in ("base", "patched")]
    _, rest = compared(claims.your_runs(write_csv(tmp_path / "a.csv", LONG, rows)))
    assert rest["why"].item().partition("; did you mean ")[2] == (near and f"{near}?")


def test_each_row_of_the_mapping_names_a_claim() -> None:
    """Every claim exists, each row occurs once, and each test is one of the tools'."""
    metrics = pl.read_csv(data_root() / "published" / "metrics.csv")
    known = set(claims.published_claims()["claim"])
    assert set(metrics["claim"]) <= known
    assert metrics.is_unique().all()
    assert set(metrics["test"]) == {"vm-scalability", "pmbench", "usemem", "parallelio"}


def table(*rows: str) -> dict[str, str]:
    """Return the file of a CSV table."""
    return {"runs.csv": "".join(f"{row}\n" for row in rows)}


BAD: list[tuple[dict[str, str], str]] = [
    (table("kernel;metric"), "line 1: its columns must be.* semicolons here: write commas"),
    ({"runs.csv": ""}, "line 1: is empty: write kernel,"),
    (table("metric,base,patched,unit"), "no run below the columns' names: write a line for each"),
    (table("Metric, base, patched, unit"), "line 1: write .* lower case, .*: metric,base,patched"),
    (table("base,,a,1,,1"), "line 1: looks like data: the header is missing; begin with kernel,"),
    (table("metric,base,new,unit"), "line 1: .*; add patched and remove 'new'; or give kernel"),
    (table(LONG, "base,,a,many,,1"), "line 2, field 'value'"),
    (table(LONG, "base,,a,1,,x"), "line 2, field 'run'"),
    (table(LONG, 'base,,a,"1,207,402",,1'), "field 'value': .* is no number: write 1207402"),
    (table(LONG, "base,,a,1,,1", "base,,a,2,,1"), "line 3, field 'run'"),
    (table(LONG, "base,,,1,,1"), "line 2, field 'metric'"),
    (
        table(LONG, "base,,a,1,s,1", "patched,,a,2,ms,1"),
        "line 3, field 'unit': .* 'ms' here and 's'",
    ),
    (table(SIDES, "a,1,"), "line 2"),
    (
        table(SIDES, "a,1,1,", "A-swap-out,1,-2.5,"),
        "line 3, field 'A-swap-out': -2.5 with kernel 'patched', run 1",
    ),
    (
        table(LONG, "base,,a,1,,1", "patched,,A-swap-out,-1,,1", "base,,a,1,,2"),
        "line 3, field 'A-swap-out'",
    ),
    (
        table(LONG, "base,,a,1,,1", "patched,,A-swap-out,1,MB/h,1"),
        "line 3, field 'unit': A-swap-out in 'MB/h' .* 'KiB/s': convert it",
    ),
    (table(SIDES, "syst-1,1,2,KiB/s"), "line 2, field 'unit': syst-1 in 'KiB/s' .* 's'"),
    (
        table(LONG, "4.8,,a,1,,1", "4.9,,a,1,,1"),
        "runs.csv, field 'base': .*: 4.8, 4.9: name yours, as --base 4.8 and --patched 4.9",
    ),
    (table(SIDES, "a,1,2,", "a,1,2,"), "line 3, field 'metric'"),
    (table(LONG, "base,,a,1,,1"), "'patched'; there are: base: give runs of two"),
    ({}, "is a folder: give a CSV file that begins with kernel,test,"),
]


@pytest.mark.parametrize(("files", "words"), BAD)
def test_what_does_not_fit_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], files: dict[str, str], words: str
) -> None:
    """``swapsim compare`` names file, line and field of a table, and what to do."""
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    runs = tmp_path / "runs.csv"
    assert main(["compare", str(runs if runs.exists() else tmp_path)]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1, printed
    assert re.search(words, printed)


def test_a_head_may_be_in_quotes(tmp_path: Path) -> None:
    """As R writes it."""
    path = tmp_path / "mine.csv"
    path.write_text('"metric","base","patched","unit"\n"a",1,2,""\n')
    assert claims.your_runs(path).height == 2


def test_the_command_shows_both_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Four columns, with the laboratory's measurement, and the rest, each for a file, too."""
    rows = [("C-disk-kswapd-pages-scanned", 100, 30, ""), ("meminfo.Active", 1, 2, "")]
    path = write_csv(tmp_path / "mine.csv", SIDES, rows)
    command = ["compare", str(path), "--without-simulated"]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "C-disk-kswapd-pages-scanned" in printed
    assert "fits no claim" in printed
    output = tmp_path / "four.parquet"
    assert main([*command, "--only", "compared", "-o", str(output)]) == 0
    found = pl.read_parquet(output)
    shared = {"published", "simulated", "low", "high", "measured", "simulated_verdict"}
    assert shared < set(THREE_COLUMNS.schema) & set(found.columns)
    row = found.row(0, named=True)
    assert row["published"] == pytest.approx(-81.403, abs=0.001)
    assert row["simulated"] is None
    assert row["measured"] is not None
    assert row["yours"] == pytest.approx(-70)
    assert row["setup"] == "test=parallelio, target=disk"
    capsys.readouterr()
    assert main([*command, "-o", str(tmp_path / "usual.parquet")]) == 0
    assert pl.read_parquet(tmp_path / "usual.parquet").equals(found)
    assert "usual.parquet: compared; for others --only unmatched" in capsys.readouterr().err


def test_a_comparison_of_nothing_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program that reads the table gets its head and status 1; the error stream says why."""
    path = write_csv(tmp_path / "mine.csv", SIDES, [("pswpout", 1, 2, "")])
    assert main(["compare", str(path), "--without-simulated", "--format", "csv"]) == 1
    printed = capsys.readouterr()
    assert printed.out.count("\n") == 1
    assert "no metric fits a claim; 1 unmatched\n" in printed.err


def test_the_known_metrics_of_a_claim_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """They are those of metrics.csv."""
    assert main(["claims", "D3-prose-score", "--metrics", "--format", "csv"]) == 0
    assert "pmbench,pmbench.throughput.aps,D3-prose-score," in capsys.readouterr().out


def test_metrics_stand_next_to_their_claims_at_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One table, whose first column is the metric."""
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["claims", "--metrics"]) == 0
    lines = capsys.readouterr().out.splitlines()
    heads = [line.split() for line in lines if line.startswith("| metric ")]
    assert heads == [["|", "metric", "|", "claim", "|"]]
    assert max(map(len, lines)) <= 80
