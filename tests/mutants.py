# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure the strength of the tests: put single faults into the code, and see which test fails.

A row of mutants.json is one fault: in a function, named as in the source, an expression ``before``
becomes ``after``. It has neither path nor line, so it follows code that is renamed or moved. White
space of any length matches any other. The expression has to occur once in all functions of that
name; a fault without its function or expression is retired. Twelve faults were chosen, the others
drawn from the comparisons, sums, constants, conditions and arguments of each subject, and drawn
again if they did not compile or made no difference.

The fault's subject names the tests that run. It is written into this checkout, whose code must have
no uncommitted changes, and taken out again at the end, also after Ctrl-C. The table has a row each:

    caught      a test fails, crashes the interpreter, or does not end (timeout)
    SURVIVED    all tests pass
    retired     the function or the expression is gone
    broken      the fault does not compile, or no test of its subject is left
"""

import argparse
import ast
import csv
import json
import os
import re
import resource
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Patterns of paths; the names before and after a move can stand next to each other.
SUBJECTS = {
    "mapping": ("tests/mapping",),
    "removal": ("tests/removal",),
    "stall": ("tests/stall",),
    "slots": ("tests/slots", "tests/policies"),
    "clusters": ("tests/clusters",),
    "mglru": ("tests/mglru",),
    "machine": ("tests/machine", "tests/des"),
    "reclaim": ("tests/reclaim",),
    "traces": ("tests/traces",),
    "policies": ("tests/policies", "tests/*/test_*policies.py"),
    "study": ("tests/study",),
    # The mail's tables, and the simulated values in them.
    "mail": ("tests/patches/*stall_decisions*", "tests/published"),
}
COMMON = ("tests/test_figures.py", "tests/test_glue.py")  # of every subject

Mutant = dict[str, str]
Place = tuple[Path, int, int]


def functions(language: str, name: str) -> Iterator[Place]:
    """Return file, start and end of each definition of a function."""
    if language == "C":
        # The braces of a definition are in the first column.
        form = rf"^[a-zA-Z][^\n;{{}}]*\b{name}\([^;{{}}]*\)\n\{{\n.*?^\}}"
        for path in sorted((ROOT / "corelib/src").rglob("*.[ch]")):
            for found in re.finditer(form, path.read_text(), re.MULTILINE | re.DOTALL):
                yield path, *found.span()
        return
    for path in sorted((ROOT / "swapsim").rglob("*.py")):
        text = path.read_text()
        if f"def {name}(" not in text:
            continue
        starts = [0]
        for line in text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and node.name == name:
                yield path, starts[node.lineno - 1], starts[node.end_lineno or 0]


def place_of(mutant: Mutant) -> Place | None:
    """Return file, start and end of the only place of the expression, None if it is gone."""
    words = r"\s+".join(map(re.escape, mutant["before"].split()))
    places = [
        (path, start + found.start(), start + found.end())
        for path, start, end in functions(mutant["language"], mutant["function"])
        for found in re.finditer(words, path.read_text()[start:end])
    ]
    if len(places) > 1:
        sys.exit(f"{mutant['name']}: its expression occurs {len(places)} times, give a longer one")
    return places[0] if places else None


def build() -> bool:
    """Compile the C core and install it where this Python finds it; return whether it compiles."""
    folder = next(ROOT.glob("build/cp3*/build.ninja")).parent
    scripts = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{scripts}:{os.environ['PATH']}"}
    return not any(
        subprocess.run([scripts / "cmake", *do], env=environment, stdout=sys.stderr).returncode
        for do in (
            ["--build", folder],
            ["--install", folder, "--prefix", sysconfig.get_path("platlib")],
        )
    )


@contextmanager
def written(mutant: Mutant, place: Place) -> Iterator[bool]:
    """Have the fault in the code; the value is whether it compiles."""
    path, start, end = place
    text = path.read_text()
    try:
        path.write_text(text[:start] + mutant["after"] + text[end:])
        yield mutant["language"] != "C" or build()
    finally:
        path.write_text(text)
        if mutant["language"] == "C" and not build():
            sys.exit("the C core does not compile without the fault")


def pytest_configure() -> None:
    """Leave examples that fail as they are: to shrink them can take minutes. For ``-p mutants``."""
    from hypothesis import Phase, settings

    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("unshrunk", settings.default, phases=phases)
    settings.load_profile("unshrunk")


def failure(paths: list[str], limit: int) -> str:
    """Run tests and return the first that fails, or how the run ended; nothing if all pass."""
    # Of CPU time, so that other work on the machine counts for nothing.
    limits = partial(resource.setrlimit, resource.RLIMIT_CPU, (limit, limit + 1))
    flags = "-x -q -rfE --tb=no -p no:nbval -p no:cacheprovider -p mutants"
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", *flags.split(), *paths],
        cwd=ROOT,
        env=os.environ | {"CI": "true", "PYTHONPATH": str(ROOT / "tests")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        preexec_fn=limits,
    )
    try:
        output, _ = run.communicate(timeout=10 * limit)
    except subprocess.TimeoutExpired:
        return "timeout"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
    if not run.returncode:
        return ""
    if run.returncode == -signal.SIGXCPU:
        return "timeout"
    found = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", output, re.MULTILINE)
    return found[1] if found else f"exit {run.returncode}"


def tried(mutant: Mutant, limit: int) -> tuple[str, str, int]:
    """Return the result of a fault, the test that caught it, and the seconds of the tests."""
    place = place_of(mutant)
    if not place:
        return "retired", "", 0
    patterns = SUBJECTS[mutant["subject"]]
    paths = [str(path) for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    if not paths:
        return "broken", "no tests", 0
    paths += [path for path in COMMON if (ROOT / path).exists()]
    with written(mutant, place) as compiles:
        begin = time.monotonic()
        test = failure(paths, limit) if compiles else ""
        seconds = round(time.monotonic() - begin)
    return "broken" if not compiles else "caught" if test else "SURVIVED", test, seconds


def chosen(given: argparse.Namespace) -> list[Mutant]:
    """Return the faults that the arguments name, default: all."""
    mutants: list[Mutant] = json.loads((ROOT / "tests/mutants.json").read_text())
    names = set(given.only or [mutant["name"] for mutant in mutants])
    if unknown := names - {mutant["name"] for mutant in mutants}:
        sys.exit(f"no such fault: {', '.join(sorted(unknown))}")
    if given.survivors:
        with Path(given.survivors).open(newline="") as file:
            names &= {row["name"] for row in csv.DictReader(file) if row["result"] == "SURVIVED"}
    return [mutant for mutant in mutants if mutant["name"] in names]


def main() -> None:
    """Try the chosen faults and write their table."""
    parser = argparse.ArgumentParser(description="Which tests notice a fault in the code?")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these faults")
    parser.add_argument("--survivors", metavar="TABLE", help="those that survived in a table")
    parser.add_argument("--list", action="store_true", help="print where each is, run no test")
    parser.add_argument("--timeout", type=int, default=300, metavar="SECONDS", help="of CPU time")
    parser.add_argument("-o", metavar="FILE", help="write the table to a file, too")
    given = parser.parse_args()
    mutants = chosen(given)
    if given.list:
        for mutant in mutants:
            path, start, _ = place_of(mutant) or (None, 0, 0)
            line = path and path.read_text().count("\n", 0, start) + 1
            where = f"{path.relative_to(ROOT)}:{line}" if path else "retired"
            print(f"{mutant['name']:30} {where}: {mutant['before']}  ->  {mutant['after']}")
        return
    git = ["git", "-C", str(ROOT), "status", "--porcelain", "--", "swapsim", "corelib"]
    if subprocess.run(git, capture_output=True, check=True).stdout:
        sys.exit("the code has uncommitted changes: commit them, or use a clone")
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell may have them ignored
        signal.signal(number, signal.default_int_handler)
    results = []
    row: tuple[object, ...] = ("name", "language", "result", "test", "seconds")
    with ExitStack() as stack:
        outputs = [sys.stdout]
        if given.o:
            outputs.append(stack.enter_context(Path(given.o).open("w", newline="")))
        for mutant in [None, *mutants]:
            if mutant:
                row = (mutant["name"], mutant["language"], *tried(mutant, given.timeout))
                results.append(row[2])
            for output in outputs:
                csv.writer(output, lineterminator="\n").writerow(row)
                output.flush()
    print(", ".join(f"{results.count(each)} {each}" for each in dict.fromkeys(results)))


if __name__ == "__main__":
    main()
