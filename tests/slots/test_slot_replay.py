# SPDX-License-Identifier: GPL-2.0-or-later
"""The replay of slot events: traces that must verify, and traces that must not."""

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from oracle_slots import Config, Kernel, Policy
from oracle_verify import Machine

from swapsim import traces
from swapsim.cli import main
from swapsim.errors import InputError
from swapsim.ffi import CPUS_MAX, SLOTS_MAX
from swapsim.io import shipped_traces
from swapsim.slots import _native as native_slots
from swapsim.slots.events import SLOT_CALLS, SLOT_EVENTS
from swapsim.slots.verify import OPEN_CALLS_MAX, verify
from swapsim.traces.verification import Verdict

SLOT_TRACES = {
    name: folder
    for name, folder in shipped_traces().items()
    if (folder / "slot_events.parquet").exists()
}
POLICY = {
    Policy.SHARED: "shared",
    Policy.PERCPU: "percpu",
    Policy.PERCPU_RERANDOMISE: "percpu-rerandomise",
}
LINEAR = {"spread": "percpu"}
"""Policies of a captured kernel that store their bases as another one does."""

RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large]
SEEDS = st.integers(0, 2**32)


def machine(seed: int, *, cpus: int) -> Machine:
    """Return a machine, drawn from the seed, after a run."""
    draw = random.Random(seed)
    config = Config(
        kernel=draw.choice((Kernel.V6_1, Kernel.V6_1, Kernel.V5_8)),
        slots=draw.choice((600, 1025, 1400, 2050)),
        cluster_size=draw.choice((256, 512)),
        trunk_shift=draw.choice((8, 9, 10)),
        possible_cpus=cpus,
        online_cpus=cpus,
        policy=draw.choice(list(POLICY)),
        seed=seed,
    )
    made = Machine(
        config,
        draw,
        n_tasks=draw.choice((1, 2, 4, 8)),
        return_cache=draw.choice((0, 1, 4, 64)),
        cached=draw.choice((0, 0.2, 0.7)),
        bursts=draw.choice(((1, 1, 2, 5, 40, 400), (1, 2, 3, 10), (1, 50, 100, 200))),
    )
    for _ in range(draw.choice((1, 3))):
        made.run(draw.choice((100, 400)), draw.choice((0.3, 0.6, 0.9, 1.0)))
    return made


def usual(rows: pl.DataFrame) -> bool:
    """Return whether there are rows, of which none tries to reuse a slot after an alloc.

    A kernel does that if a scan reads past the end of a device that is almost full.
    """
    within = rows.filter(pl.col("op") != "free").with_columns(
        before=pl.col("op").shift(1).over("pid")
    )
    return rows.height > 0 and not ((within["op"] == "reuse") & (within["before"] == "alloc")).any()


def verdict(made: Machine, rows: pl.DataFrame) -> Verdict:
    """Verify rows as those of this machine's kernel."""
    config = made.config
    return verify(
        rows,
        policy=POLICY[config.policy],
        cluster_size=config.cluster_size,
        trunk_shift=config.trunk_shift,
        kernel={Kernel.V5_8: "5.8", Kernel.V6_1: "6.1"}[config.kernel],
    )


def require_holds(found: Verdict) -> None:
    """Require that each call matches."""
    assert found.agrees, "\n".join(found.describe())


def spoil(rows: pl.DataFrame, where: pl.Expr, column: str, value: int) -> pl.DataFrame:
    """Return the rows with another value in some rows of a column."""
    changed = pl.when(where).then(value).otherwise(column)
    return rows.with_columns(changed.cast(SLOT_EVENTS[column]).alias(column))


@settings(max_examples=15, suppress_health_check=RELAXED)
@given(seed=SEEDS, cpus=st.sampled_from([2, 3, 8]))
def test_what_a_kernel_wrote_verifies_in_full(seed: int, cpus: int) -> None:
    """All calls match when they interleave test by test, with reuse, migration and flushes."""
    made = machine(seed, cpus=cpus)
    rows = made.frame()
    assume(usual(rows))
    found = verdict(made, rows)
    require_holds(found)
    assert found.tables["calls"].schema == SLOT_CALLS
    assert found.tables["calls"].height == rows["op"].is_in(["done", "fail"]).sum()
    assert found.tables["calls"]["slots"].sum() == rows.filter(pl.col("op") == "done")["n"].sum()
    assert found.tables["calls"]["mismatched"].sum() == 0


