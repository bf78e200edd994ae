# SPDX-License-Identifier: GPL-2.0-or-later
"""A TOML table whose fields are taken one by one; a field that is left is an error."""

import tomllib
from pathlib import Path
from typing import Any, Final, TypeVar

from rig.errors import CaptureError

T = TypeVar("T")
LIKE: Final = "like"

_KINDS: Final = {
    int: "an integer",
    str: "a string",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


def read_fields(path: Path) -> dict[str, Any]:
    """Read all fields of a file, and those that only the file has which its field `like` names."""
    path, *others = files(path)
    own = _parse(path)
    own.pop(LIKE, None)
    return over(_parse(others[0]), own) if others else own


def files(path: Path) -> list[Path]:
    """Return the files that make a description: its own, and the one that it is like."""
    like = _parse(path).get(LIKE)
    if like is None:
        return [path]
    other = path.with_name(f"{like}.toml")
    if not other.is_file() or LIKE in _parse(other):
        wanted = "give the name of a description that has all fields itself"
        raise CaptureError(f"{path.name}: field '{LIKE}' is {like!r}: {wanted}")
    return [path, other]


def over(fields: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return fields with some of them replaced, in their tables, too."""
    tables = {
        name: over(fields[name], value)
        for name, value in changes.items()
        if isinstance(value, dict) and isinstance(fields.get(name), dict)
    }
    return fields | changes | tables


def _parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CaptureError(f"{path.name}: cannot be read: {error}") from error


def read_table(path: Path) -> "Table":
    """Read a file as a table."""
    return Table(path, "", read_fields(path))


class Table:
    """A table of a file, or all of it; each error names the file."""

    def __init__(self, path: Path, prefix: str, fields: dict[str, Any]) -> None:
        self.path = path
        self._prefix = prefix
        self._fields = dict(fields)

    def __bool__(self) -> bool:
        """Return whether fields are left."""
        return bool(self._fields)

    def error(self, field: str, message: str) -> CaptureError:
        """Make an error that names file and field."""
        return CaptureError(f"{self.path.name}: field '{self._prefix}{field}' {message}")

    def take(self, field: str, kind: type[T], default: T | None = None) -> T:
        """Take a field of one kind, or its default."""
        value = self._fields.pop(field, default)
        if value is None:
            raise self.error(field, f"is missing: give {_KINDS[kind]}")
        if type(value) is not kind:
            raise self.error(field, f"is {value!r}: give {_KINDS[kind]}")
        return value

    def take_positive(self, field: str, default: int | None = None) -> int:
        """Take an integer above 0; 0, too, where that is the default."""
        value = self.take(field, int, default)
        if value < 0 or (value == 0 and default != 0):
            raise self.error(field, f"is {value}: give a number above 0")
        return value

    def take_numbers(self, field: str, default: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """Take different integers above 0: a list of them, or a single one."""
        value = self._fields.pop(field, None)
        if value is None and default is not None:
            return default
        numbers = value if isinstance(value, list) else [value]
        if not numbers or not all(type(number) is int and number > 0 for number in numbers):
            raise self.error(field, f"is {value!r}: give a number above 0, or a list of such")
        if len(set(numbers)) < len(numbers):
            raise self.error(field, f"is {value!r}: give each number once")
        return tuple(numbers)

    def take_strings(self, field: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """Take a list of strings that are not empty."""
        value = self.take(field, list, None if default is None else list(default))
        if not all(isinstance(entry, str) and entry.strip() for entry in value):
            raise self.error(field, f"is {value!r}: give a list of strings")
        if default is None and not value:
            raise self.error(field, "is empty: give one string at least")
        return tuple(value)

    def take_table(self, field: str) -> "Table":
        """Take a table; a missing one has no fields."""
        return Table(self.path, f"{self._prefix}{field}.", self.take(field, dict, {}))

    def take_tables(self, field: str) -> "list[Table]":
        """Take a list of tables."""
        tables = self.take(field, list, [])
        if not all(isinstance(table, dict) for table in tables):
            raise self.error(field, f"is {tables!r}: write it as [[{field}]]")
        return [Table(self.path, f"{field}[{i}].", table) for i, table in enumerate(tables)]

    def rest(self) -> dict[str, Any]:
        """Take all fields that are left."""
        fields, self._fields = self._fields, {}
        return fields

    def close(self) -> None:
        """Refuse fields that were not taken."""
        for field in self._fields:
            raise self.error(field, "is unknown: remove it")
