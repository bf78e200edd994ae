# SPDX-License-Identifier: GPL-2.0-or-later
"""The world in which reclaim decides: its memory, its disk, its tasks, and by whose rules."""

from dataclasses import dataclass, fields

from swapsim.checks import check_choice, check_flags, check_number
from swapsim.errors import ConfigError
from swapsim.ffi import facts


@dataclass(frozen=True, slots=True, kw_only=True)
class ReclaimConfig:
    """A world of ``reclaim.h``; sizes are pages of 4 KB.

    Parameters
    ----------
    rules : str
        One of RECLAIM_RULES: whose stalls, and whose loops of kswapd. Also ``6.1``, whose lists are
        a node's, in a world of one zone.
    dma32_pages, normal_pages : int
        What the zones give out; normal_pages may be 0.
    program_pages : int
        Pages of programs that other tasks run, in use whenever reclaim looks.
    cached_pages : int
        Clean pages of other files that are in memory at the start, as far as there is room.
    min_free_pages : int
        min_free_kbytes in pages, of both zones; a fourth of memory at most.
    reserve_ratio : int
        DMA32 keeps this part of Normal's pages from who may use both.
    swappiness : int
        0 to 100.
    swap_pages : int
        Slots of the swap area, its header included; 0: none.
    readahead_shift : int
        page_cluster, 0 to 5: 2**n slots are read together.
    dirty_percent, background_percent : int
        Of the pages that can be dirty: where writers are stopped, and where the flusher begins.
    flush_interval_ns, flush_age_ns : int
        How often the flusher looks for old pages, and what is old.
    disk_pages : int
        The file's part of the disk.
    disk_rate : int
        Pages a second.
    seek_near_ns, seek_far_ns : int
        Of a way on the disk to the next place, and across all of it.
    sync_turn_ns, async_turn_ns : int
        How long the disk serves reads, or what fdatasync writes, and how long other writes, while
        others wait.
    nr_requests, request_pages : int
        Of the disk's queue, in each direction, and pages of a request at most.
    delays_allocation : bool
        Whether the file system gives a page its block when the flusher writes it, as ext4 does:
        then what reclaim writes is dirtied again.
    nfs : bool
        Whether the file is on a server, over a net; the disk has the swap area alone then.
    net_rate, server_rate : int
        Pages a second over the net, and from the server's memory to its disk.
    server_seek_ns : int
        Of a commit, or a page that reclaim writes, before the server's disk has it.
    write_pages : int
        wsize: pages of a call at most.
    items, item_pages : int
        The client's pool.
    set_percent : int
        Of its operations those that write.
    write_delay_ns : int
        How long the pool is served before the writer begins.
    serve_ns : int
        How long it serves in each round.
    files : tuple of int
        The file of each round, in pages; 0: none.
    hz : int
        Timer ticks a second.
    seed : int
        Of all random draws, 0 to 2**64 - 1.

    Raises
    ------
    ConfigError
        Naming the field and its value.
    """

    rules: str = facts.RECLAIM_RULES[0]
    dma32_pages: int = 786432
    normal_pages: int = 1048576
    program_pages: int = 0
    cached_pages: int = 0
    min_free_pages: int = 16896
    reserve_ratio: int = 256
    swappiness: int = 60
    swap_pages: int = 2097152
    readahead_shift: int = 3
    dirty_percent: int = 20
    background_percent: int = 10
    flush_interval_ns: int = 5_000_000_000
    flush_age_ns: int = 30_000_000_000
    disk_pages: int = 16777216
    disk_rate: int = 30720
    seek_near_ns: int = 4_000_000
    seek_far_ns: int = 16_000_000
    sync_turn_ns: int = 100_000_000
    async_turn_ns: int = 40_000_000
    nr_requests: int = 128
    request_pages: int = 128
    delays_allocation: bool = True
    nfs: bool = False
    net_rate: int = 29440
    server_rate: int = 15360
    server_seek_ns: int = 8_000_000
    write_pages: int = 256
    items: int = 298844
    item_pages: int = 5
    set_percent: int = 33
    write_delay_ns: int = 0
    serve_ns: int = 200_000_000_000
    files: tuple[int, ...] = (0,)
    hz: int = 1000
    seed: int = 1

    def __post_init__(self) -> None:
        """Check each field; the library looks at how they fit together."""
        check_choice("rules", self.rules, facts.STALL_RULES)
        if self.rules not in facts.RECLAIM_RULES and self.normal_pages:
            raise ConfigError(
                f"rules={self.rules!r}: its lists are the node's, and the world's are the zones'; "
                f"give it one zone, normal_pages=0, or one of {', '.join(facts.RECLAIM_RULES)}"
            )
        check_flags(self)
        for name, low, high in _RANGES:
            check_number(name, getattr(self, name), low, high)
        if not isinstance(self.files, tuple) or not 1 <= len(self.files) <= facts.WORLD_ROUNDS_MAX:
            raise ConfigError(
                f"files={self.files!r}: give a tuple of 1 to {facts.WORLD_ROUNDS_MAX} sizes"
            )
        for size in self.files:
            check_number("files", size, 0, self.disk_pages, ": a file is no larger than its disk")
        if self.dma32_pages + self.normal_pages < facts.WORLD_PAGES_MIN:
            raise ConfigError(
                f"dma32_pages={self.dma32_pages} and normal_pages={self.normal_pages}: "
                f"choose {facts.WORLD_PAGES_MIN} pages or more"
            )


_RANGES = (
    ("dma32_pages", 1, facts.WORLD_ZONE_MAX),
    ("normal_pages", 0, facts.WORLD_ZONE_MAX),
    ("program_pages", 0, facts.WORLD_KEPT_MAX),
    ("cached_pages", 0, facts.WORLD_KEPT_MAX),
    ("min_free_pages", 0, facts.WORLD_SPAN_MAX),
    ("reserve_ratio", 1, 2**31),
    ("swappiness", 0, 100),
    ("swap_pages", 0, facts.WORLD_SPAN_MAX),
    ("readahead_shift", 0, 5),
    ("dirty_percent", 1, 100),
    ("background_percent", 1, 100),
    ("flush_interval_ns", 1, 10**15),
    ("flush_age_ns", 1, 10**15),
    ("disk_pages", 1, facts.WORLD_SPAN_MAX),
    ("disk_rate", 1, 10**9),
    ("seek_near_ns", 0, 10**9),
    ("seek_far_ns", 0, 10**9),
    ("sync_turn_ns", 1, 10**15),
    ("async_turn_ns", 1, 10**15),
    ("nr_requests", 1, facts.WORLD_REQUESTS_MAX),
    ("request_pages", 1, 65536),
    ("net_rate", 1, 10**9),
    ("server_rate", 1, 10**9),
    ("server_seek_ns", 1, 10**9),
    ("write_pages", 1, 65536),
    ("items", 1, facts.WORLD_SPAN_MAX),
    ("item_pages", 1, 64),
    ("set_percent", 0, 100),
    ("write_delay_ns", 0, 10**15),
    ("serve_ns", 1, 10**15),
    ("hz", facts.WORLD_HZ_MIN, 10**6),
    ("seed", 0, 2**64 - 1),
)

WORLD_FIELDS = tuple(field.name for field in fields(ReclaimConfig) if field.name != "files")
"""Fields that the library's struct has by the same name, but ``rules``' number."""