@settings(max_examples=8, suppress_health_check=RELAXED)
@given(seed=SEEDS)
def test_on_one_cpu_nothing_is_raced(seed: int) -> None:
    """If tasks change only where the ration ends, every slot is exact."""
    made = machine(seed, cpus=1)
    rows = made.frame()
    assume(usual(rows))
    found = verdict(made, rows)
    require_holds(found)
    assert found.tables["calls"]["raced"].sum() == 0


def crowded(seed: int, *, cpus: int, appetite: float) -> Machine:
    """Return a machine whose tasks share a base on a crowded device."""
    size = {"slots": 2050, "trunk_shift": 9, "possible_cpus": cpus, "online_cpus": cpus}
    config = Config(**size, policy=Policy.SHARED, seed=seed)
    made = Machine(
        config, random.Random(seed), n_tasks=8, return_cache=64, cached=0, bursts=(1, 5, 60, 200)
    )
    made.run(2500, appetite)
    return made


def test_slots_taken_during_a_scan_are_explained() -> None:
    """The generated traces have slots that only the rows of other tasks explain."""
    raced = 0
    for seed in range(4):
        made = crowded(seed, cpus=3, appetite=0.97)
        found = verdict(made, made.frame())
        require_holds(found)
        raced += int(found.tables["calls"]["raced"].sum())
    assert raced > 0


def test_tasks_of_one_cpu_change_within_a_scan() -> None:
    """On one CPU too, other tasks take and free slots during a call's scan."""
    made = crowded(5, cpus=1, appetite=0.97)
    rows = made.frame()
    calls = rows.with_columns(after=pl.col("pid").shift(-1)).filter(pl.col("op") == "call")
    assert calls.filter(pl.col("pid") != pl.col("after")).height > 3
    found = verdict(made, rows)
    assert found.agrees
    assert found.tables["calls"]["raced"].sum() == 0


@settings(max_examples=8, suppress_health_check=RELAXED)
@given(seed=SEEDS, cpus=st.sampled_from([1, 3]), data=st.data())
def test_another_base_does_not_verify(seed: int, cpus: int, data: st.DataObject) -> None:
    """A stored base or a call's base that is off by one is a mismatch of a call."""
    made = machine(seed, cpus=cpus)
    rows = made.frame()
    column, op = data.draw(st.sampled_from([("next", "done"), ("base", "call")]))
    assume(usual(rows))
    ended = verdict(made, rows).tables["calls"]
    known = rows.filter((pl.col("op") == op) & pl.col("seq").is_between(1, ended["seq"].max() or 0))
    # The first call of a base defines it.
    first = rows.filter(pl.col("op") == "call").unique(
        "cpu" if made.config.policy is not Policy.SHARED else "op", keep="first"
    )
    known = known.filter(~pl.col("seq").is_in(first["seq"].implode()))
    if op == "call":
        known = known.filter(pl.col("seq").is_in(ended["seq"].implode()))
    assume(known.height)
    seq, old = known.select("seq", column).row(data.draw(st.integers(0, known.height - 1)))
    new = old + 1 if old <= made.config.slots // 2 else old - 1
    aligned = new % (1 << made.config.trunk_shift) == 0 or old % (1 << made.config.trunk_shift) == 0
    assume(not aligned and new > 1)
    found = verdict(made, spoil(rows, pl.col("seq") == seq, column, new))
    assert not found.agrees
    assert "lowest" not in str(found.first).splitlines()[0]


