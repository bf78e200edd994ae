# SPDX-License-Identifier: GPL-2.0-or-later
"""Imports go one way, and one kind of module touches the C library."""

import ast
from pathlib import Path

import swapsim

PACKAGE = Path(swapsim.__file__).parent

LADDER = (
    {"errors"},
    {"paths", "schemas", "policy_compiler"},
    {"policies", "workloads"},
    {
        "config",
        "fingerprint",
        "published",
        "measured",
        "compare",
        "charts",
        "slot_charts",
        "machine_charts",
        "known_events",
        "trace_files",
        "trace_text",
    },
    {"native", "native_ftrace", "native_slots"},
    {
        "traces",
        "costs",
        "native_machine",
        "native_slot_replay",
        "native_slot_workbench",
        "sweep_store",
    },
    {"replay", "simulate", "verify", "slot_metrics", "sweep", "tree_nodes"},
    {"calibrate", "lab_machine", "verdicts", "slot_traces"},
    {"predict", "slot_requests"},
    {"slots", "open_shares", "what_if", "standing"},
    {"retimed", "slot_verdicts", "race"},
    {"report", "benchmarks", "readme"},
    {"cli"},
    {"__main__"},
)
"""Lowest first: a module imports from rungs below its own, or from its own rung's package."""


def imports(path: Path) -> set[str]:
    """Return the swapsim modules that a module imports, at any depth."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "swapsim":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("swapsim."):
            found.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("swapsim.")}
    return found - {"__version__"}


def test_no_arrow_runs_back() -> None:
    """Each module stands on the ladder and imports from lower rungs alone."""
    rung = {module: height for height, modules in enumerate(LADDER) for module in modules}
    for path in sorted(PACKAGE.glob("*.py")):
        if path.stem == "__init__":
            continue
        assert path.stem in rung, f"{path.name} has no rung on the ladder"
        for module in imports(path) - {"_core"}:
            assert rung[module] < rung[path.stem], f"{path.name} imports {module}"


def test_only_native_modules_touch_the_c_library() -> None:
    """swapsim._core is imported by the native modules and by nobody else."""
    users = {path.stem for path in PACKAGE.glob("*.py") if "_core" in imports(path)}
    assert users <= {
        "native",
        "native_ftrace",
        "native_slots",
        "native_slot_replay",
        "native_slot_workbench",
        "native_machine",
    }
    assert "native" in users


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
