# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers are made of runs, and judged by the rule of each claim's kind, as a plain rule says."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapsim import claims
from swapsim.claims.tables import (
    CHANCES,
    CLAIMS,
    DIRECTION,
    KIND,
    KINDS,
    MEASURED_VERDICT,
    RESULTS,
    SIMULATED_VERDICT,
    SOURCE,
    TOLERANCES,
)
from swapsim.errors import InputError
from swapsim.io.paths import data_root
from swapsim.site import overview

PATCH = "03-stall-decisions"
STATED = claims.published_claims()
FALLS = "C-prose-disk-velocity"
"""A claim whose words say that a row falls from one kernel to another."""
BASE, SERIES = "mm1-mmotm-20130522", "mm1-lessdisrupt-v7r10"


def rounds(
    policy: str,
    values: Sequence[float],
    *,
    metric: str = "disk: Kswapd velocity",
    source: str = "measured",
) -> pl.DataFrame:
    """Return a kernel's rounds, one a value; the kernel is called as the policy."""
    return pl.concat(
        claims.results(
            [(metric, value, "pages")],
            {
                "patch": PATCH, "source": source, "kernel": policy, "policy": policy,
                "n_tasks": 1, "seed": seed,
            },
        )
        for seed, value in enumerate(values, start=1)
    )  # fmt: skip


def answer(claim: str = "c", source: str = "simulated", **fields: Any) -> pl.DataFrame:
    """Return ANSWERS of one row."""
    return claims.table_of([claims.Answer(claim=claim, source=source, **fields)])


def one_of(kind: str, **fields: Any) -> dict[str, pl.DataFrame]:
    """Return a made-up claim of a kind, with its tolerance, as `claims.three_columns` takes it."""
    row = {name: fields.get(name) for name in ("base", "value", "change", "error")}
    stated = ("c", PATCH, "C-stall-decisions-series", "t | m | a -> b", "disk: m")
    bound = fields.get("tolerance")
    return {
        "claims": pl.DataFrame(
            [(*stated, *row.values(), "pages")], schema=CLAIMS.schema, orient="row"
        ),
        "tolerances": pl.DataFrame(
            [("c", bound, "")] if bound is not None else [], schema=TOLERANCES.schema, orient="row"
        ),
        "kinds": pl.DataFrame(
            [("c", kind, fields.get("claimed"), None, None)], schema=KINDS.schema, orient="row"
        ),
    }


def judged(kind: str, given: pl.DataFrame, **fields: Any) -> dict[str, Any]:
    """Return the row of THREE_COLUMNS of a made-up claim."""
    chance = fields.pop("chance", None)
    rows = [("c", chance)] if chance is not None else []
    chances = pl.DataFrame(rows, schema=CHANCES.schema, orient="row")
    made = claims.three_columns(answers=given, chances=chances, **one_of(kind, **fields))
    return made.row(0, named=True)


def by_interval(
    claimed: str, low: float, high: float, figure: float, rounds: int, spread: float
) -> bool | None:
    """Return whether a direction holds, or None if it is open: the rule of the README, plainly."""
    if rounds < 5:
        return None
    falls, rises = high < 0, low > 0
    if claimed == "stays":
        if low >= -10 and high <= 10:
            return True
        return False if (low > 10 or high < -10) and abs(figure) > spread else None
    if not falls and not rises:
        return None
    if claimed == "rises":
        return rises
    if claimed == "falls slightly":
        if rises or high < -50:
            return False
        return True if low >= -50 else None
    return falls and (claimed == "falls" or figure <= -100 * 5 / 6)


def agreeing(published: float, tolerance: float | None, *, relative: bool) -> tuple[float, float]:
    """Return what agrees with a printed figure, plainly: the rule of the README."""
    if tolerance is None:
        least, most = sorted((published / 2, published * 2))
        return least, most
    if relative and published - tolerance <= -100:
        left = 100 + published
        return left / 2 - 100, (2 * left if left > 0 else 5) - 100
    return published - tolerance, published + tolerance


def of_range(fields: dict[str, Any], *, relative: bool = True) -> str:
    """Return the verdict on a range, plainly."""
    low, high, published = fields["low"], fields["high"], fields["change"]
    least, most = agreeing(published, fields["tolerance"], relative=relative)
    error = fields["error"] or 0
    if relative and ((published + error < 0 < low) or (published - error > 0 > high)):
        return "missed"
    if high < least or low > most:
        return "missed"
    size = abs(published)
    if (size >= 1 if relative else size > 0) and least <= 0 <= most:
        return "open"
    return "reproduced" if least <= low and high <= most else "open"


