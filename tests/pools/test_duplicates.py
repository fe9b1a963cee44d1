"""Near-duplicates: found as sets of words find them, written as classes, one of each pooled and graded."""

from __future__ import annotations

import json
import random
import re
import shutil
import time
import unicodedata
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pooler as p
from store.analysis.duplicates import (
    ShingleSets,
    as_threshold,
    components,
    least_shared,
    near_pairs,
    shingle_sets,
    words_of,
)
from store.errors import ArgumentError
from store.records import Document, Topic
from tests.helpers.cf_collection import load_documents
from tests.helpers.run import Cli, by_rule, qrels_of, run_inside
from tests.helpers.world import make_pool, new_collection

MIRRORS = {"MIRROR-002": "KG-E-002", "MIRROR-031": "KG-E-031"}
"""Docnos, and whose texts they have."""
LABELS = {"KG-E-002": "1", "MIRROR-002": "1", "KG-E-031": "2", "MIRROR-031": "2"}


@pytest.fixture(scope="module")
def made(imported_garden: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the sample collection, into which a late run brought a mirror of two documents of G01."""
    folder = tmp_path_factory.mktemp("mirrored")
    shutil.copytree(imported_garden, folder, dirs_exist_ok=True)
    texts = (folder / "documents.jsonl").read_text("utf-8").splitlines()
    source = {line.split('"')[3]: line for line in texts}
    lines = [source[docno].replace(docno, mirror) for mirror, docno in MIRRORS.items()]
    lines[0] = lines[0].replace("Rinse three spoonfuls", "Wash three spoonfuls")
    assert "Wash" in lines[0]
    (folder / "mirror.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    ranked = ["MIRROR-031", "MIRROR-002", "KG-E-031"]
    run = [f"G01 Q0 {docno} {rank} {9 - rank} mirror\n" for rank, docno in enumerate(ranked, 1)]
    (folder / "mirror.run").write_text("".join(run), "utf-8")
    place = ("--collection", folder / "collection.db")
    run_inside("import", "runs", folder / "mirror.run", *place).fine()
    run_inside("import", "docs", folder / "mirror.jsonl", folder / "documents.jsonl", "--all", *place).fine()
    run_inside("duplicates", "--classes", folder / "classes.txt", *place).fine()
    return folder


@pytest.fixture
def mirrored(made: Path, here: Path) -> Path:
    """Work beside that collection."""
    shutil.copytree(made, here, dirs_exist_ok=True, ignore=shutil.ignore_patterns("classes.txt*"))
    return here


@pytest.fixture
def pooled(mirrored: Path, cli: Cli) -> Path:
    """Pool the mirror, all of it."""
    cli("pool", "--add", "--depth", "5").fine()
    return mirrored


@pytest.fixture
def classes(made: Path, here: Path) -> Path:
    """Have the classes of near-duplicates in classes.txt."""
    shutil.copytree(made, here, dirs_exist_ok=True)
    return here


@pytest.mark.slow
def test_clusters_are_listed(pooled: Path, cli: Cli) -> None:
    """Each with its documents and the least Jaccard."""
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
    assert cli("duplicates", "--threshold", "1").fine().out.count("MIRROR") == 1


@pytest.mark.slow
def test_classes_are_of_all_texts_and_their_manifest_of_what_made_them(mirrored: Path, cli: Cli) -> None:
    """Nothing of the mirror is pooled: no cluster among documents of pools, and two in the file."""
    assert cli("duplicates", "--format", "json").fine().whole()["clusters"] == []
    done = cli("duplicates", "--threshold", ".8", "--classes", "classes.txt").fine()
    assert "classes.txt: 4 documents in 2 classes" in done.err
    assert Path("classes.txt").read_text() == "".join(f"{docno} {one}\n" for docno, one in LABELS.items())
    manifest = json.loads(Path("classes.txt.manifest.json").read_text())
    assert (manifest["threshold"], manifest["classes"], manifest["compared"]) == (0.8, 2, 108)
    cli("duplicates", "--threshold", "1", "--classes", "classes.txt").fine()
    assert Path("classes.txt").read_text() == "KG-E-031 1\nMIRROR-031 1\n"
    Path("mine.txt").write_text("a 1\n")
    assert "already exists" in cli("duplicates", "--classes", "mine.txt").err


@pytest.mark.slow
def test_one_document_a_class_is_pooled(classes: Path, cli: Cli) -> None:
    """From files and from a collection alike; the manifest says how many were left out, by which."""
    contributing = (str(file) for file in sorted(Path("runs").glob("*.run")) if "late" not in file.name)
    words = ("pool", *contributing, "mirror.run", "--depth", "5")
    told = cli(*words, "--one-of", "classes.txt", "--out", "p.txt").fine()
    assert "2 documents left out: near-duplicates of documents that are pooled" in told.err
    manifest = json.loads(Path("p.txt.manifest.json").read_text())
    sha256 = json.loads(Path("classes.txt.manifest.json").read_text())["sha256"]
    assert manifest["one_of"] == {"documents": 4, "classes": 2, "left_out": 2, "sha256": sha256}
    of_files = Path("p.txt").read_text().splitlines()
    whole = cli(*words).fine().out.splitlines()
    # KG-E-031 is the first of a run, as MIRROR-031 is, and comes before it; KG-E-002 is the fifth of one.
    assert set(whole) - set(of_files) == {"G01 KG-E-002", "G01 MIRROR-031"}
    cli("pool", "--name", "all", "--depth", "5", "--one-of", "classes.txt", "--out", "c.txt").fine()
    assert Path("c.txt").read_text().splitlines() == of_files


@pytest.mark.slow
def test_what_another_pool_has_stands_for_its_near_duplicates(classes: Path, cli: Cli) -> None:
    """The mirror's originals are pooled: with --add nothing of it is new."""
    added = cli("pool", "--add", "--depth", "5", "--one-of", "classes.txt").fine()
    assert "in a pool already, or a near-duplicate of one that is: nothing to add" in added.err


@pytest.mark.slow
def test_a_pool_in_the_place_of_one_of_each_says_that_it_has_all(classes: Path, cli: Cli) -> None:
    """A manifest does not hold classes, so that they have to be named again; nor can it be made again."""
    cli("pool", "--name", "q", "--depth", "4", "--one-of", "classes.txt").fine()
    again = cli("pool", "--name", "q", "--depth", "4", "--one-of", "classes.txt").fine()
    assert "already there, unchanged" in again.err
    clash = cli("pool", "--name", "q", "--depth", "4")
    assert clash.code == 3
    assert "its classes of near-duplicates" in clash.err
    replaced = cli("pool", "--name", "q", "--replace").fine()
    assert "pool `q` has one document of near-duplicates; the new pool has all, unless" in replaced.err


@given(
    runs=st.lists(st.permutations("abcdefgh").map(lambda one: one[:5]), min_size=1, max_size=3),
    labels=st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from("123")),
    known=st.sets(st.sampled_from("abcdefgh"), max_size=3),
    budget=st.none() | st.integers(1, 8),
)
def test_the_first_by_priority_is_pooled_of_each_class(
    runs: list[list[str]], labels: dict[str, str], known: set[str], budget: int | None
) -> None:
    """Going down the pool by priority, what has a near-duplicate above it, or in the other pool, is out."""
    given = {
        f"r{number}": {"1": {docno: float(-rank) for rank, docno in enumerate(one)}}
        for number, one in enumerate(runs)
    }
    without = {("1", docno) for docno in known}
    pooled = p.pool(given).pool.entries
    by_priority = [
        one.docno for one in sorted(pooled, key=lambda one: (one.priority, one.docno), reverse=True)
    ]
    seen = {labels[docno] for docno in known if docno in labels}
    expected, n_left_out = [], 0
    for docno in by_priority:
        if docno not in known and (budget is None or len(expected) < budget):
            if labels.get(docno) in seen:
                n_left_out += 1
            else:
                expected.append(docno)
                seen |= {labels[docno]} if docno in labels else set()
    found = p.pool(given, one_of=labels, without=without, budget=budget)
    assert [one.docno for one in found.pool.entries] == sorted(expected)
    assert found.manifest["one_of"]["left_out"] == n_left_out


