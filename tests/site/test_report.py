# SPDX-License-Identifier: GPL-2.0-or-later
"""The report appears whole or not at all, and needs no network."""

import os
import re
import shutil
import signal
import time
from pathlib import Path
from threading import Thread

import altair as alt
import nbformat
import polars as pl
import pytest

from swapsim.errors import InputError, SwapsimError
from swapsim.site import overview, report
from swapsim.site.report import runs, whole
from swapsim.site.report.verdicts import Claim, Figure, Verdicts


def one_notebook(folder: Path, source: str, name: str = "00-one") -> Path:
    """Write a notebook of one code cell to a folder."""
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell("# 00 Title\n\n**Verdict & all.**"),
            nbformat.v4.new_code_cell(source),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    folder.mkdir(exist_ok=True)
    nbformat.write(notebook, folder / f"{name}.ipynb")
    return folder


CLAIM = Claim(
    "A-swap-out",
    "01-writeback-tags",
    "swap-out bandwidth",
    "+22.3 %",
    Figure("+25.0 %", "agrees", "agrees"),
    Figure("", "absent", "not measured"),
)


@pytest.fixture(autouse=True)
def _judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take one claim for all of them, and a small picture: here pages are tested, not figures."""
    drawn = alt.Chart(pl.DataFrame({"x": [1]}), title="A picture").mark_bar().encode(x="x")
    monkeypatch.setattr(whole, "verdicts", lambda: Verdicts((CLAIM,), (CLAIM,)))
    monkeypatch.setattr(overview, "picture", lambda: drawn)


def article(page: Path) -> str:
    """Return what stands on a page between its header and its contents."""
    text = page.read_text(encoding="utf-8")
    return text[text.index("<article") : text.rindex("</article>")]


def use_notebooks(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let the report find its notebooks in a folder of the test."""
    monkeypatch.setattr(whole, "notebooks_root", lambda: folder)


def test_a_report_is_written_and_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Index and pages are there, the cell's output is in, and a second run replaces the first."""
    use_notebooks(monkeypatch, one_notebook(tmp_path / "notebooks", "print(6 * 7)"))
    output = tmp_path / "report"
    for _ in range(2):
        index = report.write(output)
        assert index == output / "index.html"
        assert "Verdict &amp; all." in index.read_text()
        assert "42" in (output / "00-one.html").read_text()
        assert {path.name for path in tmp_path.iterdir()} == {"notebooks", "report"}


def test_a_page_fetches_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No script, style or picture of a page comes from the network."""
    use_notebooks(monkeypatch, one_notebook(tmp_path / "notebooks", "1"))
    index = report.write(tmp_path / "report")
    for page in index.parent.glob("*.html"):
        text = page.read_text()
        assert not re.findall(r"<(?:script|img|link)[^>]+(?:src|href)=\"(?:https?:)?//", text)
    shared = {path.name for path in index.parent.glob("*.*s*")}
    assert {"style.css", "charts.js"} <= shared
    assert "url(" not in (index.parent / "style.css").read_text()


def test_a_progress_bar_leaves_nothing_on_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bar that a long cell showed is no result, and its widget would need the network."""
    source = (
        "import time\n"
        "from swapsim import progress\n"
        "progress.LONG_SECONDS = 0.1\n"
        "with progress.bar(3, 'sweep', 'runs', shown=False) as bar:\n"
        "    time.sleep(0.2)\n"
        "    bar.update()\n"
        "    print('shown' if bar._bar is not None else 'not shown')\n"
    )
    use_notebooks(monkeypatch, one_notebook(tmp_path / "notebooks", source))
    page = report.write(tmp_path / "report").with_name("00-one.html").read_text()
    assert ">shown" in page
    assert "widget-view" not in page
    assert not re.findall(r"<(?:script|img|link)[^>]+(?:src|href)=\"(?:https?:)?//", page)


