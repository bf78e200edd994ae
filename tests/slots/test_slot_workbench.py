# SPDX-License-Identifier: GPL-2.0-or-later
"""The slot workbench: C against its oracle, theory, and the functions that use it."""

import math
import pickle
import statistics
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle_slot_workbench import Row, Workbench
from oracle_slots import BUILT_IN, Config, Kernel
from slots_in_c import fill_config, verify

import swapsim
from swapsim import slots, traces
from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.slots._native import _flat
from swapsim.slots.config import REQUESTS, Churn, Device, Streams
from swapsim.slots.events import SLOT_EVENTS, request_streams, slot_events, traced_device
from swapsim.slots.metrics import METRICS
from swapsim.slots.workbench import means, measure, points, ranking, run_point

METER = ("overlap_calls", "lock_window", "span_window")
RELAXED = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


class Twins:
    """The workbench of the library and of the oracle, in the same phases."""

    def __init__(self, oracle: Workbench) -> None:
        self.oracle = oracle
        config = ffi.new("struct sws_workbench_config *")
        lib.sws_workbench_config_init(config)
        fill_config(config.cache.device, oracle.config)
        config.cache.enabled = oracle.enabled
        for name in ("asynchronous", "pages_a_cpu", *METER):
            setattr(config, name, getattr(oracle, name))
        if oracle.tasks_on:
            tasks = ffi.new("struct sws_workbench_task[]", list(oracle.tasks_on))
            config.tasks, config.n_tasks = tasks, len(tasks)
        out = ffi.new("struct sws_workbench **")
        assert lib.sws_workbench_new(config, out) == lib.SWS_OK
        self.handle = ffi.gc(out[0], lib.sws_workbench_free)

    def go(self, begun: int) -> int:
        """Run the library's phase to its end; return its code."""
        over = ffi.new("bool *")
        while not begun and not over[0]:
            begun = lib.sws_workbench_run(self.handle, 2000, over)
            reason = ffi.new("const char **")
            verify(lib.sws_workbench_verify(self.handle, reason), reason)
        return begun

    def phase(self, phase: tuple[Any, ...]) -> None:
        """Run a phase on both and compare."""
        name, *rest = phase
        if name == "fill":
            assert self.go(lib.sws_workbench_fill(self.handle, *rest)) == lib.SWS_OK
            self.oracle.fill(rest[0], clusters_alone=rest[1])
        elif name == "begin":
            lib.sws_workbench_begin_measures(self.handle)
            self.oracle.begin_measures()
        else:
            assert self.go(getattr(lib, f"sws_workbench_{name}")(self.handle, *rest)) == lib.SWS_OK
            getattr(self.oracle, name)(*rest)
        self.compare()

    def replay(self, rows: list[list[Row]], skipped: int) -> bool:
        """Replay rows on both; return whether they could be replayed to the end."""
        first = [sum(map(len, rows[:task])) for task in range(len(rows) + 1)]
        flat = [row for mine in rows for row in mine]
        columns = ffi.new("struct sws_workbench_rows *")
        keep = [
            ffi.new("uint64_t[]", first),
            ffi.new("int32_t[]", [owner for owner, _ in flat] or [0]),
            ffi.new("uint32_t[]", [ordinal for _, ordinal in flat] or [0]),
        ]
        columns.first, columns.owner, columns.ordinal = keep
        code = self.go(lib.sws_workbench_replay(self.handle, columns, skipped))
        done = self.oracle.replay(rows, skipped)
        assert code == (lib.SWS_OK if done else lib.SWS_ERROR_OUT_OF_ORDER)
        if done:
            self.compare()
        return done

    def compare(self) -> None:
        """Compare every count, every page and every base."""
        measures = ffi.new("struct sws_workbench_measures *")
        lib.sws_workbench_measures(self.handle, measures)
        found = {
            name: value
            for name, value in _flat(measures[0]).items()
            if not name.startswith("work.")
        }
        assert found == {name: self.oracle.counts[name] for name in found}
        cpus = self.oracle.config.online_cpus
        tested, pages = ffi.new("uint64_t[]", cpus), ffi.new("uint64_t[]", cpus)
        lib.sws_workbench_cpus(self.handle, tested, pages)
        assert list(tested) == self.oracle.tested
        assert list(pages) == self.oracle.pages_of
        device = lib.sws_slot_cache_device(lib.sws_workbench_cache(self.handle))
        slots = range(1, self.oracle.config.slots)
        out = [slot for slot in slots if lib.sws_slots_usage(device, slot) == 1]
        assert out == sorted(self.oracle.pages)
        bases = [lib.sws_slots_base(device, i) for i in range(lib.sws_slots_bases(device))]
        assert bases == self.oracle.device.bases


