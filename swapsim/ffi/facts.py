# SPDX-License-Identifier: GPL-2.0-or-later
"""What the C library says of itself: kernels, names, limits. Nobody types them again.

It needs nothing of ours, so that tables and configs can be made of it.
"""

from collections.abc import Callable, Iterator
from typing import Final

from swapsim._core import ffi, lib


def _names(name_of: Callable[[int], object]) -> tuple[str, ...]:
    """Read the names that a function gives to 0, 1, 2 ..., with NULL past the last."""
    found: list[str] = []
    while (name := name_of(len(found))) != ffi.NULL:
        found.append(ffi.string(name).decode())
    return tuple(found)


def _words(enum: str, prefix: str) -> tuple[str, ...]:
    """Return the constants of an enum that begin alike, as words in the order of their values."""
    constants = sorted(ffi.typeof(enum).relements.items(), key=lambda item: item[1])
    return tuple(
        name.removeprefix(prefix).lower().replace("_", "-")
        for name, _ in constants
        if name.startswith(prefix)
    )


KERNELS: Final = _names(lib.sws_kernel_name)
"""All kernels that some mechanism follows, in order of age: ``enum sws_kernel``."""


def _known(knows: Callable[[int], bool]) -> tuple[str, ...]:
    return tuple(name for number, name in enumerate(KERNELS) if knows(number))


MAPPING_KERNELS: Final = _known(lib.sws_mapping_knows)
"""Kernels whose locks and tree walks ``mapping.h`` follows."""

SLOTS_KERNELS: Final = _known(lib.sws_slots_knows)
"""Kernels whose allocator ``slots.h`` follows, and ``machine.h`` with it."""

SLOT_REPLAY_KERNELS: Final = _known(lib.sws_slot_replay_knows)
"""Kernels whose slots can be verified: before, no row tells the first cluster."""

POLICIES: Final = _names(lib.sws_base_policy_name)
"""The built-in policies for the scan base: ``enum sws_base_policy``."""

SLOT_REPLAY_POLICIES: Final = tuple(
    name for number, name in enumerate(POLICIES) if lib.sws_slot_replay_follows(number)
)
"""Policies whose bases the rows of a slot trace tell."""

BASE_OF: Final = _names(lib.sws_base_of_name)
"""Whose a base is: ``enum sws_base_of``."""

INITIAL: Final = _names(lib.sws_base_initial_name)
"""The bases before the first call: ``enum sws_base_initial``."""

SLOT_OPS: Final = _names(lib.sws_slot_replay_op_name)
"""What happened to swap slots: ``enum sws_slot_replay_op``."""

SLOT_FAULTS: Final = _names(lib.sws_slot_replay_fault_name)
"""Where a call first differs from the model's: ``enum sws_slot_replay_fault``."""

MAPPING_SITES: Final = _words("enum sws_mapping_replay_site", "SWS_MAPPING_REPLAY_SITE_")
"""Code paths that may take a mapping's lock: ``enum sws_mapping_replay_site``."""

REMOVAL_WAYS: Final = _words("enum sws_removal_way", "SWS_REMOVAL_")
"""How the pages of reclaim's lists are removed: ``enum sws_removal_way``."""

REMOVAL_LIST_MAX: Final[int] = lib.SWS_REMOVAL_LIST_MAX
"""Pages that one of those lists may have."""

REMOVAL_REFERENCES: Final[int] = lib.SWS_REMOVAL_REFERENCES
"""References of a page that can be removed."""

STALL_RULES: Final = _names(lib.sws_stall_set_name)
"""The rules by which reclaim stalls, in order of age: ``enum sws_stall_set``."""

STALL_SLEEPS: Final = _names(lib.sws_stall_sleep_name)
"""Why reclaim sleeps: ``enum sws_stall_sleep``."""

STALL_STEPS: Final = _names(lib.sws_stall_step_name)
"""Where a page's way through reclaim ends: ``enum sws_stall_step``."""

STALL_FATES: Final = _words("enum sws_stall_fate", "SWS_STALL_FATE_")
"""What rules make of a page: ``enum sws_stall_fate``."""

