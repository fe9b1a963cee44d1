"""Judgements as files: states and whole histories, out of one collection and into another."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from store.collection import Collection
from store.errors import ConflictError, UnknownNameError
from store.event import JudgementEvent
from store.keeping.histories import import_states
from store.records import Action, Decision, Document, ImportReport, JudgeKind, Judgement, Passage, Qrel, State
from tests.helpers.fixtures import made_once
from tests.helpers.run import Cli, Outcome, by_rule, environment, program, write
from tests.helpers.world import JudgeAtWork, bring, make_pool, parse_scale

NOTE = "a\ttab,\na line, \\t and \u202e \ud800 \U0001f600"


def sit_down(folder: Path, judge: str) -> None:
    """Judge at the desk: a grade, a skip, a refusal, a note; then take the last two back."""
    with Collection(str(folder / "collection.db")) as opened:
        desk = opened.desk(judge)
        docnos = [task.docno for task in desk.queue("G01")][:4]
        desk.record(Decision("G01", docnos[0], Action.JUDGE, grade=2, note=NOTE, dwell_ms=900))
        desk.record(Decision("G01", docnos[1], Action.SKIP))
        desk.record(Decision("G01", docnos[2], Action.CANNOT, reason="cut off"))
        desk.record(Decision("G01", docnos[3], Action.NOTE, note="who asks?"))
        desk.undo()
        desk.undo()
        desk.leave()


@pytest.fixture
@made_once
def staffed(cli: Cli, judged: Path) -> Path:
    """Work beside the sample collection, where anna has sat down, too."""
    cli("judges", "add", "anna").fine()
    sit_down(judged, "anna")
    return judged


def elsewhere(cli: Cli, *words: str) -> Outcome:
    """Run a command on another collection."""
    return cli(*words, "--collection", "other.db")


@pytest.mark.parametrize("form", ["jsonl", "tsv"])
def test_history_comes_back_event_by_event(cli: Cli, staffed: Path, form: str) -> None:
    """Exported, imported elsewhere and exported again, it has the same bytes but for sittings."""
    elsewhere(cli, "init", "--scale", "0-2").fine()
    cli("export", "judgements", "--history", "--as", form, "--out", "h").fine()
    told = elsewhere(cli, "import", "judgements", "h", "--as", form).fine().err
    assert "h: 258 events added of 4 judges" in told
    assert "the sittings that events belong to were not kept" in told
    elsewhere(cli, "export", "judgements", "--history", "--as", "jsonl", "--out", "a").fine()
    cli("export", "judgements", "--history", "--out", "b").fine()
    ours, theirs = (
        [json.loads(line) | {"sitting": None} for line in (staffed / name).read_text().splitlines()]
        for name in "ab"
    )
    assert ours == theirs
    anna = [row for row in ours if row["judge"] == "anna"]
    assert [(row["revision"], row["action"], row["undoes"]) for row in anna] == [
        *[(1, "judge", None), (1, "skip", None), (1, "cannot", None), (1, "note", None)],
        *[(2, "undo", 1), (2, "undo", 1)],
    ]
    assert (anna[0]["note"], anna[0]["dwell_ms"]) == (NOTE, 900)
    again = elsewhere(cli, "import", "judgements", "h", "--as", form).fine()
    assert "nothing new, 258 events already there of 4 judges" in again.err


@pytest.mark.parametrize("form", ["jsonl", "tsv"])
def test_states_come_back_as_they_stand(cli: Cli, staffed: Path, form: str) -> None:
    """The current states go into another collection and out of it with the same bytes."""
    elsewhere(cli, "init", "--scale", "0-2").fine()
    cli("export", "judgements", "--as", form, "--out", "s").fine()
    told = elsewhere(cli, "import", "judgements", "s", "--as", form, "--kind", "model").fine()
    assert "s: 256 judgements added of 4 judges" in told.err
    elsewhere(cli, "export", "judgements", "--as", form, "--out", "t").fine()
    kinds = re.compile(rb"\b(human|imported)\b")
    assert (staffed / "t").read_bytes() == kinds.sub(b"model", (staffed / "s").read_bytes())
    rows = elsewhere(cli, "show", "judges", "--format", "json").fine().json()
    assert {row["kind"] for row in rows} == {"model"}
    again = elsewhere(cli, "import", "judgements", "s", "--as", form).fine()
    assert again.err.count("stays model, as recorded here") == 1
    assert "warning: judge `anna` stays model, as recorded here; s says human" in again.err


def test_named_judges_are_exported_alone(cli: Cli, staffed: Path) -> None:
    """Judges that are named are exported, and unknown ones refused."""
    rows = cli("export", "judgements", "anna", "--as", "tsv").fine().tsv()
    assert {row["judge"] for row in rows} == {"anna"}
    assert sorted(row["state"] for row in rows) == ["judged", "skipped", "unjudged", "unjudged"]
    [note] = [row["note"] for row in rows if row["state"] == "judged"]
    assert note == "a\\ttab,\\na line, \\\\t and \\u202e \\ud800 \U0001f600"
    assert len(cli("export", "judgements", "--history", "anna").fine().out.splitlines()) == 6
    for options in ([], ["--history"]):
        assert "unknown judge `nobody`" in cli("export", "judgements", "nobody", *options).failed(1).err


def kinds_elsewhere(cli: Cli) -> dict[str, str]:
    """Return the judges of the other collection and their kinds."""
    rows = elsewhere(cli, "show", "judges", "--format", "json").fine().json()
    return {row["judge"]: row["kind"] for row in rows}


def test_human_is_the_kind_of_new_judges_where_nothing_says_it(cli: Cli, staffed: Path) -> None:
    """Without kinds and --kind new judges are human, and stderr says so; the others stay."""
    elsewhere(cli, "init", "--scale", "0-2").fine()
    elsewhere(cli, "judges", "add", "anna", "--kind", "adjudicator").fine()
    cli("export", "judgements", "anna", "strict", "--out", "s").fine()
    lines = [json.loads(line) for line in (staffed / "s").read_text("utf-8").splitlines()]
    for line in lines:
        del line["kind"]
    write(staffed / "s", *map(json.dumps, lines))
    told = elsewhere(cli, "import", "judgements", "s", "--as", "jsonl").fine().err
    assert (
        "warning: s: no line says of what kind `strict` is; without --kind, new judges count as human" in told
    )
    assert "stays" not in told
    assert kinds_elsewhere(cli) == {"anna": "adjudicator", "strict": "human"}
    options = ("--as", "jsonl", "--kind", "model")
    told = elsewhere(cli, "import", "judgements", "s", *options).fine().err
    assert "judge `anna` stays adjudicator, as recorded here; --kind says model" in told


@pytest.mark.parametrize("form", ["jsonl", "tsv"])
@pytest.mark.parametrize("history", [[], ["--history"]])
def test_adjudicator_stays_one_and_qrels_stay_the_same(
    cli: Cli, judged: Path, form: str, history: list[str]
) -> None:
    """Handed over, a ruling wins against the votes as before: who was no voter becomes none."""
    lines = map(json.loads, cli("export", "judgements").fine().out.splitlines())
    topic, docno = next((line["topic"], line["docno"]) for line in lines if line["grade"] == 2)
    write(judged / "q", f"{topic} 0 {docno} 0")
    cli("import", "judgements", "q", "--judge", "zoe", "--kind", "adjudicator").fine()
    elsewhere(cli, "init", "--scale", "0-2").fine()
    cli("export", "judgements", *history, "--as", form, "--out", "h").fine()
    told = elsewhere(cli, "import", "judgements", "h", "--as", form).fine().err
    assert "warning" not in told
    here = cli("show", "judges", "--format", "json").fine().json()
    assert kinds_elsewhere(cli) == {row["judge"]: row["kind"] for row in here}
    assert kinds_elsewhere(cli)["zoe"] == "adjudicator"
    rule = ("export", "qrels", "--aggregate", "max", "--kinds", "human,model")
    ours = by_rule(cli, *rule).fine().out.splitlines()
    assert f"{topic} 0 {docno} 0" in ours
    assert by_rule(cli, *rule, "--collection", "other.db").fine().out.splitlines() == ours


def test_grades_off_the_scale_and_unknown_ids_are_told_by_line(cli: Cli, staffed: Path) -> None:
    """A file of another scale or collection is refused as a whole."""
    line = (
        '{{"topic": "{}", "docno": "{}", "judge": "x", "state": "judged", "grade": {},'
        ' "reason": "", "note": "", "iteration": "0"}}'
    )
    write(staffed / "s", line.format("G01", "KG-E-001", 3), line.format("G99", "KG-E-002", 1),
          line.format("G01", "XX", -1))  # fmt: skip
    refused = cli("import", "judgements", "s", "--as", "jsonl").failed(1)
    assert refused.err.splitlines()[-1] == ("hint: --allow-unknown keeps unknown topics and docnos")
    assert refused.err.splitlines()[:4] == [
        "error: s:1: expected a grade of the scale (0, 1, 2), got 3",
        "s:3: expected a grade of the scale (0, 1, 2), got -1",
        "s: 1 of 2 topics (1 line) not in the collection: `G99`",
        "s: 1 of 3 docnos (1 line) not in the collection: `XX`",
    ]
    write(staffed / "s", line.format("G99", "XX", 1))
    hint = cli("import", "judgements", "s", "--as", "jsonl").failed(1).err
    assert "hint: --allow-unknown keeps unknown topics and docnos" in hint
    cli("import", "judgements", "s", "--as", "jsonl", "--allow-unknown").fine()


def test_history_that_differs_is_a_conflict_and_never_replaced(cli: Cli, staffed: Path) -> None:
    """Another event at the same revision is refused, with --replace too; states need --replace."""
    cli("export", "judgements", "anna", "--history", "--out", "h").fine()
    text = (staffed / "h").read_text("utf-8")
    (staffed / "h").write_text(text.replace("cut off", "cut short"), "utf-8")
    told = cli("import", "judgements", "h", "--as", "jsonl").failed(3).err
    assert "revision 1 is there otherwise" in told
    told = cli("import", "judgements", "h", "--as", "jsonl", "--replace").failed(1).err
    assert "`--replace` is for current judgements; a history is never changed" in told
    cli("export", "judgements", "anna", "--out", "s").fine()
    text = (staffed / "s").read_text("utf-8")
    (staffed / "s").write_text(text.replace('"grade": 2', '"grade": 0'), "utf-8")
    told = cli("import", "judgements", "s", "--as", "jsonl").failed(3).err
    assert "1 judgements are there otherwise: G01" in told
    answer = cli("import", "judgements", "s", "--as", "jsonl", "--replace").fine()
    assert "1 replaced, 3 already there of 1 judge" in answer.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--judge", "x"], "`--judge` is for files of grades; a tsv file already says it"),
        (["--map", "1=2"], "`--map` is for files of grades"),
        (["--code", "-1=unjudged"], "`--code` is for files of grades"),
        (["--as-pool", "p"], "`--as-pool` is for files of grades"),
        (["--lenient"], "`--lenient` is for files of grades"),
        (["--judge-column", "2"], "`--judge-column` is for files of format qrels"),
        (["--columns", "docno,grade"], "`--columns` is for files of format columns"),
        (["--topic", "1"], "`--topic` is for files of format columns"),
    ],
)
def test_options_of_other_formats_are_refused(cli: Cli, here: Path, options: list[str], message: str) -> None:
    """What a file of every judge says itself is not said by an option."""
    cli("init").fine()
    assert message in cli("import", "judgements", "f", "--as", "tsv", *options).failed(1).err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "bar"),
    [
        ("import judgements q --judge nist", "judgements"),
        ("export judgements --out j", "judgements"),
        ("export judgements --history --out h", "events"),
    ],
)
def test_long_work_shows_a_bar_where_somebody_looks(cli: Cli, here: Path, command: str, bar: str) -> None:
    """On a terminal stderr has a bar with the number in all; in a pipe it has none."""
    cli("init").fine()
    write(here / "q", *(f"1 0 d{number} 1" for number in range(6000)))
    if "import" not in command:
        cli("import", "judgements", "q", "--judge", "nist").fine()
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [*program(), *command.split()], cwd=here, env=environment({"TERM": "xterm"}), stderr=theirs
    ) as process:
        os.close(theirs)
        shown = b""
        while part := _read(ours):
            shown += part
    os.close(ours)
    assert process.returncode == 0
    assert re.search(rf"{bar} .*6000/6000", re.sub("\x1b\\[[0-9;?]*[a-zA-Z]", "", shown.decode()))


def _read(terminal: int) -> bytes:
    """Read what a terminal shows; nothing when its other end is closed."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


