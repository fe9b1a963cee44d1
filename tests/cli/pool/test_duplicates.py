"""`pooler duplicates`: what an organiser sees of near-duplicates, does about them, and measures with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pooler as p
from store.collection import Collection
from store.content.documents import document_sha256
from store.judging.carried import CarriedState
from store.records import Action, Document, JudgeKind, Topic
from tests.cli.mirrored import MIRRORS, add_mirror
from tests.helpers.run import Cli
from tests.helpers.world import JudgeAtWork, make_pool, new_collection


@pytest.fixture
def mirrored(judged: Path, cli: Cli) -> Path:
    """Work beside the sample collection with a mirror of two documents of topic G01."""
    add_mirror(cli, judged)
    return judged


def test_clusters_are_listed(mirrored: Path, cli: Cli) -> None:
    """Each with its documents and the least Jaccard; nothing is changed, and that is said."""
    done = cli("duplicates", "--format", "json").fine()
    found = done.whole()
    assert [one["docnos"] for one in found["clusters"]] == [
        ["KG-E-002", "MIRROR-002"],
        ["KG-E-031", "MIRROR-031"],
    ]
    assert [one["same_words"] for one in found["clusters"]] == [0, 2]
    assert found["facts"]["in_clusters"] == 4
    assert found["facts"]["same_words"] == 1
    assert {one["docno"]: one["cluster"] for one in found["documents"]}["MIRROR-031"] == 2
    assert "nothing is changed; --carry shows one document in the place of its near-duplicates" in done.err
    assert cli("duplicates", "--threshold", "1").fine().out.count("MIRROR") == 1


def test_judged_document_is_shown_in_the_place_of_others(mirrored: Path, cli: Cli) -> None:
    """The mirror is in nobody's queue; released it is."""
    cli("judges", "add", "alice").fine()
    before = cli("judge", "--judge", "alice", "--topic", "G01", "--plain", stdin=b"q\n").fine().out
    cli("duplicates", "--carry").fine()
    after = cli("judge", "--judge", "alice", "--topic", "G01", "--plain", stdin=b"q\n").fine().out
    assert (before.count("Document MIRROR") + after.count("Document MIRROR")) == 0
    sizes = [int(text.partition("0/")[2].partition(" grade")[0]) for text in (before, after)]
    assert sizes[0] - sizes[1] == 2
    rows = cli("duplicates", "--table", "carried", "--format", "json").fine().json()
    assert {one["docno"]: (one["source"], one["state"]) for one in rows} == {
        mirror: (docno, "carried") for mirror, docno in MIRRORS.items()
    }
    again = cli("duplicates", "--carry").fine()
    assert "0 documents carried over" in again.err
    released = cli("duplicates", "--release").fine()
    assert "2 documents released: shown to judges again" in released.err


def test_most_retrieved_document_is_shown_where_none_is_judged(mirrored: Path, cli: Cli) -> None:
    """MIRROR-002 has a twin that two runs have: that is shown, whatever comes first by docno."""
    text = (mirrored / "mirror.jsonl").read_text("utf-8").splitlines()[0].replace("MIRROR-002", "A-TWIN")
    (mirrored / "twin.jsonl").write_text(f"{text}\n{text.replace('A-TWIN', 'Z-TWIN')}\n", "utf-8")
    lines = {"x": ["A-TWIN", "Z-TWIN"], "y": ["Z-TWIN"]}
    for tag, docnos in lines.items():
        ranked = [f"G02 Q0 {docno} {rank} {-rank} {tag}\n" for rank, docno in enumerate(docnos, 1)]
        (mirrored / f"{tag}.run").write_text("".join(ranked), "utf-8")
    cli("import", "runs", "x.run", "y.run", "--allow-unknown").fine()
    cli("pool", "--add", "--depth", "5").fine()
    cli("import", "docs", "twin.jsonl").fine()
    cli("duplicates", "--carry", "--topic", "G02").fine()
    rows = cli("duplicates", "--table", "carried", "--format", "json").fine().json()
    assert [(one["topic"], one["docno"], one["source"], one["state"]) for one in rows] == [
        ("G02", "A-TWIN", "Z-TWIN", "waiting")
    ]


