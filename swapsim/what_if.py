# SPDX-License-Identifier: GPL-2.0-or-later
"""What if: a patch's gain on other machines, devices and costs, with the constants fitted once."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import polars as pl

from swapsim import calibrate, simulate, sweep
from swapsim.calibrate import Fitted
from swapsim.config import FRAMES_KEPT, MachineConfig
from swapsim.config.policies import Policy
from swapsim.errors import InputError, require_some
from swapsim.machine.costs import change_costs, costs
from swapsim.schemas import WHAT_IF, WHAT_IF_RANGES, require

CPUS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Tasks, each on a CPU of its own; the CPUs of kswapd come on top."""

GIGABYTES: Final = simulate.DEVICE_GIGABYTES // 4
"""Of a device in patch D's cases: 192 trunks of 64 MB, and a quarter of the time to fill."""

TRUNK_SHIFTS: Final = (10, 12, 14, 17, 20)
"""From 4 MB a trunk to 4 GB; the kernel has 14, 64 MB."""

CHANNELS: Final = (8, 16, 32, 64, 128)
"""Pages that a drive serves at a time. With ``channel_ns`` of 80 us, 32 move 400,000 pages a
second, reads and writes together: about what the P3600 of patch D's thread does."""

CHANNELS_OF_A: Final = (8, 16, 20, 24, 28, *CHANNELS[2:])
"""The same for patch A, with more of them where its gain begins."""

MEMORY: Final = 2 * CHANNELS[-1]
"""Where a device as fast as memory stands on the axis of channels."""


COSTS_OF_A: Final = (
    "travel_same_socket_ns",
    "travel_other_socket_ns",
    "irq_save_ns",
    "fault_ns",
    "touch_ns",
    "reference_ns",
    "copy_ns",
    "transfer_ns",
    "descent_ns",
    "slot_ns",
    "device_ns",
    "test_ns",
    "avail_ns",
    "lru_page_ns",
    "zone_page_ns",
)
"""The constants that patch A's test uses and its fit leaves alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A machine without the patch and the same one with it.

    Attributes
    ----------
    factor : str
        What is asked about.
    setting : float
        Its number, for an axis.
    label : str
        Its words, for a table.
    base, patched : MachineConfig
    """

    factor: str
    setting: float
    label: str
    base: MachineConfig
    patched: MachineConfig


def writeback_tags_cpus(cpus: Sequence[int] = CPUS) -> list[Case]:
    """Return patch A's test with other numbers of writers, on its two sockets."""
    return [
        _case_of_a("cpus", count, f"{count} writers", writers=count, frames=_frames(count))
        for count in cpus
    ]


def writeback_tags_trunks(shifts: Sequence[int] = TRUNK_SHIFTS) -> list[Case]:
    """Return patch A's test on 5.8, which gives each trunk a lock, with tags kept and not."""
    return [
        _case_of_a(
            "trunk",
            2 ** (shift - 8),
            f"{2 ** (shift - 8)} MB a trunk",
            kernel="5.8",
            trunk_shift=shift,
        )
        for shift in shifts
    ]


def writeback_tags_device(channels: Sequence[int] = CHANNELS_OF_A) -> list[Case]:
    """Return patch A's test on drives that serve so many pages at a time, and on memory."""
    return [
        *(_case_of_a("device", count, f"{count} channels", channels=count) for count in channels),
        _case_of_a("device", MEMORY, "memory"),
    ]


