# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine whose CPUs swap: its tasks, memory, devices and locks; and those of the mails."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, cast

import polars as pl

from swapsim import ffi
from swapsim.errors import InputError, check_choice, check_flag, check_number
from swapsim.ffi import COST_NAMES, check_ranges
from swapsim.io import data_root, decode, read_bytes, read_text
from swapsim.machine.constants import change_costs, costs_by_name, costs_of, warn_outside
from swapsim.policies import Policy
from swapsim.slots.config import Device, Streams

_DEFAULTS: Final = ffi.MACHINE_DEFAULTS
_DEVICE: Final = Device()
_FOLLOWS: Final = cast("Any", None)  # default of a field that follows from others

_RULES: Final = {"5.8": "percpu-rerandomise", "6.1": "percpu-rerandomise"}
"""A kernel's rule for where a scan begins; older kernels have one place for all CPUs, "shared"."""

_FRAMES_A_CPU: Final = 3
"""Ratio of a node's default frames to the frames that its CPUs hold on their lists; at least 2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine whose CPUs swap out and in (``machine.h``), and how long it runs.

    Fields that are not given follow the kernel and the tasks; one out of range is an InputError.

    Parameters
    ----------
    patch : str, default "machine"
        The row label of the results.
    kernel : {"4.8", "5.7", "5.7+scan-more", "5.8", "6.1"}, default "6.1"
        The kernel whose locks are taken, in its order; "5.7+scan-more" is the base of patch D's V1.
    tags : bool, optional
        Whether the swap cache has writeback tags; default: in 4.8 alone, as released.
    removal : {"page-by-page", "batched"}, default "page-by-page"
        Whether reclaim takes the swap cache's lock once for each page of a list, or with patch B
        once for each mapping; page by page with streams.
    list_pages : int, default 32
        Pages that reclaim isolates at a time, 1 to 512.
    policy : str or Policy, optional
        Where a scan for a slot begins: a name of ``policies.POLICIES``, or a user's own policy.
        Default: the kernel's, "shared" up to 5.7 and "percpu-rerandomise" from 5.8 on.
    slot_cache, test_and_set : bool, default True, False
        Whether slot caches are used, from 5.7 on; whether locks are test-and-set, not queued.
    contended_ns : int, default 0
        What a critical section takes longer if a CPU waits for its lock when it begins; a write to
        a line that another CPU polls takes 20 ns longer (tests/bench/polled_line.c).
    costs : mapping of str to int, or polars.DataFrame, optional
        Costs in ns that differ from data/costs.csv, as ``{"copy_ns": 400}``, or `machine.costs`.
    writers, walkers : int, default writers=0
        Tasks that write fresh pages one after another, and tasks that access their pages,
        spread over the nodes in turn; together 1 to 2048, each on a CPU of its own. Default
        without writers and streams: one walker.
    pages, read_percent, sweeps : int, int, bool, default 16_384, 80, False
        Pages of each walker, 1 to ``2**26``; share of its accesses that read, in percent; whether
        it accesses them in order, over and over, or at random.
    accesses : int, default 0
        Accesses of each task, after which it ends; 0 means that it does not end.
    drop_percent : int, default 0
        Percentage of the walkers' pages that is dropped before the first event, with memory_max.
    streams : Streams, optional
        Tasks that replay the requests of a trace, each as fast as it can, in place of writers and
        walkers, on one synchronous device; measured from where ``skipped_share`` of all rows are
        done until a task ends that has half an even share of the rows.
    nodes : int, default 1
        Nodes, each with its memory and its kswapd: 1 to 8, 1 with memory_max.
    frames : int, optional
        Pages of memory of a node, at most 67,108,864. Default: 2**14, or three times what its CPUs
        hold on their own lists if that is more.
    shares_memory : bool, default False
        Whether a task takes memory of the next node when its own is short, and all kswapds are
        woken when all nodes are short; with one device, without a cgroup, streams, or writers
        that exit.
    memory_max : int, default 0
        Pages of the tasks' memory cgroup, which reclaim for themselves; 0 means no cgroup.
    inactive_ratio : int, default 0
        Active pages per inactive page, as of a larger machine; 0: the kernel's for so many frames.
    devices : int, default 1
        Devices, 1 to nodes; node n swaps to device n % devices.
    slots : int, optional
        Slots of each device. Default: 2**20 (4 GB), or twice those of the walkers' pages that do
        not fit into memory if that is more.
    fragmented, rotational : bool, default False
        Whether slots in use at the start are scattered over the device; whether it is an HDD, which
        has no clusters and always uses the shared rule.
    channels : int, default 0
        Channels of an asynchronous device, 1 to 1024; 0: synchronous, as fast as memory.
    cluster_size, trunk_shift : int, default 256, 14
        Slots of a cluster: 256, or 512 with huge page swap; log2 of the slots of a trunk, 1 to 31.
    spare_cpus, stay_ns : int, default 0
        CPUs of each node without an actor, at most 2048; mean time that an actor stays on its CPU,
        uniform in 0 to twice that, before its next page out is on another free CPU of its node (0:
        it stays for ever).
    spread_percent : int, default 50
        Range of the random variation of work outside of locks, in percent, 0 to 100.
    warmup_ns, duration_ns : int, default 10_000_000, 50_000_000
        Simulated time before the measurement, and its length; ignored for streams.
    seed : int, default 1
        The seed of all random draws.

    Examples
    --------
    >>> from swapsim import machine
    >>> old = machine.Machine(kernel="4.8", writers=8)
    >>> old.policy, old.cpus, old.frames
    ('shared', 9, 16384)
    >>> old.replace(kernel="6.1", copy_ns=400).policy
    'percpu-rerandomise'
    """

    patch: str = "machine"
    kernel: str = _DEVICE.kernel
    tags: bool | None = None
    removal: str = ffi.REMOVAL_MODES[_DEFAULTS["removal"]]
    list_pages: int = _DEFAULTS["list_pages"]
    rotational: bool = _DEVICE.rotational
    policy: str | Policy = _FOLLOWS
    slot_cache: bool = bool(_DEFAULTS["slot_cache"])
    test_and_set: bool = False
    contended_ns: int = _DEFAULTS["contended_ns"]
    nodes: int = _DEFAULTS["nodes"]
    devices: int = _DEFAULTS["devices"]
    channels: int = _DEFAULTS["channels"]
    writers: int = 0
    walkers: int = _FOLLOWS
    streams: Streams | None = None
    frames: int = _FOLLOWS
    inactive_ratio: int = _DEFAULTS["inactive_ratio"]
    shares_memory: bool = False
    pages: int = _DEFAULTS["pages"]
    memory_max: int = _DEFAULTS["memory_max"]
    accesses: int = _DEFAULTS["accesses"]
    drop_percent: int = _DEFAULTS["drop_percent"]
    sweeps: bool = bool(_DEFAULTS["sweeps"])
    read_percent: int = _DEFAULTS["read_percent"]
    slots: int = _FOLLOWS
    cluster_size: int = _DEVICE.cluster_size
    trunk_shift: int = _DEVICE.trunk_shift
    fragmented: bool = False
    spare_cpus: int = _DEFAULTS["spare_cpus"]
    stay_ns: int = _DEFAULTS["stay_ns"]
    spread_percent: int = _DEFAULTS["spread_percent"]
    warmup_ns: int = 10_000_000
    duration_ns: int = 50_000_000
    seed: int = _DEVICE.seed
    costs: Mapping[str, int] = field(default_factory=dict, hash=False)
    _followed: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def replace(self, **changed: Any) -> "Machine":
        """Return the machine with other fields, or other costs by their names, as ``copy_ns=400``.

        Fields that were not given follow the new ones.
        """
        prices = {name: ns for name, ns in changed.items() if name in COST_NAMES}
        warn_outside(prices, 3)
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
        given = {name: value for name, value in own.items() if name not in self._followed}
        if prices:
            given["costs"] = {**costs_by_name(_table(changed.get("costs", self.costs))), **prices}
        return Machine(**given | {name: changed[name] for name in changed if name not in prices})

    @property
    def tasks(self) -> int:
        """Return the number of writers, walkers and streams."""
        return self.writers + self.walkers + (self.streams.tasks if self.streams else 0)

    @property
    def cpus(self) -> int:
        """Return the number of CPUs: a task, kswapd or interrupt of an asynchronous device each."""
        tasks = -(-self.tasks // self.nodes)
        return self.nodes * (tasks + (self.memory_max == 0) + (self.channels > 0))

    @property
    def device(self) -> Device:
        """Return the config of one of its devices."""
        return Device(
            kernel=self.kernel,
            slots=self.slots,
            cluster_size=self.cluster_size,
            trunk_shift=self.trunk_shift,
            rotational=self.rotational,
            possible_cpus=self.cpus + self.nodes * self.spare_cpus,
            address_spaces=self.tasks,
            policy=self.policy,
            slot_cache=self.slot_cache,
            seed=self.seed,
        )

    def __post_init__(self) -> None:
        """Check each field, then that tasks, memory and devices fit together."""
        if not isinstance(self.costs, Mapping | pl.DataFrame):
            raise InputError(f"costs={self.costs!r}: give names and their ns, or `machine.costs`")
        if len(self.costs):
            wanted, usual = costs_by_name(_table(self.costs)), costs_by_name()
            changed = {name: ns for name, ns in wanted.items() if ns != usual[name]}
            object.__setattr__(self, "costs", changed)
        alone = not self.writers and self.streams is None
        least = {
            "policy": _RULES.get(self.kernel, "shared"),
            "walkers": _DEFAULTS["walkers"] if alone else 0,
            "frames": _DEFAULTS["frames"],
            "slots": _DEVICE.slots,
        }
        not_given = tuple(name for name in least if getattr(self, name) is None)
        object.__setattr__(self, "_followed", not_given)
        for name in not_given:
            object.__setattr__(self, name, least[name])
        check_choice("removal", self.removal, ffi.REMOVAL_MODES)
        for name in ("rotational", "fragmented", "sweeps", "shares_memory", "test_and_set"):
            check_flag(name, getattr(self, name))
        if self.tags is not None:
            check_flag("tags", self.tags)
        tasks, pages = (0, ffi.MACHINE_TASKS_MAX), (0, ffi.MACHINE_PAGES_MAX)
        check_ranges(
            self,
            "struct sws_machine_config",
            **dict.fromkeys(("writers", "walkers", "spare_cpus"), tasks),
            **dict.fromkeys(("inactive_ratio", "memory_max"), pages),
            frames=(1, ffi.MACHINE_PAGES_MAX),
            channels=(0, ffi.MACHINE_CHANNELS_MAX),
            read_percent=(0, 100),
            accesses=(0, 2**31),
            contended_ns=(0, ffi.COST_MAX),
            stay_ns=(0, 2**60),
            warmup_ns=(0, 2**60),
            duration_ns=(1, 2**60),
        )
        most = f", or more nodes (nodes={self.nodes}; a node swaps to one device)"
        check_number("devices", self.devices, 1, self.nodes, most)
        if self.streams:
            self._check_streams(self.streams)
        elif not 1 <= self.writers + self.walkers <= ffi.MACHINE_TASKS_MAX:
            raise InputError(
                f"writers={self.writers} and walkers={self.walkers}: "
                f"choose 1 to {ffi.MACHINE_TASKS_MAX} tasks"
            )
        if self.shares_memory:
            self._check_sharing()
        if "frames" in not_given:
            needed = _FRAMES_A_CPU * self._frames_cached
            object.__setattr__(self, "frames", max(self.frames, needed))
        if "slots" in not_given:
            needed = 2 * max(self._swapped(device) for device in range(self.devices))
            largest = ffi.MACHINE_SLOTS_MAX // self.devices
            object.__setattr__(self, "slots", max(self.slots, min(needed, largest)))
        self._check_devices(self.device)  # Device checks its own fields
        self._check_capacity()

    def _check_sharing(self) -> None:
        for name, needed in (("devices", 1), ("streams", None), ("memory_max", 0)):
            if getattr(self, name) != needed:
                raise InputError(
                    f"{name}={getattr(self, name)!r}: shares_memory needs {name}={needed}"
                )
        if self.writers and self.accesses:
            raise InputError(
                f"accesses={self.accesses}: writers that exit cannot share memory; "
                "choose shares_memory=False"
            )

    def _check_devices(self, device: Device) -> None:
        trunks = (device.slots - 1 >> device.trunk_shift) + 1
        for name, what, count, most in (
            ("slots", "slots", device.slots, ffi.MACHINE_SLOTS_MAX),
            ("trunk_shift", "trunks", trunks, ffi.MACHINE_TRUNKS_MAX),
        ):
            if self.devices * count > most:
                raise InputError(
                    f"{name}={getattr(self, name)}: the devices have {self.devices * count} "
                    f"{what} in all; choose at most {most} {what}"
                )

    def _check_streams(self, streams: Streams) -> None:
        for name, alone in (
            ("writers", 0),
            ("walkers", 0),
            ("channels", 0),
            ("devices", 1),
            ("memory_max", 0),
            ("accesses", 0),
            ("removal", ffi.REMOVAL_MODES[0]),
        ):
            if getattr(self, name) != alone:
                raise InputError(f"{name}={getattr(self, name)}: streams need {name}={alone}")
        if streams.swap_in != "synchronous":
            raise InputError(
                f"streams.swap_in={streams.swap_in!r}: streams of the machine need 'synchronous'"
            )
        rows = streams.requests.height
        for name, count, most in (
            ("tasks", streams.tasks, ffi.MACHINE_TASKS_MAX),
            ("rows", rows, ffi.MACHINE_REQUESTS_MAX),
        ):
            if count > most:
                raise InputError(f"streams: {count} {name} are too many: choose at most {most}")
        if rows - streams.skipped < streams.tasks:
            raise InputError(
                f"streams.skipped_share={streams.skipped_share}: of {rows} rows "
                f"{rows - streams.skipped} are left to be measured, fewer than the {streams.tasks} "
                "tasks; skip less, or choose a longer trace"
            )

    def _check_capacity(self) -> None:
        frames_cached = self._frames_cached
        if self.frames < 2 * frames_cached:
            raise InputError(
                f"frames={self.frames}: the {self.cpus // self.nodes} CPUs of a node cache pages; "
                f"choose {2 * frames_cached} or more"
            )
        if self.streams:
            held = self.streams.pages_held
            most = max(sum(held[node :: self.nodes]) for node in range(self.nodes))
            needed = most + frames_cached + ffi.watermark_high(self.frames)
            if needed > self.frames:
                raise InputError(
                    f"frames={self.frames}: up to {most} pages come back to the streams of a "
                    f"node; give at least {needed + needed // 64} frames"
                )
        self._check_limit(frames_cached)
        interrupts = self.nodes if self.channels else 0
        slots_cached = ffi.SLOTS_KEPT + self._beyond_a_batch
        free = self.slots - slots_cached * (self.device.possible_cpus - interrupts)
        needed = max(self._swapped(device) for device in range(self.devices))
        if needed >= free:
            raise InputError(
                f"slots={self.slots}: walkers={self.walkers} of pages={self.pages} need {needed} "
                f"of a device in addition to memory, and it has {max(free, 0)} free; give more "
                "slots or frames"
            )

    def _check_limit(self, frames_cached: int) -> None:
        if not self.memory_max:
            if self.drop_percent:
                raise InputError(
                    f"drop_percent={self.drop_percent}: walkers drop pages only under a memory "
                    "cgroup's limit; set memory_max"
                )
        elif self.nodes > 1:
            raise InputError(f"nodes={self.nodes}: choose 1 with memory_max")
        else:
            most = self.frames - ffi.watermark_high(self.frames) - frames_cached
            if not frames_cached <= self.memory_max <= most:
                raise InputError(
                    f"memory_max={self.memory_max}: choose {frames_cached} to {most}, "
                    "or more frames"
                )
        if self.accesses and self.writers and self.channels:
            raise InputError(
                f"accesses={self.accesses}: writers that exit need a device as fast as memory; "
                "choose channels=0"
            )

    @property
    def _frames_cached(self) -> int:
        """Return the frames that the CPUs of a node may hold on their own lists."""
        return (ffi.FRAMES_KEPT + 2 * self._beyond_a_batch) * (self.cpus // self.nodes)

    @property
    def _beyond_a_batch(self) -> int:
        return max(self.list_pages - ffi.LIST_PAGES, 0)

    def _swapped(self, device: int) -> int:
        """Return the slots of a device that hold what does not fit into memory."""
        resident = self.memory_max or self.frames - ffi.watermark_high(self.frames)
        walkers = (
            len(range(node, self.walkers, self.nodes))
            for node in range(device, self.nodes, self.devices)
        )
        return sum(max(n * self.pages - resident, 0) for n in walkers)


def _table(given: Mapping[str, int] | pl.DataFrame) -> pl.DataFrame:
    return given if isinstance(given, pl.DataFrame) else change_costs(costs_of(), given)


# The machines of the mails, with the costs that were fitted to their base columns.

_D: Final[dict[str, Any]] = {
    "patch": "04-percpu-cluster-next",
    "policy": "shared",
    "nodes": 2,
    "devices": 2,
    "walkers": 16,
    "frames": 905_970,
    "inactive_ratio": 11,
    "pages": 301_989,
    "slots": 3 * 2**20,
    "cluster_size": 512,
    "fragmented": True,
    "warmup_ns": 35_000_000,
    "duration_ns": 960_000_000,
}

FIELDS: Final[dict[str, dict[str, Any]]] = {
    "A-2016": {
        "patch": "01-writeback-tags",
        "kernel": "4.8",
        "nodes": 2,
        "writers": 8,
        "frames": 2**15,
        "slots": 2**20,
        "warmup_ns": 20_000_000,
        "duration_ns": 100_000_000,
    },
    "B-2016": {
        "patch": "02-batched-removal",
        "kernel": "4.8",
        "rotational": True,
        "nodes": 4,
        "shares_memory": True,
        "writers": 8,
        "frames": 2**14,
        "slots": 2**19,
        "warmup_ns": 20_000_000,
        "duration_ns": 60_000_000,
    },
    "D-V1": _D | {"kernel": "5.7+scan-more"},
    "D-V3": _D | {"kernel": "5.8"},
}

PRESETS: Final = tuple(FIELDS)
"""The published machines: of patch A and B, and of both mails of patch D with figures."""


def preset(name: str) -> Machine:
    """Return the machine of a mail's base, with the costs that were fitted to its base column.

    Parameters
    ----------
    name : {"A-2016", "B-2016", "D-V1", "D-V3"}
        "A-2016": 8 sequential writers and 2 kswapds on one pmem under 4.8, with tags;
        ``tags=False`` is the patch (notebook 01, panel "tags"). "B-2016": 8 threads of usemem on 4
        nodes and a brd that is taken for a disk, writing fresh pages; ``removal="batched"`` is the
        patch (notebook 02).
        "D-V1", "D-V3": 16 pmbench tasks on two fragmented pmems, one cluster_next for all CPUs,
        on 12 GB each in place of the mail's 48; ``policy="percpu"`` is V1 and
        ``policy="percpu-rerandomise"`` V3 (notebook 04).

    Returns
    -------
    Machine
        Its ``costs`` are the fitted ones: of the studies writeback-tags-three-fits (with its middle
        shares) and cluster-next-fits, and of data/swap-cache-locks.csv.

    Examples
    --------
    >>> from swapsim import machine
    >>> machine.preset("A-2016").costs
    {'unmap_ns': 6260, 'tree_ns': 628, 'tag_ns': 63, 'map_ns': 195}
    """
    check_choice("name", name, PRESETS)
    if name == "A-2016":
        costs = _stored("writeback-tags-three-fits", tag_share=0.1)
    elif name == "B-2016":
        costs = lock_costs(tag_share=0.1, next_share=0.3)
    else:
        costs = _stored("cluster-next-fits", fit=name[2:])
    return Machine(costs=costs, **FIELDS[name])


def lock_costs(tag_share: float, next_share: float) -> dict[str, int]:
    """Return the costs of 4.8's locks in uniform memory, as fitted to patch A's base column.

    ``tag_share`` is ``tag_ns / tree_ns``, one of data/swap-cache-locks.csv; ``next_share`` is
    ``tree_next_ns / tree_ns``: what a removal costs that is not the first under its lock.
    """
    rows = [*csv.DictReader(read_text(data_root() / "swap-cache-locks.csv").splitlines())]
    check_choice("tag_share", tag_share, dict.fromkeys(float(row["tag_share"]) for row in rows))
    costs = {row["name"]: int(row["value"]) for row in rows if float(row["tag_share"]) == tag_share}
    return costs | {
        "tree_next_ns": max(round(next_share * costs["tree_ns"]), 1),
        "travel_other_socket_ns": costs_by_name()["travel_same_socket_ns"],
    }


def _stored(study: str, **where: Any) -> dict[str, int]:
    """Return the costs of a stored fit."""
    path = data_root() / "simulated" / f"{study}.parquet"
    rows = decode(read_bytes(path), path).filter(**where)
    name = "metric" if "metric" in rows.columns else "name"
    found = rows.filter(pl.col(name).is_in(list(COST_NAMES)))
    return dict(found.select(name, pl.col("value").cast(pl.Int64)).iter_rows())