def of_change(fields: dict[str, Any]) -> str:
    """Return the verdict on a simulated change: the rules in their order, plainly."""
    ratio = fields["base_ratio"]
    if ratio is not None and not 0.5 <= ratio <= 2:
        return "base not reproduced"
    if fields["chance"] is not None and fields["chance"] > 0.05:
        return "not determinable"
    return of_range(fields)


NUMBER = st.integers(-120, 120).map(float)
MAYBE = st.none() | st.sampled_from([0.01, 0.05, 0.2, 0.5, 1.0, 2.0, 2.5, 0.49])


@given(st.data())
def test_a_simulated_change_is_judged_by_the_rules_in_their_order(data: st.DataObject) -> None:
    """And one whose whole range has the other sign is never reproduced."""
    low, figure, high = sorted(data.draw(st.tuples(NUMBER, NUMBER, NUMBER)))
    fields = {
        "low": low,
        "high": high,
        "figure": figure,
        "range_over": data.draw(st.sampled_from(["seeds", "open constants", "ages", "interval"])),
        "base_ratio": data.draw(MAYBE),
    }
    stated = {
        "base": 100.0,
        "change": data.draw(NUMBER),
        "error": data.draw(st.none() | st.integers(0, 40).map(float)),
        "tolerance": data.draw(st.integers(0, 60).map(float)),
        "chance": data.draw(MAYBE),
    }
    found = judged("change", answer(**fields), **stated)
    assert found["simulated_verdict"] == of_change(fields | stated)
    if stated["change"] * low < 0 and stated["change"] * high < 0 and not stated["error"]:
        assert found["simulated_verdict"] != "reproduced"


@given(st.data())
def test_a_direction_is_judged_by_its_interval(data: st.DataObject) -> None:
    """With the words of a model, or those of a real kernel."""
    low, figure, high = sorted(data.draw(st.tuples(NUMBER, NUMBER, NUMBER)))
    claimed = data.draw(st.sampled_from(DIRECTION.words))
    rounds = data.draw(st.integers(3, 7))
    kind = data.draw(st.sampled_from(["direction", "guess"]))
    spread = data.draw(st.sampled_from([0.0, 30.0]))
    fields = {"low": low, "high": high, "figure": figure, "rounds": rounds, "base_spread": spread}
    holds = by_interval(claimed, low, high, figure, rounds, spread)
    for source, words in (
        ("simulated", ("reproduced", "missed")),
        ("measured", ("confirmed", "contradicted")),
    ):
        found = judged(kind, answer(source=source, **fields), claimed=claimed)
        wanted = "open" if holds is None else words[not holds]
        assert found[f"{source}_verdict"] == wanted


@pytest.mark.parametrize(
    ("figure", "size", "verdict"),
    [(-40.0, "as published", "confirmed"), (-80.0, "other", "confirmed")],
)
def test_a_measured_change_is_judged_by_its_direction_next_to_its_size(
    figure: float, size: str, verdict: str
) -> None:
    """The size decides nothing; that of a count with another name is judged, too."""
    fields = {"figure": figure, "low": figure, "high": figure, "rounds": 5}
    stated = {"base": 10.0, "value": 6.0, "change": -40.0, "tolerance": 20.0}
    found = judged("change", answer(source="measured", **fields), **stated)
    assert (found["size"], found["measured_verdict"]) == (size, verdict)
    named = judged("change", answer(source="measured", what="locks", **fields), **stated)
    assert (named["size"], named["measured_verdict"]) == (size, verdict)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-2.3, -0.1, ("open", "open")),
        (-2.3, 0.1, ("open", "confirmed")),
        (0.0, 0.0, ("open", "confirmed")),
        (0.1, 2.3, ("confirmed", "confirmed")),
        (2, 12, ("open", "open")),
        (11, 12, ("contradicted", "contradicted")),
    ],
)
def test_a_printed_change_that_stays_is_confirmed_from_its_own_side(
    low: float, high: float, verdict: tuple[str, str]
) -> None:
    """An interval that contains zero says nothing for a rise of 9 %, but for one of 0.9 %."""
    given = answer(source="measured", figure=low, low=low, high=high, rounds=5)
    found = tuple(
        judged("change", given, base=10.0, change=change, tolerance=5.0)["measured_verdict"]
        for change in (9.0, 0.9)
    )
    assert found == verdict


