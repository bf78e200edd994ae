# SPDX-License-Identifier: GPL-2.0-or-later
"""The sha256 of each table of a trace folder, written down in its trace.toml."""

import re
from pathlib import Path
from typing import Final

from swapsim import io
from swapsim.traces.folder import FILES, PROVENANCE, event_names, provenance
from swapsim.traces.writer import toml_table

_TABLE: Final = re.compile(r"^(?=\[)", re.MULTILINE)
"""Where the next table of a trace.toml of ours begins."""


def sign(folder: Path | str) -> None:
    """Write the sha256 of each table into trace.toml, for whoever has rewritten one.

    Raises
    ------
    InputError
        As for `provenance`.
    OSError
        The folder cannot be written.
    """
    provenance(folder)
    path = Path(folder) / PROVENANCE
    tables = [
        table for table in _TABLE.split(io.read_text(path)) if not table.startswith(f"[{FILES}]")
    ]
    after = [n for n, table in enumerate(tables, 1) if table.startswith("[events]")]
    at = after[0] if after else len(tables)
    before, behind = "".join(tables[:at]).rstrip("\n"), "".join(tables[at:])
    parts = [f"{before}\n" if before else "", toml_table(FILES, digests(folder)), behind]
    path.write_text("\n".join(part for part in parts if part), encoding="utf-8")


def digests(folder: Path | str) -> dict[str, str]:
    """Return the sha256 of each table of a trace folder by the name of its file."""
    paths = [Path(folder) / f"{event}.parquet" for event in event_names(Path(folder))]
    return {path.name: io.sha256_of(path) for path in paths}
