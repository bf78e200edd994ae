# SPDX-License-Identifier: GPL-2.0-or-later
"""The panel of patch D's bases: where CPUs get slots, and whether they meet (notebooks 04, 05)."""

from dataclasses import replace
from typing import Any, Final

import altair as alt

from swapsim.charts.colours import CPUS
from swapsim.ffi import POLICIES
from swapsim.live import drawing
from swapsim.live.description import Figure, Panel, choice, slider
from swapsim.live.models import slots_setting
from swapsim.patches.cluster_next import studies
from swapsim.slots.config import GIGABYTE_SLOTS

_SMALLER: Final = 16
"""Ratio of the slots of notebook 04's device to those of the panel's, in each trunk."""

_SHIFT: Final = studies.DEVICE.trunk_shift - (_SMALLER.bit_length() - 1)
_DEVICE: Final = replace(
    studies.DEVICE, slots=studies.DEVICE.slots // _SMALLER, trunk_shift=_SHIFT, cluster_size=256
)
_AGES: Final = tuple(2**n for n in range(14, 20))
_CHURN: Final = replace(studies.CHURN, pages=studies.CHURN.pages // _SMALLER)
_FRAMES: Final = 36
_FILLS: Final = (30, 40, 48, 60, 70, 80, 90)
_CPUS: Final = (1, 2, 4, 8, 16, 32, 64)
_MIB: Final = GIGABYTE_SLOTS // 1024
_TIMES: Final = f"times {_SMALLER}"


def _trunk(shift: int) -> str:
    return f"{(1 << shift) // _MIB} MiB, {_DEVICE.slots >> shift} trunks"


def _chart() -> alt.VConcatChart:
    """Return each CPU's slots over the device, above the share of them that meets another CPU."""
    first = (
        drawing.rows()
        .transform_filter("datum.seed === 1")
        .transform_calculate(since=f"{_SMALLER} * datum.pages")
    )
    x = alt.X(
        "since:Q", title=f"pages swapped out since the fill, {_TIMES}", axis=alt.Axis(format=",d")
    )
    names = {str(cpu): colour for cpu, colour in enumerate(CPUS)}
    place = (
        first.transform_filter("datum.metric === 'slot'")
        .transform_calculate(
            cpu=f"'' + datum.task % {len(CPUS)}",
            place=f"isValid(datum.value) ? datum.value / {_MIB} : null",
        )
        .mark_square(size=13, opacity=0.9, invalid="break-paths-show-domains")
        .encode(
            x=x.title(None),
            y=alt.Y(
                "place:Q",
                title="place on the device, MiB",
                scale=alt.Scale(domain=[0, _DEVICE.slots // _MIB]),
            ),
            color=drawing.by_name("cpu", names).title(f"CPU, modulo {len(CPUS)}"),
            tooltip=[
                alt.Tooltip("task:Q", title="CPU"),
                alt.Tooltip("place:Q", title="MiB", format=".1f"),
                alt.Tooltip("since:Q", title="pages", format=",d"),
            ],
        )
        .properties(width=drawing.WIDTH, height=260)
    )
    shared = (
        first.transform_filter("datum.metric === 'shared'")
        .transform_calculate(percent="isValid(datum.value) ? 100 * datum.value : null")
        .mark_line(interpolate="step-before", invalid="break-paths-show-domains")
        .encode(
            x=x,
            y=alt.Y("percent:Q", title="in another's trunk, %", scale=alt.Scale(domain=[0, 100])),
        )
        .properties(width=drawing.WIDTH, height=90)
    )
    both: alt.VConcatChart = (place & shared).resolve_scale(x="shared")
    return both


def _share(metric: str, label: str) -> Figure:
    return Figure(label=label, where={"metric": metric}, scale=100.0, ranged=True)


def panel() -> Panel:
    """Return the panel of notebook 04's section on the age of V1."""
    metrics = ("trunk.shared", "lock.moved.add", "scanned")
    base: dict[str, Any] = slots_setting(_DEVICE, _CHURN, frames=_FRAMES, metrics=metrics)
    most = _CHURN.pages // _DEVICE.possible_cpus
    cpus = {n: {"possible_cpus": n, "pages": max(_CHURN.pages, most * n)} for n in _CPUS}
    ages = {n: {"warm_up_pages": n // _SMALLER} for n in _AGES}
    trunks = {_trunk(n): {"trunk_shift": n} for n in range(9, 14)}
    fills = {n: {"used_share": n / 100} for n in _FILLS}
    return Panel(
        name="trunks",
        question="Do CPUs meet in a trunk?",
        notebook="04-percpu-cluster-next",
        limits=f"Counts, no time. The device is a {_SMALLER}th of notebook 04's in each trunk, "
        "with as many trunks, so pages are multiplied by that. The picture is of one seed; the "
        "figures are medians of five, of the last pages alone. Seeds differ by a factor of ten, "
        "so the notebook's means of twenty are greater.",
        model="slots",
        base=base,
        controls=(
            choice("policy", "policy", POLICIES, studies.MERGED, "policy"),
            slider("cpus", "CPUs", cpus, _DEVICE.possible_cpus),
            slider("trunk", "size of a trunk", trunks, _trunk(_SHIFT)),
            slider("fill", "slots in use, %", fills, round(100 * _CHURN.used_share)),
            slider("age", f"age: pages swapped out, {_TIMES}", ages, 2**18, released=True),
        ),
        columns={"metric": ["slot", "shared", *metrics]},
        chart=drawing.specification(_chart()),
        figures=(
            _share("trunk.shared", "slots in the trunk of another CPU's last slot"),
            _share("lock.moved.add", "additions that fetch the lock's line from another CPU"),
            Figure(
                label="slots tested for one that is handed out",
                where={"metric": "scanned"},
                unit="",
                digits=2,
                ranged=True,
            ),
        ),
    )
