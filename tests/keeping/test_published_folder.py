"""A collection as a folder for others: what users see, what is there or left out, how work goes on."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

import pooler as p
from judge_ui.session.session import JudgingSession
from store.collection import Collection
from store.records import Action, Decision, Passage
from tests.helpers import full_collection
from tests.helpers.oracles import average_precision, mean, read_qrels, read_run
from tests.helpers.run import Cli, by_rule, bytes_of, environment, program, read_lines
from tests.helpers.trec_covid import data_path
from tests.helpers.world import change_stored, make_pool, stored_run

_PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
MAJORITY = ("--aggregate", "majority", "--ties", "low")
BOTH = ("--kinds", "human,model")


def loaded(folder: Path, expression: str) -> object:
    """Run the README's snippet in a fresh interpreter, and return an expression as JSON has it."""
    (snippet,) = _PYTHON.findall((folder / "README.md").read_text("utf-8"))
    code = f"{snippet}\nimport json, sys\njson.dump({expression}, sys.stdout)"
    ran = subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=folder, capture_output=True, check=False, timeout=60
    )
    assert ran.returncode == 0, ran.stderr.decode()
    return json.loads(ran.stdout)


def test_garden_comes_back_byte_for_byte(cli: Cli, judged: Path) -> None:
    """Export, import and export again give the same files; stderr says what was written."""
    said = by_rule(cli, "export", "collection", "one", *MAJORITY).fine()
    assert said.out == ""
    assert "8 topics, 106 documents, 9 runs, 1 pool, 3 judges, 252 judgement events" in said.err
    cli("import", "collection", "one", "--collection", "new.db").fine()
    cli("export", "collection", "two", "--collection", "new.db").fine()
    assert bytes_of(judged / "two") == bytes_of(judged / "one")
    qrels = by_rule(cli, "export", "qrels", *MAJORITY).fine().out
    assert (judged / "one" / "qrels" / "official.qrels").read_text("utf-8") == qrels


def test_loader_of_the_readme_gives_what_the_collection_has(cli: Cli, judged: Path) -> None:
    """The snippet works as it stands, without any package; a run stands in the collection's order."""
    by_rule(cli, "export", "collection", "one", *MAJORITY).fine()
    folder = judged / "one"
    with Collection("collection.db") as opened:
        topics, run = opened.topics.all(), stored_run(opened, opened.runs.all()[0])
        texts = {
            one.docno: one
            for docno in sorted(opened.documents.listed())
            if (one := opened.documents.get(docno)) is not None and one.text is not None
        }
    assert loaded(folder, "topics") == [
        {"topic": one.topic, "title": one.title, "description": one.description, "narrative": one.narrative}
        for one in topics
    ]
    documents = loaded(folder, "[one for one in documents if one['text'] is not None]")
    assert isinstance(documents, list)
    assert {one["docno"]: (one["title"], one["text"]) for one in documents} == {
        docno: (one.title, one.text) for docno, one in texts.items()
    }
    assert loaded(folder, f"rows('runs/{run.tag}.run')") == [
        [ranking.topic, "Q0", docno, str(rank), str(score), run.tag]
        for ranking in run.rankings
        for rank, (score, docno) in enumerate(
            sorted(zip(ranking.scores.tolist(), ranking.docnos, strict=True), reverse=True), start=1
        )
    ]
    lines = [line.split() for line in by_rule(cli, "export", "qrels", *MAJORITY).fine().out.splitlines()]
    assert loaded(folder, "rows('qrels/official.qrels')") == lines


def test_judgements_of_the_folder_are_those_of_export_judgements(cli: Cli, judged: Path) -> None:
    """One form of a history: another collection takes the file."""
    by_rule(cli, "export", "collection", "one", *MAJORITY).fine()
    history = cli("export", "judgements", "--history").fine().out
    assert (judged / "one" / "judgements.jsonl").read_text("utf-8") == history


