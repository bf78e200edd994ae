# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies: built-in ones for the base of a scan for swap slots, and a user's own.

- ``policy``: where the scan for a free slot begins, up to 6.11,
- ``lists``: which list of clusters a search takes next, from 6.12 on,
- ``page_types``: from which type of pages reclaim with generations takes some.
"""

from swapsim.policies import lists as lists
from swapsim.policies import page_types as page_types
from swapsim.policies import policy as policy
from swapsim.policies.lists import ListPolicy as ListPolicy
from swapsim.policies.page_types import ANON as ANON
from swapsim.policies.page_types import FILE as FILE
from swapsim.policies.page_types import TypePolicy as TypePolicy
from swapsim.policies.policy import Policy as Policy
