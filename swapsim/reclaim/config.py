# SPDX-License-Identifier: GPL-2.0-or-later
"""The configuration of the reclaim simulator."""

from dataclasses import dataclass
from typing import Final

from swapsim import ffi
from swapsim.checks import check_choice, check_number, checked
from swapsim.errors import ConfigError
from swapsim.ffi.headers import documented

_DEFAULTS: Final = ffi.RECLAIM_DEFAULTS


@documented("struct sws_reclaim_config")
@checked
@dataclass(frozen=True, slots=True, kw_only=True)
class ReclaimConfig:
    """A simulation of ``reclaim.h``; sizes are pages of 4 KB.

    A value out of its range, or one that does not fit to the others, is a ConfigError that names
    the field.

    Parameters
    ----------
    rules : str
        The rules of stalls and of kswapd's loops, one of RECLAIM_RULES; any other of STALL_RULES
        keeps its lists per node and needs ``normal_pages=0``.
    files : tuple of int
        Pages of each round's file; 0: no file.
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
            raise ConfigError(
                f"rules={self.rules!r}: its lists are per node, and there are two zones; "
                f"give normal_pages=0, or one of {', '.join(ffi.RECLAIM_RULES)}"
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
