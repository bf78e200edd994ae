# SPDX-License-Identifier: GPL-2.0-or-later
"""The mail's tests in the world: one run in the mail's rows, and its tables held against them."""

from dataclasses import replace
from itertools import product
from typing import Any

import polars as pl
import pytest

from swapsim import claims
from swapsim.claims.tables import RESULTS
from swapsim.errors import InputError
from swapsim.patches import stall_decisions as patch
from swapsim.patches.stall_decisions import over_time, unknowns, what_if, worlds
from swapsim.patches.stall_decisions.tables import (
    SIMULATED_BY_TIME,
    SIMULATED_CELLS,
    SIMULATED_MATTERS,
    SIMULATED_OPEN,
    SIMULATED_ORDERS,
    SIMULATED_PAGE_SPANS,
    SIMULATED_RANGES,
    SIMULATED_SCORE,
    SIMULATED_SUMMED,
    SIMULATED_VERDICTS,
    SIMULATED_WHAT_IF,
)
from swapsim.study.constants import Moved

SMALL: dict[str, Any] = {
    "constants": {
        "memory_pages": 30_000,
        "dma32_pages": 12_000,
        "other_pages": 1_000,
        "program_pages": 0,
        "cached_pages": 0,
        "min_free_pages": 256,
        "swap_pages": 40_000,
        "pool_pages": 20_000,
        "write_delay_ms": 100,
    },
    "fields": {"serve_ns": 2_000_000_000, "files": (0, 10_000)},
}
SCANNED = "Kswapd pages scanned"


def mailed(changes: dict[tuple[str, str], float] | None = None, seeds: int = 5) -> pl.DataFrame:
    """Return runs that come out as the mail has it, but for factors on rows by rules."""
    factors = changes or {}
    printed = claims.published_tables().filter(
        pl.col("patch") == patch.PATCH, pl.col("kernel").is_in(list(patch.KERNELS))
    )
    elapsed = {"disk": 1158.0, "nfs": 5000.0}
    frames = []
    for seed in range(1, seeds + 1):
        rows = []
        for row in printed.iter_rows(named=True):
            target = row["table"].rpartition(", ")[2]
            rules = patch.KERNELS[row["kernel"]]
            value = row["value"] * (1 + seed / 10_000)
            value *= factors.get((f"{target}: {row['metric']}", rules), 1.0)
            rows.append((f"{target}: {row['metric']}", row["kernel"], rules, value, row["unit"]))
        rows += [
            (f"{target}: Elapsed", kernel, rules, elapsed[target], "s")
            for target, (kernel, rules) in product(elapsed, patch.KERNELS.items())
        ]
        columns = ["metric", "kernel", "policy", "value", "unit"]
        frame = pl.DataFrame(rows, schema=columns, orient="row")
        frames.append(claims.results(frame, {"patch": patch.PATCH, "n_tasks": 1, "seed": seed}))
    return pl.concat(frames)


def verdict_of(simulated: pl.DataFrame, metric: str, table: str = "vmstat, disk") -> dict[str, Any]:
    """Return one row's verdict."""
    return patch.verdicts(simulated).filter(table=table, metric=metric).row(0, named=True)


def test_a_run_is_told_in_the_rows_of_the_mail() -> None:
    """Its kernel is the mail's where it has one; every row has a unit; the seed decides."""
    run = patch.Run(rules="mmotm", **SMALL)
    told = worlds.told(run)
    assert told.schema == RESULTS.schema
    assert set(told["kernel"]) == {"mm1-mmotm-20130522"}
    assert set(worlds.told(replace(run, rules="series-2"))["kernel"]) == {"series-2"}
    assert told["metric"].str.starts_with("disk: ").all()
    units = dict(told.select("metric", "unit").iter_rows())
    assert units["disk: Ops memcachetest-0M"] == "operations/s"
    assert units["disk: Elapsed"] == "s"
    assert worlds.told(run).equals(told)
    other = worlds.told(replace(run, seed=2))
    assert worlds.of_target(told, "nfs").is_empty()
    assert "Swap Outs" in worlds.of_target(told, "disk")["metric"]
    assert not other["value"].equals(told["value"])


def test_what_comes_out_as_the_mail_has_it_holds() -> None:
    """Every order that is asked for, every size, the points and the collapse."""
    simulated = mailed()
    cells, judged = patch.cells(simulated), patch.verdicts(simulated)
    assert cells.schema == SIMULATED_CELLS.schema
    assert judged.schema == SIMULATED_VERDICTS.schema
    assert judged.height == claims.world_tolerances().height
    assert set(judged["order"].drop_nulls()) == {"holds"}
    assert (judged["inside"] == judged["cells"]).all()
    assert judged["near"].drop_nulls().all()
    assert judged["collapse"].drop_nulls().to_list() == [True] * 4
    modelled = judged.filter(pl.col("standing") != "not modelled")
    assert modelled.height * 3 == cells.height
    assert modelled["cells"].sum() == cells["inside"].is_not_null().sum()
    score = patch.score(judged)
    assert score.schema == SIMULATED_SCORE.schema
    assert score["rows"].sum() == judged.height
    assert (score["sized"] == score["modelled"]).all()
    assert (score["order_holds"] == score["order_asked"]).all()


