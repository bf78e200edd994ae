# SPDX-License-Identifier: GPL-2.0-or-later
"""Each mail and commit that a text cites is a link, and each link is one of links.csv."""

import re
from pathlib import Path

import nbformat
import pytest

from swapsim import claims
from swapsim.claims.addresses import ARCHIVE, ARTICLES, COMMITS, address
from swapsim.io.paths import data_root, notebooks_root, patches_root, repository_root
from swapsim.site import links

CARDS = sorted(patches_root().glob("*/card.md"))
NOTEBOOKS = sorted(notebooks_root().glob("*.ipynb"))
TEXTS = [repository_root() / "README.md", *CARDS, *sorted(data_root().rglob("*.md")), *NOTEBOOKS]
LINK = re.compile(r"\[((?:\\.|[^\]\\])+)\]\((https?:[^)\s]+)\)")
COMMIT = re.compile(r"(?<![0-9a-f/])(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{12}(?![0-9a-f])")
FENCE = "\n+++\n"


def prose(path: Path) -> str:
    """Return a text without its code; of a notebook the cells of text."""
    if path.suffix == ".ipynb":
        cells = nbformat.read(path, as_version=4).cells
        return "\n\n".join(each.source for each in cells if each.cell_type == "markdown")
    return re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)


@pytest.fixture(params=TEXTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def text(request: pytest.FixtureRequest) -> str:
    """Give each text in turn."""
    return prose(request.param)


def test_each_link_is_in_the_table(text: str) -> None:
    """No text has an address that links.csv does not give, in a link or outside of one."""
    linked = {target for _, target in LINK.findall(text)}
    assert linked <= links.addresses()
    hosts = "|".join(re.escape(each.split("/")[2]) for each in (ARCHIVE, COMMITS, ARTICLES))
    bare = re.findall(rf"https?://(?:{hosts}|lkml\.[a-z.]+)/[^)\s]*", text)
    assert set(bare) <= linked


def test_a_commit_is_a_link_where_it_is_first_named(text: str) -> None:
    """One of a card's front matter is linked below it; one without a row says "not checked"."""
    front, _, body = text.rpartition(FENCE)
    words = re.sub(r"\]\([^)]*\)", "]", body)
    for commit in dict.fromkeys(COMMIT.findall(words)):
        assert commit in links.commits(), commit
        assert words.index(f"[{commit}]") == words.index(commit) - 1
        assert f"[{commit}]({address('commit', commit)})" in body
    for found in COMMIT.finditer(front):
        if found[0] in links.commits():
            assert address("commit", found[0]) in body
        else:
            assert re.match(r" \([^)]*not checked\)", front[found.end() :]), found[0]


def test_a_link_to_a_commit_names_it(text: str) -> None:
    """The words of such a link are the digits of its address."""
    for words, target in LINK.findall(text):
        if target.startswith(COMMITS):
            assert target == address("commit", words)


@pytest.mark.parametrize("patch", [path.parent.name for path in CARDS])
def test_card_and_notebook_link_to_each_mail(patch: str) -> None:
    """Each mail with claims and a message ID, above the card's text and in a first cell.

    The first cell is that of the patch's notebook, or of a part of it.
    """
    judged = claims.published_claims()
    own = claims.mails().filter(patch=patch).join(judged, on="mail", how="semi").select(name="mail")
    targets = own.join(claims.links(), on="name")["target"].drop_nulls()
    assert len(targets) >= 1
    card = prose(patches_root() / patch / "card.md")
    head = card.rpartition(FENCE)[2].partition("\n## ")[0]
    parts = notebooks_root().glob(f"{patch.partition('-')[0]}*.ipynb")
    first = "".join(nbformat.read(path, as_version=4).cells[0].source for path in parts)
    for target in targets:
        assert f"]({address('mail', target)})" in head
        assert f"]({address('mail', target)})" in first


def test_readme_links_to_a_mail_of_each_patch() -> None:
    """A reader of the first page can read the mails that are judged."""
    text = prose(repository_root() / "README.md")
    for card in CARDS:
        targets = links.mails_of(card.parent.name)["target"].drop_nulls()
        assert any(f"]({address('mail', target)})" in text for target in targets)


def test_each_printed_figure_links_to_its_mail() -> None:
    """The address of a claim is that of the mail in whose row it stands."""
    found = links.mail_of_each_claim()
    stated = claims.published_claims()
    assert set(found) == set(stated["claim"])
    (mail,) = stated.filter(claim="A-swap-out")["mail"]
    (target,) = claims.links().filter(name=mail)["target"]
    assert found["A-swap-out"] == f"{ARCHIVE}{target}/"