@pytest.mark.parametrize(
    ("printed", "ends", "verdict"),
    [
        (-80.0, (-85.0, -70.0), "reproduced"),
        (-80.0, (-85.0, -55.0), "open"),
        (-80.0, (-55.0, -45.0), "missed"),
        (-98.0, (-100.0, -99.5), "missed"),
        (-98.0, (-98.9, -96.1), "reproduced"),
        (-100.0, (-100.0, -95.1), "reproduced"),
        (-100.0, (-94.0, -90.0), "missed"),
    ],
)
def test_a_fall_that_may_leave_nothing_is_judged_by_what_it_leaves(
    printed: float, ends: tuple[float, float], verdict: str
) -> None:
    """Half of the printed change is a tolerance of at least what the mail leaves."""
    low, high = ends
    given = answer(figure=low, low=low, high=high, base=1000.0, value=0.0, range_over="seeds")
    stated = {"base": 100.0, "change": printed, "tolerance": -printed / 2}
    assert judged("change", given, **stated)["simulated_verdict"] == verdict


def test_a_model_with_too_few_to_leave_one_leaves_a_fall_open() -> None:
    """Of 9 folios the printed 0.5 % would be less than one."""
    given = answer(figure=-100.0, low=-100.0, high=-100.0, base=9.0, value=0.0)
    found = judged("change", given, base=1000.0, change=-99.5, tolerance=49.75)
    assert found["simulated_verdict"] == "open"


@pytest.mark.parametrize(
    ("base", "measured_base", "verdict"),
    [(18.0, 0.0, "open"), (18.0, 1.0, "confirmed"), (0.0, 0.0, "confirmed")],
)
def test_a_kernel_that_counts_nothing_confirms_no_change(
    base: float, measured_base: float, verdict: str
) -> None:
    """It has not done what the claim is about, unless the mail counts nothing either."""
    fields = {"figure": 0.0, "low": 0.0, "high": 0.0, "rounds": 5, "base": measured_base}
    found = judged("change", answer(source="measured", **fields), base=base, value=base, change=0.0)
    assert found["measured_verdict"] == verdict


@pytest.mark.parametrize(
    ("held", "cases", "verdict"), [(7, 7, "confirmed"), (6, 7, "contradicted"), (0, 0, "open")]
)
def test_a_statement_on_code_holds_in_all_cases(held: int, cases: int, verdict: str) -> None:
    """One case against it is enough."""
    found = judged("code", answer(source="measured", held=held, cases=cases))
    assert found["measured_verdict"] == verdict


@pytest.mark.parametrize(
    ("value", "figure", "tolerance", "verdict"),
    [
        (4.0, 5.0, 1.0, "reproduced"),
        (4.0, 5.1, 1.0, "missed"),
        (4.0, 3.0, 4.0, "open"),
        (4.0, 9.0, 4.0, "missed"),
        (4.0, 8.0, None, "reproduced"),
        (4.0, 8.1, None, "missed"),
        (4.0, 1.9, None, "missed"),
        (0.0, 0.0, None, "reproduced"),
        (0.0, 0.1, None, "missed"),
    ],
)
def test_a_figure_is_judged_by_its_tolerance_or_a_factor_of_two(
    value: float, figure: float, tolerance: float | None, verdict: str
) -> None:
    """A tolerance that zero is within decides nothing but a miss; a printed zero allows nothing."""
    ends = {"low": figure, "high": figure, "range_over": "seeds"}
    found = judged("figure", answer(figure=figure, **ends), value=value, tolerance=tolerance)
    assert found["simulated_verdict"] == verdict


def test_a_printed_zero_allows_a_twentieth_of_its_rows_largest_cell() -> None:
    """As the cells of patch C are judged."""
    printed = claims.published_tables().filter(
        pl.col("metric") == "Ops swaptotal-2385M", table="parallelio, disk"
    )
    largest = printed["value"].max()
    for share, verdict in ((0.05, "reproduced"), (0.051, "missed")):
        given = answer("C-disk-swaptotal-2385m", figure=share * largest)  # type: ignore[operator]
        row = claims.three_columns(STATED, given, claims.tolerances()).filter(
            claim="C-disk-swaptotal-2385m"
        )
        assert row["simulated_verdict"].to_list() == [verdict]


