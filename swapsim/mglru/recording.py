# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of a real kernel's generations, read with a check of each table."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from swapsim import io
from swapsim.errors import InputError, errors_of
from swapsim.mglru.tables import MGLRU_CHOICES, MGLRU_STEPS
from swapsim.tables import Table
from swapsim.traces.folder import event_names, missing_events
from swapsim.traces.verification import AGAIN, check_tables, read_tables

TABLES: Final[Mapping[str, Table]] = {
    "generation_choices": MGLRU_CHOICES,
    "generation_steps": MGLRU_STEPS,
}
MAY_BE_NULL: Final = {
    "generation_choices": {
        *("batch", "scan_1", "pages_1", "taken_1", "scan_2", "pages_2", "taken_2")
    },
    "generation_steps": {
        *(name for name in MGLRU_STEPS.names() if name.endswith("_acts")),
        *("batch", "stop", "freed", "wanted", "order"),
    },
}
"""Columns of each table that may have nulls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRows:
    """A recording of reclaim with generations: MGLRU_CHOICES and MGLRU_STEPS.

    InputError if a table has another schema, is empty or out of order, or has rows of two kernels.
    The rules find states that cannot be.
    """

    choices: pl.DataFrame
    steps: pl.DataFrame

    def __post_init__(self) -> None:
        """Require complete tables of one kernel."""
        frames = dict(zip(TABLES, (self.choices, self.steps), strict=True))
        check_tables(frames, TABLES, MAY_BE_NULL)
        if pl.concat(frame["rules"] for frame in frames.values()).n_unique() != 1:
            raise InputError(f"its rows are of two kernels: {AGAIN}", field="rules")

    @property
    def rules(self) -> str:
        """The rules of the kernel that was recorded."""
        return str(self.choices["rules"][0])

    @property
    def cpus(self) -> int:
        """Number of CPUs, by the highest one that occurs."""
        return 1 + int(pl.concat([self.choices["cpu"], self.steps["cpu"]]).to_numpy().max())


def generation_rows(folder: Path | str) -> GenerationRows:
    """Read the choices and turns of a trace of generations.

    Parameters
    ----------
    folder : Path or str
        A trace folder with both tables.

    Returns
    -------
    GenerationRows

    Raises
    ------
    InputError
        A table is missing, the recording lost events, or as for `GenerationRows`.
    """
    tables = read_tables(folder, TABLES, MAY_BE_NULL)
    with errors_of(folder):
        return GenerationRows(
            choices=tables["generation_choices"], steps=tables["generation_steps"]
        )


def shipped() -> dict[str, Path]:
    """Return the shipped traces of generations by name, in order of name."""
    return {
        name: folder
        for name, folder in io.shipped_traces().items()
        if not missing_events("mglru", event_names(folder))
    }