def test_every_definition_has_qrels_and_none_is_made_up(cli: Cli, judged: Path) -> None:
    """Without a rule nothing is written at all; each definition has a file of its newest version."""
    refused = cli("export", "collection", "one").failed(1).err
    assert "official@1: 28 documents undecided" in refused
    assert not (judged / "one").exists()
    cli("qrels", "define", "official", *MAJORITY).fine()
    cli("qrels", "define", "least", "--aggregate", "max").fine()
    cli("qrels", "define", "least", "--aggregate", "min").fine()
    said = cli("export", "collection", "one").fine().err
    assert "qrels official@2: 84 documents, majority of 3 judges, ties low" in said
    assert sorted(path.name for path in (judged / "one" / "qrels").iterdir()) == [
        "least.qrels", "official.qrels",
    ]  # fmt: skip
    assert "official@2 (default)" in (judged / "one" / "README.md").read_text("utf-8")
    least = (judged / "one" / "qrels" / "least.qrels").read_text("utf-8")
    assert cli("export", "qrels", "least@2").fine().out == least


def test_what_is_left_out_is_nowhere(cli: Cli, judged: Path) -> None:
    """Without texts, runs and notes there are none, and the README says so."""
    out = ("--without-texts", "--without-runs", "--without-notes", "--judge", "strict")
    by_rule(cli, "export", "collection", "one", *out).fine()
    files = bytes_of(judged / "one")
    assert not [name for name in files if "run" in name or name.endswith("metadata.jsonl")]
    assert set(map(len, map(json.loads, files["documents.jsonl"].splitlines()))) == {1}  # the docno
    readme = files["README.md"].decode()
    for words in ("texts of the documents are not", "runs are not included, and the plans",
                  "notes and reasons are left out"):  # fmt: skip
        assert words in readme
    tags = [path.stem for path in (judged / "runs").glob("*.run")]
    assert len(tags) > 5
    assert not [(name, tag) for name, content in files.items() for tag in tags if tag.encode() in content]
    plan = json.loads(files["pools/pool.json"])
    assert (plan["runs"], plan["runs_left_out"], plan["strategy"]) == ([], 9, "depth")
    assert json.loads(files["manifest.json"])["options"]["left_out"] == ["texts", "runs", "notes"]
    assert len(loaded(judged / "one", "documents")) == 106  # type: ignore[arg-type]  # a list
    cli("import", "collection", "one", "--collection", "new.db").fine()
    cli("export", "collection", "two", *out[:3], "--collection", "new.db").fine()
    assert bytes_of(judged / "two") == files


def test_own_words_of_anonymised_judges_are_told(cli: Cli, judged: Path) -> None:
    """Notes and reasons that stay are counted on stderr, each once; else nothing is said."""
    cli("judges", "add", "Zqer").fine()
    with Collection("collection.db") as opened:
        desk = opened.desk("Zqer")
        docnos = [task.docno for task in desk.queue("G01")][:3]
        desk.record(Decision("G01", docnos[0], Action.JUDGE, grade=2, note="I, Zqer, was there"))
        desk.record(Decision("G01", docnos[0], Action.JUDGE, grade=1, note="I, Zqer, was there"))
        desk.record(Decision("G01", docnos[1], Action.CANNOT, reason="Zqer cannot read it"))
        desk.record(Decision("G01", docnos[2], Action.NOTE, note="who asks?"))
        desk.leave()
    told = by_rule(cli, "export", "collection", "one", "--anonymised", *MAJORITY, *BOTH).fine().err
    assert "words are included: 3 notes and reasons; --without-notes leaves them out" in told
    readme = (judged / "one" / "README.md").read_text("utf-8")
    assert "in their notes and reasons, each name of a judge is `[judge]`" in readme
    note = json.loads((judged / "one" / "judgements.jsonl").read_text("utf-8").splitlines()[-1])["note"]
    assert note == "who asks?"
    out = ("--anonymised", "--without-notes", *MAJORITY, *BOTH)
    assert "words are included" not in by_rule(cli, "export", "collection", "two", *out).fine().err
    assert not [name for name, content in bytes_of(judged / "two").items() if b"Zqer" in content]
    assert "words are included" not in cli("export", "collection", "three").fine().err


def test_what_the_rule_decided_is_told_and_written_down(cli: Cli, judged: Path) -> None:
    """Undecided documents and the tie rule are on stderr and in the README."""
    unresolved = ("--aggregate", "majority", "--ties", "unresolved")
    told = by_rule(cli, "export", "collection", "one", *unresolved).fine().err
    assert "qrels official@2: 81 documents, majority of 3 judges, ties unresolved" in told
    assert "  3 documents left out: undecided" in told
    readme = (judged / "one" / "README.md").read_text("utf-8")
    assert readme.count("ties unresolved: 3 left out") == 1
    # Each of the three has one 0, one 1 and one 2: made binary first, two of three agree.
    told = by_rule(cli, "export", "collection", "two", *unresolved, "--binary-first").fine().err
    assert "undecided" not in told
    told = by_rule(cli, "export", "collection", "three", *MAJORITY).fine().err
    assert "  the tie rule decided 3 documents" in told
    readme = (judged / "three" / "README.md").read_text("utf-8")
    assert readme.count("ties low: 3 decided") == 1
    told = by_rule(cli, "export", "collection", "four", "--judge", "strict").fine().err
    assert "qrels official@5: 84 documents, judge strict" in told
    assert "tie" not in told


