# SPDX-License-Identifier: GPL-2.0-or-later
"""A compressed picture is the same picture."""

import struct
import zlib

from hypothesis import given
from hypothesis import strategies as st

from swapsim.charts.theme import packed

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(kind: bytes, data: bytes) -> bytes:
    """Return a chunk of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def pixels_of(png: bytes) -> bytes:
    """Return the pixels of a picture with one IDAT."""
    start = png.index(b"IDAT")
    (length,) = struct.unpack_from(">I", png, start - 4)
    return zlib.decompress(png[start + 4 : start + 4 + length])


@given(
    rows=st.lists(st.binary(min_size=9, max_size=9), min_size=1, max_size=40), cut=st.integers(0)
)
def test_all_pixels_stay(rows: list[bytes], cut: int) -> None:
    """For any chunks of the data; all other chunks stay, too."""
    pixels = b"".join(rows)
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 2, len(rows), 8, 6, 0, 0, 0))
    deflated = zlib.compress(pixels, 0)
    cut %= len(deflated)
    parts = chunk(b"IDAT", deflated[:cut]) + chunk(b"IDAT", deflated[cut:])
    png = SIGNATURE + head + chunk(b"pHYs", b"x" * 9) + parts + chunk(b"IEND", b"")
    small = packed(png)
    assert pixels_of(small) == pixels
    assert small.startswith(SIGNATURE + head + chunk(b"pHYs", b"x" * 9))
    assert small.endswith(chunk(b"IEND", b""))
    assert packed(small) == small
