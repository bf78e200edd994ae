# SPDX-License-Identifier: GPL-2.0-or-later
"""Shown tables: complete, in order, and each figure exact to its digits."""

import math
import re
from html import unescape
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapsim import frames
from swapsim.errors import InputError
from swapsim.frames import glossary
from swapsim.frames.figures import DIGIT_WIDE, MISSING, POINT_WIDE, cells, is_figures
from swapsim.removal.tables import BATCHED_REMOVAL

FIGURES = st.floats(allow_nan=False, allow_infinity=False, width=32) | st.none()
WORDS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=60)
BLANKS = DIGIT_WIDE + POINT_WIDE
INTEGERS = st.integers(-(2**63), 2**63 - 1)


def words_of(table: str) -> list[list[str]]:
    """Return a table's words by row, the head first, without its units."""
    rows = re.findall(r"<tr>(.*?)</tr>", re.sub(r"<br><small>.*?</small>|<wbr>", "", table))
    cell = r"<t[hd][^>]*>(.*?)</t[hd]>"
    return [[unescape(word) for word in re.findall(cell, row)] for row in rows]


@given(st.lists(FIGURES, min_size=1, max_size=8))
def test_a_figure_is_as_near_as_its_three_digits(values: list[float | None]) -> None:
    """Each cell is exact to half of its last digit, or to four decimals next to a larger one."""
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    least = 10.0 ** -max(4, 3 - math.floor(math.log10(largest))) if largest else 0.0
    for value, cell in zip(values, cells(pl.Series(values, dtype=pl.Float64)), strict=True):
        if value is None:
            assert cell.strip() == MISSING
            continue
        read = float(cell.replace(",", ""))
        assert math.isclose(
            read, value, rel_tol=5.01e-3, abs_tol=max(0.501 * least, 1e-12 * largest)
        )


@pytest.mark.parametrize(
    ("values", "unit", "texts"),
    [
        ([-0.00007869, 23.456], "%", ["0", "23.5"]),
        ([-0.00007869, 0.0061], "points", ["0", "0.01"]),
        ([44175.0, 999.0], "%", ["\u00d7443", "999"]),
        ([1706.0], "%", ["\u00d718.1"]),
        ([44175.0], "1/s", ["44,175"]),
        ([12.67, 0.00002939], "", ["12.7", "0"]),
        ([0.0004612, 0.0000121], "", ["0.000461", "0.0000121"]),
    ],
)
def test_a_small_figure_is_zero_and_a_large_change_a_factor(
    values: list[float], unit: str, texts: list[str]
) -> None:
    """By the column's unit, and by its largest figure."""
    assert [cell.strip(BLANKS) for cell in cells(pl.Series(values), unit)] == texts


@given(st.lists(FIGURES, min_size=1, max_size=8))
def test_decimal_points_are_aligned(values: list[float | None]) -> None:
    """After the decimal point all cells have the same width, in digits or blanks."""
    texts = [cell for cell in cells(pl.Series(values, dtype=pl.Float64)) if "e" not in cell]
    behind = [re.sub(r"^[-\d,\u2013]*", "", text).replace("\u2008", ".") for text in texts]
    assert all(len(one) == len(other) for one, other in pairwise(behind))


@given(st.lists(st.tuples(WORDS, INTEGERS, st.booleans()), min_size=1, max_size=6))
def test_words_and_integers_are_shown_exactly(rows: list[tuple[str, int, bool]]) -> None:
    """A cell has the text of any word, escaped, and all digits of an integer."""
    frame = pl.DataFrame(rows, schema=["word", "count", "true"], orient="row", strict=False)
    frame = frame.with_columns(last=pl.col("word"))
    _, *shown = words_of(frames.html(frame))
    assert [row[-1] for row in shown] == [word for word, _, _ in rows]
    assert [row[-3] for row in shown] == [f"{count:,}" for _, count, _ in rows]
    assert [row[-2] for row in shown] == ["yes" if true else "no" for _, _, true in rows]


def test_the_same_words_as_text() -> None:
    """Text and HTML have the same content."""
    frame = pl.DataFrame(
        {"factor": ["cpus"] * 2, "policy": ["a", "b"], "tied_with": [["b", "c"], []],
         "median": [855576.76592, 0.25], "waits": [None, 1.5]}
    )  # fmt: skip
    assert frames.text(frame, "1/s", ["median", "waits"]).splitlines() == [
        "factor: cpus",
        "policy  tied_with      median  waits",
        "                          1/s    1/s",
        "a       b, c       855,577       \u2013",
        "b       none             0.25    1.5",
    ]
    made = words_of(frames.html(frame, "1/s", ["median", "waits"]))
    assert [word.strip() for word in made[1]] == ["a", "b, c", "855,577", MISSING]


