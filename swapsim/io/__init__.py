# SPDX-License-Identifier: GPL-2.0-or-later
"""Files: each failure to read one is a single line, and each output is written atomically.

The bytes of a file are read once, compared with their SHA-256 where it is known, and decoded from
memory, so that what was compared is what is decoded.
"""

from swapsim.io.atomic import atomic_file, new_folder, write_atomically
from swapsim.io.parquet import decode, decode_height, decode_metadata, decode_schema, validate
from swapsim.io.text import (
    parse_toml,
    read_bytes,
    read_text,
    read_toml,
    sha256_of,
    translate_errors,
)

__all__ = [
    "atomic_file",
    "decode",
    "decode_height",
    "decode_metadata",
    "decode_schema",
    "new_folder",
    "parse_toml",
    "read_bytes",
    "read_text",
    "read_toml",
    "sha256_of",
    "translate_errors",
    "validate",
    "write_atomically",
]
