# SPDX-License-Identifier: GPL-2.0-or-later
"""A mail's table next to models and a real kernel (`published.compare`): as text, HTML, chart."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from swapsim.charts import altair
from swapsim.published import rows as published
from swapsim.published.rows import ALIKE, CHANGED, NOTHING, SAME, UNCHANGED, short

if TYPE_CHECKING:
    from altair import HConcatChart

_STYLE: Final = (
    ".mail{overflow-x:auto}.mail table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    ".mail :is(td,th){text-align:right;vertical-align:baseline;white-space:nowrap;padding:2px 7px}"
    ".mail .of{text-align:center;font-weight:400}.mail .left{text-align:left}"
    ".mail .count td:first-child{padding-left:2em}"
    ".mail .first{border-left:1px solid #8886}.mail .ratio{font-weight:600}"
    ".mail :is(.range,.blank,.same td,.count td){color:#7d868f;font-weight:400}"
    ".mail .agrees{background:#1a985030}.mail .other{background:#d2992240}"
    ".mail .differs{background:#e5534b38}.mail .unclear{background:#8882}"
    ".mail .same .left{background:none}.mail .far,.mail .same .moves{color:#e5534b}"
    ".mail p{margin:.3em 0;color:#7d868f;font-size:.9em}"
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A table as text and HTML; a row's kind is "same", "count" or none."""

    title: str
    groups: Mapping[str, Sequence[str]]
    rows: Sequence[Sequence[str]]
    kinds: Sequence[str]
    notes: Sequence[str]

    @property
    def _heads(self) -> list[str]:
        return ["", *(head for heads in self.groups.values() for head in heads)]

    def __str__(self) -> str:
        """Return the table as text, with its score."""
        heads = self._heads
        widths = [max(map(len, column)) for column in zip(heads, *self.rows, strict=True)]
        above, at = " " * widths[0], 1
        for group, inside in self.groups.items():
            width = sum(widths[at : at + len(inside)]) + 2 * (len(inside) - 1)
            above, at = f"{above}  {group.center(width)}", at + len(inside)
        lines = [
            "  ".join(
                text.rjust(width) if head else text.ljust(width)
                for head, text, width in zip(heads, row, widths, strict=True)
            ).rstrip()
            for row in (heads, *self.rows)
        ]
        return "\n".join([self.title, above.rstrip(), *lines, *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        groups, heads = self.groups, self._heads
        firsts = {1 + sum(map(len, [*groups.values()][:at])): of for at, of in enumerate(groups)}

        def cell(at: int, text: str, kind: str) -> str:
            mark = text.partition(" ")[0] if text in _MARKED else "blank" if at else ""
            names = f"left {mark}" if not heads[at] else heads[at] * (heads[at] in _NAMED)
            if heads[at] == "base" and text[:1] == "x" and not 0.5 <= float(text[1:]) <= 2:
                names = "far"
            of = f' data-of="{firsts[at]}"' if at in firsts and kind == "td" else ""
            classes = f"{names} {'first' * (at in firsts)}".strip()
            named = f' class="{classes}"' if classes else ""
            return f"<{kind}{named}{of}>{escape(text)}</{kind}>"

        def line(row: Sequence[str], kind: str) -> str:
            return "".join(cell(at, text, kind) for at, text in enumerate(row))

        above = "".join(
            f'<th class="of first" colspan="{len(inside)}">{of}</th>'
            for of, inside in groups.items()
        )
        body = "".join(
            f"<tr{kind and f' class={kind}'}>{line(row, 'td')}</tr>"
            for row, kind in zip(self.rows, self.kinds, strict=True)
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return (
            f'<style>{_STYLE}</style><div class="mail"><b>{escape(self.title)}</b><table>'
            f"<thead><tr><th></th>{above}</tr><tr>{line(heads, 'th')}</tr></thead>"
            f"<tbody>{body}</tbody></table>{notes}</div>"
        )


_MARKED: Final = {*CHANGED, *UNCHANGED}
_NAMED: Final = ("ratio", "range")
"""Columns of figures that have a style."""


def show(compared: pl.DataFrame) -> Shown:
    """Return a table for reading, with its score and the meaning of short words below it."""
    mail, name = compared.select("mail", "table").row(0)
    kernels = published.table(mail, name).columns[2:-2]
    figures = ("first", "base", "patched")[-len(kernels) :]
    sources = published.sources(compared)
    groups = {"published": [*kernels, "ratio"]}
    groups |= {each: ["base"] * (each == "simulated") + ["ratio", "range", ""] for each in sources}
    rows, kinds = [], []
    for row in compared.iter_rows(named=True):
        cells = [_name(row["metric"]), *(_figure(row[each]) for each in figures)]
        cells.append(_ratio(row, "") + " ·" * bool(row["unchanged"]))
        for source in sources:
            cells += [_base(row)] * (source == "simulated")
            word = row[f"{source}_mark"] or row[f"{source}_blank"] or ""
            cells += [_ratio(row, f"{source}_"), _range(row, source), word]
        rows.append(cells)
        is_count = row["unit"] is None and row["ratio"] is None
        kinds.append("count" if is_count else "same" if row["unchanged"] else "")
    notes = _notes(compared, {cell for row in rows for cell in row[1:]})
    return Shown(f"{mail}: {published.title(mail)} - {name}", groups, rows, kinds, notes)


def _name(metric: str) -> str:
    """Return a row's short name; of a count, which stands below its row, what is counted."""
    row, _, count = short(metric).partition(": ")
    return f"  {count.removesuffix(' a page')}" if count else row


_KEYS: Final = {
    "·": "unchanged in the mail",
    "fit": "by a constant that is fitted to this cell",
    "~0": "at most a twentieth of the first kernel's",
    "=": "0 on both kernels",
    "new": "from 0",
    "gone": "not listed with the patch",
}
"""What short words in cells mean."""


def _notes(compared: pl.DataFrame, cells: set[str]) -> list[str]:
    """Return a line on each score, what is counted in place of a time, and the words in cells."""
    notes = []
    for row in published.score(compared).iter_rows(named=True):
        marks = {each: row[each] for each in (*CHANGED, *UNCHANGED) if row.get(each)}
        counts = ", ".join(
            f"{n} {each.rstrip('s') if n > 1 else each}" for each, n in marks.items()
        )
        notes.append(
            f"{row['source']}: {row['answered']} of {row['printed']} {row['rows']} rows answered: "
            f"{counts}; a model of nothing has {row['nothing']}"
        )
    what = ", ".join(compared["measured_what"].drop_nulls().unique(maintain_order=True))
    seen = {part for cell in cells for part in cell.split()}
    keys = [f"{word}: {meaning}" for word, meaning in _KEYS.items() if word in seen]
    keys += ["base: times the mail's"] * any(re.match(r"x\d", each) for each in seen)
    notes += [f"counted in place of measured times: {what}"] * bool(what)
    return notes + ["; ".join(keys)] * bool(keys)


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
    below, above = "≤" * (low <= NOTHING), "≥" * (high >= 1 / NOTHING)
    low, high = (f"{each:.{2 if each < 9.95 else 0}f}" for each in (low, high))
    return f"{below}{low}-{above}{high}"


def _base(row: Mapping[str, Any]) -> str:
    """Return how many times the mail's figure without the patch the model's is."""
    if row["simulated_fitted"]:
        return "fit"
    model = row["simulated_base"]
    if row["unit"] is None and model is not None:
        return f"{model:.1f}→{row['simulated_patched']:.1f}"
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


def chart(compared: pl.DataFrame) -> "HConcatChart":
    """Draw patched / base of each row: published with what agrees, simulated, measured, by hand.

    Next to it stand the printed figures, and the mark of each source, or why it has none.
    """
    alt: Any = altair()
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

    def x(column: str) -> Any:
        return alt.X(f"{column}:Q", scale=scale, axis=axis)

    # Of a lock's rows, its callers: names have to leave some of a phone's width.
    names = [re.sub(r"^_raw_spin_\w+\.", "", _name(metric)) for metric in compared["metric"]]
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
    words = [_column(printed, "published", 140)]
    for each in sources:
        marks, blanks = (compared[f"{each}_{kind}"].to_list() for kind in ("mark", "blank"))
        words.append(_column(marks, each, 90, blanks))
    title = alt.Title(f"{mail}: {published.title(mail)} - {name}", subtitle=subtitle)
    plot = alt.layer(*layers).properties(width=400, height=alt.Step(_STEP))
    drawn: HConcatChart = alt.hconcat(plot, *words, spacing=8).properties(title=title)
    return drawn


def _column(
    texts: Sequence[str | None], head: str, width: int, blanks: Sequence[str | None] | None = None
) -> Any:
    """Return words next to the rows: a mark has its colour, and why there is none is grey."""
    alt: Any = altair()
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
    named: Any = drawn.properties(width=width, height=alt.Step(_STEP), title=title)
    return named
