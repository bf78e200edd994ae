# SPDX-License-Identifier: GPL-2.0-or-later
"""How many claims have each verdict: in sentences, in a table, by mail."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.claims.judging import SMALLEST_PERCENT
from swapsim.claims.tables import ANSWERS, MEASURED_VERDICT, SIMULATED_VERDICT
from swapsim.claims.texts import COUNTED
from swapsim.frames.cases import first
from swapsim.study.ranking import FEWEST_RUNS, coverage

DECIDED: Final = {"simulated": ("reproduced", "missed"), "measured": ("confirmed", "contradicted")}
"""The verdicts that decide a claim, by the column that has them: first what agrees."""


def verdict_of(source: str) -> pl.Expr:
    """Return the words of a column's verdicts."""
    return pl.col(f"{source}_verdict").cast(pl.String)


def seen_in(source: str) -> pl.Expr:
    """Return whether a page had shown a column's figure before its rule was stored."""
    return pl.col("seen").is_in([source, "both"]).fill_null(value=False)


@dataclass(frozen=True, slots=True)
class _Standing:
    """The verdicts of one source on all claims: how many decide them, and how many do not.

    Nothing changes where the mail prints the same figure twice or says that it stays, and where
    each run of the model or the kernel has the same change of 0.
    """

    decided: dict[str, int]
    unchanged: list[int]
    """In how many of the decided ones, by verdict, nothing changes."""
    seen: int
    """How many of the decided ones a page had shown before their rule was stored."""
    undecided: list[str]


def _standings(three_columns: pl.DataFrame) -> Iterator[tuple[str, _Standing]]:
    own = three_columns.filter(pl.col("repeats").is_null())
    counted = claims.verdicts_by_mail(three_columns)
    stated = (pl.col("claimed") == "stays") | (pl.col("base") == pl.col("value"))
    for source, words in DECIDED.items():
        ends = (f"{'measured_' * (source == 'measured')}{end}" for end in ("low", "high"))
        constant = pl.all_horizontal(pl.col(source, *ends) == 0).fill_null(value=False)
        unchanged = own.filter(stated.fill_null(value=False) | constant)
        total = totals(counted, source)
        found = {word: total[word.replace(" ", "_")] for word in COUNTED}
        decided = {word: n for word in words if (n := found.pop(word))}
        found["with a reason"] = total["no_answer"]
        yield (
            source,
            _Standing(
                decided,
                [unchanged.filter(verdict_of(source) == word).height for word in decided],
                own.filter(verdict_of(source).is_in(decided), seen_in(source)).height,
                [f"{n} {word}" for word, n in found.items() if n],
            ),
        )


def sentences(three_columns: pl.DataFrame) -> str:
    """Return two sentences on how many claims have each verdict (THREE_COLUMNS)."""
    number = three_columns["repeats"].null_count()
    who = {
        "simulated": f"Of {number} claim{'s' * (number != 1)} the models decide",
        "measured": "Real kernels decide",
    }
    said = []
    for source, each in _standings(three_columns):
        named = ", ".join(f"{n} {word}" for word, n in each.decided.items())
        if any(each.unchanged):
            named += f"; in {_joined(each.unchanged)} of these nothing changes"
        decided = f"{sum(each.decided.values())}" + f" ({named})" * bool(named)
        rest = f"; undecided: {', '.join(each.undecided)}" * bool(each.undecided)
        said.append(f"{who[source]} {decided}{rest}.")
    return " ".join(said)


def table(three_columns: pl.DataFrame) -> pl.DataFrame:
    """Return the figures of `sentences` and `shown_before`, a row for each column of verdicts."""
    rows = [
        {
            f"{three_columns['repeats'].null_count()} claims": source,
            "decided": ", ".join(f"{n} {word}" for word, n in each.decided.items()),
            "of these, nothing changes": ", ".join(map(str, each.unchanged)),
            "of these, rule older than figure": f"{sum(each.decided.values()) - each.seen}",
            "undecided": ", ".join(each.undecided),
        }
        for source, each in _standings(three_columns)
    ]
    return pl.DataFrame(rows)


def weak_evidence(three_columns: pl.DataFrame) -> str:
    """Return sentences on the measured verdicts that rest on the least, and on what chance does."""
    nfs = three_columns.filter(_OVER_NFS)
    of_nfs = [nfs.filter(measured_verdict=word).height for word in DECIDED["measured"]]
    contended = three_columns.filter(
        pl.col("measured_what").str.starts_with("contended acquisitions"),
        measured_verdict="confirmed",
    )
    own = three_columns.filter(pl.col("repeats").is_null())
    decided = own.filter(verdict_of("measured").is_in(DECIDED["measured"]))
    # A count in another unit has the same change; all of what is or leaves nothing has one change;
    # and what the code does has no base, so that each of its claims counts for itself.
    factor = pl.col("measured_value") / pl.col("measured_base")
    of_claims = pl.coalesce(
        pl.when(factor.is_finite(), factor != 0, factor != 1).then(factor.round(4).cast(pl.String)),
        pl.format("{} {}", "measured_base", "measured_value"),
        "claim",
    )
    moves = own.filter(pl.col("claimed") != "stays", pl.col("measured_rounds") >= FEWEST_RUNS)
    by_chance = sum(1 - coverage(rounds) for rounds in moves["measured_rounds"])
    found, without_nfs = (
        _joined(rows.filter(measured_verdict=word).height for word in DECIDED["measured"])
        for rows in (moves, moves.filter(~_OVER_NFS))
    )
    return (
        f"Of the confirmed and contradicted ones {_joined(of_nfs)} are over NFS, in a guest that "
        f"is its own server and so stalls itself; {contended.height} of the confirmed count "
        "contended acquisitions, which depend on the emulator's timing. All "
        f"{decided.height} rest on {decided.select(of_claims).n_unique()} different counts. If "
        f"nothing moved, chance would decide {by_chance:.0f} of the {moves.height} directions that "
        f"have {FEWEST_RUNS} rounds or more; {found} are confirmed and contradicted, without those "
        f"over NFS {without_nfs}."
    )


