# SPDX-License-Identifier: GPL-2.0-or-later
"""Studies: stored rows are used while code and data are the same, and a sample can prove them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from swapsim.errors import ConfigError, SwapsimError
from swapsim.study import Study, recap
from swapsim.study import study as engine
from swapsim.study.constants import Moved, ends

COLORS = pl.Enum(["red", "green"])
computed: list[int] = []
stops_at: list[int] = []


def rows(seed: int) -> pl.DataFrame:
    """Return a row with values that a file could change: odd floats, nulls, enums."""
    computed.append(seed)
    return pl.DataFrame(
        {
            "seed": [seed],
            "value": [0.1 * seed if seed else -0.0],
            "none": [None if seed % 2 else seed],
            "color": pl.Series([("red", "green")[seed % 2]], dtype=COLORS),
        },
        schema_overrides={"none": pl.Int64},
    )


def other_rows(seed: int) -> pl.DataFrame:
    """Return the same rows by other code."""
    return rows(seed)


def odd(seed: int) -> bool:
    """Return the group of a seed."""
    return seed % 2 == 1


def sums(found: pl.DataFrame) -> pl.DataFrame:
    """Return a row per color."""
    return found.group_by("color", maintain_order=True).agg(pl.col("seed").sum())


toy = Study(name="toy", points=(0, 1, 2, 3, 4), run=rows, reads=("costs.csv",))


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of data with one table, and no stored result; run all points here."""
    (tmp_path / "costs.csv").write_text("name,value\nmap_ns,3\n")
    monkeypatch.setattr(engine, "data_root", lambda: tmp_path)
    monkeypatch.setattr(engine, "table", partial(here, engine.table))
    computed.clear()
    return tmp_path


def here(table: Callable[..., pl.DataFrame], *given: Any, **how: Any) -> pl.DataFrame:
    """Run in this process, whose list says what was computed."""
    return table(*given, **how | {"executor": engine.SerialExecutor(), "progress": False})


def test_stored_rows_are_used(capsys: pytest.CaptureFixture[str]) -> None:
    """They are returned as they were and nothing is computed; one line names them."""
    assert toy.stale() == "not stored yet"
    assert toy.update()
    assert computed == [0, 1, 2, 3, 4]
    assert toy.stale() is None
    stored = toy()
    assert computed == [0, 1, 2, 3, 4]
    assert repr(stored.rows()) == repr(toy.compute().rows())
    assert stored.schema == rows(0).schema
    assert not capsys.readouterr().out
    assert "toy (5 rows)" in repr(recap())
    assert repr(recap()) == "Stored results: none."


def test_the_same_rows_make_the_same_file() -> None:
    """If the rows have not changed, neither has the file, byte for byte."""
    assert toy.update()
    before = toy.path.read_bytes()
    assert not toy.update()
    toy.path.unlink()
    assert toy.update()
    assert toy.path.read_bytes() == before
    assert [path.name for path in toy.path.parent.iterdir()] == ["toy.parquet"]


def interrupted(seed: int) -> pl.DataFrame:
    """Return a row, or stop as by Ctrl-C."""
    if seed in stops_at:
        raise KeyboardInterrupt
    return rows(seed)


def test_an_interrupted_update_continues(data: Path) -> None:
    """It computes only the points that are missing, and all again if the data has changed."""
    study, folder = replace(toy, run=interrupted), data / "points"
    stops_at.append(3)
    with pytest.raises(KeyboardInterrupt):
        study.update(folder=folder)
    assert study.stale() == "not stored yet"
    stops_at.clear()
    computed.clear()
    assert study.update(folder=folder)
    assert computed == [3, 4]
    assert study.load().equals(toy.compute())
    other_data(data)
    computed.clear()
    study.update(folder=folder)
    assert computed == [0, 1, 2, 3, 4]


def other_data(data: Path) -> None:
    """Change a cost."""
    (data / "costs.csv").write_text("name,value\nmap_ns,4\n")


def other_code(_data: Path) -> None:
    """Store what other code computed."""
    replace(toy, run=other_rows).update()


