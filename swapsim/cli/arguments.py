# SPDX-License-Identifier: GPL-2.0-or-later
"""Arguments that several commands take."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

import click
from click.shell_completion import CompletionItem

from swapsim.cli.layout import say
from swapsim.errors import SwapsimError


def offering(names: Callable[[], Iterable[str]]) -> Callable[..., list[CompletionItem]]:
    """Return what a shell asks for an argument: those of the names that begin so."""

    def shell_complete(
        _ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(name) for name in names() if name.startswith(incomplete)]

    return shell_complete


class TraceFolder(click.Path):
    """A trace folder, or the name of a trace that comes with the laboratory."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer the shipped names that begin so, and files."""
        from swapsim.io import shipped_traces

        names = offering(shipped_traces)(ctx, param, incomplete)
        return [*names, *super().shell_complete(ctx, param, incomplete)]


def _fed(ctx: click.Context, _: click.Parameter, trace: Path) -> Path:
    """Refuse a trace that cannot feed the command, and say what it lacks of its recording.

    What is no trace is refused by the command.
    """
    from swapsim.traces.folder import losses
    from swapsim.traces.replays import require_feeds

    require_feeds(trace, str(ctx.command.name), verifies="verify" in ctx.command_path.split())
    with suppress(SwapsimError):
        if found := losses(trace):
            lacks = ", ".join(found)
            what = f"{trace} is not complete or not in order, which changes figures"
            say(f"swapsim: {what}: {lacks}", err=True)
    return trace


trace_argument: Final = click.argument("folder", type=TraceFolder(), metavar="DIR", callback=_fed)
slots_argument: Final = click.argument("file", type=TraceFolder(), metavar="DIR", callback=_fed)
