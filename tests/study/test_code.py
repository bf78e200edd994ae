# SPDX-License-Identifier: GPL-2.0-or-later
"""Digests of code change with each rule, constant, default or cost, and not with words."""

import importlib
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

import swapsim
from swapsim.errors import InputError
from swapsim.ffi import code_digests as core_digests
from swapsim.machine.run import run
from swapsim.study import code
from swapsim.study.code import code_digest

REPOSITORY = Path(swapsim.__file__).parents[1]

MODEL = {
    "model/__init__.py": "",
    "model/rates.py": '''"""Rates."""
from typing import Final

from model import deep
from model.deep import PART as SHARE

BASE: Final[int] = 3
"""A base."""


def rate(pages: int, share: float = 0.5) -> str:
    """Return a rate."""
    if pages < 0:
        raise ValueError(f"{pages} is less than 0")
    # As the kernel does.
    return f"{deep.cost(pages) * share} of {BASE:>{SHARE}}"
''',
    "model/deep.py": """LIMITS = {}
LIMITS["most"] = 9
LIMITS.update(least=1)
PART = 7
OTHER = 1


class Counter:
    step = 1

    def count(self, pages):
        return min(pages * self.step, LIMITS["most"])


def cost(pages):
    return Counter().count(pages)


def unused():
    return OTHER
""",
}


def forget() -> None:
    """Forget the sources that were read, and the modules of ``model``."""
    for name in [each for each in sys.modules if each.split(".")[0] == "model"]:
        del sys.modules[name]
    code._module.cache_clear()
    code._reached.cache_clear()
    importlib.invalidate_caches()


@pytest.fixture
def digest_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Return what gives the digest of ``rate`` in a package with these files."""
    monkeypatch.syspath_prepend(tmp_path)

    def found(files: dict[str, str], module: str = "model.rates") -> str:
        forget()
        shutil.rmtree(tmp_path / "model", ignore_errors=True)
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        return code_digest(importlib.import_module(module).rate)

    yield found
    forget()


def changed(files: dict[str, str], file: str, old: str, new: str) -> dict[str, str]:
    """Replace words of a file that must be there."""
    assert old in files[file]
    return files | {file: files[file].replace(old, new)}


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("model/rates.py", "= 3", "= 4"),
        ("model/rates.py", "share: float = 0.5", "share: float = 0.6"),
        ("model/rates.py", "< 0", "<= 0"),
        ("model/rates.py", " of ", " per "),
        ("model/rates.py", "ValueError(", "KeyError("),
        ("model/deep.py", "PART = 7", "PART = 8"),
        ("model/deep.py", "step = 1", "step = 2"),
        ("model/deep.py", '["most"] = 9', '["most"] = 8'),
        ("model/deep.py", "least=1", "least=2"),
        ("model/deep.py", "min(", "max("),
    ],
)
def test_another_rule_has_another_digest(
    digest_of: Callable[..., str], file: str, old: str, new: str
) -> None:
    """Constants, defaults, conditions, texts, methods and what acts on import all count."""
    assert digest_of(changed(MODEL, file, old, new)) != digest_of(MODEL)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("model/rates.py", "# As the kernel does.\n", "# As it does.\n\n"),
        ("model/rates.py", '"""Return a rate."""', '"""Return how many."""'),
        ("model/rates.py", '"""A base."""', ""),
        ("model/rates.py", "Final[int]", "Final"),
        ("model/rates.py", "pages: int,", "pages,"),
        ("model/rates.py", "is less than 0", "is negative"),
        ("model/rates.py", "deep.cost(pages) * share", "(deep.cost(pages)*share)"),
        ("model/rates.py", "return f\"{deep", "return f\"\" f\"{deep"),
        ("model/deep.py", "OTHER = 1", "OTHER = 2"),
        ("model/deep.py", "return OTHER", "return -OTHER"),
    ],
)  # fmt: skip
def test_other_words_have_the_same_digest(
    digest_of: Callable[..., str], file: str, old: str, new: str
) -> None:
    """Comments, docstrings, annotations, errors' texts, and what is never called do not count."""
    assert digest_of(changed(MODEL, file, old, new)) == digest_of(MODEL)


