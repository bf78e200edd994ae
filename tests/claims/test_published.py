# SPDX-License-Identifier: GPL-2.0-or-later
"""The published tables hold to their own arithmetic, and to the mails where those are at hand."""

import math
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from swapsim.claims import (
    lkp_change,
    mails,
    mmtests_change,
    published_claims,
    published_tables,
    simulation_tolerances,
    tolerances,
)
from swapsim.errors import InputError
from swapsim.io.paths import data_root

TABLES = published_tables()
CLAIMS = published_claims()
SEEDS = Path(__file__).resolve().parents[3] / "shared" / "seeds"

Interval = tuple[float, float]
Rule = Callable[[pl.DataFrame], list[str]]
A, B, C, D = (
    "01-writeback-tags",
    "02-batched-removal",
    "03-stall-decisions",
    "04-percpu-cluster-next",
)
VANILLA, MMOTM, SERIES = "vanilla", "mm1-mmotm-20130522", "mm1-lessdisrupt-v7r10"
NOT_AT_HAND = mails().filter(hand="second")["mail"].to_list()


def interval(value: float, decimals: int) -> Interval:
    """Return the values that print as this one."""
    half = 0.5 * 10.0**-decimals
    return value - half, value + half


def meet(one: Interval, other: Interval) -> bool:
    """Tell whether two intervals share a value; the last bits of a float are forgiven."""
    return max(one[0], other[0]) <= min(one[1], other[1]) + 1e-9


def spread(function: Callable[..., float], *cells: Interval) -> Interval:
    """Return the range of a function that is monotonic in each cell."""
    corners: list[list[float]] = [[]]
    for cell in cells:
        corners = [[*corner, end] for corner in corners for end in cell]
    values = [function(*corner) for corner in corners]
    return min(values), max(values)


def rows(tables: pl.DataFrame) -> Iterator[list[dict[str, object]]]:
    """Yield the cells of each printed row, in the order of the columns."""
    key = ["patch", "table", "metric", "parameters"]
    for _, row in tables.group_by(key, maintain_order=True):
        yield row.to_dicts()


def column(tables: pl.DataFrame, table: str, kernel: str) -> dict[str, float]:
    """Return one column of a table: its values by metric."""
    cells = tables.filter(table=table, kernel=kernel)
    return dict(zip(cells["metric"], cells["value"], strict=True))


def mmtests_percentages(tables: pl.DataFrame) -> list[str]:
    """Each percentage behind a value is that of its cells, positive where it is better."""
    problems = []
    for row in rows(tables.filter(~pl.col("table").is_in(["lkp comparison", "prose"]))):
        base = row[0]
        for cell in row:
            if cell["change_percent"] is None:
                continue
            printed = interval(cell["change_percent"], 2)
            if 0 in (base["value"], cell["value"]) or cell is base:
                change = mmtests_change(base["value"], cell["value"], cell["better"])
                computed = (change, change)
            else:
                computed = spread(
                    lambda b, v, better=cell["better"]: mmtests_change(b, v, better),
                    interval(base["value"], base["decimals"]),
                    interval(cell["value"], cell["decimals"]),
                )
            if not meet(printed, computed):
                problems.append(f"{cell['locator']}: {cell['change_percent_printed']}, {computed}")
    return problems


def plain_percentages(tables: pl.DataFrame) -> list[str]:
    """Each percentage of lkp's table and of prose is the plain change of its cells."""
    problems = []
    for base, other in rows(tables.filter(pl.col("table").is_in(["lkp comparison", "prose"]))):
        computed = spread(
            lkp_change,
            interval(base["value"], base["decimals"]),
            interval(other["value"], other["decimals"]),
        )
        if not meet(interval(other["change_percent"], 1), computed):
            problems.append(f"{other['locator']}: {other['change_percent_printed']}, {computed}")
        if base["change_percent"] is not None:
            problems.append(f"{base['locator']}: the base has no change")
    return problems


def zero_means(tables: pl.DataFrame) -> list[str]:
    """A relative deviation of -1 stands where the mean is zero, and nowhere else."""
    cells = tables.filter(pl.col("stddev_percent").is_not_null())
    wrong = cells.filter((pl.col("value") == 0) != (pl.col("stddev_percent") == -1))
    return wrong["locator"].to_list()


