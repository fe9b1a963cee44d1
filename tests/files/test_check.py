"""`pooler.reading.check`: faults and oddities of a run file in one report."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.reading.check import RunReport, check_run
from pooler.reading.strict import parse_run, read_run
from pooler.reading.tops import TieAtCut
from store.errors import ArgumentError, FaultList, FormatError, PoolerError
from store.ranking import ORDERS, Order
from tests.strategies import RunText, damaged, run_texts

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Name a place to write a run file to."""
    return tmp_path_factory.mktemp("check") / "x.run"


def rows_of(topic: str, scores: list[float], *, first_rank: int = 1) -> str:
    """Write the lines of one topic, documents d0, d1, ... with the given scores."""
    return "".join(
        f"{topic} Q0 d{number} {number + first_rank} {score} t\n" for number, score in enumerate(scores)
    )


def warnings_of(report: RunReport) -> dict[str, tuple[int, str]]:
    """Key counts and messages of a report's warnings by code; each code is there once."""
    codes = [warning.code for warning in report.warnings]
    assert len(codes) == len(set(codes))
    return {warning.code: (warning.count, warning.message) for warning in report.warnings}


@given(
    data=st.data(),
    text=run_texts() | run_texts(lenient=True),
    order=st.sampled_from(ORDERS),
    lenient=st.booleans(),
)
def test_check_run_damaged_file_agrees_with_read_run(
    data: st.DataObject, text: RunText, order: Order, *, lenient: bool, file: Path
) -> None:
    """No content of a file raises, and the faults told are those that reading raises."""
    content = data.draw(damaged(text.content))
    if data.draw(st.integers(0, 3)) == 0:
        packed = gzip.compress(content, mtime=0)
        content = packed[: data.draw(st.integers(0, len(packed)))]
    file.write_bytes(content)
    report = check_run(str(file), depth=2, order=order, lenient=lenient)
    if report.n_faults:
        with pytest.raises(FormatError) as caught:
            read_run(str(file), lenient=lenient)
        assert caught.value.faults == report.faults
        assert caught.value.n_faults == report.n_faults
        assert caught.value.hint == report.hint
        return
    run = read_run(str(file), lenient=lenient)
    assert report.tag == run.tag
    assert report.sha256 == run.sha256
    assert report.n_topics == len(run.rankings)
    assert report.n_documents == sum(len(ranking.docnos) for ranking in run.rankings)


def test_check_run_clean_file_has_no_warning(file: Path) -> None:
    """A file with nothing odd about it is reported without a word."""
    file.write_text(rows_of("1", [9.5 - n for n in range(10)]))
    report = check_run(str(file), known_topics={"1"}, known_docnos={f"d{n}" for n in range(10)})
    assert report.warnings == ()
    assert report.n_faults == 0
    assert (report.tag, report.n_lines, report.n_topics, report.n_documents) == ("t", 10, 1, 10)


def test_check_run_ties_at_the_cut_are_told_as_in_and_out(file: Path) -> None:
    """Eleven documents tied at depth 100, four of them inside, are told with both counts."""
    scores = [float(200 - n) for n in range(96)] + [50.0] * 11 + [1.0]
    file.write_text(rows_of("21", scores) + rows_of("22", [2.0, 1.0]))
    report = check_run(str(file), depth=100)
    found = warnings_of(report)
    message = "11 documents tied at depth 100 in topic 21: 4 in, 7 out"
    assert found["ties-at-cut"] == (1, message)
    assert report.ties_at_cut == (TieAtCut("t", "21", 4, 7),)
    assert found["ties"] == (11, "11 documents have tied scores, in topic 21")
    # d96 to d106 tie: trec_eval's order puts `d99` first of them, the file `d96`.
    assert found["rank-order"][0] == 1
    assert "in topic 21: `d96` is number 97 by rank, `d99` by score" in found["rank-order"][1]
    short = "fewer than 100 documents in topic 22: 2 in the first"
    assert found["short-topic"] == (1, short)