def work(collection: Collection) -> None:
    """Let two judges judge three documents; one of them changes her mind."""
    collection.pools.add(make_pool({"1": ["a", "b"], "2": ["a"]}))
    collection.documents.add([Document("a", "A", "see here")])
    for judge in ("ann", "bob"):
        collection.judges.add(judge, JudgeKind.HUMAN)
    ann = JudgeAtWork(collection.desk("ann"), "1")
    ann.grade("a", 2)
    ann.act("b", Action.SKIP)
    bob = JudgeAtWork(collection.desk("bob"), "2")
    bob.act("a", Action.CANNOT, reason="torn", note="page 3")
    ann.act("a", Action.MARK, passages=(Passage(4, 4, "here"),))
    ann.undo()
    ann.undo()


def test_events_come_in_the_order_in_which_they_were_made(collection: Collection) -> None:
    """Every event is there once, whole, undo with the revision it takes back."""
    work(collection)
    events = list(collection.judgements.history())
    facts = [(e.topic, e.docno, e.judge, e.revision, e.action, e.undoes, e.state, e.grade)
             for e in events]  # fmt: skip
    judged, skipped, unjudged = State.JUDGED, State.SKIPPED, State.UNJUDGED
    assert facts == [
        ("1", "a", "ann", 1, Action.JUDGE, None, judged, 2),
        ("1", "b", "ann", 1, Action.SKIP, None, skipped, None),
        ("2", "a", "bob", 1, Action.CANNOT, None, State.CANNOT, None),
        ("1", "a", "ann", 2, Action.MARK, None, judged, 2),
        ("1", "a", "ann", 3, Action.UNDO, 2, judged, 2),
        ("1", "b", "ann", 2, Action.UNDO, 1, unjudged, None),
    ]
    assert [event.sitting for event in events] == [1, 1, 2, 1, 1, 1]
    assert events[3].passages == (Passage(4, 4, "here"),)
    assert events[4].passages == ()
    assert (events[2].reason, events[2].note) == ("torn", "page 3")
    assert list(collection.judgements.history(["bob"])) == [events[2]]
    with pytest.raises(UnknownNameError, match="unknown judge `eve`"):
        list(collection.judgements.history(["eve"]))


