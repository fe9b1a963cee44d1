"""`pooler report`: every number is the one that the command beside it prints; all is drawn in a browser."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from pooler.commands.trust.conclusions import REASONS
from pooler.commands.trust.diagnose import FACTS
from tests.helpers.browser import browse, measured
from tests.helpers.run import Cli, Outcome, by_rule, write
from tests.helpers.trec_covid import data_path

pytestmark = pytest.mark.slow

MAJORITY = ("--aggregate", "majority", "--ties", "low")
STRICT = ("--qrels", "judgements/strict.qrels")
BY_VALUES = ("--value", "0=.1", "--value", "1=.7", "--value", "2=.9")


@dataclass(frozen=True)
class Shown:
    """A table of the page and the command below it."""

    command: str
    rows: list[list[str]]
    drawings: list[ElementTree.Element]


def words(element: ElementTree.Element) -> str:
    """Return the text within, a blank between words."""
    return " ".join("".join(element.itertext()).split())


class Page:
    """A report that was written, which is well-formed XML; its tables with the commands below them."""

    def __init__(self, cli: Cli, *options: str | Path, name: str = "page.html") -> None:
        self._cli = cli
        said = by_rule(cli, "report", name, *options).fine()
        assert (said.out, f"{name}: " in said.err) == ("", True)
        self.html = Path(name).read_text(encoding="utf-8")
        self.root = ElementTree.fromstring(self.html.split("\n", 1)[1])
        self.text = words(self.root)
        self.tables = [*self._tables()]

    def _tables(self) -> Iterator[Shown]:
        rows: list[list[str]] | None = None
        drawings: list[ElementTree.Element] = []
        for element in self.root.iter():
            if element.tag == "figure":
                drawings = [one for one in element.iter() if one.tag.endswith("svg")]
            elif element.tag == "tbody":
                rows = [["".join(cell.itertext()) for cell in row] for row in element]
            elif element.tag == "p" and element.get("class") == "command":
                assert rows is not None
                command = "".join(element.itertext()).removeprefix("The same numbers: ")
                yield Shown(command, rows, drawings)
                rows, drawings = None, []

    def drawn(self, word: str) -> Shown:
        """Return the one table below a drawing that has a word."""
        [found] = [one for one in self.tables if word in "".join(map(words, one.drawings))]
        return found

    def checked(self, least: int) -> list[str]:
        """Run every command of the page, find each row of its tables in what is printed; return commands."""
        printed: dict[str, Outcome] = {}
        for shown in self.tables:
            name, *arguments = shlex.split(shown.command)
            assert name == "pooler"
            if shown.command not in printed:
                given = [part for one in arguments for part in expanded(one)]
                printed[shown.command] = self._cli(*given, "--format", "json")
            found = missing(shown, printed[shown.command])
            assert not found, (shown.command, found[:3])
            assert shown.rows
        assert len(self.tables) >= least
        return list(printed)


def expanded(argument: str) -> list[str]:
    """Fill in a pattern as a shell does."""
    return sorted(glob(argument)) if "*" in argument else [argument]  # noqa: PTH207  # absolute


def rows_of(found: Any) -> Iterator[dict[str, Any]]:
    """Yield every row of a command's json; facts of a dossier are rows of name and value."""
    if isinstance(found, list):
        yield from found
        return
    for name, value in (found | found.get("facts", {})).items():
        if isinstance(value, list):
            yield from (one for one in value if isinstance(one, dict))
        else:
            yield {"name": name.replace("_", " "), "value": value}


def is_cell(text: str, value: object) -> bool:
    """Say whether a cell of the page is a value of json, to the digits that it shows."""
    if value is None:
        return text == "-"
    if isinstance(value, bool):
        return text == ("yes" if value else "no")
    if isinstance(value, float) and text.startswith("<"):
        return value < float(text[1:])
    if isinstance(value, float):
        number = re.fullmatch(r"-?[\d,]+(?:\.(\d+))?", text)
        least = 0 if number is None else 0.5001 * 10 ** -len(number[1] or "")
        return number is not None and abs(float(text.replace(",", "")) - value) <= least
    return text == (f"{value:,}" if isinstance(value, int) else value)


