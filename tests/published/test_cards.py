# SPDX-License-Identifier: GPL-2.0-or-later
"""The patch cards name what is there."""

import re
from pathlib import Path

from swapsim import io
from swapsim.io import repository_root
from swapsim.published.data import published_tables
from swapsim.site.patches import patch_cards

CARDS = patch_cards()
TABLES = published_tables()


def test_each_patch_has_a_card_and_a_table() -> None:
    """In the order of their numbers."""
    assert TABLES["patch"].unique(maintain_order=True).to_list() == CARDS["patch"].to_list()


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