def test_a_variable_of_a_comprehension_is_no_name_of_the_module(
    digest_of: Callable[..., str],
) -> None:
    """Another module does not find the variables of a module's comprehension."""
    listed = changed(MODEL, "model/deep.py", "OTHER = 1", "OTHER = [pages for pages in (1, 2)]")
    assert digest_of(listed) == digest_of(MODEL)
    bound = changed(MODEL, "model/deep.py", "OTHER = 1", "OTHER = [(min := pages) for pages in ()]")
    assert digest_of(bound) != digest_of(MODEL)


def test_files_may_move(digest_of: Callable[..., str]) -> None:
    """A module renamed, moved, imported otherwise or taken apart is the same code."""
    same = digest_of(MODEL)
    renamed = {
        "model/__init__.py": "",
        "model/rates.py": MODEL["model/rates.py"]
        .replace("from model import deep\n", "import model.low.costs as low_costs\n")
        .replace("from model.deep import PART as SHARE", "from model.low import PART")
        .replace("SHARE", "PART")
        .replace("deep.cost", "low_costs.cost"),
        "model/low/__init__.py": "from model.low.costs import PART",
        "model/low/costs.py": MODEL["model/deep.py"],
    }
    assert digest_of(renamed) == same
    head, function = MODEL["model/rates.py"].split("def rate")
    apart = MODEL | {
        "model/rates.py": head,
        "model/rate.py": f"from model.rates import BASE, SHARE, deep\n\ndef rate{function}",
    }
    assert digest_of(apart, "model.rate") == same


def test_a_function_of_no_module_is_refused() -> None:
    """A lambda has no digest."""
    with pytest.raises(InputError, match="has no name"):
        code_digest(lambda: 1)


@pytest.mark.parametrize(
    ("module", "old", "new", "counts"),
    [
        ("swapsim.machine.run", "PAGE_KIB: Final = 4", "PAGE_KIB: Final = 8", True),
        ("swapsim.machine.config", "writers: int = 0", "writers: int = 1", True),
        ("swapsim.machine.costs", "def costs(", "# The costs.\ndef costs(", False),
        ("swapsim.claims", "from swapsim.", "from  swapsim.", False),
        ("swapsim.claims.tables", '"n_tasks", pl.UInt32', '"n_tasks", pl.UInt64', True),
        ("swapsim.claims.tables", "number of tasks that swap", "swapping tasks", False),
        ("swapsim.claims.tables", '"One row per metric of one run."', '"A row per metric."', False),
        ("swapsim.errors", 'f"line {line}"', 'f"row {line}"', False),
    ],
)
def test_changes_of_our_own(
    monkeypatch: pytest.MonkeyPatch, module: str, old: str, new: str, counts: bool
) -> None:
    """A run of the machine has another digest after a change of what it uses, and only then."""
    before = code_digest(run)
    path = code._file_of(module)
    text = path.read_text(encoding="utf-8")
    assert old in text
    real = Path.read_text
    with monkeypatch.context() as patch:
        patch.setattr(
            Path,
            "read_text",
            lambda self, **_: (
                text.replace(old, new) if self == path else real(self, encoding="utf-8")
            ),
        )
        forget()
        after = code_digest(run)
    forget()
    assert (after != before) == counts


@pytest.fixture
def core(tmp_path: Path) -> Path:
    """Return a copy of the C core's sources."""
    for folder in ("include", "src"):
        shutil.copytree(REPOSITORY / "corelib" / folder, tmp_path / folder)
    return tmp_path


@pytest.fixture(scope="session")
def of_c() -> Iterator[ModuleType]:
    """Return the module that computes the digests when the extension is built."""
    sys.path.insert(0, str(REPOSITORY / "corelib"))
    yield importlib.import_module("code_digests")
    sys.path.remove(str(REPOSITORY / "corelib"))