@pytest.mark.parametrize(("n_others", "words"), [(1, "1 more topic"), (2, "2 more topics")])
def test_check_run_ties_at_the_cut_elsewhere_are_counted(file: Path, n_others: int, words: str) -> None:
    """The other topics with ties there are counted, and one is no plural."""
    file.write_text("".join(rows_of(str(topic), [1.0, 1.0]) for topic in range(n_others + 1)))
    _, message = warnings_of(check_run(str(file), depth=1))["ties-at-cut"]
    assert message.endswith(f": 1 in, 1 out; ties there in {words}")


@pytest.mark.parametrize(
    ("order", "expected"), [("trec", (1, 2)), ("docno-asc", (1, 2)), ("rank", (2, 1)), ("file", None)]
)
def test_check_run_ties_at_the_cut_follow_the_order(
    order: Order, expected: tuple[int, int] | None, file: Path
) -> None:
    """Scores tie in score orders, stated ranks in order rank, and nothing in file order."""
    file.write_text("1 Q0 e 3 1 t\n1 Q0 c 1 5 t\n1 Q0 d 2 5 t\n1 Q0 a 1 9 t\n1 Q0 b 1 5 t\n")
    report = check_run(str(file), depth=2, order=order)
    assert [(tie.n_in, tie.n_out) for tie in report.ties_at_cut] == ([expected] if expected else [])


def test_check_run_ranks_that_are_no_integers_have_no_ties(file: Path) -> None:
    """Where stated ranks cannot order a topic, no tie of theirs is told, only a warning."""
    file.write_text("1 Q0 a x 1 t\n1 Q0 b x 1 t\n")
    report = check_run(str(file), depth=1, order="rank")
    assert report.ties_at_cut == ()
    assert warnings_of(report)["rank-number"][0] == 2


def test_check_run_trec9_ties_rounded_scores(file: Path) -> None:
    """Scores that only 64 bits tell apart are tied for trec_eval 9."""
    file.write_text("1 Q0 a 1 16.00000001 t\n1 Q0 b 2 16.0 t\n")
    assert check_run(str(file), depth=1, order="trec").ties_at_cut == ()
    assert check_run(str(file), depth=1, order="trec9").ties_at_cut == (TieAtCut("t", "1", 1, 1),)


def test_check_run_ranks_against_scores(file: Path) -> None:
    """Stated ranks that order a topic otherwise than its scores are told with an example."""
    file.write_text(rows_of("1", [1.0, 2.0]) + rows_of("2", [2.0, 1.0]) + rows_of("3", [0.0, 1.0]))
    count, message = warnings_of(check_run(str(file)))["rank-order"]
    assert count == 2
    assert message == (
        "the stated ranks disagree with the scores (order `trec`) in topic 1 and 1 more:"
        " `d0` is number 1 by rank, `d1` by score"
    )


def test_check_run_ranks_from_zero_and_no_integers(file: Path) -> None:
    """Ranks from 0 are counted by topic, ranks that are no integers by line."""
    other = "3 Q0 a 1 9 t\n3 Q0 b 2.0 8 t\n3 Q0 c iii 7 t\n"
    file.write_text(rows_of("1", [2.0, 1.0], first_rank=0) + rows_of("2", [3.0], first_rank=0) + other)
    found = warnings_of(check_run(str(file)))
    assert found["rank-zero"] == (2, "stated ranks start at 0 in topic 1 and 1 more")
    expected = "2 stated ranks are not integers, first on line 5: `2.0`"
    assert found["rank-number"] == (2, expected)


def test_check_run_second_field_is_told_once(file: Path) -> None:
    """Another second field than Q0 or 0 is one warning with the number of lines."""
    file.write_text("1 Q0 a 1 3 t\n1 0 b 2 2 t\n1 q0 c 3 1 t\n1 EXP d 4 0 t\n")
    message = "the second field is not `Q0` on 2 lines, first on line 3: `q0`"
    assert warnings_of(check_run(str(file)))["q0"] == (2, message)
    assert parse_run(str(file), FaultList(str(file))).n_odd_q0 == 2


