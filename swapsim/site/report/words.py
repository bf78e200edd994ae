# SPDX-License-Identifier: GPL-2.0-or-later
"""The page that says what each column and metric means, from where it is written in the code."""

import inspect
from typing import Final

from markupsafe import Markup

from swapsim.frames import glossary
from swapsim.machine.run import run
from swapsim.site.report.markdown import as_html, line_as_html
from swapsim.site.report.shell import fill
from swapsim.slots import METRICS

NAME: Final = "words"
TITLE: Final = "What the columns and metrics mean"


def article() -> str:
    """Return the page's one HTML element."""
    return fill(
        "words",
        title=TITLE,
        groups=glossary.groups(),
        metrics=METRICS,
        machine=Markup(as_html(_returned(run))),
        line=lambda text: Markup(line_as_html(text)),
        block=lambda text: Markup(as_html(text)),
    )


def _returned(verb: object) -> str:
    """Return what a verb's docstring says of what it returns."""
    _, _, told = (inspect.getdoc(verb) or "").partition("Returns\n-------\n")
    lines = told.partition("\n\n")[0].splitlines()[1:]
    return inspect.cleandoc("\n".join(lines))