def graded(text: str) -> dict[str, tuple[str, str]]:
    """Return iteration and grade of a file of qrels, of topic G01, by docno."""
    rows = [line.split() for line in text.splitlines()]
    return {docno: (iteration, grade) for topic, iteration, docno, grade in rows if topic == "G01"}


@pytest.mark.slow
def test_near_duplicates_get_the_grade_of_the_judged_one(classes: Path, cli: Cli) -> None:
    """Pooled or not, graded or at a level, marked, and counted; no judgement comes into the collection."""
    plain = cli("export", "qrels", "strict").fine().out
    done = cli("export", "qrels", "strict", "--one-of", "classes.txt", "--out", "all.qrels").fine()
    assert "with 4 grades copied to near-duplicates: iteration `duplicate`" in done.err
    text = Path("all.qrels").read_text()
    rows = graded(text)
    for mirror, docno in MIRRORS.items():
        assert rows[mirror] == ("duplicate", rows[docno][1])
    # The originals were judged for G04, too.
    assert "G04 duplicate MIRROR-002 0\n" in text
    assert [line for line in text.splitlines() if " duplicate " not in line] == plain.splitlines()
    manifest = json.loads(Path("all.qrels.manifest.json").read_text())
    made = json.loads(Path("classes.txt.manifest.json").read_text())["sha256"]
    assert manifest["one_of"] == {
        "documents": 4, "classes": 2, "sha256": made, "grades": 4, "without_grade": 0
    }  # fmt: skip
    cli("pool", "--add", "--depth", "5").fine()
    own = ("export", "qrels", "strict", "--one-of", "classes.txt")
    level = cli(*own, "--level", "2", "--unjudged", "-1").fine()
    binary = graded(level.out)
    for mirror, docno in MIRRORS.items():
        assert binary[mirror] == ("duplicate", binary[docno][1])
    assert cli("export", "qrels", "strict").fine().out == plain