@settings(max_examples=8, suppress_health_check=RELAXED)
@given(seed=SEEDS, cpus=st.sampled_from([1, 3]), data=st.data())
def test_another_slot_does_not_verify(seed: int, cpus: int, data: st.DataObject) -> None:
    """A slot in place of one that was handed out once does not match."""
    made = machine(seed, cpus=cpus)
    rows = made.frame()
    assume(usual(rows))
    ended = verdict(made, rows).tables["calls"]
    given_slots = rows.filter(pl.col("op") == "alloc")["offset"]
    once = given_slots.value_counts().filter(pl.col("count") == 1)["offset"].sort()
    never = sorted(set(range(1, made.config.slots)) - set(given_slots))
    assume(len(once) and never and ended.height)
    old = once[data.draw(st.integers(0, len(once) - 1))]
    new = data.draw(st.sampled_from(never))
    row = rows.filter((pl.col("op") == "alloc") & (pl.col("offset") == old)).row(0, named=True)
    after = rows.filter(
        (pl.col("pid") == row["pid"])
        & (pl.col("seq") > row["seq"])
        & pl.col("op").is_in(["done", "fail"])
    )
    assume(after.height)
    found = verdict(made, spoil(rows, pl.col("offset") == old, "offset", new))
    assert not found.agrees
    assert found.tables["calls"]["mismatched"].sum() > 0


@settings(max_examples=15, suppress_health_check=RELAXED)
@given(seed=SEEDS, data=st.data())
def test_spoilt_rows_are_refused_or_judged(seed: int, data: st.DataObject) -> None:
    """Any value in a field gives a verdict, or one line that names a row."""
    made = machine(seed % 1000, cpus=2)
    rows = made.frame()
    assume(usual(rows))
    column = data.draw(st.sampled_from(["cpu", "pid", "n", "offset", "base", "next", "highest"]))
    at = data.draw(st.integers(0, rows.height - 1))
    value = data.draw(st.one_of(st.integers(0, 70), st.sampled_from([2**15, 2**16 - 1])))
    try:
        found = verdict(made, spoil(rows, pl.int_range(pl.len()) == at, column, value))
    except InputError as error:
        refused = str(error)
    else:
        refused = "seq"
        assert found.tables["calls"].schema == SLOT_CALLS
    assert "seq" in refused
    assert "\n" not in refused


def test_the_size_of_a_chunk_has_no_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows in chunks of three give the same verdicts as rows in one chunk."""
    made = machine(1, cpus=3)
    rows = made.frame()
    at_once = verdict(made, rows)
    monkeypatch.setattr(native_slots, "CHUNK_ROWS", 3)
    parts = verdict(made, rows)
    assert parts.tables["calls"].equals(at_once.tables["calls"])
    assert parts.figures == at_once.figures


HAND: list[dict[str, Any]] = [
    {"op": "call", "n": 2, "base": 10, "lowest": 1, "highest": 39},
    {"op": "alloc", "offset": 11},
    {"op": "alloc", "offset": 12},
    {"op": "done", "n": 2, "next": 13},
    {"op": "free", "offset": 11, "n": 1},
    {"op": "call", "n": 1, "base": 13, "lowest": 1, "highest": 39},
    {"op": "alloc", "offset": 14},
    {"op": "done", "n": 1, "next": 15},
]


def table(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Return rows of task 7 on CPU 0, with seq 10, 11 and so on, as SLOT_EVENTS."""
    head = dict.fromkeys(SLOT_EVENTS.names()) | {"cpu": 0, "pid": 7, "mm": 0}
    return pl.DataFrame(
        [head | {"seq": 10 + at} | row for at, row in enumerate(rows)], schema=SLOT_EVENTS
    )


def changed(at: int, **values: Any) -> pl.DataFrame:
    """Return the rows of HAND, one of them changed."""
    return table([row | values if place == at else row for place, row in enumerate(HAND)])


def written(rows: pl.DataFrame, folder: Path) -> str:
    """Return the path of a Parquet file of the rows."""
    path = folder / "slot_events.parquet"
    rows.write_parquet(path)
    return str(path)


def test_the_largest_device_is_not_walked_for_each_slot() -> None:
    """Slots anywhere on a device of 16 TiB, all of them wrong, take less than a second.

    A walk along the list of free clusters for each of them took minutes.
    """
    slots = SLOTS_MAX - 1
    rows: list[dict[str, Any]] = []
    for at in range(4000):
        offset = 1 + at * 7_919_000_003 % (slots - 1)
        rows += [
            {"op": "call", "n": 1, "base": 10, "lowest": 1, "highest": slots - 1},
            {"op": "alloc", "offset": offset},
            {"op": "done", "n": 1, "next": offset},
        ]
    found = verify(table(rows), policy="percpu", cluster_size=256)
    assert found.tables["calls"]["mismatched"].sum() == 4000


