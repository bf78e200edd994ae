# SPDX-License-Identifier: GPL-2.0-or-later
"""The conclusions on large folios: figures of the claims, and a sentence on what is counted."""

from typing import Final

import polars as pl

from swapsim import claims
from swapsim.claims.tables import SIMULATED_CLAIMS

PATCH: Final = "07-newer-kernels"
"""Folder of the patch, in patches."""


def simulated_claims() -> pl.DataFrame:
    """Return the figures of the claims (SIMULATED_CLAIMS): none yet."""
    return pl.DataFrame(schema=SIMULATED_CLAIMS.schema)


def headline_fit() -> None:
    """Return None: the model of the clusters has no constants."""


def chances() -> None:
    """Return None: the mails print no deviation."""


def headline_locks(_constants: pl.DataFrame) -> None:
    """Return None: the swap cache's lock is that of a cluster here."""


def measured_as_mailed() -> None:
    """Return None: the workloads of the mails are not at hand."""


def counted() -> str:
    """Return a sentence on the published pairs of fallbacks of large folios."""
    pairs = claims.published_claims().filter(
        pl.col("patch") == PATCH, pl.col("claim").str.ends_with("-fallback")
    )
    falls = (pairs["change"] < 0).sum()
    return (
        f"For large folios on newer kernels {pairs.height} pairs of fallbacks are published, "
        f"before and after a change; {falls} fall."
    )
