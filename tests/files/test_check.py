"""`check`: every fault of a run file with its line, what is odd, the rules of a track, and exit codes."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pooler as p
from pooler.reading.check import RunReport, check_run
from pooler.reading.strict import read_run
from pooler.reading.tops import TieAtCut
from store.errors import FormatError
from store.ranking import ORDERS, Order
from tests.helpers.run import Cli, write
from tests.helpers.strategies import RunText, damaged, run_texts
from tests.helpers.trec_covid import data_path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Name a place to write a run file to."""
    return tmp_path_factory.mktemp("check") / "x.run"


def rows_of(topic: str, scores: list[float], *, first_rank: int = 1) -> str:
    """Write the lines of one topic, documents d0, d1, ... with the given scores."""
    return "".join(
        f"{topic} Q0 d{number} {number + first_rank} {score} t\n" for number, score in enumerate(scores)
    )


def warnings_of(report: RunReport) -> dict[str, tuple[int, str]]:
    """Key counts and messages of a report's warnings by code; each code is there once."""
    codes = [warning.code for warning in report.warnings]
    assert len(codes) == len(set(codes))
    return {warning.code: (warning.count, warning.message) for warning in report.warnings}


@given(
    data=st.data(),
    text=run_texts() | run_texts(lenient=True),
    order=st.sampled_from(ORDERS),
    lenient=st.booleans(),
)
def test_check_run_damaged_file_agrees_with_read_run(
    data: st.DataObject, text: RunText, order: Order, *, lenient: bool, file: Path
) -> None:
    """No content of a file raises, and the faults told are those that reading raises."""
    content = data.draw(damaged(text.content))
    if data.draw(st.integers(0, 3)) == 0:
        packed = gzip.compress(content, mtime=0)
        content = packed[: data.draw(st.integers(0, len(packed)))]
    file.write_bytes(content)
    report = check_run(str(file), depth=2, order=order, lenient=lenient)
    if report.n_faults:
        with pytest.raises(FormatError) as caught:
            read_run(str(file), lenient=lenient)
        assert caught.value.faults == report.faults
        assert caught.value.n_faults == report.n_faults
        assert caught.value.hint == report.hint
        return
    run = read_run(str(file), lenient=lenient)
    assert report.tag == run.tag
    assert report.sha256 == run.sha256
    assert report.n_topics == len(run.rankings)
    assert report.n_documents == sum(len(ranking.docnos) for ranking in run.rankings)


def test_check_run_clean_file_has_no_warning(file: Path) -> None:
    """A file with nothing odd about it is reported without a word."""
    file.write_text(rows_of("1", [9.5 - n for n in range(10)]))
    report = check_run(str(file), known_topics={"1"}, known_docnos={f"d{n}" for n in range(10)})
    assert report.warnings == ()
    assert report.n_faults == 0
    assert (report.tag, report.n_lines, report.n_topics, report.n_documents) == ("t", 10, 1, 10)


def test_check_run_ties_at_the_cut_are_told_as_in_and_out(file: Path) -> None:
    """Eleven documents tied at depth 100, four of them inside, are told with both counts."""
    scores = [float(200 - n) for n in range(96)] + [50.0] * 11 + [1.0]
    file.write_text(rows_of("21", scores) + rows_of("22", [2.0, 1.0]))
    report = check_run(str(file), depth=100)
    found = warnings_of(report)
    message = "11 documents tied at depth 100 in topic 21: 4 in, 7 out"
    assert found["ties-at-cut"] == (1, message)
    assert report.ties_at_cut == (TieAtCut("t", "21", 4, 7),)
    assert found["ties"] == (11, "11 documents have tied scores, in topic 21")
    # d96 to d106 tie: trec_eval's order puts `d99` first of them, the file `d96`.
    assert found["rank-order"][0] == 1
    assert "in topic 21: `d96` is number 97 by rank, `d99` by score" in found["rank-order"][1]
    short = "fewer than 100 documents in topic 22: 2 in the first"
    assert found["short-topic"] == (1, short)


@pytest.mark.parametrize(("n_others", "words"), [(1, "1 more topic"), (2, "2 more topics")])
def test_check_run_ties_at_the_cut_elsewhere_are_counted(file: Path, n_others: int, words: str) -> None:
    """The other topics with ties there are counted, and one is no plural."""
    file.write_text("".join(rows_of(str(topic), [1.0, 1.0]) for topic in range(n_others + 1)))
    _, message = warnings_of(check_run(str(file), depth=1))["ties-at-cut"]
    assert message.endswith(f": 1 in, 1 out; ties there in {words}")


