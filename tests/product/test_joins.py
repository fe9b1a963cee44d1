"""Ids of two sources that are joined: what does not meet is refused or told, never measured in silence."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path
from typing import Any

import ir_measures
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pooler as p
from tests.helpers.run import run_inside, write

IDS = st.sets(st.sampled_from(["1", "2", "01", "02", "a", "A", "a.txt", "a.1"]), min_size=1, max_size=3)


@given(IDS, IDS, st.booleans())
def test_topics_that_do_not_meet_are_never_joined_in_silence(
    ours: set[str], theirs: set[str], pool: bool
) -> None:
    """In `evaluate` and in `pool`: none in common is an error, and every id that is alone is named."""
    run, other = ({topic: {"d": 1.0} for topic in sorted(topics)} for topics in (ours, theirs))

    def join() -> Any:
        return p.pool({"x": run, "y": other}) if pool else p.evaluate(p.source({"x": run}, qrels=other))

    if ours.isdisjoint(theirs):
        with pytest.raises(p.PoolerError, match="no topic of"):
            join()
        return
    told = [words for words in join().warnings if "topic" in words]
    assert bool(told) == (ours != theirs)
    # Pools name the first three.
    assert pool or {name for name in ours ^ theirs if f"`{name}`" in "".join(told)} == ours ^ theirs


@given(IDS, IDS)
def test_documents_of_which_none_is_judged_are_refused(ours: set[str], theirs: set[str]) -> None:
    """Some unjudged ones are usual; the docnos of a run on disk are read as those in memory."""
    measured = p.source({"x": {"1": dict.fromkeys(sorted(ours), 1.0)}}, qrels={"1": dict.fromkeys(theirs, 1)})
    if ours.isdisjoint(theirs):
        with pytest.raises(p.PoolerError, match="no document of the runs is in the qrels"):
            p.evaluate(measured)
    else:
        assert p.evaluate(measured).warnings == ()


TWO = ["1 Q0 FT-1 1 2 x", "1 Q0 FT-2 2 1 x"]
FORM = "documents whose docnos differ only in Unicode normal form (NFC, NFD): 1"


@pytest.mark.parametrize(
    ("run", "qrels", "code", "words"),
    [
        (["101 Q0 d 1 1 x"], ["101.1 0 d 1"], 1, "`.N` at the end, 1 of 1 would meet (`101` and `101.1`)"),
        (["1 Q0 d 1 1 x"], ["001 0 d 1"], 1, "no topic of the runs is in ./q: `1` here, `001` there"),
        (["1 Q0 d 1 1 x", "03 Q0 d 1 1 x"], ["1 0 d 1", "3 0 d 1"], 0, "would meet (`03` and `3`)"),
        (TWO, ["1 0 ft-1 1"], 1, "in one case, 1 of 2 would meet (`FT-1` and `ft-1`)"),
        (TWO, ["1 0 ft-1.txt 1"], 1, "by several such changes, 1 of 2 would meet (`FT-1` and `ft-1.txt`)"),
        ([*TWO, "2 Q0 d.txt 1 1 x"], ["1 0 FT-2 1", "2 0 d 1"], 0, "1 ranking, as of run x, without"),
        (["1 Q0 cafe\u0301 1 2 x", "1 Q0 b 2 1 x"], ["1 0 caf\u00e9 1", "1 0 b 1"], 0, FORM),
        (TWO, ["1 0 other 1"], 1, "write them alike in both, or name sources that belong together"),
    ],
)  # fmt: skip
def test_files_are_measured_only_where_ids_meet(
    run: list[str], qrels: list[str], code: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What would make them meet is said; a run beside it that has no judged document is named."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "x.run", *run)
    write(tmp_path / "q", *qrels)
    answer = run_inside("evaluate", "x.run", "--qrels", "./q")
    assert (answer.code, words in answer.err) == (code, True), answer.err
    write(tmp_path / "y.run", *(f"{line.split()[0]} Q0 {line.split()[2]} 1 1 y" for line in qrels))
    both = run_inside("evaluate", "x.run", "y.run", "--qrels", "./q").fine()
    assert "run x" in both.err or FORM in both.err or "of the runs not in ./q" in both.err, both.err


def test_runs_of_a_pool_and_of_a_collection_are_joined_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two spellings of a topic or of all documents are refused, those of one ranking are told."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "x.run", "1 Q0 FT-1 1 1 x", "2 Q0 FT-2 1 1 x")
    write(tmp_path / "zeros.run", "01 Q0 FT-1 1 1 y")
    write(tmp_path / "case.run", "1 Q0 ft-1 1 1 y", "2 Q0 ft-2 1 1 y")
    write(tmp_path / "some.run", "1 Q0 ft-1 1 1 y", "2 Q0 FT-2 1 1 y")
    run_inside("init", "--scale", "0-1").fine()
    run_inside("import", "runs", "x.run").fine()
    for name, code, words in (
        ("zeros", 1, "no topic of run x is in the other runs: `1`, `2` here, `01` there"),
        ("case", 1, "no document of run x is one of the other runs"),
        ("some", 0, "2 rankings, as of run x, without a document of the other runs; in one case"),
    ):
        answer = run_inside("pool", "x.run", f"{name}.run")
        assert (answer.code, words in answer.err) == (code, True), answer.err
        run_inside("import", "runs", f"{name}.run", "--replace").fine()
        answer = run_inside("pool", "--name", name)
        assert (answer.code, words in answer.err) == (code, True), answer.err


def frames(library: str) -> tuple[Any, Any]:
    """Return a run and qrels as data frames, or Arrow tables, with PyTerrier's columns."""
    module = pytest.importorskip(library)
    frame = module.table if library == "pyarrow" else module.DataFrame
    ids = {"qid": ["1", "1"], "docno": ["10", "b"]}
    return frame(ids | {"score": [0.4, 0.5]}), frame(ids | {"label": [1, 0]})


