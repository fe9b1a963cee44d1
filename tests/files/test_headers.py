"""Run files with a header: every reader says the same of them, and of the run without it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.reading.blocks import LineFacts, stream_rankings
from pooler.reading.check import check_run
from pooler.reading.run_list import RunEntry
from pooler.reading.strict import read_run
from pooler.reading.tops import read_entry, read_top, top_of
from pooler.reading.whole import RunReader, read_whole
from store.errors import FormatError, PoolerError
from tests.strategies import RunText, damaged, run_texts

ABOUT = (
    "# ir_metadata.start\n# tag: t\n# actor: {team: g1}\n# method: {models: [m2, m1]}\n# ir_metadata.end\n"
)
ROWS = "1 Q0 a 1 2 t\n1 Q0 b 2 1.5 t\n2 Q1 a 1 2 t\n"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Name a place to write a run file to."""
    return tmp_path_factory.mktemp("headers") / "x.run"


def told(path: Path, *, fast: bool) -> object:
    """Return what a reader makes of a file: the run, or its faults."""
    try:
        run = (read_whole if fast else read_run)(str(path))
    except PoolerError as error:
        return error.message, error.hint
    rankings = [(one.topic, one.docnos, one.scores.tobytes()) for one in run.rankings]
    return run.tag, run.sha256, run.header, rankings


_HEADERS = st.sampled_from(
    [
        ABOUT,
        ABOUT.replace("# tag: t\n", ""),
        ABOUT.replace("\n", " \r\n"),
        ABOUT.replace("tag: t", "tag: other"),
        ABOUT.replace("{", "["),
        ABOUT.replace("# tag", "tag"),
        ABOUT.replace("# ir_metadata.end\n", ""),
        ABOUT + "# more\n",
    ]
)


@given(data=st.data(), header=_HEADERS, text=run_texts(tidy=True) | run_texts(), is_damaged=st.booleans())
def test_fast_and_slow_readers_agree_on_headers(
    data: st.DataObject, header: str, text: RunText, *, is_damaged: bool, file: Path
) -> None:
    """Whatever stands in a header, sound or not, and below it, there is one verdict."""
    content = header.encode() + text.content
    file.write_bytes(data.draw(damaged(content)) if is_damaged else content)
    assert told(file, fast=True) == told(file, fast=False)


@given(text=run_texts(tidy=True))
def test_run_below_a_header_is_the_same_run(text: RunText, file: Path) -> None:
    """Tag, topics, documents and scores are those of the file without its header."""
    file.write_bytes(text.content)
    bare = read_run(str(file))
    header = ABOUT.replace("# tag: t\n", "")
    file.write_bytes(header.encode() + text.content)
    run = read_whole(str(file))
    assert (run.tag, run.header) == (bare.tag, header)
    assert [(one.topic, one.docnos) for one in run.rankings] == [
        (one.topic, one.docnos) for one in bare.rankings
    ]
    top = read_top(str(file), 2)
    assert top.n_lines == sum(len(one.docnos) for one in bare.rankings)
    assert top.topics == top_of(bare, 2).topics


def test_lines_are_counted_with_those_of_the_header(file: Path) -> None:
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


def test_header_alone_is_no_run(file: Path) -> None:
    """A file without a run line is empty; elsewhere a header is comments, and says nothing."""
    file.write_text(ABOUT, "utf-8")
    assert check_run(str(file)).fault_counts == {"empty": 1}
    file.write_text(ROWS + ABOUT, "utf-8")
    report = check_run(str(file))
    assert (report.n_faults, report.header) == (0, None)


def test_another_tag_is_a_fault_with_both(file: Path) -> None:
    """The header's tag is that of the run lines."""
    file.write_text(ABOUT.replace("tag: t", "tag: u") + ROWS, "utf-8")
    (fault,) = check_run(str(file)).faults
    assert fault.line == 2
    assert fault.message == "expected the header's tag to be `t`, as the run's lines have, got `u`"


@pytest.mark.parametrize("packed", [False, True])
def test_header_says_what_the_list_does_not(tmp_path: Path, *, packed: bool) -> None:
    """Group and models are the header's where the list has none, and the list's where both agree."""
    file = tmp_path / "t.run"
    content = (ABOUT + ROWS).encode()
    file.write_bytes(gzip.compress(content) if packed else content)
    how = {"depth": 2, "order": "trec", "lenient": False, "with_scores": True}
    for entry in (RunEntry(str(file)), RunEntry(str(file), group="g1", models=("m1", "m2"))):
        assert read_entry(entry, **how).group == "g1"  # type: ignore[arg-type]
        filled = entry.with_header(RunReader().read(entry).header)
        assert (filled.group, sorted(filled.models or ())) == ("g1", ["m1", "m2"])
    other = RunEntry(str(file), group="g2", models=(), where="runs.tsv:3")
    with pytest.raises(FormatError) as caught:
        read_entry(other, **how)  # type: ignore[arg-type]
    assert [(one.line, one.message) for one in caught.value.faults] == [
        (3, "expected the header's group to be `g2`, as runs.tsv:3 says, got `g1`"),
        (4, "expected the header's models to be `none`, as runs.tsv:3 says, got `m2, m1`"),
    ]
