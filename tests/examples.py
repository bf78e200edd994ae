# SPDX-License-Identifier: GPL-2.0-or-later
"""The examples of docstrings: lines after >>> are Python, lines after $ are commands."""

import contextlib
import doctest
import io
import re
import shlex

from swapsim.cli import main

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def shell(command: str) -> None:
    """Run a command of the laboratory and print what it prints, without empty lines."""
    program, *arguments = shlex.split(command)
    assert program == "swapsim", command
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(arguments) == 0, command
    print(re.sub(r"\n\s*\n", "\n", printed.getvalue()), end="")


def parsed(docstring: str, name: str) -> doctest.DocTest:
    """Return the examples of a docstring, a command as a call of `shell`."""
    text = re.sub(r"(?m)^( *)\$ (swapsim .*)$", r'\1>>> shell("\2")', docstring)
    text = re.sub(r"(?m)^ *```.*$", "", text)
    return doctest.DocTestParser().get_doctest(text, {"shell": shell}, name, name, 0)


def failures(test: doctest.DocTest) -> str:
    """Run examples one after the other and return a report of those that fail."""
    report = io.StringIO()
    doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=report.write)
    return report.getvalue()