def numbers(row: list[str]) -> list[str]:
    """Leave out what the page says in words: of all judges, and what facts are."""
    if row[0] == "grades" or row[0].startswith("relevant = "):
        return row[2:]
    facts = {name.replace("_", " "): meaning for name, meaning in FACTS.items()}
    if len(row) != 3 or row[2] != facts.get(row[0], ""):
        return row
    return [row[0], {text: code for code, text in REASONS.items()}.get(row[1], row[1])]


def missing(shown: Shown, outcome: Outcome) -> list[list[str]]:
    """Return the rows of the page that the command does not print."""
    printed = list(rows_of(outcome.fine().whole()))
    return [
        row
        for row in shown.rows
        if not any(
            all(any(is_cell(text, value) for value in one.values()) for text in numbers(row))
            for one in printed
        )
    ]


def test_every_number_is_that_of_the_command_and_every_drawing_says_what_its_table_says(
    cli: Cli, judged: Path
) -> None:
    """All sections, of a collection with three judges; every number beside a mark is a cell below."""
    page = Page(cli, *MAJORITY)
    of = {command.split()[1] for command in page.checked(18)}
    assert of == {"design", "diagnose", "show", "status", "agreement", "sensitivity", "variation", "compare"}
    n_checked = 0
    for shown in page.tables:
        cells = {text for row in shown.rows for text in row}
        for drawing in shown.drawings:
            width = drawing.attrib["viewBox"].split()[2]
            for text in drawing.iter():
                if text.attrib.get("text-anchor") == "end" and text.attrib["x"] == width:
                    found = {part.strip("[],") for part in words(text).split()} - {"+", "n"}
                    assert found <= cells, (shown.command, found - cells)
                    n_checked += len(found)
    assert n_checked > 150  # each figure once
    for sentence in (
        "Can the collection be trusted?",
        "9 runs, 8 topics and 84 judgements (qrels ruled@1), ",
        "Krippendorff's alpha of 3 models on what is relevant",
        "These topics do not show which run of a pair is better",
        "the share of its judges who find it so",
        "N: 8 pairs of neighbours, 8 topics, 84 judged documents.",
    ):
        assert sentence in page.text
    # What the other tests rely on: a digit changed in a table is a row that nobody prints.
    drawn = [one for one in page.tables if one.drawings]
    for shown in (drawn[0], drawn[-1]):
        outcome = cli(*shlex.split(shown.command)[1:], "--format", "json")
        number = next(place for place, text in enumerate(shown.rows[0]) if text[:1].isdigit())
        shown.rows[0][number] = f"7{shown.rows[0][number]}"
        assert missing(shown, outcome) == [shown.rows[0]]


def test_page_needs_nothing_else(cli: Cli, judged: Path) -> None:
    """No script, no address of another file, one main heading, no backtick; other pools are told of."""
    cli("pool", "--strategy", "mtf", "--budget", "4", "--name", "moved").fine()
    page = Page(cli, "--qrels", "strict", "--depth", "5", "--title", "信頼できるか <b>&")
    assert not re.search(r"<script|\ssrc=|<link|@import|url\((?!#)|https?://(?!www\.w3\.org)", page.html)
    assert not re.search(r'href="(?!#)', page.html)
    assert [words(one) for one in page.root.iter("h1")] == ["信頼できるか <b>&"]
    assert "Pool moved was made by mtf with 4 documents per topic. " in page.text
    assert "This report looks at a depth pool of depth 5 of the same runs instead." in page.text
    assert "`" not in page.text
    assert "mtf" in [words(one) for one in page.root.iter("code")]
    policies = [one.get("content") for one in page.root.iter("meta")
                if one.get("http-equiv") == "Content-Security-Policy"]  # fmt: skip
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


def test_files_need_no_collection(cli: Cli, judged: Path) -> None:
    """The same of bare files; what only a collection knows is said to be unknown."""
    Path("collection.db").unlink()
    page = Page(cli, *STRICT, "--runs", "runs.tsv", "--level", "2", "--depth", "4")
    commands = page.checked(8)
    assert any(command.startswith("pooler compare ") for command in commands)
    assert all("--level 2" in command for command in commands)
    assert "nothing is known about how judges differ" in page.text
    assert "84 judgements of strict.qrels, " in page.text
    assert "There is one grade per document" in page.text
    assert "Judging" not in page.text


