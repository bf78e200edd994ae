# SPDX-License-Identifier: GPL-2.0-or-later
"""Wrong arguments of public functions and configs: one SwapsimError of a line, with the remedy."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import partial
from importlib import import_module
from pathlib import Path
from types import FunctionType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
import polars as pl
import pytest

import swapsim
from swapsim import claims, clusters, live, mapping, slots, study, traces
from swapsim.checks import brief, checked, fits
from swapsim.errors import ArgumentError, SwapsimError
from swapsim.machine import MachineConfig, gain
from swapsim.machine import run as machine_run
from swapsim.machine.costs import change_costs, costs
from swapsim.mapping import MappingConfig
from swapsim.reclaim import ReclaimConfig
from swapsim.slots import ChurnConfig, FillConfig, MeterConfig, SlotsConfig, StreamsConfig
from swapsim.slots.tables import REQUESTS
from swapsim.stall import StallContext
from swapsim.traces.probes import recording_script

PACKAGES = (
    *("claims", "clusters", "frames", "mapping", "reclaim", "removal", "slots"),
    *("stall", "study", "traces", "machine.run", "machine.costs", "machine.what_if"),
    *(f"{package}.charts" for package in ("clusters", "mapping", "slots")),
)
"""What a user calls; each patch's package checks its tables, and is called by its notebook."""

UNCHECKED = {"frames.use", "machine.run.window_metrics"}


class Nothing:
    """What no function takes."""


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the functions of PACKAGES, by the names under which a user calls them."""
    for package in PACKAGES:
        module = import_module(f"swapsim.{package}")
        for name in getattr(module, "__all__", vars(module)):
            thing = getattr(module, name)
            if not isinstance(thing, FunctionType) or name.startswith("_"):
                continue
            here = thing.__module__ == module.__name__
            public = package.endswith("charts") or hasattr(thing, "unchecked")
            if hasattr(module, "__all__") or (here and public):
                yield f"{package}.{name}", thing


FUNCTIONS = {
    name: thing
    for name, thing in public_functions()
    if inspect.signature(thing).parameters and "checked" not in name and name not in UNCHECKED
}


def parameters() -> list[tuple[str, str]]:
    """Return each function and each of its parameters whose annotation is of a type."""
    return [
        (name, parameter)
        for name, function in FUNCTIONS.items()
        for parameter, hint in get_type_hints(inspect.unwrap(function)).items()
        if parameter != "return" and not fits(Nothing(), hint) and "How" not in str(hint)
    ]


def value_of(hint: Any) -> object:
    """Return some value of a type."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return value_of(get_args(hint)[0])
    values: dict[object, object] = {str: "x", int: 1, float: 0.5, bool: True, pl.DataFrame: None}
    if hint is pl.DataFrame:
        return pl.DataFrame()
    if hint in values:
        return values[hint]
    if origin is None:
        return Path() if hint is Path else hint.__new__(hint)
    return {Mapping: {}, tuple: (), Callable: print}.get(origin, [])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_public_function_checks_its_arguments(name: str) -> None:
    """A public function without the check would fail deep inside, with Python's own error."""
    assert hasattr(FUNCTIONS[name], "unchecked")


@pytest.mark.parametrize(("name", "parameter"), parameters())
def test_a_wrong_type_is_refused_by_name(name: str, parameter: str) -> None:
    """The error is one line that names the argument, and what the function needs."""
    function = FUNCTIONS[name]
    hints = get_type_hints(inspect.unwrap(function))
    needed = inspect.signature(function).parameters
    given = {
        each: value_of(hints[each])
        for each, about in needed.items()
        if about.default is about.empty and about.kind is not about.VAR_KEYWORD
    }
    with pytest.raises(ArgumentError) as refused:
        function(**given | {parameter: Nothing()})
    text = str(refused.value)
    assert text.startswith(f"{parameter}=")
    assert f"{function.__name__} needs a" in text or f"{function.__name__} needs True" in text
    assert "\n" not in text


REQUEST = pl.DataFrame(
    {name: [0] for name in REQUESTS.names()}, schema=REQUESTS.schema, strict=False
)
CONFIGS = (
    *(ChurnConfig, FillConfig, MachineConfig, MappingConfig, MeterConfig, ReclaimConfig),
    *(SlotsConfig, StallContext, StreamsConfig),
)
NEEDED: dict[Any, dict[str, Any]] = {
    MachineConfig: {"walkers": 2},
    StreamsConfig: {"requests": REQUEST},
}


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.__name__)
def test_each_field_of_a_config_refuses_a_wrong_type(config: Any) -> None:
    """The error is one line that names the field; a flag is no number, which C would accept."""
    needed = NEEDED.get(config, {})
    config(**needed)
    for field in fields(config):
        for wrong in (..., *([0, 1, -2, 2**64, "no", None] if field.type is bool else [])):
            with pytest.raises(SwapsimError, match=rf"(?i)\A.*\b{field.name}\b.*\Z"):
                config(**needed | {field.name: wrong})