def truncated_quotients(tables: pl.DataFrame) -> list[str]:
    """Reclaim's efficiencies and shares are cut to whole percent, 100 where nothing was scanned."""
    problems = []
    for target in ("disk", "nfs"):
        for kernel in (VANILLA, MMOTM, SERIES):
            cell = column(tables, f"vmstat, {target}", kernel)
            for who in ("Kswapd", "Direct"):
                scanned, kept = cell[f"{who} pages scanned"], cell[f"{who} pages reclaimed"]
                wanted = 100 * kept // scanned if scanned else 100
                if cell[f"{who} efficiency"] != wanted:
                    problems.append(f"{target}, {kernel}: {who} efficiency is not {wanted}")
            direct = cell["Direct pages scanned"]
            share = 100 * direct // (direct + cell["Kswapd pages scanned"])
            if cell["Percentage direct scans"] != share:
                problems.append(f"{target}, {kernel}: direct scans are not {share} %")
    return problems


def one_elapsed_time(tables: pl.DataFrame) -> list[str]:
    """Pages scanned over velocity is one elapsed time within a column."""
    problems = []
    for target in ("disk", "nfs"):
        for kernel in (VANILLA, MMOTM, SERIES):
            cell = column(tables, f"vmstat, {target}", kernel)
            times = [
                spread(
                    lambda scanned, velocity: scanned / velocity,
                    (cell[f"{who} pages scanned"],) * 2,
                    interval(cell[f"{who} velocity"], 3),
                )
                for who in ("Kswapd", "Direct")
                if cell[f"{who} velocity"]
            ]
            if not meet(times[0], times[-1]):
                problems.append(f"{target}, {kernel}: {times}")
    return problems


def velocities_sum(tables: pl.DataFrame) -> list[str]:
    """The zones' velocities sum to those of kswapd and direct reclaim."""
    problems = []
    for target in ("disk", "nfs"):
        for kernel in (VANILLA, MMOTM, SERIES):
            cell = column(tables, f"vmstat, {target}", kernel)
            zones = sum(cell[f"Zone {zone} velocity"] for zone in ("normal", "dma32", "dma"))
            scanners = cell["Kswapd velocity"] + cell["Direct velocity"]
            if abs(zones - scanners) > 5 * 0.0005 + 1e-9:  # five cells of three decimals
                problems.append(f"{target}, {kernel}: {zones} is not {scanners}")
    return problems


def writes_sum(tables: pl.DataFrame) -> list[str]:
    """The pages that reclaim wrote are its file pages and its anonymous ones, the swap outs."""
    problems = []
    for target in ("disk", "nfs"):
        for kernel in (VANILLA, MMOTM, SERIES):
            cell = column(tables, f"vmstat, {target}", kernel)
            if (
                cell["Page writes by reclaim"]
                != cell["Page writes file"] + cell["Page writes anon"]
            ):
                problems.append(f"{target}, {kernel}: writes by reclaim")
            if cell["Page writes anon"] != cell["Swap Outs"]:
                problems.append(f"{target}, {kernel}: anonymous writes are not the swap outs")
    return problems


def parts_within_whole(tables: pl.DataFrame) -> list[str]:
    """The four steps of a parallelio run count no more than vmstat does over the whole run."""
    problems = []
    for target in ("disk", "nfs"):
        for kernel in (VANILLA, MMOTM, SERIES):
            steps = column(tables, f"parallelio, {target}", kernel)
            whole = column(tables, f"vmstat, {target}", kernel)
            for step, total in (
                ("swaptotal", whole["Swap Ins"] + whole["Swap Outs"]),
                ("swapin", whole["Swap Ins"]),
                ("minorfaults", whole["Minor Faults"]),
                ("majorfaults", whole["Major Faults"]),
            ):
                if sum(v for metric, v in steps.items() if f" {step}-" in metric) > total:
                    problems.append(f"{target}, {kernel}: {step}")
    return problems


