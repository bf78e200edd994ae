# SPDX-License-Identifier: GPL-2.0-or-later
"""What a kernel does between two notebooks."""

from IPython import get_ipython


def reset() -> None:
    """Remove the names and the stored results of a notebook, so that the next one has its own."""
    shell = get_ipython()
    # IPython removes these, too, but a new process reads __spec__.
    of_module = {name: each for name, each in shell.user_ns.items() if name.startswith("__")}
    shell.reset(new_session=True)
    shell.user_ns.update(of_module)