@st.composite
def workbenches(draw: st.DrawFn) -> Workbench:
    """Draw a small workbench."""
    possible = draw(st.integers(1, 4))
    config = Config(
        kernel=draw(st.sampled_from([Kernel.V6_1, Kernel.V6_1, *Kernel])),
        slots=draw(st.sampled_from([2, 300, 700, 1500, 2500])),
        cluster_size=draw(st.sampled_from([256, 512])),
        trunk_shift=draw(st.integers(6, 10)),
        rotational=draw(st.sampled_from([False, False, False, True])),
        possible_cpus=possible,
        online_cpus=draw(st.integers(1, possible)),
        address_spaces=draw(st.integers(1, 3)),
        policy=draw(st.sampled_from(list(BUILT_IN))),
        seed=draw(st.integers(0, 2**64 - 1)),
    )
    place = st.tuples(
        st.integers(0, config.online_cpus - 1), st.integers(0, config.address_spaces - 1)
    )
    return Workbench(
        config,
        tasks_on=draw(st.none() | st.lists(place, min_size=1, max_size=4)),
        pages_a_cpu=draw(st.sampled_from([0, 1, 3, 10])),
        enabled=draw(st.booleans()),
        asynchronous=draw(st.booleans()),
        overlap_calls=draw(st.integers(1, 6)),
        lock_window=draw(st.integers(0, 30)),
        span_window=draw(st.integers(1, 40)),
    )


PHASE = st.one_of(
    st.tuples(st.just("fill"), st.integers(0, 2600), st.booleans()),
    st.tuples(st.just("thin"), st.integers(0, 1500)),
    st.tuples(st.just("churn"), st.integers(0, 60)),
    st.tuples(st.just("begin")),
)
FRAGMENTED = st.tuples(
    st.tuples(st.just("fill"), st.just(2600), st.booleans()),
    st.tuples(st.just("thin"), st.integers(0, 2400)),
    st.tuples(st.just("churn"), st.integers(100, 300)),
).map(list)
PHASES = st.tuples(st.one_of(FRAGMENTED, st.just([])), st.lists(PHASE, max_size=4)).map(
    lambda both: both[0] + both[1]
)


@settings(max_examples=30, suppress_health_check=RELAXED)
@given(oracle=workbenches(), phases=PHASES)
def test_c_and_oracle_count_the_same(oracle: Workbench, phases: list[tuple[Any, ...]]) -> None:
    """Every measure, page and base agrees with the plain model in any phases."""
    twins = Twins(oracle)
    for phase in phases:
        twins.phase(phase)


@settings(max_examples=20, suppress_health_check=RELAXED)
@given(data=st.data(), oracle=workbenches())
def test_c_and_oracle_replay_the_same(data: st.DataObject, oracle: Workbench) -> None:
    """Any rows give the same counts, and rows that can never be done are found by both."""
    gets = data.draw(st.lists(st.integers(0, 90), min_size=1, max_size=4))
    places = [
        (
            data.draw(st.integers(0, oracle.config.online_cpus - 1)),
            data.draw(st.integers(-1, oracle.config.address_spaces - 1)),
        )
        for _ in gets
    ]
    pages = [(task, ordinal) for task, n in enumerate(gets) for ordinal in range(n)]
    puts: list[list[Row]] = [[] for _ in gets]
    for page in data.draw(st.permutations(pages))[: data.draw(st.integers(0, len(pages)))]:
        puts[data.draw(st.integers(0, len(gets) - 1))].append(page)
    # Gets before, between or after the puts; puts may wait for gets that never come.
    rows = []
    for n, mine in zip(gets, puts, strict=True):
        early = data.draw(st.integers(0, n))
        rows.append([(-1, 0)] * early + mine + [(-1, 0)] * (n - early))
    oracle.tasks_on = places
    oracle.__post_init__()
    Twins(oracle).replay(rows, data.draw(st.integers(0, 50)))


def test_cpus_that_draw_trunks_meet_at_most_as_birthdays_do() -> None:
    """Two CPUs in one trunk fill it and leave it sooner, so they share it less than by chance."""
    cpus, trunks = 16, 768
    found = [
        measure(
            # Trunks of 256 slots, as many as on 48 GB.
            Device(slots=trunks << 8, trunk_shift=8, possible_cpus=cpus, seed=seed),
            Churn(used_share=0.6, pages=2**16, warm_up_pages=2**15),
        )
        for seed in range(1, 5)
    ]
    met = statistics.mean(run["trunk.met"] for run in found)
    pairs = statistics.mean(run["trunk.pairs"] for run in found)
    apart = math.prod((trunks - taken) / trunks for taken in range(cpus))
    assert 0.5 < met / (1 - apart) < 1
    assert 0.5 < pairs / (cpus * (cpus - 1) / 2 / trunks) < 1


