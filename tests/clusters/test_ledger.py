# SPDX-License-Identifier: GPL-2.0-or-later
"""The lock ledger: what is stored is consistent, and its tables are computed from it."""

import math
from typing import Any

import polars as pl
import pytest

from swapsim import claims, clusters
from swapsim.clusters import ledger as ledger_module
from swapsim.clusters.ledger import EXPERIMENTS, LACKS, LOCKS
from swapsim.clusters.tables import CLUSTER_DEVICES, CLUSTER_EVENTS
from swapsim.errors import InputError
from swapsim.io.paths import shipped_measurements, shipped_traces

NAMES = [name for name in shipped_measurements() if name.startswith(EXPERIMENTS)]
WITH_SITES = sorted(clusters.lock_sites()["experiment"].unique())
CLUSTER_TRACES = [name for name in shipped_traces() if name.startswith("clusters-")]
SINGLE_PAGES = "lock-ledger-newer-brd"
LARGE_FOLIOS = "lock-ledger-newer-brd-64k"
ONE_CPU = "lock-ledger-newer-1-cpu"


def test_pages_and_folios_are_compared() -> None:
    """Single pages are counted on three kernels, and folios of 64 KiB on the two that have them."""
    kernels = {
        name: list(claims.measured_provenance(name)["experiment"]["values"]) for name in NAMES
    }
    assert kernels[SINGLE_PAGES] == ["6.1", "6.12", "7.3"]
    assert kernels[LARGE_FOLIOS] == ["6.12", "7.3"]
    assert {SINGLE_PAGES, LARGE_FOLIOS} <= set(WITH_SITES)


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_of_the_ledger_is_complete(name: str) -> None:
    """Five rounds or more of each kernel and turn, none failed, clusters of 512 slots in each."""
    origin = claims.measured_provenance(name)
    experiment, kernels = origin["experiment"], origin["kernel"]
    assert experiment["rounds"] >= 5
    assert origin["runs"]["failed"] == []
    assert list(kernels) == experiment["values"]
    for version, kernel in kernels.items():
        assert kernel["package"] == f"linux-source-{version}"
        assert kernel["lock_statistics"]
        assert kernel["cluster_size"] == 512
        assert kernel["folio_kibibytes"] == next(iter(kernels.values()))["folio_kibibytes"]
    runs = claims.measured_results(name).select("kernel", "policy", "seed").unique()
    assert runs.height == 2 * experiment["rounds"] * len(kernels)
    assert set(runs["policy"]) == {"fill", "visits"}


@pytest.mark.parametrize("name", WITH_SITES)
def test_call_sites_add_up_to_the_acquisitions(name: str) -> None:
    """Two counters of the kernel, of requests and of acquisitions, differ by less than 2 percent.

    They start and stop a moment apart, and a request of a trylock may fail: 0.002 a page more.
    """
    results = claims.measured_results(name)
    keys = ["kernel", "policy", "seed"]
    named = pl.col("metric").str.split(" at ").list
    sites = (
        results.filter(pl.col("metric").str.contains(" at "))
        .group_by(*keys, lock=named.first())
        .agg(pl.col("value").sum())
    )
    lock = pl.col("metric").str.strip_suffix(" acquisitions")
    both = results.with_columns(lock=lock).join(sites, on=[*keys, "lock"], suffix="_sites")
    assert set(both["lock"]) >= {"si->lock", "cluster lock", "swap_avail_lock"}
    for row in both.iter_rows(named=True):
        assert math.isclose(row["value"], row["value_sites"], rel_tol=0.02, abs_tol=0.002), row


@pytest.mark.parametrize("name", WITH_SITES)
def test_sites_fit_what_the_allocators_do(name: str) -> None:
    """6.12 takes both locks of devices once a call; 7.3 takes si->lock for lists alone."""
    sites = clusters.lock_sites().filter(experiment=name)
    for turn in ("fill", "visits"):
        of_turn = sites.filter(turn=turn)
        calls = of_turn.filter(kernel="6.12", site="get_swap_pages")
        assert set(calls["lock"]) == {"si->lock", "swap_avail_lock"}
        low, high = sorted(calls["requests_a_page"])
        # Beyond that, a window or a full cluster drops si->lock and takes it again.
        assert low > 0
        assert high >= low
        lists = of_turn.filter(kernel="7.3", lock="si->lock")
        assert set(lists["site"]) <= {"isolate_lock_cluster", "move_cluster"}


