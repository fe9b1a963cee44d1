"""`store.formats.run_header`: what a run file says of its run before its first line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from store.errors import FaultList
from store.formats.run_header import RunHeader, header_of, read_header

SPECIFIED = """\
# ir_metadata.start
# schema-version: 0.1
# run-version: 1.0
# tag: h2oloo.ccrf.04.core17.ax_e3_0.6
# method:
#   automatic: true
#   retrieval:
#   - name: bm25
#     method: org.apache.lucene.search.similarities.Similarity.BM25Similarity
#     b: 0.4
#   - name: axiomatic reranker
#     method: io.anserini.rerank.lib.AxiomReranker
#     reranks: bm25
#   - name: ensemble
#     ensembles:
#     - lr reranker
# actor:
#   name: Jimmy Lin
#   team: h2oloo
#   fields:
#   - nlp
# ir_metadata.end
"""
"""Keys, values and their nesting as on the specification's pages `overview`, `method` and `actor`."""


def read(text: str) -> tuple[RunHeader | None, list[tuple[int | None, str]]]:
    """Return what a header says, and its faults."""
    faults = FaultList("x.run")
    return read_header(text.encode(), faults), [(one.line, one.message) for one in faults.kept]


def between(*lines: str) -> str:
    """Make a header of lines of YAML."""
    return "".join(f"{line}\n" for line in ("# ir_metadata.start", *lines, "# ir_metadata.end"))


@pytest.mark.vector("ir-metadata.org, schema-version 0.1: pages overview, method, actor")
def test_header_of_the_specification_is_read() -> None:
    """Tag, team and the stages of retrieval are told, and the text is as it stands."""
    header, faults = read(SPECIFIED)
    assert header is not None
    assert not faults
    assert (header.tag, header.group) == ("h2oloo.ccrf.04.core17.ax_e3_0.6", "h2oloo")
    assert header.method == "bm25 > axiomatic reranker > ensemble"
    assert header.models is None
    assert (header.tag_line, header.group_line) == (4, 19)
    assert header.text == SPECIFIED


def test_lines_may_end_in_blanks_or_as_on_windows() -> None:
    """The tools of the specification write a blank at the end of every line; the text keeps it."""
    for end in (" \n", "\r\n", "\n"):
        text = between("# actor:", "#   team: no").replace("\n", end)
        header, faults = read(text)
        assert header is not None
        assert not faults
        assert (header.group, header.text) == ("no", text)


@pytest.mark.parametrize(
    ("said", "models"),
    [("none", ()), ("gpt-4", ("gpt-4",)), ("[gpt-4, llama]", ("gpt-4", "llama")), ("", None), ("[]", None)],
)
def test_models_are_a_name_or_several_or_none(said: str, models: tuple[str, ...] | None) -> None:
    """`none` says that there is no model; nothing says nothing."""
    header, faults = read(between("# method:", f"#   models: {said}"))
    assert header is not None
    assert not faults
    assert header.models == models


@pytest.mark.parametrize(
    ("lines", "line", "words"),
    [
        (["# actor:", "#   team: [x"], 4, "expected YAML in the header"),
        (["# actor: a", "# actor: b"], 3, "expected `actor` once"),
        (["# actor:", "#   team: two words"], 3, "actor / team: expected an id without blanks"),
        (["# actor:", "#   team: [a, b]"], 3, "actor / team: expected one word"),
        (["# method:", "#   models: [none, gpt]"], 3, "method / models: expected names or `none`"),
        (["# method:", "#   models: {gpt: 4}"], 3, "method / models: expected names or `none`"),
        (["# method:", "#   models: [[gpt]]"], 3, "method / models: expected names or `none`"),
        (["# a: \x07"], 1, "expected YAML in the header, got: a control character"),
        (["# " + "[" * 3000], 1, "nesting that is too deep"),
        (["# a: " + "x" * 70_000], 1, "at most 65,536 bytes"),
        (["no sign"], 1, "every line of the header to begin with `#`"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(lines: Sequence[str], line: int, words: str) -> None:
    """Nothing is read of a header with a fault."""
    header, faults = read(between(*lines))
    assert header is None
    assert [one for one, _ in faults] == [line]
    assert words in faults[0][1]


def test_header_without_an_end_is_a_fault() -> None:
    """So is one that is no UTF-8."""
    assert read("# ir_metadata.start\n# tag: a\n")[1][0][0] == 1
    faults = FaultList("x.run")
    read_header(b"# ir_metadata.start\n# tag: \xff\n# ir_metadata.end\n", faults)
    assert [one.message for one in faults.kept] == ["expected a header in UTF-8"]


def test_header_is_taken_from_the_top_of_a_file(tmp_path: Path) -> None:
    """Of a file without one, with a broken one, or that is not there, nothing."""
    file = tmp_path / "a.run"
    file.write_text(SPECIFIED + "1 Q0 d 1 1 t\n", "utf-8")
    assert header_of(str(file)) == SPECIFIED
    for text in ("1 Q0 d 1 1 t\n", SPECIFIED.replace("team: ", "team: ["), "1 Q0 d 1 1 t\n" + SPECIFIED):
        file.write_text(text, "utf-8")
        assert header_of(str(file)) is None
    assert header_of(str(tmp_path / "none.run")) is None