OUT_OF_RANGE: dict[Callable[..., object], dict[str, list[object]]] = {
    MappingConfig: {
        "kernel": ["4.9"], "swap_slots": [0], "trunk_shift": [33], "tree_shift": [7],
    },
    SlotsConfig: {
        "kernel": ["6.2"], "slots": [1, 2**32 - 512], "cluster_size": [128], "trunk_shift": [0, 32],
        "possible_cpus": [0, 4097], "online_cpus": [0, 9], "address_spaces": [-1, 2**24 + 1],
        "policy": ["random"], "seed": [-1, 2**64],
    },
}  # fmt: skip


@pytest.mark.parametrize("config", OUT_OF_RANGE, ids=lambda config: config.__name__)
def test_a_value_out_of_range_is_quoted(config: Any) -> None:
    """The error is one line with the field and its value."""
    for field, values in OUT_OF_RANGE[config].items():
        for value in values:
            with pytest.raises(SwapsimError, match=rf"\A{field}={value!r}: .*\Z"):
                config(**{field: value})


def endless(base: int) -> int:
    """Return never."""
    while True:
        base += 1


def machine_gain(metric: str = "swap_out", seeds: Any = (1,), constants: Any = None) -> object:
    """Return a gain of patch D on a small machine."""
    machine, policies = MachineConfig(walkers=2), ["shared", "percpu"]
    return gain(machine, policies, constants, metric=metric, seeds=seeds)


def serial(task: Any, points: Any) -> list[Any]:
    """Run a sweep in this process."""
    return study.run(task, points)


class Frame:
    """A frame of another library."""

    __module__ = "pandas.core.frame"


HERE = Path(__file__)
WRONG: tuple[tuple[Callable[[], object], str], ...] = (
    # Configs: another class, a wrong type of a field, a wrong value, a wrong name.
    (partial(machine_run.run, {"walkers": 2}), "give MachineConfig(**config)"),
    (partial(machine_run.run, MachineConfig), "give MachineConfig(...)"),
    (partial(slots.measure, ChurnConfig(), SlotsConfig()), "device and workload are swapped"),
    (partial(slots.measure, SlotsConfig(), "slots-4-shared"), "a FillConfig, a ChurnConfig or"),
    (partial(MachineConfig, kernel=4.8), 'write kernel="4.8"'),
    (partial(MachineConfig, walkers=np.float64(3)), "write walkers=3"),
    (partial(MachineConfig, walkers=10**30), "a whole number from 0 to"),
    (partial(MachineConfig, walkers=16, devices=2), "more nodes"),
    (partial(MachineConfig, walker=16), "did you mean walkers=?"),
    (partial(MachineConfig, "4.8"), "takes nothing without a name"),
    (partial(slots.grid_points, SlotsConfig(), ChurnConfig(), {"used_shar": [1]}), "used_share?"),
    (partial(ChurnConfig, used_share=float("nan")), "used_share=nan: choose a number"),
    (partial(ChurnConfig, used_share=1.5), "above 0 and up to 1"),
    (partial(SlotsConfig, policy="per-cpu"), "did you mean percpu? choose one of shared"),
    (partial(SlotsConfig, policy=len), "decorated with @swapsim.policy"),
    (partial(swapsim.policy, len), "name the others (base_of=, initial=)"),
    (partial(swapsim.policy, serial), "@policy(base_of=...)"),
    (partial(swapsim.list_policy, serial), "@list_policy()"),
    (partial(swapsim.policy(base_of="cpu"), endless), "it never returns"),
    (partial(MachineConfig, walkers=64, frames=16384), "choose 34450 or more"),
    (partial(MachineConfig, walkers=2048, pages=2**26), "and it has 1073413984 free"),
    (partial(MachineConfig, kernel="6.1", slots=3), "slots=3: walkers=1 of pages=16384 need 192"),
    # Lists and dictionaries, and what is in them.
    (partial(serial, machine_run.run, MachineConfig()), "points=[MachineConfig(walkers=1, "),
    (partial(machine_run.run_policies, MachineConfig, "percpu"), "policies=['percpu']"),
    (partial(machine_run.run_policies, MachineConfig, []), "give at least one"),
    (partial(machine_run.run_policies, MachineConfig, ["percpu", 3]), "policies[1]=3"),
    (partial(change_costs, costs(), {"copy_ns": float("nan")}), "values['copy_ns']=nan"),
    (partial(change_costs, costs(), {"copy": 4}), "did you mean copy_ns?"),
    (partial(change_costs, costs(), {"copy_ns": -4}), "a whole number of ns from 1"),
    (partial(slots.verify_slots, pl.DataFrame()), "give policy="),
    (partial(live.panel, kind="queued lock"), "panel needs name=: give it"),
    (partial(machine_gain, metric="swapout"), "choose one of accesses, swap_out, written"),
    (partial(machine_gain, metric="written"), "to gain on (it is 0)"),
    (partial(machine_gain, seeds=[1, 2, 1]), "field 'seeds': 1 is given twice: give each once"),
    (partial(gain, MachineConfig(), ["shared"] * 2), "field 'policies': shared is given twice"),
    (
        partial(slots.one_at_a_time, SlotsConfig(), ChurnConfig(), {"used_share": []}),
        "factors['used_share']': nothing",
    ),
    (partial(slots.ranking, pl.DataFrame({"seed": [1]}), "run"), "make the table with slots.one_"),
    (partial(machine_gain, constants={"copy_ns": 400}), "as machine.costs.change_costs does"),
    # Traces and files.
    (partial(traces.info, __file__), "is a file: import it"),
    (partial(traces.info, HERE.parent), "no trace folder: it has neither"),
    (partial(traces.info, "swap-w-sek"), "there is swap-w-seq"),
    (partial(traces.import_text, HERE.parent, "made"), "name a readable text"),
    (partial(traces.import_text, "sample", "no/made"), "its folder does not exist: create it"),
    (partial(recording_script, HERE, ["slots"]), "its name here is cluster-next"),
    (partial(mapping.writeback_tags, "slots-4-shared"), "needs the events swp_add"),
    (partial(mapping.writeback_tags, "swap-w-seq", kernl="4.8"), "did you mean kernel=?"),
    (partial(mapping.writeback_tags, "swap-w-seq", kernel="4.9"), "choose one of 4.8, 5.8, 6.1"),
    (partial(slots.verify_slots, "slots-4-shared", "percpu"), "only source without a name"),
    (
        partial(slots.verify_slots, "swap-w-seq", policy="shared", cluster_size=256),
        "needs the event slot_events; the trace has: mm_vmscan",
    ),
    (partial(clusters.verify_clusters), "verify_clusters needs "),
    # Frames of another kind, and of another table.
    (partial(mapping.per_page, Frame()), "give polars.from_pandas(sites)"),
    (partial(mapping.per_page, {"site": []}), "give polars.DataFrame(sites)"),
    (partial(claims.medians, pl.LazyFrame()), "give results.collect()"),
    (partial(claims.medians, pl.DataFrame({"value": [1.0]})), "it has: value"),
    (partial(mapping.charts.work_by_site, costs()), "table LOCK_SITES_PER_PAGE has no such column"),
)


