"""`pooler show`: one row a thing; for people short and with a word, for programs everything."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from store.collection import Collection
from tests.helpers.filled_collection import fill
from tests.helpers.run import RUN, Cli, Terminal, controls, environment, run_to, write

pytestmark = pytest.mark.slow

KINDS = ("runs", "topics", "docs", "pools", "judges")


@pytest.fixture
def looked(cli: Cli, here: Path) -> Path:
    """Work beside a collection with every state there is."""
    cli("init", "--scale", "0-2").fine()
    with Collection("collection.db") as opened:
        fill(opened)
    return here


@pytest.mark.parametrize("kind", KINDS)
def test_formats_have_the_same_rows(cli: Cli, looked: Path, kind: str) -> None:
    """JSON and TSV hold one row a thing with the same columns; the table has as many lines."""
    rows = cli("show", kind, "--format", "json").fine().json()
    cells = cli("show", kind, "--format", "tsv").fine().tsv()
    assert [list(row) for row in rows] == [list(row) for row in cells]
    assert len(rows) > 1
    for row, cell in zip(rows, cells, strict=True):
        for name, found in row.items():
            value = " ".join(found) if isinstance(found, list) else found
            shown = {None: "", True: "true", False: "false"}.get(value, str(value))
            assert cell[name] == (shown if isinstance(value, bool | None) else str(value))
    table = cli("show", kind).fine().out
    first = str(next(iter(rows[0].values())))
    assert any(line.startswith(first) for line in table.splitlines())


def test_states_add_up_to_what_is_pooled(cli: Cli, looked: Path) -> None:
    """Judged, cannot, skipped and unjudged are parts of pooled; outside is none of it."""
    for kind, size in (("topics", "pooled"), ("docs", "pooled"), ("pools", "documents")):
        for row in cli("show", kind, "--format", "json").fine().json():
            parts = sum(row[name] for name in ("judged", "cannot", "skipped", "unjudged"))
            assert parts == row[size], row
    [row] = [one for one in cli("show", "topics", "--format", "json").json() if one["topic"] == "1"]
    assert (row["pooled"], row["judged"], row["cannot"], row["unjudged"]) == (7, 3, 1, 3)
    assert (row["outside"], row["relevant"]) == (1, 3)
    words = cli("show", "topics").fine().out.splitlines()
    for line in (
        "3 topics",
        "relevant: graded 1 or more by somebody, person or model.",
        "outside: judged, but in no pool.",
    ):
        assert line in words


def test_judges_are_counted_as_status_does(cli: Cli, looked: Path) -> None:
    """What a judge has judged, in pools or not."""
    here = cli("show", "judges", "--format", "json").fine().json()
    outside = {row["judge"]: row["judged"] + row["outside"]
               for row in cli("status", "--table", "status", "--format", "json").fine().json()}  # fmt: skip
    assert {row["judge"]: row["judged"] for row in here if row["judge"] in outside} == outside


def test_documents_are_cut_for_people_alone(cli: Cli, looked: Path) -> None:
    """A table says of how many it shows the first; programs get all unless they ask for fewer."""
    lines = "".join(f"9 0 d{number:03} 1\n" for number in range(60))
    write(looked / "q", *lines.splitlines())
    cli("import", "judgements", "q", "--judge", "many", "--allow-unknown").fine()
    table = cli("show", "docs").fine().out
    assert "50 of 69 documents: --limit shows more" in table
    assert len(cli("show", "docs", "--format", "json").json()) == 69
    assert len(cli("show", "docs", "--limit", "2", "--format", "json").json()) == 2
    assert "69 documents\n" in cli("show", "docs", "--limit", "1000").fine().out


def test_tables_for_people_say_once_what_all_rows_say(cli: Cli, looked: Path) -> None:
    """A column of one value is said in words, so that documents fit; programs have all of it."""
    table = cli("show", "docs").fine().out.splitlines()
    words = next(line for line in table if line.startswith("the same in every row: "))
    said = dict(part.split() for part in words.removeprefix("the same in every row: ").split(", "))
    rows = cli("show", "docs", "--format", "json").fine().json()
    assert said
    for name, value in said.items():
        assert {row[name] for row in rows} == {{"yes": True, "no": False}.get(value, 0)}
        assert name not in table[0].split()
    for name in ("cannot", "skipped", "unjudged", "outside", "text", "listed"):
        assert (name in said) is (len({row[name] for row in rows}) == 1 and (
            rows[0][name] in (0, True)))  # fmt: skip


def test_documents_fit_a_terminal(cli: Cli, judged: Path) -> None:
    """A table of documents with long titles and wide characters is at most 80 columns wide."""
    shown = cli("show", "docs", "--limit", "106").fine().out
    assert max(map(cell_len, shown.splitlines())) <= 80


def test_columns_of_states_are_explained_where_they_stand(cli: Cli, looked: Path) -> None:
    """What is listed, outside or a round is said below the table, once."""
    for kind, words in (
        ("topics", ("listed: ", "outside: ")),
        ("docs", ("listed: ", "outside: ")),
        ("pools", ("round: ",)),
        ("judges", ("undecided: ",)),
    ):
        shown = cli("show", kind).fine().out
        for word in words:
            assert shown.count(word) == 1, (kind, word)


def test_what_one_judge_found_relevant_is_not_said_of_all(cli: Cli, looked: Path) -> None:
    """The caption of a list of one judge's work names the judge."""
    for kind in ("topics", "docs", "pools"):
        assert "or more by bob" in cli("show", kind, "--judge", "bob").fine().out
        assert "or more by somebody, person or model" in " ".join(cli("show", kind).fine().out.split())


