# SPDX-License-Identifier: GPL-2.0-or-later
"""What a script reads: tables alone on standard output, names of traces, completion of words."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import swapsim
from swapsim import traces
from swapsim.cli import main
from swapsim.errors import InputError

SMALL = "clusters-6.12-zram-1"


@pytest.mark.parametrize("asked", [["--format", "csv"], ["-o", "-"]])
def test_the_table_alone_is_on_standard_output(
    asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is the table that a file gets, and several files are written in one run."""
    files = [tmp_path / "sites.csv", tmp_path / "sites.json", tmp_path / "sites.svg"]
    outputs = [word for file in files for word in ("-o", str(file))]
    assert main(["replay", "mapping", "swap-w-seq", *asked, *outputs]) == 0
    assert capsys.readouterr().out == files[0].read_text()
    assert pl.read_csv(files[0]).height == pl.read_json(files[1]).height
    assert files[2].read_text().startswith("<svg")


def test_a_comparison_for_a_script(capsys: pytest.CaptureFixture[str]) -> None:
    """The counts are on standard output, the lines for people on the other one."""
    assert main(["verify", "clusters", SMALL, "--format", "csv"]) == 0
    printed = capsys.readouterr()
    counts = pl.read_csv(io.StringIO(printed.out))
    assert counts.columns == ["kind", "equal", "compared"]
    assert (counts["equal"] == counts["compared"]).all()
    assert printed.err.splitlines()[-1].startswith("granted ")


def test_the_shipped_traces_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a folder, info lists the names that stand for folders."""
    assert main(["info", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {each["trace"] for each in listed} == set(traces.shipped_traces()["trace"])
    assert main(["info", SMALL, "--format", "json"]) == 0
    described = json.loads(capsys.readouterr().out)
    assert described == traces.described(SMALL)
    assert described["replays"]["clusters"] == []
    assert main(["info", SMALL, "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("event,rows\n")
    assert main(["info"]) == 0
    assert SMALL in capsys.readouterr().out


def test_a_name_stands_for_its_folder(tmp_path: Path) -> None:
    """A folder comes first; an error of a wrong name shows a similar one; a number is no trace."""
    assert traces.locate(SMALL).name == SMALL
    assert traces.locate(tmp_path) == tmp_path
    with pytest.raises(InputError, match="there is swap-w-seq"):
        traces.events("swap-w-sec")
    with pytest.raises(InputError, match="folder=3: info needs a path"):
        traces.info(3)  # type: ignore[arg-type]


def test_explain_is_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    """A table alone has no place for explanations."""
    command = ["replay", "mapping", "swap-w-seq", "--format", "json", "--explain"]
    assert main(command) == 2
    assert "drop --format" in capsys.readouterr().err


def test_a_shell_completes_commands_and_names() -> None:
    """Click's own protocol: the script of a shell, and the words that may follow."""
    command = [sys.executable, "-m", "swapsim"]
    script = subprocess.run(
        command,
        env={**os.environ, "_SWAPSIM_COMPLETE": "bash_source"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "_SWAPSIM_COMPLETE=bash_complete" in script
    for typed, offered in {
        "info swap-w": "swap-w-seq",
        "simulate cluster-next-f": "cluster-next-fits",
    }.items():
        asked = {"_SWAPSIM_COMPLETE": "bash_complete", "COMP_CWORD": "2"}
        words = subprocess.run(
            command,
            env={**os.environ, **asked, "COMP_WORDS": f"swapsim {typed}"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        assert f"plain,{offered}" in words


def test_packages_are_there_without_an_import_of_their_own() -> None:
    """A package is loaded when it is first used, and completion shows all of them."""
    program = (
        "import swapsim, sys; assert 'swapsim.traces' not in sys.modules; "
        "print(swapsim.traces.__name__, *dir(swapsim))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert printed[0] == "swapsim.traces"
    assert printed[1:] == sorted(swapsim.__all__)
    with pytest.raises(AttributeError, match="no attribute 'tracess'"):
        _ = swapsim.tracess  # type: ignore[attr-defined]
