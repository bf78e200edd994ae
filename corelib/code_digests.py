# SPDX-License-Identifier: GPL-2.0-or-later
"""Compute a digest of the code behind each name of the API, as the compiler sees it.

A stored result is valid as long as the code that computed it is the same. The bytes of files, or of
the library, are no suitable criterion, because a comment or a compiler changes them. So the
sources are read as the compiler reads them::

    comments, #include and white space are dropped
    the rest is split into definitions at top level
    the names in a definition refer to definitions of its own file and of headers that it
        includes first, and then to those of other files that the linker sees

The digest of a name is that of the set of all definitions that it can reach: their files, folders
and order do not matter. An enumerator is a definition of its own, with its value, so that a new one
at the end of an enum does not change the others.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

_COMMENT_OR_TEXT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""", re.DOTALL
)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)[ \t]*([^\n]*)$", re.MULTILINE)
_TOKEN = re.compile(
    r"""[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'
    |->|\+\+|--|<<=?|>>=?|[-+*/%&|^=!<>]=|&&|\|\||\#\#|\.\.\.|\S""",
    re.VERBOSE,
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_TYPES = ("struct", "union", "typedef")
_OPENS, _CLOSES = frozenset("([{"), frozenset(")]}")


class Scope(Enum):
    """The files in which a definition's name has this meaning."""

    FILE = "in its file and those that include it, and there exclusively"
    TYPE = "in its file and those that include it"
    PROGRAM = "in all files, by the linker"


@dataclass(frozen=True)
class Definition:
    """A definition at top level: its name, the scope of the name, and its tokens."""

    name: str
    file: Path
    scope: Scope
    tokens: tuple[str, ...]

    def digest(self) -> str:
        """Return the hash of the tokens."""
        return hashlib.sha256("\0".join(self.tokens).encode()).hexdigest()


def digests(corelib: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the digest of each of these names that the sources define.

    Parameters
    ----------
    corelib : Path
        The folder that has ``include`` and ``src``.
    names : iterable of str
        Functions, structs, enumerators or macros.
    """
    code = _Code(corelib)
    return {name: _of_all(code.reached(name)) for name in names if name in code.by_name}


class _Code:
    """All definitions, and the look-up of a name in a file."""

    def __init__(self, corelib: Path) -> None:
        roots = (corelib / "src", corelib / "include")
        files = [path for root in roots for path in sorted(root.rglob("*.[ch]"))]
        self.by_name: dict[str, list[Definition]] = defaultdict(list)
        self._includes: dict[Path, list[Path]] = {}
        for path in files:
            text = _without_comments(path.read_text(encoding="utf-8"))
            self._includes[path] = [
                found
                for kind, words in _DIRECTIVE.findall(text)
                if kind == "include" and words.startswith('"')
                for root in roots
                if (found := root / words.strip('"')).is_file()
            ]
            for definition in _definitions(path, text):
                self.by_name[definition.name].append(definition)
        self._seen_from = {path: self._closure(path) for path in files}

    def _closure(self, path: Path) -> set[Path]:
        seen = {path}
        left = [path]
        while left:
            new = set(self._includes[left.pop()]) - seen
            seen |= new
            left += new
        return seen

    def reached(self, name: str) -> set[Definition]:
        """Return the definitions of a name of the API, and all definitions that they refer to."""
        found = set(self.by_name[name])
        left = list(found)
        while left:
            definition = left.pop()
            new = {
                other
                for token in {*definition.tokens} - {definition.name}
                if _NAME.fullmatch(token)
                for other in self._meant(token, definition.file)
            }
            left += new - found
            found |= new
        return found

    def _meant(self, name: str, file: Path) -> list[Definition]:
        if name not in self.by_name:
            return []
        seen = [each for each in self.by_name[name] if each.file in self._seen_from[file]]
        own = [each for each in seen if each.scope == Scope.FILE]
        types = [each for each in seen if each.scope == Scope.TYPE]
        linked = [each for each in self.by_name[name] if each.scope == Scope.PROGRAM]
        return own or types + linked


def _without_comments(text: str) -> str:
    def without(match: re.Match[str]) -> str:
        return " " if match[0].startswith("/") else match[0]

    return _COMMENT_OR_TEXT.sub(without, text.replace("\\\n", " "))


def _definitions(file: Path, text: str) -> Iterator[Definition]:
    """Yield the definitions of a file, without its declarations."""
    for kind, words in _DIRECTIVE.findall(text):
        match kind, _TOKEN.findall(words):
            case "define", [name, *rest]:
                yield Definition(name, file, Scope.FILE, (name, *rest))
            case (("include" | "ifndef" | "endif"), _):
                pass
            case _:
                raise SystemExit(f"{file}: #{kind} is not supported here: do not use it")
    for tokens in _pieces(_TOKEN.findall(_DIRECTIVE.sub("", text))):
        if tokens[0] == "enum" and "{" in tokens:
            yield from _enumerators(file, tokens)
        elif (name := _name_of(tokens)) is not None:
            yield Definition(name, file, _scope_of(tokens), tuple(tokens))


def _pieces(tokens: list[str]) -> Iterator[list[str]]:
    """Split the tokens of a file at the end of each declaration and of each function body."""
    piece: list[str] = []
    depth = 0
    is_body = False
    for token in tokens:
        is_body |= token == "{" and depth == 0 and piece[-1] == ")"
        depth += (token in _OPENS) - (token in _CLOSES)
        piece.append(token)
        if depth == 0 and (token == ";" or (token == "}" and is_body)):
            yield piece
            piece, is_body = [], False


def _name_of(tokens: list[str]) -> str | None:
    """Return the name that a piece defines; None for a declaration."""
    head = tokens[: next(at for at, token in enumerate(tokens) if token in "{=;")]
    ending = tokens[len(head)]
    is_type = head[0] in _TYPES
    if ending == ";" and head[0] != "typedef" and ((is_type and len(head) == 2) or "(" in head):
        return None
    if "(" in head:
        opening = head.index("(")
        return head[opening + 2 if head[opening + 1] == "*" else opening - 1]
    return [token for token in head[: (*head, "[").index("[")] if _NAME.fullmatch(token)][-1]


def _scope_of(tokens: list[str]) -> Scope:
    if "static" in tokens[: (*tokens, "{").index("{")]:
        return Scope.FILE
    is_type = tokens[0] == "typedef" or (tokens[0] in _TYPES and tokens[-2:] == ["}", ";"])
    return Scope.TYPE if is_type else Scope.PROGRAM


def _enumerators(file: Path, tokens: list[str]) -> Iterator[Definition]:
    """Yield the names of an enum, each with the last explicit value and the steps since it."""
    opening, closing = tokens.index("{"), tokens.index("}")
    since, steps = ["0"], 0
    member: list[str] = []
    for token in [*tokens[opening + 1 : closing], ","]:
        if token != ",":
            member.append(token)
        elif member:
            since, steps = (member[2:], 0) if member[2:] else (since, steps)
            yield Definition(member[0], file, Scope.FILE, (member[0], *since, f"+{steps}"))
            member, steps = [], steps + 1


def _of_all(definitions: Iterable[Definition]) -> str:
    """Hash a set of definitions, independent of their order."""
    text = "\n".join(sorted({definition.digest() for definition in definitions}))
    return hashlib.sha256(text.encode()).hexdigest()[:32]
