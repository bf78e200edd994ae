# SPDX-License-Identifier: GPL-2.0-or-later
"""The panels: each function returns one, with Vega-Lite over the data named "rows"."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from textwrap import wrap
from typing import Any, Final

import altair as alt
import polars as pl

from swapsim.charts import altair, colours, of_version
from swapsim.ffi import FRAMES_KEPT, MACHINE_SITES, MGLRU_RULES, POLICIES, SLOTS_KEPT
from swapsim.live import models
from swapsim.live.description import ROWS, Figure, Panel, choice, slider
from swapsim.machine import anchors
from swapsim.machine.config import preset
from swapsim.machine.constants import costs_by_name
from swapsim.machine.running import lock_of
from swapsim.patches import cluster_next, common, writeback_tags
from swapsim.published import table
from swapsim.slots.config import GIGABYTE_SLOTS
from swapsim.slots.ranking import CHURN, DEVICE, aged_device

_WIDTH: Final = 560
_LINE: Final = 48  # characters of a line of an axis' title, so that it fits a narrow page
_RANGE: Final = ("low", "middle", "high")


def _rows(**where: str) -> alt.Chart:
    """Return a chart over the rows of a panel that have these values."""
    chart = alt.Chart(alt.NamedData(ROWS))
    for name, value in where.items():
        chart = chart.transform_filter(f"datum.{name} === {value!r}")
    return chart


def _over_seeds(chart: alt.Chart, value: str, *by: str) -> alt.Chart:
    """Return the least, median and greatest value over the seeds, for each value of ``by``."""
    low, middle, high = (f"{statistic}({value})" for statistic in ("min", "median", "max"))
    return chart.transform_aggregate(
        low=low, middle=middle, high=high, groupby=[*by] or alt.Undefined
    )


def _legend(names: Sequence[str]) -> alt.Legend:
    """Return a legend below the chart, with as many columns as there is room for."""
    return alt.Legend(orient="bottom", columns=max(1, _WIDTH // (6 * max(map(len, names)) + 28)))


def _by_name(column: str, colour: Mapping[str, str]) -> alt.Color:
    """Return the colour of a column of names, with a legend below the chart."""
    scale = alt.Scale(domain=[*colour], range=[*colour.values()])
    return alt.Color(f"{column}:N", title=None, scale=scale, legend=_legend([*colour]))


def _specification(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """Return the Vega-Lite of a panel, with its legends below each other."""
    altair()  # has the theme
    made = of_version(chart.to_dict())
    below = {"anchor": "start", "direction": "vertical", "margin": 8}
    made["config"]["legend"]["layout"] = {"bottom": below}
    _wrap_titles(made)
    return made


def _wrap_titles(part: Any) -> None:
    """Write the titles of horizontal axes in lines that fit a narrow page."""
    for each in part.values() if isinstance(part, dict) else part:
        if isinstance(each, dict | list):
            _wrap_titles(each)
    x = part.get("x") if isinstance(part, dict) else None
    if isinstance(x, dict) and len(x.get("title") or "") > _LINE:
        x["title"] = wrap(x["title"], _LINE)


# Patch A: what tags are worth, and where the wait goes (notebook 01).

KEPT, _NONE = colours.TAGS
_OUT: Final = "swap_out"
_A: Final = writeback_tags.machine()


def frames_of(writers: int) -> int:
    """Return little memory of a node, so that it is full early in the run."""
    return 4 * FRAMES_KEPT * (-(-writers // _A.nodes) + 1)


def tags() -> Panel:
    """Return the panel of notebook 01."""
    words = {"wait": "waited for", "hold": "held"}
    found = {
        f"{kind}.{site}": f"{lock_of(f'{kind}.{site}', _A.kernel)}, {word}"
        for site in MACHINE_SITES
        for kind, word in words.items()
    }
    parts = {metric: part for metric, part in found.items() if part in colours.PARTS}
    printed = table("A", "lkp comparison")
    rate, done = "vmstat.swap.so", "vm-scalability.throughput"
    ratios = dict(printed.select("metric", (100 * (pl.col("ratio") - 1)).round(1)).iter_rows())
    published = {done: ratios[done], f"{rate}, exit included": ratios[rate]}
    scale: dict[str, Any] = {"unit": "million KiB/s", "digits": 2, "scale": 1e-6}
    of_rate = printed.filter(metric=rate).drop("metric", "unit", "unchanged", "ratio")
    mean, mean_without = (each * scale["scale"] for each in of_rate.row(0))
    devices: dict[str, dict[str, Any]] = {
        f"drive: {count} pages at a time, {latency} us each": {
            "channels": count,
            "costs": {"channel_ns": 1000 * latency},
        }
        for latency, count in product(common.LATENCIES_US, common.CHANNELS)
    }
    memory = "as fast as memory"
    writers = {n: {"writers": n, "frames": frames_of(n)} for n in (1, 2, 4, 8, 16, 32, 64)}
    trunks = {f"{2 ** (n - 8)} MB": {"trunk_shift": n} for n in writeback_tags.TRUNK_SHIFTS}
    maps = (0.05, 0.1, 0.2, writeback_tags.MAP_SHARE, 0.4, 0.8)
    without = {"metric": _OUT, "tags": _NONE}
    return Panel(
        name="tags",
        question="What are tags worth, and where does the wait go?",
        notebook="01-writeback-tags",
        limits="A window of 5 simulated ms, not the mail's run with its exit. Costs are fitted to "
        "its base column alone, again for each pair of shares, and stay for other kernels and "
        "devices. The change is the median of the changes of five seeds. The mail's mean over a "
        f"run is {mean:.2f} {scale['unit']} with tags and {mean_without:.2f} without.",
        model="machine",
        base=models.machine_setting(_A)
        | {"warmup_ns": 2_000_000, "duration_ns": 5_000_000, "slots": 2**18},
        cases=tuple(({"tags": name}, {"tags": name == KEPT}) for name in colours.TAGS),
        controls=(
            slider("writers", "tasks that write", writers, _A.writers),
            slider(
                "tag_share",
                "critical section for tags : for add",
                writeback_tags.THREE_TAG_SHARES,
                writeback_tags.TAG_SHARE,
            ),
            slider("map_share", "for a map byte : for add", maps, writeback_tags.MAP_SHARE),
            slider("trunk", "size of a trunk (from 5.8 on)", trunks, "64 MB"),
            choice("kernel", "kernel", ("4.8", "5.8", "6.1"), _A.kernel, "kernel"),
            choice("device", "device", {memory: {"channels": 0}, **devices}, memory),
        ),
        together=((("tag_share", "map_share"), _fits_of_shares()),),
        columns={"metric": [_OUT, "busy", *parts]},
        chart=_specification(_change_of_tags(published) & _parts_of_a_page(parts)),
        figures=(
            Figure(label="without tags", where=without, base={"tags": KEPT}, paired=True),
            Figure(label="rate with tags", where={**without, "tags": KEPT}, **scale),
            Figure(label="rate without tags", where=without, **scale),
        ),
    )


def _fits_of_shares() -> dict[str, dict[str, Any]]:
    """Return the stored fit of each pair of shares at which the base can be met."""
    rows = pl.concat([writeback_tags.by_shares.load(), writeback_tags.three_fits.load()])
    names = rows.select("policy", "tag_share", "map_share").unique().rows()
    found = writeback_tags.fitted_costs(rows)
    return {
        f"{tag:g}|{map_:g}": {"costs": found[name]}
        for name, tag, map_ in names
        if tag in writeback_tags.THREE_TAG_SHARES
    }


def _change_of_tags(published: Mapping[str, float]) -> alt.LayerChart:
    """Draw the median, least and greatest change from tags to none, and the published ones."""
    changes = (
        _rows(metric=_OUT)
        .transform_pivot("tags", value="value", groupby=["seed"])
        .transform_calculate(change=f"100 * (datum[{_NONE!r}] / datum[{KEPT!r}] - 1)")
    )
    title = "pages swapped out without tags, change in % (green: five seeds)"
    summed = _over_seeds(changes, "change")
    band = summed.mark_bar(height=12, opacity=0.35, color=colours.PATCHED).encode(
        x=alt.X("low:Q", title=title), x2="high:Q"
    )
    dot = summed.mark_point(filled=True, size=90, color=colours.PATCHED, opacity=1).encode(
        x="middle:Q", tooltip=[alt.Tooltip(f"{name}:Q", format=".1f") for name in _RANGE]
    )
    zero = alt.Chart(alt.InlineData([{"change": 0}])).mark_rule(color="gray")
    words = {f"published: {name}, {each:+.1f} %": each for name, each in published.items()}
    lines = alt.Chart(alt.InlineData([{"words": name, "change": words[name]} for name in words]))
    key: dict[str, Any] = {
        "title": None,
        "scale": alt.Scale(domain=[*words]),
        "legend": _legend([*words]),
    }
    line = lines.mark_rule(color=colours.PUBLISHED, strokeWidth=2).encode(
        x="change:Q", strokeDash=alt.StrokeDash("words:N", **key)
    )
    marks = (zero.encode(x="change:Q"), band, dot, line)
    return alt.layer(*marks).properties(width=_WIDTH, height=40)


def _parts_of_a_page(metrics: Mapping[str, str]) -> alt.Chart:
    """Draw the mean CPU time of a page by the parts of metrics and the rest, for each case."""
    title = "microseconds of CPU time for a page swapped out"
    locks = {name.partition(".")[2]: part.rpartition(", ")[0] for name, part in metrics.items()}
    sites = [{"site": site, "lock": lock} for site, lock in locks.items()]
    of = alt.LookupData(alt.InlineData(sites), key="site", fields=["lock"])
    whole, rest = "datum.metric === 'busy'", next(iter(colours.PARTS))
    words = "(slice(datum.metric, 0, 4) === 'wait' ? ', waited for' : ', held')"
    drawn = {rest, *metrics.values()}
    colour = {name: shade for name, shade in colours.PARTS.items() if name in drawn}
    chart: alt.Chart = (
        _rows()
        .transform_calculate(site="slice(datum.metric, 5)")
        .transform_lookup("site", of)
        .transform_filter(f"{whole} || isValid(datum.lock)")
        .transform_calculate(
            part=f"{whole} ? [{rest!r}] : [datum.lock + {words}, {rest!r}]",
            sign=f"{whole} ? [1] : [1, -1]",
        )
        .transform_flatten(["part", "sign"])
        .transform_calculate(
            signed="datum.value * datum.sign / 1000", order=f"indexof({[*colour]}, datum.part)"
        )
        .transform_aggregate(sum="sum(signed)", groupby=["tags", "seed", "part", "order"])
        .transform_aggregate(mean="mean(sum)", groupby=["tags", "part", "order"])
        .mark_bar()
        .encode(
            x=alt.X("sum(mean):Q", title=title),
            y=alt.Y("tags:N", title=None, sort=None),
            color=_by_name("part", colour),
            order="order:Q",
            tooltip=["part:N", alt.Tooltip("mean:Q", format=".2f", title=title)],
        )
        .properties(width=_WIDTH, height=alt.Step(34))
    )
    return chart


# One lock: how its throughput saturates.


def locks() -> Panel:
    """Return the panel of one lock."""
    threads, usual = (*anchors.THREADS, 64), costs_by_name()
    values = {"same": (1, 20, 60, 90, 120), "other": (1, 44, 80, 160, 240, 400)}
    near, far = (
        ({ns: {"travels": {name: ns}} for ns in sorted({*values[end], usual[name]})}, usual[name])
        for end in values
        for name in [f"travel_{end}_socket_ns"]
    )
    thinks = (0, anchors.THINK_NS, 200, 500, 1000, 2000, 5000, 10000, 20000)
    holds = (anchors.HOLD_NS, 10, 50, 100, 200, 500, 1000, 2000, 5000)
    think = "time between release and next request, ns"
    kinds = {f"{kind} lock": {"kinds": [kind]} for kind in anchors.FAIR}
    last = threads[-1]
    return Panel(
        name="locks",
        question="How does one lock saturate?",
        notebook="06-your-own",
        limits="A closed loop of one lock, whose waiters queue in the order of their arrival: "
        "no preemption, no other traffic. The published points are of other processors, "
        "with a critical section and a think time of their own.",
        model="locks",
        base=models.locks_setting() | {"kinds": ["queued"], "threads": [*threads]},
        controls=(
            choice("kind", "kind of lock", kinds, "queued lock"),
            slider("hold", "critical section, ns", holds, anchors.HOLD_NS, "hold_ns"),
            slider("think", think, thinks, anchors.THINK_NS, "think_ns"),
            slider("near", "cache-line transfer on a socket, ns", *near),
            slider("far", "transfer between sockets, ns", *far),
        ),
        chart=_specification(_curves_of_a_lock()),
        figures=tuple(
            Figure(label=f"{label}, {name}", where={"threads": last, "placement": name}, **how)
            for label, how in (
                (f"acquisitions by {last} CPUs", {"unit": "a microsecond", "digits": 2}),
                (f"by {last} CPUs against 4", {"base": {"threads": 4}}),
            )
            for name in anchors.PLACEMENTS
        ),
        seeded="seeds",
    )


def _curves_of_a_lock() -> alt.LayerChart:
    """Draw medians over the seeds by placement, their range, and the published rates."""
    points = [
        {
            "kind": row["kind"],
            "threads": row["threads"],
            "published": f"{row['anchor']}, {row['cpu']}",
            "value": 1000 / ns,
        }
        for row in anchors.published_anchors().iter_rows(named=True)
        if (ns := anchors.published_ns(row))  # the number of loops is known
    ]
    log = alt.Scale(type="log", base=2)
    across = alt.X("threads:Q", title="CPUs that take the lock", scale=log)
    up = alt.Scale(type="log", nice=False, padding=8)
    y = alt.Y("low:Q", title="acquisitions a microsecond", scale=up)
    colour = _by_name("placement", {each: colours.PLACEMENTS[each] for each in anchors.PLACEMENTS})
    summed = _over_seeds(_rows(), "value", "threads", "placement").encode(x=across, color=colour)
    band = summed.mark_area(opacity=0.3).encode(y=y, y2="high:Q")
    tips = {name: alt.Tooltip(f"{name}:Q", format=".3~g") for name in ("threads", *_RANGE, "value")}
    line = summed.mark_line(point=True).encode(
        y="middle:Q", tooltip=["placement:N", *(tips[name] for name in ("threads", *_RANGE))]
    )
    dots = (
        alt.Chart(alt.InlineData(points))
        .transform_lookup("kind", alt.LookupData(alt.NamedData(ROWS), key="kind", fields=["seed"]))
        .transform_filter("isValid(datum.seed)")
        .mark_point(color=colours.PUBLISHED, size=45)
        .encode(
            x=across,
            y="value:Q",
            shape=alt.Shape(
                "published:N",
                title="published",
                scale=alt.Scale(domain=[*dict.fromkeys(each["published"] for each in points)]),
                legend=alt.Legend(orient="bottom", columns=1),
            ),
            tooltip=["published:N", tips["threads"], tips["value"]],
        )
    )
    return alt.layer(band, line, dots).properties(width=_WIDTH, height=260)


# Patch C: what each rule set decides on one list of reclaim (notebook 03).

_SLEEP, _WAIT, *_ = colours.STALLS
_COUNTED, _FLAG = "counted in the list", "a flag"
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


def stalls() -> Panel:
    """Return the panel of notebook 03, whose list is the first four kinds and the first others."""
    usual = "2 clean, 1 buffers, 1 NFS commit"
    none = {"dirty clean-buffers": 1, "clean committing": 1, "clean": 2, "dirty congested": 0}
    kinds = [f"{number} {words}" for words, number in none.items()]
    some = {"none": {}, "16 clean": {"clean": 16}} | {
        "4 dirty, of a congested disk": {"dirty congested": 4}
    }
    others = {usual: {"counts": none}} | {
        name: {"counts": dict.fromkeys(none, 0) | more} for name, more in some.items()
    }
    callers = {
        f"{name}, priority {priority}": {"kswapd": name == "kswapd", "priority": priority}
        for name, priority in product(("kswapd", "direct reclaim"), (12, 11, 10, 8, 4))
    }
    pages = ("4 dirty", "2 anonymous dirty", "2 writing marked", "4 writing")
    base = models.stall_setting(*pages, *kinds)
    base |= {"priority": 10, "flags": ["writeback"], "meetings": 2}

    def of_kind(name: str, label: str) -> Any:
        values = {n: {"counts": {name: n}} for n in range(9)}
        return slider(name.replace(" ", "_"), label, values, base["counts"][name])

    def figure(rules: str, metric: str, label: str) -> Figure:
        where = {"rules": rules, "metric": metric}
        return Figure(label=f"{label}, {rules}", where=where, unit="", digits=0)

    writing = ("3.9", "mmotm", "series-8", "6.1")
    sleeping = (*(f"series-{n}" for n in range(3, 9)), "3.11")  # after a list, until a timeout
    after = "sleeps after the list"
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
            of_kind("dirty", "dirty pages of files"),
            of_kind("anonymous dirty", "dirty anonymous pages"),
            of_kind("writing", "under writeback"),
            of_kind("writing marked", "under writeback, marked for reclaim"),
            choice("others", "other pages", others, usual),
            choice("caller", "who reclaims", callers, "kswapd, priority 10"),
        ),
        columns={"meeting": [2], "metric": [cell[0] for cell in _CELLS]},
        chart=_specification(_table_of_rules()),
        figures=(
            *(figure(rules, "written", "pages written") for rules in writing),
            figure("mmotm", "slept", "sleeps in the list"),
            *(figure(rules, "throttle congestion_wait", after) for rules in sleeping),
            figure("6.1", "throttle writeback", after),
            figure("mmotm", "freed_under_writeback", "pages freed under writeback"),
        ),
        seeds=1,
        seeded="",
    )


def _table_of_rules() -> alt.LayerChart:
    """Draw a row for each rule set, and a column for each name of cells, whose greatest counts."""
    of_stalls = {name: colours.STALLS[name] for name in (_WAIT, _SLEEP)}
    freed = {name: colours.OUTCOMES[name] for name in ("written", "freed", "freed under writeback")}
    colour = {_COUNTED: colours.ERAS["6.1"], _FLAG: colours.STALLS["a flag, no sleep"]}
    colour |= of_stalls | freed
    fields = ["column", "means", "text"]
    names = [*dict.fromkeys(cell[1] for cell in _CELLS)]
    cells = [dict(zip(("metric", *fields), cell, strict=True)) for cell in _CELLS]
    of = alt.LookupData(alt.InlineData(cells), key="metric", fields=fields)
    head = alt.Axis(orient="top", labelAngle=-60, labelLimit=200)
    summed = (
        _rows()
        .transform_lookup("metric", of)
        .transform_filter("isValid(datum.column)")
        .transform_aggregate(most="max(value)", groupby=["rules", *fields])
        .transform_calculate(
            cell="datum.most ? datum.means : ''", words="datum.most ? datum.text || datum.most : ''"
        )
        .encode(
            x=alt.X("column:N", title=None, sort=names, axis=head),
            y=alt.Y("rules:N", title=None, sort=None),
            tooltip=["rules:N", "column:N", alt.Tooltip("most:Q", title="value")],
        )
    )
    scale = alt.Scale(domain=[*colour, ""], range=[*colour.values(), colours.FAINT])
    key = alt.Legend(orient="bottom", columns=2, values=[*colour])
    boxes = summed.mark_rect(stroke="white", strokeOpacity=0.4).encode(
        color=alt.Color("cell:N", title=None, scale=scale, legend=key)
    )
    on_dark = f"indexof({[_SLEEP, *freed]}, datum.cell) >= 0"
    words = summed.mark_text(fontSize=11).encode(
        text="words:N", color=alt.condition(on_dark, alt.value("white"), alt.value("black"))
    )
    return alt.layer(boxes, words).properties(width=28 * len(names), height=alt.Step(20))


# Patch D's rules: where CPUs get slots, and whether they meet (notebooks 04, 05).

_SMALLER: Final = 16
"""Ratio of the slots of the notebooks' devices, and of ages, to those of the panels."""

