# SPDX-License-Identifier: GPL-2.0-or-later
"""The config of a swap device as the struct of the C core, with a user's policy."""

from dataclasses import fields
from numbers import Integral
from typing import Any, Final

import numpy as np

from swapsim._core import ffi, lib
from swapsim.errors import ConfigError
from swapsim.ffi import BASE_OF, INITIAL, KERNELS, POLICIES, SLOTS_DEFAULTS
from swapsim.policies.policy import Policy
from swapsim.slots.config import SlotsConfig

_SAME_NAMES: Final = {field.name for field in fields(SlotsConfig)} & SLOTS_DEFAULTS.keys() - {
    "kernel",
    "online_cpus",
    "policy",
}


def settings(config: SlotsConfig) -> tuple[Any, list[Any]]:
    """Return a config as ``struct sws_slots_config *``, and objects that must outlive the device.

    These are the machine code of a user's policy and the first bases. The field slot_cache is not
    part of this struct. A ``ConfigError`` names the owner for which a user's ``initial`` fails or
    returns no slot of the device.
    """
    made = ffi.new("struct sws_slots_config *")
    lib.sws_slots_config_init(made)
    made.kernel = KERNELS.index(config.kernel)
    made.online_cpus = config.online
    for name in _SAME_NAMES:
        setattr(made, name, getattr(config, name))
    if isinstance(config.policy, str):
        made.policy = POLICIES.index(config.policy)
        return made, []
    return made, _set_policy(made, config, config.policy)


def _set_policy(made: Any, config: SlotsConfig, policy: Policy) -> list[Any]:
    made.policy = lib.SWS_BASE_READER
    made.reader.base_of = BASE_OF.index(policy.base_of)
    made.reader.store = ffi.cast(ffi.typeof(made.reader.store), policy.address)
    if isinstance(policy.initial, str):
        made.reader.initial = INITIAL.index(policy.initial)
        return [policy]
    # A hard disk has the shared base of its kernel under every policy.
    if config.rotational:
        return [policy]
    bases = _initial_bases(config, policy)
    made.initial_bases = ffi.from_buffer("int64_t[]", bases)
    return [policy, made.initial_bases, bases]


def _initial_bases(config: SlotsConfig, policy: Policy) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return what a user's initial says for each owner, in the order of ``sws_slots_base``."""
    owners = {
        "device": 1,
        "cpu": config.possible_cpus,
        "mm": config.possible_cpus + config.address_spaces,
    }[policy.base_of]
    highest = config.slots - 1
    bases = np.empty(owners, dtype=np.int64)
    for owner in range(owners):
        bases[owner] = _initial_base(policy, owner, owners, highest)
    return bases


def _initial_base(policy: Policy, owner: int, owners: int, highest: int) -> int:
    where = f"policy {policy.name}: initial({owner}, {owners}, 1, {highest})"
    found: object = policy.initial
    if callable(policy.initial):
        try:
            found = policy.initial(owner, owners, 1, highest)
        except Exception as error:
            raise ConfigError(f"{where} fails ({type(error).__name__}: {error})") from error
    if not isinstance(found, Integral) or not 1 <= int(found) <= highest:
        raise ConfigError(f"{where}={found!r}: give a whole number from 1 to {highest}")
    return int(found)