@pytest.mark.parametrize(("depth", "count"), [(None, 1), (9, 0), (10, 1), (11, 2)])
def test_check_run_short_topics_against_depth_or_ten(depth: int | None, count: int, file: Path) -> None:
    """A topic is short below the depth; without a depth, below ten documents."""
    file.write_text(rows_of("1", [-float(n) for n in range(9)]) + rows_of("2", [-1.0 * n for n in range(10)]))
    found = warnings_of(check_run(str(file), depth=depth))
    assert found.get("short-topic", (0, ""))[0] == count


def test_check_run_known_topics_and_docnos(file: Path) -> None:
    """Unknown topics (once each) and documents are faults, missing topics one warning."""
    file.write_text(rows_of("1", [2.0, 1.0]) + rows_of("99", [2.0, 1.0]))
    report = check_run(str(file), known_topics={"1", "2", "10"}, known_docnos={"d0"})
    assert [(fault.line, fault.code, fault.message) for fault in report.faults] == [
        (2, "unknown-docno", "expected a known docno, got `d1`"),
        (3, "unknown-topic", "expected a known topic, got `99`"),
        (4, "unknown-docno", "expected a known docno, got `d1`"),
    ]
    assert report.fault_counts == {"unknown-docno": 2, "unknown-topic": 1}
    found = warnings_of(report)
    assert found["missing-topic"] == (2, "no documents for topic 2 and 1 more")


def test_check_run_many_faults_are_counted_by_code(file: Path) -> None:
    """Twenty-five faults are kept, all are counted."""
    file.write_text("1 Q0 a 1 x t\n" * 30)
    report = check_run(str(file))
    assert len(report.faults) == 25
    assert report.fault_counts == {"score": 30, "duplicate": 29}
    assert report.n_faults == 59


def test_check_run_documents_are_lines_without_a_fault(file: Path) -> None:
    """A document that is there twice, or under an id that cannot be, is counted once or never."""
    file.write_text("1 Q0 a 1 4 t\n1 Q0 a 2 3 t\n1 Q0 b\x07 3 2 t\n1 Q0 c 4 nan t\n1 Q0 d 5 1 t\n")
    report = check_run(str(file))
    assert report.fault_counts == {"duplicate": 1, "id": 1, "score": 1}
    assert report.n_documents == 2


def test_check_run_lines_include_blank_ones(file: Path) -> None:
    """Lines are counted as an editor counts them, documents without the blank lines."""
    file.write_text("\n1 Q0 a 1 1 t\n\n")
    report = check_run(str(file))
    assert (report.n_lines, report.n_documents) == (3, 1)


def test_check_run_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard input is checked in one pass."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1 Q0 a 1 x t\n")))
    report = check_run("-")
    assert (report.path, report.fault_counts) == ("-", {"score": 1})


def test_check_run_arguments_are_checked(tmp_path: Path) -> None:
    """An unknown order and a missing file are the caller's errors."""
    with pytest.raises(ArgumentError, match="`order` must be one of trec"):
        check_run("x.run", order="best")  # type: ignore[arg-type] - the point of the test
    with pytest.raises(PoolerError, match="no such file"):
        check_run(str(tmp_path / "gone"))


@pytest.mark.vector("trec-covid-r1 PROVENANCE.md: no faults, no duplicates; 30 topics")
def test_check_run_submitted_runs_have_no_fault() -> None:
    """Runs as submitted to TREC-COVID pass, and their oddities are told."""
    folder = DATA / "trec-covid-r1" / "runs-top120"
    if not folder.exists():
        pytest.skip("the TREC-COVID runs are absent")
    disagreeing = 0
    for path in sorted(folder.glob("*.gz"))[:30]:
        report = check_run(str(path), known_topics={str(number) for number in range(1, 31)})
        assert report.n_faults == 0
        assert report.tag == path.name.removesuffix(".gz")
        disagreeing += "rank-order" in warnings_of(report)
    assert disagreeing > 0
