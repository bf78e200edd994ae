# SPDX-License-Identifier: GPL-2.0-or-later
"""The public interface: its names, its weight, and the six uses for which it is made."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from IPython.core.interactiveshell import InteractiveShell

import swapsim
from swapsim import charts, machine, mapping, published, slots, study

ROOMS = (
    *("mapping", "removal", "stall", "slots", "clusters", "mglru"),
    *("machine", "reclaim", "study", "published", "charts", "live"),
)


def test_the_names_are_those_of_the_list() -> None:
    """swapsim/README.md has a line for each; every one has a docstring or is a tuple of names."""
    text = (Path(swapsim.__file__).parent / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([\w.]+)` \|", text, re.MULTILINE)
    public = [f"swapsim.{name}" for name in swapsim.__all__ if name not in ROOMS]
    for room in ROOMS:
        module = importlib.import_module(f"swapsim.{room}")
        public += [f"{room}.{name}" for name in module.__all__]
        for name in module.__all__:
            thing = getattr(module, name)
            assert isinstance(thing, tuple) or thing.__doc__, f"{room}.{name}"
    assert sorted(listed) == sorted(public)


def test_an_import_reads_no_library_that_it_may_not_need() -> None:
    """altair, numba and scipy are imported by the functions that need them."""
    rooms = ", ".join(f"swapsim.{room}" for room in ROOMS)
    ask = f"import sys, swapsim, {rooms}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert not {"altair", "numba", "scipy", "IPython"} & {*done.stdout.split()}


def test_locks_a_page_of_a_recording() -> None:
    """The first use: acquisitions with tags and without, by two kernels' rules."""
    trace = swapsim.open("swap-w-seq")
    rows = mapping.replay(trace, kernels=["4.8", "6.1"])
    assert set(rows["kernel"]) == {"4.8", "6.1"}
    with_tags, without = (
        rows.filter(kernel="4.8", tags=tags)["acquisitions"].sum() for tags in (True, False)
    )
    assert with_tags > without > 0


def test_a_recording_is_verified() -> None:
    """The second: the model hands out each slot as the kernel did."""
    found = slots.verify(swapsim.open("slots-8-shared"))
    assert found
    assert found.matched == found.of == 172479
    assert found.text.startswith("matched 172479 of 172479 slots")


@swapsim.policy(base_of="cpu", initial="random")
def next_but_one(base: int, next: int, lowest: int, highest: int, trunk_size: int) -> int:  # noqa: A002
    """Leave a trunk for the next but one."""
    if base // trunk_size == next // trunk_size:
        return next
    return max(lowest, 1 + (next + trunk_size) % highest)


def test_a_policy_of_ones_own_is_ranked() -> None:
    """The third: one table, in which equal rules share a row."""
    table = slots.rank(next_but_one, seeds=1)
    assert table.height == len({*table["rule"]})
    assert table.filter(pl.col("rule").str.contains("next_but_one")).height == 1


def test_a_published_machine_has_the_gain_of_its_notebook() -> None:
    """The fourth: the same figure here, in the notebook and in the panel."""
    a = machine.preset("A-2016")
    gain = machine.gain(a, seeds=2, tags=False).row(0, named=True)
    assert gain["low"] <= gain["middle"] <= gain["high"]
    assert isinstance(gain["saturated"], bool)
    assert gain["bound_by"]


@pytest.mark.parametrize("name", machine.PRESETS)
def test_each_preset_runs(name: str) -> None:
    """A run has named figures."""
    found = machine.run(machine.preset(name))
    assert found.swap_out > 0
    assert found.rows.height


def test_a_machine_is_swept_and_drawn() -> None:
    """The fifth: a frame for a chart."""
    a = machine.preset("A-2016")
    rows = machine.sweep(a, seeds=2, writers=[1, 2])
    ends = study.over(rows.filter(metric="swap_out"), "writers")
    chart = charts.lines(ends, "writers", "middle")
    assert chart.to_dict()["description"]


def test_a_table_of_a_mail_is_drawn() -> None:
    """The sixth: published, simulated and measured, side by side."""
    compared = published.compare("B", "usemem")
    assert published.chart(compared).to_dict()
    assert "usemem" in repr(published.show(compared))


def test_a_script_needs_no_guard(tmp_path: Path) -> None:
    """Threads run what is repeated, so that no process reads the script again."""
    script = tmp_path / "mine.py"
    script.write_text(
        "import swapsim\nfrom swapsim import slots\n"
        "rows = slots.replay(swapsim.open('slots-4-shared'), ['shared', 'percpu'], seeds=2)\n"
        "print(rows['policy'].n_unique())\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout == "2\n"


def test_a_cell_with_a_mistake_shows_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """IPython asks the class of an error for its traceback."""
    shell = InteractiveShell.instance()
    try:
        assert not shell.run_cell(
            "import swapsim; swapsim.open('swap-w-seq', feeds='slots')"
        ).success
    finally:
        InteractiveShell.clear_instance()
    assert re.fullmatch(
        r"InputError: \S*swap-w-seq: slots needs slot_events, and .*\n", capsys.readouterr().out
    )
