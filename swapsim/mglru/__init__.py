# SPDX-License-Identifier: GPL-2.0-or-later
"""What reclaim decides with generations (MGLRU) on 6.12 and 7.3, and recordings of real kernels.

`verify` compares each type, tier, aging and scan size of a recording with those of the rules;
`replay` chooses for the same states by other rules, a user's own among them, and shows which
choices flip, when and by which term; `timeline` shows why pages were swapped out.
"""

from swapsim.mglru.replay import RULES, replay, timeline
from swapsim.mglru.verify import verify

__all__ = ["RULES", "replay", "timeline", "verify"]
