# SPDX-License-Identifier: GPL-2.0-or-later
"""What notebook 08 alone needs: generations over all recordings, and the picture of the loop."""

from typing import Any, Final

import altair as alt
import polars as pl

from swapsim import charts, mglru
from swapsim.charts import colours
from swapsim.ffi import GENERATIONS_MAX, MGLRU_RULES, MGLRU_SWAPPINESS_MAX, MGLRU_TERMS
from swapsim.mglru.recording import TYPES, recording
from swapsim.mglru.replay import chosen
from swapsim.traces import shipped

TRACE: Final = "generations-7.3-mixed-1"
ZERO: Final = "generations-7.3-zero-2"
_PARTS: Final = 60
_SECOND: Final = 30
_SHADES: Final = ("#4c78a8", "#6a51a3", "#9a9a9a", "#9ecae9", "#f58518", colours.PATCHED)
TERMS: Final = dict(zip(MGLRU_TERMS, _SHADES, strict=True))
"""Terms that decide a type -> their colours."""
_AGES: Final = ("newest", "second", "third", "oldest")


def second() -> dict[str, Any]:
    """Return a second of a recording in which refault rates decide."""
    parts = mglru.timeline(TRACE, parts=_PARTS).filter(lruvec=0)
    return parts.filter(pl.col("start_s").floor() == _SECOND).row(0, named=True)


_BOX: Final = (1.9, 1.3)
_PLACES: Final = {
    "evict": (0.0, 2.0),
    "return": (4.6, 2.0),
    "rate": (4.6, 0.0),
    "choose": (0.0, 0.0),
}
"""The centre of each box of the loop."""


def loop(second: dict[str, Any]) -> alt.LayerChart:
    """Draw the controller as a feedback loop, with the figures of a part of a timeline in it."""
    rate = {each: second[f"rate_{each}_percent"] for each in TYPES}
    swappiness = int(second["swappiness"])
    gain = {"anon": swappiness, "file": MGLRU_SWAPPINESS_MAX - swappiness}
    share = {"anon": second["anon_percent"], "file": 100 - second["anon_percent"]}

    def of_both(line: str, values: dict[str, Any]) -> str:
        return "\n".join(line.format(each, values[each]) for each in TYPES)

    terms = {
        each: f"{rate[each]:.1f} / {gain[each]} = {rate[each] / gain[each]:.3f}" for each in TYPES
    }
    boxes = {
        "evict": (
            "reclaim scans its\noldest generation",
            of_both("{}: {:.0f} % of choices", share),
        ),
        "return": ("some evicted\npages come back", of_both("{}: {:.1f} % refaulted", rate)),
        "rate": ("refault rate\nover gain", of_both("{}: {}", terms)),
        "choose": (
            "the lower one\nis chosen",
            min(TYPES, key=lambda each: rate[each] / gain[each]),
        ),
    }
    wide, high = _BOX
    frame = pl.DataFrame(
        [
            (*(x - wide, x + wide, y - high / 2, y + high / 2), x, y + 0.3, y - 0.25, *words)
            for name, words in boxes.items()
            for x, y in [_PLACES[name]]
        ],
        schema=["left", "right", "bottom", "top", "x", "high", "low", "title", "text"],
        orient="row",
    )
    right, top = _PLACES["return"]
    arrows = pl.DataFrame(
        {
            "x": [wide, right, right - wide, 0.0],
            "y": [top, top - high / 2, 0.0, high / 2],
            "x2": [right - wide, right, wide, 0.0],
            "y2": [top, high / 2, 0.0, top - high / 2],
            "angle": [90, 180, 270, 0],
        }
    )
    plain: dict[str, Any] = {"axis": None, "scale": alt.Scale(nice=False, zero=False)}
    across, up = alt.X("x:Q", **plain), alt.Y("y:Q", **plain)
    box = alt.Chart(frame)
    rects = box.mark_rect(fill=colours.FAINT, stroke="#888", cornerRadius=6).encode(
        x=alt.X("left:Q", **plain), x2="right:Q", y=alt.Y("bottom:Q", **plain), y2="top:Q"
    )
    lines_of = {"fontSize": 12, "lineBreak": "\n", "lineHeight": 16, "baseline": "middle"}
    titles, figures = (
        box.mark_text(fontWeight=weight, **lines_of).encode(
            x=across, y=alt.Y(f"{y}:Q", **plain), text=text, color=alt.value("currentColor")
        )
        for y, text, weight in (("high", "title:N", "bold"), ("low", "text:N", "normal"))
    )
    lines = alt.Chart(arrows).mark_rule(strokeWidth=2, color="#888")
    heads = alt.Chart(arrows).mark_point(
        shape="triangle-up", filled=True, size=130, color="#888", opacity=1
    )
    return alt.layer(
        rects,
        titles,
        figures,
        lines.encode(x=across, x2="x2:Q", y=up, y2="y2:Q"),
        heads.encode(
            x=alt.X("x2:Q", **plain),
            y=alt.Y("y2:Q", **plain),
            angle=alt.Angle("angle:Q", scale=alt.Scale(domain=[0, 360], range=[0, 360])),
        ),
    ).properties(
        view=alt.ViewBackground(stroke=None),
        width=390,
        height=270,
        title=alt.Title("A second of Linux 7.3", subtitle=f"{TRACE}, second {_SECOND}"),
    )


