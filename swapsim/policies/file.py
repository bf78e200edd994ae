# SPDX-License-Identifier: GPL-2.0-or-later
"""The policies of a Python file, which runs with the rights of the caller.

The file is not importable by name: its functions are sent to other processes by their code.
"""

import sys
import traceback
from pathlib import Path

from swapsim import interrupt, io
from swapsim.errors import InputError, SwapsimError
from swapsim.policies.policy import Policy


def policies_in(path: Path | str) -> tuple[Policy, ...]:
    """Run a Python file and return the policies that it makes, in order."""
    path = Path(path)
    found = {id(each): each for each in _run(path).values() if isinstance(each, Policy)}
    policies = tuple(found.values())
    if not policies:
        raise InputError(
            "makes no policy: decorate a function with @swapsim.policy(base_of='cpu')", path=path
        )
    names = [policy.name for policy in policies]
    twins = [name for name in names if names.count(name) > 1]
    if twins:
        raise InputError(f"makes two policies called {twins[0]}: rename one", path=path)
    return policies


def _run(path: Path) -> dict[str, object]:
    text = io.read_text(path)
    try:
        code = compile(text, str(path), "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        raise InputError(f"is not Python ({_said(error)}): fix it", path=path, line=line) from None
    # The name is None, or numba would import the file as the module of its functions.
    names: dict[str, object] = {"__name__": None, "__file__": str(path)}
    # At the end, so that a file next to it cannot replace a library of the same name.
    sys.path.append(str(path.resolve().parent))
    try:
        exec(code, names)
        interrupt.check()
    except SwapsimError as error:
        if str(path) in str(error):
            raise
        raise InputError(str(error), path=path, line=line_in(error, str(path))) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        interrupt.check()
        raise InputError(
            f"raises {_said(error)}: fix it", path=path, line=line_in(error, str(path))
        ) from None
    return names


def line_in(error: BaseException, filename: str) -> int | None:
    """Return the last line of a file in an error's traceback."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == filename
    ]
    return lines[-1] if lines else None


def _said(error: BaseException) -> str:
    """Return an error's type and message in one line."""
    try:
        words = str(getattr(error, "msg", None) or error)
    except Exception:
        words = ""  # The error is the file's own class, whose __str__ raises.
    return f"{type(error).__name__}: {' '.join(words.split())}".rstrip(": ")
