# SPDX-License-Identifier: GPL-2.0-or-later
"""What became of patches A to D on Linux 6.12 and 7.3, and large folios there.

- ``on_newest``, ``verdict``: what became of each patch, and the verdict of notebook 07,
- ``meetings`` (D), ``global_lock`` (A), ``measured`` (A to D by counts of stock kernels): where its
  figures come from,
- ``large_folios``: clusters by order (6.12), nonfull before free (6.18), by the mails' claims,
- ``studies``: the results that take long; ``notebook``: what notebook 07 alone draws,
- ``notebook_07b``: what notebook 07b alone needs of lists of clusters and split folios,
- ``deciding``: what notebook 08 alone needs of generations.
"""

from typing import TYPE_CHECKING

from swapsim import lazy

if TYPE_CHECKING:
    from swapsim.patches.newer_kernels import deciding as deciding
    from swapsim.patches.newer_kernels import global_lock as global_lock
    from swapsim.patches.newer_kernels import large_folios as large_folios
    from swapsim.patches.newer_kernels import measured as measured
    from swapsim.patches.newer_kernels import meetings as meetings
    from swapsim.patches.newer_kernels import notebook as notebook
    from swapsim.patches.newer_kernels import notebook_07b as notebook_07b
    from swapsim.patches.newer_kernels import studies as studies
    from swapsim.patches.newer_kernels.large_folios import PATCH as PATCH
    from swapsim.patches.newer_kernels.large_folios import answers as answers
    from swapsim.patches.newer_kernels.large_folios import chances as chances
    from swapsim.patches.newer_kernels.large_folios import counted as counted
    from swapsim.patches.newer_kernels.large_folios import headline_fit as headline_fit
    from swapsim.patches.newer_kernels.large_folios import headline_locks as headline_locks
    from swapsim.patches.newer_kernels.today import on_newest as on_newest
    from swapsim.patches.newer_kernels.today import verdict as verdict
else:
    lazy.export(__name__)
