# SPDX-License-Identifier: GPL-2.0-or-later
"""Files: each failure is one InputError that names the file."""

import os
import random
from pathlib import Path

import polars as pl
import pytest

from swapsim import io
from swapsim.errors import InputError
from swapsim.tables import Column, Table, read_csv, read_table

FRAME = pl.DataFrame({"seq": [1, 2, 3], "name": ["a", "b", None]})


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Return a Parquet file of a few rows."""
    path = tmp_path / "table.parquet"
    FRAME.write_parquet(path)
    return path


@pytest.mark.parametrize(
    ("quote", "message"),
    [(False, "is bad: fix it"), (True, "is bad (index out of bounds at some place): fix it")],
)
def test_a_panic_is_one_line_with_the_file(quote: bool, message: str) -> None:
    """A panic of polars, which is not an Exception, becomes an InputError, too."""
    with (
        pytest.raises(InputError) as caught,
        io.translate_errors("x.parquet", "is bad", "fix it", quote=quote),
    ):
        raise pl.exceptions.PanicException("index out of bounds\nat some place")
    assert str(caught.value) == f"x.parquet: {message}"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), InputError("ours")])
def test_swapsim_errors_and_interrupts_pass_unchanged(error: BaseException) -> None:
    """Ctrl-C is not an error of a file."""
    with pytest.raises(type(error)) as caught, io.translate_errors("x", "is bad", "fix it"):
        raise error
    assert caught.value is error


def test_a_complete_table_is_decoded(table: Path) -> None:
    """Rows, chosen columns, schema, height and metadata."""
    data = io.read_bytes(table, io.sha256_of(table))
    assert io.decode(data, table).equals(FRAME)
    assert io.decode(data, table, ["name"]).equals(FRAME.select("name"))
    schema, rows, metadata = io.decode_footer(data, table)
    assert (schema, rows) == (FRAME.schema, 3)
    assert "ARROW:schema" in metadata


READERS = (io.validate, io.decode, io.decode_footer)


def test_damaged_bytes_are_one_line(table: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Random bit flips give a table or one error; a panic neither prints nor ends the process."""
    good = table.read_bytes()
    rng = random.Random(6)
    errors = []
    for _ in range(600):
        data = bytearray(good)
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        try:
            for read in READERS:
                read(bytes(data), table)
        except InputError as error:
            errors.append(str(error))
    assert len(errors) > 100
    assert {*errors} == {f"{table}: is not a complete Parquet table: fetch it or make it again"}
    assert capfd.readouterr().err == ""


def test_another_sha256_is_refused(table: Path) -> None:
    """The sha256 is compared before the bytes are decoded."""
    with pytest.raises(InputError, match=r"table\.parquet: is not as it was written"):
        io.read_bytes(table, "0" * 64)


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (lambda _path: None, "no such file"),
        (lambda path: path.mkdir(), "is a folder"),
        (lambda path: os.mkfifo(path), "is a pipe or a device"),
        (lambda path: path.symlink_to("/dev/zero"), "is a pipe or a device"),
        (lambda path: path.symlink_to(path), "no such file"),
    ],
)
def test_a_path_that_is_no_file_is_named(tmp_path: Path, make: object, wrong: str) -> None:
    """A pipe or a device, which may be endless, is not read."""
    assert callable(make)
    make(tmp_path / "odd")
    with pytest.raises(InputError, match=rf"odd: {wrong}"):
        io.read_bytes(tmp_path / "odd")


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    """Spreadsheets write one before the name of the first column."""
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
def test_an_error_of_toml_is_one_line(tmp_path: Path, text: str) -> None:
    """Errors of grammar, depth, a number's length and a key's parts."""
    path = tmp_path / "odd.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=r"odd\.toml: is no TOML") as caught:
        io.read_toml(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_dots_in_a_string_are_no_key(tmp_path: Path) -> None:
    """A string may have more dots than a key."""
    path = tmp_path / "dots.toml"
    path.write_text(f'text = "{5000 * "."}"\nquoted = ["a\\"{5000 * "."}", \'{5000 * "."}\']')
    assert io.read_toml(path)["text"] == 5000 * "."


def test_a_table_of_a_schema_names_row_and_field(table: Path) -> None:
    """A null and a column of another type are named."""
    known = Table("t", "One row.", *(Column(n, t, "a value") for n, t in FRAME.schema.items()))
    assert read_table(table, known, may_be_null=("name",)).equals(FRAME)
    with pytest.raises(InputError, match=r"table\.parquet, field 'name': the row with seq 3 has"):
        read_table(table, known)
    with pytest.raises(InputError, match=r"table\.parquet, field 'seq': table other has Int64"):
        read_table(table, Table("other", "One row.", {"seq": pl.UInt64}))


def test_a_table_in_csv_is_read_again_once_its_file_has_changed(tmp_path: Path) -> None:
    """Spaces around a number are no error; a file that is fixed or broken is not the old one."""
    path = tmp_path / "table.csv"
    known = Table("t", "One row.", Column("ratio", pl.Float64, "a value"))
    path.write_text("ratio\n 1.5 \n")
    assert read_csv(path, known)["ratio"].to_list() == [1.5]
    path.write_text("ratio\n2.5\nx\n")
    for _ in range(2):
        with pytest.raises(InputError, match="line 3, field 'ratio': 'x' is no number"):
            read_csv(path, known)
    path.write_text("ratio\n2.5\n")
    assert read_csv(path, known)["ratio"].to_list() == [2.5]
