# SPDX-License-Identifier: GPL-2.0-or-later
"""The one scale of verdicts: answers to published claims, judged by the rule of each kind.

A model *reproduces* a claim or *misses* it. A mail is *confirmed* or *contradicted* only by what a
real kernel counts. Kinds, rules and tolerances are stored in data/published before a result is
judged (its README.md).
"""

from fnmatch import fnmatchcase
from typing import Final

import polars as pl

from swapsim.checks import checked
from swapsim.claims import tables
from swapsim.claims.published import kinds as stored_kinds
from swapsim.claims.published import published_tables, simulation_tolerances
from swapsim.claims.published import reasons as stored_reasons
from swapsim.errors import InputError
from swapsim.frames.cases import first
from swapsim.study.ranking import FEWEST_RUNS

COUNT_TOLERANCE_PERCENT: Final = 5.0
"""Largest difference of a simulated count that agrees, in percent; set before the first run."""

NOT_DETERMINABLE_ABOVE: Final = 0.05
"""A claim is not determinable if two equal kernels change by at least as much, in its direction,
with more than this probability."""

STAYS_WITHIN_PERCENT: Final = 10.0
"""Largest change of what stays, in percent: a mail's words are rounded as well."""

VANISHES_BY_PERCENT: Final = 100 * 5 / 6
"""Smallest fall of what vanishes: at most a sixth remains, as for a fall to almost zero."""

SMALLEST_PERCENT: Final = 1.0
"""Smallest change that falls or rises, in percent: below it no side decides, and a mail that prints
less says that nothing changes. Set on 27 November 2026, in sight of the verdicts that it opens; on
28 November it opened those of all ranges that contain 0, in sight of them (`range_verdict`)."""

FACTOR: Final = 2.0
"""Largest quotient, either way, of a simulated and a published base that counts as reproduced, of
two figures without a stored tolerance, of what two falls leave, and of both sides of what falls
slightly. That of patch 03's cells since before its first fit."""

NOTHING_SHARE: Final = 1 / 20
"""Largest figure that counts as the nothing that is printed, as a share of its row's largest."""

_BY_INTERVAL: Final = ("direction", "guess")
_MEASURED: Final = ("measured_low", "measured_high", "measured")


