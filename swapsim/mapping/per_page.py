# SPDX-License-Identifier: GPL-2.0-or-later
"""A ledger of locks divided by the pages written: by site, in all, and by the share of files."""

from collections.abc import Mapping

import polars as pl

from swapsim.mapping.tables import LOCK_SITES, LOCK_SITES_PER_PAGE, MIX


def per_page(sites: pl.DataFrame) -> pl.DataFrame:
    """Divide what each site did by the pages written in its flow.

    Parameters
    ----------
    sites : polars.DataFrame
        Schema LOCK_SITES.

    Returns
    -------
    polars.DataFrame
        Schema LOCK_SITES_PER_PAGE. Swap pages that were not written are left out: there is no
        page written to divide by.
    """
    LOCK_SITES.check(sites)
    pages = sites.filter(pl.col("site") == "start").select(
        "kernel", "tags", "flow", pages=pl.col("calls")
    )
    figures = ("acquisitions", "descents", "nodes", "tag_words")
    frame = (
        sites.join(pages, on=["kernel", "tags", "flow"], how="inner", maintain_order="left")
        .with_columns(pl.col(name) / pl.col("pages") for name in figures)
        .select(LOCK_SITES_PER_PAGE.names())
    )
    return LOCK_SITES_PER_PAGE.check(frame)


def totals_per_page(sites: pl.DataFrame) -> pl.DataFrame:
    """Sum `per_page` over the sites of each flow.

    Returns
    -------
    polars.DataFrame
        One row per kernel, tags and flow: pages, acquisitions, descents, nodes, tag_words.
    """
    keys = ["kernel", "tags", "flow", "pages"]
    return (
        per_page(sites)
        .group_by(keys, maintain_order=True)
        .agg(pl.col("acquisitions", "descents", "nodes", "tag_words").sum())
    )


def mix(sites_of: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Set traces side by side: file pages among the pages written, and what a page costs.

    Parameters
    ----------
    sites_of : mapping of str to polars.DataFrame
        Name of a trace -> its LOCK_SITES of one kernel.

    Returns
    -------
    polars.DataFrame
        Schema MIX, one row per trace and tags; acquisitions of the mapping's lock per page
        written of either kind, at the sites of the pages that were written.
    """
    frames = [
        LOCK_SITES.check(sites)
        .filter(pl.col("flow") != "swap, not written")
        .group_by("tags", maintain_order=True)
        .agg(
            acquisitions=pl.col("acquisitions").sum(),
            pages=pl.col("calls").filter(pl.col("site") == "start").sum(),
            file_pages=pl.col("calls")
            .filter((pl.col("site") == "start") & (pl.col("flow") == "file"))
            .sum(),
        )
        .select(
            trace=pl.lit(name),
            tags=pl.col("tags"),
            pages=pl.col("pages"),
            file_share=pl.col("file_pages") / pl.col("pages"),
            acquisitions=pl.col("acquisitions") / pl.col("pages"),
        )
        for name, sites in sites_of.items()
    ]
    return MIX.check(pl.concat(frames))
