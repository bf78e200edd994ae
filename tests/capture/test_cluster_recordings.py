# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices, packages and probes of the newer stock kernels; no kernel is booted."""

import shutil
import struct
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from swapsim.io import data_root

CAPTURE = data_root() / "capture"

CODE_AT = 0xFFFFFFFF81000000
NO_CALL = b"\x0f\x1f\x44\x00\x00"
ENDBR = b"\xf3\x0f\x1e\xfa"


def call(place: int, target: int) -> bytes:
    """Return a call at an offset of the code to another offset."""
    return b"\xe8" + struct.pack("<i", target - place - 5)


def test_devices_are_written_one_a_line(rig: SimpleNamespace, tmp_path: Path) -> None:
    """Each has its number among its kind, and `default` for a priority that the kernel chooses."""
    for name, expected in (
        ("devices-4", ["virtio 0 36 0 1 10", "virtio 1 36 0 1 10", "zram 0 64 0 0 5"]),
        ("orders-8", ["virtio 0 224 0 0 default"]),
    ):
        newer = rig.workload.load(f"clusters-6.12-{name}").newer
        rig.guest._write_cluster_devices(newer, tmp_path / "devices")
        assert (tmp_path / "devices").read_text().splitlines() == expected


def test_a_package_of_a_further_suite_is_found(
    rig: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine's own suites come first; then apt gets the mirror of its own lists."""
    asked: list[Sequence[str]] = []

    def run(name: str, *arguments: str, **_: object) -> str:
        asked.append((name, *arguments))
        if "indextargets" in arguments:
            return "bookworm-security mirror-b\nbookworm mirror-a\n"
        if "pkgnames" in arguments and "-c" in arguments:
            series = "linux-binary-7.3" if "binary" in arguments[-1] else "linux-modules-7.3"
            return "".join(f"{series}.{n}+deb13-cloud-amd64\n" for n in (4, 12, 9))
        return ""

    monkeypatch.setattr(rig.packages, "run", run)
    names = [rig.packages._newest(pattern, tmp_path) for pattern in rig.packages.NEWER["7.3"]]
    assert names == [
        "linux-binary-7.3.12+deb13-cloud-amd64",
        "linux-modules-7.3.12+deb13-cloud-amd64",
    ]
    assert asked[0] == ("apt-cache", "pkgnames", "linux-binary-7.3.")
    home = tmp_path / "apt" / "trixie-backports"
    assert " mirror-a trixie-backports main" in (home / "sources.list").read_text()
    assert 'Dir::Etc::sourceparts "-";' in (home / "apt.conf").read_text()


@pytest.fixture(scope="module")
def fit_probes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Return the guest's program, with a kernel of our own: its symbols, and its code as kcore."""
    folder = tmp_path_factory.mktemp("fit")
    compiler = shutil.which("cc")
    assert compiler is not None
    program = folder / "fit_probes"
    source = CAPTURE / "clusters" / "fit_probes.c"
    subprocess.run([compiler, "-O1", "-o", str(program), str(source)], check=True)
    places = {
        "lock": 0x100,
        "static": 0x200,
        "global": 0x300,
        "erased": 0x400,
        "untraced": 0x500,
        "end": 0x600,
    }
    code = bytearray(0x600)
    pieces = {
        "static": NO_CALL + b"\x90" * 3 + call(0x208, 0x100) + call(0x20D, 0x100),
        "global": ENDBR + NO_CALL,
        "erased": b"\x0f\x1f\x40\xd6" + call(0x404, 0x100),
        "untraced": ENDBR + b"\x48",
    }
    for name, piece in pieces.items():
        code[places[name] : places[name] + len(piece)] = piece
    symbols = [f"{CODE_AT + at:016x} t {name}" for name, at in places.items()]
    (folder / "kallsyms").write_text("".join(f"{line}\n" for line in [*symbols[::-1], "0 A none"]))
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF", 4, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 4096, CODE_AT, 0, len(code), len(code), 4096)
    (folder / "kcore").write_bytes((header + segment).ljust(4096, b"\0") + code)

    def fitted(line: str) -> str:
        done = subprocess.run(
            [str(program), str(folder / "kallsyms"), str(folder / "kcore")],
            input=f"{line}\n",
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout.strip() or f"{done.returncode} {done.stderr.strip()}"

    return fitted


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("p:a static+entry x=%di", "p:a static+5 x=%di"),
        ("p:a global+entry x=%di", "p:a global+9 x=%di"),
        ("p:a erased+entry", "p:a erased+9"),
        ("p:a untraced+entry x=+{t.m}(%di)", "p:a untraced+4 x=+{t.m}(%di)"),
        ("p:a static+after:lock:1 x=%di", "p:a static+13 x=%di"),
        ("p:a static+before:lock:2", "p:a static+13"),
        ("r:a static x=$retval", "r:a static x=$retval"),
        ("p:a static+7 x=%di", "p:a static+7 x=%di"),
        ("p:a static+after:lock:3", "1 fit_probes: the function has no such call: lock:3"),
        ("p:a missing+entry", "1 fit_probes: the kernel has no function: missing"),
        ("p:a static+inside", "1 fit_probes: no such place: inside"),
    ],
)
def test_a_probe_is_fitted_to_the_code(
    line: str, expected: str, fit_probes: Callable[[str], str]
) -> None:
    """Places are found in the code of a function, or the program fails with one line."""
    assert fit_probes(line) == expected
