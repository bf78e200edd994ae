# SPDX-License-Identifier: GPL-2.0-or-later
"""The generated parts of README.md: the verdict table and the picture."""

import re
import textwrap
from typing import Final

import polars as pl

from swapsim import charts
from swapsim.errors import InputError
from swapsim.io.paths import repository_root
from swapsim.site import overview
from swapsim.site.patches import PATCHES

PICTURE: Final = "patches/01-writeback-tags/acquisitions.png"
"""The README's picture, seen from the repository."""

_ABOUT_LOCKS: Final = """\
By how much patches A and D relieve the swap cache's lock: in the mails' profiles, in the contention
machine, and on a real Linux 6.1 with the patch off and on. That kernel runs under an emulator: its
counts are reliable, its times are not.
"""

_COLUMNS: Final = 120

_TABLE = re.compile(r"(<!-- verdicts: begin -->\n).*?(<!-- verdicts: end -->)", re.DOTALL)


def with_table(text: str) -> str:
    """Return README's text with its verdict tables recomputed."""
    if not _TABLE.search(text):
        raise InputError(
            "has no marks around the verdict table: restore them with 'git checkout'",
            path="README.md",
        )
    fits = overview.fits()
    results = pl.concat([overview.simulated(), overview.measured()])
    table = _markdown(overview.headlines(results), "claim")
    relief = overview.lock_relief(fits).filter(pl.col("quantity").str.starts_with("swap cache"))
    locks = _markdown(relief, "quantity")
    paragraphs = [_ABOUT_LOCKS, *(patch.counted() for patch in PATCHES)]
    about, *counted = (textwrap.fill(part, _COLUMNS) for part in paragraphs)
    parts = (table, about, locks, *counted)
    return _TABLE.sub(lambda marks: marks[1] + "\n\n".join(parts) + "\n" + marks[2], text)


def _markdown(rows: pl.DataFrame, what: str) -> str:
    def percent(value: float | None) -> str:
        return "-" if value is None else f"{round(value):+d} %"

    lines = [f"| patch | {what} | published | simulated | measured |", "|---|---|--:|--:|--:|"]
    lines += [
        f"| {row['patch']} | {row[what]} | {percent(row['published'])} "
        f"| {percent(row['simulated'])} | {percent(row['measured'])} |"
        for row in rows.iter_rows(named=True)
    ]
    return "\n".join(lines)


def write() -> None:
    """Write the verdict tables and the picture."""
    readme = repository_root() / "README.md"
    readme.write_text(with_table(readme.read_text(encoding="utf-8")), encoding="utf-8")
    png = charts.png(overview.picture().to_dict())
    (repository_root() / PICTURE).write_bytes(png)


if __name__ == "__main__":
    write()