STALL_CLEARS: Final = _words("enum sws_stall_clear", "SWS_STALL_CLEAR_")
"""What clears flags: ``enum sws_stall_clear``."""

_STALL_ROWS: Final = {
    rule_set: lib.sws_stall_rules_of(place) for place, rule_set in enumerate(STALL_RULES)
}

STALL_CLEARED: Final[dict[str, dict[str, int]]] = {
    rule_set: {why: row.clears[place] for place, why in enumerate(STALL_CLEARS)}
    for rule_set, row in _STALL_ROWS.items()
}
"""The flags that each of STALL_CLEARS clears, by rules."""

STALL_ACTIVATES: Final = tuple(rule_set for rule_set, row in _STALL_ROWS.items() if row.activates)
"""Rules by which a page under writeback, or dirty and not to be written, is activated."""

STALL_BY_PASS: Final = tuple(
    rule_set for rule_set, row in _STALL_ROWS.items() if row.decides == lib.SWS_STALL_AT_PASS
)
"""Rules by which passes set the flags, not lists; a cgroup has a congestion of its own then."""

STALL_GOES_ON: Final = {
    rule_set: (
        *(["case-1"] if row.case_1 == lib.SWS_STALL_CASE_1_SLEEP_LOCKED else []),
        *([] if row.retries else ["case-3"]),
    )
    for rule_set, row in _STALL_ROWS.items()
}
"""Cases of writeback after which a page goes on, whatever comes then, by rules."""

STALL_ISOLATED: Final = {
    rule_set: STALL_SLEEPS[row.isolated] for rule_set, row in _STALL_ROWS.items()
}
"""How a reclaimer sleeps when too many pages are isolated, by rules."""

STALL_FLAGS: Final = {
    "tail_lru_dirty": lib.SWS_STALL_TAIL_DIRTY,
    "writeback": lib.SWS_STALL_WRITEBACK,
    "congested": lib.SWS_STALL_CONGESTED,
}
"""Flags of a zone or a node, and their bits: ``enum sws_stall_flag``."""

STALL_PRIORITY_MAX: Final[int] = lib.SWS_STALL_PRIORITY_MAX
"""Where reclaim begins; 0 is its last resort."""

STALL_LIST_MAX: Final[int] = lib.SWS_STALL_LIST_MAX
"""Rows of one of reclaim's lists at most, and base pages that it may have taken."""

RECLAIM_RULES: Final = tuple(
    name for number, name in enumerate(STALL_RULES) if lib.sws_reclaim_knows(number)
)
"""Rules that the reclaim simulator runs with two zones: those whose lists are per zone."""

RECLAIM_COSTS: Final = tuple(name for name, _ in ffi.typeof("struct sws_reclaim_costs").fields)
"""The costs of the reclaim simulator: ``struct sws_reclaim_costs``."""

RECLAIM_COST_MAX: Final[int] = lib.SWS_RECLAIM_COST_MAX
"""The highest of these costs, in ns."""

RECLAIM_WHERE: Final = _words("enum sws_reclaim_where", "SWS_RECLAIM_")
"""The states of a page of the client's pool: ``enum sws_reclaim_where``."""

RECLAIM_PAGES_MIN: Final[int] = lib.SWS_RECLAIM_PAGES_MIN
"""Pages of the smallest memory, both zones together."""


def _reclaim_ranges() -> Iterator[tuple[str, tuple[int, int]]]:
    number = 0
    while (found := lib.sws_reclaim_range_of(number)) != ffi.NULL:
        yield ffi.string(found.field).decode(), (found.low, found.high)
        number += 1


RECLAIM_RANGES: Final = dict(_reclaim_ranges())
"""Integer fields of ``struct sws_reclaim_config``, and their lowest and highest values."""


def _reclaim_defaults() -> dict[str, int]:
    made = ffi.new("struct sws_reclaim_config *")
    lib.sws_reclaim_config_init(made)
    names = (*RECLAIM_RANGES, "rules", "delays_allocation", "nfs")
    return {name: getattr(made, name) for name in names}


