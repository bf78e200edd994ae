# SPDX-License-Identifier: GPL-2.0-or-later
"""One swap device with its slot caches: which kernel's allocator, which policy, how large."""

from dataclasses import dataclass
from numbers import Integral
from typing import Final

from swapsim.config.policies import POLICIES, Policy
from swapsim.errors import ConfigError

SLOTS_KERNELS: Final = ("4.8", "5.7", "5.7+scan-more", "5.8", "6.1")
"""Kernels whose allocator ``slots.h`` follows, in the order of its enum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotsConfig:
    """One swap device with its slot caches (``slots.h``, ``slot_cache.h``).

    Parameters
    ----------
    kernel : {"4.8", "5.7", "5.7+scan-more", "5.8", "6.1"}
        Whose allocator to follow; "5.7+scan-more" is what V1 of patch D was based on.
    slots : int
        Slots of the device, its header included, 2 to 2**32 - 513; 2**20 are 4 GB.
    cluster_size : {256, 512}
        Slots of a cluster; 512 where huge pages swap.
    trunk_shift : int
        Log2 of the slots of a trunk, 1 to 31; 14 is 64 MB (SWAP_ADDRESS_SPACE_SHIFT).
    rotational : bool
        A hard disk: no clusters, and the shared base whatever the policy.
    possible_cpus : int
        1 to 4096.
    online_cpus : int or None
        1 to possible_cpus; None for all of them.
    address_spaces : int
        Address spaces that ask for slots, 0 to 2**24; kernel threads have none.
    policy : str or Policy
        Where a scan begins: a name of ``policies.POLICIES``, or a reader's own.
    slot_cache : bool
        Whether each CPU has its cache of 64 slots in front of the device.
    seed : int
        Of all random draws, 0 to 2**64 - 1.

    Raises
    ------
    ConfigError
        Naming the field and its value.
    """

    kernel: str = "6.1"
    slots: int = 2**20
    cluster_size: int = 256
    trunk_shift: int = 14
    rotational: bool = False
    possible_cpus: int = 8
    online_cpus: int | None = None
    address_spaces: int = 0
    policy: str | Policy = "percpu-rerandomise"
    slot_cache: bool = True
    seed: int = 1

    def __post_init__(self) -> None:
        """Check each field."""
        if self.kernel not in SLOTS_KERNELS:
            raise ConfigError(f"kernel={self.kernel!r}: choose one of {', '.join(SLOTS_KERNELS)}")
        if not isinstance(self.policy, Policy) and self.policy not in POLICIES:
            raise ConfigError(
                f"policy={self.policy!r}: choose one of {', '.join(POLICIES)}, "
                "or a function decorated with @swapsim.policy"
            )
        if self.cluster_size not in (256, 512):
            raise ConfigError(f"cluster_size={self.cluster_size!r}: choose 256 or 512")
        for name in ("rotational", "slot_cache"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"{name}={getattr(self, name)!r}: choose True or False")
        for name, low, high in (
            ("slots", 2, 2**32 - 513),
            ("trunk_shift", 1, 31),
            ("possible_cpus", 1, 4096),
            ("online_cpus", 1, self.possible_cpus),
            ("address_spaces", 0, 2**24),
            ("seed", 0, 2**64 - 1),
        ):
            value = getattr(self, name)
            if name == "online_cpus" and value is None:
                continue
            if not isinstance(value, Integral) or not low <= int(value) <= high:
                why = " (slot 0 is the header)" if name == "slots" else ""
                raise ConfigError(f"{name}={value!r}: choose a number from {low} to {high}{why}")
