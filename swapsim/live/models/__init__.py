# SPDX-License-Identifier: GPL-2.0-or-later
"""The models of the live panels: NAME.js runs in a page, NAME.py returns the same rows natively.

A setting is a dictionary of values that JSON can hold, with the names of the model's config. Seeds
above 2**53 are text, because JSON rounds numbers in JavaScript.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import polars as pl

from swapsim.live.models import locks, machine, mglru, slots, stall

MODELS: Final[dict[str, Callable[[Mapping[str, Any]], pl.DataFrame]]] = {
    "mglru": mglru.rows,
    "locks": locks.rows,
    "machine": machine.rows,
    "slots": slots.rows,
    "stall": stall.rows,
}
"""The models by name."""
