"""Run files: what either reader makes of them, what is a fault and what to type; lists of runs."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.reading.blocks import LineFacts, stream_rankings
from pooler.reading.check import check_run
from pooler.reading.fields import SuspicionError
from pooler.reading.run_list import RunEntry, read_run_list
from pooler.reading.strict import SPLIT_HINT, read_run, whole_ranks
from pooler.reading.tops import read_top, top_of
from pooler.reading.whole import read_whole
from store.errors import FormatError, PoolerError
from store.records import Run
from tests.benchmarks.generate import generate
from tests.helpers.run import Cli, run_inside
from tests.helpers.shared_data import shared_data
from tests.helpers.strategies import RunText, damaged, run_texts

LENIENT_HINT = "`--lenient` reads the first six fields, as trec_eval does"
BLANKS_HINT = "a run line is topic, Q0, docno, rank, score and run tag, none of them with a blank"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Name a place to write a run file to."""
    return tmp_path_factory.mktemp("runs") / "x.run"


def faults_of(path: Path, *, lenient: bool = False) -> list[tuple[int | None, str]]:
    """Lines and codes of a file's faults."""
    with pytest.raises(FormatError) as caught:
        read_run(str(path), lenient=lenient)
    return [(fault.line, fault.code) for fault in caught.value.faults]


@given(text=run_texts(whole_ranks=False))
def test_read_run_valid_file_gives_what_is_written(text: RunText, file: Path) -> None:
    """Every field of a file without faults comes back, in file order."""
    file.write_bytes(text.content)
    run = read_run(str(file))
    rows = [
        (ranking.topic, docno, score)
        for ranking in run.rankings
        for docno, score in zip(ranking.docnos, ranking.scores.tolist(), strict=True)
    ]
    assert rows == [(topic, docno, float(score)) for topic, docno, _, score in text.rows]
    assert run.tag == text.tag
    assert run.file == "x.run"
    assert run.sha256 == hashlib.sha256(text.content).hexdigest()
    for ranking in run.rankings:
        ranks = [rank for topic, _, rank, _ in text.rows if topic == ranking.topic]
        if ranking.ranks is None:
            assert {"x", "1.5", "1_0", str(2**70)} & set(ranks)
        else:
            assert ranking.ranks.tolist() == [int(rank) for rank in ranks]


@given(text=run_texts(lenient=True))
def test_read_run_lenient_reads_what_trec_eval_reads(text: RunText, file: Path) -> None:
    """Lenient reading joins topics, skips comments and extra fields, and takes the last tag."""
    file.write_bytes(text.content)
    run = read_run(str(file), lenient=True)
    assert run.tag == text.tag
    for ranking in run.rankings:
        of_topic = [row for row in text.rows if row[0] == ranking.topic]
        assert ranking.docnos == [docno for _, docno, _, _ in of_topic]
        assert ranking.scores.tolist() == [float(score) for _, _, _, score in of_topic]
    assert [ranking.topic for ranking in run.rankings] == list(dict.fromkeys(row[0] for row in text.rows))


