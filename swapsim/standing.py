# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the laboratory stands: what README and the map of notebooks show, recomputed."""

from collections.abc import Mapping

import polars as pl

from swapsim import predict, verdicts
from swapsim.claims import measured, published


def locks(constants: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Set side by side how patches A and D relieve the swap cache's lock: mail, machine, kernel.

    Parameters
    ----------
    constants : mapping of str to polars.DataFrame
        As `predict.fits` returns.

    Returns
    -------
    polars.DataFrame
        ``patch`` and the columns of `verdicts.contention`. The mails' kernels are 4.8 and 5.7, the
        real kernel is 6.1 with the patch switched off and on.
    """
    cells = published.published_tables()
    of_a = predict.writeback_tags_runs(constants["01-writeback-tags"])
    of_d = predict.cluster_next_runs(constants["04-percpu-cluster-next"], ("shared", "percpu"))
    tables = {
        "01-writeback-tags": verdicts.contention(
            cells.filter(patch="01-writeback-tags", table="lkp comparison", unit="% of cycles"),
            (of_a["base"], of_a["base+patch"]),
            measured.medians(measured.results("writeback-tags")),
            ("on", "off"),
        ),
        "04-percpu-cluster-next": verdicts.contention(
            cells.filter(
                pl.col("metric").str.contains("add_to_swap_cache|__remove_mapping"),
                patch="04-percpu-cluster-next",
                table="perf profile",
            ),
            (of_d["shared"], of_d["percpu"]),
            measured.medians(measured.results("scan-base-under-half")),
            ("shared", "percpu"),
        ),
    }
    return pl.concat(
        table.select(pl.lit(patch).alias("patch"), pl.all()) for patch, table in tables.items()
    )