def threshold() -> pl.DataFrame:
    """Return what the threshold of few refaults does in each recording, by its kernel's rules.

    ``asked`` are the choices that it or refault rates decide, ``settled`` those that it does, and
    ``turned`` those of them that differ without it (a switch of ``mglru.h``). Recordings in
    which swappiness decides all are left out.
    """
    found = []
    for name in shipped("mglru"):
        rows = recording(name)
        own = chosen(rows, rows.rules)
        rates = chosen(rows, rows.rules, switches={"few_refaults": 0})
        few = own["term"] == "few refaults"
        turned = few & (own["first"] != rates["first"])
        either = few | (own["term"] == "refault rates")
        counts = (int(each.sum()) for each in (either, few, turned))
        found.append((rows.rules, name.removeprefix("generations-"), *counts))
    columns = ["kernel", "recording", "asked", "settled", "turned"]
    return (
        pl.DataFrame(found, schema=columns, orient="row")
        .filter(pl.col("asked") > 0)
        .with_columns(
            settled_percent=100 * pl.col("settled") / pl.col("asked"),
            turned_percent=100 * pl.col("turned") / pl.col("settled"),
        )
    )


def shares(verified: pl.DataFrame) -> pl.DataFrame:
    """Return for each recording, by the rules of its kernel, the share of choices by each term.

    And of its choices those that the other kernel's rules turn, by the term that decides them
    there, with rows of zero: ``share`` is "decides" or "turns". ``verified`` has a row for each
    recording.
    """
    found = []
    for name in verified["trace"]:
        flips = mglru.replay(name).flips
        own = pl.col("rules") == pl.col("base")
        for share, rules, counted in (
            ("decides", own, pl.lit(True)),
            ("turns", ~own, pl.col("flips")),
        ):
            found.append(
                flips.filter(rules)
                .group_by("term", kernel="base")
                .agg(pl.col("choices").filter(counted).sum())
                .with_columns(
                    recording=pl.lit(name.removeprefix("generations-")),
                    share=pl.lit(share),
                    percent=pl.col("choices") / flips.filter(own)["choices"].sum() * 100,
                )
            )
    return pl.concat(found).sort("share", "kernel", "recording", "term")


def switches(recordings: str) -> pl.DataFrame:
    """Return what each switch turns in the recordings of this name, of both kernels."""
    found = []
    for kernel in MGLRU_RULES:
        rows = mglru.replay(f"generations-{kernel}-{recordings}").switches
        some = rows.filter(pl.col("flips") + pl.col("tiers") > 0)
        found.append(some.select(pl.lit(kernel).alias("kernel"), pl.all()))
    return pl.concat(found)