@pytest.mark.parametrize(
    ("content", "faults"),
    [
        (b"1 Q0 a 1 2\n", [(1, "fields")]),
        (b"1 Q0 a 1 2 t\n1 Q0 b 2 1 t more\n", [(2, "fields")]),
        (b"1 Q0 a 1 2 t\n\n1 Q0 b 2 abc t\n", [(3, "score")]),
        (b"1 Q0 a 1 1_0 t\n", [(1, "score")]),
        (b"1 Q0 a 1 nan t\n1 Q0 b 1 -inf t\n1 Q0 c 1 1e999 t\n", [(n, "score") for n in (1, 2, 3)]),
        (b"1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n1 Q0 a 3 0 t\n", [(3, "duplicate")]),
        (b"1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 b 2 1 t\n1 Q0 c 3 1 t\n", [(3, "split-topic")]),
        (b"1 Q0 a 1 2 t\n1 Q0 b 2 1 u\n1 Q0 c 3 1 t\n1 Q0 d 3 1 u\n", [(2, "tag")]),
        (b"1 Q0 a\x07 1 2 t\n", [(1, "id")]),
        (b"1\x7f Q0 a 1 2 t\n1\x7f Q0 b 1 2 t\n", [(1, "id")]),
        (b"1 Q0 a 1 2 \xff\n", [(1, "id")]),
        ("1 Q0 a\u202e 1 2 t\n".encode(), [(1, "id")]),
        ("1 Q0 a\u3000b 1 2 t\n".encode(), [(1, "id")]),
        (b"1 Q0 a 1 1 t\n #2 Q0 a 1 1 t\n", [(2, "id")]),  # a comment to trec_eval, in qrels of the topic
        (b"", [(None, "empty")]),
        (b"\n \r\n\t\n", [(None, "empty")]),
        (b"1 Q0 a\x07 1 x t u\n1 Q0 b\x07 1 x t\n", [(1, "fields"), (2, "id"), (2, "score")]),
    ],
)
def test_read_run_bad_file_tells_line_and_code(
    content: bytes, faults: list[tuple[int | None, str]], tmp_path: Path
) -> None:
    """Each kind of fault is told with its line, and all of a file at once."""
    path = tmp_path / "x.run"
    path.write_bytes(content)
    assert faults_of(path) == faults


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (b"1 Q0 a 1 2 t more\n", LENIENT_HINT),
        (b"1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 b 2 1 t\n", SPLIT_HINT),
        (b"1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 a 2 1 t\n", None),  # joined, the topic has `a` twice
        (b"7 Q0 Alps report 1 9.5 t\n7 Q0 b 2 9 t\n", BLANKS_HINT),
        (b"7 Q0 doc 12 1 9.5 t\n7 Q0 doc 15 2 9 t\n", BLANKS_HINT),  # its first column is no index
        (b"7 0 doc 12 1 9.5 t\n7 0 doc 15 2 9 t\n", BLANKS_HINT),
        (b"7 Q0 Alps 2 1 9.5 t\n7 Q0 b 2 9 t\n", BLANKS_HINT),
        (b'"1" Q0 "a" 1 2 "t" more\n', BLANKS_HINT),
    ],
)
def test_read_run_hint_names_lenient_where_it_helps(content: bytes, hint: str | None, tmp_path: Path) -> None:
    """The hint tells of `--lenient` when that would read the file, and only then."""
    path = tmp_path / "x.run"
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        read_run(str(path))
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("content", "faults"),
    [
        (b"1 Q0 a 1 abc t\n", [(1, "score")]),
        (b"1 Q0 a 1 2\n", [(1, "fields")]),
        (b"1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 a 2 1 t\n", [(3, "duplicate")]),
        (b"1 Q0 a\x07 1 2 t\n", [(1, "id")]),
        (b"# nothing else\n", [(None, "empty")]),
    ],
)
def test_read_run_lenient_still_refuses_what_changes_results(
    content: bytes, faults: list[tuple[int | None, str]], tmp_path: Path
) -> None:
    """Lenient reading never guesses a score, drops a document or keeps one twice."""
    path = tmp_path / "x.run"
    path.write_bytes(content)
    assert faults_of(path, lenient=True) == faults


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ([b"1", b"+2", b"-3", b"007"], [1, 2, -3, 7]),
        ([b"1", b"two"], None),
        ([b"1_0"], None),
        ([b"1.0"], None),
        ([str(2**63 - 1).encode()], [2**63 - 1]),
        ([str(2**63).encode()], None),
        ([b"9" * 5000], None),
    ],
)
def test_whole_ranks_integers_of_64_bits_only(ranks: list[bytes], expected: list[int] | None) -> None:
    """Stated ranks are all integers that fit 64 bits, or there are none."""
    found = whole_ranks(ranks)
    assert (None if found is None else found.tolist()) == expected
    assert found is None or found.dtype == np.int64


@pytest.mark.vector("trec_eval test/results.trunc: 584 lines, 5 with text after the sixth field")
def test_read_run_trec_eval_file_needs_lenient() -> None:
    """trec_eval's own file with junk at line ends is refused by line, and read leniently."""
    path = shared_data("trec-eval-test/results.trunc")
    with pytest.raises(FormatError, match=r"results\.trunc:1: expected 6 fields, got 9") as caught:
        read_run(str(path))
    assert caught.value.hint == LENIENT_HINT
    found = [fault.line for fault in caught.value.faults if fault.code == "fields"]
    lines = path.read_bytes().splitlines()
    assert found == [number for number, line in enumerate(lines, 1) if len(line.split()) > 6]
    run = read_run(str(path), lenient=True)
    assert run.tag == "STANDARD"
    assert [ranking.topic for ranking in run.rankings] == ["301", "303"]
    assert sum(len(ranking.docnos) for ranking in run.rankings) == 584