def test_values_of_grades_stand_for_other_judges(cli: Cli, judged: Path) -> None:
    """With one judgement of each document, `--value` says how likely another judge agrees."""
    page = Page(cli, *STRICT, "--depth", "5", *BY_VALUES, *sorted(Path("runs").glob("*.run")))
    varied = [command for command in page.checked(10) if " variation " in command]
    assert len(varied) == 2
    assert all("--value 1=.7" in command and "runs/*.run" in command for command in varied)
    assert "relevant with its probability (the value of its grade)" in page.text
    assert "share of its judges who find it so)" not in page.text


def test_files_are_named_by_patterns_that_find_no_others(cli: Cli, judged: Path) -> None:
    """A pattern a folder, names where one would find other runs, or the page itself."""
    Path("more").mkdir()
    for name in ("bm25-words", "bm25-bigrams"):
        Path(f"runs/{name}.run").rename(f"more/{name}.run")
    shutil.copy("runs/tfidf-words.run", "runs/also-here.run")
    runs = [one for one in sorted(Path().glob("[mr]*/*.run")) if one.name != "also-here.run"]
    assert len(runs) == 9
    [named] = found_by(Page(cli, *STRICT, "--depth", "5", *runs))
    assert named == {*map(str, runs), "judgements/strict.qrels"}
    Path("runs/also-here.run").unlink()
    Path("runs/tfidf-words.run").rename("runs/one.txt")
    runs = sorted(Path("runs").iterdir())
    [named] = found_by(Page(cli, *STRICT, "--depth", "5", *runs, name="runs/page.html"))
    assert named == {*map(str, runs), "judgements/strict.qrels"}


def found_by(page: Page) -> set[frozenset[str]]:
    """Return the sets of files that the commands of a page name; of all runs, as only two are compared."""
    return {
        frozenset(
            part for one in shlex.split(shown.command) for part in expanded(one) if Path(part).is_file()
        )
        for shown in page.tables
        if " compare " not in shown.command
    }


def test_commands_can_be_pasted(cli: Cli, judged: Path) -> None:
    """Names that a shell would take for something else, in a real shell: nothing else is run."""
    folder = Path("star $(touch harm)")
    folder.mkdir()
    for number, run in enumerate(sorted(Path("runs").glob("*.run"))):
        shutil.copy(run, folder / f"*{number};touch harm.run;touch harm")
        shutil.copy(run, f"-{number}.run")
        shutil.copy(run, f"{number}  two\nlines.txt")
    for runs in (
        [*folder.iterdir()], [*folder.iterdir()][:3], sorted(Path().glob("-*.run")),
        sorted(Path().glob("-*.run"))[:2], sorted(Path().glob("*.txt"))[:3],
    ):  # fmt: skip
        commands = {one.command for one in Page(cli, *STRICT, "--depth", "5", "--", *runs).tables}
        for command in commands:
            script = f"""pooler() {{ printf '%s\\0' "$@"; }}; {command}"""
            typed = subprocess.run(["bash", "-c", script], capture_output=True, check=True).stdout
            arguments = typed.decode().split("\0")[:-1]
            if " compare " not in command:
                assert {Path(one).name for one in arguments[-len(runs) :]} == {one.name for one in runs}
            if "diagnose" in arguments:
                cli(*arguments, "--format", "json").fine()
        assert any(" diagnose " in command for command in commands)
    assert not Path("harm").exists()


def test_tags_are_not_options_or_patterns(cli: Cli, here: Path) -> None:
    """Tags of a collection are quoted, and stand behind `--` where they begin with a hyphen."""
    for name, tag in (("a", "-lead"), ("b", "*;touch${IFS}harm"), ("c", "RUN...")):
        write(here / f"{name}.run", *[f"{t} Q0 d{n} {n} {9 - n} {tag}" for t in "12" for n in range(1, 5)])
    write(here / "q", "1 0 d1 1", "1 0 d2 0", "2 0 d1 0", "2 0 d3 1")
    own = ("--collection", "my own.db")
    cli("init", *own).fine()
    cli("import", "runs", "a.run", "b.run", "c.run", *own).fine()
    cli("import", "judgements", "q", "--judge", "j", *own).fine()
    page = Page(cli, *own, "--", "-lead", "*;touch${IFS}harm")
    assert page.tables[0].command == "pooler diagnose --collection 'my own.db' -- -lead '*;touch${IFS}harm'"


