# SPDX-License-Identifier: GPL-2.0-or-later
"""The cluster allocators of Linux 6.12 to 7.3, and recordings of real kernels.

- ``traces.import_text`` makes tables from the text of a kernel's probes, by ``JOINED_EVENTS``,
- ``verify_clusters`` compares each grant, visit and list move with those of the model,
- ``replay`` serves the same requests under other rules, ``pictures`` shows the clusters meanwhile,
- ``alternatives`` ranks changes of the rules of 7.3, and a user's choice of lists,
- ``requests`` makes streams of memory operations, ``folios`` runs them under rules.
"""

from typing import TYPE_CHECKING

from swapsim.clusters.events import ClusterRows, cluster_rows
from swapsim.clusters.joining import JOINED_EVENTS
from swapsim.clusters.ledger import lock_changes, lock_ledger, lock_sites, trace_locks
from swapsim.clusters.replay import ClusterReplay, pictures, replay, rules_of, summed_lists
from swapsim.clusters.verify import verified_clusters, verify_clusters
from swapsim.lazy import submodules

if TYPE_CHECKING:
    from swapsim.clusters import alternatives as alternatives
    from swapsim.clusters import charts as charts
    from swapsim.clusters import folios as folios
    from swapsim.clusters import requests as requests
    from swapsim.clusters import studies as studies
    from swapsim.clusters import tables as tables
else:
    __getattr__, __dir__ = submodules(
        __name__, "alternatives", "charts", "folios", "requests", "studies", "tables"
    )

__all__ = [
    "JOINED_EVENTS",
    "ClusterReplay",
    "ClusterRows",
    "cluster_rows",
    "lock_changes",
    "lock_ledger",
    "lock_sites",
    "pictures",
    "replay",
    "rules_of",
    "summed_lists",
    "trace_locks",
    "verified_clusters",
    "verify_clusters",
]
