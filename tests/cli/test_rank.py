# SPDX-License-Identifier: GPL-2.0-or-later
"""``swapsim rank``: a user's policies among the built-in ones, and errors of a file."""

from pathlib import Path

import polars as pl
import pytest

from swapsim.cli import main
from swapsim.ffi import POLICIES
from swapsim.policies import policies_in

HEAD = "import swapsim\n\n\n"
GOOD = f"""{HEAD}TRUNKS = 2


@swapsim.policy(base_of="cpu", initial=lambda owner, owners, lowest, highest: lowest + owner)
def two_on(base, next, lowest, highest, trunk_size):
    if base // trunk_size == next // trunk_size:
        return next
    return max(lowest, 1 + (next + TRUNKS * trunk_size) % highest)


if __name__ == "__main__":
    raise SystemExit("only if the file is run")
"""


def policy(*lines: str, head: str = HEAD, parameters: str = "next, base, highest") -> str:
    """Return a file with one policy, whose first line is line 6."""
    body = "\n".join(f"    {line}" for line in lines)
    return f'{head}@swapsim.policy(base_of="cpu")\ndef mine({parameters}):\n{body}\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give a file with a valid policy."""
    path = tmp_path / "mine.py"
    path.write_text(GOOD)
    return path


def test_a_file_is_ranked_in_one_table(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each rule is in one row, alone or with those that are equal; table and chart are written."""
    table, chart = file.with_name("ranks.csv"), file.with_name("ranks.svg")
    assert main(["rank", str(file), "--seeds", "1", "-o", str(table), "-o", str(chart)]) == 0
    assert "two_on" in capsys.readouterr().out
    rules = ", ".join(pl.read_csv(table)["rule"]).split(", ")
    assert sorted(rules) == sorted([*POLICIES, "two_on"])
    assert chart.read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("import swapsim\n", None, "makes no policy"),
        ("def broken(:\n", 1, "is not Python (SyntaxError: invalid syntax)"),
        ("a = 1\nb = a / 0\n", 2, "raises ZeroDivisionError: division by zero"),
        ("\nimport nothing_of_this_name\n", 2, "raises ModuleNotFoundError"),
        ("import sys\nsys.exit(3)\n", 2, "raises SystemExit"),
        ("class Ours(BaseException): ...\nraise Ours\n", 2, "raises Ours: fix it"),
        ("class Mute(Exception):\n    __str__ = None\nraise Mute\n", 3, "raises Mute: fix it"),
        (f"a = {'-' * 50_000}1\n", None, "is not Python ("),
        ("\ufeffa = 1\n", None, "makes no policy"),
        (policy("return next.slot"), 6, "numba cannot compile it"),
        (policy("return next / 2"), 6, "policy mine"),
        (policy("raise ValueError"), 5, "because it raises on every path"),
        (policy("print(next)", "return next"), 6, "print would write a line at each of very many"),
        (policy("return next // (base - base)"), 6, "raises ZeroDivisionError"),
        (policy("return bases[99]", parameters="bases"), 6, "raises IndexError"),
        (policy("return highest + 1"), 6, "which is no slot"),
        (policy("while next > 0:", "    next += 1 - next // 2**40", "return next"), None, "lines"),
        (policy("return next").replace('"cpu"', '"task"'), 4, "base_of='task'"),
        (policy("return next").replace('"cpu"', '"cpu", initial=lambda *_: 0'), 5, "initial("),
        (
            f"{policy('return next')}first = mine\n{policy('return base')}",
            None,
            "two policies called",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(
    text: str, line: int | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file, the line and what to do; exit 2."""
    path = tmp_path / "mine.py"
    path.write_text(text)
    assert main(["rank", str(path), "--seeds", "1"]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    where = f"{path}, line {line}: " if line else str(path)
    assert printed.startswith(f"swapsim: {where}"), printed
    assert said in printed


def test_a_loop_in_a_compiled_helper_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A function that a policy calls is traced as Python, too."""
    path = tmp_path / "mine.py"
    helper = (
        "import numba\n\n\n@numba.njit\ndef spin(x):\n    while x:\n        x = 1\n    return x\n"
    )
    path.write_text(policy("return spin(next)", head=HEAD + helper))
    assert main(["rank", str(path)]) == 2
    assert "let it come to an end" in capsys.readouterr().err


def test_a_helper_may_be_next_to_the_file(file: Path, tmp_path: Path) -> None:
    """Its folder is the last one in which imports are searched."""
    (tmp_path / "next_to_mine.py").write_text("TRUNKS = 3\n")
    file.write_text(GOOD.replace("TRUNKS = 2", "from next_to_mine import TRUNKS"))
    assert [policy.name for policy in policies_in(file)] == ["two_on"]
