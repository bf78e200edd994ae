# SPDX-License-Identifier: GPL-2.0-or-later
"""The generated parts of data/published/README.md: rules, tolerances, examples of verdicts."""

import csv
from collections.abc import Callable, Mapping
from typing import Any, Final

import polars as pl

from swapsim import claims
from swapsim.claims.tables import MEASURED_VERDICT, SIMULATED_VERDICT
from swapsim.errors import InputError
from swapsim.io import read_text
from swapsim.io.paths import data_root

_Row = Mapping[str, Any]


def table_of_rules() -> str:
    """Return the rows of rules.csv as a table of markdown."""
    _, *rules = csv.reader(read_text(data_root() / "published" / "rules.csv").splitlines())
    return _table("claim", "column", "judged by", rows=rules)


def table_of_tolerances() -> str:
    """Return why tolerances are as wide as they are, with the number of claims and one of them."""
    notes = claims.tolerances().group_by("note", maintain_order=True)
    of_note = notes.agg(pl.len(), pl.col("claim", "tolerance").first())
    rows = [
        (note, str(n), f"`{claim}`: {tolerance:,g}")
        for note, n, claim, tolerance in of_note.iter_rows()
    ]
    return _table("a tolerance is", "claims", "for example", rows=rows)


def _reproduced(row: _Row) -> str:
    return f"all of the range is within {_tolerance(row)} of the mail's"


def _missed(row: _Row) -> str:
    return f"all of the range is more than {_tolerance(row)} from the mail's"


def _open(row: _Row) -> str:
    return f"a part of the range is within {_tolerance(row)} of the mail's, and a part is not"


def _tolerance(row: _Row) -> str:
    return f"the tolerance of {row['tolerance']:.1f} points"


def _no_base(row: _Row) -> str:
    return (
        f"without the patch the mail prints {row['base']:,.1f}, and the model gives "
        f"{row['simulated_base']:,.1f}: a factor of {row['base_ratio']:.1f}, so that no change is "
        "printed"
    )


def _of_interval(row: _Row) -> str:
    low, high = row["measured_low"], row["measured_high"]
    side = "below zero" if high < 0 else "above zero" if low > 0 else "on both sides of zero"
    return f"the mail says that it {row['claimed']}, and the interval is {side}"


def _reason(source: str) -> Callable[[_Row], str]:
    return lambda row: str(row[f"{source}_reason"])


EXAMPLES: Final[tuple[tuple[str, str, str, Callable[[_Row], str]], ...]] = (
    ("D3-prose-score", "simulated", "reproduced", _reproduced),
    ("B-elapsed-1", "simulated", "missed", _missed),
    ("B-system-5", "simulated", "base not reproduced", _no_base),
    ("A-swap-out", "simulated", "open", _open),
    ("D-lock-free-pages", "simulated", "not simulated", _reason("simulated")),
    ("C-disk-kswapd-pages-scanned", "measured", "confirmed", _of_interval),
    ("C-prose-disk-await", "measured", "contradicted", _of_interval),
    ("D3-lock-free-entries", "measured", "open", _of_interval),
    ("A-throughput", "measured", "not measured", _reason("measured")),
)
"""A claim, the column that answers it, its verdict there, and what says why."""

_WITHIN: Final = {"simulated": "range", "measured": "interval"}


def table_of_examples(judged: pl.DataFrame) -> str:
    """Return an example of each verdict that a claim has, as a table (THREE_COLUMNS of all claims).

    An example whose claim has another verdict is an InputError.
    """
    texts = claims.claim_texts(judged)
    rows = []
    for claim, source, word, why in EXAMPLES:
        row = judged.row(by_predicate=pl.col("claim") == claim, named=True)
        text = texts.row(by_predicate=pl.col("claim") == claim, named=True)
        if row[f"{source}_verdict"] != word:
            raise InputError(
                f"{claim} is {row[f'{source}_verdict']}, no example of {word}: choose another one",
                field="claim",
            )
        within = text[_WITHIN[source]]
        found = f"{source} {text[source]}" + (f" ({within})" if within else "")
        shown = found if text[source] else "-"
        about = f"`{claim}`: {text['what']}"
        rows.append((f"**{word}**", about, text["published"] or "-", shown, why(row)))
    table = _table("verdict", "claim", "in the mail", "found", "because", rows=rows)
    absent = [
        f"*{word}*"
        for source, column in (("simulated", SIMULATED_VERDICT), ("measured", MEASURED_VERDICT))
        for word in column.words
        if word not in judged[f"{source}_verdict"]
    ]
    without = f"\n\nAt present no claim has the verdict {' or '.join(absent)}."
    return f"{table}{without if absent else ''}"


def _table(*heads: str, rows: list[Any]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows))
