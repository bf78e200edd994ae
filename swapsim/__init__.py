# SPDX-License-Identifier: GPL-2.0-or-later
"""A laboratory for four Linux kernel patches on swapping and page reclaim.

Polars frames in, polars frames out. `open` opens a recording of a real kernel, and each subject
decides it again, by its kernel's rules and by others: ``mapping``, ``removal``, ``stall``,
``slots``, ``clusters``, ``mglru``. ``machine`` turns counts into time, ``reclaim`` is a machine of
memory and disk, ``published`` has the mails' tables row by row, ``study`` sums up runs, ``charts``
draws, and ``live`` has panels that run in a page.
"""

from importlib.metadata import version

__version__ = version("swapsim")

from swapsim import (
    charts,
    clusters,
    live,
    machine,
    mapping,
    mglru,
    published,
    reclaim,
    removal,
    slots,
    stall,
    study,
)
from swapsim.errors import InputError, SwapsimError
from swapsim.policies import list_policy, policy, type_policy
from swapsim.traces.folder import Trace, open_trace, shipped
from swapsim.traces.importing import import_text

open = open_trace  # noqa: A001 # swapsim.open(...), as wave.open

__all__ = [
    "InputError",
    "SwapsimError",
    "Trace",
    "__version__",
    "charts",
    "clusters",
    "import_text",
    "list_policy",
    "live",
    "machine",
    "mapping",
    "mglru",
    "open",
    "policy",
    "published",
    "reclaim",
    "removal",
    "shipped",
    "slots",
    "stall",
    "study",
    "type_policy",
]
