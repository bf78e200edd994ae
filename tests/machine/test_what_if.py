# SPDX-License-Identifier: GPL-2.0-or-later
"""What-ifs gain nothing where nothing changed, and have the range of their fits and seeds."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from swapsim.errors import InputError
from swapsim.machine import what_if
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs
from swapsim.machine.run import run
from swapsim.machine.tables import WHAT_IF
from swapsim.machine.what_if import Case
from swapsim.study import SerialExecutor

SERIAL = SerialExecutor()

SMALL = MachineConfig(
    kernel="4.8",
    policy="shared",
    swap_writeback_tags=True,
    writers=4,
    frames=2**12,
    slots=2**16,
    warmup_ns=1_000_000,
    duration_ns=4_000_000,
)


def case(patched: MachineConfig, *, base: MachineConfig = SMALL, setting: float = 4) -> Case:
    """Return a case by hand."""
    label = f"{setting:g} writers"
    return Case(factor="cpus", setting=setting, label=label, base=base, patched=patched)


def rows(gains: dict[tuple[float, str, int], float], *, waits: float = 10.0) -> pl.DataFrame:
    """Return a WHAT_IF by hand: (setting, fit, seed) -> gain in percent."""
    return pl.DataFrame(
        [
            ("cpus", at, f"{at:g} tasks", fit, seed, 100.0, 100.0 + gain, gain, waits, 1.0)
            for (at, fit, seed), gain in gains.items()
        ],
        schema=WHAT_IF.schema,
        orient="row",
    )


def test_a_patched_machine_that_is_the_base_gains_nothing() -> None:
    """Exactly 0 %, with the same waits on both sides, for each fit and seed."""
    fits = {"as it is": costs(), "slow": change_costs(costs(), {"tree_ns": 3000})}
    found = what_if.gains([case(SMALL)], fits, executor=SERIAL)
    assert found.schema == WHAT_IF.schema
    assert found.select("fit", "seed").rows() == [(fit, seed) for fit in fits for seed in (1, 2)]
    assert found["gain_percent"].to_list() == [0.0] * 4
    assert found["base_waits"].equals(found["patched_waits"])
    assert found["base"].n_unique() == 4


def test_a_gain_is_that_of_the_runs_themselves() -> None:
    """The rates are those of run.run at the same seed, the waits the sum of all locks'."""
    patched = replace(SMALL, swap_writeback_tags=False)
    found = what_if.gains([case(patched)], {"a": costs()}, seeds=[5], executor=SERIAL)
    row = found.row(0, named=True)
    values = []
    for side, config in (("base", SMALL), ("patched", patched)):
        ran = run(replace(config, seed=5), costs())
        values.append(ran.filter(metric="swap_out")["value"].item())
        assert row[side] == values[-1]
        waits = ran.filter(pl.col("metric").str.starts_with("cycles."))["value"].sum()
        assert row[f"{side}_waits"] == pytest.approx(waits)
    assert row["gain_percent"] == pytest.approx(100 * (values[1] - values[0]) / values[0])
    assert row["gain_percent"] > 0
    assert row["patched_waits"] < row["base_waits"]


def test_what_cannot_gain_is_named() -> None:
    """No case, fit or seed, and a metric that the machine does not have, are one line each."""
    fits = {"a": costs()}
    for field, cases, constants, seeds in (
        ("cases", [], fits, [1]),
        ("fits", [case(SMALL)], {}, [1]),
        ("seeds", [case(SMALL)], fits, []),
    ):
        with pytest.raises(InputError, match=f"field '{field}': nothing to run"):
            what_if.gains(cases, constants, seeds=seeds, executor=SERIAL)
    with pytest.raises(InputError, match="4 writers: the machine has no tides to gain on"):
        what_if.gains([case(SMALL)], fits, metric="tides", executor=SERIAL)


