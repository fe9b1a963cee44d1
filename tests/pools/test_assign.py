"""Who judges what: `pooler assign`."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from store.collection import Collection
from tests.helpers.fixtures import made_once
from tests.helpers.run import Cli, controls
from tests.helpers.world import JudgeAtWork, stored_rows

DOCUMENTS = 84
"""Pooled in the sample collection at depth 5, of 8 topics."""


@pytest.fixture
@made_once
def staffed(cli: Cli, judged: Path) -> Path:
    """Work in the judged sample collection with three people."""
    cli("judges", "add", "ann", "ben", "cat").fine()
    return judged


def holders(folder: Path) -> dict[tuple[int, int], list[int | None]]:
    """List the judges' row ids of every document with a place."""
    found: dict[tuple[int, int], list[int | None]] = {}
    for _, topic, document, judge, *_ in stored_rows(str(folder / "collection.db"))["assignment"]:
        found.setdefault((topic, document), []).append(judge)
    return found


def judge_as(folder: Path, name: str, n: int, topic: str = "G01") -> list[str]:
    """Judge some documents of a topic at a desk, claimed ones too."""
    with Collection(str(folder / "collection.db")) as opened:
        desk = opened.desk(name)
        desk.claim(topic)
        sitting = JudgeAtWork(desk, topic)
        docnos = list(sitting.tasks)[:n]
        for docno in docnos:
            sitting.grade(docno, 1)
        desk.leave()
    return docnos


def rows(cli: Cli) -> dict[str | None, dict[str, object]]:
    """Return the workload table by judge."""
    return {row["judge"]: row for row in cli("assign", "--format", "json").fine().json()}


def test_all_people_get_the_pool_by_default(cli: Cli, staffed: Path) -> None:
    """Every document goes to one human judge, loads even; the seed is printed and stored."""
    answer = cli("assign", "-k", "1").fine()
    found = holders(staffed)
    assert len(found) == DOCUMENTS
    assert {len(some) for some in found.values()} == {1}
    assert sorted(Counter(some[0] for some in found.values()).values()) == [28, 28, 28]
    said = re.search(r"assigned: 84 documents of 8 topics, 84 assignments for 3 judges; seed (\d+)",
                     answer.err)  # fmt: skip
    assert said
    ((_, manifest, lease_s, *_),) = stored_rows(str(staffed / "collection.db"))["assignment_plan"]
    plan = json.loads(manifest)
    assert (plan["seed"], plan["judges"]) == (int(said[1]), ["ann", "ben", "cat"])
    assert (plan["pools"], plan["topics"], plan["places"]) == ([], [], 84)
    assert "version" in plan
    assert lease_s is None


def test_who_has_what_is_listed(cli: Cli, staffed: Path) -> None:
    """A row a place: as stored, with what is decided; the table of workloads stands where none is named."""
    cli("assign", "ann", "--topic", "G01", "--calibration", "1", "--seed", "1").fine()
    cli("assign", "--claim", "--topic", "G02", "--seed", "1").fine()
    done = judge_as(staffed, "ann", 2)
    places = cli("assign", "--table", "places", "--format", "json").fine().json()
    stored = {(one[1], one[2], one[3]) for one in stored_rows(str(staffed / "collection.db"))["assignment"]}
    assert len({tuple(one.values()) for one in places}) == len(places) == len(stored) == 21
    held = [(one["judge"], one["topic"]) for one in places]
    assert held == [("ann", "G01")] * 10 + [(None, "G02")] * 11
    assert {one["docno"] for one in places if one["decided"]} == {*done}
    assert Counter(one["purpose"] for one in places) == {"primary": 20, "calibration": 1}
    assert [one["documents"] for one in cli("assign", "--format", "json").fine().json()] == [10, 11]
    assert "docno" in cli("assign", "--table", "places").fine().out
    assert "unknown table `what`" in cli("assign", "--table", "what", "-k", "1").failed(1).err


