# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's runs under the rules of 2013 are read in the words of the mail, and step by step."""

from itertools import product

import polars as pl
import pytest

from swapsim import claims
from swapsim.claims.tables import DIRECTIONS, MEDIANS_BY_SIZE, RESULTS
from swapsim.errors import InputError
from swapsim.ffi import facts
from swapsim.patches import stall_decisions as patch

SCANNED = "Kswapd pages scanned"
OPS = "Ops memcachetest"


def scanned(rules: str, size: float) -> float:
    """Return more for mmotm and its first patch than for all others, and more for large files."""
    return (9000.0 if rules in ("mmotm", "series-1") else 1000.0) * size


def measured(rounds: int = 5) -> pl.DataFrame:
    """Return made-up runs of all rule sets; a round is a little above the one before."""
    frames = []
    for seed, rules in product(range(1, rounds + 1), facts.STALL_RULES):
        sizes = [float(size) for size in patch.SIZES.values()]
        rows = [(f"{SCANNED}-{size:g}", scanned(rules, size) + seed, "pages") for size in sizes]
        rows += [(f"{OPS}-{size:g}", 2000.0 - size + seed, "operations/s") for size in sizes]
        rows += [(SCANNED, sum(value for _, value, _ in rows[: len(sizes)]), "pages")]
        labels = {"patch": patch.PATCH, "source": "measured", "kernel": "6.1", "policy": rules}
        frames.append(claims.results(rows, {**labels, "n_tasks": 1, "seed": seed}))
    return pl.concat(frames)


MEASURED = measured()


def test_rows_are_called_as_the_mail_calls_them() -> None:
    """Its three kernels; what it prints by size, by its sizes, and all else over all sizes."""
    found = patch.as_mailed(MEASURED)
    assert found.schema == RESULTS.schema
    assert set(found["kernel"]) == set(patch.KERNELS)
    assert set(found["metric"]) == {
        f"disk: {SCANNED}",
        *(f"disk: {OPS}-{size}" for size in ("0M", "715M", "2385M", "4055M")),
    }


def test_each_row_is_one_of_the_mail() -> None:
    """No claim of the table is missed for its name."""
    known = claims.published_claims().filter(patch=patch.PATCH)["metric"]
    assert set(patch.as_mailed(MEASURED)["metric"]) <= set(known)


def test_claims_of_direction_are_judged() -> None:
    """The scans fall against mmotm, and memcached's rate stays."""
    found = patch.directions(MEASURED)
    assert found.schema == DIRECTIONS.schema
    verdicts = dict(found.select("claim", "verdict").iter_rows())
    assert verdicts["C-disk-kswapd-pages-scanned"] == "holds"
    assert verdicts["C-prose-disk-little-change-2385M"] == "holds"
    assert "C-nfs-kswapd-pages-scanned" not in verdicts


def test_medians_stand_in_the_order_of_the_rule_sets() -> None:
    """Twelve of them, four sizes each."""
    found = patch.along_rules(MEASURED, [SCANNED])
    assert found.schema == MEDIANS_BY_SIZE.schema
    assert found["policy"].unique(maintain_order=True).to_list() == list(facts.STALL_RULES)
    largest = found.filter(policy="mmotm", size="2.84").row(0, named=True)
    assert (largest["metric"], largest["median"]) == (SCANNED, 9000 * 2.84 + 3)


def test_steps_find_the_patch_that_does_the_work() -> None:
    """A patch a step, each against the one before it."""
    found = patch.steps(MEASURED, [SCANNED])
    assert found["policy"].to_list() == [f"series-{number}" for number in range(1, 9)]
    assert found["base_policy"][0] == "mmotm"
    assert found.filter(pl.col("seen") == "falls")["policy"].to_list() == ["series-2"]


def test_a_metric_that_nobody_measured_is_named() -> None:
    """It is not left out without a word."""
    with pytest.raises(InputError, match="Tides"):
        patch.steps(MEASURED, ["Tides"])


def test_the_verdict_tells_within_how_many_patches_the_work_is_done() -> None:
    """Of a figure that moves; one that does not has none."""
    writes = MEASURED.filter(metric=SCANNED).with_columns(
        metric=pl.lit("Page writes file"), value=pl.lit(7.0)
    )
    verdict = patch.verdict_in_runs(pl.concat([MEASURED, writes]))
    assert "by the rules of 2013, 5 rounds of each, supports" in verdict
    scans = "pages scanned by kswapd go from 45,102 to 5,022 (of the change, 100 % is made by"
    assert scans in verdict
    assert "file pages written by reclaim go neither way in all rounds" in verdict
    both = MEASURED.filter(metric=SCANNED).with_columns(metric=pl.lit("Page writes file"))
    verdict = patch.verdict_in_runs(pl.concat([MEASURED, both]))
    assert verdict.count("is made") == 1
    assert "from 45,102 to 5,022; of each change, 100 % is made by the first 2 of the" in verdict


def test_too_few_rounds_are_told() -> None:
    """What they say is no verdict yet."""
    rows = MEASURED.filter(pl.col("seed") <= 3)
    writes = rows.filter(metric=SCANNED).with_columns(metric=pl.lit("Page writes file"))
    assert "3 rounds of each (a verdict needs 5)" in patch.verdict_in_runs(
        pl.concat([rows, writes])
    )