def test_a_folio_is_one_grant() -> None:
    """On a fresh device 64 KiB take si->lock of 6.12 once, single pages once in 64."""
    fill = clusters.lock_ledger().filter(turn="fill", lock="si->lock", kernel="6.12")
    found = {row["experiment"]: row["acquisitions_a_page"] for row in fill.iter_rows(named=True)}
    assert found[LARGE_FOLIOS] == pytest.approx(1 / 16, rel=0.05)
    assert found[SINGLE_PAGES] >= 1 / 64
    large = claims.measured_results(LARGE_FOLIOS).filter(policy="fill")
    pages, folios = (
        large.filter(metric=metric)["value"].to_list()
        for metric in ("pages out", "large folios out")
    )
    assert len(pages) == len(folios)
    for out, whole in zip(pages, folios, strict=True):
        # The two counters of the kernel are read a moment apart.
        assert out == pytest.approx(16 * whole, rel=0.05)


def test_the_ledger_has_null_for_locks_that_a_kernel_lacks() -> None:
    """A lock that exists has an interval around its median, and one that does not has nothing."""
    ledger = clusters.lock_ledger()
    assert set(ledger["experiment"]) == set(NAMES)
    assert list(ledger["lock"].unique(maintain_order=True)) == list(LOCKS)
    for row in ledger.iter_rows(named=True):
        if row["lock"] in LACKS[row["kernel"]]:
            assert row["acquisitions_a_page"] is None
            assert row["rounds"] is None
        else:
            assert 0 <= row["low"] <= row["acquisitions_a_page"] <= row["high"]
            assert row["rounds"] >= 5
        times = [row["hold_low_ns"], row["hold_ns"], row["hold_high_ns"]]
        assert times == sorted(times) if row["cpus"] == 1 and row["rounds"] else times == [None] * 3


def test_changes_are_those_of_the_ledger() -> None:
    """Medians are the ledger's, and a fall has an interval below 0."""
    medians = {
        (row["experiment"], row["turn"], row["lock"], row["kernel"]): row["acquisitions_a_page"]
        for row in clusters.lock_ledger().iter_rows(named=True)
    }
    changes = clusters.lock_changes("6.12", "7.3")
    assert set(changes["lock"]) == {"cluster lock", "si->lock", "swap_avail_lock"}
    for row in changes.iter_rows(named=True):
        keys = (row["experiment"], row["turn"], row["lock"])
        assert row["base"] == pytest.approx(medians[*keys, "6.12"])
        assert row["value"] == pytest.approx(medians[*keys, "7.3"])
        assert row["ratio"] == pytest.approx(row["value"] / row["base"])
        seen = "falls" if row["high"] < 0 else "rises" if row["low"] > 0 else "either"
        assert row["seen"] == seen
    assert LARGE_FOLIOS not in set(clusters.lock_changes("6.1", "7.3")["experiment"])
    with pytest.raises(InputError, match=r"no such kernel: '6\.2'; choose 6\.1"):
        clusters.lock_changes("6.2", "7.3")


def with_interval(row: dict[str, Any], names: tuple[str, str, str], by: float, form: str) -> str:
    """Return a median and its interval as the docstring has them."""
    median, low, high = (format(row[name] / by, form) for name in names)
    return f"{median} ({low}-{high})"


