# SPDX-License-Identifier: GPL-2.0-or-later
"""The report appears complete or not at all, and needs no network."""

import os
import re
import signal
import time
from pathlib import Path
from threading import Thread

import pytest
from reports import one_notebook, run_here, small

from swapsim.errors import InputError, SwapsimError
from swapsim.site import links, report
from swapsim.site.report import build, cells, current
from swapsim.site.report.pages import Articles
from swapsim.site.report.shell import lead_from

MARK = "with open('runs', 'a') as runs: print(runs.write('{}'))"
"""A cell that records each of its runs in a file."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty folder whose notebooks are reported."""
    return small(tmp_path, monkeypatch)


def article(page: Path) -> str:
    """Return the part of a page between its header and its contents; all of a reference's page."""
    text = page.read_text(encoding="utf-8")
    if "api" in page.parts:
        return re.sub(r"<script\b.*?</script>", "", text, flags=re.DOTALL)
    return text[text.index("<article") : text.rindex("</article>")]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the report of one notebook with links, prints, a chart and a progress bar."""
    root = tmp_path_factory.mktemp("pages")
    source = (
        "import time\n"
        "import altair as alt, polars as pl\n"
        "from swapsim import charts, progress\n"
        "charts.use()\n"
        "progress.LONG_SECONDS = 0.1\n"
        "with progress.bar(3, 'study', 'runs', shown=False) as bar:\n"
        "    time.sleep(0.2)\n"
        "    bar.update()\n"
        "    print('shown' if bar._bar is not None else 'not shown')\n"
        "frame = pl.DataFrame({'x': [1, 2]})\n"
        "alt.Chart(frame, title='Two </script> bars').mark_bar().encode(x='x:O', y='x:Q')"
    )
    with pytest.MonkeyPatch.context() as patched:
        made = small(root, patched)
        (root / "card.md").touch()
        one_notebook(made, source, text="\n\n[a](../card.md) [b](00-one.ipynb)")
        return report.write(root / "build" / "report").parent


def test_a_progress_bar_leaves_nothing_on_its_page(pages: Path) -> None:
    """A bar that a long cell showed is no result, and its widget would need the network."""
    page = (pages / "00-one.html").read_text()
    assert ">shown" in page
    assert "widget-view" not in page


def test_links_have_pages_and_files_of_the_checkout_as_targets(pages: Path) -> None:
    """A notebook's link becomes its page; a link out of notebooks/ still finds its file."""
    targets = re.findall(r'href="([^"#:]+\.(?:md|html))"', article(pages / "00-one.html"))
    assert targets == ["../../card.md", "00-one.html"]
    assert all((pages / target).exists() for target in targets)


def test_a_link_to_the_guide_becomes_its_page_of_the_reference(tmp_path: Path) -> None:
    """The source of a page of the guide has one, and no other module is led to."""
    lead = lead_from(tmp_path / "notebooks", tmp_path, tmp_path / "report")
    assert lead("../swapsim/guide/add_a_patch.py") == "api/swapsim/guide/add_a_patch.html"
    assert lead("../swapsim/errors.py") == "../swapsim/errors.py"


# The pages of the reference that each page's contents list.
REFERENCE = ("swapsim", "swapsim/cli", "swapsim/guide")


def test_each_page_links_to_the_others(pages: Path) -> None:
    """From the front page by `next` to the last one; each has a title and the contents."""
    page: Path | None = pages / "index.html"
    names = {path.name for path in pages.glob("*.html")}
    seen = []
    while page:
        seen.append(page.name)
        text = page.read_text(encoding="utf-8")
        links = re.findall(r'<li><a href="([^"#]+)"', text[text.index('id="contents"') :])
        assert set(links) == names | {f"api/{page}.html" for page in REFERENCE}
        assert re.search(r"<title>[^<]{5,}</title>", text)
        following = re.search(r'rel="next" href="([^"]+)"', text)
        page = pages / following[1] if following else None
    assert sorted(seen) == sorted(names)
    assert seen[:3] == ["index.html", "live.html", "00-one.html"]


def test_a_page_offers_its_notebook_as_a_file(pages: Path) -> None:
    """The file in the report's folder is the notebook; other pages offer none."""
    page = (pages / "00-one.html").read_text(encoding="utf-8")
    (file,) = re.findall(r'<a href="([^"]+)" download>', page)
    source = pages.parents[1] / "notebooks" / "00-one.ipynb"
    assert (pages / file).read_bytes() == source.read_bytes()
    assert " download>" not in (pages / "live.html").read_text(encoding="utf-8")


def test_each_page_has_all_that_it_names(pages: Path) -> None:
    """No script, style or picture comes from the network, and no link is dead or unknown.

    A link leads to the page itself, another page, the checkout, or to an address of links.csv; none
    stands in another one.
    """
    assert {"style.css", "charts.js"} <= {path.name for path in pages.glob("*.*s*")}
    assert "url(" not in (pages / "style.css").read_text()
    cited = set()
    names: dict[Path, set[str]] = {}
    for page in pages.rglob("*.html"):
        text, shown = page.read_text(), article(page)
        assert not re.findall(r"<(?:script|img|link)[^>]+(?:src|href)=\"(?:https?:)?//", text)
        assert not re.search(r"<a [^>]*>((?!</a>).)*<a ", shown, re.S), page.name
        for link in re.findall(r'href="([^"]+)"', shown):
            path, _, part = link.partition("#")
            if link.startswith("http"):
                cited.add(link)
            elif not re.match(r"(\.\./)*0[1-8]b?-", link):  # this report has no notebook of a patch
                target = page if not path else (page.parent / path).resolve()
                assert target.exists() or path.startswith("data:"), f"{page.name}: {link}"
                if part and "=" not in part:  # with one it is a filter
                    if target not in names:
                        names[target] = set(re.findall(r'id="([^"]+)"', target.read_text()))
                    assert part in names[target], f"{page.name}: {link}"
    assert len(cited) > 20
    sources = links.links().drop_nulls("target").select("kind", "target").rows()
    known = {links.address(kind, target) for kind, target in sources}
    known |= {links.address("commit", commit) for commit in links.commits()}
    assert cited - {"https://pdoc.dev"} <= known  # pdoc names itself


