# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's own measurements compared with all figures of the same claims."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from swapsim import claims
from swapsim import progress as bars
from swapsim.claims.tables import RANGES, RESULTS
from swapsim.site.overview import FEW_SEEDS
from swapsim.site.patches import PATCHES


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A user's measurements, compared with the claims that they fit.

    Attributes
    ----------
    columns : polars.DataFrame
        Schema FOUR_COLUMNS.
    unmatched : polars.DataFrame
        Schema UNMATCHED.
    base, patched : str
        Names of the two kernels.
    """

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
    patches = claims.patches_of(fitting, published)
    simulated, ranges = _simulated(patches if simulate else (), progress=progress)
    three = claims.three_columns(
        published, pl.concat([simulated, _measured(patches)]), claims.tolerances(), ranges
    )
    names = {"base": kernels[0], "patched": kernels[1]}
    columns = claims.four_columns(three, runs, fitting, **names)
    rest = claims.unmatched(runs, columns, fitting, **names)
    return Compared(columns=columns, unmatched=rest, base=kernels[0], patched=kernels[1])


def _simulated(patches: Sequence[str], *, progress: bool) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the simulated results and ranges of some patches."""
    results: list[pl.DataFrame] = [pl.DataFrame(schema=RESULTS.schema)]
    ranges: list[pl.DataFrame] = [pl.DataFrame(schema=RANGES.schema)]
    with bars.bar(len(patches), "simulate", "patches", shown=progress) as bar:
        for patch in PATCHES:
            if patch.PATCH in patches:
                results.append(patch.headline_results(FEW_SEEDS))
                found = patch.headline_ranges()
                ranges += [] if found is None else [found]
                bar.update()
    return pl.concat(results), pl.concat(ranges)


def _measured(patches: Sequence[str]) -> pl.DataFrame:
    """Return what a real kernel measured of some patches."""
    found = [patch.measured_as_mailed() for patch in PATCHES if patch.PATCH in patches]
    frames = [frame for frame in found if frame is not None]
    return pl.concat([pl.DataFrame(schema=RESULTS.schema), *frames])
