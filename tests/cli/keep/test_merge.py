"""`pooler merge` and `pooler export work`: parts and copies out, judged, and in again."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from store.records import Action
from tests import cf_collection
from tests.helpers.run import Cli, read_lines, run_inside, write
from tests.store.keeping.merge.apart import bytes_of, copies, make, work

COLUMNS = ["topic", "docno", "judge", "says", "latest", "earliest", "highest", "lowest", "take"]


@pytest.fixture
def apart(here: Path) -> list[Path]:
    """Work beside `collection.db` and two copies: ann graded `a` 1, 2 and 0; bob `b` on one."""
    whole = make(here / "collection.db")
    made = [whole, *copies(whole, 2)]
    for place, grade in zip(made, (1, 2, 0), strict=True):
        work(place, ("ann", "a", Action.JUDGE, grade))
    work(made[1], ("bob", "b", Action.CANNOT, "torn"))
    return made


def test_conflicts_are_listed_and_stop_the_merge(apart: list[Path], cli: Cli) -> None:
    """Without a rule: exit code 1, every version in every format, and no byte changed."""
    before = bytes_of(apart)
    told = cli("merge", apart[1].name, apart[2].name)
    assert told.code == 1
    assert "this collection" in told.out
    assert "1 conflict: one judge, one document, different decisions; nothing was merged" in told.err
    assert "hint: --settle RULE" in told.err
    tables = cli("merge", apart[1].name, apart[2].name, "--format", "json").json()
    rows = tables["conflicts"]
    assert [(row["copy"], row["says"], row["highest"], row["lowest"]) for row in rows] == [
        ("this collection", "1", "2", "0"), (apart[1].name, "2", "2", "0"),
        (apart[2].name, "0", "2", "0"),
    ]  # fmt: skip
    assert (tables["judges"], tables["copies"]) == ([], [])
    tsv = cli("merge", apart[1].name, apart[2].name, "--format", "tsv", "--table", "conflicts").tsv()
    assert [row["says"] for row in tsv] == ["1", "2", "0"]
    unnamed = cli("merge", *apart[1:], "--settle", "latest", "--format", "tsv").failed(2)
    assert "judges, copies, conflicts" in unnamed.err
    assert bytes_of(apart) == before


def test_rule_settles_and_all_is_told(apart: list[Path], cli: Cli) -> None:
    """New events, what was there, and documents settled by which rule, a judge a line."""
    trial = cli("merge", *apart[1:], "--settle", "highest", "--dry-run").fine()
    assert "(dry run: nothing was changed)" in trial.err
    told = cli("merge", *apart[1:], "--settle", "highest", "--format", "json").fine().json()
    assert [(row["judge"], row["new"], row["there"], row["highest"]) for row in told["judges"]] == [
        ("ann", 2, 0, 1), ("bob", 1, 0, 0),
    ]  # fmt: skip
    assert {row["what"]: row["new"] for row in told["copies"] if row["copy"] == str(apart[1])} == {
        "sittings": 2
    }
    assert told["conflicts"][0]["settled"] == "by highest"
    assert told["conflicts"][0]["took"] == "2"
    # The words of the last column are folded, each line below the one before.
    lines = cli("history", "1", "a").fine().out.splitlines()
    begin = lines[1].index("about")
    history = " ".join(" ".join(line[begin:] for line in lines[3:]).split())
    assert "copies settled: by highest" in history
    assert "done on a different copy from no. 1, without knowing of it" in history
    again = cli("merge", *apart[1:]).fine()
    assert "nothing new: everything is already here" in again.err


def test_list_filled_in_by_hand_settles(apart: list[Path], cli: Cli, here: Path) -> None:
    """--conflicts writes it with an empty column, --settle-by takes it back; rules do the rest."""
    told = cli("merge", *apart[1:], "--conflicts", "c.tsv")
    assert (told.code, "c.tsv: 1 conflict" in told.err) == (1, True)
    header, line = read_lines(here / "c.tsv")
    assert header.split("\t") == COLUMNS
    cells = line.split("\t")
    assert cells[:3] == ["1", "a", "ann"]
    assert cells[4:] == ["0", "1", "2", "0", ""]
    assert "collection.db" not in cells[3]
    refused = cli("merge", *apart[1:], "--conflicts", "c.tsv").failed(1)
    assert "c.tsv already exists" in refused.err
    # An empty cell settles nothing; a spreadsheet may have left it off.
    write(here / "d.tsv", header, "\t".join(cells[:-1]))
    told = cli("merge", *apart[1:], "--settle-by", "d.tsv")
    assert (told.code, "d.tsv settles none: its column `take` is empty" in told.err) == (1, True)
    write(here / "d.tsv", "take\tjudge\tdocno\ttopic", "skip\tann\ta\t1")
    done = cli("merge", *apart[1:], "--settle-by", "d.tsv", "--format", "json").fine().json()
    assert (done["conflicts"][0]["settled"], done["conflicts"][0]["took"]) == ("by hand", "skip")
    assert "nothing new" in cli("merge", *apart[1:], "--settle-by", "d.tsv").fine().err


@pytest.fixture
def ruled(here: Path, cli: Cli) -> Path:
    """Rule 1 by hand where ann graded `a` 2 here and 0 on `hA.db`; `hC.db` has but her note."""
    whole = make(here / "collection.db")
    for name in ("hA.db", "hC.db"):
        shutil.copy(whole, here / name)
    work(whole, ("ann", "a", Action.JUDGE, 2))
    work(here / "hA.db", ("ann", "a", Action.JUDGE, 0))
    work(here / "hC.db", ("ann", "a", Action.NOTE, "hello"))
    write(here / "c1.tsv", "topic\tdocno\tjudge\ttake", "1\ta\tann\t1")
    cli("merge", "hA.db", "--settle-by", "c1.tsv").fine()
    return here


@pytest.mark.parametrize("options", [(), *(("--settle", rule) for rule in ("lowest", "latest")),
                                     ("--settle-by", "c1.tsv")])  # fmt: skip
def test_ruling_stands_when_a_copy_brings_a_note(ruled: Path, cli: Cli, options: tuple[str, ...]) -> None:
    """No rule replaces what was settled by hand, nothing is asked, and the note comes in."""
    told = cli("merge", "hC.db", *options).fine()
    assert "1 new judgement event, 1 document that one judge had worked on in several" in told.err
    events = cli("history", "1", "a", "--format", "json").fine().json()
    assert [(one["settled"], one["grade"]) for one in events["events"] if one["settled"]] == [
        ("by hand", 1), ("agreed", 1),
    ]  # fmt: skip
    assert events["standing"][0]["grade"] == 1
    assert events["events"][-1]["note"] == "hello"
    assert "nothing new" in cli("merge", "hC.db", "hA.db", *options).fine().err
    assert cli("verify").code == 0


def test_new_grade_is_asked_for_beside_the_ruling(ruled: Path, cli: Cli) -> None:
    """The ruling is a candidate, said to be one, and stays in the history when a rule beats it."""
    make_copy = ruled / "hD.db"
    shutil.copy(ruled / "hC.db", make_copy)
    work(make_copy, ("ann", "a", Action.JUDGE, 0))
    told = cli("merge", "hD.db", "--conflicts", "c2.tsv", "--format", "json")
    assert told.code == 1
    rows = [(row["copy"], row["says"], row["by"]) for row in told.json()["conflicts"]]
    assert sorted(rows) == [("hD.db", "0", None), ("this collection", "1", "by hand")]
    assert "this collection: 1, settled by hand" in read_lines(ruled / "c2.tsv")[1]
    assert "by hand" in cli("merge", "hD.db").out
    cli("merge", "hD.db", "--settle", "lowest").fine()
    events = cli("history", "1", "a", "--format", "tsv", "--table", "events").fine().tsv()
    settled = [row for row in events if row["settled"]]
    assert [(row["settled"], row["grade"]) for row in settled] == [("by hand", "1"), ("lowest", "0")]
    assert cli("verify").code == 0


def test_what_a_rule_made_is_shown_when_a_new_grade_comes(apart: list[Path], cli: Cli, here: Path) -> None:
    """Grades 1 and 2 were settled by the highest; a third one asks again, and that is told."""
    cli("merge", apart[1].name, "--settle", "highest").fine()
    told = cli("merge", apart[2].name, "--format", "json").json()
    assert [(row["says"], row["by"]) for row in told["conflicts"]] == [
        ("1", None), ("2", None), ("0", None), ("2", "by highest"),
    ]  # fmt: skip


def test_list_may_rule_again_and_says_nothing_new_twice(ruled: Path, cli: Cli) -> None:
    """Whichever copy is named: the first ruling stays in the history, the second one stands."""
    write(ruled / "c2.tsv", "topic\tdocno\tjudge\ttake", "1\ta\tann\tskip")
    for copy in ("hA.db", "hC.db"):
        cli("merge", copy, "--settle-by", "c2.tsv").fine()
        again = cli("merge", copy, "--settle-by", "c2.tsv").fine()
        assert "nothing new: everything is already here" in again.err
    events = cli("history", "1", "a", "--format", "json").fine().json()["events"]
    assert [one["state"] for one in events if one["settled"] == "by hand"] == ["judged", "skipped"]
    assert events[-1]["state"] == "skipped"


def test_ruling_that_a_copy_brings_is_told(ruled: Path, cli: Cli) -> None:
    """It is no event of a judge, and yet something new."""
    told = cli("merge", "collection.db", "--collection", "hA.db", "--format", "json").fine()
    assert told.json()["judges"][0]["by_hand"] == 1
    assert "nothing new" not in told.err


@pytest.mark.parametrize(
    ("rule", "took"), [("earliest", "1"), ("latest", "0"), ("highest", "2"), ("lowest", "0")]
)
def test_list_filled_in_with_a_rule_takes_what_it_chooses(
    apart: list[Path], cli: Cli, here: Path, rule: str, took: str
) -> None:
    """Grades 1, 2 and 0 were given in this order; it is settled by hand, and goes before a rule."""
    write(here / "d.tsv", "topic\tdocno\tjudge\ttake", f"1\ta\tann\t{rule}")
    command = ("merge", *apart[1:], "--settle-by", "d.tsv", "--settle", "unjudged")
    told = cli(*command, "--format", "json").fine()
    [conflict, *_] = told.json()["conflicts"]
    assert (conflict["settled"], conflict["took"]) == ("by hand", took)
    assert "settles none" not in told.err
    assert "nothing new" in cli(*command).fine().err


def test_decisions_of_one_minute_are_shown_to_the_second(apart: list[Path], cli: Cli, here: Path) -> None:
    """Two decisions that the minute does not tell apart are told with seconds."""
    shown = cli("merge", *apart[1:]).out
    minutes = re.findall(r"(\d\d:\d\d)(:\d\d)?", shown)
    assert len(minutes) == 3
    # Where every minute differs, that is enough.
    assert len({minute for minute, _ in minutes}) == 3 or all(second for _, second in minutes)


def test_list_after_a_list_settles_all_of_them(apart: list[Path], cli: Cli, here: Path) -> None:
    """What was settled by hand stands in the next list too, filled in: one list is enough."""
    work(here / "collection.db", ("ann", "c", Action.JUDGE, 1))
    work(apart[1], ("ann", "c", Action.JUDGE, 2))
    write(here / "one.tsv", "topic\tdocno\tjudge\ttake", "1\ta\tann\tskip")
    told = cli("merge", *apart[1:], "--settle-by", "one.tsv", "--conflicts", "two.tsv")
    assert told.code == 1
    assert "two.tsv: 1 conflict, and 1 settled by hand with what was taken" in told.err
    assert "run the same command with --settle-by two.tsv instead of --conflicts" in told.err
    header, *lines = read_lines(here / "two.tsv")
    assert [(line.split("\t")[1], line.split("\t")[-1]) for line in lines] == [
        ("c", ""), ("a", "skip"),
    ]  # fmt: skip
    write(here / "three.tsv", header, lines[0] + "2", lines[1])
    done = cli("merge", *apart[1:], "--settle-by", "three.tsv", "--format", "json").fine().json()
    took = {row["docno"]: (row["settled"], row["took"]) for row in done["conflicts"]}
    assert took == {"a": ("by hand", "skip"), "c": ("by hand", "2")}


def test_what_was_erased_on_a_copy_leaves_no_byte_here(apart: list[Path], cli: Cli, here: Path) -> None:
    """A judge's name and words are gone from the file, and that older copies have them is said."""
    whole = make(here / "home.db")
    work(whole, ("bob", "a", Action.NOTE, "unmistakable words"))
    shutil.copy(whole, here / "erased.db")
    cli("judges", "erase", "bob", "--yes", "--collection", "erased.db").fine()
    told = cli("merge", "erased.db", "--collection", "home.db").fine()
    assert "judge `bob` erased here, as on another copy" in told.err
    assert "the file was rewritten" in told.err
    assert "a merge brings none of it back" in told.err
    assert b"unmistakable words" not in whole.read_bytes()
    assert "was rewritten" not in cli("merge", "erased.db", "--collection", "home.db").fine().err