def test_counts_of_the_longer_test_are_compared_a_second() -> None:
    """The mail's by scans and velocity, the world's by its own time."""
    cells = patch.cells(mailed()).filter(table="vmstat, nfs", metric=SCANNED, rules="3.9")
    assert cells["published"][0] == pytest.approx(3929.743)
    assert cells["simulated"][0] == pytest.approx(20899983 / 5000, rel=1e-3)


def test_a_cell_beyond_twice_is_outside_and_a_fitted_one_is_not_judged() -> None:
    """Three times is too much; the same of what constants were fitted on is only shown."""
    row = verdict_of(mailed({(f"disk: {SCANNED}", "mmotm"): 3.0}), SCANNED)
    assert (row["inside"], row["cells"]) == (2, 3)
    assert row["order"] == "holds"
    large = "Ops swaptotal-4055M"
    row = verdict_of(mailed({(f"disk: {large}", "3.9"): 3.0}), large, "parallelio, disk")
    assert (row["inside"], row["cells"]) == (2, 2)


def test_an_order_that_is_turned_is_contradicted_and_a_tie_is_open() -> None:
    """The series scans more than mmotm; or as much, give or take."""
    turned = mailed({(f"disk: {SCANNED}", "series-8"): 10.0})
    assert verdict_of(turned, SCANNED)["order"] == "contradicted"
    seeds = pl.when(pl.col("seed") % 2 == 0).then(2.0).otherwise(0.5)
    chosen = (pl.col("metric") == f"disk: {SCANNED}") & (pl.col("policy") == "series-8")
    as_mmotm = seeds * 8_814_900
    flat = turned.with_columns(value=pl.when(chosen).then(as_mmotm).otherwise("value"))
    assert verdict_of(flat, SCANNED)["order"] == "open"


def test_what_is_nothing_in_the_mail_may_be_a_twentieth() -> None:
    """Swap outs of mmotm: 18 of 683,860; 34,000 are still nothing, 35,000 are not."""
    for pages, inside in ((34_000, 3), (35_000, 2)):
        simulated = mailed({("disk: Swap Outs", "mmotm"): pages / 18})
        assert verdict_of(simulated, "Swap Outs")["inside"] == inside
        alone = patch.cells(simulated.filter(policy="mmotm")).filter(metric="Swap Outs")
        assert alone["inside"][0] == (inside == 3)


def test_points_are_those_from_mmotm_to_the_series() -> None:
    """Four points off are too many, and above mmotm is not worse."""
    name = "Ops memcachetest-2385M"
    row = verdict_of(mailed({(f"disk: {name}", "series-8"): 1.04}), name, "parallelio, disk")
    assert row["change"] == pytest.approx(-1.61, abs=0.01)
    assert (row["near"], row["worse"]) == (False, "contradicted")
    assert row["collapse"]
    cured = verdict_of(mailed({(f"disk: {name}", "3.9"): 4.0}), name, "parallelio, disk")
    assert cured["collapse"] is False


def test_the_verdict_counts_what_was_judged() -> None:
    """All hold, and the collapse has its points beside the printed ones."""
    judged = patch.verdicts(mailed())
    asked = judged["order"].is_not_null().sum()
    sentence = patch.verdict_in_simulation(judged)
    assert f"in {asked} of the {asked} rows that order them; in 0 rows they do not" in sentence
    alone = "as in the mail, memcached collapses next to large files by the rules of 3.9 only"
    assert f"On a disk, {alone}" in sentence
    assert f"Over NFS, {alone}" in sentence
    assert "against mmotm by -1.6 and -2.1 % (published: -1.6 and -2.1 %)" in sentence