def test_rulings_have_the_words_of_export_qrels(
    cli: Cli, here: Path, collection_of: Callable[..., None]
) -> None:
    """Decided = a grade was given; what was found impossible to judge is counted apart."""
    collection_of(a=["1 0 d1 0", "1 0 d2 0"], b=["1 0 d1 2", "1 0 d2 2"])
    cli("judges", "add", "zoe", "--kind", "adjudicator").fine()
    with Collection("collection.db") as opened:
        desk = opened.adjudication_desk("zoe")
        desk.queue("1")
        desk.record(Decision("1", "d1", Action.JUDGE, 1))
        desk.record(Decision("1", "d2", Action.CANNOT))
        desk.leave()
    words = "rulings: 1 document decided, 1 found impossible to judge"
    for command in (("collection", "one"), ("qrels",), ("qrels", "--as", "ntcireval")):
        assert words in by_rule(cli, "export", *command, *MAJORITY).fine().err
    (graded, *_) = json.loads((here / "one" / "qrels.json").read_text("utf-8"))["qrels"]
    assert (graded["decided_by_ruling"], graded["cannot_by_ruling"]) == (1, 1)
    assert (
        "left out: 0 skipped, 1 cannot be judged"
        in by_rule(cli, "export", "collection", "two", *MAJORITY).fine().err
    )


def test_adaptive_pool_without_its_runs_draws_nothing(cli: Cli, garden: Path) -> None:
    """Where plans name no runs and there are none, judging says so in words."""
    cli("init", "--scale", "0-2").fine()
    cli("import", "runs", "--runs", "runs.tsv").fine()
    cli("pool", "--strategy", "mtf", "--depth", "5").fine()
    cli("export", "collection", "one", "--without-runs").fine()
    cli("import", "collection", "one", "--collection", "new.db").fine()
    cli("judges", "add", "anna", "--collection", "new.db").fine()
    judge = ("judge", "--judge", "anna", "--plain", "--collection", "new.db")
    said = cli(*judge, stdin=b"\nq\n").fine()
    assert "there is no run in the collection; pooler import runs" in said.out + said.err


@pytest.fixture
def secret(here: Path) -> Path:
    """Make a collection of everything, in which whatever tells who a judge is has Zq in it."""
    full_collection.fill("collection.db")
    with Collection("collection.db") as opened:
        opened.pools.add(make_pool({"1": ["d00"]}, name="unjudged-ann", round="ann",
                         manifest={"strategy": "imported", "file": "ann.qrels", "name": "unjudged-ann",
                                   "round": "ann"}))  # fmt: skip
        for number, judge in enumerate(opened.judges.all()):
            opened.judges.rename(judge.name, f"Zq{number}er")
    for table in ("assignment", "judgement"):
        order = "display_order = 'random', order_seed = 7777777"
        change_stored("collection.db", f"UPDATE {table} SET {order} WHERE judge_id = 1")
    change_stored("collection.db", "UPDATE sitting SET host = 'Zqhost', program = 'Zqprogram 1'")
    note = b"zQ1ER and Zq2er\xe3\x81\x95\xe3\x82\x93 agree"
    change_stored("collection.db", "UPDATE judgement SET note = :note WHERE id % 2 = 0", note=note)
    change_stored("collection.db", "UPDATE judgement SET reason = :note WHERE state = 'cannot'", note=note,
                  renews=True)  # fmt: skip
    return here


