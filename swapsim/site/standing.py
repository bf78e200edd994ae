# SPDX-License-Identifier: GPL-2.0-or-later
"""How many claims have each verdict: in sentences, in a table, by mail."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from swapsim import claims
from swapsim.claims.tables import MEASURED_VERDICT, SIMULATED_VERDICT
from swapsim.claims.texts import COUNTED
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
    nfs = three_columns.filter(pl.col("claim").str.contains("-nfs-"))
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
    moves = own.filter(
        pl.col("claimed").is_in(["falls", "rises", "vanishes"]),
        pl.col("measured_rounds") >= FEWEST_RUNS,
    )
    by_chance = sum(1 - coverage(rounds) for rounds in moves["measured_rounds"])
    return (
        f"Of the confirmed and contradicted ones {_joined(of_nfs)} are over NFS, in a guest that "
        f"is its own server and so stalls itself; {contended.height} of the confirmed count "
        "contended acquisitions, which depend on the emulator's timing. All "
        f"{decided.height} rest on {decided.select(of_claims).n_unique()} different counts. If "
        f"nothing moved, chance would decide {by_chance:.0f} of the {moves.height} directions that "
        f"have {FEWEST_RUNS} rounds or more."
    )


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
    """Return `claims.verdicts_by_mail` with a row for each mail, for a page.

    First come the verdicts on simulated answers, then those on measured ones.
    """
    of_model, of_kernel = (
        counted.filter(source=source).select(
            *_KEYS,
            *(pl.col(word.replace(" ", "_")).alias(word) for word in words if word in COUNTED),
            pl.col("no_answer").alias(f"not {source}"),
        )
        for source, words in (
            ("simulated", SIMULATED_VERDICT.words),
            ("measured", MEASURED_VERDICT.words),
        )
    )
    of_kernel = of_kernel.rename({"open": "open, measured"})
    return of_model.join(of_kernel, on=_KEYS, maintain_order="left")


_KEYS: Final = ["patch", "mail", "claims"]


def totals(counted: pl.DataFrame, source: str) -> dict[str, int]:
    """Return the sums over all mails of the counts of one source."""
    rows = counted.filter(source=source)
    return {name: int(rows[name].sum()) for name in counted.columns[3:]}
