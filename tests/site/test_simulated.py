# SPDX-License-Identifier: GPL-2.0-or-later
"""The studies of all patches, and the command that checks and updates them."""

from dataclasses import replace
from pathlib import Path

import pytest

from swapsim import study
from swapsim.cli import main
from swapsim.io import data_root
from swapsim.site import simulated

STUDIES = simulated.studies()


def test_each_file_is_that_of_a_study() -> None:
    """Each file in data/simulated belongs to a study, and all of them are small."""
    files = list((data_root() / "simulated").iterdir())
    assert {path.name for path in files} == {f"{each.name}.parquet" for each in STUDIES}
    assert sum(path.stat().st_size for path in files) < 5_000_000


def test_a_study_follows_those_that_it_depends_on() -> None:
    """Fits are computed before predictions with them."""
    names = [each.name for each in STUDIES]
    assert names.index("cluster-next-fits") < names.index("cluster-next-predicted")
    assert names.index("cluster-next-fits-of-drives") < names.index("cluster-next-drives")


def test_the_command_checks_and_updates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says what is stale and exits 1, stores what is named, and refuses other names."""
    monkeypatch.setattr(study, "data_root", lambda: tmp_path)
    monkeypatch.setattr(study, "repository_root", lambda: tmp_path)
    name = "cluster-next-solid-state"
    (chosen,) = simulated.studies([name])
    few = replace(chosen, points=list(chosen.points())[:2])
    monkeypatch.setattr(simulated, "studies", lambda _=(): [few])
    assert main(["simulate", "--check", name]) == 1
    assert capsys.readouterr().out == f"{name}: not stored yet\n"
    assert main(["simulate", name]) == 0
    assert main(["simulate", name]) == 0
    assert capsys.readouterr().out == f"{name}: written\n{name}: unchanged\n"
    assert main(["simulate", "--check", name]) == 0
    assert not list((tmp_path / "build" / "simulate").iterdir())
    assert simulated.prove() == {name: 30}
    monkeypatch.undo()
    assert main(["simulate", "tides"]) == 2
    assert "'tides' is not a study: each file of data/simulated" in capsys.readouterr().err
