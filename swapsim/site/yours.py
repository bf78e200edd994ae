# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's own measurements compared with all figures of the same claims."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from swapsim import claims
from swapsim import progress as bars
from swapsim.site import overview
from swapsim.site.patches import PATCHES


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Metrics that fit claims (FOUR_COLUMNS), those that do not (UNMATCHED), and both kernels."""

    columns: pl.DataFrame
    unmatched: pl.DataFrame
    base: str
    patched: str


def compare(
    path: Path | str,
    *,
    base: str | None = None,
    patched: str | None = None,
    simulate: bool = True,
    progress: bool = False,
) -> Compared:
    """Compare a user's measurements with published, simulated and measured figures."""
    runs = claims.your_runs(path)
    kernels = claims.two_kernels(runs, base, patched)
    published = claims.published_claims()
    fitting = claims.fitting(runs, published)
    patches = [patch for patch in PATCHES if patch.PATCH in fitting["patch"]]
    simulated, ranges = overview.simulated(()), overview.ranges(())
    with bars.bar(len(patches), "simulate", "patches", shown=progress) as bar:
        for patch in patches if simulate else ():
            simulated.vstack(overview.simulated([patch]), in_place=True)
            ranges.vstack(overview.ranges([patch]), in_place=True)
            bar.update()
    results = pl.concat([simulated, overview.measured(patches)])
    three = claims.three_columns(published, results, claims.tolerances(), ranges)
    columns, unmatched = claims.four_columns(
        three, runs, fitting, base=kernels[0], patched=kernels[1]
    )
    return Compared(columns=columns, unmatched=unmatched, base=kernels[0], patched=kernels[1])
