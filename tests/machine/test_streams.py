# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests of a trace on the contention machine: what is counted, and what is refused."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from swapsim.errors import InputError
from swapsim.machine._native import Window, run_window
from swapsim.machine.config import Machine
from swapsim.machine.constants import costs_by_name
from swapsim.machine.running import run_rows
from swapsim.slots.config import REQUESTS, Streams

Row = tuple[int, int, str, int, int]


def streams(rows: list[Row], skipped_share: float = 0.0) -> Streams:
    """Return streams of these rows: task, mm, op, owner, ordinal."""
    requests = pl.DataFrame(rows, schema=REQUESTS, orient="row")
    return Streams(requests=requests, skipped_share=skipped_share)


def out_and_in(task: int, mm: int, pages: int) -> list[Row]:
    """Return rows of a task that sends pages out and brings them in again."""
    rows = [(task, mm, "get", task, page) for page in range(pages)]
    return rows + [(task, mm, "put", task, page) for page in range(pages)]


def window_of(config: Machine) -> Window:
    """Run a machine whose invariants are checked at both ends."""
    return run_window(config, costs_by_name(), verify=True)


SMALL = Machine(streams=streams(out_and_in(0, 0, 500)), frames=4096, slots=2**13)


def test_a_lone_stream_does_all_its_rows_and_never_waits() -> None:
    """If no row is skipped, all rows are counted, and each lock is free when requested."""
    window = window_of(SMALL)
    task, kswapd = window.cpus.iter_rows(named=True)
    assert (task["actor"], task["pages_out"], task["pages_in"]) == ("stream", 500, 500)
    assert task["idle_ns"] == 0
    assert window.sites["contended"].sum() == 0
    assert window.elapsed_ns > 500 * (10_400 + 2 * 1_000)
    assert (kswapd["actor"], kswapd["run_ns"]) == ("kswapd", 0)


def test_numbers_of_tasks_and_spaces_may_have_gaps() -> None:
    """Tasks 3 and 9, one a kernel thread, are two streams; one waits for the other's page."""
    rows: list[Row] = [(9, -1, "put", 3, page) for page in range(15)]
    rows += [(3, 7, "get", 3, page) for page in range(20)] + [(9, -1, "get", 9, 0)]
    found = window_of(replace(SMALL, streams=streams(rows)))
    first, second, _ = found.cpus.iter_rows(named=True)
    assert (first["pages_in"], second["pages_in"]) == (0, 15)
    # Which stream ends first, and ends the run, depends on the costs of pages in and out.
    assert 15 <= first["pages_out"] <= 20
    assert second["pages_out"] == 1
    assert second["idle_ns"] > 0


def test_counting_begins_and_ends_with_requests() -> None:
    """Skipped rows are not counted, and the end of a task with few rows does not end the run."""
    short = out_and_in(1, 1, 10)
    config = replace(SMALL, streams=streams(out_and_in(0, 0, 500) + short, skipped_share=0.25))
    assert config.streams is not None
    assert (config.streams.skipped, config.streams.long_rows) == (255, 255)
    window = window_of(config)
    pages = window.cpus["pages_out"].sum() + window.cpus["pages_in"].sum()
    assert pages == pytest.approx(1020 - 255, abs=1)


def test_pages_held_are_those_that_came_in_last() -> None:
    """A page out frees one that came in before, if there is any."""
    rows = [(0, 0, "get", 0, page) for page in range(4)]
    rows += [(0, 0, "put", 0, 0), (0, 0, "put", 0, 1), (0, 0, "get", 0, 4), (0, 0, "put", 0, 2)]
    rows += [(2, 1, "put", 0, 3), (2, 1, "get", 2, 0), (2, 1, "get", 2, 1), (2, 1, "put", 2, 1)]
    assert streams(rows).pages_held == [2, 1]


FIVE = out_and_in(0, 0, 5)


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("writers", {"writers": 1}),
        ("channels", {"channels": 2}),
        ("devices", {"nodes": 2, "devices": 2}),
        ("frames", {"frames": 1070}),
        ("streams.skipped_share", {"streams": streams(FIVE + out_and_in(1, 0, 5), 0.97)}),
        ("streams.swap_in", {"streams": replace(streams(FIVE), swap_in="asynchronous")}),
    ],
)
def test_streams_that_do_not_fit_the_machine_are_refused(
    field: str, fields: dict[str, Any]
) -> None:
    """A config is checked when it is made, and names its field."""
    with pytest.raises(InputError, match=f"^{field}="):
        replace(SMALL, **fields)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(0, 0, "put", 0, 0), (0, 0, "get", 0, 0)], "row 0: .*only after"),
        (
            [(1, 0, "put", 0, 0), (0, 0, "put", 1, 0), (1, 0, "get", 1, 0), (0, 0, "get", 0, 0)],
            "row 1: .*only after",
        ),
        ([(0, 0, "get", 0, 0), (0, 0, "put", 0, 1)], "row 1: .*never"),
        ([(0, 0, "get", 0, 0), (0, 0, "get", 0, 0)], "row 1: .*out twice"),
        ([*out_and_in(0, 0, 1), (0, 0, "put", 0, 0)], "row 2: .*in twice"),
        ([(0, 0, "get", 0, 0), (0, 1, "get", 0, 1)], "row 1: .*address spaces"),
    ],
)
def test_requests_that_cannot_be_processed_are_refused_with_their_row(
    rows: list[Row], message: str
) -> None:
    """The row is that of the table, in any order of its tasks."""
    with pytest.raises(InputError, match=message):
        run_rows(replace(SMALL, streams=streams(rows)))


def test_streams_that_end_too_early_are_named() -> None:
    """The device fills up, or a task ends before ``skipped_share`` of all rows are done."""
    rows = [(0, 0, "get", 0, page) for page in range(2000)]
    with pytest.raises(InputError, match="no swap slot"):
        run_rows(replace(SMALL, streams=streams(rows), slots=1000))
    rows = out_and_in(0, 0, 150) + out_and_in(1, 1, 350)
    with pytest.raises(InputError, match=r"skipped_share=0\.8"):
        run_rows(replace(SMALL, streams=streams(rows, skipped_share=0.8)))
