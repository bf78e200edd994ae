# SPDX-License-Identifier: GPL-2.0-or-later
"""The requests of a real kernel served under other rules: grants, fallbacks, lists, locks."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.clusters._native import Served, serve, serves
from swapsim.clusters.events import RULE_SET, ClusterRows, opened
from swapsim.errors import InputError, check_choice
from swapsim.ffi import CLUSTER_LISTS, CLUSTER_RULES, CLUSTER_SWITCHES
from swapsim.progress import bar
from swapsim.traces.folder import Trace

_A_GRANT: Final = {
    **{name: (name,) for name in ("visits", "moves", "visits_of_others")},
    **{name: (name, f"{name}_free") for name in ("si_lock", "cluster_lock")},
    **{name: (name,) for name in ("avail_lock", "local_lock")},
}
"""Counts of the library whose sum is shown per grant."""

_WORK: Final = (
    *("grants", "slots", "visits", "picks", "moves", "reclaims", "discards", "surplus"),
    *("single_slots", "missing_slots", "visits_of_others", "visits_a_grant", "moves_a_grant"),
    *("si_lock_a_grant", "cluster_lock_a_grant", "avail_lock_a_grant", "local_lock_a_grant"),
    *("visits_of_others_a_grant", "in_sequence_percent", "mixed_percent"),
)
_PERCENT: Final = {"in_sequence": ("runs_in_sequence", "runs"), "mixed": ("mixed", "pairs")}
"""Count and whole of a percentage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterReplay:
    """The requests of a recording served under rules: what they obtained, the work, the lists."""

    grants: pl.DataFrame
    work: pl.DataFrame
    lists: pl.DataFrame

    @property
    def rows(self) -> pl.DataFrame:
        """A row for each rule set: ``work``."""
        return self.work


def replay(
    trace: ClusterRows | Trace | Path | str,
    rules: str | Sequence[str] = (),
    *,
    switches: Mapping[str, bool] | None = None,
    samples: int = 100,
    progress: bool = False,
) -> ClusterReplay:
    """Serve the requests and frees of a recording under other rules than those of its kernel.

    A request that the kernel granted and the rules refuse is a fallback: its slots are obtained one
    by one, as a folio is split. One that the kernel refused and the rules grant serves the CPU's
    next requests for single slots. Slots of the swap cache alone are not reclaimed, because the
    recording does not say which they are.

    Parameters
    ----------
    trace : Trace, Path or str
        A recording of 6.12 or 7.3, or its rows.
    rules : str or sequence of str
        Of ``RULES``; by default all that have clusters for the trace's devices.
    switches : mapping of str to bool, optional
        Rules that are changed in each of these sets, by the names of ``cluster_rules.h``.
    samples : int
        About how many rows of the trace `lists` has; 0 for none.
    progress : bool
        Whether a bar is shown.

    Returns
    -------
    ClusterReplay
        Three frames. ``grants``, a row for each rule set and order of requests: with a slot cache
        one of ``requests`` is for up to 64 single slots; those ``granted``, ``fallbacks``, which
        obtain no slot, and their percentage, and those that obtained slots ``in_trace``. ``work``,
        a row for each rule set: runs (``grants``) and ``slots`` granted, into slot caches, too;
        ``visits`` of clusters, ``picks`` from lists, ``moves`` to their tails, full clusters taken
        for reclaim, discards; ``surplus`` runs that the trace did not obtain, ``single_slots``
        obtained one by one after a fallback, and ``missing_slots`` of the trace; visits of clusters
        that another CPU visited before; visits, moves and acquisitions of each lock, those of frees
        included, for each run granted (``_a_grant``); runs that begin where the task's run before
        ended (``in_sequence``) and neighbouring slots in use of two tasks (``mixed``), in percent.
        ``lists``, a row for each rule set and sampled row of the trace: its ``seq``, slots in use,
        clusters by list, over devices and orders.

    Raises
    ------
    InputError
        As of `verify`; or a rule set or switch is unknown, or has no clusters for a hard disk.

    Source
    ------
    mm/swapfile.c: get_swap_pages (6.12), folio_alloc_swap (7.3).

    Examples
    --------
    >>> from swapsim import clusters
    >>> replayed = clusters.replay("clusters-7.3-odd-size-4", ["6.12", "7.3"])
    >>> replayed.grants.filter(order=2).select("rules", "requests", "fallbacks").rows()
    [('6.12', 2233, 377), ('7.3', 2233, 295)]
    """
    wanted = (rules,) if isinstance(rules, str) else tuple(dict.fromkeys(rules))
    for name in wanted:
        check_choice("rules", name, CLUSTER_RULES)
    changed = dict(switches or {})
    for name in changed:
        check_choice("switches", name, [each for each in CLUSTER_SWITCHES if each != "own_by_task"])
    with opened(trace) as rows:
        able = [name for name in CLUSTER_RULES if serves(name, rows.devices, changed)]
        for name in wanted:
            if name not in able:
                raise InputError(
                    f"rules={name!r}: they have no clusters for a hard disk; choose "
                    f"{' or '.join(able) or 'a trace of other devices'}"
                )
        wanted = wanted or tuple(able)
        with bar(rows.events.height * len(wanted), "replay", "rows", shown=progress) as counted:
            served = {
                name: serve(rows, name, changed, samples=samples, tick=counted.update)
                for name in wanted
            }
        # The library counts a request as granted when its call ends.
        still_open = calls(rows.events).filter("granted", pl.col("got").is_null())
    late = still_open.group_by("order").agg(late=pl.len())
    grants = pl.concat(_grants(*item) for item in served.items())
    grants = grants.join(late, on="order", how="left", maintain_order="left")
    work = [
        {"rules": name} | {key: found[key] for key in _WORK}
        for name, found in ((name, figures_of(each)) for name, each in served.items())
    ]
    shares = (name for name in _WORK if name.endswith(("_a_grant", "_percent")))
    types = {"rules": RULE_SET} | dict.fromkeys(shares, pl.Float64())
    return ClusterReplay(
        grants=grants.with_columns(pl.col("in_trace") + pl.col("late").fill_null(0)).drop("late"),
        work=pl.DataFrame(work, schema_overrides=types),
        lists=pl.concat(_lists(name, each.samples) for name, each in served.items()),
    )


