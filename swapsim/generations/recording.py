# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of a real kernel's generations, read with a check of each table."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from swapsim.checks import checked
from swapsim.errors import InputError
from swapsim.frames.files import require_values
from swapsim.generations.tables import GENERATION_CHOICES, GENERATION_STEPS
from swapsim.io import paths
from swapsim.traces import provenance, read_event, require_order
from swapsim.traces.folder import event_names
from swapsim.traces.replays import lacking_events
from swapsim.traces.verification import AGAIN, require_lossless

MAY_BE_NULL: Final = {
    "generation_choices": {
        *("batch", "scan_1", "pages_1", "taken_1", "scan_2", "pages_2", "taken_2")
    },
    "generation_steps": {
        *(name for name in GENERATION_STEPS.names() if name.endswith("_acts")),
        *("batch", "stop", "freed", "wanted", "order"),
    },
}
"""Columns of each table that may have nulls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRows:
    """A recording of reclaim with generations.

    Attributes
    ----------
    choices, steps : polars.DataFrame
        Schemas GENERATION_CHOICES and GENERATION_STEPS.
    """

    choices: pl.DataFrame
    steps: pl.DataFrame

    @property
    def rules(self) -> str:
        """The rules of the kernel that was recorded."""
        return str(self.choices["rules"][0])

    @property
    def cpus(self) -> int:
        """Number of CPUs, by the highest one that occurs."""
        return 1 + int(pl.concat([self.choices["cpu"], self.steps["cpu"]]).to_numpy().max())


@checked
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
        A table is missing, the recording lost events, or as for `check_generation_rows`.
    """
    origin, present = provenance(folder), event_names(folder)
    if missing := lacking_events("generations", present):
        raise InputError(
            f"the replay generations needs the events {', '.join(missing)}; the trace has: "
            f"{', '.join(present) or 'none'}",
            path=folder,
        )
    try:
        require_lossless(origin)
        tables = {
            name: read_event(folder, name, table.schema, may_be_null=MAY_BE_NULL[name])
            for name, table in (
                ("generation_choices", GENERATION_CHOICES),
                ("generation_steps", GENERATION_STEPS),
            )
        }
        return check_generation_rows(
            GenerationRows(choices=tables["generation_choices"], steps=tables["generation_steps"])
        )
    except InputError as error:
        raise error.of(folder) from None


def shipped() -> dict[str, Path]:
    """Return the shipped traces of generations by name, in order of name."""
    return {
        name: folder
        for name, folder in paths.shipped_traces().items()
        if not lacking_events("generations", event_names(folder))
    }


def check_generation_rows(rows: GenerationRows) -> GenerationRows:
    """Return the rows if both tables are complete; the rules find states that cannot be."""
    for name, table, frame in (
        ("generation_choices", GENERATION_CHOICES, rows.choices),
        ("generation_steps", GENERATION_STEPS, rows.steps),
    ):
        table.check(frame)
        if frame.is_empty():
            raise InputError(f"{name} has no rows: record a workload that reclaims memory")
        require_values(frame, [each for each in frame.columns if each not in MAY_BE_NULL[name]])
        require_order(frame)
    if pl.concat([frame["rules"] for frame in (rows.choices, rows.steps)]).n_unique() != 1:
        raise InputError(f"its rows are of two kernels: {AGAIN}", field="rules")
    return rows
