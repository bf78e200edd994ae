# SPDX-License-Identifier: GPL-2.0-or-later
"""The process that decodes a Parquet file first, and may die of it.

A damaged file can say of itself that it holds 2^61 rows. Polars then asks for memory that nobody
has, and the process is ended, in whatever it is: no error comes back that could be caught.

It reads from stdin the length of a file (8 bytes, the lowest first) and its bytes, and answers with
one byte on stdout, 1 for a table and 0 for none; and so on until stdin ends.
"""

import io
import os
import resource
import sys

import polars as pl


def main() -> None:
    """Taste what comes."""
    _bound_memory()
    while length := sys.stdin.buffer.read(8):
        data = sys.stdin.buffer.read(int.from_bytes(length, "little"))
        try:
            pl.read_parquet(io.BytesIO(data))
            answer = b"\1"
        except (Exception, pl.exceptions.PanicException):
            answer = b"\0"
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()


def _bound_memory() -> None:
    """Die before the machine is short of memory: what is larger fits in no other process either."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = 2 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limits = [limit for limit in (soft, most) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))


if __name__ == "__main__":
    main()
