"""`import judgements`: codes, maps, columns, repeats, pools, and coming again."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import ArgumentError, FaultList
from store.formats.scale import MEANINGS, Meaning, decode_rows, parse_codes, parse_map
from store.formats.tables import GradedRow
from store.records import Qrel
from tests.helpers.fixtures import made_once
from tests.helpers.run import Cli, Outcome, write
from tests.helpers.shared_data import shared_data
from tests.helpers.world import parse_scale


@pytest.fixture
@made_once
def empty(cli: Cli, here: Path) -> Path:
    """Work beside an empty collection of scale 0-2."""
    cli("init", "--scale", "0-2").fine()
    return here


def bring(cli: Cli, *options: str) -> Outcome:
    """Import `q` as the judgements of `me`."""
    return cli("import", "judgements", "q", "--judge", "me", *options)


def test_map_reads_one_grade_as_another(cli: Cli, empty: Path) -> None:
    """What is not mapped stays, and iterations stay; no chain is followed, so 2 and 0 change places."""
    write(empty / "q", "1 0.5 a 10", "1 0 b 2", "1 0 c 1", "1 0 d 0")
    bring(cli, "--map", "10=2", "--map", "2=0", "--map", "0=2").fine()
    assert cli("export", "qrels").fine().out == "1 0.5 a 2\n1 0 b 0\n1 0 c 1\n1 0 d 2\n"


def test_a_new_judge_whose_name_is_nearly_another_is_warned_of(cli: Cli, empty: Path) -> None:
    """A slip in --judge does not pass for a second person; names that are numbered do."""
    write(empty / "q", "1 0 a 1")
    for name, others in (("kim", 0), ("kimm", 1), ("kim", 0), ("worker-1", 0), ("worker-2", 0)):
        told = cli("import", "judgements", "q", "--judge", name, "--allow-unknown").fine().err
        assert (
            told.count(f"`{name}` is new, and not `kim`; pooler judges erase {name} takes it back") == others
        )


def test_code_and_map_may_not_contradict_each_other(cli: Cli, empty: Path) -> None:
    """-2 is skipped or the grade 0: both are named, and nothing is imported."""
    write(empty / "q", "1 0 a -2", "1 0 b 1")
    said = bring(cli, "--map", "-2=0", "--code", "-2=skipped").failed(2).err
    assert "`--map` must map grades, and --code -2=skipped says that it is none" in said
    assert "but got '-2=0'" in said
    assert cli("show", "judges", "--format", "json").fine().json() == []
    files = ("./q", "--map", "-2=0", "--code", "-2=skipped", "--level", "1")
    assert "--code -2=skipped says that it is none" in cli("export", "qrels", *files).failed(2).err


def test_integral_floats_are_read_with_a_warning(cli: Cli, empty: Path) -> None:
    """Grades written 2.0 are integers, and stderr says how many were written so."""
    write(empty / "q", "1 0 a 2.0", "1 0 b 1")
    assert "1 grade written as floats (2.0)" in bring(cli).fine().err
    assert cli("export", "qrels").fine().out == "1 0 a 2\n1 0 b 1\n"


def test_unjudged_code_makes_a_pool_entry_and_no_judgement(cli: Cli, empty: Path) -> None:
    """A line of a code that means "pooled, not judged" is pooled, and is no grade."""
    write(empty / "q", "1 0 a 1", "1 0 b -1", "2 0 a -1")
    bring(cli, "--code", "-1=unjudged").fine()
    [row] = cli("status", "--table", "status", "--format", "json").fine().json()
    names = ("pooled", "judged", "unjudged", "outside")
    assert [row[name] for name in names] == [2, 0, 2, 1]
    assert [row[f"grade_{grade}"] for grade in (0, 1, 2)] == [0, 1, 0]


def test_as_pool_pools_every_line(cli: Cli, empty: Path) -> None:
    """`--as-pool` makes all lines of the file a pool, the unjudged ones too."""
    write(empty / "q", "10 0 a 1", "9 0 b -1", "9 0 a 0")
    bring(cli, "--code", "-1=unjudged", "--as-pool", "official").fine()
    [row] = cli("status", "--table", "status", "--format", "json").fine().json()
    assert [row[name] for name in ("pooled", "judged", "unjudged", "outside")] == [3, 2, 1, 0]
    assert cli("export", "pool", "--name", "official").fine().out == "9 a\n9 b\n10 a\n"


def test_judge_column_makes_one_judge_a_name(cli: Cli, empty: Path) -> None:
    """`--judge-column 2` takes the judge from each line; the column is no iteration then."""
    write(empty / "q", "1 ann a 1", "1 bob a 2", "1 ann b 0", "1 bob b -1")
    options = ("--judge-column", "2", "--kind", "human", "--code", "-1=unjudged")
    answer = cli("import", "judgements", "q", *options).fine()
    assert "3 judgements added of ann, bob" in answer.err
    assert cli("export", "qrels", "ann").fine().out == "1 0 a 1\n1 0 b 0\n"
    assert cli("export", "qrels", "bob").fine().out == "1 0 a 2\n"
    rows = cli("show", "judges", "--format", "json").fine().json()
    assert [(row["judge"], row["kind"], row["judged"]) for row in rows] == [
        ("ann", "human", 2),
        ("bob", "human", 1),
    ]
    assert cli("export", "pool", "--name", "unjudged-q").fine().out == "1 b\n"


def test_lenient_reads_comments_and_trailing_text(cli: Cli, empty: Path) -> None:
    """# lines are passed over, and with `--lenient` what follows field 4, with a warning."""
    write(empty / "q", "# made by hand", "1 0 a 1 sure", "1 0 b 0")
    bring(cli).failed(1)
    answer = bring(cli, "--lenient").fine()
    assert "warning: q: text after field 4 was ignored on 1 lines" in answer.err
    assert cli("export", "qrels").fine().out == "1 0 a 1\n1 0 b 0\n"


