# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the simulator: the mail's tests and their variations, the fit, and the lab's test."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import polars as pl
import pytest
from test_stall_decisions_mail import SCANNED, mailed

from swapsim import claims, reclaim
from swapsim.patches import stall_decisions as patch
from swapsim.patches.stall_decisions import fitting, lab_guest, notebook_03b, runs, what_if
from swapsim.patches.stall_decisions.mail import ELAPSED, KERNELS, SIZES
from swapsim.patches.stall_decisions.runs import Run, mail_rows
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
        "working_pages": 100,
        "working_interval_ms": 500,
        "gap_ms": 50,
        "start_percent": 0,
        "write_delay_ms": 100,
    },
    "fields": {"serve_ns": 2_000_000_000, "files": (0, 0, 10_000)},
}
ONE_FILE = SMALL | {"fields": SMALL["fields"] | {"files": (10_000,)}}


def test_a_run_has_the_rows_of_the_mail() -> None:
    """Its kernel is the mail's where it has one; every row has a unit; the seed decides."""
    run = Run(rules="mmotm", **SMALL)
    rows = mail_rows(run)
    assert set(rows["kernel"]) == {"mm1-mmotm-20130522"}
    assert set(mail_rows(replace(run, rules="series-2"))["kernel"]) == {"series-2"}
    assert rows["metric"].str.starts_with("disk: ").all()
    units = dict(rows.select("metric", "unit").iter_rows())
    assert units["disk: Ops memcachetest-0M"] == "operations/s"
    assert units["disk: Elapsed"] == "s"
    assert mail_rows(run).equals(rows)
    assert not mail_rows(replace(run, seed=2))["value"].equals(rows["value"])


def test_the_fit_uses_the_cells_that_were_stored_for_it() -> None:
    """Each target of 3.9's column on the disk is one that `identifies` names, and no other."""
    rows = claims.simulation_tolerances().drop_nulls("identifies")
    of_base = rows.filter(pl.col("identifies").str.split(" ").list.contains("3.9"))
    assert set(of_base["table"]) == {"parallelio, disk"}
    assert set(of_base["metric"]) == set(fitting.FIT_TARGETS) - {ELAPSED}
    targets = fitting.fit_targets()
    assert targets.pop(ELAPSED) == pytest.approx(1158.8, abs=0.05)
    assert targets == {
        "Ops memcachetest-0M": 23117,
        "Ops io-duration-4055M": 160,
        "Ops majorfaults-4055M": 21357,
        "Ops swaptotal-715M": 140138,
    }


def test_the_search_finds_what_meets_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures that each follow one constant lead to it; one out of reach, to the range's end."""
    rows = list(fitting.FREE.values())

    def figures(constants: Mapping[str, int], **_fields: object) -> dict[str, float]:
        rate, seek = (constants[name] for name in fitting.FREE)
        return {
            rows[0]: 160 * (30_000 / rate) * (seek / 3_000_000) ** 0.1,
            rows[1]: 21357 * (9_000_000 / seek),
            fitting.SWAPPED: max(180_138 - constants["cached_pages"], 0),
            ELAPSED: 1108.78 + 5 * constants[fitting.GAP] / 1000 - 50,
        }

    monkeypatch.setattr(fitting, "fit_figures", figures)
    found = fitting.search()
    assert found["cached_pages"] == pytest.approx(40_000, rel=0.02)
    assert found["disk_rate"] == pytest.approx(30_000 * (5 / 3) ** 0.1, rel=0.02)
    assert found["seek_near_ns"] == 5_000_000
    assert found[fitting.GAP] == pytest.approx(20_000, rel=0.01)