def waits_between(tables: pl.DataFrame) -> list[str]:
    """A mean wait lies between the reads' and the writes', and no mean exceeds its maximum."""
    problems = []
    for target in ("disk", "nfs"):
        for kernel in (VANILLA, MMOTM, SERIES):
            cell = column(tables, f"iostat, {target}", kernel)
            low, high = sorted([cell["Mean sda-r_await"], cell["Mean sda-w_await"]])
            if not low <= cell["Mean sda-await"] <= high:
                problems.append(f"{target}, {kernel}: mean await")
            for what in ("avgqz", "await", "r_await", "w_await"):
                if cell[f"Mean sda-{what}"] > cell[f"Max sda-{what}"]:
                    problems.append(f"{target}, {kernel}: {what}")
    return problems


def full_rows(tables: pl.DataFrame) -> list[str]:
    """Every row of a table has a cell in each of its columns; a profile lists only what it saw."""
    problems = []
    for row in rows(tables.filter(~pl.col("table").str.starts_with("perf profile"))):
        kernels = tables.filter(patch=row[0]["patch"], table=row[0]["table"])["kernel"]
        if [cell["kernel"] for cell in row] != kernels.unique(maintain_order=True).to_list():
            problems.append(str(row[0]["locator"]))
    return problems


RULES: list[tuple[Rule, str, float]] = [
    (mmtests_percentages, "usemem | Amean System-3 | batch-v1", 198.43),
    (mmtests_percentages, "parallelio, nfs | Ops majorfaults-0M | mm1-lessdisrupt-v7r10", 1.0),
    (mmtests_percentages, "parallelio, nfs | Ops majorfaults-0M | mm1-mmotm-20130522", 0.0),
    (mmtests_percentages, "parallelio, disk | Ops swapin-715M | mm1-mmotm-20130522", 1.0),
    (plain_percentages, "lkp comparison | vmstat.swap.so | base", 1217402.0),
    (plain_percentages, "prose | swapin throughput | after", 3.4),
    (zero_means, "lkp comparison | vm-scalability.throughput | base", 0.0),
    (truncated_quotients, "vmstat, disk | Kswapd efficiency | mm1-lessdisrupt-v7r10", 67.0),
    (truncated_quotients, "vmstat, disk | Direct efficiency | vanilla", 0.0),
    (truncated_quotients, "vmstat, nfs | Percentage direct scans | mm1-mmotm-20130522", 1.0),
    (one_elapsed_time, "vmstat, nfs | Direct velocity | vanilla", 1.689),
    (velocities_sum, "vmstat, disk | Zone dma32 velocity | vanilla", 112.483),
    (writes_sum, "vmstat, disk | Page writes file | mm1-lessdisrupt-v7r10", 32804.0),
    (writes_sum, "vmstat, nfs | Swap Outs | vanilla", 3344051.0),
    (parts_within_whole, "vmstat, disk | Swap Ins | vanilla", 259000.0),
    (waits_between, "iostat, disk | Mean sda-await | vanilla", 3000.0),
    (waits_between, "iostat, nfs | Max sda-w_await | mm1-mmotm-20130522", 28.0),
]


@pytest.mark.parametrize("rule", [*dict.fromkeys(rule for rule, _, _ in RULES), full_rows])
def test_the_tables_obey_their_own_arithmetic(rule: Rule) -> None:
    """No printed cell breaks the rule that its table was computed by."""
    assert rule(TABLES) == []


@pytest.mark.parametrize(("rule", "locator", "value"), RULES)
def test_a_wrong_cell_breaks_its_rule(rule: Rule, locator: str, value: float) -> None:
    """Each rule notices one cell that was changed."""
    assert TABLES.filter(locator=locator).height == 1
    wrong = TABLES.with_columns(
        pl.when(locator=locator).then(value).otherwise("value").alias("value")
    )
    assert rule(wrong) != []


def test_a_missing_cell_breaks_its_row() -> None:
    """A row of a table that lost a cell is noticed."""
    locator = "vmstat, disk | THP splits | mm1-mmotm-20130522"
    assert full_rows(TABLES.filter(pl.col("locator") != locator)) != []


