# SPDX-License-Identifier: GPL-2.0-or-later
"""Mistakes as users make them: one line that names what is wrong and what to do, no file left."""

from collections.abc import Callable
from pathlib import Path

import pytest

import swapsim
from swapsim import (
    clusters,
    live,
    machine,
    mapping,
    mglru,
    published,
    reclaim,
    removal,
    slots,
    stall,
    study,
)
from swapsim.cli import main
from swapsim.errors import InputError

HEAD = "# tracer: nop\n"
LINE = " kswapd0-52 [000] d... 1.000000: swp_add: (a+0x0/0x1 <- b) folio=0xffffea00 entry=0x1\n"

FILES = {
    "empty.txt": "",
    "words.txt": "no line of a trace\n",
    "half.txt": f"{HEAD}{LINE[:40]}\n",
    "field.txt": HEAD + LINE.replace("entry=0x1", "entry=0x"),
    "nothing.py": "x = 1\n",
    "broken.py": "def (:\n",
    "raises.py": "raise ValueError('mine')\n",
    "two.py": "import swapsim\n@swapsim.policy(base_of='cpu')\ndef a(next):\n    return next\n"
    "@swapsim.list_policy()\ndef b():\n    return 0\n",
    "leaves.py": "import swapsim\n@swapsim.policy(base_of='cpu')\ndef a(next):\n    return -5\n",
    "types.py": "import swapsim\n@swapsim.type_policy()\ndef a():\n    return 0\n",
    "wrong.py": "import swapsim\n@swapsim.policy(base_of='cpu')\ndef a(nxt):\n    return nxt\n",
    "semicolons.csv": "metric;base;patched\n",
    "number.csv": "metric,base,patched\nelapsed-time,1,two\n",
    "unknown.csv": "metric,base,patched\nno such metric,1,2\n",
    "head.txt": "nothing\n",
}
"""Files that a user has."""

