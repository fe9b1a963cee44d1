"""Qrels that commands are given: codes below 0 as pytrec_eval has them, repeated lines, two grades."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

import pooler as p
from store.errors import PoolerError
from tests.helpers.run import GARDEN, Cli, qrels_of, write
from tests.helpers.strategies import examples

DOCNOS = [f"d{number}" for number in range(8)]
RUN = {docno: float(-place) for place, docno in enumerate(DOCNOS)}
OTHER = {docno: float(place) for place, docno in enumerate(DOCNOS)}
TREC_EVAL = {"infAP": "infAP", "Bpref": "bpref", "AP": "map", "nDCG": "ndcg", "P@3": "P_3"}


def oracle(qrels: dict[str, int], run: dict[str, float]) -> dict[str, float]:
    """Measure one topic; to ir_measures whatever is listed is judged, so -1 is not listed for it."""
    evaluator = pytrec_eval.RelevanceEvaluator({"1": qrels}, {"infAP", "bpref", "map", "ndcg", "P.3"})
    found = evaluator.evaluate({"1": run})["1"]
    judged, share = {docno: code for docno, code in qrels.items() if code != -1}, ir_measures.Judged @ 3
    values = {name: found[theirs] for name, theirs in TREC_EVAL.items()}
    return values | {"Judged@3": ir_measures.calc_aggregate([share], {"1": judged}, {"1": run})[share]}


codes = st.dictionaries(st.sampled_from([*DOCNOS, "m1", "m2"]), st.integers(-3, 3), min_size=1).filter(
    lambda one: max(one.values()) > 0 and not one.keys().isdisjoint(DOCNOS[:5])
)
"""Some of the five documents that every run has are named: else the ids of the two do not meet."""


@given(codes, st.booleans())
@settings(max_examples=examples(200))
def test_codes_of_every_kind_are_measured_as_the_peers_do(qrels: dict[str, int], short: bool) -> None:
    """From memory, -1 told or not."""
    run = dict(list(RUN.items())[: 5 if short else 8])
    expected = oracle(qrels, run)
    for told in ((), ("-1=unjudged", "-2=grade", "-3=grade")):
        source = p.source({"a": {"1": run}}, qrels={"1": qrels}, codes=told)
        found = p.evaluate(source, list(expected))
        assert found.mean[:, 0].tolist() == pytest.approx(list(expected.values()), abs=1e-9)


@given(codes)
@settings(max_examples=examples(100))
def test_nothing_is_flipped_that_is_judged(qrels: dict[str, int]) -> None:
    """With the codes told, the first unjudged document is the first that has no code but -1."""
    runs = {"a": {"1": RUN}, "b": {"1": OTHER}}
    source = p.source(runs, qrels={"1": qrels}, codes=["-2=grade", "-3=grade"])
    table = p.sensitivity(source, depth=1, at="first").table("topics")
    for tag, docno in zip(table.cells("run"), table.cells("docno"), strict=True):
        ranked = DOCNOS if tag == "a" else DOCNOS[::-1]
        assert docno == [one for one in ranked[1:] if qrels.get(one, -1) == -1][:1]
    if min(qrels.values()) < -1:
        with pytest.raises(PoolerError, match="what does the code -"):
            p.sensitivity(p.source(runs, qrels={"1": qrels}), depth=1)


CODED = {"d0": 0, "d1": -1, "d3": 1, "d4": 1, "d5": -2, "d6": 0, "m1": -3}


@pytest.fixture
def files(here: Path) -> tuple[str, ...]:
    """Qrels with codes of every kind, and two runs."""
    write(here / "q", *[f"1 0 {docno} {code}" for docno, code in CODED.items()])
    for tag, run in (("a", RUN), ("b", OTHER)):
        write(here / f"{tag}.run", *[f"1 Q0 {docno} 1 {score} {tag}" for docno, score in run.items()])
    return ("a.run", "b.run", "--qrels", "./q")


def test_files_are_read_as_memory_and_codes_are_told_in_a_line_each(
    cli: Cli, files: tuple[str, ...], here: Path
) -> None:
    """One line on -1, one warning that names the option for the rest."""
    asked = [word for name in oracle(CODED, RUN) for word in ("--measure", name)]
    for scale in ((), ("--scale", "0-1")):
        found = cli("evaluate", *files, *asked, *scale, "--table", "measures", "--format", "json").fine()
        values = {(row["run"], row["measure"]): row["value"] for row in found.json()}
        for tag, run in (("a", RUN), ("b", OTHER)):
            expected = oracle(CODED, run)
            assert [values[tag, name] for name in expected] == pytest.approx(list(expected.values()))
        assert found.err.splitlines() == [
            "./q: 1 pooled document without a grade (code -1)",
            "warning: ./q: 2 documents with codes -3, -2 counted as judged and not relevant;"
            " --code -3=grade|unjudged|not-pooled|skipped|cannot says what it means",
        ]
    assert p.read_qrels("q").to_dict() == {"1": CODED}
    quiet = cli("evaluate", *files, "--code", "-2=grade", "--code", "-3=grade").fine()
    assert "warning" not in quiet.err
    assert "`--code` is for files" in cli("evaluate", "--code", "-2=grade").failed(1).err
    sample = ("evaluate", "-m", "statAP", "--prels", "q", "--code", "-2=grade")
    assert "`--code` is for files" in cli(*sample).failed(1).err


@pytest.mark.parametrize(
    "command",
    ["sensitivity --depth 1", "diagnose --depth 1", "replay", "pool next", "report made.html --depth 1"],
)
def test_whatever_tells_unjudged_documents_asks_first(cli: Cli, files: tuple[str, ...], command: str) -> None:
    """A code of which nobody said that it is a judgement is refused, with the line to type."""
    refused = cli(*command.split(), *files).failed(1)
    assert "error: ./q: what does the code -3 mean?" in refused.err
    assert "--code -3=unjudged" in refused.err
    told = cli(*command.split(), *files, "--code", "-3=not-pooled", "--code", "-2=grade")
    assert "what does the code" not in told.err


def test_diff_asks_what_codes_below_minus_1_mean(cli: Cli, files: tuple[str, ...], here: Path) -> None:
    """From -2, junk, to 0 a grade changed; where it is unjudged, the document is judged since."""
    write(here / "r", *[f"1 0 {docno} {max(code, 0)}" for docno, code in CODED.items() if docno != "m1"])
    assert "./q: what does the code -3 mean?" in cli("qrels", "diff", "./q", "./r").failed(1).err
    for told, expected in (("grade", (1, 1)), ("unjudged", (0, 2))):
        options = ("--code", f"-2={told}", "--code", "-3=not-pooled", "--format", "json")
        counts = {
            row["what"]: row["documents"]
            for row in cli("qrels", "diff", "./q", "./r", *options).fine().json()["summary"]
        }
        assert (counts["changed"], counts["now judged"], counts["removed"]) == (*expected, 0)


@pytest.mark.parametrize("judges", [("ann",), ("ann", "ben")])
def test_a_collection_knows_what_was_pooled_and_not_judged(
    cli: Cli, here: Path, collection_of: Callable[..., None], judges: tuple[str, ...]
) -> None:
    """What a pool has and nobody graded is -1 to infAP; what no pool has is not; it is counted in a line."""
    graded = {"d0": 0, "d3": 1, "d4": 1}
    lines = [f"1 0 {docno} {grade}" for docno, grade in graded.items()]
    collection_of("0-1", **dict.fromkeys(judges, lines))
    write(here / "a.run", *[f"1 Q0 {docno} 1 {score} a" for docno, score in RUN.items()])
    cli("import", "runs", "a.run").fine()
    cli("pool", "--depth", "4").fine()
    found: Any = cli("evaluate", "-m", "infAP", "-m", "AP", "--table", "measures", "--format", "json").fine()
    expected = oracle({**graded, "d1": -1, "d2": -1}, RUN)
    assert [row["value"] for row in found.json()] == pytest.approx([expected["infAP"], expected["AP"]])
    assert expected["infAP"] != pytest.approx(oracle(graded, RUN)["infAP"])
    for said in (found, cli("sensitivity").fine()):
        assert "2 pooled documents without a grade" in said.err


STRICT = GARDEN / "judgements" / "strict.qrels"
TWO = tuple(str(GARDEN / "runs" / f"{tag}.run") for tag in ("bm25-words", "tfidf-words"))
GIVEN = ("--qrels", "./q", *TWO)
READERS = [
    ("evaluate", *GIVEN),
    ("evaluate", *GIVEN, "--scale", "0-2"),
    ("compare", *GIVEN),
    ("sensitivity", *GIVEN, "--depth", "5"),
    ("diagnose", *GIVEN),
    ("variation", *GIVEN, "--value", "0=0", "--value", "1=.5", "--value", "2=1"),
    ("pool", "next", *GIVEN, "--value", "0=0", "--value", "1=.5", "--value", "2=1"),
    ("replay", *GIVEN, "-s", "take", "--depth", "10"),
    ("diagnose", *GIVEN, "--depth", "5", "--table", "contributions"),
    ("qrels", "diff", "./q", STRICT),
    ("export", "qrels", "./q", "--level", "1"),
    ("agreement", *qrels_of("./q", STRICT)),
]


def repeated(folder: Path, *more: str) -> int:
    """Write the sample's judgements and more lines to `q`; return the number of the first line."""
    lines = STRICT.read_text("utf-8").splitlines()
    (folder / "q").write_text("\n".join([*lines, *more]) + "\n", "utf-8")
    return len(lines) + 1