def test_what_is_left_out_of_an_erased_judge_is_not_said_to_be_here(apart: list[Path], cli: Cli) -> None:
    """A copy that still has an erased judge brings nothing new beside those events."""
    cli("merge", *apart[1:], "--settle", "latest").fine()
    cli("judges", "erase", "bob", "--yes").fine()
    told = cli("merge", apart[1]).fine()
    assert "1 events of judges who were erased left out" in told.err
    assert "nothing else is new" in told.err
    assert "all of it is here" not in told.err


def test_conflicts_fit_the_screen(apart: list[Path], cli: Cli) -> None:
    """80 columns: what rules would choose is for programs, and in the list to be filled in."""
    told = cli("merge", *(place.name for place in apart[1:]))
    assert max(map(len, told.out.splitlines())) <= 80
    assert "highest" not in told.out


def test_faults_of_a_filled_in_list_are_told_by_line(apart: list[Path], cli: Cli, here: Path) -> None:
    """All at once: a grade off the scale, a line twice, too many cells; nothing is merged."""
    before = bytes_of(apart)
    header = "topic\tdocno\tjudge\ttake"
    write(here / "d.tsv", header, "1\ta\tann\t7", "1\ta\tann\t1", "1\tb\tann\t1\tx", "")
    told = cli("merge", *apart[1:], "--settle-by", "d.tsv").failed(1)
    for line in (
        "d.tsv:2: `take`: expected a grade of the scale (0, 1, 2), skip, unjudged, cannot, latest,"
        " earliest, highest or lowest, got '7'",
        "d.tsv:3: expected each conflict once, got that of line 2",
        "d.tsv:4: expected 4 fields, got 5",
    ):
        assert line in told.err
    write(here / "d.tsv", "topic\tdocno\ttake")
    assert "d.tsv:1: expected the column judge" in cli(
        "merge", *apart[1:], "--settle-by", "d.tsv"
    ).failed(1).err  # fmt: skip
    write(here / "d.tsv", header, "1\tb\tann\t1")
    told = cli("merge", *apart[1:], "--settle-by", "d.tsv").failed(1)
    assert "unknown conflict `1 b ann`; known: `1 a ann`" in told.err
    (here / "d.tsv").write_text("")
    assert "expected a header" in cli("merge", *apart[1:], "--settle-by", "d.tsv").failed(1).err
    assert bytes_of(apart) == before


