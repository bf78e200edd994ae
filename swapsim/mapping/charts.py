# SPDX-License-Identifier: GPL-2.0-or-later
"""Chart of the mapping's lock: its acquisitions and the work under it, by code path."""

from typing import Final, Unpack

import altair as alt
import polars as pl

from swapsim.charts import general
from swapsim.charts.colours import SITES, TAGS
from swapsim.mapping.tables import LOCK_SITES_PER_PAGE

_SITES_IN_WORDS: Final = {
    "add": "it is added",
    "dirty": "it becomes dirty",
    "start": "its writeback starts",
    "end": "its writeback ends",
    "move": "it is moved",
    "delete": "it is taken out",
    "clear-shadow": "its shadow is cleared",
}
_FLOWS_IN_WORDS: Final = {
    "swap, written": "pages swapped out",
    "swap, not written": "pages of the swap cache that are not written",
    "file": "pages of files",
}
_TITLES: Final = {
    "acquisitions": "Acquisitions of the mapping's lock per page written",
    "descents": "Walks of the tree under the lock",
    "nodes": "Nodes of the tree that are visited under the lock",
    "tag_words": "Words of tags that are written under the lock",
}


def work_by_site(
    per_page: pl.DataFrame, figure: str = "acquisitions", **look: Unpack[general.Look]
) -> alt.ConcatChart:
    """Draw one figure of the work per page by site, with and without tags, one panel per flow.

    ``per_page`` has the schema LOCK_SITES_PER_PAGE; the figure is "acquisitions", "descents",
    "nodes" or "tag_words".
    """
    frame = (
        LOCK_SITES_PER_PAGE.check(per_page)
        .sort("site", "flow", pl.col("tags").not_())
        .select(
            pl.col(figure).round(4),
            flow=pl.col("flow").cast(pl.String).replace(_FLOWS_IN_WORDS),
            site=pl.col("site").cast(pl.String).replace(_SITES_IN_WORDS),
            tags=pl.col("tags").replace_strict((True, False), tuple(TAGS), return_dtype=pl.String),
        )
    )
    drawn: general.Look = {
        "title": _TITLES[figure],
        "panel": "flow",
        "columns": 1,
        "width": 520,
        "words": {figure: f"{figure.replace('_', ' ')} per page", "site": "for a page, when"},
        "colour": {words: SITES[site] for site, words in _SITES_IN_WORDS.items()},
    }
    return general.bars(frame, figure, "tags", "site", **(drawn | look))
