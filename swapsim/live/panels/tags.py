# SPDX-License-Identifier: GPL-2.0-or-later
"""The panel of patch A: what tags are worth, and where the wait goes (notebook 01)."""

from itertools import product
from typing import Any, Final

import polars as pl

from swapsim.charts import colours
from swapsim.ffi import FRAMES_KEPT, MACHINE_SITES
from swapsim.live import drawing
from swapsim.live.description import Figure, Panel, choice, slider
from swapsim.live.models import machine_setting
from swapsim.machine.constants import costs_by_name
from swapsim.machine.running import lock_of
from swapsim.patches import what_if
from swapsim.patches.writeback_tags import fits, prediction, studies
from swapsim.published import table

_WRITERS: Final = (1, 2, 4, 8, 16, 32, 64)
_KERNELS: Final = ("4.8", "5.8", "6.1")
_TRUNKS: Final = {
    f"{2 ** (shift - 8)} MB": {"trunk_shift": shift} for shift in what_if.TRUNK_SHIFTS
}
_MEMORY: Final = "as fast as memory"
_DEVICES: Final[dict[str, dict[str, Any]]] = {
    _MEMORY: {"channels": 0},
    **{
        f"drive: {count} pages at a time, {latency} us each": {
            "channels": count,
            "costs": {"channel_ns": 1000 * latency},
        }
        for latency, count in product(what_if.LATENCIES_US, what_if.CHANNELS)
    },
}
_KEPT, _NONE = colours.TAGS
_SWAP_OUT: Final = "swap_out"
_PRINTED_RATE: Final = "vmstat.swap.so"
_RATE: Final[dict[str, Any]] = {"unit": "million KiB/s", "digits": 2, "scale": 1e-6}
_SHARES: Final = studies.THREE_TAG_SHARES
_MAPS: Final = (0.05, 0.1, 0.2, prediction.MAP_SHARE, 0.4, 0.8)
_USUAL: Final = prediction.machine(tags=True)
_WINDOW: Final = {"warmup_ns": 2_000_000, "duration_ns": 5_000_000, "slots": 2**18}


def _frames(writers: int) -> int:
    """Return little memory of a node, so that it is full early in the run."""
    return 4 * FRAMES_KEPT * (-(-writers // _USUAL.nodes) + 1)


def _constants() -> dict[str, dict[str, Any]]:
    """Return the stored fit of each pair of shares at which the base can be met."""
    rows = pl.concat([studies.by_shares.load(), studies.three_fits.load()])
    names = rows.select("policy", "tag_share", "map_share").unique().rows()
    found, usual = fits.of_rows(rows), costs_by_name()
    return {
        f"{tag:g}|{map_:g}": {
            "costs": {
                constant: ns
                for constant, ns in costs_by_name(found[name].constants).items()
                if ns != usual[constant]
            }
        }
        for name, tag, map_ in names
        if tag in studies.THREE_TAG_SHARES
    }


def _parts() -> dict[str, str]:
    """Return the part of a page's time of which each metric is."""
    words = {"wait": "waited for", "hold": "held"}
    found = {
        f"{kind}.{site}": lock_of(f"{kind}.{site}", _USUAL.kernel)
        for site in MACHINE_SITES
        for kind in words
    }
    named = {name: f"{lock}, {words[name[:4]]}" for name, lock in found.items() if lock}
    return {name: part for name, part in named.items() if part in colours.PARTS}


def _printed() -> pl.DataFrame:
    """Return the mail's rates of pages swapped out, and of what the test does."""
    printed = table("A", "lkp comparison")
    return printed.filter(pl.col("metric").is_in([_PRINTED_RATE, "vm-scalability.throughput"]))


def _mean_rates() -> str:
    """Return the rates that the mail prints with tags and without."""
    printed = _printed().filter(metric=_PRINTED_RATE).drop("metric", "unit", "unchanged", "ratio")
    with_tags, without = (rate * _RATE["scale"] for rate in printed.row(0))
    return f"{with_tags:.2f} {_RATE['unit']} with tags and {without:.2f} without"


def panel() -> Panel:
    """Return the panel of notebook 01."""
    parts = _parts()
    writers = {n: {"writers": n, "frames": _frames(n)} for n in _WRITERS}
    with_exit = pl.col("metric").replace(_PRINTED_RATE, f"{_PRINTED_RATE}, exit included")
    published = dict(
        _printed().select(with_exit, (100 * (pl.col("ratio") - 1)).round(1)).iter_rows()
    )
    chart = drawing.change(
        _SWAP_OUT,
        "tags",
        _KEPT,
        _NONE,
        published,
        "pages swapped out without tags, change in % (green: five seeds)",
    ) & drawing.parts(parts, "busy", "tags", "microseconds of CPU time for a page swapped out")
    without = {"metric": _SWAP_OUT, "tags": _NONE}
    return Panel(
        name="tags",
        question="What are tags worth, and where does the wait go?",
        notebook="01-writeback-tags",
        limits="A window of 5 simulated ms, not the mail's run with its exit. Costs are fitted to "
        "its base column alone, again for each pair of shares, and stay for other kernels and "
        "devices. The change is the median of the changes of five seeds. The mail's mean over a "
        f"run is {_mean_rates()}.",
        model="machine",
        base=machine_setting(_USUAL) | _WINDOW,
        cases=tuple(({"tags": name}, {"tags": name == _KEPT}) for name in colours.TAGS),
        controls=(
            slider("writers", "tasks that write", writers, _USUAL.writers),
            slider("tag_share", "hold for tags : hold for add", _SHARES, prediction.TAG_SHARE),
            slider("map_share", "map byte : hold for add", _MAPS, prediction.MAP_SHARE),
            slider("trunk", "size of a trunk (from 5.8 on)", _TRUNKS, "64 MB"),
            choice("kernel", "kernel", _KERNELS, _USUAL.kernel, "kernel"),
            choice("device", "device", _DEVICES, _MEMORY),
        ),
        together=((("tag_share", "map_share"), _constants()),),
        columns={"metric": [_SWAP_OUT, "busy", *parts]},
        chart=drawing.specification(chart),
        figures=(
            Figure(label="without tags", where=without, base={"tags": _KEPT}, paired=True),
            Figure(label="rate with tags", where={**without, "tags": _KEPT}, **_RATE),
            Figure(label="rate without tags", where=without, **_RATE),
        ),
    )
