# SPDX-License-Identifier: GPL-2.0-or-later
"""One thing has one name, whether it is typed or called."""

import re
from importlib import import_module

import click
import pytest

import swapsim
from swapsim import traces
from swapsim.cli import cli

TOLD = dict(re.findall(r"^    swapsim (\S.*?) {2,}(\S.*)$", swapsim.__doc__ or "", re.MULTILINE))


def commands(group: click.Group, above: str = "") -> set[str]:
    """Return all commands as they are typed."""
    found = set()
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            found |= commands(command, f"{above}{name} ")
        else:
            found.add(f"{above}{name}")
    return found


def test_help_tells_of_each_command() -> None:
    """help(swapsim) has them all, and none that is not there."""
    assert set(TOLD) == commands(cli)


@pytest.mark.parametrize("command", TOLD)
def test_the_function_of_each_command_is_there(command: str) -> None:
    """It can be called as help(swapsim) writes it, and says what it does."""
    for path in TOLD[command].split(", "):
        module, _, name = path.rpartition(".")
        function = getattr(import_module(f"swapsim.{module}"), name)
        assert callable(function)
        assert function.__doc__


@pytest.mark.parametrize("group", ["replay", "verify"])
def test_what_is_typed_is_what_is_called(group: str) -> None:
    """`swapsim replay x-y` is `replay.x_y`, and `swapsim verify x` is `replay.verify_x`."""
    for command in (name for name in TOLD if name.startswith(f"{group} ")):
        _, name = command.replace("-", "_").split()
        assert TOLD[command] == f"replay.{name if group == 'replay' else f'verify_{name}'}"


def test_a_replay_has_one_name() -> None:
    """The replays that traces are told of are those of the command line."""
    replays = cli.commands["replay"]
    assert isinstance(replays, click.Group)
    assert set(traces.replays_of([])["replay"]) == set(replays.commands)
