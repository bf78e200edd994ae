# SPDX-License-Identifier: GPL-2.0-or-later
"""The dependencies between the packages of swapsim, and between their modules."""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import swapsim

PACKAGE = Path(swapsim.__file__).parent

LADDER = (
    {"errors", "progress"},
    {"io"},
    {"tables"},
    {"ffi"},
    {"traces", "charts"},
    {"policies"},
    {"study"},
    {"published"},
    {"mapping", "removal", "slots", "clusters", "stall", "mglru", "machine", "reclaim"},
    {"__init__"},
    {"patches"},
    {"live"},
    {"site", "guide"},
    {"cli"},
    {"__main__"},
)
"""Packages and single modules, the lowest first; `__init__` is the head of swapsim."""

SUBJECTS = {
    "mapping": set(),
    "removal": {"mapping"},
    "slots": {"machine"},
    "clusters": {"slots"},
    "stall": set(),
    "mglru": set(),
    "machine": {"mapping", "removal", "slots"},
    "reclaim": {"stall", "machine"},
}
"""The packages of one subject each, and those of other subjects that they may use, as in C."""


def module_of(path: Path) -> str:
    """Return the dotted name of a file."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def package_of(module: str) -> str:
    """Return the entry of LADDER to which a module belongs: the mails' charts to their tables."""
    if module == "swapsim.published.shown":
        return "published"
    return module.split(".")[1] if "." in module else "__init__"


@cache
def nodes(module: str) -> list[ast.AST]:
    """Return all nodes of a module's syntax tree."""
    return [*ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8")))]


@cache
def imports(module: str) -> set[str]:
    """Return the modules of swapsim, including the C extension, that a module imports anywhere."""
    known = {*MODULES, "swapsim._core"}
    found = set()
    for node in nodes(module):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module}: write the complete name of what is imported"
            home = node.module or ""
            for alias in node.names:
                inner = f"{home}.{alias.name}"
                found.add(inner if inner in known else home)
    return found & known


def test_each_package_has_one_place_on_the_ladder() -> None:
    """Every file belongs to an entry of the ladder, and every entry exists."""
    entries = set().union(*LADDER)
    assert {package_of(module) for module in MODULES} == entries
    assert sum(map(len, LADDER)) == len(entries)


def test_imports_go_down_the_ladder() -> None:
    """A module imports from its own package, from lower ones, or from a subject as C does.

    The head of swapsim has the version, and imports the rooms after it.
    """
    level = {name: height for height, names in enumerate(LADDER) for name in names}
    for module in {*MODULES} - {"swapsim"}:
        own = package_of(module)
        for used in imports(module) - {"swapsim._core", "swapsim"}:
            other = package_of(used)
            fits = other in {own, *SUBJECTS.get(own, ())} or level[other] < level[own]
            assert fits, f"{module} imports {used}"


def test_no_patch_imports_another() -> None:
    """A change of one patch's package cannot change another patch."""
    for module in MODULES:
        for used in imports(module) if module.count(".") > 1 else ():
            if package_of(module) == package_of(used) == "patches" and used.count(".") > 2:
                assert used.split(".")[2] == module.split(".")[2], f"{module} imports {used}"


def test_no_circle_of_modules() -> None:
    """Each module can be imported after those that it imports, also inside a package."""
    graph = {module: imports(module) - {"swapsim"} for module in MODULES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


def test_only_bindings_use_the_c_extension() -> None:
    """swapsim._core is imported by ffi, by files called _native, and by rooms of one file."""
    for module in MODULES:
        if "swapsim._core" in imports(module):
            last = module.rpartition(".")[2]
            bindings = {"ffi", "mapping", "models", "policies", "reclaim", "removal"}
            assert last in bindings or last.startswith("_native"), module


def test_only_io_decodes_files() -> None:
    """No other package reads a file by a library, so that errors are translated in one place."""
    # The parts of a table, which an import reads as soon as it has written them.
    known = {("swapsim.traces.writer", "scan_parquet")}
    for module, node in ((m, n) for m in MODULES if package_of(m) != "io" for n in nodes(m)):
        if isinstance(node, ast.Attribute) and node.attr.startswith(("read_", "scan_")):
            of = node.value.id if isinstance(node.value, ast.Name) else ""
            assert of != "pl" or (module, node.attr) in known, (module, node.attr)
        if isinstance(node, ast.Import):
            assert "tomllib" not in {alias.name for alias in node.names}, module


def test_each_source_names_its_licence() -> None:
    """Every Python, C, JavaScript and shell source begins with its SPDX line."""
    root = PACKAGE.parent
    sources = [
        path
        for folder in ("swapsim", "corelib", "tests", "data/capture")
        for pattern in ("*.py", "*.c", "*.h", "*.js", "CMakeLists.txt", "*.sh")
        for path in (root / folder).rglob(pattern)
    ]
    assert len(sources) > 30
    for path in sources:
        head = path.read_text(encoding="utf-8").splitlines()[:3]
        assert any("SPDX-License-Identifier: GPL-2.0-or-later" in line for line in head), path
