# SPDX-License-Identifier: GPL-2.0-or-later
"""A mail's table next to models and a real kernel (`published.compare`): as text, HTML, chart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

import altair as alt
import polars as pl

from swapsim import published
from swapsim.published import ALIKE, CHANGED, NOTHING, SAME, UNCHANGED, short

_STYLE: Final = (
    ".mail{overflow-x:auto}.mail table{font-variant-numeric:tabular-nums;border-collapse:collapse}"
    ".mail td,.mail th{text-align:right;white-space:nowrap;padding:1px 8px}"
    ".mail .left{text-align:left}.mail .agrees,.mail .stays{color:#1a9850}"
    ".mail .differs,.mail .moves{color:#e5534b}.mail .other{color:#b7791f}"
    ".mail .blank,.mail .unclear{color:#8c959f}"
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A table for a terminal (text) and for a page (HTML): columns of words are on the left."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[int]
    notes: Sequence[str]

    def __str__(self) -> str:
        """Return the table as text, with its score."""
        cells = [self.heads, *self.rows]
        widths = [max(len(row[column]) for row in cells) for column in range(len(self.heads))]
        lines = [
            "  ".join(
                text.ljust(width) if column in self.words else text.rjust(width)
                for column, (text, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in cells
        ]
        return "\n".join([self.title, *lines, *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        marks = {*CHANGED, *UNCHANGED}

        def cell(text: str, column: int, kind: str) -> str:
            named = text if text in marks else "blank" if column else ""
            of_words = f' class="left {named}"' if column in self.words else ""
            return f"<{kind}{of_words}>{escape(text)}</{kind}>"

        def line(row: Sequence[str], kind: str) -> str:
            return "".join(cell(text, column, kind) for column, text in enumerate(row))

        body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in self.rows)
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return (
            f'<style>{_STYLE}</style><div class="mail"><b>{escape(self.title)}</b><table>'
            f"<thead><tr>{line(self.heads, 'th')}</tr></thead><tbody>{body}</tbody></table>"
            f"{notes}</div>"
        )


def show(compared: pl.DataFrame) -> Shown:
    """Return a table for reading, with its score below it.

    ``base`` is the model's figure without the patch divided by the mail's, or "fit" where a
    constant was fitted to that cell; a dot follows a ratio that is unchanged in the mail.
    """
    mail, name = compared.select("mail", "table").row(0)
    kernels = published.table(mail, name).columns[2:-2]
    figures = ("first", "base", "patched")[-len(kernels) :]
    heads, words = ["", *kernels, "ratio"], [0]
    for source in published.sources(compared):
        heads += ["base"] * (source == "simulated") + [source, "range", ""]
        words.append(len(heads) - 1)
    rows = []
    for row in compared.iter_rows(named=True):
        cells = [short(row["metric"]), *(_figure(row[each]) for each in figures)]
        cells.append(_ratio(row, "") + " ·" * bool(row["unchanged"]))
        for source in published.sources(compared):
            cells += [_base(row)] * (source == "simulated")
            word = row[f"{source}_mark"] or row[f"{source}_blank"] or ""
            cells += [_ratio(row, f"{source}_"), _range(row, source), word]
        rows.append(cells)
    return Shown(f"{mail}: {published.title(mail)} - {name}", heads, rows, words, _notes(compared))


def _notes(compared: pl.DataFrame) -> list[str]:
    """Return a line on each score, and what is counted in place of a time."""
    notes = []
    for row in published.score(compared).iter_rows(named=True):
        counts = ", ".join(
            f"{row[each]} {each}" for each in dict.fromkeys((*CHANGED, *UNCHANGED)) if row.get(each)
        )
        notes.append(
            f"{row['source']}: of {row['printed']} {row['rows']} rows {row['answered']} answered: "
            f"{counts}; a model of nothing has {row['nothing']}"
        )
    what = ", ".join(compared["measured_what"].drop_nulls().unique(maintain_order=True))
    return notes + [f"measured: {what}"] * bool(what)


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}" if value.is_integer() else f"{value:,.2f}"


def _ratio(row: Mapping[str, Any], source: str) -> str:
    """Return a ratio, in words where nothing was or nothing is left."""
    found, base, patched = (row[f"{source}{each}"] for each in ("ratio", "base", "patched"))
    if found is None or base is None or patched is None:
        return "" if found is None else f"{found:.2f}" if base is patched else "gone"
    if base == patched == 0 or (found == 1 and base != patched):
        return "=" if base == patched else "~0"
    if not base or not patched:
        return "new" if not base else "0"
    exact = patched / base
    return f"{exact:.{0 if exact >= 9.95 else 2 if exact >= 0.01 else 3}f}"


def _range(row: Mapping[str, Any], source: str) -> str:
    low, high = row[f"{source}_low"], row[f"{source}_high"]
    if low is None or low == high:
        return ""
    return "-".join(f"{each:.{2 if each < 9.95 else 0}f}" for each in (low, high))


def _base(row: Mapping[str, Any]) -> str:
    """Return how many times the mail's figure without the patch the model's is."""
    if row["simulated_fitted"]:
        return "fit"
    model = row["simulated_base"]
    return f"x{model / row['base']:.2g}" if row["base"] and model is not None else ""


_MARKS: Final = {
    "simulated": ("#d9730d", "circle", -3),
    "measured": ("#1a9850", "diamond", 4),
    "yours": ("#8250df", "square", 0),
}
"""Colour, shape and lift of a source's marks."""

