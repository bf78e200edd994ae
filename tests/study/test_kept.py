# SPDX-License-Identifier: GPL-2.0-or-later
"""Kept results: used while code and data are the same, made anew when not, held to a sample."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from swapsim.errors import SwapsimError
from swapsim.study import kept as keeping
from swapsim.study.kept import kept

COLORS = pl.Enum(["red", "green"])
made: list[str] = []


def rows(seeds: list[int]) -> pl.DataFrame:
    """Return a row per seed, with what a file could lose: odd floats, nulls, closed words."""
    return pl.DataFrame(
        {
            "seed": seeds,
            "value": [0.1 * seed if seed else -0.0 for seed in seeds],
            "none": [None if seed % 2 else seed for seed in seeds],
            "color": pl.Series([("red", "green")[seed % 2] for seed in seeds], dtype=COLORS),
        },
        schema_overrides={"none": pl.Int64},
    )


def one_seed(whole: pl.DataFrame, pick: int) -> pl.DataFrame:
    """Make one seed's row anew."""
    return rows([whole["seed"][pick % whole.height]])


@kept("toy", sample=one_seed)
def toy(_progress: bool) -> pl.DataFrame:
    """Return five seeds' rows."""
    made.append("toy")
    return rows([0, 1, 2, 3, 4])


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of data with one table, nothing kept yet."""
    (tmp_path / "costs.csv").write_text("name,value\nmap_ns,3\n")
    monkeypatch.setattr(keeping, "data_root", lambda: tmp_path)
    keeping._published.cache_clear()
    made.clear()
    return tmp_path


def test_what_is_kept_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    """The same rows come back without being made, and a line says so."""
    assert toy.stale() == "not kept yet"
    assert toy.renew()
    assert toy.stale() is None
    whole = rows([0, 1, 2, 3, 4])
    assert toy().equals(whole)
    assert toy.load().schema == whole.schema
    assert repr(toy.load().rows()) == repr(whole.rows())
    assert made == ["toy"]
    assert capsys.readouterr().out == "toy: 5 stored rows; 1 computed again here are identical\n"


def test_the_same_rows_make_the_same_file() -> None:
    """A result that has not changed leaves its file as it is, byte for byte."""
    assert toy.renew()
    before = toy.path.read_bytes()
    assert not toy.renew()
    toy.path.unlink()
    assert toy.renew()
    assert toy.path.read_bytes() == before
    assert [path.name for path in toy.path.parent.iterdir()] == ["toy.parquet"]


def other_data(data: Path) -> None:
    """Change a cost."""
    (data / "costs.csv").write_text("name,value\nmap_ns,4\n")


def cut(_data: Path) -> None:
    """Lose the end of what is kept."""
    toy.path.write_bytes(toy.path.read_bytes()[:-9])


@pytest.mark.parametrize(
    ("gone", "why"),
    [("02-batched-removal", None), ("01-writeback-tags", "its data have changed")],
)
def test_only_its_own_patchs_published_rows_count(
    monkeypatch: pytest.MonkeyPatch, gone: str, why: str | None
) -> None:
    """Rows of another patch come and go; a result is stale when those of its own do."""
    of_a = kept("of-a", sample=one_seed, patch="01-writeback-tags")(rows_of_a)
    cells = keeping.published_tables()
    of_a.renew()
    monkeypatch.setattr(keeping, "published_tables", lambda: cells.filter(pl.col("patch") != gone))
    keeping._published.cache_clear()
    assert of_a.stale() == why


def rows_of_a(_progress: bool) -> pl.DataFrame:
    """Return one seed's row."""
    return rows([7])


def other_rows(_data: Path) -> None:
    """Put other rows under the same digests."""
    metadata = pl.read_parquet_metadata(toy.path)
    toy.make().with_columns(pl.col("value") + 1).write_parquet(toy.path, metadata=dict(metadata))


def other_code(_data: Path) -> None:
    """Keep what other code would have made."""
    kept("toy", sample=one_seed)(rows_of_none).renew()


def rows_of_none(_progress: bool) -> pl.DataFrame:
    """Return no rows."""
    return rows([])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (other_data, "its data have changed"),
        (other_code, "its code has changed"),
        (cut, "its file is damaged"),
        (other_rows, "its file is damaged"),
    ],
)
def test_what_is_stale_is_made_anew(
    data: Path, capsys: pytest.CaptureFixture[str], change: Callable[[Path], None], why: str
) -> None:
    """Other data, other code or a damaged file: the rows are made, and the line says why."""
    toy.renew()
    whole = rows([0, 1, 2, 3, 4])
    change(data)
    made.clear()
    assert toy.stale() == why
    assert toy().equals(whole)
    assert toy.load().equals(whole)
    assert made == ["toy", "toy"]
    assert capsys.readouterr().out == f"toy: {why}: computed here\n"


def test_a_sample_that_differs_is_an_error() -> None:
    """The last bit counts, and the line names the file and what to do."""
    whole = toy.make()
    assert [toy.check(whole, pick) for pick in range(7)] == [1] * 7
    wrong = whole.with_columns(pl.when(seed=3).then(0.3).otherwise("value").alias("value"))
    assert toy.check(wrong, 2) == 1
    with pytest.raises(SwapsimError, match=r"toy\.parquet: a part of it, made anew here.*simulate"):
        toy.check(wrong, 3)
