# SPDX-License-Identifier: GPL-2.0-or-later
"""Check that claims have the figures of the tables that they name.

Stored results depend on `claims.published`, and not on this.
"""

from collections.abc import Mapping
from math import fsum, isclose
from pathlib import Path
from typing import Any, Final

from swapsim.claims.published import mails, published_claims, published_tables
from swapsim.errors import InputError
from swapsim.io.paths import data_root

_APART: Final = 1.5
"""Points by which a mail's printed change and that of its rounded figures differ, at most."""


def require_cells(root: Path | None = None) -> None:
    """Require that each claim has a known mail, its change and, of a table, the cells' figures.

    The InputError names file, line and field of the first claim that does not.
    """
    folder = data_root() / "published" if root is None else root
    known = set(mails(root)["mail"])
    printed = {
        (mail, locator): value
        for mail, locator, value in published_tables(root)
        .select("mail", "locator", "value")
        .iter_rows()
    }
    stated = published_claims(root)
    for line, claim in enumerate(stated.iter_rows(named=True), start=2):
        if claim["mail"] not in known:
            why = f"{claim['mail']!r} is not in mails.csv: add its row there, or fix the name"
            field = "mail"
        else:
            field, why = _differing(claim, printed)
            if not field:
                field, why = _misprinted(claim)
        if field:
            raise InputError(why, path=folder / "claims.csv", line=line, field=field)


def _differing(
    claim: Mapping[str, Any], printed: Mapping[tuple[str, str], float]
) -> tuple[str, str]:
    """Return the field in which a claim differs from its cells, empty if none does, and how.

    A locator in prose has no cells; one with a plus is a sum of rows; one on one kernel has no
    base.
    """
    if claim["locator"].startswith("prose"):
        return "", ""
    table, rows, kernels = [*claim["locator"].split(" | "), "", ""][:3]
    base, _, kernel = kernels.partition(" -> ")

    def figure(column: str) -> float | None:
        places = [f"{table} | {row} | {column}" for row in rows.split(" + ")]
        cells = [printed[at] for place in places if (at := (claim["mail"], place)) in printed]
        return fsum(cells) if len(cells) == len(places) else None

    wanted = {"base": figure(base), "value": figure(kernel)}
    if wanted["base"] is wanted["value"] is None:
        return "locator", (
            f"{claim['locator']!r} is in no table of {claim['mail']}: write 'table | row | base -> "
            "kernel' as in the locators of its cells, or begin with prose"
        )
    if base == kernel:
        wanted["base"] = None
    for field, cell in wanted.items():
        given = claim[field]
        if cell is None and given is not None:
            return field, f"{given:.15g}, where the table has no figure: leave it empty"
        if cell is not None and (given is None or not isclose(given, cell)):
            shown = "no figure" if given is None else f"{given:.15g}"
            return field, f"{shown}, where the table has {cell:.15g}: copy it"
    return "", ""


def _misprinted(claim: Mapping[str, Any]) -> tuple[str, str]:
    """Return "change" if it is not that of the claim's figures, else an empty text, and why."""
    if claim["base"] and claim["value"] is not None:
        change = 100 * (claim["value"] / claim["base"] - 1)
        if abs(change - claim["change"]) > _APART or change * claim["change"] < 0:
            return "change", f"{claim['change']:.3g}, where base and value give {change:.3g}"
    return "", ""
