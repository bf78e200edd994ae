# SPDX-License-Identifier: GPL-2.0-or-later
"""The process that decodes Parquet files of unknown origin; such a file may end it.

It reads the length of a file (8 bytes, little-endian) and its bytes from stdin, answers with one
byte on stdout, 1 for a table and 0 otherwise, and repeats this until stdin ends.
"""

import io
import os
import resource
import sys

import polars as pl


def main() -> None:
    """Validate files until stdin ends."""
    _limit_memory()
    while length := sys.stdin.buffer.read(8):
        data = sys.stdin.buffer.read(int.from_bytes(length, "little"))
        try:
            pl.read_parquet(io.BytesIO(data))
            answer = b"\1"
        except (Exception, pl.exceptions.PanicException):
            answer = b"\0"
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()


def _limit_memory() -> None:
    """Limit the address space, so that this process ends before the machine lacks memory."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = 2 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limits = [limit for limit in (soft, most) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))


if __name__ == "__main__":
    main()