def test_same_file_again_changes_nothing(cli: Cli, empty: Path) -> None:
    """A second import of a file, lines in any order, adds nothing and says so."""
    write(empty / "q", "1 0 a 1", "1 0 b -1")
    bring(cli, "--code", "-1=unjudged").fine()
    before = (cli("export", "judgements").out, cli("status").out)
    again = bring(cli, "--code", "-1=unjudged").fine()
    assert "nothing new, 1 judgement already there of me" in again.err
    assert (cli("export", "judgements").out, cli("status").out) == before


def test_other_grades_need_replace_and_are_revisions(cli: Cli, empty: Path) -> None:
    """A grade that differs is refused, all or nothing; `--replace` takes it."""
    write(empty / "q", "1 0 a 1", "1 0 b 0")
    bring(cli).fine()
    write(empty / "q", "1 0 a 2", "1 0 b 0", "1 0 c 1")
    refused = bring(cli).failed(3)
    assert "1 judgements of `me` are there otherwise: 1 a: 1 -> 2" in refused.err
    assert cli("export", "qrels").fine().out == "1 0 a 1\n1 0 b 0\n"
    assert "1 judgement added, 1 replaced, 1 already there" in bring(cli, "--replace").fine().err
    assert cli("export", "qrels").fine().out == "1 0 a 2\n1 0 b 0\n1 0 c 1\n"


def test_changed_file_with_unjudged_lines_can_come_again(cli: Cli, empty: Path) -> None:
    """`--replace` also takes a file whose "pooled, not judged" lines changed: a second pool."""
    write(empty / "q", "1 0 a 1", "1 0 b -1")
    bring(cli, "--code", "-1=unjudged").fine()
    write(empty / "q", "1 0 a 1", "1 0 b 0", "1 0 c -1")
    answer = bring(cli, "--code", "-1=unjudged", "--replace").fine()
    assert "pool unjudged-me-2" in answer.err
    assert cli("export", "qrels", "--unjudged", "-1").fine().out == "1 0 a 1\n1 0 b 0\n1 0 c -1\n"


def test_judgements_come_from_stdin_and_gzip(cli: Cli, empty: Path) -> None:
    """`-` is standard input, and gzip is seen through by its content."""
    content = b"1 0 a 1\n"
    cli("import", "judgements", "-", "--judge", "me", stdin=gzip.compress(content)).fine()
    assert cli("export", "qrels").fine().out.encode() == content


def test_unknown_names_are_kept_when_allowed(cli: Cli, judged: Path) -> None:
    """`--allow-unknown` keeps topics and docnos that no file listed; they count as outside."""
    write(judged / "q", "G99 0 KG-E-001 1", "G01 0 XX-1 0")
    bring(cli).failed(1)
    bring(cli, "--allow-unknown").fine()
    rows = {row["judge"]: row for row in cli("status", "--table", "status", "--format", "json").fine().json()}
    assert (rows["me"]["judged"], rows["me"]["outside"]) == (0, 2)


