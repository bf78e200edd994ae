# SPDX-License-Identifier: GPL-2.0-or-later
"""The files that make up a patch, and which of them exist."""

from pathlib import Path

import polars as pl

import swapsim
from swapsim import claims
from swapsim.io.paths import laboratory_root
from swapsim.site.patches import PATCHES


def parts_of(patch: str) -> pl.DataFrame:
    """List the parts of a patch in the order in which they are built.

    Parameters
    ----------
    patch : str
        ``NN-slug``, a folder of patches; a patch that is not begun lacks each part.

    Returns
    -------
    polars.DataFrame
        ``part, holds, file String`` (seen from the repository), ``there Boolean``.
    """
    models = claims.patch_cards().filter(patch=patch)["model"].explode()
    headers = [model.partition(":")[0] for model in models.drop_nulls()] or ["NAME.h"]
    subjects = [header.removesuffix(".h") for header in headers]
    packages = [vars(each)["__name__"] for each in PATCHES if patch == each.PATCH]
    name = packages[0].rpartition(".")[2] if packages else "NAME"
    subject = next((each for each in subjects if _at(f"swapsim/{each}").is_dir()), subjects[0])
    rows = [
        ("card", "what it claims and changes, and its model", f"patches/{patch}/card.md"),
        ("claims", "a row for each printed figure", f"data/published/{patch}.csv"),
        *(
            ("mechanism", "a header that teaches it", f"corelib/include/swapsim/{header}")
            for header in headers
        ),
        ("replay", "a trace to counts", f"swapsim/{subject}/replay.py"),
        ("package", "its machine, fit, prediction, verdict", f"swapsim/patches/{name}/__init__.py"),
        ("notebook", "the essay", f"notebooks/{patch}.ipynb"),
    ]
    columns = {"part": pl.String, "holds": pl.String, "file": pl.String}
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    return frame.with_columns(there=pl.Series([_at(file).is_file() for _, _, file in rows]))


def _at(file: str) -> Path:
    """Return where a file of the repository lies, in a checkout or in an installed package."""
    folder, _, inside = file.partition("/")
    if folder == "swapsim":
        return Path(swapsim.__file__).parent / inside
    return laboratory_root() / file