def test_table_shows_who_has_what(cli: Cli, staffed: Path) -> None:
    """What was assigned is printed as `assign` alone prints it, the purposes apart."""
    assigned = cli("assign", "ann", "ben", "--per-document", "1", "--overlap", "0.1",
                   "--calibration", "2", "--seed", "3").fine()  # fmt: skip
    assert cli("assign").fine().out == assigned.out
    assert "documents: 59 primary, 9 overlap, 16 calibration" in assigned.err
    table = rows(cli)
    # 59 once, 25 twice.
    assert sum(int(str(row["documents"])) for row in table.values()) == 109
    for row in table.values():
        assert list(row) == [
            "judge", "topics", "documents", "primary", "overlap", "calibration", "decided",
            "left", "claimed", "lapsed", "until",
        ]  # fmt: skip
        assert (row["overlap"], row["calibration"], row["topics"]) == (9, 16, 8)
        assert (row["decided"], row["claimed"], row["lapsed"], row["until"]) == (0, 0, 0, None)
    tsv = cli("assign", "--format", "tsv").fine().tsv()
    assert [row["judge"] for row in tsv] == ["ann", "ben"]
    assert not controls(assigned.out + assigned.err)
    assert "claimed" not in assigned.out


def test_topics_go_as_a_whole(cli: Cli, staffed: Path) -> None:
    """By topic, all documents of a topic have the same judges."""
    cli("assign", "--by", "topic", "-k", "2", "--seed", "1").fine()
    teams: dict[int, set[tuple[int | None, ...]]] = {}
    for (topic, _), some in holders(staffed).items():
        teams.setdefault(topic, set()).add(tuple(sorted(some, key=str)))
    assert {len(team) for team in teams.values()} == {1}
    assert {len(judges) for team in teams.values() for judges in team} == {2}


def test_claims_are_open_until_somebody_comes(cli: Cli, staffed: Path) -> None:
    """Places without a name: shown as open, then as claimed until a moment, then as decided."""
    answer = cli("assign", "--claim", "-k", "2", "--lease", "30", "--seed", "1").fine()
    assert "assigned: 84 documents of 8 topics, 168 assignments to be claimed; seed 1" in answer.err
    assert "judge -: open to any judge" in answer.out
    assert rows(cli)[None]["primary"] == 168
    judge_as(staffed, "ann", 2)
    with Collection("collection.db") as opened:
        assert opened.desk("ben").claim("G01")
    table = rows(cli)
    assert (table["ann"]["decided"], table["ann"]["claimed"]) == (2, 0)
    assert table["ben"]["claimed"] == table["ben"]["left"] == table["ben"]["documents"] > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", str(table["ben"]["until"]))
    shown = cli("assign").fine().out
    assert "claimed: waiting for a decision until the lease runs out" in shown
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d", shown)


def test_what_is_there_is_in_the_way_until_it_is_said_what_to_do(cli: Cli, staffed: Path) -> None:
    """A second plan is refused and names --add and --replace; both do what they say."""
    cli("assign", "ann", "--topic", "G01", "--topic", "G02").fine()
    before = holders(staffed)
    refused = cli("assign", "ben").failed(3)
    assert "documents are assigned already: 21 assignments" in refused.err
    assert "--add" in refused.err
    assert "--replace" in refused.err
    assert holders(staffed) == before
    cli("assign", "ben", "--topic", "G03").fine()
    added = cli("assign", "cat", "--add").fine()
    assert "assigned: 53 documents of 5 topics, 53 assignments for 1 judge" in added.err
    assert {judge: row["documents"] for judge, row in rows(cli).items()} == {
        "ann": 21, "ben": 10, "cat": 53,
    }  # fmt: skip
    assert "nothing to assign: no document is unassigned" in cli("assign", "--add").fine().err
    judge_as(staffed, "ann", 3)
    replaced = cli("assign", "ben", "cat", "--replace", "-k", "2").fine()
    assert "taken back: 81 assignments without a decision; 3 assignments with a decision stay" in replaced.err
    assert "3 decisions made earlier count" in replaced.err
    # 84 documents twice, three of them once by ann.
    after = {judge: row["documents"] for judge, row in rows(cli).items()}
    assert after["ann"] == 3
    assert sorted([after["ben"], after["cat"]]) == [82, 83]
    assert {len(some) for some in holders(staffed).values()} == {2}


def test_decisions_made_before_count(cli: Cli, staffed: Path) -> None:
    """Whoever judged a document before anything was assigned is one of its judges."""
    docnos = judge_as(staffed, "cat", 5)
    answer = cli("assign", "ann", "ben", "--seed", "1").fine()
    assert "5 decisions made earlier count: their judges keep these documents" in answer.err
    table = rows(cli)
    assert (table["cat"]["documents"], table["cat"]["decided"], table["cat"]["left"]) == (5, 5, 0)
    assert {len(some) for some in holders(staffed).values()} == {1}
    with Collection("collection.db") as opened:
        assert [task.docno for task in opened.desk("cat").queue("G01")] == sorted(docnos)
    # Of claims as well.
    cli("assign", "--replace", "--claim").fine()
    assert rows(cli)[None]["primary"] == 79


