# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls into the C core, and nobody else's: configs to structs, columns to arrays, codes to errors.

A C handle lives inside one function. Columns that come back are copied once. A module for each
header; `facts` is what the library says of itself, for all packages above.
"""
