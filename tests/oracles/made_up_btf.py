# SPDX-License-Identifier: GPL-2.0-or-later
"""Types of a made-up kernel, written as include/uapi/linux/btf.h lays them out."""

import struct

INT, POINTER, STRUCT, UNION, TYPEDEF, FUNCTION, PROTOTYPE = 1, 2, 4, 5, 8, 12, 13


class Types:
    """Adds types one by one; each verb returns the number of the type that it added."""

    def __init__(self) -> None:
        self._types = b""
        self._strings = b"\0"
        self._count = 0

    def _string(self, text: str) -> int:
        if not text:
            return 0
        at = len(self._strings)
        self._strings += text.encode() + b"\0"
        return at

    def _add(self, kind: int, name: str, entries: int, size_or_type: int, tail: bytes = b"") -> int:
        info = kind << 24 | entries
        self._types += struct.pack("<III", self._string(name), info, size_or_type) + tail
        self._count += 1
        return self._count

    def integer(self, name: str) -> int:
        """Add one of eight bytes."""
        return self._add(INT, name, 0, 8, struct.pack("<I", 64))

    def pointer(self, to: int) -> int:
        """Add a pointer to a type."""
        return self._add(POINTER, "", 0, to)

    def typedef(self, name: str, of: int = 0) -> int:
        """Add a further name of a type."""
        return self._add(TYPEDEF, name, 0, of)

    def structure(self, name: str, members: list[tuple[str, int, int]], kind: int = STRUCT) -> int:
        """Add one of members ``(name, type, byte)`` of 8 bytes; an empty name is none."""
        tail = b"".join(
            struct.pack("<III", self._string(member), of, byte * 8) for member, of, byte in members
        )
        size = max((byte + 8 for *_, byte in members), default=0)
        return self._add(kind, name, len(members), size, tail)

    def function(self, name: str, parameters: list[tuple[str, int]]) -> int:
        """Add one that takes parameters ``(name, type)``."""
        tail = b"".join(struct.pack("<II", self._string(one), of) for one, of in parameters)
        prototype = self._add(PROTOTYPE, "", len(parameters), 0, tail)
        return self._add(FUNCTION, name, 0, prototype)

    def written(self) -> bytes:
        """Return them as a kernel's /sys/kernel/btf/vmlinux would."""
        sizes = (0, len(self._types), len(self._types), len(self._strings))
        return struct.pack("<HBBIIIII", 0xEB9F, 1, 0, 24, *sizes) + self._types + self._strings


def kernel(*, without: tuple[str, ...] = (), index_at: int = 32) -> bytes:
    """Return the types that the probes of events.toml read, as 6.1 has them.

    Parameters
    ----------
    without : tuple of str
        Functions that this kernel does not have.
    index_at : int
        Where a folio has its index.
    """
    types = Types()
    number = types.integer("unsigned long")
    page = types.structure(
        "", [("mapping", number, 16), ("index", number, index_at - 8), ("private", number, 32)]
    )
    either = types.structure("", [("", page, 0)], UNION)
    folio = types.pointer(types.structure("folio", [("flags", number, 0), ("", either, 8)]))
    mapping = types.pointer(types.structure("address_space", []))
    entry = types.typedef("swp_entry_t", number)
    functions = {
        "add_to_swap_cache": [("folio", folio), ("entry", entry), ("gfp", number)],
        "__delete_from_swap_cache": [("folio", folio), ("entry", entry), ("shadow", number)],
        "free_swap_slot": [("entry", entry)],
        "swapcache_free_entries": [("entries", number), ("n", number)],
        "folio_migrate_mapping": [("mapping", mapping), ("newfolio", folio), ("folio", folio)],
        "__folio_start_writeback": [("folio", folio), ("keep_write", number)],
        "__folio_end_writeback": [("folio", folio)],
    }
    for name, parameters in functions.items():
        if name not in without:
            types.function(name, parameters)
    for event in (
        "mm_filemap_add_to_page_cache",
        "mm_filemap_delete_from_page_cache",
        "writeback_dirty_folio",
        "mm_vmscan_lru_isolate",
        "mm_vmscan_lru_shrink_inactive",
        "mm_vmscan_throttled",
    ):
        types.typedef(f"btf_trace_{event}")
    return types.written()


DEVICE = (
    *("type", "max", "pages", "inuse_pages", "flags", "prio", "avail_lists", "cluster_info"),
    *("free_clusters", "full_clusters", "nonfull_clusters", "frag_clusters", "discard_clusters"),
)
"""Members of a swap device that probes in a cluster allocator read."""