TIED = "1 Q0 e 3 1 t\n1 Q0 c 1 5 t\n1 Q0 d 2 5 t\n1 Q0 a 1 9 t\n1 Q0 b 1 5 t\n"
NEAR = "1 Q0 a 1 16.00000001 t\n1 Q0 b 2 16.0 t\n"


@pytest.mark.parametrize(
    ("content", "depth", "order", "expected"),
    [
        (TIED, 2, "trec", [(1, 2)]),
        (TIED, 2, "docno-asc", [(1, 2)]),
        (TIED, 2, "rank", [(2, 1)]),
        (TIED, 2, "file", []),
        ("1 Q0 a x 1 t\n1 Q0 b x 1 t\n", 1, "rank", []),  # ranks that are no integers order nothing
        (NEAR, 1, "trec", []),
        (NEAR, 1, "trec9", [(1, 1)]),
    ],
)
def test_check_run_ties_at_the_cut_follow_the_order(
    content: str, depth: int, order: Order, expected: list[tuple[int, int]], file: Path
) -> None:
    """Scores tie in score orders, rounded ones in trec_eval 9's, stated ranks in order rank, else nothing."""
    file.write_text(content)
    report = check_run(str(file), depth=depth, order=order)
    assert [(tie.n_in, tie.n_out) for tie in report.ties_at_cut] == expected


@pytest.mark.parametrize(
    ("content", "code", "count", "message"),
    [
        (rows_of("1", [1.0, 2.0]) + rows_of("2", [2.0, 1.0]) + rows_of("3", [0.0, 1.0]), "rank-order", 2,
         "the stated ranks disagree with the scores (order `trec`) in topic 1 and 1 more:"
         " `d0` is number 1 by rank, `d1` by score"),
        (rows_of("1", [2.0, 1.0], first_rank=0) + rows_of("2", [3.0], first_rank=0), "rank-zero", 2,
         "stated ranks start at 0 in topic 1 and 1 more"),
        ("1 Q0 a 1 9 t\n1 Q0 b 2.0 8 t\n1 Q0 c iii 7 t\n", "rank-number", 2,
         "2 stated ranks are not integers, first on line 2: `2.0`"),
        ("1 Q0 a 1 3 t\n1 0 b 2 2 t\n1 q0 c 3 1 t\n1 EXP d 4 0 t\n", "q0", 2,
         "the second field is not `Q0` on 2 lines, first on line 3: `q0`"),
    ],
)  # fmt: skip
def test_check_run_oddities_are_counted_with_an_example(
    content: str, code: str, count: int, message: str, file: Path
) -> None:
    """By topic or by line, each once."""
    file.write_text(content)
    assert warnings_of(check_run(str(file)))[code] == (count, message)


@pytest.mark.parametrize(("depth", "count"), [(None, 1), (9, 0), (10, 1), (11, 2)])
def test_check_run_short_topics_against_depth_or_ten(depth: int | None, count: int, file: Path) -> None:
    """A topic is short below the depth; without a depth, below ten documents."""
    file.write_text(rows_of("1", [-float(n) for n in range(9)]) + rows_of("2", [-1.0 * n for n in range(10)]))
    found = warnings_of(check_run(str(file), depth=depth))
    assert found.get("short-topic", (0, ""))[0] == count


def test_check_run_known_topics_and_docnos(file: Path) -> None:
    """Unknown topics (once each) and documents are faults, missing topics one warning."""
    file.write_text(rows_of("1", [2.0, 1.0]) + rows_of("99", [2.0, 1.0]))
    report = check_run(str(file), known_topics={"1", "2", "10"}, known_docnos={"d0"})
    assert [(fault.line, fault.code, fault.message) for fault in report.faults] == [
        (2, "unknown-docno", "expected a known docno, got `d1`"),
        (3, "unknown-topic", "expected a known topic, got `99`"),
        (4, "unknown-docno", "expected a known docno, got `d1`"),
    ]
    assert report.fault_counts == {"unknown-docno": 2, "unknown-topic": 1}
    found = warnings_of(report)
    assert found["missing-topic"] == (2, "no documents for topic 2 and 1 more")


