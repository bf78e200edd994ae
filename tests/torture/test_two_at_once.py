# SPDX-License-Identifier: GPL-2.0-or-later
"""Two processes with one folder, or with one store, and workers that are killed."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import attack
import polars as pl

TEXT = Path(__file__).parent.parent / "data" / "tracefs-6.1.txt"
SCRIPT = """
import sys
sys.path.insert(0, {here!r})
from test_two_at_once import slow
from swapsim import study
from swapsim.errors import SwapsimError
if __name__ == "__main__":
    try:
        found = study.run(slow, list(range(24)), batch_points=1, folder={store!r})
    except SwapsimError as error:
        sys.exit(f"swapsim: {{error}}")
    assert [frame["cube"].item() for frame in found] == [n**3 for n in range(24)]
"""


def slow(point: int) -> pl.DataFrame:
    """Return a row, after a while."""
    time.sleep(0.02)
    return pl.DataFrame({"point": [point], "cube": [point**3]})


def test_imports_to_one_folder(tmp_path: Path, seeds: Iterator[int]) -> None:
    """One of two imports makes the folder, the other says that it exists."""
    for seed in seeds:
        rng = random.Random(seed)
        out = tmp_path / f"trace-{seed}"
        command = ("import", str(TEXT), "-o", str(out))
        first = attack.started(*command)
        time.sleep(rng.uniform(0, 0.2))
        codes = [attack.must_end_well(process) for process in (first, attack.started(*command))]
        assert sorted(codes) == [0, 2]
        assert attack.answer("info", str(out)) == 0


def test_sweeps_to_one_store(tmp_path: Path, seeds: Iterator[int]) -> None:
    """Two sweeps, a worker of the first killed at any time: the store is complete in the end."""
    for seed in seeds:
        rng = random.Random(seed)
        store = tmp_path / f"store-{seed}"
        script = SCRIPT.format(here=str(Path(__file__).parent), store=str(store))
        path = tmp_path / "script.py"
        path.write_text(script)
        start = [sys.executable, str(path)]
        both = [subprocess.Popen(start, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        time.sleep(rng.uniform(0, 3))
        for worker in children(both[0].pid)[:1]:
            os.kill(worker, signal.SIGKILL)
        for process in both:
            said = attack.said_by(process)
            assert process.returncode in (0, 1)
            assert (process.returncode == 1) == said.startswith("swapsim: "), said
        subprocess.run(start, check=True, timeout=attack.LONGEST_S)
        assert pl.read_parquet(store / "*.parquet").height == 24


def children(parent: int) -> list[int]:
    """Return the processes that a process has started."""
    listed = Path(f"/proc/{parent}/task/{parent}/children")
    return [int(child) for child in listed.read_text().split()] if listed.exists() else []