def test_a_constant_is_moved_to_both_ends_of_its_range(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cell lies between the least and the greatest; orders are counted by world."""
    both = {moved.end for moved, _ in unknowns.runs() if moved.constant == "scan_ns"}
    assert both == {"low", "high"}
    simulated = mailed(seeds=1)
    monkeypatch.setattr(unknowns, "told", lambda run: simulated.filter(policy=run.rules))
    moved = [Moved("scan_ns", end, 1) for end in ("low", "high")]
    found = pl.concat(map(unknowns.run_moved, product(moved, patch.KERNELS.values())))
    assert found.schema == SIMULATED_OPEN.schema
    orders = patch.orders(simulated)
    assert orders.schema == SIMULATED_ORDERS.schema
    turned = found.with_columns(
        simulated=pl.when((pl.col("end") == "low") & (pl.col("rules") == "mmotm"))
        .then(0.0)
        .otherwise("simulated")
    )
    ranges = patch.ranges(turned, orders)
    assert ranges.schema == SIMULATED_RANGES.schema
    row = ranges.filter(table="vmstat, disk", metric=SCANNED, rules="mmotm").row(0, named=True)
    assert (row["low"], row["low_by"], row["worlds"], row["ordered"]) == (0, "scan_ns", 2, 1)
    assert ranges.filter(metric="Kswapd pages reclaimed")["ordered"].null_count() == 6


def test_other_machines_are_the_mails_but_for_one_thing() -> None:
    """Each grid has the mail's own value in it; a faster disk has shorter ways."""
    cases = what_if.cases()
    settings = {(case.factor, case.setting) for case in cases}
    assert {("swappiness", 60), ("dirty ratio, %", 20), ("disk, MB/s", 120)} <= settings
    disks = {case.setting: case.constants for case in cases if case.factor.startswith("disk")}
    assert disks[20]["seek_near_ns"] == disks[120]["seek_near_ns"]
    assert disks[1000]["seek_near_ns"] < disks[120]["seek_near_ns"]
    small = what_if.Case("made", 1.0, SMALL["constants"], SMALL["fields"] | {"files": (10_000,)})
    points = product([small], patch.KERNELS.values(), [1, 2])
    found = pl.concat(what_if.run_point(what_if.Point(*each)) for each in points)
    assert found.schema == SIMULATED_WHAT_IF.schema
    assert set(found["rules"]) == set(patch.KERNELS.values())
    assert patch.matters(found).schema == SIMULATED_MATTERS.schema


def test_the_series_matters_where_all_seeds_say_so_and_loudly() -> None:
    """A tenth stays; from zero any rise is loud."""
    rows = [
        ("f", 1.0, rules, seed, metric, value + seed / 1000)
        for metric, base, series in (("less", 100.0, 50.0), ("same", 100.0, 95.0))
        for rules, value in (("mmotm", base), ("series-8", series))
        for seed in (1, 2, 3)
    ]
    found = patch.matters(pl.DataFrame(rows, schema=SIMULATED_WHAT_IF.schema, orient="row"))
    assert dict(found.select("metric", "differs").iter_rows()) == {"less": True, "same": False}


def test_a_round_by_time_adds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is whole at each second; shares are shares; the lives fill the round."""
    monkeypatch.setattr(over_time, "Run", lambda rules, **_: patch.Run(rules=rules, **SMALL))
    found = over_time.by_second("3.9")
    assert found.schema == SIMULATED_BY_TIME.schema
    kinds = ("free", "active_anon", "inactive_anon", "clean", "dirty", "written")
    whole = found.select(pl.sum_horizontal(*kinds)).to_series()
    assert whole.max() == 29_000
    assert whole.min() >= 29_000 - 4 * 32  # type: ignore[operator]
    for share in ("kswapd_sleeps", "client_waits"):
        assert found[share].is_between(0, 1).all()
    sums = patch.summed(found)
    assert sums.schema == SIMULATED_SUMMED.schema
    assert sums["scanned_normal"][0] == found["scanned_normal"].sum()
    spans = over_time.life_spans("3.9")
    assert spans.schema == SIMULATED_PAGE_SPANS.schema
    assert spans["page"].n_unique() == over_time.PAGES
    assert (spans["end_s"] > spans["begin_s"]).all()
    life = patch.one_life(spans, "3.9")
    assert life["page"].n_unique() == 1
    assert life["begin_s"].to_list()[1:] == life["end_s"].to_list()[:-1]


def test_the_mails_rows_stand_beside_the_worlds_and_the_labs() -> None:
    """Three lines a row, the simulated one with its verdict; the lab has no NFS."""
    simulated = mailed()
    cells, judged = patch.cells(simulated), patch.verdicts(simulated)
    rows = [
        (f"{SCANNED}", rules, 1, seed, 1000.0 * place + seed)
        for place, rules in enumerate(patch.KERNELS.values(), start=1)
        for seed in (1, 2, 3)
    ]
    columns = ["metric", "policy", "n_tasks", "seed", "value"]
    labels = {"patch": patch.PATCH, "source": "measured", "kernel": "6.1", "unit": "pages"}
    measured = claims.results(pl.DataFrame(rows, schema=columns, orient="row"), labels)
    found = patch.three_sources(cells, judged, measured, [SCANNED])
    assert found["source"].to_list() == ["published", "simulated", "measured"]
    assert found["3.9"].to_list() == [
        "6046108",
        "6,047,922 [6,046,713, 6,049,131]",
        "1,002 [1,001, 1,003]",
    ]
    assert found["change"].to_list() == [-81.4, -81.4, 50.0]
    assert found["verdict"].to_list() == ["", "order holds, size 3 of 3", ""]
    far = patch.three_sources(cells, judged, measured, ["memcachetest-4055M", SCANNED], "nfs")
    assert far["3.9"].to_list()[2::3] == ["-", "-"]
    assert far["verdict"][1] == "order holds, size 2 of 2"
    with pytest.raises(InputError, match="Swap Outs"):
        patch.three_sources(cells, judged, measured, ["Swap Outs"])