@pytest.mark.parametrize(
    ("content", "codes"),
    [
        (b"1 0 a 2\n\n2 0 b -1\n", ["qrels"]),
        (b"\xef\xbb\xbf1 0 a 2.0\r\n", ["qrels"]),
        # A grade that is none; three fields; a run line among them; runs cut off after the rank.
        (b"1 0 a 2\n1 0 b x\n", ["fields", "fields"]),
        (b"1 0 a 2\n1 0 b\n", ["fields", "fields"]),
        (b"1 0 a 2\n1 Q0 b 1 2 t\n", ["fields"]),
        (b"1 Q0 a 1\n1 Q0 b 2\n", ["fields", "fields"]),
    ],
)
def test_read_run_qrels_file_is_told_in_one_line(content: bytes, codes: list[str], tmp_path: Path) -> None:
    """Where all lines are those of a qrels file that is the one fault, with what to type."""
    path = tmp_path / "x.qrels"
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        read_run(str(path))
    assert [fault.code for fault in caught.value.faults] == codes
    if codes == ["qrels"]:
        assert "this looks like a qrels file (4 columns" in caught.value.message
        assert "expected a run (6 columns" in caught.value.message
        assert "`pooler import judgements FILE`" in (caught.value.hint or "")


def facts(run: Run) -> tuple[object, ...]:
    """Give everything a `Run` says, in values that compare."""
    rankings = [
        (
            one.topic,
            one.docnos,
            one.scores.dtype,
            one.scores.tobytes(),
            None if one.ranks is None else (one.ranks.dtype, one.ranks.tolist()),
        )
        for one in run.rankings
    ]
    return run.tag, run.sha256, run.file, run.group, run.contributes, rankings


def outcome(read: Callable[[], Run]) -> object:
    """Give what reading gives: the run, or the type and words of the error."""
    try:
        return facts(read())
    except PoolerError as error:
        return type(error), error.message, error.hint


any_texts = run_texts(whole_ranks=False) | run_texts(tidy=True) | run_texts(lenient=True)


@given(data=st.data(), text=any_texts, is_damaged=st.booleans())
def test_read_whole_equals_the_slow_reader(
    data: st.DataObject, text: RunText, *, is_damaged: bool, file: Path
) -> None:
    """Topics, scores to the last bit, ranks and hash are those of `read_run`; so is a refusal."""
    file.write_bytes(data.draw(damaged(text.content)) if is_damaged else text.content)
    for lenient in (False, True):
        slow = outcome(lambda lenient=lenient: read_run(str(file), lenient=lenient))
        assert outcome(lambda lenient=lenient: read_whole(str(file), lenient=lenient)) == slow


def test_stream_rankings_fault_far_below_comes_after_rankings(tmp_path: Path) -> None:
    """What was yielded before a suspicion has to be undone by the caller."""
    (path,) = generate(tmp_path, runs=1, topics=30, documents=1000, seed=3)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, lines[-1]]))
    taken = []
    with pytest.raises(SuspicionError, match="a document twice"):
        taken.extend(stream_rankings(str(path), LineFacts()))
    rankings = stream_rankings(str(path), LineFacts())
    assert next(rankings).topic == "1"
    rankings.close()  # type: ignore[attr-defined] - a generator; an open file would be a warning


ABOUT = (
    "# ir_metadata.start\n# tag: t\n# actor: {team: g1}\n# method: {models: [m2, m1]}\n# ir_metadata.end\n"
)
ROWS = "1 Q0 a 1 2 t\n1 Q0 b 2 1.5 t\n2 Q1 a 1 2 t\n"


@given(data=st.data(), text=run_texts(tidy=True) | run_texts(), is_damaged=st.booleans())
def test_fast_and_slow_readers_agree_on_comments_on_top(
    data: st.DataObject, text: RunText, *, is_damaged: bool, file: Path
) -> None:
    """Whatever stands below them, sound or not, there is one verdict."""
    content = data.draw(st.sampled_from([ABOUT, ABOUT.replace("\n", " \r\n")])).encode() + text.content
    file.write_bytes(data.draw(damaged(content)) if is_damaged else content)
    assert outcome(lambda: read_whole(str(file))) == outcome(lambda: read_run(str(file)))


