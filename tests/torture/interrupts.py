# SPDX-License-Identifier: GPL-2.0-or-later
"""Interrupt commands, and cells of notebooks, at random moments.

A try starts one command, waits until it handles signals (or until the user's file has run), then
for a random time, and sends Ctrl-C: to the process, to its group, or by a terminal. The command has
to end at once with status 130 and one line, or it was done already. In both cases no process and no
incomplete file may stay. Three tries run at once.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread
from typing import Final

import polars as pl
from jupyter_client import BlockingKernelClient, KernelManager

from swapsim import traces
from swapsim.cli import INTERRUPTED as TEXT
from swapsim.io import data_root, repository_root

AT_ONCE: Final = 3
LOST_S: Final = 150.0
"""A command that runs for so long after the signal has lost it, on the busiest machine, too."""

DONE_S: Final = 5.0
"""A command or cell that ends with success within this time after the signal was done by then."""

GRACE_S: Final = 20.0
"""Helper processes of a command that has ended notice it within this time."""

JUST_AFTER_S: Final = 0.05
"""The moments after a user's file in which numba used to drop a KeyboardInterrupt."""

GOOD: Final = ("interrupted", "done")
"""Verdicts on what an interrupt did."""

MARK: Final = "SWAPSIM_TRY"
"""The environment variable by which the processes of a try are found."""