@pytest.mark.parametrize("layout", ["pooler", "beir", "trec"])
def test_anonymised_directory_has_nothing_that_tells_who_judged(cli: Cli, secret: Path, layout: str) -> None:
    """No byte of a name, a machine or a program, in whatever case; no identity, day or seed of a judge."""
    rule = ("--kinds", "human", *MAJORITY)
    by_rule(cli, "export", "collection", "out", "--anonymised", "--as", layout, *rule).fine()
    files = bytes_of(secret / "out")
    tells = re.compile(rb"zq(\der|host|program)", re.IGNORECASE)
    assert not [
        name for name, content in files.items() if tells.search(content) or tells.search(name.encode())
    ]
    if layout != "pooler":
        return
    with Collection("collection.db") as opened, opened.as_it_stands() as inside:
        uids = inside.session.execute(text("SELECT uid FROM judge UNION SELECT uid FROM erasure"))
        told = [uid.encode() for (uid,) in uids]
    assert len(told) > 5
    for uid in (*told, b"7777777"):
        assert not [name for name, content in files.items() if uid in content]
    notes = {json.loads(line)["note"] for line in files["judgements.jsonl"].splitlines()}
    assert "[judge] and [judge]さん agree" in notes
    judges = list(map(json.loads, files["tables/judge.jsonl"].splitlines()))
    assert {one["name"] for one in judges} == {f"judge-{number}" for number in range(1, len(judges) + 1)}
    assert len({one["created_at"] for one in judges}) == 1
    assert {one["renamed_at"] for one in judges} == {None}
    assert "tables/judge_term.jsonl" not in files
    assert "tables/judge_code.jsonl" not in files


def test_new_names_are_one_to_one_in_all_files(cli: Cli, secret: Path) -> None:
    """Whoever is judge-3 in one file is judge-3 in each: the same grades, places and sittings are theirs."""
    cli("qrels", "define", "official", "--kinds", "human", *MAJORITY).fine()
    cli("export", "collection", "open").fine()
    cli("export", "collection", "out", "--anonymised").fine()
    open_files, files = bytes_of(secret / "open"), bytes_of(secret / "out")

    def by_judge(content: bytes, *keys: str) -> dict[str | None, list[tuple[Any, ...]]]:
        found: dict[str | None, list[tuple[Any, ...]]] = {}
        for one in map(json.loads, content.splitlines()):
            found.setdefault(one["judge"], []).append(tuple(one[key] for key in keys))
        return {judge: sorted(rows) for judge, rows in found.items()}

    facts = ("topic", "docno", "revision", "action", "judged_at")
    before, after = (by_judge(one["judgements.jsonl"], *facts) for one in (open_files, files))
    names = {old: new for old, rows in before.items() for new, others in after.items() if rows == others}
    assert len(names) == len(before) == len(after) > 3
    assert {names[old]: rows for old, rows in before.items()} == after
    for table, *keys in (
        ("judgement", "topic", "document", "revision", "grade"),
        ("assignment", "topic", "document", "position", "purpose"),
        ("sitting", "started_at", "ended_at"),
        ("answer", "topic", "document", "grade"),
    ):
        old, new = (by_judge(one[f"tables/{table}.jsonl"], *keys) for one in (open_files, files))
        assert {judge: rows for judge, rows in new.items() if judge in names.values()} == {
            names[judge]: rows for judge, rows in old.items() if judge in names
        }
    old_kinds, new_kinds = (
        {one["name"]: one["kind"] for one in map(json.loads, files["tables/judge.jsonl"].splitlines())}
        for files in (open_files, files)
    )
    assert {new: old_kinds[str(old)] for old, new in names.items()} == {
        new: new_kinds[str(new)] for new in names.values()
    }
    assert files["qrels/official.qrels"] == open_files["qrels/official.qrels"]
    old_rule, new_rule = (json.loads(one["qrels.json"])["qrels"][0]["judges"] for one in (open_files, files))
    assert {names[one] for one in old_rule} == {*new_rule}


def test_new_names_are_drawn_anew_each_time(cli: Cli, here: Path) -> None:
    """Who gets which is not the order of anything; what was imported under new names gets others."""
    (here / "q").write_text("1 0 a 1\n", "utf-8")
    cli("init", "--name", "x").fine()
    for number in range(8):
        (here / "q").write_text(f"1 0 d{number} 1\n", "utf-8")
        cli("import", "judgements", "q", "--judge", f"j{number}", "--kind", "human").fine()
    drawn = set()
    for number in range(3):
        cli("export", "collection", f"out{number}", "--anonymised").fine()
        lines = map(json.loads, (here / f"out{number}/judgements.jsonl").read_text("utf-8").splitlines())
        drawn.add(tuple(one["judge"] for one in lines))
    assert len(drawn) > 1  # all three alike: once in a billion
    cli("import", "collection", "out0", "--collection", "new.db").fine()
    cli("export", "collection", "again", "--anonymised", "--collection", "new.db").fine()