def test_refusals_are_one_line_and_what_to_do(apart: list[Path], cli: Cli, here: Path) -> None:
    """No such file, the collection itself, another collection."""
    assert "there is no collection at none.db" in cli("merge", "none.db").failed(3).err
    told = cli("merge", "collection.db").failed(1)
    assert "--collection names the one that takes the others in" in told.err
    make(here / "beer.db", name="beer")
    write(here / "topics.jsonl", '{"topic": "1", "title": "wine"}')
    told = cli("merge", "topics.jsonl").failed(3)
    assert "topics.jsonl is not a pooler collection" in told.err
    assert "hint: OTHER must be a collection" in told.err
    told = cli("merge", apart[1], "beer.db").failed(3)
    assert "beer.db is another collection (`beer`, made" in told.err
    assert cli("merge").code == 2


def test_part_goes_out_and_comes_back(garden_part: Path, cli: Cli) -> None:
    """`export work` hands out, `judge` works on it, `merge` takes it back."""
    keys = b"\n2\n1\nq\n"
    cli("judge", "--judge", "ann", "--collection", "ann.db", "--plain", stdin=keys).fine()
    told = cli("merge", "ann.db", "--format", "json").fine().json()
    assert told["judges"][0]["new"] == 2
    assert [(row["copy"], row["part"], row["what"]) for row in told["copies"]] == [
        ("ann.db", True, "sittings")
    ]
    refused = cli("export", "work", "--judge", "ann", "--out", "ann.db").failed(3)
    assert "ann.db already exists" in refused.err


