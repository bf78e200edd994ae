# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of configs: each ConfigError quotes the field and its value."""

from collections.abc import Iterable
from dataclasses import fields
from numbers import Integral, Real
from typing import TYPE_CHECKING

from swapsim.errors import ConfigError

if TYPE_CHECKING:  # only type checkers have this module
    from _typeshed import DataclassInstance


def check_number(
    name: str, value: object, low: int, high: int | None = None, why: str = ""
) -> None:
    """Require an integer of at least `low`, and at most `high`; `why` ends the message."""
    if (
        not isinstance(value, Integral)
        or int(value) < low
        or (high is not None and int(value) > high)
    ):
        what = f"from {low} on" if high is None else f"from {low} to {high}"
        raise ConfigError(f"{name}={value!r}: choose a whole number {what}{why}")


def check_share(name: str, value: object) -> None:
    """Require a number above 0 and up to 1."""
    if not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise ConfigError(f"{name}={value!r}: choose a number above 0 and up to 1")


def check_choice(name: str, value: object, choices: Iterable[object]) -> None:
    """Require one of the choices."""
    if value not in (known := tuple(choices)):
        raise ConfigError(f"{name}={value!r}: choose one of {', '.join(map(str, known))}")


def check_flags(config: "DataclassInstance") -> None:
    """Require True or False in each field of type bool."""
    for field in fields(config):
        value = getattr(config, field.name)
        if field.type is bool and not isinstance(value, bool):
            raise ConfigError(f"{field.name}={value!r}: choose True or False")