def by_swappiness() -> pl.DataFrame:
    """Return what each swappiness takes, in the recordings that change it.

    In percent: ``anon_first`` is the share of choices that scan anonymous pages first,
    ``anon_empty`` that of those that find none there, ``anon_pages`` that of isolated pages.
    """
    found = []
    for name in shipped("mglru"):
        if "steps" not in name:
            continue
        rows = recording(name)
        of_type = {
            each: pl.sum_horizontal(
                pl.when(pl.col(f"scan_{n}") == each).then(f"taken_{n}").otherwise(0) for n in (1, 2)
            ).sum()
            for each in TYPES
        }
        anon = pl.col("scan_1") == TYPES[0]
        first, empty = anon.mean() * 100, (anon & (pl.col("pages_1") == 0)).mean() * 100
        taken = rows.choices.group_by("swappiness").agg(
            choices=pl.len(), anon_first=first, anon_empty=empty, **of_type
        )
        found.append(taken.with_columns(kernel=pl.lit(rows.rules)))
    long = pl.concat(found).with_columns(pages=pl.sum_horizontal(TYPES))
    return long.select(
        "kernel",
        "swappiness",
        "choices",
        "anon_first",
        "anon_empty",
        "pages",
        anon_pages=pl.col("anon") / pl.col("pages") * 100,
    ).sort("kernel", "swappiness")


def agings(folder: str = ZERO) -> pl.DataFrame:
    """Return each aging that raises the oldest anonymous generation: its pages, and the newest's.

    ``oldest`` has the pages of that generation before, ``newest`` those of the generation that is
    made, when its lruvec is next recorded.
    """
    pages = [f"pages_anon_{gen}" for gen in range(GENERATIONS_MAX)]
    then = ("max_seq", "min_seq_anon", *pages)
    rows = recording(folder).steps.sort("t_ns", "seq")
    turned = rows.with_columns(pl.col(then).shift(-1).over("lruvec").name.suffix("_then"))

    def of(number: str, suffix: str) -> pl.Expr:
        places = [pl.col(f"{name}{suffix}") for name in pages]
        return pl.concat_list(places).list.get(pl.col(f"{number}{suffix}") % GENERATIONS_MAX)

    return turned.filter(pl.col("min_seq_anon_then") > pl.col("min_seq_anon")).select(
        at_s=(pl.col("t_ns") - rows["t_ns"][0]) / 10**9,
        oldest=of("min_seq_anon", ""),
        newest=of("max_seq", "_then"),
    )


def by_age(folder: str = ZERO) -> pl.DataFrame:
    """Return anonymous pages by the age of their generation, before each aging."""
    rows = recording(folder).steps.sort("t_ns", "seq")
    aged = rows.filter("grew")
    ages = [
        aged.select(
            aging=pl.int_range(1, pl.len() + 1),
            age=pl.lit(_AGES[age]),
            pages=pl.concat_list(f"pages_anon_{gen}" for gen in range(GENERATIONS_MAX)).list.get(
                (pl.col("max_seq") - age) % GENERATIONS_MAX
            ),
        )
        for age in range(GENERATIONS_MAX)
    ]
    return pl.concat(ages).sort("aging", maintain_order=True)


def ages(rows: pl.DataFrame) -> alt.ConcatChart:
    """Draw where the anonymous pages are before each new generation (`by_age`)."""
    held = rows.with_columns(held=pl.format("{} pages", "pages"))
    names = held.sort("pages")["held"].unique(maintain_order=True).to_list()
    return charts.heat(
        held,
        *("aging", "age", "held"),
        text="pages",
        width=320,
        colour=dict(zip(names, (colours.FAINT, *colours.ramp(2)[: len(names) - 1]), strict=True)),
        title="Anonymous pages by the age of their generation, at swappiness 0",
        subtitle=f"before each new generation; {ZERO}",
        words={"aging": "new generation, number", "age": "generation", "held": "it has"},
    )
