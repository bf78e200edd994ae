# SPDX-License-Identifier: GPL-2.0-or-later
"""The studies of patch C, stored in data/simulated: the mail's tests, varied, and the lab's."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from swapsim import claims, reclaim
from swapsim.claims.judging import STAYS_WITHIN_PERCENT
from swapsim.claims.published import published_of
from swapsim.claims.rounds import difference
from swapsim.claims.tables import RESULTS
from swapsim.ffi import RECLAIM_COSTS, RECLAIM_RULES, STALL_RULES
from swapsim.frames.table import Table
from swapsim.machine.fit import residuals
from swapsim.machine.tables import FIT_ROWS
from swapsim.patches.stall_decisions.mail import (
    AS_SET,
    BASE,
    BEFORE,
    ELAPSED,
    KERNELS,
    PATCH,
    RULES,
    SERIES,
    SIZES,
    STEPS,
    cells,
    orders,
)
from swapsim.patches.stall_decisions.tables import (
    SIMULATED_BY_TIME,
    SIMULATED_MATTERS,
    SIMULATED_OPEN,
    SIMULATED_PAGE_SPANS,
    SIMULATED_RANGES,
    SIMULATED_SERVERS,
    SIMULATED_SUMMED,
    SIMULATED_WHAT_IF,
)
from swapsim.reclaim.parallelio import MIB_PAGES, SECOND_NS
from swapsim.study import Study
from swapsim.study.constants import Moved, ends

# The mail's tests.

TARGETS: Final = ("disk", "nfs")
"""Where the file is: in the mail's first table, and in its second."""