ALLOCATORS = {
    "6.12": {
        **dict.fromkeys(("_enable_swap_info", "swap_do_scheduled_discard"), ("si",)),
        "get_swap_pages": ("n_goal", "swp_entries", "entry_order"),
        "folio_alloc_swap": ("folio",),
        "alloc_swap_scan_cluster": ("si", "offset", "foundp", "order"),
        "swap_reclaim_full_clusters": ("si", "force"),
        "__try_to_reclaim_swap": ("si", "offset", "flags"),
        "swap_range_alloc": ("si", "offset", "nr_entries"),
        "swap_entry_range_free": ("si", "entry", "nr_pages"),
        "free_swap_slot": ("entry",),
        "swapcache_free_entries": ("entries", "n"),
        "blkdev_issue_discard": ("bdev", "sector", "nr_sects"),
    },
    "7.3": {
        "swap_do_scheduled_discard": ("si",),
        "folio_alloc_swap": ("folio",),
        "alloc_swap_scan_cluster": ("si", "ci", "folio", "offset"),
        "swap_reclaim_full_clusters": ("si", "force"),
        "__try_to_reclaim_swap": ("si", "offset", "flags"),
        "__swap_cache_add_folio": ("ci", "folio", "entry"),
        "__swap_cluster_free_entries": ("si", "ci", "ci_start", "nr_pages"),
        "move_cluster": ("si", "ci", "list", "new_flags"),
        "isolate_lock_cluster": ("si", "list"),
        "swap_show": ("swap", "v"),
        "blkdev_issue_discard": ("bdev", "sector", "nr_sects"),
    },
}
"""The functions of a cluster allocator that probes are set on, and their parameters."""


def allocator(rules: str, *, without: tuple[str, ...] = ()) -> bytes:
    """Return the types that the probes of a cluster allocator read: members 8 bytes apart."""
    types = Types()
    number = types.integer("unsigned long")

    def structure(name: str, *members: str) -> int:
        placed = [(member, number, 8 * at) for at, member in enumerate(members)]
        return types.pointer(types.structure(name, placed))

    pointers = {
        "si": structure("swap_info_struct", *DEVICE),
        "ci": structure("swap_cluster_info", "flags", "order"),
        "folio": structure("folio", "flags", "_flags_1"),
        "v": types.pointer(0),
    }
    for name, parameters in ALLOCATORS[rules].items():
        if name not in without:
            types.function(name, [(each, pointers.get(each, number)) for each in parameters])
    return types.written()


RECLAIM = {
    "shrink_node": ("pglist_data", "scan_control"),
    "handle_reclaim_writeback": ("", "pglist_data", "scan_control", "reclaim_stat"),
    "vmpressure": ("", "", "mem_cgroup", ""),
    "do_try_to_free_pages": ("", "scan_control"),
    "reclaim_throttle": ("pglist_data", ""),
    "wakeup_flusher_threads": ("",),
    "prepare_kswapd_sleep": ("pglist_data", "", ""),
}
"""The functions of 7.3's reclaim that probes are set on, and the structures of their parameters."""


def reclaim() -> bytes:
    """Return the types that the probes of 7.3's stalls read: members 8 bytes apart."""
    types = Types()
    number = types.integer("unsigned long")

    def structure(name: str, *members: str | tuple[str, int]) -> int:
        placed = [(m, number) if isinstance(m, str) else m for m in members]
        return types.structure(name, [(*member, 8 * at) for at, member in enumerate(placed)])

    structure("cgroup", "root")
    structure("cgroup_root", "hierarchy_id")
    structure("mem_cgroup_per_node", ("lruvec", structure("lruvec", "pgdat", "flags")))
    css = structure("cgroup_subsys_state", "cgroup")
    pointers = {
        "": number,
        "scan_control": structure("scan_control", "target_mem_cgroup", "priority", "nr"),
        "pglist_data": structure("pglist_data", "flags", "node_id", "kswapd_failures"),
        "reclaim_stat": structure("reclaim_stat", "nr_dirty"),
        "mem_cgroup": structure("mem_cgroup", ("css", css), "nodeinfo"),
    }
    pointers = {name: types.pointer(at) if name else at for name, at in pointers.items()}
    for name, parameters in RECLAIM.items():
        types.function(name, [(f"p{at}", pointers[of]) for at, of in enumerate(parameters)])
    types.typedef("btf_trace_mm_vmscan_throttled")
    return types.written()