_OVER_NFS: Final = pl.col("claim").str.contains("-nfs-")


def _joined(numbers: Iterable[int]) -> str:
    return " and ".join(map(str, numbers))


def shown_before(three_columns: pl.DataFrame) -> str:
    """Return how many decided claims a page had shown before their rule, empty without one."""
    seen = [
        f"{each.seen} of the {sum(each.decided.values())} {source}"
        for source, each in _standings(three_columns)
        if each.decided
    ]
    if not seen:
        return ""
    return f"Of what is decided {' and '.join(seen)} had been on a page before its rule was stored."


def by_mail(counted: pl.DataFrame) -> pl.DataFrame:
    """Return `claims.verdicts_by_mail` with a row for each mail, or other keys, for a page.

    First come the verdicts on simulated answers, then those on measured ones.
    """
    keys = [*counted.columns[: counted.columns.index("source")], "claims"]
    of_model, of_kernel = (
        counted.filter(source=source).select(
            *keys,
            *(pl.col(word.replace(" ", "_")).alias(word) for word in words if word in COUNTED),
            pl.col("no_answer").alias(f"not {source}"),
        )
        for source, words in (
            ("simulated", SIMULATED_VERDICT.words),
            ("measured", MEASURED_VERDICT.words),
        )
    )
    of_kernel = of_kernel.rename({"open": "open, measured"})
    return of_model.join(of_kernel, on=keys, maintain_order="left")


_KINDS: Final = (
    *(
        "change of 1 % or more",
        "change below 1 %",
        "figure",
        "direction",
        "guess",
        "code",
        "remark",
    ),
)
_KIND: Final = first(
    (pl.col("kind") != "change", pl.col("kind").cast(pl.String)),
    (pl.col("published").abs() >= SMALLEST_PERCENT, _KINDS[0]),
    otherwise=_KINDS[1],
).cast(pl.Enum(_KINDS))
_NULL: Final = "reproduced by a null model"


def by_kind(three_columns: pl.DataFrame) -> pl.DataFrame:
    """Return how many claims of each kind have each verdict, as `by_mail` does.

    Next to those that the models reproduce are those that `nothing_changes` would reproduce.
    """
    counted, null = (
        by_mail(claims.verdicts_by_mail(rows.with_columns(kind=_KIND).sort("kind"), ["kind"]))
        for rows in (three_columns, nothing_changes(three_columns))
    )
    found = counted.join(null.select("kind", pl.col("reproduced").alias(_NULL)), on="kind")
    first_ones = ("kind", "claims", "reproduced", _NULL)
    return found.sort("kind").select(*first_ones, pl.exclude(first_ones))


def compared(three_columns: pl.DataFrame) -> str:
    """Return sentences on the null model and on what both columns decide."""
    kinds = by_kind(three_columns)
    large = kinds.row(0, named=True)
    pairs = both_columns(three_columns).rows_by_key("simulated", named=True, unique=True)
    both = ", ".join(
        f"{pairs[one][other]} {one} and {other}"
        for one in DECIDED["simulated"]
        for other in DECIDED["measured"]
        if one in pairs and pairs[one].get(other)
    )
    return (
        f"Of the {large['claims']} printed changes of 1 % or more the models reproduce "
        f"{large['reproduced']}, and in {large['base not reproduced']} they miss the base; a null "
        f"model, in which no patch changes anything, would reproduce {large[_NULL]} of these, and "
        f"{kinds[_NULL].sum()} of all claims. Decided by both columns: {both or 'none'}."
    )


def nothing_changes(three_columns: pl.DataFrame) -> pl.DataFrame:
    """Judge a model in which no patch changes anything, where a model has an answer.

    It has the mails' own bases, and no range. A figure that has no printed base has no answer.
    """
    figure = pl.when(kind="figure").then("base").otherwise(0.0)
    answers = three_columns.filter(pl.col("simulated_value").is_not_null()).select(
        "claim",
        "base",
        source=pl.lit("simulated"),
        value="base",
        figure=figure,
        low=figure,
        high=figure,
        range_over=pl.lit("seeds"),
        rounds=pl.lit(FEWEST_RUNS),
    )
    known = answers.drop_nulls("figure")
    columns = (
        pl.col(name).cast(dtype) if name in known.columns else pl.lit(None, dtype).alias(name)
        for name, dtype in ANSWERS.schema.items()
    )
    stated = claims.published_claims().join(three_columns, on="claim", how="semi")
    chances = three_columns.select("claim", "chance").drop_nulls()
    return claims.three_columns(stated, known.select(columns), claims.tolerances(), chances=chances)


def both_columns(three_columns: pl.DataFrame) -> pl.DataFrame:
    """Return how many claims have each pair of a simulated and a measured verdict."""
    own = three_columns.filter(pl.col("repeats").is_null())
    pairs = own.group_by("simulated_verdict", "measured_verdict").len()
    wide = pairs.sort("measured_verdict").pivot(
        "measured_verdict", index="simulated_verdict", values="len"
    )
    return wide.sort("simulated_verdict").fill_null(0).rename({"simulated_verdict": "simulated"})


def totals(counted: pl.DataFrame, source: str) -> dict[str, int]:
    """Return the sums over all mails of the counts of one source."""
    rows = counted.filter(source=source)
    return {name: int(rows[name].sum()) for name in counted.columns[3:]}