SMALL = Churn(pages=3000, warm_up_pages=1000)


def test_each_metric_is_there_once() -> None:
    """A run has every metric once; shares lie between 0 and 1."""
    found = measure(Device(slots=1 << 15, possible_cpus=4), SMALL)
    assert list(found) == list(METRICS)
    for name, metric in METRICS.items():
        if metric.unit == "share" and found[name] is not None:
            assert 0 <= found[name] <= 1, name
    assert 0.25 <= found["fairness"] <= 1


def test_a_page_out_and_in_takes_three_acquisitions_in_6_1_and_two_before() -> None:
    """Add, delete and, in 6.1, the freed slot's shadow; slots in return caches are missing."""
    for kernel, expected in (("6.1", 3), ("5.8", 2)):
        found = measure(Device(slots=1 << 15, possible_cpus=2, kernel=kernel), SMALL)
        assert found["lock"] == pytest.approx(expected, abs=0.05)


def test_threads_of_an_address_space_share_its_base() -> None:
    """With one address space for all CPUs permm has one base, else one per CPU."""
    device = Device(slots=1 << 18, possible_cpus=4, policy="permm")
    alone = measure(device, SMALL)
    shared = measure(device, replace(SMALL, threads_per_address_space=4))
    assert shared["lock.moved.add"] > alone["lock.moved.add"]
    assert shared["run"] < alone["run"]


