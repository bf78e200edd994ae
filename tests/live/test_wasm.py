# SPDX-License-Identifier: GPL-2.0-or-later
"""The C core in WebAssembly: it is of these sources, and its models return the native rows."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import chromium
import engines
import pytest

from swapsim import slots
from swapsim.errors import SwapsimError
from swapsim.ffi import LOCK_KINDS, MGLRU_RULES, POLICIES, SLOTS_KERNELS, STALL_FLAGS, STALL_RULES
from swapsim.io import repository_root
from swapsim.live import models
from swapsim.live.models import MODELS, WORDS
from swapsim.machine import Machine, anchors
from swapsim.machine.constants import change_costs, costs, costs_by_name

ROOT = repository_root()
ZIG = ROOT / "build" / "wasm-env" / "bin" / "python"
needs_node = pytest.mark.skipif(engines.NODE is None, reason="node is not installed")

SHORT = {"warmup_ns": 1_000_000, "duration_ns": 2_000_000}
AGED = slots.Churn(warm_up_pages=2**12, pages=2**11)
LIST = ("4 dirty", "2 anonymous dirty", "2 writing marked", "4 writing", "1 clean committing")
FIRST: engines.Settings = [
    ("machine", models.machine_setting(Machine(writers=8, **SHORT))),
    ("locks", models.locks_setting() | {"seeds": [1, 2]}),
    ("slots", models.slots_setting(slots.Device(slots=2**16), AGED)),
    ("stall", models.stall_setting(*LIST) | {"flags": ["writeback"], "meetings": 2}),
    ("mglru", models.MGLRU),
]
"""One setting of each model."""

DRAWN = 200
"""Drawn settings, over all models."""
SEED = Random().getrandbits(32)


def a_machine(rng: Random) -> Machine:
    """Draw a machine and its device."""
    nodes = rng.randint(1, 2)
    return Machine(
        kernel=rng.choice(SLOTS_KERNELS),
        tags=rng.choice([None, True, False]),
        removal=rng.choice(["page-by-page", "batched"]),
        policy=rng.choice(POLICIES),
        test_and_set=rng.random() < 0.2,
        slot_cache=rng.random() < 0.8,
        nodes=nodes,
        devices=rng.randint(1, nodes),
        channels=rng.choice([0, 0, 4, 64]),
        writers=rng.randint(0, 6),
        walkers=rng.randint(0, 6),
        frames=rng.choice([2**12, 2**13, 2**14]),
        pages=rng.choice([2**12, 2**13]),
        read_percent=rng.randint(0, 100),
        spread_percent=rng.randint(0, 100),
        sweeps=rng.random() < 0.3,
        cluster_size=rng.choice([256, 512]),
        trunk_shift=rng.randint(8, 18),
        slots=rng.choice([2**16, 2**17]),
        stay_ns=rng.choice([0, 0, 300_000]),
        spare_cpus=rng.randint(0, 2),
        fragmented=rng.random() < 0.3,
        seed=rng.getrandbits(64),
        **SHORT,
    )


def draw_machine(rng: Random) -> dict[str, Any]:
    """Draw a machine and costs."""
    changed = {name: 1 + int(ns * rng.uniform(0, 3)) for name, ns in costs_by_name().items()}
    return models.machine_setting(a_machine(rng), change_costs(costs(), changed))


def draw_locks(rng: Random) -> dict[str, Any]:
    """Draw a closed loop."""
    made = models.locks_setting()
    return made | {
        "kinds": rng.sample(LOCK_KINDS, 2),
        "placements": rng.sample(anchors.PLACEMENTS, 2),
        "threads": rng.sample(range(1, 65), 3),
        "seeds": [rng.randrange(2**53)],
        "think_ns": rng.randrange(5000),
        "hold_ns": rng.randrange(1, 2000),
        "travels": {name: rng.randrange(1, 900) for name in made["travels"]},
    }


def draw_slots(rng: Random) -> dict[str, Any]:
    """Draw a device and its churn."""
    device = slots.Device(
        kernel=rng.choice(SLOTS_KERNELS),
        slots=rng.randrange(2**13, 2**16),
        cluster_size=rng.choice([256, 512]),
        trunk_shift=rng.randint(8, 15),
        rotational=rng.random() < 0.1,
        possible_cpus=rng.randint(4, 16),
        online_cpus=rng.choice([None, 4]),
        policy=rng.choice(POLICIES),
        slot_cache=rng.random() < 0.7,
        seed=rng.getrandbits(64),
    )
    churn = slots.Churn(
        used_share=rng.uniform(0.05, 0.9),
        pages=rng.randrange(1, 2000),
        warm_up_pages=rng.randrange(2000),
        swap_in=rng.choice(slots.config.SWAP_IN),
        threads_per_address_space=rng.randint(1, 3),
        tasks=rng.choice([None, 3]),
        pages_a_cpu=rng.choice([0, 100]),
    )
    return models.slots_setting(device, churn, frames=rng.randrange(1, 50))


def draw_stall(rng: Random) -> dict[str, Any]:
    """Draw a list of pages in words."""
    of_file_system = [word for word in WORDS if "-" in word or word in ("unstable", "committing")]
    plain = [word for word in WORDS if word not in of_file_system]
    kinds = [
        " ".join([str(rng.randint(1, 6)), *rng.sample(plain, rng.randint(1, 3))])
        + rng.choice(["", "", f" {rng.choice(of_file_system)}"])
        for _ in range(rng.randint(1, 6))
    ]
    return models.stall_setting(*kinds) | {
        "rules": rng.sample(STALL_RULES, rng.randint(1, 4)),
        "priority": rng.randint(0, 12),
        "kswapd": rng.random() < 0.5,
        "flags": rng.sample([*STALL_FLAGS], rng.randint(0, 3)),
        "meetings": rng.randint(1, 3),
    }


def draw_generations(rng: Random) -> dict[str, Any]:
    """Draw both refault rates, and what else decides."""
    return models.MGLRU | {
        "rules": rng.sample(MGLRU_RULES, rng.randint(1, 2)),
        "anon_percent": rng.randint(0, 100),
        "file_percent": rng.randint(0, 100),
        "upper_percent": rng.randint(0, 100),
        "swappiness": rng.choice([0, 1, 200, 201, rng.randint(2, 199)]),
        "evicted": 100 * rng.randint(1, 100),
        "few_refaults": rng.choice([0, 16, 64, 256]),
        "anon_generations": rng.randint(2, 4),
        "file_generations": rng.randint(2, 4),
        "io": rng.random() < 0.7,
        "anon_percents": sorted(rng.sample(range(101), 5)),
    }


DRAWS: dict[str, Callable[[Random], dict[str, Any]]] = {
    "machine": draw_machine,
    "locks": draw_locks,
    "slots": draw_slots,
    "stall": draw_stall,
    "mglru": draw_generations,
}


@cache
def native(seed: int) -> tuple[engines.Settings, list[list[dict[str, Any]]]]:
    """Return first and drawn settings, without those that the library refuses, and their rows."""
    rng = Random(seed)
    settings = [*FIRST]
    rows = [MODELS[model](setting).to_dicts() for model, setting in settings]
    end = len(settings) + DRAWN
    while len(settings) < end:
        model = [*DRAWS][len(settings) % len(DRAWS)]
        try:
            setting = DRAWS[model](rng)
            rows.append(MODELS[model](setting).to_dicts())
        except SwapsimError:
            continue
        settings.append((model, setting))
    return settings, rows


@pytest.fixture(scope="module", params=["node", "chromium"])
def run(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[engines.Settings], list[dict[str, Any]]]]:
    """Give a function that runs settings in an engine."""
    if request.param == "node":
        if engines.NODE is None:
            pytest.skip("node is not installed")
        yield engines.in_node
        return
    if chromium.CHROMIUM is None:
        pytest.skip(chromium.MISSING)
    with chromium.browser(tmp_path_factory.mktemp("live")) as page:
        yield lambda settings: engines.in_chromium(page, settings)


def test_each_model_returns_the_rows_of_the_native_library(
    run: Callable[[engines.Settings], list[dict[str, Any]]],
) -> None:
    """First and drawn settings have the same rows, bit for bit."""
    settings, wanted = native(SEED)
    for (model, setting), rows, found in zip(settings, wanted, run(settings), strict=True):
        assert rows, model
        assert found == {"rows": rows}, f"seed {SEED}: {model} {json.dumps(setting)}"


REFUSED = {
    "bad config": ("machine", {"frames": 8}, "config"),
    "unknown name": ("machine", {"policy": "none"}, "shared"),
    "out of memory": ("slots", {"slots": 2**31}, "memory"),
    "bad list": ("stall", {"priority": 13}, "argument"),
    "rounded seed": ("slots", {"seed": 0.5}, "0.5"),
}
"""Case -> a model, what is changed in its first setting, and a word of the message."""


@needs_node
@pytest.mark.parametrize("case", REFUSED)
def test_a_setting_that_is_refused_leaves_the_core_usable(case: str) -> None:
    """A refused setting ends with one line that says why, and the next run has its rows."""
    model, changed, word = REFUSED[case]
    setting = dict(FIRST)[model]
    refused, after = engines.in_node([(model, setting | changed), (model, setting)])
    assert word in refused["error"]
    assert "\n" not in refused["error"]
    assert after == {"rows": MODELS[model](setting).to_dicts()}


def of_build(expression: str, root: Path = ROOT) -> Any:
    """Return a value of corelib/web/build.py that JSON can hold."""
    script = f"import json, build, layout; print(json.dumps({expression}))"
    command = [sys.executable, "-c", script]
    done = subprocess.run(
        command, cwd=root / "corelib" / "web", capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_core_is_of_these_sources() -> None:
    """core.json has the digest of the sources and their layout: after a change run `make wasm`."""
    stored = json.loads((engines.LIVE / "core.json").read_text(encoding="utf-8"))
    assert stored == {
        "digest": of_build("build.digest()"),
        **of_build("layout.layout(layout.used())"),
    }


@pytest.mark.skipif(not ZIG.exists(), reason="the compiler is not installed: make wasm")
def test_the_same_bytes_are_built_elsewhere(tmp_path: Path) -> None:
    """The compiler makes the committed bytes again from a copy in another folder."""
    shutil.copytree(ROOT / "corelib", tmp_path / "corelib")
    shutil.copytree(engines.LIVE, tmp_path / "swapsim" / "live")
    made = tmp_path / "made"
    made.mkdir()
    build = tmp_path / "corelib" / "web" / "build.py"
    subprocess.run([sys.executable, build, f"{ZIG} -m ziglang", made], check=True)
    for name in ("core.wasm", "core.json"):
        assert (made / name).read_bytes() == (engines.LIVE / name).read_bytes(), name
