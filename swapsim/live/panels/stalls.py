# SPDX-License-Identifier: GPL-2.0-or-later
"""The panel of patch C: what each rule set decides on one list of reclaim (notebook 03)."""

from itertools import product
from typing import Final

from swapsim.charts import colours
from swapsim.live import drawing
from swapsim.live.description import Figure, Panel, choice, slider
from swapsim.live.models import stall_setting

_LIST: Final = ("4 dirty", "2 anonymous dirty", "2 writing marked", "4 writing")
_USUAL: Final = "2 clean, 1 buffers, 1 NFS commit"
_OTHERS: Final = {
    _USUAL: {"dirty clean-buffers": 1, "clean committing": 1, "clean": 2, "dirty congested": 0},
    "none": {},
    "16 clean": {"clean": 16},
    "4 dirty, of a congested disk": {"dirty congested": 4},
}
"""The list of notebook 03 is the first four kinds and the first of the others."""

_SLIDERS: Final = {
    "dirty": "dirty pages of files",
    "anonymous dirty": "dirty anonymous pages",
    "writing": "under writeback",
    "writing marked": "under writeback, marked for reclaim",
}
_PAGES: Final = range(9)
_CALLERS: Final = {
    f"{name}, priority {priority}": {"kswapd": name == "kswapd", "priority": priority}
    for name, priority in product(("kswapd", "direct reclaim"), (12, 11, 10, 8, 4))
}
_COUNTED: Final = "counted in the list"
_SLEEP, _WAIT, *_ = colours.STALLS
_FLAG: Final = "a flag"
_COLOUR: Final = {
    _COUNTED: colours.ERAS["6.1"],
    _FLAG: colours.STALLS["a flag, no sleep"],
    **{name: colours.STALLS[name] for name in (_WAIT, _SLEEP)},
    **{name: colours.OUTCOMES[name] for name in ("written", "freed", "freed under writeback")},
}
_CELLS: Final = (
    ("dirty", "dirty", _COUNTED, ""),
    ("unqueued_dirty", "dirty, not queued", _COUNTED, ""),
    ("congested", "congested", _COUNTED, ""),
    ("writeback", "under writeback", _COUNTED, ""),
    ("immediate", "marked", _COUNTED, ""),
    ("flag tail_lru_dirty", "flag: kswapd writes", _FLAG, "set"),
    ("flag writeback", "flag: writeback", _FLAG, "set"),
    ("flag congested", "flag: congested", _FLAG, "set"),
    ("slept", "sleep in the list", _SLEEP, ""),
    ("throttle congestion_wait", "sleep after it", _SLEEP, "yes"),
    ("throttle writeback", "sleep after it", _SLEEP, "yes"),
    ("throttle wait_iff_congested", "wait if congested", _WAIT, "yes"),
    ("throttle congested", "wait if congested", _WAIT, "yes"),
    ("written", "written", "written", ""),
    ("freed", "freed", "freed", ""),
    ("freed_under_writeback", "freed too early", "freed under writeback", ""),
)
"""Metrics of the model: their column of the table, what it means, and the text of a cell."""


_AFTER: Final = {
    "congestion_wait": (*(f"series-{n}" for n in range(3, 9)), "3.11"),
    "writeback": ("6.1",),
}
"""The rules that sleep after a list, by the reason of the sleep."""


def _figure(rules: str, metric: str, label: str) -> Figure:
    where = {"rules": rules, "metric": metric}
    return Figure(label=f"{label}, {rules}", where=where, unit="", digits=0)


def panel() -> Panel:
    """Return the panel of notebook 03."""
    kinds = [f"{number} {words}" for words, number in _OTHERS[_USUAL].items()]
    none = dict.fromkeys(_OTHERS[_USUAL], 0)
    others = {name: {"counts": none | some} for name, some in _OTHERS.items()}
    base = stall_setting(*_LIST, *kinds)
    base |= {"priority": 10, "flags": ["writeback"], "meetings": 2}
    names = ("metric", "column", "means", "text")
    cells = [dict(zip(names, cell, strict=True)) for cell in _CELLS]
    dark = [_SLEEP, "written", "freed", "freed under writeback"]
    return Panel(
        name="stalls",
        question="When does reclaim stall?",
        notebook="03-stall-decisions",
        limits="Reclaim meets one list twice, with the flag writeback set before; its pages do not "
        "change in between, and the table shows the second meeting. It is exact: the rules "
        "themselves, without chance.",
        model="stall",
        base=base,
        controls=(
            *(
                slider(
                    name.replace(" ", "_"),
                    label,
                    {n: {"counts": {name: n}} for n in _PAGES},
                    base["counts"][name],
                )
                for name, label in _SLIDERS.items()
            ),
            choice("others", "other pages", others, _USUAL),
            choice("caller", "who reclaims", _CALLERS, "kswapd, priority 10"),
        ),
        columns={"meeting": [2], "metric": [cell[0] for cell in _CELLS]},
        chart=drawing.specification(drawing.table("rules", cells, _COLOUR, dark)),
        figures=(
            *(
                _figure(rules, "written", "pages written")
                for rules in ("3.9", "mmotm", "series-8", "6.1")
            ),
            _figure("mmotm", "slept", "sleeps in the list"),
            *(
                _figure(rules, f"throttle {reason}", "sleeps after the list")
                for reason, rules_with in _AFTER.items()
                for rules in rules_with
            ),
            _figure("mmotm", "freed_under_writeback", "pages freed under writeback"),
        ),
        seeds=1,
        seeded="",
    )
