"""The documentation site: built strictly, it fetches nothing and names what there is."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

import pooler
from tests.helpers.browser import measured
from tests.helpers.gallery import COMMANDS
from tests.readme_blocks import ROOT
from tests.test_readme import README

DOCS = ROOT / "docs"
PAGES = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in sorted(DOCS.rglob("*.md"))}
MANUAL = {"README.md": README, **PAGES}
"""What is written by hand, by path."""
WORDS = set((Path(__file__).parent / "words.txt").read_text("utf-8").split())
"""Names, and words of the field, that no dictionary has."""
OTHER_PROGRAMS = {
    "--include-reasoning",
    "--include-trace",
    "--name-only",
    "--output-file",
    "--headless",
    "--hide-scrollbars",
    "--screenshot",
    "--window-size",
}
"""Options of other programs that pages name."""
OPTIONS = {
    word
    for command in COMMANDS.values()
    for one in command.params
    for word in (*one.opts, *one.secondary_opts)
} | {"--help", "--version", "--install-completion", "--show-completion"}
ONLY_SEEN = {
    "about", "also", "ap_interval", "conclusion", "dwell", "fact", "forecast", "interval", "mean_overlap",
    "minutes", "purpose", "n_marked", "name", "on", "pair", "passed", "range", "stands", "tenth",
    "topics_interval", "value",
    "warning",
}  # fmt: skip
"""Columns of views, which people see and programs do not get."""

_NOT_PROSE = re.compile(
    r"^```.*?^```$|<style>.*?</style>|<!--.*?-->|`[^`\n]*`|\]\([^)]*\)|<[^>\n]*>|\{ ?[#.][^}]*\}|https?://\S+|[\w.]+/[\w./-]+",
    re.DOTALL | re.MULTILINE,
)
_WORD = re.compile(r"(?<![\w'@.-])[A-Za-z][a-z]+(?:'[a-z]+)?(?![\w@])")
_AMERICAN = re.compile(
    r"(?i)\b(\w*iz(?:es?|ed|ing|ations?)\b|(?:behavi|col|fav|harb|hon|lab|neighb)or\w*|center\w*|catalog|analyz\w*"
    r"|judgment\w*|label(?:ed|ing)\b|model(?:ed|ing)\b|gray\w*|fulfill\b)"
)
_NOT_AMERICAN = {"size", "sizes", "sized", "prize", "seize", "resize"}


def needs(module: str, package: str) -> None:
    """Skip a test for want of a package of the extra `docs`."""
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{package} is not installed: pip install -e '.[docs]'")


def prose(text: str) -> str:
    """Return what a page says in sentences."""
    return _NOT_PROSE.sub(" ", text)


@pytest.mark.parametrize("page", MANUAL)
def test_options_that_a_page_names_exist(page: str) -> None:
    """Every `--option` of a line that is about pooler, or stands alone, is one of some command."""
    lines = [
        line
        for line in MANUAL[page].splitlines()
        if not re.search(r"\b(pip|pytest|pg_dump|pg_dumpall|createuser|createdb|git|psql)\b", line)
    ]
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", "\n".join(lines)))
    assert named <= OPTIONS | OTHER_PROGRAMS


@pytest.mark.parametrize("page", MANUAL)
def test_commands_that_a_page_names_exist(page: str) -> None:
    """What stands after `pooler` in code is a command, and its second word one of its own."""
    first = {words.split()[0] for words in COMMANDS} | {"help"}
    named = re.findall(
        r"(?:`|^\$ )pooler ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?(?=[ `\n])", MANUAL[page], re.MULTILINE
    )
    for word, second in named:
        assert word in first, f"pooler {word}"
        groups = {words.split()[1] for words in COMMANDS if words.startswith(f"{word} ")}
        if second and groups and word not in COMMANDS:
            assert second in groups, f"pooler {word} {second}"


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_is_in_a_page(words: str) -> None:
    """README.md, or a page that is written by hand, shows every command."""
    assert any(re.search(rf"pooler {words}\b", text) for text in MANUAL.values()), (
        f"`pooler {words}` is in no page"
    )


@pytest.mark.slow
def test_spelling() -> None:
    """Every word of every page is in a dictionary or in words.txt, and spelt as in Britain."""
    needs("spellchecker", "pyspellchecker")
    from spellchecker import SpellChecker

    texts = [
        prose((ROOT / page).read_text("utf-8")) for page in (*MANUAL, "CONTRIBUTING.md", "ARCHITECTURE.md")
    ]
    words = {word.removesuffix("'s").lower() for text in texts for word in _WORD.findall(text)}
    unknown = SpellChecker(distance=1).unknown(words - {word.lower() for word in WORDS})
    assert not unknown, f"{sorted(unknown)}: misspelt, or missing in tests/words.txt"
    american = {found[0].lower() for text in texts for found in _AMERICAN.finditer(text)} - _NOT_AMERICAN
    assert not american


def test_american_spelling_is_found() -> None:
    """The pattern knows the usual differences, and leaves British words alone."""
    american = "judgment color centers analyzed labeled randomized behavior"
    assert [found[0] for found in _AMERICAN.finditer(american)] == american.split()
    assert not _AMERICAN.search("judgement colour centres analysed labelled randomised behaviour label model")


class Page(HTMLParser):
    """What a built page leads to, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep places, links and what is loaded."""
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag != "a":
            is_loaded = tag != "link" or given.get("rel") not in ("canonical", "next", "prev")
            self.loaded += [given[name] for name in ("src", "href") if name in given and is_loaded]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site strictly: a page that is missing or not in the contents, or a dead link, is an error."""
    needs("mkdocs", "mkdocs")
    needs("mkdocstrings_handlers", "mkdocstrings-python")
    folder = tmp_path_factory.mktemp("site")
    # It parses everything three times: garbage would be looked for in all the trees, again and again.
    build = "import gc; gc.set_threshold(200_000); from mkdocs.__main__ import cli; cli()"
    command = [sys.executable, "-c", build, "build", "--strict", "--quiet", "--site-dir", folder]
    settings = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    ran = subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    """Read the pages of the site."""
    return {path: Page(path.read_text("utf-8")) for path in site.rglob("*.html")}


