# SPDX-License-Identifier: GPL-2.0-or-later
"""The page that says what each column and metric means, from their declarations."""

from typing import Final

from markupsafe import Markup

from swapsim.frames import glossary
from swapsim.site.report.markdown import as_html, line_as_html
from swapsim.site.report.shell import fill

NAME: Final = "words"
TITLE: Final = "What the columns and metrics mean"


def article() -> str:
    """Return the page's one HTML element."""
    return fill(
        "words",
        title=TITLE,
        groups=glossary.groups(),
        line=lambda text: Markup(line_as_html(text)),
        block=lambda text: Markup(as_html(text)),
    )
