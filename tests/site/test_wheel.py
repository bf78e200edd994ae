# SPDX-License-Identifier: GPL-2.0-or-later
"""The wheel is complete: installed without a checkout, it does what README shows."""

import os
import re
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from swapsim.io import repository_root

ROOT = repository_root()
README = "\n".join(
    (ROOT / folder / "README.md").read_text(encoding="utf-8") for folder in (".", "swapsim")
)


def blocks(language: str) -> Iterator[str]:
    """Give README's code blocks in a language."""
    for fenced in README.split("\n```")[1::2]:
        named, _, block = fenced.partition("\n")
        if named == language:
            yield f"{block}\n"


class Elsewhere:
    """An environment of its own with the wheel, our libraries, and a user's folder."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "environment" / "bin"
        self.desk = folder / "desk"
        self.desk.mkdir()
        venv.create(folder / "environment", with_pip=False)
        self._install(folder / "wheels")

    def _install(self, wheels: Path) -> None:
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        built = [*pip, "wheel", "--no-build-isolation", "--no-deps", "-w", str(wheels), "."]
        subprocess.run(built, cwd=ROOT, check=True)
        (wheel,) = wheels.glob("*.whl")
        python = str(self.bin / "python")
        subprocess.run([*pip, "--python", python, "install", "--no-deps", str(wheel)], check=True)
        # The libraries are those of this environment; its link to the checkout is not followed.
        (packages,) = (self.bin.parent / "lib").glob("python*/site-packages")
        (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in the user's folder."""
        path = [str(self.bin / command[0]), *command[1:]]
        # Without the COLUMNS that readline, which pytest imports, sets below Python's environment.
        environment = dict(os.environ)
        return subprocess.run(
            path, cwd=self.desk, capture_output=True, text=True, check=False, env=environment
        )


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Elsewhere:
    """Give an environment with the wheel."""
    return Elsewhere(tmp_path_factory.mktemp("elsewhere"))


def test_the_package_is_that_of_the_wheel(elsewhere: Elsewhere) -> None:
    """What is imported there does not lie in the checkout, and finds what it carries."""
    script = """
import swapsim.io as p
live = p.Path(p.__file__).parent / "live"
print(p.data_root(), *sorted(path.name for path in live.glob("core.*")))
"""
    printed = elsewhere.run("python", "-c", script).stdout
    assert str(ROOT) not in printed
    assert "laboratory" in printed
    assert printed.endswith("core.js core.json core.wasm\n")


def test_readmes_commands_run_as_they_are_written(elsewhere: Elsewhere) -> None:
    """Each one succeeds without root and files, in one process; those that record are not here."""
    of_a_trace = [block for block in blocks("") if "mytrace" in block]
    lines = [line.partition("#")[0].split() for line in "".join(of_a_trace).splitlines()]
    commands = [line for line in lines if line[0] == "swapsim" and not {">", "compare"} & {*line}]
    assert len(commands) >= 2
    script = f"""
from swapsim.cli import main
for command in {[command[1:] for command in commands]}:
    assert main(command) == 0, command
"""
    ran = elsewhere.run("python", "-c", script)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_own_measurements_are_compared(elsewhere: Elsewhere) -> None:
    """A file with the head that README names stands next to patch A's table."""
    (elsewhere.desk / "mine.csv").write_text("metric,base,patched\nvmstat.swap.so,100,130\n")
    ran = elsewhere.run("swapsim", "compare", "mine.csv")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "yours" in ran.stdout


def test_readmes_python_runs_as_it_is_written(elsewhere: Elsewhere) -> None:
    """Each block alone, with no name of another one."""
    found = list(blocks("python"))
    assert len(found) >= 2
    scripts = [f"block{number}.py" for number in range(len(found))]
    for name, block in zip(scripts, found, strict=True):
        (elsewhere.desk / name).write_text(block)
    program = f"import runpy\nfor each in {scripts}: print(each), runpy.run_path(each)"
    ran = elsewhere.run("python", "-c", program)
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout


def test_a_user_finds_packages_and_traces_by_name(elsewhere: Elsewhere) -> None:
    """Completion of `swapsim.` shows packages, which need no import; a trace's name is a folder."""
    script = "import swapsim; print(dir(swapsim), swapsim.traces.info('swap-w-seq'))"
    ran = elsewhere.run("python", "-c", script)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "'traces'" in ran.stdout
    assert "TYPE_CHECKING" not in ran.stdout
    assert "mapping: yes" in ran.stdout
    assert elsewhere.run("swapsim", "info", "swap-w-seq").stdout in ran.stdout


def test_notebooks_are_laid_out(elsewhere: Elsewhere) -> None:
    """All of them, and each file that they link to."""
    assert elsewhere.run("swapsim", "notebooks", "mine").returncode == 0
    made = sorted((elsewhere.desk / "mine" / "notebooks").glob("*.ipynb"))
    assert [path.name for path in made] == [p.name for p in sorted(ROOT.glob("notebooks/*.ipynb"))]
    for path in made:
        for link in re.findall(r"\]\((\.\./[^)#]+)", path.read_text(encoding="utf-8")):
            assert (path.parent / link).exists(), link


def test_stored_results_are_valid_there_and_not_updated(elsewhere: Elsewhere) -> None:
    """The wheel's stored results are of its own data; they are updated in a checkout only."""
    program = (
        "from swapsim.cli import main; from swapsim.site.simulated import studies; "
        "print({study.stale() for study in studies()}); exit(main(['simulate']))"
    )
    ran = elsewhere.run("python", "-c", program)
    assert (ran.returncode, ran.stdout) == (2, "{None}\n")
    assert "needs the laboratory's checkout" in ran.stderr
