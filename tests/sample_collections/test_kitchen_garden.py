"""The sample collection ``kitchen_garden``: its files, its runs and its ranking code."""

import csv
import importlib.util
import json
import math
import shutil
import unicodedata
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

COLLECTION = Path(__file__).resolve().parents[2] / "sample_collections" / "kitchen_garden"
JUDGES = ("strict", "middle", "lenient")
TOY = (("slug", "beer", "slug"), ("beer", "tomato"), ("tomato",))
Ranking = list[tuple[float, str]]


@pytest.fixture(scope="module")
def build() -> ModuleType:
    """Load the module ``build.py`` of the collection."""
    spec = importlib.util.spec_from_file_location("kitchen_garden_build", COLLECTION / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def manifest() -> list[dict[str, str]]:
    """Read the rows of ``runs.tsv``."""
    with (COLLECTION / "runs.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.fixture(scope="module")
def rankings(manifest: list[dict[str, str]]) -> dict[str, dict[str, Ranking]]:
    """Read tag -> topic -> (score, docno), sorted by score, then docno, both descending."""
    runs: dict[str, dict[str, Ranking]] = {}
    for row in manifest:
        topics: dict[str, Ranking] = defaultdict(list)
        for line in read_lines(row["file"]):
            topic, _, docno, _, score, _ = line.split(" ")
            topics[topic].append((float(score), docno))
        runs[row["tag"]] = {topic: sorted(found)[::-1] for topic, found in topics.items()}
    return runs


@pytest.fixture(scope="module")
def pool(manifest: list[dict[str, str]], rankings: dict[str, dict[str, Ranking]]) -> set[tuple[str, str]]:
    """Collect the (topic, docno) of the first five ranks of every contributing run."""
    return {
        (topic, docno)
        for row in manifest
        if row["contributes"] == "yes"
        for topic, ranking in rankings[row["tag"]].items()
        for _, docno in ranking[:5]
    }


def read_lines(name: str) -> list[str]:
    """Read the lines of a file of the collection."""
    return (COLLECTION / name).read_text(encoding="utf-8").splitlines()


def read_qrels(judge: str) -> dict[tuple[str, str], int]:
    """Read the grades of one judge by (topic, docno)."""
    rows = [line.split(" ") for line in read_lines(f"judgements/{judge}.qrels")]
    return {(topic, docno): int(grade) for topic, _, docno, grade in rows}


def test_guidelines_explain_every_grade_and_are_blind(manifest: list[dict[str, str]]) -> None:
    """Judges read of the three grades in both languages, and of no run, judge or document."""
    text = "\n".join(read_lines("guidelines.md"))
    for term in ("partially relevant", "not relevant", "部分適合", "不適合"):
        assert term in text
    hidden = {row["tag"] for row in manifest} | {*JUDGES, "KG-E-", "KG-J-", "pool"}
    assert not [word for word in hidden if word in text]


def test_build_stored_files_equal_fresh_bytes(build: ModuleType) -> None:
    """Every stored run and ``runs.tsv`` is what ``build.py`` makes, byte for byte."""
    files: dict[str, bytes] = build.build()
    stored = {f"runs/{path.name}" for path in (COLLECTION / "runs").iterdir()} | {"runs.tsv"}
    assert stored == set(files)
    for name, content in files.items():
        assert (COLLECTION / name).read_bytes() == content, name


def test_check_changed_or_extra_run_exits_1(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--check`` answers 0 for fresh files, and 1 once a run is changed and one is left over."""
    for name in ("documents.jsonl", "topics.jsonl"):
        shutil.copy(COLLECTION / name, tmp_path)
    monkeypatch.setattr(build, "HERE", tmp_path)
    monkeypatch.setattr(build, "RUNS", build.RUNS[:2])
    assert build.main([]) == 0
    assert build.main(["--check"]) == 0
    assert capsys.readouterr().err == ""
    (tmp_path / "runs" / "bm25-words.run").write_bytes(b"")
    (tmp_path / "runs" / "old.run").write_bytes(b"")
    assert build.main(["--check"]) == 1
    assert capsys.readouterr().err == (
        "runs/bm25-words.run: differs from a fresh build\nruns/old.run: differs from a fresh build\n"
    )


def test_documents_two_languages_half_each() -> None:
    """There are 106 documents, 53 English and 53 Japanese, of the promised lengths."""
    documents = [json.loads(line) for line in read_lines("documents.jsonl")]
    assert [set(document) for document in documents] == [{"docno", "title", "text"}] * 106
    english = [d for d in documents if d["docno"].startswith("KG-E-")]
    japanese = [d for d in documents if d["docno"].startswith("KG-J-")]
    assert (len(english), len(japanese)) == (53, 53)
    assert len({document["docno"] for document in documents}) == 106
    assert all(60 <= len(document["text"].split()) <= 140 for document in english)
    assert all(document["text"].isascii() for document in english)
    assert all(150 <= len(document["text"]) <= 350 for document in japanese)


def test_topics_eight_half_japanese() -> None:
    """There are eight topics, the first four English and the last four Japanese."""
    topics = [json.loads(line) for line in read_lines("topics.jsonl")]
    assert [topic["topic"] for topic in topics] == [f"G0{i}" for i in range(1, 9)]
    assert [set(t) for t in topics] == [{"topic", "title", "description", "narrative"}] * 8
    assert [topic["title"].isascii() for topic in topics] == [True] * 4 + [False] * 4


def test_files_are_nfc_utf8_with_lf() -> None:
    """Every file is UTF-8 in form NFC, with LF line ends and a final one."""
    files = [path for path in COLLECTION.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert len(files) > 12
    for path in files:
        text = path.read_bytes().decode("utf-8")
        assert unicodedata.is_normalized("NFC", text), path
        assert "\r" not in text, path
        assert text.endswith("\n"), path


def test_runs_lines_are_trec_in_rank_order(
    manifest: list[dict[str, str]], rankings: dict[str, dict[str, Ranking]]
) -> None:
    """Each run lists 30 to 45 known documents a topic, from rank 1, ties docno descending."""
    docnos = {json.loads(line)["docno"] for line in read_lines("documents.jsonl")}
    assert [row["contributes"] for row in manifest] == ["yes"] * 8 + ["no"]
    for row in manifest:
        tag = row["tag"]
        assert row["file"] == f"runs/{tag}.run"
        expected = [
            f"{topic} Q0 {docno} {rank} {score:.6f} {tag}"
            for topic, ranking in sorted(rankings[tag].items())
            for rank, (score, docno) in enumerate(ranking, start=1)
        ]
        assert read_lines(row["file"]) == expected
        assert len(rankings[tag]) == 8
        for ranking in rankings[tag].values():
            listed = [docno for _, docno in ranking]
            assert 30 <= len(listed) <= 45
            assert len(set(listed)) == len(listed)
            assert set(listed) <= docnos


@pytest.mark.parametrize("judge", JUDGES)
def test_judge_covers_exactly_the_pool(judge: str, pool: set[tuple[str, str]]) -> None:
    """Each judge graded every document of the depth-5 pool once, 0 to 2, and nothing else."""
    lines = read_lines(f"judgements/{judge}.qrels")
    grades = read_qrels(judge)
    assert len(lines) == len(pool) == 84
    assert set(grades) == pool
    assert set(grades.values()) == {0, 1, 2}
    assert lines == [f"{t} 0 {docno} {grade}" for (t, docno), grade in sorted(grades.items())]


@pytest.mark.parametrize("judge", JUDGES)
def test_every_topic_two_relevant_in_pool(judge: str) -> None:
    """Every judge found at least two fully or partially relevant documents for every topic."""
    relevant = Counter(topic for (topic, _), grade in read_qrels(judge).items() if grade > 0)
    assert len(relevant) == 8
    assert min(relevant.values()) >= 2


def test_judges_agree_moderately_and_not_one_way() -> None:
    """Kappa of each pair lies in 0.4 to 0.75, and neighbours differ in both directions."""
    for first, second in combinations(JUDGES, 2):
        one, two = read_qrels(first), read_qrels(second)
        pairs = [(grade, two[key]) for key, grade in one.items()]
        observed = sum(x == y for x, y in pairs) / len(pairs)
        rows, columns = Counter(x for x, _ in pairs), Counter(y for _, y in pairs)
        expected = sum(rows[grade] * columns[grade] for grade in range(3)) / len(pairs) ** 2
        assert 0.4 <= (observed - expected) / (1 - expected) <= 0.75
    strict, middle, lenient = (read_qrels(judge) for judge in JUDGES)
    assert any(strict[key] > middle[key] for key in strict)
    assert any(middle[key] > lenient[key] for key in strict)


def test_rank_6_a_fifth_unjudged(rankings: dict[str, dict[str, Ranking]], pool: set[tuple[str, str]]) -> None:
    """At least a fifth of the documents at rank 6, over all runs and topics, is not in the pool."""
    sixth = [(topic, ranking[5][1]) for topics in rankings.values() for topic, ranking in topics.items()]
    assert len(sixth) == 72
    assert sum(key not in pool for key in sixth) / len(sixth) >= 0.2


def test_bm25_toy_matches_hand_calculation(build: ModuleType) -> None:
    """BM25 on three toy documents equals the sum written out by hand."""
    counts, query = build.count_terms(TOY, ("slug", "beer"))
    # Lengths 3, 2, 1, mean 2. "slug" stands in 1 document of 3, "beer" in 2.
    slug = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    beer = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    # k1 (1 - b + b l / mean): 1.2 * (0.25 + 0.75 * 1.5) = 1.65, then 1.2 * 1 = 1.2.
    expected = [slug * 2 / (2 + 1.65) + beer * 1 / (1 + 1.65), beer * 1 / (1 + 1.2), 0.0]
    assert expected[:2] == pytest.approx([0.714801, 0.213638], abs=5e-7)
    np.testing.assert_allclose(build.bm25_scores(counts, query), expected, rtol=1e-12)


def test_dirichlet_toy_matches_hand_calculation(build: ModuleType) -> None:
    """The smoothed language model on three toy documents equals fractions worked by hand."""
    counts, query = build.count_terms(TOY, ("slug", "beer"))
    # Each term is 2 of the 6 tokens, so with mu = 3 every smoothed count is the count plus 1.
    expected = [
        math.log(3 / 6) + math.log(2 / 6),
        math.log(1 / 5) + math.log(2 / 5),
        math.log(1 / 4) + math.log(1 / 4),
    ]
    scores = build.dirichlet_scores(counts, query, mu=3.0)
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_cosine_toy_matches_hand_calculation(build: ModuleType) -> None:
    """The tf-idf cosine on three toy documents equals the quotient written out by hand."""
    counts, query = build.count_terms(TOY, ("slug", "beer"))
    slug, beer, tomato = math.log(3 / 1), math.log(3 / 2), math.log(3 / 2)
    first, length = (1 + math.log(2)) * slug, math.hypot(slug, beer)
    expected = [
        (first * slug + beer * beer) / (math.hypot(first, beer) * length),
        beer * beer / (math.hypot(beer, tomato) * length),
        0.0,
    ]
    np.testing.assert_allclose(build.cosine_scores(counts, query), expected, rtol=1e-12)


def test_rm3_one_document_mixes_its_model_with_the_query(build: ModuleType) -> None:
    """With one feedback document the new query is half the old one and half its term shares."""
    counts, query = build.count_terms(TOY, ("slug", "beer"))
    weights = build.rm3_weights(counts, query, n_documents=1)
    # Columns beer, slug, tomato; the first document is one third beer and two thirds slug.
    np.testing.assert_allclose(weights, [1 / 4 + 1 / 6, 1 / 4 + 1 / 3, 0.0], rtol=1e-12)


def test_tokens_examples(build: ModuleType) -> None:
    """Words, stems and character bigrams come out as their docstrings show."""
    assert build.word_tokens("The slugs of May") == ["slugs", "may"]
    assert build.word_tokens("バジルの葉を摘む") == ["バジル", "葉", "摘", "む"]
    assert build.stem_tokens("Watering slugs, 葉を摘む") == ["water", "slug", "葉", "摘"]
    assert build.bigram_tokens("A slug, 葉を摘む。") == [*("a", "sl", "lu", "ug"), *("葉を", "を摘", "摘む")]
