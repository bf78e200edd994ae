# SPDX-License-Identifier: GPL-2.0-or-later
"""A command and its function have one name."""

import re
from importlib import import_module

import click
import pytest
from command_tree import LEAVES

import swapsim
from swapsim import traces
from swapsim.cli import cli

LISTED = {
    command: names.replace("`", "")
    for command, names in re.findall(
        r"^- ``swapsim ([^`]+)``: (`.+`)[,.]$", swapsim.__doc__ or "", re.MULTILINE
    )
}


def test_help_lists_each_command() -> None:
    """help(swapsim) lists all commands and no others."""
    assert set(LISTED) == set(LEAVES)


@pytest.mark.parametrize("command", LISTED)
def test_the_function_of_each_command_exists(command: str) -> None:
    """It can be imported as help(swapsim) writes it, and has a docstring."""
    for path in LISTED[command].split(", "):
        module, _, name = path.rpartition(".")
        function = getattr(import_module(f"swapsim.{module}"), name)
        assert callable(function)
        assert function.__doc__


@pytest.mark.parametrize("group", ["replay", "verify"])
def test_a_command_is_named_like_its_function(group: str) -> None:
    """`swapsim replay x-y` is `SUBJECT.x_y` or `x_y.replay`; `verify x` is `SUBJECT.verify_x`."""
    for command in (name for name in LISTED if name.startswith(f"{group} ")):
        _, name = command.replace("-", "_").split()
        subject, _, function = LISTED[command].partition(".")
        replays = "replay" if subject == name else name
        assert function == (replays if group == "replay" else f"verify_{name}")


def test_a_replay_has_one_name() -> None:
    """The replays that traces know are those of the command line."""
    replays = cli.commands["replay"]
    assert isinstance(replays, click.Group)
    assert set(traces.replays_of([])["replay"]) == set(replays.commands)
