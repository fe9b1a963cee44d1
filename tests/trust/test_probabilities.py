"""How likely documents are relevant: options of `pooler variation`, its table, and what is loaded by them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
import typer

from pooler import evaluate, source, variation
from pooler.cli.from_function import from_function
from pooler.command import Cutoff, Given, Option, command
from pooler.messages import OnTerminal, listening
from pooler.sources.probabilities import load_probable, parse_unjudged, parse_values
from pooler.sources.source import Source
from store.analysis.variation.moments import SUPPOSED, ProbableRankings
from store.collection import Collection
from store.errors import ArgumentError, FormatError, PoolerError
from tests.helpers.run import JUDGES, Cli, read_trec, write, write_run

VALUES = ("--value", "0=0", "--value", "1=0.8", "--value", "2=1")
TABLE = ("--table", "probabilities", "--format", "tsv")


def table(cli: Cli, *options: str) -> list[tuple[str, str, float]]:
    """Return topic, docno and probability of each row."""
    rows = cli("variation", *options, *TABLE).fine().tsv()
    return [(row["topic"], row["docno"], float(row["p"])) for row in rows]


@pytest.mark.vector("Kishida 2001, table 4")
def test_two_judges_give_the_papers_table(cli: Cli, collection_of: Callable[..., None], here: Path) -> None:
    """Six pairs of grades are 1, .9, .5, .8, .4 and 0; one judge alone gives the grade's value."""
    pairs = {"a": (2, 2), "b": (2, 1), "c": (0, 2), "d": (1, 1), "e": (1, 0), "f": (0, 0)}
    collection_of(
        me=[f"1 0 {docno} {one}" for docno, (one, _) in pairs.items()] + ["2 0 a 1"],
        you=[f"1 0 {docno} {two}" for docno, (_, two) in pairs.items()],
    )
    cli("import", "runs", write_run(here, "r", {"1": "ab"})).fine()
    assert table(cli, *VALUES) == [
        ("1", "a", 1), ("1", "b", 0.9), ("1", "c", 0.5), ("1", "d", 0.8), ("1", "e", 0.4), ("1", "f", 0),
        ("2", "a", 0.8),
    ]  # fmt: skip


def test_share_of_judges_is_a_plain_share(cli: Cli, judged: Path) -> None:
    """At a level, p is the number of judges there over the number of judges."""
    votes: dict[tuple[str, ...], list[bool]] = {}
    for judge in JUDGES:
        for topic, docno, grade in read_trec(judged / "judgements" / f"{judge}.qrels", (0, 2, 3)):
            votes.setdefault((topic, docno), []).append(int(grade) >= 2)
    found = table(cli, "--level", "rigid")
    assert [row[:2] for row in found] == sorted(votes)
    assert [p for *_, p in found] == [sum(votes[pair]) / 3 for pair in sorted(votes)]


def test_some_judges_and_no_adjudicator(cli: Cli, judged: Path) -> None:
    """A definition chooses judges, and an adjudicator's ruling changes no probability."""
    cli("qrels", "define", "two", "--judge", "strict", "--judge", "lenient").fine()
    options = ("--level", "1", "--qrels", "two")
    before = table(cli, *options)
    assert {p for *_, p in before} == {0, 0.5, 1}
    cli("judges", "add", "zoe", "--kind", "adjudicator").fine()
    cli("adjudicate", "--judge", "zoe", "--plain", stdin=b"\n2\n2\nq\n").fine()
    assert table(cli, *options) == before
    assert "`--judge` must be judges" in cli("qrels", "define", "ruled", "--judge", "zoe").failed(1).err


def test_the_table_is_read_and_written_again(cli: Cli, judged: Path) -> None:
    """A file of it loses nothing by being read, and there is a header in it."""
    for number, options in enumerate((("--level", "1"), VALUES)):
        file = f"p{number}.tsv"
        cli("variation", *options, *TABLE, "--out", file).fine()
        assert len((judged / file).read_text("utf-8").splitlines()) == 85
        assert sorted(table(cli, "--probabilities", file)) == sorted(table(cli, *options))


