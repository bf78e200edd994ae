# SPDX-License-Identifier: GPL-2.0-or-later
"""The world in which reclaim decides: a client, a file and a disk under a kernel's reclaim.

- ``constants``: data/world.csv, what work costs and what is not published of the mail's machine,
- ``guest``: the lab's guest, the same test made small,
- ``parallelio``: the world of patch C's mail, memcached beside a growing file,
- ``shrink``: the same made smaller, for a look that takes no time,
- ``run``: one run of a `config.ReclaimConfig`, its rounds, counters and memory by time,
- ``lives``: where single pages of the pool are, all the time,
- ``ops``, ``vmstat``, ``iostat``: what it tells, as the mail prints it.

Whose stalls it has, and whose loops of kswapd, says the config's ``rules``.
"""

from typing import TYPE_CHECKING

from swapsim.lazy import submodules
from swapsim.reclaim.config import ReclaimConfig
from swapsim.reclaim.constants import change_constants, constants
from swapsim.reclaim.guest import Window, guest, guest_constants, guest_rows, watch_guest
from swapsim.reclaim.iostat import iostat
from swapsim.reclaim.lives import lives
from swapsim.reclaim.parallelio import parallelio, shrink
from swapsim.reclaim.run import World, run
from swapsim.reclaim.vmstat import ops, vmstat

if TYPE_CHECKING:
    from swapsim.reclaim import charts as charts
    from swapsim.reclaim import tables as tables
else:
    __getattr__, __dir__ = submodules(__name__, "charts", "tables")

__all__ = [
    "ReclaimConfig",
    "Window",
    "World",
    "change_constants",
    "constants",
    "guest",
    "guest_constants",
    "guest_rows",
    "iostat",
    "lives",
    "ops",
    "parallelio",
    "run",
    "shrink",
    "vmstat",
    "watch_guest",
]