def test_columns_name_what_a_table_has(cli: Cli, empty: Path) -> None:
    """`--columns` says what stands where; what no column says is given once."""
    write(empty / "q", "d1 7 2", "d1 9 0", "d2 7 1", "d3 8 -1")
    options = ("--columns", "docno,judge,grade", "--topic", "web", "--code", "-1=unjudged")
    told = cli("import", "judgements", "q", *options, "--as-pool", "all").fine().err
    assert "q: 3 judgements added of 7, 9\n" in told
    assert "q: without a grade: 8" in told
    assert cli("export", "qrels", "7").fine().out == "web 0 d1 2\nweb 0 d2 1\n"
    assert cli("export", "pool", "--name", "all").fine().out == "web d1\nweb d2\nweb d3\n"
    assert "nothing new, 3 judgements" in cli("import", "judgements", "q", *options).fine().err
    write(empty / "q", "2;0.5\td1\t51")
    options = ("--as", "columns", "--columns", "-,docno,topic", "--judge", "me")
    assert "must name each column of the file" in cli("import", "judgements", "q", *options).failed(1).err
    write(empty / "q", "1\td1\t51\t3")
    options = ("--columns", "grade,docno,topic,iteration", "--judge", "me")
    cli("import", "judgements", "q", *options).fine()
    assert cli("export", "qrels", "me").fine().out == "51 3 d1 1\n"


def test_judgement_that_comes_twice_otherwise_is_a_fault(cli: Cli, empty: Path) -> None:
    """A judge has one grade for a document and topic; the line says where the first stands."""
    write(empty / "q", "d1 7 2", "d1 8 2", "d1 7 1")
    options = ("--columns", "docno,judge,grade", "--topic", "web")
    refused = cli("import", "judgements", "q", *options).failed(1).err
    assert "q:3: expected each document once a topic and judge, got topic `web` docno `d1`" in refused
    assert "hint: --repeats first, last, highest or drop says which counts" in refused
    assert cli("show", "judges", "--format", "json").fine().json() == []


@pytest.mark.parametrize(
    ("rule", "exported"),
    [
        ("first", "web 0 d1 1\nweb 0 d2 0\n"),
        ("last", "web 0 d1 0\nweb 0 d2 0\n"),
        ("highest", "web 0 d1 2\nweb 0 d2 0\n"),
        ("drop", "web 0 d2 0\n"),
    ],
)
def test_repeats_of_a_crowd_are_settled_by_a_declared_rule(
    cli: Cli, empty: Path, rule: str, exported: str
) -> None:
    """Which line counts is said on the command line, and how many there were is told."""
    write(empty / "q", "d1 7 1", "d1 7 2", "d2 7 0", "d1 7 0", "d2 7 0")
    options = ("--columns", "docno,judge,grade", "--topic", "web")
    told = cli("import", "judgements", "q", *options, "--repeats", rule).fine().err
    assert "q: 1 line not counted (line 5): repeats of another line\n" in told
    dropped = 3 if rule == "drop" else 2
    assert (
        f"q: 1 judgement came more than once, with different grades; --repeats {rule}: {dropped} lines left"
        " out" in told
    )
    assert cli("export", "qrels", "7").fine().out == exported


def test_line_like_the_one_that_counts_is_said_apart(cli: Cli, empty: Path) -> None:
    """Of 1 0 1 1 the first counts: two lines say the same, and one opinion is left out."""
    write(empty / "q", "d1 7 1", "d1 7 0", "d1 7 1", "d1 7 1")
    options = ("--columns", "docno,judge,grade", "--topic", "web", "--repeats", "first")
    told = cli("import", "judgements", "q", *options).fine().err
    assert "q: 2 lines not counted (first: line 3): repeats of another line\n" in told
    assert "came more than once, with different grades; --repeats first: 1 line left out\n" in told


def test_qrels_of_files_settle_repeats_too(cli: Cli, empty: Path) -> None:
    """The readers of judgement files take the same rule."""
    write(empty / "q", "d1 a 1", "d1 a 0", "d1 b 1", "d2 a 0", "d2 b 1", "d3 a 1", "d3 b 1")
    options = ("export", "qrels", "./q", "--columns", "docno,judge,grade", "--topic", "t",
               "--aggregate", "max")  # fmt: skip
    assert "--repeats first" in cli(*options).failed(1).err
    assert "2 lines left out" in cli(*options, "--repeats", "drop").fine().err
    assert "--repeats last: 1 line left out" in cli(*options, "--repeats", "last").fine().err


