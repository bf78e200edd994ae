# SPDX-License-Identifier: GPL-2.0-or-later
"""A patch's card as a page: its mail in the archive, its commits in Linux's tree."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from swapsim.site.report.markdown import MAILS, Lead, as_html, line_as_html
from swapsim.site.report.shell import fill


def article(card: Mapping[str, Any], notebooks: Sequence[tuple[str, str]], lead: Lead) -> str:
    """Return a card as one HTML element.

    Parameters
    ----------
    card : mapping
        A row of schema CARDS.
    notebooks : sequence of (str, str)
        Names and titles of the pages of its notebooks.
    lead : callable
        Where its links lead.
    """
    message, space, mark = card["message_id"].partition(" ")
    title, _, body = card["body"].partition("\n")
    return fill(
        "card",
        card=card,
        message=message,
        mark=space + mark,
        mail=MAILS + message,
        notebooks=notebooks,
        body=Markup(as_html(body if title.startswith("# ") else card["body"], lead)),
        **{name: Markup(line_as_html(card[name])) for name in ("fate", "before", "after")},
    )
