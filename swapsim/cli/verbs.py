# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that replace an argument in an error, ``keep_going=True``, by its ``--keep-going``."""

import re
from typing import Any

import click

from swapsim.errors import SwapsimError


class Verb(click.Command):
    """A command whose errors name its options."""

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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their complete first sentences, which click would cut."""
        rows = [
            (name, self.commands[name].get_short_help_str(1000)) for name in self.list_commands(ctx)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def in_options(text: str, command: click.Command) -> str:
    """Replace each ``name=value`` that is an option of a command by ``--name value``."""
    options = {
        each.name: each.opts[-1] for each in command.params if isinstance(each, click.Option)
    }
    names = "|".join(re.escape(name) for name in options if name)
    # The value ends where the sentence continues.
    argument = re.compile(rf"(?<![\w.'\"])({names})=('[^']*'|[^\s,;:)]+)")

    def typed(found: re.Match[str]) -> str:
        option, value = options[found[1]], found[2].strip("'")
        return option if value == "True" else f"{option} {value}"

    return argument.sub(typed, text) if names else text
