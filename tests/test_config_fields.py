# SPDX-License-Identifier: GPL-2.0-or-later
"""Each field of each config refuses values of a wrong type, or out of its range."""

from dataclasses import fields, is_dataclass
from typing import Any

import polars as pl
import pytest

from swapsim.errors import ConfigError, InputError
from swapsim.machine import MachineConfig
from swapsim.mapping import MappingConfig
from swapsim.reclaim import ReclaimConfig
from swapsim.slots import ChurnConfig, FillConfig, MeterConfig, SlotsConfig, StreamsConfig
from swapsim.slots.tables import REQUESTS
from swapsim.stall import StallContext

CONFIGS = {
    kind.__name__: kind
    for kind in (
        ChurnConfig,
        FillConfig,
        MachineConfig,
        MappingConfig,
        MeterConfig,
        ReclaimConfig,
        SlotsConfig,
        StallContext,
        StreamsConfig,
    )
}
NEEDED = {
    "StreamsConfig": {
        "requests": pl.DataFrame(
            {name: [0] for name in REQUESTS.names()}, schema=REQUESTS.schema, strict=False
        )
    },
    "MachineConfig": {"walkers": 2},
}


def field_names(of_type: type | None = None) -> list[tuple[str, str]]:
    """Return each config and each of its fields, or those of a type."""
    return [
        (name, field.name)
        for name in CONFIGS
        for field in fields(CONFIGS[name])
        if of_type in (None, field.type)
    ]


def make(name: str, changes: dict[str, Any]) -> object:
    """Make a config with some of its fields changed."""
    kind = CONFIGS[name]
    assert is_dataclass(kind)
    return kind(**NEEDED.get(name, {}) | changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", CONFIGS)
def test_what_is_needed_is_enough(name: str) -> None:
    """The smallest config of each kind is valid, so that other tests fail by their change."""
    make(name, {})


@pytest.mark.parametrize(("name", "field"), field_names())
def test_an_object_of_a_wrong_type_is_refused(name: str, field: str) -> None:
    """The error is one line that names the field."""
    with pytest.raises((ConfigError, InputError)) as refused:
        make(name, {field: ...})
    assert field in str(refused.value).lower()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("name", "field"), field_names(bool))
@pytest.mark.parametrize("value", [0, 1, -2, 2**64, "no", None])
def test_a_flag_is_true_or_false(name: str, field: str, value: object) -> None:
    """A number is refused, which C would accept."""
    with pytest.raises(ConfigError, match=f"^{field}=.*: choose True or False$"):
        make(name, {field: value})


@pytest.mark.parametrize(
    ("name", "field", "values"),
    [
        ("MappingConfig", "kernel", ["4.9"]),
        ("MappingConfig", "swap_slots", [0]),
        ("MappingConfig", "trunk_shift", [33]),
        ("MappingConfig", "tree_shift", [7]),
        ("SlotsConfig", "kernel", ["6.2"]),
        ("SlotsConfig", "slots", [1, 2**32 - 512]),
        ("SlotsConfig", "cluster_size", [128]),
        ("SlotsConfig", "trunk_shift", [0, 32]),
        ("SlotsConfig", "possible_cpus", [0, 4097]),
        ("SlotsConfig", "online_cpus", [0, 9]),
        ("SlotsConfig", "address_spaces", [-1, 2**24 + 1]),
        ("SlotsConfig", "policy", ["random"]),
        ("SlotsConfig", "seed", [-1, 2**64]),
    ],
)
def test_a_value_out_of_range_is_quoted(name: str, field: str, values: list[object]) -> None:
    """The error is one line with the field and its value."""
    for value in values:
        with pytest.raises(ConfigError, match=f"^{field}={value!r}: .*$"):
            make(name, {field: value})
