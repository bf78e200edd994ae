# SPDX-License-Identifier: GPL-2.0-or-later
"""The mails' tables, row by row: which rows there are, the rule of the marks, and bad input."""

import math
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapsim import published
from swapsim.errors import InputError
from swapsim.published import mark

RATIOS = st.floats(0.05, 20)


@pytest.mark.parametrize(
    ("printed", "unchanged", "found", "low", "high", "word"),
    [
        (1.22, False, 1.14, 1.05, 1.30, "other size"),
        (1.22, False, 1.15, 1.05, 1.30, "agrees"),
        (1.22, False, 1.34, 1.20, 1.50, "agrees"),
        (1.22, False, 1.36, 1.20, 1.50, "other size"),
        (0.5, False, 0.36, 0.30, 0.40, "agrees"),
        (0.5, False, 0.85, 0.80, 0.88, "other size"),
        (0.5, False, 0.95, 0.92, 0.97, "differs"),
        (0.5, False, 1.50, 1.40, 1.60, "differs"),
        (0.5, False, 0.60, 0.40, 0.995, "unclear"),
        (0.05, False, 0.05, 0.05, 0.05, "agrees"),
        (1.02, True, 0.95, 0.50, 2.00, "stays"),
        (1.02, True, 1.50, 1.20, 2.00, "moves"),
        (1.02, True, 1.50, 1.05, 2.00, "unclear"),
    ],
)
def test_a_row_is_marked_by_the_rule(
    printed: float, unchanged: bool, found: float, low: float, high: float, word: str
) -> None:
    """Each limit from both sides."""
    assert mark(printed, unchanged, found, low, high) == word
    assert mark(printed, unchanged, found, low, high, runs=4) == "unclear"