def test_links_lead_to_pages_and_to_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A notebook's link becomes its page; a link out of notebooks/ still finds its file."""
    folder = one_notebook(tmp_path / "notebooks", "1")
    path = folder / "00-one.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[0].source += "\n\n[a](../card.md) [b](00-one.ipynb)"
    nbformat.write(notebook, path)
    (tmp_path / "card.md").touch()
    use_notebooks(monkeypatch, folder)
    page = report.write(tmp_path / "build" / "report").with_name("00-one.html")
    targets = re.findall(r'href="([^"#:]+\.(?:md|html))"', article(page))
    assert targets == ["../../card.md", "00-one.html"]
    assert all((page.parent / target).exists() for target in targets)


def test_a_failing_cell_is_named_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message has notebook, cell and error; the earlier report stays as it was."""
    folder = one_notebook(tmp_path / "notebooks", "1")
    use_notebooks(monkeypatch, folder)
    output = tmp_path / "report"
    report.write(output)
    before = (output / "index.html").read_bytes()
    shutil.rmtree(folder)
    one_notebook(folder, "1 / 0")
    with pytest.raises(SwapsimError, match=r"00-one\.ipynb, code cell 1: ZeroDivisionError"):
        report.write(output)
    assert (output / "index.html").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"notebooks", "report"}


def test_a_page_that_is_done_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an error the next run makes only what is missing, and later only what changed."""
    monkeypatch.setattr(runs, "NOTEBOOKS_AT_A_TIME", 1)
    mark = "print(open('runs', 'a').write('{}'))"
    folder = one_notebook(tmp_path / "notebooks", mark.format(1))
    one_notebook(folder, "1 / 0", "01-two")
    use_notebooks(monkeypatch, folder)
    with pytest.raises(SwapsimError, match=r"01-two.*goes on from the pages that are done"):
        report.write(tmp_path / "report")
    assert {path.name for path in tmp_path.iterdir()} == {"notebooks", ".report-pages"}
    for second, marks in (("2", "12"), ("2", "12"), ("3", "123")):
        one_notebook(folder, mark.format(second), "01-two")
        index = report.write(tmp_path / "report")
        assert (folder / "runs").read_text() == marks
        pages = {path.name for path in index.parent.glob("0*.html")}
        assert pages == {"00-one.html", "01-two.html"}
        assert {path.name for path in tmp_path.iterdir()} == {"notebooks", "report"}


@pytest.mark.parametrize("kept", [b"", b"\xff", b"<article>"])
def test_a_page_that_was_damaged_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bytes
) -> None:
    """Behind a first line that is right, bytes that are no text or no whole article."""
    folder = one_notebook(tmp_path / "notebooks", "print(open('runs', 'a').write('1'))")
    use_notebooks(monkeypatch, folder)
    page = report.write(tmp_path / "report").with_name("00-one.html")
    first, _, _ = page.read_bytes().partition(b"\n")
    page.write_bytes(first + b"\n" + kept)
    report.write(tmp_path / "report")
    assert (folder / "runs").read_text() == "11"
    assert article(page)


def test_another_package_makes_all_pages_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of other code or data is not taken over."""
    folder = one_notebook(tmp_path / "notebooks", "print(open('runs', 'a').write('1'))")
    use_notebooks(monkeypatch, folder)
    report.write(tmp_path / "report")
    monkeypatch.setattr(whole, "surroundings", lambda: b"others")
    report.write(tmp_path / "report")
    assert (folder / "runs").read_text() == "11"


@pytest.mark.usefixtures("signals_as_in_a_terminal")
def test_an_interrupt_ends_all_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the midst of two notebooks leaves neither a kernel nor half a report."""
    source = "import os, time; print(open(f'pid-{os.getpid()}', 'w')); time.sleep(600)"
    folder = one_notebook(tmp_path / "notebooks", source)
    one_notebook(folder, source, "01-two")
    use_notebooks(monkeypatch, folder)

    def interrupt() -> None:
        while len(list(folder.glob("pid-*"))) < 2:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        report.write(tmp_path / "report")
    assert {path.name for path in tmp_path.iterdir()} == {"notebooks"}
    for mark in folder.glob("pid-*"):
        with pytest.raises(ProcessLookupError):
            os.kill(int(mark.name.removeprefix("pid-")), 0)


def test_a_folder_that_is_no_report_is_refused(tmp_path: Path) -> None:
    """A report replaces a report, never anything else."""
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(InputError, match="is there and is no report"):
        report.write(tmp_path)
    assert (tmp_path / "precious.txt").read_text() == "mine"


