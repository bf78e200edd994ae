# SPDX-License-Identifier: GPL-2.0-or-later
# ruff: noqa: A002, ARG005 (a policy's parameters have fixed names, of which next is one)
"""A user's own policy: the same rule gives the same slots, and errors name file and line."""

import pickle
import re
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import swapsim
from swapsim._core import ffi, lib
from swapsim.errors import InputError, SwapsimError
from swapsim.ffi import POLICIES, SLOTS_KERNELS, check
from swapsim.policies import Policy
from swapsim.slots import _native as native_slots
from swapsim.slots.config import Device

SMALL = Device(slots=5000, trunk_shift=6, possible_cpus=4, address_spaces=3)
"""79 trunks of 64 slots, which bases leave often."""

TINY = replace(SMALL, slots=250, trunk_shift=4)
"""All slots are in the header's cluster, so scans start at the first bases."""


@dataclass(frozen=True)
class Run:
    """The results of a run."""

    slots: tuple[tuple[int, ...], ...]
    bases: tuple[int, ...]
    stores: int
    looked_at: int
    nonsense: int


def make_device(config: Device) -> Any:
    """Return a device of the library, whose policy lives as long."""
    made = native_slots.settings(config)
    out = ffi.new("struct sws_slots **")
    check(lib.sws_slots_new(made, out))
    return ffi.gc(out[0], lambda device, _=made: lib.sws_slots_free(device))


def drive(config: Device, *, calls: int = 400) -> Run:
    """Do calls and frees until a device is fragmented and three quarters full."""
    device = make_device(config)
    call, work = ffi.new("struct sws_slots_call *"), ffi.new("struct sws_slots_work *")
    generator = np.random.default_rng(config.seed)
    held: list[int] = []
    slots, bases = [], []
    for number in range(calls):
        cpu = number % config.possible_cpus
        mm = number % (config.address_spaces + 1) - 1
        wanted = int(generator.integers(1, 65))
        check(lib.sws_slots_allocate(device, cpu, mm, wanted, call, work))
        given = list(call.slots[0 : call.given])
        slots.append(tuple(given))
        bases.append(call.base_after)
        held += given
        while len(held) > config.slots * 3 // 4:
            slot = held.pop(int(generator.integers(len(held))))
            check(lib.sws_slots_free_entries(device, [slot], 1, work))
    check(lib.sws_slots_verify(device, ffi.new("const char **")))
    return Run(tuple(slots), tuple(bases), work.stores, work.looked_at, work.nonsense)


def first_bases(config: Device) -> list[int]:
    """Return the bases of a new device."""
    device = make_device(config)
    return [lib.sws_slots_base(device, owner) for owner in range(lib.sws_slots_bases(device))]


def linear(next: int) -> int:
    """Continue at the next slot: shared, percpu, spread and permm."""
    return next


