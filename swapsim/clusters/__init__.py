# SPDX-License-Identifier: GPL-2.0-or-later
"""The cluster allocators of Linux 6.12 to 7.3, and recordings of real kernels.

- ``traces.import_text`` makes tables from the text of a kernel's probes, by ``JOINED_EVENTS``,
- ``verify_clusters`` compares each grant, visit and list move with those of the model,
- ``replay`` serves the same requests under other rules,
- ``ranking`` ranks a user's choice of lists among changes of the rules of 7.3.
"""

from swapsim.clusters import ranking as ranking
from swapsim.clusters import tables as tables
from swapsim.clusters.events import ClusterRows as ClusterRows
from swapsim.clusters.events import cluster_rows as cluster_rows
from swapsim.clusters.joining import JOINED_EVENTS as JOINED_EVENTS
from swapsim.clusters.replay import ClusterReplay as ClusterReplay
from swapsim.clusters.replay import replay as replay
from swapsim.clusters.verify import verify_clusters as verify_clusters
