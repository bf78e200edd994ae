# SPDX-License-Identifier: GPL-2.0-or-later
"""The lock ledger of three kernels: how often a page that is swapped out takes each lock.

Is si->lock taken less often on 7.3 than on 6.12, or only held for a shorter time? It is always held
for a much shorter time, but not always taken less often. Medians and 95 % intervals of five rounds:

    acquisitions per page     6.12                     7.3
    first writes, 4 CPUs      0.0157 (0.0156-0.0157)   0.0084 (0.0081-0.0088)   less often
    half reads, 4 CPUs        0.0271 (0.0270-0.0273)   0.1258 (0.1138-0.1312)   more often
    64 KiB, first writes      0.0623 (0.0622-0.0624)   0.0086 (0.0084-0.0087)   less often
    64 KiB, half reads        0.0696 (0.0694-0.0705)   0.0195 (0.0184-0.0207)   less often
    first writes, 1 CPU       0.0157 (0.0156-0.0157)   0.0089 (0.0088-0.0090)   less often
    half reads, 1 CPU         0.0272 (0.0272-0.0273)   0.0275 (0.0236-0.0281)   either

    one hold in us, 1 CPU
    first writes              531.7 (529.4-531.8)      4.3 (4.3-4.3)
    half reads                1354.1 (1349.8-1357.1)   4.1 (3.8-5.1)

The holds are those of a kernel with lock statistics, which lengthen a hold by each lock taken in
it, by a clock that counts 8 ns per instruction: compare their ratio, not their length. On 7.3 the
cluster lock is held longer than on 6.12, since it is the lock of the swap cache, too.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import polars as pl

from swapsim import claims
from swapsim.checks import checked
from swapsim.claims.rounds import difference
from swapsim.clusters.tables import (
    CLUSTER_DEVICES,
    CLUSTER_EVENTS,
    LEDGER_SITES,
    LOCK_CHANGES,
    LOCK_LEDGER,
    TRACE_LOCKS,
)
from swapsim.errors import InputError
from swapsim.io import paths

EXPERIMENTS: Final = "lock-ledger-newer-"
"""How the names of the experiments in data/measured begin."""

LOCKS: Final = (
    "xa_lock",
    "cluster lock",
    "si->lock",
    "swap_avail_lock",
    "slot cache mutex",
    "return cache lock",
    "local lock",
)
"""Locks of swapping: of the swap cache's mapping of 64 MB, of a cluster, of a device, of the list
of devices, of a CPU's slots to hand out and of its returned ones, of a CPU's clusters."""

LACKS: Final[Mapping[str, frozenset[str]]] = {
    "6.1": frozenset({"local lock"}),
    "6.12": frozenset({"local lock"}),
    "7.3": frozenset({"xa_lock", "slot cache mutex", "return cache lock"}),
}
"""Kernel -> the locks that it does not have. In 7.3 the cluster lock is that of the swap cache."""

RETURNED_AT_ONCE: Final = 64
"""Slots that a CPU's cache returns in one hold of si->lock, at most."""

_ACQUISITIONS: Final = " acquisitions"
_KEYS: Final = ("experiment", "turn", "lock", "kernel")


def lock_ledger() -> pl.DataFrame:
    """Return how often a page takes each lock of swapping on 6.1, 6.12 and 7.3.

    Returns
    -------
    polars.DataFrame
        Schema LOCK_LEDGER: experiments in order of name, kernels side by side in consecutive rows.
        A kernel without a lock has null there.

    Source
    ------
    data/measured/lock-ledger-newer-*: kernels built with lock statistics, the same workload, two
    LRU lists; intervals of the percentile bootstrap over the rounds.
    """
    rows = []
    for name, origin, results in _experiments():
        counted = results.filter(pl.col("metric").str.ends_with(_ACQUISITIONS))
        medians = _by_lock(claims.medians(counted), _ACQUISITIONS)
        holds = _by_lock(claims.medians(_holds(results, origin)), " hold")
        for turn in results["policy"].unique(maintain_order=True):
            for lock in LOCKS:
                for kernel in origin["experiment"]["values"]:
                    row = {**_labels(name, origin), "turn": turn, "lock": lock, "kernel": kernel}
                    found = medians.get((turn, lock, kernel))
                    if found is not None:
                        row |= {"rounds": found["rounds"], "acquisitions_a_page": found["median"]}
                        row |= {"low": found["low"], "high": found["high"]}
                    hold = holds.get((turn, lock, kernel))
                    if hold is not None:
                        row |= {"hold_ns": hold["median"]}
                        row |= {"hold_low_ns": hold["low"], "hold_high_ns": hold["high"]}
                    rows.append(row)
    return LOCK_LEDGER.check(pl.DataFrame(rows, schema=LOCK_LEDGER.schema))


def lock_sites() -> pl.DataFrame:
    """Return which functions request the locks, and how often per page swapped out.

    Returns
    -------
    polars.DataFrame
        Schema LEDGER_SITES: the sites of a lock in the order of their frequency. Trylocks that fail
        are counted, too. The locks of the slot caches have no sites.

    Source
    ------
    As for `lock_ledger`: histograms of the kernel's own event lock_acquire, by stack.
    """
    frames = []
    for name, _, results in _experiments():
        named = pl.col("metric").str.split(" at ")
        medians = claims.medians(results.filter(pl.col("metric").str.contains(" at ")))
        frames.append(
            medians.select(
                pl.lit(name).alias("experiment"),
                turn="policy",
                lock=named.list.first(),
                kernel="kernel",
                site=named.list.last().str.split(".").list.first(),
                rounds="rounds",
                requests_a_page="median",
                low="low",
                high="high",
            ).filter(pl.col("lock").is_in(LOCKS))
        )
    order = [*_KEYS, "requests_a_page", "site"]
    found = pl.concat(frames).sort(order, descending=[column == order[4] for column in order])
    return LEDGER_SITES.check(found)