def rerandomise(base: int, next: int, lowest: int, highest: int, trunk_size: int, draw: int) -> int:
    """Draw another trunk when leaving one, as the merged patch does."""
    if base // trunk_size == next // trunk_size:
        return next
    if highest <= lowest:
        return base
    slot = lowest + draw % (highest - lowest + 1)
    return max(slot // trunk_size * trunk_size, lowest)


def avoid(
    cpu: int,
    base: int,
    next: int,
    lowest: int,
    highest: int,
    trunk_size: int,
    draw: int,
    bases: np.ndarray[Any, Any],
) -> int:
    """Draw a trunk without another CPU's base."""
    if base // trunk_size == next // trunk_size:
        return next
    if highest <= lowest:
        return base
    first = lowest // trunk_size
    trunks = highest // trunk_size - first + 1
    drawn = (lowest + draw % (highest - lowest + 1)) // trunk_size
    for step in range(trunks):
        trunk = first + (drawn - first + step) % trunks
        taken = False
        for other in range(len(bases)):
            if other != cpu and bases[other] // trunk_size == trunk:
                taken = True
        if not taken:
            return int(max(trunk * trunk_size, lowest))
    return max(drawn * trunk_size, lowest)


TWINS = {
    "shared": ("device", "kernel", linear),
    "percpu": ("cpu", "random", linear),
    "percpu-rerandomise": ("cpu", "random", rerandomise),
    "spread": ("cpu", "even-possible", linear),
    "spread-online": ("cpu", "even-online", linear),
    "avoid": ("cpu", "apart", avoid),
    "permm": ("mm", "random", linear),
}
"""Each built-in policy as a user would write it: base_of, initial, and the function."""


@cache
def compiled(function: Callable[..., int]) -> Policy:
    """Compile a function when the first test needs it, and once."""
    return swapsim.policy(base_of="cpu")(function)


def as_users(name: str) -> Policy:
    """Return a built-in policy as a user's."""
    base_of, initial, function = TWINS[name]
    return replace(compiled(function), base_of=base_of, initial=initial)


def test_c_accepts_the_least_and_the_largest_config() -> None:
    """The bounds in Python are those of the C core."""
    least = Device(slots=2, trunk_shift=1, possible_cpus=1, address_spaces=0, seed=0)
    most = replace(SMALL, trunk_shift=31, possible_cpus=4096, address_spaces=2**24, seed=2**64 - 1)
    for config in (least, most):
        assert min(first_bases(config)) >= 1
    assert Device(slots=2**32 - 513).slots == lib.SWS_SLOTS_MAX


def test_each_field_reaches_the_c_struct() -> None:
    """The struct has the values of a config whose fields all differ from the defaults."""
    sizes = {"slots": 12345, "cluster_size": 512, "trunk_shift": 9, "possible_cpus": 6}
    others = {"rotational": True, "online_cpus": 3, "address_spaces": 7, "seed": 99}
    config = Device(kernel="5.7", policy="avoid", **sizes, **others)
    made = native_slots.settings(config)
    names = {"kernel": lib.SWS_KERNEL_5_7, "policy": lib.SWS_BASE_AVOID}
    wanted = names | sizes | others
    assert {name: getattr(made, name) for name in wanted} == wanted
    every = native_slots.settings(replace(config, online_cpus=None))
    assert every.online_cpus == 6


@pytest.mark.parametrize("kernel", SLOTS_KERNELS)
@pytest.mark.parametrize("name", POLICIES)
def test_a_twin_hands_out_the_slots_of_the_built_in_policy(name: str, kernel: str) -> None:
    """The same rule as a user's policy gives the same slots and bases, all valid."""
    for device in (SMALL, TINY):
        config = replace(device, policy=name, kernel=kernel, online_cpus=3)
        built_in, twin = drive(config), drive(replace(config, policy=as_users(name)))
        assert twin.slots == built_in.slots
        assert twin.bases == built_in.bases
        assert twin.stores == built_in.stores > 0
        assert twin.nonsense == 0


def test_no_two_policies_hand_out_the_same_slots() -> None:
    """The run that compares the twins is different for each policy."""
    found = {drive(replace(TINY, policy=name, online_cpus=3)).slots for name in POLICIES}
    assert len(found) == len(POLICIES)


def test_a_hard_disk_has_the_shared_base_under_every_policy() -> None:
    """A user's policy and its initial have no effect on a rotational device."""
    odd = replace(compiled(rerandomise), initial=lambda *_: 7)
    mine = replace(SMALL, rotational=True, policy=odd)
    shared = replace(mine, policy="shared")
    assert first_bases(mine) == first_bases(shared)
    assert drive(mine) == drive(shared)


def test_a_policy_is_charged_for_the_bases_that_it_takes() -> None:
    """With the parameter bases each store reads those of all online CPUs, without it none."""
    config = replace(SMALL, possible_cpus=4, online_cpus=3)
    asks = drive(replace(config, policy=as_users("avoid")))
    assert asks.looked_at == 3 * asks.stores
    assert drive(replace(config, policy=as_users("percpu-rerandomise"))).looked_at == 0


def zero(next: int) -> int:
    """Return the header's slot."""
    return next * 0


def below(next: int) -> int:
    """Return a number below all slots."""
    return next * 0 - 5


def above(highest: int) -> int:
    """Return a number past all slots, whose lower 32 bits are a free slot."""
    return highest + 2**32


def raising(next: int) -> int:
    """Raise at each call."""
    if next >= 0:
        raise ValueError("no")
    return next


def dividing(base: int, next: int) -> int:
    """Divide by zero."""
    return base // (next - next)


def reaching(bases: np.ndarray[Any, Any]) -> int:
    """Read past the end of the bases: with a CPU that is not online, its base."""
    return int(bases[len(bases)])


@pytest.mark.parametrize("rule", [zero, below, above, raising, dividing, reaching])
def test_invalid_answers_are_counted_and_replaced(
    rule: Callable[..., int], capfd: pytest.CaptureFixture[str]
) -> None:
    """Each answer that is no slot counts, next is stored instead, and nothing is printed."""
    config = replace(SMALL, online_cpus=3)
    found = drive(replace(config, policy=swapsim.policy(base_of="cpu")(rule)), calls=300)
    linear = drive(replace(config, policy="percpu"), calls=300)
    assert found.slots == linear.slots
    assert found.bases == linear.bases
    assert found.nonsense == found.stores > 250
    assert capfd.readouterr() == ("", "")


def with_initial(base_of: str, initial: Any) -> Policy:
    """Return a policy with other first bases, which the decorator accepts, without compiling it."""
    swapsim.policy(base_of=base_of, initial=initial)
    return replace(compiled(linear), base_of=base_of, initial=initial)


def test_first_bases_are_those_of_the_same_initial() -> None:
    """An initial is a name, one slot for all, or a function of owner and device."""
    config = replace(SMALL, online_cpus=2)
    for name, initial, same in (
        ("percpu", "random", None),
        ("spread", "even-possible", lambda i, n, _, highest: 1 + i * (highest // n)),
        ("spread-online", "even-online", lambda i, n, _, highest: 1 + i % 2 * (highest // 2)),
        ("avoid", "apart", None),
    ):
        expected = first_bases(replace(config, policy=name))
        for each in filter(None, (initial, same)):
            made = replace(config, policy=with_initial("cpu", each))
            assert first_bases(made) == expected
    for initial, expected in (("first", [1] * 7), (77, [77] * 7), (np.int64(5), [5] * 7)):
        assert first_bases(replace(config, policy=with_initial("mm", initial))) == expected
    seen: list[tuple[int, ...]] = []
    first_bases(replace(config, policy=with_initial("mm", lambda *of: seen.append(of) or 1)))
    assert seen == [(owner, 7, 1, 4999) for owner in range(7)]


def settings_of(initial: Any) -> Any:
    """Return the settings of a device whose policy has other first bases."""
    return native_slots.settings(replace(SMALL, policy=with_initial("cpu", initial)))


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (partial(settings_of, 5000), "initial(0, 4, 1, 4999)=5000"),
        (partial(settings_of, lambda i, n, low, high: i), "initial(0, 4, 1, 4999)=0"),
        (partial(settings_of, lambda i, n, low, high: 1 + high / n), "=1250.75"),
        (partial(settings_of, lambda i, n, low, high: None), "=None"),
        (partial(settings_of, lambda i, n, low, high: high // i), "ZeroDivisionError"),
        (partial(swapsim.policy, base_of="task"), "mm"),
        (partial(swapsim.policy, base_of="cpu", initial="any"), "random"),
        (partial(swapsim.policy, base_of="cpu", initial=0), "initial=0"),
        (partial(swapsim.policy, base_of="cpu", initial=lambda owner: 1), "n_owners"),
        (partial(swapsim.policy(base_of="cpu"), len), "policy len: "),
        (partial(swapsim.policy(base_of="cpu"), 3), "policy 3: "),
    ],
)
def test_a_wrong_argument_names_the_remedy(call: Callable[[], object], word: str) -> None:
    """First bases that are no slots, wrong arguments of the decorator, and what is no function."""
    with pytest.raises(SwapsimError, match=re.escape(word)):
        call()


BAD = [
    ("keep to integers", "def mine(cpu):\n    x = 1\n    return missing + x  # here"),
    ("keep to integers", "def mine(cpu):\n    return plain(cpu)  # here"),
    ("keep to integers", "def mine(cpu):\n    return cpu.node  # here"),
    ("keep to integers", "def mine(cpu):\n    import math  # here\n    return math.floor(cpu)"),
    ("without a star", "def mine(cpu, now):  # here\n    return cpu"),
    ("without a star", "def mine(*cpu):  # here\n    return 1"),
    ("without a star", "def mine(  # here\n    cpu,\n    now,\n):\n    return cpu"),
    (
        "divide with //",
        "def mine(next):\n    if next:\n        return 1\n    return next / 2  # here",
    ),
    ("on every path", "def mine(next):\n    if next > 9:  # here\n        return next"),
    ("on every path", "def mine(next):\n    pass  # here"),
    ("one integer", "def mine(next):\n    return next, 1  # here"),
    ("a def that returns", "def mine(next):  # here\n    yield next"),
    ("a def that returns", "async def mine(next):  # here\n    return next"),
    ("a def that returns", "@numba.njit\ndef mine(next):  # here\n    return next"),
    ("copy them", "def mine(bases):\n    mine = bases[1:]\n    mine[0] += 1  # here\n    return 1"),
    ("copy them", "def mine(bases):\n    x = 1\n    bases += x  # here\n    return 1"),
    ("copy them", "def mine(bases):\n    bases.sort()  # here\n    return 1"),
    ("walk them", "def mine(bases):\n    bases.flat[0] = 1  # here\n    return 1"),
    (
        "walk them",
        "def mine(bases):\n    for base in np.nditer(bases):  # here\n        base[()] = 1\n"
        "    return 1",
    ),
    (
        "constant text",
        "def mine(next):\n    if next > 9:\n        raise ValueError(next)  # here\n    return 1",
    ),
]


@pytest.mark.parametrize(("remedy", "function"), BAD)
def test_a_function_that_cannot_be_a_policy_is_named_with_its_line(
    remedy: str, function: str, tmp_path: Path
) -> None:
    """The error is one line: the file, the line of the function at fault, what to do."""
    source = (
        "import numba\nimport numpy as np\nimport swapsim\n"
        f"def plain(x):\n    return x\n@swapsim.policy(base_of='cpu')\n{function}\n"
    )
    path = tmp_path / "mine.py"
    path.write_text(source, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        exec(compile(source, str(path), "exec"), {"__name__": "mine"})
    [line] = [number for number, text in enumerate(source.splitlines(), 1) if "# here" in text]
    message = str(caught.value)
    assert message.startswith(f"{path}, line {line}: policy mine: ")
    assert remedy in message
    assert "\n" not in message


STEP = 640


def test_constants_and_compiled_helpers_are_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A global that changes after the decorator has no effect, here or in a copy."""
    import numba

    @numba.njit
    def stepped(slot: int, highest: int) -> int:
        return 1 + (slot + STEP) % highest

    @swapsim.policy(base_of="cpu")
    def mine(next: int, highest: int) -> int:
        return stepped(next, highest) if next % 2 else 1 + (next + STEP) % highest

    before = drive(replace(SMALL, policy=mine))
    assert before.slots != drive(replace(SMALL, policy="percpu")).slots
    monkeypatch.setitem(globals(), "STEP", 11)
    assert drive(replace(SMALL, policy=mine)) == before
    assert drive(replace(SMALL, policy=pickle.loads(pickle.dumps(mine)))) == before


def test_a_table_of_constants_outlives_its_name() -> None:
    """A large global array, which machine code does not copy, lives as long as the policy."""
    table = np.arange(2**18)

    @swapsim.policy(base_of="cpu")
    def mine(next: int) -> int:
        return table[next]  # noqa: F821 (deleted below, on purpose)

    del table
    assert drive(replace(SMALL, policy=mine)) == drive(replace(SMALL, policy="percpu"))


def test_two_policies_may_have_one_name() -> None:
    """Defining a function again does not change the first policy."""
    made = []
    for step in (64, 128):

        @swapsim.policy(base_of="cpu")
        def mine(next: int, highest: int) -> int:
            return 1 + (next + step) % highest  # noqa: B023 (frozen by the decorator)

        made.append(mine)
    first, second = (drive(replace(SMALL, policy=policy)) for policy in made)
    assert first.slots != second.slots
    assert drive(replace(SMALL, policy=made[0])) == first


def test_a_policy_lives_as_long_as_its_settings() -> None:
    """The machine code exists after the last reference to the policy is gone."""
    config = replace(SMALL, policy=swapsim.policy(base_of="cpu")(rerandomise))
    made = native_slots.settings(config)
    del config
    for _ in range(3):
        swapsim.policy(base_of="cpu")(linear)
    looked = ffi.new("int64_t *")
    bases = ffi.new("int64_t[4]", [1, 1, 1, 1])
    assert made.reader.store(0, -1, 60, 64, 1, 4999, 64, 12345, bases, 4, looked) == 2304


def test_threads_share_a_policy() -> None:
    """Runs on four threads at once give the same as one run."""
    config = replace(SMALL, policy=as_users("avoid"))
    alone = drive(config)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(drive, [config] * 4)) == [alone] * 4


def test_threads_may_define_policies_at_once() -> None:
    """The compiler serves one thread after the other."""
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(swapsim.policy(base_of="cpu"), [linear, rerandomise, avoid, linear]))
    assert [policy.name for policy in made] == ["linear", "rerandomise", "avoid (user)", "linear"]
    assert len({policy.address for policy in made}) == 4


def test_a_policy_comes_back_from_a_pickle_compiled_once() -> None:
    """Unpickling the same bytes twice gives one object with the same name."""
    sent = swapsim.policy(base_of="mm", initial="apart")(avoid)
    bytes_ = pickle.dumps(sent)
    copy: Policy = pickle.loads(bytes_)
    assert copy is pickle.loads(bytes_)
    assert (copy.name, copy.base_of, copy.initial) == ("avoid (user)", "mm", "apart")
    assert as_users("percpu-rerandomise").name == "rerandomise"
    assert copy.address != sent.address


def test_a_policy_that_cannot_be_pickled_is_refused_at_once(tmp_path: Path) -> None:
    """An initial that holds an open file names the function."""
    with (tmp_path / "open").open("w") as file, pytest.raises(InputError) as caught:
        swapsim.policy(base_of="cpu", initial=lambda *_: file.fileno())(linear)
    assert "policy linear: it or initial uses what cannot be sent" in str(caught.value)


def test_a_cell_of_a_notebook_is_named_and_its_policy_can_be_sent() -> None:
    """In a notebook the error names the cell; a policy defined there runs in a spawned process."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    cells = """
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor
        import swapsim
        from swapsim import slots
        from swapsim.slots.workbench import measure
        step = 64
        ---
        @swapsim.policy(base_of="cpu", initial=lambda owner, n, lowest, highest: step + owner)
        def mine(next, highest):
            return 1 + (next + step) % highest
        ---
        run = slots.Device(slots=5000, trunk_shift=6, policy=mine), slots.Fill()
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            there = pool.submit(measure, *run).result()
        here = measure(*run)
        print(there == here, run[0].policy.name)
        ---
        @swapsim.policy(base_of="cpu")
        def yours(next):
            return next / 2
    """
    notebook = nbformat.v4.new_notebook()
    for cell in textwrap.dedent(cells).strip().split("---\n"):
        notebook.cells.append(nbformat.v4.new_code_cell(cell))
    with pytest.raises(CellExecutionError) as caught:
        NotebookClient(notebook, timeout=120).execute()
    assert notebook.cells[2].outputs[0].text == "True mine\n"
    assert caught.value.evalue == (
        "Cell In[4], line 3: policy yours: it returns a float: divide with //, or return int(...)"
    )
