# SPDX-License-Identifier: GPL-2.0-or-later
"""The script that records a kernel of the reader's own: made of its types, or refused."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_btf import Types, kernel

from swapsim.errors import InputError
from swapsim.traces.probes import recording_script
from swapsim.traces.probes.btf import Btf, Parameter


@pytest.fixture
def types(tmp_path: Path) -> Path:
    """Give the path of a kernel's types."""
    path = tmp_path / "vmlinux"
    path.write_bytes(kernel())
    return path


def probes_of(script: str) -> dict[str, str]:
    """Return the probes that a script sets: name -> its function and fields."""
    lines = [line.split(maxsplit=2) for line in script.splitlines() if line.startswith("\tprobe ")]
    return {name: rest for _, name, rest in lines}


def test_members_are_found_as_in_c() -> None:
    """In structures and unions without a name, behind further names."""
    known = Btf(kernel(index_at=48))
    assert [known.offset(f"folio.{name}") for name in ("flags", "mapping", "index", "private")] == [
        0,
        24,
        48,
        40,
    ]
    assert known.offset("folio.nothing") is None
    assert known.offset("nothing.flags") is None
    assert known.parameters("free_swap_slot") == (Parameter("entry", ""),)
    assert known.parameters("nothing") is None


def test_a_structure_that_holds_itself_is_looked_into_once() -> None:
    """A damaged file may say so; the search for a member ends."""
    types = Types()
    types.structure("folio", [("", 1, 0)] * 100)
    assert Btf(types.written()).offset("folio.flags") is None


def test_the_probes_have_the_offsets_of_that_kernel(types: Path) -> None:
    """A folio whose index lies elsewhere is read there."""
    types.write_bytes(kernel(index_at=72))
    probes = probes_of(recording_script(types))
    assert probes["swp_add"] == "add_to_swap_cache 'folio=%di entry=%si'"
    assert "index=+72(%di):u64" in probes["wb_start"]
    assert "{" not in "".join(probes.values())


def test_the_script_is_one(types: Path) -> None:
    """The shell takes it, no place in it is left open, and it says how it is used."""
    script = recording_script(types)
    assert "@" not in script.replace('"$@"', "")
    ran = subprocess.run([_shell(), "-n"], input=script, text=True, capture_output=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    ran = subprocess.run([_shell(), "-s"], input=script, text=True, capture_output=True)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.startswith("record.sh: usage: ")


def _shell() -> str:
    return shutil.which("dash") or "sh"


def test_a_kernel_without_probes_is_told_in_one_line(types: Path, tmp_path: Path) -> None:
    """Nothing is set, so to take it off has nothing to say."""
    script = recording_script(types).replace("/sys/kernel/tracing", str(tmp_path))
    asked = [_shell(), "-s", "record", str(tmp_path / "trace.txt"), "true"]
    ran = subprocess.run(asked, input=script, text=True, capture_output=True)
    assert (ran.returncode, ran.stderr.count("\n")) == (1, 1), ran.stderr


def test_what_only_one_replay_needs_leaves_the_other(types: Path) -> None:
    """Without starts of writeback batched removal is left; asked for by name, tags are refused."""
    types.write_bytes(kernel(without=("__folio_start_writeback",)))
    script = recording_script(types)
    assert "to feed: batched-removal." in script
    assert "wb_end" not in probes_of(script)
    with pytest.raises(InputError, match=r"cannot feed writeback-tags: .* __folio_start_writeback"):
        recording_script(types, ["writeback-tags"])


def test_what_a_replay_can_do_without_is_left_out_and_said(types: Path) -> None:
    """Frees of slots are no event that a replay needs."""
    types.write_bytes(kernel(without=("free_swap_slot",)))
    script = recording_script(types)
    assert "writeback-tags, batched-removal." in script
    assert "# Not recorded, for the kernel has no function free_swap_slot" in script


def test_parameters_in_another_order_are_refused(types: Path) -> None:
    """A field that has a parameter's name must be that one."""
    made = Types()
    number = made.integer("unsigned long")
    made.function("add_to_swap_cache", [("entry", number), ("folio", number)])
    types.write_bytes(made.written())
    with pytest.raises(InputError, match="folio is not parameter 1 of add_to_swap_cache"):
        recording_script(types, ["writeback-tags"])


def test_what_the_lab_kernel_alone_writes_is_refused(types: Path) -> None:
    """No probe can see a slot being chosen under si->lock."""
    with pytest.raises(InputError, match=r"cluster-next reads slot_events.*data/capture"):
        recording_script(types, ["cluster-next"])
    with pytest.raises(InputError, match="no such replay: 'tags'"):
        recording_script(types, ["tags"])


def test_an_elf_file_is_told_how_to_give_its_types(types: Path) -> None:
    """A vmlinux holds them in a section."""
    types.write_bytes(b"\x7fELF and more")
    with pytest.raises(InputError, match="objcopy --dump-section"):
        recording_script(types)


@given(
    damage=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), max_size=8),
    length=st.integers(0, 3000),
)
def test_damaged_types_are_one_line(
    tmp_path_factory: pytest.TempPathFactory,
    damage: list[tuple[int, int]],
    length: int,
) -> None:
    """Whatever is in the file, there is a script or an InputError that names it."""
    data = bytearray(kernel()[:length])
    for at, byte in damage:
        data[at % max(1, len(data)) : at % max(1, len(data)) + 1] = bytes([byte])
    path = tmp_path_factory.mktemp("types") / "vmlinux"
    path.write_bytes(data)
    try:
        said = recording_script(path)
    except InputError as error:
        said = str(error)
    assert said.startswith("#!/bin/sh\n") or (said.startswith(f"{path}: ") and "\n" not in said)