def test_calls_that_never_end_are_refused_before_they_take_memory() -> None:
    """A call is refused, by its row, if too many are open."""
    call = {"op": "call", "n": 1, "base": 10, "lowest": 1, "highest": 2 * OPEN_CALLS_MAX}
    rows = table([call | {"pid": task} for task in range(OPEN_CALLS_MAX + 1)])
    assert open_at_the_end(rows.head(OPEN_CALLS_MAX)) == OPEN_CALLS_MAX
    with pytest.raises(InputError, match=rf"the row with seq {rows['seq'][-1]} opens a call while"):
        open_at_the_end(rows)


def open_at_the_end(rows: pl.DataFrame) -> int:
    """Return the number of calls of a trace that do not end."""
    return verify(rows, policy="percpu", cluster_size=256).figures["open"]


ARGUMENTS = ("--policy", "percpu", "--cluster-size", "256")


def test_the_command_prints_what_matched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A trace that matches exits 0 with the counts in its last line."""
    assert main(["verify", "slots", written(table(HAND), tmp_path), *ARGUMENTS]) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        "2 of 2 calls matched",
        "matched 3 of 3 slots (3 exact, 0 raced)",
    ]
    assert printed.err == ""


def test_the_command_shows_the_first_call_that_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mismatch exits 1 with both slot lists, the state and the counts."""
    path = written(changed(6, offset=17), tmp_path)
    assert main(["verify", "slots", path, *ARGUMENTS]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "first mismatch: the call with seq 15 of task 7 on CPU 0: its slots differ",
        "  ours:  14; stores 15",
        "  trace: 17; stores 15",
        "  state: base 13, ration 256, lowest 1, highest 39, free clusters 0",
        "1 of 2 calls matched",
        "matched 2 of 3 slots (2 exact, 0 raced)",
    ]


def test_a_trace_of_another_policy_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """The mismatch has few of a call's slots, and the policy with which the trace was recorded."""
    wrong = ["--policy", "percpu", "--cluster-size", "256"]
    assert main(["verify", "slots", "slots-4-shared", *wrong]) == 1
    printed = capsys.readouterr().out
    assert "recorded with policy shared, replayed with policy percpu" in printed
    assert max(map(len, printed.splitlines())) <= 120


