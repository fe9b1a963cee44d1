"""`pooler judge`: what a judge types in line mode is what is stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command_line import ROOT, controls, run_process, write
from tests.cli.conftest import Cli

if not (ROOT / "judge_ui" / "plain.py").exists():
    pytest.skip("the line mode is not here", allow_module_level=True)


@pytest.fixture
def seated(cli: Cli, judged: Path) -> Path:
    """Work beside the sample collection with a judge who has judged nothing."""
    cli("judges", "add", "anna").fine()
    return judged


def stored(cli: Cli) -> dict[str, tuple[str, int | None, str, str]]:
    """Return state, grade, reason and note of every document anna has touched, by docno."""
    lines = cli("export", "judgements", "anna").fine().out.splitlines()
    rows = map(json.loads, lines)
    return {row["docno"]: (row["state"], row["grade"], row["reason"], row["note"]) for row in rows}


def test_typed_grades_are_stored_in_the_order_of_the_pool(cli: Cli, seated: Path) -> None:
    """2, 0, 1 grade the first three documents of the topic; quitting leaves the rest unjudged."""
    answer = cli("judge", "--judge", "anna", "--topic", "G01", "--plain", stdin=b"2\n0\n1\nq\n")
    assert answer.fine().out.endswith("anna: 3 decisions in this sitting, all saved\n")
    pool = [line.split() for line in cli("export", "pool").fine().out.splitlines()]
    first = [docno for topic, docno in pool if topic == "G01"][:3]
    assert stored(cli) == {
        docno: ("judged", grade, "", "") for docno, grade in zip(first, (2, 0, 1), strict=True)
    }


def test_judge_sees_no_run_and_no_other_judge(cli: Cli, seated: Path) -> None:
    """What is printed has the document, and no run tag, group, score, pool or other judge."""
    typed = b"s\n" * 10 + b"q\n"
    shown = cli("judge", "--judge", "anna", "--topic", "G01", "--plain", stdin=typed).fine()
    for word in ("bm25", "lm-", "rm3", "tfidf", "bigrams", "strict", "lenient", "middle", "pool"):
        assert word not in shown.out.lower().replace("in no pool", "")
    assert {state for state, *_ in stored(cli).values()} == {"skipped"}


def test_end_of_input_quits_and_keeps_what_was_graded(cli: Cli, seated: Path) -> None:
    """Input that just ends is no error; the grade before it is stored."""
    cli("judge", "--judge", "anna", "--topic", "G01", "--plain", stdin=b"1\n").fine()
    assert [grade for _, grade, _, _ in stored(cli).values()] == [1]
    cli("judge", "--judge", "anna", "--plain", stdin=b"").fine()


def test_hostile_texts_reach_the_judge_as_pictures(cli: Cli, seated: Path) -> None:
    """Escape sequences in topics and documents are shown, never sent to the terminal."""
    title = '"title": "slugs\\u001b]0;owned\\u0007\\u202e"'
    write(seated / "t.jsonl", '{"topic": "G01", ' + title + ', "narrative": "a\\u009b31m"}')
    cli("import", "topics", "t.jsonl", "--replace").fine()
    docno = cli("export", "pool").out.split()[1]
    write(seated / "d.jsonl", json.dumps({"docno": docno, "title": "\x1bc", "text": "b\x1b[2J"}))
    cli("import", "docs", "d.jsonl", "--replace").fine()
    shown = cli("judge", "--judge", "anna", "--topic", "G01", "--plain", stdin=b"q\n").fine()
    assert not controls(shown.out + shown.err)
    assert "\u202e" not in shown.out
    assert "slugs␛]0;owned␇�" in shown.out
    assert "b␛[2J" in shown.out


def test_input_that_is_no_utf8_is_put_up_with(cli: Cli, seated: Path) -> None:
    """A byte that is no UTF-8 in a note becomes U+FFFD; the sitting goes on."""
    arguments = ("judge", "--judge", "anna", "--topic", "G01", "--plain")
    typed = "e\nmañana ".encode() + b"\xff\n2\nq\n"
    ran = run_process(
        *arguments, folder=seated, stdin=typed, settings={"PYTHONIOENCODING": "ascii"}
    )
    assert (ran.returncode, b"Traceback" in ran.stderr) == (0, False)
    assert list(stored(cli).values()) == [("judged", 2, "", "mañana \ufffd")]


def test_collection_without_a_pool_has_nothing_to_judge(cli: Cli, here: Path) -> None:
    """Without a pool the judge is told what makes one."""
    cli("init").fine()
    cli("judges", "add", "anna").fine()
    refused = cli("judge", "--judge", "anna", "--plain").failed(1)
    assert "there is nothing to judge" in refused.err
    assert "hint: pooler pool --depth 10" in refused.err
