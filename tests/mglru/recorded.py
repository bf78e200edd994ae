# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of generations that a test makes: rows by the oracle, and a kernel's text."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from hypothesis import strategies as st
from oracle_mglru import State, choice, isolate, shrink

from swapsim.mglru import recording as tables

KINDS = tables.TYPES
HEAD = {"t_ns": 1000, "cpu": 0, "pid": 1, "lruvec": 0, "priority": 12}

counts = st.one_of(st.integers(0, 200), st.integers(0, 5000), st.integers(0, 2**31))
swappiness = st.one_of(st.integers(0, 201), st.sampled_from([0, 1, 60, 100, 199, 200, 201]))


def tiered(values: Any) -> Any:
    """Return a strategy of values by type and tier."""
    return st.lists(st.lists(values, min_size=4, max_size=4), min_size=2, max_size=2)


@st.composite
def states(draw: Any) -> dict[str, Any]:
    """Return a strategy of what a choice depends on, the averages apart."""
    newest = draw(st.integers(4, 900))
    return {
        "max_seq": newest,
        "min_seq": [newest - draw(st.integers(1, 3)) for _ in KINDS],
        "swappiness": draw(swappiness),
        "io": draw(st.booleans()),
        **{name: draw(tiered(counts)) for name in ("avg_refaulted", "avg_total", "protected")},
        **{name: draw(tiered(counts)) for name in ("refaulted", "evicted")},
    }


def summed(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a state with the averages in its counters, as the oracle takes it."""

    def plus(name: str, average: str) -> list[list[int]]:
        return [
            [a + b for a, b in zip(*pair, strict=True)]
            for pair in zip(state[name], state[average], strict=True)
        ]

    return {
        **state,
        "refaulted": plus("refaulted", "avg_refaulted"),
        "evicted": plus("evicted", "avg_total"),
    }


def limited(kernel: str, state: dict[str, Any]) -> dict[str, Any]:
    """Return a state that a kernel may have: 6.12 has no 201, and no first tier of protected."""
    if kernel == "6.12":
        protected = [[0, *tiers[1:]] for tiers in state["protected"]]
        return {**state, "swappiness": min(state["swappiness"], 200), "protected": protected}
    return state


def choice_row(
    kernel: str,
    state: Mapping[str, Any],
    scans: Sequence[tuple[int, int, int]],
    result: int,
    more: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a row of MGLRU_CHOICES."""
    none = [[0] * 4 for _ in KINDS]
    lists = [(*scan, True) for scan in scans] + [(0, None, None, False)] * (2 - len(scans))
    return {
        **HEAD,
        "rules": kernel,
        "swappiness": state["swappiness"],
        "io": state["io"],
        "batch": None,
        "max_seq": state["max_seq"],
        **{f"min_seq_{kind}": state["min_seq"][n] for n, kind in enumerate(KINDS)},
        **{
            f"{name}_{kind}_{tier}": state[name][n][tier]
            for name in tables.COUNTERS
            for n, kind in enumerate(KINDS)
            for tier in tables.TIERS
        },
        **{
            f"{name}_more_{kind}_{tier}": (more or {}).get(name, none)[n][tier]
            for name in tables.MORE
            for n, kind in enumerate(KINDS)
            for tier in tables.TIERS
        },
        **{
            f"{name}_{nth}": value
            for nth, (kind, pages, taken, seen) in enumerate(lists, 1)
            for name, value in (
                ("scan", KINDS[kind] if seen else None),
                ("pages", pages),
                ("taken", taken),
            )
        },
        "result": result,
    }


def chosen_row(
    kernel: str,
    state: Mapping[str, Any],
    lists: Sequence[tuple[int, int]],
    more: Mapping[str, Any] | None = None,
    then: Mapping[str, Any] | None = None,
    *,
    exhausted: bool = False,
) -> dict[str, Any]:
    """Return the row of a kernel that chooses in a state, or in a later one."""
    kind, _, _ = choice(kernel, summed(then or state))
    return choice_row(kernel, state, *isolate(kernel, state, kind, lists, exhausted), more)


def sizes_of(state: State, suffix: str = "") -> dict[str, int]:
    """Return the columns of an lruvec's sizes."""
    return {
        f"max_seq{suffix}": state["max_seq"],
        **{f"min_seq_{kind}{suffix}": state["min_seq"][n] for n, kind in enumerate(KINDS)},
        **{
            f"pages_{kind}_{gen}{suffix}": state["pages"][n][gen]
            for n, kind in enumerate(KINDS)
            for gen in tables.GENERATIONS
        },
    }


def call_rows(
    kernel: str, call: int, before: Sequence[State], given: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the rows of a call of the loop, in these states one after another."""
    turns = shrink(kernel, before, **given)
    head = {name: given[name] for name in ("swappiness", "priority", "root", "online")}
    return [
        {
            **HEAD,
            **head,
            **sizes_of(state),
            **sizes_of(state, "_acts"),
            **turn,
            "rules": kernel,
            "call": call,
            "shielded": False,
            "grew": turn["aged"],
            "freed": 40 if turn["stop"] else 0,
            "wanted": 32,
            "order": 0,
        }
        for turn, state in zip(turns, [*before, before[-1]], strict=False)
    ]


def table_of(rows: Sequence[Mapping[str, Any]], table: Any) -> pl.DataFrame:
    """Return rows as a table, numbered."""
    numbered = [{**row, "seq": seq} for seq, row in enumerate(rows)]
    return pl.DataFrame(numbered, schema=table)