def test_check_run_documents_are_lines_without_a_fault(file: Path) -> None:
    """One there twice, or under an id that cannot be, counts once or never; lines are those of an editor."""
    file.write_text("\n1 Q0 a 1 4 t\n1 Q0 a 2 3 t\n1 Q0 b\x07 3 2 t\n1 Q0 c 4 nan t\n1 Q0 d 5 1 t\n\n")
    report = check_run(str(file))
    assert report.fault_counts == {"duplicate": 1, "id": 1, "score": 1}
    assert (report.n_lines, report.n_documents) == (7, 2)


@pytest.mark.vector("trec-covid-r1 PROVENANCE.md: no faults, no duplicates; 30 topics")
def test_check_run_submitted_runs_have_no_fault() -> None:
    """Runs as submitted to TREC-COVID pass, and their oddities are told."""
    disagreeing = 0
    for path in sorted(data_path("runs-top120").glob("*.gz"))[:30]:
        report = check_run(str(path), known_topics={str(number) for number in range(1, 31)})
        assert report.n_faults == 0
        assert report.tag == path.name.removesuffix(".gz")
        disagreeing += "rank-order" in warnings_of(report)
    assert disagreeing > 0


def test_sound_runs_pass(cli: Cli, garden: Path) -> None:
    """The sample runs have no fault; a line a file says what is in it."""
    answer = cli("check", "--runs", "runs.tsv").fine()
    assert answer.out.count(": ok: run ") == 9
    write(Path("one.run"), "1 Q0 a 1 2 x", *(f"1 Q0 d{n} {n + 2} {-n} x" for n in range(1, 2000)))
    assert ": ok: run x, 1 topic, 2,000 documents\n" in cli("check", "one.run").fine().out
    said = cli("pool", "one.run", "--depth", "1500", "--out", "one.pool").fine().err
    assert "1,500 pairs to judge in 1 topic, 1,500 per topic; depth 1,500 of 1 run" in said
    assert "runs/bm25-words.run: ok: run bm25-words, 8 topics, 311 documents" in answer.out
    assert answer.err.startswith("9 files, none with a fault, 3 warnings")


def test_all_faults_of_all_files_are_told(cli: Cli, here: Path) -> None:
    """A bad file does not hide the next one; every fault has file and line."""
    write(here / "a.run", "1 Q0 d 1 nan a", "1 Q0 e 2 1 b", "1 Q0 d 3 1 a")
    write(here / "b.run", "1 Q0 d 1 1")
    write(here / "c.run", "1 Q0 d 1 1 c")
    answer = cli("check", "a.run", "b.run", "c.run")
    assert answer.code == 1
    lines = answer.out.splitlines()
    assert [line.partition(": ")[0] for line in lines if "warning" not in line] == [
        *("a.run:1", "a.run:2", "a.run:3", "b.run:1", "b.run", "c.run")
    ]
    assert "3 files, 2 with faults (4 in all)" in answer.err
    rows = cli("check", "a.run", "b.run", "c.run", "--format", "tsv").tsv()
    faults = [(row["file"], row["line"], row["code"]) for row in rows if row["kind"] == "fault"]
    assert faults == [
        ("a.run", "1", "score"),
        ("a.run", "2", "tag"),
        ("a.run", "3", "duplicate"),
        ("b.run", "1", "fields"),
    ]


def test_faults_beyond_those_shown_are_counted(cli: Cli, here: Path) -> None:
    """Of forty faults 25 are shown and 15 counted, for people and for programs."""
    write(here / "a.run", *["1 Q0 d 1"] * 40)
    answer = cli("check", "a.run")
    assert answer.out.count("expected 6 fields") == 25
    assert "a.run: and 15 more faults" in answer.out
    rows = cli("check", "a.run", "--format", "json").json()
    assert sum(row["count"] for row in rows if row["kind"] == "fault") == 40


def test_strict_fails_on_warnings(cli: Cli, here: Path) -> None:
    """A warning is no fault unless `--strict` says so."""
    write(here / "a.run", *[f"1 Q0 d{number} {number} 1.0 a" for number in range(12)])
    assert "warning: 12 documents have tied scores" in cli("check", "a.run").fine().out
    assert cli("check", "--strict", "a.run").code == 1


