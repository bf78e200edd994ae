# SPDX-License-Identifier: GPL-2.0-or-later
"""All runs of an experiment, round by round, and their results as one table with its provenance."""

import hashlib
import json
import os
import platform
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import polars as pl
from tqdm import tqdm

from rig import (
    boot,
    collect,
    counts,
    guest,
    importing,
    instructions,
    kernel,
    ledger,
    leftovers,
    packages,
    stalls,
    stock,
    tree_nodes,
    turns,
    wanderings,
)
from rig.collect import sha256
from rig.counts import Metrics, Rows
from rig.errors import CaptureError, GuestError
from rig.experiment import Experiment
from rig.kernel import Kernel
from rig.packages import Package
from rig.tree_nodes import Extents
from rig.workload import HOME, Workload
from swapsim.published.data import RESULTS
from swapsim.traces.writer import toml_table

KERNEL_LABEL: Final = "6.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One run: its metrics, or the reason for its failure."""

    round: int
    value: str
    seconds: float
    # By the number of tasks, or by the turn of a ledger.
    metrics: dict[str, Metrics]
    failure: str
    # The slots that tree nodes were for, where they were counted.
    extents: Extents = field(default_factory=list)
    # On a stock kernel: rows of the table of what was read.
    rows: Rows = field(default_factory=list)


def run(experiment: Experiment, output: Path, cache: Path, *, rounds: int, again: bool) -> int:
    """Run an experiment into output/NAME, which appears complete or not at all; count failures.

    The values of the switch take turns in each round, and each round starts with another one, so
    that what changes on the host with time touches all alike. A run that an earlier call has ended
    is not run again, unless its kernel or a file that it depends on has changed since.
    """
    described = _described(experiment, cache)
    busybox = packages.fetch(packages.BUSYBOX, cache)
    work = cache / "experiments" / experiment.name
    if again:
        shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True, exist_ok=True)
    outcomes = []
    order = list(_order(experiment, rounds))
    for number, value in tqdm(order, desc=experiment.name, unit=" runs", disable=None, leave=False):
        outcomes.append(_stored_run(experiment, number, value, cache, busybox, work))
    done = [outcome for outcome in outcomes if not outcome.failure]
    for outcome in outcomes:
        if outcome.failure:
            print(f"{experiment.name}: round {outcome.round}, {outcome.value}: {outcome.failure}")
    if not done:
        raise CaptureError(f"{experiment.name}: no run of {len(outcomes)} succeeded")
    _write(experiment, described, outcomes, output / experiment.name, rounds)
    print(f"{experiment.name}: {len(done)} of {len(outcomes)} runs in {output / experiment.name}")
    return len(outcomes) - len(done)


def _order(experiment: Experiment, rounds: int) -> Iterator[tuple[int, str]]:
    for number in range(1, rounds + 1):
        start = (number - 1) % len(experiment.values)
        for value in experiment.values[start:] + experiment.values[:start]:
            yield number, value


def _stored_run(
    experiment: Experiment, number: int, value: str, cache: Path, busybox: Package, work: Path
) -> Outcome:
    """Run once, or return the outcome that an earlier call stored for this run."""
    stored = work / f"{number}-{value}-{_identity(experiment, value)}.json"
    if stored.is_file():
        return Outcome(**json.loads(stored.read_text(encoding="utf-8")))
    started = time.monotonic()
    metrics: dict[str, Metrics] = {}
    extents: Extents = []
    rows: Rows = []
    failure = ""
    try:
        if experiment.stock:
            metrics, rows = _measure_stock(experiment, value, cache, busybox, work / "counted")
        else:
            metrics, extents = _measure(experiment, number, value, cache, busybox, work)
    except GuestError as error:
        failure = str(error)
        console = work / "counted" / "console.txt"
        if console.exists():
            shutil.copy(console, work / f"{number}-{value}-failed-console.txt")
    outcome = Outcome(
        round=number,
        value=value,
        seconds=round(time.monotonic() - started, 1),
        metrics=metrics,
        failure=failure,
        extents=extents,
        rows=rows,
    )
    if not failure:
        stored.write_text(json.dumps(asdict(outcome)), encoding="utf-8")
    return outcome


