# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that replace an argument in an error, ``keep_going=True``, by its ``--keep-going``.

A group that does not know a command names the one of the same subject.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import click

from swapsim.errors import SwapsimError

_ITEM: Final = re.compile(r"\{'(\w+)': (\w+)\}")
"""A mapping of one name, as an error quotes it; a command has NAME=VALUE."""

_ELSEWHERE: Final = {
    "swapsim claims": "'swapsim tables' prints the mails' tables, row by row",
    "swapsim export": "ui.perfetto.dev opens the text of ftrace itself",
    "swapsim probes --format": "the script is one for sh, and needs tracefs only",
}
"""A command or option that there is not -> what to use."""


class Verb(click.Command):
    """A command whose errors name its options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as unknown:
            _say_elsewhere("option", unknown.option_name, ctx)
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except SwapsimError as error:
            raise SwapsimError(in_options(str(error), self)) from error


class Verbs(click.Group):
    """A group of such commands, and of such groups."""

    command_class = Verb
    group_class = type

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; the error of an unknown one names what has the same subject here."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as unknown:
            from swapsim.traces.replays import also_called

            above = ctx.command_path.removeprefix("swapsim").strip()
            if swapped := [each for each in args[1:] if each in self.commands]:
                order = f"{ctx.command_path} {swapped[0]} {args[0]}"
                raise click.UsageError(
                    f"No such command {args[0]!r}: write '{order}'", ctx
                ) from None
            _say_elsewhere("command", unknown.command_name, ctx)
            names = also_called(unknown.command_name)
            same = sorted(path for path in _paths(self) if path.split()[-1] in names)
            if unknown.possibilities and not same:
                raise
            hint = " or ".join(f"'{above} {path}'".replace("' ", "'") for path in same)
            hint = f"its name here is {hint}" if same else f"there are {', '.join(self.commands)}"
            message = f"No such command {unknown.command_name!r}: {hint}."
            raise click.UsageError(message, ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their complete first sentences, which click would cut."""
        rows = [
            (name, self.commands[name].get_short_help_str(1000)) for name in self.list_commands(ctx)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _say_elsewhere(kind: str, name: str, ctx: click.Context) -> None:
    """Refuse what _ELSEWHERE has."""
    if other := _ELSEWHERE.get(f"{ctx.command_path} {name}"):
        raise click.UsageError(f"No such {kind} {name!r}: {other}", ctx) from None


def _paths(group: click.Group) -> Iterator[str]:
    """Yield the commands of a group and of its groups, as they are typed."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from (f"{name} {path}" for path in _paths(command))
        else:
            yield name


def in_options(text: str, command: click.Command) -> str:
    """Replace each ``name=value`` that is an option of a command by ``--name value``."""
    options = {
        each.name: each.opts[-1] for each in command.params if isinstance(each, click.Option)
    }
    names = "|".join(re.escape(name) for name in options if name)
    # The value ends where the sentence continues.
    argument = re.compile(rf"(?<![\w.'\"])({names})=('[^']*'|\{{[^}}]*\}}|[^\s,;:)]+)")

    def typed(found: re.Match[str]) -> str:
        item = _ITEM.fullmatch(found[2])
        option, value = options[found[1]], f"{item[1]}={item[2]}" if item else found[2].strip("'")
        return option if value == "True" else f"{option} {value}"

    return argument.sub(typed, text) if names else text