def test_the_table_of_several_kinds_is_read_too(
    cli: Cli, collection_of: Callable[..., None], here: Path
) -> None:
    """Where people and imported judges were asked for there is a column on them, of two words a cell."""
    collection_of(me=["1 0 a 1", "1 0 b 0"])
    write(here / "you.qrels", "1 0 a 0", "1 0 b 1")
    cli("import", "judgements", "you.qrels", "--judge", "you", "--kind", "human").fine()
    cli("import", "runs", write_run(here, "r", {"1": "ab"})).fine()
    cli("qrels", "define", "all", "--aggregate", "max", "--kinds", "human,imported").fine()
    cli("variation", "--qrels", "all", *TABLE, "--out", "p.tsv").fine()
    assert (here / "p.tsv").read_text("utf-8").splitlines()[0] == "topic\tdocno\tp\tkinds"
    assert table(cli, "--probabilities", "p.tsv") == [("1", "a", 0.5), ("1", "b", 0.5)]
    write(here / "bare.tsv", "1 a 0.5 people")
    assert "expected 3 fields" in cli("variation", "--probabilities", "bare.tsv").failed(1).err
    told = " ".join(cli("variation", "--qrels", "me").fine().out.split())
    assert "MAP as judged is by the grades of me alone; all else is by those of all judges" in told


Column = tuple[float, ...]
"""Of a document: its probability, then its rank in every run."""


class Load:
    """A command with the options of all runs and ours, which keeps what it loads."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self._found: list[ProbableRankings] = []
        self.said = ""

        @command
        def load(
            source: Annotated[Source, Given("pooler.cli.options:ProbableOptions", "source")],
            *,
            values: Annotated[Sequence[str], Option("--value GRADE=P")] = (),
            probabilities: str | None = None,
            unjudged: str = "0",
            keep_zero: bool = False,
            extra: int = 0,
            with_judged: bool = False,
            cutoff: Cutoff = None,
        ) -> None:
            """Load."""
            loaded = load_probable(
                source, cutoff=cutoff or 1000, values=values or None, probabilities=probabilities,
                unjudged=unjudged, keep_zero=keep_zero, extra_relevant=extra,
                judged=source.numbered if with_judged else None,
            )  # fmt: skip
            self._found.append(loaded.rankings)

        self._app = typer.Typer(add_completion=False)
        self._app.command()(from_function(load))

    def __call__(self, *arguments: str) -> ProbableRankings:
        """Return what is loaded by these arguments; `said` is what stderr was told."""
        self._capsys.readouterr()
        with listening(OnTerminal()):
            self._app([*arguments], standalone_mode=False)
        self.said = self._capsys.readouterr().err
        return self._found.pop()


@pytest.fixture
def load(capsys: pytest.CaptureFixture[str], here: Path) -> Load:
    """Give the command."""
    return Load(capsys)


def files(folder: Path) -> list[str]:
    """Return the run files of the sample collection, by their tags, in the collection's order."""
    return [str(file) for file in sorted((folder / "runs").glob("*.run"))]


def ranks_in_files(folder: Path) -> dict[str, dict[str, list[str]]]:
    """Read tag to topic to docnos, by score descending and docno descending."""
    found: dict[str, dict[str, list[str]]] = {}
    for file in files(folder):
        lines: dict[str, list[tuple[float, str]]] = {}
        for topic, docno, score in read_trec(Path(file), (0, 2, 4)):
            lines.setdefault(topic, []).append((float(score), docno))
        ranked = {topic: [docno for _, docno in sorted(one)[::-1]] for topic, one in lines.items()}
        found[Path(file).stem] = ranked
    return found


def columns(arrays: ProbableRankings) -> dict[str, list[Column]]:
    """Return topic to its documents, in an order that no numbering decides."""
    return {
        topic: sorted((round(p, 9), *ranks) for p, ranks in zip(chances, table.T, strict=True))
        for topic, chances, table in zip(
            arrays.topics, map(np.ndarray.tolist, arrays.probabilities), arrays.ranks, strict=True
        )
    }


def expected_columns(
    folder: Path, chances: dict[tuple[str, str], float], unjudged: float = 0.0
) -> dict[str, list[Column]]:
    """Look every document up in the run files."""
    runs = ranks_in_files(folder)
    found: dict[str, list[Column]] = {}
    for topic in sorted({topic for topic, _ in chances}):
        lists = [ranked.get(topic, []) for ranked in runs.values()]
        docnos = {docno for one in lists for docno in one}
        docnos |= {docno for own, docno in chances if own == topic}
        found[topic] = sorted(
            (round(p, 9), *(one.index(docno) + 1.0 if docno in one else math.inf for one in lists))
            for docno in docnos
            if (p := chances.get((topic, docno), unjudged)) > 0
        )
    return found