@checked
def three_columns(
    claims: pl.DataFrame,
    answers: pl.DataFrame,
    tolerances: pl.DataFrame,
    *,
    chances: pl.DataFrame | None = None,
    kinds: pl.DataFrame | None = None,
    reasons: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Judge the answers to claims by the rule of each claim's kind, and name why one is missing.

    Answers are at most one for a claim and source; those of other claims are left out. Kinds and
    reasons are by default those of data/published. The result, THREE_COLUMNS, has a row per claim
    in the order of the claims. An InputError says that a table does not have its schema, or that a
    claim has no kind, or two answers of one source.
    """
    tables.CLAIMS.check(claims)
    tables.TOLERANCES.check(tolerances)
    kinds = stored_kinds() if kinds is None else tables.KINDS.check(kinds)
    reasons = stored_reasons() if reasons is None else tables.REASONS.check(reasons)
    chances = (
        pl.DataFrame(schema=tables.CHANCES.schema)
        if chances is None
        else tables.CHANCES.check(chances)
    )
    _require(claims, answers, kinds)
    has_figure = pl.col("kind").is_in(["change", "figure", "remark"])
    table = (
        claims.join(kinds, on="claim", how="left", maintain_order="left")
        .with_columns(
            published=pl.when(has_figure).then(pl.coalesce("change", "value")),
            relative=pl.col("change").is_not_null() | ~has_figure,
            section=pl.col("locator").str.split(" | ").list.first(),
        )
        .join(tolerances.drop("note"), on="claim", how="left", maintain_order="left")
        .join(chances, on="claim", how="left", maintain_order="left")
        .join(_nothing(claims), on="claim", how="left", maintain_order="left")
        .join(_of(answers, "simulated", ""), on="claim", how="left", maintain_order="left")
        .join(_of(answers, "measured", "measured_"), on="claim", how="left", maintain_order="left")
        .with_columns(
            tolerance=pl.coalesce("tolerance", "nothing"),
            unit=pl.when("relative").then(pl.lit("%")).otherwise("unit"),
            claimed=pl.coalesce("claimed", _direction_of_change()),
        )
        .with_columns(
            simulated_verdict=_simulated_verdict(),
            measured_verdict=_measured_verdict(),
            size=_size(),
        )
    )
    return tables.THREE_COLUMNS.check(
        _with_reasons(table, reasons).select(tables.THREE_COLUMNS.names())
    )


def _require(claims: pl.DataFrame, answers: pl.DataFrame, kinds: pl.DataFrame) -> None:
    """Require a kind for each claim, and at most one answer of each source."""
    tables.ANSWERS.check(answers)
    without = claims.join(kinds, on="claim", how="anti")["claim"]
    if len(without):
        raise InputError(
            f"{without[0]!r} has no kind: add its row to data/published/kinds.csv", field="claim"
        )
    twice = answers.filter(answers.select("claim", "source").is_duplicated())
    if twice.height:
        claim, source = twice.select("claim", "source").row(0)
        raise InputError(
            f"{claim!r} is {source} twice: give one answer for each source", field="claim"
        )


def _of(answers: pl.DataFrame, source: str, prefix: str) -> pl.DataFrame:
    """Return the answers of one source, with the names of THREE_COLUMNS."""
    names = {
        "figure": source,
        "what": f"{source}_what",
        "low": f"{prefix}low",
        "high": f"{prefix}high",
        "range_over": f"{prefix}range_over",
        "rounds": f"{source}_rounds",
        "base": f"{source}_base",
        "value": f"{source}_value",
        "base_spread": f"{prefix}base_spread",
    }
    if source == "measured":
        names |= {"held": "held", "cases": "cases"}
    else:
        names["base_ratio"] = "base_ratio"
    there = pl.lit(value=True).alias(f"{source}_there")
    return answers.filter(source=source).select(
        "claim", there, *(pl.col(old).alias(new) for old, new in names.items())
    )


def _direction_of_change() -> pl.Expr:
    """Return the direction of a printed change; null for a figure, or for words alone."""
    change = pl.col("change")
    word = first(
        (change.abs() <= STAYS_WITHIN_PERCENT, "stays"),
        (change < 0, "falls"),
        (change > 0, "rises"),
    )
    return word.cast(tables.DIRECTION.dtype)


def _nothing(claims: pl.DataFrame) -> pl.DataFrame:
    """Return the largest figure that counts as nothing, for each claim of a table that prints 0.

    It is a share of the row's largest printed cell, or what simulation-tolerances.csv stores.
    """
    largest = published_tables().group_by("mail", "metric", "table").agg(pl.col("value").max())
    stored = simulation_tolerances().select("table", "metric", "nothing")
    known = largest.join(stored, on=["table", "metric"], how="left").with_columns(
        metric=pl.format("{}: {}", pl.col("table").str.split(", ").list.last(), "metric"),
        nothing=pl.max_horizontal(NOTHING_SHARE * pl.col("value"), pl.col("nothing").fill_null(0)),
    )
    return (
        claims.filter(value=0.0)
        .select("claim", "mail", "metric")
        .join(known, on=["mail", "metric"], how="inner")
        .group_by("claim", maintain_order=True)
        .agg(pl.col("nothing").max())
    )


def _base_not_reproduced() -> pl.Expr:
    """Return whether the simulated base is another than the published one.

    A printed base of zero is judged by what counts as zero in its row.
    """
    ratio = pl.col("base_ratio")
    other = (ratio > FACTOR) | (ratio < 1 / FACTOR)
    return other | ((pl.col("base") == 0) & (pl.col("simulated_base") > pl.col("tolerance")))


def _by_interval(prefix: str, source: str, yes: str, no: str) -> pl.Expr:
    """Judge a direction by the interval of the difference, in percent of the base.

    From a base of zero only what is zero stays. A printed change of up to STAYS_WITHIN_PERCENT
    stays, too, but an interval that is on the other side of zero confirms none, nor does one that
    contains zero if SMALLEST_PERCENT or more is printed; a change by no more than the rounds of the
    base differ contradicts none. What falls or rises does so by SMALLEST_PERCENT; what falls
    slightly does not fall below half, and what vanishes does so in all of the interval, else it is
    open.
    """
    low, high = pl.col(f"{prefix}low"), pl.col(f"{prefix}high")
    base, rounds = f"{source}_base", f"{source}_rounds"
    claimed = pl.col("claimed")
    seen = (pl.col(source).abs() >= SMALLEST_PERCENT) | (pl.col(base) == 0).fill_null(value=False)
    below, above = (high < 0) & seen, (low > 0) & seen
    width = pl.when(pl.col(base) == 0).then(0.0).otherwise(STAYS_WITHIN_PERCENT)
    halved = pl.lit(100 / FACTOR - 100)
    all_vanished, some_vanished = (end <= -VANISHES_BY_PERCENT for end in (high, low))
    stays = (claimed == "stays") | claimed.is_null()
    spread = pl.col(f"{prefix}base_spread").fill_null(0.0)
    zero = ((low <= 0) & (high >= 0) & _changes()).fill_null(value=False)
    undecided = _opposite(low, high) | zero
    return first(
        (pl.col(rounds) < FEWEST_RUNS, "open"),
        ((claimed == "falls") & below, yes),
        ((claimed == "falls") & above, no),
        ((claimed == "rises") & above, yes),
        ((claimed == "rises") & below, no),
        ((claimed == "falls slightly") & below & (low >= halved), yes),
        ((claimed == "falls slightly") & (above | (high < halved)), no),
        ((claimed == "vanishes") & below & all_vanished, yes),
        ((claimed == "vanishes") & (above | (below & ~some_vanished)), no),
        (stays & (low >= -width) & (high <= width) & ~undecided, yes),
        (stays & ((low > width) | (high < -width)) & (pl.col(source).abs() > spread), no),
        otherwise="open",
    )


def _simulated_verdict() -> pl.Expr:
    """Return the SIMULATED_VERDICT of each claim by its kind."""
    judged = pl.col("kind").is_in(["change", "figure"])
    verdict = first(
        (pl.col("simulated_there").is_null(), "not simulated"),
        (pl.col("kind").is_in(_BY_INTERVAL), _by_interval("", "simulated", "reproduced", "missed")),
        (judged & _base_not_reproduced(), "base not reproduced"),
        (pl.col("chance") > NOT_DETERMINABLE_ABOVE, "not determinable"),
        (_cannot_be_left(), "open"),
        (pl.lit(value=True), range_verdict("low", "high", "simulated")),
        otherwise="open",
    )
    return verdict.cast(tables.SIMULATED_VERDICT.dtype)


def _cannot_be_left() -> pl.Expr:
    """Return whether a model leaves none of so few that the printed rest is less than one."""
    rest = pl.col("simulated_base") * (100 + pl.col("published")) / 100
    return (pl.col("kind") == "change") & (pl.col("simulated_value") == 0) & (rest > 0) & (rest < 1)


def _changes() -> pl.Expr:
    """Return whether a mail prints a figure, or a change of SMALLEST_PERCENT or more."""
    size = pl.col("published").abs()
    return pl.when(kind="change").then(size >= SMALLEST_PERCENT).otherwise(size > 0)


def _opposite(low: pl.Expr, high: pl.Expr) -> pl.Expr:
    """Return whether a whole range has the other sign than the whole published one.

    The published range is the printed change with its printed deviation.
    """
    error = pl.col("error").fill_null(0.0)
    fell, rose = pl.col("published") + error < 0, pl.col("published") - error > 0
    against = (fell & (low > 0)) | (rose & (high < 0))
    return (pl.col("kind") == "change") & against.fill_null(value=False)


def _measured_verdict() -> pl.Expr:
    """Return the MEASURED_VERDICT of each claim by its kind.

    A kernel that counts nothing without the patch and with it, where the mail counts something,
    has not done what the claim is about.
    """
    held, cases = pl.col("held"), pl.col("cases")
    words = ("confirmed", "contradicted")
    figure = range_verdict(*_MEASURED, *words)
    verdict = first(
        (pl.col("measured_there").is_null(), "not measured"),
        (cases == 0, "open"),
        (held == cases, "confirmed"),
        (cases.is_not_null(), "contradicted"),
        ((pl.col("base") > 0) & (pl.col("measured_base") == 0) & (pl.col("measured") == 0), "open"),
        (pl.col("kind") == "figure", figure),
        (pl.lit(value=True), _by_interval("measured_", "measured", *words)),
    )
    return verdict.cast(tables.MEASURED_VERDICT.dtype)


def _size() -> pl.Expr:
    """Return whether a measured change is as large as the published one (SIZE)."""
    size = range_verdict(*_MEASURED, "as published", "other")
    percent = (pl.col("measured_base") != 0).fill_null(value=True)  # a change from 0 has none
    judged = (pl.col("kind") == "change") & pl.col("tolerance").is_not_null() & percent
    return pl.when(judged & (size != "open")).then(size).cast(tables.SIZE.dtype)


def _with_reasons(table: pl.DataFrame, reasons: pl.DataFrame) -> pl.DataFrame:
    """Add why a claim has no answer: the first row of REASONS that names it."""
    columns = {}
    for source in ("simulated", "measured"):
        patterns = reasons.filter(source=source).select("claims", "reason").rows()
        found = [
            None
            if there
            else next((why for names, why in patterns if fnmatchcase(claim, names)), None)
            for claim, there in table.select("claim", f"{source}_there").iter_rows()
        ]
        name = f"{source}_reason"
        columns[name] = pl.Series(name, found, dtype=tables.REASONS.schema["reason"])
    return table.with_columns(**columns)


@checked
def range_verdict(
    low: str, high: str, figure: str | None = None, yes: str = "reproduced", no: str = "missed"
) -> pl.Expr:
    """Judge a range, of two columns, by the columns ``kind, published, tolerance`` and ``error``.

    This is the rule of every printed change and figure, of a model as of a user's measurements:
    *reproduced* if all of the range lies within what agrees, *missed* if all of it lies outside or
    has the other sign, else *open*. It is also open if no change, or zero, would agree, too. A
    ``figure`` that has no range is one by itself; without either the verdict is null.
    """
    bottom, top = (pl.coalesce(end, figure) if figure else pl.col(end) for end in (low, high))
    least, most = _agreeing()
    return first(
        ((top < least) | (bottom > most) | _opposite(bottom, top), no),
        (decides_nothing(), "open"),
        ((bottom >= least) & (top <= most), yes),
        (bottom.is_not_null(), "open"),
    )


def decides_nothing() -> pl.Expr:
    """Return whether no change, or zero, would agree with what is printed, too."""
    least, most = _agreeing()
    return _changes() & (least <= 0) & (most >= 0)


def _agreeing() -> tuple[pl.Expr, pl.Expr]:
    """Return the least and the largest figure that agree with the published one.

    They are a tolerance away, without one FACTOR. Where a tolerance would let all of it fall away,
    a fall is judged by what is left: within FACTOR of what the mail leaves; if that is nothing, at
    most NOTHING_SHARE.
    """
    published, tolerance = pl.col("published"), pl.col("tolerance")
    left = 100 + published
    ends = (published / FACTOR, published * FACTOR)
    by_factor = (pl.min_horizontal(ends), pl.max_horizontal(ends))
    most_left = pl.when(left > 0).then(FACTOR * left).otherwise(100 * NOTHING_SHARE)
    by_rest = (left / FACTOR - 100, most_left - 100)
    by_tolerance = (published - tolerance, published + tolerance)
    falls_away = (pl.col("kind") == "change") & (by_tolerance[0] <= -100)
    least, most = (
        pl.when(tolerance.is_null()).then(one).when(falls_away).then(two).otherwise(three)
        for one, two, three in zip(by_factor, by_rest, by_tolerance, strict=True)
    )
    return least, most


def agreement(within: pl.Expr) -> pl.Expr:
    """Return the SIMULATED_VERDICT reproduced where a condition is true, missed where false."""
    return first((within, "reproduced"), (~within, "missed")).cast(tables.SIMULATED_VERDICT.dtype)


@checked
def compare_counts(simulated: pl.DataFrame, medians: pl.DataFrame) -> pl.DataFrame:
    """Compare the means of simulated RESULTS with measured MEDIANS under the same workload.

    There is one row per policy and metric that both have. A count is reproduced within
    COUNT_TOLERANCE_PERCENT of the measured median. Without a common one it is an InputError.
    """
    tables.RESULTS.check(simulated)
    tables.MEDIANS.check(medians)
    keys = ["policy", "metric", "unit"]
    means = (
        simulated.sort(pl.all())  # float sums depend on their order
        .group_by(keys, maintain_order=True)
        .agg(simulated=pl.col("value").mean())
    )
    frame = (
        simulated.select(keys)
        .unique(maintain_order=True)
        .join(means, on=keys, how="left", maintain_order="left")
        .join(medians, on=keys, how="inner", maintain_order="left")
        .rename({"median": "measured"})
        .with_columns(
            apart_percent=100 * (pl.col("simulated") - pl.col("measured")) / pl.col("measured")
        )
        .with_columns(verdict=agreement(pl.col("apart_percent").abs() <= COUNT_TOLERANCE_PERCENT))
    )
    if frame.is_empty():
        raise InputError(
            "the simulation and the kernel have no policy and metric in common: "
            "give those of one experiment"
        )
    return frame.select(*keys, "simulated", "measured", "low", "high", "apart_percent", "verdict")
