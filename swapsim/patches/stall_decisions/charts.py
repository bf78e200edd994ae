# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of patch C that several callers draw, and the rules as a table."""

import textwrap
from typing import Any, Final

import altair as alt
import polars as pl

from swapsim.charts import colours, general
from swapsim.charts.interaction import interactive
from swapsim.patches.stall_decisions.comparison import rounded


def agreement(pairs: pl.DataFrame, trace: str) -> alt.ConcatChart:
    """Draw on how many lists two rule sets take the same decisions (`comparison.agreement`)."""
    return general.heat(
        rounded(pairs),
        *("one", "other", "decisions"),
        title=f"Lists of {trace} that two rule sets decide alike, %",
        subtitle="the same flags, sleeps and waits; naps are left out",
        words={"decisions": "alike, %"},
        domain=(0, 100),
        figures=".1f",
    )


def by_patch(steps: pl.DataFrame, subtitle: str) -> alt.ConcatChart:
    """Draw what each patch changes (`lab.steps`), coloured where the sign is sure."""
    return general.heat(
        *(steps, "policy", "metric", "seen"),
        text="text",
        title="What each patch changes against the state before it",
        subtitle=subtitle,
        words={"seen": "by its rounds, the figure", "policy": "up to patch"},
        colour=colours.SIGNS,
        width=560,
    )


_BROKEN: Final = r"replace(datum.label, regexp('(.{1,24})(\\s+|$)', 'g'), '$1\n')"
_ROW_NAMES: Final = alt.Axis(
    labelLimit=300,
    domain=False,
    ticks=False,
    labelExpr=rf"split(trim({_BROKEN}), '\n')",
    labelLineHeight=12,
    labelBaseline=alt.condition(
        "length(datum.label) > 24", alt.value("bottom"), alt.value("middle")
    ),
)
"""Names of rows in lines of at most 24 characters."""

_RULE_WIDTH: Final = 64  # pixels of a rule set's column
_LETTER_WIDTH: Final = 5  # pixels of a letter in it


def _in_bar(row: dict[str, Any]) -> str:
    """Return a text in lines that fit its bar."""
    letters = int((row["right"] - row["left"]) * _RULE_WIDTH / _LETTER_WIDTH)
    return "\n".join(textwrap.wrap(row["text"], letters, break_long_words=False))


@interactive(
    name="rule set", decision="what", text="is decided", written="", middle="", left="", right=""
)
def rules_table(spans: pl.DataFrame) -> alt.LayerChart:
    """Draw the rules as a table: a row per decision, a bar over the rule sets that decide alike."""
    names = spans["rules"].explode().unique(maintain_order=True).to_list()
    place = {name: at for at, name in enumerate(names)}
    drawn = spans.select(
        "decision",
        "since",
        text=pl.col("text").str.replace_all("\n", " "),
        left=pl.col("rules").list.first().replace_strict(place, return_dtype=pl.Float64) + 0.03,
        right=pl.col("rules").list.last().replace_strict(place, return_dtype=pl.Float64) + 0.97,
    ).with_columns(
        middle=(pl.col("left") + pl.col("right")) / 2,
        written=pl.struct("text", "left", "right").map_elements(_in_bar, return_dtype=pl.String),
    )
    heads = pl.DataFrame({"name": names, "middle": [at + 0.5 for at in range(len(names))]})
    decisions = spans["decision"].unique(maintain_order=True).to_list()
    y = alt.Y("decision:N", title=None, sort=decisions, axis=_ROW_NAMES)
    x = alt.X("left:Q", title=None, axis=None, scale=alt.Scale(domain=[0, len(names)], nice=False))
    base = alt.Chart(drawn).encode(y=y)
    eras = alt.Scale(domain=list(colours.ERAS), range=list(colours.ERAS.values()))
    bottom = alt.Legend(orient="bottom")
    since = alt.Color("since:N", title="rule in force since", scale=eras, legend=bottom)
    bars = base.mark_bar(height=38, cornerRadius=2).encode(x=x, x2="right:Q", color=since)
    texts = [
        base.transform_filter(f"length(split(datum.written, '\\n')) == {lines}")
        .mark_text(fontSize=10, lineBreak="\n", lineHeight=12, dy=6 - 6 * lines, color="black")
        .encode(x="middle:Q", text="written:N")
        for lines in drawn["written"].str.split("\n").list.len().unique().sort()
    ]
    top = (
        alt.Chart(heads)
        .mark_text(fontSize=11, fontWeight="bold", baseline="bottom")
        .encode(x="middle:Q", y=alt.value(-6), text="name:N")
    )
    chart: alt.LayerChart = alt.layer(bars, *texts, top).properties(
        width=_RULE_WIDTH * len(names),
        height=alt.Step(42),
        title=alt.TitleParams(
            "The rule behind each decision, by rule set",
            subtitle="series-N: mmotm with patches 1 to N",
            offset=28,
        ),
    )
    return chart
