# SPDX-License-Identifier: GPL-2.0-or-later
"""The requests of a real kernel served under other rules: grants, fallbacks, lists, locks."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.clusters._native import Served, Serving, serve, serves
from swapsim.clusters.events import ClusterRows, opened
from swapsim.clusters.tables import CLUSTER_GRANTS, CLUSTER_LIST, CLUSTER_LISTS, CLUSTER_WORK
from swapsim.errors import InputError, check_choice, check_number
from swapsim.ffi import CLUSTER_OWNERS_MAX, CLUSTER_RULES, CLUSTER_SLOTS_MAX, CLUSTER_SWITCHES
from swapsim.progress import bar

_A_GRANT: Final = {
    **{name: (name,) for name in ("visits", "moves", "visits_of_others", "misses")},
    **{name: (name, f"{name}_free") for name in ("si_lock", "cluster_lock")},
    **{name: (name,) for name in ("avail_lock", "local_lock")},
}
"""Counts of the library whose sum is shown per grant."""

_PERCENT: Final = {
    "in_sequence": ("runs_in_sequence", "runs"),
    "mixed": ("mixed", "pairs"),
    "lower": ("lower", "slots"),
    "inversions": ("inversions", "grants"),
}
"""Count and whole of a percentage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterReplay:
    """The requests of a recording served under rules: CLUSTER_GRANTS, _WORK and _LISTS."""

    grants: pl.DataFrame
    work: pl.DataFrame
    lists: pl.DataFrame


