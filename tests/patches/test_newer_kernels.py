# SPDX-License-Identifier: GPL-2.0-or-later
"""Large folios on newer kernels: lines of the test, pairs of the builds, and the harder test."""

from dataclasses import replace
from statistics import median

import polars as pl
import pytest

from swapsim.claims.tables import FOLIO_REQUESTS
from swapsim.clusters import folios, requests
from swapsim.patches.newer_kernels import large_folios, studies


def test_each_line_of_a_real_kernel_is_simulated() -> None:
    """All options, both kernels and both copies of the program: both counts of each line."""
    compared = large_folios.compared_with_kernels()
    assert compared.height >= 600
    assert compared["equal"].all()
    assert compared["swpout_fallback"].sum() == 0


def test_the_lists_before_6_12_are_equal_but_for_one_line() -> None:
    """That line has one cluster of 32 folios less for large folios."""
    compared = large_folios.compared_lines().filter(rules="6.11")
    assert compared.height == 34
    (other,) = compared.filter(~pl.col("equal")).rows(named=True)
    assert (other["test"], other["iteration"]) == ("first -s", 5)
    assert other["simulated_swpout"] - other["swpout"] == 32


def test_the_other_line_is_that_of_a_process_that_changes_cpu_once() -> None:
    """If single pages once go out on a second CPU, they take the cluster that is missing."""
    stream = requests.allocator_test(first=True, small=True, swap_in_whole=False, iterations=6)
    (at,) = stream.steps.with_row_index().filter(step="out")["index"].to_list()[3:4]
    cpu = pl.when(pl.int_range(pl.len()) == at).then(1).otherwise(0).cast(pl.UInt16)
    moved = replace(stream, steps=stream.steps.with_columns(cpu=cpu))
    assert folios.lines_of(folios.run(moved, "6.11").out)[4] == (33, 197)


def runs_of(shares: dict[str, tuple[int, int]]) -> pl.DataFrame:
    """Return runs of each pair: rules -> (whole, split) of each order and seed."""
    rows = [
        (build, "7.3", seed, gigabytes, rules, 9, order, *shares[rules])
        for (build, gigabytes), names in studies.RULES_OF.items()
        for rules in names
        for order in range(2, 10)
        for seed in (1, 2)
    ]
    return pl.DataFrame(rows, schema=studies.BUILD_RUNS, orient="row")


def test_pairs_are_judged_by_direction_and_factor() -> None:
    """A share within the factor of three is of one size, a fall is a fall, two zeros stay."""
    some = dict.fromkeys(studies.KERNELS, (90, 10))
    found = large_folios.pairs(runs_of({**some, "6.18": (100, 0)}))
    first = found.row(0, named=True)
    assert (first["claim"], first["simulated_before"], first["simulated_after"]) == (
        "F-64k-8gb-fallback",
        10.0,
        0.0,
    )
    assert (first["direction"], first["size_before"], first["size_after"]) == (
        "as published",
        True,
        False,
    )
    directions = dict(found.select("claim", "direction").iter_rows())
    assert directions["F-return-64k-fallback"] == "not"
    rising = large_folios.pairs(runs_of({**some, "6.17": (100, 0)}))
    of_nonfull = rising.filter(pl.col("claim").is_in(["F-64k-8gb-fallback", "F-2m-fallback"]))
    assert of_nonfull["direction"].to_list() == ["not", "not"]
    assert large_folios.order_of_sizes(found) == (0, 5)
    assert large_folios._direction(0.0, 0.4) == "stays"
    assert large_folios._direction(1.0, 3.0) == "rises"


def test_chunks_of_a_process_do_not_overlap() -> None:
    """Each order has its area, each chunk its place, and a touch is one page of it."""
    rows = [
        (0, 0, "map", 2, 0, 0),
        (0, 0, "map", 0, 1, 0),
        (0, 0, "touch", 2, 0, 3),
        (0, 0, "out", 2, 0, 0),
        (0, 0, "unmap", 0, 1, 0),
    ]
    table = pl.DataFrame(rows, schema=FOLIO_REQUESTS.schema, orient="row")
    steps = requests.turnover(table).steps
    assert steps["n"].to_list() == [4, 16, 1, 4, 16]
    first, single, touched, *_ = steps["page"]
    assert first % 4 == 0
    assert touched == first + 3
    assert not set(range(first, first + 4)) & set(range(single, single + 16))


def test_a_real_kernel_answers_a_test_if_swapping_folios_in_whole_changes_nothing() -> None:
    """The released 6.12 does so and the series did not; the model runs each test with both."""
    lines = studies.kernel_test().filter(rules="6.12")
    split = lines.group_by("test", "whole").agg(pl.sum("swpout_fallback"))
    splits = {(test, whole): count for test, whole, count in split.iter_rows()}
    names = {"plain": "after", "-s": "s-after", "-a": "a-after", "-a -s": "as-after"}
    measured = large_folios.answers().filter(source="measured")
    same = [
        f"F-test-{name}"
        for test, name in names.items()
        if splits[test, True] == splits[test, False]
    ]
    assert measured["claim"].to_list() == same == ["F-test-a-after"]
    real = large_folios.compared_with_kernels().filter(test="-a", rules="6.12")
    assert measured["figure"].to_list() == [real["swpout_fallback"].sum()]


def test_hours_of_use_are_the_last_third_of_a_build_against_the_first() -> None:
    """By hand, recording by recording: folios split of those that were to be swapped out."""
    shares: dict[tuple[str, int, bool], list[int]] = {}
    runs = studies.recorded_builds().filter(build="64K", gigabytes=8, rules="6.11", order=4)
    for row in runs.iter_rows(named=True):
        if row["stage"] <= 4 or row["stage"] > 8:
            sums = shares.setdefault((row["recorded"], row["seed"], row["stage"] > 8), [0, 0])
            sums[0] += row["fallbacks"]
            sums[1] += row["fallbacks"] + row["swapped_out"]
    first, last = (
        [100 * split / asked for (*_, late), (split, asked) in shares.items() if late == which]
        for which in (False, True)
    )
    (answer,) = large_folios.answers().filter(claim="F-hours").to_dicts()
    assert answer["rounds"] == len(first) == len(last)
    assert [answer["base"], answer["value"]] == pytest.approx([median(first), median(last)])