@checked
def lock_changes(base: str = "6.12", kernel: str = "7.3") -> pl.DataFrame:
    """Compare how often a page takes each lock that two kernels have, round by round.

    Parameters
    ----------
    base, kernel : {"6.1", "6.12", "7.3"}

    Returns
    -------
    polars.DataFrame
        Schema LOCK_CHANGES; experiments that lack one of both kernels are left out.

    Raises
    ------
    InputError
        No experiment has such a kernel.
    """
    for name in (base, kernel):
        if name not in LACKS:
            raise InputError(f"no such kernel: {name!r}; choose {', '.join(LACKS)}", field="kernel")
    rows = []
    for name, _, results in _experiments():
        for turn in results["policy"].unique(maintain_order=True):
            for lock in LOCKS:
                of_lock = results.filter(policy=turn, metric=lock + _ACQUISITIONS)
                rounds = [
                    of_lock.filter(kernel=each).select("seed", "value") for each in (base, kernel)
                ]
                found = difference(*rounds)
                if found is not None:
                    ratio = found["value"] / found["base"] if found["base"] else None
                    labels = {"experiment": name, "turn": turn, "lock": lock}
                    rows.append({**labels, **found, "ratio": ratio})
    return LOCK_CHANGES.check(pl.DataFrame(rows, schema=LOCK_CHANGES.schema))


@checked
def trace_locks(events: pl.DataFrame, devices: pl.DataFrame) -> pl.DataFrame:
    """Count what took si->lock in a recording of a stock kernel, per slot granted.

    Parameters
    ----------
    events : polars.DataFrame
        Schema CLUSTER_EVENTS.
    devices : polars.DataFrame
        Schema CLUSTER_DEVICES.

    Returns
    -------
    polars.DataFrame
        Schema TRACE_LOCKS, one row. 7.3 takes the lock for each pick from a list and each move to
        one. Before it a call holds the lock, and takes it again after each window; freed runs are
        returned one by one or up to 64 in one hold, which the recording does not say: a range.

    Raises
    ------
    InputError
        A table has another schema, or no slot was granted.
    """
    CLUSTER_EVENTS.check(events)
    rules = CLUSTER_DEVICES.check(devices)["rules"].to_list()
    slots = events.filter(op="grant")["n"].sum()
    if not slots or not rules:
        raise InputError("no slot was granted: record a device in use", field="op")
    count = dict(events["op"].cast(pl.String).value_counts().iter_rows())
    calls, visits, windows, picks, moves, frees = (
        count.get(op, 0) for op in ("call", "visit", "relock", "pick", "move", "free")
    )
    row = {"rules": rules[0], "slots": slots, "calls": calls, "visits": visits}
    row |= {"windows": windows, "picks": picks, "moves": moves, "frees": frees}
    if rules[0] == "7.3":
        row |= {"si_lock_low": (picks + moves) / slots, "si_lock_high": (picks + moves) / slots}
    else:
        held = calls + windows
        row |= {"si_lock_low": (held + frees / RETURNED_AT_ONCE) / slots}
        row |= {"si_lock_high": (held + frees) / slots, "visits_a_hold": visits / held}
    return TRACE_LOCKS.check(pl.DataFrame([row], schema=TRACE_LOCKS.schema))


def _experiments() -> Iterator[tuple[str, dict[str, Any], pl.DataFrame]]:
    """Yield each experiment's name, provenance and results."""
    for name in paths.shipped_measurements():
        if name.startswith(EXPERIMENTS):
            yield name, claims.measured_provenance(name), claims.measured_results(name)


def _labels(name: str, origin: Mapping[str, Any]) -> dict[str, Any]:
    kernel = next(iter(origin["kernel"].values()))
    return {
        "experiment": name,
        "device": origin["guest"]["swap"]["device"],
        "folio_kibibytes": kernel["folio_kibibytes"],
        "cpus": origin["guest"]["cpus"],
    }


def _holds(results: pl.DataFrame, origin: Mapping[str, Any]) -> pl.DataFrame:
    """Return the ns of one hold, if the clock counts instructions: other times mean nothing."""
    if "instruction_ns" not in origin["guest"]:
        return results.clear()
    keys = ["kernel", "policy", "seed", "lock"]
    lock = pl.col("metric").str.strip_suffix(_ACQUISITIONS)
    counts = results.filter(pl.col("metric").str.ends_with(_ACQUISITIONS)).with_columns(lock=lock)
    holds = results.filter(pl.col("metric").str.ends_with(" hold"))
    return (
        holds.with_columns(lock=pl.col("metric").str.strip_suffix(" hold"))
        .join(counts.select(*keys, acquired="value"), on=keys)
        .filter(pl.col("acquired") > 0)
        .with_columns(value=1000 * pl.col("value") / pl.col("acquired"), unit=pl.lit("ns"))
        .select(results.columns)
    )


def _by_lock(medians: pl.DataFrame, suffix: str) -> dict[tuple[str, str, str], dict[str, Any]]:
    return {
        (row["policy"], row["metric"].removesuffix(suffix), row["kernel"]): row
        for row in medians.iter_rows(named=True)
    }
