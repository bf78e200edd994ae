# SPDX-License-Identifier: GPL-2.0-or-later
"""The C library: the one way to bind it, and its facts.

`structs` makes a binding short: configs and columns to structs, handles that free themselves, and
structs to frames. `headers` has what the headers say of a field or an enumerator: its meaning, its
range. The facts below are the kernels, names and limits that the library knows, so that Python does
not repeat them.
"""

from collections.abc import Callable, Iterator
from functools import cache
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


MAPPING_KERNELS: Final = _known(lib.sws_mapping_knows)
"""Kernels whose locks and tree walks ``mapping.h`` models."""

SLOTS_KERNELS: Final = _known(lib.sws_slots_knows)
"""Kernels whose allocator ``slots.h`` and ``machine.h`` model."""

SLOT_REPLAY_KERNELS: Final = _known(lib.sws_slot_replay_knows)
"""Kernels whose slots can be verified; rows of older ones do not show the first cluster."""

POLICIES: Final = _names(lib.sws_base_policy_name)
"""The built-in policies for the scan base: ``enum sws_base_policy``."""

SLOT_REPLAY_POLICIES: Final = tuple(
    name for number, name in enumerate(POLICIES) if lib.sws_slot_replay_follows(number)
)
"""Policies whose bases the rows of a slot trace show."""

BASE_OF: Final = _names(lib.sws_base_of_name)
"""What a base belongs to: ``enum sws_base_of``."""

INITIAL: Final = _names(lib.sws_base_initial_name)
"""The bases before the first call: ``enum sws_base_initial``."""

SLOT_OPS: Final = _names(lib.sws_slot_replay_op_name)
"""What happened to swap slots: ``enum sws_slot_replay_op``."""

SLOT_FAULTS: Final = _names(lib.sws_slot_replay_fault_name)
"""Where a call first differs from the model's: ``enum sws_slot_replay_fault``."""

CLUSTER_RULES: Final = _names(lib.sws_cluster_rule_set_name)
"""The rule sets of cluster allocators, in order of age: ``enum sws_cluster_rule_set``."""

CLUSTER_SWITCHES: Final = tuple(name for name, _ in ffi.typeof("struct sws_cluster_rules").fields)
"""The rules in which they differ: ``struct sws_cluster_rules``."""

CLUSTER_NUMBERS: Final = tuple(
    name
    for name, field in ffi.typeof("struct sws_cluster_rules").fields
    if field.type.cname != "_Bool"
)
"""Those of them that are numbers and not yes or no."""

FRAG_TRIES_MAX: Final[int] = lib.SWS_CLUSTERS_FRAG_TRIES_MAX
"""Most frag clusters that a search may try, unless it tries all."""

CLUSTER_CHOICES: Final = _names(lib.sws_cluster_choice_name)
"""What a user's function chooses as the next step of a search: ``enum sws_cluster_choice``."""

CLUSTER_OPS: Final = _names(lib.sws_cluster_op_name)[: lib.SWS_CLUSTER_BUSY]
"""What a cluster allocator does, without what no row says: ``enum sws_cluster_op``."""

CLUSTER_LISTS: Final = _names(lib.sws_cluster_list_name)
"""The lists of a device's clusters: ``enum sws_cluster_list``, nonfull and frag by order."""

CLUSTER_FAULTS: Final = _names(lib.sws_cluster_replay_fault_name)
"""How an event first differs from the model's: ``enum sws_cluster_replay_fault``."""

GENERATION_RULES: Final = _names(lib.sws_generation_set_name)
"""The rule sets of generations: ``enum sws_generation_set``."""

GENERATION_TYPES: Final = _names(lib.sws_generation_type_name)
"""Types of pages, the last one `neither`: ``enum sws_generation_type``."""

GENERATION_TERMS: Final = _names(lib.sws_generation_term_name)
"""What decides a type: ``enum sws_generation_term``."""

GENERATION_EQUALS: Final = _words("enum sws_generation_equal", "SWS_GENERATION_")
"""Results of a comparison: ``enum sws_generation_equal``."""