def dead_links(site: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Yield links within the site that lead nowhere."""
    for path, page in pages.items():
        for link in page.links:
            target, _, place = link.partition("#")
            if "://" in link or link.startswith("mailto:"):
                continue
            to = (
                path
                if not target
                else (site / target[1:] if target[0] == "/" else path.parent / target).resolve()
            )
            to = to / "index.html" if to.is_dir() else to
            if not to.exists() or (place and to in pages and place not in pages[to].places):
                yield f"{path.relative_to(site)}: {link}"


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_links_within_the_site_lead_somewhere(site: Path, pages: dict[Path, Page]) -> None:
    """Pages and places, also of what is made of the program; the page of errors is for no folder."""
    assert len(pages) > 20
    assert [one for one in dead_links(site, pages) if not one.startswith("404.html")] == []


@pytest.mark.slow
@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("page", [page for page in MANUAL if page.startswith("docs/")])
def test_every_section_is_shown(site: Path, page: str) -> None:
    """A fence that the site does not know hides the sections below it, and shows comments."""
    text = (ROOT / page).read_text("utf-8")
    place = site / page.removeprefix("docs/").removesuffix(".md").removesuffix("index")
    built = (place / "index.html").read_text("utf-8")
    assert not re.search("&lt;!--|--&gt;|<p>```", built)
    if "<!-- made: " not in text:  # such a part has sections of its own
        assert len(re.findall("<h2 ", built)) == len(re.findall("^## ", prose(text), re.MULTILINE))


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_no_page_needs_another_host(site: Path, pages: dict[Path, Page]) -> None:
    """Scripts, styles, fonts and pictures are the site's own."""
    foreign = {one for page in pages.values() for one in page.loaded if re.match(r"(https?:)?//", one)}
    assert foreign == set()
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"(?:url\(|@import )['\"]?(?:https?:)?//", styles) == []


