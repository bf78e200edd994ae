# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of a valid schema that no kernel wrote, for every replay and verify."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import attack
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapsim import traces


@pytest.mark.parametrize("verb", sorted({*attack.VERBS} - {"info"}))
def test_rows(verb: str, tmp_path: Path, seeds: Iterator[int]) -> None:
    """Values at the edges of their types, nulls, rows that change places: a table or one line."""
    replay, command = attack.VERBS[verb]
    good = attack.small_trace(replay, tmp_path / "good")
    tables = {path.name: pl.read_parquet(path) for path in sorted(good.glob("*.parquet"))}
    some = sorted(name for name, table in tables.items() if table.height)
    bad = tmp_path / "bad"
    shutil.copytree(good, bad)
    place = st.floats(0, 1, exclude_max=True)
    change = st.tuples(place, st.integers(0, 99), st.integers(0, 99))

    @given(st.lists(st.tuples(st.sampled_from(some), change), min_size=1, max_size=5))
    def alter(changes: list[tuple[str, tuple[float, int, int]]]) -> None:
        now = dict(tables)
        for name, change in changes:
            now[name] = attack.altered(now[name], [change])
        for name, table in now.items():
            table.write_parquet(bad / name)
        traces.sign(bad)
        attack.answer(*command(bad))

    attack.for_a_while(alter, seeds)