@pytest.fixture
def garden_part(judged: Path, cli: Cli) -> Path:
    """Work in the sample collection, with the part of a new judge beside it."""
    cli("judges", "add", "ann").fine()
    told = cli("export", "work", "--judge", "ann", "--out", "ann.db").fine()
    assert "84 documents of 8 topics, 84 unjudged; 0 events of `ann` so far" in told.err
    assert "back here: pooler merge ann.db" in told.err
    return judged


def test_way_back_names_another_collection(garden_part: Path, cli: Cli) -> None:
    """Where --collection named the whole, the line to type names it too."""
    (garden_part / "collection.db").rename(garden_part / "garden.db")
    told = cli("export", "work", "--judge", "ann", "--out", "b.db", "--collection", "garden.db")
    assert "back here: pooler merge b.db --collection garden.db" in told.fine().err


def test_copies_that_cannot_be_merged_leave_a_way(apart: list[Path], cli: Cli, here: Path) -> None:
    """Two texts as one version of the guidelines: refused, and what the hint says to type works."""
    for place in apart[1:]:
        write(here / "rules.md", f"rules of {place.name}")
        cli("guidelines", "set", "rules.md", "--collection", place.name).fine()
    work(apart[2], ("cy", "b", Action.JUDGE, 2))
    told = cli("merge", apart[2].name, "--collection", apart[1].name).failed(3)
    assert "version 2 of the guidelines has another text" in told.err
    assert "pooler export judgements NAME --history --collection OTHER --out FILE" in told.err
    assert "pooler import judgements FILE --format jsonl" in told.err
    other = ("--collection", apart[2].name)
    cli("export", "judgements", "cy", "--history", *other, "--out", "cy.jsonl").fine()
    into = ("--collection", apart[1].name)
    cli("import", "judgements", "cy.jsonl", "--format", "jsonl", *into).fine()
    stands = cli("export", "judgements", "cy", *into).fine().out
    assert '"docno":"b"' in stands.replace(" ", "")
    assert '"grade":2' in stands.replace(" ", "")


