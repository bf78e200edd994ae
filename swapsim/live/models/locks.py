# SPDX-License-Identifier: GPL-2.0-or-later
"""CPUs that take one lock in a loop, as `machine.anchors.lock_rates` runs them."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import polars as pl

from swapsim.machine import anchors
from swapsim.machine._native import TRAVELS, closed_loop_ns
from swapsim.machine.constants import costs_by_name


def _on_socket(placement: str, threads: int) -> int:
    return {"one socket": threads, "mixed": -(-threads // 2), "all remote": 1}[placement]


def setting() -> dict[str, Any]:
    """Return the closed loop of the anchors as a setting."""
    return {
        "kinds": [*anchors.FAIR],
        "placements": [*anchors.PLACEMENTS],
        "threads": [*anchors.THREADS],
        "seeds": [1],
        "travels": {name: ns for name, ns in costs_by_name().items() if name in TRAVELS},
        "think_ns": anchors.THINK_NS,
        "hold_ns": anchors.HOLD_NS,
        "acquisitions": anchors.ACQUISITIONS,
    }


def rows(values: Mapping[str, Any]) -> pl.DataFrame:
    """Return the acquisitions a microsecond: ``kind, placement, threads, seed, value``."""
    names = ("kind", "placement", "threads", "seed")
    points = product(values["kinds"], values["placements"], values["threads"], values["seeds"])
    return pl.DataFrame(
        [
            dict(zip(names, point, strict=True))
            | {
                "value": 1000
                / closed_loop_ns(
                    kind,
                    cpus=threads,
                    cpus_per_socket=_on_socket(placement, threads),
                    travels=values["travels"],
                    think_ns=values["think_ns"],
                    hold_ns=values["hold_ns"],
                    acquisitions=values["acquisitions"],
                    seed=int(seed),
                )
            }
            for point in points
            for kind, placement, threads, seed in [point]
        ]
    )
