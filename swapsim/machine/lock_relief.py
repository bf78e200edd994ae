# SPDX-License-Identifier: GPL-2.0-or-later
"""How a patch relieves the swap cache's lock: in the mail, in the machine, in a real kernel."""

from typing import Final

import polars as pl

from swapsim.claims.tables import MEDIANS, PUBLISHED
from swapsim.errors import InputError

QUANTITIES: Final = {
    "swap cache's lock: cycles spent waiting for it": ("cycles.tree_lock.", None),
    "swap cache's lock: acquisitions per page": ("acquisitions.tree_lock.", "xa_lock acquisitions"),
    "swap cache's lock: contended acquisitions per page": (
        "contended.tree_lock.",
        "xa_lock contended acquisitions",
    ),
    "si->lock: acquisitions per page": ("acquisitions.si_lock.", "si->lock acquisitions"),
}
"""A quantity -> the metrics of `run.run` that begin so, and that of a real kernel."""


def relief(
    printed: pl.DataFrame,
    runs: tuple[pl.DataFrame, pl.DataFrame],
    medians: pl.DataFrame,
    policies: tuple[str, str],
) -> pl.DataFrame:
    """Set beside each other how a patch relieves the swap cache's lock: in cycles, and in counts.

    Parameters
    ----------
    printed : polars.DataFrame
        Schema PUBLISHED: the cells of the lock's rows, two kernels; a row that a profile does not
        list is below what it lists, and counts as 0.
    runs : (polars.DataFrame, polars.DataFrame)
        `run.run` without the patch and with it.
    medians : polars.DataFrame
        Schema MEDIANS of one experiment.
    policies : (str, str)
        Those of the real kernel without the patch and with it.

    Returns
    -------
    polars.DataFrame
        ``quantity``, and its change in percent as ``published``, ``simulated`` and ``measured``;
        null where a source does not have it, or has none of it without the patch.

    Raises
    ------
    InputError
        The printed rows are not those of two kernels, or the medians lack a policy's metric.
    """
    PUBLISHED.check(printed)
    MEDIANS.check(medians)
    sums = printed.group_by("kernel", maintain_order=True).agg(pl.col("value").sum())["value"]
    if len(sums) != 2:
        raise InputError(f"{len(sums)} kernels have such rows: give those of two", field="kernel")
    rows = []
    for quantity, (ours, theirs) in QUANTITIES.items():
        simulated = (
            float(run.filter(pl.col("metric").str.starts_with(ours))["value"].sum()) for run in runs
        )
        rows.append(
            (
                quantity,
                None if theirs else _change(*sums.to_list()),
                _change(*simulated),
                _change(*(_median(medians, theirs, name) for name in policies)) if theirs else None,
            )
        )
    return pl.DataFrame(
        rows,
        schema={
            "quantity": pl.String,
            "published": pl.Float64,
            "simulated": pl.Float64,
            "measured": pl.Float64,
        },
        orient="row",
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