@given(text=run_texts(tidy=True))
def test_run_below_comments_is_the_same_run(text: RunText, file: Path) -> None:
    """Tag, topics, documents and scores are those of the file without them."""
    file.write_bytes(text.content)
    bare = read_run(str(file))
    file.write_bytes(ABOUT.encode() + text.content)
    run = read_whole(str(file))
    assert run.tag == bare.tag
    assert [(one.topic, one.docnos) for one in run.rankings] == [
        (one.topic, one.docnos) for one in bare.rankings
    ]
    top = read_top(str(file), 2)
    assert top.n_lines == sum(len(one.docnos) for one in bare.rankings)
    assert top.topics == top_of(bare, 2).topics


def test_lines_are_counted_with_comments(file: Path) -> None:
    """Numbers of lines are those of the file, by the fast way and the slow one."""
    lines = ABOUT.count("\n")
    file.write_text(ABOUT + ROWS, "utf-8")
    seen = LineFacts()
    assert [one.line for one in stream_rankings(str(file), seen)] == [lines + 1, lines + 3]
    fast = check_run(str(file))
    file.write_text(ABOUT + ROWS + "\n", "utf-8")  # a blank line is for the slow reader
    slow = check_run(str(file))
    for report in (fast, slow):
        (odd,) = [one for one in report.warnings if one.code == "q0"]
        assert f"first on line {lines + 3}" in odd.message
    assert (fast.n_lines, slow.n_lines) == (lines + 3, lines + 4)


def test_comments_alone_are_no_run(file: Path) -> None:
    """A file without a run line is empty; below the run they say nothing either."""
    file.write_text(ABOUT, "utf-8")
    assert check_run(str(file)).fault_counts == {"empty": 1}
    file.write_text(ROWS + ABOUT, "utf-8")
    assert check_run(str(file)).n_faults == 0


def make(folder: Path, *names: str) -> None:
    """Make empty run files."""
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()


def test_read_run_list_all_columns_in_any_order(tmp_path: Path) -> None:
    """Columns are found by name, empty cells have their defaults, blank lines are passed over."""
    path, elsewhere = tmp_path / "runs.tsv", tmp_path / "elsewhere"
    make(tmp_path, "a.run", "sub/b.run.gz", "elsewhere/c.run", *"defg")
    path.write_text(
        "contributes\ttag\tfile\tgroup\r\n"
        "yes\tbm25\ta.run\tacme\r\n"
        "\r\n"
        "NO\t\tsub/b.run.gz\t\n"
        f"\tc\t{elsewhere}/c.run\tacme\n"
        "0\t\td\t\n"
        "1\t\te\t\n"
        "False\t\tf\t\n"
        "true\t\tg\t\n"
    )
    assert read_run_list(str(path)) == [
        RunEntry(str(tmp_path / "a.run"), "bm25", "acme", contributes=True),
        RunEntry(str(tmp_path / "sub" / "b.run.gz"), None, "", contributes=False),
        RunEntry(f"{elsewhere}/c.run", "c", "acme", contributes=True),
        RunEntry(str(tmp_path / "d"), contributes=False),
        RunEntry(str(tmp_path / "e"), contributes=True),
        RunEntry(str(tmp_path / "f"), contributes=False),
        RunEntry(str(tmp_path / "g"), contributes=True),
    ]


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbffile\ttag\r\nruns\\a.run\tr\r\n",
        b"file,tag\nruns/a.run,r\n",
        b'tag,file\r"r","runs\\a.run"\r',
    ],
)
def test_read_run_list_of_windows_is_read(content: bytes, tmp_path: Path) -> None:
    """A byte order mark, line ends, backslashes and commas are as programs there write them."""
    make(tmp_path, "runs/a.run")
    path = tmp_path / "runs.csv"
    path.write_bytes(content)
    assert read_run_list(str(path)) == [RunEntry(str(tmp_path / "runs" / "a.run"), "r")]