def test_nothing_relevant_is_said_in_words(cli: Cli, judged: Path) -> None:
    """Figures whose every value is undefined are a sentence with the reason."""
    lines = Path("judgements/strict.qrels").read_text().splitlines()
    write(Path("none"), *[f"{line.rpartition(' ')[0]} 0" for line in lines])
    page = Page(cli, "--qrels", "./none", "--runs", "runs.tsv", "--depth", "5")
    page.checked(4)
    assert "AP between its limits: every value is undefined: no relevant document." in page.text


def test_ranks_below_the_pool_show_no_end_of_relevant_documents(cli: Cli, judged: Path) -> None:
    """Nobody judged what entered there, so 0 relevant documents would mislead."""
    rows = Page(cli, "--qrels", "strict").drawn("of them relevant").rows
    assert [row[0] for row in rows] == ["1", "2", "3", "4", "5"]


def test_runs_that_only_a_list_tells_apart_are_not_compared(cli: Cli, judged: Path) -> None:
    """No command could: their files have one tag."""
    write(Path("l.tsv"), "file\tname", "a.txt\tone", "b.txt\ttwo")
    for name, run in (("a", "tfidf-words"), ("b", "rm3-bigrams")):
        lines = Path(f"runs/{run}.run").read_text().splitlines()
        write(Path(f"{name}.txt"), *[f"{line.rpartition(' ')[0]} same" for line in lines])
    page = Page(cli, *STRICT, "--runs", "l.tsv", "--depth", "5")
    assert not [one for one in page.checked(6) if " compare " in one]


def test_many_judges_have_few_pairs_drawn(cli: Cli, collection_of: Callable[..., None]) -> None:
    """Of 66 pairs those that share the most; the page stays one that can be read."""
    judges = {f"j{n}": [f"1 0 d{d} {(d * n) % 3}" for d in range(6 + n % 2)] for n in range(12)}
    collection_of("0-2", **judges)
    write(Path("a.run"), *[f"1 Q0 d{n} {n} {9 - n} a" for n in range(7)])
    cli("import", "runs", "a.run").fine()
    page = Page(cli, "--qrels", "j1")
    page.checked(4)
    [kappa, *_] = [one for one in page.tables if "--resamples 0" in one.command and one.drawings]
    assert len(kappa.rows) == 45
    assert "Of 66 pairs, these share the most documents" in page.text


def test_one_judge_has_nobody_to_agree_with(cli: Cli, here: Path) -> None:
    """One judge, one run: the sections that need two of either say so or are not there."""
    write(here / "a.run", *[f"{t} Q0 d{n} {n} {9 - n} a" for t in "12" for n in range(1, 6)])
    write(here / "q", "1 0 d1 1", "1 0 d2 0", "2 0 d1 0", "2 0 d3 1")
    cli("init").fine()
    cli("import", "runs", "a.run").fine()
    cli("import", "judgements", "q", "--judge", "<i>x", "--kind", "model").fine()
    page = Page(cli, "--qrels", "<i>x")
    page.checked(3)
    assert "agreement needs two judges" in page.text
    assert "as each has one judgement" in page.text
    assert "Whether runs differ" not in page.text


