# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of the world in which reclaim decides, second by second."""

import json
from collections.abc import Mapping
from typing import Final

import altair as alt
import polars as pl

from swapsim.charts import colours
from swapsim.charts.interaction import interactive
from swapsim.charts.theme import COUNTS, COUNTS_AXIS
from swapsim.patches.stall_decisions.tables import WORLD_BY_TIME

_GB_A_PAGE: Final = 1 / 2**18
_HOLDERS: Final = ("free", "active_anon", "inactive_anon", "clean", "dirty", "written")
_SCANS: Final = ("scanned_normal", "scanned_dma32")
_SLEEPERS: Final = ("kswapd_sleeps", "tasks_sleep", "writer_throttled", "client_waits")
_AT_A_SECOND: Final = {
    **{name: f"{name}, GB" for name in colours.HOLDERS},
    **{name: f"{name}, pages/s" for name in colours.ZONES},
    **{name: f"{name}, share" for name in colours.SLEEPERS},
}
_SECONDS: Final = alt.X("t_s:Q", title="seconds", axis=alt.Axis(grid=False))


@interactive(rules="rules of", t_s="second", **_AT_A_SECOND)
def over_time(by_time: pl.DataFrame, *, title: str, subtitle: str = "") -> alt.ConcatChart:
    """Draw who holds memory, what kswapd scans and who waits: a column a kernel.

    Parameters
    ----------
    by_time : polars.DataFrame
        Schema WORLD_BY_TIME.
    title, subtitle : str
    """
    frame = WORLD_BY_TIME.check(by_time)
    held = _folded(frame, dict(zip(_HOLDERS, colours.HOLDERS, strict=True)), "held", _GB_A_PAGE)
    scanned = _folded(frame, dict(zip(_SCANS, colours.ZONES, strict=True)), "scanned")
    waited = _folded(frame, dict(zip(_SLEEPERS, colours.SLEEPERS, strict=True)), "waited")
    rows = [
        held.mark_area().encode(
            y=alt.Y("figure:Q", title="memory, GB", stack="zero"),
            color=_key("held", "pages", colours.HOLDERS),
            order=alt.Order("place:Q"),
        ),
        scanned.mark_line(strokeWidth=1.2).encode(
            y=alt.Y("figure:Q", title="scanned, pages/s", scale=COUNTS, axis=COUNTS_AXIS),
            color=_key("scanned", "kswapd scans zone", colours.ZONES),
        ),
        waited.mark_line(strokeWidth=1.2).encode(
            y=alt.Y(
                "figure:Q", title="share of each second", scale=alt.Scale(domain=[0, 1], clamp=True)
            ),
            color=_key("waited", "who waits", colours.SLEEPERS),
        ),
    ]
    names = frame["rules"].unique(maintain_order=True).to_list()
    facets = [
        alt.layer(row.encode(x=_SECONDS), _ruler(row.data, number))
        .properties(width=250, height=150)
        .facet(
            column=alt.Column(
                "rules:N", title=None, sort=names, header=alt.Header(labels=number == 0)
            )
        )
        for number, row in enumerate(rows)
    ]
    chart: alt.ConcatChart = (
        alt.concat(*facets, columns=1)
        .resolve_scale(color="independent")
        .properties(title=alt.TitleParams(title, subtitle=subtitle))
    )
    return chart


def _folded(
    frame: pl.DataFrame, columns: Mapping[str, str], kind: str, factor: float = 1
) -> alt.Chart:
    """Return a chart of columns by their names in its key, in another unit.

    They are folded by the chart: its frame has a row a second, of which the ruler tells all.
    """
    figures = [
        (pl.col(name) * factor).round_sig_figs(3).alias(words) for name, words in columns.items()
    ]
    names: list[str | alt.FieldName] = [*columns.values()]
    return (
        alt.Chart(frame.select("rules", "t_s", *figures))
        .transform_fold(names, as_=[kind, "figure"])
        .transform_calculate(place=f"indexof({json.dumps(names)}, datum.{kind})")
    )


def _ruler(by_second: pl.DataFrame, row: int) -> alt.Chart:
    """Return a line that follows the mouse from second to second, and tells all figures there."""
    there = alt.selection_point(
        name=f"second_{row}", on="mouseover", nearest=True, fields=["t_s"], empty=False
    )
    ruler: alt.Chart = (
        alt.Chart(by_second, name=f"ruler_{row}")
        .mark_rule(color="#888")
        .encode(x=_SECONDS, opacity=alt.when(there).then(alt.value(0.7)).otherwise(alt.value(0)))
        .add_params(there)
    )
    return ruler


def _key(kind: str, title: str, shown: Mapping[str, str]) -> alt.Color:
    scale = alt.Scale(domain=list(shown), range=list(shown.values()))
    return alt.Color(f"{kind}:N", title=title, scale=scale)
