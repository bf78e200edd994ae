# SPDX-License-Identifier: GPL-2.0-or-later
"""The lists of a recording, decided by each set of rules: on how many two sets agree."""

from itertools import combinations

import polars as pl

from swapsim.ffi import STALL_RULES
from swapsim.stall.tables import DECIDED_LISTS


def agreement(decided: pl.DataFrame) -> pl.DataFrame:
    """Compare each two rule sets on DECIDED_LISTS: a row for each pair, ``one`` the older.

    The number of ``lists``, and in percent, on how many both take the same ``decisions``, set the
    same ``flags``, request the same ``sleeps``, and treat all ``folios`` alike.
    """
    known = set(DECIDED_LISTS.check(decided)["rules"])
    flags, sleeps = _same("flags_set"), _same("forced") & _same("waits")
    tests = {
        "decisions": flags & sleeps,
        "flags": flags,
        "sleeps": sleeps,
        "folios": _same("branches"),
    }
    percent = {name: 100 * test.mean() for name, test in tests.items()}
    return pl.concat(
        _joined(decided, one, other).select(
            pl.lit(one).alias("one"), pl.lit(other).alias("other"), lists=pl.len(), **percent
        )
        for one, other in combinations([rules for rules in STALL_RULES if rules in known], 2)
    )


def agreement_table(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the decisions of `agreement` as a square: a row and a column for each rule set."""
    percent = pairs.select("one", "other", percent="decisions")
    rules = [name for name in STALL_RULES if name in {*pairs["one"], *pairs["other"]}]
    own = pl.DataFrame({"one": rules, "other": rules, "percent": 100.0})
    mirrored = percent.select(one="other", other="one", percent="percent")
    square = pl.concat([percent, mirrored, own]).pivot("other", index="one", values="percent")
    order = pl.DataFrame({"one": rules})
    return order.join(square, on="one", maintain_order="left").select(
        pl.col("one").alias("rules"), *rules
    )


def rounded(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the decisions of `agreement` with one decimal, and 100 only where all lists agree."""
    share = pl.col("decisions")
    below = pl.min_horizontal(share.round(1), 99.9)
    return pairs.with_columns(decisions=pl.when(share < 100).then(below).otherwise(share))


def _joined(decided: pl.DataFrame, one: str, other: str) -> pl.DataFrame:
    """Join the lists of two sets; the columns of the second end in ``_other``."""
    of_one, of_other = (decided.filter(pl.col("rules") == rules) for rules in (one, other))
    return of_one.join(of_other, on="nth", suffix="_other", maintain_order="left")


def _same(name: str) -> pl.Expr:
    return pl.col(name) == pl.col(f"{name}_other")