def twin(base, next, lowest, highest, trunk_size, draw):  # type: ignore[no-untyped-def] # noqa: A002
    """Do as percpu-rerandomise does."""
    if base // trunk_size == next // trunk_size:
        return next
    if highest <= lowest:
        return base
    slot = lowest + draw % (highest - lowest + 1)
    return max(slot // trunk_size * trunk_size, lowest)


def test_a_user_policy_that_copies_a_built_in_one_measures_the_same() -> None:
    """A user's function is called where the built-in one is."""
    found = slots.run(
        Device(slots=1 << 16, trunk_shift=10, possible_cpus=4),
        SMALL,
        ["percpu-rerandomise", swapsim.policy(base_of="cpu")(twin)],
        seeds=2,
        kernel=["6.1", "5.7+scan-more"],
    )
    built_in, ours = (
        found.filter(policy=policy).drop("policy") for policy in ("percpu-rerandomise", "twin")
    )
    assert ours.equals(built_in)
    assert ours.filter(metric="lock.moved")["value"].min() > 0


GRID = {"cpus": [2, 4], "used_share": [0.5, 1]}
SWEEP_DEVICE = Device(slots=1 << 15, possible_cpus=4)


def small_sweep(**more: Any) -> pl.DataFrame:
    """Run a short sweep."""
    churn = Churn(pages=500, warm_up_pages=100)
    return slots.run(SWEEP_DEVICE, churn, ["shared", "avoid"], seeds=3, **GRID, **more)


def test_a_grid_has_all_combinations_in_order() -> None:
    """Settings, policies and seeds are in the order given, on threads or in this one."""
    found = small_sweep()
    assert found.columns == ["cpus", "used_share", "policy", "seed", "metric", "value"]
    with ThreadPoolExecutor(1) as alone:
        assert found.equals(small_sweep(executor=alone))
    order = found.select("cpus", "used_share", "policy", "seed").unique(maintain_order=True)
    assert order.rows() == [*product((2, 4), (0.5, 1.0), ("shared", "avoid"), (1, 2, 3))]
    assert found.filter(metric="scanned").height == order.height


@pytest.mark.parametrize(
    ("factor", "value", "cpus"),
    [
        ("cpus", 6, 6),
        ("gigabytes", 0.25, 4),
        ("possible_cpus", 64, 4),
        ("cluster_size", 512, 4),
        ("trunk_shift", 10, 4),
        ("swap_in", "asynchronous", 4),
    ],
)
def test_a_factor_changes_what_it_names(factor: str, value: object, cpus: int) -> None:
    """Each factor is a field of the device or the workload, or CPUs, gigabytes, possible CPUs."""
    churn = Churn(pages=100, warm_up_pages=0)
    (point,) = points(SWEEP_DEVICE, churn, "percpu", seeds=1, **{factor: [value]})
    assert point.device.online == cpus
    assert run_point(point)[factor].unique().to_list() == [value]
    changed = replace(SWEEP_DEVICE, policy="percpu", seed=1), churn
    assert (point.device, point.workload) != changed


def test_an_unknown_factor_is_named_with_those_that_there_are() -> None:
    """An unknown factor, no setting and no seed are refused before the first run."""
    with pytest.raises(InputError, match=r"colour: choose one of cpus, .*used_share"):
        slots.run(SWEEP_DEVICE, SMALL, colour=[1])
    with pytest.raises(InputError, match="used_shares: did you mean used_share"):
        slots.run(SWEEP_DEVICE, SMALL, used_shares=[1])
    with pytest.raises(InputError, match="field 'cpus'"):
        slots.run(SWEEP_DEVICE, SMALL, cpus=[])
    with pytest.raises(InputError, match="seeds=0"):
        slots.run(SWEEP_DEVICE, SMALL, seeds=0)


def sweep_of(values_of: dict[str, list[float | None]], metric: str = "scanned") -> pl.DataFrame:
    """Return a sweep of one setting with these values."""
    return pl.DataFrame(
        [
            (2, policy, seed, metric, value)
            for policy, mine in values_of.items()
            for seed, value in enumerate(mine, 1)
        ],
        schema=["cpus", "policy", "seed", "metric", "value"],
        orient="row",
    )


def test_a_ranking_has_the_best_first_and_names_ties() -> None:
    """The metric says which end is better; runs without a value are left out, and may be all."""
    runs = {"a": [5.0, 5.1, 5.2, 5.3, 5.4], "b": [1.0, 1.5, 2.0, 2.5, 3.0]}
    found = ranking(sweep_of(runs | {"c": [None, 1.4], "d": [None]}), "scanned")
    assert found["policy"].to_list() == ["b", "c", "a"]
    assert found["seeds"].to_list() == [5, 1, 5]
    assert found["rank"].to_list() == ["1-2", "1-3", "2-3"]
    assert found["tied_with"].to_list() == [["c"], ["a", "b"], ["c"]]
    higher = ranking(sweep_of({"a": [5.0], "b": [1.0]}, "run"), "run")
    assert higher["policy"].to_list() == ["a", "b"]
    with pytest.raises(InputError, match="colour"):
        ranking(sweep_of({"a": [1.0]}), "colour")
    with pytest.raises(InputError, match="no run has a value"):
        ranking(sweep_of({"a": [None]}), "scanned")


def events_of(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    """Return rows (pid, mm, op, n, offset) as SLOT_EVENTS."""
    return pl.DataFrame(
        [
            (seq, 0, pid, mm, op, n, offset, None, None, None, None)
            for seq, (pid, mm, op, n, offset) in enumerate(rows)
        ],
        schema=SLOT_EVENTS,
        orient="row",
    )


EVENTS = [
    (70, 0xAA, "call", 2, None),
    (70, 0xAA, "alloc", None, 5),
    (71, 0, "call", 2, None),
    (70, 0xAA, "alloc", None, 6),
    (71, 0, "alloc", None, 9),
    (70, 0xAA, "done", 2, None),
    (72, 0xBB, "free", 2, 5),
    (70, 0, "alloc", None, 5),
]


def test_a_metric_without_a_value_has_an_empty_column() -> None:
    """As a short trace, whose CPUs scan nothing again; a name that was not measured is refused."""
    device, churn = Device(slots=2**16), Churn(used_share=0.5, pages=2**10)
    measured = slots.run(device, churn, "percpu", seeds=1)
    empty = pl.when(pl.col("metric") != "scanned.again").then("value")
    found = means(measured.with_columns(value=empty), ["scanned.again", "scanned"])
    assert found["scanned.again"].to_list() == [None]
    assert found["scanned"].null_count() == 0
    with pytest.raises(InputError, match="has no 'colour'"):
        means(measured, ["colour"])


def test_requests_name_the_page_that_comes_in() -> None:
    """A freed slot is the page of the get that had it last; a free of n slots is n rows."""
    found = request_streams(events_of(EVENTS))
    assert found.schema == REQUESTS
    assert found.rows() == [
        (0, 0, "get", 0, 0),
        (0, 0, "get", 0, 1),
        (1, -1, "get", 1, 0),
        (2, 1, "put", 0, 0),
        (2, 1, "put", 0, 1),
        (0, 0, "get", 0, 2),
    ]


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ((70, 0xAA, "alloc", None, 9), "seq 8: slot 9 is handed out, but it is in use"),
        ((70, 0xAA, "free", 2, 9), "seq 8: slot 10 is freed, but it was not handed out"),
        ((70, 0xAA, "free", 2**32 - 1, 9), "seq 8: slot 9 is the first of more that are freed"),
        ((70, 0xAA, "free", None, 9), "field 'n': the row with seq 8 has no value"),
    ],
)
def test_events_that_contradict_themselves_are_named(row: tuple[Any, ...], complaint: str) -> None:
    """A slot handed out twice, or freed and never handed out, names its row."""
    with pytest.raises(InputError, match=complaint):
        request_streams(events_of([*EVENTS, row]))


