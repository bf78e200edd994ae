# SPDX-License-Identifier: GPL-2.0-or-later
"""README and cards print the verdicts of one table."""

import nbformat
import polars as pl
import pytest

from swapsim import claims
from swapsim.io.paths import data_root, notebooks_root, patches_root, repository_root
from swapsim.site import overview, readme
from swapsim.site.patches import PATCHES


@pytest.fixture(scope="module")
def judged() -> pl.DataFrame:
    """Give the table that all places read."""
    return overview.judged()


def test_every_claim_is_in_the_table_once(judged: pl.DataFrame) -> None:
    """In the order of the file, with the range of each simulated figure around it."""
    assert judged["claim"].to_list() == claims.published_claims()["claim"].to_list()
    over_runs = pl.col("range_over") != "interval"  # that is one of differences
    figures = judged.filter(pl.col("simulated").is_not_null(), over_runs)
    near = 1e-9 * figures["simulated"].abs()
    assert figures.height > 100
    assert (figures["low"] <= figures["simulated"] + near).all()
    assert (figures["high"] >= figures["simulated"] - near).all()
    assert judged.filter(pl.col("simulated").is_not_null())["range_over"].null_count() == 0


def test_readme_and_cards_are_current(judged: pl.DataFrame) -> None:
    """'make readme' would change nothing."""
    for path, made in (
        (repository_root() / "README.md", readme.with_tables),
        (patches_root() / "README.md", readme.of_patches),
        (data_root() / "published" / "README.md", readme.of_rules),
    ):
        text = path.read_text(encoding="utf-8")
        assert made(text, judged) == text
    for patch in PATCHES:
        card = (patches_root() / patch.PATCH / "card.md").read_text(encoding="utf-8")
        assert readme.card_with_table(card, patch.PATCH, judged) == card


def test_each_section_of_a_mail_has_its_place_and_leads_to_a_heading() -> None:
    """In the mail's order; each cell of its page leads to the paragraph that computes it."""
    sections = claims.sections()
    stated = claims.published_claims().with_columns(
        section=pl.col("locator").str.split(" | ").list.first()
    )
    keys = ["mail", "section"]
    assert set(stated.select(keys).rows()) == set(sections.select(keys).rows())
    for lead in {*sections["simulated"].drop_nulls(), *sections["measured"].drop_nulls()}:
        name, _, heading = lead.partition(": ")
        notebook = nbformat.read(notebooks_root() / f"{name}.ipynb", as_version=4)
        lines = [line for cell in notebook.cells for line in cell.source.splitlines()]
        assert f"## {heading}" in lines, lead
