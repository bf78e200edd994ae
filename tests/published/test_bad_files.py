# SPDX-License-Identifier: GPL-2.0-or-later
"""Data that a user may edit: what does not fit is refused with file, line and field."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swapsim.errors import InputError
from swapsim.io import data_root, patches_root
from swapsim.machine.anchors import published_anchors
from swapsim.machine.constants import costs_of
from swapsim.patches import batched_removal
from swapsim.published.data import links, mails, patch_cards, published_tables, reasons, windows
from swapsim.reclaim.parallelio import constants

A, B = "01-writeback-tags", "02-batched-removal"
CARD = f"{A}/card.md"
READERS: dict[str, tuple[Callable[[Path], Any], ...]] = {
    "published": (published_tables, mails, links, windows, reasons, patch_cards),
    "": (*(costs_of, constants, batched_removal.workload),),
    "anchors": (published_anchors,),
}
"""Who reads the files of a folder, the first one that does not fit."""

MAP, SLOT = "\nmap_ns,300,110,350,ns,", "\nslot_ns,40,10,150,ns,"
RECLAIM = "reclaim.csv"

PUBLISHED = [
    (f"{A}.csv", ",2506952,2506952,", ",2506953,2506952,", "line 2, field 'value': "),
    (f"{A}.csv", ",2506952,2506952,", ",many,2506952,", "line 2, field 'value': "),
    (f"{A}.csv", ",2506952,2506952,", ",2506952,about,", "line 2, field 'printed': "),
    (f"{A}.csv", ",2506952,0,", ",2506952,1,", "line 2, field 'decimals': "),
    (f"{A}.csv", "KiB/s,higher", "KiB/s,best", "line 2, field 'better': "),
    (f"{A}.csv", "KiB/s,higher", ",higher", "line 2, field 'unit': "),
    (f"{A}.csv", f"\n{A},", f"\n{B},", "line 2, field 'patch': "),
    (f"{A}.csv", ",lkp comparison | vm", ",lkp | vm", "line 2, field 'locator': "),
    (f"{A}.csv", "+28.1%,28.1,", "+28.1%,28.2,", "line 3, field 'change_percent': "),
    ("links.csv", ",mail,1472578089-", ",mail,<1472578089-", "line 2, field 'target': "),
    ("links.csv", ",mail,1472578089-", ",letter,1472578089-", "line 2, field 'kind': "),
    ("links.csv", ",commit,f6ab1f7f6b2d,", ",commit,f6ab1f7,", "line 14, field 'target': "),
    ("links.csv", ",commit,f6ab1f7f6b2d,", ",article,f6ab1f7,", "line 14, field 'target': "),
    ("links.csv", ",source,https:", ",source,ftp:", "line 41, field 'target': "),
    ("links.csv", ",2016-08-30,", ",30 August 2016,", "line 2, field 'date': "),
    ("links.csv", ",371a096edf43a8c7", ",371a096edf43a8g7", "line 2, field 'merged': "),
    ("links.csv", "\nB-batched-removal,", "\nA-no-writeback-tags-with-diff,", "field 'name': "),
    ("windows.csv", "\nvmstat.swap.so,", "\nvm-scalability.throughput,", "field 'metric': "),
    ("reasons.csv", "\nA,.*,", "\nA,(,", "line 2, field 'table': .*no pattern"),
    (f"{A}.csv", "patch,mail,", "patch,letter,", "line 1: its columns must be"),
    (f"{A}.csv", ",KiB/s,higher\n", ",KiB/s,higher,\n", "line 2: 16 fields"),
    (f"{A}.csv", ",KiB/s,higher\n", ',"KiB\n/s",higher\n', "line 2: a row must"),
    (f"{A}.csv", ",KiB/s,higher\n", ',"KiB/s"x,higher\n', "cannot be read as CSV"),
    (f"{A}.csv", ",KiB/s,higher\n", ",Ki\udcffB/s,higher\n", "cannot be read as UTF-8"),
    (CARD, "+++\n", "---\n", "line 1: a card starts with TOML"),
    (CARD, 'title = "', 'title = "a" b = "', "its front matter is no TOML"),
    (CARD, 'author = "', 'writer = "', """field 'author': is missing: write author = "...\""""),
    (CARD, 'author = "', 'writer = "x"\nauthor = "', "field 'writer'"),
    (CARD, "model = [", "model = [1, ", "field 'model'"),
    (CARD, 'before = "4.8', 'before = ""\n#', "field 'before'"),
]
"""A file, what is replaced in it, by what, and where the line says that it does not fit."""

