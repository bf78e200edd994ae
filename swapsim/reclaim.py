# SPDX-License-Identifier: GPL-2.0-or-later
"""The reclaim simulator of ``reclaim.h``, and patch C's test on it.

mmtests' parallelio: memcached with four fifths of memory next to a file that is written. The
constants of the mail's machine are data/reclaim.csv.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, make_dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from swapsim import ffi as facts
from swapsim._core import ffi, lib
from swapsim.errors import InputError, check_choice, check_number, check_share
from swapsim.machine import constants as files
from swapsim.stall.tables import THROTTLE

__all__ = ["parallelio"]

CHUNK_WORK: Final = 50_000  # of one call into C, well under 0.1 s; Ctrl-C is handled between two
NEVER: Final = 2**64 - 1
ZONE: Final = pl.Enum(("dma32", "normal"))  # a zone of memory, the lower one first

_PLAIN: Final = facts.RECLAIM_DEFAULTS.keys() - {"rules", "rounds", "seed"}
_USUAL: Final = [(name, type(n), n) for name, n in facts.RECLAIM_DEFAULTS.items() if name in _PLAIN]
_Fields: Any = make_dataclass("_Fields", _USUAL, frozen=True, kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReclaimConfig(_Fields):  # type: ignore[misc]
    """A simulation: ``struct sws_reclaim_config`` explains each field, and names its range.

    ``rules`` is one of RECLAIM_RULES; any other of STALL_RULES keeps its lists per node and needs
    ``normal_pages=0``. ``files`` are the pages of each round's file; 0: no file.
    """

    rules: str = facts.STALL_RULES[facts.RECLAIM_DEFAULTS["rules"]]
    files: tuple[int, ...] = (0,)
    seed: int = 1

    def __post_init__(self) -> None:
        """Check each field; the library checks how they fit together."""
        check_choice("rules", self.rules, facts.STALL_RULES)
        if self.rules not in facts.RECLAIM_RULES and self.normal_pages:
            raise InputError(
                f"rules={self.rules!r}: its lists are per node, and there are two zones; "
                f"give normal_pages=0, or one of {', '.join(facts.RECLAIM_RULES)}"
            )
        for name, (low, high) in facts.RECLAIM_RANGES.items():
            if name != "rounds":
                check_number(name, getattr(self, name), low, high)
        fewest, most = facts.RECLAIM_RANGES["rounds"]
        if not isinstance(self.files, tuple) or not fewest <= len(self.files) <= most:
            raise InputError(f"files={self.files!r}: give a tuple of {fewest} to {most} sizes")
        for size in self.files:
            check_number("files", size, 0, self.disk_pages, ": a file is no larger than its disk")
        if self.dma32_pages + self.normal_pages < facts.RECLAIM_PAGES_MIN:
            raise InputError(
                f"dma32_pages={self.dma32_pages} and normal_pages={self.normal_pages}: "
                f"choose {facts.RECLAIM_PAGES_MIN} pages or more"
            )


def make(config: ReclaimConfig, ns: Mapping[str, int]) -> Any:
    """Return a ``struct sws_reclaim *`` with these costs at time 0; it frees itself."""
    for name in facts.RECLAIM_COSTS:
        if name not in ns:
            raise InputError(f"{name}: a cost that is missing; give it in ns")
        check_number(name, ns[name], 1, facts.RECLAIM_COST_MAX)
    sizes = ffi.new("uint32_t[]", list(config.files))
    made = facts.config(
        lib.sws_reclaim_config_init,
        config,
        rules=facts.STALL_RULES.index(config.rules),
        rounds=len(sizes),
        file_pages=sizes,
        costs={name: ns[name] for name in facts.RECLAIM_COSTS},
    )
    problem = lib.sws_reclaim_check(made)
    if problem != lib.SWS_RECLAIM_NO_PROBLEM:
        why = facts.problem("enum sws_reclaim_problem", problem)
        named = {name: getattr(config, name, None) for name in re.findall(r"\w+", why)}
        values = [f"{name}={value!r}" for name, value in named.items() if value is not None]
        raise InputError(f"{', '.join(values)}: {why}")
    return facts.new(lib.sws_reclaim_new, made, free=lib.sws_reclaim_free)


def simulate(
    config: ReclaimConfig,
    ns: Mapping[str, int],
    sample_ns: int,
    tick: Callable[[int], object] = lambda _now: None,
) -> dict[str, Any]:
    """Run a simulation to its end, and return the fields of `Run`."""
    self = make(config, ns)
    states, counts, zones = list[Any](), list[Any](), list[Any]()
    until, more = 0, ffi.new("bool *")
    while not lib.sws_reclaim_is_over(self):
        until = min(until + sample_ns, NEVER)
        more[0] = True
        while more[0]:
            facts.check(lib.sws_reclaim_run(self, until, CHUNK_WORK, more))
            tick(lib.sws_reclaim_state_of(self).now_ns)
        states.append(lib.sws_reclaim_state_of(self))
        counts.append(lib.sws_reclaim_counts_of(self))
        zones += (lib.sws_reclaim_zone_of(self, number) for number in range(len(ZONE.categories)))
    state, by_zone = _fields("struct sws_reclaim_state", states)
    counted, _ = _fields("struct sws_reclaim_counts", counts)
    of_zone, _ = _fields("struct sws_reclaim_zone", zones)
    sampled = len(state["now_ns"])
    memory = {
        "t_ns": state["now_ns"].repeat(len(ZONE.categories)),
        "zone": pl.Series([*ZONE.categories] * sampled, dtype=ZONE),
        **{name: values.ravel() for name, values in by_zone.items()},
    }
    last = counts[-1]
    columns = {"slept": last.sleeps, "declined": last.declined, "slept_ns": last.slept_ns}
    zone = {name: values[-len(ZONE.categories) :] for name, values in of_zone.items()}
    return {
        "out_of_memory": lib.sws_reclaim_outcome(self) == lib.SWS_RECLAIM_OUT_OF_MEMORY,
        "elapsed_ns": states[-1].now_ns,
        "events": lib.sws_reclaim_events(self),
        "rounds": _rounds(self, config),
        "kswapd_scanned": int(zone["scanned_kswapd"].sum()),
        "direct_scanned": int(zone["scanned_direct"].sum()),
        "file_written": last.reclaim_writes_file,
        "swapped_out": last.swapped_out,
        "counters": counters(self),
        "zones": pl.DataFrame({"zone": pl.Series(ZONE.categories, dtype=ZONE), **zone}).head(
            1 + (config.normal_pages > 0)
        ),
        "sleeps": pl.DataFrame(
            {"reason": facts.STALL_SLEEPS, **{name: list(each) for name, each in columns.items()}},
            schema={"reason": THROTTLE, **dict.fromkeys(columns, pl.UInt64())},
        ),
        "memory": pl.DataFrame(memory | of_zone),
        "activity": pl.DataFrame(state | counted).rename({"now_ns": "t_ns"}),
    }


def counters(self: Any) -> dict[str, int]:
    """Return the counters that are one number, by name."""
    found, _ = _fields("struct sws_reclaim_counts", [lib.sws_reclaim_counts_of(self)])
    return {name: int(values[0]) for name, values in found.items()}


# Structs as rows.

_Columns = dict[str, np.ndarray[Any, Any]]


def _fields(struct: str, values: Sequence[Any]) -> tuple[_Columns, _Columns]:
    """Return the fields of structs of a kind, those of one number and those of several."""
    one, several = _Columns(), _Columns()
    for name, field in ffi.typeof(struct).fields:
        is_array = field.type.kind == "array"
        kind = (field.type.item if is_array else field.type).cname
        found = [getattr(value, name) for value in values]
        numbers = [list(each) for each in found] if is_array else found
        column = np.array(numbers, "bool" if kind == "_Bool" else kind.removesuffix("_t"))
        (several if is_array else one)[name] = column
    return one, several


def _rounds(self: Any, config: ReclaimConfig) -> pl.DataFrame:
    numbers = range(len(config.files))
    ended = [lib.sws_reclaim_round_of(self, number) for number in numbers]
    found, _ = _fields("struct sws_reclaim_round", ended)
    # numpy rounds a quotient once; polars multiplies by the reciprocal of a constant.
    rate = found["ops"] / (config.serve_ns / 1e9)
    known = {"round": numbers, "file_pages": config.files, **found, "ops_per_second": rate}
    rows = pl.DataFrame(known, schema_overrides={"round": pl.UInt32, "file_pages": pl.UInt32})
    return rows.filter((pl.col("round") == 0) | (pl.col("begin_ns") > 0))


# The test of the mail.

MIB_PAGES: Final = 256
MS_NS: Final = 1_000_000
SECOND_NS: Final = 1_000_000_000
FILES_MIB: Final = (0, 715, 2385, 4055)  # sizes of the mail's files; 0: a round without a file
WARM_UP: Final = 1  # rounds without a file before those that are reported

PAGE_KIB: Final = 4
_MAILED: Final = pl.Schema({"metric": pl.String(), "value": pl.Float64()})
SAMPLE_NS: Final = 10 * SECOND_NS  # time between two lines of iostat, as mmtests sets it
_ROUNDS: Final = {False: 1, True: 5}  # of each size, by nfs: the mail's times are of 1 + 4, 1 + 20

_IN_MS: Final = (
    *("program_interval_ns", "working_interval_ns", "gap_ns", "start_look_ns", "write_delay_ns"),
)
_SHRUNK: Final = (
    *("dma32_pages", "normal_pages", "program_pages", "working_pages", "cached_pages"),
    *("min_free_pages", "start_used_pages", "swap_pages", "disk_pages", "items", "serve_ns"),
    *_IN_MS,
)

MAIL: Final = files.File(
    name="reclaim.csv",
    costs=facts.RECLAIM_COSTS,
    others=(
        *("memory_pages", "pool_pages", "dma32_pages", "other_pages", "program_pages"),
        *("program_interval_ms", "working_pages", "working_interval_ms", "executable_percent"),
        *("read_around_pages", "cached_pages", "cached_normal_percent", "min_free_pages"),
        *("swap_pages", "disk_rate", "seek_near_ns", "seek_far_ns", "nr_requests", "net_rate"),
        *("server_rate", "server_seek_ns", "item_pages", "gap_ms", "start_percent"),
        *("start_look_ms", "write_delay_ms"),
    ),
    most=facts.RECLAIM_COST_MAX,
)
"""What work costs, and what the mail does not print of its machine."""


def constants(root: Path | None = None) -> pl.DataFrame:
    """Read the constants of the mail's machine (CONSTANTS), costs first, from data/reclaim.csv."""
    return files.read(MAIL, root)