def exported(cli: Cli, *options: str) -> dict[tuple[str, str], float]:
    """Return the table of probabilities."""
    return {(topic, docno): p for topic, docno, p in table(cli, *options)}


@pytest.mark.parametrize(
    ("options", "by_export", "said"),
    [
        ((), ("--level", "relaxed"), "84 documents: p = share of judges at grade 1 or more, 3 judges, 3 a"),
        (("--level", "rigid"), ("--level", "rigid"), "share of judges at grade 2 or more"),
        (VALUES, VALUES, "p = mean value of grades, 3 judges, 3 a document"),
        ((*VALUES, "--level", "2"), VALUES, "mean value of grades"),
        (("--qrels", "two"), ("--level", "relaxed", "--qrels", "two"), "2 judges, 2 a document"),
        (("--qrels", "strict"), ("--level", "relaxed"), "share of judges at grade 1 or more, 3 judges"),
    ],
)
def test_judges_of_a_collection_give_what_is_exported(
    cli: Cli, load: Load, judged: Path, options: tuple[str, ...], by_export: tuple[str, ...], said: str
) -> None:
    """Probabilities are those of the table, ranks those of the run files."""
    cli("qrels", "define", "two", "--judge", "strict", "--judge", "lenient").fine()
    arrays = load(*options)
    assert arrays.tags == tuple(Path(file).stem for file in files(judged))
    assert columns(arrays) == expected_columns(judged, exported(cli, *by_export))
    assert said in load.said
    n_open = sum(0 < p < 1 for p in exported(cli, *by_export).values())
    assert f"{n_open} documents of 8 topics may be relevant or not (0 < p < 1)" in load.said
    assert all(flags.all() for flags in arrays.judged)


def test_ids_are_those_of_the_collection(cli: Cli, load: Load, judged: Path) -> None:
    """Who is told which document to judge next has to find it again."""
    arrays = load("--keep-zero")
    with Collection("collection.db") as opened:
        names = {number: docno for docno, number in opened.documents.numbers().items()}
    found = {
        (topic, names[number]): p
        for topic, *columns in zip(
            arrays.topics, arrays.ids, arrays.probabilities, arrays.judged, strict=True
        )
        for number, p, is_judged in zip(*(column.tolist() for column in columns), strict=True)
        if is_judged
    }
    assert found == pytest.approx(exported(cli, "--level", "relaxed"), abs=1e-9)


def test_file_gives_the_same_by_every_way(cli: Cli, load: Load, judged: Path) -> None:
    """An exported file and the collection's runs, run files, listed ones, or qrels beside them."""
    chances = exported(cli, *VALUES)
    cli("variation", *VALUES, *TABLE, "--out", "p.txt").fine()
    expected = expected_columns(judged, chances)
    file = ("--probabilities", "p.txt")
    qrels = ("--qrels", "judgements/strict.qrels")
    ways: list[tuple[str, ...]] = [
        file, (*file, "--with-judged", "--qrels", "strict"),
        (*file, *files(judged)), (*file, *files(judged), *qrels),
        (*file, *files(judged), *qrels, "--with-judged"),
    ]  # fmt: skip
    for way in ways:
        assert columns(load(*way)) == expected, way
        assert "84 documents: p as in p.txt" in load.said
    listed = load(*file, "--runs", "runs.tsv")
    order = [listed.tags.index(Path(one).stem) for one in files(judged)]
    again = {
        topic: sorted((p, *(ranks[row] for row in order)) for p, *ranks in found)
        for topic, found in columns(listed).items()
    }
    assert again == expected
    some = load(*file, "rm3-bigrams", "bm25-words")
    assert set(some.tags) == {"bm25-words", "rm3-bigrams"}


