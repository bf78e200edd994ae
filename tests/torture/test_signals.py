# SPDX-License-Identifier: GPL-2.0-or-later
"""Signals at random moments of every verb: one line, and no partial file or process stays."""

import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import attack
import pytest

from swapsim import interrupt

TEXT = Path(__file__).parent.parent / "data" / "tracefs-6.1.txt"
OWN_RUNS = Path(__file__).parent.parent / "cli" / "own_runs.csv"
OWN_POLICY = OWN_RUNS.with_name("own_policy.py")
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
    commands["compare"] = ["compare", str(OWN_RUNS), "--without-simulated"]
    commands["rank"] = ["rank", str(OWN_POLICY), "--seeds", "1"]
    for seed in seeds:
        rng = random.Random(seed)
        verb = rng.choice(sorted(commands))
        pause = rng.uniform(0, LONGEST_PAUSE_S)
        process = attack.under_way(*commands[verb])
        time.sleep(pause)
        number = signal.Signals(rng.choice(interrupt.SIGNALS))
        process.send_signal(number)
        print(f"seed {seed}: {number.name} to {verb} after {pause:.3f} s")
        code = attack.must_end_well(process, interrupted=True)
        left = [path.name for path in out.parent.iterdir()]
        assert left == (["trace"] if verb == "import" and code == 0 else [])
        for path in out.glob("*"):
            path.unlink()
        if out.exists():
            out.rmdir()


def test_interrupts_of_a_ranking(tmp_path: Path, seeds: Iterator[int]) -> None:
    """Ctrl-C just after its file has run ends each of three rankings."""
    for seed in seeds:
        rng = random.Random(seed)
        begun = [tmp_path / f"{seed}-{number}" for number in range(3)]
        processes = [ranking_under_way(mark) for mark in begun]
        for process, mark in zip(processes, begun, strict=True):
            while not mark.exists():
                assert process.poll() is None
                time.sleep(0.001)
            time.sleep(rng.choice([0, rng.uniform(0, 0.1), rng.uniform(0, LONGEST_PAUSE_S)]))
            process.send_signal(signal.SIGINT)
        for process in processes:
            assert attack.said_by(process) == f"{interrupt.TEXT}\n"
            assert process.returncode == interrupt.CODE


def ranking_under_way(mark: Path) -> "subprocess.Popen[str]":
    """Start a long ranking of a policy file whose last line makes a mark."""
    file = mark.with_suffix(".py")
    file.write_text(f"{OWN_POLICY.read_text()}\nopen({str(mark)!r}, 'w').close()\n")
    return attack.started("rank", str(file), "--seeds", "99", start_new_session=True)


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
