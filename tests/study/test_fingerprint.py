# SPDX-License-Identifier: GPL-2.0-or-later
"""Hashes of content: equal for equal content in any process, different for any other."""

import io
import itertools
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from swapsim.errors import InputError
from swapsim.machine.config import MachineConfig
from swapsim.machine.costs import costs
from swapsim.machine.run import run
from swapsim.policies.policy import Policy, policy
from swapsim.slots.config import SlotsConfig
from swapsim.study.code import fingerprint

STEP = 3


def stepping(step: int) -> Policy:
    """Return a policy whose function uses a number of its surrounding function."""

    @policy(base_of="cpu")
    def stepped(next: int) -> int:  # noqa: A002 # the parameter's name is the kernel's
        return next + step

    return stepped


def with_global() -> Policy:
    """Return a policy whose function uses a global."""

    @policy(base_of="cpu")
    def stepped(next: int) -> int:  # noqa: A002 # the parameter's name is the kernel's
        return next + STEP

    return stepped


def different() -> list[Any]:
    """Return values that are all different, though many are similar."""
    return [
        None,
        True,
        1,
        1.0,
        "1",
        b"1",
        0.0,
        -0.0,
        float("nan"),
        np.int64(1),
        np.float64(1),
        Path("1"),
        (1,),
        [1],
        [[1], 2],
        [1, [2]],
        [12],
        ["1", "2"],
        ["12"],
        {1: 2},
        {2: 1},
        {1, 2},
        frozenset({"a", "b", "c"}),
        np.array([1, 2]),
        np.array([[1, 2]]),
        np.array([1, 2], dtype=np.int32),
        pl.DataFrame({"a": [1, 2]}),
        pl.DataFrame({"b": [1, 2]}),
        pl.DataFrame({"a": [1, 3]}),
        pl.DataFrame({"a": [1, None]}),
        pl.DataFrame({"a": [1, 2]}, schema={"a": pl.Int32}),
        pl.Series("a", [1, 2]),
        SlotsConfig(),
        SlotsConfig(seed=2),
        MachineConfig(writers=1),
        MachineConfig(writers=1, policy="shared"),
        MachineConfig(writers=1, policy=stepping(2)),
        MachineConfig(writers=1, policy=stepping(3)),
        with_global(),
        costs(),
        partial(run, constants=costs()),
        MachineConfig,
        len,
    ]


def test_different_contents_have_different_hashes() -> None:
    """Type, value, order and nesting all count."""
    hashes = [fingerprint(value) for value in different()]
    for one, other in itertools.combinations(range(len(hashes)), 2):
        assert hashes[one] != hashes[other], (different()[one], different()[other])


def test_equal_contents_have_one_hash() -> None:
    """Copies of values, and frames in other chunks, have the same hash."""
    assert [fingerprint(value) for value in different()] == [
        fingerprint(value) for value in different()
    ]
    frame = pl.DataFrame({"a": ["x", None, "y"], "b": [1, None, 3]})
    again = io.BytesIO()
    frame.write_parquet(again)
    for same in (
        pl.concat([frame[:1], frame[1:]], rechunk=False),
        pl.read_parquet(again.getvalue()),
    ):
        assert fingerprint(same) == fingerprint(frame)


def test_another_process_finds_the_same_hashes() -> None:
    """The seed of Python's own hashes does not matter."""
    code = (
        "from test_fingerprint import different; "
        "from swapsim.study.code import fingerprint; "
        "print([fingerprint(value) for value in different()])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent), "PYTHONHASHSEED": "1"},
        capture_output=True,
        check=True,
        text=True,
    )
    assert found.stdout.strip() == str([fingerprint(value) for value in different()])


def test_a_global_that_a_policy_uses_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same code with another constant is another policy."""
    before = fingerprint(with_global())
    monkeypatch.setattr(sys.modules[__name__], "STEP", 4)
    assert fingerprint(with_global()) != before


def test_the_name_of_a_cell_does_not_count() -> None:
    """A notebook's kernel has a number, and its cells' files are named after it."""
    hashes = set()
    for file in ("/tmp/ipykernel_1/5.py", "/tmp/ipykernel_22/5.py"):
        names: dict[str, Any] = {}
        exec(compile("def double(x):\n    return [2 * y for y in x]", file, "exec"), names)
        hashes.add(fingerprint(names["double"]))
    assert len(hashes) == 1


def test_a_function_may_call_itself() -> None:
    """A recursive function is hashed once."""
    assert fingerprint(itself) == fingerprint(itself)


def itself(n: int) -> int:
    """Call itself."""
    return itself(n - 1) if n else 0


def test_an_object_without_plain_content_is_refused() -> None:
    """It would be another object after a restart."""
    with pytest.raises(InputError, match=r"the content of a builtins.object cannot be compared"):
        fingerprint([1, {"a": object()}])
    with pytest.raises(InputError, match=r"a numpy.ndarray cannot be compared"):
        fingerprint(np.array([object()]))
