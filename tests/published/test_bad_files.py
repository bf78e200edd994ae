# SPDX-License-Identifier: GPL-2.0-or-later
"""Constants that a user may edit are refused with file and field; the mails' files fit."""

import re
import shutil
from collections.abc import Callable
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from swapsim.errors import InputError
from swapsim.ffi import COST_NAMES, RECLAIM_COSTS
from swapsim.io import data_root
from swapsim.machine.anchors import published_anchors
from swapsim.machine.constants import costs_of
from swapsim.patches import batched_removal
from swapsim.published import data
from swapsim.published.data import published_tables, reasons, windows
from swapsim.reclaim import constants
from swapsim.site.links import links, mails
from swapsim.site.patches import patch_cards
from swapsim.tables import finite

READERS: tuple[Callable[[Path], Any], ...] = (costs_of, constants, batched_removal.workload)

SOURCES = ("microbenchmark", "rig", "published", "fit", "assumed")
MAP, SLOT = "\nmap_ns,300,110,350,ns,", "\nslot_ns,40,10,150,ns,"
RECLAIM = "reclaim.csv"

CONSTANTS = [
    *(
        ("costs.csv", MAP, f"\nmap_ns,{text},110,350,ns,", f"field 'value': .*{why}")
        for text, why in (
            *(("0", "is not in"), ("-5", "is not in")),
            *(
                (each, "is no whole number")
                for each in ("", "1.5", "1²", "9" * 5000, "3" + "0" * 30)
            ),
        )
    ),
    ("costs.csv", MAP, "\nmap_ns,300,5000,350,ns,", "'map_ns': 300 is not in .*5000 to 350"),
    ("costs.csv", MAP, "\nmap_ns,300,110,2,ns,", "'map_ns': 300 is not in .*110 to 2"),
    ("costs.csv", MAP, "\nmap_us,300,110,350,ns,", "field 'name': .*'map_us' is unknown"),
    ("costs.csv", SLOT, SLOT.replace("slot", "map"), "field 'name': .*'map_ns' is given twice"),
    (RECLAIM, "look_ns,5000", "lock_ns,5000", "field 'name': constant 'lock_ns' is unk"),
    (RECLAIM, "age_ns,150,50", "age_ns,150,151", "constant 'age_ns': 150 is not in .*151"),
    (RECLAIM, "age_ns,150,50", "age_ns,0,0", "field 'value': constant 'age_ns': 0"),
    ("usemem.csv", "sweeps,30,", "sweeps,0,", "sweeps=0"),
]


@pytest.mark.parametrize(("file", "old", "new", "wanted"), CONSTANTS)
def test_a_bad_file_is_named(tmp_path: Path, file: str, old: str, new: str, wanted: str) -> None:
    """A table that does not fit is refused in one line: file and field, or why."""
    for path in data_root().glob("*.csv"):
        shutil.copy(path, tmp_path)
    text = (tmp_path / file).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        [read(tmp_path) for read in READERS]
    message = str(caught.value)
    assert str(tmp_path / file) in message
    assert re.search(wanted, message), message
    assert "\n" not in message


def test_a_bad_card_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its file, and the field that it lacks."""
    card = tmp_path / "08-mine" / "card.md"
    card.parent.mkdir()
    monkeypatch.setattr("swapsim.site.patches.patches_root", lambda: tmp_path)
    for text, wanted in (
        ("---\n", "line 1: a card starts with TOML"),
        ('+++\ntitle = "a" b = "c"\n+++\n', "no TOML"),
        ('+++\ntitle = "a"\n+++\n', "field 'author': is missing"),
    ):
        card.write_text(text)
        with pytest.raises(InputError, match=wanted) as caught:
            patch_cards()
        assert str(card) in str(caught.value)


def once(frame: pl.DataFrame, *key: str) -> bool:
    """Whether no two rows have the same key."""
    return frame.select(key).is_unique().all()


def test_a_row_twice_is_named(tmp_path: Path) -> None:
    """File, line and field of the second one."""
    path = tmp_path / "01-writeback-tags.csv"
    rows = (data_root() / "published" / path.name).read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*rows, rows[1]]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf", line {len(rows) + 1}, field 'locator': .* twice"):
        data._cells(path)


def test_each_cell_is_a_copy() -> None:
    """A cell fits the rest of its row, and is given once."""
    cells = published_tables()
    assert once(cells, "patch", "parameters", "locator")
    for row in cells.iter_rows(named=True):
        printed = row["printed"].removeprefix("~").removesuffix("%")
        assert re.fullmatch(r"\d+(\.\d+)?", printed)
        assert row["locator"] == f"{row['table']} | {row['metric']} | {row['kernel']}"
        assert row["value"] == float(printed)
        assert row["decimals"] == len(printed.partition(".")[2])
        change = row["change_percent_printed"]
        assert row["change_percent"] == (change and finite(change.removesuffix("%")))
    for path in (data_root() / "published").glob("[0-9]*.csv"):
        patches = pl.read_csv(path, infer_schema=False)["patch"]
        assert patches.unique().to_list() == [path.stem]


FORMS = {
    "mail": r"[A-Za-z0-9.+=_-]+@[A-Za-z0-9.-]+",
    "commit": r"[0-9a-f]{12}([0-9a-f]{28})?",
    "article": r"[1-9][0-9]*",
    "source": r"https://[^\s()<>\"|]+",
}


def test_each_link_leads_to_what_it_is() -> None:
    """A message ID, a commit, the number of an article or an address; days are ISO 8601."""
    assert once(links(), "name")
    for row in links().iter_rows(named=True):
        assert row["target"] is None or re.fullmatch(FORMS[row["kind"]], row["target"]), row
        assert row["merged"] is None or re.fullmatch(FORMS["commit"], row["merged"]), row
        assert row["date"] is None or date.fromisoformat(row["date"])


def test_other_files_of_the_mails_fit() -> None:
    """No row is given twice, patterns are patterns, and each constant's source begins by its kind.

    The unit of a cost is ns.
    """
    assert once(mails(), "mail")
    assert once(windows(), "metric")
    assert once(published_anchors(), "anchor", "placement", "threads")
    keys = ("mail", "table", "metric", "source")
    assert once(reasons(), *keys)
    for pattern in chain(*reasons().select(keys).iter_rows()):
        re.compile(pattern)
    for frame, costs in ((costs_of(), COST_NAMES), (constants(), RECLAIM_COSTS)):
        assert frame["source"].str.contains(f"^({'|'.join(SOURCES)})").all()
        assert set(frame.filter(pl.col("name").is_in(costs))["unit"]) == {"ns"}