def test_a_chart_is_a_picture_with_words_and_a_specification(pages: Path) -> None:
    """Without scripts there is the picture and its title as text; a script draws the chart."""
    page = article(pages / "00-one.html")
    (alternative,) = re.findall(r'<figure class="chart"[^>]*><img [^>]*alt="([^"]*)"', page)
    assert "Two &lt;/script&gt; bars" in alternative
    assert page.count("</script>") == 1


def test_only_what_changed_is_run_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second report is the first; after a change it reuses pages that do not depend on it."""
    monkeypatch.setattr(build, "run", run_here)
    one_notebook(folder, MARK.format(1))
    output = folder.parent / "report"
    index = report.write(output)
    first = index.stat().st_ino
    assert report.write(output).stat().st_ino == first
    monkeypatch.setattr(current, "git", lambda *_: "another commit")
    assert report.write(output).stat().st_ino != first
    assert "reused from an earlier report" in index.read_text(encoding="utf-8")
    assert (folder / "runs").read_text() == "1"
    assert {path.name for path in folder.parent.iterdir()} == {"notebooks", "report"}
    for module in (build, current):
        monkeypatch.setattr(module, "surroundings", lambda: b"others")
    report.write(output)
    assert (folder / "runs").read_text() == "11"


def test_a_notebook_sees_nothing_of_the_one_before(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On one kernel: no name and no count of cells; but processes can start."""
    monkeypatch.setattr(cells, "NOTEBOOKS_AT_A_TIME", 1)
    one_notebook(folder, "mine = 1")
    new = "from swapsim.study import run\nprint('mine' in globals(), len(In), run(abs, [-1, -2]))"
    one_notebook(folder, new, "01-two")
    output = folder.parent / "report"
    report.write(output)
    assert "False 2 [1, 2]" in (output / "01-two.html").read_text()


def test_pages_that_are_complete_are_stored(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an error that names the cell, the next run makes only what is missing or changed."""
    monkeypatch.setattr(cells, "NOTEBOOKS_AT_A_TIME", 1)
    one_notebook(folder, MARK.format(1))
    one_notebook(folder, "1 / 0", "01-two")
    output = folder.parent / "report"
    with pytest.raises(SwapsimError, match=r"01-two\.ipynb, code cell 1: ZeroDivisionError"):
        report.write(output)
    assert {path.name for path in folder.parent.iterdir()} == {"notebooks", ".report-pages"}
    for second, marks in (("2", "12"), ("3", "123")):
        one_notebook(folder, MARK.format(second), "01-two")
        with monkeypatch.context() as patched:
            patched.setattr(build, "run", run_here)
            report.write(output)
        assert (folder / "runs").read_text() == marks
        assert {path.name for path in output.glob("0*.html")} == {"00-one.html", "01-two.html"}
        assert {path.name for path in folder.parent.iterdir()} == {"notebooks", "report"}
    before = (output / "index.html").read_bytes()
    one_notebook(folder, "import os; os._exit(1)", "01-two")
    with pytest.raises(SwapsimError, match=r"01-two\.ipynb, code cell 1: the kernel did"):
        report.write(output)
    assert (output / "index.html").read_bytes() == before


@pytest.mark.parametrize("damaged", ["", "\udcff", "<article>"])
def test_a_damaged_page_is_not_reused(tmp_path: Path, damaged: str) -> None:
    """After a valid first line, bytes that are no text or no complete article."""
    articles = Articles((tmp_path,), {"00-one": "digest"})
    articles.put("00-one", "<article>1</article>")
    assert articles.find("00-one") == "<article>1</article>"
    page = tmp_path / "00-one.html"
    text = articles.first_line("00-one") + damaged
    page.write_text(text, encoding="utf-8", errors="surrogateescape")
    assert articles.find("00-one") is None


@pytest.mark.usefixtures("signals_as_in_a_terminal")
def test_an_interrupt_ends_all_kernels(folder: Path) -> None:
    """Ctrl-C while two notebooks run leaves neither a kernel nor half a report."""
    source = "import os, time; print(open(f'pid-{os.getpid()}', 'w')); time.sleep(600)"
    one_notebook(folder, source)
    one_notebook(folder, source, "01-two")

    def interrupt() -> None:
        while len(list(folder.glob("pid-*"))) < 2:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        report.write(folder.parent / "report")
    assert {path.name for path in folder.parent.iterdir()} == {"notebooks"}
    for mark in folder.glob("pid-*"):
        with pytest.raises(ProcessLookupError):
            os.kill(int(mark.name.removeprefix("pid-")), 0)


def test_a_folder_that_is_no_report_is_refused(tmp_path: Path) -> None:
    """A report replaces a report, never anything else."""
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(InputError, match="is no report"):
        report.write(tmp_path)
    assert (tmp_path / "precious.txt").read_text() == "mine"
