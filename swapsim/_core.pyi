# SPDX-License-Identifier: GPL-2.0-or-later
# The extension that cffi makes of the marked regions in corelib/include/swapsim.
from typing import Any

ffi: Any
lib: Any
