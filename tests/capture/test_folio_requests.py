# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording of requests, served by the rules of its own kernel, gives what was recorded."""

from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle_cluster_folios import Memory
from oracle_clusters import RULES, Allocator, DeviceConfig
from test_stock import captured, counters

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
    served = requests.recorded(frame, name="made", slots=SLOTS, swap_in_orders=(ORDER,))
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


COUNTERS = """tree 9 KiB
objects 2
counter 64kB swpout 3
counter 64kB swpout_fallback 1
counter 64kB anon_fault_alloc 9
counter 2048kB swpout 0
counter 2048kB swpout_fallback 0
counter 2048kB anon_fault_alloc 0
"""


def test_a_recording_of_7_3_is_read_by_cluster(rig: SimpleNamespace, tmp_path: Path) -> None:
    """A slot is counted from its cluster's place; folios that come in get no slots of a request."""
    folio = "(f+0x0/0x2) folio={} mapping=0xffff888000001001 index={} flags={} size={}"
    granted = "folio_granted: (f+0x0/0x2) folio={} entry={}"
    lines = [
        f"a-5 folio_out: {folio.format('0xea0000', 16, '0x40', '0xff04')}",
        f"a-5 {granted.format('0xea0000', '0x200')}",
        f"a-5 {granted.format('0xea1000', '0x300')}",
        "a-5 slot_free: (f+0x0/0x2) clusters=0xa00 ci=0xa30 offset=0 nr=16",
        "a-5 slot_free: (f+0x0/0x2) clusters=0xa00 ci=0xa60 offset=256 nr=1",
    ]
    report = {**counters(pswpout=16, pswpin=0), "output": COUNTERS}
    metrics, rows = rig.folio_requests.read(captured(rig, tmp_path, lines, **report), tmp_path, 0)
    assert rows == [[0, "access", 4, 16, 16], [0, "out", 4, 16, 16], [0, "drop", 4, 16, 16]]
    assert metrics["objects"] == (2, "object")
    assert metrics["swpout_fallback 64K"] == (1, "folio")
    assert not [name for name in metrics if name.endswith("2M")]
    for text, message in (
        (COUNTERS.replace("objects", "no"), "did not end"),
        (COUNTERS.replace("swpout 3", "swpout 0").replace("fallback 1", "fallback 0"), "no large"),
    ):
        bad = captured(rig, tmp_path, lines, **{**report, "output": text})
        with pytest.raises(rig.errors.GuestError, match=message):
            rig.folio_requests.read(bad, tmp_path, 0)


def test_a_folio_that_was_split_goes_out_once(rig: SimpleNamespace) -> None:
    """Its pages' own requests are part of it; they may come in whole under other rules."""
    memory = Recorded("7.3")
    memory.event("folio_out", 16, ORDER)
    for page in range(16, 32):
        memory.event("folio_out", page, 0)
        memory.event("folio_granted", 100 + 2 * page)
    memory.event("slot_free", 100 + 2 * 17, 1)
    memory.event("folio_out", 17, 0)
    rows = [
        (FOLIO_STEPS[step], *rest) for _, step, *rest in rig.folio_requests.steps(memory.frames())
    ]
    assert rows == [
        ("access", 4, 16, 16),
        ("out", 4, 16, 16),
        ("access", 4, 17, 1),
        ("out", 0, 17, 1),
    ]