def replay(
    source: ClusterRows | Path | str,
    rules: str | Sequence[str] | None = None,
    *,
    switches: Mapping[str, bool] | None = None,
    owners: Mapping[int, int] | None = None,
    slots: Sequence[int] | None = None,
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
    source : ClusterRows, Path or str
        The tables, or the trace folder of them.
    rules : str or sequence of str
        Of CLUSTER_RULES; by default all that have clusters for the trace's devices.
    switches : mapping of str to bool, optional
        Rules that are changed in each of these sets, by the names of ``cluster_rules.h``.
    owners : mapping of int to int, optional
        Task (pid) -> owner of a current cluster, from 0, if owners have one and CPUs do not.
    slots : sequence of int, optional
        Slots of each device, if they are not those of the trace: the same requests on a smaller
        device.
    samples : int
        About how many rows of the trace `lists` has; 0 for none.

    Returns
    -------
    ClusterReplay

    Source
    ------
    mm/swapfile.c: get_swap_pages (6.12), folio_alloc_swap (7.3).

    Examples
    --------
    >>> from swapsim import clusters, frames
    >>> replayed = clusters.replay("clusters-7.3-odd-size-4", ["6.12", "7.3"])
    >>> frames.show(replayed.grants.filter(order=2))
    rules  order  requests  granted  fallbacks  in_trace  fallback_percent
    6.12       2     2,233    1,856        377     1,936              16.9
    7.3        2     2,233    1,938        295     1,936              13.2
    """
    wanted, changed = _rules(rules or ()), _switches(switches)
    check_number("samples", samples, 0)
    with opened(source) as rows:
        serving = Serving(
            switches=changed, owners=check_owners(rows, owners), slots=check_sizes(rows, slots)
        )
        able = [name for name in CLUSTER_RULES if serves(name, rows.devices, changed)]
        _require_clusters(wanted, able)
        wanted = wanted or tuple(able)
        with bar(rows.events.height * len(wanted), "replay", "rows", shown=progress) as counted:
            served = {
                name: serve(rows, name, serving, samples=samples, tick=counted.update)
                for name in wanted
            }
        # The library counts a request as granted when its call ends.
        still_open = calls(rows.events).filter("granted", pl.col("got").is_null())
    late = still_open.group_by("order").agg(late=pl.len())
    grants = (
        pl.concat(_grants(*item) for item in served.items())
        .join(late, on="order", how="left", maintain_order="left")
        .with_columns(pl.col("in_trace") + pl.col("late").fill_null(0))
    )
    return ClusterReplay(
        grants=CLUSTER_GRANTS.check(grants.select(CLUSTER_GRANTS.names())),
        work=CLUSTER_WORK.check(pl.concat(_work(*item) for item in served.items())),
        lists=pl.concat(_lists(name, each.samples) for name, each in served.items()),
    )


def calls(events: pl.DataFrame) -> pl.DataFrame:
    """Return the calls of CLUSTER_EVENTS: order, whether a run was granted, devices tried.

    ``got`` slots at row ``seq`` are null if a call is open when the recording ends.
    """
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


def _rules(rules: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of rule sets, each once, if all are known."""
    names = (rules,) if isinstance(rules, str) else tuple(dict.fromkeys(rules))
    for name in names:
        check_choice("rules", name, CLUSTER_RULES)
    return names


def _switches(switches: Mapping[str, bool] | None) -> dict[str, bool]:
    """Return the changed rules, if each is known and no other argument's."""
    changed = dict(switches or {})
    for name in changed:
        check_choice("switches", name, CLUSTER_SWITCHES)
        if name == "own_by_task":
            raise InputError(f"switches={{{name!r}: ...}}: give owners= for each task instead")
    return changed


def check_owners(rows: ClusterRows, owners: Mapping[int, int] | None) -> dict[int, int] | None:
    """Return the owners, if each task of the rows has one that is possible."""
    if owners is None:
        return None
    for pid, owner in owners.items():
        if not 0 <= owner < CLUSTER_OWNERS_MAX:
            raise InputError(
                f"owners={{{pid}: {owner}}}: give a number from 0 to {CLUSTER_OWNERS_MAX - 1}"
            )
    lacking = set(rows.events["pid"].unique().to_list()) - owners.keys()
    if lacking:
        raise InputError(f"task {min(lacking)} of cluster_events has no owner: add it", field="pid")
    return dict(owners)


def check_sizes(rows: ClusterRows, slots: Sequence[int] | None) -> list[int] | None:
    """Return the sizes, if there is a possible one for each device."""
    if slots is None:
        return None
    if len(slots) != rows.devices.height or not all(
        2 <= each <= CLUSTER_SLOTS_MAX for each in slots
    ):
        raise InputError(
            f"slots={list(slots)}: give 2 to {CLUSTER_SLOTS_MAX} slots for each of the "
            f"{rows.devices.height} devices"
        )
    return list(slots)


def _require_clusters(wanted: Sequence[str], able: Sequence[str]) -> None:
    """Require rules that have clusters for the devices of a recording."""
    for name in wanted:
        if name not in able:
            raise InputError(
                f"rules={name!r}: they have no clusters for a hard disk; choose "
                f"{' or '.join(able) or 'a trace of other devices'}"
            )


def _grants(rules: str, served: Served) -> pl.DataFrame:
    counts = served.by_order
    return (
        pl.DataFrame(
            {
                "order": range(len(counts["requests"])),
                "requests": counts["requests"],
                "granted": counts["granted"],
                "in_trace": counts["granted_in_trace"],
            }
        )
        .filter(pl.col("requests") > 0)
        .with_columns(rules=pl.lit(rules), fallbacks=pl.col("requests") - pl.col("granted"))
        .with_columns(fallback_percent=100 * pl.col("fallbacks") / pl.col("requests"))
        .select(pl.col(name).cast(dtype) for name, dtype in CLUSTER_GRANTS.schema.items())
    )


def figures_of(served: Served) -> dict[str, int | float | None]:
    """Return the counts of what was served, their sums per grant, and percentages."""
    counts = {**served.counts, "grants": sum(served.runs)}
    quotients = {
        **{f"{name}_a_grant": (1, sum(counts[part] for part in parts), counts["grants"])
           for name, parts in _A_GRANT.items()},
        **{f"{name}_percent": (100, counts[part], counts[whole])
           for name, (part, whole) in _PERCENT.items()},
    }  # fmt: skip
    shares = {
        name: factor * part / whole if whole else None
        for name, (factor, part, whole) in quotients.items()
    }
    return counts | shares


def _work(rules: str, served: Served) -> pl.DataFrame:
    row = figures_of(served) | {"rules": rules}
    return pl.DataFrame(
        [{name: row.get(name) for name in CLUSTER_WORK.schema}], CLUSTER_WORK.schema
    )


def _lists(rules: str, samples: Iterable[tuple[int, int, Sequence[int]]]) -> pl.DataFrame:
    """Sum the clusters of lists over the orders in each sample: seq, slots in use, clusters."""
    kinds = [name.rstrip("0123456789") for name in CLUSTER_LIST.words]
    rows = []
    for seq, in_use, lists in samples:
        sums = Counter[str]()
        for kind, clusters in zip(kinds, lists, strict=True):
            sums[kind] += clusters
        rows.append({"rules": rules, "seq": seq, "in_use": in_use, **sums})
    return CLUSTER_LISTS.check(pl.DataFrame(rows, CLUSTER_LISTS.schema))
