# SPDX-License-Identifier: GPL-2.0-or-later
"""What answers the claims of patch C's mail, and its part of the pages on all patches."""

import polars as pl

from swapsim import claims, traces
from swapsim.patches.stall_decisions import lab, statements, studies
from swapsim.patches.stall_decisions.mail import PATCH
from swapsim.stall.verify import verified_stalls


def answers() -> pl.DataFrame:
    """Return the answers to the mail's claims (ANSWERS).

    Those of the simulated tables; of the lab, where what is not the mail's own row is named and has
    a direction only; and of a trace by the rules of the series, to the statements of its patches.
    """
    stated = claims.published_claims().filter(patch=PATCH)
    largest, zones = (
        claims.answers(stated, rows).filter(range_over="interval").with_columns(what=pl.lit(what))
        for rows, what in (
            (lab.largest_turns(), lab.LARGEST_TURN),
            (lab.zones_as_mailed(), lab.BY_ZONE),
        )
    )
    return pl.concat(
        [
            claims.answers(stated, studies.tables()),
            claims.answers(stated, lab.measured_as_mailed()).with_columns(
                what=pl.when(pl.col("claim").str.contains("-nfs-")).then(pl.lit(lab.OVER_NFS))
            ),
            largest,
            zones,
            claims.table_of(statements.answers_of(studies.held())),
        ]
    )


def counted() -> str:
    """Return how far the rules decide as a real kernel did, on the shipped traces."""
    found = verified_stalls(traces.shipped("stall-decisions"))
    names = ("folios", "lists", "counted", "passes", "decided", "throttles", "held")
    total = {name: int(found[name].sum()) for name in names}
    by_rules = found.group_by("rules", maintain_order=True).agg(pl.col("passes").sum())
    rules = ", ".join(f"{passes:,} by those of {name}" for name, passes in by_rules.iter_rows())
    return (
        f"Of {total['passes']:,} passes of reclaim that a real kernel made in {found.height} runs "
        f"({rules}), "
        f"the model of the rules decides {total['decided']:,} as the kernel did; it has the "
        f"same counters for {total['counted']:,} of {total['lists']:,} lists and the same decision "
        f"for {total['held']:,} of {total['throttles']:,} requests for a throttle."
    )


def headline_fit() -> None:
    """Return None: the reclaim simulator is not fitted by the contention machine's constants."""


def chances() -> None:
    """Return None: the mail prints no deviation of a run."""


def headline_locks(_constants: pl.DataFrame) -> None:
    """Return None: the patch changes no lock."""