def change_constants(frame: pl.DataFrame, values: Mapping[str, int]) -> pl.DataFrame:
    """Return the mail's constants with other values, and ranges that hold these."""
    return files.change(MAIL, frame, values)


def values(frame: pl.DataFrame | None) -> dict[str, int]:
    """Return each constant's value; without a frame those of data/reclaim.csv."""
    return files.values(MAIL, files.read(MAIL) if frame is None else frame)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a simulation gives: the mail's rows, and tables of fields of ``reclaim.h``.

    Attributes
    ----------
    rows : polars.DataFrame
        ``metric`` and ``value`` of the mail's three blocks: ``ops``, ``vmstat``, ``iostat``.
    kswapd_scanned, direct_scanned, file_written, swapped_out : int
        Pages that kswapd scanned, that tasks scanned, that reclaim wrote of files and to swap.
    elapsed_ns, events : int
        The simulated time, and the events of the simulation.
    out_of_memory : bool
        Whether that ended it before all rounds were done.
    rounds : polars.DataFrame
        A row per round that began: ``round`` from 0, ``file_pages``, the fields of ``struct
        sws_reclaim_round``, and ``ops_per_second`` of serving.
    counters : dict of str to int
        ``struct sws_reclaim_counts``.
    zones, sleeps : polars.DataFrame
        A row per ``zone`` (``struct sws_reclaim_zone``); one per ``reason`` for a throttle: how
        many ``slept``, how many were ``declined``, and ``slept_ns``.
    memory, activity : polars.DataFrame
        Each second and at the end, a row per zone (``t_ns``, the fields by zone of ``struct
        sws_reclaim_state``, those of ``struct sws_reclaim_zone`` so far); and the other fields of
        the state, with the counters so far.
    """

    out_of_memory: bool
    elapsed_ns: int
    events: int
    kswapd_scanned: int
    direct_scanned: int
    file_written: int
    swapped_out: int
    rounds: pl.DataFrame
    counters: dict[str, int]
    zones: pl.DataFrame
    sleeps: pl.DataFrame
    memory: pl.DataFrame
    activity: pl.DataFrame

    @property
    def rows(self) -> pl.DataFrame:
        """The mail's rows."""
        return pl.concat([self.ops, self.vmstat, self.iostat])

    @property
    def vmstat(self) -> pl.DataFrame:
        """The mail's vmstat block, as far as it is simulated.

        All rounds with the warm-up; an efficiency is 100 where nothing was scanned.
        """
        counters, seconds = self.counters, self.elapsed_ns / 1e9
        sums = dict(zip(self.zones.columns[1:], self.zones.drop("zone").sum().row(0), strict=True))
        scanned = sums["scanned_kswapd"] + sums["scanned_direct"]
        by_zone = self.zones.reverse().select(
            "zone", pl.col("scanned_kswapd") + pl.col("scanned_direct")
        )
        efficiency = {
            by: 100 * sums[f"reclaimed_{by}"] // sums[f"scanned_{by}"]
            if sums[f"scanned_{by}"]
            else 100
            for by in ("kswapd", "direct")
        }
        rows = [
            ("Minor Faults", counters["minor_faults"]),
            ("Major Faults", counters["major_faults"]),
            ("Swap Ins", counters["swapped_in"]),
            ("Swap Outs", counters["swapped_out"]),
            ("Direct pages scanned", sums["scanned_direct"]),
            ("Kswapd pages scanned", sums["scanned_kswapd"]),
            ("Kswapd pages reclaimed", sums["reclaimed_kswapd"]),
            ("Direct pages reclaimed", sums["reclaimed_direct"]),
            ("Kswapd efficiency", efficiency["kswapd"]),
            ("Kswapd velocity", sums["scanned_kswapd"] / seconds),
            ("Direct efficiency", efficiency["direct"]),
            ("Direct velocity", sums["scanned_direct"] / seconds),
            ("Percentage direct scans", 100 * sums["scanned_direct"] // (scanned or 1)),
            *((f"Zone {zone} velocity", pages / seconds) for zone, pages in by_zone.iter_rows()),
            ("Page writes by reclaim", counters["reclaim_writes_file"] + counters["swapped_out"]),
            ("Page writes file", counters["reclaim_writes_file"]),
            ("Page writes anon", counters["swapped_out"]),
            ("Page reclaim immediate", counters["reclaim_immediate"]),
            ("Sector Reads", counters["disk_read"] * PAGE_KIB),
            ("Sector Writes", counters["disk_written"] * PAGE_KIB),
        ]
        return pl.DataFrame(rows, _MAILED, orient="row")

    @property
    def ops(self) -> pl.DataFrame:
        """The mail's parallelio table, without the warm-up's rounds.

        As in mmtests' ExtractParallelio of May 2013, of the iterations of a size, in MiB, the first
        one with the fewest operations per second is reported.
        """
        rows: list[tuple[str, float]] = []
        worst = (
            self.rounds.slice(WARM_UP)
            .sort("ops_per_second", maintain_order=True)
            .group_by("file_pages", maintain_order=True)
            .first()
            .sort("file_pages")
        )
        for row in worst.iter_rows(named=True):
            figures = {
                "memcachetest": row["ops_per_second"],
                "io-duration": row["io_ns"] / 1e9,
                "swaptotal": row["swapped_in"] + row["swapped_out"],
                "swapin": row["swapped_in"],
                "minorfaults": row["minor_faults"],
                "majorfaults": row["major_faults"],
            }
            size = row["file_pages"] // MIB_PAGES
            rows += [(f"Ops {name}-{size}M", value) for name, value in figures.items()]
        return pl.DataFrame(rows, _MAILED, orient="row")

    @property
    def iostat(self) -> pl.DataFrame:
        """The mail's disk table, as mmtests prints iostat's lines.

        Queue in requests, waits in ms: mean and maximum over samples of 10 s; one without a request
        counts as 0.
        """
        sample = pl.col("t_ns").sub(1).clip(0).floordiv(SAMPLE_NS).alias("sample")
        sums_of = ("reads", "writes", "read_ns", "write_ns", "queue_ns")
        sums = self.activity.select("t_ns", *sums_of).cast(pl.Int64)
        by_window = sums.group_by(sample, maintain_order=True).last()
        since = {
            name: pl.col(name) - pl.col(name).shift(fill_value=0) for name in ("t_ns", *sums_of)
        }
        requests = since["reads"] + since["writes"]
        waited = since["read_ns"] + since["write_ns"]
        lines = by_window.select(
            avgqz=since["queue_ns"] / since["t_ns"],
            await_=_wait(waited, requests),
            r_await=_wait(since["read_ns"], since["reads"]),
            w_await=_wait(since["write_ns"], since["writes"]),
        ).rename({"await_": "await"})
        return pl.concat(
            found.unpivot(variable_name="metric").with_columns(
                metric=pl.format("{} sda-{}", pl.lit(word), "metric"),
                value=pl.col("value").cast(float),
            )
            for word, found in (("Mean", lines.mean()), ("Max", lines.max()))
        )


def _wait(ns: pl.Expr, requests: pl.Expr) -> pl.Expr:
    return pl.when(requests > 0).then(ns / requests / 1e6).otherwise(0.0)


def config_of(
    rules: str = "3.9",
    constants: pl.DataFrame | None = None,
    *,
    io: Sequence[int] = FILES_MIB,
    nfs: bool = False,
    iterations: int | None = None,
    share: float = 1,
    seed: int = 1,
) -> ReclaimConfig:
    """Return the config of the mail's tables: a warm-up round, then the iterations of each size.

    The file starts when ``start_percent`` of the pool's target, four fifths of memory, are in use;
    other_pages are in use, too, outside of the zones. A share leaves the disk as fast as it is, so
    that each page of a file takes as long.
    """
    check_share("share", share)
    found = values(constants)
    rounds = _ROUNDS[nfs] if iterations is None else iterations
    check_number("iterations", rounds, 1, (facts.RECLAIM_RANGES["rounds"][1] - WARM_UP) // len(io))
    normal = found["memory_pages"] - found["dma32_pages"] - found["other_pages"]
    start = found["memory_pages"] * 4 // 5 * found["start_percent"] // 100 - found["other_pages"]
    fields: dict[str, Any] = {
        **{name: value for name, value in found.items() if name in facts.RECLAIM_DEFAULTS},
        **{name: found[name.replace("_ns", "_ms")] * MS_NS for name in _IN_MS},
        "normal_pages": max(normal, 0),
        "items": found["pool_pages"] // found["item_pages"],
        "start_used_pages": max(start, 0),
    }
    whole = ReclaimConfig(rules=rules, nfs=nfs, seed=seed, **fields)
    sizes = (*[0] * WARM_UP, *(mib * MIB_PAGES for mib in io for _ in range(rounds)))
    parts: dict[str, Any] = {name: int(getattr(whole, name) * share) for name in _SHRUNK}
    return replace(whole, **parts, files=tuple(int(size * share) for size in sizes))


def run_config(
    config: ReclaimConfig,
    constants: pl.DataFrame | None = None,
    *,
    sample_ns: int = SECOND_NS,
    tick: Callable[[int], object] = lambda _now: None,
) -> Run:
    """Run a simulation to its end: all rounds, or out of memory."""
    return Run(**simulate(config, values(constants), sample_ns, tick))


def parallelio(
    rules: str = "3.9",
    *,
    io: Sequence[int] = FILES_MIB,
    nfs: bool = False,
    iterations: int | None = None,
    share: float = 1,
    seed: int = 1,
    **changed: int,
) -> Run:
    """Run the test of patch C's mail by a set of rules: memcached next to a file that is written.

    memcached's pool takes four fifths of memory. Each round serves it for a while, and writes a
    file that competes with it; a round of warm-up comes first.

    Parameters
    ----------
    rules : str
        One of `stall.RULES` up to 3.11; 6.1 keeps its lists per node, without two zones.
    io : sequence of int
        Sizes of the file in MiB, by default the mail's: 0, 715, 2385, 4055.
    nfs : bool
        Whether the file is on a server, as in the mail's second table, or on the disk.
    iterations : int
        Rounds of each size, by default the mail's: 1, over NFS 5.
    share : float
        Share of the memory, the pool, the files and the time; 1/20 takes a second.
    seed : int
        Seed of the random generator.
    **changed : int
        Constants of data/reclaim.csv (``memory_pages``, ``disk_rate``, ...), or fields of the
        simulation (``swappiness``, ``dirty_percent``, ...), that differ from the mail's.

    Returns
    -------
    Run
        Figures by name, and ``rows`` as the mail prints them.

    Raises
    ------
    InputError
        A field is unknown or out of its range, or does not fit to others: it is named.

    Source
    ------
    mmtests' parallelio and memcachetest of May 2013: facts of `patches/03-stall-decisions`.

    Examples
    --------
    >>> from swapsim import reclaim
    >>> small = {kernel: reclaim.parallelio(kernel, share=0.05) for kernel in ("mmotm", "series-8")}
    >>> {kernel: run.kswapd_scanned for kernel, run in small.items()}
    {'mmotm': 347466, 'series-8': 70805}
    """
    of_machine = {name: value for name, value in changed.items() if name in MAIL.names}
    fields: dict[str, Any] = {
        name: value for name, value in changed.items() if name not in of_machine
    }
    for name in fields:
        check_choice("field", name, (*MAIL.names, *facts.RECLAIM_DEFAULTS))
    found = change_constants(constants(), of_machine)
    config = config_of(rules, found, io=io, nfs=nfs, iterations=iterations, share=share, seed=seed)
    return run_config(replace(config, **fields), found)
