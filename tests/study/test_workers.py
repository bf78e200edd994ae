# SPDX-License-Identifier: GPL-2.0-or-later
"""What is kept in data/simulated does not depend on how many processes made it."""

import io
import os

import polars as pl
import pytest

from swapsim.patches import batched_removal
from swapsim.study import SerialExecutor


def as_kept(rows: pl.DataFrame) -> bytes:
    """Return the bytes of a file of these rows."""
    file = io.BytesIO()
    rows.write_parquet(file)
    return file.getvalue()


def test_one_worker_and_two_make_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of batched-removal-holds-by-list, of more runs than go to a worker at a time."""
    lists, shares = [1, 32], [0.5, 1.0]
    here = batched_removal.holds_by_list(lists, shares, executor=SerialExecutor())
    assert here.height == len(lists) * len(shares)
    for workers in (1, 2):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, most=workers: set(range(most)))
        assert as_kept(batched_removal.holds_by_list(lists, shares)) == as_kept(here)