def test_folder_that_is_there_is_kept(cli: Cli, judged: Path) -> None:
    """A collection is written where there is nothing: an earlier export is the user's to remove."""
    export = ("export", "collection", "one", "--judge", "strict")
    (judged / "one").mkdir(0o750)
    by_rule(cli, *export).fine()
    assert (judged / "one").stat().st_mode & 0o777 == 0o750  # an empty folder keeps its mode
    (judged / "one" / "LICENSE").write_text("mine", "utf-8")
    files = bytes_of(judged / "one")
    assert "one: expected a new or empty folder" in by_rule(cli, *export).failed(1).err
    assert bytes_of(judged / "one") == files
    assert not [path.name for path in judged.iterdir() if path.name.startswith(".one")]
    assert "and not the one you are in" in cli("export", "collection", ".").failed(1).err


def test_interrupt_leaves_no_directory(judged: Path) -> None:
    """Ctrl-C in the middle of an export leaves neither the directory nor a part of it."""
    code = (
        "import store.keeping.directory as w, time\n"
        "def slow(out):\n    print('now', flush=True); time.sleep(60)\n"
        "w.write_all_qrels = slow\n"
    )
    command = [program()[0], "-c", f"{code}\n{program()[2]}", "export", "collection", "one"]
    process = subprocess.Popen(
        command, cwd=judged, env=environment({}), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"now\n"
    assert [path for path in judged.iterdir() if path.name.startswith(".one")]
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, b"interrupted" in err) == (130, True)
    assert not [path for path in judged.iterdir() if "one" in path.name]


@pytest.mark.long
def test_trec_covid_comes_back(cli: Cli, here: Path) -> None:
    """The whole of TREC-COVID round 1 goes out and comes back; the times are printed."""
    runs = sorted(data_path("runs-top120").glob("*.gz"))
    cli("init", "--scale", "0-2").fine()
    cli("import", "runs", *runs).fine()
    qrels = data_path("qrels-rnd1.txt.gz")
    cli("import", "judgements", qrels, "--judge", "nist", "--kind", "human").fine()
    times = []
    for command in (
        ("export", "collection", "one"),
        ("import", "collection", "one", "--collection", "new.db"),
        ("export", "collection", "two", "--collection", "new.db"),
    ):
        start = time.monotonic()
        cli(*command).fine()
        times.append(time.monotonic() - start)
    assert bytes_of(here / "two") == bytes_of(here / "one")
    sys.stderr.write(f"out, in, out: {', '.join(f'{one:.1f} s' for one in times)}\n")


HEAD = "# a comment\n"
FILES = {
    "plain": "1 Q0 a 1 2.5 plain\n1 Q0 b 2 1.5 plain\n",
    "odd": HEAD + "10\tQ0\ta\t1\t2.50\todd\r\n9 Q0  b first 1e-5 odd\r\n9 Q0 a second 1e-6 odd",
}
PLAIN = {"plain": FILES["plain"], "odd": "9 Q0 b 1 1e-05 odd\n9 Q0 a 2 1e-06 odd\n10 Q0 a 1 2.5 odd\n"}


def runs_of(folder: str) -> dict[str, str]:
    """Read the run files of an export."""
    return {path.stem: path.read_bytes().decode() for path in Path(folder, "runs").iterdir()}


def listed(folder: str) -> dict[str, tuple[str, str]]:
    """Return both hashes of every run of an export."""
    head, *rows = (line.split("\t") for line in Path(folder, "runs.tsv").read_text("utf-8").splitlines())
    found = [dict(zip(head, row, strict=True)) for row in rows]
    return {row["tag"]: (row["sha256"], row["submitted_sha256"]) for row in found}


def digests(texts: dict[str, str]) -> dict[str, str]:
    """Hash texts."""
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


def filled(cli: Cli, here: Path) -> None:
    """Make a collection of the files, which lie in `in/`, one of them compressed."""
    (here / "in/late").mkdir(parents=True)
    (here / "in/plain.run").write_text(FILES["plain"], "utf-8")
    (here / "in/late/odd.run.gz").write_bytes(gzip.compress(FILES["odd"].encode()))
    cli("init", "--scale", "0-1").fine()
    cli("import", "runs", "in/plain.run", "in/late/odd.run.gz").fine()


