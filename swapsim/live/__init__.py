# SPDX-License-Identifier: GPL-2.0-or-later
"""Live panels: a model of the C core that runs in the reader's page.

``live.panel("tags")`` shows one in a notebook. A panel is data (`description.Panel`): its question,
its controls, the configs that they make, and a chart. The models exist twice, in Python and for the
page, and return the same rows; ``corelib/web`` makes the WebAssembly.
"""

from typing import TYPE_CHECKING, Final

from swapsim.errors import check_choice

if TYPE_CHECKING:
    from swapsim.live.shown import LivePanel

__all__ = ["NAMES", "panel"]

NAMES: Final = ("tags", "locks", "stalls", "trunks", "bases", "mglru")
"""The panels, in the order of their questions: each is a function of `swapsim.live.panels`."""


def panel(name: str, **turned: object) -> "LivePanel":
    """Return a panel: a question that a model of the C core answers in the reader's page.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    **turned : object
        Values of controls that are not their first ones, as they stand at the control.

    Returns
    -------
    LivePanel
        Shown by JupyterLab as a widget, stored as a picture. ``.setting`` has the value of each
        control, ``.frame()`` the rows of all seeds, computed here, and ``.figures()`` the lines
        below the chart; what is turned in the page is turned in ``.setting``.

    Raises
    ------
    InputError
        For an unknown panel, control or value: the message names those that there are.

    Examples
    --------
    >>> from swapsim import live
    >>> live.NAMES
    ('tags', 'locks', 'stalls', 'trunks', 'bases', 'mglru')
    >>> live.panel("locks", hold=100).setting
    {'kind': 'queued lock', 'hold': '100', 'think': '57', 'near': '44', 'far': '118'}
    """
    from swapsim.live.shown import LivePanel

    check_choice("name", name, NAMES)
    return LivePanel(name, turned)
