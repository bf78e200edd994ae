# SPDX-License-Identifier: GPL-2.0-or-later
"""``swapsim rank``: a user's policies among the built-in ones, and errors of a file."""

import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from swapsim.cli import main
from swapsim.clusters import ranking as list_ranking
from swapsim.ffi import POLICIES
from swapsim.io import repository_root
from swapsim.policies import policies_in
from swapsim.slots import ranking
from swapsim.study import summary
from swapsim.study.tables import RANKING

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


def blocks(language: str, text: str) -> str:
    """Return the code block in a language that contains a text, of README or the package's."""
    folders = (repository_root(), repository_root() / "swapsim")
    readme = "\n".join((each / "README.md").read_text(encoding="utf-8") for each in folders)
    found = [each for each in readme.split("\n```")[1::2] if each.startswith(f"{language}\n")]
    (block,) = [each.removeprefix(language) for each in found if text in each]
    return block


def test_readmes_policy_is_ranked_among_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table per metric, each with all policies; the file, which runs once, has them all."""
    monkeypatch.setattr(ranking, "CHURN", replace(ranking.CHURN, warm_up_pages=2**13))
    path, log, out = tmp_path / "only_once.py", tmp_path / "log", tmp_path / "ranks.parquet"
    block = blocks("python", "@swapsim.policy")
    path.write_text(f"with open({str(log)!r}, 'a') as log:\n    log.write('x')\n{block}")
    assert main(["rank", str(path), "--seeds", "1", "-o", str(out)]) == 0
    assert log.read_text() == "x"
    printed = capsys.readouterr()
    assert "shape:" not in printed.out
    assert printed.out.count("| next_but_one ") == len(ranking.RANKED_BY)
    found = pl.read_parquet(out)
    assert found.schema == RANKING.schema
    for metric, declared in ranking.RANKED_BY.items():
        part = found.filter(metric=metric)
        assert set(part["policy"]) == {*POLICIES, "next_but_one"}
        assert part.filter(user=True)["policy"].to_list() == ["next_but_one"]
        best, worst = (part["median"].item(at) for at in (0, -1))
        assert best >= worst if declared.better == "higher" else best <= worst
        assert part.filter(pl.col("lowest") > pl.col("low")).is_empty()
        alike = part.filter(pl.col("policy").is_in(["spread", "spread-online"]))
        assert alike["rank"].n_unique() == 1
        assert "spread" in alike.filter(policy="spread-online")["tied_with"].item()


def test_what_is_printed_is_in_the_order_of_its_ranks(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wide interval may rank before a narrow one whose median is better; the chart is drawn."""
    rows = [
        (metric, "unit", declared.better, rank, policy, False, 2.5, 2.5, 2.5, [], [], 2.5, 2.5, 8)
        for metric, declared in ranking.RANKED_BY.items()
        for policy, rank in (("shared", "1"), ("wide", "2-3"), ("narrow", "3"), ("percpu", "3"))
    ]
    ranked = pl.DataFrame(rows, schema=RANKING.schema, orient="row")
    monkeypatch.setattr(ranking, "runs", lambda *_, **__: None)
    monkeypatch.setattr(summary, "ranking", lambda *_: ranked)
    monkeypatch.chdir(file.parent)
    (command,) = [line for line in blocks("", "swapsim rank").splitlines() if line]
    assert main(command.partition("#")[0].split()[1:]) == 0
    assert "two_on among the built-in policies" in Path("ranks.html").read_text(encoding="utf-8")
    printed = re.findall(r"^\| +\d(?:-\d)? +\| (\w+) ", capsys.readouterr().out, re.MULTILINE)
    assert printed == ["shared", "wide", "narrow", "percpu"] * len(ranking.RANKED_BY)