@pytest.fixture
def other(tmp_path: Path) -> Collection:
    """Make a second collection with the same judges."""
    scale = parse_scale("0-2")
    made = Collection.create(str(tmp_path / "other.db"), name="y", scale=scale, program="y")
    for judge in ("ann", "bob"):
        made.judges.add(judge, JudgeKind.HUMAN)
    return made


def bare(events: list[JudgementEvent]) -> list[JudgementEvent]:
    """Return events without their sittings."""
    return [replace(event, sitting=None) for event in events]


def test_histories_are_appended_once(collection: Collection, other: Collection) -> None:
    """What already exists is counted and not written again; what is new follows it."""
    work(collection)
    events = list(collection.judgements.history())
    assert bring(other, events[:4]) == ImportReport(added=4)
    assert bring(other, events) == ImportReport(added=2, unchanged=4)
    assert list(other.judgements.history()) == bare(events)
    assert bring(other, events) == ImportReport(unchanged=6)
    other.close()


def test_many_events_keep_their_links(other: Collection, tmp_path: Path) -> None:
    """An undo finds what it takes back, however many events lie between the two."""
    other.judgements.add({"ann": [Qrel("1", f"d{n}", 1) for n in range(2500)]}, JudgeKind.HUMAN)
    events = list(other.judgements.history())
    undo = replace(events[0], revision=2, action=Action.UNDO, undoes=1, state=State.UNJUDGED,
                   grade=None, judged_at=events[0].judged_at + timedelta(hours=1))  # fmt: skip
    where = str(tmp_path / "fresh.db")
    with Collection.create(where, name="z", scale=other.scale, program="z") as fresh:
        fresh.judges.add("ann", JudgeKind.HUMAN)
        assert bring(fresh, [*events, undo]) == ImportReport(added=2501)
        assert list(fresh.judgements.history()) == [*events, undo]
    other.close()


