# SPDX-License-Identifier: GPL-2.0-or-later
"""The panel of lists of clusters: which list comes first, and what that splits (notebook 07b)."""

from collections.abc import Iterator
from typing import Final

from swapsim.charts import colours
from swapsim.clusters._native import switches_of
from swapsim.clusters.requests import CLUSTER
from swapsim.live import drawing
from swapsim.live.models import clusters as model
from swapsim.live.panel import Figure, Panel, choice, slider

_OLD, _NEW, _OWN = "6.12", "7.3", "7.3, changed"
_CASES: Final = dict(zip((_OLD, _NEW, _OWN), colours.ramp(3), strict=True))
_FIRST: Final = {"free clusters": False, "nonfull clusters": True}
_TRIES: Final = (0, 1, 2, 4, 8)
_FILLS: Final = (40, 50, 62, 70, 75, 80, 85, 90, 95)
_SHARES: Final = (25, 50, 75, 86, 95, 100)
_SIZES: Final = {
    **{str(order): f"{4 << order} KiB" for order in range(2, 9)},
    "9": "2 MiB",
    "all": "all",
}
_MIXES: Final = {
    "32 KiB to 2 MiB, in equal parts": (3, 4, 5, 6, 7, 9),
    "16 to 128 KiB": (2, 3, 4, 5),
    "64 KiB": (4,),
    "64 KiB and 2 MiB": (4, 9),
    "2 MiB": (9,),
}
_CLUSTERS: Final = 64
_WRITTEN: Final = {"cpus": 4, "stages": 8}


def panel() -> Panel:
    """Return the panel of lists of clusters."""
    turned = ("nonfull_first", "frag_all", "frag_tries")
    kept = {
        name: {"switches": {switch: switches_of(name)[switch] for switch in turned}}
        for name in (_OLD, _NEW)
    }
    first = {name: {"switches": {turned[0]: on}} for name, on in _FIRST.items()}
    tries = {str(n): {"switches": {"frag_all": False, "frag_tries": n}} for n in _TRIES}
    tries |= {"all": {"switches": {"frag_all": True}}}
    mixes = {name: {"orders": [[order, 1] for order in orders]} for name, orders in _MIXES.items()}
    over_time = drawing.areas(
        ("datum.stage / 4", "times the device was written"),
        "clusters",
        "name",
        "case",
        {name: shade for name, shade in colours.CLUSTERS.items() if name != "discard"},
    )
    split = drawing.groups("split", _SIZES, "folios split, %", "case", _CASES)
    return Panel(
        name="lists",
        question="Which list first?",
        notebook="07b-large-folios",
        limits=f"A device of {_CLUSTERS} clusters (128 MiB) from empty on, written "
        f"{_WRITTEN['stages'] // 4} times by four CPUs that give back random folios: sizes and "
        "fill of notebook 07b's harder test, but not its requests, and nothing is read back.",
        model="clusters",
        base={**model.SETTING, "rules": [_NEW], "slots": _CLUSTERS * CLUSTER, **_WRITTEN},
        cases=(
            ({"case": _OLD}, {"rules": [_OLD], **kept[_OLD]}),
            ({"case": _NEW}, kept[_NEW]),
            ({"case": _OWN}, {}),
        ),
        controls=(
            choice("first", "changed: taken first", first, "free clusters"),
            slider("tries", "changed: frag clusters tried", tries, 1),
            slider("fill", "slots in use, %", _FILLS, 62, "fill_percent"),
            slider("share", "pages in large folios, %", _SHARES, 86, "large_percent"),
            choice("sizes", "sizes of large folios", mixes, next(iter(_MIXES))),
        ),
        columns={"metric": ["clusters", "split", "folios"]},
        chart=drawing.specification((over_time & split).resolve_scale(color="independent")),
        figures=tuple(
            figure
            for name, words in (("all", "folios"), ("9", "folios of 2 MiB"))
            for figure in _figures(name, words)
        ),
    )


def _figures(name: str, words: str) -> Iterator[Figure]:
    """Yield the share of folios of a size that each case splits, and how many there are."""
    of = {"metric": "split", "name": name}
    for case in _CASES:
        yield Figure(label=f"{words} split, {case}", where={"case": case, **of}, ranged=True)
    counted = {"case": _NEW, "metric": "folios", "name": name}
    yield Figure(label=f"{words} in all", where=counted, unit="", digits=0, ranged=True)
