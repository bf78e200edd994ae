# SPDX-License-Identifier: GPL-2.0-or-later
"""What is stored in data/simulated does not depend on how many processes made it."""

import io
import os

import polars as pl
import pytest

from swapsim import study
from swapsim.patches.batched_removal.questions import holds


def as_stored(rows: pl.DataFrame) -> bytes:
    """Return the bytes of a file of these rows."""
    file = io.BytesIO()
    rows.write_parquet(file)
    return file.getvalue()


def test_one_worker_and_two_make_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of batched-removal-holds-by-list, of more runs than go to a worker at a time."""
    points = [(share, pages) for share in (0.5, 1.0) for pages in (1, 32)]
    here = study.table(holds, points, executor=study.SerialExecutor(), batch_points=2)
    assert here.height == len(points)
    for workers in (1, 2):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, most=workers: set(range(most)))
        assert as_stored(study.table(holds, points, batch_points=2)) == as_stored(here)