def test_clearing_says_what_stays(cli: Cli, staffed: Path) -> None:
    """Undecided places go; with all gone, everybody is shown the whole pool again."""
    assert "nothing undecided was assigned" in cli("assign", "--clear").fine().err
    cli("assign", "--claim").fine()
    judge_as(staffed, "ann", 1)
    with Collection("collection.db") as opened:
        opened.desk("ben").claim("G02")
    would = cli("assign", "--clear", "--dry-run").fine()
    said = (
        "taken back: 83 assignments without a decision (3 of them claimed right now); 1 assignment with"
        " a decision stay"
    )
    assert f"would be {said}" in would.err
    assert len(holders(staffed)) == DOCUMENTS
    cleared = cli("assign", "--clear").fine()
    assert said in cleared.err
    assert "1 assignment in all; judges see these documents and no other" in cleared.err
    assert "83 of 84 pooled documents unassigned: pooler assign --add assigns" in cleared.err
    assert len(holders(staffed)) == 1


def test_dry_run_changes_nothing(cli: Cli, staffed: Path) -> None:
    """The table and the words are those of the real thing; the collection is as it was."""
    name = str(staffed / "collection.db")
    before = stored_rows(name)
    would = cli("assign", "-k", "2", "--seed", "9", "--dry-run").fine()
    assert stored_rows(name) == before
    does = cli("assign", "-k", "2", "--seed", "9").fine()
    assert does.out == would.out
    assert does.err == would.err.replace("would be ", "")


def test_documents_of_nobody_are_counted(cli: Cli, staffed: Path) -> None:
    """What is pooled and assigned to nobody is said; so is what is assigned and not pooled."""
    answer = cli("assign", "--topic", "G01").fine()
    assert "74 of 84 pooled documents unassigned: pooler assign --add assigns" in answer.err
    cli("pool", "drop", "--pool", "pool").fine()
    shown = cli("assign").fine()
    assert "10 assignments of documents no longer in any pool" in shown.err
    assert shown.out.strip() == ""


def test_pools_are_assigned_one_by_one(cli: Cli, staffed: Path) -> None:
    """Only documents of the pool named are assigned; those of both once."""
    cli("pool", "--depth", "2", "--name", "two").fine()
    cli("assign", "--pool", "two").fine()
    n_two = len(holders(staffed))
    assert 0 < n_two < DOCUMENTS
    cli("assign", "--add", "--pool", "pool", "--pool", "two").fine()
    found = holders(staffed)
    assert len(found) == DOCUMENTS
    assert {len(some) for some in found.values()} == {1}


IDLE = (
    "no draws from adaptive pool `drawn`: while anything is assigned, each judge sees only"
    " what is assigned to them or open to claim"
)


def pool_drawn(cli: Cli, *more: str) -> str:
    """Make an adaptive pool of three documents a topic, `drawn`; return what was said."""
    options = ("-s", "mtf", "--depth", "5", "--budget", "3", "--name", "drawn", *more)
    return cli("pool", *options).fine().err


def test_adaptive_pools_are_left_out(cli: Cli, staffed: Path) -> None:
    """All other pools are assigned; who draws now, nobody, and when all would is said."""
    assert "mtf will draw up to 24 documents" in pool_drawn(cli)
    warning = f"warning: {IDLE}; once pooler assign --clear has taken back every assignment, all judges"
    assert warning in cli("assign", "--dry-run").fine().err
    assert warning in cli("assign", "-k", "1").fine().err
    assert warning in cli("assign").fine().err
    assert warning in cli("assign", "--replace", "--claim", "-k", "2").fine().err
    assert len(holders(staffed)) == DOCUMENTS
    assert IDLE in " ".join(cli("status").fine().out.split())
    assert "draws from" not in cli("assign", "--clear").fine().err
    assert "draws from" not in cli("status").fine().out