def test_contradiction_is_a_conflict(collection: Collection, other: Collection) -> None:
    """Another event at the same revision, or a gap, is refused and leaves nothing."""
    work(collection)
    events = list(collection.judgements.history())
    bring(other, events[:1])
    with pytest.raises(ConflictError, match="docno `a` judge `ann`: revision 1 is there otherwise"):
        bring(other, [events[1], replace(events[0], grade=1)])
    with pytest.raises(ConflictError, match="expected revision 2, got 3"):
        bring(other, [events[1], events[4]])
    assert list(other.judgements.history()) == bare(events[:1])
    other.close()


def set_states(collection: Collection, states: Sequence[Judgement], *, replace: bool = False) -> ImportReport:
    """Import states; ann is a model, bob an adjudicator."""
    kinds = {"ann": JudgeKind.MODEL, "bob": JudgeKind.ADJUDICATOR}
    with collection.being_filled() as inside:
        return import_states(inside, states, kinds, replace=replace)


STATES = [
    Judgement("1", "d1", "ann", State.JUDGED, 2, note="n", iteration="3"),
    Judgement("1", "d2", "ann", State.SKIPPED, None),
    Judgement("1", "d3", "ann", State.CANNOT, None, reason="empty"),
    Judgement("2", "d1", "bob", State.UNJUDGED, None, note="later"),
]


def test_states_that_differ_need_replace_and_are_revisions(collection: Collection) -> None:
    """A difference in grade, note or state is a conflict; replaced, it is one more event."""
    set_states(collection, STATES)
    changed = [
        Judgement("1", "d1", "ann", State.UNJUDGED, None, note="n", iteration="3"),
        Judgement("1", "d2", "ann", State.JUDGED, 0),
        STATES[2],
    ]
    with pytest.raises(ConflictError, match="2 judgements are there otherwise: 1 d1 of ann; 1 d2"):
        set_states(collection, changed)
    assert len(list(collection.judgements.history())) == 4
    assert set_states(collection, changed, replace=True) == ImportReport(replaced=2, unchanged=1)
    last = list(collection.judgements.history())[4:]
    assert [(one.docno, one.revision, one.action, one.grade) for one in last] == [
        ("d1", 2, Action.REOPEN, None),
        ("d2", 2, Action.JUDGE, 0),
    ]
