# SPDX-License-Identifier: GPL-2.0-or-later
"""What a sweep on other machines needs: the same code there, and the point that kills workers.

A Dask client's executor (``client.get_executor()``) runs a sweep as any other executor does. Other
machines may have another version of this package, which would return other results, so that each
worker compares its own installation with the caller's.
"""

import hashlib
import socket
from collections.abc import Callable
from concurrent.futures import Executor
from functools import cache, partial
from pathlib import Path
from typing import TypeGuard, TypeVar

from swapsim.errors import SwapsimError
from swapsim.ffi import code_digests
from swapsim.io.paths import data_root
from swapsim.version import __version__

Done = TypeVar("Done")


def is_cluster(executor: Executor | None) -> TypeGuard[Executor]:
    """Whether an executor is that of a Dask client, whose workers may be on other machines."""
    return type(executor).__module__.partition(".")[0] == "distributed"


def is_killed_worker(error: BaseException) -> bool:
    """Whether an error is Dask's for a task whose workers were killed again and again."""
    return "KilledWorker" in [kind.__name__ for kind in type(error).__mro__]


def same_there(call: Callable[[], Done]) -> Callable[[], Done]:
    """Return a call that fails on a worker with another installation of this package."""
    return partial(_call_if_same, call, installation())


def _call_if_same(call: Callable[[], Done], wanted: str) -> Done:
    if installation() != wanted:
        raise SwapsimError(
            f"the worker on {socket.gethostname()} has another swapsim ({__version__}) or "
            "other tables in data than the caller: install the same one on all machines"
        )
    return call()


@cache
def installation() -> str:
    """Return the digest of this package's code, in Python and C, and of the models' constants."""
    package = Path(__file__).resolve().parents[1]
    carried = package / "laboratory"  # a wheel's, next to the code
    code = [path for path in sorted(package.rglob("*.py")) if carried not in path.parents]
    parts = [str(sorted(code_digests().items())).encode()]
    for path in [*code, *sorted(data_root().rglob("*.csv"))]:
        parts.append(hashlib.sha256(path.read_bytes()).digest())
    return hashlib.sha256(b"".join(parts)).hexdigest()