def other_points(_data: Path) -> None:
    """Store the rows of other points."""
    replace(toy, points=(0, 1)).update()


def other_frames(_data: Path) -> None:
    """Store rows that depend on another frame."""
    replace(toy, reads=("costs.csv", lambda: [rows(1)])).update()


def cut(_data: Path) -> None:
    """Lose the end of the file."""
    toy.path.write_bytes(toy.path.read_bytes()[:-9])


def wrong_rows(_data: Path) -> None:
    """Put other rows under the same digests."""
    metadata = dict(pl.read_parquet_metadata(toy.path))
    toy.compute().with_columns(pl.col("value") + 1).write_parquet(toy.path, metadata=metadata)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (other_data, "its data have changed"),
        (other_frames, "its data have changed"),
        (other_code, "its code has changed"),
        (other_points, "its code has changed"),
        (cut, "its file is damaged"),
        (wrong_rows, "its file is damaged"),
    ],
)
def test_a_stale_result_is_computed(
    data: Path, capsys: pytest.CaptureFixture[str], change: Callable[[Path], None], why: str
) -> None:
    """Other data, code or points, or a damaged file: all is computed, and a line says why."""
    toy.update()
    wanted = toy.load()
    change(data)
    computed.clear()
    assert toy.stale() == why
    assert toy().equals(wanted)
    assert toy.load().equals(wanted)
    assert computed == [0, 1, 2, 3, 4] * 2
    line = f"toy: {why}: computed here\n"
    assert capsys.readouterr() == (line, line)


def test_a_sample_that_differs_is_an_error() -> None:
    """The last bit and the order count, and the line names the file and what to do."""
    stored = toy.compute()
    assert [toy.check(stored, pick) for pick in range(7)] == [1] * 7
    wrong = stored.with_columns(pl.when(seed=3).then(0.3).otherwise("value").alias("value"))
    assert toy.check(wrong, 2) == 1
    with pytest.raises(SwapsimError, match=r"toy\.parquet: a sample .*\(3, .*simulate toy"):
        toy.check(wrong, 3)
    pairs = replace(toy, points=(0, 2, 1, 3), group=odd)
    with pytest.raises(SwapsimError, match="is not the same"):
        pairs.check(stored)


def test_a_sample_is_a_group_of_quick_points() -> None:
    """All quick points of a group run, and their rows are reduced together."""
    both = replace(toy, group=odd, reduce=sums, quick=lambda seed: seed < 4)
    stored = both.compute()
    assert stored.rows() == [("red", 6), ("green", 4)]
    computed.clear()
    assert both.check(stored, 1) == 1
    assert computed == [1, 3]
    with pytest.raises(SwapsimError, match="new: \\('red', 2\\)"):
        both.check(stored, 0)


def test_a_study_may_have_its_own_sample() -> None:
    """Its function takes the stored rows and the number."""
    own = replace(toy, sample=lambda stored, pick: stored[pick : pick + 2])
    assert own.check(toy.compute(), 3) == 2


def test_a_study_without_a_sample_is_an_error() -> None:
    """It cannot be made, because reduced rows do not belong to single points."""
    with pytest.raises(ConfigError, match="'toy' reduces its rows and has no sample"):
        replace(toy, reduce=sums)


def test_a_pattern_that_matches_no_file_is_an_error() -> None:
    """By a typing error, a change of the data would not be noticed."""
    toy.update()
    with pytest.raises(ConfigError, match=r"cots\.csv"):
        replace(toy, reads=("costs.csv", "cots.csv"))()


def test_a_constant_is_moved_alone_to_both_ends() -> None:
    """Without names, to each end that is not its value."""
    constants = pl.DataFrame({"name": ["a", "b"], "value": [1, 5], "low": [1, 2], "high": [3, 9]})
    moved = [Moved("a", "high", 3), Moved("b", "low", 2), Moved("b", "high", 9)]
    assert ends(constants) == moved
    assert [each.label for each in ends(constants, ["a"])] == ["a, low", "a, high"]
