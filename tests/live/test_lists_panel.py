# SPDX-License-Identifier: GPL-2.0-or-later
"""The panel of lists of clusters changes the reader's rules, and no kernel's."""

import polars as pl
import pytest

from swapsim.live.models import clusters
from swapsim.live.panel import configs, run
from swapsim.live.panels import lists

RULES_OF_7_3 = {"first": "nonfull clusters", "tries": "1"}
TURNED = ({"first": "nonfull clusters"}, {"tries": "all"}, {"tries": "0"})


def of_case(setting: dict[str, str], case: str) -> pl.DataFrame:
    """Return the rows of a case under a setting."""
    panel = lists.panel()
    return run(panel, panel.first | setting, [1]).filter(case=case).drop("case")


def test_changed_rules_can_be_those_of_the_kernel() -> None:
    """With the two rules of 7.3, the changed rules have its rows."""
    assert of_case(RULES_OF_7_3, "7.3, changed").equals(of_case({}, "7.3"))
    assert not of_case({}, "7.3, changed").equals(of_case({}, "7.3"))


@pytest.mark.parametrize("turned", TURNED, ids=str)
def test_kernels_keep_their_rules(turned: dict[str, str]) -> None:
    """A changed rule changes the rows of neither kernel."""
    for case in ("6.12", "7.3"):
        assert of_case(turned, case).equals(of_case({}, case))


def test_share_of_split_folios_is_that_of_all_stages() -> None:
    """The share by order and of all is that of the counts of all stages."""
    panel = lists.panel()
    for _, config in configs(panel, panel.first, 1):
        rows = clusters.rows(config)
        counts = rows.group_by("name", "metric").agg(pl.sum("value"))
        shares = dict(rows.filter(metric="split").select("name", "value").rows())
        of = {(name, metric): value for name, metric, value in counts.rows()}
        orders = [str(order) for order, _ in config["orders"]]
        for name in (*orders, "all"):
            some = orders if name == "all" else [name]
            split = sum(of[order, "fallbacks"] for order in some)
            tried = split + sum(of[order, "swapped_out"] for order in some)
            assert shares[name] == (100 * split / tried if tried else None)
