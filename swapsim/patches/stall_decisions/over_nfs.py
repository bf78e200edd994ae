# SPDX-License-Identifier: GPL-2.0-or-later
"""The mail's second test by its server, of which the mail says that its network is not strong.

Which pages kswapd meets at the tail of its lists depends on how fast the net takes dirty pages away
and how long the server is at a commit. Nothing is fitted here: 3.9's column does not tell one
server from another. The grid was chosen after single runs of all kernels had been seen.
"""

from itertools import product
from typing import Final, NamedTuple

import polars as pl

from swapsim.patches.stall_decisions.mail import BASE, BEFORE, SERIES
from swapsim.patches.stall_decisions.tables import SIMULATED_SERVERS
from swapsim.patches.stall_decisions.worlds import Run, watched
from swapsim.reclaim import ops, vmstat

NET_MB: Final = (20, 45, 115)
SERVER_MB: Final = (30, 60, 150)
"""Megabytes a second: over the net, and to the server's disk at a commit."""

BEFORE_PATCH_8: Final = "series-7"
"""The series without its last patch, NFS's callback."""

SEEDS: Final = (1, 2, 3)

ROWS: Final = (
    "Ops memcachetest-4055M",
    "Ops io-duration-4055M",
    "Kswapd pages scanned",
    "Page writes file",
    "Page reclaim immediate",
    "Swap Outs",
)

_MIB_PAGES: Final = 256


class Server(NamedTuple):
    """A server, and by whose rules its client reclaims."""

    net_mb: int
    server_mb: int
    rules: str
    seed: int


def servers() -> list[Server]:
    """Return each pair of rates by the mail's kernels, and by the series without patch 8."""
    rules = (BEFORE, BASE, BEFORE_PATCH_8, SERIES)
    return [Server(*each) for each in product(NET_MB, SERVER_MB, rules, SEEDS)]


def run_with(server: Server) -> pl.DataFrame:
    """Run the mail's test over NFS with a server.

    Returns
    -------
    polars.DataFrame
        Schema SIMULATED_SERVERS, the figures of ROWS.
    """
    rates = {"net_rate": server.net_mb * _MIB_PAGES, "server_rate": server.server_mb * _MIB_PAGES}
    world = watched(Run(rules=server.rules, target="nfs", seed=server.seed, constants=rates))
    found = pl.concat([ops(world), vmstat(world)]).filter(pl.col("metric").is_in(ROWS))
    return (
        found.select(
            *(pl.lit(value).alias(name) for name, value in server._asdict().items()),
            "metric",
            "value",
        )
        .cast(SIMULATED_SERVERS.schema)
        .sort("metric")
    )