@pytest.mark.slow
def test_several_grades_of_a_class_give_none(classes: Path, cli: Cli) -> None:
    """Members that were judged keep their grades, and what is skipped or cannot be judged stays without."""
    text = "KG-E-002 1\nMIRROR-002 1\nKG-E-031 1\nKG-E-003 2\nMIRROR-031 2\nKG-E-004 3\nKG-E-005 3\n"
    Path("classes.txt").write_text(f"{text}KG-E-006 3\nKG-E-007 3\n")
    cli("judges", "add", "alice").fine()
    rows = {"KG-E-002": 0, "KG-E-031": 2, "KG-E-003": 1, "KG-E-004": 1}
    states = [(docno, "judged", grade) for docno, grade in rows.items()]
    states += [("KG-E-006", "skipped", ""), ("KG-E-007", "cannot", "")]
    header = "topic docno judge kind state grade reason note iteration".replace(" ", "\t")
    lines = [f"G01\t{docno}\talice\thuman\t{state}\t{grade}\t\t\t0" for docno, state, grade in states]
    Path("alice.tsv").write_text("\n".join([header, *lines, ""]))
    cli("import", "judgements", "alice.tsv", "--as", "tsv").fine()
    done = cli("export", "qrels", "alice", "--one-of", "classes.txt").fine()
    assert graded(done.out) == {docno: ("0", str(grade)) for docno, grade in rows.items()} | {
        "MIRROR-031": ("duplicate", "1"),
        "KG-E-005": ("duplicate", "1"),
    }
    assert "1 near-duplicate left out: the judged documents of the class have different grades" in done.err
    relevant = cli("export", "qrels", "alice", "--one-of", "classes.txt", "--level", "1").fine()
    assert "MIRROR-002" not in relevant.out
    none = cli("export", "qrels", "alice", "--one-of", "classes.txt", "--level", "2").fine()
    assert "G01 duplicate MIRROR-031 0" in none.out


