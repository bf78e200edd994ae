# SPDX-License-Identifier: GPL-2.0-or-later
"""The script that records a user's own kernel: made from its types, or refused."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_btf import Types, allocator, kernel, reclaim

from swapsim import traces
from swapsim.cli import main
from swapsim.errors import InputError
from swapsim.traces.probes import Btf, recording_script


@pytest.fixture
def types(tmp_path: Path) -> Path:
    """Return the path of a kernel's types."""
    path = tmp_path / "vmlinux"
    path.write_bytes(kernel())
    return path


def probes_of(script: str) -> dict[str, str]:
    """Return the probes that a script sets: name -> its function and fields."""
    lines = [line.split(maxsplit=2) for line in script.splitlines() if line.startswith("\tprobe ")]
    return {name: rest for _, name, rest in lines}


def test_a_structure_that_contains_itself_is_searched_once() -> None:
    """The search for a member ends in a damaged file, too."""
    types = Types()
    types.structure("folio", [("", 1, 0)] * 100)
    assert Btf(types.written()).offset("folio.flags") is None


def test_the_probes_have_the_offsets_of_that_kernel(types: Path) -> None:
    """Members of unnamed structures and unions are read at the offsets of this kernel."""
    types.write_bytes(kernel(index_at=72))
    probes = probes_of(recording_script(types)[0])
    assert probes["swp_add"] == "add_to_swap_cache 'folio=%di entry=%si'"
    page = "mapping=+24(%di):x64 index=+72(%di):u64 private=+40(%di):x64"
    assert probes["wb_start"] == f"__folio_start_writeback 'folio=%di flags=+0(%di):x64 {page}'"
    assert "{" not in "".join(probes.values())


def shell(script: str, *arguments: str) -> tuple[int, str, str]:
    """Run a script by the shell; return its exit status, output and errors."""
    command = [shutil.which("dash") or "sh", *arguments]
    ran = subprocess.run(command, input=script, text=True, capture_output=True)
    return ran.returncode, ran.stdout, ran.stderr


def test_the_shell_accepts_the_script(types: Path) -> None:
    """No placeholder is left, and without arguments it prints its usage."""
    script = recording_script(types)[0]
    assert "@" not in script.replace('"$@"', "")
    assert shell(script, "-n") == (0, "", "")
    status, output, errors = shell(script, "-s")
    assert (status, output) == (1, "")
    assert errors.startswith("record.sh: usage: ")


def test_a_kernel_without_probes_is_one_line(types: Path, tmp_path: Path) -> None:
    """Where no probe could be set, removing them prints no further line."""
    script = recording_script(types)[0].replace("/sys/kernel/tracing", str(tmp_path))
    status, _, errors = shell(script, "-s", "record", str(tmp_path / "trace.txt"), "true")
    assert (status, errors.count("\n")) == (1, 1), errors


def test_a_missing_function_leaves_the_other_replay(types: Path) -> None:
    """Without starts of writeback only batched removal is recorded."""
    types.write_bytes(NO_START)
    script = recording_script(types)[0]
    assert "to feed: removal." in script
    assert "wb_end" not in probes_of(script)


def test_an_event_that_no_replay_needs_is_left_out_with_a_comment(types: Path) -> None:
    """No replay needs frees of slots."""
    types.write_bytes(kernel(without=("free_swap_slot",)))
    script = recording_script(types)[0]
    assert "mapping, removal." in script
    assert "echo mono >$instance/trace_clock" in script
    assert "fit(" not in script
    assert "# Not recorded by this kernel: no function free_swap_slot" in script


@pytest.mark.parametrize("rules", ["6.12", "7.3"])
def test_a_cluster_allocator_is_recorded_by_the_clock_counter(rules: str, types: Path) -> None:
    """The kernel decides which probes; places inside functions come with the program for them."""
    types.write_bytes(allocator(rules))
    script = recording_script(types, ["clusters"])[0]
    probes = probes_of(script)
    inside = "swap_do_scheduled_discard+before:_raw_spin_unlock:1 ''"
    assert probes["cluster_discard"] == inside
    facts = "swap_on" if rules == "6.12" else "cluster_pick"
    assert r"free=\64:u32 full=\72:u32 nonfull=\80:u32 frag=\88:u32" in probes[facts]
    assert ("cluster_move" in probes) == ("swap_device" in probes) == (rules == "7.3")
    status, head, _ = shell(script, "-s", "head")
    assert (status, head) == (0, "# swapsim: clock=counter cluster_bytes=16 device_bytes=104\n")
    assert ("swap_call" in probes) == (rules == "6.12")
    assert probes["cluster_visit_end"].startswith("r:alloc_swap_scan_cluster ")
    assert "echo counter >$instance/trace_clock" in script
    assert "static void fit(const char *line)" in script
    assert shell(script, "-n") == (0, "", "")