_WORDS: Final = {
    **dict.fromkeys(("agrees", "stays"), "#1a9850"),
    **dict.fromkeys(("differs", "moves"), "#e5534b"),
    "other size": "#b7791f",
}
_PUBLISHED, _GREY = "#4a90d9", "#8c959f"
_TICKS: Final = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20)
_STEP: Final = 20


def chart(compared: pl.DataFrame) -> alt.HConcatChart:
    """Draw patched / base of each row: published with what agrees, simulated, measured, by hand.

    Next to it stand the printed figures, and the mark of each source, or why it has none.
    """
    mail, name = compared.select("mail", "table").row(0)
    sources = published.sources(compared)
    alike = pl.when("unchanged").then(SAME).otherwise(pl.col("ratio").pow(ALIKE))
    least = pl.when("unchanged").then(1 / SAME).otherwise(pl.col("ratio").pow(1 / ALIKE))
    rows = compared.with_row_index("at").with_columns(alike=alike, least=least)
    shown = ["ratio", "alike", "least"]
    shown += [f"{each}_{end}" for each in sources for end in ("ratio", "low", "high")]
    rows = rows.with_columns(pl.col(shown).clip(NOTHING, 1 / NOTHING))
    ends = [each for column in shown for each in rows[column].drop_nulls()]
    domain = [min(*ends, 0.5) * 0.95, max(*ends, 1.5) * 1.05]
    scale = alt.Scale(type="log", domain=domain, nice=False)
    ticks = [each for each in _TICKS if domain[0] <= each <= domain[1]]
    axis = alt.Axis(values=ticks, format="~g", title="patched / base")

    def x(column: str) -> alt.X:
        return alt.X(f"{column}:Q", scale=scale, axis=axis)

    names = [short(metric) for metric in compared["metric"]]
    label = alt.Axis(
        labelExpr=f"{names}[datum.value]", title=None, labelLimit=330, ticks=False, domain=False
    )
    base = alt.Chart(rows).encode(y=alt.Y("at:O", axis=label))
    colour = alt.condition("datum.unchanged", alt.value(_GREY), alt.value(_PUBLISHED))
    one = alt.Chart(pl.DataFrame({"one": [1.0]})).mark_rule(color=_GREY).encode(x=x("one"))
    layers = [
        base.mark_bar(height=15, opacity=0.25).encode(x=x("least"), x2="alike:Q", color=colour),
        one,
        base.mark_tick(thickness=3, height=15, color=_PUBLISHED).encode(x=x("ratio")),
    ]
    for source in sources:
        paint, shape, lift = _MARKS[source]
        of_range = base.mark_rule(color=paint, strokeWidth=2, yOffset=lift)
        point = base.mark_point(
            filled=True, opacity=1, size=60, color=paint, shape=shape, yOffset=lift
        )
        layers.append(of_range.encode(x=x(f"{source}_low"), x2=f"{source}_high:Q"))
        layers.append(point.encode(x=x(f"{source}_ratio")))
    subtitle = "bar: published, with what agrees (grey: unchanged in the mail); circle: simulated"
    subtitle += "; diamond: measured" + "; square: yours" * ("yours" in sources)
    if compared["hand"].count():
        cross = base.mark_point(shape="cross", filled=True, size=50, color=_GREY, yOffset=4)
        layers.append(cross.encode(x=x("hand")))
        subtitle += "; cross: by hand (Amdahl)"
    printed = [
        " → ".join(_figure(each) or "not listed" for each in pair)
        if any(pair) or 0.0 in pair
        else ""
        for pair in compared.select("base", "patched").iter_rows()
    ]
    words = [
        _column(printed, "published", 140),
        *(
            _column(
                compared[f"{each}_mark"].to_list(), each, 90, compared[f"{each}_blank"].to_list()
            )
            for each in sources
        ),
    ]
    title = alt.Title(f"{mail}: {published.title(mail)} - {name}", subtitle=subtitle)
    plot = alt.layer(*layers).properties(width=400, height=alt.Step(_STEP))
    return alt.hconcat(plot, *words, spacing=8).properties(title=title)


def _column(
    texts: Sequence[str | None], head: str, width: int, blanks: Sequence[str | None] | None = None
) -> alt.Chart:
    """Return words next to the rows: a mark has its colour, and why there is none is grey."""
    rows = [
        {"at": at, "text": text or (blanks[at] if blanks is not None else None) or ""}
        for at, text in enumerate(texts)
    ]
    drawn = alt.Chart(pl.DataFrame(rows)).mark_text(align="left", x=2, fontSize=11)
    drawn = drawn.encode(y=alt.Y("at:O", axis=None), text="text:N")
    if blanks is not None:
        scale = alt.Scale(domain=list(_WORDS), range=list(_WORDS.values()))
        drawn = drawn.encode(
            color=alt.condition(
                alt.FieldOneOfPredicate(field="text", oneOf=list(_WORDS)),
                alt.Color("text:N", scale=scale, legend=None),
                alt.value(_GREY),
            )
        )
    title = alt.Title(head, fontSize=11)
    named: alt.Chart = drawn.properties(width=width, height=alt.Step(_STEP), title=title)
    return named