_SHIFT: Final = DEVICE.trunk_shift - (_SMALLER.bit_length() - 1)
_DEVICE: Final = replace(
    DEVICE, slots=DEVICE.slots // _SMALLER, trunk_shift=_SHIFT, cluster_size=256
)
_MIB: Final = GIGABYTE_SLOTS // 1024


def trunks() -> Panel:
    """Return the panel of notebook 04's section on the age of V1."""
    metrics = ("trunk.shared", "lock.moved.add", "scanned")
    churn = replace(CHURN, pages=CHURN.pages // _SMALLER)
    most = churn.pages // _DEVICE.possible_cpus
    cpus = {
        n: {"possible_cpus": n, "pages": max(churn.pages, most * n)}
        for n in (1, 2, 4, 8, 16, 32, 64)
    }
    ages = {2**n: {"warm_up_pages": 2**n // _SMALLER} for n in range(14, 20)}
    sizes = {
        n: f"{(1 << n) // _MIB} MiB, {_DEVICE.slots >> n} trunks" for n in (*range(9, 14), _SHIFT)
    }
    of_sizes = {sizes[n]: {"trunk_shift": n} for n in range(9, 14)}
    fills = {n: {"used_share": n / 100} for n in (30, 40, 48, 60, 70, 80, 90)}
    age = f"age: pages swapped out, times {_SMALLER}"
    return Panel(
        name="trunks",
        question="Do CPUs meet in a trunk?",
        notebook="04-percpu-cluster-next",
        limits=f"Counts, no time. The device is a {_SMALLER}th of notebook 04's in each trunk, "
        "with as many trunks, so pages are multiplied by that. The picture is of one seed; the "
        "figures are medians of five, of the last pages alone. Seeds differ by a factor of ten, "
        "so the notebook's means of twenty are greater.",
        model="slots",
        base=models.slots_setting(_DEVICE, churn, frames=36, metrics=metrics),
        controls=(
            choice("policy", "policy", POLICIES, cluster_next.MERGED, "policy"),
            slider("cpus", "CPUs", cpus, _DEVICE.possible_cpus),
            slider("trunk", "size of a trunk", of_sizes, sizes[_SHIFT]),
            slider("fill", "slots in use, %", fills, round(100 * churn.used_share)),
            slider("age", age, ages, 2**18, released=True),
        ),
        columns={"metric": ["slot", "shared", *metrics]},
        chart=_specification(_slots_of_cpus()),
        figures=tuple(
            Figure(label=label, where={"metric": metric}, ranged=True, **how)
            for metric, label, how in (
                (metrics[0], "slots in the trunk of another CPU's last slot", {"scale": 100.0}),
                (metrics[1], "additions with a cache-line transfer of the lock", {"scale": 100.0}),
                (metrics[2], "slots tested for one that is handed out", {"unit": "", "digits": 2}),
            )
        ),
    )


def _slots_of_cpus() -> alt.VConcatChart:
    """Draw each CPU's slots over the device, above the share of them that meets another CPU."""
    first = (
        _rows()
        .transform_filter("datum.seed === 1")
        .transform_calculate(since=f"{_SMALLER} * datum.pages")
    )
    since = f"pages swapped out since the fill, times {_SMALLER}"
    x = alt.X("since:Q", title=since, axis=alt.Axis(format=",d"))
    cpus = colours.CPUS
    names = {str(cpu): colour for cpu, colour in enumerate(cpus)}
    on_device = alt.Scale(domain=[0, _DEVICE.slots // _MIB])
    share = alt.Scale(domain=[0, 100])
    place = (
        first.transform_filter("datum.metric === 'slot'")
        .transform_calculate(
            cpu=f"'' + datum.task % {len(cpus)}",
            place=f"isValid(datum.value) ? datum.value / {_MIB} : null",
        )
        .mark_square(size=13, opacity=0.9, invalid="break-paths-show-domains")
        .encode(
            x=x.title(None),
            y=alt.Y("place:Q", title="place on the device, MiB", scale=on_device),
            color=_by_name("cpu", names).title(f"CPU, modulo {len(cpus)}"),
            tooltip=[
                alt.Tooltip("task:Q", title="CPU"),
                alt.Tooltip("place:Q", title="MiB", format=".1f"),
                alt.Tooltip("since:Q", title="pages", format=",d"),
            ],
        )
        .properties(width=_WIDTH, height=260)
    )
    shared = (
        first.transform_filter("datum.metric === 'shared'")
        .transform_calculate(percent="isValid(datum.value) ? 100 * datum.value : null")
        .mark_line(interpolate="step-before", invalid="break-paths-show-domains")
        .encode(x=x, y=alt.Y("percent:Q", title="in another's trunk, %", scale=share))
        .properties(width=_WIDTH, height=90)
    )
    both: alt.VConcatChart = (place & shared).resolve_scale(x="shared")
    return both


# Patch D's rates: what a rule is worth, and for how long (notebooks 04 and 05).

_TRUNK_SHIFT: Final = 11
"""Log2 of the slots of a trunk: several times what all CPUs cache, so that with one place all of
them are in the same trunk, as in the mails."""

_POLICIES: Final = (*cluster_next.POSTED, "avoid")
_MACHINE: Final = replace(
    cluster_next.machine("V3", gigabytes=cluster_next.DEVICE_GIGABYTES),
    nodes=1,
    devices=1,
    walkers=8,
    pages=1,
    inactive_ratio=1,
    slots=aged_device(policy="shared").slots // _SMALLER,
    trunk_shift=_TRUNK_SHIFT,
    cluster_size=256,
    warmup_ns=0,
    duration_ns=1_500_000,
)


def bases() -> Panel:
    """Return the panel of the mails' test and of notebook 05's aged device."""

    def memory(walkers: int, fill: int) -> dict[str, int]:
        """Return the least memory, so that it is full early, and pages that fill the device."""
        frames = 2 * FRAMES_KEPT * (walkers + 1)
        # Of the slots that a CPU keeps, half are in use on average.
        used = _MACHINE.slots * fill // 100 - SLOTS_KEPT // 2 * (walkers + 1)
        return {"walkers": walkers, "frames": frames, "pages": (used + frames) // walkers}

    half, above = 48, 70
    walkers, fills = (4, 8, 12, 16), (30, half, 55, 60, above, 80)
    both = {f"{n}|{fill}": memory(n, fill) for n, fill in product(walkers, fills)}
    ages = {
        ms: {"warmup_ns": ms * 1_000_000 // _SMALLER}
        for ms in (80, *cluster_next.RACE_AGES_MS[1:3], 300, 400, 600, 800)
    }
    age = f"age: ms since the fill, times {_SMALLER}"
    rate: dict[str, Any] = {"unit": "thousand pages/s", "digits": 1, "scale": 0.25e-3}
    shared = {"policy": _POLICIES[0]}
    return Panel(
        name="bases",
        question="What is a cluster_next for each CPU worth, and for how long?",
        notebook="04-percpu-cluster-next",
        limits=f"{_MACHINE.duration_ns / 1e6:g} ms of a node of the mails' machine with little "
        "memory, and costs that are fitted to V3's base column alone; V1's mail had another base. "
        f"The device of {_MACHINE.slots >> _TRUNK_SHIFT} trunks is a {_SMALLER}th of notebook "
        f"05's, so ages are multiplied by {_SMALLER}. Above half full si->lock is taken too often. "
        "Its memory, trunks and first age were chosen in sight of the gain.",
        model="machine",
        base=models.machine_setting(replace(_MACHINE, costs=preset("D-V3").costs)),
        cases=tuple(({"policy": name}, {"policy": name}) for name in _POLICIES),
        controls=(
            slider("walkers", "tasks of one node (mails: 8)", walkers, _MACHINE.walkers),
            slider("fill", "slots in use, %", fills, half),
            slider("age", age, ages, next(iter(ages)), released=True),
        ),
        together=((("walkers", "fill"), both),),
        columns={"metric": [_OUT, "wait.walker"]},
        chart=_specification(_rates_and_waits()),
        figures=(
            *(
                Figure(
                    label=f"{name} against shared",
                    where={"metric": _OUT, "policy": name},
                    base=shared,
                    ranged=True,
                )
                for name in _POLICIES[1:]
            ),
            Figure(label="rate of shared", where={"metric": _OUT, **shared}, ranged=True, **rate),
        ),
    )


def _rates_and_waits() -> alt.VConcatChart:
    """Draw pages a second with the published gains over the shared place, above the waits."""
    published = []
    for policy, name in (("percpu", "score"), (cluster_next.MERGED, "score, V3")):
        gained = table("D", name).filter(metric="swapout throughput")["ratio"].item()
        change = round(100 * (gained - 1), 1)
        words = f"published: {change:+.1f} %"
        published.append({"policy": policy, "change": change, "words": words})
    out = _rows(metric=_OUT).transform_calculate(shown="datum.value / 4")
    gains = (
        out.transform_filter(f"datum.policy === {_POLICIES[0]!r}")
        .transform_aggregate(base="median(shown)")
        .transform_calculate(each=json.dumps(published))
        .transform_flatten(["each"])
        .transform_calculate(
            policy="datum.each.policy",
            words="datum.each.words",
            at="datum.base * (1 + datum.each.change / 100)",
        )
        .encode(x="at:Q", y=alt.Y("policy:N", sort=[*_POLICIES]))
    )
    mark = gains.mark_tick(color=colours.PUBLISHED, thickness=3, size=22).encode(
        tooltip=alt.Tooltip("words:N", title="against shared")
    )
    waits = _rows(metric="wait.walker").transform_calculate(shown="datum.value")
    rates = _bands(out, "pages out a second (red: published gain)") + mark
    shown = _bands(waits, "time of tasks in waits for locks, %")
    both: alt.VConcatChart = rates.properties(width=_WIDTH, height=alt.Step(30)) & shown.properties(
        width=_WIDTH, height=alt.Step(22)
    )
    return both


def _bands(rows: alt.Chart, title: str) -> alt.LayerChart:
    """Draw a figure of each policy: its median, least and greatest over the seeds."""
    scale = alt.Scale(domain=[*_POLICIES], range=[colours.POLICIES[policy] for policy in _POLICIES])
    base = _over_seeds(rows, "shown", "policy").encode(
        y=alt.Y("policy:N", title=None, sort=[*_POLICIES]),
        color=alt.Color("policy:N", scale=scale, legend=None),
    )
    bar = base.mark_bar(height=12, opacity=0.35).encode(
        x=alt.X("low:Q", title=title, scale=alt.Scale(zero=True)), x2="high:Q"
    )
    tips = (alt.Tooltip(f"{name}:Q", format=",.0f") for name in _RANGE)
    dot = base.mark_point(filled=True, size=90, opacity=1).encode(
        x="middle:Q", tooltip=["policy:N", *tips]
    )
    both: alt.LayerChart = bar + dot
    return both


# MGLRU: from which type reclaim takes pages first (notebook 08).

FIRST: Final = {"anon": 17, "file": 18, "upper": 20, "swappiness": 100}
"""A second of a recording of 6.12 in which 7.3 would choose the other type, rounded."""

_MOST: Final = 50  # percent of pages that come back


def mglru() -> Panel:
    """Return the panel of notebook 08."""
    evicted = (100, 200, 500, 1000, 2000, models.MGLRU["evicted"])
    least = models.MGLRU["few_refaults"]
    few = "file pages are taken while fewer came back than"
    swappiness = (0, 1, 10, 20, 30, 40, 60, 80, 100, 120, 140, 160, 180, 199, 200, 201)
    left = {
        f"of {words}": {"anon_generations": anon, "file_generations": file}
        for words, anon, file in (
            ("both types equally old", 3, 3),
            ("anonymous pages older", 4, 3),
            ("file pages older", 3, 4),
        )
    }
    callers = {"may start IO": {"io": True}, "may start no IO": {"io": False}}
    return Panel(
        name="mglru",
        question="Does reclaim take anonymous pages or file pages first?",
        notebook="08-mglru",
        limits="One choice, with no page protected: not what the next state becomes. The threshold "
        "of both kernels is 64 file pages, which decides where few pages were evicted. 6.12 "
        "refuses swappiness 201, anonymous pages only: its side is empty there. It is exact: the "
        "rules themselves, without chance.",
        model="mglru",
        base=models.MGLRU,
        controls=(
            *(
                slider(name, label, values, FIRST[name], field)
                for name, field, label, values in (
                    ("anon", "anon_percent", "anonymous pages that come back, %", range(_MOST + 1)),
                    ("file", "file_percent", "file pages that come back, %", range(_MOST + 1)),
                    (
                        "upper",
                        "upper_percent",
                        "of these, read more than once, %",
                        range(0, 101, 10),
                    ),
                    ("swappiness", "swappiness", "swappiness", swappiness),
                )
            ),
            slider("evicted", "evicted pages of each type", evicted, evicted[-1], "evicted"),
            slider("few", few, (0, 16, 32, least, 128, 256), least, "few_refaults"),
            choice("older", "oldest generation", left, next(iter(left))),
            choice("caller", "the caller", callers, next(iter(callers))),
        ),
        chart=_specification(_turns()),
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


def _turns() -> alt.ConcatChart:
    """Draw where the choice between file and anonymous pages turns, a plane for each rule set."""
    title, y = "anonymous pages that come back, %", "file pages that come back, %"
    flat = alt.Scale(domain=[0, _MOST], nice=False)
    across = alt.X("anon_percent:Q", title=title, scale=flat)
    words = {"file": "file pages first", "anon": "anonymous pages first"}
    key = _by_name("first", {words[name]: colours.PAGE_TYPES[name] for name in words})
    planes = []
    for rules in MGLRU_RULES:
        edge = _rows(rules=rules, metric="turn").transform_calculate(
            turn="isValid(datum.value) ? datum.value : 100", most="100", none="0"
        )
        areas = [
            edge.transform_calculate(first=repr(words[name]))
            .mark_area(opacity=0.35, clip=True)
            .encode(x=across, y=alt.Y(f"{low}:Q", title=y, scale=flat), y2=f"{high}:Q", color=key)
            for name, low, high in (("file", "none", "turn"), ("anon", "turn", "most"))
        ]
        tips = [alt.Tooltip("anon_percent:Q", title=title), alt.Tooltip("value:Q", title=y)]
        dot = (
            _rows(rules=rules, metric="file rate")
            .mark_point(filled=True, size=110, color="black", stroke="white", opacity=1)
            .encode(x=across, y=alt.Y("value:Q", scale=flat), tooltip=tips)
        )
        chosen = _rows(rules=rules, metric="takes file").transform_calculate(
            words="!isValid(datum.value) ? 'this kernel refuses this swappiness' : "
            f"'at the dot: ' + (datum.value ? {words['file']!r} : {words['anon']!r})"
        )
        said = chosen.mark_text(align="left", fontSize=13, fontWeight="bold").encode(
            x=alt.value(10), y=alt.value(16), text="words:N"
        )
        layers = alt.layer(*areas, dot, said)
        planes.append(layers.properties(width=240, height=240, title=f"rules of {rules}"))
    return alt.concat(*planes, columns=2)
