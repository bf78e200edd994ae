# SPDX-License-Identifier: GPL-2.0-or-later
"""Who reclaims, by whose rules, and what flags the zone has: where a stall is decided."""

from dataclasses import dataclass

from swapsim.checks import check_choice, check_flags, check_number
from swapsim.errors import ConfigError
from swapsim.ffi.facts import STALL_FLAGS, STALL_PRIORITY_MAX, STALL_RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class StallContext:
    """The context of a list, of a pass or of a round of reclaim (``stall.h``).

    Parameters
    ----------
    rules : str
        One of STALL_RULES: "3.9", "mmotm", "series-1" to "series-8", "3.11", "6.1".
    priority : int
        0 to 12: lower is more pressure (DEF_PRIORITY is 12).
    kswapd : bool
        Whether it is kswapd; else direct reclaim.
    memcg : bool
        Whether it reclaims from a memory cgroup; else from all memory.
    sane : bool
        Whether writers of that cgroup are throttled (cgroup v2): False needs memcg.
    hibernation : bool
        Whether memory is freed to hibernate.
    may_throttle : bool
        Whether it may be stalled: False for a task that writes for others (PF_LOCAL_THROTTLE).
    io, fs : bool
        Whether the allocation may start IO, and enter a filesystem.
    flags : int
        Of the zone or node, a sum of STALL_FLAGS: 1 tail_lru_dirty, 2 writeback, 4 congested.

    Raises
    ------
    ConfigError
        Naming the field and its value.
    """

    rules: str = "6.1"
    priority: int = STALL_PRIORITY_MAX
    kswapd: bool = False
    memcg: bool = False
    sane: bool = True
    hibernation: bool = False
    may_throttle: bool = True
    io: bool = True
    fs: bool = True
    flags: int = 0

    def __post_init__(self) -> None:
        """Check each field, and those that need each other."""
        check_choice("rules", self.rules, STALL_RULES)
        check_number("priority", self.priority, 0, STALL_PRIORITY_MAX)
        check_flags(self)
        check_number("flags", self.flags, 0, sum(STALL_FLAGS.values()))
        if not self.sane and not self.memcg:
            raise ConfigError("sane=False: only a memory cgroup can be, so set memcg=True")
