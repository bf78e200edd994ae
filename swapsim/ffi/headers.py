# SPDX-License-Identifier: GPL-2.0-or-later
"""What the headers of the C library say of a struct's field or of an enumerator.

The comment above a declaration is compiled in, so that Python repeats neither a field's meaning nor
its range. A config of a subject is then its fields with their defaults::

    @documented("struct sws_mapping_config")
    @checked
    @dataclass(frozen=True, slots=True, kw_only=True)
    class MappingConfig:
        \"\"\"The address_spaces of one swap device and of files (``mapping.h``).\"\"\"

        kernel: str = "4.8"
        swap_slots: int = 2**32

        def __post_init__(self) -> None:
            check_choice("kernel", self.kernel, MAPPING_KERNELS)
            check_ranges(self, "struct sws_mapping_config")

A range is what the comment says as ``1 .. 10`` or ``0 .. SWS_SLOTS_MAX``. A ConfigError names a
field that is out of it, and its value.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, fields
from functools import cache
from inspect import cleandoc
from textwrap import fill
from typing import Any, Final, TypeVar

from swapsim._core import ffi, lib
from swapsim.checks import check_number

Config = TypeVar("Config")

_END: Final = r"(?:SWS_\w+|\d+(?:\^\d+)?)"
_RANGE: Final = re.compile(rf"(?<![\w.])({_END}) \.\. ({_END})(?! [-+*/])")
_LIMIT: Final = re.compile(r"\bSWS_[A-Z]\w+_(?:MAX|MIN|PAGES)\b")
_ENTRY: Final = re.compile(r"^(\w+(?:, \w+)*) : .+$", re.MULTILINE)
_DEFAULT: Final = re.compile(r"[;,.]? ?[Dd]efault(?: is)? .*?(?=[;.](?:\s|$)|: )")


@cache
def _comments() -> dict[str, str]:
    lines = ffi.string(lib.sws_comments).decode().splitlines()
    return dict(line.split("\t", 1) for line in lines)


def comment(name: str) -> str:
    """Return the comment of an enumerator (SWS_X) or of a field (sws_x_config.field)."""
    return _comments()[name]


def problem(enum: str, number: int) -> str:
    """Return what an enumerator says of a problem, as a part of a sentence."""
    text = comment(ffi.typeof(enum).elements[number])
    return text[0].lower() + text[1:].rstrip(".")


@cache
def ranges(struct: str) -> dict[str, tuple[int, int]]:
    """Return the lowest and highest value of each number whose comment says them."""
    found = {}
    for name, field in ffi.typeof(struct).fields:
        ends = _RANGE.search(_comments().get(f"{struct.removeprefix('struct ')}.{name}", ""))
        if ends and field.type.kind == "primitive":
            found[name] = _number(ends[1]), _number(ends[2])
    return found


def check_ranges(config: object, struct: str, **others: tuple[int, int]) -> None:
    """Require that each field of a config that is in the struct lies in its range.

    `others` are ranges of fields whose comment has none, or one with an exception.
    """
    for name, (low, high) in (ranges(struct) | others).items():
        if hasattr(config, name):
            check_number(name, getattr(config, name), low, high)


def documented(*structs: str) -> Callable[[type[Config]], type[Config]]:
    """Complete the docstring of a dataclass: the fields that it lacks, from these structs.

    A docstring may have entries of its own, for fields that no struct has: it ends with them. Each
    entry states its default, unless that is None.
    """

    def complete(config: type[Config]) -> type[Config]:
        known = {field.name: field for field in fields(config)}  # type: ignore[arg-type]
        text = _ENTRY.sub(
            lambda entry: entry[0] + _default([known[name] for name in entry[1].split(", ")]),
            cleandoc(config.__doc__ or ""),
        )
        lines = [text] if "\nParameters\n" in text else [text, "", "Parameters", "----------"]
        documented = {name for entry in _ENTRY.finditer(text) for name in entry[1].split(", ")}
        for name, field in known.items():
            if name not in documented:
                lines.append(f"{name} : {_type(field.type)}{_default([field])}")
                lines.append(_meaning(structs, name))
        lines += ["", "Raises", "------", "ConfigError", "    A field is out of its range."]
        config.__doc__ = "\n".join(lines)
        return config

    return complete


def _type(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _default(of: Sequence[Field[Any]]) -> str:
    """Return the defaults of fields as the end of their entry's first line."""
    known = {field.name: field.default for field in of if field.default not in (None, MISSING)}
    if not known:
        return ""
    values = {name: _shown(value) for name, value in known.items()}
    if len({*values.values()}) == 1 and len(known) == len(of):
        return f", default {next(iter(values.values()))}"
    return f", default {', '.join(f'{name}={value}' for name, value in values.items())}"


def _shown(value: object) -> str:
    """Return a default as Python writes it; a large power of 2 as a power."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, bool) or not isinstance(value, int):
        return repr(value)
    power = _power(value)
    return power if "**" in power else f"{value:_}"


def _meaning(structs: tuple[str, ...], field: str) -> str:
    """Return the comment of a field as numpydoc has it: without its default, limits as numbers."""
    names = (f"{struct.removeprefix('struct ')}.{field}" for struct in structs)
    text = _DEFAULT.sub("", next(comment(name) for name in names if name in _comments()))
    text = _LIMIT.sub(lambda name: _limit(name[0]), text.replace(" .. ", " to "))
    return fill(text.rstrip(". ") + ".", 90, initial_indent="    ", subsequent_indent="    ")


def _limit(name: str) -> str:
    """Return a limit as a text."""
    return _power(_number(name))


def _power(value: int) -> str:
    """Return a whole number as a text; a large power of 2 as a power, which markdown would eat."""
    power = value.bit_length() - 1
    return f"``2**{power}``" if value and value == 1 << power > 1 << 16 else f"{value}"


def _number(text: str) -> int:
    if text.startswith("SWS_"):
        return int(getattr(lib, text))
    base, _, power = text.partition("^")
    return int(pow(int(base), int(power or 1)))
