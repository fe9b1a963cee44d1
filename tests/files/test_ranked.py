"""Runs ranked by number: equal to plain sorts of their lines, whoever reads and wherever runs are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pooler.reading import whole
from pooler.reading.run_list import RunEntry
from pooler.reading.strict import read_run
from pooler.reading.whole import judged_runs, ranked_runs
from store.analysis.arrays import RankedDocuments
from store.errors import ArgumentError, FormatError
from store.ranking import ORDERS, Order
from store.records import Run
from tests.benchmarks.generate import generate
from tests.strategies import RunText, examples, run_texts

pytestmark = pytest.mark.slow


def sorted_lines(content: bytes, order: Order) -> dict[str, list[str]]:
    """Rank the lines of a run file by plain sorts, topic by topic."""
    topics: dict[str, list[tuple[str, float, int]]] = {}
    for line in content.decode().splitlines():
        if line.strip():
            topic, _, docno, rank, score, _ = line.split()
            topics.setdefault(topic, []).append((docno, float(score), int(rank)))
    for topic, lines in topics.items():
        if order == "rank":
            lines.sort(key=lambda one: one[2])
        elif order != "file":
            lines.sort(key=lambda one: one[0].encode(), reverse=order != "docno-asc")
            with np.errstate(all="ignore"):
                rounded = np.float32 if order == "trec9" else float
                lines.sort(key=lambda one: -float(rounded(one[1])))
        topics[topic] = lines
    return {topic: [docno for docno, _, _ in lines] for topic, lines in topics.items()}


def by_name(ranked: RankedDocuments, tag: str) -> dict[str, list[str]]:
    """Give a run's docnos in rank order, by topic."""
    assert ranked.docnos == {number: docno for docno, number in ranked.ids.items()}
    return {
        topic: [ranked.docnos[number] for number in numbers.tolist()]
        for (of, topic), numbers in ranked.rankings.items()
        if of == tag
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give one folder to all examples."""
    return tmp_path_factory.mktemp("ranked")


@settings(max_examples=examples(50))
@given(
    texts=st.lists(run_texts(), min_size=1, max_size=3, unique_by=lambda text: text.tag),
    order=st.sampled_from(ORDERS),
    is_in_memory=st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_runs_of_files_and_of_memory_rank_as_plain_sorts_do(
    texts: list[RunText], order: Order, is_in_memory: list[bool], folder: Path
) -> None:
    """In every order; documents are numbered as they are met, run after run and line after line."""
    named: list[RunEntry | Run] = []
    for place, text in enumerate(texts):
        path = folder / f"{place}.run"
        path.write_bytes(text.content)
        named.append(read_run(str(path)) if is_in_memory[place] else RunEntry(str(path)))
    ranked = ranked_runs(named, order=order)
    assert ranked.tags == tuple(text.tag for text in texts)
    for text in texts:
        assert by_name(ranked, text.tag) == sorted_lines(text.content, order)
    met = [docno for text in texts for _, docno, _, _ in text.rows]
    assert list(ranked.ids) == list(dict.fromkeys(met))


@settings(max_examples=examples(50))
@given(
    data=st.data(),
    texts=st.lists(run_texts(), min_size=1, max_size=3, unique_by=lambda text: text.tag),
    order=st.sampled_from(ORDERS),
)
def test_judged_documents_alone_have_the_ranks_that_all_have(
    data: st.DataObject, texts: list[RunText], order: Order, folder: Path
) -> None:
    """Whatever is judged: it stands where plain sorts put it, between numbers that nothing else has."""
    entries = []
    for place, text in enumerate(texts):
        (folder / f"{place}.run").write_bytes(text.content)
        entries.append(RunEntry(str(folder / f"{place}.run")))
    met = [docno for text in texts for _, docno, _, _ in text.rows]
    judged = data.draw(st.lists(st.sampled_from([*met, "", "\0", "unmet", "x" * 90]), max_size=20))
    ranked = judged_runs(entries, judged, order=order)
    assert ranked.tags == tuple(text.tag for text in texts)
    assert (ranked.ids.keys(), sorted(ranked.ids.values())) == (set(judged), [*range(len(set(judged)))])
    docnos = {number: docno for docno, number in ranked.ids.items()}
    for text in texts:
        for topic, lines in sorted_lines(text.content, order).items():
            numbers = ranked.rankings[text.tag, topic].tolist()
            assert len(set(numbers)) == len(lines)
            expected = [docno if docno in judged else None for docno in lines]
            assert [docnos.get(number) for number in numbers] == expected


@pytest.mark.parametrize("order", ORDERS)
def test_other_processes_read_the_same(order: Order, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes number documents each for itself; what comes of it is as of one."""
    entries = [RunEntry(str(path)) for path in generate(tmp_path, runs=5, topics=3, documents=40, seed=3)]
    alone = ranked_runs(entries, order=order)
    monkeypatch.setattr(whole, "PARALLEL_BYTES", 0)
    monkeypatch.setattr(whole, "n_processors", lambda: 2)
    together = ranked_runs(entries, order=order)
    assert (together.tags, together.ids) == (alone.tags, alone.ids)
    assert together.rankings.keys() == alone.rankings.keys()
    for key, numbers in alone.rankings.items():
        assert together.rankings[key].tolist() == numbers.tolist()
    for entry, tag in zip(entries, alone.tags, strict=True):
        assert by_name(alone, tag) == sorted_lines(Path(entry.file).read_bytes(), order)


def test_two_runs_of_one_tag_need_names(tmp_path: Path) -> None:
    """A list of runs gives each a name of its own; without, they are refused."""
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"1 Q0 {name} 1 1 t\n")
    files = [str(tmp_path / name) for name in ("a", "b")]
    with pytest.raises(ArgumentError, match="must each have their own tag, but got 't'"):
        ranked_runs([RunEntry(file) for file in files])
    named = ranked_runs([RunEntry(file, name=name) for file, name in zip(files, "xy", strict=True)])
    assert [by_name(named, tag) for tag in named.tags] == [{"1": ["a"]}, {"1": ["b"]}]
    with pytest.raises(FormatError, match="expected run tag `u`"):
        ranked_runs([RunEntry(files[0], tag="u")])


def test_ranks_that_are_no_integers_order_nothing(tmp_path: Path) -> None:
    """Order rank is refused; a topic in two parts is read line by line, and ranks as one."""
    (tmp_path / "a").write_text("1 Q0 x - 1 t\n")
    with pytest.raises(ArgumentError, match="needs stated ranks"):
        ranked_runs([RunEntry(str(tmp_path / "a"))], order="rank")
    (tmp_path / "b").write_text("1 Q0 x 1 1 t\n2 Q0 y 1 1 t\n1 Q0 z 1 2 t\n")
    with pytest.raises(FormatError, match="goes on after topic"):
        ranked_runs([RunEntry(str(tmp_path / "b"))])
    ranked = ranked_runs([RunEntry(str(tmp_path / "b"))], lenient=True)
    assert by_name(ranked, "t") == {"1": ["z", "x"], "2": ["y"]}
