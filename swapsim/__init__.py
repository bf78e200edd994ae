# SPDX-License-Identifier: GPL-2.0-or-later
"""A laboratory for four Linux kernel patches on swapping and page reclaim.

Polars frames in, polars frames out, over a C core.
"""

from importlib.metadata import version

__version__ = version("swapsim")

from swapsim.errors import InputError as InputError
from swapsim.errors import SwapsimError as SwapsimError
from swapsim.policies import list_policy as list_policy
from swapsim.policies import policy as policy
from swapsim.policies import type_policy as type_policy
from swapsim.traces.folder import Trace as Trace
from swapsim.traces.folder import open_trace
from swapsim.traces.importing import import_text as import_text
from swapsim.traces.replays import shipped as shipped

open = open_trace  # noqa: A001 # swapsim.open(...), as wave.open
