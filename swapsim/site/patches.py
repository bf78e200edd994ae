# SPDX-License-Identifier: GPL-2.0-or-later
"""The modules of all patches, and the files that make up a patch."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import polars as pl

from swapsim import io
from swapsim.errors import InputError
from swapsim.io import PACKAGE, laboratory_root, patches_root
from swapsim.patches import batched_removal, cluster_next, stall_decisions, writeback_tags
from swapsim.tables import PATCH, Column, Table

PATCHES: Final = (writeback_tags, batched_removal, stall_decisions, cluster_next)
"""All patches, in the order of their numbers."""

CARD: Final = Table(
    "CARD",
    "One row per card of a patch: the fields of its front matter (TOML), all needed, and its text.",
    PATCH,
    Column("title", pl.String, "subject of the mail, or what the card is on"),
    Column("author", pl.String, "who posted the patch; after a semicolon, others"),
    Column("date", pl.String, "day of the mail, as 2016-09-09; then other versions"),
    Column("outcome", pl.String, "what became of the patch; README shows the words up to a stop"),
    Column("before", pl.String, "kernel without the patch, as the mail names it"),
    Column("after", pl.String, "kernel with the patch"),
    Column(
        "model",
        pl.List(pl.String),
        "headers of corelib/include/swapsim: 'NAME.h' or 'NAME.h: functions'",
    ),
    Column("not_modelled", pl.List(pl.String), "what the model leaves out, each in words"),
    Column("body", pl.String, "the card's text below the front matter, in markdown"),
)


def patch_cards() -> pl.DataFrame:
    """Read the card of each patch: TOML between lines of +++, then markdown (CARD).

    Examples
    --------
    >>> from swapsim.site import patches
    >>> patches.patch_cards().select("patch", "author", "date").row(1)
    ('02-batched-removal', 'Mel Gorman', '2016-09-09')
    """
    cards = []
    for path in sorted(patches_root().glob("[0-9][0-9]-*/card.md")):
        front, closing, body = io.read_text(path).removeprefix("+++\n").partition("\n+++\n")
        if not closing:
            raise InputError("a card starts with TOML between two lines of +++", path=path, line=1)
        fields = io.parse_toml(front, path, "its front matter is no TOML")
        cards.append(fields | {"patch": path.parent.name, "body": body.strip()})
        if missing := [name for name in CARD.schema if name not in cards[-1]]:
            raise InputError("is missing in the card: write it", path=path, field=missing[0])
    return pl.DataFrame(cards, schema=CARD.schema, orient="row")


def parts_of(patch: str) -> pl.DataFrame:
    """List the parts of a patch in the order in which they are built.

    Parameters
    ----------
    patch : str
        ``NN-slug``, the name of its folder; a patch that is not begun lacks each part.

    Returns
    -------
    polars.DataFrame
        A row for each file: the ``part``, what it ``holds``, the ``file``, and whether it is
        ``there``.

    Examples
    --------
    >>> from swapsim.site import patches
    >>> begun = patches.parts_of("08-my-patch")
    >>> begun["file"].to_list()[:3]
    ['patches/08-my-patch/card.md', 'data/published/08-my-patch.csv', \
'corelib/include/swapsim/NAME.h']
    >>> begun["there"].any()
    False
    """
    models = patch_cards().filter(patch=patch)["model"].explode()
    headers = [model.partition(":")[0] for model in models.drop_nulls()] or ["NAME.h"]
    subjects = [header.removesuffix(".h") for header in headers]
    packages = [vars(each)["__name__"] for each in PATCHES if patch == each.PATCH]
    name = packages[0].rpartition(".")[2] if packages else "NAME"
    subject = next((each for each in subjects if find_spec(f"swapsim.{each}")), subjects[0])
    there = find_spec(f"swapsim.{subject}")
    replay = getattr(import_module(f"swapsim.{subject}"), "replay", None) if there else None
    module = replay.__module__ if replay else f"swapsim.{subject}.replay"
    rows = [
        ("card", "what it claims and changes, and its model", f"patches/{patch}/card.md"),
        ("tables", "a row for each printed cell", f"data/published/{patch}.csv"),
        *(
            ("mechanism", "a header that teaches it", f"corelib/include/swapsim/{header}")
            for header in headers
        ),
        ("replay", "a trace to counts", f"{module.replace('.', '/')}.py"),
        ("module", "its machine, fit, studies, columns", f"swapsim/patches/{name}.py"),
        ("notebook", "the essay", f"notebooks/{patch}.ipynb"),
    ]
    columns = {"part": pl.String, "holds": pl.String, "file": pl.String}
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    return frame.with_columns(there=pl.Series([_at(file).is_file() for _, _, file in rows]))


def _at(file: str) -> Path:
    """Return where a file of the repository lies, in a checkout or in an installed package."""
    folder, _, inside = file.partition("/")
    if folder == "swapsim":
        return PACKAGE / inside
    return laboratory_root() / file
