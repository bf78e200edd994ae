# SPDX-License-Identifier: GPL-2.0-or-later
"""Check the layers of corelib and the dependencies between its files."""

import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from swapsim.io import repository_root

CORELIB = repository_root() / "corelib"

LAYERS = {
    "core": (),
    "rtree": ("core",),
    "mapping": ("rtree",),
    "removal": ("mapping",),
    "slots": ("core",),
    "clusters": ("slots",),
    "stall": ("core",),
    "mglru": ("core",),
    "des": ("core",),
    "ftrace": ("core",),
    "sweeps": ("core",),
    "engine": ("des",),
    "machine": ("removal", "slots", "engine"),
    "reclaim": ("stall", "engine"),
}
"""The folders of corelib/src, and the folders that each may use, directly or through these."""

WORD = re.compile(r"[A-Za-z_]\w*")
NOISE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", re.DOTALL)
TYPE = re.compile(r"\b(?:struct|enum) \w+")
INCLUDE = re.compile(r'^#include "(.+)"', re.MULTILINE)
DIRECTIVE = re.compile(r"^#.*?(?<!\\)$", re.MULTILINE | re.DOTALL)
FUNCTION = re.compile(r"(\w+)\s*\((?:[^()]|\([^()]*\))*\)\s*$")
TABLE = re.compile(r"(\w+)\s*(?:\[[^]]*\]\s*)*$")


@dataclass
class Source:
    """The names that a file includes, declares, defines and uses."""

    includes: set[str]
    declares: set[str] = field(default_factory=set)
    defines: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)