Scored = namedtuple("Scored", "query_id doc_id score")
Judged = namedtuple("Judged", "query_id doc_id relevance iteration")


class Ranx:
    """What ranx holds runs and qrels in."""

    name = "bm25"

    def __init__(self, held: dict[str, dict[str, float]]) -> None:
        self.held = held

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return it as a dictionary."""
        return self.held


RUN = {"1": {"10": 0.4, "b": 0.5}}


@pytest.mark.parametrize(
    ("run", "qrels", "tag"),
    [
        (RUN, {"1": {"10": 1, "b": 0}}, "run"),
        ({1: {10: 0.4, "b": 0.5}}, {1: {10: 1.0}}, "run"),
        ({"r": {1: {10: 0.4, "b": 0.5}}}, [(1, 10, 1), ("1", "b", 0)], "r"),
        ([Scored("1", "10", 0.4), Scored("1", "b", 0.5)], [Judged("1", "10", 1, "0")], "run"),
        (Ranx(RUN), Ranx({"1": {"10": 1}}), "bm25"),
        ([Ranx(RUN)], Ranx({"1": {"10": 1}}), "bm25"),
        ("pandas", None, "run"),
        ("polars", None, "run"),
        ("pyarrow", None, "run"),
    ],
)
def test_what_other_libraries_hold_is_measured(run: Any, qrels: Any, tag: str) -> None:
    """The relevant document is the second of two: AP is 1/2."""
    if qrels is None:
        run, qrels = frames(run)
        assert p.evaluate(p.source({"r": run}, qrels=qrels)).mean.tolist() == [[0.5]]
    found = p.evaluate(p.source(run, qrels=qrels), ["AP"])
    assert (found.runs, found.mean.tolist()) == ((tag,), [[0.5]])


@pytest.mark.parametrize(
    ("run", "qrels", "words"),
    [
        (RUN, {}, "`qrels` must judge one document or more"),
        (RUN, {"1": {"10": 1.5}}, "`qrels` must hold whole numbers: topic `1`, document `10`, but got 1.5"),
        (RUN, {"1": {"10": "1"}}, "`qrels` must hold finite numbers: topic `1`, document `10`, but got '1'"),
        (RUN, {"1": {1.5: 1}}, "`qrels` must have ids that are text or whole numbers, but got 1.5"),
        (RUN, {"1": {"": 1}}, "`qrels` must have ids of 1 to 1,024 bytes, but got ''"),
        (RUN, {"1": {"é" * 513: 1}}, "`qrels` must have ids of 1 to 1,024 bytes, but got 'é"),
        (RUN, {"1": ["10"]}, "{topic: {docno: grade}}, and topic `1` is no mapping, but got ['10']"),
        (RUN, [("1", "10")], "rows of topic, docno and grade, but got ('1', '10')"),
        (RUN, 7, "rows of topic, docno and grade, but got 7"),
        (RUN, {1: {"10": 1}, "1": {"10": 1}}, "`qrels` must name a document once for topic 1, but got '10'"),
        (7, {"1": {"10": 1}}, "`runs` must be files, {tag: {topic: {docno: score}}}, or one run, but got 7"),
        ({"1": {"10": float("nan")}}, {"1": {"10": 1}}, "`runs` must hold finite numbers"),
        (RUN, {"101.1": {"10": 1}}, "no topic of the runs is in the qrels"),
    ],
)  # fmt: skip
def test_what_has_another_shape_is_named_in_a_sentence(run: Any, qrels: Any, words: str) -> None:
    """Nothing is guessed, and no foreign exception comes through."""
    with pytest.raises(p.PoolerError) as caught:
        p.evaluate(p.source(run, qrels=qrels))
    assert words in str(caught.value)


def test_a_frame_with_a_column_of_names_is_one_run() -> None:
    """Its attribute `name` is that column then, and no name of the run."""
    frame = pandas.DataFrame({"qid": ["1"], "docno": ["10"], "score": [1.0], "name": ["x"]})
    assert p.evaluate(p.source(frame, qrels={"1": {"10": 1}})).runs == ("run",)


def test_measures_of_ir_measures_are_taken() -> None:
    """As they write themselves."""
    measure = ir_measures.AP @ 10
    assert p.evaluate(p.source(RUN, qrels={"1": {"10": 1}}), [measure]).measures == ("AP@10",)


def test_judgements_are_one_file_or_several(tmp_path: Path) -> None:
    """The letters of one name are no files, and grades in memory have another argument."""
    write(tmp_path / "a.qrels", "1 0 10 1", "1 0 11 0")
    assert p.source(judgements=str(tmp_path / "a.qrels")).judgements == (str(tmp_path / "a.qrels"),)
    in_memory: Any = {"ann": {"1": {"10": 1}}}
    for grades in (in_memory, [in_memory]):
        with pytest.raises(p.ArgumentError, match="`judgements` must be files of grades"):
            p.source(judgements=grades)


def test_a_frame_without_the_columns_is_named() -> None:
    """By the columns it has."""
    frame = pandas.DataFrame({"qid": ["1"], "doc": ["10"]})
    with pytest.raises(p.ArgumentError, match="with a column docno or doc_id or docid, but got"):
        p.source(frame, qrels={"1": {"10": 1}})


def test_several_judges_are_measured_by_a_rule(tmp_path: Path) -> None:
    """Of a: 1 1 0, of b: 0 1, tied, of c: 0 0 1; AP of c, b, a is 1/3 with ties low, 7/12 high."""
    for name, a, b, c in (("ann", 1, 0, 0), ("bob", 1, 1, 0), ("cid", 0, None, 1)):
        lines = [
            f"1 0 {docno} {grade}" for docno, grade in zip("abc", (a, b, c), strict=True) if grade is not None
        ]
        write(tmp_path / name, *lines)
    files = [tmp_path / name for name in ("ann", "bob", "cid")]
    run = {"1": {"c": 3.0, "b": 2.0, "a": 1.0}}
    p.init(tmp_path / "c.db", "0-1")
    with p.open_collection(tmp_path / "c.db") as made:
        found = [(p.source(run, judgements=files, qrels=p.Qrels(aggregate="majority", ties=ties)), ap)
                 for ties, ap in (("low", 1 / 3), ("high", (1 / 2 + 2 / 3) / 2))]  # fmt: skip
        for source, ap in found:
            assert p.evaluate(source).mean.tolist() == [[pytest.approx(ap)]]
        with pytest.raises(p.ArgumentError, match="`ties` must be low, high or unresolved"):
            p.evaluate(p.source(run, judgements=files, qrels=p.Qrels(aggregate="majority")))
        write(tmp_path / "x.run", "1 Q0 c 1 3 x", "1 Q0 b 2 2 x", "1 Q0 a 3 1 x")
        place = f"{tmp_path}/c.db"
        run_inside("import", "runs", f"{tmp_path}/x.run", "--collection", place).fine()
        for name in ("ann", "bob", "cid"):
            run_inside(
                "import", "judgements", f"{tmp_path}/{name}", "--judge", name, "--collection", place
            ).fine()
        rule = p.Qrels(aggregate="majority", ties="high")
        assert p.evaluate(p.source(made, qrels=rule)).mean.tolist() == [[pytest.approx(7 / 12)]]
