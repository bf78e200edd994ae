# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors name arguments in Python and options on the command line."""

import ast
import re
from pathlib import Path

import click
import pytest
from command_tree import LEAVES

import swapsim
from swapsim import traces
from swapsim.cli import main
from swapsim.cli.verbs import in_options
from swapsim.errors import InputError
from swapsim.slots.verify import verify as verify_slots

ROOT = Path(swapsim.__file__).parent


@click.command()
@click.argument("folder")
@click.option("-k", "--keep-going", is_flag=True)
@click.option("--cluster-size", type=int)
def command() -> None:
    """Do nothing."""


@pytest.mark.parametrize(
    ("message", "translated"),
    [
        ("skip them with keep_going=True", "skip them with --keep-going"),
        ("cluster_size=0: choose 256 or 512", "--cluster-size 0: choose 256 or 512"),
        ("cluster_size='a b' is wrong", "--cluster-size a b is wrong"),
        ("cluster_size={'few': 3}: choose", "--cluster-size few=3: choose"),
        ("trunk_shift=9: choose another", "trunk_shift=9: choose another"),
        ("folder=9, cluster_size=7, and more", "folder=9, --cluster-size 7, and more"),
        ("x.cluster_size=7 and my_cluster_size=7", "x.cluster_size=7 and my_cluster_size=7"),
    ],
)
def test_an_argument_becomes_an_option(message: str, translated: str) -> None:
    """Only names that the running command has as options are replaced."""
    assert in_options(message, command) == translated


def test_an_error_of_a_function_names_the_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same error names the argument in Python and the option on the command line."""
    text = tmp_path / "trace.txt"
    text.write_text("no line of a trace\n")
    with pytest.raises(InputError, match=r"keep_going=True") as error:
        traces.import_text(text, tmp_path / "trace")
    assert "--" not in str(error.value)
    assert main(["import", str(text), "-o", str(tmp_path / "trace")]) == 2
    assert "skip such lines with --keep-going" in capsys.readouterr().err


def test_an_error_of_a_config_names_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    """A config's field that an option sets is replaced, too."""
    file = traces.shipped_folders("slots")["slots-4-shared"] / "slot_events.parquet"
    with pytest.raises(InputError, match=r"^cluster_size=0: "):
        verify_slots(file, policy="shared", cluster_size=0)
    sizes = ["--policy", "shared", "--cluster-size", "0"]
    assert main(["verify", "slots", str(file), *sizes]) == 2
    assert capsys.readouterr().err.startswith("swapsim: --cluster-size 0: ")


def test_no_error_in_python_names_an_option() -> None:
    """A caller of a function has no command line."""
    options = {name for each in LEAVES.values() for at in each.params for name in at.opts}
    known = {name for name in options if name.startswith("--")}
    for path in (path for path in ROOT.rglob("*.py") if "cli" not in path.parts):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise):
                texts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
                words = {word for text in texts for word in re.findall(r"--[\w-]+", str(text))}
                assert not words & known, (path, node.lineno)