def test_relevant_documents_listed_with_zero_are_warned_of(cli: Cli, empty: Path) -> None:
    """A file whose every grade is 0 says nothing is relevant; the way out is typed."""
    write(empty / "q", "t 0 d1 0", "t 0 d2 0")
    bring = ("import", "judgements", "q", "--judge", "me")
    told = cli(*bring).fine().err
    assert "q: every grade is 0: nothing is relevant; if the file lists relevant documents," in told
    assert "--map 0=1" in told
    exported = cli("export", "qrels").fine()
    assert exported.out == "t 0 d1 0\nt 0 d2 0\n"
    assert "warning: every grade is 0: no document is relevant" in exported.err
    assert "nothing is relevant" not in cli(*bring, "--replace", "--map", "0=1").fine().err


def test_exchanged_columns_are_one_fault(cli: Cli, empty: Path) -> None:
    """Docnos in column 2 and one word in column 3: that is said, once, with what to type."""
    write(empty / "q", *(f"t{n % 3} d{n} 0 1" for n in range(1000)))
    told = cli("import", "judgements", "q", "--judge", "me").failed(1).err
    assert "got `0` in column 3 of all 1,000 lines: columns 2 and 3 look exchanged" in told
    assert "awk '{print $1, $3, $2, $4}' q" in told
    assert told.count("\n") == 2
    names = ("--columns", "topic,docno,iteration,grade")
    cli("import", "judgements", "q", "--judge", "me", *names).fine()
    assert cli("export", "qrels").fine().out.startswith("t0 0 d0 1\n")


@pytest.mark.parametrize("command", ["import judgements", "agreement", "export qrels"])
def test_help_and_hints_name_every_meaning_of_a_code(command: str, cli: Cli, empty: Path) -> None:
    """Whoever reads the help, or has a code that is no grade, sees all words that are taken."""
    said = " ".join(cli(*command.split(), "--help").fine().out.split())
    about = said[said.rindex("--code CODE=MEANING") :][:250].replace("- ", "-")
    write(empty / "q", "t 0 d1 1", "t 0 d2 -2")
    reading = {
        "import judgements": ("q", "--judge", "me"),
        "agreement": ("--qrels", "./q", "--qrels", "q2=./q"),
        "export qrels": ("./q", "--level", "1"),
    }[command]
    hint = cli(*command.split(), *reading).failed(1).err
    off_scale = () if command == "import judgements" else ("--scale", "0-2")
    other = cli(*command.split(), *reading, *off_scale).failed(1).err
    for word in MEANINGS:
        assert word in about
        if word != "grade":
            assert word in hint.split("hint: ")[1]
            assert word in other.split("hint: ")[1]


def test_codes_are_any_state(cli: Cli, empty: Path) -> None:
    """Lines and documents are counted by name, and judges without a grade are kept and named."""
    write(empty / "q", "t ann d1 1", "t bob d1 -1", "t ann d2 -1", "t bob d2 -1",
          "t cat d1 -2", "t dan d1 -3", "t cat d3 -4")  # fmt: skip
    codes = ("-1=unjudged", "-2=unjudgeable", "-3=skipped", "-4=not-pooled")
    options = [word for code in codes for word in ("--code", code)]
    told = cli("import", "judgements", "q", "--judge-column", "2", *options).fine().err
    assert "q: 3 states added of ann, cat, dan\n" in told
    assert "q: 1 line of documents that were skipped" in told
    assert "q: 1 line of documents that cannot be judged" in told
    assert "q: 1 line of documents that are not pooled, and are left out" in told
    assert "q: without a grade: bob, cat, dan" in told
    assert "q: 3 lines of 2 documents pooled but not judged: pool unjudged-q" in told
    names = [row["judge"] for row in cli("show", "judges", "--format", "json").fine().json()]
    assert sorted(names) == ["ann", "bob", "cat", "dan"]
    states = cli("export", "judgements", "--as", "tsv").fine().out
    assert "cat\timported\tcannot" in states
    assert "dan\timported\tskipped" in states


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "hint: --judge NAME or --judge-column 2, one of the two"),
        ([], "--as jsonl or tsv for what `pooler export judgements` wrote"),
        (["--judge", "a", "--judge-column", "2"], "whose judgements are these?"),
        (["--as", "ntcireval"], "hint: --judge NAME says it"),
        (
            ["--columns", "docno,grade", "--topic", "1"],
            "--judge NAME, or --columns docno,judge,grade; one of the",
        ),
        (["--columns", "docno,judge,grade", "--topic", "1", "--judge", "x"], "whose judgements"),
        (["--columns", "docno,judge,grade"], "`--topic` must be given: no column holds it"),
        (["--columns", "topic,docno,grade", "--topic", "1", "--judge", "x"], "already given by a column"),
        (["--as", "columns", "--judge", "x"], "`--columns` must name the columns of the file"),
        (["--topic", "1", "--judge", "x"], "`--topic` is for files of format columns"),
        (["--columns", "docno,grade", "--as", "xinfap", "--judge", "x"], "`--as` is for files of format"),
        (["--as", "qrels", "--columns", "docno,grade"], "`--columns` is for files of format"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    cli: Cli, empty: Path, options: list[str], message: str
) -> None:
    """Each format has its options, and whose judgements they are is said once."""
    write(empty / "q", "1 0 a 1")
    assert message in cli("import", "judgements", "q", *options).failed(1).err