def test_people_and_models_agree_apart(cli: Cli, here: Path) -> None:
    """Two people differ on 2 of 12 documents: alpha = 1 - 23 * 2 / (12 * 12); models play no part."""
    cli("init", "--scale", "0-1").fine()
    for judge, kind, relevant in (
        ("ann", "human", range(6)), ("bob", "human", (0, 1, 2, 3, 4, 11)),
        ("gpt", "model", range(6, 12)), ("m2", "model", range(6, 12)),
        ("m3", "model", range(6, 12)), ("old", "imported", ()),
    ):  # fmt: skip
        write(Path("q"), *[f"1 0 d{n} {int(n in relevant)}" for n in range(12)])
        cli("import", "judgements", "q", "--judge", judge, "--kind", kind).fine()
    write(Path("a.run"), *[f"1 Q0 d{n} {n} {20 - n} a" for n in range(12)])
    write(Path("b.run"), *[f"1 Q0 d{11 - n} {n} {20 - n} b" for n in range(12)])
    cli("import", "runs", "a.run", "b.run").fine()
    page = Page(cli, "--qrels", "ann")
    commands = page.checked(6)
    for sentence in (
        "Agreement: tentative among people, reliable among models, unknown among imported judges.",
        "alpha of 2 people on what is relevant (grade 1 or more) is 0.68 (no interval; N: 12 documents,",
        "Agreement needs two, and old is the only one of imported judges.",
        "alpha 0.8 or more is reliable, from 0.667 on tentative (Krippendorff 2004).",
        "People alone count (2 people); left out: 3 models, 1 imported judge",
        "No verdict: both graded fewer than 100 documents",
    ):
        assert sentence in page.text
    assert [one for one in commands if one.endswith(" gpt m2 m3")]
    audits = [one for one in commands if one.startswith("pooler audit")]
    assert audits == [f"pooler audit --against ann --level 1 {name}" for name in ("gpt", "m2", "m3")]
    by_majority = "audit --against ann --against bob --aggregate majority --ties low --level 1 m3"
    assert by_majority in Page(cli, *MAJORITY, "--depth", "1").text
    refused = "gpt, m2, m3: an audit takes one person's grades, or several people's by a rule."
    assert refused in Page(cli, "--aggregate", "sum", "--level", "1", "--depth", "1").text
    for chosen in (("--kinds", "human"), ("--judge", "bob", "--judge", "ann")):
        page = Page(cli, *MAJORITY, *chosen, "--depth", "1")
        assert [one for one in page.tables if one.command.startswith("pooler agreement ")], chosen
        parts = [words(one) for one in page.root.iter("section")]
        [part] = [one for one in parts if one.startswith("Agreement of the judges")]
        assert "N: 1 pair of 2 judges" in part
        assert not [name for name in ("gpt", "m2", "old") if name in part]
        assert "Models against people" in "".join(parts)


def test_two_judges_have_the_interval_of_alpha_and_the_mean_overlap(
    cli: Cli, collection_of: Callable[..., None]
) -> None:
    """Both, only the first, only the second, neither relevant: 5 1 1 5 of topic 1, 1 3 0 4 of topic 2.

    alpha = 1 - (2 n - 1) o / (n0 n1) of n documents, o of them with two opinions: 1 - 39 * 5 / (23 * 17).
    One topic twice is an end of the interval: 1 - 31 * 6 / (22 * 10) and 1 - 47 * 4 / (24 * 24); kappa's
    are .25 and .67. Overlap: (5/7 + 1/4) / 2 = .482, where all documents together have 6/11 = .545.
    """
    both = {"1": "+" * 5 + "/" + "\\" + "-" * 5, "2": "+" + "///" + "----"}
    collection_of("0-1", **{
        judge: [f"{t} 0 d{n} {int(one in marks)}" for t, row in both.items() for n, one in enumerate(row)]
        for judge, marks in (("ann", "+/"), ("bob", "+\\"))
    })  # fmt: skip
    write(Path("a.run"), *[f"{t} Q0 d{n} {n} {20 - n} a" for t in "12" for n in range(12)])
    cli("import", "runs", "a.run").fine()
    page = Page(cli, "--qrels", "ann")
    page.checked(4)
    assert "is 0.50 (95% interval over topics 0.15 to 0.67; N: 20 documents, 2 topics)" in page.text
    [pair] = next(one.rows for one in page.tables if one.rows[0][0] == "ann")
    assert ("0.482" in pair, "0.545" in pair) == (True, False)


def test_kappas_say_of_how_many(cli: Cli, judged: Path) -> None:
    """Of three documents they are in grey; all are counted."""
    write(Path("q"), "G01 0 KG-E-002 2", "G01 0 KG-E-003 0", "G02 0 KG-E-045 1")
    cli("import", "judgements", "q", "--judge", "bob", "--kind", "model").fine()
    found = [
        one for one in Page(cli, *MAJORITY).root.iter("figure") if words(one).startswith("Cohen's kappa")
    ]
    assert len(found) == 2
    for figure in found:
        drawing = next(one for one in figure.iter() if one.tag.endswith("svg"))
        texts = [one for one in drawing.iter() if one.tag.endswith("text")]
        counts = {words(one).rpartition(", n ")[2]: one.get("class") for one in texts
                  if ", n " in words(one)}  # fmt: skip
        assert counts.items() >= {"84": None}.items()
        assert {one for n, one in counts.items() if n != "84"} == {"soft"}
        assert "fewer than 20 are grey" in words(figure)


