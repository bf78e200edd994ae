# SPDX-License-Identifier: GPL-2.0-or-later
"""What covers all patches: overview, README's tables, report, notebooks, benchmarks."""

from typing import TYPE_CHECKING

from swapsim.lazy import submodules

if not TYPE_CHECKING:  # mypy would see a circle: a part of the site imports swapsim
    __getattr__, __dir__ = submodules(
        __name__,
        *("bench", "newest", "notebooks", "overview", "patches"),
        *("readme", "report", "simulated"),
    )

__all__: list[str] = []