@pytest.mark.slow
def test_cf_judged_on_three_copies_is_as_imported_in_one(tmp_path: Path) -> None:
    """Three judges of the Cystic Fibrosis collection, a copy each: the same agreement tables.

    Shaw and others (1991), see `tests.cf_collection`.
    """
    qrels = cf_collection.write_qrels(tmp_path)
    judges = ("REW", "colleagues", "post-docs")
    start, alone = tmp_path / "start.db", tmp_path / "alone.db"
    run_inside("init", "--scale", "0-2", "--collection", start).fine()
    topics = cf_collection.write_topics(tmp_path)
    run_inside("import", "topics", topics, "--collection", start).fine()
    shutil.copy(start, alone)
    made = []
    for judge in judges:
        made.append(tmp_path / f"{judge}.db")
        shutil.copy(start, made[-1])
        for place in (made[-1], alone):
            command = ["import", "judgements", qrels[judge], "--judge", judge, "--kind", "human"]
            run_inside(*command, "--collection", place).fine()
    run_inside("merge", *made, "--collection", start).fine()
    tables = [agreement(place) for place in (start, alone)]
    assert tables[0] == tables[1]
    two = {"REW", "colleagues"}
    [row] = [one for one in tables[0]["pairs"]
             if {one["first"], one["second"]} == two and one["level"] is None]  # fmt: skip
    assert (row["n"], round(row["kappa"], 4)) == (4819, 0.4003)  # as test_measured_agreement has it


def agreement(place: Path) -> dict[str, Any]:
    """Measure agreement without intervals."""
    command = ["agreement", "--interval", "none", "--format", "json", "--collection", place]
    tables: dict[str, Any] = run_inside(*command).fine().json()
    return tables


def test_part_says_skipped_apart_from_unjudged(garden_part: Path, cli: Cli) -> None:
    """One of 84 documents skipped and one judged: 82 unjudged, 1 skipped, as `status` has it."""
    cli("judge", "--judge", "ann", "--plain", stdin=b"\ns\n2\nq\n").fine()
    told = cli("export", "work", "--judge", "ann", "--out", "b.db").fine()
    assert "84 documents of 8 topics, 82 unjudged, 1 skipped; " in told.err
    (row,) = [row for row in cli("status", "--format", "json").fine().json()
              if row["judge"] == "ann"]  # fmt: skip
    assert (row["unjudged"], row["skipped"]) == (82, 1)