def by_line(answer: Outcome) -> list[str]:
    """Return what stderr says, the word before it taken off."""
    return [line.removeprefix("error: ") for line in answer.err.splitlines()]


HINTS = (
    "hint: --allow-unknown keeps unknown topics and docnos; --map FROM=TO reads one grade as"
    " another, --code CODE=unjudged as no judgement (or not-pooled, skipped, cannot, unjudgeable)"
)


@pytest.mark.parametrize(
    ("options", "lines", "short"),
    [
        (
            [],
            ["G01 0 KG-E-001 7", "G01 0 XX 1", "G01 0 KG-E-002 1", "G01 0 KG-E-002 2", "G01 0 x"],
            "4 fields (topic iteration docno grade), got 3",
        ),
        (
            ["--as", "ntcireval"],
            ["G01 KG-E-001 L7", "G01 XX L1", "G01 KG-E-002 L1", "G01 KG-E-002 L2", "G01 x"],
            "3 fields (topic docno level), got 2",
        ),
        (
            ["--columns", "docno,grade", "--topic", "G01"],
            ["KG-E-001 7", "XX 1", "KG-E-002 1", "KG-E-002 2", "KG-E-003"],
            "2 fields (docno grade), got 1",
        ),
        (
            ["--as", "xinfap"],
            ["G01 0 KG-E-001 1 7", "G01 0 XX 1 1", "G01 0 KG-E-002 1 1", "G01 0 KG-E-002 1 2",
             "G01 0 x 1"],
            "5 fields (topic iteration docno stratum rel), got 4",
        ),
        (
            ["--as", "statap"],
            ["G01 KG-E-001 7 0 1", "G01 XX 1 0 1", "G01 KG-E-002 1 0 1", "G01 KG-E-002 2 0 1",
             "G01 x 1 0"],
            "5 fields (topic docno rel method iprob), got 4",
        ),
    ],
)  # fmt: skip
def test_all_faults_of_a_file_are_told_at_once(
    cli: Cli, judged: Path, options: list[str], lines: list[str], short: str
) -> None:
    """Grades off the scale, what comes twice and short lines, in line order; then unknown ids, counted."""
    write(judged / "q", *lines)
    told = by_line(bring(cli, *options).failed(1))
    assert told[0] == "q:1: expected a grade of the scale (0, 1, 2), got 7"
    assert told[1].startswith("q:4: expected each document once a topic")
    assert told[2] == f"q:5: expected {short}"
    assert told[3] == "q: 1 of 3 docnos (1 line) not in the collection: `XX`"
    settled = "hint: --allow-unknown keeps unknown topics and docnos; --repeats first, last, highest"
    assert told[4:] == [HINTS] if {"xinfap", "statap"} & {*options} else told[4].startswith(settled)
    assert "me" not in [row["judge"] for row in cli("show", "judges", "--format", "json").json()]


