# SPDX-License-Identifier: GPL-2.0-or-later
"""The panel of generations: from which type reclaim takes pages first (notebook 08)."""

from typing import Final

from swapsim.ffi import MGLRU_RULES
from swapsim.live import drawing
from swapsim.live.description import Figure, Panel, choice, slider
from swapsim.live.models import MGLRU

_MOST: Final = 50
_RATES: Final = range(_MOST + 1)
_UPPER: Final = range(0, 101, 10)
_SWAPPINESS: Final = (0, 1, 10, 20, 30, 40, 60, 80, 100, 120, 140, 160, 180, 199, 200, 201)
_LEFT: Final = {
    "of both types equally old": {"anon_generations": 3, "file_generations": 3},
    "of anonymous pages older": {"anon_generations": 4, "file_generations": 3},
    "of file pages older": {"anon_generations": 3, "file_generations": 4},
}
_CALLERS: Final = {"may start IO": {"io": True}, "may start no IO": {"io": False}}
_EVICTED: Final = (100, 200, 500, 1000, 2000, MGLRU["evicted"])
_FEW: Final = (0, 16, 32, MGLRU["few_refaults"], 128, 256)
FIRST: Final = {"anon": 17, "file": 18, "upper": 20, "swappiness": 100}
"""A second of a recording of 6.12 in which 7.3 would choose the other type, rounded."""


def panel() -> Panel:
    """Return the panel of notebook 08."""
    chart = drawing.turns(
        MGLRU_RULES,
        ("anon_percent", "anonymous pages that come back, %"),
        "file pages that come back, %",
        _MOST,
        ("file pages first", "anonymous pages first"),
        "this kernel refuses this swappiness",
    )
    return Panel(
        name="mglru",
        question="Does reclaim take anonymous pages or file pages first?",
        notebook="08-generations",
        limits="One choice, with no page protected: not what the next state becomes. The threshold "
        "of both kernels is 64 file pages, which decides where few pages were evicted. 6.12 "
        "refuses swappiness 201, anonymous pages only: its side is empty there. It is exact: the "
        "rules themselves, without chance.",
        model="mglru",
        base=MGLRU,
        controls=(
            *(
                slider(name, label, values, FIRST[name], field)
                for name, field, label, values in (
                    ("anon", "anon_percent", "anonymous pages that come back, %", _RATES),
                    ("file", "file_percent", "file pages that come back, %", _RATES),
                    ("upper", "upper_percent", "of these, read more than once, %", _UPPER),
                    ("swappiness", "swappiness", "swappiness", _SWAPPINESS),
                )
            ),
            slider("evicted", "evicted pages of each type", _EVICTED, _EVICTED[-1], "evicted"),
            slider(
                "few",
                "file pages are taken while fewer came back than",
                _FEW,
                MGLRU["few_refaults"],
                "few_refaults",
            ),
            choice("older", "oldest generation", _LEFT, next(iter(_LEFT))),
            choice("caller", "the caller", _CALLERS, next(iter(_CALLERS))),
        ),
        chart=drawing.specification(chart),
        figures=tuple(
            Figure(label=f"{label}, {rules}", where={"rules": rules, "metric": metric}, unit=unit)
            for metric, label, unit in (
                ("turn at the setting", "file rate from which anonymous pages are taken", "%"),
                ("margin", "margin of file pages", "points"),
            )
            for rules in MGLRU_RULES
        ),
        seeds=1,
        seeded="",
    )