GENERATION_SWITCHES: Final = {
    name: field.type.cname == "_Bool"
    for name, field in ffi.typeof("struct sws_generation_rules").fields
}
"""The switches of ``struct sws_generation_rules``, and whether each is yes or no; else a number."""

GENERATION_TIERS: Final[int] = lib.SWS_GENERATION_TIERS
"""Tiers of a generation."""

GENERATIONS_MAX: Final[int] = lib.SWS_GENERATIONS_MAX
"""Most generations."""

FOLIO_STEPS: Final = _names(lib.sws_cluster_folios_step_name)
"""What a process does with its pages, of ``cluster_folios.h``, by number."""

CLUSTER_ORDERS: Final[int] = lib.SWS_CLUSTERS_ORDERS
"""Orders of folios that swap: from single pages to a huge page."""

CLUSTER_CPUS_MAX: Final[int] = lib.SWS_CLUSTERS_CPUS_MAX
"""Most CPUs of a cluster allocator."""

MAPPING_SITES: Final = _words("enum sws_mapping_replay_site", "SWS_MAPPING_REPLAY_SITE_")
"""Code paths that may take a mapping's lock: ``enum sws_mapping_replay_site``."""

LOCK_KINDS: Final = _words("enum sws_lock_kind", "SWS_LOCK_")
"""How the waiters of a lock are served: ``enum sws_lock_kind``."""

REMOVAL_MODES: Final = _words("enum sws_removal_mode", "SWS_REMOVAL_")
"""How pages of reclaim's lists are removed: ``enum sws_removal_mode``."""

REMOVAL_LIST_MAX: Final[int] = lib.SWS_REMOVAL_LIST_MAX
"""Most pages of one of these lists."""

REMOVAL_REFERENCES: Final[int] = lib.SWS_REMOVAL_REFERENCES
"""References of a page that can be removed."""

STALL_RULES: Final = _names(lib.sws_stall_set_name)
"""The rule sets of reclaim's stall decisions, in order of age: ``enum sws_stall_set``."""

STALL_SLEEPS: Final = _names(lib.sws_stall_sleep_name)
"""The throttles of reclaim: ``enum sws_stall_sleep``."""

STALL_STEPS: Final = _names(lib.sws_stall_step_name)
"""Steps at which a page leaves shrink_folio_list: ``enum sws_stall_step``."""

STALL_BRANCHES: Final = _words("enum sws_stall_branch", "SWS_STALL_BRANCH_")
"""Outcomes of a page by the rules: ``enum sws_stall_branch``."""

STALL_CLEARS: Final = _words("enum sws_stall_clear", "SWS_STALL_CLEAR_")
"""What clears flags: ``enum sws_stall_clear``."""

STALL_COUNTERS: Final = tuple(
    name for name, _ in ffi.typeof("struct sws_stall_counts").fields if not name.endswith("taken")
)
"""What the rules count of the pages of a list: ``struct sws_stall_counts``."""

STALL_FLAGS: Final = {
    "tail_lru_dirty": lib.SWS_STALL_TAIL_DIRTY,
    "writeback": lib.SWS_STALL_WRITEBACK,
    "congested": lib.SWS_STALL_CONGESTED,
}
"""Flags of a zone or a node, and their bits: ``enum sws_stall_flag``."""

STALL_FLAGS_ALL: Final[int] = lib.SWS_STALL_FLAGS
"""The sum of all of them."""

STALL_PRIORITY_MAX: Final[int] = lib.SWS_STALL_PRIORITY_MAX
"""The priority at which reclaim begins; 0 is the last."""

STALL_LIST_MAX: Final[int] = lib.SWS_STALL_LIST_MAX
"""Most rows of one of reclaim's lists, and most base pages that it may have isolated."""

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