def test_contradictions_are_a_queue(mirrored: Path, cli: Cli) -> None:
    """Two near-duplicates with one grade each, and not the same, wait until both are ruled on."""
    grades = {"KG-E-031": 2, "MIRROR-031": 0, "KG-E-002": 1, "MIRROR-002": 1}
    (mirrored / "alice.qrels").write_text(
        "".join(f"G01 0 {docno} {grade}\n" for docno, grade in grades.items())
    )
    cli("import", "judgements", "alice.qrels", "--judge", "alice", "--kind", "human").fine()
    cli("judges", "add", "zoe", "--kind", "adjudicator").fine()
    found = cli("duplicates", "--format", "json").fine().whole()
    (row,) = found["contradictions"]
    assert (row["docno"], row["grade"], row["other"], row["other_grade"]) == ("KG-E-031", 2, "MIRROR-031", 0)
    (of_alice,) = found["consistency"]
    assert (of_alice["judge"], of_alice["pairs"], of_alice["same"], of_alice["share"]) == ("alice", 2, 1, 0.5)
    listed = cli("adjudicate", "--duplicates", "--list", "--format", "json").fine().whole()["disagreements"]
    assert [(one["docno"], one["status"]) for one in listed] == [("KG-E-031", "open"), ("MIRROR-031", "open")]
    sat = cli(
        "adjudicate", "--duplicates", "--judge", "zoe", "--topic", "G01", "--plain", stdin=b"2\n1\nq\n"
    ).fine()
    assert "zoe: 2 decisions" in sat.out, sat.out
    found = cli("duplicates", "--format", "json").fine().whole()
    assert [one["settled"] for one in found["contradictions"]] == [True]
    none = cli("adjudicate", "--duplicates", "--judge", "zoe", "--plain", stdin=b"q\n")
    assert none.code == 1
    assert "there is nothing to adjudicate" in none.err
    final = cli("export", "qrels", "--kinds", "human").fine().out
    assert "G01 0 MIRROR-031 1\n" in final


def test_people_and_models_are_not_mixed_unasked(mirrored: Path, cli: Cli) -> None:
    """A model's grade of one and a person's of the other are no pair of two judges."""
    (mirrored / "alice.qrels").write_text("G01 0 MIRROR-031 0\n")
    cli("import", "judgements", "alice.qrels", "--judge", "alice", "--kind", "human").fine()
    alone = cli("duplicates", "--format", "json").fine().whole()
    assert (alone["consistency"], alone["contradictions"]) == ([], [])
    both = cli("duplicates", "--kinds", "human,model", "--format", "json").fine().whole()
    assert {one["of"] for one in both["consistency"]} == {
        "near-duplicates, two judges",
        "one document, two judges",
    }
    assert both["consistency"][0]["pairs"] == 3


def test_runs_are_measured_with_each_text_once(mirrored: Path, cli: Cli) -> None:
    """The mirror's run has one text twice: below it counts 0, or is taken out, as if the file said so."""
    (mirrored / "q").write_text(
        "G01 0 KG-E-031 2\nG01 0 MIRROR-031 2\nG01 0 KG-E-002 1\nG01 0 MIRROR-002 0\n"
    )
    cli(
        "duplicates",
        "--table",
        "documents",
        "--columns",
        "docno,cluster",
        "--format",
        "tsv",
        "--out",
        "c.tsv",
    ).fine()
    found = {}
    for way in ("keep", "novelty", "drop"):
        clusters = [] if way == "keep" else ["--clusters", "c.tsv"]
        command = ["evaluate", "--qrels", "q", "mirror.run", "-m", "AP", "-m", "P@2", "--duplicates", way]
        rows = cli(*command, *clusters, "--format", "json").fine().json()
        found[way] = {one["measure"]: one["value"] for one in rows}
    # MIRROR-031, MIRROR-002, KG-E-031: kept relevant at 1 and 3 of R = 3; by cluster at 1 and 2 of R = 2.
    assert found["keep"] == {"AP": pytest.approx((1 + 2 / 3) / 3), "P@2": 0.5}
    assert found["novelty"] == {"AP": 1.0, "P@2": 1.0}
    assert found["drop"] == {"AP": 1.0, "P@2": 1.0}
    of_collection = (
        cli("evaluate", "--judge", "strict", "--duplicates", "novelty", "--format", "json").fine().whole()
    )
    assert of_collection["settings"]["duplicates"] == "novelty"
    rows = {one["run"]: one for one in of_collection["duplicates"]}
    assert rows["mirror"]["kept"] < rows["mirror"]["value"]
    assert rows["bm25-words"]["change"] == pytest.approx(0)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("duplicates --threshold 0", "must be above 0 and at most 1"),
        ("duplicates --threshold high", "must be above 0 and at most 1"),
        ("duplicates --carry --release", "`--carry` excludes --release"),
        ("duplicates --topic G99 --carry", "unknown topic `G99`"),
        ("duplicates --topic G99", "unknown topic `G99`"),
        ("duplicates --format tsv", "--table"),
        ("evaluate --judge strict --duplicates once", "once"),
        ("evaluate --judge strict --clusters c.tsv", "is for --duplicates novelty and drop"),
        ("evaluate --judge strict --duplicates drop --curves", "has no meaning with --curves"),
        (
            "evaluate --qrels judgements/strict.qrels mirror.run --duplicates drop",
            "must name a file of lines `docno cluster`",
        ),
        ("evaluate --judge strict --duplicates drop --clusters none.tsv", "none.tsv"),
        ("adjudicate --list --duplicates --gap 2", "has no meaning with --duplicates"),
    ],
)
def test_what_cannot_be_is_refused(mirrored: Path, cli: Cli, command: str, said: str) -> None:
    """In one line, before anything is changed."""
    done = cli(*command.split())
    assert done.code != 0
    assert said in done.err
    assert "Traceback" not in done.err
    with Collection("collection.db") as opened:
        assert opened.duplicates.all() == []