def test_the_docstring_has_the_figures_of_the_ledger() -> None:
    """Acquisitions and holds of si->lock on 6.12 and 7.3, each with its interval and direction."""
    rows = clusters.lock_ledger().filter(lock="si->lock")
    changes = clusters.lock_changes().filter(lock="si->lock")
    seen = {"falls": "less often", "rises": "more often", "either": "either"}
    acquired = ("acquisitions_a_page", "low", "high")
    held = ("hold_ns", "hold_low_ns", "hold_high_ns")
    lines = [" ".join(line.split()) for line in (ledger_module.__doc__ or "").splitlines()]
    for change in changes.iter_rows(named=True):
        keys = {"experiment": change["experiment"], "turn": change["turn"]}
        old, new = (
            rows.filter(**keys, kernel=kernel).row(0, named=True) for kernel in ("6.12", "7.3")
        )
        counts = " ".join(with_interval(row, acquired, 1, ".4f") for row in (old, new))
        assert any(line.endswith(f"{counts} {seen[change['seen']]}") for line in lines), counts
        if change["experiment"] == ONE_CPU:
            times = " ".join(with_interval(row, held, 1000, ".1f") for row in (old, new))
            assert any(line.endswith(times) for line in lines), times


def test_si_lock_of_7_3_is_held_for_a_hundredth_of_the_time() -> None:
    """Intervals are 100 times apart in both turns; the cluster lock is held longer instead."""
    rows = clusters.lock_ledger().filter(experiment=ONE_CPU)
    for turn in ("fill", "visits"):
        of_turn = rows.filter(turn=turn)
        old, new = (
            {row["lock"]: row for row in of_turn.filter(kernel=kernel).iter_rows(named=True)}
            for kernel in ("6.12", "7.3")
        )
        assert new["si->lock"]["hold_high_ns"] * 100 < old["si->lock"]["hold_low_ns"]
        assert new["cluster lock"]["hold_low_ns"] > 2 * old["cluster lock"]["hold_high_ns"]


@pytest.mark.parametrize("name", CLUSTER_TRACES)
def test_a_recording_of_a_stock_kernel_has_holds(name: str) -> None:
    """A slot takes si->lock of 6.12 at least as often as calls do, with visits in each hold."""
    folder = shipped_traces()[name]
    tables = (pl.read_parquet(folder / f"cluster_{part}.parquet") for part in ("events", "devices"))
    found = clusters.trace_locks(*tables).row(0, named=True)
    assert 0 < found["si_lock_low"] <= found["si_lock_high"]
    if found["rules"] == "7.3":
        assert found["si_lock_low"] * found["slots"] == pytest.approx(
            found["picks"] + found["moves"]
        )
    else:
        assert 0 < found["visits_a_hold"] <= 64
        assert found["picks"] == found["moves"] == 0


def recording(rules: str, ops: dict[str, int]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the tables of a recording with so many rows of each op; a grant is of two slots."""
    rows = [{"op": op, "n": 2} for op, times in ops.items() for _ in range(times)]
    events = pl.DataFrame(
        [{name: row.get(name) for name in CLUSTER_EVENTS.schema} for row in rows],
        schema=CLUSTER_EVENTS.schema,
    )
    device = dict.fromkeys(CLUSTER_DEVICES.schema) | {"rules": rules}
    return events, pl.DataFrame([device], schema=CLUSTER_DEVICES.schema)


def test_holds_of_a_recording_are_counted_by_the_rules_of_its_kernel() -> None:
    """Calls, windows and freed runs hold si->lock on 6.12, picks and moves on 7.3."""
    ops = {"call": 3, "visit": 10, "grant": 8, "relock": 2, "free": 64, "pick": 4, "move": 5}
    old = clusters.trace_locks(*recording("6.12", ops)).row(0, named=True)
    assert (old["slots"], old["calls"], old["visits"], old["windows"]) == (16, 3, 10, 2)
    assert old["visits_a_hold"] == 2.0
    assert (old["si_lock_low"], old["si_lock_high"]) == (6 / 16, 69 / 16)
    new = clusters.trace_locks(*recording("7.3", ops)).row(0, named=True)
    assert (new["si_lock_low"], new["si_lock_high"]) == (9 / 16, 9 / 16)
    assert new["visits_a_hold"] is None
    with pytest.raises(InputError, match="no slot was granted"):
        clusters.trace_locks(*recording("7.3", {"pick": 1}))
    with pytest.raises(InputError):
        clusters.trace_locks(pl.DataFrame(), recording("7.3", ops)[1])
