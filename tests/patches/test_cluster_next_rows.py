# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of a user's rules next to stored ones."""

from dataclasses import replace

from swapsim.patches import cluster_next as patch
from swapsim.patches.cluster_next import studies


def test_an_edited_device_has_no_stored_rows() -> None:
    """On another device the rules of the stored rows run again, next to a user's."""
    small = replace(studies.CHURN, warm_up_pages=2**9, pages=2**7, used_share=0.4)
    rows = patch.rows_of("few-cpus", studies.DEVICE, small, {"cpus": [4]}, ())
    assert rows["setting"].unique().to_list() == ["4"]
    assert set(rows["policy"]) == set(studies.counts("few-cpus")["policy"])
    kept = patch.rows_of("few-cpus", studies.DEVICE, studies.CHURN, {"cpus": [4]}, ())
    assert kept.equals(studies.counts("few-cpus"))