def test_ranges_go_over_fits_and_seeds() -> None:
    """The ends are those of all runs, and the middle is their median."""
    of_fits = {
        8.0: [(10.0, 20.0), (1.0, 3.0), (4.0, 4.0)],
        2.0: [(-1.0,), (1.0,)],
        4.0: [(0.0,), (1.0,)],
    }
    gains = {
        (at, f"fit {number}", seed): gain
        for at, fits in of_fits.items()
        for number, of_seeds in enumerate(fits)
        for seed, gain in enumerate(of_seeds, 1)
    }
    table = what_if.ranges(rows(gains))
    assert table["setting"].to_list() == [8.0, 2.0, 4.0]
    assert table.select("low", "middle", "high").rows() == [
        (1.0, 4.0, 20.0),
        (-1.0, 0.0, 1.0),
        (0.0, 0.5, 1.0),
    ]
    assert table["flips"].to_list() == [False, True, False]
    assert table["base_waits"].to_list() == [10.0] * 3


def test_the_constant_that_matters_most_stands_first() -> None:
    """The widest apart first, a lone side last; a change of sign is marked, a zero has no sign."""
    table = what_if.by_constant(
        rows(
            {
                (8.0, "slot_ns, low", 1): 5.0,
                (8.0, "slot_ns, high", 1): 7.0,
                (8.0, "free_ns, high", 1): 90.0,
                (8.0, "copy_ns, low", 1): 4.0,
                (8.0, "copy_ns, low", 2): 8.0,
                (8.0, "copy_ns, high", 1): -3.0,
                (8.0, "copy_ns, high", 2): -5.0,
                (8.0, "map_ns, low", 1): 0.0,
                (8.0, "map_ns, high", 1): 1.0,
            }
        )
    )
    assert table.select("constant", "low", "high", "flips").rows() == [
        ("copy_ns", 6.0, -4.0, True),
        ("slot_ns", 5.0, 7.0, False),
        ("map_ns", 0.0, 1.0, False),
        ("free_ns", None, 90.0, False),
    ]
    known = costs().filter(name="copy_ns").row(0, named=True)
    first = table.row(0, named=True)
    assert (first["at_low"], first["at_high"]) == (known["low"], known["high"])


def test_what_is_no_constant_brings_its_own_ends() -> None:
    """A share of memory has no row in the constants' file."""
    gained = rows({(8.0, "in_memory, low", 1): 5.0, (8.0, "in_memory, high", 1): 7.0})
    table = what_if.by_constant(gained, others={"in_memory": (0.2, 0.4)})
    assert table.rows() == [("in_memory", 0.2, 0.4, 5.0, 7.0, False)]


def test_the_costs_of_a_case_stand_in_for_a_fits() -> None:
    """A drive's latency is the case's, whatever the fit says."""
    fits = {"a": costs(), "b": change_costs(costs(), {"copy_ns": 900})}
    slow = replace(case(SMALL), costs={"copy_ns": 700})
    found = what_if.gains([slow], fits, seeds=[1], executor=SERIAL)
    assert found["base"].n_unique() == 1


def test_drives_vary_by_latency_and_by_queue_apart() -> None:
    """Each latency with each queue, and memory; the setting is what the drive can serve."""

    def made(factor: str, setting: float, label: str, **fields: Any) -> Case:
        given = fields.pop("costs", {})
        config = replace(SMALL, **fields)
        return Case(
            factor=factor, setting=setting, label=label, base=config, patched=config, costs=given
        )

    cases = what_if.on_drives(made, channels=[8, 32], latencies_us=[20, 80])
    assert [(one.base.channels, one.costs.get("channel_ns")) for one in cases] == [
        (8, 20_000), (32, 20_000), (8, 80_000), (32, 80_000), (0, None),
    ]  # fmt: skip
    assert [one.setting for one in cases[:-1]] == [4e5, 1.6e6, 1e5, 4e5]
    assert len({one.label for one in cases}) == len(cases)


def test_fits_of_another_kind_and_several_cases_are_refused() -> None:
    """A fit that is no constant's low or high has no place, and two machines have no mean."""
    low = {(8.0, "copy_ns, low", 1): 1.0}
    for name in ("V1", "copy_ns, middle", "copy_ns low", "copy_ns"):
        with pytest.raises(InputError, match="field 'fit': call each fit"):
            what_if.by_constant(rows(low | {(8.0, name, 1): 2.0}))
    with pytest.raises(InputError, match="field 'label': several cases would be mixed"):
        what_if.by_constant(rows(low | {(4.0, "copy_ns, low", 1): 9.0}))
