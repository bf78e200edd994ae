# SPDX-License-Identifier: GPL-2.0-or-later
"""The panel of one lock: how its throughput saturates (notebooks 00, 01 and 07)."""

from typing import Any, Final

from swapsim.charts import colours
from swapsim.live import drawing
from swapsim.live.description import Figure, Panel, choice, slider
from swapsim.live.models import locks_setting
from swapsim.machine import anchors
from swapsim.machine.constants import costs_by_name

_THREADS: Final = (*anchors.THREADS, 64)
_KINDS: Final = {f"{kind} lock": {"kinds": [kind]} for kind in anchors.FAIR}
_HOLDS: Final = (anchors.HOLD_NS, 10, 50, 100, 200, 500, 1000, 2000, 5000)
_THINKS: Final = (0, anchors.THINK_NS, 200, 500, 1000, 2000, 5000, 10000, 20000)
_NEAR, _FAR = "travel_same_socket_ns", "travel_other_socket_ns"
_TRAVELS: Final = {_NEAR: (1, 20, 60, 90, 120), _FAR: (1, 44, 80, 160, 240, 400)}
_RATE: Final[dict[str, Any]] = {"unit": "a microsecond", "digits": 2}


def _published() -> list[dict[str, Any]]:
    """Return the published rates, as far as the number of loops is known."""
    return [
        {
            "kind": row["kind"],
            "threads": row["threads"],
            "published": f"{row['anchor']}, {row['cpu']}",
            "value": 1000 / found,
        }
        for row in anchors.published_anchors().iter_rows(named=True)
        if (found := anchors.published_ns(row))
    ]


def panel() -> Panel:
    """Return the panel of one lock."""
    usual, last = costs_by_name(), _THREADS[-1]
    travels = {
        name: {ns: {"travels": {name: ns}} for ns in sorted({*given, usual[name]})}
        for name, given in _TRAVELS.items()
    }
    chart = drawing.curves(
        x=("threads", "CPUs that take the lock"),
        y="acquisitions a microsecond",
        by="placement",
        colour={name: colours.PLACEMENTS[name] for name in anchors.PLACEMENTS},
        points=_published(),
        named="published",
        only="kind",
    )
    return Panel(
        name="locks",
        question="How does one lock saturate?",
        notebook="00-map",
        limits="A closed loop of one lock, whose waiters queue in the order of their arrival: "
        "no preemption, no other traffic. The published points are of other processors, "
        "at a hold and a think time of their own.",
        model="locks",
        base=locks_setting() | {"kinds": ["queued"], "threads": [*_THREADS]},
        controls=(
            choice("kind", "kind of lock", _KINDS, "queued lock"),
            slider("hold", "hold, ns", _HOLDS, anchors.HOLD_NS, "hold_ns"),
            slider(
                "think",
                "time between release and next request, ns",
                _THINKS,
                anchors.THINK_NS,
                "think_ns",
            ),
            slider("near", "transfer of the line on a socket, ns", travels[_NEAR], usual[_NEAR]),
            slider("far", "transfer between sockets, ns", travels[_FAR], usual[_FAR]),
        ),
        chart=drawing.specification(chart),
        figures=(
            *(
                Figure(label=f"{label}, {name}", where={"threads": last, "placement": name}, **how)
                for label, how in (
                    (f"acquisitions by {last} CPUs", _RATE),
                    (f"by {last} CPUs against 4", {"base": {"threads": 4}}),
                )
                for name in anchors.PLACEMENTS
            ),
        ),
        seeded="seeds",
    )
