# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs, fits and what-ifs say together: time per page, locks, ranges, sentences."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import polars as pl

from swapsim.checks import checked
from swapsim.claims import range_text
from swapsim.errors import InputError, require_some

_LOCK_PARTS: Final = {"tree_lock": "swap cache's lock", "si_lock": "si->lock"}
_INTERRUPTS: Final = "other CPUs' interrupts"

_PER_CPU_LOCKS: Final = ("alloc_lock", "free_lock")
"""Locks of a CPU's own slot caches, which no other CPU takes; the work under them has its own
parts."""

_NESTED: Final = (
    r"\.cluster_lock\.|\.clear_shadow_from_swap_cache$"
    r"|\.swap_cgroup_record\.(mem_cgroup_swapout|swapcache_free_entries)$"
)
"""Sites inside si->lock or the swap cache's lock, whose hold already includes them."""

_CYCLES: Final = "swap cache's lock: cycles spent waiting for it"

_QUANTITIES: Final = {
    "swap cache's lock: acquisitions per page": ("acquisitions.tree_lock.", "xa_lock acquisitions"),
    "swap cache's lock: contended acquisitions per page": (
        "contended.tree_lock.",
        "xa_lock contended acquisitions",
    ),
    "si->lock: acquisitions per page": ("acquisitions.si_lock.", "si->lock acquisitions"),
}
"""Quantity -> prefix of the metrics of `run.run`, and metric of the real kernel."""


