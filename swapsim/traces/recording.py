# SPDX-License-Identifier: GPL-2.0-or-later
"""What a reader of a recording reports, in addition to the text that it yields."""

from dataclasses import dataclass, field, replace

from swapsim.errors import InputError
from swapsim.traces._native import Skipped


@dataclass(slots=True)
class Recording:
    """A recording in one of the known formats; its reader fills it while its text is read."""

    path: str
    """Its name in messages."""
    keep_going: bool
    """True if parts that cannot be read are skipped and counted."""
    format: str = ""
    """Its format, one of ``formats.FORMATS``."""
    head: dict[str, int | str] = field(default_factory=dict)
    """What the head of a text says of its recorder."""
    names: dict[int, str] = field(default_factory=dict)
    """Names of tasks by pid, where an event has none."""
    unplaced: int = 0
    """Lost events whose CPU is not known."""
    others: int = 0
    """Events of types that no replay reads."""
    _skipped: dict[str, Skipped] = field(default_factory=dict)

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """The parts that could not be read, by kind."""
        return tuple(self._skipped.values())

    def skip(self, kind: str, at: int, problem: str) -> None:
        """Count a part that cannot be read, such as packet 12; raise without keep_going."""
        if not self.keep_going:
            raise InputError(
                f"{kind} {at} {problem}: fetch it again, or skip such parts with keep_going=True",
                path=self.path,
            )
        first = self._skipped.setdefault(
            kind, Skipped(kind=kind, lines=0, line=at, field=None, problem=problem)
        )
        self._skipped[kind] = replace(first, lines=first.lines + 1)