def test_read_run_list_standard_input_is_beside_the_working_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A list from standard input names files beneath the working folder."""
    make(tmp_path, "runs/a.run")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"file\nruns/a.run\n")))
    assert read_run_list("-") == [RunEntry(str(Path("runs", "a.run")))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "runs.tsv: expected a header line and at least one run, got none"),
        ("file\n", "runs.tsv: expected a header line and at least one run, got none"),
        ("tag\nbm25\n", "runs.tsv:1: expected a column `file`"),
        ("file\tgruop\n", "runs.tsv:1: expected columns among `group`, .*, got `gruop`"),
        ("file\ttag\ttag\n", "runs.tsv:1: expected column `tag` once"),
        ("file\ttag\na.run\n", "runs.tsv:2: expected 2 cells, got 1"),
        ("file\ttag\n\tx\n", "runs.tsv:2: expected a run file, got ``"),
        ("file\n-\n", "runs.tsv:2: expected a run file, got `-`"),
        ("file\ttag\na.run\tx\ngone.run\ty\n", "runs.tsv:3: there is no run file `gone.run`"),
        ("file\tcontributes\na\tmaybe\n", "expected `contributes` to be yes or no, got `maybe`"),
        ("file\ttag\na\tx y\n", "runs.tsv:2: tag: expected an id without blanks"),
        ("file\tgroup\na\tx\u202ey\n", "runs.tsv:2: group: expected an id without control"),
        ("file\tname\na\tx y\n", "runs.tsv:2: name: expected an id without blanks"),
        ("file\tname\na\tx\nb\tx\n", "runs.tsv:3: name `x` is on line 2 already"),
        ("file\na.run\nb.run\na.run\n", "runs.tsv:4: run file `.*a.run` is on line 2 already"),
    ],
)
def test_read_run_list_bad_list_says_where(text: str, message: str, tmp_path: Path) -> None:
    """Each fault of a list names its line and what was expected."""
    make(tmp_path, "a", "b", "a.run", "b.run")
    path = tmp_path / "runs.tsv"
    path.write_text(text, "utf-8")
    with pytest.raises(FormatError, match=message):
        read_run_list(str(path))


def test_read_run_list_tells_all_faults_at_once(tmp_path: Path) -> None:
    """All bad lines of a list are told together."""
    path = tmp_path / "runs.tsv"
    path.write_text("file\tcontributes\na\tmaybe\nb\nc\tperhaps\n")
    with pytest.raises(FormatError) as caught:
        read_run_list(str(path))
    assert [fault.line for fault in caught.value.faults] == [2, 3, 4]


def test_entry_called_by_another_name_than_its_tag(tmp_path: Path) -> None:
    """A name stands for the tag; a stated tag still binds; readers that keep tags refuse it."""
    path = tmp_path / "runs.tsv"
    make(tmp_path, "a", "b", "c")
    path.write_text("file\tname\ttag\na\tfirst\tx\nb\t\tx\nc\tsecond\t\n")
    first, plain, second = read_run_list(str(path))
    assert [first.called("x"), plain.called("x"), second.called("y")] == ["first", "x", "second"]
    with pytest.raises(FormatError, match="expected run tag `x`, as the list"):
        first.called("y")
    plain.check_tag("x")
    second.check_tag("second")
    with pytest.raises(FormatError, match=r"expected run tag `first`, .* names the run, got `x`"):
        first.check_tag("x")


def test_a_list_tells_who_feeds_pools_only_with_a_column_for_it(tmp_path: Path) -> None:
    """Without `contributes` every run feeds pools, but nobody said so."""
    path = tmp_path / "runs.tsv"
    make(tmp_path, "a")
    path.write_text("file\tgroup\na\tx\n")
    [entry] = read_run_list(str(path))
    assert (entry.contributes, entry.is_told) == (True, False)
    path.write_text("file\tcontributes\na\t\n")
    [entry] = read_run_list(str(path))
    assert (entry.contributes, entry.is_told) == (True, True)


_DOCUMENT = b"<DOC>\n<DOCNO>d1</DOCNO>\n" + b"word\n" * 250_000 + b"</DOC>\n"
PLAIN = b"1 Q0 d1 1 2.5 r\n1 Q0 d2 2 2.4 r\n"


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + PLAIN,
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.replace(b"\n", b"\r"),
        PLAIN.replace(b" ", b"\t"),
        b"# system r\n" + PLAIN + b"#1 Q0 d3 3 2 other\n",
        PLAIN.replace(b"d1", b"seg#1"),
    ],
)
@pytest.mark.parametrize("option", [(), ("--lenient",)])
def test_what_programs_write_is_read(content: bytes, option: tuple[str, ...], cli: Cli, here: Path) -> None:
    """Marks, line ends, tabs and comments are in order, `#` in a docno is of it, packed or not."""
    (here / "x.run").write_bytes(content)
    (here / "y.run.gz").write_bytes(gzip.compress(content))
    for name in ("x.run", "y.run.gz"):
        assert "run r, 1 topic, 2 documents" in cli("check", name, *option).fine().out


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"1048585\t7187158\t1\n1048585\t7187157\t2\n", [b"1048585 Q0 7187158 1 -1 x"]),
        (b"1 Q0 d1 1 4 my best run\n1 Q0 d2 2 3 my best run\n", [b"1 Q0 d1 1 4 x", b"1 Q0 d2 2 3 x"]),
        (b"1\tQ0\td1\t1\t4\t\n", [b"1 Q0 d1 1 4 x"]),
        (b"1 Q0 d1 1 4\n", [b"1 Q0 d1 1 4 x"]),
        (b"130\tQ0\t06_1\t1\t0,016\tLex\n", [b"130 Q0 06_1 1 0.016 Lex"]),
        (
            b"7\tQ0\tAlps report\t1\t9.5\tmini\n7\tQ0\tBern\t2\t8.1\tmini\n",
            [b"7\tQ0\tAlps_report\t1\t9.5\tmini"],
        ),
        (b"0 1 Q0 a 1 9.5 r\n1 1 Q0 b 2 9 r\n", [b"1 Q0 a 1 9.5 r", b"1 Q0 b 2 9 r"]),
        (b'"1" "Q0" "a" "1" "9.5" "r"\n', [b"1 Q0 a 1 9.5 r"]),
        (b'"1" Q0 "a" 1 9.5 "r"\n', [b"1 Q0 a 1 9.5 r"]),
        (b"1,Q0,a,1,9.5,r\n", [b"1 Q0 a 1 9.5 r"]),
        (b"1 Q0 d1\xc2\xa0 1 2.5 r\n", [b"1 Q0 d1  1 2.5 r"]),
        ("1 Q0 café 1 2.5 r\n".encode("latin-1"), ["1 Q0 café 1 2.5 r".encode()]),
        ("1 Q0 café 1 2.5 r\n".encode("utf-16"), ["1 Q0 café 1 2.5 r".encode()]),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_refusals_say_what_to_type(
    content: bytes, expected: list[bytes], pack: object, cli: Cli, here: Path
) -> None:
    """Read strictly or leniently a file is refused, and the command of the hint makes a run of it."""
    (here / "x.run").write_bytes(pack(content))  # type: ignore[operator]
    for option in ((), ("--lenient",)):
        if option and b"best" in content:
            continue  # its first six fields are those of a run
        answer = cli("check", "x.run", *option)
        assert (answer.code, "--lenient" in answer.out) == (1, False), answer.out
    answer = cli("check", "x.run")
    hint = re.search(r"hint: (.*?) writes it", answer.out)
    assert hint, answer.out
    made = subprocess.run(hint[1], shell=True, capture_output=True, check=True).stdout
    assert made.splitlines()[: len(expected)] == expected
    (here / "made.run").write_bytes(made)
    cli("check", "made.run").fine()


def test_lenient_says_what_it_took_for_what(cli: Cli, here: Path) -> None:
    """A field after the sixth is dropped with a warning, in every command and format."""
    (here / "x.run").write_text("1 Q0 a 1 2 r more\n1 Q0 b 2 1 r\n")
    (here / "x.qrels").write_text("1 0 a 1\n")
    assert "hint: `--lenient` reads" in cli("check", "x.run").out
    told = "line 1 has 7 fields: read field 3 as docno, 5 as score, 6 (`r`) as run tag, and dropped the rest"
    for words in (
        ["check", "x.run"],
        ["evaluate", "x.run", "--qrels", "x.qrels"],
        ["pool", "x.run", "--depth", "1"],
    ):
        answer = cli(*words, "--lenient").fine()
        assert (answer.out + answer.err).count(told) == 1


@pytest.mark.parametrize("end", ["", "\n"])
def test_exchanged_ranks_and_scores_are_warned_of(end: str, cli: Cli, here: Path) -> None:
    """By the fast reader and, after a blank line, by the slow one; a run in order is not."""
    swapped = "1 Q0 d1 9.5 1 r\n1 Q0 d2 9.1 2 r\n1 Q0 d3 8.7 3 r\n"
    (here / "x.run").write_text(swapped + end)
    (here / "y.run").write_text("1 Q0 d1 3 1 y\n1 Q0 d2 2 2 y\n1 Q0 d3 1 3 y\n")
    (here / "x.qrels").write_text("1 0 d1 1\n")
    for words in (["check"], ["evaluate", "--qrels", "x.qrels"], ["pool", "--depth", "1"]):
        answer = cli(*words, "x.run", "y.run").fine()
        assert (answer.out + answer.err).count("ranks and scores look exchanged") == 1


@pytest.mark.parametrize("size", [280, 281, 600, 1024, 1025])
def test_docnos_of_1024_bytes_are_read_everywhere(size: int, cli: Cli, here: Path) -> None:
    """And those of more nowhere."""
    docno, other = "d" * size, "d" * (size - 1) + "e"
    (here / "x.run").write_text(f"1 Q0 {docno} 1 2 r\n1 Q0 {other} 2 1 r\n")
    (here / "x.qrels").write_text(f"1 0 {docno if size <= 1024 else 'a'} 1\n")
    (here / "x.tsv").write_text(f"{docno}\ttext\n{other}\ttext\n")
    codes = [
        cli(*words.split()).code
        for words in (
            "check x.run",
            "evaluate x.run --qrels x.qrels",
            "pool x.run --depth 1",
            "init --collection c.db --scale 0-1",
            "import docs x.tsv --collection c.db",
            "import runs x.run --collection c.db",
        )
    ]
    assert codes == ([0] * 6 if size <= 1024 else [1, 1, 1, 0, 1, 1])


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        (
            "x.run.gz",
            gzip.compress(PLAIN * 40_000),
            "gzip data of at most 1,000,000 bytes, or 100 times what",
        ),
        ("x.run", PLAIN + b"d" * 1_000_001, "x.run:3: expected a line of at most 1,000,000 bytes, got more"),
        ("x.tsv", b"d1\t" + b"d" * 1_000_001, "x.tsv:1: expected a line of at most 1,000,000 bytes"),
        ("x.trec", _DOCUMENT, "x.trec:1: expected a `<DOC>` of at most 1,000,000 bytes, got more"),
    ],
    ids=["unpacked", "line", "line of documents", "document"],
)
def test_what_files_hold_has_a_limit(
    name: str, content: bytes, fault: str, cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a file unpacks to, a line and a document; the hint names what lifts it, and that does."""
    (here / name).write_bytes(content)
    cli("init", "--collection", "c.db", "--scale", "0-1").fine()
    words = ["check", name] if "run" in name else ["import", "docs", name, "--collection", "c.db"]
    monkeypatch.setenv("POOLER_MOST_MB", "1")
    answer = cli(*words)
    assert answer.code == 1
    assert fault in answer.out + answer.err
    assert "hint: POOLER_MOST_MB=" in answer.out + answer.err
    monkeypatch.setenv("POOLER_MOST_MB", "2")
    answer = cli(*words)
    assert "at most 2,000,000" not in answer.out + answer.err
    assert "run" in name or answer.code == 0


