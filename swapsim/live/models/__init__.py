# SPDX-License-Identifier: GPL-2.0-or-later
"""The models of the live panels: NAME.js runs in a page, here are the same rows natively.

A setting is a dictionary of values that JSON can hold, with the names of the model's config. Seeds
above 2**53 are text, because JSON rounds numbers in JavaScript.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from itertools import product
from typing import Any, Final

import polars as pl

from swapsim import slots
from swapsim._core import ffi, lib
from swapsim.ffi import MGLRU_RULES, STALL_FLAGS, STALL_RULES, STALL_SLEEPS, check
from swapsim.machine import Machine, anchors
from swapsim.machine._native import TRAVELS, closed_loop_ns
from swapsim.machine.constants import costs, costs_by_name
from swapsim.machine.running import run_rows
from swapsim.mglru._native import chooses_file
from swapsim.slots._native import Bench
from swapsim.slots.metrics import QUOTIENTS
from swapsim.slots.workbench import measure
from swapsim.stall import decide

Setting = Mapping[str, Any]


def locks_setting() -> dict[str, Any]:
    """Return the closed loop of the anchors as a setting."""
    return {
        "kinds": [*anchors.FAIR],
        "placements": [*anchors.PLACEMENTS],
        "threads": [*anchors.THREADS],
        "seeds": [1],
        "travels": {name: ns for name, ns in costs_by_name().items() if name in TRAVELS},
        "think_ns": anchors.THINK_NS,
        "hold_ns": anchors.HOLD_NS,
        "acquisitions": anchors.ACQUISITIONS,
    }


def locks(setting: Setting) -> pl.DataFrame:
    """Return acquisitions a microsecond: ``kind, placement, threads, seed, value``."""
    how = {each: setting[each] for each in ("travels", "think_ns", "hold_ns", "acquisitions")}
    rows = []
    names = ("kinds", "placements", "threads", "seeds")
    for kind, placement, threads, seed in product(*(setting[name] for name in names)):
        near = {"one socket": threads, "mixed": -(-threads // 2), "all remote": 1}[placement]
        ns = closed_loop_ns(kind, cpus=threads, cpus_per_socket=near, seed=int(seed), **how)
        rows.append((kind, placement, threads, seed, 1000 / ns))
    return pl.DataFrame(rows, ["kind", "placement", "threads", "seed", "value"], orient="row")


def machine_setting(config: Machine, constants: pl.DataFrame | None = None) -> dict[str, Any]:
    """Return a machine and its costs (default: its own) as a setting."""
    chosen = [field for field in fields(config) if field.init]
    names = [field.name for field in chosen if field.name not in ("patch", "streams")]
    values = {name: getattr(config, name) for name in names}
    return values | {
        "seed": str(config.seed),
        "costs": costs_by_name(costs(config) if constants is None else constants),
    }


def machine(setting: Setting) -> pl.DataFrame:
    """Return the metrics of `machine.run` that panels draw: ``metric, value``."""
    config = Machine(**{**setting, "seed": int(setting["seed"])})
    rows = run_rows(config).select("metric", "value")
    return rows.filter(pl.col("metric").str.contains(r"^(swap_out|busy|(wait|hold|run|idle)\..*)$"))


MGLRU: Final[dict[str, Any]] = {
    "rules": [*MGLRU_RULES],
    "anon_percent": 4,
    "file_percent": 12,
    "upper_percent": 0,
    "swappiness": 60,
    "anon_generations": 3,
    "file_generations": 3,
    "io": True,
    "evicted": 10_000,
    "few_refaults": 64,
    "anon_percents": [*range(0, 51, 2)],
    "most_swappiness": {"6.12": 200, "7.3": 201},
}
"""Both refault rates, and what else decides: ``upper_percent`` is the part of refaulted file pages
that are not of the first tier, ``evicted`` the evicted pages of each type, a multiple of 100, and
``few_refaults`` the number of refaulted file pages below which file pages are taken. Rules
whose kernel refuses a swappiness, above ``most_swappiness``, then have one row without a value."""


def _takes_file(setting: Setting, rules: str, anon: int, file: int) -> bool:
    upper = file * setting["upper_percent"] // 100
    newest = max(setting["anon_generations"], setting["file_generations"])
    evicted = [setting["evicted"], 0, 0, 0]
    sides = [
        {"refaulted": [anon, 0, 0, 0], "evicted": evicted},
        {"refaulted": [file - upper, upper, 0, 0], "evicted": evicted},
    ]
    state = {
        "sides": sides,
        "max_seq": newest,
        "min_seq": [newest + 1 - setting[f"{each}_generations"] for each in ("anon", "file")],
        **{name: setting[name] for name in ("swappiness", "io")},
    }
    return chooses_file(rules, state, {"few_refaults": setting["few_refaults"]})


def _turn(setting: Setting, rules: str, anon: int) -> float | None:
    """Return the least file rate at which file pages are not taken, in percent; None for none."""
    low, high = -1, setting["evicted"]
    percent = high // 100
    if _takes_file(setting, rules, anon * percent, high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        takes = _takes_file(setting, rules, anon * percent, middle)
        low, high = (middle, high) if takes else (low, middle)
    return float(high / percent)


def mglru(setting: Setting) -> pl.DataFrame:
    """Return what is taken first, and where it turns: ``rules, metric, anon_percent, value``."""
    found: list[tuple[str, str, int, float | None]] = []
    x, y, percent = setting["anon_percent"], setting["file_percent"], setting["evicted"] // 100
    for rules in setting["rules"]:
        if setting["swappiness"] > setting["most_swappiness"][rules]:
            found.append((rules, "takes file", x, None))
            continue
        found += [(rules, "turn", at, _turn(setting, rules, at)) for at in setting["anon_percents"]]
        at = _turn(setting, rules, x)
        found += [
            (rules, "turn at the setting", x, at),
            (rules, "file rate", x, y),
            (rules, "margin", x, None if at is None else at - y),
            (rules, "takes file", x, int(_takes_file(setting, rules, x * percent, y * percent))),
        ]
    names = {"rules": pl.String, "metric": pl.String, "anon_percent": pl.Int64, "value": pl.Float64}
    return pl.DataFrame(found, names, orient="row")


def slots_setting(
    device: slots.Device,
    churn: slots.Churn,
    *,
    frames: int = 100,
    metrics: Sequence[str] = tuple(QUOTIENTS),
) -> dict[str, Any]:
    """Return a device and its churn as a setting, with about so many frames, and metrics."""
    parts = {name: QUOTIENTS[name] for name in metrics}
    return {
        **{name: value for name, value in asdict(device).items() if name != "address_spaces"},
        **asdict(churn),
        "seed": str(device.seed),
        "frames": frames,
        "metrics": {name: {"over": [*of.over], "under": [*of.under]} for name, of in parts.items()},
    }


def slots_configs(setting: Setting) -> tuple[slots.Device, slots.Churn]:
    """Return the device and the churn of a setting."""
    given = {**setting, "seed": int(setting["seed"])}
    device, churn = (
        {field.name: given[field.name] for field in fields(config) if field.name in given}
        for config in (slots.Device, slots.Churn)
    )
    return slots.Device(**device), slots.Churn(**churn)


def slots_rows(setting: Setting) -> pl.DataFrame:
    """Return ``metric, pages, task, value``: each frame's ``slot`` of tasks and ``shared``.

    ``pages`` are those swapped out before; the last rows are metrics of `slots.run`.
    """
    made = slots_configs(setting)
    names = {"metric": pl.String, "pages": pl.Int64, "task": pl.Int64, "value": pl.Float64}
    frames = pl.DataFrame(churn_frames(*made, setting["frames"]), names)
    found = measure(*made)
    at_end = pl.DataFrame(
        {"metric": [*setting["metrics"]], "value": [found[name] for name in setting["metrics"]]},
        {"metric": pl.String, "value": pl.Float64},
    )
    pages = pl.lit(frames["pages"][-1], pl.Int64).alias("pages")
    task = pl.lit(None, pl.Int64).alias("task")
    return pl.concat([frames, at_end.select("metric", pages, task, "value")])


_STEP_EFFORT: Final = 256
"""The least effort of a task in a round, of which a page out takes two: WORKBENCH_STEP_EFFORT."""


def churn_frames(device: slots.Device, churn: slots.Churn, frames: int) -> list[dict[str, Any]]:
    """Run a churn as `slots.run`; return each task's last slot and what is shared, by frame."""
    n_tasks = device.online if churn.tasks is None else churn.tasks
    spaces = -(-n_tasks // churn.threads_per_address_space)
    bench = Bench(device, churn, n_tasks=n_tasks)
    bench.fragment(churn)
    effort = math.ceil(2 * (churn.pages + churn.warm_up_pages) * _STEP_EFFORT / frames)
    rows, base = [], 0
    measures, over = ffi.new("struct sws_workbench_measures *"), ffi.new("bool *")
    for pages in (churn.warm_up_pages, churn.pages):
        lib.sws_workbench_begin_measures(bench.handle)
        check(lib.sws_workbench_churn(bench.handle, 2 * -(-pages // n_tasks)))
        before, over[0] = (0, 0), False
        while not over[0]:
            check(lib.sws_workbench_run(bench.handle, effort, over))
            lib.sws_workbench_measures(bench.handle, measures)
            now = measures.pages_out, measures.pages_met
            out, met = (new - old for new, old in zip(now, before, strict=True))
            slot_of = (lib.sws_workbench_last_slot(bench.handle, task) for task in range(spaces))
            found: list[tuple[str, int | None, Any]]
            found = [("slot", task, slot) for task, slot in enumerate(slot_of)]
            found.append(("shared", None, met / out if out else None))
            rows += [
                {"pages": base + now[0], "metric": metric, "task": task, "value": value}
                for metric, task, value in found
            ]
            before = now
        base += before[0]
    return rows


_PAGE: Final[dict[str, Any]] = {
    "file": True, "dirty": False, "writeback": False, "reclaim": False, "congested": False,
    "buffers": None, "fs_dirty": None, "fs_writeback": None, "pages": 1, "still": False,
    "arrives": True, "dirty_late": False, "kept": False, "locked": False,
}  # fmt: skip

WORDS: Final[dict[str, dict[str, bool]]] = {
    "clean": {},
    "dirty": {"dirty": True, "dirty_late": True},
    "writing": {"writeback": True, "still": True},
    "finishing": {"writeback": True},
    "marked": {"reclaim": True},
    "anonymous": {"file": False},
    "congested": {"congested": True},
    "used": {"arrives": False},
    "locked": {"locked": True},
    "clean-buffers": {"buffers": True, "fs_dirty": False, "fs_writeback": False},
    "locked-buffers": {"buffers": True, "fs_dirty": False, "fs_writeback": True},
    "unstable": {"buffers": False, "fs_dirty": True, "fs_writeback": False, "arrives": False},
    "committing": {"buffers": False, "fs_dirty": False, "fs_writeback": True, "arrives": False},
}
"""Words for a page of `stall.decide`, which may be combined. ``writing`` and ``finishing`` are
under writeback; the write of the latter ends while kswapd sleeps. ``used``: it was referenced.
``locked``: by another task. The last four are answers of the file system."""


def stall_setting(*kinds: str) -> dict[str, Any]:
    """Return a list of pages in words, as "4 dirty", and its context as a setting."""
    counts: dict[str, int] = {}
    for kind in kinds:
        number, words = kind.split(maxsplit=1)
        counts[words] = counts.get(words, 0) + int(number)
    pages = {words: {"page": words, **_PAGE} for words in counts}
    for words, page in pages.items():
        for word in words.split():
            page |= WORDS[word]
    context = {"priority": 12, "kswapd": True, "flags": [], "meetings": 1}
    return {"counts": counts, "kinds": pages, "rules": [*STALL_RULES], **context}


_COUNTS: Final = (
    *("dirty", "unqueued_dirty", "congested", "writeback", "immediate", "taken", "file_taken"),
    *("slept", "written", "freed", "freed_under_writeback"),
)


def stall(setting: Setting) -> pl.DataFrame:
    """Return ``meeting, rules, metric, value`` of a list's end (`stall.decide`): a flag is 1 or 0.

    A list is met several times, each time with the flags that the time before left.
    """
    counts, kinds = setting["counts"], setting["kinds"]
    each = [kinds[words] for words, count in counts.items() for _ in range(count)]
    pages = pl.DataFrame(each, infer_schema_length=None)
    scanned = pages.filter(~pl.col("locked")).drop("page", "locked")
    context = {name: setting[name] for name in ("priority", "kswapd")}
    context["unseen"] = pages.height - scanned.height
    rows = []
    for rules in setting["rules"]:
        flags = setting["flags"]
        for meeting in range(1, setting["meetings"] + 1):
            (end,) = decide(scanned, rules, flags=flags, **context).to_dicts()
            flags, found = end["flags_after"], {name: end[name] for name in _COUNTS}
            found |= {f"flag {name}": name in end["flags_set"] for name in STALL_FLAGS}
            found |= {f"throttle {name}": name in end["sleeps"] for name in STALL_SLEEPS}
            rows += [(meeting, rules, metric, int(value)) for metric, value in found.items()]
    return pl.DataFrame(rows, schema=["meeting", "rules", "metric", "value"], orient="row")


MODELS: Final[dict[str, Callable[[Setting], pl.DataFrame]]] = {
    "mglru": mglru,
    "locks": locks,
    "machine": machine,
    "slots": slots_rows,
    "stall": stall,
}