def test_collection_tells_unknown_and_missing(cli: Cli, judged: Path) -> None:
    """With a collection, unknown topics and docnos are faults and missing topics warnings."""
    write(judged / "a.run", "G01 Q0 KG-E-001 1 1 a", "G99 Q0 KG-E-999 1 1 a")
    answer = cli("check", "a.run", "--collection", "collection.db")
    assert answer.code == 1
    assert "a.run:2: expected a known topic, got `G99`" in answer.out
    assert "a.run:2: expected a known docno, got `KG-E-999`" in answer.out
    assert "a.run: warning: no documents for topic G02 and 6 more" in answer.out
    cli("check", "a.run").fine()


def test_run_comes_from_stdin(cli: Cli, garden: Path) -> None:
    """`-` checks standard input."""
    content = (garden / "runs" / "bm25-words.run").read_bytes()
    answer = cli("check", "-", stdin=content).fine()
    assert "-: ok: run bm25-words, 8 topics, 311 documents" in answer.out


def test_file_that_cannot_be_opened_is_one_fault_among_the_others(cli: Cli, garden: Path) -> None:
    """A wrong path is told once, and the other files are checked all the same."""
    answer = cli("check", "runs/bm25-words.run", "nope.run", "runs/lm-words-full.run")
    assert answer.code == 1
    assert "nope.run: no such file or directory" in answer.out
    assert "lm-words-full.run: ok" in answer.out
    assert "3 files, 1 with faults (1 in all)" in answer.err


def test_two_files_with_one_tag_are_a_fault(cli: Cli, garden: Path) -> None:
    """Runs are told apart by their tags, so the second file of a tag is refused here already."""
    answer = cli("check", "runs/bm25-words.run", "runs/bm25-words.run", "--format", "json")
    assert answer.code == 1
    faults = [row for row in answer.json() if row["kind"] == "fault"]
    assert [(row["code"], row["line"]) for row in faults] == [("tag", None)]
    assert "as in runs/bm25-words.run" in faults[0]["message"]


def test_lines_for_people_become_a_table_that_is_asked_for(cli: Cli, garden: Path) -> None:
    """`--limit` keeps the first lines; sorting makes a table of them."""
    names = ("runs/bm25-words.run", "runs/rm3-words-title.run")
    assert cli("check", *names, "--limit", "1").fine().out.count("\n") == 1
    table = cli("check", *names, "--sort", "tag:desc").fine().out
    assert table.splitlines()[0].split()[:3] == ["file", "tag", "kind"]
    assert [line.split()[0] for line in table.splitlines()[2:]] == [*reversed(names)]


CHECK = ("check", "--runs", "runs.tsv", "--rules", "track.toml")
ROWS = ("1 Q0 d1 1 3.0 a", "1 Q0 d2 2 2.0 a", "2 Q0 d1 1 3.5 a")
ALL_RULES = """\
topics = ["1", "2"]
documents = "lists/docnos.txt"
depth = 2
min_depth = 1
tag = "[a-z]"
descending = true
ranks = true
group = true
runs_per_group = 1
models = true
"""


def submission(*rows: str) -> str:
    """Return a run file."""
    return "".join(f"{line}\n" for line in rows)


@pytest.fixture
def track(here: Path) -> Path:
    """Write the rules of a track, all there are, and a run that keeps them."""
    (here / "lists").mkdir()
    write(here / "lists" / "docnos.txt", "d1", "d2", "d3")
    (here / "track.toml").write_text(ALL_RULES, "utf-8")
    (here / "a.run").write_text(submission(*ROWS), "utf-8")
    write(here / "runs.tsv", "file\tgroup\tmodels", "a.run\tgarden\tnone")
    return here


def test_run_that_keeps_all_rules_is_accepted(cli: Cli, track: Path) -> None:
    """Its row says what is in it, and what the list of runs says of it."""
    answer = cli(*CHECK, "--format", "json")
    assert answer.code == 0
    (row,) = answer.json()["submissions"]
    assert row == {
        "run": "a",
        "group": "garden",
        "models": ["none"],
        "topics": 2,
        "documents": 3,
        "ties": 0,
        "disagreements": 0,
        "faults": 0,
        "verdict": "accepted",
        "because": [],
        "warned": [],
        "file": "a.run",
    }


