# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands whose errors speak of options.

An error names an argument as a caller in Python writes it, ``keep_going=True``. Whoever typed a
command reads ``--keep-going`` there: each argument that the command has as an option is called so.
"""

import re
from typing import Any

import click

from swapsim.errors import SwapsimError


class Verb(click.Command):
    """A command that puts errors of ours into the words of its options."""

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
        """Tell each command's whole first sentence, where click cuts it at the line's end."""
        rows = [
            (name, self.commands[name].get_short_help_str(1000)) for name in self.list_commands(ctx)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def in_options(text: str, command: click.Command) -> str:
    """Turn each ``name=value`` that is an option of a command into what is typed for it."""
    options = {
        each.name: each.opts[-1] for each in command.params if isinstance(each, click.Option)
    }
    names = "|".join(re.escape(name) for name in options if name)
    # A value ends where the sentence goes on.
    argument = re.compile(rf"(?<![\w.'\"])({names})=('[^']*'|[^\s,;:)]+)")

    def typed(found: re.Match[str]) -> str:
        option, value = options[found[1]], found[2].strip("'")
        return option if value == "True" else f"{option} {value}"

    return argument.sub(typed, text) if names else text