def test_a_wrong_stored_base_is_a_mismatch_of_its_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its slot does not count as matched, exit is 1, and the first line names the base."""
    path = written(changed(7, next=16), tmp_path)
    assert main(["verify", "slots", path, *ARGUMENTS]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("the base that it stores differs")
    assert lines[1:3] == ["  ours:  14; stores 15", "  trace: 14; stores 16"]
    assert lines[-1] == "matched 2 of 3 slots (2 exact, 0 raced)"


def test_one_mismatch_does_not_cause_others(tmp_path: Path) -> None:
    """After a wrong slot and base, the calls that follow them match."""
    rows = [*HAND[:6], {"op": "alloc", "offset": 20}, {"op": "done", "n": 1, "next": 21}]
    rows += [
        {"op": "call", "n": 3, "base": 21, "lowest": 1, "highest": 39},
        *({"op": "alloc", "offset": offset} for offset in (22, 23, 24)),
        {"op": "done", "n": 3, "next": 25},
        {"op": "free", "offset": 20, "n": 1},
    ]
    path = written(table(rows), tmp_path)
    calls = verify(path, policy="percpu", cluster_size=256).tables["calls"]
    assert calls["fault"].to_list() == ["none", "slots", "none"]
    assert calls["mismatched"].to_list() == [0, 1, 0]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (changed(4, offset=20), ("seq 14", "never handed out")),
        (changed(4, offset=11, n=3), ("seq 14", "never handed out")),
        (changed(6, offset=12), ("seq 16", "in use")),
        (changed(2, offset=11), ("seq 12", "in use")),
        (changed(6, offset=40), ("seq 16", "past the end")),
        (changed(6, offset=0), ("seq 16", "past the end")),
        (changed(4, offset=39, n=2), ("seq 14", "past the end")),
        (changed(4, n=0), ("seq 14", "frees no slot")),
        (changed(3, op="call", base=13, lowest=1, highest=39), ("seq 13", "open already")),
        (changed(5, op="alloc", offset=14), ("seq 15", "no call open")),
        (changed(5, op="fail"), ("seq 15", "no call open")),
        (changed(6, seq=15), ("seq 15", "sort the rows")),
        (changed(6, seq=3), ("seq 3", "sort the rows")),
        (changed(7, n=2), ("seq 17", "alloc rows")),
        (changed(5, n=65), ("seq 15", "more than 64")),
        (changed(5, base=42), ("seq 15", "base")),
        (changed(5, highest=40), ("seq 15", "highest")),
        (changed(0, lowest=2), ("seq 10", "empty device")),
        (changed(0, highest=0), ("seq 10", "field 'highest'")),
        (table(HAND[1:]), ("seq 10", "no call")),
        (table([]), ("no rows",)),
        (changed(6, offset=None), ("seq 16", "field 'offset'", "alloc")),
        (changed(7, next=None), ("seq 17", "field 'next'", "done")),
        (changed(5, lowest=None), ("seq 15", "field 'lowest'", "call")),
        (changed(5, op=None), ("seq 15", "field 'op'")),
        (changed(5, seq=None), ("row 5", "field 'seq'")),
        (changed(5, cpu=CPUS_MAX), ("seq 15", str(CPUS_MAX))),
        (table(HAND).drop("offset"), ("field 'offset'", "no such column")),
        (table(HAND).with_columns(pl.col("n").cast(pl.Int64)), ("field 'n'", "Int64")),
        (table(HAND).with_columns(pl.col("op").cast(pl.String)), ("field 'op'", "String")),
    ],
)
def test_bad_rows_are_named(
    rows: pl.DataFrame, words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2 and one line with the file, the row and what is wrong with it."""
    path = written(rows, tmp_path)
    assert main(["verify", "slots", path, *ARGUMENTS]) == 2
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    for word in (path, *words):
        assert word in line


def test_a_file_that_is_not_a_table_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No file, an empty folder, text, half a Parquet file: exit 2 and one line with the path."""
    text = tmp_path / "text.parquet"
    text.write_text("call 7\n")
    half = tmp_path / "half.parquet"
    half.write_bytes(Path(written(table(HAND), tmp_path)).read_bytes()[:900])
    empty = tmp_path / "empty"
    empty.mkdir()
    for path in (tmp_path / "none", empty, text, half):
        assert main(["verify", "slots", str(path), *ARGUMENTS]) == 2
        line = capsys.readouterr().err
        assert line.count("\n") == 1
        assert str(path) in line


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"policy": "permm"}, "policy='permm'"),
        ({"kernel": "5.7"}, "kernel='5.7'"),
        ({"cluster_size": 100}, "cluster_size=100"),
        ({"trunk_shift": 32}, "trunk_shift=32"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], word: str) -> None:
    """The message quotes the option and its value."""
    with pytest.raises(InputError, match=word):
        verify(table(HAND), **{"policy": "percpu", "cluster_size": 256, **options})


@pytest.mark.parametrize("name", sorted(SLOT_TRACES))
def test_the_slots_of_a_real_kernel_match(name: str) -> None:
    """Every slot and every stored base of a shipped trace matches; with one CPU, exactly."""
    kernel = traces.provenance(SLOT_TRACES[name])["kernel"]
    rows = pl.read_parquet(SLOT_TRACES[name] / "slot_events.parquet")
    found = verify(
        rows,
        policy=LINEAR.get(kernel["swap_base"], kernel["swap_base"]),
        cluster_size=kernel["cluster_size"],
        trunk_shift=kernel["trunk_shift"],
    )
    require_holds(found)
    assert found.tables["calls"]["slots"].sum() > 10_000
    if rows["cpu"].n_unique() == 1:
        assert found.tables["calls"]["raced"].sum() == 0
