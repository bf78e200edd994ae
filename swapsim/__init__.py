# SPDX-License-Identifier: GPL-2.0-or-later
"""A laboratory for four Linux kernel patches on swapping and page reclaim.

Polars in, polars out, over a C core. The public verbs live in the packages:
``traces`` (import and scan), ``replay`` (trace x mechanism -> counts), ``slots``
(policies on a workbench), ``machine`` (counts become time), ``claims`` (published x
simulated x measured), ``charts``, and a room for each patch under ``patches``.
``@swapsim.policy`` makes a policy of a function of your own.
"""

from importlib.metadata import version

from swapsim.config.policies import policy as policy

__version__ = version("swapsim")