def test_adaptive_pool_made_after_assigning_warns(cli: Cli, staffed: Path) -> None:
    """Who is shown what stays; that nobody will draw is said at once, of a trial too."""
    cli("assign", "ann").fine()
    for more in (["--dry-run"], []):
        said = pool_drawn(cli, *more)
        assert "mtf could draw up to 24 documents" in said
        assert f"warning: {IDLE}; once pooler assign --clear has taken back every assignment" in said
    refused = cli("judge", "--judge", "ben", "--plain").failed(1).err
    assert f"nothing is assigned to `ben`, and {IDLE}" in refused


def test_decided_places_keep_adaptive_pools_from_being_drawn(cli: Cli, staffed: Path) -> None:
    """--clear leaves a place with a decision, so it is not named as the way out."""
    cli("assign", "-k", "1").fine()
    for name in ("ann", "ben", "cat"):
        judge_as(staffed, name, 1)
    said = pool_drawn(cli)
    assert "3 assignments have a decision, which pooler assign --clear keeps: draw in another" in said
    assert "3 assignments have a decision" in cli("assign", "--clear").fine().err


def test_adaptive_pools_cannot_be_assigned_by_name(cli: Cli, staffed: Path) -> None:
    """Their documents are drawn one by one; alone or among others they are refused."""
    pool_drawn(cli)
    for more in ([], ["--pool", "pool"]):
        refused = cli("assign", "--pool", "drawn", *more).failed(1).err
        assert "pool `drawn` is adaptive: each of its documents is drawn when" in refused
        assert "hint: without --pool, all pools but adaptive ones are assigned" in refused
    cli("pool", "drop", "--pool", "pool").fine()
    refused = cli("assign", "-k", "1").failed(1).err
    assert "hint: every judge draws from it as long as nothing is assigned" in refused


def test_documents_that_were_drawn_are_nobodys_afterwards(cli: Cli, staffed: Path) -> None:
    """What an adaptive pool alone drew before is counted apart: no command assigns it."""
    cli("pool", "-s", "mtf", "--depth", "20", "--budget", "3", "--name", "drawn").fine()
    with Collection("collection.db") as opened:
        fixed = {one.docno for one in opened.pools.get("pool").entries if one.topic == "G01"}
        entries = [one.docno for one in opened.pools.get("drawn").entries if one.topic == "G01"]
        chosen = next(docno for docno in entries if docno not in fixed)
        opened.pools.draw("drawn", "G01", lambda _: chosen)
    said = "1 document that adaptive pools drew cannot be assigned"
    told = cli("assign", "--seed", "1").fine().err
    assert f"assigned: {DOCUMENTS} documents" in told
    assert said in told
    assert "pooled documents unassigned" not in told
    table = cli("status").fine().out
    assert said in table
    assert "pooled document unassigned" not in table
    assert "no document is unassigned" in cli("assign", "--add").fine().err


REFUSED = {
    "assign nan": "unknown judge `nan`; known: ",
    "assign x": "`JUDGE` must be a person or a model, not of kind imported, but got 'x'",
    "assign dan": "`JUDGE` must not be disabled, but got 'dan'\nhint: pooler judges enable",
    "assign ann ben -k 3": "`--per-document` must be at most the number of judges, which",
    "assign -k 3 --overlap 0.5": "`--overlap-judges` must be at most the number of judges",
    "assign --overlap-judges 2": "`--overlap-judges` needs --overlap SHARE",
    "assign --overlap 0.5 --overlap-judges 2 -k 2": "must be more than --per-document",
    "assign --lease 10": "`--lease` needs --claim",
    "assign ann --claim": "`JUDGE` must not be given with --claim",
    "assign --claim --by topic": "`--by` cannot be `topic` with --claim",
    "assign --add --replace": "`--add` and --replace exclude each other",
    "assign --order priority --pool tiny": "`--order` needs priorities, but `KG-E-001` of",
    "assign --topic G011": "unknown topic `G011`; known: `G01`",
    "assign --pool pol": "unknown pool `pol`; known: `pool`",
    "assign --clear --pool pol": "unknown pool `pol`",
    "assign --pool gone": "`--pool` must be in use, but this one is withdrawn",
    "assign --topic G02 --pool tiny": "no pooled document of topic `G02` is to be judged",
}
"""Lines, and what the answer has."""