def test_the_runs_took_as_long_as_the_facts_say() -> None:
    """Scanned pages over velocity give the known elapsed times, in seconds."""
    seconds = {
        target: [
            column(TABLES, f"vmstat, {target}", kernel)["Kswapd pages scanned"]
            / column(TABLES, f"vmstat, {target}", kernel)["Kswapd velocity"]
            for kernel in (VANILLA, MMOTM, SERIES)
        ]
        for target in ("disk", "nfs")
    }
    assert [round(value, 1) for value in seconds["disk"]] == [1158.8, 1157.0, 1158.6]
    assert [round(value) for value in seconds["nfs"]] == [5318, 4839, 4830]


def test_stall_decisions_turn_the_way_the_facts_say() -> None:
    """With mmotm kswapd scans and writes more than with vanilla, with the series less."""
    vanilla, mmotm, series = (column(TABLES, "vmstat, disk", k) for k in (VANILLA, MMOTM, SERIES))
    for metric, cells in {
        "Kswapd pages scanned": [6046108, 8814900, 1639279],
        "Page writes file": [1245752, 6861750, 32803],
        "Swap Outs": [683860, 18, 18],
    }.items():
        assert [kernel[metric] for kernel in (vanilla, mmotm, series)] == cells
    ratios = [
        kernel["Zone normal velocity"] / kernel["Zone dma32 velocity"]
        for kernel in (vanilla, mmotm, series)
    ]
    assert [round(ratio, 1) for ratio in ratios] == [45.4, 8.6, 0.9]


def test_writeback_tags_add_up() -> None:
    """Patch A's table gives the rates and shares that the facts derive from it."""
    base, patched = (column(TABLES, "lkp comparison", k) for k in ("base", "base+patch"))
    pages_a_second = base["vmstat.swap.so"] / 4  # KiB to pages of 4 KiB
    assert round(pages_a_second, -1) == 301850
    assert round(8e6 / pages_a_second, 1) == 26.5  # us a page and writer
    assert round(1e6 / (4 * pages_a_second), 2) == 0.83  # us between acquisitions of tree_lock
    locks = [metric for metric in base if metric.startswith("perf-profile")]
    before, after = (sum(kernel[lock] for lock in locks) for kernel in (base, patched))
    assert (round(before, 2), round(after, 2)) == (42.56, 15.55)
    assert round(100 * ((1 - after / 100) / (1 - before / 100) - 1)) == 47
    errors = CLAIMS.filter(pl.col("claim").is_in(["A-throughput", "A-swap-out"]))["error"]
    assert [round(error) for error in errors] == [9, 11]


def test_percpu_cluster_next_adds_up() -> None:
    """Patch D's two cache rows imply about its gain, and pmbench's rate is its own quotient."""
    locks = TABLES.filter(table="perf profile").filter(
        pl.col("metric").str.contains("add_to_swap_cache|__remove_mapping")
    )
    before, after = (locks.filter(kernel=k)["value"].sum() for k in ("before", "after"))
    assert (round(before, 2), after) == (14.96, 0.53)
    assert round(100 * ((1 - after / 100) / (1 - before / 100) - 1)) == 17
    pmbench = column(TABLES, "pmbench output", "not stated")
    rate = pmbench["page access"] / pmbench["Benchmark done - took"]
    assert round(rate, 1) == pmbench["accesses/s"]
    assert pmbench["page access"] % 10_000 == 0  # the deadline is checked that often


def claimed_cells(claim: dict[str, object]) -> tuple[float | None, float | None]:
    """Return base and value of a table's claim, from the cells that its locator names."""
    table, metric, columns = str(claim["locator"]).split(" | ")
    cells = TABLES.filter(patch=claim["patch"], table=table, metric=metric)
    by_kernel = dict(zip(cells["kernel"], cells["value"], strict=True))
    base, value = columns.split(" -> ")
    assert by_kernel.keys() & {base, value}, f"{claim['claim']}: no such cells"
    return by_kernel.get(base), by_kernel.get(value)


