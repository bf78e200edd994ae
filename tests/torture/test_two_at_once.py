# SPDX-License-Identifier: GPL-2.0-or-later
"""Two processes with one folder, or with one store, and one that is killed."""

import random
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
found = study.run(slow, list(range(24)), folder={store!r})
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
    """Two sweeps, the first killed at any time: the other one completes the store."""
    for seed in seeds:
        rng = random.Random(seed)
        store = tmp_path / f"store-{seed}"
        path = tmp_path / "script.py"
        path.write_text(SCRIPT.format(here=str(Path(__file__).parent), store=str(store)))
        start = [sys.executable, str(path)]
        first, second = (subprocess.Popen(start, stderr=subprocess.PIPE, text=True) for _ in "12")
        time.sleep(rng.uniform(0, 3))
        first.kill()
        first.communicate()
        said = attack.said_by(second)
        assert second.returncode == 0, said
        assert pl.read_parquet(store / "*.parquet").height == 24
