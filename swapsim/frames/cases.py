# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases as an expression: the word of the first condition that holds."""

import polars as pl


def first(*cases: tuple[pl.Expr | str, str | pl.Expr], otherwise: str | None = None) -> pl.Expr:
    """Return the word of the first true condition; an expression stands for its value."""
    words = (
        pl.when(test).then(pl.lit(word) if isinstance(word, str) else word) for test, word in cases
    )
    return pl.coalesce(*words, pl.lit(otherwise, pl.String))