@given(RATIOS, st.booleans(), st.lists(RATIOS, min_size=1, max_size=9))
def test_a_mark_is_that_of_the_rule_in_words(
    printed: float, unchanged: bool, ratios: list[float]
) -> None:
    """The same rule in percent and powers, asked in another order."""
    found, low, high = sorted(ratios)[len(ratios) // 2], min(ratios), max(ratios)
    unchanged |= 1 / 1.1 <= printed <= 1.1
    word = mark(printed, unchanged, found, low, high)
    within = {each: 1 / 1.1 <= each <= 1.1 for each in (found, low, high)}
    if unchanged:
        beyond = low > 1.1 or high < 1 / 1.1
        assert word == ("stays" if within[found] else "moves" if beyond else "unclear")
        return
    end = printed**1.5, printed ** (1 / 1.5)
    alike = min(end) <= found <= max(end)
    near_one = low <= 1.01 and high >= 1 / 1.01
    assert (word == "agrees") == (alike and not near_one)
    if word == "other size":
        assert (found > 1) == (printed > 1)
        assert not within[found]
        assert not alike
    if word == "unclear":
        assert near_one
    if word == "differs":
        assert within[found] or (found > 1) != (printed > 1) or (within[low] and within[high])


ROWS = {
    ("A", "lkp comparison"): 6 + 1,
    ("B", "usemem"): 10,
    ("B", "xfsio"): 2,
    ("D", "score"): 3,
    ("D", "score, V3"): 3,
}


def test_all_rows_of_all_tables_are_shown() -> None:
    """As many as there are printed, in the mail's order; counts of a real kernel stand below."""
    printed = {
        (row["mail"], name): published.table(row["mail"], name)
        for row in published.mails().iter_rows(named=True)
        for name in row["tables"]
    }
    assert {key: printed[key].height for key in ROWS} == ROWS
    assert sum(rows.height for (mail, _), rows in printed.items() if mail == "C") == 137
    for (mail, name), rows in printed.items():
        compared = published.compare(mail, name)
        of_mail = compared.filter(pl.col("unit").is_not_null() | pl.col("ratio").is_not_null())
        assert of_mail["metric"].to_list() == rows["metric"].to_list(), (mail, name)


SCORES = {
    ("disk", "simulated", "changed"): {"agrees": 6, "other size": 2, "differs": 4, "unclear": 1},
    ("disk", "simulated", "unchanged"): {"stays": 35, "moves": 3, "unclear": 1},
    ("disk", "measured", "changed"): {"agrees": 6, "other size": 1, "differs": 0, "unclear": 3},
    ("disk", "measured", "unchanged"): {"stays": 34, "moves": 1, "unclear": 2},
    ("nfs", "simulated", "changed"): {"agrees": 6, "other size": 1, "differs": 4, "unclear": 20},
    ("nfs", "simulated", "unchanged"): {"stays": 18, "moves": 0, "unclear": 4},
}


def test_the_score_of_patch_c() -> None:
    """All its tables together, by target; NFS is not measured: its guest is its own server."""
    found = {}
    for target in ("disk", "nfs"):
        names = [f"{each}, {target}" for each in ("parallelio", "vmstat", "iostat")]
        score = published.score(pl.concat(published.compare("C", name) for name in names))
        for row in score.iter_rows(named=True):
            marks = (
                published.rows.UNCHANGED if row["rows"] == "unchanged" else published.rows.CHANGED
            )
            found[target, row["source"], row["rows"]] = {each: row[each] for each in marks}
            assert row["nothing"] == (row["answered"] if row["rows"] == "unchanged" else 0)
    assert found == SCORES


def runs_of(path: Path, text: str) -> Path:
    """Write a user's file."""
    path.write_text(text)
    return path


def test_a_users_runs_are_a_fourth_column(tmp_path: Path) -> None:
    """Of five runs a row is marked by the same rule; of one it is unclear."""
    head = "metric,run,base,patched\n"
    lines = [f"vmstat.swap.so,{run},{100 + run},{125 + run}" for run in range(5)]
    yours = published.read(runs_of(tmp_path / "runs.csv", head + "\n".join(lines)))
    assert published.rows.tables_of(yours) == [("A", "lkp comparison")]
    compared = published.compare("A", "lkp comparison", yours=yours)
    assert published.rows.sources(compared) == ["simulated", "measured", "yours"]
    row = compared.filter(metric="vmstat.swap.so").row(0, named=True)
    assert row["yours_ratio"] == pytest.approx(127 / 102)
    assert (row["yours_runs"], row["yours_mark"]) == (5, "agrees")
    assert compared["yours_mark"].count() == 1
    one = published.read(runs_of(tmp_path / "one.csv", "metric,base,patched\nSystem-5,100,51\n\n"))
    (mark_of_one,) = published.compare("B", "usemem", yours=one)["yours_mark"].drop_nulls()
    assert mark_of_one == "unclear"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "line 1: no column 'metric'"),
        ("metric,base\n", "line 1: no column 'patched'"),
        ("metric,base,patched\nso,1,many\n", "line 2, field 'patched': 'many' is no number"),
        ("metric,base,patched\n\nso,-1,2\n", "line 3, field 'base': '-1' is no number"),
        ("metric,base,patched\nso,1\n", "line 2, field 'patched': '' is no number"),
        ("metric,base,patched\nso,1,2\nso,1,2\n", "line 3, field 'metric': 'so' is given twice"),
        ("metric,base,patched\n", "no row"),
    ],
)
def test_a_users_file_that_does_not_fit_is_refused(tmp_path: Path, text: str, line: str) -> None:
    """In one line with file, line and field."""
    path = runs_of(tmp_path / "mine.csv", text)
    with pytest.raises(InputError) as refused:
        published.read(path)
    assert str(refused.value).startswith(str(path))
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_metric_of_no_table_is_refused() -> None:
    """With the name that is like it."""
    yours = pl.DataFrame({"metric": ["vmstat.swap.os"], "run": "1", "base": 1.0, "patched": 1.0})
    with pytest.raises(InputError, match=r"did you mean vmstat\.swap\.so"):
        published.rows.tables_of(yours)
    with pytest.raises(InputError, match="mail 'B' has no table 'lkp'"):
        published.table("B", "lkp")


def test_a_ratio_ends_at_a_twentieth_and_at_twenty() -> None:
    """From nothing, to nothing, and between two that are nothing next to a third kernel."""
    assert [published.rows.ratio(*each) for each in ((0, 5), (5, 0), (1, 2, 3), (0, 0))] == [
        *(20, 0.05, 1, 1)
    ]
    assert math.isclose(published.rows.ratio(4, 5), 1.25)
