# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's choice of lists among changes of the rules of 7.3, on identical requests."""

from pathlib import Path

import polars as pl
import pytest
from recording import recording

import swapsim
from swapsim import clusters
from swapsim.cli import main
from swapsim.clusters import ranking
from swapsim.clusters.ranking import CHURN_GROUPS, Stream, churn, measure, stream
from swapsim.errors import InputError
from swapsim.policies import FRAG, FREE, FULL, LARGER, NONFULL, ListPolicy

RECORDED = stream(recording("7.3", calls=300), "recorded", fill=0.8)


@pytest.fixture(scope="module")
def as_7_3() -> ListPolicy:
    """Choose lists as 7.3 does."""

    @swapsim.list_policy()
    def as_7_3(free: int, nonfull: int, frag: int, last: int, swap_full: int) -> int:
        if nonfull:
            return NONFULL
        if free:
            return FREE
        if swap_full and last < FRAG:
            return FULL
        return FRAG if frag and last != FRAG else LARGER

    return as_7_3


def generated(requests: int = 1500) -> Stream:
    """Return a short generated stream."""
    rows, groups = churn(3, requests=requests)
    return stream(rows, "generated", seed=3, groups=groups)


def value(measures: pl.DataFrame, policy: str, metric: str) -> float:
    """Return a figure of one stream."""
    return float(measures.filter(policy=policy, metric=metric)["value"].item())


def test_a_choice_like_that_of_7_3_gives_the_same_grants(as_7_3: ListPolicy) -> None:
    """A few lines of Python rank exactly like the rules that they write down."""
    found = measure([RECORDED, generated()], [ranking.ALTERNATIVES[0], as_7_3])
    for metric in ("fallbacks", "in sequence", "mixed", "visits", "free clusters"):
        of_metric = found.filter(metric=metric)
        ours, theirs = (of_metric.filter(policy=name)["value"] for name in ("as_7_3", "7.3"))
        assert ours.to_list() == theirs.to_list(), metric


def test_free_clusters_only_are_refused_most_and_all_frag_clusters_least() -> None:
    """The order that the rules imply on a full device: every frag cluster tried, or one."""
    found = measure([generated(6000)])
    split = {name: value(found, name, "fallbacks") for name in ("free-only", "7.3", "frag-all")}
    assert split["free-only"] > split["7.3"] >= split["frag-all"]
    shares = found.filter(pl.col("metric").str.starts_with("fallbacks of order"))
    assert set(shares["metric"]) == {f"fallbacks of order {order}" for order in (2, 4, 9)}


def test_a_cluster_of_a_group_is_visited_by_more_cpus_than_one_of_a_cpu() -> None:
    """And that of a task by the task's CPU, so that its slots lie in sequence."""
    found = measure([generated(6000)])
    names = ("per-group", "7.3", "per-task")
    others = [value(found, name, "visits after another CPU") for name in names]
    runs = [value(found, name, "in sequence") for name in names]
    assert others[0] > max(others[1:])
    assert runs[0] < runs[1] < runs[2]


def test_one_table_ranks_all_rules(as_7_3: ListPolicy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewest fallbacks first; a recording has a column of its own, and no part in the places."""
    monkeypatch.setattr(ranking, "default_streams", lambda _: [RECORDED, generated()])
    found = clusters.rank(as_7_3, seeds=1)
    assert found.filter("user")["rule"].to_list() == ["as_7_3"]
    assert found["fallbacks"].is_sorted()
    assert found.filter(rule="7.3").select("fallbacks", "mixed", "recorded").row(0) == (0, 0, 0)
    assert found["fallbacks_rank"].unique().to_list() == [f"1-{found.height}"]
    assert found.columns[-1] == "free_clusters_rank"


def test_a_generated_stream_is_a_possible_recording_of_known_groups() -> None:
    """The same for a seed, with tasks that end, and served on a device that is nearly full."""
    rows, groups = churn(5, requests=3000)
    again, _ = churn(5, requests=3000)
    assert rows.events.equals(again.events)
    assert set(groups.values()) == set(range(CHURN_GROUPS))
    assert rows.events["pid"].n_unique() > 12
    made = stream(rows, "generated", groups=groups)
    assert made.groups == {pid: groups[pid] for pid in made.groups}
    assert sum(made.slots) < rows.devices["slots"].sum()


def endless(frag: int) -> int:
    """Try the frag list for ever."""
    return FRAG + min(frag, 0)


def no_list(order: int) -> int:
    """Return no choice for large orders."""
    if order > 3:
        return 17
    return FREE


def divides(free: int) -> int:
    """Divide by the length of a list that becomes empty."""
    return FREE * (7 // free)


FAULTS = {
    "endless": (endless, r"policy endless: has chosen \d+ times in one search at the call frag="),
    "no_list": (no_list, "policy no_list: returns 17, which is no choice, at the call order="),
    "divides": (divides, "policy divides: raises ZeroDivisionError"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_bad_choice_is_named_with_its_line(name: str) -> None:
    """File, line, call and what to return, as for a policy of the scan base."""
    function, error = FAULTS[name]
    with pytest.raises(InputError, match=rf"test_rank_of_lists.py, line \d+: {error}"):
        measure([RECORDED], [swapsim.list_policy()(function)])


MINE = """
import swapsim
from swapsim.policies import FREE, LARGER, NONFULL

@swapsim.list_policy()
def mine(free, nonfull):
    return FREE if free else NONFULL if nonfull else LARGER
"""
BASES = """
@swapsim.policy(base_of="cpu")
def base(next):
    return next
"""


def test_the_command_ranks_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One table; a file with policies of both kinds is refused."""
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    assert main(["rank", str(file), "--seeds", "1"]) == 0
    printed = capsys.readouterr().out
    assert "| fallbacks |" in printed
    assert "mine" in printed
    file.write_text(MINE + BASES)
    assert main(["rank", str(file)]) != 0
    assert "put each kind into a file of its own" in capsys.readouterr().err