COMMANDS = (
    # import
    ("import", "write 'swapsim import [OPTIONS] TEXT'"),
    ("import sample", "add -o DIR"),
    ("import no-such.txt -o out", "no-such.txt: cannot be read"),
    ("import empty.txt -o out", "empty.txt"),
    ("import words.txt -o out", "--keep-going"),
    ("import half.txt -o out", "line 2"),
    ("import field.txt -o out", "field 'entry'"),
    ("import sample -o no/out", "create it first"),
    ("import sample -o .", "exists already"),
    ("import sample -o words.txt", "exists already"),
    ("import . -o out", "Is a directory"),
    ("import sample -o out --head head.txt", "sh record.sh head"),
    ("import sample out", "-o DIR"),
    # info, probes
    ("info no-such-folder", "no-such-folder"),
    ("info a b", "(b): write 'swapsim info"),
    ("info swap-w-sek", "there is swap-w-seq"),
    ("info words.txt", "import it"),
    ("info .", "no trace folder"),
    ("info swap-w-seq -o x.csv", ".json"),
    ("info swap-w-seq --format json", "-o FILE.json"),
    ("probes --for writeback", "mapping"),
    ("probes --for stalls", "stall"),
    ("probes --for nonsense", "mapping"),
    ("probes --format bpftrace", "one for sh"),
    ("probes --kernel-btf words.txt", "words.txt"),
    # replay, verify
    ("replay", "mapping"),
    ("replay mapping", "write 'swapsim replay mapping [OPTIONS] TRACE'"),
    ("replay nonsense x", "there are mapping"),
    ("replay writeback-tags x", "'replay mapping'"),
    ("replay batched-removal x", "'replay removal'"),
    ("replay stall-decisions x", "'replay stall'"),
    ("replay cluster-next x", "'replay slots'"),
    ("replay generations x", "'replay mglru'"),
    ("replay A x", "'replay mapping'"),
    ("replay swap-w-seq mapping", "write 'swapsim replay mapping swap-w-seq'"),
    ("replay mapping swap-w-seq --kernel 2.4", "2.4"),
    ("replay mapping slots-8-shared", "take another, as "),
    ("replay slots slots-8-shared --seeds 0", "a whole number from 1 to 1000"),
    ("replay slots slots-8-shared --seeds 1e9", "a whole number from 1 to 1000"),
    ("replay stall swap-w-seq", "take another"),
    ("replay clusters clusters-7.3-zram-1 --rules 8.0", "8.0"),
    ("replay clusters clusters-7.3-zram-1 --switch x=yes", "switches={...}"),
    ("replay mglru generations-7.3-mixed-1 --policy two.py", "two.py"),
    ("replay mglru generations-7.3-mixed-1 --swappiness 201", "a whole number from 0 to 200"),
    ("replay mapping swap-w-seq -o x.xls", "does not end in one of"),
    ("replay mapping swap-w-seq -o no/x.csv", "does not exist"),
    ("replay mapping swap-w-seq --explain", "help(swapsim"),
    ("verify stalls x", "'verify stall'"),
    ("verify generations x", "'verify mglru'"),
    ("verify mapping swap-w-seq", "there are slots"),
    ("verify slots swap-w-seq", "take another"),
    ("verify stall slots-8-percpu", "as stalls-cgroup-1, "),
    ("verify stall stalls-nfs-1 --rules 2.0", "2.0"),
    ("stalls x", "'replay stall' or 'verify stall'"),
    # tables, compare, rank
    ("tables E", "'a', 'b', 'c', 'd'"),
    ("tables A -o x.txt", "does not end in one of"),
    ("claims E", "'swapsim tables'"),
    ("export sample", "ui.perfetto.dev"),
    ("compare", "write 'swapsim compare [OPTIONS] FILE'"),
    ("compare no-such.csv", "no-such.csv"),
    ("compare semicolons.csv", "the first line is metric,base,patched"),
    ("compare number.csv", "line 2"),
    ("compare unknown.csv", "no such metric"),
    ("rank nothing.py", "nothing.py"),
    ("rank broken.py", "broken.py, line 1"),
    ("rank raises.py", "mine"),
    ("rank two.py", "each kind into a file of its own"),
    ("rank leaves.py", "leaves.py, line 4"),
    ("rank types.py", "swapsim replay mglru"),
    ("rank wrong.py", "nxt"),
    ("rank number.csv", "ends in .py"),
    # the rest
    ("report", "add -o"),
    ("report --trace swap-w-seq -o no/x.html", "create it first"),
    ("notebooks .", "exists already"),
    ("simulate no-such-study", "one, as "),
    ("bench --only no/such", "choose clusters"),
    ("-x", "'swapsim --help' lists"),
    ("bench --zzz", "'swapsim bench --help' lists"),
)
"""What is typed, and what the error has to name."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder with FILES, in which the command runs."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("typed", "named"), COMMANDS)
def test_a_mistake_on_the_command_line(
    typed: str, named: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2, one line, nothing written."""
    before = sorted(folder.iterdir())
    assert main(typed.split()) == 2
    printed = capsys.readouterr()
    said = printed.err or printed.out  # a group alone lists its commands
    assert named in said, said
    assert "Traceback" not in said
    assert printed.err.count("\n") <= 1, said
    assert sorted(each for each in folder.iterdir() if each.name != "__pycache__") == before


A = machine.preset("A-2016")


@swapsim.policy(base_of="cpu")
def stays(next: int) -> int:  # noqa: A002
    """Take the next slot."""
    return next