def test_hashes_are_short_for_people_alone(cli: Cli, looked: Path) -> None:
    """The whole hash is for programs."""
    whole = {row["sha256"] for row in cli("show", "runs", "--format", "json").json()}
    assert whole == {"sha256 of bm25", "sha256 of other"}
    table = cli("show", "runs").fine().out
    assert "sha256 of bm" in table
    assert "sha256 of bm25" not in table


def test_filters_choose_and_wrong_names_are_refused(cli: Cli, looked: Path) -> None:
    """A filter without a match is an empty list; one that nothing has is a mistake."""
    chosen = cli("show", "docs", "--judge", "bob", "--format", "json").fine().json()
    assert [row["docno"] for row in chosen] == ["b", "c"]
    assert "no such runs" in cli("show", "runs", "--topic", "3").fine().out
    for option, name in (("--topic", "topic"), ("--pool", "pool"), ("--judge", "judge")):
        assert f"unknown {name} `x9`" in cli("show", "docs", option, "x9").failed(1).err


def test_empty_collection_says_what_comes_next(cli: Cli, here: Path) -> None:
    """Nothing there is an empty list for programs, and a command to type for people."""
    cli("init").fine()
    for kind in KINDS:
        assert cli("show", kind, "--format", "json").fine().json() == []
        assert cli("show", kind).fine().out.startswith("no ")
    assert "pooler import runs" in cli("show", "runs").out


def test_hostile_texts_steer_no_terminal(cli: Cli, looked: Path) -> None:
    """Titles reach a terminal without their control characters."""
    write(looked / "t.jsonl", '{"topic": "66", "title": "[bold]x\\u001b]0;owned\\u0007\\u202e"}')
    cli("import", "topics", "t.jsonl").fine()
    for fmt in ("table", "tsv", "json"):
        out = cli("show", "topics", "--format", fmt).fine().out
        assert controls(out) == []
        assert "\u202e" not in out
    assert "[bold]x" in cli("show", "topics").out


LOOKS = ("show topics", "show runs bm25", "show docs b", "history 1 b")


def test_list_loads_no_arithmetic(looked: Path) -> None:
    """A look that counts nobody's judgements is quick: it loads neither numpy nor a screen."""
    code = (
        f"import sys; {RUN}\n"
        f"for look in {LOOKS}:\n"
        "    assert run(look.split()) == 0, look\n"
        "    print(look, sorted(name for name in sys.modules if name.partition('.')[0]"
        " in {'numpy', 'scipy', 'textual', 'alembic'}"
        " or name in {'store.judging.adjudication',"
        " 'store.analysis.agreement.votes'}))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=looked,
        env=environment({}),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=True,
    )
    said = ran.stdout.splitlines()
    assert [line for line in said if line.startswith(LOOKS) and line.endswith("]")] == [
        f"{look} []" for look in LOOKS
    ]


def test_titles_of_documents_are_as_wide_as_there_is_room(
    cli: Cli, looked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole on a line of a wide terminal, and within a narrow one."""
    title = " ".join(f"word{n}" for n in range(12))
    write(looked / "d.jsonl", f'{{"docno": "new", "title": "{title}", "text": "t"}}')
    cli("import", "docs", "d.jsonl", "--all").fine()
    for width in (200, 100):
        monkeypatch.setenv("COLUMNS", str(width))
        shown = re.sub(r"\x1b\[[0-9;]*m", "", run_to(Terminal(), "show", "docs").fine().out)
        lines = shown.splitlines()
        assert any(title in line for line in lines) == (width == 200)
        assert max(map(cell_len, lines)) <= width


def test_titles_are_folded_and_not_cut(cli: Cli, looked: Path) -> None:
    """A long title takes several lines, and no word of it is missing."""
    words = [f"word{number}" for number in range(30)]
    write(looked / "t.jsonl", f'{{"topic": "66", "title": "{" ".join(words)}"}}')
    cli("import", "topics", "t.jsonl").fine()
    shown = cli("show", "topics").fine().out
    assert sum("word" in line for line in shown.splitlines()) > 1
    assert [word for word in shown.split() if word.startswith("word")] == words
