# SPDX-License-Identifier: GPL-2.0-or-later
"""Claims of direction are judged round against the same round, by a rule that was stored first."""

from collections.abc import Callable, Sequence

import polars as pl
import pytest

from swapsim import claims
from swapsim.claims.judging import claimed_direction
from swapsim.claims.tables import CLAIMS, DIRECTIONS, RESULTS
from swapsim.errors import InputError

PATCH = "03-stall-decisions"
STATED = claims.published_claims()


def rounds(policy: str, values: Sequence[float], *, metric: str = "disk: m") -> pl.DataFrame:
    """Return a kernel's rounds, one a value; the kernel is called as the policy."""
    return pl.concat(
        claims.results(
            [(metric, value, "pages")],
            {
                "patch": PATCH, "source": "measured", "kernel": policy, "policy": policy,
                "n_tasks": 1, "seed": seed,
            },
        )
        for seed, value in enumerate(values, start=1)
    )  # fmt: skip


def claim(metric: str, *, where: str = "prose: x", row: str = "disk: m") -> pl.DataFrame:
    """Return a claim without a figure, of b against a."""
    fields = ("C-x", PATCH, "mail", f"{where} | {row} | a -> b", metric, None, None, None, None, "")
    return pl.DataFrame([fields], schema=CLAIMS.schema, orient="row")


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        ("C-disk-kswapd-pages-scanned", "falls"),
        ("C-disk-direct-pages-scanned", "rises"),
        ("C-disk-memcachetest-4055m", "stays"),
        ("C-disk-swap-ins", "stays"),
        ("C-prose-disk-zone-balance", "falls"),
        ("C-prose-nfs-swaptotal-worse-2385M", "rises"),
        ("C-prose-disk-little-change-0M", "stays"),
        ("C-prose-disk-write-latency", "falls"),
        ("C-prose-disk-zone-ratio-vanilla", None),
        ("C-prose-patch-1-no-free-under-writeback", None),
    ],
)
def test_the_direction_of_a_claim_is_that_of_its_figure_or_words(
    name: str, direction: str | None
) -> None:
    """A change of a tenth or less means stays; a claim on behaviour has no direction."""
    assert claimed_direction(STATED.filter(claim=name).row(0, named=True)) == direction


def test_a_figure_above_a_base_of_zero_rises() -> None:
    """A change from zero has no percentage."""
    fields = {"metric": "m", "base": 0.0, "value": 3.0, "change": None}
    assert claimed_direction(fields) == "rises"


WIDE = [100.0, 900.0, 500.0, 300.0, 700.0]
BOTH = [80.0, 120.0, 70.0, 130.0, 100.0]


@pytest.mark.parametrize(
    ("base", "value", "words"),
    [
        # Rounds are paired: a small change in each counts, however much the rounds differ.
        (WIDE, [each - 1 for each in WIDE], "falls: agrees, rises: contradicts, stays: agrees"),
        ([100.0] * 5, BOTH, "falls: open, rises: open, stays: open"),
        # A result contradicts what stays beyond a tenth of the base only.
        ([100.0] * 5, [110.0] * 5, "stays: agrees"),
        ([100.0] * 5, [111.0] * 5, "stays: contradicts"),
        ([100.0] * 5, [89.0] * 5, "stays: contradicts"),
        ([100.0] * 5, [105.0, 106.0, 112.0, 113.0, 114.0], "stays: open"),
    ],
)
def test_a_claim_is_judged_by_pairs_of_rounds(
    base: list[float], value: list[float], words: str
) -> None:
    """By the interval of their differences."""
    measured = pl.concat([rounds("a", base), rounds("b", value)])
    for word, verdict in (each.split(": ") for each in words.split(", ")):
        found = claims.directions(claim(f"m: {word}"), measured)
        assert found.schema == DIRECTIONS.schema
        assert found["verdict"].item() == verdict


def test_too_few_rounds_leave_a_claim_open_and_still_report_their_direction() -> None:
    """Four rounds of one sign may be an accident."""
    four = pl.concat([rounds("a", [9.0] * 4), rounds("b", [1.0] * 4)])
    found = claims.directions(claim("m: falls"), four).row(0, named=True)
    assert (found["seen"], found["verdict"], found["rounds"]) == ("falls", "open", 4)


def test_rows_that_were_not_measured_are_left_out() -> None:
    """So are claims without a direction, and rounds of one kernel only."""
    only = rounds("a", [1.0] * 5)
    assert claims.directions(claim("m: falls"), only).is_empty()
    uneven = pl.concat([rounds("a", [1.0] * 5), rounds("b", [2.0] * 7)])
    assert claims.directions(claim("a page is unlocked"), uneven).is_empty()
    assert claims.directions(claim("m: rises"), uneven)["rounds"].to_list() == [5]


def test_a_row_against_another_row_is_one_kernels() -> None:
    """Vanilla at one size against vanilla at another."""
    row = "disk: big against disk: small"
    stated = claim("m: falls", row=row).with_columns(locator=pl.lit(f"prose: x | {row} | a -> a"))
    measured = pl.concat(
        [rounds("a", [9.0] * 5, metric="disk: small"), rounds("a", [2.0] * 5, metric="disk: big")]
    )
    found = claims.directions(stated, measured).row(0, named=True)
    assert (found["base"], found["value"], found["verdict"]) == (9.0, 2.0, "agrees")


def test_a_tables_claim_is_found_by_its_metric() -> None:
    """Where the name of a table's row differs from the metric, the metric counts."""
    stated = claim("disk: m", where="vmstat, disk", row="M").with_columns(change=pl.lit(-50.0))
    measured = pl.concat([rounds("a", [9.0] * 5), rounds("b", [2.0] * 5)])
    assert claims.directions(stated, measured)["published"].to_list() == [-50.0]


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (lambda: claims.directions(STATED, pl.concat([rounds("a", [1.0])] * 2)), "one set-up"),
        (lambda: claims.directions(pl.DataFrame(), pl.DataFrame(schema=RESULTS.schema)), "CLAIMS"),
        (lambda: claims.directions(STATED, pl.DataFrame()), "RESULTS"),
        (lambda: claims.steps(rounds("a", [1.0]), ["a"], ["disk: n"]), "disk: n"),
    ],
)
def test_what_cannot_be_paired_is_refused(call: Callable[[], object], remedy: str) -> None:
    """Two set-ups in one table, an unknown metric, and another schema."""
    with pytest.raises(InputError, match=remedy):
        call()


def test_steps_go_from_each_policy_to_the_next() -> None:
    """By metric, and only where both have rounds."""
    measured = pl.concat(
        [rounds("a", [5.0] * 5), rounds("b", [3.0] * 5), rounds("c", [1.0, 9.0, 2.0, 8.0, 3.0])]
    )
    found = claims.steps(measured, ["a", "b", "c", "d"], ["disk: m"])
    assert found.select("base_policy", "policy", "base", "value", "seen").rows() == [
        ("a", "b", 5.0, 3.0, "falls"),
        ("b", "c", 3.0, 3.0, "either"),
    ]