_LABELS: Final = {rules: kernel for kernel, rules in KERNELS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of the mail's test, or of the lab's, by one rule set.

    ``constants`` are values of data/reclaim.csv, or data/reclaim-lab-guest.csv, and ``fields``
    values of the config, that differ from those of the test.
    """

    rules: str
    target: str = "disk"
    seed: int = 1
    constants: Mapping[str, int] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)

    def config(self) -> tuple[reclaim.ReclaimConfig, pl.DataFrame]:
        """Return the config and the constants."""
        found = reclaim.change_constants(reclaim.constants(), self.constants)
        config = reclaim.parallelio(self.rules, found, nfs=self.target == "nfs", seed=self.seed)
        return replace(config, **self.fields), found


def _mails_constants() -> dict[str, int]:
    return dict(reclaim.constants().select("name", "value").iter_rows())


def _labelled(rows: pl.DataFrame, table: Table, *labels: object) -> pl.DataFrame:
    """Return rows of a table whose first columns are labels of the run."""
    given = [pl.lit(label).alias(name) for name, label in zip(table.names(), labels, strict=False)]
    return rows.with_columns(given).select(table.names()).cast(table.schema)


def mail_rows(run: Run) -> pl.DataFrame:
    """Run the mail's test and return its rows under the names of CLAIMS (RESULTS)."""
    result = reclaim.run(*run.config())
    rows = pl.concat([reclaim.ops(result), reclaim.vmstat(result), reclaim.iostat(result)])
    elapsed = pl.DataFrame({"metric": [ELAPSED], "value": [result.elapsed_ns / 1e9]})
    named = pl.concat([rows, elapsed]).with_columns(
        metric=pl.format("{}: {}", pl.lit(run.target), "metric"),
        unit=pl.col("metric").replace_strict(_units(), default="").cast(pl.String),
    )
    return claims.results(named, _labels(run, _LABELS.get(run.rules, run.rules)))


def _labels(run: Run, kernel: str) -> dict[str, str | int]:
    return {"patch": PATCH, "kernel": kernel, "policy": run.rules, "n_tasks": 1, "seed": run.seed}


@cache
def _units() -> dict[str, str]:
    rows = claims.published_tables().filter(patch=PATCH).select("metric", "unit").unique()
    return {**dict(rows.iter_rows()), ELAPSED: "s"}


def rows_of_target(results: pl.DataFrame, target: str) -> pl.DataFrame:
    """Return the rows of one of the mail's tests, without the name of the test.

    Parameters
    ----------
    results : polars.DataFrame
        Schema RESULTS, of `studies.tables` or `studies.steps`.
    target : {"disk", "nfs"}

    Returns
    -------
    polars.DataFrame
        Schema RESULTS.
    """
    name = f"{target}: "
    own = RESULTS.check(results).filter(pl.col("metric").str.starts_with(name))
    return own.with_columns(pl.col("metric").str.strip_prefix(name))


# The fit: free constants, fitted to 3.9's column of the mail's first table and nothing else.

FITTED_KERNEL: Final = "vanilla"

FREE: Final = {
    "write_delay_ms": "Ops memcachetest-4055M",
    "disk_rate": "Ops io-duration-4055M",
    "seek_near_ns": "Ops majorfaults-4055M",
}
"""Each free constant, and the figure that depends on it most. It stays in its range in
data/reclaim.csv, whose value is the one that was found."""

FIT_TARGETS: Final = ("Ops memcachetest-0M", *FREE.values())
"""The first needs no search: without faults at 0M, ``op_ns`` follows from it."""

FIT_SEEDS: Final = tuple(range(101, 107))
"""Other seeds than those of the tables by which the fit is judged."""

NEAR: Final = 0.05
"""Maximum relative difference at which a figure counts as met."""


def fit_targets() -> dict[str, float]:
    """Return the printed figure of each target."""
    table = claims.published_tables().filter(patch=PATCH, table="parallelio, disk")
    column = table.filter(kernel=FITTED_KERNEL)
    printed = dict(column.select("metric", "value").iter_rows())
    return {row: float(printed[row]) for row in FIT_TARGETS}


def fit_figures(constants: Mapping[str, int]) -> dict[str, float]:
    """Return the simulated figure of each target, the mean over FIT_SEEDS."""
    rules = KERNELS[FITTED_KERNEL]
    runs = [Run(rules=rules, seed=seed, constants=constants) for seed in FIT_SEEDS]
    rows = pl.concat(reclaim.ops(reclaim.run(*run.config())) for run in runs)
    means = dict(rows.group_by("metric").agg(pl.col("value").mean()).iter_rows())
    return {row: means[row] for row in FIT_TARGETS}


def search() -> dict[str, int]:
    """Find the constants by least squares of the figures' logarithms, to three digits."""
    from scipy import optimize

    limits = reclaim.constants().rows_by_key("name", named=True, unique=True)
    ranges = {name: (limits[name]["low"], limits[name]["high"]) for name in FREE}
    aim = fit_targets()

    # From 1, at the low end, to 2: scipy's steps are relative to the position.
    def at(point: np.ndarray) -> dict[str, int]:
        found = {}
        for (name, (low, high)), share in zip(ranges.items(), point.tolist(), strict=True):
            found[name] = int(float(f"{low ** (2 - share) * high ** (share - 1):.2e}"))
        return found

    def off(point: np.ndarray) -> np.ndarray:
        found = fit_figures(at(point))
        return np.array([math.log(found[row] / aim[row]) for row in FREE.values()])

    # The middle of the ranges does not depend on the stored values; a slope over a tenth of a range
    # is larger than a run's own noise.
    best = optimize.least_squares(off, [1.5] * len(FREE), bounds=(1, 2), diff_step=0.1, max_nfev=8)
    return at(best.x)


def fit(_kernel: str) -> pl.DataFrame:
    """Fit the free constants to the kernel's column (FIT_ROWS)."""
    return _fit_rows(search())


def fit_sample(rows: pl.DataFrame, _pick: int) -> pl.DataFrame:
    """Return the rows of a fit from new runs with the constants that it found."""
    return _fit_rows(fitted_constants(rows))


def _fit_rows(constants: Mapping[str, int]) -> pl.DataFrame:
    found, aim = fit_figures(constants), fit_targets()
    met = all(abs(found[row] / aim[row] - 1) <= NEAR for row in FIT_TARGETS)
    rows: list[tuple[str, str, float, float | None, bool]] = [
        (FITTED_KERNEL, name, float(value), None, met) for name, value in constants.items()
    ]
    rows += [(FITTED_KERNEL, row, found[row], aim[row], met) for row in FIT_TARGETS]
    return FIT_ROWS.check(pl.DataFrame(rows, schema=FIT_ROWS.schema, orient="row"))


def fitted_constants(rows: pl.DataFrame) -> dict[str, int]:
    """Return the free constants among the rows of a fit."""
    free = rows.filter(pl.col("wanted").is_null()).select("name", "value")
    return {name: int(value) for name, value in free.iter_rows()}


def residuals_of(rows: pl.DataFrame) -> pl.DataFrame:
    """Return how far the fit is from each of its targets.

    Parameters
    ----------
    rows : polars.DataFrame
        Schema FIT_ROWS.

    Returns
    -------
    polars.DataFrame
        Schema FIT.
    """
    return residuals(rows.drop_nulls("wanted").select("name", "wanted", "value").iter_rows())


# One round over time, and some pages in it.

FILE_PAGES: Final = 2385 * MIB_PAGES
"""The mail's second file, 1.67 times the memory that the pool leaves: the first that makes 3.9
collapse."""

_ONE_ROUND: Final = {"files": (FILE_PAGES,)}

PAGES: Final = 100
"""Pages that are followed, evenly spaced in the pool."""


def by_second(rules: str) -> pl.DataFrame:
    """Run the round and return its memory and activity, once per second (SIMULATED_BY_TIME)."""
    config, constants = Run(rules=rules, fields=_ONE_ROUND).config()
    result = reclaim.run(config, constants, sample_ns=SECOND_NS)
    samples = result.memory.unique(["t_ns", "zone"], keep="last", maintain_order=True)
    memory = samples.group_by("t_ns").agg(pl.exclude("zone", "flags").cast(pl.Int64).sum())
    scanned = samples.pivot("zone", index="t_ns", values="scanned_kswapd")
    # All operations up to another actor's event are counted at once, so a sample may be ahead of
    # its time; the time that the client has waited never falls.
    op_ns = dict(constants.select("name", "value").iter_rows())["op_ns"]
    served = (pl.col("t_ns").cast(pl.Int64) - result.rounds["serve_ns"][0]).clip(0, config.serve_ns)
    waited = (served - pl.col("ops").cast(pl.Int64) * op_ns).clip(0).cum_max()
    activity = (
        result.activity.unique("t_ns", keep="last")
        .join(memory, on="t_ns")
        .join(scanned, on="t_ns")
        .sort("t_ns")
        .with_columns(waited=waited)
    )
    # A sample is taken at the next event, so the last one before each second counts.
    times = pl.int_range(1, activity["t_ns"][-1] // SECOND_NS + 1, eager=True) * SECOND_NS
    sums = pl.DataFrame({"t_ns": times.cast(pl.UInt64)}).join_asof(activity, on="t_ns")
    file = pl.col("inactive_file") + pl.col("active_file")
    written = pl.min_horizontal("writeback", file - pl.col("dirty"))
    since = {
        name: pl.col(name).cast(pl.Int64).diff().fill_null(pl.col(name).cast(pl.Int64))
        for name in sums.columns
    }
    slept = {
        "kswapd_sleeps": "kswapd_slept_ns",
        "tasks_sleep": "tasks_slept_ns",
        "writer_throttled": "throttled_ns",
        "client_waits": "waited",
    }
    rows = sums.with_columns(
        t_s=pl.col("t_ns") // SECOND_NS,
        clean=file - pl.col("dirty") - written,
        written=written,
        swap_used=pl.col("swap_used").cast(pl.Int64),
        scanned_normal=since["normal"],
        scanned_dma32=since["dma32"],
        **{name: since[column] / SECOND_NS for name, column in slept.items()},
    )
    return _labelled(rows, SIMULATED_BY_TIME, rules)


def sum_seconds(by_time: pl.DataFrame) -> pl.DataFrame:
    """Return the sums of a round.

    Parameters
    ----------
    by_time : polars.DataFrame
        Schema SIMULATED_BY_TIME.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_SUMMED, one row per rule set.
    """
    frame = (
        SIMULATED_BY_TIME.check(by_time)
        .group_by("rules", maintain_order=True)
        .agg(
            pl.col("client_waits", "writer_throttled", "kswapd_sleeps", "tasks_sleep").sum(),
            pl.col("scanned_normal", "scanned_dma32").sum(),
            most_swapped=pl.col("swap_used").max(),
        )
    )
    return SIMULATED_SUMMED.check(frame.cast(SIMULATED_SUMMED.schema))


def spans_of_round(rules: str) -> pl.DataFrame:
    """Run the round and return where some pages are over time (SIMULATED_PAGE_SPANS)."""
    config, constants = Run(rules=rules, fields=_ONE_ROUND).config()
    pool = config.items * config.item_pages
    pages = range(0, pool, pool // PAGES)[:PAGES]
    changes = reclaim.follow_pages(config, pages, constants, step_ns=50_000_000)
    end = pl.col("t_ns").shift(-1).over("page")
    spans = changes.with_columns(begin_s=pl.col("t_ns") / SECOND_NS, end_s=end / SECOND_NS)
    ended = spans.drop_nulls("end_s").with_columns(pl.col("zone").cast(pl.String))
    return _labelled(ended, SIMULATED_PAGE_SPANS, rules)


def most_swapped_page(spans: pl.DataFrame, rules: str) -> pl.DataFrame:
    """Return the spans of the page that was swapped out most often.

    Parameters
    ----------
    spans : polars.DataFrame
        Schema SIMULATED_PAGE_SPANS.
    rules : str

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_PAGE_SPANS.
    """
    own = SIMULATED_PAGE_SPANS.check(spans).filter(rules=rules)
    outs = own.group_by("page", maintain_order=True).agg((pl.col("where") == "swapped-out").sum())
    page = outs.sort("where", descending=True, maintain_order=True)["page"][0]
    return own.filter(page=page)


# Open constants: each at the ends of its range, the others at their values, no new fit.

OF_THE_SERVER: Final = ("net_rate", "server_rate", "server_seek_ns")
"""Constants that are moved in the second test, all others in the first."""


def open_points() -> list[tuple[Moved, str]]:
    """Return each constant at both ends of its range, by each kernel of the mail."""
    return list(product(ends(reclaim.constants()), RULES))


def run_open(point: tuple[Moved, str]) -> pl.DataFrame:
    """Run the mail's test with a constant at an end of its range (SIMULATED_OPEN)."""
    moved, rules = point
    target = "nfs" if moved.constant in OF_THE_SERVER else "disk"
    run = Run(rules=rules, target=target, constants={moved.constant: moved.value})
    return _labelled(cells(mail_rows(run)), SIMULATED_OPEN, moved.constant, moved.end)


def ranges(found: pl.DataFrame, simulated: pl.DataFrame) -> pl.DataFrame:
    """Return the range of each cell over the open constants, and how often its order holds.

    Parameters
    ----------
    found, simulated : polars.DataFrame
        Schemas SIMULATED_OPEN and RESULTS, of `mail_rows`.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_RANGES.
    """
    value = pl.col("simulated")
    frame = (
        SIMULATED_OPEN.check(found)
        .group_by("table", "metric", "rules", maintain_order=True)
        .agg(
            low=value.min(),
            low_by=pl.col("constant").get(value.arg_min()),
            high=value.max(),
            high_by=pl.col("constant").get(value.arg_max()),
            settings=pl.len(),
            inside=pl.col("inside").sum(),
        )
        .join(_ordered(found, simulated), on=["table", "metric"], how="left", maintain_order="left")
    )
    return SIMULATED_RANGES.check(frame.cast(SIMULATED_RANGES.schema))


def _ordered(found: pl.DataFrame, simulated: pl.DataFrame) -> pl.DataFrame:
    """Count the settings in which each row's kernels are in the mail's order."""
    setting = ["constant", "end", "table", "metric"]
    one, other = (
        found.select(*setting, pl.col("rules").alias(name), pl.col("simulated").alias(f"of_{name}"))
        for name in ("one", "other")
    )
    pairs = (
        orders(simulated)
        .join(one, on=["table", "metric", "one"])
        .join(other, on=[*setting, "other"])
    )
    rise = pl.col("of_other") - pl.col("of_one")
    right = pl.when(pl.col("claimed") == "rises").then(rise > 0).otherwise(rise < 0)
    by_setting = pairs.group_by(setting).agg(right=right.all())
    return by_setting.group_by("table", "metric").agg(ordered=pl.col("right").sum())


# Other servers in the mail's second test, whose network the mail calls weak.

NET_MB: Final = (20, 45, 115)
SERVER_MB: Final = (30, 60, 150)
"""Megabytes per second: over the network, and to the server's disk at a commit. Nothing is fitted
here, as 3.9's column does not distinguish servers; the grid was chosen after single runs."""

WHAT_IF_SEEDS: Final = (1, 2, 3)

SERVER_ROWS: Final = (
    "Ops memcachetest-4055M",
    "Ops io-duration-4055M",
    "Kswapd pages scanned",
    "Page writes file",
    "Page reclaim immediate",
    "Swap Outs",
)


def server_points() -> list[tuple[int, int, Run]]:
    """Return each pair of rates by the mail's kernels, and by the series without NFS's patch 8."""
    rules = (BEFORE, BASE, "series-7", SERIES)
    found = []
    for net, server, name, seed in product(NET_MB, SERVER_MB, rules, WHAT_IF_SEEDS):
        rates = {"net_rate": net * MIB_PAGES, "server_rate": server * MIB_PAGES}
        found.append((net, server, Run(rules=name, target="nfs", seed=seed, constants=rates)))
    return found


def run_server(point: tuple[int, int, Run]) -> pl.DataFrame:
    """Run the mail's test over NFS with a server (SIMULATED_SERVERS)."""
    net_mb, server_mb, run = point
    result = reclaim.run(*run.config())
    rows = pl.concat([reclaim.ops(result), reclaim.vmstat(result)]).sort("metric")
    chosen = rows.filter(pl.col("metric").is_in(SERVER_ROWS))
    return _labelled(chosen, SIMULATED_SERVERS, net_mb, server_mb, run.rules, run.seed)


# Other machines in one round of the mail's first test; the grids were chosen before any run.

SWAPPINESS: Final = (0, 10, 30, 60, 100)
DIRTY_PERCENT: Final = (5, 10, 20, 40, 60)
DISK_MB: Final = (20, 60, 120, 250, 500, 1000, 2000)
MEMORY_GB: Final = (4, 7, 16, 32, 64)
_MAILED_MB: Final = 120
"""Megabytes per second of the disk whose seeks data/reclaim.csv has."""

MACHINE_ROWS: Final = ("Kswapd pages scanned", "Page writes file", "Swap Outs")


class Machine(NamedTuple):
    """A machine: the factor that is varied, its setting, and what differs from the mail's."""

    factor: str
    setting: float
    constants: Mapping[str, int] = {}
    fields: Mapping[str, Any] = {}


def other_machines() -> list[Machine]:
    """Return all machines, factor by factor."""
    return [
        *(Machine("swappiness", value, fields={"swappiness": value}) for value in SWAPPINESS),
        *(Machine("dirty ratio, %", value, fields=_dirty_limits(value)) for value in DIRTY_PERCENT),
        *(Machine("disk, MB/s", value, _disk(value)) for value in DISK_MB),
        *map(_memory, MEMORY_GB),
    ]


def _dirty_limits(percent: int) -> dict[str, int]:
    return {"dirty_percent": percent, "background_percent": max(percent // 2, 1)}


def _disk(megabytes: int) -> dict[str, int]:
    """Return a disk; the seeks of a faster one are shorter in proportion."""
    share = min(_MAILED_MB / megabytes, 1)
    config = Run(rules=BASE).config()[0]
    seeks = {name: int(getattr(config, name) * share) for name in ("seek_near_ns", "seek_far_ns")}
    return {"disk_rate": megabytes * MIB_PAGES} | seeks


def _memory(gigabytes: int) -> Machine:
    """Return a memory; pool and file are the same shares of it as in the mail."""
    pages = gigabytes * 1024 * MIB_PAGES
    mailed = _mails_constants()
    share = pages / mailed["memory_pages"]
    changed = {
        "memory_pages": pages,
        "pool_pages": int(mailed["pool_pages"] * share),
        "swap_pages": max(mailed["swap_pages"], pages),
    }
    return Machine("memory, GB", gigabytes, changed, {"files": (int(FILE_PAGES * share),)})


def machine_points() -> list[tuple[Machine, str, int]]:
    """Return each machine by each kernel of the mail, with each seed."""
    return list(product(other_machines(), RULES, WHAT_IF_SEEDS))


def run_machine(point: tuple[Machine, str, int]) -> pl.DataFrame:
    """Run one round of the mail's test on a machine (SIMULATED_WHAT_IF)."""
    machine, rules, seed = point
    fields = {**_ONE_ROUND, **machine.fields}
    run = Run(rules=rules, seed=seed, constants=machine.constants, fields=fields)
    result = reclaim.run(*run.config())
    counts = reclaim.vmstat(result).filter(pl.col("metric").is_in(MACHINE_ROWS))
    (served,) = result.rounds.iter_rows(named=True)
    of_client = {
        "metric": ["Operations a second", "Seconds for the file"],
        "value": [served["ops_per_second"], served["io_ns"] / 1e9],
    }
    rows = pl.concat([counts, pl.DataFrame(of_client)])
    return _labelled(rows, SIMULATED_WHAT_IF, machine.factor, machine.setting, rules, seed)


def differences(found: pl.DataFrame) -> pl.DataFrame:
    """Return on which machines the series differs from mmotm.

    Parameters
    ----------
    found : polars.DataFrame
        Schema SIMULATED_WHAT_IF.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_MATTERS: it differs where all seeds have one sign and the change is
        more than STAYS_WITHIN_PERCENT.
    """
    groups = SIMULATED_WHAT_IF.check(found).group_by(
        "factor", "setting", "metric", maintain_order=True
    )
    rows = []
    for label, of_one in groups:
        base, series = (
            of_one.filter(rules=rules).select("seed", "value") for rules in (BASE, SERIES)
        )
        seen = difference(base, series)
        if seen is not None:
            change = 100 * (seen["value"] / seen["base"] - 1) if seen["base"] else None
            large = change is None or abs(change) > STAYS_WITHIN_PERCENT
            differs = seen["seen"] != "either" and large
            rows.append((*label, seen["base"], seen["value"], change, differs))
    frame = pl.DataFrame(rows, schema=SIMULATED_MATTERS.schema, orient="row")
    return SIMULATED_MATTERS.check(frame)


# The lists of a node, as since 4.8, in place of those of two zones.

NODE_RULES: Final = ("3.9", "mmotm", "series-8", "3.11", "6.1")
"""Without a node's lists, 6.1 has no decisions."""

ZONES: Final = "two zones"
NODE: Final = "one node"


def node_points() -> list[tuple[str, Run]]:
    """Return each rule set on the lists that it has, with each seed."""
    found = _mails_constants()
    # A node is one zone with the memory and the watermarks of both.
    memory = {"dma32_pages": found["memory_pages"] - found["other_pages"]}
    return [
        (lists, Run(rules=rules, seed=seed, constants=memory if lists == NODE else {}))
        for lists in (ZONES, NODE)
        for rules in NODE_RULES
        if lists == NODE or rules in RECLAIM_RULES
        for seed in WHAT_IF_SEEDS
    ]


def run_node(point: tuple[str, Run]) -> pl.DataFrame:
    """Run a point and return its rows (RESULTS); the kernel names the lists."""
    lists, run = point
    return mail_rows(run).with_columns(kernel=pl.lit(lists))


def by_lists(results: pl.DataFrame, rows: Sequence[str]) -> pl.DataFrame:
    """Return medians of some rows, a line for each kind of lists and each rule set.

    Parameters
    ----------
    results : polars.DataFrame
        Schema RESULTS, of `studies.node`.
    rows : sequence of str
        As the mail calls them, without the table's name.

    Returns
    -------
    polars.DataFrame
        ``lists``, ``rules``, and a Float64 column per row.
    """
    named = {f"disk: {row}": row for row in rows}
    medians = claims.medians(results.filter(pl.col("metric").is_in(list(named))))
    wide = medians.pivot("metric", index=["kernel", "policy"], values="median", maintain_order=True)
    return wide.select(
        pl.col("kernel").alias("lists"),
        pl.col("policy").alias("rules"),
        *(pl.col(metric).round(1).alias(row) for metric, row in named.items()),
    )


# The lab's test. Only op_ns was fitted to the lab, to 3.9 without a file; what the rig leaves open
# is varied. That slab is no memory for files, and the writer's distance from its limit, were added
# after the first run.

GUEST_SEEDS: Final = tuple(range(1, 10))
"""As many as the lab has rounds."""

_COSTS: Final = tuple(name for name in RECLAIM_COSTS if name != "op_ns")

_EFFICIENCIES: Final = {
    "Kswapd efficiency": ("Kswapd pages reclaimed", "Kswapd pages scanned"),
    "Direct efficiency": ("Direct pages reclaimed", "Direct pages scanned"),
}


def variants() -> dict[str, dict[str, int]]:
    """Return the constants that are not as set, by the name of the variant."""
    found = reclaim.lab_guest_constants()
    low, high = (dict(found.select("name", end).iter_rows()) for end in ("low", "high"))
    return {
        AS_SET: {},
        "a fast CPU": {name: low[name] for name in _COSTS},
        "a slow CPU": {name: high[name] for name in _COSTS},
        "short turns of writes": {"writes_turn_ms": low["writes_turn_ms"]},
        "a longer queue": {"nr_requests": high["nr_requests"]},
        "less slab": {"kernel_pages": low["kernel_pages"]},
        "more slab": {"kernel_pages": high["kernel_pages"]},
        "a disk whose rate is known": {"dirty_percent": low["dirty_percent"]},
    }


def guest_points() -> list[tuple[str, Run]]:
    """Return the lab's test by each rule set, as set and in each variant."""
    return [
        (variant, Run(rules=rules, seed=seed, constants=constants))
        for variant, constants in variants().items()
        for rules in STALL_RULES
        for seed in (GUEST_SEEDS if variant == AS_SET else GUEST_SEEDS[:3])
    ]


def run_guest(point: tuple[str, Run]) -> pl.DataFrame:
    """Run the lab's test with its four files: rows ``METRIC-SIZE``, and sums over all (RESULTS)."""
    variant, run = point
    constants = reclaim.lab_guest_constants(run.constants)
    frames = []
    for size in SIZES.values():
        config = reclaim.lab_guest(run.rules, float(size), constants, seed=run.seed)
        rows = reclaim.lab_guest_rows(reclaim.run_lab_guest(config, constants))
        frames.append(rows.with_columns(size=pl.lit(size)))
    by_size = pl.concat(frames)
    of_all = (
        by_size.filter(~pl.col("metric").str.starts_with("Ops "))
        .group_by("metric", "unit", maintain_order=True)
        .agg(pl.col("value").sum())
    )
    sums = dict(of_all.select("metric", "value").iter_rows())
    stalled = math.fsum(value for name, value in sums.items() if name.startswith("Time stalled "))
    more: list[tuple[str, str, float]] = [
        (name, "%", 100 * sums[part] / sums[total] if sums[total] else 100.0)
        for name, (part, total) in _EFFICIENCIES.items()
    ]
    more.append(("Time stalled", "s", stalled))
    named = by_size.with_columns(metric=pl.format("{}-{}", "metric", "size")).drop("size")
    of_more = pl.DataFrame(more, schema=of_all.schema, orient="row")
    rows = pl.concat([named, of_all.select(named.columns), of_more.select(named.columns)])
    return claims.results(rows, _labels(run, variant))


# The studies.

_PUBLISHED: Final = partial(published_of, PATCH)
_study = partial(Study, reads=("reclaim.csv",))
_of_the_mail = partial(Study, reads=("reclaim.csv", _PUBLISHED))

fitted: Final = _of_the_mail(
    name="stall-decisions-fit", points=(FITTED_KERNEL,), run=fit, sample=fit_sample
)
"""The free constants fitted to 3.9's column (FIT_ROWS)."""

SEEDS: Final = tuple(range(1, 21))

tables: Final = _of_the_mail(
    name="stall-decisions-tables",
    points=tuple(Run(rules=r, target=t, seed=s) for t, r, s in product(TARGETS, RULES, SEEDS)),
    run=mail_rows,
)
"""Both tests of the mail by its three kernels (RESULTS)."""

STEP_SEEDS: Final = tuple(range(1, 6))
"""Fewer than for the tables, for nine rule sets."""

steps: Final = _of_the_mail(
    name="stall-decisions-steps",
    points=tuple(Run(rules=r, target=t, seed=s) for t, r, s in product(TARGETS, STEPS, STEP_SEEDS)),
    run=mail_rows,
)
"""Both tests by each state of the series, one more patch per step (RESULTS)."""

open_constants: Final = Study(
    name="stall-decisions-open-constants",
    points=open_points,
    run=run_open,
    reads=("reclaim.csv", "published/simulation-tolerances.csv", _PUBLISHED),
)
"""Each constant at the ends of its range (SIMULATED_OPEN)."""

TOGETHER: Final = {"program_pages": "low", "submit_ns": "high"}
"""Two constants at ends of their ranges. They were chosen after each had been moved alone for all
three kernels, so moving both explains a miss and predicts nothing."""


def _together() -> list[Run]:
    limits = reclaim.constants().rows_by_key("name", named=True, unique=True)
    moved = {name: limits[name][end] for name, end in TOGETHER.items()}
    return [
        Run(rules=rules, seed=seed, constants=moved) for rules, seed in product(RULES, range(1, 11))
    ]


together: Final = _of_the_mail(name="stall-decisions-together", points=_together, run=mail_rows)
"""The mail's test on a disk with two constants moved at once (RESULTS)."""

servers: Final = _of_the_mail(name="stall-decisions-servers", points=server_points, run=run_server)
"""The mail's test over NFS with each pair of rates (SIMULATED_SERVERS)."""

machines: Final = _study(
    name="stall-decisions-what-if",
    points=machine_points,
    run=run_machine,
    quick=lambda point: point[0].factor != "memory, GB" or point[0].setting < 16,
)
"""The mail's three kernels on other machines (SIMULATED_WHAT_IF)."""

by_time: Final = _study(name="stall-decisions-by-time", points=RULES, run=by_second)
"""One round by each kernel, once per simulated second (SIMULATED_BY_TIME)."""

page_spans: Final = _study(name="stall-decisions-page-spans", points=RULES, run=spans_of_round)
"""A hundred pages in one round by each kernel (SIMULATED_PAGE_SPANS)."""

node: Final = _study(name="stall-decisions-node", points=node_points, run=run_node)
"""The mail's first test with lists per zone, and with lists per node (RESULTS)."""

lab_guest: Final = Study(
    name="stall-decisions-lab-guest",
    points=guest_points,
    run=run_guest,
    reads=("reclaim-lab-guest.csv",),
)
"""The lab's test by each rule set, as set and in each variant (RESULTS)."""


def simulated_claims() -> pl.DataFrame:
    """Return the figures of the mail's claims (SIMULATED_CLAIMS)."""
    stated = claims.published_claims().filter(patch=PATCH)
    return claims.simulated_claims(stated, tables())
