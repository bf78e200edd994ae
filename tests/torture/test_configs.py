# SPDX-License-Identifier: GPL-2.0-or-later
"""Configs and costs with any numbers: they are refused, or their run ends."""

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

import attack
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapsim.ffi import REMOVAL_MODES, STALL_COUNTERS, STALL_RULES
from swapsim.machine.config import Machine
from swapsim.machine.constants import change_costs, costs
from swapsim.machine.running import run_rows as run_machine
from swapsim.mapping import MappingConfig
from swapsim.reclaim import ReclaimConfig, change_constants, constants, run_config
from swapsim.removal import PAGES, remove_lists
from swapsim.slots.config import Churn, Device, Fill
from swapsim.slots.workbench import measure
from swapsim.stall._native import StallContext, decide_counts

Small = dict[str, Any]

RECLAIM: Small = {
    "dma32_pages": 300,
    "normal_pages": 400,
    "min_free_pages": 24,
    "reserve_ratio": 64,
    "swap_pages": 600,
    "disk_pages": 5000,
    "items": 110,
    "serve_ns": 10**8,
    "files": (1000,),
}
MACHINE: Small = {
    "walkers": 2,
    "frames": 4096,
    "pages": 3000,
    "slots": 2**14,
    "trunk_shift": 10,
    "warmup_ns": 10**5,
    "duration_ns": 10**6,
}
SLOTS: Small = {"slots": 2**14, "trunk_shift": 10, "possible_cpus": 4, "address_spaces": 4}
CHURN: Small = {"pages": 200, "warm_up_pages": 200}
LIST = pl.DataFrame(
    [
        {
            "list": number // 40,
            "swap": number % 3 == 0,
            "mapping": number % 5,
            "index": 65 * number + 1,
            "references": 1 + number % 2,
            "locked": True,
            "dirty": number % 7 == 0,
            "freepage": False,
            "lazyfree": False,
        }
        for number in range(120)
    ],
    schema=PAGES,
)


def churn(config: Device) -> object:
    """Fill a device and churn on it."""
    return measure(config, Churn(**CHURN))


def drive(workload: Churn | Fill) -> object:
    """Drive a small device."""
    return measure(Device(**SLOTS), workload)


def remove(config: MappingConfig) -> object:
    """Remove pages of files and of the device, in each mode."""
    return [remove_lists(LIST, config, mode) for mode in REMOVAL_MODES]


def simulate(config: ReclaimConfig, constants: pl.DataFrame | None = None) -> object:
    """Run the reclaim simulator and make each of its reports."""
    return run_config(config, constants).rows


def decide(context: StallContext) -> object:
    """Decide at the end of a list of dirty pages."""
    counts = {"taken": 32, "file_taken": 32, "dirty": 31, "unqueued_dirty": 30}
    return decide_counts(context, counts)


RUNS: dict[str, tuple[type, Small, Callable[..., object]]] = {
    "machine": (Machine, MACHINE, run_machine),
    "reclaim": (ReclaimConfig, RECLAIM, simulate),
    "slots": (Device, SLOTS, churn),
    "churn": (Churn, CHURN, drive),
    "fill": (Fill, {}, drive),
    "mapping": (MappingConfig, {}, remove),
    "stall": (StallContext, {}, decide),
}

LONGEST = 2**22
"""Largest number of a run: it decides how long the run takes. Larger ones may only be refused."""


@pytest.mark.parametrize("name", RUNS)
def test_configs(name: str, seeds: Iterator[int]) -> None:
    """A few fields at the edges of integers, or of another type."""
    kind, small, run = RUNS[name]
    names = [field.name for field in fields(kind)]
    odd = st.one_of(
        st.sampled_from(attack.EDGES),
        st.integers(-2, 200),
        st.booleans(),
        st.sampled_from([None, "", "6.1", "3.9", "shared", 0.5, float("nan"), (), (0, 2**40)]),
    )

    @given(st.dictionaries(st.sampled_from(names), odd, max_size=4))
    def build(changes: Small) -> None:
        with attack.done_or_refused():
            config = kind(**small | changes)
            if all(value < LONGEST for value in changes.values() if isinstance(value, int)):
                run(config)

    attack.for_a_while(build, seeds)


@pytest.mark.parametrize("name", ["machine", "reclaim"])
def test_costs(name: str, seeds: Iterator[int]) -> None:
    """Costs at the edges of the ranges of their table, and outside of them."""
    kind, small, run = RUNS[name]
    known, change = {
        "machine": (costs(), change_costs),
        "reclaim": (constants(), change_constants),
    }[name]
    names = st.sampled_from(known["name"].to_list())

    @given(st.dictionaries(names, st.sampled_from(attack.EDGES), max_size=4))
    def price(changes: dict[str, int]) -> None:
        with attack.done_or_refused():
            run(kind(**small), change(known, changes))

    attack.for_a_while(price, seeds)


def test_counters(seeds: Iterator[int]) -> None:
    """Counters of a list or of a pass that no kernel has counted."""
    numbers = st.one_of(st.integers(0, 33), st.sampled_from(attack.EDGES))

    @given(
        st.sampled_from(STALL_RULES),
        st.dictionaries(st.sampled_from([*STALL_COUNTERS, "file_taken"]), numbers),
        st.sampled_from(["list", "pass"]),
        st.booleans(),
    )
    def count(rules: str, counts: dict[str, int], place: str, kswapd: bool) -> None:
        context = StallContext(rules=rules, kswapd=kswapd)
        with attack.done_or_refused():
            decide_counts(context, counts, place)

    attack.for_a_while(count, seeds)
