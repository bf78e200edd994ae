# SPDX-License-Identifier: GPL-2.0-or-later
"""Wrong arguments of public functions and configs: one SwapsimError of a line, with the remedy."""

import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from types import FunctionType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
import polars as pl
import pytest

import swapsim
from swapsim import claims, clusters, frames, mapping, reclaim, slots, stall, study, traces
from swapsim.checks import brief, checked, fits
from swapsim.errors import ArgumentError, SwapsimError
from swapsim.machine import MachineConfig
from swapsim.machine import run as machine_run
from swapsim.machine.costs import change_costs, costs
from swapsim.patches import cluster_next
from swapsim.slots import ChurnConfig, SlotsConfig
from swapsim.stall import StallContext

PACKAGES = (
    *("claims", "clusters", "export", "frames", "mapping", "reclaim", "removal", "slots"),
    *("stall", "study", "traces", "machine.run", "machine.costs", "machine.what_if"),
    *(f"{package}.charts" for package in ("claims", "clusters", "machine", "mapping", "slots")),
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
            documented = package.endswith("charts") or "Parameters\n" in (thing.__doc__ or "")
            if hasattr(module, "__all__") or (here and documented):
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


def serial(task: Any, points: Any) -> list[Any]:
    """Run a sweep in this process."""
    return study.run(task, points, executor=study.SerialExecutor())


class Frame:
    """A frame of another library."""

    __module__ = "pandas.core.frame"


WRONG: Mapping[str, tuple[Callable[[], object], str]] = {
    "a dict for a config": (
        partial(machine_run.run, {"walkers": 2}),
        "config={'walkers': 2}: run needs a MachineConfig; give MachineConfig(**config)",
    ),
    "a class for a config": (
        partial(machine_run.run, MachineConfig),
        "run needs a MachineConfig; give MachineConfig(...)",
    ),
    "swapped arguments": (
        partial(slots.measure, ChurnConfig(), SlotsConfig()),
        "device=ChurnConfig(): measure needs a SlotsConfig; device and workload are swapped",
    ),
    "a trace for a workload": (
        partial(slots.measure, SlotsConfig(), "slots-4-shared"),
        "measure needs a FillConfig, a ChurnConfig or a StreamsConfig",
    ),
    "a config for a list": (
        partial(serial, machine_run.run, MachineConfig()),
        "run needs a list; give a list: points=[MachineConfig(walkers=1)]",
    ),
    "a lambda for processes": (
        partial(study.run, lambda config: config, [1]),
        "is a lambda: processes need a function of a module",
    ),
    "no function": (partial(serial, "run", [1]), "task='run': run needs a function"),
    "a text for a number of points": (
        partial(study.run, print, [1], batch_points="2"),
        "batch_points='2': run needs a whole number; write batch_points=2",
    ),
    "an executor by name": (
        partial(study.run, print, [1], executor="threads"),
        "executor='threads': run needs an Executor or None",
    ),
    "True for a number": (
        partial(MachineConfig, walkers=True),
        "walkers=True: choose a whole number",
    ),
    "a float for a kernel": (
        partial(MachineConfig, kernel=4.8),
        'kernel=4.8: choose a text; write kernel="4.8"',
    ),
    "a float for a count": (
        partial(MachineConfig, walkers=np.float64(3)),
        "choose a whole number; write walkers=3",
    ),
    "a device too many": (
        partial(MachineConfig, walkers=16, devices=2),
        "devices=2: choose 1, or more nodes (nodes=1; a node swaps to one device)",
    ),
    "an unknown field": (
        partial(MachineConfig, walker=16),
        "walker=16: MachineConfig has no such argument; did you mean walkers=?",
    ),
    "a field without its name": (
        partial(MachineConfig, "4.8"),
        "MachineConfig takes nothing without a name, and was given '4.8'",
    ),
    "no number": (partial(ChurnConfig, used_share=float("nan")), "used_share=nan: choose a number"),
    "a share above 1": (partial(ChurnConfig, used_share=1.5), "above 0 and up to 1"),
    "a negative number": (partial(ChurnConfig, pages=-1), "pages=-1: choose a whole number from 1"),
    "a huge number": (partial(MachineConfig, walkers=10**30), "choose a whole number from 0 to"),
    "None for a number": (partial(StallContext, priority=None), "priority=None: choose a whole"),
    "an unknown policy": (
        partial(SlotsConfig, policy="per-cpu"),
        "policy='per-cpu': choose one of shared",
    ),
    "a function without its decorator": (
        partial(SlotsConfig, policy=len),
        "choose a text or a function decorated with @swapsim.policy",
    ),
    "a decorator without parentheses": (
        partial(swapsim.policy, len),
        "policy takes nothing without a name, and was given <built-in function len>, too; name "
        "the others (base_of=, initial=)",
    ),
    "one policy for many": (
        partial(machine_run.run_policies, MachineConfig, "percpu"),
        "give a list: policies=['percpu']",
    ),
    "no policy": (partial(machine_run.run_policies, MachineConfig, []), "give at least one"),
    "an item of a list": (
        partial(machine_run.run_policies, MachineConfig, ["percpu", 3]),
        "policies[1]=3: run_policies needs a text or a function decorated with @swapsim.policy",
    ),
    "an item of a dict": (
        partial(change_costs, costs(), {"copy_ns": float("nan")}),
        "values['copy_ns']=nan: change_costs needs a whole number",
    ),
    "a cost below its range": (
        partial(change_costs, costs(), {"copy_ns": -4}),
        "constant 'copy_ns' of -4: give a whole number of ns from 1",
    ),
    "None for a trace": (partial(traces.info, None), "folder=None: info needs a path"),
    "a file for a trace": (partial(traces.info, __file__), "is a file: import it"),
    "a folder that is no trace": (
        partial(traces.info, Path(__file__).parent),
        "a trace folder without provenance",
    ),
    "a trace of another kind": (
        partial(mapping.writeback_tags, "slots-4-shared"),
        "needs the events swp_add",
    ),
    "a trace's name misspelt": (partial(traces.info, "swap-w-sek"), "there is swap-w-seq"),
    "a folder for a text": (
        partial(traces.import_text, Path(__file__).parent, "made"),
        "name a readable text",
    ),
    "an unknown keyword": (
        partial(mapping.writeback_tags, "swap-w-seq", kernl="4.8"),
        "kernl='4.8': writeback_tags has no such argument; did you mean kernel=?",
    ),
    "an unknown kernel": (
        partial(mapping.writeback_tags, "swap-w-seq", kernel="4.9"),
        "kernel='4.9': choose one of 4.8, 5.8, 6.1",
    ),
    "unknown rules": (
        partial(clusters.replay, "clusters-7.3-file-2", rules="7.4"),
        "rules='7.4': choose one of 6.11",
    ),
    "an argument too many": (
        partial(slots.verify_slots, "slots-4-shared", "percpu"),
        "verify_slots takes only source without a name",
    ),
    "a missing argument": (partial(clusters.verify_clusters), "verify_clusters needs "),
    "a frame of pandas": (
        partial(mapping.per_page, Frame()),
        "per_page needs a polars.DataFrame; give polars.from_pandas(sites)",
    ),
    "a dict for a frame": (
        partial(mapping.per_page, {"site": []}),
        "per_page needs a polars.DataFrame; give polars.DataFrame(sites)",
    ),
    "a LazyFrame": (
        partial(claims.medians, pl.LazyFrame()),
        "medians needs a polars.DataFrame; give results.collect()",
    ),
    "a frame without its columns": (
        partial(claims.medians, pl.DataFrame({"value": [1.0]})),
        "field 'patch': table RESULTS has no such column; it has: value",
    ),
    "a frame of another table for a chart": (
        partial(mapping.charts.work_by_site, costs()),
        "table LOCK_SITES_PER_PAGE has no such column",
    ),
    "None for a chart's frame": (
        partial(mapping.charts.work_by_site, None),
        "work_by_site needs a polars.DataFrame",
    ),
    "None for a table": (partial(frames.show, None), "frame=None: show needs a polars.DataFrame"),
    "a config of another simulator": (
        partial(reclaim.run, MachineConfig()),
        "run needs a ReclaimConfig",
    ),
    "other rules for reclaim": (partial(reclaim.parallelio, "4.8"), "rules='4.8': choose one of"),
    "a text for a context": (partial(stall.explain, "6.1"), "explain"),
    "no list of policies to rank": (
        partial(cluster_next.rank, "percpu"),
        "policies='percpu': rank needs a list",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_argument_is_one_line_with_the_remedy(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each mistake is a SwapsimError, whose line says what to give instead."""
    call, text = WRONG[case]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SwapsimError) as refused:
        call()
    assert text in str(refused.value)
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
    assert brief(MachineConfig(walkers=3, seed=7)) == "MachineConfig(walkers=3, seed=7)"
    assert brief("x" * 100) == "<str>"


def test_the_default_machine_runs() -> None:
    """It has one walker; with other tasks, walkers are on request only."""
    results = machine_run.metric_values(MachineConfig())
    assert results["swap_out"] > 0
    assert MachineConfig().walkers == 1
    assert (MachineConfig(writers=2).walkers, MachineConfig(writers=2).tasks) == (0, 2)


def test_packages_show_what_can_be_used() -> None:
    """`dir`, which completion shows, has submodules and functions, and nothing of Python's own."""
    assert {"traces", "machine", "policy"} <= {*dir(swapsim)}
    for _, name, is_package in pkgutil.iter_modules(swapsim.__path__, "swapsim."):
        if is_package and name not in ("swapsim.cli", "swapsim.io", "swapsim.site"):
            module = import_module(name)
            shown = [each for each in dir(module) if not hasattr(module, each)]
            assert not shown, name
            if name in ("swapsim.machine", "swapsim.slots", "swapsim.study", "swapsim.traces"):
                assert not {"TYPE_CHECKING", "submodules"} & {*dir(module)}
