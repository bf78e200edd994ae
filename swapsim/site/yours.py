# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader's own measurements beside what the laboratory knows of the same claims."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from swapsim import claims
from swapsim.patches import rooms
from swapsim.schemas import RANGES, RESULTS
from swapsim.site.overview import FEW_SEEDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A reader's measurements, compared.

    Attributes
    ----------
    columns : polars.DataFrame
        Schema FOUR_COLUMNS.
    unmatched : polars.DataFrame
        Schema UNMATCHED.
    base, patched : str
        The kernels that were compared.
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
) -> Compared:
    """Set a reader's measurements beside published, simulated and measured.

    Parameters
    ----------
    path : Path or str
        As for `claims.your_runs`.
    base, patched : str, optional
        Names of his two kernels; default: ``base`` and ``patched``.
    simulate : bool
        Whether to fill the simulated column. What is not kept of it is run anew, and takes some
        seconds.

    Returns
    -------
    Compared

    Raises
    ------
    InputError
        As for `claims.your_runs`, or there is no such kernel.
    """
    runs = claims.your_runs(path)
    kernels = claims.two_kernels(runs, base, patched)
    published = claims.published_claims()
    fitting = claims.fitting(runs, published)
    patches = claims.patches_of(fitting, published)
    three = claims.three_columns(
        published,
        pl.concat([_simulated(patches if simulate else ()), _measured(patches)]),
        claims.tolerances(),
        _ranges(patches if simulate else ()),
    )
    names = {"base": kernels[0], "patched": kernels[1]}
    columns = claims.four_columns(three, runs, fitting, **names)
    rest = claims.unmatched(runs, columns, fitting, **names)
    return Compared(columns=columns, unmatched=rest, base=kernels[0], patched=kernels[1])


def _simulated(patches: Sequence[str]) -> pl.DataFrame:
    frames: list[pl.DataFrame] = [
        room.headline_results(FEW_SEEDS)
        for room in rooms("headline_results")
        if room.PATCH in patches
    ]
    return pl.concat([pl.DataFrame(schema=RESULTS), *frames])


def _measured(patches: Sequence[str]) -> pl.DataFrame:
    frames: list[pl.DataFrame] = [
        room.measured_as_mailed() for room in rooms("measured_as_mailed") if room.PATCH in patches
    ]
    return pl.concat([pl.DataFrame(schema=RESULTS), *frames])


def _ranges(patches: Sequence[str]) -> pl.DataFrame:
    frames: list[pl.DataFrame] = [
        room.headline_ranges() for room in rooms("headline_ranges") if room.PATCH in patches
    ]
    return pl.concat([pl.DataFrame(schema=RANGES), *frames])
