# SPDX-License-Identifier: GPL-2.0-or-later
"""The requests of a recording under other rules."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from recording import recording
from test_verify_clusters import BAD, RECORDED, RULES, changed, folder_of

from swapsim import clusters
from swapsim.cli import main
from swapsim.clusters import replay, verify_clusters
from swapsim.clusters._native import switches_of
from swapsim.clusters.tables import CLUSTER_RULES
from swapsim.errors import ConfigError, InputError

NOT_REFUSED = {"a row of the other kernel", "a missing grant"}
"""What only the comparison with the kernel's own rules finds."""


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
    summed = clusters.summed_lists(found.lists)
    assert found.lists["rules"].unique().len() == len(CLUSTER_RULES.words)
    assert 4 * 9 <= summed.height <= 4 * 11
    listed = summed.select(pl.sum_horizontal("free", "full", "discard", "nonfull", "frag"))
    assert listed.to_series().unique().to_list() == [8 + 4]
    assert replay(RECORDED["7.3"], "7.3", samples=0).lists.is_empty()


def test_the_command_prints_and_explains(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three tables with their meanings; a wrong switch is refused in one line."""
    folder = folder_of(RECORDED["7.3"], tmp_path / "trace")
    command = ["replay", "clusters", str(folder), "--rules", "7.3"]
    assert main([*command, "--switch", "trylock=no", "--explain"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("| 7.3 ") >= 4
    assert "acquisitions of si->lock per run of slots granted" in printed
    assert main([*command, "--only", "work", "--switch", "isolates=perhaps"]) == 2
    assert "--switch isolates=perhaps: give NAME=yes or NAME=no" in capsys.readouterr().err


@RULES
@pytest.mark.parametrize("wrong", sorted({*BAD} - NOT_REFUSED))
def test_a_replay_refuses_bad_recordings(rules: str, wrong: str) -> None:
    """As the comparison does."""
    change, error = BAD[wrong]
    with pytest.raises(InputError, match=error):
        replay(change(RECORDED[rules]), "6.12")


def test_unknown_rules_are_refused() -> None:
    """The error names the argument and what there is."""
    with pytest.raises(ConfigError, match=r"rules='6\.13'"):
        replay(RECORDED["7.3"], "6.13")
    with pytest.raises(ConfigError, match="switches='column'"):
        replay(RECORDED["7.3"], switches={"column": True})
    with pytest.raises(ConfigError, match="samples=-1"):
        replay(RECORDED["7.3"], samples=-1)
    assert switches_of("7.3")["isolates"]
    disks = RECORDED["7.3"].devices.with_columns(rotational=pl.lit(value=True))
    with pytest.raises(
        ConfigError, match=r"rules='6\.12': .* no clusters for a hard disk; choose 7"
    ):
        replay(replace(RECORDED["7.3"], devices=disks), "6.12")
    disks = RECORDED["6.12"].devices.with_columns(rotational=pl.lit(value=True))
    with pytest.raises(InputError, match=r"hard disk, for which 6\.12 has no clusters"):
        verify_clusters(replace(RECORDED["6.12"], devices=disks))
    with pytest.raises(InputError, match="cannot be replayed"):
        replay(changed(RECORDED["7.3"], "call", 1, order=pl.lit(11)))