BROKEN = {
    "topics": (submission(*ROWS[:2]), "no documents for topic 2"),
    "unknown-topic": (submission(*ROWS, "3 Q0 d1 1 1 a"), "expected a known topic, got `3`"),
    "unknown-docno": (submission(*ROWS, "2 Q0 d4 2 1 a"), "expected a known docno, got `d4`"),
    "min_depth": (submission(*ROWS), "expected at least 2 documents a topic, got 1 in topic 2"),
    "depth": (
        submission(ROWS[0], ROWS[1], "1 Q0 d3 3 1 a", ROWS[2]),
        "expected at most 2 documents a topic, got 3 in topic 1",
    ),
    "tag": (
        submission(*(row.replace(" a", " ab") for row in ROWS)),
        "expected a run tag like `[a-z]`, got `ab`",
    ),
    "descending": (submission(ROWS[1], ROWS[0], ROWS[2]), "scores rise from line to line in topic 1"),
    "ranks": (
        submission("1 Q0 d1 2 3.0 a", "1 Q0 d2 1 2.0 a", ROWS[2]),
        "the stated ranks disagree with the scores (order `trec`) in topic 1: `d2` is number 1 by rank",
    ),
}


@pytest.mark.parametrize("code", BROKEN)
def test_each_rule_is_broken_once(cli: Cli, track: Path, code: str) -> None:
    """The run is refused for it alone, as is told in its row and below."""
    content, words = BROKEN[code]
    (track / "a.run").write_text(content, "utf-8")
    if code == "min_depth":
        (track / "track.toml").write_text("min_depth = 2\n", "utf-8")
    answer = cli(*CHECK, "--format", "json")
    assert answer.code == 1
    (row,) = answer.json()["submissions"]
    assert (row["verdict"], row["because"], row["faults"]) == ("refused", [code], 1)
    (fault,) = [one for one in answer.json()["check"] if one["kind"] == "fault"]
    assert fault["message"].startswith(words)


@pytest.mark.parametrize(
    ("code", "cells", "words"),
    [
        ("group", "\tnone", "expected a group, in the list of runs, got none"),
        ("models", "garden\t", "expected models, or `none`, in the list of runs, got nothing"),
    ],
)
def test_what_a_list_has_to_say_is_asked_for(
    cli: Cli, track: Path, code: str, cells: str, words: str
) -> None:
    """Who made a run, and with which models, is missed alone."""
    write(track / "runs.tsv", "file\tgroup\tmodels", f"a.run\t{cells}")
    answer = cli(*CHECK, "--format", "json")
    assert answer.json()["submissions"][0]["because"] == [code]
    assert words in answer.out


def test_runs_of_a_group_are_counted(cli: Cli, track: Path) -> None:
    """Whoever handed in too many hears it of each: which one goes is not guessed."""
    for tag in ("b", "c"):
        (track / f"{tag}.run").write_text(submission(*ROWS).replace(" a\n", f" {tag}\n"), "utf-8")
    groups = (("a", "garden"), ("b", "garden"), ("c", "field"))
    rows = (f"{tag}.run\t{group}\tnone" for tag, group in groups)
    write(track / "runs.tsv", "file\tgroup\tmodels", *rows)
    answer = cli(*CHECK, "--format", "json")
    because = {row["run"]: row["because"] for row in answer.json()["submissions"]}
    assert because == {"a": ["runs_per_group"], "b": ["runs_per_group"], "c": []}
    assert "expected at most 1 run a group, got 2 of group `garden`: a, b" in answer.out


def test_file_that_is_no_run_has_a_row_and_is_none_of_its_group(cli: Cli, track: Path) -> None:
    """Refused for that alone; a list names it beside the group's one run, which is accepted."""
    write(track / "empty.run", "")
    write(
        track / "runs.tsv", "file\tgroup\tmodels", *(f"{name}.run\tgarden\tnone" for name in ("a", "empty"))
    )
    answer = cli("check", "gone.run", "--runs", "runs.tsv", "--rules", "track.toml", "--format", "json")
    rows = [(row["run"], row["verdict"], row["because"]) for row in answer.json()["submissions"]]
    assert rows == [(None, "refused", ["open"]), ("a", "accepted", []), (None, "refused", ["empty"])]
    assert answer.whole()["settings"]["rules"] == "track.toml"


