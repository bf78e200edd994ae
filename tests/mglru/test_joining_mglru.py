# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel's text becomes choices and turns, and one that cannot be is refused in one line."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from swapsim import mglru, traces
from swapsim.cli import main
from swapsim.errors import InputError
from swapsim.mglru.recording import recording

PAGES = "{" + ",".join(["70"] * 40) + "}"
SEQS = "lruvec=0xf00 max_seq=7 min_seq={4,5}"
STATE = f"{SEQS} pages={PAGES}"


def counters(number: int, first: int = 0) -> str:
    """Return an array of counters, all 0 but the first."""
    return "{" + ",".join([str(first), *["0"] * (number - 1)]) + "}"


def text(kernel: str = "7.3", **changed: tuple[str, str]) -> str:
    """Return the events of a call that scans once; a change replaces words of one event."""
    number = {"6.12": 38, "7.3": 40}.get(kernel, 39)
    batch = "nr=19 " if kernel == "7.3" else ""
    events = {
        "gen_shrink": f"lruvec=0xf00 priority=7 target=0x1 memcg=0x1 online=10 low=0 min=0 "
        f"hierarchy=0 max_seq=7 min_seq={{4,5}} pages={PAGES}",
        "gen_swappiness": "value=60",
        "gen_evict": f"{batch}swappiness=60 {STATE}",
        "gen_choice": f"{batch}{SEQS} swappiness=60 priority=7 gfp=0x40 control={counters(number)}",
        "mm_vmscan_lru_isolate": "classzone=1 order=0 nr_requested=20 nr_scanned=20 nr_skipped=0 "
        f"nr_taken=20 lru=inactive_{'file' if kernel == '7.3' else 'anon'}",
        "gen_choice_end": f"scanned=20 control={counters(number - 16)}",
        "gen_evict_end": "scanned=20",
        "gen_abort": f"{STATE} reclaimed=40 wanted=32 order=0",
        "gen_abort_end": f"abort={int(kernel == '7.3')}",
        "gen_shrink_end": "rotate=0",
    }
    if kernel == "6.12":
        events |= {"gen_abort": "", "gen_abort_end": ""}
    for event, (old, new) in changed.items():
        assert old in events[event]
        events[event] = events[event].replace(old, new)
    return "".join(
        f"  task-9  [000] .....  10.{at:06}: {event}: {words}\n"
        for at, (event, words) in enumerate(events.items())
        if words
    )


@pytest.fixture
def imported(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that imports a text to a folder."""

    def read(content: str) -> Path:
        source, folder = tmp_path / "text.txt", tmp_path / "trace"
        source.write_text(content, encoding="utf-8")
        traces.import_text(source, folder)
        return folder

    return read


@pytest.mark.parametrize("kernel", ["6.12", "7.3"])
def test_a_call_becomes_a_choice_and_its_turns(
    kernel: str, imported: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """On 7.3 a second turn does nothing; the command prints the last line, and exits 0."""
    folder = imported(text(kernel))
    rows = recording(folder)
    assert rows.rules == kernel
    assert rows.steps["evicted"].to_list() == [True, False][: 1 + (kernel == "7.3")]
    assert rows.choices.select("scan_1", "taken_1", "io").rows() == [
        ("file" if kernel == "7.3" else "anon", 20, True)
    ]
    assert main(["verify", "mglru", str(folder)]) == 0
    assert "chose 1 of 1 types (0 of 0 tiers, " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"gen_evict": ("nr=19", "nr=20")}, "another scan size or end"),
        ({"mm_vmscan_lru_isolate": ("file", "anon")}, "another type"),
        ({"gen_choice_end": ("{0,", "{5,")}, "a tier below the index was spared"),
    ],
)
def test_the_first_mismatch_is_shown(
    changed: dict[str, tuple[str, str]], says: str, imported: Callable[[str], Path]
) -> None:
    """With the state of its decision."""
    verdict = mglru.verify(imported(text(**changed)))
    assert not verdict.agrees
    assert says in verdict.describe()[0]
    assert "generations 4 (anon) and 5 (file) to 7" in "\n".join(verdict.describe())


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"gen_shrink": ("hierarchy=0", "hierarchy=3")}, "version 1"),
        ({"gen_choice_end": ("scanned=20 ", "")}, "no such field"),
        ({"gen_evict_end": ("scanned=20", "")}, "lacks gen_evict_end"),
        ({"gen_choice": ("control={0", "control={0,0")}, "record one of these kernels"),
        ({"gen_choice": ("control={0,", "control={9,")}, ""),
        ({"gen_choice": ("{0,", "{-9,")}, "negative"),
        ({"gen_choice": ("max_seq=7", "max_seq=9")}, "state that cannot be"),
        ({"gen_evict": ("max_seq=7", "max_seq=4")}, "state that cannot be"),
        ({"gen_shrink": ("priority=7", "priority=13")}, "state that cannot be"),
    ],
)
def test_what_cannot_be_is_refused(
    changed: dict[str, tuple[str, str]], says: str, imported: Callable[[str], Path]
) -> None:
    """Another kernel, a missing event or field, version 1, and states that no kernel has."""
    if not says:
        assert mglru.verify(imported(text(**changed))).agrees
        return
    with pytest.raises(InputError, match=says) as error:
        mglru.verify(imported(text(**changed)))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("", "[recording.probe_misses]\ngen_evict = 3\n", "missed 3 events of the probe gen_evict"),
        ("", "[recording.lost_events_by_cpu]\n1 = 4\n", "lost 4 events of CPU 1"),
        ("events_by_cpu = {}", "events_by_cpu = { 0 = 5 }", "lost 5 events of CPU 0"),
        ("gaps_of_unknown_size = 0", "gaps_of_unknown_size = 2", "2 losses of unknown size"),
        ("overwritten = 0", "overwritten = 7", "overwrote 7 events"),
    ],
)
def test_a_recording_that_lost_events_is_refused(
    old: str, new: str, says: str, imported: Callable[[str], Path]
) -> None:
    """A turn without its events would be another one."""
    folder = imported(text())
    path = folder / "trace.toml"
    toml = path.read_text()
    assert old in toml
    path.write_text(toml.replace(old, new) if old else f"{toml}\n{new}")
    with pytest.raises(InputError, match=says):
        recording(folder)


def test_other_rules_and_switches_decide_the_same_states(imported: Callable[[str], Path]) -> None:
    """6.12 takes the older generation, so the choice flips by that switch alone."""
    folder = imported(text())
    found = mglru.replay(folder, ["6.12"])
    assert found.flips.select("base_type", "type", "term", "choices", "flips").rows() == [
        ("file", "anon", "older generation", 1, True)
    ]
    assert found.switches.filter(pl.col("flips") > 0)["switch"].to_list() == ["older_first", "all"]
    assert found.when.select("term", "type", "choices").rows() == [("older generation", "anon", 1)]
    same = mglru.replay(folder, ["6.12"], switches={"older_first": False})
    assert not same.flips["flips"].any()
    other = mglru.replay(folder, ["7.3"], swappiness=200).flips
    assert other.select("type", "term", "flips").rows() == [("anon", "swappiness", True)]
    with pytest.raises(InputError, match="swappiness=300"):
        mglru.replay(folder, swappiness=300)
    assert found.timeline["choices"].sum() == 1
