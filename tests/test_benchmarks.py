# SPDX-License-Identifier: GPL-2.0-or-later
"""Each benchmark runs, with its smallest sizes: a function of another name would only stop it."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from swapsim.patches.writeback_tags import TAG_SHARE
from swapsim.reclaim import ReclaimConfig
from swapsim.site import bench

HERE = Path(__file__).parent / "bench"


def small_reclaim(seed: int) -> ReclaimConfig:
    """Return a small machine with one round of a short file."""
    sizes = {"dma32_pages": 300, "normal_pages": 400, "min_free_pages": 24, "reserve_ratio": 64}
    disk = {"swap_pages": 600, "disk_pages": 5000, "items": 110, "serve_ns": 10**8}
    return ReclaimConfig(**sizes, **disk, files=(1000,), seed=seed)


SMALL: dict[str, dict[str, Any]] = {
    "clusters": {"AGAIN": 1},
    "des": {"OURS": 2000, "THEIRS": 100},
    "mglru": {"AGAIN": 1, "TRACE": "generations-6.12-mixed-1"},
    "import_text": {"PAGES": 16},
    "panels": {"PANELS": ("stalls",)},
    "reclaim": {"MACHINE": small_reclaim},
    "removal": {"PAGES": 2**14, "MODEL_PAGES": 64},
    "replay": {"COPIES": 1, "MODEL_ROWS": 100},
    "rtree": {"ENTRIES": 64, "ROUNDS": 1, "SOURCE_PACKAGE": HERE / "missing"},
    "slots": {
        "SEQUENTIAL_SLOTS": 2**14, "MODEL_SLOTS": 2**11, "SCANNED_SLOTS": 2**14, "SCANS": 1,
    },
    "stall": {"PAGES": 2**10, "MODEL_PAGES": 64},
    "stall_verify": {"FOLIOS": 2**10},
    "tag_share": {"PAGES": 100, "ROUNDS": 0},
}  # fmt: skip
"""File -> sizes of one run in place of its own."""


@pytest.mark.parametrize("name", [path.stem for path in sorted(HERE.glob("[!h]*.py"))])
def test_a_benchmark_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of its names has a row with a figure; a peer that is not here has a reason."""
    module = bench.load(HERE / f"{name}.py")
    monkeypatch.setattr(module.harness, "RUNS", 1)
    for constant, value in SMALL[name].items():
        monkeypatch.setattr(module, constant, value)
    if name == "tag_share":
        # A hold for tags that is one share of the others: one prediction for both questions.
        monkeypatch.setattr(module, "gain", cache(module.gain))
        holds = {"start": TAG_SHARE, "end": TAG_SHARE, "add": 1.0, "remove": 1.0}
        monkeypatch.setattr(module, "holds", lambda _: holds)
    rows = list(module.run())
    if name == "panels" and not rows:
        pytest.skip("Chromium is not installed")
    names = {row["name"] for row in rows}
    left_out = {each for each in module.NAMES if each.startswith(("live/",))}
    assert names <= {*module.NAMES}
    assert {*module.NAMES} - left_out <= names
    assert all(row["ours"] is not None and row["unit"] for row in rows)
    assert all(row["peer"] is not None or row["reason"] for row in rows)
