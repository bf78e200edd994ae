# SPDX-License-Identifier: GPL-2.0-or-later
"""The panel of patch D's rates: what a base is worth, and for how long (notebooks 04 and 05)."""

import json
from dataclasses import replace
from itertools import product
from typing import Any, Final

import altair as alt

from swapsim.charts import colours
from swapsim.ffi import FRAMES_KEPT, SLOTS_KEPT
from swapsim.live import drawing
from swapsim.live.description import Figure, Panel, slider
from swapsim.live.models import machine_setting
from swapsim.patches.cluster_next import machines, mails, studies
from swapsim.published import table

_SMALLER: Final = 16
"""Ratio of the slots of notebook 05's device, and of its ages, to those of the panel."""

_TRUNK_SHIFT: Final = 11
"""Log2 of the slots of a trunk: several times what all CPUs cache, so that with one base all of
them are in the same trunk, as in the mails."""

_POLICIES: Final = (*studies.POSTED, "avoid")
_PUBLISHED: Final = {"percpu": "score", studies.MERGED: "score, V3"}
"""A rule, and the table of patch D's mails that has the pages swapped out with it."""

_AGED: Final = machines.aged_device(policy="shared")
_MACHINE: Final = replace(
    machines.machine(policy="shared", kernel=mails.VERSIONS["V3"].machine),
    nodes=1,
    devices=1,
    walkers=8,
    pages=1,
    inactive_ratio=1,
    slots=_AGED.slots // _SMALLER,
    trunk_shift=_TRUNK_SHIFT,
    cluster_size=256,
    warmup_ns=0,
    duration_ns=1_500_000,
)
_WALKERS: Final = (4, 8, 12, 16)
_FILLS: Final = (30, studies.UNDER_HALF, 55, 60, studies.ABOVE_HALF, 80)
_AGES_MS: Final = (80, *studies.RACE_AGES_MS[1:3], 300, 400, 600, 800)
_OUT: Final = "swap_out"
_WAIT: Final = "wait.walker"
_SHARED: Final = {"policy": _POLICIES[0]}


def _memory(walkers: int, fill: int) -> dict[str, int]:
    """Return the least memory, so that it is full early, and the pages that fill the device."""
    frames = 2 * FRAMES_KEPT * (walkers + 1)
    # Of the slots that a CPU keeps, half are in use on average.
    used = _MACHINE.slots * fill // 100 - SLOTS_KEPT // 2 * (walkers + 1)
    return {"walkers": walkers, "frames": frames, "pages": (used + frames) // walkers}


def _published() -> list[dict[str, Any]]:
    """Return the published changes of the pages swapped out, by the rule that gained them."""
    found = []
    for policy, name in _PUBLISHED.items():
        gained = table("D", name).filter(metric="swapout throughput")["ratio"].item()
        change = round(100 * (gained - 1), 1)
        found.append({"policy": policy, "change": change, "words": f"published: {change:+.1f} %"})
    return found


def _bands(rows: alt.Chart, title: str) -> alt.LayerChart:
    """Draw a figure of each policy: its median, least and greatest over the seeds."""
    scale = alt.Scale(domain=[*_POLICIES], range=[colours.POLICIES[policy] for policy in _POLICIES])
    base = drawing.over_seeds(rows, "shown", "policy").encode(
        y=alt.Y("policy:N", title=None, sort=[*_POLICIES]),
        color=alt.Color("policy:N", scale=scale, legend=None),
    )
    bar = base.mark_bar(height=12, opacity=0.35).encode(
        x=alt.X("low:Q", title=title, scale=alt.Scale(zero=True)), x2="high:Q"
    )
    dot = base.mark_point(filled=True, size=90, opacity=1).encode(
        x="middle:Q",
        tooltip=[
            "policy:N",
            *(alt.Tooltip(f"{name}:Q", format=",.0f") for name in ("low", "middle", "high")),
        ],
    )
    both: alt.LayerChart = bar + dot
    return both


def _chart() -> alt.VConcatChart:
    """Return pages a second with the published gains over the shared base, above the waits."""
    out = drawing.rows(metric=_OUT).transform_calculate(shown="datum.value / 4")
    gained = (
        out.transform_filter(f"datum.policy === {studies.POSTED[0]!r}")
        .transform_aggregate(base="median(shown)")
        .transform_calculate(each=json.dumps(_published()))
        .transform_flatten(["each"])
        .transform_calculate(
            policy="datum.each.policy",
            words="datum.each.words",
            at="datum.base * (1 + datum.each.change / 100)",
        )
        .encode(x="at:Q", y=alt.Y("policy:N", sort=[*_POLICIES]))
    )
    mark = gained.mark_tick(color=colours.PUBLISHED, thickness=3, size=22).encode(
        tooltip=alt.Tooltip("words:N", title="against shared")
    )
    rates = (_bands(out, "pages out a second (red: published gain)") + mark).properties(
        width=drawing.WIDTH, height=alt.Step(30)
    )
    waits = _bands(
        drawing.rows(metric=_WAIT).transform_calculate(shown="datum.value"),
        "time of tasks in waits for locks, %",
    ).properties(width=drawing.WIDTH, height=alt.Step(22))
    both: alt.VConcatChart = rates & waits
    return both


def panel() -> Panel:
    """Return the panel of the mails' test and of notebook 05's aged device."""
    base = machine_setting(_MACHINE, studies.constants()["V3"])
    rate: dict[str, Any] = {"unit": "thousand pages/s", "digits": 1, "scale": 0.25e-3}
    young, full = _AGES_MS[0], studies.UNDER_HALF
    of = {"metric": _OUT}
    return Panel(
        name="bases",
        question="What is a base worth, and for how long?",
        notebook="04-percpu-cluster-next",
        limits=f"{_MACHINE.duration_ns / 1e6:g} ms of a node of the mails' machine with little "
        "memory, and costs that are fitted to V3's base column alone; V1's mail had another base. "
        f"The device of {_MACHINE.slots >> _TRUNK_SHIFT} trunks is a {_SMALLER}th of notebook "
        f"05's, so ages are multiplied by {_SMALLER}. Above half full si->lock is taken too often. "
        "Its memory, trunks and first age were chosen in sight of the gain.",
        model="machine",
        base=base,
        cases=tuple(({"policy": name}, {"policy": name}) for name in _POLICIES),
        controls=(
            slider("walkers", "tasks of one node (mails: 8)", _WALKERS, _MACHINE.walkers),
            slider("fill", "slots in use, %", _FILLS, full),
            slider(
                "age",
                f"age: ms since the fill, times {_SMALLER}",
                {ms: {"warmup_ns": ms * 1_000_000 // _SMALLER} for ms in _AGES_MS},
                young,
                released=True,
            ),
        ),
        together=(
            (
                ("walkers", "fill"),
                {f"{n}|{fill}": _memory(n, fill) for n, fill in product(_WALKERS, _FILLS)},
            ),
        ),
        columns={"metric": [_OUT, _WAIT]},
        chart=drawing.specification(_chart()),
        figures=(
            *(
                Figure(
                    label=f"{name} against shared",
                    where={**of, "policy": name},
                    base=_SHARED,
                    ranged=True,
                )
                for name in _POLICIES[1:]
            ),
            Figure(label="rate of shared", where={**of, **_SHARED}, ranged=True, **rate),
        ),
    )
