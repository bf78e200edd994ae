# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a search for swap slots goes: built-in policies for the scan base, and a user's own.

- ``policy``: where the scan for a free slot begins, up to 6.11,
- ``lists``: which list of clusters a search takes next, from 6.12 on.
"""

from typing import TYPE_CHECKING

from swapsim import lazy

if TYPE_CHECKING:
    from swapsim.policies import lists as lists
    from swapsim.policies import policy as policy
    from swapsim.policies.lists import ListPolicy as ListPolicy
    from swapsim.policies.policy import Policy as Policy
else:
    lazy.export(__name__)
