"""`pooler import judgements`: codes, maps, columns, pools, and coming again."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.cli.command_line import Outcome, write
from tests.cli.conftest import Cli


@pytest.fixture
def empty(cli: Cli, here: Path) -> Path:
    """Work beside an empty collection of scale 0-2."""
    cli("init", "--scale", "0-2").fine()
    return here


def bring(cli: Cli, *options: str) -> Outcome:
    """Import `q` as the judgements of `me`."""
    return cli("import", "judgements", "q", "--judge", "me", *options)


def test_map_reads_one_grade_as_another(cli: Cli, empty: Path) -> None:
    """`--map 10=2` takes 10 for 2; what is not mapped stays, and iterations stay."""
    write(empty / "q", "1 0.5 a 10", "1 0 b 4", "1 0 c 1")
    bring(cli, "--map", "10=2", "--map", "4=0").fine()
    assert cli("export", "qrels").fine().out == "1 0.5 a 2\n1 0 b 0\n1 0 c 1\n"


def test_integral_floats_are_read_with_a_warning(cli: Cli, empty: Path) -> None:
    """Grades written 2.0 are integers, and stderr says how many were written so."""
    write(empty / "q", "1 0 a 2.0", "1 0 b 1")
    assert "1 grades are written as floats (2.0)" in bring(cli).fine().err
    assert cli("export", "qrels").fine().out == "1 0 a 2\n1 0 b 1\n"


def test_unjudged_code_makes_a_pool_entry_and_no_judgement(cli: Cli, empty: Path) -> None:
    """A line of a code that means "pooled, not judged" is pooled, and is no grade."""
    write(empty / "q", "1 0 a 1", "1 0 b -1", "2 0 a -1")
    bring(cli, "--code", "-1=unjudged").fine()
    [row] = cli("status", "--format", "json").fine().json()
    names = ("pooled", "judged", "unjudged", "outside")
    assert [row[name] for name in names] == [2, 0, 2, 1]
    assert [row[f"grade_{grade}"] for grade in (0, 1, 2)] == [0, 1, 0]


def test_as_pool_pools_every_line(cli: Cli, empty: Path) -> None:
    """`--as-pool` makes all lines of the file a pool, the unjudged ones too."""
    write(empty / "q", "10 0 a 1", "9 0 b -1", "9 0 a 0")
    bring(cli, "--code", "-1=unjudged", "--as-pool", "official").fine()
    [row] = cli("status", "--format", "json").fine().json()
    assert [row[name] for name in ("pooled", "judged", "unjudged", "outside")] == [3, 2, 1, 0]
    assert cli("export", "pool", "--name", "official").fine().out == "9 a\n9 b\n10 a\n"


def test_judge_column_makes_one_judge_a_name(cli: Cli, empty: Path) -> None:
    """`--judge-column 2` takes the judge from each line; the column is no iteration then."""
    write(empty / "q", "1 ann a 1", "1 bob a 2", "1 ann b 0", "1 bob b -1")
    options = ("--judge-column", "2", "--kind", "human", "--code", "-1=unjudged")
    answer = cli("import", "judgements", "q", *options).fine()
    assert "3 judgements added of ann, bob" in answer.err
    assert cli("export", "qrels", "--judge", "ann").fine().out == "1 0 a 1\n1 0 b 0\n"
    assert cli("export", "qrels", "--judge", "bob").fine().out == "1 0 a 2\n"
    rows = cli("judges", "list", "--format", "json").fine().json()
    assert [(row["judge"], row["kind"], row["judged"]) for row in rows] == [
        ("ann", "human", 2),
        ("bob", "human", 1),
    ]
    assert cli("export", "pool", "--name", "unjudged-q").fine().out == "1 b\n"


def test_lenient_reads_comments_and_trailing_text(cli: Cli, empty: Path) -> None:
    """`--lenient` passes over # lines and what follows field 4, with a warning for the latter."""
    write(empty / "q", "# made by hand", "1 0 a 1 sure", "1 0 b 0")
    bring(cli).failed(1)
    answer = bring(cli, "--lenient").fine()
    assert "warning: q: text after field 4 was ignored on 1 lines" in answer.err
    assert cli("export", "qrels").fine().out == "1 0 a 1\n1 0 b 0\n"


def test_same_file_again_changes_nothing(cli: Cli, empty: Path) -> None:
    """A second import of a file, lines in any order, adds nothing and says so."""
    write(empty / "q", "1 0 a 1", "1 0 b -1")
    bring(cli, "--code", "-1=unjudged").fine()
    before = (cli("export", "judgements").out, cli("status", "--format", "json").out)
    again = bring(cli, "--code", "-1=unjudged").fine()
    assert "nothing new, 1 judgement there already of me" in again.err
    assert (cli("export", "judgements").out, cli("status", "--format", "json").out) == before


def test_other_grades_need_replace_and_are_revisions(cli: Cli, empty: Path) -> None:
    """A grade that differs is refused, all or nothing; `--replace` takes it."""
    write(empty / "q", "1 0 a 1", "1 0 b 0")
    bring(cli).fine()
    write(empty / "q", "1 0 a 2", "1 0 b 0", "1 0 c 1")
    refused = bring(cli).failed(3)
    assert "1 judgements of `me` are there otherwise: 1 a: 1 -> 2" in refused.err
    assert cli("export", "qrels").fine().out == "1 0 a 1\n1 0 b 0\n"
    assert "1 judgement added, 1 replaced, 1 there already" in bring(cli, "--replace").fine().err
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
    rows = {row["judge"]: row for row in cli("status", "--format", "json").fine().json()}
    assert (rows["me"]["judged"], rows["me"]["outside"]) == (0, 2)
