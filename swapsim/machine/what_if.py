# SPDX-License-Identifier: GPL-2.0-or-later
"""What-ifs: a patch's gain on other machines, devices and costs, with the constants fitted once."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Unpack

import polars as pl

from swapsim import study
from swapsim.checks import checked
from swapsim.errors import InputError, require_some
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import change_costs, costs
from swapsim.machine.run import metric_values
from swapsim.machine.tables import WHAT_IF
from swapsim.study import summary

CPUS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Tasks, each on a CPU of its own; the CPUs of kswapd come on top."""

TRUNK_SHIFTS: Final = (10, 12, 14, 17, 20)
"""From 4 MB a trunk to 4 GB; the kernel has 14, 64 MB."""

CHANNELS: Final = (8, 32, 128)
"""Pages that a drive serves at a time: its queue."""

LATENCIES_US: Final = (20, 80, 120)
"""How long it serves each of them: ``channel_ns`` of data/costs.csv, its low, value and high. With
80 us and 32 at a time it moves 400,000 pages a second, about what the P3600 of patch D's thread
does."""

MEMORY: Final = 20_000_000
"""Where a device as fast as memory stands on the axis of a drive's pages a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A machine without the patch and the same one with it.

    ``factor`` is what is asked about, ``setting`` its number for an axis, ``label`` its words for a
    table. ``costs`` are constants (ns) that the case has in place of a fit's.
    """

    factor: str
    setting: float
    label: str
    base: MachineConfig
    patched: MachineConfig
    costs: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A case with one set of constants (CONSTANTS), their name, and one seed: a point of a study.

    ``metric`` is one of `run.run` of which higher is better.
    """

    case: Case
    fit: str
    constants: pl.DataFrame
    metric: str
    seed: int


def trials(
    cases: Sequence[Case],
    fits: Mapping[str, pl.DataFrame],
    *,
    metric: str = "swap_out",
    seeds: Sequence[int] = (1, 2),
) -> list[Trial]:
    """Return the trials of each case with each set of constants and each seed, in this order."""
    require_some(cases, "cases")
    require_some(fits, "fits")
    require_some(seeds, "seeds")
    return [
        Trial(case=case, fit=fit, constants=constants, metric=metric, seed=seed)
        for case in cases
        for fit, constants in fits.items()
        for seed in seeds
    ]


def gain(trial: Trial) -> pl.DataFrame:
    """Run the case of a trial without the patch and with it; return one row, schema WHAT_IF."""
    case = trial.case
    value: list[float] = []
    waits: list[float] = []
    for config in (case.base, case.patched):
        constants = change_costs(trial.constants, case.costs)
        rows = metric_values(replace(config, seed=trial.seed), constants)
        value.append(rows.get(trial.metric, 0.0))
        waits.append(math.fsum(share for name, share in rows.items() if name.startswith("cycles.")))
    if value[0] <= 0:
        raise InputError(
            f"{case.label}: the machine has no {trial.metric} to gain on", field="metric"
        )
    row = (
        case.factor,
        float(case.setting),
        case.label,
        trial.fit,
        trial.seed,
        *value,
        100 * (value[1] / value[0] - 1),
        *waits,
    )
    return pl.DataFrame([row], schema=WHAT_IF.schema, orient="row")


@checked
def gains(
    cases: Sequence[Case],
    fits: Mapping[str, pl.DataFrame],
    *,
    metric: str = "swap_out",
    seeds: Sequence[int] = (1, 2),
    **how: Unpack[study.How],
) -> pl.DataFrame:
    """Run each case with each set of constants, without the patch and with it.

    Parameters
    ----------
    cases : sequence of Case
    fits : mapping of str to polars.DataFrame
        A name -> constants, schema CONSTANTS.
    metric : str
        Of `run.run`, higher is better.
    seeds : sequence of int
    **how
        The executor, progress and folder of `study.run`.

    Returns
    -------
    polars.DataFrame
        Schema WHAT_IF, one row per case, fit and seed.

    Raises
    ------
    InputError
        No case, fit or seed is given, or a machine does not have the metric.
    """
    points = trials(cases, fits, metric=metric, seeds=seeds)
    return study.table(gain, points, batch_points=2, **how)


def on_drives(
    case: Callable[..., Case],
    channels: Sequence[int] = CHANNELS,
    latencies_us: Sequence[int] = LATENCIES_US,
) -> list[Case]:
    """Return a machine's case on drives, by latency and by queue apart, and on memory."""
    return [
        *(
            case(
                f"{latency} us a page",
                1_000_000 * count / latency,
                f"{count} at a time, {latency} us each",
                channels=count,
                costs={"channel_ns": 1000 * latency},
            )
            for latency in latencies_us
            for count in channels
        ),
        case("memory", MEMORY, "memory"),
    ]


def ranges(gains: pl.DataFrame) -> pl.DataFrame:
    """Return the least, middle and greatest gain of each case over its fits and seeds.

    The waits are the medians; ``flips`` is whether some runs gain and others lose.
    """
    gain, waits = pl.col("gain_percent"), pl.col("base_waits", "patched_waits")
    return (
        gains.group_by("factor", "setting", "label", maintain_order=True)
        .agg(
            gain.min().alias("low"),
            gain.median().alias("middle"),
            gain.max().alias("high"),
            waits.median(),
        )
        .with_columns(flips=(pl.col("low") < 0) & (pl.col("high") > 0))
    )


def by_constant(
    gains: pl.DataFrame, *, others: Mapping[str, tuple[float, float]] | None = None
) -> pl.DataFrame:
    """Return the gain at the low and the high end of each constant, the widest apart first.

    ``gains`` (WHAT_IF) are of one case; each fit is called "NAME, low" or "NAME, high".
    ``others`` has the ends of what is no constant of data/costs.csv.

    The columns are ``constant``, its ends ``at_low`` and ``at_high``, the gains ``low`` and
    ``high`` (null where the base could not be fitted), and whether the sign ``flips``.
    """
    if gains.select("fit", "label").n_unique() > gains["fit"].n_unique():
        raise InputError("several cases would be mixed: filter one", field="label")
    parts = pl.col("fit").str.extract_groups(r"^(?<constant>\w+), (?<end>low|high)$")
    sides = gains.with_columns(parts.alias("is")).unnest("is")
    if sides["end"].is_null().any():
        raise InputError("call each fit 'NAME, low' or 'NAME, high'", field="fit")
    known = [
        (name, float(low), float(high))
        for name, low, high in costs().select("name", "low", "high").iter_rows()
    ]
    known += [(name, *both) for name, both in (others or {}).items()]
    at = pl.DataFrame(known, schema=["constant", "at_low", "at_high"], orient="row")
    return (
        summary.ends(sides, value="gain_percent")
        .join(at, on="constant", maintain_order="left")
        .select("constant", "at_low", "at_high", "low", "high", "flips")
    )


def ends_drawn(ends: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each constant of `by_constant` and end of its range, for a chart."""
    values = [f"{low:g} to {high:g}" for low, high in ends.select("at_low", "at_high").iter_rows()]
    named = ends.with_columns(name=pl.col("constant") + ", " + pl.Series(values))
    return pl.concat(
        named.select("name", "low", "high", gain=side, end=pl.lit(f"at its {side}"))
        for side in ("low", "high")
    ).drop_nulls("gain")
