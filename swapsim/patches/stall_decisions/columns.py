# SPDX-License-Identifier: GPL-2.0-or-later
"""Patch C's columns for the mail's tables: simulated, and counted on Linux 6.1 with its rules."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from swapsim.patches.stall_decisions import lab, studies
from swapsim.patches.stall_decisions.fitting import FIT_TARGETS
from swapsim.patches.stall_decisions.mail import KERNELS
from swapsim.published.rows import Side, side

TABLES: Final = {"Ops": "parallelio", "Mean": "iostat", "Max": "iostat"}
"""The table of a row by its first word; all others are vmstat's."""


def simulated() -> Iterator[Side]:
    """Yield the means over the seeds; the fit has six figures of mmotm's columns."""
    yield from _sides(studies.tables(), mean=True)


def measured() -> Iterator[Side]:
    """Yield what Linux 6.1 counts on a disk by the rules of 3.9, mmotm and the series."""
    rows = lab.measured_as_mailed()
    yield from _sides(rows.filter(pl.col("metric").str.starts_with("disk: ")))


def by_hand() -> dict[tuple[str, str], float]:
    """Return nothing: the mail prints no profile."""
    return {}


def _sides(rows: pl.DataFrame, *, mean: bool = False) -> Iterator[Side]:
    for (name,), part in rows.group_by("metric", maintain_order=True):
        target, _, metric = str(name).partition(": ")
        first, base, patched = (
            dict(part.filter(kernel=kernel).select("seed", "value").iter_rows())
            for kernel in KERNELS
        )
        table = f"{TABLES.get(metric.split()[0], 'vmstat')}, {target}"
        fitted = (target, metric) in FIT_TARGETS
        if found := side(table, metric, base, patched, first=first, mean=mean, fitted=fitted):
            yield found