@pytest.mark.vector("reference methods.md, section 5: grades propagated (e:=1), unmodified")
def test_given_grades_are_measured_as_grades(cli: Cli, here: Path) -> None:
    """Of {a, b} and {d, e} the document e gets the grade of d."""
    cli("init", "--scale", "0-1").fine()
    for tag, ranking in {"X": "abcdef", "Y": "acdfgb"}.items():
        lines = [f"1 Q0 {docno} {rank} {-rank} {tag}\n" for rank, docno in enumerate(ranking, 1)]
        Path(f"{tag}.run").write_text("".join(lines))
    Path("q").write_text("1 0 a 1\n1 0 b 1\n1 0 c 0\n1 0 d 1\n1 0 f 1\n1 0 g 0\n")
    Path("classes.txt").write_text("a 1\nb 1\nd 2\ne 2\n")
    cli("import", "runs", "X.run", "Y.run").fine()
    cli("import", "judgements", "q", "--judge", "ann", "--kind", "human", "--allow-unknown").fine()
    cli("export", "qrels", "--one-of", "classes.txt", "--out", "given").fine()
    scored = cli(
        "evaluate", "--qrels", "./given", "X.run", "Y.run", "--table", "measures", "--format", "json"
    ).fine()
    assert "1 grade copied to near-duplicates counted as well" in scored.err
    values = {one["run"]: Fraction(one["value"]).limit_denominator(1000) for one in scored.json()}
    assert values == {"X": Fraction(263, 300), "Y": Fraction(37, 60)}


@pytest.mark.slow
def test_given_grades_are_no_judgements_when_they_come_back(classes: Path, cli: Cli) -> None:
    """Imported, collapsed or compared as a judge's they are left out, and that is said."""
    cli("export", "qrels", "strict", "--one-of", "classes.txt", "--out", "all.qrels").fine()
    left_out = "all.qrels: 4 lines left out: grades copied to near-duplicates"
    done = cli("import", "judgements", "all.qrels", "--judge", "again").fine()
    assert left_out in done.err
    assert "all.qrels: 84 judgements added of again" in done.err + done.out
    collapsed = cli("export", "qrels", "all.qrels", "--scale", "0-2", "--level", "1").fine()
    assert left_out in collapsed.err
    assert "MIRROR" not in collapsed.out
    agreed = cli(
        "agreement", *qrels_of("all.qrels", "judgements/lenient.qrels"), "--scale", "0-2", "--format", "json"
    ).fine()
    assert left_out in agreed.err
    assert json.loads(agreed.out)["pairs"][0]["n"] == 84


@pytest.mark.slow
def test_contradictions_are_listed(pooled: Path, cli: Cli) -> None:
    """Two near-duplicates with one grade each, and not the same."""
    grades = {"KG-E-031": 2, "MIRROR-031": 0, "KG-E-002": 1, "MIRROR-002": 1}
    Path("alice.qrels").write_text("".join(f"G01 0 {docno} {grade}\n" for docno, grade in grades.items()))
    cli("import", "judgements", "alice.qrels", "--judge", "alice", "--kind", "human").fine()
    found = by_rule(cli, "duplicates", "--kinds", "human", "--format", "json").fine().whole()
    (row,) = found["contradictions"]
    assert (row["docno"], row["grade"], row["other"], row["other_grade"]) == ("KG-E-031", 2, "MIRROR-031", 0)
    assert row["settled"] is False
    (of_alice,) = found["consistency"]
    assert (of_alice["judge"], of_alice["pairs"], of_alice["same"], of_alice["share"]) == ("alice", 2, 1, 0.5)


@pytest.mark.slow
def test_people_and_models_are_not_mixed_unasked(pooled: Path, cli: Cli) -> None:
    """A model's grade of one and a person's of the other are no pair of two judges."""
    Path("alice.qrels").write_text("G01 0 MIRROR-031 0\n")
    cli("import", "judgements", "alice.qrels", "--judge", "alice", "--kind", "human").fine()
    alone = by_rule(cli, "duplicates", "--kinds", "human", "--format", "json").fine().whole()
    assert (alone["consistency"], alone["contradictions"]) == ([], [])
    both = by_rule(cli, "duplicates", "--kinds", "human,model", "--format", "json").fine().whole()
    assert {one["of"] for one in both["consistency"]} == {
        "near-duplicates, two judges",
        "one document, two judges",
    }
    assert both["consistency"][0]["pairs"] == 3


REFUSED = [
    ("duplicates --threshold 0", "must be above 0 and at most 1"),
    ("duplicates --threshold high", "must be above 0 and at most 1"),
    ("duplicates --topic G99", "unknown topic `G99`"),
    ("duplicates --classes -", "must be a file"),
    ("pool --one-of none.txt", "none.txt"),
    (
        "pool --name x --round duplicate",
        "must not be `duplicate`, the iteration of grades copied to near-duplicates",
    ),
    ("pool -s uniform --budget 3 --seed 1 --name u --one-of classes.txt", "must not leave out documents"),
    ("pool -s hedge --budget 3 --name h --one-of classes.txt", "choose all documents at once"),
]


