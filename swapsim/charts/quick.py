# SPDX-License-Identifier: GPL-2.0-or-later
"""Altair, imported without what it does not need: three quarters of the time.

It imports jsonschema, which builds a grammar of international addresses to check such strings, if
the library for them is there (JupyterLab needs it). No chart has such a string.
"""

import sys
from typing import Any, cast

_GRAMMAR = "rfc3987_syntax"

_there = sys.modules.get(_GRAMMAR)
cast(dict[str, Any], sys.modules)[_GRAMMAR] = _there  # None: an import fails
try:
    import altair as alt
finally:
    if _there is None:
        del sys.modules[_GRAMMAR]

__all__ = ["alt"]
