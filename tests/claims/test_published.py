# SPDX-License-Identifier: GPL-2.0-or-later
"""The published tables are those of the mails, and claims and tolerances follow from them."""

import hashlib
import math
from pathlib import Path

import polars as pl
import pytest

from swapsim import io
from swapsim.claims import (
    links,
    mails,
    published_claims,
    published_tables,
    simulation_tolerances,
    tolerances,
    window_of,
)
from swapsim.claims.addresses import address, misfit
from swapsim.claims.cells import require_cells
from swapsim.errors import InputError
from swapsim.patches.batched_removal.workload import error_of_change

TABLES = published_tables()
CLAIMS = published_claims()
PROSE = pl.col("locator").str.starts_with("prose")
PROSE_CELLS = pl.col("table").str.starts_with("prose")
FACTS = io.read_toml(Path(__file__).parents[1] / "data" / "mails.toml")

A, B, C, D = (
    "01-writeback-tags",
    "02-batched-removal",
    "03-stall-decisions",
    "04-percpu-cluster-next",
)


LIST = "prose: printed list"  # a claim on the lines of a list
IN_TABLES = CLAIMS.filter(~PROSE).with_columns(
    pl.col("locator")
    .str.extract_groups(r"^(?<row>.*) \| (?<base_kernel>.+) -> (?<value_kernel>.+)$")
    .struct.unnest()
)


def test_each_claim_has_the_figures_of_its_cells() -> None:
    """The error names the line of claims.csv; the tests below name the claim."""
    require_cells()


def test_each_locator_has_three_parts() -> None:
    """A claim's locator is 'table or place | row | kernel -> kernel', also of a sentence."""
    three = pl.col("locator").str.contains(r"^[^|]+ \| [^|]+ \| [^|]+ -> [^|]+$")
    assert CLAIMS.filter(~three).select("claim", "locator").rows() == []


def test_each_row_of_a_table_is_one_claim() -> None:
    """A table's row is claimed once, and a claim of a table names a row of it."""
    in_tables = TABLES.filter(
        pl.col("mail") != "B-kswapd-stall",  # B's 3/4 is not one of the patches
        ~pl.col("table").str.contains("^prose|^pmbench output$|printed list$"),
    )
    printed = in_tables.select("patch", row=pl.concat_str("table", "metric", separator=" | "))
    assert IN_TABLES.select("patch", "row").rows() == printed.unique(maintain_order=True).rows()


BASE_COLUMN = {
    "A-no-writeback-tags-with-diff": "base",
    "B-batched-removal": "vanilla",
    "C-stall-decisions-series": "mm1-mmotm-20130522",
    "D-percpu-cluster-next": "before",
    "D-percpu-cluster-next-v3": "v3 before",
}
"""The column of each mail that its patch was applied to."""


def test_each_claim_has_the_base_of_its_patch() -> None:
    """A table's claim starts at the column that the patch was applied to: for patch C, mmotm."""
    without = {*IN_TABLES["mail"]} - {*BASE_COLUMN}
    assert not without, "BASE_COLUMN lacks the base column of these mails"
    assert IN_TABLES["base_kernel"].to_list() == [BASE_COLUMN[mail] for mail in IN_TABLES["mail"]]


def test_the_claims_of_tables_are_their_cells() -> None:
    """Base, value, change and error of a table's claim follow from the cells it names."""
    for claim in IN_TABLES.iter_rows(named=True):
        in_row = pl.col("locator").str.starts_with(f"{claim['row']} | ")
        of_row = TABLES.filter(in_row, mail=claim["mail"])
        by_kernel = {cell["kernel"]: cell for cell in of_row.to_dicts()}
        cells = [by_kernel.get(claim[f"{side}_kernel"]) for side in ("base", "value")]
        base, value = (cell and cell["value"] for cell in cells)
        assert (claim["base"], claim["value"]) == (base, value), claim["claim"]
        if not base or value is None:
            assert claim["change"] is None, claim["claim"]
            continue
        printed = cells[1]["change_percent"] if claim["patch"] == A else None
        wanted = 100 * (value / base - 1) if printed is None else printed
        assert claim["change"] == pytest.approx(wanted), claim["claim"]
        deviations = [cell["stddev_percent"] for cell in cells]
        if claim["patch"] == B and "usemem" in claim["locator"]:
            assert claim["error"] == round(error_of_change(100 * (value / base - 1)), 2)
        elif None in deviations or not value:
            assert claim["error"] is None, claim["claim"]
        else:
            assert claim["error"] == round(value / base * math.hypot(*deviations), 2)


def test_the_changes_in_prose_are_printed_or_follow_from_their_figures() -> None:
    """A sentence's change is the one printed next to its cell, else that of its two figures."""
    for claim in CLAIMS.filter(PROSE).drop_nulls(["base", "value"]).iter_rows(named=True):
        _, metric, kernels = claim["locator"].split(" | ")
        kernel = kernels.split(" -> ")[1]
        cells = TABLES.filter(PROSE_CELLS, mail=claim["mail"], metric=metric, kernel=kernel)
        printed = cells["change_percent"][0] if cells.height else None
        wanted = 100 * (claim["value"] / claim["base"] - 1) if printed is None else printed
        assert claim["change"] == pytest.approx(wanted), claim["claim"]