def test_each_row_of_a_table_is_one_claim() -> None:
    """A table's row is claimed once, and a claim of a table names a row of it."""
    in_tables = TABLES.filter(
        ~pl.col("table").is_in(["prose", "prose v3", "pmbench output"]),
        ~pl.col("table").str.ends_with("second hand"),
    )
    printed = in_tables.select("patch", row=pl.concat_str("table", "metric", separator=" | "))
    locators = CLAIMS.filter(~pl.col("locator").str.starts_with("prose"))
    claimed = locators.select("patch", row=pl.col("locator").str.replace(r" \| [^|]+$", ""))
    assert claimed.rows() == printed.unique(maintain_order=True).rows()


def test_each_claim_stands_against_its_own_base() -> None:
    """A table's claim starts at the column that the patch was applied to: for patch C, mmotm."""
    base = {
        "A-no-writeback-tags-with-diff": "base",
        "B-batched-removal": VANILLA,
        "C-stall-decisions-series": MMOTM,
        "D-percpu-cluster-next": "before",
        "D-percpu-cluster-next-v3": "v3 before",
    }
    locators = CLAIMS.filter(~pl.col("locator").str.starts_with("prose"))
    columns = locators["locator"].str.extract(r"\| ([^|]+) -> [^|]+$")
    assert columns.to_list() == [base[mail] for mail in locators["mail"]]


def test_the_claims_of_tables_are_their_cells() -> None:
    """Base, value, change and error of a table's claim follow from the cells it names."""
    for claim in CLAIMS.filter(~pl.col("locator").str.starts_with("prose")).iter_rows(named=True):
        base, value = claimed_cells(claim)
        assert (claim["base"], claim["value"]) == (base, value), claim["claim"]
        if not base or value is None:
            assert claim["change"] is None, claim["claim"]
            continue
        cells = [
            TABLES.filter(patch=claim["patch"], locator=locator).row(0, named=True)
            for locator in (
                claim["locator"].replace(f" -> {claim['locator'].split(' -> ')[1]}", ""),
                re.sub(r"[^|]+ -> ", " ", claim["locator"]),
            )
        ]
        printed = cells[1]["change_percent"] if claim["patch"] == A else None
        wanted = round(100 * (value / base - 1), 2) if printed is None else printed
        assert claim["change"] == wanted, claim["claim"]
        deviations = [cell["stddev_percent"] for cell in cells]
        if None in deviations or not value:
            assert claim["error"] is None, claim["claim"]
        else:
            assert claim["error"] == round(value / base * math.hypot(*deviations), 2)


def test_the_changes_in_prose_are_printed_or_follow_from_their_figures() -> None:
    """A sentence's change is the one printed beside its cell, else that of its two figures."""
    prose = CLAIMS.filter(pl.col("locator").str.starts_with("prose"))
    for claim in prose.drop_nulls(["base", "value"]).iter_rows(named=True):
        _, metric, kernels = claim["locator"].split(" | ")
        cells = TABLES.filter(table="prose", metric=metric, kernel=kernels.split(" -> ")[1])
        printed = cells["change_percent"][0] if cells.height else None
        wanted = round(100 * (claim["value"] / claim["base"] - 1), 2)
        assert claim["change"] == (wanted if printed is None else printed), claim["claim"]


def test_each_change_has_its_tolerance() -> None:
    """Exactly the claims with a change have a tolerance, and only the rows' spread hides a sign."""
    bounds = CLAIMS.join(tolerances(), on="claim", how="full", coalesce=True)
    assert bounds["change"].is_null().to_list() == bounds["tolerance"].is_null().to_list()
    spread = pl.col("note").str.starts_with("the spread of profile rows")
    loud = bounds.filter(pl.col("change").abs() >= 5, ~spread)
    assert (loud["tolerance"] <= loud["change"].abs()).all()


def test_each_figure_is_from_a_mail_that_is_named() -> None:
    """Each mail has its row, and the texts of those of first hand are here where the seeds are."""
    named = mails().select("patch", "mail").sort("mail")
    assert named.equals(TABLES.select("patch", "mail").unique().sort("mail"))
    assert NOT_AT_HAND == [
        "S-swap-series-v5",
        "B-batched-removal-nonrot",
        "D-percpu-cluster-next-v3",
    ]


