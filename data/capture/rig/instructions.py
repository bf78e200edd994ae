# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions per page of reclaim, from the lists that lab/modules/redirty_cost.c counted."""

import re
from collections.abc import Mapping
from statistics import median
from typing import Final

from rig.counts import Metrics
from rig.errors import GuestError

LIST_PAGES: Final = 32
# The module's loop: two instructions, so many times.
LOOP_INSTRUCTIONS: Final = 32_000
# The modes of the module, and their metrics.
MODES: Final[Mapping[str, str]] = {
    "skipped": "a dirty page that reclaim scans and skips",
    "written": "a dirty page that reclaim scans and writes",
    "dropped": "a clean page that reclaim scans and frees",
    "copied": "a page written to a file",
    "touched": "an anonymous page touched for the first time",
    "redirtied": "a page cleared for IO and dirtied again",
    "file-system": "a page cleared for IO and given to writepage",
}
_MODE: Final = re.compile(r"^([a-z-]+):((?: \d+)+)$", re.MULTILINE)


def read(report: Mapping[str, str], name: str) -> Metrics:
    """Read the metrics of one run: medians over all lists, in instructions per page.

    A median, because the timer's interrupts fall into some of the lists.

    Raises
    ------
    GuestError
        A mode was not counted.
    """
    ticks: dict[str, list[int]] = {}
    for mode, numbers in _MODE.findall(report["output"]):
        ticks.setdefault(mode, []).extend(map(int, numbers.split()))
    missing = {"loop", *MODES} - set(ticks)
    if missing:
        raise GuestError(f"{name}: nothing was counted of {', '.join(sorted(missing))}")
    per_instruction = median(ticks["loop"]) / LOOP_INSTRUCTIONS
    pages = {mode: median(ticks[mode]) / per_instruction / LIST_PAGES for mode in MODES}
    return {
        "Ticks per instruction": (per_instruction, "1"),
        "Lists": (len(ticks["written"]), "1"),
        **{f"Instructions of {MODES[mode]}": (pages[mode], "instructions") for mode in MODES},
        "Instructions of a write that comes back": (
            pages["written"] - pages["skipped"],
            "instructions",
        ),
        "Instructions of the file system in it": (
            pages["file-system"] - pages["redirtied"],
            "instructions",
        ),
    }
