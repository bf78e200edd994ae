# SPDX-License-Identifier: GPL-2.0-or-later
"""A script for bpftrace with the probes of the shell script: each event is a line of ftrace's text.

`swapsim import` reads what ``bpftrace -f json`` prints: JSON lines, of which those of printf have
``comm-pid [cpu] seconds.nanoseconds: event: field=value ...``. Words of a tracepoint's text, such
as the name of a list, are numbers here, and the import names them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from swapsim.errors import InputError
from swapsim.traces.probes.btf import ARGUMENTS

CANNOT: Final[Mapping[str, str]] = {
    "clusters": "needs places inside functions, and a clock that counts events",
    "generations": "needs arrays of up to 40 counters in an event",
    "stall-decisions": "needs arrays, and arguments at a function's return",
}
"""Replay -> why bpftrace cannot record it."""

_PAGE: Final = (
    "dev %d:%d ino %llx pfn=0x%llx ofs=%llu order=%d",
    "args->s_dev >> 20, args->s_dev & 1048575, args->i_ino, args->pfn, args->index << 12, "
    "args->order",
)
_TRACEPOINTS: Final[Mapping[str, tuple[str, str]]] = {
    "filemap:mm_filemap_add_to_page_cache": _PAGE,
    "filemap:mm_filemap_delete_from_page_cache": _PAGE,
    "writeback:writeback_dirty_folio": (
        "bdi %s: ino=%llu index=%llu",
        "args->name, args->ino, args->index",
    ),
    "vmscan:mm_vmscan_lru_isolate": (
        "classzone=%d order=%d nr_requested=%llu nr_scanned=%llu nr_skipped=%llu nr_taken=%llu "
        "lru=%d",
        "args->highest_zoneidx, args->order, args->nr_requested, args->nr_scanned, "
        "args->nr_skipped, args->nr_taken, args->lru",
    ),
    "vmscan:mm_vmscan_lru_shrink_inactive": (
        "nid=%d nr_scanned=%llu nr_reclaimed=%llu nr_dirty=%llu nr_writeback=%llu "
        "nr_congested=%llu nr_immediate=%llu nr_activate_anon=%d nr_activate_file=%d "
        "nr_ref_keep=%llu nr_unmap_fail=%llu priority=%d flags=%d",
        "args->nid, args->nr_scanned, args->nr_reclaimed, args->nr_dirty, args->nr_writeback, "
        "args->nr_congested, args->nr_immediate, args->nr_activate0, args->nr_activate1, "
        "args->nr_ref_keep, args->nr_unmap_fail, args->priority, args->reclaim_flags",
    ),
    "vmscan:mm_vmscan_throttled": (
        "nid=%d usec_timeout=%d usect_delayed=%d reason=%d",
        "args->nid, args->usec_timeout, args->usec_delayed, args->reason",
    ),
}
"""Tracepoint -> the text of its event, and what stands in it."""

_FIELD: Final = re.compile(
    r"(?P<name>\w+)=(?P<value>[^ :]+)(?::(?P<kind>[xus])(?P<bits>\d+))?(?= |$)"
)
_FETCH: Final = re.compile(r"(?P<by>[+-]\d+)\((?P<base>.+)\)")
_FORMATS: Final = {"x": "0x%llx", "u": "%llu", "s": "%d"}

_HEAD: Final = """\
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Made by `swapsim probes --format bpftrace` for one kernel, to feed: {replays}.
{missing} *
 * As root:  BPFTRACE_PERF_RB_PAGES=8192 bpftrace -f json record.bt -c 'COMMAND...' > trace.json
 * then:     swapsim import trace.json -o mytrace && swapsim info mytrace
 *
 * `swapsim import` refuses a recording with lost events. A probe that an interrupt hits is missed,
 * and bpftrace does not count it; the probes of the shell script are where none is missed.
 */
"""


def bpftrace_script(
    fed: Sequence[str],
    probes: Iterable[tuple[str, str, str]],
    tracepoints: Iterable[str],
    missing: Iterable[str],
) -> str:
    """Return the script of probes: name, function, fields; an InputError names what it cannot."""
    for replay in fed:
        if replay in CANNOT:
            raise InputError(
                f"bpftrace cannot record {replay}, which {CANNOT[replay]}: "
                "use the script for sh, which trace-cmd can start, too"
            )
    lacks = "".join(f" * Not recorded by this kernel: {what}.\n" for what in missing)
    parts = [_HEAD.format(replays=", ".join(fed), missing=lacks)]
    parts += [_probe(*probe) for probe in probes]
    parts += [
        _action(f"tracepoint:{name}", name.partition(":")[2], *_TRACEPOINTS[name])
        for name in tracepoints
    ]
    return "\n".join(parts)


def _probe(name: str, function: str, fetched: str) -> str:
    """Return the action of a probe at the begin of a function."""
    fields = [found.groupdict() for found in _FIELD.finditer(fetched)]
    text = " ".join(f"{field['name']}={_FORMATS[field['kind'] or 'x']}" for field in fields)
    values = ", ".join(_value(field["value"], field["kind"], field["bits"]) for field in fields)
    return _action(f"kprobe:{function}", name, text, values)


def _action(place: str, event: str, text: str, values: str) -> str:
    return (
        f"{place}\n{{\n"
        f'\tprintf("%s-%d [%03d] %llu.%09llu: {event}: {text}\\n",\n'
        "\t       comm, tid, cpu, nsecs / 1000000000, nsecs % 1000000000,\n"
        f"\t       {values});\n}}\n"
    )


def _value(value: str, kind: str | None, bits: str | None) -> str:
    """Return a kprobe's value, a register or the memory at some offset from it."""
    of = f"{'int' if kind == 's' else 'uint'}{bits or 64}"
    fetch = _FETCH.fullmatch(value)
    if fetch is None:
        return f"({of})arg{ARGUMENTS.index(value.removeprefix('%'))}"
    base = _value(fetch["base"], None, None)
    return f"*({of} *)({base} {fetch['by'][0]} {fetch['by'][1:]})"
