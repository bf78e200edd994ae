# SPDX-License-Identifier: GPL-2.0-or-later
"""The report is written unless it is current: its libraries take seconds to import."""

from pathlib import Path

from swapsim.errors import InputError
from swapsim.site.report.current import MARK, made_of


def write(output: Path, *, progress: bool = False) -> Path:
    """Run all notebooks and write the report: notebooks, cards, tables; return its front page.

    An earlier report at its place is replaced, unless nothing has changed since.

    An InputError says that the output exists and is no report, or that there is no notebook; a
    SwapsimError names the notebook, the cell and the last line of what failed. Complete pages are
    stored for the next run, as they are on Ctrl-C.
    """
    if output.exists() and not (output / MARK).is_file():
        raise InputError(
            "is there and is no report: name a folder that does not exist", path=output
        )
    mark, now = output / MARK, made_of()
    if not (mark.is_file() and mark.read_text(encoding="utf-8") == now):
        from swapsim.site.report.build import build

        build(output, now, progress=progress)
    return output / "index.html"
