# SPDX-License-Identifier: GPL-2.0-or-later
"""What is kept in data/simulated is what the code makes: a part of each comes out again."""

import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from swapsim.cli import main
from swapsim.io.paths import data_root, repository_root
from swapsim.site import simulated
from swapsim.study import kept as keeping
from swapsim.study.kept import Kept

RESULTS = simulated.results()


def number_of_commit() -> int:
    """Return a number that is another with each commit, and always the same without git."""
    command = ["git", "rev-parse", "HEAD"]
    try:
        found = subprocess.run(command, cwd=repository_root(), capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return 20161117
    return int(found.stdout, 16)


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: result.name)
def test_a_part_comes_out_again(result: Kept[Any]) -> None:
    """What is kept is not stale, and a part of it, another one with each commit, is the same."""
    assert result.stale() is None, f"run 'swapsim simulate {result.name}'"
    pick = number_of_commit()
    print(f"{result.name}: part {pick}")
    assert result.check(result.rows(), pick) > 0


def test_every_file_is_a_results() -> None:
    """Nothing lies in data/simulated that no room keeps, and all of it is small."""
    files = list((data_root() / keeping.FOLDER).iterdir())
    assert {path.name for path in files} == {f"{result.name}.parquet" for result in RESULTS}
    assert sum(path.stat().st_size for path in files) < 5_000_000


def test_what_others_stand_on_comes_first() -> None:
    """Fits are made before predictions with them."""
    names = [result.name for result in RESULTS]
    assert names.index("cluster-next-fits") < names.index("cluster-next-predicted")
    assert names.index("cluster-next-fits-by-constant") < names.index(
        "cluster-next-gain-by-constant"
    )


def test_the_command_checks_and_renews(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says what is stale and exits 1, keeps what is named, and refuses other names."""
    monkeypatch.setattr(keeping, "data_root", lambda: tmp_path)
    name = "writeback-tags-gain-by-trunk-size"
    (result,) = simulated.results([name])
    monkeypatch.setattr(result, "make", lambda **_: pl.DataFrame({"a": [1]}))
    assert main(["simulate", "--check", name]) == 1
    assert capsys.readouterr().out == f"{name}: not kept yet\n"
    assert main(["simulate", name]) == 0
    assert main(["simulate", name]) == 0
    assert capsys.readouterr().out == f"{name}: written\n{name}: as it was\n"
    assert main(["simulate", "--check", name]) == 0
    assert main(["simulate", "tides"]) == 2
    assert "'tides' is not kept: choose of batched-removal-by-points" in capsys.readouterr().err