def test_profile_rows_have_one_spread() -> None:
    """That of two lists, each of whose rows deviates as patch A's mail prints it."""
    printed = TABLES.filter(patch=A, unit="% of cycles").filter(pl.col("stddev_percent") > 0)
    assert printed.height == 6
    spread = math.sqrt(2 * sum(value**2 for value in printed["stddev_percent"]) / printed.height)
    bounds = CLAIMS.filter(patch=D, unit="% of cycles").join(tolerances(), on="claim")
    rows_of_d = bounds.filter(pl.col("claim") != "D-lock-add")  # a fall to almost nothing
    assert rows_of_d.height == 8
    assert set(rows_of_d["tolerance"]) == {round(spread, 1)} == {18.5}


def test_each_row_of_the_stall_tables_is_judged_once() -> None:
    """Every row of the six tables has its judge, in the mail's order, and one quotient a block."""
    rows = TABLES.filter(pl.col("mail") == "C-stall-decisions-series", pl.col("table") != "prose")
    judged = simulation_tolerances()
    quotient = pl.col("metric").str.contains(" : ")
    assert judged.filter(~quotient).select("table", "metric").rows() == (
        rows.select("table", "metric").unique(maintain_order=True).rows()
    )
    assert judged.filter(quotient).height == 2
    unsaid = judged.filter(standing="not modelled").select("nothing", "points", "collapse")
    assert unsaid.null_count().row(0) == (unsaid.height,) * 3


def test_the_mails_own_spread_gives_the_points() -> None:
    """Six rounds without a file are one experiment: two deviations of a difference of two."""
    rounds = TABLES.filter(metric="Ops memcachetest-0M")["value"]
    deviation = 2 * math.sqrt(2) * 100 * rounds.std() / rounds.mean()
    assert len(rounds) == 6
    assert set(simulation_tolerances()["points"].drop_nulls()) == {round(deviation, 1)}


@pytest.mark.skipif(not SEEDS.is_dir(), reason=f"the mails are not at {SEEDS}")
def test_every_cell_stands_in_its_mail() -> None:
    """The mail prints each row's values beside its label, in the order of the columns."""
    texts = {
        mail: re.sub(r"\s+", " ", (SEEDS / f"{mail}.txt").read_text(encoding="utf-8"))
        for mail in TABLES["mail"].unique()
        if mail not in NOT_AT_HAND
    }
    missing = []
    for row in rows(TABLES.filter(~pl.col("mail").is_in(NOT_AT_HAND))):
        text = texts[str(row[0]["mail"])]
        cells = [re.escape(f"{cell['printed']}") for cell in row]
        changes = [str(c["change_percent_printed"]) for c in row if c["change_percent_printed"]]
        values = re.compile(r"(?<![\d.])" + r"(?![\d.]).{0,40}?(?<![\d.])".join(cells))
        label = re.escape(str(row[0]["metric"]))
        if row[0]["table"] == "perf profile":  # each column is a list of its own
            found = all(re.search(f"{label}: {cell}(?![\\d.])", text) for cell in cells)
        else:
            beside = [
                text[max(0, match.start() - 90) : match.end() + 110]
                for match in re.finditer(f"(?<![\\w-]){label}(?![\\w-])", text)
            ]
            found = any(
                values.search(part) and all(change in part.replace("( ", "(") for change in changes)
                for part in beside
            )
        if not found:
            missing.append(row[0]["locator"])
    assert missing == []


@pytest.mark.skipif(not SEEDS.is_dir(), reason=f"the mails are not at {SEEDS}")
def test_figures_outside_the_tables_stand_in_the_mail() -> None:
    """A percentage that no cell holds is in the mail's prose as it stands in the claim."""
    claimed = CLAIMS.filter(pl.col("locator").str.contains("| not in a table |", literal=True))
    figures = claimed.with_columns(figure=pl.coalesce("change", "value")).drop_nulls("figure")
    assert figures["claim"].to_list() == ["D-prose-score", "D-prose-deviation", "D3-prose-score"]
    at_hand = figures.filter(~pl.col("mail").is_in(NOT_AT_HAND))
    for mail, figure in at_hand.select("mail", "figure").iter_rows():
        text = (SEEDS / f"{mail}.txt").read_text(encoding="utf-8")
        assert re.search(rf"(?<![\d.]){figure:g}%", text)


