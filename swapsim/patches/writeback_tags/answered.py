# SPDX-License-Identifier: GPL-2.0-or-later
"""What answers the claims of patch A's mail (data/published/stored-before.md).

And its part of the pages on all patches: its counts, and the relief of its lock.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import polars as pl

from swapsim import claims, traces
from swapsim.claims.answering import Answer, paired, table_of
from swapsim.claims.tables import RESULTS
from swapsim.machine import summary
from swapsim.mapping.replay import totals_per_page, writeback_tags_of
from swapsim.mapping.tables import LOCK_SITES, SITE
from swapsim.patches.writeback_tags import fits, prediction, studies

EXPERIMENT: Final = "writeback-tags"
"""The experiment that boots a real kernel with tags (on) and without (off)."""

_OF_A_SLOT: Final = 3
"""Acquisitions of 6.1's lock for each slot that a page gets: add, delete, clear shadow."""

_ON_6_1: Final = "of 6.1's swap cache lock, 8 CPUs"


_BY_CONSTRUCTION: Final = ("A-lock-start-writeback", "A-lock-end-writeback")
"""Rows of the mail's profile whose acquisitions the model leaves out, as the patch does."""


def answers() -> pl.DataFrame:
    """Return the answers to the claims of the mail (ANSWERS).

    A figure is that of the headline fit's 20 seeds. Its range is over the shares of tags that a
    benchmark allows, the others with two seeds and their `prediction.map_share_at`.
    """
    stated = claims.published_claims().filter(patch=prediction.PATCH)
    others = fits.with_tags_up_to(studies.by_tag_share())
    headline = studies.headline().with_columns(tag_share=prediction.TAG_SHARE)
    of_mail = pl.concat(
        [others.filter(pl.col("tag_share") != prediction.TAG_SHARE), headline], how="diagonal"
    )
    rows = of_mail.with_columns(policy=pl.format("tags {}", "tag_share"))
    figures = claims.answers(
        stated.filter(~pl.col("claim").is_in(_BY_CONSTRUCTION)),
        rows.select(RESULTS.names()),
        over="policy",
        at=f"tags {prediction.TAG_SHARE:g}",
    )
    directions = claims.answers(stated.filter(unit="direction"), studies.headline())
    counted = table_of(list(_measured()))
    return pl.concat([figures, directions, counted])


def _measured() -> Iterator[Answer]:
    """Yield what the lab kernel's lock statistics answer."""
    runs = claims.measured_results(EXPERIMENT)

    def by_round(metric: str, policy: str) -> dict[int, float]:
        found = runs.filter(metric=metric, policy=policy)
        return dict(found.select("seed", "value").iter_rows())

    def at_both_ends(policy: str) -> dict[int, float]:
        """Return the acquisitions of a page at the start and the end of writeback, by round."""
        slots = by_round("slot cache mutex acquisitions", policy)
        taken = by_round("xa_lock acquisitions", policy)
        # Both are counted over a whole run, so that what is left of none may be just below it.
        return {seed: max(0.0, count - _OF_A_SLOT * slots[seed]) for seed, count in taken.items()}

    contended = [by_round("xa_lock contended acquisitions", policy) for policy in ("on", "off")]
    ends = [at_both_ends(policy) for policy in ("on", "off")]
    at_ends = f"acquisitions a page at both ends of writeback {_ON_6_1}"
    for claim, (base, value), what in (
        ("A-prose-lock-contention", contended, f"contended acquisitions a page {_ON_6_1}"),
        *((claim, ends, at_ends) for claim in _BY_CONSTRUCTION),
    ):
        answer = paired(claim, "measured", base, value, what=what)
        if answer is not None:
            yield answer


def chances() -> None:
    """Return None: the mail's own deviations are smaller than its changes."""


def headline_locks(constants: pl.DataFrame) -> pl.DataFrame:
    """Return `lock_relief` of the test run with the fit's constants."""
    return lock_relief(prediction.runs(constants))


def lock_relief(runs: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Compare the lock's relief in the mail (4.8), in `prediction.runs` and on a real 6.1."""
    return summary.lock_relief(
        claims.published_tables().filter(
            patch=prediction.PATCH, table="lkp comparison", unit="% of cycles"
        ),
        studies.headline(),
        (runs["base"], runs["base+patch"]),
        claims.medians(claims.measured_results("writeback-tags")),
        ("on", "off"),
    )


def counted() -> str:
    """Return a sentence on what the patch changes for a page, over all shipped traces."""
    sites_of = writeback_tags_of(traces.shipped("writeback-tags"))
    tags, none = (per_page(sites_of, tags=tags) for tags in (True, False))
    return (
        f"On {len(sites_of)} traces of a real kernel, {tags['pages']:,} pages swapped out, "
        f"the patch takes the lock acquisitions of a page from {tags['acquisitions']:.2f} to "
        f"{none['acquisitions']:.2f}, and the walks of the tree under the lock from "
        f"{tags['descents']:.2f} to {none['descents']:.2f}."
    )


def per_page(sites_of: Mapping[str, pl.DataFrame], *, tags: bool) -> dict[str, float]:
    """Return the totals for a swapped page over all traces (LOCK_SITES by name)."""
    keys = ["kernel", "tags", "flow", "site"]
    together = (
        pl.concat(sites_of.values())
        .group_by(keys)
        .agg(pl.exclude(keys).sum())
        .sort("kernel", pl.col("tags").not_(), "flow", pl.col("site").cast(SITE.dtype))
    )
    totals = totals_per_page(together.select(LOCK_SITES.names()))
    return totals.filter(pl.col("flow") != "file", tags=tags).row(0, named=True)
