# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of arguments and configs: each error quotes the argument and its value, and what to give.

``@checked`` compares the arguments of a public function, or the fields of a dataclass, with their
annotations before anything else is done. The other functions check a value's range.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from functools import cache, wraps
from numbers import Integral, Real
from types import FunctionType, NoneType, UnionType
from typing import (
    Any,
    Final,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from swapsim.errors import ArgumentError, ConfigError

Checked = TypeVar("Checked", bound=Callable[..., Any])

_LONGEST: Final = 60
"""Characters of a value that an error quotes; a longer one is quoted as its type."""

_ALIKE: Final = 0.8  # least similarity of a name that is suggested (difflib's ratio)
_SHORTEST: Final = 3  # characters up to which a part of a name says too little of it

_ARRAYS: Final = ("numpy", "polars.series")  # modules of columns, which serve as sequences

_WORDS: Final[Mapping[object, str]] = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "a text",
    bytes: "bytes",
    NoneType: "None",
}


def check_number(
    name: str, value: object, low: int, high: int | None = None, why: str = ""
) -> None:
    """Require an integer of at least `low`, and at most `high`; `why` ends the message."""
    if not fits(value, int) or int(value) < low or (high is not None and int(value) > high):  # type: ignore[call-overload]
        what = f"{low}" if high == low else f"a whole number from {low} "
        if high != low:
            what += "on" if high is None else f"to {high}"
        raise ConfigError(f"{name}={value!r}: choose {what}{why}")


def check_share(name: str, value: object) -> None:
    """Require a number above 0 and up to 1."""
    if not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise ConfigError(f"{name}={value!r}: choose a number above 0 and up to 1")


def check_choice(name: str, value: object, choices: Iterable[object]) -> None:
    """Require one of the choices."""
    if value not in (known := tuple(choices)):
        raise ConfigError(
            f"{name}={value!r}: {suggestion(value, known)}choose one of "
            f"{', '.join(map(str, known))}"
        )


def suggestion(given: object, known: Iterable[object], most: int = 1) -> str:
    """Return "did you mean NAME? " with the known names near to a given one, or an empty text."""
    names = " or ".join(nearest(given, known, most))
    return f"did you mean {names}? " if names else ""


def nearest(given: object, known: Iterable[object], most: int = 1) -> list[str]:
    """Return the known names that are spelt like a given one, else those that contain it."""
    typed = _typed(given)
    spelt = {_typed(each): str(each) for each in known}
    near = get_close_matches(typed, spelt, most, _ALIKE) or [
        each for each in spelt if len(typed) > _SHORTEST and typed in each
    ]
    return [spelt[each] for each in near[:most]]


def _typed(name: object) -> str:
    """Return a name as it is compared: without capitals, and with dashes for underscores."""
    return str(name).lower().replace("_", "-")


def checked(thing: Checked) -> Checked:
    """Check the arguments of a function or of a dataclass against the annotations, on each call.

    A wrong type, an unknown or missing argument is an `ArgumentError` with the remedy.
    """
    if isinstance(thing, type):
        thing.__init__ = _checked(thing.__init__, thing.__name__)  # type: ignore[misc]
        return thing
    return _checked(thing, thing.__name__)  # type: ignore[return-value]