def test_constant_words_are_shown_once_above() -> None:
    """Words that are equal in all rows and the unit leave the rows; a verdict stays."""
    frame = pl.DataFrame(
        {"trace": ["t", "t"], "policy": ["a", "b"], "median": [1.0, 2.5], "unit": ["1/page"] * 2,
         "off_percent": [1.0, 2.0], "verdict": ["misses"] * 2}
    )  # fmt: skip
    made = frames.html(frame)
    assert "trace: t" in made
    assert words_of(made)[0] == ["policy", "median", "off_percent", "verdict"]
    assert made.count("<small>1/page</small>") == 1
    assert "trace" in words_of(frames.html(frame.head(1)))[0]


def test_units_are_those_of_the_schemas_and_of_the_metrics() -> None:
    """A part of a table has its columns' units if all tables with these columns agree."""
    assert glossary.units(BATCHED_REMOVAL.schema)["pages_a_list"] == "1/list"
    part = pl.DataFrame(schema=BATCHED_REMOVAL.schema).select("kernel", "pages_a_list")
    assert frames.html(part).count("<small>1/list</small>") == 1
    assert "simulated" not in glossary.units(pl.Schema({"simulated": pl.Float64}))
    metrics = pl.DataFrame({"scanned": [2.5], "run": [1.5]})
    assert frames.html(metrics).count("<small>slots") == 2


def test_a_unit_is_that_of_the_named_columns() -> None:
    """A parameter next to them has none, whatever another table declares of a column's name."""
    frame = pl.DataFrame({"setting": [60.0, 100.0], "percpu": [1.5, -4.25], "seconds": [2.5, 3.5]})
    made = frames.text(frame, "points", ["percpu", "seconds"]).splitlines()
    assert made[1].split() == ["points", "points"]
    assert frames.text(frame).splitlines()[1].split() == ["s"]
    with pytest.raises(InputError, match="'late': has only: setting, percpu, seconds"):
        frames.show(frame, "%", ["late"])
    assert repr(frames.show(frame, "%")) == frames.text(frame, "%", frame.columns)
    with pytest.raises(InputError, match="unit '%' is of no column"):
        frames.show(frame.cast(pl.Int64), "%")
    with pytest.raises(InputError, match="unit '' is of no column"):
        frames.show(frame, columns=["seconds"])


def test_a_large_table_shows_its_first_rows() -> None:
    """The number of all rows is shown above."""
    made = frames.html(pl.DataFrame({"slot": range(2_000_000)}))
    assert "the first 100 of 2,000,000 rows" in made
    assert len(words_of(made)) == 101


def test_an_empty_table_has_its_head() -> None:
    """A frame without rows is shown; infinity and nan are figures."""
    assert words_of(frames.html(pl.DataFrame(schema={"low": pl.Float64}))) == [["low"]]
    assert frames.text(pl.DataFrame({"low": [float("inf"), float("nan")]})).split()[1:] == [
        "∞",
        MISSING,
    ]


@pytest.mark.parametrize("figure", ["23117.00", "17%", "4,624 [4,343, 4,959]", "-"])
def test_a_text_of_figures_is_one(figure: str) -> None:
    """It is shown unchanged on the right, like a number."""
    assert is_figures(pl.Series([figure]))
    assert figure in frames.html(pl.DataFrame({"row": ["scanned"], "3.9": [figure]}))


def test_a_notebook_shows_frames_in_this_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """`use` sets both forms for a frame and for one with a unit."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    frames.use()
    frame = pl.DataFrame({"seconds": [1234.5]})
    for shown, unit in ((frame, ()), (frames.show(frame, "s", ["seconds"]), ("s", ["seconds"]))):
        found, _ = shell.display_formatter.format(shown)
        assert found["text/html"] == frames.html(frame, *unit)
        assert found["text/plain"] == frames.text(frame, *unit)
    InteractiveShell.clear_instance()


def test_a_folded_table_is_a_line_that_opens() -> None:
    """On a page; the text of a terminal is that of the table."""
    frame = pl.DataFrame({"task": ["a", "b"], "gain_percent": [1.5, 2.5]})
    folded, plain = frames.show(frame, fold="Gains <by task>"), frames.show(frame)
    assert repr(folded) == repr(plain)
    assert folded._repr_html_().split("\n", 1)[0].endswith("Gains &lt;by task&gt;</summary>")
    assert plain._repr_html_() in folded._repr_html_()
