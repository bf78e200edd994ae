# SPDX-License-Identifier: GPL-2.0-or-later
"""The texts of claims: digits, units, words and counts."""

import polars as pl
import pytest

from swapsim import claims
from swapsim.claims.tables import ANSWERS, THREE_COLUMNS
from swapsim.claims.texts import figure_text, range_text


@pytest.mark.parametrize(
    ("value", "unit", "relative", "text"),
    [
        (None, "%", True, ""),
        (26.3407, "%", True, "+26.3 %"),
        (-15.95, "%", True, "-15.9 %"),
        (-0.004, "%", True, "0.0 %"),
        (-0.04, "%", True, "-0.04 %"),
        (-99.96, "%", True, "-99.96 %"),
        (-100.0, "%", True, "-100.0 %"),
        (999.9, "%", True, "+999.9 %"),
        (44175.0, "%", True, "\u00d7443"),
        (1706.0, "%", True, "\u00d718.1"),
        (3291610.4, "%", True, "\u00d732,917"),
        (66.0, "%", False, "66 %"),
        (1428002.4, "KiB/s", False, "1,428,002 KiB/s"),
        (8.561, "% of cycles", False, "8.56 % of cycles"),
        (0.000449, "% of cycles", False, "0 % of cycles"),
        (0.0, "pages", False, "0 pages"),
    ],
)
def test_a_figure_has_its_digits_and_unit(
    value: float | None, unit: str, relative: bool, text: str
) -> None:
    """A change has a sign and a decimal, two next to nothing and all; else three digits."""
    assert figure_text(value, unit, relative=relative) == text


def test_a_range_has_its_unit_once() -> None:
    """Both ends have the digits of a figure."""
    assert range_text(15.0, 60.04, "%", relative=True) == "+15.0 to +60.0 %"
    assert range_text(1.5e6, 2e6, "KiB/s", relative=False) == "1,500,000 to 2,000,000 KiB/s"
    assert range_text(None, 1.0, "%", relative=True) == ""


NO_ANSWERS = pl.DataFrame(schema=ANSWERS.schema)


def row(claim: str = "A-swap-out", **changed: object) -> pl.DataFrame:
    """Return THREE_COLUMNS of one claim, with some columns changed."""
    stated = claims.published_claims().filter(claim=claim)
    judged = claims.three_columns(stated, NO_ANSWERS, claims.tolerances())
    literals = {name: pl.lit(value, THREE_COLUMNS.schema[name]) for name, value in changed.items()}
    return judged.with_columns(**literals)


@pytest.mark.parametrize(
    ("changed", "figure", "verdict"),
    [
        ({"simulated_verdict": "missed", "simulated": -3.0}, "-3.0 %", "missed"),
        (
            {"simulated_verdict": "base not reproduced", "base_ratio": 0.023, "simulated": 1.0},
            "",
            "base not reproduced (\u00d70.023)",
        ),
        (
            {"simulated_reason": "huge pages are not simulated"},
            "",
            "not simulated: huge pages are not simulated",
        ),
    ],
)
def test_a_simulated_verdict_names_its_reason_and_a_base_that_is_not_reproduced(
    changed: dict[str, object], figure: str, verdict: str
) -> None:
    """Without the base there is no change in percent to print."""
    found = claims.claim_texts(row(**{"simulated_reason": None} | changed)).row(0, named=True)
    assert (found["simulated"], found["simulated_verdict"]) == (figure, verdict)


@pytest.mark.parametrize(
    ("changed", "figure", "verdict"),
    [
        ({"measured": 20.0}, "+20.0 %", "confirmed"),
        ({"measured": 80.0, "size": "other"}, "+80.0 %", "confirmed, other size"),
        ({"held": 1200, "cases": 1200}, "1,200 of 1,200", "confirmed"),
        ({"held": 0, "cases": 0, "measured_verdict": "open"}, "no case decides", "open"),
    ],
)
def test_a_measured_verdict_names_another_size_and_the_cases_of_a_statement(
    changed: dict[str, object], figure: str, verdict: str
) -> None:
    """The size decides nothing."""
    fields = {"measured_reason": None, "measured_verdict": "confirmed"} | changed
    found = claims.claim_texts(row(**fields)).row(0, named=True)
    assert (found["measured"], found["measured_verdict"]) == (figure, verdict)


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("C-prose-disk-swap-outs", "falls, almost to none"),
        ("A-prose-file-pages-keep-tags", "what the code does"),
        ("D3-lock-add", "absent after"),
    ],
)
def test_a_claim_without_a_figure_is_in_words(claim: str, text: str) -> None:
    """Its direction, that it is about the code, or what its row becomes."""
    assert claims.claim_texts(row(claim))["published"].to_list() == [text]


def test_verdicts_are_counted_by_mail_and_source() -> None:
    """Every claim is in one column, but one that repeats another is in none."""
    words = ("reproduced", "reproduced", "open", "not determinable", "not simulated")
    judged = pl.concat(
        [
            *(row(simulated_verdict=verdict) for verdict in words),
            row(simulated_verdict="missed", repeats="A-throughput"),
        ]
    )
    found = claims.verdicts_by_mail(judged).row(0)
    assert found[1:] == ("A-no-writeback-tags-with-diff", "simulated", 5, 2, 0, 0, 1, 1, 0, 0, 1)