def test_qrels_are_worth_what_their_grades_are(load: Load, judged: Path) -> None:
    """One grade a document has its value, or is 0 or 1 by the level, of which nothing varies."""
    grades = {
        (topic, docno): int(grade)
        for topic, docno, grade in read_trec(judged / "judgements" / "strict.qrels", (0, 2, 3))
    }
    way = (*files(judged), "--qrels", "judgements/strict.qrels")
    worth = {0: 0.1, 1: 0.5, 2: 0.9}
    values = [f"--value={grade}={p}" for grade, p in worth.items()]
    expected = expected_columns(judged, {pair: worth[one] for pair, one in grades.items()})
    for more in ((), ("--scale", "0-2"), ("--value", "3=1"), ("--with-judged",)):
        assert columns(load(*way, *values, *more)) == expected
    assert "84 documents: p = value of the grade" in load.said
    binary = {pair: float(one >= 2) for pair, one in grades.items()}
    assert columns(load(*way, "--level", "2")) == expected_columns(judged, binary)
    assert "warning: every probability is 0 or 1, so nothing varies" in load.said
    with pytest.raises(ArgumentError, match="every grade of the scale; 3 is missing"):
        load(*way, *values, "--scale", "0-3")
    with pytest.raises(ArgumentError, match="2 is missing"):
        load(*way, *values[:2])


def test_negative_codes_of_qrels_are_unjudged_or_grades(load: Load, here: Path) -> None:
    """As everywhere: without a scale they are unjudged, with one they are what it says."""
    (here / "a.run").write_text("1 Q0 a 1 3 x\n1 Q0 b 2 2 x\n1 Q0 c 3 1 x\n")
    (here / "qrels").write_text("1 0 a -1\n1 0 b 1\n")
    values = ("--value", "1=0.5", "--value", "-1=0.25")
    arrays = load("a.run", "--qrels", "./qrels", "--value", "1=0.5")
    assert columns(arrays) == {"1": [(0.5, 2.0)]}
    scale = ("--scale", "-1-1", "--value", "0=0")
    arrays = load("a.run", "--qrels", "./qrels", *values, *scale)
    assert columns(arrays) == {"1": [(0.25, 1.0), (0.5, 2.0)]}


def test_unjudged_documents_have_the_probability_that_is_named(cli: Cli, load: Load, judged: Path) -> None:
    """Documents that a run has within the cutoff get it, and it is said how many they are."""
    chances = exported(cli, "--level", "relaxed")
    arrays = load("--unjudged", "0.1")
    assert columns(arrays) == expected_columns(judged, chances, 0.1)
    n_unjudged = sum(int((~flags).sum()) for flags in arrays.judged)
    assert f"{n_unjudged} unjudged documents within rank 1,000 of a run, p = 0.1" in load.said
    # The pool is the first five of each run but one.
    few = load("--unjudged", "0.1", "--cutoff", "5")
    late = few.tags.index("late-tfidf-bigrams")
    for flags, ranks in zip(few.judged, few.ranks, strict=True):
        only_late = np.delete(ranks, late, axis=0).min(axis=0) == np.inf
        assert only_late[~flags].all()
        assert ranks[np.isfinite(ranks)].max() <= 5
    zeros = load("--keep-zero")
    assert "unjudged" not in load.said
    assert sum(map(len, zeros.ids)) == len(chances) + n_unjudged
    more = load("--extra", "2", "--unjudged", "0.1")
    assert all(ids[-2:].tolist() == [SUPPOSED] * 2 for ids in more.ids)
    assert all(p[-2:].tolist() == [1.0] * 2 for p in more.probabilities)
    assert f"{n_unjudged} unjudged documents" in load.said


