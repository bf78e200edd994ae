# SPDX-License-Identifier: GPL-2.0-or-later
"""The card of each patch: what it is, who wrote it, what became of it."""

from pathlib import Path
from typing import Final

import polars as pl

from swapsim import io
from swapsim.claims.tables import CARDS
from swapsim.errors import InputError
from swapsim.io.paths import patches_root

_FENCE: Final = "+++\n"


def patch_cards(root: Path | None = None) -> pl.DataFrame:
    """Read the card of each patch: TOML between lines of +++, then markdown.

    Parameters
    ----------
    root : Path, optional
        The folder of the NN-slug folders; default: patches.

    Returns
    -------
    polars.DataFrame
        Schema CARDS, one row per card, by number.

    Raises
    ------
    InputError
        Naming the card and the field that is missing, unknown or of another type.
    """
    folder = patches_root() if root is None else root
    paths = sorted(folder.glob("[0-9][0-9]-*/card.md"))
    if not paths:
        raise InputError("no card here: NN-slug/card.md is needed", path=folder)
    cards = pl.DataFrame([_read_card(path) for path in paths], schema=CARDS.schema, orient="row")
    return CARDS.check(cards)


def _read_card(path: Path) -> list[object]:
    text = io.read_text(path)
    before, fence, rest = text.partition(_FENCE)
    front, closing, body = rest.partition("\n" + _FENCE)
    if before or not fence or not closing:
        raise InputError("a card starts with TOML between two lines of +++", path=path, line=1)
    fields = io.parse_toml(front, path, "its front matter is no TOML")
    fields |= {"patch": path.parent.name, "body": body.strip()}
    for column, dtype in CARDS.schema.items():
        value = fields.get(column)
        fits = (
            isinstance(value, list) and all(isinstance(item, str) for item in value)
            if isinstance(dtype, pl.List)
            else isinstance(value, str) and value != ""
        )
        if not fits:
            raise InputError(f"{value!r} is no {dtype}", path=path, field=column)
    extra = sorted(fields.keys() - CARDS.schema.keys())
    if extra:
        raise InputError("no such field in a card: drop it", path=path, field=extra[0])
    return [fields[column] for column in CARDS.schema]