@pytest.mark.slow
def test_what_cannot_be_is_refused(classes: Path, cli: Cli) -> None:
    """In one line, before anything is changed."""
    for command, said in REFUSED:
        done = cli(*command.split())
        assert done.code != 0, command
        assert said in done.err
        assert "Traceback" not in done.err


@pytest.mark.slow
def test_faults_of_classes_are_told_at_once(mirrored: Path, cli: Cli) -> None:
    """Each with its line; run files know no documents but those they name."""
    Path("bad.txt").write_text("KG-E-002 1\nnope 1\nKG-E-002 2\nMIRROR-031\nzap 4\n")
    faults = [
        "bad.txt:2: expected a document of the collection, got `nope`",
        "bad.txt:3: expected each document once, got `KG-E-002`, which line 1 has with 1",
        "bad.txt:4: expected 2 fields (docno class), got 1",
        "bad.txt:5: expected a document of the collection, got `zap`",
    ]
    for command, wanted in (
        ("pool --add", faults),
        ("export qrels strict", faults),
        ("pool mirror.run", faults[1:3]),
    ):
        done = cli(*command.split(), "--one-of", "bad.txt")
        assert done.code == 1
        lines = [line.removeprefix("error: ") for line in done.err.splitlines()]
        assert [line for line in lines if line.startswith("bad.txt:")] == wanted


def test_collection_without_texts_has_no_near_duplicates(cli: Cli, here: Path) -> None:
    """Nothing is compared, and that is said; an empty collection is no error."""
    cli("init", "--scale", "0-2").fine()
    empty = cli("duplicates").fine()
    assert "0 documents compared" in empty.out
    Path("x.run").write_text("1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n")
    cli("import", "runs", "x.run").fine()
    done = cli("duplicates", "--classes", "classes.txt").fine()
    assert "compared; 2 documents without a text: pooler import docs FILE imports" in done.err
    assert "classes.txt: 0 documents in 0 classes" in done.err


FRAME = "".join(f"<div id=block{number}>" for number in range(60)) + "<p>{}</p>"
OAKS, ELMS = "oaks live for nine hundred years", "elms die young of a beetle"


@pytest.mark.parametrize(("markup", "alike"), [("html", ["a", "c"]), ("plain", ["a", "b", "c"])])
def test_documents_are_compared_as_they_are_read(markup: str, alike: list[str], tmp_path: Path) -> None:
    """One frame of tags makes two texts alike only where tags are read."""
    texts = {"a": OAKS, "b": ELMS, "c": OAKS.replace("nine", "<b>nine</b>")}
    documents = [Document(docno, "", FRAME.format(text), (), markup) for docno, text in texts.items()]
    with new_collection(str(tmp_path / "c.db")) as made:
        made.topics.add([Topic("1", "trees")])
        made.pools.add(make_pool({"1": [*texts]}))
        made.documents.add(documents)
        assert sorted(p.duplicates(made).labels) == alike


FOX = "The quick brown fox jumps over the lazy dog near the old river bank today"
CJK = "トマトの育て方を学ぶための本です"


def plain_shingles(text: str) -> set[tuple[str, ...]]:
    """Make the shingles of a text by the definition, of texts of ASCII words."""
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())
    if not words:
        return set()
    length = 5 if len(words) >= 30 else min(3, len(words))
    return {tuple(words[place : place + length]) for place in range(len(words) - length + 1)}


def plain_pairs(texts: list[str], least: Fraction) -> dict[tuple[int, int], tuple[int, int]]:
    """Compare every pair of texts."""
    sets = [plain_shingles(text) for text in texts]
    found = {}
    for one, other in combinations(range(len(texts)), 2):
        shared, united = len(sets[one] & sets[other]), len(sets[one] | sets[other])
        if united and Fraction(shared, united) >= least:
            found[one, other] = shared, united
    return found


