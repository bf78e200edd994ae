# SPDX-License-Identifier: GPL-2.0-or-later
"""One page for a trace, to be sent by mail: its contents, its replays, what other rules would do.

The page is complete in one file: style, script and pictures are in it, and it loads nothing else.
"""

from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any, Final

from swapsim import traces
from swapsim.errors import InputError
from swapsim.io import write_atomically
from swapsim.progress import TextBar
from swapsim.site.report import shell
from swapsim.site.trace_page import blocks, clusters, contents, reclaim, swap_out
from swapsim.stall.sums import is_of_sums

_Section = Callable[[Path], blocks.Blocks]


def write_trace_page(trace: Path | str, output: Path, *, progress: bool = False) -> Path:
    """Write the page of a trace folder, or of a shipped trace, and return its path.

    A replay that the trace feeds but that refuses its rows has its error in place of its figures.
    """
    if output.suffix != ".html":
        raise InputError("is no name of a page: give it the suffix .html", path=output)
    if not output.parent.is_dir():
        raise InputError("its folder does not exist: create it first", path=output)
    folder = traces.locate(trace)
    described = traces.described(folder)
    body = [*contents.section(folder, described)]
    sections = [*_sections(folder, described)]
    total = len(sections) + 1
    with TextBar(total=total, desc="page", unit=" parts", disable=not progress) as bar:
        for title, section in sections:
            bar.set_postfix_str(title)
            body += _section(title, section, folder)
            bar.update()
        bar.set_postfix_str("Script of the charts")
        page = shell.fill(
            "trace",
            title=f"Trace {folder.name}",
            body="\n".join(body),
            style=shell.style(),
            script=shell.bundle(),
            made=shell.provenance(),
        )
        bar.update()
    write_atomically(output, page.encode())
    return output


def _sections(folder: Path, described: Mapping[str, Any]) -> Iterator[tuple[str, _Section]]:
    """Yield the heading of each section that a trace can have, and what computes it."""
    for replay, section in _SECTIONS.items():
        if not described["replays"][replay]:
            yield section
    if is_of_sums(folder):
        yield "Decisions to stall, for cgroups and for all of memory", reclaim.of_sums
    if "mm_vmscan_throttled" in described["rows"]:
        yield "Stalls of reclaim", reclaim.of_stalls


def _section(title: str, section: _Section, folder: Path) -> blocks.Blocks:
    yield f'<h2 id="{shell.heading_name(title)}">{escape(title)}</h2>'
    try:
        yield from list(section(folder))
    except InputError as error:
        yield blocks.text(f"Not computed: {error}")


_SECTIONS: Final[Mapping[str, tuple[str, _Section]]] = {
    "clusters": ("Clusters of swap slots", clusters.section),
    "mglru": ("Choices of reclaim with MGLRU", reclaim.of_generations),
    "mapping": ("Lock acquisitions with tags and without", swap_out.of_tags),
    "removal": ("Removals one by one and in lists", swap_out.of_removal),
    "slots": ("Swap slots under other rules", swap_out.of_slots),
    "stall": ("Decisions to stall under other rules", reclaim.of_decisions),
}
"""Replay -> the heading and the blocks of its section."""
