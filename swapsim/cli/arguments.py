# SPDX-License-Identifier: GPL-2.0-or-later
"""Arguments that several commands take."""

from pathlib import Path
from typing import Final

import click
from click.shell_completion import CompletionItem


class TraceFolder(click.Path):
    """A trace folder, or the name of a trace that comes with the laboratory."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer the shipped names that begin so, and files."""
        from swapsim.io.paths import shipped_traces

        names = [CompletionItem(name) for name in shipped_traces() if name.startswith(incomplete)]
        return [*names, *super().shell_complete(ctx, param, incomplete)]


trace_argument: Final = click.argument("folder", type=TraceFolder(), metavar="DIR")