def test_each_change_has_its_tolerance() -> None:
    """Each change and each figure of a list has one; only the rows' spread hides a sign."""
    stated = published_claims()
    bounds = stated.join(tolerances(), on="claim", how="full", coalesce=True)
    level = pl.col("locator").str.starts_with(LIST)
    judged = bounds.select(pl.col("change").is_not_null() | level).to_series()
    assert judged.to_list() == bounds["tolerance"].is_not_null().to_list()
    spread = pl.col("note").str.contains("^the spread of profile rows|from Min next to Amean")
    loud = bounds.filter(pl.col("change").abs() >= 5, ~spread)
    assert (loud["tolerance"] <= loud["change"].abs()).all()


def test_each_figure_is_from_a_mail_that_is_named() -> None:
    """Each mail has its row."""
    named = mails().select("patch", "mail").sort("mail")
    cells = published_tables()
    assert named.equals(cells.select("patch", "mail").unique().sort("mail"))


def test_each_mail_can_be_found_in_the_archive() -> None:
    """Each mail has its row in links.csv, with a title and an author; no other row has a date."""
    rows = links()
    own = mails().join(rows, left_on="mail", right_on="name", how="left")
    assert own.null_count().select("kind", "target", "title", "author").row(0) == (0, 0, 0, 0)
    assert set(own["kind"]) == {"mail"}
    others = rows.filter(pl.col("kind") != "mail").select("author", "date", "merged")
    assert others.null_count().row(0) == (others.height,) * 3


@pytest.mark.parametrize(
    ("kind", "target", "wanted"),
    [
        ("mail", "a.1-b@c.org", "https://lore.kernel.org/all/a.1-b@c.org/"),
        ("commit", "0123456789abcdef0123456789abcdef01234567", "linus/0123456789ab"),
        ("article", "12345", "https://lwn.net/Articles/12345/"),
        ("source", "https://a.org/b", "https://a.org/b"),
    ],
)
def test_an_address_is_built_from_its_kind(kind: str, target: str, wanted: str) -> None:
    """Mails are in the archive by message ID, commits in Linus' tree by their first digits."""
    assert misfit(kind, target) is None
    assert address(kind, target).endswith(wanted)


def test_the_cells_are_those_that_were_compared_with_the_mails() -> None:
    """No cell has been edited since."""
    fields = ["locator", "parameters", "printed", "change_percent_printed", "stddev_percent"]
    found = {
        f"{table} of {mail}": hashlib.sha256(repr(cells.select(fields).rows()).encode()).hexdigest()
        for (mail, table), cells in published_tables().group_by(
            "mail", "table", maintain_order=True
        )
    }
    assert found == FACTS["cells"]


def test_figures_outside_the_tables_are_those_of_the_mails() -> None:
    """A percentage that is in no table was compared with the mail's prose."""
    claimed = CLAIMS.filter(
        pl.col("locator").str.contains("| not in a table |", literal=True),
        ~pl.col("locator").str.starts_with(LIST),
    )
    figures = claimed.select("claim", pl.coalesce("change", "value")).drop_nulls()
    assert dict(figures.iter_rows()) == FACTS["prose"]


def test_claims_on_printed_lists_follow_from_their_lines() -> None:
    """The number of lines, the share of fallbacks, and the first iteration without a swap-out."""
    cells = TABLES.filter(pl.col("table").str.ends_with("printed list")).with_columns(
        pl.col("table").str.strip_suffix(", printed list"),
        pl.col("metric").str.extract_groups(r"iteration (?<at>\d+) (?<what>.*)$").struct.unnest(),
    )
    lines = cells.pivot("what", index=["mail", "table", "kernel", "at"], values="value")
    for claim in CLAIMS.filter(pl.col("locator").str.starts_with(LIST)).iter_rows(named=True):
        what, _, figure = claim["metric"].partition(": ")
        name = what.partition(", ")[0].replace("first program", "test, first program")
        name = name.replace("test, first program -s", "test -s, first program")
        kernel = claim["locator"].rpartition(" -> ")[2]
        own = lines.filter(mail=claim["mail"], table=name, kernel=kernel)
        out, split = own["swpout"].sum(), own["swpout fallback"].sum()
        wanted = {
            "equal lines of those printed": own.height,
            "share of fallbacks": round(100 * split / max(out + split, 1), 2),
            "fallbacks": split,
            "first iteration in which each large folio falls back": own.filter(swpout=0)["at"]
            .cast(pl.Int64)
            .min(),
        }
        assert claim["value"] == wanted[figure], claim["claim"]


def test_profile_rows_have_one_spread() -> None:
    """That of two lists, each of whose rows deviates as patch A's mail prints it."""
    printed = TABLES.filter(patch=A, unit="% of cycles").filter(pl.col("stddev_percent") > 0)
    assert printed.height == 6
    spread = math.sqrt(2 * sum(value**2 for value in printed["stddev_percent"]) / printed.height)
    bounds = CLAIMS.filter(patch=D, unit="% of cycles").join(tolerances(), on="claim")
    rows_of_d = bounds.filter(pl.col("claim") != "D-lock-add")  # a fall to almost nothing
    assert rows_of_d.height == 10
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


def test_a_metric_has_the_window_of_its_tool() -> None:
    """A metric without a row is refused by name."""
    assert window_of("perf-profile.cycles-pp._raw_spin_lock.free_pcppages_bulk") == "swap"
    assert window_of("vmstat.swap.so") == "run"
    with pytest.raises(InputError, match="no window"):
        window_of("meminfo.SwapCached")
