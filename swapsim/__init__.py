# SPDX-License-Identifier: GPL-2.0-or-later
"""A laboratory for four Linux kernel patches on swapping and page reclaim.

Polars in, polars out, over a C core. The public verbs live in the modules:
``traces`` (import and scan), ``replay`` (trace x mechanism -> counts),
``published`` (tables, claims, cards), ``compare`` (published x simulated x
measured), ``charts`` and ``report``. ``@swapsim.policy`` makes a policy of a
function of your own.
"""

from importlib.metadata import version

from swapsim.config.policies import policy as policy

__version__ = version("swapsim")