def calls(events: pl.DataFrame) -> pl.DataFrame:
    """Return the calls of CLUSTER_EVENTS: order, whether a run was granted, devices tried."""
    begins = pl.col("op") == "call"
    ends = pl.col("op") == "done"
    return (
        events.with_columns(call=begins.cum_sum().over("pid"))
        .filter(pl.col("call") > 0)
        .group_by("pid", "call", maintain_order=True)
        .agg(
            order=pl.col("order").filter(begins).first(),
            granted=(pl.col("op") == "grant").any(),
            got=pl.col("n").filter(ends).first(),
            seq=pl.col("seq").filter(ends).first(),
            device=pl.col("device").filter(pl.col("op").is_in(["turn", "pick", "visit"])).unique(),
        )
    )


def _grants(rules: str, served: Served) -> pl.DataFrame:
    asked, granted, in_trace = (
        served.by_order[name] for name in ("requests", "granted", "granted_in_trace")
    )
    columns = {"order": range(len(asked)), "requests": asked, "granted": granted}
    fallbacks = pl.col("requests") - pl.col("granted")
    return (
        pl.DataFrame(columns | {"in_trace": in_trace}, schema_overrides={"order": pl.UInt8})
        .filter(pl.col("requests") > 0)
        .select(
            *(pl.lit(rules, RULE_SET).alias("rules"), "order", "requests", "granted"),
            *(fallbacks.alias("fallbacks"), "in_trace"),
            fallback_percent=100 * fallbacks / pl.col("requests"),
        )
    )


def figures_of(served: Served) -> dict[str, int | float | None]:
    """Return the counts of what was served, their sums per grant, and percentages."""
    counts = {**served.counts, "grants": sum(served.runs)}
    shares: dict[str, float | None] = {}
    for name, parts in _A_GRANT.items():
        work, grants = sum(counts[part] for part in parts), counts["grants"]
        shares[f"{name}_a_grant"] = work / grants if grants else None
    for name, (part, whole) in _PERCENT.items():
        shares[f"{name}_percent"] = 100 * counts[part] / counts[whole] if counts[whole] else None
    return counts | shares


def _lists(rules: str, samples: Iterable[tuple[int, int, Sequence[int]]]) -> pl.DataFrame:
    """Sum the clusters of lists over the orders in each sample: seq, slots in use, clusters."""
    kinds = [name.rstrip("0123456789") for name in CLUSTER_LISTS]
    columns = ("rules", "seq", "in_use", *dict.fromkeys(kinds))
    rows = []
    for seq, in_use, lists in samples:
        sums = Counter[str]()
        for kind, clusters in zip(kinds, lists, strict=True):
            sums[kind] += clusters
        rows.append({"rules": rules, "seq": seq, "in_use": in_use, **sums})
    types = dict.fromkeys(columns, pl.UInt64()) | {"rules": RULE_SET}
    return pl.DataFrame(rows, types)
