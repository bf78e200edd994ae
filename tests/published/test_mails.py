# SPDX-License-Identifier: GPL-2.0-or-later
"""The published tables are those of the mails."""

import hashlib
from pathlib import Path

import polars as pl
import pytest

from swapsim import io
from swapsim.errors import InputError
from swapsim.published.data import published_tables, window_of
from swapsim.site.links import address, links, mails

FACTS = io.read_toml(Path(__file__).parents[1] / "data" / "mails.toml")


def test_each_figure_is_from_a_mail_that_is_named() -> None:
    """Each mail has its row."""
    named = mails().select("patch", "mail").sort("mail")
    cells = published_tables()
    assert named.equals(cells.select("patch", "mail").unique().sort("mail"))


def test_each_mail_can_be_found_in_the_archive() -> None:
    """Each mail has its row in links.csv, with a title and an author; no other row has a date."""
    rows = links()
    own = mails().join(rows, left_on="mail", right_on="name", how="left")
    assert own.null_count().select("kind", "target", "title", "author").row(0) == (0, 0, 0, 0)
    assert set(own["kind"]) == {"mail"}
    others = rows.filter(pl.col("kind") != "mail").select("author", "date", "merged")
    assert others.null_count().row(0) == (others.height,) * 3


@pytest.mark.parametrize(
    ("kind", "target", "wanted"),
    [
        ("mail", "a.1-b@c.org", "https://lore.kernel.org/all/a.1-b@c.org/"),
        ("commit", "0123456789abcdef0123456789abcdef01234567", "linus/0123456789ab"),
        ("article", "12345", "https://lwn.net/Articles/12345/"),
        ("source", "https://a.org/b", "https://a.org/b"),
    ],
)
def test_an_address_is_built_from_its_kind(kind: str, target: str, wanted: str) -> None:
    """Mails are in the archive by message ID, commits in Linus' tree by their first digits."""
    assert address(kind, target).endswith(wanted)


def test_the_cells_are_those_that_were_compared_with_the_mails() -> None:
    """No cell has been edited since."""
    fields = ["locator", "parameters", "printed", "change_percent_printed", "stddev_percent"]
    found = {
        f"{table} of {mail}": hashlib.sha256(repr(cells.select(fields).rows()).encode()).hexdigest()
        for (mail, table), cells in published_tables().group_by(
            "mail", "table", maintain_order=True
        )
    }
    assert found == FACTS["cells"]


def test_a_metric_has_the_window_of_its_tool() -> None:
    """A metric without a row is refused by name."""
    assert window_of("perf-profile.cycles-pp._raw_spin_lock.free_pcppages_bulk") == "swap"
    assert window_of("vmstat.swap.so") == "run"
    with pytest.raises(InputError, match="no window"):
        window_of("meminfo.SwapCached")
