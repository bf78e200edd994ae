# SPDX-License-Identifier: GPL-2.0-or-later
"""The panel of trunks ages its device as notebook 04 does."""

from dataclasses import replace
from statistics import median

import polars as pl

from swapsim.live import panels
from swapsim.live.description import configs as configs_of
from swapsim.live.description import run
from swapsim.live.models import slots_configs
from swapsim.patches import cluster_next as patch
from swapsim.slots.ranking import CHURN, DEVICE


def test_first_state_is_the_device_of_the_notebook_but_smaller() -> None:
    """It has as many trunks, CPUs and turns as the study of ages, and its last age."""
    panel = panels.trunks()
    ((_, values),) = configs_of(panel, panel.first, 1)
    device, churn = slots_configs(values)
    ratio = DEVICE.slots // device.slots
    of_study = DEVICE
    assert device.slots >> device.trunk_shift == of_study.slots >> of_study.trunk_shift
    assert device.possible_cpus == of_study.possible_cpus
    assert churn == replace(
        CHURN, pages=CHURN.pages // ratio, warm_up_pages=int(panel.first["age"]) // ratio
    )
    assert panel.first["age"] in patch.WORKBENCH["ages"].load()["setting"].unique()


def test_policies_have_the_order_of_the_notebook() -> None:
    """At the age of its first state, CPUs meet under the policies under which they meet there."""
    where = {"metric": "lock.moved.add"}
    panel = panels.trunks()
    aged = patch.WORKBENCH["ages"].load().filter(setting=panel.first["age"], **where)
    medians = aged.group_by("policy").agg(pl.col("value").median()).sort("value")
    found = {
        policy: median(run(panel, panel.first | {"policy": policy}).filter(**where)["value"])
        for policy in patch.POSTED
    }
    assert sorted(found, key=found.__getitem__) == medians["policy"].to_list()