WIDE = [100.0, 900.0, 500.0, 300.0, 700.0]
BOTH = [80.0, 120.0, 70.0, 130.0, 100.0]


@pytest.mark.parametrize(
    ("base", "value", "verdict"),
    [
        # Rounds are paired: a small change in each counts, however much the rounds differ.
        (WIDE, [each - 5 for each in WIDE], "confirmed"),
        (WIDE, [each + 5 for each in WIDE], "contradicted"),
        # Below one percent of the base nothing falls or rises.
        (WIDE, [each - 4 for each in WIDE], "open"),
        ([100.0] * 5, BOTH, "open"),
        ([100.0] * 4, [50.0] * 4, "open"),
    ],
)
def test_rounds_answer_a_direction(base: list[float], value: list[float], verdict: str) -> None:
    """Each against the same round of the claim's own base."""
    found = claims.answers(STATED, pl.concat([rounds(BASE, base), rounds(SERIES, value)]))
    table = claims.three_columns(STATED, found, claims.tolerances())
    assert table.filter(claim=FALLS)["measured_verdict"].to_list() == [verdict]


def test_answers_are_those_of_a_claims_rows_and_kernels() -> None:
    """Sums, quotients, and a row against another row; rounds of one kernel only answer nothing."""
    assert claims.answers(STATED, rounds(BASE, [1.0] * 5)).is_empty()
    assert claims.answers(STATED, pl.DataFrame(schema=RESULTS.schema)).is_empty()
    stated = pl.concat(
        STATED.filter(claim=FALLS).with_columns(
            claim=pl.lit(name),
            metric=pl.lit(f"{name}: falls"),
            locator=pl.lit(f"prose: x | {row} | a -> b"),
        )
        for name, row in (
            ("sum", "disk: m + disk: n"),
            ("quotient", "disk: m / n"),
            ("against", "disk: n against disk: m"),
        )
    )
    runs = pl.concat(
        rounds(kernel, [each] * 5, metric=metric)
        for kernel, metric, each in (
            *(("a", "disk: m", 8.0), ("a", "disk: n", 2.0)),
            *(("b", "disk: m", 3.0), ("b", "disk: n", 1.0)),
        )
    )
    found = claims.answers(stated, runs)
    assert found.select("claim", "base", "value", "figure").rows() == [
        ("sum", 10.0, 4.0, -60.0),
        ("quotient", 4.0, 3.0, -25.0),
        ("against", 8.0, 1.0, -87.5),
    ]
    assert found["rounds"].to_list() == [5, 5, 5]


def test_a_simulated_figure_is_that_of_the_means_and_its_range_that_of_single_runs() -> None:
    """Over the seeds; over policies one of them is compared, and the range is over constants."""
    swap_out = STATED.filter(claim="A-swap-out")
    labels = {"patch": "01-writeback-tags", "n_tasks": 8}
    runs = pl.concat(
        claims.results(
            [("vmstat.swap.so", value, "KiB/s")],
            {**labels, "kernel": kernel, "policy": f"fit {seed}", "seed": seed},
        )
        for kernel, values in (("base", (1.0e6, 1.0e6)), ("base+patch", (1.1e6, 1.3e6)))
        for seed, value in enumerate(values)
    )
    columns = ("figure", "low", "high", "range_over", "rounds")
    (row,) = claims.answers(swap_out, runs).select(columns).rows()
    assert row == (pytest.approx(20.0), pytest.approx(10.0), pytest.approx(30.0), "seeds", 2)
    (row,) = claims.answers(swap_out, runs, over="policy", at="fit 1").select(columns).rows()
    assert row[0] == pytest.approx(30.0)
    assert row[3] == "open constants"
    ratio = claims.answers(swap_out, runs)["base_ratio"].item()
    assert ratio == pytest.approx(1.0e6 / swap_out["base"].item())


def test_from_a_base_of_zero_a_difference_is_the_answer() -> None:
    """It has no percentage, but a direction."""
    found = claims.paired("c", "measured", dict.fromkeys(range(5), 0.0), dict.fromkeys(range(5), 3))
    assert found is not None
    assert (found.figure, found.low, found.high) == (3.0, 3.0, 3.0)
    assert claims.paired("c", "measured", {1: 1.0}, {2: 1.0}) is None


