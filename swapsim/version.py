# SPDX-License-Identifier: GPL-2.0-or-later
"""The version of the installed package."""

from importlib.metadata import version

__version__ = version("swapsim")
