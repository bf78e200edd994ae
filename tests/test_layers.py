# SPDX-License-Identifier: GPL-2.0-or-later
"""The house of swapsim: a ladder of packages, no circle of modules, files that fit a sitting."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import swapsim

PACKAGE = Path(swapsim.__file__).parent

LADDER = (
    {"errors", "interrupt", "lazy", "progress"},
    {"bounded", "checks", "io"},
    {"frames"},
    {"ffi"},
    {"traces", "charts"},
    {"claims", "policies"},
    {"study"},
    {"__init__"},
    {"mapping", "slots", "stall"},
    {"removal"},
    {"machine", "reclaim"},
    {"export"},
    {"patches"},
    {"site"},
    {"cli"},
    {"__main__"},
)
"""Lowest first: packages, modules next to them, and the head of swapsim, which gives `policy`."""

MOST_LINES = 400


def module_of(path: Path) -> str:
    """Return the dotted name of a file."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def room(module: str) -> str:
    """Return what stands on the ladder for a module: as a rule its package."""
    return module.split(".")[1] if "." in module else "__init__"


def imports(module: str) -> set[str]:
    """Return the modules of swapsim, the C library among them, that a module names, anywhere."""
    known = {*MODULES, "swapsim._core"}
    found = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module}: write the whole name of what is imported"
            home = node.module or ""
            for alias in node.names:
                inner = f"{home}.{alias.name}"
                found.add(inner if inner in known else home)
    return found & known


def test_each_file_has_a_rung() -> None:
    """Every file of swapsim stands on the ladder, and every rung holds something that is there."""
    rungs = set().union(*LADDER)
    assert {room(module) for module in MODULES} == rungs
    assert sum(map(len, LADDER)) == len(rungs)


@pytest.mark.parametrize("module", MODULES)
def test_no_arrow_runs_back(module: str) -> None:
    """A module imports from its own package or from lower rungs."""
    rung = {name: height for height, names in enumerate(LADDER) for name in names}
    for used in imports(module) - {"swapsim._core"}:
        assert room(used) == room(module) or rung[room(used)] < rung[room(module)], used


def test_no_room_of_a_patch_knows_another() -> None:
    """Whoever adds a patch touches no other one: rooms import from lower rungs alone."""
    for module in MODULES:
        _, *inside = module.split(".")
        if inside[0:1] == ["patches"] and len(inside) > 1:
            own = f"swapsim.patches.{inside[1]}"
            others = [used for used in imports(module) if used.startswith("swapsim.patches.")]
            assert all(f"{used}.".startswith(f"{own}.") for used in others), module


def test_each_package_is_told_of() -> None:
    """The head of swapsim has a word on each package, so that help(swapsim) leads to each verb."""
    told = swapsim.__doc__ or ""
    for package in sorted({room(module) for module in MODULES} - {"__init__", "__main__", "cli"}):
        assert f"``{package.split('.')[0]}``" in told, package


def test_no_modules_stand_in_a_circle() -> None:
    """Each module can be read after those that it imports: also inside of a package."""
    graph = {module: imports(module) for module in MODULES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


def test_only_bindings_touch_the_c_library() -> None:
    """swapsim._core is imported by ffi and by files called _native, and by no other."""
    for module in MODULES:
        if "swapsim._core" in imports(module):
            last = module.rpartition(".")[2]
            assert room(module) == "ffi" or last.startswith("_native"), module


@pytest.mark.parametrize("module", MODULES)
def test_files_come_through_one_door(module: str) -> None:
    """Nobody but files decodes one by a library: what that throws has one place to be caught."""
    if room(module) == "io":
        return
    # The parts of a table, which an import reads again as soon as it has written them.
    known = {("swapsim.traces.writer", "read_ipc")}
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr.startswith(("read_", "scan_")):
            of = node.value.id if isinstance(node.value, ast.Name) else ""
            assert of != "pl" or (module, node.attr) in known, node.attr
        if isinstance(node, ast.Import):
            assert "tomllib" not in {alias.name for alias in node.names}


@pytest.mark.parametrize("module", MODULES)
def test_no_room_of_a_patch_leads_into_another(module: str) -> None:
    """Whoever changes a patch's room changes nobody else's."""
    for used in imports(module) if room(module) == "patches" else ():
        if room(used) == "patches" and used.count(".") > 1:
            assert used.split(".")[2] == module.split(".")[2], used


@pytest.mark.parametrize("module", MODULES)
def test_a_file_fits_a_sitting(module: str) -> None:
    """No file is longer than 400 lines."""
    assert len(MODULES[module].read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_each_source_names_its_licence() -> None:
    """Every Python, C, shell and TOML source of ours starts with its SPDX line."""
    root = PACKAGE.parent
    sources = [
        path
        for folder in ("swapsim", "corelib", "tests", "data/capture")
        for pattern in ("*.py", "*.c", "*.h", "CMakeLists.txt", "*.sh")
        for path in (root / folder).rglob(pattern)
    ]
    assert len(sources) > 30
    for path in sources:
        head = path.read_text(encoding="utf-8").splitlines()[:3]
        assert any("SPDX-License-Identifier: GPL-2.0-or-later" in line for line in head), path