def _measure(
    experiment: Experiment, number: int, value: str, cache: Path, busybox: Package, work: Path
) -> tuple[dict[str, Metrics], Extents]:
    counted = experiment.counted(value)
    if experiment.stalls or experiment.sampled_slots:
        # A parameter that is not the kernel's own is in every program's environment.
        parameters = (*counted.kernel_parameters, f"round={number}")
        counted = replace(counted, kernel_parameters=parameters)
    ran = _boot(counted, kernel.get(counted, cache), busybox, work / "counted")
    report = ran.report
    tasks = str(experiment.tasks[-1])
    if experiment.tree_nodes:
        read, extents = tree_nodes.read(report["output"], experiment.name)
        return {tasks: read}, extents
    if experiment.instructions:
        return {tasks: instructions.read(report, experiment.name)}, []
    if experiment.stalls:
        return {tasks: stalls.read(report, experiment.name)}, []
    assert counted.switches is not None
    if experiment.sampled_slots:
        slots = importing.slot_events(ran.text, work / "counted" / "trace")
        shift = counted.switches.trunk_shift
        return {tasks: wanderings.read(report, slots, shift, experiment.tasks[-1])}, []
    if experiment.ledger:
        sites = counted.switches.lock_sites
        return ledger.read(report, experiment.name, sites=sites), []
    if experiment.by_turns:
        metrics_of = turns.read(report, experiment.name)
        if counted.switches.debug_checks:
            metrics_of[tasks] |= leftovers.read(report)
        return metrics_of, []
    metrics = counts.counts(report, experiment.name, sites=counted.switches.lock_sites)
    if experiment.slot_events:
        traced = experiment.traced(value)
        booted = kernel.get(traced, cache)
        captured = _boot(traced, booted, busybox, work / "traced")
        events = importing.slot_events(captured.text, work / "traced" / "trace")
        assert traced.switches is not None
        metrics |= counts.trunks(events, traced.switches.trunk_shift)
    return {tasks: metrics}, []


def _measure_stock(
    experiment: Experiment, value: str, cache: Path, busybox: Package, work: Path
) -> tuple[dict[str, Metrics], Rows]:
    counted = experiment.counted(value)
    captured = _boot(counted, kernel.get(counted, cache), busybox, work)
    reader = stock.READERS[experiment.reads]
    metrics, rows = reader.read(captured, work)
    return {str(experiment.tasks[-1]): metrics}, rows


def _described(experiment: Experiment, cache: Path) -> dict[str, Any]:
    """Build all kernels of an experiment, and return their descriptions."""
    if experiment.stock:
        names = dict.fromkeys(value.partition(" ")[0] for value in experiment.values)
        return {name: kernel.newer(name, cache).described for name in names}
    if experiment.varies == "kernel":
        counted = {value: experiment.counted(value) for value in experiment.values}
        return {value: kernel.get(load, cache).described for value, load in counted.items()}
    described = kernel.get(experiment.workload, cache).described
    # The switch that varies has several values.
    return {key: value for key, value in described.items() if key != experiment.varies}


def _sources(experiment: Experiment) -> list[Path]:
    """Return our files that any run of an experiment depends on."""
    counted = [experiment.counted(value) for value in experiment.values]
    return list(dict.fromkeys(path for load in counted for path in importing.sources(load)))


def _boot(workload: Workload, booted: Kernel, busybox: Package, work: Path) -> collect.Captured:
    work.mkdir(parents=True, exist_ok=True)
    built = guest.build(workload, booted, busybox, work)
    ran = boot.run(workload, built, work)
    return collect.collect(workload, ran, work)


