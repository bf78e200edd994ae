# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's runs under the rules of 2013, in the mail's rows and step by step."""

from itertools import product

import polars as pl
import pytest

from swapsim import ffi, published
from swapsim.errors import InputError
from swapsim.patches import stall_decisions as patch
from swapsim.patches.stall_decisions.lab import as_mailed
from swapsim.patches.stall_decisions.mail import KERNELS, SIZES
from swapsim.published import data

SCANNED = "Kswapd pages scanned"
OPS = "Ops memcachetest"


def scanned(rules: str, size: float) -> float:
    """Return more for mmotm and its first patch than for all others, and more for large files."""
    return (9000.0 if rules in ("mmotm", "series-1") else 1000.0) * size


def measured(rounds: int = 5) -> pl.DataFrame:
    """Return made-up runs of all rule sets; a round is a little above the one before."""
    frames = []
    for seed, rules in product(range(1, rounds + 1), ffi.STALL_RULES):
        sizes = [float(size) for size in SIZES.values()]
        rows = [(f"{SCANNED}-{size:g}", scanned(rules, size) + seed, "pages") for size in sizes]
        rows += [(f"{OPS}-{size:g}", 2000.0 - size + seed, "operations/s") for size in sizes]
        rows += [(SCANNED, sum(value for _, value, _ in rows[: len(sizes)]), "pages")]
        labels = {"patch": patch.PATCH, "source": "measured", "kernel": "6.1", "policy": rules}
        frames.append(data.results(rows, {**labels, "n_tasks": 1, "seed": seed}))
    return pl.concat(frames)


MEASURED = measured()


def test_rows_have_the_names_of_the_mail() -> None:
    """Rows by size have the mail's sizes, all others are over all sizes; each is a claim's."""
    found = as_mailed(MEASURED)
    assert set(found["kernel"]) == set(KERNELS)
    assert set(found["metric"]) == {
        f"disk: {SCANNED}",
        *(f"disk: {OPS}-{size}" for size in ("0M", "715M", "2385M", "4055M")),
    }
    known = set().union(
        *(published.table("C", f"{name}, disk")["metric"] for name in ("parallelio", "vmstat"))
    )
    assert set(found["metric"].str.strip_prefix("disk: ")) <= known


def test_steps_find_the_patch_that_does_the_work() -> None:
    """Each patch is compared with the state before it; an unknown metric is named."""
    found = patch.steps(MEASURED, [SCANNED])
    assert found["policy"].to_list() == [f"series-{number}" for number in range(1, 9)]
    assert found["base_policy"][0] == "mmotm"
    assert found.filter(pl.col("seen") == "falls")["policy"].to_list() == ["series-2"]
    assert found.filter(policy="series-2")["text"].to_list() == ["-89 %"]
    assert found.filter(policy="series-3")["text"].to_list() == ["0 %"]
    with pytest.raises(InputError, match="Tides"):
        patch.steps(MEASURED, ["Tides"])
