# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's world held against the lab: how near, in what order, and who is with the mail."""

import polars as pl
import pytest

from swapsim import claims
from swapsim.claims.tables import DIRECTIONS_PARTED, ORDER_IN_LAB, RESULTS, SIMULATED_AND_LAB
from swapsim.ffi.facts import STALL_RULES
from swapsim.patches import stall_decisions as patch
from swapsim.patches.stall_decisions import guest, lab

SCANNED = "Kswapd pages scanned"


def results(kernel: str, values: dict[str, float], unit: str = "pages") -> pl.DataFrame:
    """Return three rounds of one row by each rule set, a little apart."""
    frames = []
    for rules in STALL_RULES:
        labels = {"patch": patch.PATCH, "kernel": kernel, "policy": rules, "n_tasks": 1}
        frames += [
            claims.results([(SCANNED, values[rules] + seed, unit)], {**labels, "seed": seed})
            for seed in range(3)
        ]
    return pl.concat(frames)


LAB = results("6.1", {rules: 1000.0 * place for place, rules in enumerate(STALL_RULES)})


def world(**others: float) -> pl.DataFrame:
    """Return what the world has, as the lab but for some rule sets, and twice that where open."""
    values = {rules: 1000.0 * place for place, rules in enumerate(STALL_RULES)} | others
    doubled = {rules: 2 * value for rules, value in values.items()}
    return pl.concat([results(lab.AS_SET, values), results("a fast CPU", doubled)])


def test_a_figure_is_near_within_its_factor() -> None:
    """Of the larger by the smaller, what is less than a list taken for one."""
    table = patch.compare_with_lab(world(mmotm=1501.0, **{"series-8": 50.0}), LAB)
    assert table.schema == SIMULATED_AND_LAB.schema
    rows = {row["policy"]: row for row in table.iter_rows(named=True)}
    assert rows["3.9"]["near"]
    assert rows["3.9"]["factor"] == 1
    assert rows["series-1"]["factor"] == 1
    assert rows["series-1"]["open_high"] == 4001
    assert rows["mmotm"]["factor"] == pytest.approx(1502 / 1001)
    assert not rows["mmotm"]["near"]
    assert rows["series-8"]["factor"] == pytest.approx(9001 / 51)
    assert table["policy"].to_list() == list(STALL_RULES)


def test_the_order_is_that_of_pairs_which_the_lab_tells_apart() -> None:
    """One rule set that changes places with its neighbour costs one pair."""
    order = patch.compare_orders(world(), LAB)
    assert order.schema == ORDER_IN_LAB.schema
    assert order.row(0, named=True) == {
        "metric": SCANNED,
        "pairs": 66,
        "in_order": 66,
        "open_low": 66,
        "open_high": 66,
        "holds": True,
    }
    swapped = patch.compare_orders(world(mmotm=2500.0), LAB).row(0, named=True)
    assert (swapped["in_order"], swapped["holds"]) == (65, False)
    same = results("6.1", dict.fromkeys(STALL_RULES, 5.0))
    assert patch.compare_orders(world(), same)["pairs"].to_list() == [0]


def test_a_row_at_what_is_open() -> None:
    """A line a variant, a column a rule set."""
    found = patch.by_variant(world(), SCANNED)
    assert found["variant"].to_list() == [lab.AS_SET, "a fast CPU"]
    assert found["mmotm"].to_list() == [1001, 2001]
    assert found.columns[1:] == list(STALL_RULES)


def test_a_run_has_the_rows_of_the_lab() -> None:
    """Each row that is judged, by each size and of all."""
    told = pl.concat(guest.told_by_guest(guest.GuestRun(rules=rules)) for rules in ("6.1", "3.9"))
    assert told.schema == RESULTS.schema
    measured = set(claims.measured_results(patch.EXPERIMENT)["metric"])
    assert set(told["metric"]) <= measured
    assert set(lab.ROWS) <= set(told["metric"])
    for rules in ("6.1", "3.9"):
        of_one = dict(told.filter(policy=rules).select("metric", "value").iter_rows())
        sizes = [of_one[f"{SCANNED}-{size}"] for size in patch.SIZES.values()]
        assert sum(sizes) == of_one[SCANNED]


def test_variants_stay_within_what_is_open() -> None:
    """Each changes some constants, none a cost that was fitted."""
    variants = patch.variants()
    assert variants.pop(lab.AS_SET) == {}
    assert all(changed and "op_ns" not in changed for changed in variants.values())


def test_the_stored_runs_and_the_lab() -> None:
    """What the notebook says of them comes from these frames."""
    simulated, measured = patch.studies.guests.load(), claims.measured_results(patch.EXPERIMENT)
    table = patch.compare_with_lab(simulated, measured)
    assert table.height == 12 * (len(lab.ROWS) + 3 + 4 + 4)
    order = patch.compare_orders(simulated, measured)
    assert (order["open_low"] <= order["in_order"]).all()
    assert (order["in_order"] <= order["open_high"]).all()
    parted = patch.parted_directions(simulated, measured)
    assert parted.schema == DIRECTIONS_PARTED.schema
    assert parted.filter(claim="C-disk-page-writes-file")["like_the_mail"].to_list() == ["lab"]
    told = patch.verdict_in_lab_guest(simulated, measured)
    assert f"Of {table.height} figures" in told
    assert f"{int(table['near'].sum())} are within a factor of 1.5" in told