TWICE = pl.concat([answer("A-swap-out", figure=1.0)] * 2)
UNKNOWN = one_of("change", change=1.0)


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (lambda: claims.answers(STATED, pl.concat([rounds("a", [1.0])] * 2)), "one set-up"),
        (lambda: claims.answers(pl.DataFrame(), rounds("a", [1.0])), "CLAIMS"),
        (lambda: claims.answers(STATED, pl.DataFrame()), "RESULTS"),
        (lambda: claims.answers(STATED, rounds("a", [1.0], source="published")), "drop them"),
        (
            lambda: claims.answers(
                STATED, pl.concat([rounds("a", [1.0]), rounds("b", [1.0], source="simulated")])
            ),
            "two sources",
        ),
        (lambda: claims.three_columns(STATED, TWICE, claims.tolerances()), "simulated twice"),
        (
            lambda: claims.three_columns(UNKNOWN["claims"], TWICE.clear(), claims.tolerances()),
            "has no kind",
        ),
        (lambda: claims.steps(rounds("a", [1.0]), ["a"], ["disk: n"]), "disk: n"),
        (
            lambda: claims.answers(
                STATED.with_columns(locator=pl.lit("prose: patch")), rounds("a", [1.0])
            ),
            "row | kernel -> kernel",
        ),
    ],
)
def test_what_cannot_be_judged_is_refused(call: Callable[[], object], remedy: str) -> None:
    """Two set-ups or sources, two answers to one claim, a claim without a kind."""
    with pytest.raises(InputError, match=re.escape(remedy)):
        call()


def test_steps_go_from_each_policy_to_the_next() -> None:
    """By metric, and only where both have rounds."""
    measured = pl.concat(
        [rounds("a", [5.0] * 5), rounds("b", [3.0] * 5), rounds("c", [1.0, 9.0, 2.0, 8.0, 3.0])]
    )
    found = claims.steps(measured, ["a", "b", "c", "d"], ["disk: Kswapd velocity"])
    assert found.select("base_policy", "policy", "base", "value", "seen").rows() == [
        ("a", "b", 5.0, 3.0, "falls"),
        ("b", "c", 3.0, 3.0, "either"),
    ]


def test_every_claim_has_a_kind_and_every_kind_its_rules() -> None:
    """A claim that repeats another one has the kind of a figure, as that one has."""
    kinds = claims.kinds()
    everything = claims.published_claims()
    assert kinds["claim"].to_list() == everything["claim"].to_list()
    ruled = pl.read_csv(data_root() / "published" / "rules.csv").select("kind", "source").rows()
    assert set(ruled) == {(kind, source) for kind in KIND.words for source in SOURCE.words[1:]}
    directed = kinds.filter(pl.col("kind").is_in(["direction", "guess"]))
    assert directed.filter(pl.col("claimed").is_null())["claim"].to_list() == []
    assert set(kinds["repeats"].drop_nulls()) <= set(kinds["claim"])
    assert set(kinds["seen"].drop_nulls()) <= {"simulated", "measured", "both"}


def test_every_claim_has_an_answer_or_a_reason_and_every_reason_a_claim() -> None:
    """In both columns; a remark has no answer."""
    found = overview.judged()
    for source, words in (("simulated", SIMULATED_VERDICT), ("measured", MEASURED_VERDICT)):
        missing = found.filter(pl.col(f"{source}_verdict") == f"not {source}")
        assert missing.filter(pl.col(f"{source}_reason").is_null())["claim"].to_list() == []
        assert set(found[f"{source}_verdict"]) <= set(words.words)
        reasons = claims.reasons().filter(source=source)["claims"].to_list()
        names = set(missing["claim"])
        unused = [each for each in reasons if not any(matches(each, name) for name in names)]
        assert unused == []
        remarks = found.filter(kind="remark")
        assert set(remarks[f"{source}_verdict"]) == {f"not {source}"}


def matches(pattern: str, name: str) -> bool:
    """Return whether a name has the parts of a pattern between its stars, in order."""
    parts = pattern.split("*")
    if len(parts) == 1:
        return name == pattern
    if not name.startswith(parts[0]) or not name.endswith(parts[-1]):
        return False
    at = len(parts[0])
    for part in parts[1:-1]:
        at = name.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return at <= len(name) - len(parts[-1])
