# SPDX-License-Identifier: GPL-2.0-or-later
"""Signals at random moments of every verb: one line, and no partial file or process stays."""

import random
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attack
import interrupts
import pytest

from swapsim.progress import SIGNALS

TEXT = Path(__file__).parent.parent / "data" / "tracefs-6.1.txt"
OWN_RUNS = Path(__file__).parent.parent / "cli" / "own_runs.csv"
LONGEST_PAUSE_S = 3.0

pytestmark = pytest.mark.usefixtures("signals_as_in_a_terminal")


def test_interrupts(tmp_path: Path, seeds: Iterator[int]) -> None:
    """Ctrl-C and its like end a verb with one line, or come when it is done."""
    folders = {
        verb: attack.small_trace(replay, tmp_path / verb)
        for verb, (replay, _) in attack.VERBS.items()
    }
    commands = {verb: attack.VERBS[verb][1](folder) for verb, folder in folders.items()}
    out = tmp_path / "out" / "trace"
    out.parent.mkdir()
    commands["import"] = ["import", str(TEXT), "-o", str(out)]
    commands["compare"] = ["compare", str(OWN_RUNS)]
    for seed in seeds:
        rng = random.Random(seed)
        verb = rng.choice(sorted(commands))
        pause = rng.uniform(0, LONGEST_PAUSE_S)
        process = attack.under_way(*commands[verb])
        time.sleep(pause)
        number = signal.Signals(rng.choice(SIGNALS))
        process.send_signal(number)
        print(f"seed {seed}: {number.name} to {verb} after {pause:.3f} s")
        code = attack.must_end_well(process, interrupted=True)
        left = [path.name for path in out.parent.iterdir()]
        assert left == (["trace"] if verb == "import" and code == 0 else [])
        for path in out.glob("*"):
            path.unlink()
        if out.exists():
            out.rmdir()


def test_three_at_once(tmp_path: Path, seeds: Iterator[int]) -> None:
    """Ctrl-C ends a ranking whose file has just run, and two others (`interrupts`)."""
    work = interrupts.shared_work(tmp_path, lines=100_000)
    for seed in seeds:
        rng = random.Random(seed)
        chosen = [
            "just after the file",
            *rng.choices([*interrupts.SHARES], [*interrupts.SHARES.values()], k=2),
        ]
        print(f"seed {seed}: {chosen}")
        with ThreadPoolExecutor(interrupts.AT_ONCE) as pool:
            tries = [
                pool.submit(interrupts.one, number, kind, random.Random(f"{seed}-{number}"), work)
                for number, kind in enumerate(chosen)
            ]
        found = [each.result() for each in tries]
        assert not [each for each in found if each.verdict not in interrupts.GOOD]


def test_kills(tmp_path: Path, seeds: Iterator[int]) -> None:
    """A killed import leaves no partial folder, and the next one works."""
    for seed in seeds:
        rng = random.Random(seed)
        out = tmp_path / f"trace-{seed}"
        process = attack.started("import", str(TEXT), "-o", str(out))
        time.sleep(rng.uniform(0, LONGEST_PAUSE_S))
        process.kill()
        attack.said_by(process)
        if not out.exists():
            assert attack.answer("import", str(TEXT), "-o", str(out)) == 0
        assert attack.answer("info", str(out)) == 0
