# SPDX-License-Identifier: GPL-2.0-or-later
"""The context in which a stall is decided: the caller, its rules, and the flags of the zone."""

from dataclasses import dataclass

from swapsim.errors import InputError, check_choice, check_number
from swapsim.ffi import STALL_FLAGS, STALL_PRIORITY_MAX, STALL_RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class StallContext:
    """The context of a list, of a pass or of a round of reclaim (``stall.h``).

    Parameters
    ----------
    rules : str
        One of STALL_RULES: "3.9", "mmotm", "series-1" to "series-8", "3.11", "6.1".
    priority : int
        0 to 12 (DEF_PRIORITY); a lower one is more pressure.
    kswapd, memcg : bool
        Whether kswapd reclaims, and whether from a memory cgroup; else a task, and all memory.
    sane : bool
        Whether writers of that cgroup are throttled (cgroup v2); False needs memcg.
    hibernation, may_throttle : bool
        Whether the machine hibernates, and whether the task may be throttled: False for a task
        that writes for others (PF_LOCAL_THROTTLE).
    io, fs : bool
        Whether the allocation may start I/O, and enter a filesystem.
    flags : int
        Of the zone or node, a sum of STALL_FLAGS: 1 tail_lru_dirty, 2 writeback, 4 congested.

    Raises
    ------
    InputError
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
        """Check each field."""
        check_choice("rules", self.rules, STALL_RULES)
        check_number("priority", self.priority, 0, STALL_PRIORITY_MAX)
        check_number("flags", self.flags, 0, sum(STALL_FLAGS.values()))
        if not self.sane and not self.memcg:
            raise InputError("sane=False: set memcg=True, too")
