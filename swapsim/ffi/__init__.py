# SPDX-License-Identifier: GPL-2.0-or-later
"""The C library: the one way to bind it, and its facts.

`structs` makes a binding short: configs and columns to structs, handles that free themselves, and
structs to frames. `headers` has what the headers say of a field or an enumerator: its meaning, its
range. The facts below are the kernels, names and limits that the library knows, so that Python does
not repeat them.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from swapsim._core import ffi, lib
from swapsim.ffi.structs import check as check
from swapsim.ffi.structs import dtype_of as dtype_of


def _names(name_of: Callable[[int], object]) -> tuple[str, ...]:
    """Return the names that a function gives to 0, 1, 2 ..., with NULL after the last one."""
    found: list[str] = []
    while (name := name_of(len(found))) != ffi.NULL:
        found.append(ffi.string(name).decode())
    return tuple(found)


def _words(enum: str, prefix: str) -> tuple[str, ...]:
    """Return the constants of an enum with this prefix as words, in the order of their values."""
    constants = sorted(ffi.typeof(enum).relements.items(), key=lambda item: item[1])
    return tuple(
        name.removeprefix(prefix).lower().replace("_", "-")
        for name, _ in constants
        if name.startswith(prefix)
    )


KERNELS: Final = _names(lib.sws_kernel_name)
"""All kernels that a mechanism models, in order of age: ``enum sws_kernel``."""


def _known(knows: Callable[[int], bool]) -> tuple[str, ...]:
    return tuple(name for number, name in enumerate(KERNELS) if knows(number))


# Kernels that a mechanism models.
MAPPING_KERNELS: Final = _known(lib.sws_mapping_knows)
SLOTS_KERNELS: Final = _known(lib.sws_slots_knows)
SLOT_REPLAY_KERNELS: Final = _known(lib.sws_slot_replay_knows)  # older rows lack the first cluster

# The scan base: its policies, those whose bases a slot trace shows, what it belongs to, its start.
POLICIES: Final = _names(lib.sws_base_policy_name)
SLOT_REPLAY_POLICIES: Final = tuple(
    name for number, name in enumerate(POLICIES) if lib.sws_slot_replay_follows(number)
)
BASE_OF: Final = _names(lib.sws_base_of_name)
INITIAL: Final = _names(lib.sws_base_initial_name)

# What happened to swap slots, and where a call first differs from the model's.
SLOT_OPS: Final = _names(lib.sws_slot_replay_op_name)
SLOT_FAULTS: Final = _names(lib.sws_slot_replay_fault_name)

# Cluster allocators: rule sets in order of age, the rules in which they differ, their words.
CLUSTER_RULES: Final = _names(lib.sws_cluster_rule_set_name)
CLUSTER_SWITCHES: Final = tuple(name for name, _ in ffi.typeof("struct sws_cluster_rules").fields)
CLUSTER_CHOICES: Final = _names(lib.sws_cluster_choice_name)
CLUSTER_OPS: Final = _names(lib.sws_cluster_op_name)[: lib.SWS_CLUSTER_BUSY]  # those that rows have
CLUSTER_LISTS: Final = _names(lib.sws_cluster_list_name)
CLUSTER_FAULTS: Final = _names(lib.sws_cluster_replay_fault_name)
CLUSTER_ORDERS: Final[int] = lib.SWS_CLUSTERS_ORDERS
CLUSTER_CPUS_MAX: Final[int] = lib.SWS_CLUSTERS_CPUS_MAX
CLUSTER_DEVICES_MAX: Final[int] = lib.SWS_CLUSTERS_DEVICES_MAX
CLUSTER_OWNERS_MAX: Final[int] = lib.SWS_CLUSTERS_OWNERS_MAX
CLUSTER_SIZE_MAX: Final[int] = lib.SWS_CLUSTERS_SIZE_MAX  # slots of a cluster
CLUSTER_SLOTS_MAX: Final[int] = lib.SWS_CLUSTERS_SLOTS_MAX

# Generations; a switch of the rules is yes or no (True), or a number.
GENERATION_RULES: Final = _names(lib.sws_generation_set_name)
GENERATION_TYPES: Final = _names(lib.sws_generation_type_name)  # the last one is neither
GENERATION_TERMS: Final = _names(lib.sws_generation_term_name)
GENERATION_EQUALS: Final = _words("enum sws_generation_equal", "SWS_GENERATION_")
GENERATION_SWITCHES: Final = {
    name: field.type.cname == "_Bool"
    for name, field in ffi.typeof("struct sws_generation_rules").fields
    if field.type.kind == "primitive"
}
GENERATION_TIERS: Final[int] = lib.SWS_GENERATION_TIERS
GENERATION_FEW: Final[int] = lib.SWS_GENERATION_BATCH  # refaults that are few by both kernels
GENERATION_SWAPPINESS_MAX: Final[int] = lib.SWS_GENERATION_SWAPPINESS_MAX
GENERATIONS_MAX: Final[int] = lib.SWS_GENERATIONS_MAX

# Code paths that may take a mapping's lock; how pages of reclaim's lists are removed.
MAPPING_SITES: Final = _words("enum sws_mapping_replay_site", "SWS_MAPPING_REPLAY_SITE_")
LOCK_KINDS: Final = _words("enum sws_lock_kind", "SWS_LOCK_")
REMOVAL_MODES: Final = _words("enum sws_removal_mode", "SWS_REMOVAL_")
REMOVAL_LIST_MAX: Final[int] = lib.SWS_REMOVAL_LIST_MAX
REMOVAL_REFERENCES: Final[int] = lib.SWS_REMOVAL_REFERENCES

# Reclaim's stall decisions: rule sets in order of age, throttles, where a page leaves a list and
# how, what clears flags, what is counted of a list's pages, the flags and their bits.
STALL_RULES: Final = _names(lib.sws_stall_set_name)
STALL_SLEEPS: Final = _names(lib.sws_stall_sleep_name)
STALL_STEPS: Final = _names(lib.sws_stall_step_name)
STALL_BRANCHES: Final = _words("enum sws_stall_branch", "SWS_STALL_BRANCH_")
STALL_CLEARS: Final = _words("enum sws_stall_clear", "SWS_STALL_CLEAR_")
STALL_COUNTERS: Final = tuple(
    name for name, _ in ffi.typeof("struct sws_stall_counts").fields if not name.endswith("taken")
)
STALL_FLAGS: Final = {
    "tail_lru_dirty": lib.SWS_STALL_TAIL_DIRTY,
    "writeback": lib.SWS_STALL_WRITEBACK,
    "congested": lib.SWS_STALL_CONGESTED,
}
STALL_FLAGS_ALL: Final[int] = lib.SWS_STALL_FLAGS
STALL_PRIORITY_MAX: Final[int] = lib.SWS_STALL_PRIORITY_MAX  # at which reclaim begins
STALL_LIST_MAX: Final[int] = lib.SWS_STALL_LIST_MAX  # rows, and isolated base pages
SUMS_RULES: Final = _names(lib.sws_sums_set_name)  # of 7.3
SUMS_FLAGS: Final = _words("enum sws_sums_flag", "SWS_SUMS_")[:-1]  # the bits 1, 2 and 4

# The reclaim simulator: rules that it runs with two zones, and costs.
RECLAIM_RULES: Final = tuple(
    name for number, name in enumerate(STALL_RULES) if lib.sws_reclaim_knows(number)
)
RECLAIM_COSTS: Final = tuple(name for name, _ in ffi.typeof("struct sws_reclaim_costs").fields)
RECLAIM_COST_MAX: Final[int] = lib.SWS_RECLAIM_COST_MAX
RECLAIM_PAGES_MIN: Final[int] = lib.SWS_RECLAIM_PAGES_MIN  # of both zones together


def _reclaim_ranges() -> Iterator[tuple[str, tuple[int, int]]]:
    number = 0
    while (found := lib.sws_reclaim_range_of(number)) != ffi.NULL:
        yield ffi.string(found.field).decode(), (found.low, found.high)
        number += 1


RECLAIM_RANGES: Final = dict(_reclaim_ranges())  # of integer fields: lowest and highest value


def _defaults(name: str, write: Callable[[Any], None]) -> dict[str, int]:
    """Return the numbers that ``sws_NAME_config_init`` writes."""
    made = ffi.new(f"struct sws_{name}_config *")
    write(made)
    fields = ffi.typeof(made).item.fields
    kinds = ("primitive", "enum")
    return {field: getattr(made, field) for field, part in fields if part.type.kind in kinds}


RECLAIM_DEFAULTS: Final = _defaults("reclaim", lib.sws_reclaim_config_init)
SLOTS_DEFAULTS: Final = _defaults("slots", lib.sws_slots_config_init)
MACHINE_DEFAULTS: Final = _defaults("machine", lib.sws_machine_config_init)
"""What the configs of the library have unless a caller gives another value."""

# The contention machine: what runs on a CPU, and in a span of its log; locks, and where they are
# taken, as ``lock.function.caller``; costs.
ACTORS: Final = _words("enum sws_actor_kind", "SWS_ACTOR_")
MACHINE_SITES: Final = tuple(
    ffi.string(lib.sws_machine_site_name(site)).decode() for site in range(lib.SWS_SITES)
)
COST_NAMES: Final = tuple(name for name, _ in ffi.typeof("struct sws_machine_costs").fields)

# Limits, as their headers explain them.
MAPPING_SLOTS_MAX: Final[int] = lib.SWS_MAPPING_SLOTS_MAX
SLOTS_MAX: Final[int] = lib.SWS_SLOTS_MAX
CPUS_MAX: Final[int] = lib.SWS_SLOTS_CPUS_MAX
MACHINE_TASKS_MAX: Final[int] = lib.SWS_MACHINE_TASKS_MAX
MACHINE_CHANNELS_MAX: Final[int] = lib.SWS_MACHINE_CHANNELS_MAX
MACHINE_PAGES_MAX: Final[int] = lib.SWS_MACHINE_PAGES_MAX
MACHINE_SLOTS_MAX: Final[int] = lib.SWS_MACHINE_SLOTS_MAX
MACHINE_TRUNKS_MAX: Final[int] = lib.SWS_MACHINE_TRUNKS_MAX
MACHINE_REQUESTS_MAX: Final[int] = lib.SWS_MACHINE_REQUESTS_MAX
COST_MAX: Final[int] = lib.SWS_MACHINE_COST_MAX
LIST_PAGES: Final[int] = lib.SWS_MACHINE_LIST_PAGES
FRAMES_KEPT: Final[int] = lib.SWS_MACHINE_FRAMES_KEPT
SLOTS_KEPT: Final[int] = lib.SWS_MACHINE_SLOTS_KEPT


def watermark_high(frames: int) -> int:
    """Return how many of a node's pages kswapd leaves free."""
    return int(lib.sws_machine_watermark_high(frames))
