"""Commands as each role runs them: they work, or say in one line why not; and a forged environment."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import psycopg
import pytest

from pooler.cli.commands import TABLE
from store.collection import Collection
from store.errors import StoreError
from store.records import Action, Decision, JudgeKind
from tests.helpers.run import GARDEN, Outcome, run_inside
from tests.roles.served import Served, empty_database, fill, judge_some, let_in

pytestmark = pytest.mark.slow

TRIED = {
    "adjudicate --list": ("rita", "otto"),
    "agreement": ("rita", "otto"),
    "assign --show": ("rita", "otto"),
    "assign --clear": ("otto",),
    "audit gpt --against alice": ("rita", "otto"),
    "backup {folder}/a.backup": ("rita", "otto"),
    "diagnose --judge gpt": ("rita", "otto"),
    "draw": ("otto", "dora"),
    "effort": ("rita", "otto"),
    "evaluate --judge gpt": ("rita", "otto"),
    "export qrels --judge gpt": ("rita", "otto"),
    "export judgements gpt": ("rita", "otto"),
    "export collection {folder}/collection": ("rita", "otto"),
    "export work --judge alice --out {folder}/alice.html": ("rita", "otto"),
    "grant --list": ("rita", "otto"),
    "grant {alice} --revoke": (),
    "grant {alice} --role organiser": (),
    "guidelines set {garden}/topics.jsonl": ("otto",),
    "history": ("rita", "otto"),
    "import topics {garden}/topics.jsonl": ("otto",),
    "import runs {garden}/runs/bm25-words.run": ("otto",),
    "judges add carol": ("otto",),
    "judges code bob": ("otto",),
    "judges disable gpt": ("otto",),
    "judges rename alice alicia": ("otto",),
    "list docs": ("rita", "otto"),
    "list judges": ("rita", "otto"),
    "list pools": ("rita", "otto"),
    "list runs": ("rita", "otto"),
    "list topics": ("rita", "otto"),
    "next --limit 2 --unjudged 0.1": ("rita", "otto"),
    "pool --depth 4 --name deeper": ("otto",),
    "provenance": ("rita", "otto"),
    "rejudge": ("rita", "otto"),
    "sensitivity --judge gpt --depth 3": ("rita", "otto"),
    "show judge bob": ("rita", "otto"),
    "show run bm25-words": ("rita", "otto"),
    "show doc KG-E-002": ("rita", "otto"),
    "status": ("rita", "otto"),
    "unpool bm25-words": ("otto",),
    "upgrade --no-backup": ("rita", "otto"),
    "variation": ("rita", "otto"),
    "verify": ("rita", "otto"),
}
"""Commands, and to whom they are given; everybody else gets one line. (An upgrade finds nothing to do.)"""


def summed(served: Served) -> str:
    """Sum up what commands could change."""
    counts = ("run", "topic", "judge", "pool", "assignment", "guideline", "judgement", "pool_entry")
    return " ".join(str(served.value(f"SELECT count(*) FROM {table}")) for table in counts)


@pytest.mark.parametrize("who", ["alice", "ann", "rita", "dora"])
def test_commands_work_or_are_refused_in_a_line(served: Served, tmp_path: Path, who: str) -> None:
    """Never a traceback, never a part that looks like the whole."""
    wrong = []
    before = summed(served)
    for number, (command, given) in enumerate(TRIED.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        url = served.url(who)
        words = command.format(folder=folder, garden=GARDEN, url=url, alice=served.login("alice")).split()
        answer = run_inside(*words, "--collection", url)
        if who in given:
            if answer.code != 0:
                wrong.append(f"{command}: {answer.err}")
        elif not is_one_line(answer) or any(folder.iterdir()):
            wrong.append(f"{command}: {answer.code} {answer.out[:200]} {answer.err[-400:]}")
    assert wrong == []
    assert summed(served) == before


def is_one_line(answer: Outcome) -> bool:
    """Say whether a refusal is one line, with one hint that names a role."""
    lines = [line for line in answer.err.splitlines() if line.startswith(("error: ", "hint: "))]
    return (
        answer.code == 3
        and not answer.out
        and [line[:5] for line in lines] == ["error", "hint:"]
        and "role" in lines[1]
    )


@pytest.mark.long
def test_an_organiser_may_do_all_of_it(postgres_server: str, tmp_path: Path) -> None:
    """All but what is the owner's: tables, roles, logins."""
    served = empty_database(postgres_server)
    fill(served, assigned=True)
    let_in(served)
    for judge, grade in (("alice", 1), ("bob", 2)):
        judge_some(served.url(judge), judge, 3, grade=grade)
    for number, (command, given) in enumerate(TRIED.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        url = served.url("otto")
        words = command.format(folder=folder, garden=GARDEN, url=url, alice=served.login("alice")).split()
        answer = run_inside(*words, "--collection", url)
        if "otto" in given:
            answer.fine()
        else:
            assert is_one_line(answer), (command, answer)
    run_inside("verify", "--collection", served.owner).fine()


def test_every_command_that_opens_a_collection_was_tried() -> None:
    """A new command is tried too, or named here as one that opens none, or has a test of its own."""
    opens_none = {"demo", "check", "diff", "collapse", "clusters", "required-difference", "ap-properties"}
    elsewhere = {
        "duplicates",
        "judge",
        "init",
        "restore",
        "design",
        "replay",
        "estimate",
        "compare",
        "paper",
        "report",
        "serve",
    }
    assert {command.split()[0] for command in TRIED} | opens_none | elsewhere == TABLE.keys()


@pytest.mark.parametrize("who", ["alice", "ann", "rita", "dora"])
@pytest.mark.parametrize(
    "command",
    [
        "replay --judge gpt -s take --depth 3 --budgets 2",
        "estimate --judge gpt",
        "compare --all --judge gpt",
        "paper bm25-words tfidf-words --judge gpt",
        "report {folder}/report.html",
        "judge --model gpt --dry-run",
        "design --judge gpt",
        "duplicates",
    ],
)
def test_other_commands_end_in_words(served: Served, tmp_path: Path, who: str, command: str) -> None:
    """As above; what they say to who may is theirs."""
    answer = run_inside(*command.format(folder=tmp_path).split(), "--collection", served.url(who))
    assert "Traceback" not in answer.err
    if who in ("alice", "ann", "dora"):
        assert is_one_line(answer), answer


def test_a_login_without_a_role_is_told(served: Served) -> None:
    """Even if it may connect, as by a grant of the database's owner."""
    eve = f"eve_{served.tag}"
    served.as_admin(
        f"CREATE ROLE {eve} LOGIN",
        f"GRANT CONNECT ON DATABASE garden_{served.tag} TO {eve}",
        f"GRANT USAGE ON SCHEMA public TO {eve}",
    )
    answer = run_inside("status", "--collection", served.url("eve")).failed(3)
    assert f"login `{eve}` has no role in this collection" in answer.err
    assert f"pooler grant {eve} --role" in answer.err


def judged(monkeypatch: pytest.MonkeyPatch, typed: str, *words: str) -> Outcome:
    """Judge in line mode."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    return run_inside("judge", "--plain", *words)


def test_judging_in_lines_as_a_login(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Claimed, graded, undone, skipped and left, all as the login of a judge; without naming the judge."""
    typed = "2\n1\nu\ns\nq\n"
    answer = judged(monkeypatch, typed, "--topic", "G02", "--collection", served.url("alice"))
    assert "all saved" in answer.out, answer.err
    query = (
        "SELECT string_agg(action, ' ' ORDER BY event.id) FROM judgement event JOIN topic ON"
        " topic.id = topic_id"
        " JOIN judge ON judge.id = judge_id WHERE number = 'G02' AND judge.name = 'alice'"
    )
    assert str(served.value(query)).startswith("judge judge undo skip")
    held = (
        "SELECT count(*) FROM assignment JOIN topic ON topic.id = topic_id WHERE number = 'G02' AND"
        " lease_until IS"
    )
    assert served.value(f"{held} NOT NULL AND judge_id = (SELECT id FROM judge WHERE name = 'alice')") <= 1


@pytest.mark.parametrize(
    ("words", "settings", "told"),
    [
        (("--judge", "bob"), {}, "this login judges as `alice`, not as `bob`"),
        ((), {"POOLER_JUDGE": "bob"}, "this login judges as `alice`, not as `bob`"),
        (("--judge", "nobody"), {}, "this login judges as `alice`, not as `nobody`"),
        ((), {"PGOPTIONS": "-c row_security=off"}, "row-level security policy"),
        ((), {"PGOPTIONS": "-c role={organisers}"}, "permission denied to set role"),
        ((), {"PGOPTIONS": "-c session_authorization={bob}"}, "permission denied"),
        ((), {"PGOPTIONS": "-c search_path=pg_catalog"}, "is not a pooler collection"),
        ((), {"PGOPTIONS": "-c session_replication_role=replica"}, "permission denied to set parameter"),
        ((), {"PGDATABASE": "postgres", "PGUSER": "postgres"}, "this login judges as `alice`, not as `bob`"),
    ],
)
def test_a_forged_environment_changes_nothing(
    served: Served,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    settings: dict[str, str],
    told: str,
) -> None:
    """Who judges follows from the login; one line says so."""
    names = {"organisers": f"garden_{served.tag}_organiser", "bob": served.login("bob")}
    if "PGUSER" in settings:
        words = ("--judge", "bob")
    before = served.value("SELECT count(*) FROM judgement")
    with monkeypatch.context() as forged:
        for name, value in settings.items():
            forged.setenv(name, value.format(**names))
        answer = judged(forged, "G01\n2\nq\n", *words, "--collection", served.url("alice"))
    assert answer.code == 3, answer
    assert "Traceback" not in answer.err
    assert told in answer.err
    assert served.value("SELECT count(*) FROM judgement") == before


def test_who_only_looks_cannot_sit_down(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader, a drawer and an adjudicator at the judging screen, a judge at the adjudicator's."""
    for who, told in (
        ("rita", "has the role reader"),
        ("dora", "has the role drawer"),
        ("ann", "has the role adj"),
    ):
        answer = judged(monkeypatch, "q\n", "--judge", "alice", "--collection", served.url(who))
        assert told in answer.failed(3).err
    for who in ("alice", "rita"):
        answer = run_inside(
            "adjudicate", "--plain", "--judge", "ann", "--collection", served.url(who)
        ).failed(3)
        assert "cannot adjudicate" in answer.err


def test_an_adjudicator_settles_without_names(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The letters are those that the organiser's list has; the ruling is the adjudicator's own."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("G01\n2\nu\n1\nq\n"))
    answer = run_inside("adjudicate", "--plain", "--collection", served.url("ann"))
    assert "all saved" in answer.out, answer
    for name in ("alice", "bob", "gpt", served.tag):
        assert name not in answer.out
    rulings = (
        "SELECT string_agg(action || coalesce(grade::text, ''), ' ' ORDER BY event.id) FROM judgement event"
        " JOIN judge ON judge.id = judge_id WHERE name = 'ann'"
    )
    assert served.value(rulings) == "judge2 undo judge1"


def test_letters_are_the_same_for_both(served: Served) -> None:
    """An adjudicator's own login sees each opinion under the letter that an organiser's list names."""

    def opinions(place: str) -> dict[str, list[tuple[str, int | None, str]]]:
        with Collection(place) as collection:
            desk = collection.adjudication_desk("ann")
            found = {}
            for line in desk.inbox():
                for task in desk.queue(line.topic):
                    shown = desk.disagreement(line.topic, task.docno).opinions
                    found[f"{line.topic} {task.docno}"] = [(one.letter, one.grade, one.note) for one in shown]
            return found

    assert opinions(served.url("ann")) == opinions(served.owner)
    assert len(opinions(served.owner)) >= 2


def test_an_adjudicator_rules_on_disagreements_alone(served: Served) -> None:
    """By the desk there is no other way; and the server refuses one by hand."""
    with served.connected("ann") as connection:
        connection.execute(
            "INSERT INTO sitting (judge_id, started_at, seen_at, host, process, program)"
            " VALUES ((SELECT pooler_me()), now(), now(), '', 0, '')"
        )
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="judges do not disagree on it"):
            connection.execute(
                "INSERT INTO judgement (topic_id, document_id, judge_id, revision, action, state,"
                " grade, reason, note,"
                " iteration, judged_at, dropped_keys, sitting_id) SELECT 1, (SELECT min(id) FROM"
                " document WHERE id NOT"
                " IN (SELECT document_id FROM pooler_votes(1, NULL))), (SELECT pooler_me()), 1,"
                " 'judge', 'judged', 1,"
                " '', '', '0', clock_timestamp(), 0, (SELECT max(id) FROM sitting)"
            )


def test_a_place_that_lapsed_is_told_as_ever(served: Served) -> None:
    """The function of the owner answers what the program would have found."""
    with Collection(served.url("alice")) as alice:
        desk = alice.desk("alice")
        desk.claim("G03")
        task = desk.queue("G03")[0]
        with served.connected() as connection:
            connection.execute(
                "DELETE FROM assignment WHERE topic_id = (SELECT id FROM topic WHERE number = 'G03')"
                " AND document_id = (SELECT id FROM document WHERE docno = %s)",
                (task.docno,),
            )
            connection.commit()
        with pytest.raises(StoreError, match="not yours to judge, or no longer"):
            desk.record(Decision("G03", task.docno, Action.JUDGE, 1))
        desk.leave()


def test_what_a_judge_did_is_verified(served: Served) -> None:
    """Checksums, revisions, undos and passages of judges' own logins are as the program's ever are."""
    judge_some(served.url("alice"), "alice", 2, topic="G04")
    answer = run_inside("verify", "--format", "json", "--collection", served.owner)
    rows = json.loads(answer.out)["verify"] if answer.out.startswith("{") else answer.json()
    assert [row["check"] for row in rows][-1] == "roles"
    assert {row["check"]: row["faults"] for row in rows if row["faults"]} == {}, answer


def test_a_file_has_no_roles(tmp_path: Path) -> None:
    """Said in a line, with what would have them."""
    run_inside("init", "--scale", "0-2", "--collection", tmp_path / "a.db").fine()
    for words in (
        ("grant", "alice", "--role", "reader"),
        ("grant", "--list"),
        ("judges", "add", "a", "--login", "a"),
    ):
        answer = run_inside(*words, "--collection", tmp_path / "a.db").failed(3)
        assert "is a file" in answer.err
    assert "has no roles" in run_inside("draw", "--collection", tmp_path / "a.db").failed(3).err
    with Collection(str(tmp_path / "a.db")) as collection:
        assert collection.login is None
        assert collection.judges.add("zoe", JudgeKind.HUMAN)