def test_the_constants_are_those_of_the_stored_fit() -> None:
    """Each has the value that was found, in its range, and no figure is far off."""
    rows = pl.read_parquet(patch.studies.fitted.path)
    found = fitting.fitted_constants(rows)
    assert set(found) == {*fitting.FREE, fitting.CACHED, fitting.GAP}
    for row in reclaim.constants().filter(pl.col("name").is_in(list(found))).to_dicts():
        assert row["low"] <= found[row["name"]] == row["value"] <= row["high"]
    met = rows.drop_nulls("wanted")
    assert met["name"].to_list() == list(fitting.FIT_TARGETS)
    assert ((met["value"] / met["wanted"] - 1).abs() < 0.2).all()


def test_a_run_is_that_of_the_script() -> None:
    """A warm-up round comes first; there are as many iterations as in the mail."""
    sizes = (0, 183_040, 610_560, 1_038_080)
    assert Run(rules="3.9").config()[0].files == (0, *sizes)
    over_nfs = Run(rules="3.9", target="nfs").config()[0].files
    assert over_nfs == (0, *(size for size in sizes for _ in range(5)))


def test_a_round_by_time_adds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is complete at each second; shares are shares; the spans of a page fill the round."""
    monkeypatch.setattr(runs, "Run", lambda rules, **_: Run(rules=rules, **ONE_FILE))
    found = runs.by_second("3.9")
    kinds = ("free", "active_anon", "inactive_anon", "clean", "dirty", "written")
    total = found.select(pl.sum_horizontal(*kinds)).to_series()
    assert total.max() == 29_000
    assert total.min() >= 29_000 - 4 * 32  # type: ignore[operator]
    for share in ("kswapd_sleeps", "client_waits"):
        assert found[share].is_between(0, 1).all()
    spans = runs.spans_of_round("3.9")
    assert spans["page"].n_unique() == runs.PAGES
    assert (spans["end_s"] > spans["begin_s"]).all()
    page = notebook_03b.most_swapped_page(spans, "3.9")
    assert page["page"].n_unique() == 1
    assert page["begin_s"].to_list()[1:] == page["end_s"].to_list()[:-1]


def test_a_constant_is_moved_to_both_ends_of_its_range(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cell has a lowest and a highest figure; orders are counted by setting."""
    both = {moved.end for moved, _ in what_if.open_points() if moved.constant == "scan_ns"}
    assert both == {"low", "high"}
    rows = mailed(seeds=1)
    monkeypatch.setattr(what_if, "mail_rows", lambda run: rows.filter(policy=run.rules))
    moved = [Moved("scan_ns", "low", 1), Moved("shrink_ns", "high", 1)]
    found = pl.concat(map(what_if.run_open, product(moved, KERNELS.values())))
    lowered = (pl.col("end") == "low") & (pl.col("rules") == "mmotm")
    turned = found.with_columns(simulated=pl.when(lowered).then(0.0).otherwise("simulated"))
    ranges = notebook_03b.ranges(turned, rows)
    row = ranges.filter(table="vmstat, disk", metric=SCANNED, rules="mmotm").row(0, named=True)
    assert (row["low"], row["low_by"], row["settings"], row["ordered"]) == (0, "scan_ns", 2, 1)
    assert row["high_by"] == "shrink_ns"
    equal = ranges.filter(table="vmstat, disk", metric="Kswapd pages reclaimed")
    assert equal["ordered"].to_list() == [None] * 3


