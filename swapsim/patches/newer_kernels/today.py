# SPDX-License-Identifier: GPL-2.0-or-later
"""What became of the patches on Linux 7.3: the table of README, front page, cards and notebook."""

from typing import Final

import polars as pl

from swapsim.patches import rounds
from swapsim.patches.newer_kernels import global_lock, measured, meetings, studies

COLUMNS: Final = ("letter", "patch", "subject", "state", "now", "figure")
"""Letter and folder of a patch (E has none) and its subject; whether it is in force, in part,
obsolete or replaced; what does its work now; and the figure that shows it."""

_KERNEL: Final = "7.3"
_PAGES: Final = "generations pages 4 CPUs"
"""Setting of the lists of reclaim: generations, as by default, and single pages."""

_COMPARED: Final = ("5.8, one base", "5.8, patch D", _KERNEL)
"""Kernels whose meetings are compared, by the names of `meetings.KERNELS`."""

_CPUS: Final = (8, 64)


def on_newest() -> pl.DataFrame:
    """Return what became of each patch, A to E, on 7.3, with the figure that shows it (COLUMNS).

    Figures are those of stored studies and of measurements that are shipped.
    """
    rows = [
        (
            "A",
            "01-writeback-tags",
            "no writeback tags for the swap cache",
            "in force",
            "one address space of all devices has the flag",
            _of_tags(),
        ),
        (
            "B",
            "02-batched-removal",
            "pages removed under one hold",
            "obsolete",
            "never merged; folios are removed one by one, swapped ones under their cluster's lock",
            _of_removals(),
        ),
        (
            "C",
            "03-stall-decisions",
            "stall decisions in one place",
            "in part",
            "with generations (MGLRU, on in the recorded Debian kernels) only a cgroup's reclaim "
            "decides",
            _of_decisions(),
        ),
        (
            "D",
            "04-percpu-cluster-next",
            "a scan base for each CPU",
            "obsolete",
            "on SSDs unused since 6.12, removed in 6.14: a cluster for each CPU, a lock for each "
            "cluster",
            _of_meetings(),
        ),
        (
            "E",
            "",
            "alternatives to D",
            "replaced",
            "no rule for a base, D's or its reviewers', is left: lists of clusters decide, nonfull "
            "ones before free ones",
            _of_folios(),
        ),
    ]
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def _of_tags() -> str:
    found = _flag()
    return (
        f"throughput without it, by a model that is not fitted to {_KERNEL} (a global lock twice a "
        f"page): {_span(found['change'])}, by the number of tasks, 1 to {max(global_lock.TASKS)} "
        f"({_span(found['low'], found['high'])} over the ranges of three costs)"
    )


def _flag() -> pl.DataFrame:
    """Return what throughput changes by without patch A's flag (`global_lock.changes`)."""
    return global_lock.changes(studies.global_lock.load())


def _of_removals() -> str:
    row = _lists()
    return (
        f"a list of {row['folios_a_list']:.1f} folios lies in {row['clusters_a_list']:.2f} "
        f"clusters: if each were locked once, that would be {row['holds_a_folio']:.2f} locks a "
        f"folio ({row['low']:.2f} to {row['high']:.2f}), not 1"
    )


def _lists() -> dict[str, float]:
    """Return the clusters that a list of reclaim touches on 7.3 (`measured.clusters_a_list`)."""
    found = measured.clusters_a_list().filter(kernel=_KERNEL, setting=_PAGES)
    return found.row(0, named=True)


def _of_decisions() -> str:
    lists, generations = (
        f"{_decided(setting)} with {words}"
        for setting, words in (("lists", "two LRU lists"), ("generations", "MGLRU"))
    )
    return (
        f"decisions on a node's state, by round: {lists}, {generations}; what decides there: "
        "notebook 08"
    )


def _decided(setting: str) -> str:
    """Return the range over the rounds of how often a node's state is decided, and of passes."""
    decided, passes = (
        f"{of[f'{setting}_low']:,.0f} to {of[f'{setting}_high']:,.0f}"
        for of in (_rule("is decided"), _rule("over a node"))
    )
    return f"{decided} in {passes} passes"


def _rule(words: str) -> dict[str, float]:
    """Return the counts on 7.3 of the rule of patch C that has these words."""
    rules = measured.rules_that_run().filter(kernel=_KERNEL)
    return rules.row(by_predicate=pl.col("rule").str.contains(words, literal=True), named=True)


def _of_meetings() -> str:
    shares = meetings.shares(studies.meeting.load()).filter(pl.col("cpus").is_in(_CPUS))
    parts = [
        f"{name} {' and '.join(f'{100 * share:.1f}' for share in of['share'])} %"
        for name, of in (
            (name, shares.filter(kernel=kernel).sort("cpus"))
            for name, kernel in zip(
                ("5.8 with one base", "with patch D", _KERNEL), _COMPARED, strict=True
            )
        )
    ]
    return (
        "share of the uses of the swap cache's lock that meet another CPU, with "
        f"{_CPUS[0]} and {_CPUS[1]} CPUs on generated requests: {', '.join(parts)} (ranges and a "
        "wider window: notebook 07)"
    )


def _of_folios() -> str:
    parts = [
        f"{row['split']:.0f} % on {row['kernel']} ({row['low']:.0f} to {row['high']:.0f})"
        for row in measured.split_folios().filter(size="2M").iter_rows(named=True)
    ]
    return (
        f"share of 2 MB folios that are split for lack of slots, by the same program: "
        f"{', '.join(parts)}; the two differ in other rules, too (notebook 07)"
    )


def _span(*columns: pl.Series) -> str:
    """Return the least to the greatest of some changes in percent."""
    every = pl.concat(columns).to_list()
    return rounds.range_text(min(every), max(every))