NAMES = ("sws_machine_new", "sws_slots_new", "sws_ftrace_new", "SWS_OK")


def test_the_extension_has_the_digests_of_its_sources(of_c: ModuleType) -> None:
    """The digests compiled in are those of the sources, if the core is built; each name has one."""
    found = of_c.digests(REPOSITORY / "corelib", NAMES)
    assert set(found) == set(NAMES)
    assert {name: core_digests()[name] for name in NAMES} == found


def edit(core: Path, old: str, new: str) -> None:
    """Replace words of the core that stand there once or more often, in all files."""
    hits = [file for file in core.rglob("*.[ch]") if old in file.read_text()]
    assert hits, old
    for file in hits:
        file.write_text(file.read_text().replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "others"),
    [
        ("MACHINE_PCP_BATCH = 31,", "MACHINE_PCP_BATCH = 32,", {"sws_machine_new"}),
        (
            "SWS_SLOTS_SPACES_MAX = 1 << 24",
            "SWS_SLOTS_SPACES_MAX = 1 << 23",
            {"sws_machine_new", "sws_slots_new"},
        ),
        ("/* SPDX", "/* A remark. */\n/* SPDX", set()),
        ("#endif\n", "\n#endif // A remark,\n\n", set()),
        ("#include ", "#  include  ", set()),
    ],
)
def test_a_change_of_c(of_c: ModuleType, core: Path, old: str, new: str, others: set[str]) -> None:
    """A constant changes the digests of what uses it; a remark changes no digest."""
    before = of_c.digests(core, NAMES)
    edit(core, old, new)
    after = of_c.digests(core, NAMES)
    assert {name for name in NAMES if before[name] != after[name]} == others


def test_each_file_of_the_machine_counts(of_c: ModuleType, core: Path) -> None:
    """Another statement in a source of the machine, here each third, changes its digests only."""
    names = [name for name in core_digests() if name.startswith("sws_machine_")]
    before = of_c.digests(core, [*names, "sws_ftrace_new"])
    for file in sorted((core / "src" / "machine").glob("*.c"))[::3]:
        text = file.read_text()
        file.write_text(text.replace("\n{\n", "\n{\n\t(void)0;\n"))
        after = of_c.digests(core, before)
        assert after["sws_ftrace_new"] == before["sws_ftrace_new"]
        assert after != before, file
        file.write_text(text)


def test_an_enumerator_more_changes_no_other(of_c: ModuleType, core: Path) -> None:
    """At an enum's end it changes no digest; before others, it changes theirs."""
    text = "enum color {\n\tSWS_RED = 1,\n\tSWS_GREEN,\n};\n"
    header = core / "include" / "swapsim" / "color.h"
    found = []
    for enum in (text, text.replace("};", "\tSWS_BLUE,\n};"), text.replace("1,", "1,\tSWS_X,")):
        header.write_text(enum)
        found.append(of_c.digests(core, ["SWS_RED", "SWS_GREEN"]))
    assert found[1] == found[0]
    assert found[2]["SWS_RED"] == found[0]["SWS_RED"]
    assert found[2]["SWS_GREEN"] != found[0]["SWS_GREEN"]


def test_c_files_may_move(of_c: ModuleType, core: Path) -> None:
    """A source in another folder, a private header under another name: the digests are the same."""
    before = of_c.digests(core, NAMES)
    (core / "src" / "machine").rename(core / "src" / "moved")
    edit(core, '"machine/', '"moved/')
    for header in list((core / "src" / "moved").glob("*.h")):
        header.rename(header.with_name(f"our_{header.name}"))
    edit(core, '"moved/', '"moved/our_')
    a_source = next((core / "src" / "moved").glob("*.c"))
    a_source.rename(core / "src" / "des" / "under_another_name.c")
    assert of_c.digests(core, NAMES) == before
