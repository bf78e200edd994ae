# SPDX-License-Identifier: GPL-2.0-or-later
"""The rooms of a patch, one in each storey of the house, and which of them stand."""

from pathlib import Path

import polars as pl

import swapsim
from swapsim import claims
from swapsim.io.paths import laboratory_root
from swapsim.site.patches import PATCHES


def rooms_of(patch: str) -> pl.DataFrame:
    """Say which rooms a patch has, in the order in which they are built.

    Parameters
    ----------
    patch : str
        ``NN-slug``, a folder of patches; of one that nobody has begun each room is missing.

    Returns
    -------
    polars.DataFrame
        ``room, holds, file String`` (seen from the repository), ``there Boolean``.

    Raises
    ------
    InputError
        A card, its own or another one, is not as cards are.
    """
    models = claims.patch_cards().filter(patch=patch)["model"].explode()
    headers = [model.partition(":")[0] for model in models.drop_nulls()] or ["NAME.h"]
    packages = [vars(each)["__name__"] for each in PATCHES if patch == each.PATCH]
    name = packages[0].rpartition(".")[2] if packages else "NAME"
    rows = [
        ("card", "what it claims and changes, and its model", f"patches/{patch}/card.md"),
        ("claims", "a row for each printed figure", f"data/published/{patch}.csv"),
        *(
            ("mechanism", "a header that teaches it", f"corelib/include/swapsim/{header}")
            for header in headers
        ),
        ("replay", "a trace to counts", f"swapsim/replay/{name}.py"),
        ("room", "its machine, fit, prediction, verdict", f"swapsim/patches/{name}/__init__.py"),
        ("notebook", "the essay", f"notebooks/{patch}.ipynb"),
    ]
    columns = {"room": pl.String, "holds": pl.String, "file": pl.String}
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    return frame.with_columns(there=pl.Series([_at(file).is_file() for _, _, file in rows]))


def _at(file: str) -> Path:
    package, slash, inside = file.partition("/")
    if package == "swapsim":
        return Path(swapsim.__file__).parent / inside
    return laboratory_root() / f"{package}{slash}{inside}"
