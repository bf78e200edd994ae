# SPDX-License-Identifier: GPL-2.0-or-later
"""The machines of the patches' mails, with the costs that were fitted to their base columns."""

import csv
from typing import Any, Final

import polars as pl

from swapsim.errors import check_choice
from swapsim.ffi import COST_NAMES
from swapsim.io import data_root, decode, read_bytes, read_text
from swapsim.machine.config import Machine
from swapsim.machine.constants import costs_by_name

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

_FIELDS: Final[dict[str, dict[str, Any]]] = {
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

PRESETS: Final = tuple(_FIELDS)
"""The published machines: of patch A and B, and of both mails of patch D with figures."""


def preset(name: str) -> Machine:
    """Return the machine of a mail's base, with the costs that were fitted to its base column.

    Parameters
    ----------
    name : {"A-2016", "B-2016", "D-V1", "D-V3"}
        "A-2016": 8 writers and 2 kswapds on one pmem under 4.8, with tags; ``tags=False`` is the
        patch (notebook 01, panel "tags"). "B-2016": 8 threads of usemem on 4 nodes and a brd that
        is taken for a disk, writing fresh pages; ``removal="batched"`` is the patch (notebook 02).
        "D-V1", "D-V3": 16 pmbench tasks on two fragmented pmems, one scan base for all CPUs, on
        12 GB each in place of the mail's 48; ``policy="percpu"`` is V1 and
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
        rows = csv.DictReader(read_text(data_root() / "swap-cache-locks.csv").splitlines())
        costs = {row["name"]: int(row["value"]) for row in rows if row["tag_share"] == "0.1"}
        # Nodes are fake. A removal in a hold of several takes three tenths of the first.
        costs |= {
            "tree_next_ns": round(0.3 * costs["tree_ns"]),
            "travel_other_socket_ns": costs_by_name()["travel_same_socket_ns"],
        }
    else:
        costs = _stored("cluster-next-fits", fit=name[2:])
    return Machine(costs=costs, **_FIELDS[name])


def _stored(study: str, **where: Any) -> dict[str, int]:
    """Return the costs of a stored fit."""
    path = data_root() / "simulated" / f"{study}.parquet"
    rows = decode(read_bytes(path), path).filter(**where)
    name = "metric" if "metric" in rows.columns else "name"
    found = rows.filter(pl.col(name).is_in(list(COST_NAMES)))
    return dict(found.select(name, pl.col("value").cast(pl.Int64)).iter_rows())