def test_what_is_no_page_is_not_replaced(cli: Cli, judged: Path) -> None:
    """A run, a folder, stdout, a table: refused in one line, and nothing changed."""
    before = Path("runs.tsv").read_bytes()
    write(Path("mine.html"), "<!DOCTYPE html>", '<html lang="en">')
    for out, message in (
        ("runs.tsv", "must be new, or a page"),
        ("mine.html", "must be new, or a page that pooler wrote"),
        ("./runs", "it is a folder"),
        ("nowhere/page.html", "there is no folder nowhere"),
        ("-", "must be a file"),
    ):
        assert message in cli("report", out, "--qrels", "strict").failed(1).err
    assert Path("runs.tsv").read_bytes() == before
    assert "--format" in cli("report", "page.html", "--qrels", "strict", "--format", "json").failed(2).err
    cli("report", "page.html", "--qrels", "nobody").failed(1)
    assert not Path("page.html").exists()
    cli("report", "page.html", "--qrels", "strict").fine()
    said = cli("report", "page.html", "--qrels", "lenient").fine().err
    assert "page.html: replaced an earlier page" in said
    for place, message in (
        ("mine.html", "`--html` must be new, or a page that pooler wrote"),
        ("-", "a file"),
    ):
        assert message in cli("paper", "--html", place).failed(1).err
    assert not Path("-").exists()
    assert Path("mine.html").read_text().startswith("<!DOCTYPE html>\n<html lang")


@pytest.mark.long
def test_trec_covid_is_reported(cli: Cli) -> None:
    """All 143 runs of round 1, whose pool was the first 7 documents of 56 of them."""
    runs = sorted(data_path("runs-top120").iterdir())
    page = Page(cli, "--qrels", data_path("qrels-rnd1.txt.gz"), "--depth", "7", "--order", "docno-asc", *runs)
    assert all("runs-top120/*" in one for one in page.checked(8) if " compare " not in one)


SHOWN = """
    [...page.querySelectorAll('figure')].filter(figure => figure.querySelector('svg'))
    .map(figure => [...figure.querySelectorAll('svg')]
        .filter(one => one.getBoundingClientRect().height > 20).length).join(' ')
"""
"""How many drawings of each figure are on the page."""


@pytest.mark.chromium
def test_report_is_drawn_whole_fetches_nothing_and_prints_small(cli: Cli, judged: Path) -> None:
    """Every figure has a size, the page is no wider than its frame, and no address is asked.

    On paper hatched bars stay lines: as pictures they make some 4 MB of the same page.
    """
    cli("report", "trust.html", "--depth", "5", "--qrels", "strict").fine()
    page, paper = judged / "trust.html", judged / "trust.pdf"
    wide = "page.documentElement.scrollWidth"
    fetched = "document.getElementById('f').contentWindow.performance.getEntriesByType('resource').length"
    for width in (320, 1280):
        seen = measured(judged, page, f"[{SHOWN.strip()}, {wide}, {fetched}].join()", width)
        shown, page_width, n_fetched = seen.split(",")
        assert len(shown.split()) > 10
        assert {*shown.split()} == {"1"}
        assert int(page_width) <= width
        assert n_fetched == "0"
    browse(judged, page, f"--print-to-pdf={paper}")
    assert paper.read_bytes().startswith(b"%PDF")
    assert paper.stat().st_size < 1_000_000


@pytest.mark.chromium
def test_page_of_a_run_hides_nothing_in_a_box(cli: Cli, judged: Path) -> None:
    """Charts and the tables below them are seen whole, in letters of 10 pixels or more."""
    cli("report", "runs", "pages", "--for", "bm25-words", "--qrels", "strict", "-m", "AP", "-m", "P@5").fine()
    boxes = "[...page.querySelectorAll('figure .drawing, figure .scroll')]"
    hidden = "one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight + 1"
    letters = "page.querySelector('figure svg').getBoundingClientRect().width * 13 / 430"
    script = f"[{boxes}.length, {boxes}.filter(one => {hidden}).length, {letters}].join()"
    for width in (390, 1280):
        seen = measured(judged / "pages", judged / "pages/bm25-words.html", script, width)
        n_boxes, n_hidden, pixels = seen.split(",")
        assert (n_boxes, n_hidden) == ("4", "0")
        assert float(pixels) >= 10
