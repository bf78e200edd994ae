# SPDX-License-Identifier: GPL-2.0-or-later
"""The door: whatever is wrong with a file is one InputError that names it."""

import os
import random
from pathlib import Path

import polars as pl
import pytest

from swapsim import io
from swapsim.errors import ConfigError, InputError
from swapsim.frames.files import read_table
from swapsim.frames.table import Column, Table
from swapsim.machine.costs import costs
from swapsim.slots.tables import SLOT_EVENTS

FRAME = pl.DataFrame({"seq": [1, 2, 3], "name": ["a", "b", None]})


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Give a Parquet file of a few rows."""
    path = tmp_path / "table.parquet"
    FRAME.write_parquet(path)
    return path


def panic() -> None:
    """Fail as polars does where it had not thought of something: that is no Exception."""
    raise pl.exceptions.PanicException("index out of bounds\nat some place")


def test_a_panic_is_one_line_with_the_file() -> None:
    """What is no Exception comes through the door as an InputError, too."""
    with pytest.raises(InputError) as caught, io.translate_errors("x.parquet", "is bad", "mend it"):
        panic()
    assert str(caught.value) == "x.parquet: is bad: mend it"
    with (
        pytest.raises(InputError) as caught,
        io.translate_errors("x.parquet", "is bad", "mend it", quote=True),
    ):
        panic()
    assert str(caught.value) == "x.parquet: is bad (index out of bounds at some place): mend it"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), ConfigError("ours")])
def test_errors_of_ours_and_an_interrupt_pass_as_they_are(error: BaseException) -> None:
    """Ctrl-C is no fault of a file."""
    with pytest.raises(type(error)) as caught, io.translate_errors("x", "is bad", "mend it"):
        raise error
    assert caught.value is error


def test_a_whole_table_comes_out(table: Path) -> None:
    """Rows, columns, schema, height and what its writer noted."""
    data = io.read_bytes(table, io.sha256_of(table))
    assert io.decode(data, table).equals(FRAME)
    assert io.decode(data, table, ["name"]).equals(FRAME.select("name"))
    assert io.decode_schema(data, table) == FRAME.schema
    assert io.decode_height(data, table) == 3
    assert "ARROW:schema" in io.decode_metadata(data, table)


def test_damaged_bytes_are_one_line_and_nothing_else_on_stderr(
    table: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Bits flipped at random: a table or one error; no panic writes past us, nor ends us."""
    good = table.read_bytes()
    rng = random.Random(6)
    said = []
    for _ in range(600):
        data = bytearray(good)
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        for read in (
            io.validate,
            io.decode,
            io.decode_schema,
            io.decode_height,
            io.decode_metadata,
        ):
            try:
                read(bytes(data), table)
            except InputError as error:
                said.append(str(error))
                break
    assert len(said) > 100
    assert {*said} == {f"{table}: is not a whole Parquet table: fetch it or make it again"}
    assert capfd.readouterr().err == ""


def test_other_bytes_than_were_written_are_refused(table: Path) -> None:
    """A sha256 is compared before anything is decoded."""
    with pytest.raises(InputError, match=r"table\.parquet: is not as it was written"):
        io.read_bytes(table, "0" * 64)


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (lambda _path: None, "no such file"),
        (lambda path: path.mkdir(), "is a folder"),
        (lambda path: os.mkfifo(path), "is no file that has an end"),
        (lambda path: path.symlink_to("/dev/zero"), "is no file that has an end"),
        (lambda path: path.symlink_to(path), "no such file"),
    ],
)
def test_what_is_no_file_is_named(tmp_path: Path, make: object, wrong: str) -> None:
    """A pipe or a device, which may have no end, is not read at all."""
    assert callable(make)
    make(tmp_path / "odd")
    with pytest.raises(InputError, match=rf"odd: {wrong}"):
        io.read_bytes(tmp_path / "odd")


def test_a_csv_file_comes_through_the_door(tmp_path: Path) -> None:
    """A pipe that never ends is refused there, too, and waits for nobody."""
    os.mkfifo(tmp_path / "costs.csv")
    with pytest.raises(InputError, match=r"costs\.csv: is no file that has an end"):
        costs(tmp_path)


def test_a_mark_at_the_beginning_of_a_text_is_passed_over(tmp_path: Path) -> None:
    """Spreadsheets write it before the first column's name."""
    path = tmp_path / "marked"
    path.write_bytes(b"\xef\xbb\xbfx = 1\n")
    assert io.read_text(path) == "x = 1\n"


@pytest.mark.parametrize(
    "text",
    [
        "x = ",
        "x = " + "[" * 100_000,
        "x = " + "9" * 5000,
        "[a]\n[a]",
        "\0",
        "a . " * 10**6 + "a = 1",
    ],
)
def test_toml_that_is_none_is_one_line(tmp_path: Path, text: str) -> None:
    """Whatever makes the parser fail: grammar, depth, a number of no size."""
    path = tmp_path / "odd.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=r"odd\.toml: is no TOML") as caught:
        io.read_toml(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_dots_in_a_text_are_no_key(tmp_path: Path) -> None:
    """A workload may print one for each of its steps."""
    path = tmp_path / "dots.toml"
    path.write_text(f'said = "{5000 * "."}"\nquoted = ["a\\"{5000 * "."}", \'{5000 * "."}\']')
    assert io.read_toml(path)["said"] == 5000 * "."


def test_a_table_of_a_schema_names_row_and_field(table: Path) -> None:
    """What is missing, of another type or without a value is named."""
    known = Table("t", "One row.", *(Column(n, t, "a value") for n, t in FRAME.schema.items()))
    assert read_table(table, known, may_be_null=("name",)).equals(FRAME)
    with pytest.raises(InputError, match=r"table\.parquet, field 'name': the row with seq 3 has"):
        read_table(table, known)
    with pytest.raises(
        InputError, match=r"table\.parquet, field 'seq': table SLOT_EVENTS holds Int64"
    ):
        read_table(table, SLOT_EVENTS)