def _checked(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    signature = inspect.signature(function)
    hints = cache(lambda: get_type_hints(inspect.unwrap(function)))

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:
            raise ArgumentError(_unbound(name, signature, args, kwargs)) from None
        _check_given(name, signature, hints(), given)
        return function(*args, **kwargs)

    call.unchecked = function  # type: ignore[attr-defined]
    return call


def unchecked(function: Checked) -> Checked:
    """Return a function without its checks."""
    return getattr(function, "unchecked", function)


def _check_given(
    owner: str, signature: inspect.Signature, hints: Mapping[str, Any], given: Mapping[str, Any]
) -> None:
    for name, value in given.items():
        kind, hint = signature.parameters[name].kind, hints.get(name, Any)
        if kind is inspect.Parameter.VAR_POSITIONAL:
            values = [(name, each, hint) for each in value]
        elif kind is inspect.Parameter.VAR_KEYWORD:
            values = list(_of_keywords(owner, hint, value, signature.parameters))
        else:
            values = [(name, value, hint)]
        for each, one, needed in values:
            if not fits(one, needed):
                swapped = _swapped(name, given, hints)
                of, part, kind_of = (each, one, needed) if swapped else _inside(each, one, needed)
                verb = "choose" if "self" in given else f"{owner} needs"
                remedy = swapped or _remedy(of, part, kind_of)
                raise ArgumentError(f"{of}={brief(part)}: {verb} {words(kind_of)}{remedy}")


def _of_keywords(
    owner: str, hint: Any, given: Mapping[str, Any], named: Mapping[str, Any]
) -> Iterator[tuple[str, object, Any]]:
    """Yield name, value and annotation of each of a function's other keywords."""
    (table,) = get_args(hint) or (hint,)
    if not is_typeddict(table):
        yield from ((name, value, hint) for name, value in given.items())
        return
    known = get_type_hints(table)
    for name, value in given.items():
        if name not in known:
            raise ArgumentError(_unknown(owner, name, value, {**named, **known}))
        yield name, value, known[name]


def _unbound(
    owner: str, signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> str:
    """Return why these arguments are not those of a function."""
    more = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    kinds = {each.kind for each in signature.parameters.values()}
    known = {
        name: each
        for name, each in signature.parameters.items()
        if name != "self" and each.kind not in more
    }
    for name, value in kwargs.items():
        if name not in known and inspect.Parameter.VAR_KEYWORD not in kinds:
            return _unknown(owner, name, value, known)
    in_order = [
        name
        for name, each in known.items()
        if each.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    ]
    values = args["self" in signature.parameters :]
    if len(values) > len(in_order) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        if not in_order and isinstance(values[0], FunctionType):  # a decorator
            needed = ", ".join(
                f"{n}=..." for n, each in known.items() if each.default is each.empty
            )
            return (
                f"{owner} takes no function: write parentheses after its name, @{owner}({needed})"
            )
        extra = brief(values[len(in_order)])
        others = ", ".join(f"{name}=" for name in known if name not in in_order)
        named = f"; name the others ({others})" if others else ""
        takes = f"only {', '.join(in_order)}" if in_order else "nothing"
        return f"{owner} takes {takes} without a name, and was given {extra}, too{named}"
    there = {*in_order[: len(values)], *kwargs}
    missing = [n for n, each in known.items() if n not in there and each.default is each.empty]
    if missing:
        return f"{owner} needs {', '.join(f'{name}=' for name in missing)}: give it"
    twice = [name for name in in_order[: len(values)] if name in kwargs]
    return f"{owner} has {twice[0]} twice: give it once"


def _unknown(owner: str, name: str, value: object, known: Iterable[str]) -> str:
    near = suggestion(name, known := tuple(known)).strip()
    hint = near.replace("?", "=?") or f"choose of {', '.join(known) or 'none'}"
    return f"{name}={brief(value)}: {owner} has no such argument; {hint}"


def fits(value: object, hint: Any) -> bool:
    """Whether a value is of the type of an annotation: True is no number, and a text no list."""
    if hint is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    if hint is float:
        return isinstance(value, Real) and not isinstance(value, bool) and value == value  # no NaN
    origin, args = get_origin(hint), get_args(hint)
    if origin is None:
        if hint is None:
            return value is None
        is_class = isinstance(hint, type) and hint is not Any
        protocol = getattr(hint, "_is_protocol", False)
        return not is_class or protocol or is_typeddict(hint) or isinstance(value, hint)
    if origin in (Union, UnionType):
        return any(fits(value, each) for each in args)
    if origin is Literal:
        return value in args
    if origin is Callable:
        return callable(value)
    if not isinstance(origin, type) or origin is type:
        return isinstance(value, type) if origin is type else True
    return _holds(value, origin, args)


def _holds(value: object, origin: type, args: Sequence[Any]) -> bool:
    """Whether a value is a container of this kind, and all that it contains is of its types."""
    if isinstance(value, str | bytes):
        return False
    if origin is Sequence and type(value).__module__.startswith(_ARRAYS):
        return True
    if not isinstance(value, origin):
        return False
    if isinstance(value, Mapping):
        pairs = zip(args, (value, value.values()), strict=False)
        return all(fits(each, hint) for hint, part in pairs for each in part)
    if isinstance(value, tuple) and origin is tuple and args[1:] != (...,):
        return len(value) == len(args) and all(map(fits, value, args))
    if isinstance(value, list | tuple | set | frozenset) and args:
        return all(fits(each, args[0]) for each in value)
    return True


def _inside(name: str, value: object, hint: Any) -> tuple[str, object, Any]:
    """Return name, value and annotation of what does not fit: the value, or an item in it."""
    for option in _options(hint):
        origin, args = get_origin(option), get_args(option)
        if not (isinstance(origin, type) and args and _holds(value, origin, ())):
            continue
        if isinstance(value, Mapping):
            items = [(key, each, args[-1]) for key, each in value.items()]
        elif isinstance(value, list | tuple) and (len(set(args) - {...}) == 1):
            items = [(at, each, args[0]) for at, each in enumerate(value)]
        else:
            continue
        for key, each, needed in items:
            if not fits(each, needed):
                return _inside(f"{name}[{key!r}]", each, needed)
    return name, value, hint


def _options(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def words(hint: Any) -> str:
    """Return what an annotation asks for, in words."""
    origin, args = get_origin(hint), get_args(hint)
    if hint in _WORDS:
        return _WORDS[hint]
    if origin in (Union, UnionType):
        names = list(dict.fromkeys(map(words, args)))
        if {"a Path", "a text"} <= set(names):
            names = ["a path", *(each for each in names if each not in ("a Path", "a text"))]
        *first, last = names
        return f"{', '.join(first)} or {last}" if first else last
    if origin is Literal:
        return f"one of {', '.join(map(repr, args))}"
    if origin is Callable:
        return "a function"
    if origin is not None and issubclass(origin, Mapping):
        return "a dict"
    if origin is not None:
        of = next((words(each) for each in args if not isinstance(each, TypeVar)), "")
        return f"a {'tuple' if origin is tuple else 'list'}{f' ({of} each)' if of else ''}"
    name = getattr(hint, "IN_WORDS", getattr(hint, "__name__", str(hint)))
    if getattr(hint, "__module__", "").startswith("polars"):
        name = f"polars.{name}"
    return f"{'an' if name[:1] in 'AEIOUaeio' else 'a'} {name}"


def _swapped(name: str, given: Mapping[str, Any], hints: Mapping[str, Any]) -> str:
    """Return the remedy for two arguments of which each has the other's type."""
    for other, value in given.items():
        if other == name or not {name, other} <= hints.keys() or fits(value, hints[other]):
            continue
        if fits(value, hints[name]) and fits(given[name], hints[other]):
            return f"; {name} and {other} are swapped"
    return ""


def _remedy(name: str, value: object, hint: Any) -> str:
    """Return what makes the value fit, as the end of a message; empty if that is not known."""
    kind = type(value)
    for option in _options(hint):
        of = get_args(option)
        if get_origin(option) in (Sequence, list, tuple) and of and fits(value, of[0]):
            return f"; give a list: {name}=[{brief(value)}]"
        if getattr(option, "__name__", "") == "DataFrame":
            if kind.__name__ == "LazyFrame":
                return f"; give {name}.collect()"
            if kind.__module__.startswith("pandas"):
                return f"; give polars.from_pandas({name})"
            if isinstance(value, Mapping) and all(isinstance(of, Real) for of in value.values()):
                changed = "; change rows of the table, as machine.costs.change_costs does"
                return changed if name == "constants" else "; give a table: a row for each"
            if isinstance(value, Mapping | list):
                return f"; give polars.DataFrame({name})"
        if option is Executor and hasattr(value, "get_executor"):
            return f"; give {name}.get_executor()"
        if isinstance(option, type) and isinstance(value, type) and issubclass(value, option):
            return f"; give {value.__name__}(...)"
        if is_dataclass(option) and isinstance(value, Mapping):
            return f"; give {option.__name__}(**{name})"  # type: ignore[union-attr]
        if option is str and isinstance(value, Real) and not isinstance(value, bool):
            return f'; write {name}="{value}"'
        if option is int and (whole := _whole(value)) is not None:
            return f"; write {name}={whole}"
    return ""


def _whole(value: object) -> int | None:
    """Return the integer that a text or a float stands for; None if there is none."""
    try:
        whole = int(value) if isinstance(value, str | float) else None
    except (ValueError, OverflowError):
        return None
    return whole if isinstance(value, str) or whole == value else None


def brief(value: object) -> str:
    """Return a value as code in at most a few words; of a config what differs from the defaults."""
    if is_dataclass(value) and not isinstance(value, type):
        shown = ((f, getattr(value, f.name)) for f in fields(value) if f.repr)
        changed = [f"{f.name}={brief(v)}" for f, v in shown if repr(v) != repr(f.default)]
        return f"{type(value).__name__}({', '.join(changed)})"
    text = repr(value)
    plain = len(text) <= _LONGEST and "\n" not in text
    return text if plain else f"<{type(value).__name__}>"