@pytest.mark.parametrize("form", ["jsonl", "tsv"])
def test_all_faults_of_a_handed_over_file_are_told_at_once(cli: Cli, judged: Path, form: str) -> None:
    """In a file of every judge, too."""
    names = ("topic", "docno", "judge", "kind", "state", "grade", "reason", "note", "iteration")
    good = ("G01", "KG-E-001", "ann", "human", "judged", "1", "", "", "0")
    cells = [good, (*good[:5], "7", *good[6:]), (*good[:1], "XX", *good[2:]), good[:8]]
    cells[1] = (*good[:1], "KG-E-002", *cells[1][2:])
    cells.insert(2, good)
    if form == "tsv":
        write(judged / "q", "\t".join(names), *["\t".join(row) for row in cells])
        short = "expected 9 cells between tabs, got 8"
    else:
        rows = [dict(zip(names, row, strict=False)) for row in cells]
        whole = [{**row, "grade": int(row["grade"])} for row in rows]
        write(judged / "q", "", *map(json.dumps, whole))
        short = "expected the key `iteration`, got none"
    told = by_line(cli("import", "judgements", "q", "--as", form).failed(1))
    assert told[0] == "q:3: expected a grade of the scale (0, 1, 2), got 7"
    assert told[1].startswith("q:4: expected each document once a topic and judge, got topic")
    assert told[2:4] == [f"q:6: {short}", "q: 1 of 3 docnos (1 line) not in the collection: `XX`"]
    assert told[4:] == ["hint: --allow-unknown keeps unknown topics and docnos"]


def test_unknown_topic_of_the_command_line_is_told_once(cli: Cli, judged: Path) -> None:
    """One error, whatever the file holds; --allow-unknown takes it."""
    write(judged / "q", "KG-E-001 1", "KG-E-002 1")
    options = ("--columns", "docno,grade", "--topic", "G99")
    told = bring(cli, *options).failed(1).err
    assert told.count("G99") == 1
    assert told.startswith("error: q: 1 of 1 topic (2 lines) not in the collection: `G99`\n")
    bring(cli, *options, "--allow-unknown").fine()


@pytest.mark.parametrize(
    ("file", "options", "hint"),
    [
        (
            "q",
            ["--columns", "docno,judge,grade", "--topic", "web"],
            "tail -n +2 q | pooler import judgements - --columns docno,judge,grade --topic web",
        ),
        (
            "a b.gz",
            ["--columns", "topic,-,grade,docno", "--judge", "me", "--as", "columns"],
            "gzip -cd 'a b.gz' | tail -n +2 | pooler import judgements - --columns"
            " topic,-,grade,docno --judge me",
        ),
        (
            "-",
            ["--columns", "docno,judge,grade", "--topic", "web"],
            "tail -n +2 | pooler import judgements - --columns docno,judge,grade --topic web",
        ),
    ],
)
def test_header_of_a_table_is_passed_over_as_the_hint_says(
    cli: Cli, empty: Path, file: str, options: list[str], hint: str
) -> None:
    """A first line without a grade is taken for a header, and the hint is a line to type."""
    text = b"item worker label x\nd1 7 2 d1\nd1 9 0 d2\n"
    if "--topic" in options:
        text = b"item worker label\nd1 7 2\nd1 9 0\n"
    if file != "-":
        (empty / file).write_bytes(gzip.compress(text) if file.endswith("gz") else text)
    told = by_line(cli("import", "judgements", file, *options, stdin=text).failed(1))
    assert told == [
        f"{file}:1: expected an integer grade, got `label`",
        f"hint: without a header line: {hint}",
    ]
    rest = text.partition(b"\n")[2]
    cli("import", "judgements", "-", *options, stdin=rest).fine()


def test_grade_that_is_none_further_down_is_no_header(cli: Cli, empty: Path) -> None:
    """Where a line before it has a grade, nothing is said of a header."""
    write(empty / "q", "d1 7 2", "d1 9 x")
    options = ("--columns", "docno,judge,grade", "--topic", "web")
    told = by_line(cli("import", "judgements", "q", *options).failed(1))
    assert told[0] == "q:2: expected an integer grade, got `x`"
    assert "header" not in told[-1]


@pytest.mark.parametrize("options", [[], ["--as", "tsv"]])
def test_table_of_a_crowd_is_pointed_to_columns(cli: Cli, empty: Path, options: list[str]) -> None:
    """Three columns without a word on them, of nobody or as our tsv: the hint is --columns."""
    write(empty / "crowd.tsv", "d1\t7\t2", "d1\t9\t0")
    told = cli("import", "judgements", "crowd.tsv", *options).failed(1).err
    assert "a table of other columns: --columns docno,judge,grade --topic T" in told
    again = ("--columns", "docno,judge,grade", "--topic", "T")
    cli("import", "judgements", "crowd.tsv", *again).fine()