def test_topics_without_a_run_are_warned_of(load: Load, here: Path) -> None:
    """A topic that is written otherwise in the two files is not passed over."""
    (here / "a.run").write_text("1 Q0 a 1 3 x\n")
    (here / "p.txt").write_text("1 b 0.25\n1 a 0.5\n01 a 0.5\n1 c 1\n")
    arrays = load("a.run", "--probabilities", "p.txt")
    unretrieved = [(0.25, math.inf), (0.5, 1.0), (1.0, math.inf)]
    assert columns(arrays) == {"1": unretrieved, "01": [(0.5, math.inf)]}
    assert "warning: no run has documents for 1 topic, so AP is 0 there" in load.said


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        (("--probabilities", "p", *VALUES), ArgumentError, "and --probabilities exclude each"),
        (VALUES[:4], ArgumentError, "must be given for every grade of the scale; 2 is missing"),
        (("--value", "1"), ArgumentError, "must be GRADE=P"),
        (("--unjudged", "1.5"), ArgumentError, "must be a probability from 0 to 1"),
        (("--probabilities", "judgements/strict.qrels"), FormatError, "looks like a qrels file"),
        (("--probabilities", "none"), PoolerError, "none: no such file"),
        (
            ("runs/bm25-words.run", "--probabilities", "p", "--collection", "collection.db"),
            PoolerError,
            "is a file, not a run tag of the collection",
        ),
        (
            ("runs/bm25-words.run", "--probabilities", "p", "--level", "rigid"),
            ArgumentError,
            "`level` is for judgements, and only runs are named",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(
    load: Load, judged: Path, options: tuple[str, ...], error: type[PoolerError], said: str
) -> None:
    """Each mistake is told in the words of its option."""
    with pytest.raises(error, match=said):
        load(*options)


def test_collections_without_runs_or_judgements_are_told(
    cli: Cli, load: Load, garden: Path, collection_of: Callable[..., None]
) -> None:
    """There is nothing to say of no run, or of nothing judged."""
    collection_of(ann=["1 0 a 1"])
    with pytest.raises(PoolerError, match="there is no run in the collection"):
        load()
    Path("collection.db").unlink()
    cli("init", "--scale", "0-2").fine()
    cli("import", "runs", "runs/bm25-words.run").fine()
    with pytest.raises(PoolerError, match="no judge has judged anything yet"):
        load()


def test_values_are_read_like_those_of_the_export() -> None:
    """One probability a grade, in any order; the same words where there is a mistake."""
    assert parse_values(("1=.5", "-2=0", "0=1e-1"), (-2, 0, 1)) == {-2: 0, 0: 0.1, 1: 0.5}
    for one, said in (
        ("7=1", "must be GRADE=P with a grade of"), ("0=1", "must name each grade once"),
        ("1=2", "must have a probability from 0 to 1"), ("1=nan", "must have a probability from 0 to 1"),
    ):  # fmt: skip
        with pytest.raises(ArgumentError, match=said):
            parse_values(("0=0", one), (0, 1))
    assert (parse_unjudged("0"), parse_unjudged("1")) == (0, 1)


def test_letters_of_a_declared_scale_are_grades_of_qrels(cli: Cli, garden: Path) -> None:
    """The letters give what the numbers give; what is wrong is told by letters."""
    files = ("--qrels", garden / "judgements" / "strict.qrels", garden / "runs" / "bm25-words.run")
    options = ("variation", *files, "--scale", "ntcir", "--format", "json")

    def worth(*texts: str) -> tuple[str, ...]:
        return tuple(part for text in texts for part in ("--value", text))

    letters = cli(*options, *worth("C=0", "B=.4", "A=.8", "S=1")).fine().json()
    numbers = cli(*options, *worth("0=0", "1=.4", "2=.8", "3=1")).fine().json()
    assert letters == numbers
    refused = cli(*options, *worth("C=0", "D=.4")).failed(1).err
    assert "`--value` must be GRADE=P with a grade of C, B, A, S, but got 'D=.4'" in refused
    lacking = cli(*options, *worth("C=0", "B=.4", "A=.8")).failed(1).err
    assert "must be given for every grade of the scale; S is missing" in lacking
    assert "hint: as in --value C=P --value B=P --value A=P --value S=P" in lacking
    # Without a scale qrels have numbers, and no letters.
    undeclared = cli("variation", *files, *worth("C=0", "B=.4", "A=.8", "S=1")).failed(1).err
    assert "a grade of [0, 1, 2]" in undeclared


P = ("--probabilities", "p.txt")


@pytest.fixture
def two(here: Path) -> tuple[str, ...]:
    """Two topics of two runs; the second may have no relevant document.

    Topic 1: a is surely relevant, A has it second and B first. Topic 2: c is relevant one time of
    four, A has it first and B third.
    """
    Path("a.run").write_text("1 Q0 q 1 2 a\n1 Q0 a 2 1 a\n2 Q0 c 1 1 a\n")
    Path("b.run").write_text("1 Q0 a 1 1 b\n2 Q0 q 1 3 b\n2 Q0 r 2 2 b\n2 Q0 c 3 1 b\n")
    Path("p.txt").write_text("1 a 1\n2 c 0.25\n")
    return ("a.run", "b.run", *P)


def rows_of(cli: Cli, *words: str) -> Any:
    """Return the rows of `variation`."""
    return cli("variation", *words, "--format", "json").fine().json()


@pytest.mark.vector("methods of the project, section 3: E0")
def test_rule_says_which_run_is_ahead(cli: Cli, two: tuple[str, ...]) -> None:
    """Given a relevant document A has .75 and B .6667; with 0 counted .375 and .5417."""
    left_out = cli("variation", *two, "--format", "json").fine()
    assert [row["mean"] for row in left_out.json()] == pytest.approx([3 / 4, 2 / 3])
    assert "in 1 of 2 topics it is possible that nothing is relevant (most likely in 2: 75%)" in (
        left_out.err
    )
    assert "such outcomes are left out (--empty given|zero)" in left_out.err
    assert (
        "2: it is more likely than not that nothing is relevant; better leave the topic out" in left_out.err
    )
    counted = cli("variation", *two, "--empty", "zero", "--format", "json").fine()
    assert [row["mean"] for row in counted.json()] == pytest.approx([3 / 8, 13 / 24])
    assert "such outcomes count with an AP of 0" in counted.err
    for options, ahead in (((), "a"), (("--empty", "zero"), "b")):
        (pair,) = rows_of(cli, "--by", "pair", *two, *options)
        assert pair["a"] == ahead


def test_simulation_has_the_same_rule(cli: Cli, two: tuple[str, ...]) -> None:
    """Given a relevant document nothing varies here; with 0 counted AP of topic 2 does."""
    options = ("--monte-carlo", "4000")
    rows = rows_of(cli, *two, *options)
    assert [row["mc_mean"] for row in rows] == pytest.approx([3 / 4, 2 / 3])
    assert [row["mc_sd"] for row in rows] == pytest.approx([0, 0], abs=1e-12)
    rows = rows_of(cli, *two, *options, "--empty", "zero")
    # The standard error of MAP of A is sqrt(3) / 8 / sqrt(4000) = .0034.
    assert [row["mc_mean"] for row in rows] == pytest.approx([3 / 8, 13 / 24], abs=0.015)


def test_next_has_the_same_rule(cli: Cli, two: tuple[str, ...]) -> None:
    """The one document that may be relevant in a topic is so wherever the topic counts."""
    options = ("--unjudged", "0", "--confidence", "0.99", "--format", "json")
    found = cli("pool", "next", *two, *options).fine()
    assert found.json() == []
    assert "in 1 of 2 topics it is possible" in found.err
    rows = cli("pool", "next", *two, *options, "--empty", "zero").fine().json()
    assert [row["docno"] for row in rows] == ["c"]


def test_little_chances_are_not_told_of(cli: Cli, two: tuple[str, ...]) -> None:
    """P(R = 0) of .0009 is kept to itself, of .0011 not; of .3 without a warning."""
    for p, words in (("0.9991", ""), ("0.9989", "most likely in 2: 0.1%"), ("0.7", "in 2: 30%")):
        Path("p.txt").write_text(f"1 a 1\n2 c {p}\n")
        said = cli("variation", *two).fine().err
        assert words in said
        assert ("nothing is relevant" in said) == bool(words)
        assert "better no topic" not in said


def test_topic_without_a_possible_relevant_document_counts_with_zero(cli: Cli, two: tuple[str, ...]) -> None:
    """Surely empty or nearly so, a topic has an AP of 0 with `zero`, as trec_eval has it.

    Topic 1: A has a, which is relevant half of the time, second, and B first; topic 2 has nothing
    relevant. MAP is x/4 and x/2, of mean 1/8 and 1/4 and standard deviation 1/8 and 1/4.
    """
    options = ("--empty", "zero", "--monte-carlo", "4000", "--format", "json")
    for p, told in (("0", "no document can be relevant (2); AP is 0 there"), ("1e-9", "in 2: 100")):
        Path("p.txt").write_text(f"1 a 0.5\n2 c {p}\n")
        answer = cli("variation", *two, *options).fine()
        assert told in answer.err
        assert "left out" not in answer.err
        rows = answer.json()
        assert [row["topics"] for row in rows] == [2, 2]
        assert [row["mean"] for row in rows] == pytest.approx([1 / 8, 1 / 4], abs=1e-8)
        assert [row["sd"] for row in rows] == pytest.approx([1 / 8, 1 / 4], abs=1e-8)
        # The standard error of MAP of B is 1 / 4 / sqrt(4000) = .004.
        assert [row["mc_mean"] for row in rows] == pytest.approx([1 / 8, 1 / 4], abs=0.016)
        (pair,) = rows_of(cli, "--by", "pair", *two, *options[:-2])
        assert (pair["a"], pair["difference"]) == ("b", pytest.approx(1 / 8, abs=1e-8))


def test_topic_without_a_possible_relevant_document_is_left_out(cli: Cli, two: tuple[str, ...]) -> None:
    """With `given` there is no AP in such a topic, and MAP is over the others; that is told."""
    Path("p.txt").write_text("1 a 0.5\n2 c 0\n")
    answer = cli("variation", *two, "--format", "json").fine()
    assert "1 topic left out, as no document there can be relevant" in answer.err
    assert [row["topics"] for row in answer.json()] == [1, 1]
    assert [row["mean"] for row in answer.json()] == pytest.approx([1 / 2, 1])


def test_next_counts_a_topic_without_a_possible_relevant_document(cli: Cli, two: tuple[str, ...]) -> None:
    """The difference of the MAPs is x/4 over both topics, x of variance 1/4: 1/64 to be gained."""
    Path("p.txt").write_text("1 a 0.5\n2 c 0\n")
    options = ("--unjudged", "0", "--confidence", "0.99", "--format", "json", "--empty", "zero")
    (row,) = cli("pool", "next", *two, *options).fine().json()
    assert (row["topic"], row["docno"]) == ("1", "a")
    assert (row["gain"], row["share"]) == (pytest.approx(1 / 64), pytest.approx(1))


def test_map_as_judged_counts_the_same_topics(cli: Cli, two: tuple[str, ...]) -> None:
    """Where nothing varies the expected MAP is the judged one: (1/2 + 0) / 2 and (1 + 0) / 2.

    Topic 3, which nobody judged, counts by neither rule.
    """
    Path("one.qrels").write_text("1 0 a 1\n2 0 c 0\n")
    with Path("a.run").open("a") as file:
        file.write("3 Q0 c 1 1 a\n")
    for options, expected in (((), [1 / 2, 1]), (("--empty", "zero"), [1 / 4, 1 / 2])):
        rows = rows_of(cli, "--qrels", "one.qrels", *two[:2], *options)
        assert [row["mean"] for row in rows] == expected
        assert [row["judged"] for row in rows] == expected


def test_without_any_possible_relevant_document_map_is_zero(cli: Cli, two: tuple[str, ...]) -> None:
    """MAP is 0 for certain with `zero`, and does not exist otherwise."""
    Path("p.txt").write_text("1 a 0\n2 c 0\n")
    assert "no document can be relevant" in cli("variation", *two).failed(1).err
    answer = cli("variation", *two, "--empty", "zero", "--format", "json").fine()
    assert [(row["mean"], row["low"], row["high"]) for row in answer.json()] == [(0, 0, 0)] * 2
    assert "in 2 of 2 topics no document can be relevant (1, 2); AP is 0 there" in answer.err


@pytest.mark.parametrize(
    ("grade", "words"),
    [
        # Both topics have one document of .25, so that each is empty three times of four.
        (1, ("In 2 of 2 topics it is possible that nothing is relevant (most likely in 1: 75%); such",
             "1, 2: it is more likely than not that nothing is relevant")),
        (0, ("1 topic left out, as no document there can be relevant.",)),
    ],
)  # fmt: skip
def test_a_report_says_so_itself(cli: Cli, two: tuple[str, ...], grade: int, words: tuple[str, ...]) -> None:
    """Its reader has not seen what was said when it was made."""
    Path("one.qrels").write_text(f"1 0 a 1\n2 0 c {grade}\n")
    options = ("--qrels", "one.qrels", "--value", "0=0", "--value", "1=.25", "--depth", "1")
    cli("report", "page.html", *two[:2], *options).fine()
    page = Path("page.html").read_text()
    assert all(one in page for one in words)


def test_in_python_the_file_is_a_path_and_what_is_missing_is_said(tmp_path: Path) -> None:
    """Example X1: half a chance each at ranks 1 and 2; runs in memory alone have nothing to measure them."""
    runs = source({"a": {"t": {"x": 2.0, "y": 1.0}}}, collection=tmp_path / "none.db")
    file = tmp_path / "p.txt"
    file.write_text("t x .5\nt y .5\n", "utf-8")
    ranked = source({"a": {"t": {"x": 2.0, "y": 1.0}}})
    assert variation(ranked, probabilities=file, empty="zero").mean.tolist() == [pytest.approx(5 / 8)]
    with pytest.raises(PoolerError, match="run `a` is given, and there is nothing to measure it with"):
        variation(runs)
    with pytest.raises(PoolerError, match="run `a` is given, and no qrels are named to measure it with"):
        evaluate(runs)
