# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebook 05 asks of the reviewers' alternatives."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import polars as pl

from swapsim.machine.running import PAGES_MOVED, sweep
from swapsim.patches import rounds
from swapsim.patches.cluster_next import studies
from swapsim.patches.cluster_next.machines import aged_device
from swapsim.patches.cluster_next.notebook_04 import gain_by_fill, last_gain, settled
from swapsim.patches.cluster_next.studies import MERGED
from swapsim.patches.what_if import gains
from swapsim.policies import Policy
from swapsim.slots import Churn, Device
from swapsim.slots.workbench import points
from swapsim.study import against, over, run


def against_merged(results: pl.DataFrame) -> pl.DataFrame:
    """Return the pages that each policy moves a second, and their change from the merged rule.

    ``median`` is over the seeds; ``change, low, high`` are the median of the changes of equal
    seeds, in percent, and its interval.
    """
    rows = results.filter(metric=PAGES_MOVED).select("policy", "seed", "value")
    found = over(against(rows, policy=MERGED), interval=True).rename({"middle": "change"})
    medians = over(rows).select("policy", median="middle").sort("median", descending=True)
    return medians.join(found.drop("runs"), on="policy", how="left", maintain_order="left")


def near_and_far(changes: pl.DataFrame) -> pl.DataFrame:
    """Return `against_merged` without patch D, and whether a rule is near it or far below."""
    is_far = pl.col("high") < -FAR_PERCENT
    return changes.drop_nulls("change").with_columns(
        rules=pl.when(is_far).then(pl.lit("far below")).otherwise(pl.lit("near patch D"))
    )


FAR_PERCENT: Final = 5.0
"""How much slower than patch D a rule far below it is: another panel of the chart."""


def rows_of(
    name: str, device: Device, churn: Churn, factors: Mapping[str, Any], mine: Sequence[Policy]
) -> pl.DataFrame:
    """Return the rows of a study of the workbench and those of a user's rules, on one device.

    The stored rows are of the notebook's device; on another one their rules run again.
    """
    stored = studies.counts(name)
    is_stored = (device, churn) == (studies.DEVICE, studies.CHURN)
    again = [] if is_stored else stored["policy"].unique(maintain_order=True).to_list()
    policies = [*again, *mine]
    if not policies:
        return stored
    own = pl.concat(run(studies.sweep, points(device, churn, policies, **factors)))
    return stored.vstack(own).sort("setting", maintain_order=True) if is_stored else own


def with_more_tasks() -> str:
    """Return what `avoid` gains over patch D with twice the tasks on the aged device."""
    usual = aged_device(policy=MERGED)
    tasks = 2 * usual.walkers
    crowded = replace(usual, walkers=tasks, pages=usual.pages // 2)
    trunks = usual.slots >> usual.trunk_shift
    rows = sweep(crowded, policy=[MERGED, "avoid"], seeds=5).filter(metric="swap_out")
    (gained,) = over(against(rows, policy=MERGED)).to_dicts()
    within = rounds.range_text(gained["low"], gained["high"])
    return f"avoid over patch D with {tasks} tasks on {trunks} trunks, five seeds: {within}"


def v1_in_step() -> str:
    """Return what V1 loses on the aged device, and why notebook 04 has another figure."""
    filled, life = gain_by_fill(), gains(studies.life(), "pmbench score")
    fills = (studies.ABOVE_HALF, studies.UNDER_HALF)
    above, under = (f"{last_gain(filled, fill):+.1f} %" for fill in fills)
    return (
        f"V1's gain in the end: {above} here, with {studies.ABOVE_HALF} % of the slots in use; "
        f"{under} with {studies.UNDER_HALF} %; {settled(life)} in notebook 04, just under half "
        f"full."
    )