def test_unknown_column_is_refused_with_those_there_are(cli: Cli, empty: Path) -> None:
    """The error lists the names, and says that - skips a column."""
    write(empty / "q", "d1 7 2")
    told = cli("import", "judgements", "q", "--columns", "docno,worker,grade").failed(1)
    assert by_line(told) == [
        "unknown column `worker`; known: `docno`, `grade`, `iteration`, `judge`, `topic`",
        "hint: `-` skips a column: --columns docno,judge,-,grade",
    ]


@pytest.mark.slow
@pytest.mark.vector("web-crowd, PROVENANCE.md: zhangyuc/SpectralMethodsMeetEM, commit 6204f5f")
def test_a_crowd_is_imported_at_once(cli: Cli, here: Path) -> None:
    """177 workers and a reference: counts are those of the provenance, judges are their numbers."""
    folder = shared_data("web-crowd")
    cli("init", "--scale", "1-5").fine()
    options = ("--columns", "docno,judge,grade", "--topic", "web")
    told = cli("import", "judgements", folder / "web_crowd.txt.gz", *options).fine().err
    assert "15,567 judgements added of 177 judges" in told
    options = ("--columns", "docno,grade", "--topic", "web", "--judge", "truth")
    cli("import", "judgements", folder / "web_truth.txt.gz", *options).fine()
    rows = cli("export", "judgements").fine().out.splitlines()
    by_judge: dict[str, Counter[int]] = {}
    for row in map(json.loads, rows):
        by_judge.setdefault(row["judge"], Counter())[row["grade"]] += 1
    assert by_judge.pop("truth") == {1: 330, 2: 481, 3: 689, 4: 534, 5: 619}
    assert set(by_judge) == {str(number) for number in range(1, 178)}
    assert sum(by_judge.values(), Counter()) == {1: 1858, 2: 2249, 3: 2831, 4: 3268, 5: 5361}


@pytest.mark.vector("llmjudge, PROVENANCE.md: llm4eval/LLMJudge-benchmark, commit 968a1f9")
@pytest.mark.parametrize(
    ("judge", "code", "lines"), [("h2oloo-zeroshot2", 10, [3187]), ("RMITIR-llama70B", 5, [2449, 3825])]
)
def test_stray_grades_are_refused_by_line_or_mapped(
    cli: Cli, here: Path, judge: str, code: int, lines: list[int]
) -> None:
    """Of 4,423 lines the one or two off the scale are named; mapped, they are the highest grade."""
    file = shared_data(f"llmjudge/scores/{judge}.txt.gz")
    text = gzip.decompress(file.read_bytes()).decode().splitlines()
    assert [n for n, line in enumerate(text, start=1) if line.split()[3] == str(code)] == lines
    cli("init", "--scale", "0-3").fine()
    refused = cli("import", "judgements", file, "--judge", judge).failed(1).err.splitlines()
    assert [line.removeprefix("error: ") for line in refused[:-1]] == [
        f"{file}:{line}: expected a grade of the scale (0, 1, 2, 3), got {code}" for line in lines
    ]
    assert "--map FROM=TO" in refused[-1]
    told = cli("import", "judgements", file, "--judge", judge, "--map", f"{code}=3").fine().err
    assert f"4,423 judgements added of {judge}" in told
    grades = Counter(line.split()[3].replace(str(code), "3") for line in text)
    rows = cli("export", "qrels").fine().out.splitlines()
    assert Counter(line.split()[3] for line in rows) == grades


