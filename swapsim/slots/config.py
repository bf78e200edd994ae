# SPDX-License-Identifier: GPL-2.0-or-later
"""One swap device with its slot caches: which kernel's allocator, which policy, how large."""

from dataclasses import dataclass

from swapsim.checks import check_choice, check_flags, check_number
from swapsim.errors import ConfigError
from swapsim.ffi.facts import (
    ADDRESS_SPACES_MAX,
    CPUS_MAX,
    POLICIES,
    SLOTS_KERNELS,
    SLOTS_MAX,
    TRUNK_SHIFT_MAX,
)
from swapsim.policies.policy import Policy


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
        check_choice("kernel", self.kernel, SLOTS_KERNELS)
        if not isinstance(self.policy, Policy) and self.policy not in POLICIES:
            raise ConfigError(
                f"policy={self.policy!r}: choose one of {', '.join(POLICIES)}, "
                "or a function decorated with @swapsim.policy"
            )
        if self.cluster_size not in (256, 512):
            raise ConfigError(f"cluster_size={self.cluster_size!r}: choose 256 or 512")
        check_flags(self)
        check_number("slots", self.slots, 2, SLOTS_MAX, " (slot 0 is the header)")
        check_number("trunk_shift", self.trunk_shift, 1, TRUNK_SHIFT_MAX)
        check_number("possible_cpus", self.possible_cpus, 1, CPUS_MAX)
        if self.online_cpus is not None:
            check_number("online_cpus", self.online_cpus, 1, self.possible_cpus)
        check_number("address_spaces", self.address_spaces, 0, ADDRESS_SPACES_MAX)
        check_number("seed", self.seed, 0, 2**64 - 1)