def test_exit_code_tells_the_severity(cli: Cli, track: Path) -> None:
    """0 = accepted, 4 = a rule that warns is broken, 1 = refused, or warned of with `--strict`."""
    (track / "a.run").write_text(BROKEN["unknown-docno"][0], "utf-8")
    rules = track / "track.toml"
    rules.write_text(ALL_RULES + 'warn = ["documents", "depth"]\n', "utf-8")
    answer = cli(*CHECK, "--format", "json")
    assert answer.code == 4
    (row,) = answer.json()["submissions"]
    assert (row["verdict"], row["because"], row["warned"]) == ("warned", [], ["documents"])
    assert "1 not in the list of documents, first on line 4: expected a known docno, got `d4`" in answer.out
    assert cli(*CHECK, "--strict").code == 1
    rules.write_text(ALL_RULES + 'warn = ["depth"]\n', "utf-8")
    assert cli(*CHECK).code == 1
    rules.write_text("depth = 9\n", "utf-8")
    assert cli(*CHECK).code == 0


def test_all_faults_of_the_rules_are_told_at_once(cli: Cli, track: Path) -> None:
    """Unknown keys with the known one that is nearest, values, and lists that cannot be read."""
    (track / "bad.txt").write_text("d 1\n", "utf-8")
    (track / "track.toml").write_text(
        'topcs = 3\ndepth = 0\ntag = "["\nranks = 1\ndocuments = "bad.txt"\nwarn = ["group", "dpth"]\n',
        "utf-8",
    )
    answer = cli("check", "a.run", "--rules", "track.toml")
    names = "track.toml: expected `warn` to name rules of this file (`depth`, `documents`, `ranks`)"
    assert answer.code == 1
    assert [line.removeprefix("error: ") for line in answer.err.splitlines()[:-1]] == [
        "track.toml: unknown rule `topcs`; known: `topics`, `depth`, `descending` and others",
        "track.toml: expected `depth` to be an integer >= 1, got 0",
        "track.toml: expected `tag` to be a regular expression, got '['",
        "track.toml: expected `ranks` to be true or false, got 1",
        f"{names}, got `group`",
        f"{names}, got `dpth`",
        "track.toml: documents: bad.txt:1: docno: expected an id without blanks, got 'd 1'",
    ]
    assert not answer.out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected at least one rule of depth, descending"),
        ("depth = 3\nmin_depth = 4\n", "expected `min_depth` to be at most `depth`, 3, got 4"),
        ("depth = true\n", "expected `depth` to be an integer >= 1, got True"),
        ("depth = ", "expected TOML"),
        ('documents = "gone.txt"\n', "gone.txt: no such file or directory"),
        ("topics = []\n", "expected `topics` to be a file, or a list of topic ids, got []"),
    ],
)
def test_rules_that_say_nothing_or_too_much_are_refused(cli: Cli, track: Path, text: str, words: str) -> None:
    """No run is checked by rules that are no rules."""
    (track / "track.toml").write_text(text, "utf-8")
    answer = cli("check", "a.run", "--rules", "track.toml")
    assert answer.code == 1
    assert words in answer.err
    assert not answer.out


def test_import_refuses_what_the_rules_refuse(cli: Cli, track: Path) -> None:
    """Nothing is imported where a run is refused; runs of the group that are in count; warnings are said."""
    cli("init", "--scale", "0-2").fine()
    command = ("import", "runs", *CHECK[1:])
    (track / "bad.run").write_text(submission("1 Q0 d9 1 1 b"), "utf-8")
    refused = cli(*command, "bad.run")
    assert refused.code == 1
    assert "bad.run:1: expected a known docno, got `d9`" in refused.err
    assert "track.toml: 1 of 2 runs refused" in refused.err
    assert cli("show", "runs", "--format", "json").json() == []
    cli(*command).fine()
    cli(*command).fine()
    (run,) = cli("show", "runs", "--format", "json").json()
    assert (run["run"], run["group"]) == ("a", "garden")
    (track / "b.run").write_text(submission(*ROWS).replace(" a\n", " b\n"), "utf-8")
    write(track / "runs.tsv", "file\tgroup\tmodels", "b.run\tgarden\tnone")
    assert "got 2 of group `garden`: a, b" in cli(*command).err
    (track / "track.toml").write_text('runs_per_group = 1\nwarn = ["runs_per_group"]\n', "utf-8")
    warned = cli(*command).fine()
    assert "warning: b.run: expected at most 1 run a group" in warned.err