def test_collection_without_texts_has_no_near_duplicates(cli: Cli, here: Path) -> None:
    """Nothing is compared, and that is said; an empty collection is no error."""
    cli("init", "--scale", "0-2").fine()
    empty = cli("duplicates").fine()
    assert "0 documents compared" in empty.out
    (here / "x.run").write_text("1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n")
    cli("import", "runs", "x.run").fine()
    cli("pool").fine()
    done = cli("duplicates", "--carry").fine()
    assert "compared; 2 documents without a text: pooler import docs FILE imports" in done.err
    assert "0 documents carried over" in done.err


def test_api_returns_labels_for_evaluate(mirrored: Path) -> None:
    """What `duplicates` found can be handed to `evaluate`."""
    with p.open_collection("collection.db") as opened:
        found = p.duplicates(opened)
        assert found.labels == {"KG-E-002": "1", "MIRROR-002": "1", "KG-E-031": "2", "MIRROR-031": "2"}
        source = p.source(opened, judge="strict")
        given = p.evaluate(source, duplicates="drop", clusters=found.labels)
        own = p.evaluate(source, duplicates="drop")
    assert given.mean.tolist() == own.mean.tolist()
    runs, qrels = {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}}, {"1": {"a": 1, "b": 1, "c": 1}}
    # a and b are one content: relevant at ranks 1 and 3 of R = 2, or at 1 and 2.
    for way, expected in (("novelty", (1 + 2 / 3) / 2), ("drop", 1.0)):
        once = p.evaluate((runs, qrels), duplicates=way, clusters={"a": "1", "b": "1"})  # type: ignore[arg-type]
        assert once.mean.tolist() == [[pytest.approx(expected)]]
        assert once.table("duplicates").cells("kept") == [1.0]
    assert json.dumps(dict(given.settings))


FRAME = "".join(f"<div id=block{number}>" for number in range(60)) + "<p>{}</p>"
OAKS, ELMS = "oaks live for nine hundred years", "elms die young of a beetle"


@pytest.mark.parametrize(("markup", "alike"), [("html", ["a", "c"]), ("plain", ["a", "b", "c"])])
def test_documents_are_compared_as_they_are_read(markup: str, alike: list[str], tmp_path: Path) -> None:
    """One frame of tags makes two texts alike only where tags are read; hashes are of the raw text."""
    texts = {"a": OAKS, "b": ELMS, "c": OAKS.replace("nine", "<b>nine</b>")}
    documents = [Document(docno, "", FRAME.format(text), (), markup) for docno, text in texts.items()]
    with new_collection(str(tmp_path / "c.db")) as made:
        made.topics.add([Topic("1", "trees")])
        made.pools.add(make_pool({"1": [*texts]}))
        made.documents.add(documents)
        found = p.duplicates(made, carry=True)
        hashes = {one.docno: one.sha256 for one in made.duplicates.texts()}
    assert sorted(found.labels) == alike
    assert [(one.docno, one.source, one.state) for one in found.carried] == [
        (docno, "a", CarriedState.WAITING) for docno in alike[1:]
    ]
    assert hashes == {one.docno: document_sha256(one) for one in documents}


def test_what_cannot_be_judged_stands_for_nothing(tmp_path: Path) -> None:
    """Somebody found one of three impossible to judge: of the others one is shown for the other."""
    with new_collection(str(tmp_path / "c.db")) as made:
        made.topics.add([Topic("1", "trees")])
        made.pools.add(make_pool({"1": ["a", "b", "c"]}))
        made.documents.add(Document(docno, "", OAKS) for docno in "abc")
        for name in ("ann", "bob"):
            made.judges.add(name, JudgeKind.HUMAN)
        JudgeAtWork(made.desk("ann"), "1").act("a", Action.CANNOT, reason="torn")
        found = p.duplicates(made, carry=True)
        assert [(one.docno, one.source, one.state) for one in found.carried] == [
            ("c", "b", CarriedState.WAITING)
        ]
        assert [task.docno for task in made.desk("bob").queue("1")] == ["a", "b"]
