# SPDX-License-Identifier: GPL-2.0-or-later
"""Addresses of the mails, commits and articles that our texts cite; no other module builds one."""

import re
from typing import Final

ARCHIVE: Final = "https://lore.kernel.org/all/"
COMMITS: Final = "https://git.kernel.org/linus/"
ARTICLES: Final = "https://lwn.net/Articles/"
SHORT: Final = 12  # digits of a commit in our texts and in its address

_FORMS: Final = {
    "mail": (
        re.compile(r"[A-Za-z0-9.+=_-]+@[A-Za-z0-9.-]+"),
        "a message id: name@host without angle brackets",
    ),
    "commit": (
        re.compile(rf"[0-9a-f]{{{SHORT}}}([0-9a-f]{{28}})?"),
        "a commit: 12 or 40 hexadecimal digits",
    ),
    "article": (re.compile(r"[1-9][0-9]*"), "the number of an article"),
    "source": (re.compile(r"https://[^\s()<>\"|]+"), "an address that begins with https://"),
    "date": (re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"), "a day, as 2016-08-30"),
}
"""What the target of each kind, and the day of a mail, looks like: a pattern, and words."""


def misfit(kind: str, target: str) -> str | None:
    """Return what the target of a kind, or a date, has to be; None if it is that."""
    pattern, words = _FORMS[kind]
    return None if pattern.fullmatch(target) else words


def address(kind: str, target: str) -> str:
    """Return the address of a mail, commit, article or other source (LINK_KIND)."""
    if kind == "mail":
        return f"{ARCHIVE}{target}/"
    if kind == "commit":
        return f"{COMMITS}{target[:SHORT]}"
    return f"{ARTICLES}{target}/" if kind == "article" else target
