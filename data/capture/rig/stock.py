# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs on stock 6.12 and 7.3 count: metrics of a run, and rows of a further table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rig import reclaim_decisions, removal_lists
from rig.collect import Captured
from rig.counts import Metrics, Rows
from swapsim.published.data import REMOVED_LISTS
from swapsim.tables import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Reads a run: its metrics, and rows of a table that is stored as a file, where it has one."""

    read: Callable[[Captured, Path], tuple[Metrics, Rows]]
    module: Path
    file: str = ""
    table: Table | None = None


READERS: Final[Mapping[str, Reader]] = {
    "removal lists": Reader(
        read=removal_lists.read,
        module=Path(removal_lists.__file__),
        file="lists",
        table=REMOVED_LISTS,
    ),
    "reclaim decisions": Reader(
        read=reclaim_decisions.read, module=Path(reclaim_decisions.__file__)
    ),
}
