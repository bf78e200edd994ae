# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices of the library, made from the configs of oracle_slots."""

from dataclasses import fields
from typing import Any

from oracle_slots import OK, Answer, CacheWork, Call, Config, Kernel, Question, State, Work

from swapsim._core import ffi, lib

OWN_FIELDS = ("kernel", "policy", "user", "initial_bases", "state", "cpu", "slots", "trail")
CONFIG_FIELDS = [field.name for field in fields(Config) if field.name not in OWN_FIELDS[:4]]
CALL_FIELDS = [
    field.name for field in fields(Call) if field.name not in (*OWN_FIELDS, "scanned_many", "parts")
]
"""Fields that have the same name and type in C."""


def wayward(question: Question) -> Answer:
    """Answer as a user's function might: with good bases, those of others, and invalid ones."""
    answers = (
        question.next,
        question.base,
        question.highest,
        question.lowest + question.draw % question.trunk_size,
        question.bases[-1],
        question.cpu - question.mm - 5,
        2**40 + question.draw,
    )
    return answers[question.draw % len(answers)], len(question.bases)


@ffi.callback(
    "int64_t(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,"
    " const int64_t *, int64_t, int64_t *)"
)
def wayward_in_c(*arguments: Any) -> int:
    """Let the library call the same function."""
    *numbers, bases, n_bases, looked_at = arguments
    answer, looked = wayward(Question(*numbers, list(bases[0:n_bases])))
    looked_at[0] += looked
    return answer


def fill_config(target: Any, config: Config) -> Any:
    """Write a config for the library; return what must stay alive until it is read."""
    lib.sws_slots_config_init(ffi.addressof(target))
    for name in CONFIG_FIELDS:
        setattr(target, name, getattr(config, name))
    target.kernel, target.policy = int(config.kernel), int(config.policy)
    if config.user is not None:
        target.reader.base_of = int(config.user.base_of)
        target.reader.initial = int(config.user.initial)
        target.reader.store = wayward_in_c
    if config.initial_bases is None:
        return None
    target.initial_bases = bases = ffi.new("int64_t[]", config.initial_bases)
    return bases


def make_device(config: Config) -> Any:
    """Return a device that frees itself."""
    target, out = ffi.new("struct sws_slots_config *"), ffi.new("struct sws_slots **")
    alive = fill_config(target[0], config)
    assert lib.sws_slots_new(target, out) == OK
    del alive
    return ffi.gc(out[0], lib.sws_slots_free)


def make_cache(config: Config, enabled: bool = True) -> Any:
    """Return a device behind slot caches that free themselves."""
    target, out = ffi.new("struct sws_slot_cache_config *"), ffi.new("struct sws_slot_cache **")
    lib.sws_slot_cache_config_init(target)
    target.enabled = enabled
    alive = fill_config(target.device, config)
    assert lib.sws_slot_cache_new(target, out) == OK
    del alive
    return ffi.gc(out[0], lib.sws_slot_cache_free)


def verify(code: int, reason: Any) -> None:
    """Require that a check of invariants found none violated."""
    assert code == OK, ffi.string(reason[0]).decode()


def call_in_c(call: Any, kernel: Kernel) -> dict[str, Any]:
    """Return what a C call says; scanned_many has a meaning from 5.7 with scan-more on."""
    said = {name: getattr(call, name) for name in CALL_FIELDS}
    said["state"] = State(call.state)
    said["slots"] = list(call.slots[0 : call.given])
    said["trail"] = [(getattr(part, "from"), part.to) for part in call.trail[0 : call.n_trail]]
    if kernel >= Kernel.V5_7_SCAN_MORE:
        said["scanned_many"] = call.scanned_many
    return said


def counted(work: Any, names: type[Work] | type[CacheWork]) -> dict[str, int]:
    """Return the counters of a C struct that has the fields of a class of the oracle."""
    return {field.name: getattr(work, field.name) for field in fields(names)}


class DeviceInC:
    """A device of the library, with a call and the counters of its work."""

    def __init__(self, config: Config) -> None:
        self.config, self.handle = config, make_device(config)
        self.call = ffi.new("struct sws_slots_call *")
        self.work = ffi.new("struct sws_slots_work *")

    def allocate(self, wanted: int, cpu: int = 0, mm: int = -1) -> list[int]:
        """Return the slots of a complete call."""
        assert lib.sws_slots_allocate(self.handle, cpu, mm, wanted, self.call, self.work) == OK
        return list(self.call.slots[0 : self.call.given])

    def free(self, *slots: int) -> None:
        """Free slots."""
        assert lib.sws_slots_free_entries(self.handle, slots, len(slots), self.work) == OK

    def bases(self) -> list[int]:
        """Return all bases."""
        count = lib.sws_slots_bases(self.handle)
        return [lib.sws_slots_base(self.handle, owner) for owner in range(count)]

    def fill_with_pages(self) -> None:
        """Hand all slots out, and put a page into each."""
        while slots := self.allocate(64):
            for slot in slots:
                code = lib.sws_slots_duplicate(self.handle, slot, ffi.new("uint8_t *"), self.work)
                assert code == OK

    def start_at(self, base: int) -> None:
        """Set the first base, and count from zero."""
        assert lib.sws_slots_set_base(self.handle, 0, base) == OK
        self.work[0] = ffi.new("struct sws_slots_work *")[0]