def test_runs_are_plain_lines_in_the_order_of_the_collection(cli: Cli, here: Path) -> None:
    """Topics in natural order, documents by score, ranks from 1; both hashes stand in the table."""
    filled(cli, here)
    cli("export", "collection", "out").fine()
    assert runs_of("out") == PLAIN
    own, submitted = digests(PLAIN), digests(FILES)
    assert listed("out") == {name: (own[name], submitted[name]) for name in FILES}
    cli("export", "collection", "trec", "--as", "trec").fine()
    assert runs_of("trec") == PLAIN


def test_files_handed_in_are_copied_where_they_are_known(cli: Cli, here: Path) -> None:
    """By their SHA-256, compressed or not, in any folder of it; how many they are is told."""
    filled(cli, here)
    said = cli("export", "collection", "out", "--run-files", "in").fine().err
    assert "as handed in: 2 of 2 runs" in said
    assert runs_of("out") == FILES
    submitted = digests(FILES)
    assert listed("out") == {name: (submitted[name],) * 2 for name in FILES}
    (here / "in/plain.run").write_text("1 Q0 a 1 2.5 plain\n", "utf-8")
    said = cli("export", "collection", "out2", "--run-files", "in").fine().err
    assert "as handed in: 1 of 2 runs" in said
    assert runs_of("out2") == FILES | {"plain": PLAIN["plain"]}
    assert cli("export", "collection", "out3", "--run-files", "in", "--without-runs").code == 1
    assert "`--run-files` must be a folder" in cli("export", "collection", "out3", "--run-files", "gone").err


def test_both_come_back(cli: Cli, here: Path) -> None:
    """A collection made of either folder exports the same runs, and knows what was handed in."""
    filled(cli, here)
    for number, options in enumerate(((), ("--run-files", "in"))):
        by_rule(cli, "export", "collection", f"out{number}", *options).fine()
        there = ("--collection", f"again{number}.db")
        cli("import", "collection", f"out{number}", *there).fine()
        assert "no fault found" in cli("verify", *there).out
        by_rule(cli, "export", "collection", f"back{number}", *there).fine()
        assert runs_of(f"back{number}") == PLAIN
        assert [both[1] for both in listed(f"back{number}").values()] == [*digests(FILES).values()][::-1]


@pytest.mark.parametrize("options", [("--anonymised",), ("--without-runs", "--without-texts")])
def test_a_published_collection_goes_on(cli: Cli, judged: Path, options: tuple[str, ...]) -> None:
    """What was published stays to the byte; new documents alone are judged; the rest is measured apart."""
    rule = ("qrels", "define", "official", "--aggregate", "majority", "--ties", "low")
    cli(*rule, "--as-of", "now").fine()
    cli("export", "collection", "published", *options).fine()
    old = Path("published/qrels/official.qrels").resolve()
    runs = [path.resolve() for path in sorted(Path("runs").iterdir()) if path.stem != "late-tfidf-bigrams"]
    Path("next").mkdir()
    os.chdir("next")
    cli("import", "collection", "../published").fine()
    assert "official        2      yes" in cli("qrels").fine().out
    lower = [line.split() for line in read_lines(judged / "runs" / "lm-words-full.run")]
    new = "".join(f"{t} Q0 {d} {int(r) - 6} {s} new\n" for t, _, d, r, s, _ in lower if int(r) > 6)
    Path("new.run").write_text(new, "utf-8")
    cli("import", "runs", "new.run", *(runs if "--without-runs" in options else ())).fine()
    added = cli("pool", "--add", "--depth", "5").fine()
    assert "16 documents new to the pools; 84 stay" in added.err
    cli("export", "pool", "--name", "pool-2", "--out", "new.txt").fine()
    pairs = [line.split() for line in read_lines(Path("new.txt"))]
    assert {*map(tuple, pairs)}.isdisjoint((t, d) for t, of in read_qrels(old).items() for d in of)
    grades = "".join(f"{topic} 0 {docno} {place % 3}\n" for place, (topic, docno) in enumerate(pairs))
    Path("zoe.qrels").write_text(grades, "utf-8")
    cli("import", "judgements", "zoe.qrels", "--judge", "zoe", "--kind", "human").fine()
    cli(*rule, "--kinds", "human,model").fine()
    rows = cli("qrels", "diff", "official@2", "official", "--format", "json").fine().json()["summary"]
    assert {row["what"]: row["documents"] for row in rows}["added"] == 16
    cli("export", "qrels", "official@2", "--out", "old.qrels").fine()
    assert Path("old.qrels").read_bytes() == old.read_bytes()
    how = ("--without", "official@2", "--order", "trec9", "--format", "json")
    got = cli("evaluate", "new", *how).fine().whole()
    assert got["settings"]["without"] == "official@2"
    seen = read_qrels(old)
    ranked = {
        topic: {docno: score for docno, score in of.items() if docno not in seen[topic]}
        for topic, of in read_run(Path("new.run")).items()
    }
    expected = average_precision(read_qrels(Path("zoe.qrels")), ranked)
    values = {row["topic"]: row["value"] for row in got["topics"] if row["value"] is not None}
    assert values == pytest.approx({**expected, "all": mean(expected.values())}, abs=1e-12)
    fed = cli("diagnose", "--by", "run", "--format", "json").fine().json()["runs"]
    assert {row["run"]: row["unique"] for row in fed}["new"] == 16
    cli("verify").fine()