def found_pairs(texts: list[str], least: Fraction | float) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the same as the join has it, what has the same words as another in its place."""
    sets = shingle_sets(texts)
    pairs = near_pairs(sets, least)
    columns = (pairs.first, pairs.second, pairs.shared, pairs.united)
    near = {(a, b): (s, u) for a, b, s, u in zip(*(one.tolist() for one in columns), strict=True)}
    twins = sets.twins.tolist()
    every = {}
    for one, other in combinations(range(len(texts)), 2):
        first, second = sorted((twins[one], twins[other]))
        if first == second:
            every[one, other] = (int(sets.sizes[first]),) * 2
        elif (first, second) in near:
            every[one, other] = near[first, second]
    return every


def test_reference_vectors_of_a_sentence() -> None:
    """Two ways to write it share 13 of 13, another animal 10 of 16: .6 takes all, .65 the first pair."""
    texts = [FOX, f"{FOX.lower()}!", FOX.replace("dog", "cat")]
    assert found_pairs(texts, 0.6) == {(0, 1): (13, 13), (0, 2): (10, 16), (1, 2): (10, 16)}
    assert found_pairs(texts, 0.65) == {(0, 1): (13, 13)}


def test_reference_vectors_of_japanese() -> None:
    """A full stop is no word: 14 of 14; of cucumbers instead of tomatoes 11 of 18 are alike."""
    texts = [CJK, f"{CJK}。", CJK.replace("トマト", "きゅうり")]
    assert found_pairs(texts, 0.6) == {(0, 1): (14, 14), (0, 2): (11, 18), (1, 2): (11, 18)}


def test_words_are_normalised() -> None:
    """Compatibility forms and case go; Han, kana and Hangul are words of one character; a dot is none."""
    assert words_of("ﬁ ＡＢ ß") == ["fi", "ab", "ss"]
    assert words_of("漢字ab가나 x・y ｶﾅ") == ["漢", "字", "ab", "가", "나", "x", "y", "カ", "ナ"]
    assert words_of("𠮷野 naïve_1") == ["𠮷", "野", "naïve_1"]
    assert words_of(" -- ") == []


@st.composite
def edited(draw: st.DrawFn) -> list[str]:
    """Draw texts of which many are edits of others, around the length where shingles change, too."""
    bases = draw(st.lists(st.lists(st.sampled_from("abcdefghijk"), max_size=40), min_size=1, max_size=4))
    texts = []
    for _ in range(draw(st.integers(1, 14))):
        words = list(draw(st.sampled_from(bases)))
        for _ in range(draw(st.integers(0, 4))):
            place = draw(st.integers(0, len(words)))
            words[place : place + draw(st.integers(0, 1) | st.just(40))] = draw(
                st.lists(st.sampled_from("abxyz"), max_size=2)
            )
        texts.append(" ".join(words))
    return texts


@given(texts=edited(), data=st.data())
def test_join_finds_every_pair_and_no_other(texts: list[str], data: st.DataObject) -> None:
    """What the prefixes leave out is nothing, at a threshold that some pair just reaches, too."""
    every = plain_pairs(texts, Fraction(1, 10**9))
    just = {Fraction(shared, united) for shared, united in every.values()}
    for least in [*sorted(just), data.draw(st.fractions(Fraction(1, 50), 1))]:
        expected = {pair: both for pair, both in every.items() if Fraction(*both) >= least}
        assert found_pairs(texts, least) == expected


@given(texts=edited())
def test_clusters_are_what_chains_of_near_pairs_join(texts: list[str]) -> None:
    """Whoever is reached from a document by near pairs is of its cluster, and nobody else."""
    least = Fraction(3, 5)
    sets = shingle_sets(texts)
    roots = components(near_pairs(sets, least), sets.twins).tolist()
    reached = {place: {place} for place in range(len(texts))}
    for one, other in plain_pairs(texts, least):
        joined = reached[one] | reached[other]
        for place in joined:
            reached[place] = joined
    assert [min(reached[place]) for place in range(len(texts))] == roots
    for root in set(roots):
        members = [place for place, one in enumerate(roots) if one == root]
        plain = [plain_shingles(texts[place]) for place in members]
        if len(members) > 1:
            every = [Fraction(len(a & b), len(a | b)) for a, b in combinations(plain, 2)]
            shared = least_shared(sets, members)
            assert shared is not None
            assert Fraction(*shared) == min(every)


@pytest.mark.parametrize("threshold", [0, -0.1, 1.0001, float("nan"), "x", "1/0", float("inf")])
def test_threshold_must_be_a_share(threshold: float | str) -> None:
    """It is above 0 and at most 1."""
    with pytest.raises(ArgumentError, match="must be above 0 and at most 1"):
        as_threshold(threshold)
    assert as_threshold("2/3") == Fraction(2, 3)


N_PLANTED = 200
SHARES = (0.0, 0.05, 0.1, 0.2)
Edit = Callable[[Sequence[str], float, Sequence[str], random.Random], list[str]]


def scattered(words: Sequence[str], share: float, others: Sequence[str], dice: random.Random) -> list[str]:
    """Replace, remove or add before a share of the words, wherever they stand."""
    edited = list(words)
    for place in sorted(dice.sample(range(len(words)), round(share * len(words))), reverse=True):
        way = dice.randrange(3)
        edited[place : place + (way < 2)] = [dice.choice(others)] if way else []
    return edited


def one_block(words: Sequence[str], share: float, others: Sequence[str], dice: random.Random) -> list[str]:
    """Replace a share of the words that stand together."""
    n = round(share * len(words))
    first = dice.randrange(len(words) - n + 1)
    return [*words[:first], *dice.choices(others, k=n), *words[first + n :]]


EDITS: dict[str, Edit] = {"scattered": scattered, "one block": one_block}


def plant(edit: Edit) -> tuple[list[str], dict[tuple[int, int], float]]:
    """Return the abstracts with their copies behind them, and the share edited of every planted pair."""
    texts = [f"{one.title}\n{one.text or ''}" for one in load_documents()]
    dice = random.Random(29)
    others = [word for text in texts for word in words_of(text)]
    long = [place for place, text in enumerate(texts) if len(words_of(text)) >= 40]
    planted = {}
    for share in SHARES:
        for place in dice.sample(long, N_PLANTED):
            planted[place, len(texts)] = share
            texts.append(" ".join(edit(words_of(texts[place]), share, others, dice)))
    return texts, planted


def pairs_with_twins(sets: ShingleSets, threshold: float) -> set[tuple[int, int]]:
    """Return the pairs that are found, what has the same words as another in its place, too."""
    pairs = near_pairs(sets, threshold)
    near = set(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    by_twin: dict[int, list[int]] = {}
    for place, twin in enumerate(sets.twins.tolist()):
        by_twin.setdefault(twin, []).append(place)
    every = {(a, b) for one, other in near for a in by_twin[one] for b in by_twin[other]}
    every |= {(a, b) for group in by_twin.values() for a in group for b in group if a < b}
    return {(min(pair), max(pair)) for pair in every}


@pytest.mark.slow
@pytest.mark.parametrize("kind", EDITS)
def test_planted_near_duplicates_are_found(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """All copies are, edited ones exactly where the Jaccard of Python's own sets reaches the threshold."""
    texts, planted = plant(EDITS[kind])
    begun = time.perf_counter()
    sets = shingle_sets(texts)
    lines = []
    # A copy of a copied abstract is one of its content, too.
    origin = {copy: place for place, copy in planted}
    for threshold in (0.8, 0.5, 0.3):
        found = pairs_with_twins(sets, threshold)
        for pair, share in planted.items():
            one, other = (plain_shingles(texts[place]) for place in pair)
            jaccard = Fraction(len(one & other), len(one | other))
            assert (pair in found) == (jaccard >= Fraction(str(threshold))), (pair, share, jaccard)
        right = sum(origin.get(a, a) == origin.get(b, b) for a, b in found)
        recalls = [
            sum(pair in found for pair, one in planted.items() if one == share) / N_PLANTED
            for share in SHARES
        ]
        assert recalls[0] == 1
        lines.append(
            f"{kind}, J >= {threshold}: recall of exact, 5, 10, 20 %: {recalls};"
            f" {right} of {len(found)} pairs found are of one abstract"
        )
    with capsys.disabled():
        took = f"{len(texts)} texts, {time.perf_counter() - begun:.1f} s"
        print("", *lines, took, sep="\n")  # noqa: T201 - figures that are reported
