# SPDX-License-Identifier: GPL-2.0-or-later
"""TOML, out of a file or out of a part of one."""

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from swapsim.errors import InputError
from swapsim.io.door import door
from swapsim.io.raw import read_text

_STRING: Final = re.compile(r"""\"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_PARTS: Final = 1000
"""Of a dotted key: for each further one tomllib goes through all that came before."""


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file says.

    Raises
    ------
    InputError
        As for `read_text` and `parse_toml`.
    """
    return parse_toml(read_text(path), path)


def parse_toml(text: str, path: Path, wrong: str = "is no TOML") -> dict[str, Any]:
    """Return what a text says.

    Parameters
    ----------
    text : str
    path : Path
        The file that it stands in.
    wrong : str
        What is wrong with the file if the text is no TOML.

    Raises
    ------
    InputError
        It is no TOML; or nested deeper than Python goes, or has a key of more than 1000 parts.
    """
    bare = _STRING.sub("", text)
    if any(key.count(".") > _PARTS for key in re.split(r"[,=\[\]{}\n]", bare)):
        raise InputError(f"{wrong} (a key of more than {_PARTS} parts): mend it", path=path)
    with door(path, wrong, "mend it", quote=True):
        return tomllib.loads(text)
