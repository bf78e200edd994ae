# SPDX-License-Identifier: GPL-2.0-or-later
"""``swapsim claims`` prints the claims of a patch, a mail or a begin of names, by verdict."""

import json
from collections.abc import Sequence

import polars as pl
import pytest

from swapsim.claims.tables import MEASURED_VERDICT, SIMULATED_VERDICT
from swapsim.cli import main
from swapsim.site import overview


@pytest.fixture(scope="module")
def judged() -> pl.DataFrame:
    """Give the table that all places read."""
    return overview.judged()


@pytest.fixture(autouse=True)
def _of_table(monkeypatch: pytest.MonkeyPatch, judged: pl.DataFrame) -> None:
    monkeypatch.setattr(overview, "judged", lambda: judged)


def printed(arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    """Return the claims that a command prints as json."""
    assert main(["claims", *arguments, "--format", "json"]) == 0
    rows: list[dict[str, str]] = json.loads(capsys.readouterr().out)
    return rows


@pytest.mark.parametrize(
    ("which", "column"), [("03-stall-decisions", "patch"), ("D-percpu-cluster-next-v3", "mail")]
)
def test_claims_are_those_of_a_patch_or_a_mail(
    which: str, column: str, judged: pl.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of them, in their order."""
    rows = printed([which], capsys)
    assert [row["claim"] for row in rows] == judged.filter(pl.col(column) == which)[
        "claim"
    ].to_list()


def test_every_verdict_selects_its_claims_and_each_claim_has_one(
    judged: pl.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    """A begin of names selects, too; what has no answer in either column is unanswered."""
    begins = "D"
    found: list[str] = []
    words = [*SIMULATED_VERDICT.words[:-1], *MEASURED_VERDICT.words[:-1]]
    for word in dict.fromkeys(words):
        for row in printed([begins, f"--{word.replace(' ', '-')}"], capsys):
            assert word in (row["simulated_verdict"], row["measured_verdict"])
            found.append(row["claim"])
    for row in printed([begins, "--unanswered"], capsys):
        assert row["simulated_reason"]
        assert row["measured_reason"]
        found.append(row["claim"])
    wanted = judged.filter(pl.col("claim").str.starts_with(begins))["claim"].to_list()
    assert set(found) == set(wanted)


def test_unseen_claims_are_decided_by_an_older_rule(
    judged: pl.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    """No page had shown the figure that a verdict rests on before its rule was stored."""
    rows = printed(["--confirmed", "--unseen"], capsys)
    wanted = judged.filter(
        pl.col("measured_verdict") == "confirmed",
        ~pl.col("seen").is_in(["measured", "both"]).fill_null(value=False),
    )
    assert [row["claim"] for row in rows] == wanted["claim"].to_list()
    assert 0 < len(rows) < judged.filter(measured_verdict="confirmed").height


def test_a_name_that_no_claim_has_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """It lists the patches."""
    assert main(["claims", "Z"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "01-writeback-tags" in error
