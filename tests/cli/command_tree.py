# SPDX-License-Identifier: GPL-2.0-or-later
"""All commands, for tests."""

from collections.abc import Iterator

import click

from swapsim.cli import cli


def walk(command: click.Command = cli, *above: str) -> Iterator[tuple[str, click.Command]]:
    """Yield each command with the words by which it is called, groups before their commands."""
    yield " ".join(above), command
    if isinstance(command, click.Group):
        for name, each in command.commands.items():
            yield from walk(each, *above, name)


LEAVES = {name: each for name, each in walk() if not isinstance(each, click.Group)}
"""The commands that are no groups, by name."""
