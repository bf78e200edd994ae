# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's runs under the rules of 2013, in the mail's rows and step by step, and simulated."""

import re
from itertools import product

import polars as pl
import pytest

from swapsim import claims, ffi
from swapsim.errors import InputError
from swapsim.patches import stall_decisions as patch
from swapsim.patches.stall_decisions import lab, lab_guest, notebook_03
from swapsim.patches.stall_decisions.lab import as_mailed
from swapsim.patches.stall_decisions.mail import KERNELS, SIZES
from swapsim.site import overview, standing
from swapsim.stall.tables import VERIFIED_STALLS

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
        frames.append(claims.results(rows, {**labels, "n_tasks": 1, "seed": seed}))
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
    known = claims.published_claims().filter(patch=patch.PATCH)["metric"]
    assert set(found["metric"]) <= set(known)


def both_targets(runs: pl.DataFrame) -> pl.DataFrame:
    """Judge the patch's claims by the same runs on the disk and over NFS (THREE_COLUMNS)."""
    stated = claims.published_claims().filter(patch=patch.PATCH)
    mailed = pl.concat(as_mailed(runs, target) for target in lab.EXPERIMENTS)
    return claims.three_columns(stated, claims.answers(stated, mailed), claims.tolerances())


def test_both_targets_stand_next_to_each_other() -> None:
    """A row has its direction in the mail and in the lab, and one that stays everywhere none."""
    judged = both_targets(MEASURED)
    directions = notebook_03.by_target(judged)
    assert directions.filter(row=SCANNED).select("column", "direction").rows() == [
        ("mail, disk", "falls"),
        ("lab, disk", "falls"),
        ("mail, NFS", "rises"),
        ("lab, NFS", "falls"),
    ]
    assert "memcachetest-0M" not in directions["row"]
    few = notebook_03.by_target(both_targets(measured(4)))
    assert set(few.filter(pl.col("column").str.starts_with("lab"))["direction"]) == {"open"}
    rows = few["row"].n_unique()
    none = f"the mail's way in 0 of {rows} rows, another way in 0; {rows} are open."
    assert notebook_03.describe_by_target(few).count(none) == 2
    drawn = notebook_03.draw_by_target(directions).to_dict()
    cells = [row for rows in drawn["datasets"].values() for row in rows]
    assert {row["column"] for row in cells} == {*directions["column"]}


def test_claims_of_direction_are_judged() -> None:
    """The scans fall against mmotm, and memcached's rate stays."""
    found = patch.directions(MEASURED)
    verdicts = dict(found.select("claim", "verdict").iter_rows())
    assert verdicts["C-disk-kswapd-pages-scanned"] == "confirmed"
    assert verdicts["C-prose-disk-little-change-2385M"] == "confirmed"
    assert "C-nfs-kswapd-pages-scanned" not in verdicts


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


def test_the_lead_has_the_changes_and_another_line_how_many_patches_make_them() -> None:
    """Both are of figures that move; a verdict needs five rounds."""
    verified = pl.DataFrame(schema=VERIFIED_STALLS.schema)
    scans = MEASURED.filter(metric=SCANNED)
    writes = scans.with_columns(metric=pl.lit("Page writes file"), value=pl.lit(7.0))
    judged = overview.judged([patch])
    lead = notebook_03.verdict(verified, pl.concat([MEASURED, writes]), judged)
    assert "pages scanned by kswapd fall by 88.9 %" in lead
    assert "file pages written by reclaim go neither way in all rounds" in lead
    made = notebook_03.works(pl.concat([MEASURED, writes]))
    assert "of pages scanned by kswapd 100 % is made by the first two of the eight" in made
    total = standing.totals(claims.verdicts_by_mail(judged), "measured")
    asked = total["claims"] - total["no_answer"]
    counts = f"{total['confirmed']} of {asked} claims ({total['contradicted']} contradicted, "
    assert f"The lab confirms {counts}" in lead
    by_target = notebook_03.describe_by_target(notebook_03.by_target(judged))
    (disk, rows), (nfs, _) = re.findall(r"the mail's way in (\d+) of (\d+) rows", by_target)
    assert f"{disk} of {rows} go the mail's way on the disk (" in lead
    assert f" open; NFS: {nfs})" in lead
    both = scans.with_columns(metric=pl.lit("Page writes file"))
    made = notebook_03.works(pl.concat([MEASURED, both]))
    assert made == (
        "Of the changes in pages scanned by kswapd and in file pages written by reclaim "
        "100 % is made by the first two of the eight patches."
    )