def test_a_kernel_that_dies_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell that kills its kernel gives one line with the notebook's name."""
    use_notebooks(monkeypatch, one_notebook(tmp_path / "notebooks", "import os; os._exit(1)"))
    with pytest.raises(SwapsimError, match=r"00-one\.ipynb, code cell 1: the kernel did"):
        report.write(tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_each_page_leads_to_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the front page by `next` to the last one; each has a title and the contents."""
    use_notebooks(monkeypatch, one_notebook(tmp_path / "notebooks", "1"))
    page = report.write(tmp_path / "report")
    seen = []
    while page:
        seen.append(page.name)
        text = page.read_text(encoding="utf-8")
        links = re.findall(r'<li><a href="([^"#]+)"', text[text.index('id="contents"') :])
        assert set(links) == {path.name for path in page.parent.glob("*.html")}
        assert re.search(r"<title>[^<]{5,}</title>", text)
        following = re.search(r'rel="next" href="([^"]+)"', text)
        page = page.with_name(following[1]) if following else None
    assert sorted(seen) == sorted(links)
    assert seen[:2] == ["index.html", "00-one.html"]


def test_no_link_is_dead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page leads to, on itself, on others or in the checkout, is there."""
    use_notebooks(monkeypatch, one_notebook(tmp_path / "notebooks", "1"))
    folder = report.write(tmp_path / "report").parent
    for page in folder.glob("*.html"):
        for link in re.findall(r'href="([^"]+)"', article(page)):
            path, _, part = link.partition("#")
            if re.match(r"https?:|\d\d-", link):  # this report has no notebook of a patch
                continue
            target = page if not path else folder / path
            assert target.exists(), f"{page.name}: {link}"
            judged = target.name == "claims.html"  # of one claim, and so of one patch
            assert judged or not part or f'id="{part}"' in target.read_text(), page.name + link


def test_a_card_leads_to_its_mail_and_its_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By message id to the archive, by commit to Linux's tree; its fields are no TOML."""
    use_notebooks(monkeypatch, one_notebook(tmp_path / "notebooks", "1"))
    card = article(report.write(tmp_path / "report").with_name("patch-01-writeback-tags.html"))
    mail = "1472578089-5560-1-git-send-email-ying.huang@intel.com"
    assert f'href="https://lore.kernel.org/r/{mail}"' in card
    assert 'href="https://git.kernel.org/linus/371a096edf43"' in card
    assert "message_id" not in card
    assert card.count("<h1>") == 1


def test_the_front_page_says_where_it_comes_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Verdicts in colours, date, versions, machine, what was run and what was kept."""
    source = "print('some-result: 1,200 stored rows; 12 computed again here are identical')"
    use_notebooks(monkeypatch, one_notebook(tmp_path / "notebooks", source))
    text = report.write(tmp_path / "report").read_text(encoding="utf-8")
    assert '<td class="verdict agrees"><span class="figure">+25.0 %' in text
    assert re.search(r"<dt>When</dt><dd>20\d\d-\d\d-\d\d \d\d:\d\d UTC", text)
    assert "polars " in text
    assert "CPUs" in text
    assert "some-result: 1,200 rows; 12 computed again are identical" in text
    assert "taken over" not in text
    again = report.write(tmp_path / "report").read_text(encoding="utf-8")
    assert "reused from an earlier report" in again


def test_a_chart_is_a_picture_with_words_and_a_specification(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has no script sees the picture, who sees none reads its title; scripts draw it anew."""
    source = (
        "import altair as alt, polars as pl\nfrom swapsim import charts\ncharts.use()\n"
        "frame = pl.DataFrame({'x': [1, 2]})\n"
        "alt.Chart(frame, title='Two </script> bars').mark_bar().encode(x='x:O', y='x:Q')"
    )
    use_notebooks(monkeypatch, one_notebook(tmp_path / "notebooks", source))
    page = article(report.write(tmp_path / "report").with_name("00-one.html"))
    (alternative,) = re.findall(r'<figure class="chart"[^>]*><img [^>]*alt="([^"]*)"', page)
    assert "Two &lt;/script&gt; bars" in alternative
    assert page.count("</script>") == 1