@pytest.mark.parametrize("command", READERS, ids=lambda words: words[0])
def test_lines_that_say_what_an_earlier_one_says_count_once(
    command: tuple[str, ...], cli: Cli, here: Path
) -> None:
    """The result is that of the file without them, and they are told once."""
    repeated(here)
    plain = cli(*command).fine()
    assert "not counted" not in plain.err
    lines = STRICT.read_text("utf-8").splitlines()
    number = repeated(here, lines[3], lines[0], lines[3])
    told = cli(*command).fine()
    assert told.out == plain.out
    words = f"./q: 3 lines not counted (first: line {number}): repeats of another line\n"
    assert told.err.count(words) == told.err.count("not counted") == 1
    is_evaluator = command[0] not in ("export", "agreement")
    assert (f"warning: {words}" in told.err) == is_evaluator


@pytest.mark.parametrize("options", [(), ("--scale", "0-1")], ids=["codes", "scale"])
def test_two_grades_of_a_document_are_refused_with_all_other_faults(
    options: tuple[str, ...], cli: Cli, here: Path
) -> None:
    """Each is told with its line and the line it contradicts; what is alike is no fault."""
    lines = ("1 0 a 1", "1 0 b 0", "1 0 a 1", "1 0 a 0", "1 0 c", "1 0 b 1", "1 0 d 2")
    (here / "q").write_text("\n".join(lines) + "\n")
    told = cli("evaluate", *GIVEN, *options).failed(1).err
    places = re.findall(r"^(?:error: )?./q:([0-9]+): ", told, re.MULTILINE)
    assert places == ["4", "5", "6"] + (["7"] if options else [])
    assert "docno `a` with grade 0; line 1 has it with grade 1" in told
    assert "docno `b` with grade 1; line 2 has it with grade 0" in told
    assert "not counted" not in told
    assert ("--scale declares" in told) == bool(options)
