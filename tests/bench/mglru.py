# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording of generations: each choice and turn decided again, and each choice by other rules.

The rows are those of a shipped trace; times are those of the CPU, without the conversion of frames.
A row of choices is one decision of a type and of a tier index, a row of turns one of aging and scan
size. The peer is the plain Python model, which decides the same states, as precomputed rows.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import harness

from swapsim import mglru
from swapsim._core import ffi, lib
from swapsim.mglru import _native
from swapsim.mglru.recording import GENERATIONS, TIERS, TYPES, Recording, recording

NAMES = ("mglru/replay", "mglru/verify")
TRACE = "generations-7.3-held-4"
OTHER = "6.12"
"""Rules of the replay."""

AGAIN = 20
"""Times that the C library processes the trace in one run."""


def spent(rules: str, rows: Any, n: int, run: Any, result: str) -> float:
    """Return the seconds that C takes for n rows, once."""
    switches, at = _native.rules_struct(rules), ffi.new("uint64_t *")
    out = ffi.new(f"struct {result}[]", n)
    start = time.process_time()
    for _ in range(AGAIN):
        code = run(switches, n, rows, out, at)
        harness.require(code == 0, "a shipped trace cannot be decided")
    return (time.process_time() - start) / AGAIN


def replay(rows: Recording) -> float:
    """Return the choices that C makes a second by other rules."""
    n, made = rows.choices.height, _native.choice_rows(rows.choices)
    return n / spent(OTHER, made, n, lib.sws_mglru_choices, "sws_mglru_chosen")


def verify(rows: Recording) -> float:
    """Return the rows of both tables that C compares a second."""
    sides = (
        (rows.choices, _native.choice_rows, lib.sws_mglru_choices, "sws_mglru_chosen"),
        (rows.steps.sort("call", "seq"), _native.step_rows, lib.sws_mglru_steps,
         "sws_mglru_stepped"),
    )  # fmt: skip
    total = sum(
        spent(rows.rules, make(frame), frame.height, run, result)
        for frame, make, run, result in sides
    )
    return (rows.choices.height + rows.steps.height) / total


def _state(row: Mapping[str, Any]) -> dict[str, Any]:
    def tiered(*names: str) -> list[list[int]]:
        return [
            [sum(row[f"{name}_{each}_{tier}"] for name in names) for tier in TIERS]
            for each in TYPES
        ]

    return {
        **{name: row[name] for name in ("max_seq", "swappiness", "io")},
        "min_seq": [row[f"min_seq_{each}"] for each in TYPES],
        "refaulted": tiered("avg_refaulted", "refaulted"),
        "evicted": tiered("avg_total", "evicted"),
        "protected": tiered("protected"),
    }


def _sizes(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "max_seq": row["max_seq"],
        "min_seq": [row[f"min_seq_{each}"] for each in TYPES],
        "pages": [[row[f"pages_{each}_{gen}"] for gen in GENERATIONS] for each in TYPES],
    }


def model(rows: Recording, rules: str, tables: Sequence[str]) -> float:
    """Return the rows of these tables that the plain Python model decides a second."""
    import oracle_mglru

    todo: list[Callable[[], object]] = []
    if "choices" in tables:
        states = [_state(row) for row in rows.choices.iter_rows(named=True)]
        todo += [partial(oracle_mglru.choice, rules, state) for state in states]
    if "steps" in tables:
        given = ("swappiness", "priority", "online")
        todo += [
            partial(oracle_mglru.aging, rules, _sizes(row), *(row[name] for name in given))
            for row in rows.steps.iter_rows(named=True)
        ]
    return harness.rate(len(todo), lambda: [decide() for decide in todo], time.process_time)


def run() -> Iterator[Any]:
    """Yield the benchmarks of NAMES."""
    rows = recording(TRACE)
    harness.require(mglru.verify(rows).agrees, "a shipped trace does not verify")
    unit = "million decisions/s (peer: the plain Python model, oracle_mglru.py)"
    sides = (
        (partial(replay, rows), partial(model, rows, OTHER, ["choices"])),
        (partial(verify, rows), partial(model, rows, rows.rules, ["choices", "steps"])),
    )
    for name, (ours, peer) in zip(NAMES, sides, strict=True):
        yield harness.compare(name, unit, ours, peer, 1e6)