def test_the_stalls_of_7_3_are_recorded_as_the_shipped_traces(types: Path) -> None:
    """The probes have the names and fields of the recordings that `swapsim verify` reads."""
    types.write_bytes(reclaim())
    script = recording_script(types, ["stall"])[0]
    origin = traces.provenance("throttles-7.3-cgroup-1")["recording"]
    shipped = {line.split("/")[1].split()[0]: line for line in origin["probes"]}
    probes = probes_of(script)
    fields = re.compile(r"(\w+)=")
    assert {name: fields.findall(probe) for name, probe in probes.items()} == {
        name: fields.findall(probe) for name, probe in shipped.items()
    }
    assert "own_flags=+8(+8(%dx)):u64" in probes["stall_sums"]
    assert "echo mono >$instance/trace_clock" in script
    assert shell(script, "-n") == (0, "", "")


def test_a_replay_that_is_left_out_is_named_on_stderr(
    types: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The script is printed, and what it does not feed for lack of a function."""
    types.write_bytes(NO_START)
    assert main(["probes", "--kernel-btf", str(types)]) == 0
    printed = capsys.readouterr()
    assert printed.out == recording_script(types)[0]
    assert re.fullmatch(r"swapsim: .* mapping: .* __folio_start_writeback .*\n", printed.err)


def in_another_order() -> bytes:
    """Return types in which the parameters of a function are exchanged."""
    made = Types()
    number = made.integer("unsigned long")
    made.function("add_to_swap_cache", [("entry", number), ("folio", number)])
    return made.written()


LAST = allocator("7.3", without=("move_cluster",))
NO_START = kernel(without=("__folio_start_writeback",))


@pytest.mark.parametrize(
    ("data", "replays", "words"),
    [
        (NO_START, ["mapping"], "cannot feed mapping: .* __folio_start_writeback"),
        (in_another_order(), ["mapping"], "folio is not parameter 1"),
        # No probe can record the choice of a slot under si->lock.
        (kernel(), ["slots"], "slot_events.*data/capture"),
        (kernel(), ["tags"], "'tags'"),
        (kernel(), ["mglru"], r"mglru: .* function get_swappiness .* as 6\.12"),
        (kernel(), ["stall"], r"no function shrink_node .* 7\.3, or patched 6\.1"),
        (kernel(), ["clusters", "mglru"], "different clocks"),
        (LAST, ["clusters"], r"clusters: .* function move_cluster .* as 6\.12 or 7\.3"),
        # An allocator's clock has no times: it is recorded by its name only.
        (LAST, [], "cannot feed mapping and removal"),
        (b"\x7fELF and more", [], "objcopy --dump-section"),
    ],
)
def test_a_kernel_that_cannot_feed_a_replay_is_refused(
    types: Path, data: bytes, replays: list[str], words: str
) -> None:
    """The line names the replay, what the kernel lacks, and what to do."""
    types.write_bytes(data)
    with pytest.raises(InputError, match=words):
        recording_script(types, replays)


@given(
    damage=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), max_size=8),
    length=st.integers(0, 3000),
)
def test_damaged_types_are_one_line(
    tmp_path_factory: pytest.TempPathFactory, damage: list[tuple[int, int]], length: int
) -> None:
    """For any bytes of the file the result is a script or an InputError that names it."""
    data = bytearray(kernel()[:length])
    for at, byte in damage:
        data[at % max(1, len(data)) : at % max(1, len(data)) + 1] = bytes([byte])
    path = tmp_path_factory.mktemp("types") / "vmlinux"
    path.write_bytes(data)
    try:
        result = recording_script(path)[0]
    except InputError as error:
        result = str(error)
    one_error = result.startswith(f"{path}: ") and "\n" not in result
    assert result.startswith("#!/bin/sh\n") or one_error
