# SPDX-License-Identifier: GPL-2.0-or-later
"""The C library: the one way to bind it, and its facts.

The binding of a subject, its ``_native.py``, consists of calls like these (from ``mapping``)::

    made = config(lib.sws_mapping_config_init, settings, kernel=KERNELS.index(settings.kernel))
    replay = new(lib.sws_mapping_replay_new, made, free=lib.sws_mapping_replay_free)
    for part in frame.iter_slices(CHUNK_ROWS):
        rows = columns("struct sws_mapping_replay_rows", part)
        check(lib.sws_mapping_replay_feed(replay, rows, part.height, at_fault))
    cells, out = records("struct sws_mapping_replay_cell", count)
    check(lib.sws_mapping_replay_finish(replay, out))
    table = frame_of(cells)

The kernels, names, limits and ranges that the library knows come from it, so that Python does not
repeat them.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import count
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl

from swapsim._core import ffi, lib
from swapsim.errors import NativeError, NativeMemoryError, check_number
from swapsim.progress import check_interrupted

_KEPT: Final = WeakKeyDictionary[Any, Any]()  # struct -> the memory that it points to


def check(code: int) -> None:
    """Raise the exception of an error code, or a KeyboardInterrupt that Python dropped."""
    check_interrupted()
    if code == lib.SWS_OK:
        return
    kind = NativeMemoryError if code == lib.SWS_ERROR_NO_MEMORY else NativeError
    raise kind(ffi.string(lib.sws_strerror(code)).decode())


def new(make: Any, *given: Any, free: Any) -> Any:
    """Return the handle that a function ``sws_X_new`` creates; it frees itself."""
    out = ffi.new(ffi.typeof(make).args[-1])
    check(make(*given, out))
    return ffi.gc(out[0], free)


def config(init: Any, settings: object, **others: Any) -> Any:
    """Return the config of ``sws_X_config_init`` with a dataclass's values, or with `others`."""
    made = ffi.new(ffi.typeof(init).args[0])
    init(made)
    for name, field in ffi.typeof(made).item.fields:
        plain = field.type.kind in ("primitive", "enum")
        value = others[name] if name in others else getattr(settings, name, None) if plain else None
        if value is not None:
            setattr(made, name, value)
    return keep(made, settings, others)


def columns(struct: str, frame: pl.DataFrame) -> Any:
    """Return a frame's columns as a struct of pointers to arrays; words are their numbers."""
    made = ffi.new(f"{struct} *")
    arrays = []
    for name, field in ffi.typeof(struct).fields:
        column = frame[name].to_physical().to_numpy()
        array = np.ascontiguousarray(column.astype(_type(field.type.item), casting="safe"))
        arrays.append(ffi.from_buffer(f"{field.type.item.cname}[]", array))
        setattr(made, name, arrays[-1])
    return keep(made, arrays)


def pointers(struct: str, arrays: Mapping[str, Any]) -> Any:
    """Return a struct of pointers to arrays or columns, or arrays of these, which it keeps."""
    made, fields, kept = ffi.new(f"{struct} *"), dict(ffi.typeof(struct).fields), [arrays]
    for name, given in arrays.items():
        field = fields[name].type
        if field.kind == "struct":
            setattr(made, name, given[0])
            continue
        several = field.kind == "array"
        item = (field.item if several else field).item
        held = [_buffer(item, values) for values in (given if several else [given])]
        setattr(made, name, held if several else held[0])
        kept += held
    return keep(made, kept)


def _buffer(item: Any, values: Any) -> Any:
    """Return an array as the library takes it: itself, if it has this type and is contiguous."""
    array = values.to_physical().to_numpy() if isinstance(values, pl.Series) else values
    if item.kind == "primitive":
        array = array.astype(_type(item), casting="safe", copy=False)
    return ffi.from_buffer(f"{item.cname}[]", np.ascontiguousarray(array))


def chunks(ends: np.ndarray[Any, Any], rows: int) -> Iterator[tuple[slice, slice]]:
    """Yield runs of complete lists of about so many rows, and their rows; lists by their ends."""
    first, begin = 0, 0
    while first < len(ends):
        last = max(int(np.searchsorted(ends, begin + rows, side="right")), first + 1)
        end = int(ends[last - 1])
        yield slice(first, last), slice(begin, end)
        first, begin = last, end


def records(struct: str, size: int) -> tuple[np.ndarray[Any, Any], Any]:
    """Return an array of structs of zeros, and the pointer by which the library fills it."""
    array = np.zeros(size, dtype=dtype_of(struct))
    return array, ffi.from_buffer(f"{struct}[]", array)


def frame_of(array: np.ndarray[Any, Any]) -> pl.DataFrame:
    """Return an array of structs as a frame; the fields of a struct in them are columns, too."""
    return pl.DataFrame(dict(_leaves(array)))