ANCHORS = [
    ("anchors.csv", ",ticket,AMD", ",mutex,AMD", "line 2, field 'kind': 'mutex'"),
    ("anchors.csv", ",2,,9078627,", ",1,,9078627,", "line 3, field 'threads': 1 is given twice"),
    ("anchors.csv", ",9078627,", ",,", "line 3, field 'value'"),
]

CONSTANTS = [
    *(
        ("costs.csv", MAP, f"\nmap_ns,{text},110,350,ns,", f"line 18, field 'value': .*{why}")
        for text, why in (
            *(("0", "is not in"), ("-5", "is not in")),
            *(
                (each, "is no whole number")
                for each in ("", "1.5", "1²", "9" * 5000, "3" + "0" * 30)
            ),
        )
    ),
    ("costs.csv", MAP, "\nmap_ns,300,5000,350,ns,", "line 18, field 'low': .*at least 1"),
    ("costs.csv", MAP, "\nmap_ns,300,110,2,ns,", "line 18, field 'high': .*at least the value"),
    ("costs.csv", MAP, "\nmap_us,300,110,350,ns,", "line 18, field 'name': .*unknown"),
    ("costs.csv", SLOT, SLOT.replace("slot", "map"), "line 20, field 'name': .*twice"),
    ("costs.csv", MAP, "\nmap_ns,300,110,350,us,", "line 18, field 'unit': .*not the unit"),
    ("costs.csv", f'{MAP}"fit', f'{MAP}"who knows', "line 18, field 'source': .*start it with"),
    (
        RECLAIM,
        "look_ns,5000",
        "lock_ns,5000",
        "line 11, field 'name': constant 'lock_ns': it is unk",
    ),
    (RECLAIM, "age_ns,150,50", "age_ns,150,151", "line 7, field 'low': constant 'age_ns': 151"),
    (RECLAIM, "age_ns,150,50", "age_ns,0,0", "line 7, field 'value': constant 'age_ns': 0"),
    (RECLAIM, "assumed: 8 GB", "said so", "line 26, field 'source': constant 'swap_pages'"),
    ("usemem.csv", "sweeps,30,", "sweeps,0,", "sweeps=0"),
]

FILES = [
    *(("published", *row) for row in PUBLISHED),
    *(("anchors", *row) for row in ANCHORS),
    *(("", *row) for row in CONSTANTS),
]


def read_all(of: str, folder: Path) -> None:
    """Read each file of the folder."""
    for read in READERS[of]:
        read(folder)


@pytest.mark.parametrize(("of", "file", "old", "new", "wanted"), FILES)
def test_a_bad_file_is_named(
    tmp_path: Path, of: str, file: str, old: str, new: str, wanted: str
) -> None:
    """A table or card that does not fit is refused in one line: file, line and field, or why."""
    copy = tmp_path / "copy"
    if of == "published":
        shutil.copytree(data_root() / of, copy)
        shutil.copytree(patches_root(), copy, dirs_exist_ok=True)
    else:
        copy.mkdir()
        for path in (data_root() / ("published" if of else "")).glob("*.csv"):
            shutil.copy(path, copy)
    text = (copy / file).read_text(encoding="utf-8")
    assert old in text
    (copy / file).write_text(text.replace(old, new, 1), encoding="utf-8", errors="surrogateescape")
    with pytest.raises(InputError) as caught:
        read_all(of, copy)
    message = str(caught.value)
    assert str(copy / file) in message
    assert re.search(wanted, message), message
    assert "\n" not in message


@pytest.mark.parametrize("read", READERS["published"])
def test_a_missing_file_is_named(tmp_path: Path, read: Callable[[Path], Any]) -> None:
    """A folder without tables or cards is refused with its path."""
    with pytest.raises(InputError, match=re.escape(str(tmp_path))):
        read(tmp_path)
