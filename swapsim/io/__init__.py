# SPDX-License-Identifier: GPL-2.0-or-later
"""Files: each failure to read one is a single line, and each output is written atomically.

The bytes of a file are read once, compared with their SHA-256 where it is known, and decoded from
memory, so that what was compared is what is decoded.
"""

from typing import TYPE_CHECKING

from swapsim import lazy

if TYPE_CHECKING:
    from swapsim.io.atomic import atomic_file as atomic_file
    from swapsim.io.atomic import new_folder as new_folder
    from swapsim.io.atomic import write_atomically as write_atomically
    from swapsim.io.parquet import decode as decode
    from swapsim.io.parquet import decode_height as decode_height
    from swapsim.io.parquet import decode_metadata as decode_metadata
    from swapsim.io.parquet import decode_schema as decode_schema
    from swapsim.io.parquet import validate as validate
    from swapsim.io.text import parse_toml as parse_toml
    from swapsim.io.text import read_bytes as read_bytes
    from swapsim.io.text import read_text as read_text
    from swapsim.io.text import read_toml as read_toml
    from swapsim.io.text import sha256_of as sha256_of
    from swapsim.io.text import translate_errors as translate_errors
else:
    lazy.export(__name__)