@pytest.mark.slow
@pytest.mark.chromium
@pytest.mark.xdist_group("site")
def test_columns_of_output_stand_below_each_other(site: Path) -> None:
    """A browser keeps the blanks of the tables that commands print, and eighty columns fit the page."""
    spaces = (
        "[...new Set([...page.querySelectorAll('pre span')].map(one => getComputedStyle(one).whiteSpace))]"
    )
    page = site / "how-to" / "late-run" / "index.html"
    assert measured(page.parent, page, f"{spaces}.join()", 1280) == "pre"
    letters = (
        "page.querySelector('pre > code').textContent = 'n'.repeat(80), page.querySelector('pre > code')"
    )
    overflow = f"({letters}).scrollWidth - page.querySelector('pre > code').clientWidth"
    assert int(measured(page.parent, page, overflow, 1280)) <= 0


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_reference_is_whole(site: Path, pages: dict[Path, Page]) -> None:
    """Every command, option, public name and column of a result has its place."""
    text = {
        name: (site / "reference" / name / "index.html").read_text("utf-8") for name in ("commands", "files")
    }
    commands = pages[site / "reference" / "commands" / "index.html"].places
    assert {words.replace(" ", "-") for words in COMMANDS} <= commands
    told = set(re.findall(r"<span>(-{1,2}[a-z][a-z-]*)", text["commands"]))
    assert {one for one in OPTIONS if one.startswith("--")} - told <= {
        "--help", "--version", "--install-completion", "--show-completion",
    }  # fmt: skip
    names = pages[site / "reference" / "api" / "index.html"].places
    assert {f"pooler.{name}" for name in pooler.__all__ if name != "__version__"} <= names
    cells = re.findall(r"<td><code>(.*?)</code></td>", text["files"])
    shown = {unescape(re.sub(r"<[^>]*>", "", one)) for one in cells}
    declared = {
        node.args[0].value
        for path in (ROOT / "pooler").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Column"
        if node.args and isinstance(node.args[0], ast.Constant)
    }
    assert declared - shown <= ONLY_SEEN


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_messages_are_read_from_the_source(site: Path) -> None:
    """Errors with hints, refused values, faults and warnings; capitals stand for what is not known yet."""
    built = (site / "reference" / "messages" / "index.html").read_text("utf-8")

    def words(pattern: str, text: str) -> list[str]:
        return [unescape(re.sub("<[^>]*>", "", one)) for one in re.findall(pattern, text, re.DOTALL)]

    def remedies(heading: str) -> dict[str, str]:
        tables = "".join(re.findall(f"<th>{heading}</th>.*?</table>", built, re.DOTALL))
        rows = (words("<td>(.*?)</td>", row) for row in re.findall("<td>.*?</tr>", tables, re.DOTALL))
        return {cells[0]: cells[-1] for cells in rows}

    hints = remedies("Message")
    assert hints["NAME is an adjudicator, not a judge"] == "pooler adjudicate --judge NAME"
    assert hints["unknown judge NAME; known: NAMES"]
    assert "depth must be an integer >= 1" in remedies("Value")
    assert "expected one run tag, TAG, got also TEXT" in words("<li>(.*?)</li>", built)
    warnings = re.findall(r"<p>Warnings:</p>\s*<ul>(.*?)</ul>", built, re.DOTALL)
    assert sum(one.count("<li>") for one in warnings) > 40
    assert len(hints) > 180


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_errata_end_where_the_sources_do(site: Path) -> None:
    """Three tables; the last row is of clusters, and the list of sources below is none."""
    page = (site / "reference" / "mathematics" / "index.html").read_text("utf-8")
    _, errata = page.split('id="errata"')
    places = re.findall(r"<tr>\s*<td>(.*?)</td>", errata)
    assert errata.count("<table") == 3
    assert (places[0], places[-1]) == ("eq. 1", "inverse purity")
    assert "..</td>" not in errata
    assert ".. [" not in errata
