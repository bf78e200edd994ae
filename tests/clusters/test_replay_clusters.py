# SPDX-License-Identifier: GPL-2.0-or-later
"""The requests of a recording under other rules."""

import dataclasses
from pathlib import Path

import polars as pl
import pytest
from recording import recording
from test_verify_clusters import RECORDED, RULES, folder_of

from swapsim import clusters
from swapsim.cli import main
from swapsim.clusters import replay
from swapsim.clusters.replay import calls


@RULES
def test_the_rules_of_the_trace_give_its_grants(rules: str) -> None:
    """Grants, visits, picks and list moves are those of the rows, and refusals are the trace's."""
    rows = recording(rules, calls=60)
    found = replay(rows, rules)
    ops = dict(rows.events["op"].value_counts().iter_rows())
    assert (found.grants["granted"] == found.grants["in_trace"]).all()
    refused = found.grants["requests"] - found.grants["in_trace"]
    assert (found.grants["fallbacks"] == refused).all()
    work = found.work.row(0, named=True)
    assert (work["grants"], work["visits"]) == (ops["grant"], ops["visit"])
    assert work["picks"] == ops.get("pick", 0)
    assert work["slots"] == rows.events.filter(op="grant")["n"].sum()
    if rules == "7.3":
        assert work["moves"] == ops["move"]


def test_a_call_that_is_open_when_the_recording_ends_has_its_grants() -> None:
    """The call's end decides nothing: a request that was granted a run is one of `in_trace`."""
    rows = recording("7.3", calls=60)
    last = rows.events.filter(op="grant")["seq"].max()
    cut = dataclasses.replace(rows, events=rows.events.filter(pl.col("seq") <= last))
    found = replay(cut, "7.3").grants
    assert not calls(cut.events).filter("granted", pl.col("got").is_null()).is_empty()
    assert found["in_trace"].sum() == calls(cut.events)["granted"].sum()


def test_large_folios_fall_back_where_only_free_clusters_serve_them() -> None:
    """By the rules of 6.11 a fragmented device refuses what 6.12 grants."""
    grants = replay(RECORDED["6.12"], ("6.11", "6.12")).grants
    of = {rules: grants.filter(rules=rules)["fallbacks"].sum() for rules in ("6.11", "6.12")}
    assert of["6.11"] > of["6.12"]
    alike = replay(RECORDED["6.12"], "6.12", switches={"large_from_free_only": True}).grants
    assert alike.drop("rules").equals(grants.filter(rules="6.11").drop("rules"))


def test_each_sample_has_all_clusters() -> None:
    """Of both devices, on one list each; no sample without a request for one."""
    found = replay(RECORDED["7.3"], samples=10)
    assert found.lists["rules"].unique().len() == len(clusters.RULES)
    assert 4 * 9 <= found.lists.height <= 4 * 11
    listed = found.lists.select(pl.sum_horizontal("free", "full", "discard", "nonfull", "frag"))
    assert listed.to_series().unique().to_list() == [8 + 4]
    assert replay(RECORDED["7.3"], "7.3", samples=0).lists.is_empty()


def test_the_command_prints_each_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Grants, work and lists by the rules that are asked for."""
    folder = folder_of(RECORDED["7.3"], tmp_path / "trace")
    assert main(["replay", "clusters", str(folder), "--rules", "7.3"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("| 7.3 ") >= 4
    assert all(f"| {name} " in printed for name in ("granted", "si_lock_a_grant", "nonfull"))