def test_events_out_of_order_are_refused() -> None:
    """A seq that falls is refused."""
    with pytest.raises(InputError, match="field 'seq': the row with seq 6 is out of order"):
        request_streams(events_of(EVENTS).reverse())


@pytest.mark.parametrize("name", ["slots-4-above-half", "slots-8-many-trunks"])
def test_requests_of_a_real_kernel_are_all_served(name: str) -> None:
    """Each slot of a shipped trace is a page out, each slot freed one in, under any policy."""
    folder = traces.shipped_folders("slots")[name]
    events, requests = slot_events(folder), request_streams(folder)
    gets, puts = (requests.filter(op=op).height for op in ("get", "put"))
    assert gets == events.filter(op="alloc").height
    assert puts == events.filter(op="free")["n"].sum()
    assert requests.filter(op="put").select("owner", "ordinal").is_unique().all()
    device = traced_device(folder)
    for policy in ("shared", "percpu-rerandomise"):
        found = measure(replace(device, policy=policy), Streams(requests=requests))
        assert found["without_slot"] == 0
        # What is not freed waits in return caches, or stays to the end.
        assert 2 < found["lock"] <= 2 + puts / gets
    late = measure(device, Streams(requests=requests, skipped_share=0.8))
    assert late["scanned"] != found["scanned"]


def test_requests_that_can_never_be_served_are_refused() -> None:
    """Tasks that wait for one another, and unknown pages, are bad input."""
    for rows, complaint in (
        ([(0, 0, "put", 1, 0), (0, 0, "get", 0, 0)], "never gets"),
        (
            [
                (task, 0, op, other, 0)
                for task in (0, 1)
                for op, other in (("put", 1 - task), ("get", task))
            ],
            "wait for one another",
        ),
        ([(0, 0, "get", 0, 0), (0, 0, "put", 0, 0), (0, 0, "put", 0, 0)], "put before"),
    ):
        requests = pl.DataFrame(rows, schema=REQUESTS, orient="row")
        with pytest.raises(InputError, match=complaint):
            measure(Device(slots=4096), Streams(requests=requests))
    with pytest.raises(InputError, match="no rows"):
        Streams(requests=pl.DataFrame(schema=REQUESTS))


@pytest.mark.parametrize(
    ("make", "field", "value"),
    [
        (Churn, "used_share", 0),
        (Churn, "used_share", 1.1),
        (Churn, "pages", 0),
        (Churn, "warm_up_pages", -1),
        (Churn, "swap_in", "soon"),
        (Churn, "threads_per_address_space", 0),
    ],
)
def test_a_workload_out_of_range_quotes_field_and_value(
    make: Any, field: str, value: object
) -> None:
    """A workload is checked when it is created."""
    with pytest.raises(InputError, match=f"{field}=.*{value}"):
        make(**{field: value})


def test_more_address_spaces_than_can_own_pages_are_refused() -> None:
    """257 CPUs with an address space each are refused; with two threads each they run."""
    device = Device(slots=1 << 18, possible_cpus=257)
    with pytest.raises(InputError, match=r"address spaces=257.*1 to 256 can own pages"):
        measure(device, SMALL)
    measure(device, Churn(pages=300, warm_up_pages=0, threads_per_address_space=2))


@pytest.mark.parametrize("n_slots", [2, 3, 255, 257, 700])
def test_tiny_devices_and_more_cpus_than_trunks_have_defined_results(n_slots: int) -> None:
    """A device smaller than its CPUs' clusters, or full, still gives every metric."""
    for used_share in (0.5, 1.0):
        found = measure(
            Device(slots=n_slots, possible_cpus=8),
            Churn(used_share=used_share, pages=50, warm_up_pages=10),
        )
        assert found["without_slot"] is not None


def test_workloads_can_be_pickled() -> None:
    """A workload, with its streams, is sent to other processes."""
    assert pickle.loads(pickle.dumps(SMALL)) == SMALL
    streams = Streams(requests=request_streams(events_of(EVENTS)))
    assert pickle.loads(pickle.dumps(streams)).requests.equals(streams.requests)