def _identity(experiment: Experiment, value: str) -> str:
    """Hash of all that decides what a run is."""
    digest = hashlib.sha256(repr(experiment.counted(value)).encode())
    readers = [Path(counts.__file__)]
    if experiment.tree_nodes:
        readers.append(Path(tree_nodes.__file__))
    if experiment.sampled_slots:
        readers.append(Path(wanderings.__file__))
    if experiment.instructions:
        readers.append(Path(instructions.__file__))
    if experiment.ledger:
        readers.append(Path(ledger.__file__))
    if experiment.stock:
        digest.update(experiment.reads.encode())
        readers.append(stock.READERS[experiment.reads].module)
    if experiment.stalls:
        readers.append(Path(stalls.__file__))
    elif experiment.by_turns:
        readers += [Path(turns.__file__), Path(leftovers.__file__)]
    for path in [*_sources(experiment), *readers]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _write(
    experiment: Experiment,
    described: Mapping[str, Any],
    outcomes: list[Outcome],
    output: Path,
    rounds: int,
) -> None:
    unfinished = output.with_name(f".{output.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    _results(experiment, outcomes).write_parquet(unfinished / "results.parquet", compression="zstd")
    if experiment.tree_nodes:
        extents = [(outcome.value, outcome.round, outcome.extents) for outcome in outcomes]
        tree_nodes.tabulate(extents).write_parquet(
            unfinished / "slots_in_use.parquet", compression="zstd"
        )
    if experiment.stock:
        _write_stock(experiment, outcomes, unfinished)
    tables = _provenance(experiment, described, outcomes, rounds)
    text = "\n".join(toml_table(title, table) for title, table in tables.items())
    heading = "# Where these figures come from; written by data/capture/lab.py.\n"
    (unfinished / "measured.toml").write_text(heading + text, encoding="utf-8")
    if output.exists():
        shutil.rmtree(output)
    unfinished.rename(output)


def _write_stock(experiment: Experiment, outcomes: list[Outcome], folder: Path) -> None:
    """Write the table of what was read."""
    reader = stock.READERS[experiment.reads]
    if reader.table is None:
        return
    rows = [
        (*outcome.value.partition(" ")[::2], outcome.round, *row)
        for outcome in sorted(outcomes, key=lambda outcome: (outcome.value, outcome.round))
        for row in outcome.rows
    ]
    frame = reader.table.check(pl.DataFrame(rows, schema=reader.table.schema, orient="row"))
    frame.write_parquet(folder / f"{reader.file}.parquet", compression="zstd", compression_level=19)


def _results(experiment: Experiment, outcomes: list[Outcome]) -> pl.DataFrame:
    rows = [
        {
            "patch": experiment.patch,
            "source": "measured",
            **_labels(experiment, outcome.value, group),
            "seed": outcome.round,
            "metric": metric,
            "value": float(value),
            "unit": unit,
        }
        for outcome in outcomes
        for group, metrics in outcome.metrics.items()
        for metric, (value, unit) in metrics.items()
    ]
    return RESULTS.check(pl.DataFrame(rows, schema=RESULTS.schema))


def _labels(experiment: Experiment, value: str, group: str) -> dict[str, Any]:
    """Return the labels of one group of metrics of a run: a number of tasks, or a ledger's turn."""
    if experiment.stock:
        name, _, setting = value.partition(" ")
        return {"kernel": name, "policy": setting, "n_tasks": int(group)}
    if experiment.ledger:
        return {"kernel": value, "policy": group, "n_tasks": experiment.tasks[-1]}
    return {"kernel": KERNEL_LABEL, "policy": value, "n_tasks": int(group)}


def _provenance(
    experiment: Experiment, described: Mapping[str, Any], outcomes: list[Outcome], rounds: int
) -> dict[str, Mapping[str, Any]]:
    workload = experiment.workload
    return {
        "measured": {
            "command": f"python data/capture/lab.py {experiment.name} --rounds {rounds} "
            "-o data/measured",
            "date": datetime.now(UTC).date().isoformat(),
            "emulator": boot.emulator_version(),
            "host": {
                "machine": platform.machine(),
                "cpus": os.cpu_count(),
                "memory_gibibytes": os.sysconf("SC_PAGE_SIZE")
                * os.sysconf("SC_PHYS_PAGES")
                // 2**30,
            },
        },
        "kernel": described,
        "experiment": {
            "title": workload.title,
            "patch": experiment.patch,
            "tasks": list(experiment.tasks),
            "varies": experiment.varies,
            "values": list(experiment.values),
            "rounds": rounds,
            "slot_events": experiment.slot_events,
            "tree_nodes": experiment.tree_nodes,
            "commands": [*workload.commands, *workload.cgroup_commands],
            "kernel_parameters": list(workload.kernel_parameters),
        },
        "guest": importing.guest_table(workload),
        "runs": {
            "seconds": [outcome.seconds for outcome in outcomes],
            "failed": [
                {"round": outcome.round, "value": outcome.value, "why": _reason(outcome)}
                for outcome in outcomes
                if outcome.failure
            ],
        },
        "sources": {os.path.relpath(path, HOME): sha256(path) for path in _sources(experiment)},
    }


def _reason(outcome: Outcome) -> str:
    """Return why a run failed, without the place of its console on this machine."""
    return outcome.failure.partition("; its console")[0]
