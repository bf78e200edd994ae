# SPDX-License-Identifier: GPL-2.0-or-later
"""The counters of large folios of two kernels."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from swapsim import claims
from swapsim.claims.mthp import fallback_shares
from swapsim.cli import main

Counts = Mapping[int, tuple[int, int]]
"""Size in kB -> swpout, swpout_fallback."""


def grep(counts: Counts) -> str:
    """Return what ``grep .`` prints of the counters, and of another one."""
    lines = []
    for size, pair in counts.items():
        at = f"/sys/kernel/mm/transparent_hugepage/hugepages-{size}kB/stats"
        names = ("swpout", "swpout_fallback", "swpin")
        lines += [f"{at}/{name}:{value}\n" for name, value in zip(names, (*pair, 7), strict=True)]
    return "".join(lines)


def copy(counts: Counts, at: Path) -> None:
    """Copy the counters' files to a folder."""
    for size, pair in counts.items():
        folder = at / f"hugepages-{size}kB" / "stats"
        folder.mkdir(parents=True)
        for name, value in zip(("swpout", "swpout_fallback"), pair, strict=True):
            (folder / name).write_text(f"{value}\n")


def write(text: str, at: Path) -> None:
    """Write a text file and its folders."""
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_text(text)


BASE = {64: (50, 50), 2048: (1, 9)}
PATCHED = {64: (90, 10), 2048: (8, 2)}


def both(folder: Path) -> Path:
    """Write three rounds of two kernels, in the three forms that exist."""
    for kernel, counts in (("base", BASE), ("patched", PATCHED)):
        write(grep(counts), folder / kernel / "1.txt")
        copy(counts, folder / kernel / "2")
        start = dict.fromkeys(counts, (100, 5))
        end = {size: (100 + whole, 5 + split) for size, (whole, split) in counts.items()}
        write(grep(start), folder / kernel / "3" / "before.txt")
        write(grep(end), folder / kernel / "3" / "after.txt")
    return folder


def test_each_form_gives_the_same_counts(tmp_path: Path) -> None:
    """A text, a copy, and a pair of texts from which the counts before are subtracted."""
    runs = claims.your_runs(both(tmp_path))
    assert runs["run"].unique().to_list() == [1, 2, 3]
    values = runs.select("kernel", "metric", "value").unique().sort("kernel", "metric")
    assert values.filter(kernel="base").rows() == [
        ("base", "2M/swpout", 1.0),
        ("base", "2M/swpout_fallback", 9.0),
        ("base", "64kB/swpout", 50.0),
        ("base", "64kB/swpout_fallback", 50.0),
    ]


def test_the_shares_stand_next_to_the_published_ones(tmp_path: Path) -> None:
    """Medians and intervals of the rounds, and a row for each published pair of the size."""
    runs = claims.your_runs(both(tmp_path))
    found = fallback_shares(runs, claims.published_claims(), base="base", patched="patched")
    row = found.filter(size="64kB", table="F-nonfull-first: 64K folios, 8 GB zram").row(
        0, named=True
    )
    assert row["published_base"] == pytest.approx(100 * 139503 / (139503 + 1659757))
    assert row["published_patched"] == pytest.approx(100 * 56147 / (56147 + 1689470))
    assert (row["base"], row["base_low"], row["base_high"]) == (50.0, 50.0, 50.0)
    assert (row["patched"], row["seen"], row["patched_rounds"]) == (10.0, "falls", 3)
    assert found.filter(size="2M")["base"].to_list() == [90.0] * found.filter(size="2M").height


def test_a_size_without_a_claim_has_shares_too(tmp_path: Path) -> None:
    """Its row has no published pair; a round that swapped none out has no share."""
    for kernel in ("base", "patched"):
        write(grep({1024: (0, 0)}), tmp_path / kernel / "1.txt")
        write(grep({1024: (3, 1)}), tmp_path / kernel / "2.txt")
    runs = claims.your_runs(tmp_path)
    found = fallback_shares(runs, claims.published_claims(), base="base", patched="patched")
    assert found.select("size", "table", "base", "base_rounds", "seen").rows() == [
        ("1M", None, 25.0, 1, "either")
    ]


def test_the_command_prints_the_shares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As a table of their own, after the claims that the counters fit."""
    assert main(["compare", str(both(tmp_path)), "--without-simulated"]) == 0
    printed = capsys.readouterr().out
    assert "large folios that were split when they were swapped out, percent" in printed
    assert "F-64k-8gb-fallback" in printed
