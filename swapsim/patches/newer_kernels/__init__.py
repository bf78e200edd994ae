# SPDX-License-Identifier: GPL-2.0-or-later
"""What became of patches A to E on Linux 6.12 and 7.3.

- ``on_newest``: what became of each patch,
- ``meetings`` (D), ``global_lock`` (A), ``measured`` (A to D by counts of stock kernels): where its
  figures come from,
- ``studies``: the results that take long; ``notebook``: what notebook 07 alone draws,
- ``deciding``: what notebook 08 alone needs of generations.
"""

from swapsim.patches.newer_kernels import deciding as deciding
from swapsim.patches.newer_kernels import global_lock as global_lock
from swapsim.patches.newer_kernels import measured as measured
from swapsim.patches.newer_kernels import meetings as meetings
from swapsim.patches.newer_kernels import notebook as notebook
from swapsim.patches.newer_kernels import studies as studies
from swapsim.patches.newer_kernels.today import on_newest as on_newest