CALLS: tuple[tuple[Callable[[], object], str], ...] = (
    # a trace
    (lambda: swapsim.open("swapwseq"), "there is swap-w-seq"),
    (lambda: swapsim.open("no/such/folder"), "no such trace folder"),
    (lambda: swapsim.open(Path(__file__)), "import it"),
    (lambda: swapsim.open("swap-w-seq").events("wb_ende"), "it has: "),
    (lambda: swapsim.open("swap-w-seq", feeds="slots"), "feeds mapping, removal: take another"),
    (lambda: swapsim.open("slots-8-shared", feeds="mglru"), "feeds slots: take another, as gen"),
    (lambda: swapsim.open("swap-w-seq", feeds="tags"), "its name here is mapping"),
    (lambda: swapsim.open("swap-w-seq", feeds="mapping2"), "did you mean mapping"),
    (lambda: swapsim.shipped("nonsense"), "mapping"),
    (lambda: swapsim.import_text("no-such.txt", "out"), "no-such.txt"),
    (lambda: swapsim.import_text("sample", "."), "exists already"),
    (lambda: mapping.replay("slots-8-shared"), "swp_add"),
    (lambda: mapping.replay("swap-w-seq", kernels="2.4"), "2.4"),
    (lambda: removal.replay("slots-8-shared"), "mm_vmscan_lru_isolate"),
    (lambda: stall.replay("swap-w-seq"), "reclaim_folios"),
    (lambda: stall.replay("stalls-nfs-1", "2.0"), "2.0"),
    (lambda: stall.verify("stalls-nfs-1", "2.0"), "2.0"),
    (lambda: slots.replay("swap-w-seq"), "slot_events"),
    (lambda: slots.verify("swap-w-seq"), "slot_events"),
    (lambda: slots.replay("slots-4-shared", "percpy", seeds=1), "percpu"),
    (lambda: clusters.verify("swap-w-seq"), "cluster_events"),
    (lambda: clusters.replay("clusters-7.3-zram-1", ["8.0"]), "8.0"),
    (lambda: mglru.verify("swap-w-seq"), "generation_choices"),
    (lambda: mglru.replay("generations-7.3-mixed-1", ["8.0"]), "8.0"),
    (lambda: mglru.replay("generations-7.3-mixed-1", swappiness=201), "from 0 to 200"),
    # a policy
    (lambda: swapsim.policy(base_of="task"), "base_of='task'"),
    (lambda: swapsim.policy(base_of="cpu")(lambda nxt: nxt), "nxt"),
    (lambda: swapsim.list_policy(rules="6.1"), "6.1"),
    (lambda: swapsim.type_policy(rules="6.1"), "6.1"),
    (lambda: slots.rank([stays, stays], seeds=1), "two policies"),
    (lambda: slots.rank(stays, seeds=0), "seeds=0"),
    # a machine, a device
    (lambda: machine.preset("A2016"), "did you mean A-2016"),
    (lambda: machine.Machine(kernel="4.9"), "kernel='4.9': choose one of"),
    (lambda: machine.Machine(writers=-1), "writers=-1"),
    (lambda: machine.Machine(writers=1.5), "writers=1.5"),
    (lambda: machine.Machine(nodes=9), "nodes=9"),
    (lambda: machine.Machine(devices=2), "devices=2"),
    (lambda: machine.Machine(policy="percpy"), "percpu"),
    (lambda: machine.Machine(frames=10), "frames=10"),
    (lambda: A.replace(tags="yes"), "tags='yes'"),
    (lambda: A.replace(copy_nanoseconds=3), "copy_nanoseconds"),
    (lambda: machine.costs(copy_nss=3), "copy_ns"),
    (lambda: machine.costs(copy_ns=0), "copy_ns"),
    (lambda: machine.gain(A, seeds=1), "give"),
    (lambda: machine.gain(A, seeds=0, tags=False), "seeds"),
    (lambda: slots.Device(slots=0), "slots=0"),
    (lambda: slots.Churn(used_share=0), "used_share=0"),
    (lambda: reclaim.parallelio("4.0"), "4.0"),
    # tables, studies, panels
    (lambda: published.compare("E", "x"), "'E'"),
    (lambda: published.table("A", "usemem"), "'usemem'"),
    (lambda: published.read(Path("no-such.csv")), "no-such.csv"),
    (lambda: study.load("cluster-next-lives"), "cluster-next-life"),
    (lambda: live.panel("tag"), "tags"),
    (lambda: live.panel("tags", writer=3), "writers"),
)
"""What is called, and what the error has to name."""


@pytest.mark.parametrize(("call", "named"), CALLS, ids=[str(n) for n in range(len(CALLS))])
def test_a_mistake_in_python(call: Callable[[], object], named: str, folder: Path) -> None:
    """One line; what an argument's name or kind is, Python says itself."""
    before = sorted(folder.iterdir())
    with pytest.raises((InputError, TypeError)) as raised:
        call()
    assert named in str(raised.value), raised.value
    assert "\n" not in str(raised.value)
    assert sorted(folder.iterdir()) == before
