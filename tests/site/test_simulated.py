# SPDX-License-Identifier: GPL-2.0-or-later
"""The rows in data/simulated are those that the code computes: samples are identical."""

import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from swapsim import io
from swapsim.cli import main
from swapsim.io.paths import data_root, repository_root
from swapsim.site import simulated
from swapsim.study import Study
from swapsim.study import study as engine

STUDIES = simulated.studies()
ONE_SAMPLE = {"stall-decisions-fit"}
"""Its sample is the same for each number, and notebook 03 computes it."""


def number_of_commit() -> int:
    """Return a number that is another with each commit, and always the same without git."""
    command = ["git", "rev-parse", "HEAD"]
    try:
        found = subprocess.run(command, cwd=repository_root(), capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return 20161117
    return int(found.stdout, 16)


def in_turn(pick: int) -> list[Study]:
    """Return one of the studies of each patch that run the same function, another with each number.

    The notebooks call all studies, and each call compares a first sample.
    """
    groups: dict[object, list[Study]] = {}
    for study in STUDIES:
        function = study.run.func if isinstance(study.run, partial) else study.run
        groups.setdefault((study.name[:5], function), []).append(study)
    chosen = [group[pick % len(group)] for group in groups.values()]
    return [study for study in chosen if study.name not in ONE_SAMPLE]


def test_no_result_is_stale() -> None:
    """The code and the data that decide the stored rows are still the same."""
    assert simulated.stale() == {}, "run 'swapsim simulate'"


@pytest.mark.parametrize("study", in_turn(number_of_commit()), ids=lambda study: study.name)
def test_a_sample_is_identical(study: Study) -> None:
    """Rows that are computed again are the stored ones, other rows with each commit."""
    pick = number_of_commit()
    print(f"{study.name}: sample {pick}")
    rows = io.decode(io.read_bytes(study.path), study.path)
    assert study.check(rows, pick // 7) > 0


def test_each_file_is_that_of_a_study() -> None:
    """Each file in data/simulated belongs to a study, and all of them are small."""
    files = list((data_root() / engine.FOLDER).iterdir())
    assert {path.name for path in files} == {f"{study.name}.parquet" for study in STUDIES}
    assert sum(path.stat().st_size for path in files) < 5_000_000


def test_a_study_follows_those_that_it_depends_on() -> None:
    """Fits are computed before predictions with them."""
    names = [study.name for study in STUDIES]
    assert names.index("cluster-next-fits") < names.index("cluster-next-predicted")
    assert names.index("cluster-next-fits-by-constant") < names.index(
        "cluster-next-gain-by-constant"
    )


def test_the_command_checks_and_updates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says what is stale and exits 1, stores what is named, and refuses other names."""
    monkeypatch.setattr(engine, "data_root", lambda: tmp_path)
    monkeypatch.setattr(simulated, "repository_root", lambda: tmp_path)
    name = "cluster-next-solid-state"
    (chosen,) = simulated.studies([name])
    few = replace(chosen, points=list(chosen.points())[:2])
    monkeypatch.setattr(simulated, "studies", lambda _: [few])
    assert main(["simulate", "--check", name]) == 1
    assert capsys.readouterr().out == f"{name}: not stored yet\n"
    assert main(["simulate", name]) == 0
    assert main(["simulate", name]) == 0
    assert capsys.readouterr().out == f"{name}: written\n{name}: unchanged\n"
    assert main(["simulate", "--check", name]) == 0
    assert not list((tmp_path / "build" / "simulate").iterdir())
    monkeypatch.undo()
    assert main(["simulate", "tides"]) == 2
    assert "'tides' is not a study: choose one of batched-" in capsys.readouterr().err
