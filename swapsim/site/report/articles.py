# SPDX-License-Identifier: GPL-2.0-or-later
"""What takes time to make, an article each: known by what it was made of, and taken over.

::

    <!-- made of DIGEST -->            first line of a page, or of an article without one
    ... <article ...> ... </article>   the shell around it is made anew each time

An article whose digest is still the same is not made again, wherever it lies: in the report that is
there, or among those of one that did not come to its end.
"""

import hashlib
import re
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Final

import swapsim
from swapsim import io
from swapsim.errors import InputError
from swapsim.ffi import facts
from swapsim.io.paths import data_root

_MADE_WITH: Final = ("*.py", "templates/notebook/*.j2")

_ARTICLE: Final = re.compile(r"<article.*</article>", re.DOTALL)


@dataclass(frozen=True)
class Shelf:
    """Where articles lie, and the digests that good ones have.

    Attributes
    ----------
    folders : tuple of Path
        The first is written to.
    digests : dict of str to str
        By the article's name.
    """

    folders: tuple[Path, ...]
    digests: dict[str, str]

    def first_line(self, name: str) -> str:
        """Return the line that tells what a page's article was made of."""
        return f"<!-- made of {self.digests[name]} -->\n"

    def find(self, name: str) -> str | None:
        """Return an article that is made of the same, or None."""
        for folder in self.folders:
            try:
                page = io.read_text(folder / f"{name}.html")
            except InputError:
                continue
            article = _ARTICLE.search(page)
            if article and page.startswith(self.first_line(name)):
                return article[0]
        return None

    def put(self, name: str, article: str) -> None:
        """Keep an article that is done, whole or not at all."""
        io.write_atomically(
            self.folders[0] / f"{name}.html", (self.first_line(name) + article).encode()
        )


def surroundings() -> bytes:
    """Hash what all articles are made of: package, core, data and libraries."""
    package = Path(swapsim.__file__).parent
    made_with = [path for kind in _MADE_WITH for path in sorted(package.rglob(kind))]
    made_with += sorted(data_root().rglob("*.*"))
    whole = hashlib.sha256(repr(facts.code_digests()).encode())
    whole.update(repr(sorted((each.name, each.version) for each in distributions())).encode())
    for path in made_with:
        if path.is_file():
            whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.digest()


def digest(around: bytes, own: object) -> str:
    """Return what an article is known by: its surroundings, and what it alone is made of."""
    return hashlib.sha256(around + repr(own).encode()).hexdigest()