def statements(text: str) -> Iterator[str]:
    """Yield the declarations and definitions of a file one by one."""
    depth = begin = 0
    for at, character in enumerate(text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        body_ends = character == "}" and FUNCTION.search(text[begin:at].partition("{")[0])
        if depth == 0 and (character == ";" or body_ends):
            yield text[begin : at + 1].strip()
            begin = at + 1


def read(text: str) -> Source:
    """Scan a file; this is not a parser, but sufficient for sources formatted by a tool."""
    source = Source(set(INCLUDE.findall(text)))
    text = TYPE.sub(" ", NOISE.sub(" ", text))
    for directive in DIRECTIVE.findall(text):
        if directive.startswith("#define"):
            source.uses |= set(WORD.findall(directive)[2:])
    for statement in statements(DIRECTIVE.sub("", text)):
        head, mark, body = re.split(r"([{=]|$)", statement.rstrip(";"), maxsplit=1)
        name = FUNCTION.search(head) or TABLE.search(head)
        is_definition = mark == "=" or (mark and FUNCTION.search(head))
        source.uses |= set(WORD.findall(body)) if is_definition else set()
        if name and not head.startswith("static"):
            (source.defines if is_definition else source.declares).add(name[1])
    return source


def texts(root: Path) -> dict[str, str]:
    """Return the files of a library by the names that includes use for them."""
    return {
        str(path.relative_to(base)): path.read_text(encoding="utf-8")
        for base in (root / "include", root / "src")
        for path in sorted(base.rglob("*.[ch]"))
    }


def edges(files: dict[str, Source]) -> dict[str, set[str]]:
    """Return for each file the files that it includes or whose functions and tables it uses."""
    home = definers(files)
    return {
        path: {home[name] for name in source.uses & home.keys()} - {path}
        | (source.includes & files.keys())
        for path, source in files.items()
    }


def definers(files: dict[str, Source]) -> dict[str, str]:
    """Return the file of each name that a header declares and a source defines."""
    declared = {name for source in files.values() for name in source.declares}
    return {
        name: path
        for path, source in files.items()
        for name in source.defines & declared
        if path.endswith(".c")
    }


def folders(files: dict[str, Source]) -> dict[str, str]:
    """Return the folder of each file; a public header belongs to that of its functions."""
    home = definers(files)
    found = {}
    for path, source in files.items():
        of_header = {home[name].split("/")[0] for name in source.declares & home.keys()}
        is_public = path.startswith("swapsim/")
        found[path] = " and ".join(sorted(of_header)) if is_public else path.split("/")[0]
    return found


def below(folder: str) -> set[str]:
    """Return all folders that a folder may use, directly or through others."""
    return {lower for name in LAYERS[folder] for lower in {name, *below(name)}}


def violations(library: dict[str, str]) -> list[str]:
    """Return the violations of the rules, one line each."""
    files = {path: read(text) for path, text in library.items()}
    graph, folder = edges(files), folders(files)
    found = []
    for path, targets in graph.items():
        if folder[path] not in LAYERS:
            found.append(f"{path}: {folder[path]} is not in LAYERS")
            continue
        allowed = {folder[path], *below(folder[path])}
        up = sorted(used for used in targets if folder[used] not in allowed)
        found += [f"{path}: {folder[path]} must not use {used}" for used in up]
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found.append("cycle: " + " <- ".join(error.args[1]))
    return found


def test_corelib_follows_the_rules() -> None:
    """There is no cycle, no use of a higher layer, and no missing folder."""
    assert "\n".join(violations(texts(CORELIB))) == ""
    assert {path.name for path in (CORELIB / "src").iterdir()} == LAYERS.keys()


CORRECT = {
    "swapsim/core.h": "int sws_add(int a, int b);\nextern const int sws_ten[2];\n",
    "core/core.c": '#include "swapsim/core.h"\n'
    "const int sws_ten[2] = { 5, 5 };\n"
    "int sws_add(int a, int b)\n{\n\treturn a + b; /* not sws_tree */\n}\n",
    "swapsim/rtree.h": "int sws_tree(void);\n",
    "rtree/slow.h": "int sws_tree__slow(int);\n",
    "rtree/slow.c": "int sws_tree__slow(int n)\n{\n\treturn sws_add(n, sws_ten[0]);\n}\n",
    "rtree/rtree.c": '#include "rtree/slow.h"\n'
    "static int half(int n)\n{\n\treturn n / 2;\n}\n"
    "int sws_tree(void)\n{\n\treturn half(sws_tree__slow(1));\n}\n",
}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, None),
        (
            {"rtree/slow.c": "int sws_tree__slow(int n)\n{\n\treturn n ? sws_tree() : 0;\n}\n"},
            "cycle: rtree/",
        ),
        (
            {"core/core.c": "int sws_add(int a, int b)\n{\n\treturn sws_tree() + a + b;\n}\n"},
            "core/core.c: core must not use rtree/rtree.c",
        ),
        (
            {"core/hook.c": "static int (*const hooks[])(void) = { sws_tree };\n"},
            "core/hook.c: core must not use rtree/rtree.c",
        ),
        (
            {"core/hook.h": "#define HOOK(n) \\\n\tsws_tree__slow(n)\n"},
            "core/hook.h: core must not use rtree/slow.c",
        ),
        (
            {"core/core.c": '#include "rtree/slow.h"\n' + CORRECT["core/core.c"]},
            "core/core.c: core must not use rtree/slow.h",
        ),
        ({"unknown/box.c": "int box(void);\n"}, "unknown/box.c: unknown is not in LAYERS"),
        (
            {"swapsim/both.h": "int sws_add(int a, int b);\nint sws_tree(void);\n"},
            "swapsim/both.h: core and rtree is not in LAYERS",
        ),
    ],
)
def test_each_violation_is_found(changed: dict[str, str], expected: str | None) -> None:
    """Each change of a correct small library that violates a rule is reported."""
    found = violations(CORRECT | changed)
    if expected is None:
        assert found == []
    else:
        assert any(line.startswith(expected) for line in found)


def test_cmake_sees_every_file() -> None:
    """The patterns of CMakeLists.txt match every header, source, test and example."""
    lists = (CORELIB / "CMakeLists.txt").read_text(encoding="utf-8")
    seen = {
        name: set((CORELIB / pattern).parent.rglob(Path(pattern).name))
        if recurse
        else set(CORELIB.glob(pattern))
        for recurse, name, pattern in re.findall(
            r"file\(GLOB(_RECURSE)? (\w+) CONFIGURE_DEPENDS (.+)\)", lists
        )
    }
    assert seen["HEADERS"] == set((CORELIB / "include").rglob("*.h"))
    assert seen["SOURCES"] == set((CORELIB / "src").rglob("*.c"))
    assert seen["EXAMPLES"] == set((CORELIB / "examples").rglob("*.c"))
    assert seen["TESTS"] == set((CORELIB / "tests").rglob("test_*.c"))


def test_each_header_is_declared_after_those_that_it_includes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The order of the declarations of the extension follows from the includes of the headers."""
    monkeypatch.syspath_prepend(str(CORELIB))
    order = importlib.import_module("ffi_build").headers()
    assert sorted(order) == sorted((CORELIB / "include").rglob("*.h"))
    for at, path in enumerate(order):
        included = INCLUDE.findall(path.read_text(encoding="utf-8"))
        assert {Path(name).name for name in included} <= {before.name for before in order[:at]}