def test_refusals_say_what_to_do_and_change_nothing(cli: Cli, staffed: Path) -> None:
    """Whatever cannot be is refused in one line, before anything is written."""
    cli("judges", "add", "dan").fine()
    cli("judges", "disable", "dan").fine()
    cli("pool", "--depth", "1", "--name", "gone").fine()
    cli("pool", "drop", "--pool", "gone").fine()
    (staffed / "tiny.qrels").write_text("G01 0 KG-E-001 1\n", "utf-8")
    cli("import", "judgements", "tiny.qrels", "--judge", "x", "--as-pool", "tiny").fine()
    before = stored_rows(str(staffed / "collection.db"))
    for line, message in REFUSED.items():
        assert message in cli(*line.split()).failed(1).err
    assert stored_rows(str(staffed / "collection.db")) == before


def test_nobody_and_nothing_to_assign_is_said(cli: Cli, judged: Path) -> None:
    """Without people, or without a pool, the refusal names the command that helps."""
    answer = cli("assign", "-k", "1").failed(1)
    assert "there is no judge to assign documents to\nhint: pooler judges add NAME" in answer.err
    warned = cli("assign", "--claim", "-k", "2", "--dry-run").fine()
    assert "warning: 2 judges are to claim each document, but there are only 0" in warned.err
    cli("judges", "add", "ann").fine()
    cli("pool", "drop", "--pool", "pool").fine()
    answer = cli("assign", "-k", "1").failed(1)
    assert "there is no pool to assign documents of\nhint: pooler pool" in answer.err


def test_the_hint_for_a_judge_who_comes_later_works(cli: Cli, judged: Path) -> None:
    """The line that the refusal names, typed, gives every document to the newcomer too."""
    cli("judges", "add", "ann", "ben").fine()
    cli("assign", "ann", "ben", "--per-document", "2").fine()
    cli("judges", "add", "dan").fine()
    line = "pooler assign ann ben dan --per-document 3 --replace"
    assert f"hint: {line} " in cli("assign", "dan").failed(3).err
    assert f"{line} " in cli("assign", "dan", "--add").fine().err
    cli(*line.split()[1:]).fine()
    assert {judge: row["documents"] for judge, row in rows(cli).items()} == dict.fromkeys(
        ("ann", "ben", "dan"), DOCUMENTS
    )


def test_what_comes_later_goes_to_the_judge_of_its_topic(cli: Cli, staffed: Path) -> None:
    """`--add` goes on with the judges of topics, and refuses where one of them is not among those named."""
    (staffed / "authors.tsv").write_text("G01\tann\n")
    said = cli("assign", "--topic-judges", "authors.tsv", "--topic", "G01", "--topic", "G02").fine().err
    assert "1 of 2 topics without a judge of their own, whose documents go to anybody: G02" in said
    cli("pool", "--depth", "9", "--add", "--name", "more").fine()
    refused = cli("assign", "ben", "--add").failed(1).err
    assert "`ann` is the judge of topic `G01`, and not among those who get documents" in refused
    cli("assign", "--add").fine()
    places = cli("assign", "--table", "places", "--format", "json").fine().json()
    assert {one["judge"] for one in places if one["topic"] == "G01"} == {"ann"}
    # Assigned anew without the file, the topic is anybody's again, and stays so.
    cli("assign", "--replace").fine()
    cli("pool", "--depth", "12", "--add", "--name", "most").fine()
    cli("assign", "--add").fine()
    places = cli("assign", "--table", "places", "--format", "json").fine().json()
    assert {one["judge"] for one in places if one["topic"] == "G01"} > {"ann"}


@pytest.mark.parametrize(
    ("lines", "faults", "hint"),
    [
        ("", ["t.tsv: expected lines of topic and judge, got none"], "nothing in this file was used"),
        (
            "topic\tjudge\nG01\tann\nG02\tcarl\nG99\tann\n",
            [
                "t.tsv:1: expected a topic of the collection, got `topic`",
                "t.tsv:3: expected a judge of the collection, got `carl`",
                "t.tsv:4: expected a topic of the collection, got `G99`",
            ],
            "pooler judges add carl",
        ),
    ],
)
def test_all_faults_of_the_judges_of_topics_are_told(
    cli: Cli, staffed: Path, lines: str, faults: list[str], hint: str
) -> None:
    """By line, with what to type next; in a dry run, too."""
    (staffed / "t.tsv").write_text(lines)
    for more in ((), ("--dry-run",)):
        told = cli("assign", "--topic-judges", "t.tsv", *more).failed(1).err.removeprefix("error: ")
        assert told.splitlines()[:-1] == faults
        assert told.splitlines()[-1].startswith(f"hint: {hint}")