@pytest.mark.parametrize(
    ("file", "line", "field", "old", "new"),
    [
        (f"{A}.csv", 2, "value", ",2506952,2506952,", ",2506953,2506952,"),
        (f"{A}.csv", 2, "value", ",2506952,2506952,", ",many,2506952,"),
        (f"{A}.csv", 2, "printed", ",2506952,2506952,", ",2506952,about,"),
        (f"{A}.csv", 2, "decimals", ",2506952,0,", ",2506952,300,"),
        (f"{A}.csv", 2, "decimals", ",2506952,0,", ",2506952,²,"),
        (f"{A}.csv", 2, "better", "KiB/s,higher", "KiB/s,best"),
        (f"{A}.csv", 2, "unit", "KiB/s,higher", ",higher"),
        (f"{A}.csv", 2, "patch", f"\n{A},", f"\n{B},"),
        (f"{A}.csv", 2, "locator", ",lkp comparison | vm", ",lkp | vm"),
        (f"{A}.csv", 3, "change_percent", "+28.1%,28.1,", "+28.1%,28.2,"),
        ("claims.csv", 2, "claim", "\nA-throughput,", "\n,"),
        ("claims.csv", 3, "claim", "\nA-swap-out,", "\nA-throughput,"),
        ("claims.csv", 2, "change", ",28.1,9.33,", ",nan,9.33,"),
        ("mails.csv", 2, "hand", ",first,", ",third,"),
        ("mails.csv", 3, "mail", "\nS-swap-series-v5,", "\nA-no-writeback-tags-with-diff,"),
        ("tolerances.csv", 2, "tolerance", ",9.33,", ",-9.33,"),
        ("simulation-tolerances.csv", 2, "points", ",3.2,", ",-3.2,"),
        ("simulation-tolerances.csv", 2, "standing", ",fitted,", ",guessed,"),
    ],
)
def test_a_bad_row_is_named(
    tmp_path: Path, file: str, line: int, field: str, old: str, new: str
) -> None:
    """A row that does not fit stops the reader with its file, line and field."""
    folder = copied(tmp_path, file, old, new)
    with pytest.raises(InputError) as caught:
        read_all(folder)
    message = str(caught.value)
    assert f"{file}, line {line}, field '{field}': " in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("patch,mail,", "patch,letter,", "line 1: its columns must be"),
        (",KiB/s,higher\n", ",KiB/s,higher,\n", "line 2: 16 fields"),
        (",KiB/s,higher\n", ',"KiB\n/s",higher\n', "line 2: a row must stay on one line"),
        (",KiB/s,higher\n", ',"KiB/s"x,higher\n', "cannot be read as CSV"),
        (",KiB/s,higher\n", ",Ki\udcffB/s,higher\n", "cannot be read as UTF-8"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, old: str, new: str, wanted: str) -> None:
    """A file that is no such table stops the reader with one line that says why."""
    folder = copied(tmp_path, f"{A}.csv", old, new)
    with pytest.raises(InputError) as caught:
        read_all(folder)
    assert f"{A}.csv" in str(caught.value)
    assert wanted in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A folder without tables or claims stops the reader with its path."""
    for read in (published_tables, published_claims, mails, tolerances, simulation_tolerances):
        with pytest.raises(InputError, match=re.escape(str(tmp_path))):
            read(tmp_path)


def copied(folder: Path, file: str, old: str, new: str) -> Path:
    """Copy data/published and change one file of the copy."""
    copy = folder / "published"
    shutil.copytree(data_root() / "published", copy)
    text = (copy / file).read_text(encoding="utf-8")
    assert old in text
    (copy / file).write_text(text.replace(old, new, 1), encoding="utf-8", errors="surrogateescape")
    return copy


def read_all(folder: Path) -> None:
    """Read every table of the folder."""
    published_tables(folder)
    published_claims(folder)
    mails(folder)
    tolerances(folder)
    simulation_tolerances(folder)
