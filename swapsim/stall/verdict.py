# SPDX-License-Identifier: GPL-2.0-or-later
"""How a trace of reclaim stands to a set of rules, in tables and in words."""

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True, slots=True, kw_only=True)
class StallVerdict:
    """What a kernel's reclaim decided, beside what a set of rules decides.

    Attributes
    ----------
    rules : str
        One of STALL_RULES.
    lists, passes, throttles : polars.DataFrame
        Schemas JUDGED_LISTS, JUDGED_PASSES and JUDGED_THROTTLES.
    faults : polars.DataFrame
        Schema STALL_FAULTS: every row that differs, those of rounds and clears too.
    left_out : dict of str to int
        Lists and passes that the recording's ends cut, by kind: they are not judged.
    unasked : dict of str to int
        Calls for a sleep whose reason no row tells, by kind: their lengths alone are judged.
    missing : int
        Sleeps that the rules ask for and nobody called for.
    first : tuple of str
        The first row that differs, in some lines; none if all hold.
    """

    rules: str
    lists: pl.DataFrame
    passes: pl.DataFrame
    throttles: pl.DataFrame
    faults: pl.DataFrame
    left_out: dict[str, int]
    unasked: dict[str, int]
    missing: int
    first: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing differs."""
        return self.faults.is_empty()

    @property
    def counted(self) -> int:
        """Lists whose counters came out."""
        return self.lists.height - int((self.lists["fault"] == "counters").sum())

    @property
    def decided(self) -> int:
        """Passes that were decided as by the rules."""
        return self.passes["fault"].null_count()

    @property
    def held(self) -> int:
        """Calls for a sleep that the rules ask for, of the right length."""
        return self.throttles["fault"].null_count()

    @property
    def raced(self) -> int:
        """Lists, passes and calls that saw a flag which the rows' order leaves open."""
        return sum(int(table["raced"].sum()) for table in (self.lists, self.passes, self.throttles))

    def describe(self) -> list[str]:
        """Say in some lines what was found: the first difference, what is open, the counts."""
        lines = list(self.first)
        if self.faults.height > 1:
            lines.append(f"{self.faults.height} rows differ")
        lines += [f"not judged: {n} {kind}" for kind, n in self.left_out.items() if n]
        lines += [f"judged by their length alone: {n} {kind}" for kind, n in self.unasked.items()]
        if self.raced:
            lines.append(
                f"raced: {self.raced} lists, passes and throttles saw a flag that other tasks "
                "changed meanwhile: it could have been either"
            )
        return [
            *lines,
            f"decided {self.decided} of {self.passes.height} passes as the kernel did "
            f"({self.counted} of {self.lists.height} lists' counters, "
            f"{self.held} of {self.throttles.height + self.missing} throttles)",
        ]
