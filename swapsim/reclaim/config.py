# SPDX-License-Identifier: GPL-2.0-or-later
"""The configuration of the reclaim simulator."""

from dataclasses import dataclass
from typing import Final

from swapsim import ffi
from swapsim.errors import InputError, check_choice, check_number

_DEFAULTS: Final = ffi.RECLAIM_DEFAULTS


@dataclass(frozen=True, slots=True, kw_only=True)
class ReclaimConfig:
    """A simulation of ``reclaim.h``; sizes are pages of 4 KB.

    A value out of its range, or one that does not fit to the others, is a InputError that names
    the field.

    Parameters
    ----------
    rules : str, default "3.9"
        The rules of stalls and of kswapd's loops, one of RECLAIM_RULES; any other of STALL_RULES
        keeps its lists per node and needs ``normal_pages=0``.
    files : tuple of int, default (0,)
        Pages of each round's file; 0: no file.
    dma32_pages : int, default 786_432
        Pages of zone DMA32, 1 to ``2**26``; both zones together have at least 256 pages.
    normal_pages : int, default ``2**20``
        Pages of zone Normal, 0 to ``2**26``.
    program_pages : int, default 0
        Pages of programs and libraries that other tasks run, the first of two parts: clean
        and mapped. They are active, touched and resident at the start, in Normal first, as
        far as the zones have room above their low marks; 0 to ``2**21``.
    program_interval_ns : int, default 0
        The time in which each page of this part is touched once, at least 1 ms for each
        read_around_pages of them; at 0 each look of reclaim finds each page touched, so that
        no page is reclaimed.
    working_pages : int, default 0
        As program_pages, for the second part, whose pages follow those of the first one.
    working_interval_ns : int, default 80_000_000_000
        As program_interval_ns, for the second part.
    executable_percent : int, default 100
        Share of the pages of both parts that is mapped with VM_EXEC, 0 to 100.
    read_around_pages : int, default 32
        A part is touched in windows of so many pages, and a fault reads what is missing of a
        window, 1 to 64: 128 KB.
    cached_pages : int, default 0
        Clean pages of other files that are resident from the start, after those of the
        programs, and are never read again; 0 to ``2**21``.
    cached_normal_percent : int, default 100
        Share of the cached pages in Normal; the rest is in DMA32, and what has no room in the
        other zone; 0 to 100.
    min_free_pages : int, default 16_896
        min_free_kbytes of all zones, in pages: at most a fourth of memory.
    reserve_ratio : int, default 256
        The lower zone reserves 1 / reserve_ratio of the higher zone's pages against its
        users.
    swappiness : int, default 60
        The sysctl vm.swappiness, 0 to 100.
    swap_pages : int, default ``2**21``
        Slots of the swap area, 0 to ``2**28``; slot 0 is its header.
    readahead_shift : int, default 3
        The sysctl vm.page-cluster, 0 to 5: 2^n slots are read together.
    dirty_percent : int, default 20
        Writers stop at this share of the dirtyable pages, in percent, 1 to 100.
    background_percent : int, default 10
        The flusher starts at this share of the dirtyable pages, in percent, 1 to 100.
    flush_interval_ns : int, default 5_000_000_000
        Interval at which the flusher checks for old pages.
    flush_age_ns : int, default 30_000_000_000
        Age from which a dirty page counts as old.
    disk_pages : int, default ``2**24``
        Pages of the disk's part for files, 1 to ``2**28``.
    disk_rate : int, default 30_720
        Rate of the disk in pages per second, at least 1: 120 MB/s.
    seek_near_ns : int, default 4_000_000
        Time of a seek to the adjacent position.
    seek_far_ns : int, default 16_000_000
        Time of a seek across the complete disk.
    nr_requests : int, default 128
        Requests of the queue in each direction, 1 to 4096.
    request_pages : int, default 128
        Maximum number of pages of a request, 1 to 65536: 512 KB.
    delays_allocation : bool, default True
        True if the file system allocates a block when the flusher writes a page, as ext4.
    nfs : bool, default False
        True if the file is on an NFS server; of the disk's fields only disk_pages then
        applies to it.
    net_rate : int, default 29_440
        Rate of the network in pages per second.
    server_rate : int, default 15_360
        Rate of the server's disk in pages per second.
    server_seek_ns : int, default 8_000_000
        Latency of the server's disk for a commit, or for up to 8 stable writes of reclaim
        together.
    write_pages : int, default 256
        wsize in pages: the maximum of a write call, 1 to 65536: 1 MB.
    items : int, default 298_844
        Items of the client's pool, at least 1.
    item_pages : int, default 5
        Pages of an item, 1 to 64.
    set_percent : int, default 33
        Share of the client's operations that write, in percent, 0 to 100.
    gap_ns : int, default 0
        Time from the start of a round to the start of its filling.
    start_used_pages : int, default 0
        The writer of a round waits until so many pages of the zones are in use, from the
        start of the filling on; if that does not come true until the serving ends, the round
        has no file. 0 means that it waits for the start of the serving; at most the pages of
        memory.
    start_look_ns : int, default 2_000_000_000
        Interval at which it looks for them; at least 1.
    write_delay_ns : int, default 0
        Time from the end of that wait to the start of the writer.
    serve_ns : int, default 200_000_000_000
        Time that the client serves in each round.
    seed : int, default 1
        Seed of the random generator.
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
    nr_requests: int = _DEFAULTS["nr_requests"]
    request_pages: int = _DEFAULTS["request_pages"]
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
    seed: int = 1

    def __post_init__(self) -> None:
        """Check each field; the library checks how they fit together."""
        check_choice("rules", self.rules, ffi.STALL_RULES)
        if self.rules not in ffi.RECLAIM_RULES and self.normal_pages:
            raise InputError(
                f"rules={self.rules!r}: its lists are per node, and there are two zones; "
                f"give normal_pages=0, or one of {', '.join(ffi.RECLAIM_RULES)}"
            )
        for name, (low, high) in ffi.RECLAIM_RANGES.items():
            if name != "rounds":
                check_number(name, getattr(self, name), low, high)
        fewest, most = ffi.RECLAIM_RANGES["rounds"]
        if not isinstance(self.files, tuple) or not fewest <= len(self.files) <= most:
            raise InputError(f"files={self.files!r}: give a tuple of {fewest} to {most} sizes")
        for size in self.files:
            check_number("files", size, 0, self.disk_pages, ": a file is no larger than its disk")
        if self.dma32_pages + self.normal_pages < ffi.RECLAIM_PAGES_MIN:
            raise InputError(
                f"dma32_pages={self.dma32_pages} and normal_pages={self.normal_pages}: "
                f"choose {ffi.RECLAIM_PAGES_MIN} pages or more"
            )