@pytest.mark.parametrize(("call", "remedy"), WRONG)
def test_a_wrong_argument_is_one_line_with_the_remedy(
    call: Callable[[], object], remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each mistake is a SwapsimError, whose line says what to give instead."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SwapsimError) as refused:
        call()
    assert remedy in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_a_check_changes_neither_name_nor_result() -> None:
    """A checked function is called, shown and pickled as before; its defaults stay."""

    @checked
    def double(number: int, *, times: int = 2) -> int:
        """Double."""
        return number * times

    assert (double(2), double(number=2, times=3)) == (4, 6)
    assert (double.__name__, double.__doc__) == ("double", "Double.")
    assert str(inspect.signature(double)) == "(number: int, *, times: int = 2) -> int"
    assert double(np.int64(2)) == 4
    for wrong in (True, 2.0, "2", None):
        with pytest.raises(ArgumentError, match=r"^number=.*: double needs a whole number"):
            double(wrong)  # type: ignore[arg-type]


def test_a_config_is_quoted_by_what_differs() -> None:
    """An error about one of many machines says which it is, and stays a line."""
    assert brief(SlotsConfig(slots=999, seed=7)) == "SlotsConfig(slots=999, seed=7)"
    assert brief("x" * 100) == "<str>"


def test_the_default_machine_runs() -> None:
    """It has one walker; with other tasks, walkers are on request only."""
    results = machine_run.metric_values(MachineConfig())
    assert results["swap_out"] > 0
    assert MachineConfig().walkers == 1
    assert (MachineConfig(writers=2).walkers, MachineConfig(writers=2).tasks) == (0, 2)


@pytest.mark.parametrize("tasks", [{"walkers": 64}, {"walkers": 300, "nodes": 2}, {"writers": 64}])
def test_memory_and_devices_scale_with_the_tasks(tasks: dict[str, int]) -> None:
    """More tasks than the defaults are for swap, too; what is given stays as it is."""
    config = MachineConfig(**tasks)  # type: ignore[arg-type]
    assert config.frames > MachineConfig().frames
    assert MachineConfig(**tasks, frames=999_999).frames == 999_999  # type: ignore[arg-type]
    assert machine_run.metric_values(config)["swap_out"] > 0


def test_a_machine_that_does_not_swap_says_so() -> None:
    """In one line, which names the fields to change."""
    with pytest.warns(UserWarning, match="swapped no page out") as said:
        machine_run.run(MachineConfig(walkers=2, frames=40_000))
    assert [str(each.message).count("\n") for each in said] == [0]
    assert "frames=40000" in str(said[0].message)
    assert said[0].filename == __file__