@pytest.fixture
def named(cli: Cli, garden: Path) -> Path:
    """Work in a collection whose judges have names, orders, rounds and marked passages."""
    cli("init", "--scale", "0-2").fine()
    cli("import", "topics", "topics.jsonl").fine()
    cli("import", "runs", "--runs", "runs.tsv").fine()
    cli("pool", "--depth", "3", "--name", "samp-ann", "--round", "ann").fine()
    cli("import", "docs", "documents.jsonl").fine()
    cli("judges", "add", "ann", "bob").fine()
    cli("assign", "ann", "bob", "--order", "random", "--seed", "7").fine()
    with p.open_collection("collection.db") as opened:
        session = JudgingSession(opened.desk("ann"))
        session.open_topic("G01")
        text = session.page().text or ""
        session.mark_shown()
        session.mark([Passage(0, 20, text[:20])])
        session.desk.leave()
    answers = b"1\ncant damaged\n2\nq\n"
    cli("judge", "--judge", "ann", "--topic", "G01", "--plain", "--min-dwell", "0", stdin=answers)
    return garden


def contents(folder: Path) -> str:
    """Return the text of every file of a directory."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return "\n".join(path.read_text("utf-8") for path in files)


def seeds(file: Path) -> set[int | None]:
    """Return the seeds of orders in a file."""
    return {json.loads(line)["order_seed"] for line in file.read_text("utf-8").splitlines()}


def test_no_name_of_a_judge_and_no_seed_of_an_order_is_left(cli: Cli, named: Path) -> None:
    """With a seed, and a guessed name, a judge's order could be drawn again: both are gone."""
    cli("export", "collection", "open").fine()
    assert seeds(named / "open" / "tables" / "assignment.jsonl").isdisjoint({None})
    cli("export", "collection", "hidden", "--anonymised").fine()
    text = contents(named / "hidden")
    assert "ann" in re.findall(r"\w+", contents(named / "open"))
    assert "ann" not in re.findall(r"\w+", text)
    for file in ("tables/assignment.jsonl", "tables/judgement.jsonl", "judgements.jsonl"):
        assert seeds(named / "hidden" / file) == {None}
    [plan] = (named / "hidden/tables/assignment_plan.jsonl").read_text("utf-8").splitlines()
    assert "seed" not in json.loads(json.loads(plan)["manifest"])
    cli("import", "collection", "hidden", "--collection", "copy.db").fine()


def test_without_texts_no_passage_quotes_one(cli: Cli, named: Path) -> None:
    """Where a passage lies stays; what it says is text of the document."""

    def passages(folder: str) -> list[list[object]]:
        lines = (named / folder / "judgements.jsonl").read_text("utf-8").splitlines()
        return [one for line in lines for one in json.loads(line)["passages"]]

    cli("export", "collection", "whole").fine()
    cli("export", "collection", "bare", "--without-texts").fine()
    whole, bare = passages("whole"), passages("bare")
    assert whole
    assert all(len(str(text)) == length for _, length, text in whole)
    assert bare == [[start, length, ""] for start, length, _ in whole]
    cli("import", "collection", "bare", "--collection", "copy.db").fine()
    cli("export", "collection", "again", "--without-texts", "--collection", "copy.db").fine()
    assert contents(named / "again") == contents(named / "bare")
