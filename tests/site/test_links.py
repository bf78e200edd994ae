# SPDX-License-Identifier: GPL-2.0-or-later
"""The addresses of mails."""

from swapsim import claims
from swapsim.claims.addresses import ARCHIVE
from swapsim.site import links


def test_each_printed_figure_links_to_its_mail() -> None:
    """The address of a claim is that of the mail in whose row it stands."""
    found = links.mail_of_each_claim()
    stated = claims.published_claims()
    assert set(found) == set(stated["claim"])
    (mail,) = stated.filter(claim="A-swap-out")["mail"]
    (target,) = claims.links().filter(name=mail)["target"]
    assert found["A-swap-out"] == f"{ARCHIVE}{target}/"