def results(kernel: str, values: dict[str, float], unit: str = "pages") -> pl.DataFrame:
    """Return three rounds of one row by each rule set, a little apart."""
    frames = []
    for rules in ffi.STALL_RULES:
        labels = {"patch": patch.PATCH, "kernel": kernel, "policy": rules, "n_tasks": 1}
        frames += [
            claims.results([(SCANNED, values[rules] + seed, unit)], {**labels, "seed": seed})
            for seed in range(3)
        ]
    return pl.concat(frames)


MEDIANS_OF_LAB = results(
    "6.1", {rules: 1000.0 * place for place, rules in enumerate(ffi.STALL_RULES)}
)


def simulation(**others: float) -> pl.DataFrame:
    """Return figures as the lab's except for some rule sets, and twice those in a variant."""
    values = {rules: 1000.0 * place for place, rules in enumerate(ffi.STALL_RULES)} | others
    doubled = {rules: 2 * value for rules, value in values.items()}
    return pl.concat([results(lab_guest.AS_SET, values), results("a fast CPU", doubled)])


def test_a_figure_is_near_within_its_factor() -> None:
    """The larger figure is divided by the smaller; a figure below a list of pages counts as one."""
    table = lab_guest.compare_with_lab(
        simulation(mmotm=1501.0, **{"series-8": 50.0}), MEDIANS_OF_LAB
    )
    rows = {row["policy"]: row for row in table.iter_rows(named=True)}
    assert rows["3.9"]["near"]
    assert rows["3.9"]["factor"] == 1
    assert rows["series-1"]["factor"] == 1
    assert rows["series-1"]["open_high"] == 4001
    assert rows["mmotm"]["factor"] == pytest.approx(1502 / 1001)
    assert not rows["mmotm"]["near"]
    assert rows["series-8"]["factor"] == pytest.approx(9001 / 51)
    assert table["policy"].to_list() == list(ffi.STALL_RULES)


def test_the_order_is_that_of_pairs_which_the_lab_distinguishes() -> None:
    """One rule set that changes places with its neighbour costs one pair."""
    order = lab_guest.compare_orders(simulation(), MEDIANS_OF_LAB)
    assert order.row(0, named=True) == {
        "metric": SCANNED,
        "pairs": 66,
        "in_order": 66,
        "open_low": 66,
        "open_high": 66,
        "verdict": "reproduced",
    }
    swapped = lab_guest.compare_orders(simulation(mmotm=2500.0), MEDIANS_OF_LAB).row(0, named=True)
    assert (swapped["in_order"], swapped["verdict"]) == (65, "missed")
    places = {rules: -1000.0 * place for place, rules in enumerate(ffi.STALL_RULES)}
    reverse = lab_guest.compare_orders(simulation(), results("6.1", places))
    assert reverse.select("pairs", "in_order").row(0) == (66, 0)
    close = results("6.1", {rules: 5 + place / 10 for place, rules in enumerate(ffi.STALL_RULES)})
    assert lab_guest.compare_orders(simulation(), close).is_empty()


def test_what_was_seen_is_counted_apart_and_what_it_predicts_without_a_simulation() -> None:
    """The lab's series-2 stands for the sets not seen: it has no order of two of them."""
    counts = lab_guest.compare_by_standing(simulation(mmotm=1501.0), MEDIANS_OF_LAB)
    assert counts.rows() == [
        ("figures", "3.9, series-2, 6.1: seen", 3, 3, 3),
        ("figures", "mmotm, series-1", 2, 1, 1),
        ("figures", "series-3 to 3.11", 7, 7, 1),
        ("not trivial", "3.9, series-2, 6.1: seen", 3, 3, 3),
        ("not trivial", "mmotm, series-1", 2, 1, 1),
        ("not trivial", "series-3 to 3.11", 7, 7, 1),
        ("pairs", "one or both seen", 30, 30, 21),
        ("pairs", "neither seen", 36, 36, 0),
    ]
