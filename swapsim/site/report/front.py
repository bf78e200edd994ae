# SPDX-License-Identifier: GPL-2.0-or-later
"""The front page and the page of all claims: the same verdicts, a few and all."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from swapsim import charts, claims
from swapsim.site import overview
from swapsim.site.report.cells import figure
from swapsim.site.report.links import RULES, card_page
from swapsim.site.report.provenance import Provenance, Ran
from swapsim.site.report.shell import fill
from swapsim.site.report.verdicts import Verdicts


def article(verdicts: Verdicts) -> str:
    """Return the front page's question, picture and verdicts."""
    spec: dict[str, Any] = overview.picture().to_dict()
    png = base64.b64encode(charts.png(spec)).decode()
    data = {"application/vnd.vegalite+json": spec, "image/png": png}
    return fill(
        "front",
        picture=Markup(figure({"data": data})),
        headlines=verdicts.headlines,
        titles=_titles(),
        total=len(verdicts.claims),
        counted={column: verdicts.counted(column) for column in ("simulated", "measured")},
        rules=RULES,
    )


def claims_article(verdicts: Verdicts) -> str:
    """Return each claim with its verdicts, by patch."""
    titles = _titles()
    return fill(
        "claims",
        claims=verdicts.claims,
        titles=titles,
        cards={patch: card_page(patch) for patch in titles},
        rules=RULES,
    )


def made(
    entries: Sequence[tuple[str, str, str]], runs: Sequence[Ran], provenance: Provenance
) -> str:
    """Return what the front page says behind its verdicts: what to read, and how it was made.

    Parameters
    ----------
    entries : sequence of (str, str, str)
        Name, title and verdict of each notebook.
    runs : sequence of Ran
    provenance : Provenance
    """
    return fill("made", entries=entries, runs=runs, provenance=provenance)


def _titles() -> Mapping[str, str]:
    """Return the title of each patch's card."""
    return dict(claims.patch_cards().select("patch", "title").iter_rows())