def cluster_next_cpus(
    cpus: Sequence[int] = CPUS[1:],
    *,
    policy: str | Policy = "percpu-rerandomise",
    gigabytes: int = GIGABYTES,
) -> list[Case]:
    """Return patch D's test with other numbers of walkers, who share the same pages."""
    pages = simulate.cluster_next(policy=policy, gigabytes=gigabytes).pages * 16
    return [
        _case_of_d("cpus", count, f"{count} tasks", policy, gigabytes,
                   walkers=count, pages=pages // count)
        for count in cpus
    ]  # fmt: skip


def cluster_next_trunks(
    shifts: Sequence[int] = TRUNK_SHIFTS,
    *,
    policy: str | Policy = "percpu-rerandomise",
    gigabytes: int = GIGABYTES,
) -> list[Case]:
    """Return patch D's test with other sizes of a trunk."""
    return [
        _case_of_d("trunk", 2 ** (shift - 8), f"{2 ** (shift - 8)} MB a trunk", policy, gigabytes,
                   trunk_shift=shift)
        for shift in shifts
    ]  # fmt: skip


def cluster_next_device(
    channels: Sequence[int] = CHANNELS,
    *,
    policy: str | Policy = "percpu-rerandomise",
    gigabytes: int = GIGABYTES,
) -> list[Case]:
    """Return patch D's test on two drives that serve so many pages at a time, and on memory."""
    return [
        *(
            _case_of_d("device", count, f"{count} channels", policy, gigabytes, channels=count)
            for count in channels
        ),
        _case_of_d("device", MEMORY, "memory", policy, gigabytes),
    ]


def gains(
    cases: Sequence[Case],
    fits: Mapping[str, pl.DataFrame],
    *,
    metric: str = "swap_out",
    seeds: Sequence[int] = (1, 2),
    executor: Executor | None = None,
    progress: bool = False,
    folder: Path | str | None = None,
) -> pl.DataFrame:
    """Run each case with each set of constants, without the patch and with it.

    Parameters
    ----------
    cases : sequence of Case
    fits : mapping of str to polars.DataFrame
        A name -> constants, schema COSTS.
    metric : str
        Of `simulate.run`, higher is better.
    seeds : sequence of int
    executor, progress, folder
        As for `sweep.run`.

    Returns
    -------
    polars.DataFrame
        Schema WHAT_IF, one row per case, fit and seed.

    Raises
    ------
    InputError
        No case, fit or seed is given, or a machine stays without this metric.
    """
    require_some(cases, "cases")
    require_some(fits, "fits")
    require_some(seeds, "seeds")
    points = [(case, fit, seed) for case in cases for fit in fits for seed in seeds]
    frames = sweep.run(
        partial(_gain, dict(fits), metric), points, executor=executor, batch_points=2,
        progress=progress, folder=folder,
    )  # fmt: skip
    return require(pl.concat(frames), WHAT_IF, "WHAT_IF")


def ranges(what_if: pl.DataFrame) -> pl.DataFrame:
    """Take the least, middle and greatest gain of each case over its fits and seeds.

    Parameters
    ----------
    what_if : polars.DataFrame
        Schema WHAT_IF.

    Returns
    -------
    polars.DataFrame
        Schema WHAT_IF_RANGES, in the order of the cases. A fit counts with the mean of its seeds;
        ``flips`` says that some fits make the patch a gain and others a loss.
    """
    case = ["factor", "setting", "label"]
    frame = (
        require(what_if, WHAT_IF, "WHAT_IF")
        .group_by([*case, "fit"], maintain_order=True)
        .agg(pl.col("gain_percent", "base_waits", "patched_waits").mean())
        .group_by(case, maintain_order=True)
        .agg(
            low=pl.col("gain_percent").min(),
            middle=pl.col("gain_percent").median(),
            high=pl.col("gain_percent").max(),
            base_waits=pl.col("base_waits").median(),
            patched_waits=pl.col("patched_waits").median(),
        )
        .with_columns(flips=(pl.col("low") < 0) & (pl.col("high") > 0))
    )
    return require(frame.select(WHAT_IF_RANGES.names()), WHAT_IF_RANGES, "WHAT_IF_RANGES")


def refitted(
    fit: Callable[..., Fitted],
    names: Sequence[str],
    *,
    constants: pl.DataFrame | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> dict[str, pl.DataFrame]:
    """Put each constant at its low and at its high, and fit the base anew.

    Parameters
    ----------
    fit : callable
        Takes ``constants=``: `calibrate.fit_cluster_next`, or a ``functools.partial`` of
        `calibrate.fit_writeback_tags`.
    names : sequence of str
        Constants that the fit leaves alone.
    constants : polars.DataFrame, optional
        Schema COSTS; default: data/costs.csv.
    executor, progress
        As for `sweep.run`.

    Returns
    -------
    dict of str to polars.DataFrame
        "NAME, low" and "NAME, high" -> the constants fitted with it; a fit that does not converge
        is left out.

    Raises
    ------
    InputError
        A constant is unknown.
    """
    table = costs() if constants is None else constants
    for name in names:
        if name not in table["name"]:
            raise InputError(f"cost {name!r} is unknown", field="names")
    points = list(itertools.product(names, ("low", "high")))
    fitted = sweep.run(
        partial(_refit, fit, table), points, executor=executor, batch_points=2, progress=progress
    )
    return {
        f"{name}, {side}": found.constants
        for (name, side), found in zip(points, fitted, strict=True)
        if found.converged
    }


def writeback_tags_costs(
    *,
    tag_share: float,
    map_share: float,
    names: Sequence[str] = COSTS_OF_A,
    executor: Executor | None = None,
) -> dict[str, pl.DataFrame]:
    """Put each constant of patch A's test at its low and high, and fit the base anew.

    Parameters
    ----------
    tag_share, map_share : float
        As for `calibrate.fit_writeback_tags`.
    names : sequence of str
    executor : concurrent.futures.Executor, optional
        As for `sweep.run`.

    Returns
    -------
    dict of str to polars.DataFrame
        As `refitted` returns.
    """
    fit = partial(calibrate.fit_writeback_tags, tag_share=tag_share, map_share=map_share)
    return refitted(fit, names, executor=executor)


def by_constant(what_if: pl.DataFrame) -> pl.DataFrame:
    """Set the gains at each constant's low and high side by side, the widest apart first.

    Parameters
    ----------
    what_if : polars.DataFrame
        Schema WHAT_IF, one case; its fits are those of `refitted`.

    Returns
    -------
    polars.DataFrame
        ``constant``, the gain in percent at its ``low`` and ``high`` (means over the seeds, null
        where the base could not be fitted), and ``flips``: one is a gain, the other a loss.

    Raises
    ------
    InputError
        A fit is not one of `refitted`, or there are several cases.
    """
    require(what_if, WHAT_IF, "WHAT_IF")
    if (cases := what_if.select("factor", "setting", "label").n_unique()) > 1:
        raise InputError(f"{cases} cases would be mixed: filter one", field="label")
    sides = what_if.with_columns(
        pl.col("fit").str.extract_groups(r"^(?<constant>\w+), (?<side>low|high)$").alias("is")
    ).unnest("is")
    if sides["side"].is_null().any():
        raise InputError("take the constants that refitted() returns", field="fit")
    return (
        sides.group_by("constant", "side", maintain_order=True)
        .agg(pl.col("gain_percent").mean())
        .pivot("side", index="constant", values="gain_percent", on_columns=["low", "high"])
        .with_columns(flips=(pl.col("low") * pl.col("high") < 0).fill_null(False))
        .sort((pl.col("high") - pl.col("low")).abs(), descending=True, nulls_last=True)
    )


def _refit(fit: Callable[..., Fitted], table: pl.DataFrame, point: tuple[str, str]) -> Fitted:
    name, side = point
    return fit(constants=change_costs(table, {name: table.filter(name=name)[side].item()}))


def _gain(
    fits: Mapping[str, pl.DataFrame], metric: str, point: tuple[Case, str, int]
) -> pl.DataFrame:
    case, fit, seed = point
    value: list[float] = []
    waits: list[float] = []
    for config in (case.base, case.patched):
        run = simulate.run(replace(config, seed=seed), fits[fit])
        rows = dict(run.select("metric", "value").iter_rows())
        value.append(rows.get(metric, 0.0))
        waits.append(sum(share for name, share in rows.items() if name.startswith("cycles.")))
    if value[0] <= 0:
        raise InputError(f"{case.label}: the machine has no {metric} to gain on", field="metric")
    row = (
        case.factor,
        float(case.setting),
        case.label,
        fit,
        seed,
        *value,
        100 * (value[1] / value[0] - 1),
        *waits,
    )
    return pl.DataFrame([row], schema=WHAT_IF, orient="row")


def _frames(tasks: int) -> int:
    """Return pages of a node's memory beyond what its CPUs keep for themselves."""
    usual = simulate.writeback_tags(tags=True)
    per_node = -(-tasks // usual.nodes) + 1
    return max(usual.frames, 4 * FRAMES_KEPT * per_node)


def _case_of_a(factor: str, setting: float, label: str, **fields: Any) -> Case:
    base, patched = (
        replace(simulate.writeback_tags(tags=tags), **fields) for tags in (True, False)
    )
    return Case(factor=factor, setting=setting, label=label, base=base, patched=patched)


def _case_of_d(
    factor: str, setting: float, label: str, policy: str | Policy, gigabytes: int, **fields: Any
) -> Case:
    base, patched = (
        replace(simulate.cluster_next(policy=used, gigabytes=gigabytes), **fields)
        for used in ("shared", policy)
    )
    return Case(factor=factor, setting=setting, label=label, base=base, patched=patched)
