# SPDX-License-Identifier: GPL-2.0-or-later
"""Surroundings of other machines: a command prints and writes the same bytes in each."""

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import attack


@dataclass(frozen=True)
class Surroundings:
    """The environment variables of a process, and a call before it begins."""

    variables: Mapping[str, str] = field(default_factory=dict)
    begin: Callable[[], None] = lambda: None


def on_one_core() -> None:
    """Leave the process the first of its cores."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


SURROUNDINGS: Final = {
    "plain": Surroundings(),
    "the locale C": Surroundings({"LC_ALL": "C", "LANG": "C"}),
    "ASCII": Surroundings({"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}),
    "no home": Surroundings({"HOME": "/missing", "XDG_CACHE_HOME": "/missing"}),
    "no folder for temporary files": Surroundings({"TMPDIR": "/missing"}),
    "one core": Surroundings(begin=on_one_core),
    "no asserts": Surroundings({"PYTHONOPTIMIZE": "1"}),
    "another order of sets": Surroundings({"PYTHONHASHSEED": "7"}),
    "another time zone": Surroundings({"TZ": "Asia/Kathmandu"}),
    "one thread": Surroundings({"POLARS_MAX_THREADS": "1"}),
    "a narrow terminal": Surroundings({"COLUMNS": "40", "TERM": "dumb"}),
}
FOLDERS: Final = ("folder", "two words", "földer", "-o", "a'b\"c", "%s{0}[1]*")


def answers(command: list[str], around: Surroundings) -> tuple[int, str, str]:
    """Return the code of a command, and what it wrote to stdout and stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "swapsim", *command],
        env=os.environ | around.variables,
        preexec_fn=around.begin,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=attack.LONGEST_S,
    )
    attack.must_be_one_line(done.returncode, done.stderr)
    return done.returncode, done.stdout, done.stderr


def written_next_to(trace: Path) -> dict[str, bytes]:
    """Return the files that commands have written next to a trace; remove them."""
    there = sorted(path for path in trace.parent.iterdir() if path.is_file())
    found = {path.suffix: path.read_bytes() for path in there}
    for path in there:
        path.unlink()
    return found


def shown(path: Path, name: str) -> str:
    """Return a path as it is printed: in ASCII, a ? stands for another byte."""
    if name != "ASCII":
        return str(path)
    return os.fsencode(path).decode("ascii", "replace").replace("\N{REPLACEMENT CHARACTER}", "?")


def test_surroundings(tmp_path: Path, seeds: Iterator[int]) -> None:
    """A verb prints and writes the same in all surroundings, and in a folder of any name."""
    plain = {}
    for seed in seeds:
        rng = random.Random(seed)
        verb, name = rng.choice(sorted(attack.VERBS)), rng.choice(sorted(SURROUNDINGS))
        replay, command = attack.VERBS[verb]
        home = tmp_path / verb
        if verb not in plain:
            first = home / FOLDERS[0] / "trace"
            first.parent.mkdir(parents=True)
            attack.small_trace(replay, first)
            plain[verb] = answers(command(first), SURROUNDINGS["plain"]), written_next_to(first)
        [folder] = home.iterdir()
        trace = folder.rename(home / rng.choice(FOLDERS)) / "trace"
        print(f"seed {seed}: {verb} in {trace.parent.name!r}, {name}")
        code, out, said = answers(command(trace), SURROUNDINGS[name])
        there, elsewhere = shown(trace, name), str(home / FOLDERS[0] / "trace")
        texts = [text.replace(there, elsewhere) for text in (out, said)]
        assert ((code, *texts), written_next_to(trace)) == plain[verb]
