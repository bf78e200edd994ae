# SPDX-License-Identifier: GPL-2.0-or-later
"""The generations of the C library (``mglru.h``): rules, and decisions of columns."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from swapsim._core import ffi, lib
from swapsim.errors import InputError
from swapsim.ffi import MGLRU_RULES, MGLRU_SWITCHES, MGLRU_TYPES, check, frame_of, pointers, records
from swapsim.mglru.recording import COUNTERS, EQUAL, GENERATIONS, MORE, TERM, TIERS, TYPES
from swapsim.policies import Observation, TypePolicy
from swapsim.traces.verification import AGAIN

_TIERED: Final = tuple(f"{each}_{tier}" for each in TYPES for tier in TIERS)
_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "counters": tuple(f"{name}_{at}" for name in COUNTERS for at in _TIERED),
    "more": tuple(f"{name}_more_{at}" for name in MORE for at in _TIERED),
    "min_seq": tuple(f"min_seq_{each}" for each in TYPES),
    **{name: (f"{name}_1", f"{name}_2") for name in ("scan", "pages", "taken")},
}
_SIZES: Final[Mapping[str, tuple[str, ...]]] = {
    "min_seq": _COLUMNS["min_seq"],
    "pages": tuple(f"pages_{each}_{gen}" for each in TYPES for gen in GENERATIONS),
}
_NEITHER: Final = lib.SWS_MGLRU_NEITHER
_NOT_ASKED: Final = 2
_CHOOSE: Final = ffi.typeof(ffi.new("struct sws_mglru_rules *").choose)


def rules_struct(rules: str, switches: Mapping[str, bool | int] | None = None) -> Any:
    """Return a rule set, some switches changed, as ``struct sws_mglru_rules *``."""
    made = ffi.new("struct sws_mglru_rules *")
    check(lib.sws_mglru_rules_init(MGLRU_RULES.index(rules), made))
    for name, value in (switches or {}).items():
        setattr(made, name, value)
    return made


def switches_of(rules: str) -> dict[str, bool | int]:
    """Return the switches of a rule set by their names."""
    made = rules_struct(rules)
    return {name: getattr(made, name) for name in MGLRU_SWITCHES}


def chooses_file(
    rules: str, state: Mapping[str, Any], switches: Mapping[str, bool | int] | None = None
) -> bool:
    """Return whether file pages are scanned first in a state: ``struct sws_mglru_state``."""
    choice = ffi.new("struct sws_mglru_choice *")
    lib.sws_mglru_choose(
        rules_struct(rules, switches), ffi.new("struct sws_mglru_state *", state), choice
    )
    return bool(choice.type == lib.SWS_MGLRU_FILE)


def choices(
    rows: pl.DataFrame, rules: str | TypePolicy, switches: Mapping[str, bool | int] | None = None
) -> pl.DataFrame:
    """Return what rules choose for rows of MGLRU_CHOICES, and how that compares with them."""
    made_rules = rules_struct(rules if isinstance(rules, str) else rules.rules, switches)
    if isinstance(rules, TypePolicy):
        made_rules.choose = ffi.cast(_CHOOSE, rules.address)
    array, out = records("struct sws_mglru_chosen", rows.height)
    made = choice_rows(rows)
    at = ffi.new("uint64_t *")
    code = lib.sws_mglru_choices(made_rules, rows.height, made, out, at)
    if code == lib.SWS_ERROR_BAD_CONFIG and isinstance(rules, TypePolicy):
        observe(rows.slice(at[0], 1), rules, switches)
    _check(code, rows, at[0], "generation_choices")
    return frame_of(array).with_columns(
        pl.col("type_equal", "tier_equal").cat.to(EQUAL),
        pl.col("type", "first").cat.to(pl.Enum(MGLRU_TYPES)),
        pl.col("term").cat.to(TERM),
    )


def choice_rows(rows: pl.DataFrame) -> Any:
    """Return rows of MGLRU_CHOICES as ``struct sws_mglru_choice_rows *``."""
    filled = rows.with_columns(
        pl.col("scan_1", "scan_2").to_physical().cast(pl.UInt8).fill_null(_NEITHER),
        pl.col("pages_1", "pages_2", "taken_1", "taken_2").fill_null(0),
    )
    return _columns("struct sws_mglru_choice_rows", filled, _COLUMNS)


def observe(
    rows: pl.DataFrame, policy: TypePolicy, switches: Mapping[str, bool | int] | None
) -> None:
    """Raise the error of a user's function for the first of these rows for which it fails."""
    observed = Observation(policy)
    choices(rows, observed.policy, switches)
    observed.check()


def steps(rows: pl.DataFrame, rules: str) -> pl.DataFrame:
    """Return what rules decide in rows of MGLRU_STEPS, whose calls are not interleaved."""
    array, out = records("struct sws_mglru_stepped", rows.height)
    made = step_rows(rows)
    at = ffi.new("uint64_t *")
    code = lib.sws_mglru_steps(rules_struct(rules), rows.height, made, out, at)
    _check(code, rows, at[0], "generation_steps")
    return frame_of(array).with_columns(pl.col("age_equal", "size_equal").cat.to(EQUAL))


def step_rows(rows: pl.DataFrame) -> Any:
    """Return rows of MGLRU_STEPS as ``struct sws_mglru_step_rows *``."""
    acts = [name for name in rows.columns if name.endswith("_acts")]
    filled = rows.with_columns(
        *(pl.col(name).fill_null(pl.col(name.removesuffix("_acts"))) for name in acts),
        pl.col("batch", "freed", "wanted", "order").fill_null(0),
        stop=pl.col("stop").cast(pl.UInt8).fill_null(_NOT_ASKED),
    )
    kind = "struct sws_mglru_size_rows"
    then = filled.select(pl.col(acts).name.map(lambda name: name.removesuffix("_acts")))
    sizes = {"before": _columns(kind, filled, _SIZES), "acts": _columns(kind, then, _SIZES)}
    return _columns("struct sws_mglru_step_rows", filled, sizes)


def _check(code: int, rows: pl.DataFrame, at: int, table: str) -> None:
    if code == lib.SWS_ERROR_BAD_ARGUMENT:
        raise InputError(
            f"the row with seq {rows['seq'][at]} of {table} has a state that cannot be: fewer than "
            f"two or more than four generations, a swappiness or priority out of range: {AGAIN}"
        )
    check(code)


def _columns(struct: str, frame: pl.DataFrame, others: Mapping[str, Any]) -> Any:
    """Return columns as a struct; others are the columns of its arrays, or its structs."""
    found = {
        name: [frame[each] for each in others[name]]
        if isinstance(others.get(name), tuple)
        else others.get(name, frame.get_column(name, default=None))
        for name, _ in ffi.typeof(struct).fields
    }
    return pointers(struct, found)
