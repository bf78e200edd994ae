# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording of requests, served by the rules of its own kernel, gives what was recorded."""

from types import SimpleNamespace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle_cluster_folios import Memory
from oracle_clusters import RULES, Allocator, DeviceConfig

from swapsim.claims.tables import FOLIO_STREAM
from swapsim.clusters import folios, requests
from swapsim.ffi import FOLIO_STEPS

SLOTS, CPUS, ORDER, WINDOWS = 1024, 2, 4, 72
SWAP_IN = 1 << ORDER


class Recorded(Memory):
    """Memory whose requests and frees are recorded by probes as on a real kernel."""

    def __init__(self, rules: str) -> None:
        """Start with nothing recorded."""
        allocator = Allocator(RULES[rules], [DeviceConfig(SLOTS)])
        super().__init__(allocator, CPUS, 1 << 20, SWAP_IN, return_cache=True)
        self.rows: dict[str, list[tuple[int, ...]]] = {
            name: [] for name in ("folio_out", "folio_granted", "slot_return", "slot_free")
        }
        self.seq = 0
        self.cpu = 0
        free_slots = self.allocator.free_slots

        def recorded(device: int, slot: int, n: int) -> None:
            self.event("slot_free", slot, n)
            free_slots(device, slot, n)

        self.allocator.free_slots = recorded

    def event(self, name: str, *fields: int) -> None:
        """Record one event of the task of the CPU."""
        self.seq += 1
        self.rows[name].append((self.seq, self.cpu, 100 + self.cpu, *fields))

    def _give_back(self, cpu: int, slot: int) -> None:
        self.event("slot_return", slot)
        super()._give_back(cpu, slot)

    def reclaim(self, page: int) -> None:
        """Swap the folio of a resident page out, as reclaim does."""
        folio = self.folios[0, page]
        order = len(folio).bit_length() - 1
        split = self.counts["fallbacks", order]
        self.event("folio_out", folio[0], order)
        super().out(0, self.cpu, folio)
        parts = [folio]
        if order and self.counts["fallbacks", order] > split:
            parts = [range(each, each + 1) for each in folio]
        for part in parts:
            if part is not folio:
                self.event("folio_out", part[0], 0)
            if (0, part[0]) in self.slots:
                self.event("folio_granted", self.slots[0, part[0]])

    def frames(self) -> dict[str, pl.DataFrame]:
        """Return the events as the rig imports them."""
        columns = ["seq", "cpu", "pid"]
        out = pl.DataFrame(
            self.rows["folio_out"], schema=[*columns, "index", "order"], orient="row"
        ).with_columns(
            mapping=pl.lit(0x1001),
            folio="index",
            flags=pl.when(pl.col("order") > 0).then(0x40).otherwise(0),
            size=pl.lit(0xFF00) + pl.col("order"),
        )
        fields = {
            "folio_granted": ["entry"],
            "slot_return": ["entry"],
            "slot_free": ["entry", "nr"],
        }
        return {"folio_out": out} | {
            name: pl.DataFrame(
                self.rows[name], schema=dict.fromkeys([*columns, *more], pl.Int64), orient="row"
            )
            for name, more in fields.items()
        }


@pytest.mark.parametrize("rules", ["6.12", "7.3"])
@given(steps=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2**16)), max_size=400))
def test_own_rules_give_what_was_recorded(
    rules: str, rig: SimpleNamespace, steps: list[tuple[int, int]]
) -> None:
    """Folios swapped out whole and split are the same, of each size."""
    memory = Recorded(rules)
    # Most of the device is in use from the start, and a slot of each window is free again.
    begin = [step for number in range(0, 2 * 56, 2) for step in ((0, number), (4, number))]
    begin += [(3, 2 * number + 2 * 72 * 5) for number in range(56)]
    for what, number in [*begin, *steps]:
        memory.cpu = number % CPUS
        window = number // CPUS % WINDOWS * (1 << ORDER)
        page = window + number % 16
        if what < 3:
            memory.access(0, memory.cpu, ORDER, range(window, window + (1 << ORDER)))
        elif what == 3:
            memory.access(0, memory.cpu, 0, range(page, page + 1))
        elif what < 8:
            for each in range(window, window + (1 << ORDER)):
                if (0, each) in memory.folios:
                    memory.reclaim(each)
        elif what == 8 and (0, page) in memory.folios:
            memory.reclaim(page)
        elif what == 9:
            memory.drop(0, memory.cpu, range(window, window + (1 << ORDER)))
    if not memory.rows["folio_out"]:
        return
    frame = stream(rig.folio_requests.steps(memory.frames()))
    served = requests.recorded(frame, name="made", slots=SLOTS)
    if frame.filter(pl.col("step") != "out").is_empty():
        return
    run = folios.run(served, rules)
    found = {
        (what, order): count
        for what in ("swapped_out", "fallbacks")
        for order, count in run.out.group_by("order").agg(pl.col(what).sum()).iter_rows()
        if count
    }
    kinds = ("swapped_out", "fallbacks")
    assert found == {key: n for key, n in memory.counts.items() if n and key[0] in kinds}


def stream(rows: list[tuple[int, ...]]) -> pl.DataFrame:
    """Return the rows of a recording as FOLIO_STREAM."""
    words = [(cpu, FOLIO_STEPS[step], *rest) for cpu, step, *rest in rows]
    frame = pl.DataFrame(words, schema=["cpu", "step", "order", "page", "n"], orient="row")
    named = frame.with_columns(kernel=pl.lit("7.3"), policy=pl.lit("64K"), seed=pl.lit(1))
    return named.select(list(FOLIO_STREAM.schema)).cast(dict(FOLIO_STREAM.schema))