def test_each_server_is_simulated_with_and_without_patch_8(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server has a pair of rates, which are constants of the simulator; a figure is a row."""
    points = what_if.server_points()
    assert len(points) == 3 * 3 * 4 * len(what_if.SERVER_SEEDS)
    assert {run.rules for _, _, run in points} == {"3.9", "mmotm", "series-7", "series-8"}
    net_mb, server_mb, run = points[-1]
    assert run.target == "nfs"
    assert run.constants == {"net_rate": net_mb * 256, "server_rate": server_mb * 256}
    config, found = run.config()
    small = reclaim.run(reclaim.shrink(config, 1 / 128), found)
    monkeypatch.setattr(reclaim, "run", lambda *_given: small)
    table = what_if.run_server(points[-1])
    of_large_file = {"Ops memcachetest-4055M", "Ops io-duration-4055M"}
    assert set(what_if.SERVER_ROWS) - set(table["metric"]) == of_large_file


def test_other_machines_are_the_mails_except_for_one_factor() -> None:
    """Each grid has the mail's own value in it; the seeks of a faster disk are shorter."""
    machines = what_if.other_machines()
    settings = {(machine.factor, machine.setting) for machine in machines}
    assert {("swappiness", 60), ("dirty ratio, %", 20), ("disk, MB/s", 120)} <= settings
    disks = {each.setting: each.constants for each in machines if each.factor.startswith("disk")}
    assert disks[20]["seek_near_ns"] == disks[120]["seek_near_ns"]
    assert disks[1000]["seek_near_ns"] < disks[120]["seek_near_ns"]
    fields = SMALL["fields"] | {"files": (10_000,)}
    small = what_if.Machine("made", 1.0, SMALL["constants"], fields)
    points = product([small], KERNELS.values(), [1, 2])
    found = pl.concat(map(what_if.run_machine, points))
    assert set(found["rules"]) == set(KERNELS.values())
    assert set(notebook_03b.differences(found)["metric"]) <= set(found["metric"])


def test_the_series_differs_where_all_seeds_say_so_by_more_than_a_tenth() -> None:
    """A change of five percent counts as none."""
    rows = [
        ("f", 1.0, rules, seed, metric, value + seed / 1000)
        for metric, base, series in (("less", 100.0, 50.0), ("same", 100.0, 95.0))
        for rules, value in (("mmotm", base), ("series-8", series))
        for seed in (1, 2, 3)
    ]
    columns = ["factor", "setting", "rules", "seed", "metric", "value"]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    found = notebook_03b.differences(frame)
    assert dict(found.select("metric", "differs").iter_rows()) == {"less": True, "same": False}


def test_a_node_has_the_memory_of_both_zones() -> None:
    """Nothing else of the machine differs."""
    zones, node = (
        next(run for lists, run in what_if.node_points() if (lists, run.rules) == (kind, "mmotm"))
        for kind in (what_if.ZONES, what_if.NODE)
    )
    node, zones = node.config()[0], zones.config()[0]
    assert node.normal_pages == 0 < zones.normal_pages
    assert node.dma32_pages == zones.dma32_pages + zones.normal_pages
    for name in ("items", "files", "disk_rate", "min_free_pages", "rules", "seed"):
        assert getattr(node, name) == getattr(zones, name)


def test_the_stored_runs_by_lists() -> None:
    """A line for each rule set on a node, and for those that zones have."""
    table = notebook_03b.by_lists(patch.studies.node.load())
    assert table.filter(lists=what_if.NODE)["rules"].to_list() == list(what_if.NODE_RULES)
    assert table.filter(lists=what_if.ZONES)["rules"].to_list() == list(what_if.NODE_RULES[:-1])
    assert not any(table.null_count().row(0))


def test_a_run_of_the_lab_guest_has_the_rows_of_the_lab() -> None:
    """Each row that is judged, by each size and of all; variants change no fitted cost."""
    runs = [Run(rules=rules) for rules in ("6.1", "3.9")]
    rows = pl.concat(lab_guest.run_guest((lab_guest.AS_SET, run)) for run in runs)
    assert set(rows["metric"]) <= set(claims.measured_results(patch.EXPERIMENT)["metric"])
    assert set(lab_guest.ROWS) <= set(rows["metric"])
    for run in runs:
        of_one = dict(rows.filter(policy=run.rules).select("metric", "value").iter_rows())
        assert sum(of_one[f"{SCANNED}-{size}"] for size in SIZES.values()) == of_one[SCANNED]
    variants = lab_guest.variants()
    assert variants.pop(lab_guest.AS_SET) == {}
    assert all(changed and "op_ns" not in changed for changed in variants.values())