@pytest.mark.parametrize("form", ["jsonl", "tsv"])
def test_history_of_copies_that_came_together_is_read_by_its_states(cli: Cli, empty: Path, form: str) -> None:
    """What earlier programs wrote of copies is passed over with a count; every state afterwards is kept."""
    at = "2026-03-01T09:00:0{}+00:00"
    said: list[dict[str, object]] = [
        {"action": "judge", "state": "judged", "grade": 1, "display_order": "random:4294967295"},
        {"action": "judge", "state": "judged", "grade": 2, "follows": 0},
        {"action": "note", "state": "judged", "grade": 1, "note": "sure", "follows": 1},
        {"action": "settle", "state": "judged", "grade": 2, "note": "sure", "settled": "latest"},
        {"action": "skip", "state": "skipped", "note": "sure"},
        {"action": "undo", "state": "judged", "grade": 2, "note": "sure", "undoes": 5},
        {"action": "undo", "state": "unjudged", "undoes": 2},
        {"action": "settle", "state": "cannot", "reason": "torn", "settled": "by hand"},
    ]
    blank = dict.fromkeys(("undoes", "grade", "display_order", "position", "shown_at", "dwell_ms",
                           "active_ms", "guideline_version", "document_sha256", "sitting", "topic_version",
                           "follows", "settled"))  # fmt: skip
    key = {"topic": "1", "docno": "a", "judge": "ann", "reason": "", "note": "", "iteration": "0"}
    rows = [
        {**blank, **key, "passages": [], "dropped_keys": 0, "judged_at": at.format(n), "revision": n, **one}
        for n, one in enumerate(said, start=1)
    ]
    if form == "jsonl":
        write(empty / "old", *map(json.dumps, rows))
    else:
        cells = [["" if one in (None, []) else str(one) for one in row.values()] for row in rows]
        write(empty / "old", *("\t".join(line) for line in ([*rows[0]], *cells)))
    told = cli("import", "judgements", "old", "--as", form).fine().err
    assert "old: 4 events of copies of a collection that came together" in told
    assert "no fault found" in cli("verify").fine().out
    read = [json.loads(line) for line in cli("export", "judgements", "--history").fine().out.splitlines()]
    names = ("action", "state", "grade", "undoes", "note", "reason")
    assert [tuple(one[name] for name in names) for one in read] == [
        ("judge", "judged", 1, None, "", ""),
        ("judge", "judged", 2, None, "", ""),
        ("judge", "judged", 1, None, "sure", ""),
        ("judge", "judged", 2, None, "sure", ""),
        ("skip", "skipped", None, None, "sure", ""),
        ("undo", "judged", 2, 5, "sure", ""),
        ("reopen", "unjudged", None, None, "", ""),
        ("cannot", "cannot", None, None, "", "torn"),
    ]
    assert (read[0]["display_order"], read[0]["order_seed"]) == ("random", 4294967295)


SCALE = parse_scale("0-2")


@pytest.mark.parametrize(
    "text",
    [
        *("", "-1", "=unjudged", "-=unjudged", "--1=unjudged", "+1=unjudged", "1.0=unjudged"),
        *("²=unjudged", "٣=unjudged", "-1=junk", "-1=unjudged ", " -1=unjudged"),
        f"{'1' * 5000}=unjudged",
    ],
)
def test_other_codes_are_refused(text: str) -> None:
    """Anything but an integer and a word is refused, with all words that are taken."""
    with pytest.raises(ArgumentError, match="`codes` must be CODE=MEANING, an integer and one of") as caught:
        parse_codes([text])
    assert all(f"{word}, " in str(caught.value) for word in MEANINGS)


@pytest.mark.parametrize("text", ["3", "3=", "=3", "a=1", "1=1.5", "1=2=3", "1=²"])
def test_other_maps_are_refused(text: str) -> None:
    """Anything but two integers is refused."""
    with pytest.raises(ArgumentError, match="`mapped` must be FROM=TO, two integers"):
        parse_map([text], {})


codes = st.integers(-2, 4)


@given(
    rows=st.lists(
        st.builds(GradedRow, st.integers(1, 9), st.sampled_from("12"), st.sampled_from("xy"),
                  st.sampled_from("abcd"), st.sampled_from(["ann", "bob"]), codes),
        max_size=8, unique_by=(lambda row: (row.topic, row.docno),),
    ),
    unjudged=st.sets(codes, max_size=2),
    mapping=st.dictionaries(codes, codes, max_size=3),
)  # fmt: skip
def test_every_line_is_exactly_one_of_judged_unjudged_and_fault(
    rows: list[GradedRow], unjudged: set[int], mapping: dict[int, int]
) -> None:
    """Counted one by one, no line is lost, doubled, or turned into another kind."""
    faults = FaultList("q")
    decoded = decode_rows(
        rows, SCALE, codes=dict.fromkeys(unjudged, Meaning.UNJUDGED), mapping=mapping, faults=faults
    )
    judged: dict[str, list[Qrel]] = {}
    left, n_faults = [], 0
    for row in rows:
        of_judge = judged.setdefault(row.judge, [])
        if row.code in unjudged:
            left.append((row.topic, row.docno))
        elif mapping.get(row.code, row.code) not in (0, 1, 2):
            n_faults += 1
        else:
            grade = mapping.get(row.code, row.code)
            qrel = Qrel(row.topic, row.docno, grade, row.iteration)
            of_judge.append(qrel)
    assert decoded.judged == judged
    assert sorted(decoded.listed) == sorted(set(left))
    assert faults.count == n_faults
    assert sorted(decoded.pairs) == sorted({(row.topic, row.docno) for row in rows})