@checked
def time_per_page(runs: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return where the CPUs' time goes between two pages swapped out, in a run of each kernel.

    The columns are ``kernel, part, microseconds, percent``: the parts of each kernel in one order,
    and their shares in the sum. A hold of si->lock includes the waits and holds inside it.

    Examples
    --------
    >>> from swapsim import frames, machine
    >>> results = machine.run.run(machine.MachineConfig(kernel="4.8", walkers=8))
    >>> where = machine.summary.time_per_page({"4.8": results})
    >>> frames.show(where.sort("microseconds", descending=True).head(3))
    kernel: 4.8
    part                           microseconds  percent
    swap cache's lock, waited for         15.3     41.2
    work without a lock                   13.1     35.3
    swap cache's lock, held                3.36     9.08
    """
    require_some(runs, "runs")
    return pl.concat(_parts(kernel, run) for kernel, run in runs.items())


def lock_relief(
    printed: pl.DataFrame,
    predicted: pl.DataFrame,
    runs: tuple[pl.DataFrame, pl.DataFrame],
    medians: pl.DataFrame,
    policies: tuple[str, str],
) -> pl.DataFrame:
    """Compare how much a patch relieves the swap cache's lock in the mail, machine and lab.

    ``printed`` has the mail's rows of the lock (PUBLISHED); a row that a profile omits counts as 0.
    ``predicted`` has the same rows of both kernels as simulated (RESULTS). ``runs`` are
    `run.run` without and with the patch, ``medians`` those of one experiment (MEDIANS),
    ``policies`` its names without and with the patch.

    Each ``quantity`` has its change in percent: ``published``, ``simulated``, ``measured``; null
    where a source lacks the quantity, or it is zero without the patch.
    """
    same = predicted.filter(pl.col("metric").is_in(printed["metric"].to_list()))
    kernels = same["kernel"].unique(maintain_order=True).to_list()
    if len(kernels) != 2 or not set(printed["kernel"]) <= set(kernels):
        raise InputError(f"rows of {', '.join(kernels)}: give both kernels'", field="kernel")
    changes = (_change(*_sums(printed, kernels)), _change(*_sums(same, kernels)), None)
    rows: list[tuple[str, *tuple[float | None, ...]]] = [(_CYCLES, *changes)]
    for quantity, (prefix, metric) in _QUANTITIES.items():
        simulated = (
            float(run.filter(pl.col("metric").str.starts_with(prefix))["value"].sum())
            for run in runs
        )
        measured = _change(*(_median(medians, metric, name) for name in policies))
        rows.append((quantity, None, _change(*simulated), measured))
    return pl.DataFrame(rows, ["quantity", "published", "simulated", "measured"], orient="row")


def _sums(rows: pl.DataFrame, kernels: Sequence[str]) -> Iterator[float]:
    """Yield the sum of the rows of each kernel."""
    return (float(rows.filter(kernel=kernel)["value"].sum()) for kernel in kernels)


def gain_at(ranges: pl.DataFrame, setting: float) -> str:
    """Return the range of the gain at one setting, such as "+1.0 to +5.6 %"."""
    found = ranges.filter(setting=setting)
    if found.height != 1:
        raise InputError(f"{found.height} ranges at {setting:g}: give one", field="setting")
    return _span(found.row(0, named=True))


def describe_gains(ranges: pl.DataFrame) -> str:
    """Return sentences on the smallest and the largest gain, and on cases of both signs.

    ``ranges`` has ``label, low, middle, high`` of each case, as `what_if.gains` returns them.
    """
    require_some(ranges.rows(), "ranges")
    least, most = (
        ranges.sort("middle", descending=down).row(0, named=True) for down in (False, True)
    )
    unsure = ranges.filter(pl.col("low") < 0, pl.col("high") > 0)["label"].to_list()
    sign = f"Both signs occur for {', '.join(unsure)}." if unsure else "The sign never changes."
    return (
        f"By its median over fits and seeds, the gain is least with {least['label']} "
        f"({_span(least)}) and greatest with {most['label']} ({_span(most)}). {sign}"
    )


def describe_sensitivity(rows: pl.DataFrame) -> str:
    """Return sentences on the gain over the ends of all constants, and the widest of them.

    ``rows`` are those of `what_if.by_constant`.
    """
    both = rows.drop_nulls(["low", "high"])
    if both.is_empty():
        raise InputError("no constant has a fit at its low and at its high", field="rows")
    ends = pl.concat([rows["low"], rows["high"]]).drop_nulls()
    first = both.row(0, named=True)
    flips = both.filter("flips")["constant"].to_list()
    sign = f"The sign changes with {', '.join(flips)}." if flips else "The sign never changes."
    return (
        f"With each of {rows.height} constants at its low and its high value, the gain is between "
        f"{min(ends):.1f} and {max(ends):.1f} %. {first['constant']} matters most: "
        f"{first['low']:.1f} % at {first['at_low']:g}, {first['high']:.1f} % at "
        f"{first['at_high']:g}. {sign}"
    )


def lock_of(metric: str, kernel: str) -> str | None:
    """Return the lock of which a metric ``wait.SITE`` or ``hold.SITE`` is a part of a page's time.

    None for sites inside other holds, whose time these have, and for locks of one CPU alone.
    """
    if re.search(_NESTED, metric) or (lock := metric.split(".")[1]) in _PER_CPU_LOCKS:
        return None
    if lock == "map_lock" and kernel == "4.8":
        lock = "si_lock"  # before 4.11 the map bytes are under si->lock
    return (_LOCK_PARTS | {"interrupt": _INTERRUPTS}).get(lock, "other locks")


def _parts(kernel: str, run: pl.DataFrame) -> pl.DataFrame:
    busy = run.filter(metric="busy")["value"].item()
    timed = run.filter(unit="ns per page")
    locks = [lock_of(metric, run["kernel"][0]) for metric in timed["metric"]]
    times = (
        timed.with_columns(
            kind=pl.col("metric").str.extract(r"^(\w+)\."), lock=pl.Series(locks, dtype=pl.String)
        )
        .drop_nulls("lock")
        .group_by("lock", "kind")
        .agg(pl.col("value").sum())
    )
    rows = [
        (f"{lock}, {word}", times.filter(lock=lock, kind=kind)["value"].sum() / 1000)
        for lock in (*_LOCK_PARTS.values(), "other locks")
        for kind, word in (("wait", "waited for"), ("hold", "held"))
    ]
    interrupts = times.filter(lock=_INTERRUPTS, kind="wait")["value"].sum() / 1000
    rows.append((f"{_INTERRUPTS}, waited for", interrupts))
    rows.insert(0, ("work without a lock", busy / 1000 - math.fsum(value for _, value in rows)))
    return pl.DataFrame(
        {
            "kernel": kernel,
            "part": [part for part, _ in rows],
            "microseconds": [value for _, value in rows],
            "percent": [100_000 * value / busy for _, value in rows],
        }
    )


def _median(medians: pl.DataFrame, metric: str, policy: str) -> float:
    found = medians.filter(metric=metric, policy=policy)
    if found.height != 1:
        raise InputError(
            f"{found.height} medians of {metric!r} with {policy!r}: give one", field="policy"
        )
    return float(found["median"].item())


def _change(base: float, value: float) -> float | None:
    return 100 * (value / base - 1) if base else None


def _span(row: dict[str, float]) -> str:
    return range_text(row["low"], row["high"], "%", relative=True)