_BIG_TEXT_LINES: Final = 1_000_000
_TEXT: Final = Path(__file__).parent.parent / "data" / "tracefs-6.1.txt"
_POLICY: Final = Path(__file__).parent.parent / "cli" / "own_policy.py"
_SLOTS: Final = data_root() / "traces" / "slots-8-shared" / "slot_events.parquet"
_TERM_BIT: Final = 1 << (signal.SIGTERM - 1)
_LONG_STUDIES: Final = (
    "newer-kernels-global-lock",
    "stall-decisions-tables",
    "batched-removal-gain-by-list",
    "cluster-next-ages",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """What one interrupt did."""

    kind: str
    command: str
    to: str
    """Who got the signal: the process, its group, or by a terminal; a kernel for a cell."""
    moment_s: float
    """Since the start of the handling, or the end of the file."""
    status: int | str
    """The exit status; of a cell, its reply."""
    took_s: float
    """From the signal to the end."""
    verdict: str
    """interrupted, done, or what went wrong."""
    said: str = ""
    left: Sequence[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Work:
    """The files that the tries share."""

    folder: Path
    text: Path


def shared_work(folder: Path, lines: int = _BIG_TEXT_LINES) -> Work:
    """Write a text whose import takes a second or two."""
    read = _TEXT.read_text().splitlines(keepends=True)
    heads = [line for line in read if line.startswith("#")]
    body = [line for line in read if not line.startswith("#")]
    text = folder / "long.txt"
    text.write_text("".join(heads) + "".join(body) * (lines // len(body)))
    return Work(folder, text)


_REPLAYS: Final[Sequence[tuple[str, ...]]] = (
    ("mapping", "swap-w-seq"),
    ("removal", "removals-mix"),
    ("stall", "stalls-disk-4", "--only", "decisions"),
    ("slots", "slots-8-shared", "--seeds", "4"),
    ("clusters", "clusters-7.3-devices-4", "--only", "grants"),
)
_VERIFIES: Final[Sequence[tuple[str, ...]]] = (
    ("slots", str(_SLOTS), "--policy", "shared", "--cluster-size", "256"),
    ("stalls", "stalls-dirty-4"),
    ("clusters", "clusters-7.3-devices-4"),
)


def arguments(kind: str, folder: Path, rng: random.Random, work: Work) -> list[str]:
    """Return a command of a kind; what it writes lies in the folder."""
    out = ["-o", str(folder / "out.csv")]
    if kind == "import":
        return ["import", str(work.text), "-o", str(folder / "trace")]
    if kind == "replay":
        return ["replay", *rng.choice(_REPLAYS), *out]
    if kind == "verify":
        return ["verify", *rng.choice(_VERIFIES)]
    if kind == "simulate":
        return ["simulate", rng.choice([*_LONG_STUDIES, "--check"])]
    if kind == "report":
        return ["report", "-o", str(folder / "report")]
    file = folder / "mine.py"  # it makes a mark when it has run
    file.write_text(f"{_POLICY.read_text()}\nopen({str(folder / 'ran')!r}, 'w').close()\n")
    return ["rank", str(file), "--seeds", "99", *out]


LONGEST_S: Final = {
    "just after the file": 0.8 * JUST_AFTER_S,
    "import": 4,
    "replay": 6,
    "verify": 4,
    "rank": 15,
    "simulate": 15,
    "report": 40,
    "script": 10,
    "cell": 6,
}
"""The longest time before the signal, in seconds."""

_SCRIPT: Final = """
from swapsim import study
from swapsim.machine import Machine
from swapsim.machine.running import run_rows
open({mark!r}, "w").close()
study.run(run, [Machine(kernel="6.1", walkers=2, seed=n + 1) for n in range(9999)])
"""
"""A user's script: Python ends it by the signal, with one traceback."""

CELLS: Final[Mapping[str, str]] = {
    "rank": f"""
from swapsim import slots
from swapsim.policies import policies_in
_ = slots.rank(policies_in({str(_POLICY)!r}), seeds=99)
""",
    "policy": """
import swapsim
for n in range(9):
    @swapsim.policy(base_of="cpu")
    def stays(base):
        return base + n
    @swapsim.list_policy()
    def first(free, nonfull, frag, full):
        return free
""",
    "replay": """
from swapsim import mapping, clusters
from swapsim.io import shipped_traces
for _ in range(9):
    mapping.replay(shipped_traces()["swap-w-seq"])
    clusters.replay(shipped_traces()["clusters-7.3-devices-4"])
""",
    "verify": f"""
from swapsim import slots, stall
from swapsim.io import shipped_traces
for _ in range(9):
    stall.verify(shipped_traces()["stalls-dirty-4"])
    slots.verify({str(_SLOTS)!r}, policy="shared", cluster_size=256)
""",
    "study": """
from swapsim.site import simulated
simulated.studies(["newer-kernels-global-lock"])[0].compute()
""",
}
"""What a cell runs: longer than any wait before its signal."""

SHARES: Final = {
    "just after the file": 340,
    "rank": 60,
    "import": 130,
    "replay": 140,
    "verify": 120,
    "simulate": 40,
    "report": 30,
    "script": 20,
    "cell": 120,
}
"""Tries of each kind of a thousand."""

_simulates = Lock()
"""Studies write to one folder, so that one of them runs at a time."""


def one(number: int, kind: str, rng: random.Random, work: Work) -> Try:
    """Interrupt a command or a cell once."""
    folder = Path(tempfile.mkdtemp(prefix=f"{number}-", dir=work.folder))
    if kind == "cell":
        return _cell(number, rng, folder)
    if kind != "simulate":
        return _command(number, kind, rng, folder, work)
    with _simulates:
        return _command(number, kind, rng, folder, work)


def _command(number: int, kind: str, rng: random.Random, folder: Path, work: Work) -> Try:
    marked, script = kind in ("just after the file", "script"), kind == "script"
    to = rng.choice(["process", "group", "terminal"])
    given = (
        ["-c", _SCRIPT.format(mark=str(folder / "ran"))]
        if script
        else ["-m", "swapsim", *arguments(kind, folder, rng, work)]
    )
    pause = rng.uniform(0, LONGEST_S[kind])
    stored = _stored() if kind == "simulate" else {}
    process = _Process(given, f"{os.getpid()}-{number}", terminal=to == "terminal")
    at = _ran(folder / "ran", process) if marked else _handled(process)
    time.sleep(max(0, at + pause - time.time()))
    moment = time.time() - at
    process.interrupt(to)
    since = time.monotonic()
    status = process.wait(LOST_S)
    took = time.monotonic() - since
    said, left, files = process.said(), process.left(), _incomplete(folder)
    if kind == "simulate" and (changed := sorted(stored.items() ^ _stored().items())):
        files.append(f"data/simulated: {changed}")
    if script:
        verdict = _judged_script(status, said)
    else:
        verdict = _judged(status, said, took, terminal=to == "terminal")
    if verdict in GOOD and (left or files):
        verdict = "processes left" if left else "files left"
    return Try(
        kind=kind,
        command=kind if script else " ".join(Path(each).name for each in given[2:]),
        to=to,
        moment_s=round(moment, 4),
        status=status,
        took_s=round(took, 2),
        verdict=verdict,
        said=said[-3000:],
        left=[*left, *files],
    )


def _judged(status: int, said: str, took: float, *, terminal: bool) -> str:
    """Return how a command ended."""
    if status in (0, -signal.SIGABRT) and took > DONE_S:
        return "lost"
    if status not in (0, 128 + signal.SIGINT):
        return f"status {status}"
    if "Traceback" in said or "Error" in said or "Exception" in said:
        return "traceback"
    if status == 0:
        return "done"
    if terminal:  # the output is there, too, and what the terminal shows of the key
        good = said.count(TEXT) == 1 and said.rstrip().endswith(TEXT)
    else:
        good = said == f"{TEXT}\n"
    return "interrupted" if good else "text"


def _judged_script(status: int, said: str) -> str:
    """Return how a user's script ended."""
    if status != -signal.SIGINT:
        return f"status {status}" if status != -signal.SIGABRT else "lost"
    good = said.count("Traceback") == 1 and said.rstrip().endswith("KeyboardInterrupt")
    return "interrupted" if good else "traceback"


class _Process:
    """A command in a session of its own, whose output is read as it comes."""

    def __init__(self, arguments: Sequence[str], mark: str, *, terminal: bool) -> None:
        self._mark = f"{MARK}={mark}"
        ask = ["nice", "-n", "5", sys.executable, *arguments]
        ours, theirs = os.openpty() if terminal else os.pipe()
        self._process = subprocess.Popen(
            ["setsid", *(["-c"] if terminal else []), *ask],
            stdin=theirs if terminal else subprocess.DEVNULL,
            stdout=theirs if terminal else subprocess.DEVNULL,
            stderr=theirs,
            env=os.environ | {MARK: mark, "PYTHONFAULTHANDLER": "1"},
        )
        os.close(theirs)
        self._ours = ours
        self._read: list[bytes] = []
        self._reader = Thread(target=self._follow, daemon=True)
        self._reader.start()
        self.pid = self._process.pid

    def _follow(self) -> None:
        with suppress(OSError):  # a terminal whose other end is closed
            while data := os.read(self._ours, 1 << 16):
                self._read.append(data)

    def ended(self) -> bool:
        return self._process.poll() is not None

    def interrupt(self, to: str) -> None:
        """Send Ctrl-C; a process that has ended needs none."""
        with suppress(ProcessLookupError, OSError):
            if to == "terminal":
                os.write(self._ours, b"\x03")
            elif to == "group":
                os.killpg(self.pid, signal.SIGINT)
            else:
                os.kill(self.pid, signal.SIGINT)

    def wait(self, seconds: float) -> int:
        """Return the exit status; abort what hangs, so that it says where."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGABRT)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE_S)
            _kill(with_mark(self._mark))
            self._process.wait()
            return -signal.SIGABRT

    def said(self) -> str:
        self._reader.join(GRACE_S)
        return b"".join(self._read).decode(errors="replace")

    def left(self) -> list[str]:
        """Return the processes that stay, and kill them."""
        return _stayed(lambda: with_mark(self._mark))


def _stayed(find: Callable[[], dict[int, str]]) -> list[str]:
    until = time.monotonic() + GRACE_S
    while (found := find()) and time.monotonic() < until:
        time.sleep(0.1)
    _kill(found)
    return list(found.values())


def with_mark(mark: str) -> dict[int, str]:
    """Return the processes with a variable in their environment, and their commands."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it may end meanwhile, or belong to another user
            if mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(folder.name)] = command.decode(errors="replace")[:200]
    return found


def _kill(pids: Mapping[int, str]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _handled(process: _Process) -> float:
    """Wait until a process handles SIGTERM, which swapsim does first; return that time."""
    status = Path(f"/proc/{process.pid}/status")
    until = time.monotonic() + LOST_S
    while not process.ended() and time.monotonic() < until:
        caught = next((s for s in status.read_text().splitlines() if s.startswith("SigCgt")), "")
        if caught and int(caught.split()[1], 16) & _TERM_BIT:
            break
        time.sleep(0.001)
    return time.time()


def _ran(mark: Path, process: _Process) -> float:
    """Wait until a file has run; return when it did."""
    until = time.monotonic() + LOST_S
    while not process.ended() and time.monotonic() < until:
        with suppress(FileNotFoundError):
            return mark.stat().st_mtime
        time.sleep(0.0005)
    return time.time()


def _incomplete(folder: Path) -> list[str]:
    """Return the files of a try that are not complete."""
    wrong = []
    for path in folder.iterdir():
        try:
            if path.name == "trace":
                traces.info(path)
            elif path.name == "out.csv":
                assert pl.read_csv(path).height
            elif path.name == "report":
                assert (path / "index.html").is_file()
                assert (path / "swapsim-report").is_file()
            elif path.name not in ("mine.py", "ran", ".report-pages"):
                wrong.append(str(path))
        except Exception as error:
            wrong.append(f"{path}: {error}")
    return wrong


def _stored() -> dict[str, int]:
    """Return the names of the stored results, and a hash of each."""
    folder = data_root() / "simulated"
    return {path.name: hash(path.read_bytes()) for path in folder.iterdir()}


def _cell(number: int, rng: random.Random, folder: Path) -> Try:
    """Interrupt a cell of a notebook, and run another one after it."""
    kind = rng.choice(sorted(CELLS))
    pause = rng.uniform(0, LONGEST_S["cell"])
    mark = f"{os.getpid()}-{number}"
    manager = KernelManager(kernel_name="python3")  # type: ignore[no-untyped-call]
    manager.start_kernel(
        extra_arguments=["--log-level=ERROR"],
        env=os.environ | {MARK: mark, "PYTHONFAULTHANDLER": "1"},
        cwd=str(repository_root()),
    )
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=LOST_S)
        pid = manager.provisioner.pid  # type: ignore[union-attr]
        ran = folder / "ran"
        asked = client.execute(f"open({str(ran)!r}, 'w').close()\n{CELLS[kind]}")
        until = time.monotonic() + LOST_S
        while not ran.exists():
            if time.monotonic() > until:
                raise TimeoutError("the cell does not begin")
            time.sleep(0.001)
        at = ran.stat().st_mtime
        time.sleep(max(0, at + pause - time.time()))
        moment = time.time() - at
        manager.interrupt_kernel()
        since = time.monotonic()
        said, status = _answer(client, asked)
        took = time.monotonic() - since
        was_done = status == "ok" and took < DONE_S
        wrong = "" if was_done or status == "KeyboardInterrupt" else f"reply {status}"
        if status == "ok" and not was_done:
            wrong = "lost"
        if wrong == "" and said and not was_done:
            wrong = "text"
        if status == "lost":
            os.kill(pid, signal.SIGABRT)
        elif _answer(client, client.execute("1 + 1"))[1] != "ok":
            wrong = wrong or "the next cell fails"
        left = _stayed(lambda: _workers(f"{MARK}={mark}", pid))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    left += _stayed(lambda: with_mark(f"{MARK}={mark}"))
    return Try(
        kind="cell",
        command=kind,
        to="kernel",
        moment_s=round(moment, 4),
        status=status,
        took_s=round(took, 2),
        verdict=wrong
        or ("processes left" if left else "")
        or ("done" if was_done else "interrupted"),
        said=said[-3000:],
        left=left,
    )


def _workers(mark: str, kernel: int) -> dict[int, str]:
    """Return the other processes of a kernel; the tracker of resources ends with it."""
    found = with_mark(mark)
    return {p: c for p, c in found.items() if p != kernel and "resource_tracker" not in c}


def _answer(client: BlockingKernelClient, asked: str) -> tuple[str, str]:
    """Return what a cell wrote to stderr, and its reply: ok, or the name of its error."""
    said, status = "", "lost"
    with suppress(Exception):  # of the queue, after the time
        reply = client.get_shell_msg(timeout=LOST_S)
        while reply["parent_header"].get("msg_id") != asked:
            reply = client.get_shell_msg(timeout=LOST_S)
        status = reply["content"].get("ename", reply["content"]["status"])
        while True:
            message = client.get_iopub_msg(timeout=GRACE_S)
            if message["parent_header"].get("msg_id") != asked:
                continue
            if message["msg_type"] == "stream" and message["content"]["name"] == "stderr":
                said += message["content"]["text"]
            if message["content"].get("execution_state") == "idle":
                break
    return said, status
