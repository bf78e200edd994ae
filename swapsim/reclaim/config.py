# SPDX-License-Identifier: GPL-2.0-or-later
"""The configuration of the reclaim simulator."""

from dataclasses import dataclass
from typing import Final

from swapsim import ffi
from swapsim.checks import check_choice, check_number, checked
from swapsim.errors import ConfigError

_DEFAULTS: Final = ffi.RECLAIM_DEFAULTS


@checked
@dataclass(frozen=True, slots=True, kw_only=True)
class ReclaimConfig:
    """A simulation of ``reclaim.h``; sizes are pages of 4 KB.

    Ranges and defaults are those of the library (`ffi.RECLAIM_RANGES`, `ffi.RECLAIM_DEFAULTS`).

    Parameters
    ----------
    rules : str
        The rules of stalls and of kswapd's loops, one of RECLAIM_RULES; any other of STALL_RULES
        keeps its lists per node and needs ``normal_pages=0``.
    dma32_pages, normal_pages : int
        Pages of the two zones; without Normal there is one zone.
    program_pages, working_pages : int
        Pages of programs and libraries that other tasks run, in two parts.
    program_interval_ns, working_interval_ns : int
        Time in which each page of a part is touched once; 0: each look of reclaim finds it touched.
    executable_percent : int
        Share of the pages of programs that is mapped with VM_EXEC.
    read_around_pages : int
        Pages of a program that are touched together, and that a fault on them reads.
    cached_pages : int
        Clean pages of other files that are in memory at the start, as far as there is space.
    cached_normal_percent : int
        Share of the cached pages in Normal.
    min_free_pages : int
        min_free_kbytes in pages, over both zones; at most a fourth of memory.
    reserve_ratio : int
        DMA32 reserves 1 / reserve_ratio of Normal's pages against users of Normal.
    swappiness : int
        0 to 100.
    swap_pages : int
        Slots of the swap area, with its header; 0: no swap area.
    readahead_shift : int
        page_cluster: 2**n slots are read together.
    dirty_percent, background_percent : int
        Shares of the dirtyable pages at which writers are throttled, and the flusher begins.
    flush_interval_ns, flush_age_ns : int
        Interval at which the flusher looks for old pages, and the age of an old page.
    disk_pages : int
        The file's part of the disk.
    disk_rate : int
        Pages per second.
    seek_near_ns, seek_far_ns : int
        Time of a seek to the next position, and across the complete disk.
    sync_turn_ns, async_turn_ns : int
        How long the disk serves reads and the writes of fdatasync, and how long other writes,
        while others wait.
    nr_requests, request_pages : int
        Requests of the disk's queue in each direction, and the most pages of a request.
    simplified_reclaim : bool
        Whether reclaim is simplified as it was until November 2026 (``reclaim.h``, part 3).
    delays_allocation : bool
        Whether the file system allocates a page's block when the flusher writes it, as ext4 does;
        then a page that reclaim tries to write is dirtied again.
    nfs : bool
        Whether the file is on an NFS server; the disk then has the swap area only.
    net_rate, server_rate : int
        Pages per second over the network, and from the server's memory to its disk.
    server_seek_ns : int
        Latency of the server's disk for a commit, or for a page that reclaim writes.
    write_pages : int
        wsize: the most pages of a write call.
    items, item_pages : int
        The client's pool.
    set_percent : int
        Share of the client's operations that write.
    gap_ns : int
        Time from the start of a round to the start of its filling.
    start_used_pages, start_look_ns : int
        The writer waits until so many pages are in use, and looks for them at this interval; 0: it
        waits for the start of the serving.
    write_delay_ns : int
        Time from the end of that wait to the start of the writer.
    serve_ns : int
        Time that the client serves in each round.
    files : tuple of int
        Pages of each round's file; 0: no file.
    shared_cpu : bool
        Whether the faults, the writer, the flusher and kswapd share one CPU, in the order of their
        requests; the client's operations need none.
    flush_chunk_pages : int
        Pages that the flusher takes as one bio, which become clean together; 0: one request.
    write_requests : int
        Requests of writes, other than those of fdatasync, from which submitters wait; 0:
        ``nr_requests``.
    dirty_limit_pages, background_limit_pages : int
        The dirty limits in pages; 0: by the percentages.
    assumed_rate : int
        Pages per second of the disk as the writer's throttle assumes them; 0: as measured.
    surroundings_6_1 : bool
        Whether a written page is not marked as referenced, reclaim does not wait for writeback
        above the dirty limit, and readahead from swap follows its hits, as in 6.1.
    refault_distance : bool
        Whether anonymous pages age as in 6.1: new ones begin inactive, two references activate
        one, and one that is read back is active after a short refault distance; needs
        ``normal_pages=0``.
    hz : int
        Timer ticks per second.
    seed : int
        Of all random draws.

    Raises
    ------
    ConfigError
        Naming the field and its value.
    """

    rules: str = ffi.STALL_RULES[_DEFAULTS["rules"]]
    dma32_pages: int = _DEFAULTS["dma32_pages"]
    normal_pages: int = _DEFAULTS["normal_pages"]
    program_pages: int = _DEFAULTS["program_pages"]
    program_interval_ns: int = _DEFAULTS["program_interval_ns"]
    working_pages: int = _DEFAULTS["working_pages"]
    working_interval_ns: int = _DEFAULTS["working_interval_ns"]
    executable_percent: int = _DEFAULTS["executable_percent"]
    read_around_pages: int = _DEFAULTS["read_around_pages"]
    cached_pages: int = _DEFAULTS["cached_pages"]
    cached_normal_percent: int = _DEFAULTS["cached_normal_percent"]
    min_free_pages: int = _DEFAULTS["min_free_pages"]
    reserve_ratio: int = _DEFAULTS["reserve_ratio"]
    swappiness: int = _DEFAULTS["swappiness"]
    swap_pages: int = _DEFAULTS["swap_pages"]
    readahead_shift: int = _DEFAULTS["readahead_shift"]
    dirty_percent: int = _DEFAULTS["dirty_percent"]
    background_percent: int = _DEFAULTS["background_percent"]
    flush_interval_ns: int = _DEFAULTS["flush_interval_ns"]
    flush_age_ns: int = _DEFAULTS["flush_age_ns"]
    disk_pages: int = _DEFAULTS["disk_pages"]
    disk_rate: int = _DEFAULTS["disk_rate"]
    seek_near_ns: int = _DEFAULTS["seek_near_ns"]
    seek_far_ns: int = _DEFAULTS["seek_far_ns"]
    sync_turn_ns: int = _DEFAULTS["sync_turn_ns"]
    async_turn_ns: int = _DEFAULTS["async_turn_ns"]
    nr_requests: int = _DEFAULTS["nr_requests"]
    request_pages: int = _DEFAULTS["request_pages"]
    simplified_reclaim: bool = bool(_DEFAULTS["simplified_reclaim"])
    delays_allocation: bool = bool(_DEFAULTS["delays_allocation"])
    nfs: bool = bool(_DEFAULTS["nfs"])
    net_rate: int = _DEFAULTS["net_rate"]
    server_rate: int = _DEFAULTS["server_rate"]
    server_seek_ns: int = _DEFAULTS["server_seek_ns"]
    write_pages: int = _DEFAULTS["write_pages"]
    items: int = _DEFAULTS["items"]
    item_pages: int = _DEFAULTS["item_pages"]
    set_percent: int = _DEFAULTS["set_percent"]
    gap_ns: int = _DEFAULTS["gap_ns"]
    start_used_pages: int = _DEFAULTS["start_used_pages"]
    start_look_ns: int = _DEFAULTS["start_look_ns"]
    write_delay_ns: int = _DEFAULTS["write_delay_ns"]
    serve_ns: int = _DEFAULTS["serve_ns"]
    files: tuple[int, ...] = (0,)
    shared_cpu: bool = bool(_DEFAULTS["shared_cpu"])
    flush_chunk_pages: int = _DEFAULTS["flush_chunk_pages"]
    write_requests: int = _DEFAULTS["write_requests"]
    dirty_limit_pages: int = _DEFAULTS["dirty_limit_pages"]
    background_limit_pages: int = _DEFAULTS["background_limit_pages"]
    assumed_rate: int = _DEFAULTS["assumed_rate"]
    surroundings_6_1: bool = bool(_DEFAULTS["surroundings_6_1"])
    refault_distance: bool = bool(_DEFAULTS["refault_distance"])
    hz: int = _DEFAULTS["hz"]
    seed: int = 1

    def __post_init__(self) -> None:
        """Check each field; the library checks how they fit together."""
        check_choice("rules", self.rules, ffi.STALL_RULES)
        if self.rules not in ffi.RECLAIM_RULES and self.normal_pages:
            raise ConfigError(
                f"rules={self.rules!r}: its lists are per node, and there are two zones; "
                f"give normal_pages=0, or one of {', '.join(ffi.RECLAIM_RULES)}"
            )
        if self.refault_distance and self.normal_pages:
            raise ConfigError(
                f"refault_distance=True: its lists are per node, and normal_pages is "
                f"{self.normal_pages}; give normal_pages=0"
            )
        for name, (low, high) in ffi.RECLAIM_RANGES.items():
            if name != "rounds":
                check_number(name, getattr(self, name), low, high)
        fewest, most = ffi.RECLAIM_RANGES["rounds"]
        if not isinstance(self.files, tuple) or not fewest <= len(self.files) <= most:
            raise ConfigError(f"files={self.files!r}: give a tuple of {fewest} to {most} sizes")
        for size in self.files:
            check_number("files", size, 0, self.disk_pages, ": a file is no larger than its disk")
        if self.dma32_pages + self.normal_pages < ffi.RECLAIM_PAGES_MIN:
            raise ConfigError(
                f"dma32_pages={self.dma32_pages} and normal_pages={self.normal_pages}: "
                f"choose {ffi.RECLAIM_PAGES_MIN} pages or more"
            )
