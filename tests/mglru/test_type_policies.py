# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's own choice between anonymous and file pages: as good as the rules, or refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import pytest
from hypothesis import given
from oracle_mglru import choice
from recorded import KINDS, chosen_row, limited, states, summed, table_of

import swapsim
from swapsim import mglru
from swapsim.cli import main
from swapsim.errors import InputError
from swapsim.mglru import _native
from swapsim.mglru import recording as tables
from swapsim.mglru.replay import chosen
from swapsim.policies import ANON, FILE

TRACE = "generations-7.3-steps-4"


@numba.njit
def takes_file(
    swappiness: int, anon_refaulted: int, anon_total: int, file_refaulted: int, file_total: int
) -> bool:
    """Compare both rates over their gains, as the kernels do, in 64 bits that wrap."""
    if file_refaulted < 64:
        return True
    left = numba.uint64(file_refaulted) * numba.uint64(anon_total + 64) * numba.uint64(swappiness)
    return bool(
        left
        <= numba.uint64(anon_refaulted + 1)
        * numba.uint64(file_total)
        * numba.uint64(200 - swappiness)
    )


@swapsim.type_policy(rules="7.3")
def as_7_3(
    swappiness: int, anon_refaulted: int, anon_total: int, file_refaulted: int, file_total: int
) -> int:
    """Choose as 7.3 does."""
    if swappiness <= 1:
        return FILE
    if swappiness >= 200:
        return ANON
    found = takes_file(swappiness, anon_refaulted, anon_total, file_refaulted, file_total)
    return FILE if found else ANON


@swapsim.type_policy(rules="6.12")
def as_6_12(
    swappiness: int,
    io: int,
    anon_generations: int,
    file_generations: int,
    anon_first_refaulted: int,
    anon_first_total: int,
    file_first_refaulted: int,
    file_first_total: int,
) -> int:
    """Choose as 6.12 does."""
    if swappiness == 0:
        return FILE
    if anon_generations > file_generations:
        return ANON
    if swappiness == 1:
        return FILE
    if swappiness >= 200:
        return ANON
    found = takes_file(
        swappiness, anon_first_refaulted, anon_first_total, file_first_refaulted, file_first_total
    )
    return FILE if not io or found else ANON


@pytest.mark.parametrize("policy", [as_6_12, as_7_3], ids=["6.12", "7.3"])
@given(state=states())
def test_the_rules_of_a_kernel_written_in_python_choose_as_it_does(
    policy: Any, state: dict[str, Any]
) -> None:
    """Each type is the oracle's, which knows nothing of the library."""
    state = limited(policy.rules, state)
    row = chosen_row(policy.rules, state, [(8, 8), (8, 8)])
    found = _native.choices(table_of([row], tables.MGLRU_CHOICES), policy).row(0, named=True)
    assert found["type"] == KINDS[choice(policy.rules, summed(state))[0]]
    assert found["term"] == "own rule"


def test_a_recording_has_no_flip_by_the_rules_of_its_kernel() -> None:
    """And the changes of a switch are those of the same rule in Python."""
    found = mglru.replay(TRACE, [as_7_3, "7.3", as_6_12])
    of = {name: found.flips.filter(rules=name) for name in ("as_7_3", "7.3", "as_6_12")}
    assert not of["as_7_3"]["flips"].any()
    assert set(of["as_7_3"]["term"]) == {"own rule"}
    old = mglru.replay(TRACE, ["6.12"])
    assert of["as_6_12"].filter("flips")["choices"].sum() == old.when["choices"].sum() > 0


def three() -> Callable[..., int]:
    """Return a function that answers 3 for a swappiness of 150."""

    def answers(swappiness: int) -> int:
        return 3 if swappiness == 150 else FILE

    return answers


def endless() -> Callable[..., int]:
    """Return a function that never ends."""

    def loops(swappiness: int) -> int:
        while swappiness >= 0:
            swappiness += 0
        return FILE

    return loops


def stranger() -> Callable[..., int]:
    """Return a function with a parameter that there is not."""

    def asks(priority: int) -> int:
        return priority

    return asks


@pytest.mark.parametrize(
    ("make", "lines", "says"),
    [
        (three, {4}, "returns 3, which is no type, at the call swappiness=150"),
        (endless, {4, 5}, "has run 1,000,000 lines in one call"),
        (stranger, {3}, "use any of swappiness, io,"),
    ],
)
def test_a_bad_function_is_one_line_with_its_line(make: Any, lines: set[int], says: str) -> None:
    """One that answers no type, never ends, or cannot be called."""
    with pytest.raises(InputError, match=says) as error:
        chosen(TRACE, swapsim.type_policy()(make()))
    assert "\n" not in str(error.value)
    first = make.__code__.co_firstlineno
    named = [f"{Path(__file__).name}, line {first + line}:" in str(error.value) for line in lines]
    assert any(named)


FILES = {
    "types": "import swapsim\n@swapsim.type_policy()\ndef always(io):\n    return 0\n",
    "lists": "import swapsim\n@swapsim.list_policy()\ndef ends(free):\n    return 5\n",
}


@pytest.mark.parametrize(
    ("file", "command", "status", "says"),
    [
        ("types", ["replay", "mglru", TRACE, "--rules", "7.3", "--policy"], 0, "always"),
        ("lists", ["replay", "mglru", TRACE, "--policy"], 2, "of another kind"),
        ("types", ["rank"], 2, "no policy of swap slots to rank"),
    ],
)
def test_commands_take_policies_of_their_kind(
    file: str,
    command: list[str],
    status: int,
    says: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The replay has a row for each function of the file; files of another kind are refused."""
    path = tmp_path / f"{file}.py"
    path.write_text(FILES[file])
    assert main([*command, str(path)]) == status
    printed = capsys.readouterr()
    assert says in (printed.err if status else printed.out)