@pytest.mark.slow
@pytest.mark.vector("trec-covid-r1 PROVENANCE.md: 143 runs, 30 topics, 529,478 lines, no duplicate; its runs")
def test_runs_of_trec_covid_are_one_table(cli: Cli, here: Path) -> None:
    """A row for each of 143 runs; topics, documents and ranks are those that plain loops count."""
    files = sorted(data_path("runs-top120").glob("*.gz"))
    topics = data_path("topics.covid-round1.xml")
    (here / "topics.xml").write_bytes(topics.read_bytes())
    rules = 'topics = "topics.xml"\ndepth = 1000\ntag = "[A-Za-z0-9._-]+"\nranks = true\nwarn = ["ranks"]\n'
    (here / "track.toml").write_text(rules, "utf-8")
    answer = cli("check", *map(str, files), "--rules", "track.toml", "--format", "json")
    assert answer.code == 4
    rows = answer.json()["submissions"]
    assert len(rows) == 143
    assert sum(row["documents"] for row in rows) == 529_478
    assert {row["topics"] for row in rows} == {30}
    for row, file in zip(rows, files, strict=True):
        lines = [line.split() for line in gzip.decompress(file.read_bytes()).decode().splitlines()]
        by_topic: dict[str, list[tuple[float, str, int]]] = {}
        for topic, _, docno, rank, score, _ in lines:
            by_topic.setdefault(topic, []).append((float(score), docno, int(rank)))
        n_unlike = n_tied = 0
        for found in by_topic.values():
            scores = Counter(score for score, *_ in found)
            n_tied += sum(scores[score] > 1 for score, *_ in found)
            by_score = sorted(found, reverse=True)  # ties by docno, the last one first
            n_unlike += by_score != sorted(found, key=lambda one: one[2])
        assert (row["run"], row["documents"]) == (file.name.removesuffix(".gz"), len(lines))
        assert (row["disagreements"], row["ties"]) == (n_unlike, n_tied)
        assert row["verdict"] == ("warned" if n_unlike else "accepted")


def test_faults_and_warnings_are_sentences_with_their_place(tmp_path: Path) -> None:
    """A sound file is a row of kind ok; a fault has a line, and the result says whether all is well."""
    sound, broken = tmp_path / "a.run", tmp_path / "b.run"
    sound.write_text("".join(f"1 Q0 d{rank} {rank} {20 - rank} a\n" for rank in range(1, 12)))
    broken.write_text("1 Q0 d 1 nan b\n")
    found = p.check(sound, broken, depth=10)
    assert not found.ok
    assert p.check(sound).ok
    assert len(found.faults) == found.n_faults == 1
    assert found.faults[0].startswith(f"{broken}:1: ")
    assert found.warnings == ()
    kinds = {row["kind"]: row for row in found.table("check").to_records()}
    assert kinds["ok"]["count"] == 11
    assert kinds["fault"] == {**kinds["fault"], "line": 1, "code": "score", "file": str(broken)}
    assert found.settings["runs"] == (str(sound), str(broken))


def test_two_processes_check_as_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads a file, reports come in the order named, docnos that look alike in two files too."""
    lines = {
        "a": "1 Q0 caf\u00e9 1 2 a\n1 Q0 d 2 2 a\n",
        "b": "1 Q0 cafe\u0301 0 1 b\n",
        "c": "1 Q0 d 1 nan c\n",
        "d": "1 Q9 d x 1 a\n",
    }
    files = [str(tmp_path / name) for name in (*lines, "missing")]
    for file, text in zip(files, lines.values(), strict=False):
        Path(file).write_text(text, encoding="utf-8")
    alone = p.check(*files, depth=1)
    monkeypatch.setattr("pooler.reading.parallel.PARALLEL_BYTES", 0)
    monkeypatch.setattr("pooler.reading.parallel.n_processors", lambda: 2)
    together = p.check(*files, depth=1)
    assert together.reports == alone.reports
    assert [{one.code for one in report.warnings} for report in alone.reports] == [
        {"ties", "ties-at-cut", "rank-order"},
        {"rank-zero", "look-alike"},
        set(),
        {"rank-number", "q0"},
        set(),
    ]
    assert [set(report.fault_counts) for report in alone.reports] == [
        set(),
        set(),
        {"score"},
        {"tag"},
        {"open"},
    ]
