# SPDX-License-Identifier: GPL-2.0-or-later
"""The patch cards: complete, one to one with the published rows, and open about a mail's errors."""

import re
from pathlib import Path

import polars as pl

from swapsim import io
from swapsim.claims import patch_cards, published_claims, published_tables
from swapsim.io.paths import repository_root

CARDS = patch_cards()
TABLES = published_tables()
CLAIMS = published_claims()
PROSE = CLAIMS.filter(pl.col("locator").str.starts_with("prose"))
TENTH = 0.1  # words such as "roughly", and figures rounded in a sentence, mean within a tenth


def quantity(mail: str, row: str, kernel: str) -> tuple[float | None, str]:
    """Return the cell, sum or quotient that a row of prose means in one column, and its unit."""
    target, _, name = row.rpartition(": ")
    for sign in (" + ", " / "):
        if sign in name:
            parts = [quantity(mail, f"{target}: {part}", kernel) for part in name.split(sign)]
            values = [value for value, _ in parts if value is not None]
            return (sum(values), parts[0][1]) if sign == " + " else (values[0] / values[1], "ratio")
    cells = TABLES.filter(mail=mail, metric=name, kernel=kernel).filter(
        pl.col("table").str.ends_with(f", {target}" if target else "")
    )
    assert cells.height <= 1, f"{row} is more than one cell"
    return (cells["value"][0], cells["unit"][0]) if cells.height else (None, "")


def holds(claim: dict[str, object]) -> bool | None:
    """Return whether the mail's own table supports a claim in prose; None if it has no such row."""
    mail, metric = str(claim["mail"]), str(claim["metric"])
    _, row, columns = str(claim["locator"]).split(" | ")
    base_kernel, value_kernel = columns.split(" -> ")
    row, _, base_row = row.partition(" against ")
    value, unit = quantity(mail, row, value_kernel)
    base, _ = quantity(mail, base_row or row, base_kernel)
    if value is None or base is None:
        return None
    scale = 1000 if (claim["unit"], unit) == ("s", "ms") else 1
    direction = re.match(r"(falls|rises|stays)?", metric.rpartition(": ")[2])
    checks = {
        "falls": value < base,
        "rises": value > base,
        "stays": abs(value - base) <= TENTH * base,
    }
    found = [checks[direction[1]]] if direction and direction[1] else []
    for stated, printed in ((claim["base"], base), (claim["value"], value)):
        if stated is not None:
            found.append(abs(float(str(stated)) * scale - printed) <= TENTH * printed)
    if claim["change"] is not None and claim["base"] is None:
        found.append(abs(float(str(claim["change"])) - 100 * (value / base - 1)) <= 100 * TENTH / 2)
    assert found, f"{claim['claim']} says nothing that its table could support"
    return all(found)


def test_cards_rows_and_claims_match_one_to_one() -> None:
    """Each patch has a card, rows and claims, and the card names each claim once."""
    patches = CARDS["patch"].to_list()
    assert TABLES["patch"].unique(maintain_order=True).to_list() == patches
    for patch, named in CARDS.select("patch", "claims").iter_rows():
        assert named == CLAIMS.filter(patch=patch)["claim"].to_list(), patch
    assert CLAIMS["patch"].is_in(patches).all()


def test_claims_and_rows_come_from_the_same_mail() -> None:
    """A patch's rows and claims name one mail; D has four.

    The mail of another patch, which gives the noise of patch B's, has no claims here.
    """
    rows = TABLES.filter(pl.col("mail") != "B-kswapd-stall")
    in_tables, in_claims = (frame.select("patch", "mail").unique() for frame in (rows, CLAIMS))
    assert in_tables.sort("mail").equals(in_claims.sort("mail"))
    assert in_tables.height == CARDS.height + 3
    assert in_tables["mail"].str.contains("next-v[23]").sum() == 3


def test_cards_name_what_the_mails_own_tables_contradict() -> None:
    """A claim in prose that the mail's own table does not support is in its card, and no other."""
    verdicts = {claim["claim"]: holds(claim) for claim in PROSE.iter_rows(named=True)}
    assert sum(verdict is not None for verdict in verdicts.values()) > 60
    contradicted = [claim for claim, verdict in verdicts.items() if verdict is False]
    assert contradicted == CARDS["contradicted"].explode(empty_as_null=False).to_list()


def test_rows_that_prose_names_exist() -> None:
    """A claim in prose names a row of a table, or says that there is none."""
    for claim in PROSE.iter_rows(named=True):
        row = claim["locator"].split(" | ")[1]
        if row != "not in a table":
            names = re.split(r" \+ | / | against ", row)
            assert all(
                name.rpartition(": ")[2] in TABLES.filter(patch=claim["patch"])["metric"]
                for name in names
            ), claim["claim"]


def test_cards_model_functions_exist() -> None:
    """Where a header that a card names is there, so is each function named with it."""
    headers = repository_root() / "corelib" / "include" / "swapsim"
    for entry in CARDS["model"].explode():
        name, _, functions = entry.partition(": ")
        if (headers / name).exists():
            text = (headers / name).read_text(encoding="utf-8")
            for function in filter(None, functions.split(", ")):
                assert f"{function}(" in text, f"{name} has no {function}"


def test_the_eight_patches_are_in_their_true_order() -> None:
    """The card's chain of blobs is that of the mail's diffs, each starting where the last ended."""
    body = dict(CARDS.select("patch", "body").iter_rows())["03-stall-decisions"]
    chain = re.findall(r"^\| (\d) \| ([0-9a-f]{7})\.\.([0-9a-f]{7}) \|", body, re.M)
    assert [number for number, _, _ in chain] == list("1234567")
    assert [start for _, start, _ in chain[1:]] == [end for _, _, end in chain[:-1]]
    diffs = io.read_toml(Path(__file__).parents[1] / "data" / "mails.toml")["blobs"]["vmscan"]
    assert sorted([start, end] for _, start, end in chain) == sorted(diffs)