def _defaults(name: str, write: Callable[[Any], None]) -> dict[str, int]:
    """Return the numbers that ``sws_NAME_config_init`` writes."""
    made = ffi.new(f"struct sws_{name}_config *")
    write(made)
    fields = ffi.typeof(made).item.fields
    kinds = ("primitive", "enum")
    return {field: getattr(made, field) for field, part in fields if part.type.kind in kinds}


RECLAIM_DEFAULTS: Final = _defaults("reclaim", lib.sws_reclaim_config_init)
SLOTS_DEFAULTS: Final = _defaults("slots", lib.sws_slots_config_init)
METER_DEFAULTS: Final = _defaults("workbench", lib.sws_workbench_config_init)
MACHINE_DEFAULTS: Final = _defaults("machine", lib.sws_machine_config_init)
"""What the configs of the library have unless a caller gives another value."""

ACTORS: Final = _words("enum sws_actor_kind", "SWS_ACTOR_")
"""What runs on a CPU of the contention machine: ``enum sws_actor_kind``."""

LOCK_CLASSES: Final = _names(lib.sws_lock_class_name)
"""Classes of the contention machine's locks: ``enum sws_lock_class``."""

MACHINE_SITES: Final = tuple(
    ffi.string(lib.sws_machine_site_name(site)).decode() for site in range(lib.SWS_SITES)
)
"""Places where a lock is taken, as ``lock.function.caller``."""

SPANS: Final = _words("enum sws_span_kind", "SWS_SPAN_")
"""What a CPU of that machine does in a span of its log: ``enum sws_span_kind``."""

COST_NAMES: Final = tuple(name for name, _ in ffi.typeof("struct sws_machine_costs").fields)
"""The constants of the contention machine, which ``struct sws_machine_costs`` explains."""

# Limits, as their headers explain them.
MAPPING_SLOTS_MAX: Final[int] = lib.SWS_MAPPING_SLOTS_MAX
SLOTS_MAX: Final[int] = lib.SWS_SLOTS_MAX
CPUS_MAX: Final[int] = lib.SWS_SLOTS_CPUS_MAX
ADDRESS_SPACES_MAX: Final[int] = lib.SWS_SLOTS_SPACES_MAX
TRUNK_SHIFT_MAX: Final[int] = lib.SWS_SLOTS_TRUNK_SHIFT_MAX
OVERLAP_CALLS_MAX: Final[int] = lib.SWS_WORKBENCH_CALLS_MAX
MACHINE_TASKS_MAX: Final[int] = lib.SWS_MACHINE_TASKS_MAX
MACHINE_CHANNELS_MAX: Final[int] = lib.SWS_MACHINE_CHANNELS_MAX
MACHINE_PAGES_MAX: Final[int] = lib.SWS_MACHINE_PAGES_MAX
MACHINE_SLOTS_MAX: Final[int] = lib.SWS_MACHINE_SLOTS_MAX
MACHINE_TRUNKS_MAX: Final[int] = lib.SWS_MACHINE_TRUNKS_MAX
MACHINE_REQUESTS_MAX: Final[int] = lib.SWS_MACHINE_REQUESTS_MAX
COST_MAX: Final[int] = lib.SWS_MACHINE_COST_MAX

LIST_PAGES: Final[int] = lib.SWS_MACHINE_LIST_PAGES
"""Pages that the kernel's reclaim takes from a list at a time."""

FRAMES_KEPT: Final[int] = lib.SWS_MACHINE_FRAMES_KEPT
"""Free pages that a CPU of the contention machine may take from its node in advance."""

SLOTS_KEPT: Final[int] = lib.SWS_MACHINE_SLOTS_KEPT
"""Slots that a CPU of the contention machine may hold in its caches and in a batch."""


def watermark_high(frames: int) -> int:
    """Return how many of a node's pages kswapd leaves free."""
    return int(lib.sws_machine_watermark_high(frames))


@cache
def code_digests() -> dict[str, str]:
    """Return the digest of the code behind each name of the API, as it was compiled in."""
    lines = ffi.string(lib.sws_code_digests).decode().splitlines()
    return dict(line.split() for line in lines)