def _leaves(array: np.ndarray[Any, Any]) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    for name in array.dtype.names or ():
        if array[name].dtype.names:
            yield from _leaves(array[name])
        else:
            yield name, np.ascontiguousarray(array[name])


def values(struct: Any) -> dict[str, Any]:
    """Return the numbers of a struct by the names of their fields, arrays as lists."""
    kinds = {name: each.type.kind for name, each in ffi.typeof(struct).fields}
    return {
        name: [*map(int, getattr(struct, name))] if kind == "array" else int(getattr(struct, name))
        for name, kind in kinds.items()
        if kind != "struct"
    }


def keep(struct: Any, *memory: Any) -> Any:
    """Return the struct, which keeps alive what it points to."""
    _KEPT[struct] = memory
    return struct


def dtype_of(struct: str) -> np.dtype[np.void]:
    """Return the numpy type of a struct of numbers and of structs, with its fields' offsets."""
    fields: list[tuple[str, Any]] = ffi.typeof(struct).fields
    return np.dtype(
        {
            "names": [name for name, _ in fields],
            "formats": [_type(field.type) for _, field in fields],
            "offsets": [field.offset for _, field in fields],
            "itemsize": ffi.sizeof(struct),
        }
    )


def _type(field: Any) -> Any:
    if field.kind == "struct":
        return dtype_of(field.cname)
    return "bool" if field.cname == "_Bool" else field.cname.removesuffix("_t")


_END: Final = r"(?:SWS_\w+|\d+(?:\^\d+)?)"
_RANGE: Final = re.compile(rf"(?<![\w.])({_END}) \.\. ({_END})(?! [-+*/])")


@cache
def _comments() -> dict[str, str]:
    """Return what the headers say of each field of a config and of each enumerator."""
    lines = ffi.string(lib.sws_comments).decode().splitlines()
    return dict(line.split("\t", 1) for line in lines)


def problem(enum: str, number: int) -> str:
    """Return what an enumerator says of a problem, as a part of a sentence."""
    text = _comments()[ffi.typeof(enum).elements[number]]
    return text[0].lower() + text[1:].rstrip(".")


@cache
def _ranges(struct: str) -> dict[str, tuple[int, int]]:
    """Return the lowest and highest value of each number of a config that its header states."""
    found = {}
    for name, field in ffi.typeof(struct).fields:
        ends = _RANGE.search(_comments().get(f"{struct.removeprefix('struct ')}.{name}", ""))
        if ends and field.type.kind == "primitive":
            found[name] = _number(ends[1]), _number(ends[2])
    return found


def check_ranges(config: object, struct: str, **others: tuple[int, int]) -> None:
    """Require that each field of a config lies in its header's range, or in that of `others`."""
    for name, (low, high) in (_ranges(struct) | others).items():
        if hasattr(config, name):
            check_number(name, getattr(config, name), low, high)


def _number(text: str) -> int:
    if text.startswith("SWS_"):
        return int(getattr(lib, text))
    base, _, power = text.partition("^")
    return int(pow(int(base), int(power or 1)))


def _names(name_of: Callable[[int], object]) -> tuple[str, ...]:
    """Return the names that a function gives to 0, 1, 2 ..., with NULL after the last one."""
    found = iter(map(name_of, count()).__next__, ffi.NULL)
    return tuple(ffi.string(name).decode() for name in found)


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

# cluster_next: its policies, those whose bases a slot trace shows, what it belongs to, its start.
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
CLUSTER_SIZE_MAX: Final[int] = lib.SWS_CLUSTERS_SIZE_MAX  # slots of a cluster
CLUSTER_SLOTS_MAX: Final[int] = lib.SWS_CLUSTERS_SLOTS_MAX

# Generations; a switch of the rules is yes or no (True), or a number.
MGLRU_RULES: Final = _names(lib.sws_mglru_set_name)
MGLRU_TYPES: Final = _names(lib.sws_mglru_type_name)  # the last one is neither
MGLRU_TERMS: Final = _names(lib.sws_mglru_term_name)
MGLRU_EQUALS: Final = _words("enum sws_mglru_equal", "SWS_MGLRU_")
MGLRU_SWITCHES: Final = {
    name: field.type.cname == "_Bool"
    for name, field in ffi.typeof("struct sws_mglru_rules").fields
    if field.type.kind == "primitive"
}
MGLRU_TIERS: Final[int] = lib.SWS_MGLRU_TIERS
MGLRU_SWAPPINESS_MAX: Final[int] = lib.SWS_MGLRU_SWAPPINESS_MAX
GENERATIONS_MAX: Final[int] = lib.SWS_MGLRU_GENS_MAX

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


RECLAIM_RANGES: Final = {  # of integer fields: lowest and highest value
    ffi.string(found.field).decode(): (found.low, found.high)
    for found in iter(map(lib.sws_reclaim_range_of, count()).__next__, ffi.NULL)
}


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