RECLAIM_DEFAULTS: Final = _reclaim_defaults()
"""What ``sws_reclaim_config_init`` writes."""

ACTORS: Final = _words("enum sws_actor_kind", "SWS_ACTOR_")
"""Who has a CPU of the contention machine: ``enum sws_actor_kind``."""

LOCK_CLASSES: Final = _names(lib.sws_lock_class_name)
"""What a lock of the contention machine guards: ``enum sws_lock_class``."""

SPANS: Final = _words("enum sws_span_kind", "SWS_SPAN_")
"""What a CPU of that machine does in a span of its log: ``enum sws_span_kind``."""

COST_NAMES: Final = tuple(name for name, _ in ffi.typeof("struct sws_machine_costs").fields)
"""The constants of the contention machine, which ``struct sws_machine_costs`` explains."""

MAPPING_SLOTS_MAX: Final[int] = lib.SWS_MAPPING_SLOTS_MAX
"""Slots of the largest device whose swap cache ``mapping.h`` can keep."""

MAPPING_TRUNK_SHIFT_MAX: Final[int] = lib.SWS_MAPPING_TRUNK_SHIFT_MAX
"""Log2 of the slots of its largest trunk."""

TREE_SHIFT_MAX: Final[int] = lib.SWS_RTREE_SHIFT_MAX
"""Log2 of the slots of a tree's largest node."""

SLOTS_MAX: Final[int] = lib.SWS_SLOTS_MAX
"""Slots of the largest device."""

CPUS_MAX: Final[int] = lib.SWS_SLOTS_CPUS_MAX
"""CPUs that one device may have."""

ADDRESS_SPACES_MAX: Final[int] = lib.SWS_SLOTS_SPACES_MAX
"""Address spaces that may ask one device for slots."""

TRUNK_SHIFT_MAX: Final[int] = lib.SWS_SLOTS_TRUNK_SHIFT_MAX
"""Log2 of the slots of its largest trunk."""

OVERLAP_CALLS_MAX: Final[int] = lib.SWS_WORKBENCH_CALLS_MAX
"""Calls that the slot workbench can look back on."""

MACHINE_NODES_MAX: Final[int] = lib.SWS_MACHINE_NODES_MAX
"""Sockets of the contention machine."""

MACHINE_TASKS_MAX: Final[int] = lib.SWS_MACHINE_TASKS_MAX
"""Its tasks."""

MACHINE_CHANNELS_MAX: Final[int] = lib.SWS_MACHINE_CHANNELS_MAX
"""Pages that one of its devices may serve at a time."""

MACHINE_PAGES_MAX: Final[int] = lib.SWS_MACHINE_PAGES_MAX
"""Pages of memory of a node, and of a walker."""

MACHINE_SLOTS_MAX: Final[int] = lib.SWS_MACHINE_SLOTS_MAX
"""Slots of all its devices."""

MACHINE_TRUNKS_MAX: Final[int] = lib.SWS_MACHINE_TRUNKS_MAX
"""Trunks of all its devices."""

MACHINE_REQUESTS_MAX: Final[int] = lib.SWS_MACHINE_REQUESTS_MAX
"""Rows that its streams can do."""

COST_MAX: Final[int] = lib.SWS_MACHINE_COST_MAX
"""The largest cost that it takes, in ns."""

LIST_PAGES: Final[int] = lib.SWS_MACHINE_LIST_PAGES
"""Pages that reclaim takes from a list at a time in the kernel."""

LIST_MAX: Final[int] = lib.SWS_MACHINE_LIST_MAX
"""Pages that it may be told to take."""

FRAMES_KEPT: Final[int] = lib.SWS_MACHINE_FRAMES_KEPT
"""Pages that one of its CPUs may keep from its node's lists."""

SLOTS_KEPT: Final[int] = lib.SWS_MACHINE_SLOTS_KEPT
"""Slots that one of its CPUs may keep in its caches and in a batch."""


def watermark_high(frames: int) -> int:
    """Return how many of a node's pages kswapd keeps free."""
    return int(lib.sws_machine_watermark_high(frames))
