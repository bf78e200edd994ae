# SPDX-License-Identifier: GPL-2.0-or-later
"""The text that probes in a kernel's allocator write: rows of CLUSTER_EVENTS, as tracefs prints."""

from collections.abc import Iterator
from typing import Any

import polars as pl

SI, CLUSTERS, BYTES = 0xFFFF888004000000, 0xFFFF888008000000, 48
"""Addresses of device 0 and of its clusters; those of device 1 lie 64 KiB further."""

OFFSETS = {"free": 40, "full": 56, "nonfull": 72, "frag": 232, "discard": 400}
"""Of a device's lists of clusters, for 10 orders."""

Row = dict[str, Any]


def text_of(events: pl.DataFrame, devices: pl.DataFrame) -> list[str]:
    """Return the head, and a line per event in the order of the counter, from 1000 on."""
    known = {row["device"]: row for row in devices.iter_rows(named=True)}
    rows = [*known.values(), *events.iter_rows(named=True)]
    lines = []
    first = f"# swapsim: clock=counter cluster_bytes={BYTES} device_bytes=640\n"
    for row in sorted(rows, key=lambda row: row["seq"]):
        for name, fields in _events(row, known):
            cpu, pid = row.get("cpu", 0), row.get("pid", 1)
            head = f"{'task':>16}-{pid:<7d} [{cpu:03d}] d..1. {1000 + len(lines)}:"
            words = " ".join(f"{field}={value}" for field, value in fields.items())
            lines.append(f"{head} {name}: (f+0x5/0x90) {words}\n")
    return [first, *lines]


def _events(row: Row, devices: dict[int, Row]) -> Iterator[tuple[str, Row]]:
    """Yield the events of a row of either table; on 7.3 device 0 has none."""
    of_6_12 = devices[0]["rules"] == "6.12"
    if "slots" not in row:
        yield from _of_6_12(row) if of_6_12 else _of_7_3(row, devices)
    elif of_6_12:
        yield "swap_on", _facts(row)
    elif row["device"]:
        # The heading of /proc/swaps comes first.
        yield "swap_device", {**_facts(row), "si": "0x1"}
        yield "swap_device", _facts(row)


def _si(device: int) -> int:
    return SI + (device << 16)


def _clusters(device: int) -> int:
    return CLUSTERS + (device << 16)


def _facts(row: Row) -> Row:
    """Return the fields about a device."""
    orders = {512: 10, 256: 1}[row["cluster_size"]]
    flags = (not row["rotational"]) << 4 | (not row["file"]) << 6 | row["discard"] << 10 | 1
    return {
        "si": hex(_si(row["device"])),
        "device": row["device"],
        "slots": row["slots"],
        "used": 0,
        "flags": hex(flags),
        "prio": row["priority"],
        **{name: OFFSETS[name] for name in ("free", "full", "nonfull")},
        "frag": OFFSETS["nonfull"] + 16 * orders,
        "discarding": OFFSETS["discard"],
    }


def _of_both(row: Row) -> Iterator[tuple[str, Row]]:
    device = {"device": row["device"]}
    if row["op"] == "discard":
        yield "discard_pass", device
        yield "cluster_discard", {}
        yield "disk_discard", {"sector": row["slot"] * 8, "sectors": 4096}
        yield "disk_discard", {"sector": row["slot"] * 8 + 4096, "sectors": 8}
        return
    if row["op"] == "discarded":
        yield "cluster_discard_end", {}
        return
    yield {
        "try": ("slot_try", {**device, "offset": row["slot"], "flags": "0x4"}),
        "relock": ("cluster_window_end", {}),
        "full": ("cluster_reclaim", {**device, "force": row["n"]}),
        "full_done": ("cluster_reclaim_end", {}),
        "window": ("cluster_window", {}),
        "turn": ("device_turn", {"node": hex(_si(row["device"] or 0) + 120)}),
    }[row["op"]]


def _of_6_12(row: Row) -> Iterator[tuple[str, Row]]:
    device, slot, n = row["device"], row["slot"], row["n"]
    entry = hex(((device or 0) << 58) + (slot or 0))
    known = {
        "call": ("swap_call", {"n": n, "order": row["order"]}),
        "visit": ("cluster_visit", {"device": device, "offset": slot, "order": row["order"]}),
        "visited": ("cluster_visit_end", {"next": slot}),
        "grant": ("slot_grant", {"device": device, "offset": slot, "nr": n}),
        "done": ("swap_call_end", {"got": n}),
        "free": ("slot_free", {"entry": entry, "nr": n}),
    }
    yield from (known[row["op"]],) if row["op"] in known else _of_both(row)


def _of_7_3(row: Row, devices: dict[int, Row]) -> Iterator[tuple[str, Row]]:
    op, device, slot, n = row["op"], row["device"], row["slot"], row["n"]
    entry = hex(((device or 0) << 58) + (slot or 0))
    order = row["order"] if op in ("call", "visit") else (n or 1).bit_length() - 1
    folio = {"flags": hex(0x40 if order else 0x11), "size": hex(0x200 + order if order else 0x33)}
    size = devices[device or 0]["cluster_size"]
    ci = {"ci": hex(_clusters(device or 0) + BYTES * ((slot or 0) // size))}
    of = {"device": device}
    if op == "call":
        yield "swap_request", {"folio": "0xffffea0000000040", **folio}
    elif op == "done":
        yield "swap_request_end", {"result": 0 if n else -12}
    elif op == "visit":
        first = {"clusters": hex(_clusters(device))}
        yield "cluster_visit", {**of, **first, **ci, "offset": slot, **folio}
    elif op == "grant":
        yield "slot_grant", {**ci, "entry": entry, **folio}
        yield "cluster_visit_end", {"found": slot}
        # Swap-in of another folio, by the same task.
        yield "slot_grant", {**ci, "entry": entry, **folio}
    elif op == "free":
        yield "slot_free", {**of, **ci, "offset": slot % size, "nr": n}
    elif op == "move":
        yield "cluster_move", {**of, **ci, "list": _list(row), "to": 3, "from": 0, "order": 1}
        yield "cluster_move_locked", {}
    elif op == "pick":
        yield "cluster_pick", {**_facts(devices[device]), "list": _list(row)}
        yield "cluster_pick_locked", {}
    elif op == "picked":
        yield "cluster_pick_end", ci if n else {"ci": "0x0"}
    else:
        yield from _of_both(row)


def _list(row: Row) -> str:
    word = row["list"].rstrip("0123456789")
    return hex(_si(row["device"]) + OFFSETS[word] + 16 * int(row["list"].removeprefix(word) or 0))