LISTS = f"""{HEAD}from swapsim.policies import FREE


@swapsim.list_policy()
def any_free():
    return FREE
"""


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (
            -3.0,
            -1.0,
            [
                "any_free and 7.3 (median change from its rules):",
                "  in sequence: -2 % (-3 to -1): worse, rank 2 of 2",
                "  tied: fallbacks",
            ],
        ),
        (-3.0, 1.0, ["any_free: tied with 7.3 (median change from its rules) in all 2 metrics"]),
    ],
)
def test_what_is_not_tied_stands_above_the_tables(
    low: float,
    high: float,
    said: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A line for each metric whose interval lies apart from that of 7.3; one if there is none."""
    metrics = {name: list_ranking.METRICS[name] for name in ("in sequence", "fallbacks")}
    ends = {"in sequence": (low, high), "fallbacks": (-1.0, 1.0)}
    rows = [
        {"metric": metric, "policy": policy, "seed": seed, "value": value}
        for metric in metrics
        for policy, values in (
            ("7.3", [0.0] * 5),
            ("any_free", [ends[metric][0], -2, -2, -2, ends[metric][1]]),
        )
        for seed, value in enumerate(values)
    ]
    ranked = summary.ranking(pl.DataFrame(rows), metrics, {"7.3"})
    monkeypatch.setattr(list_ranking, "METRICS", metrics)
    monkeypatch.setattr(list_ranking, "compared", lambda *_, **__: None)
    monkeypatch.setattr(list_ranking, "ranked", lambda *_: None)
    monkeypatch.setattr(list_ranking, "with_recordings", lambda *_: ranked)
    path = tmp_path / "lists.py"
    path.write_text(LISTS)
    assert main(["rank", str(path)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[: len(said) + 1] == [*said, ""]
    assert main(["rank", str(path), "--format", "csv"]) == 0
    printed_alone = capsys.readouterr()
    assert printed_alone.out.startswith("metric,")
    assert printed_alone.err.splitlines()[: len(said)] == said


def figures(seeds: int) -> pl.DataFrame:
    """Return a ranking of a built-in policy and a user's, which is always the better one."""
    rows = [
        {"metric": metric, "policy": policy, "seed": seed, "value": sign * (2 * seed + better)}
        for metric, declared in ranking.RANKED_BY.items()
        for sign in (1 if declared.better == "higher" else -1,)
        for policy, better in (("percpu-rerandomise", 0.0), ("two_on", 100.0))
        for seed in range(1, seeds + 1)
    ]
    return summary.ranking(pl.DataFrame(rows), ranking.RANKED_BY, {"percpu-rerandomise"})


@pytest.mark.parametrize(
    ("seeds", "first", "explained", "statistics"),
    [
        (1, "throughput: 102 pages/s, percpu-rerandomise 2", [], "dots are of 1 seed"),
        (
            2,
            "throughput: 103 pages/s (102 to 104), percpu-rerandomise 3",
            ["least figure of 2 seeds", "greatest figure of 2 seeds"],
            "dots are medians of 2 seeds, lines go from the least to the greatest",
        ),
        (
            5,
            "throughput: 106 pages/s (102 to 110), percpu-rerandomise 6: better, rank 1 of 2",
            [f"{end} end of the median's exact interval, 94 %" for end in ("lower", "upper")],
            "dots are medians of 5 seeds, lines their 94 % intervals",
        ),
        (
            8,
            "throughput: 109 pages/s (102 to 116), percpu-rerandomise 9: better, rank 1 of 2",
            [f"{end} end of the median's exact interval, 99 %" for end in ("lower", "upper")],
            "dots are medians of 8 seeds, lines their 99 % intervals",
        ),
    ],
)
def test_of_fewer_than_five_seeds_nothing_is_ranked(
    seeds: int,
    first: str,
    explained: list[str],
    statistics: str,
    file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Text, table and chart name no interval then; else they name its probability."""
    monkeypatch.setattr(ranking, "runs", lambda *_, **__: None)
    monkeypatch.setattr(summary, "ranking", lambda *_: figures(seeds))
    outputs = [file.with_name(name) for name in ("ranks.csv", "ranks.html")]
    options = [each for path in outputs for each in ("-o", str(path))]
    assert main(["rank", str(file), "--explain", *options]) == 0
    text = capsys.readouterr().out
    assert text.splitlines()[1].strip() == first
    for words in explained:
        assert words in text
    assert statistics in outputs[1].read_text(encoding="utf-8")
    few = seeds < 5
    words = ["interval, ", "tied_with", " rank 1", "better, rank", "| rank "]
    assert [word in text for word in words] == [not few] * len(words)
    assert ("nothing is ranked below --seeds 5" in text) == few
    assert pl.read_csv(outputs[0]).columns == RANKING.names()


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
