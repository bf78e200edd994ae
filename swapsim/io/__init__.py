# SPDX-License-Identifier: GPL-2.0-or-later
"""One door for files: whatever is wrong with one that we read comes out of it as one line.

A file's bytes are read once, held to their SHA-256 where one is known, and decoded from memory:
what was compared is what is decoded, whoever writes to the disk meanwhile. What we write goes out
of it whole or not at all.
"""

from swapsim.io.door import careful, door, or_none
from swapsim.io.parquet import decode, decode_height, decode_metadata, decode_schema
from swapsim.io.raw import read_bytes, read_text, sha256_of
from swapsim.io.tasting import taste
from swapsim.io.toml import parse_toml, read_toml
from swapsim.io.whole import new_folder, whole_file

__all__ = [
    "careful",
    "decode",
    "decode_height",
    "decode_metadata",
    "decode_schema",
    "door",
    "new_folder",
    "or_none",
    "parse_toml",
    "read_bytes",
    "read_text",
    "read_toml",
    "sha256_of",
    "taste",
    "whole_file",
]