_WORDS = st.lists(st.sampled_from(["a", "b", "2", "0", "Q0", "9.5", "x1"]), min_size=1, max_size=4)


@given(
    topic=st.sampled_from(["7", "t"]),
    before=st.sampled_from([[], ["0"], ["0", "1"], ["Q0"]]),
    q0=st.sampled_from(["Q0", "0"]),
    docno=_WORDS,
    tag=st.lists(st.sampled_from(["r", "my", "best"]), min_size=1, max_size=3),
)
def test_nothing_lenient_is_taken_for_another_column(
    topic: str,
    before: list[str],
    q0: str,
    docno: list[str],
    tag: list[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Columns before the topic, docnos and tags of several words: the document is read whole, or none is."""
    file = tmp_path_factory.getbasetemp() / "lenient.run"
    names = [" ".join([*docno, str(number)]) for number in range(2)] if len(docno) > 1 else ["d0", "d1"]
    file.write_text(
        "".join(
            f"{' '.join([*before, topic, q0, name, str(rank), f'{9 - rank}.5', *tag])}\n"
            for rank, name in enumerate(names, start=1)
        )
    )
    answer = run_inside("pool", str(file), "--depth", "5", "--lenient")
    if answer.code == 0:
        assert [line.split()[1] for line in answer.out.splitlines()] == sorted(names)
        assert not before
        assert len(docno) == 1
    else:
        assert before or len(docno) > 1, answer.err
