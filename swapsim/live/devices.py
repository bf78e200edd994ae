# SPDX-License-Identifier: GPL-2.0-or-later
"""The devices that a panel of the contention machine offers, and the fields that they set."""

from itertools import product
from typing import Any, Final

from swapsim.machine import what_if

MEMORY: Final = "as fast as memory"

_DRIVES: Final = {
    f"drive: {count} pages at a time, {latency} us each": {
        "channels": count,
        "costs": {"channel_ns": 1000 * latency},
    }
    for latency, count in product(what_if.LATENCIES_US, what_if.CHANNELS)
}

FIELDS: Final[dict[str, dict[str, Any]]] = {MEMORY: {"channels": 0}, **_DRIVES}
"""A device as a panel names it -> the fields that it sets."""
