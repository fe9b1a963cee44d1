"""`pooler pool`: the same bytes from files and from a collection, and the same bytes twice."""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
from collections import defaultdict
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.ranking import Order
from tests.helpers.run import GARDEN, Cli, read_lines, read_run_list, read_trec, run_process, write
from tests.strategies import RunText, examples, run_texts

ORDERS = get_args(Order)


def files_of(out: Path) -> tuple[bytes, bytes]:
    """Return the bytes of a pool and of its manifest."""
    return out.read_bytes(), Path(f"{out}.manifest.json").read_bytes()


def both_ways(
    cli: Cli, here: Path, name: str, *options: str
) -> tuple[tuple[bytes, bytes], tuple[bytes, bytes]]:
    """Pool the listed runs file to file, and those of the collection; return both results."""
    common = ("--name", name, *options)
    cli("pool", "--runs", "runs.tsv", "--out", here / "files.txt", *common).fine()
    cli("pool", "--out", here / "stored.txt", *common).fine()
    return files_of(here / "files.txt"), files_of(here / "stored.txt")


@pytest.mark.parametrize("order", ORDERS)
def test_pool_of_collection_has_the_bytes_of_the_pool_of_files(cli: Cli, judged: Path, order: str) -> None:
    """In every rank order both ways give the same pool and the same manifest."""
    options = ("--depth", "7", "--order", order)
    from_files, from_collection = both_ways(cli, judged, "second", *options, "--round", "2")
    assert from_files == from_collection
    assert b'"round": "2"' in from_files[1]
    annotated = ("--depth", "7", "--order", order, "--annotated")
    from_files, from_collection = both_ways(cli, judged, "annotated", *annotated)
    assert from_files == from_collection


@pytest.mark.slow
@given(
    texts=st.lists(run_texts(), min_size=1, max_size=3, unique_by=lambda text: text.tag),
    depth=st.integers(1, 4),
    contributes=st.lists(st.booleans(), min_size=3, max_size=3),
)
@settings(max_examples=examples(10))
def test_any_pool_is_the_same_from_files_and_collection(
    cli: Cli,
    here: Path,
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[RunText],
    depth: int,
    contributes: list[bool],
) -> None:
    """Runs full of ties and odd ids give the same bytes both ways, in every rank order."""
    folder = tmp_path_factory.mktemp("runs")
    rows = ["file\tgroup\tcontributes"]
    for number, text in enumerate(texts):
        (folder / f"{number}.run").write_bytes(text.content)
        rows.append(f"{number}.run\tg{number}\t{'yes' if contributes[number] or number == 0 else 'no'}")
    listed = write(folder / "runs.tsv", *rows)
    file = folder / "collection.db"
    cli("init", "--collection", file).fine()
    cli("import", "runs", "--runs", listed, "--collection", file).fine()
    for order in ORDERS:
        options = ("--depth", depth, "--order", order)
        common = [str(option) for option in (*options, "--name", order)]
        both = (
            cli("pool", "--runs", listed, "--out", folder / "files", *common),
            cli("pool", "--out", folder / "stored", *common, "--collection", file),
        )
        if refused := [one for one in both if one.code]:  # ids that do not meet; of files, topics too
            assert all("write them alike in both" in one.failed(1).err for one in refused)
            continue
        assert files_of(folder / "files") == files_of(folder / "stored")
    shutil.rmtree(folder)


def test_pool_is_the_union_of_the_first_documents(cli: Cli, garden: Path) -> None:
    """A plain count of the first five of every contributing run gives the same pairs and order."""
    union: dict[str, set[str]] = defaultdict(set)
    for row in read_run_list(garden / "runs.tsv"):
        if row["contributes"] == "no":
            continue
        lines = read_trec(garden / row["file"], (0, 2, 4))
        for topic, ranked in itertools.groupby(lines, key=lambda line: line[0]):
            best = sorted(ranked, key=lambda line: line[1], reverse=True)
            best.sort(key=lambda line: -float(line[2]))
            union[topic].update(docno for _, docno, _ in best[:5])
    expected = [f"{topic} {docno}" for topic in sorted(union) for docno in sorted(union[topic])]
    answer = cli("pool", "--runs", "runs.tsv", "--depth", "5").fine()
    assert answer.out.splitlines() == expected
    assert len(expected) == 84
    assert "84 pairs to judge in 8 topics, 8 to 15 per topic; depth 5 of 8 runs" in answer.err


@pytest.mark.parametrize("n_topics", [12, 13])
def test_sizes_of_many_topics_are_their_range(n_topics: int, cli: Cli, here: Path) -> None:
    """Each topic is named while that is one line to read."""
    write(
        here / "x.run",
        *(f"{topic} Q0 d{one} 1 {-one} x" for topic in range(n_topics) for one in range(topic + 1)),
    )
    said = cli("pool", "x.run", "--depth", "9", "--out", "x.pool").fine().err
    assert "1 to 9 per topic" in said
    assert ("\n  0: 1, 1: 2, 2: 3, 3: 4, " in said) == (n_topics == 12)


def test_pool_written_twice_is_the_same_bytes(cli: Cli, garden: Path) -> None:
    """The same input gives the same pool and manifest, also when the runs are named backwards."""
    runs = sorted(str(path.relative_to(garden)) for path in (garden / "runs").iterdir())
    options = ("--depth", "4", "--strategy", "uniform", "--budget", "3", "--seed", "11")
    cli("pool", *runs, "--out", garden / "first", *options).fine()
    cli("pool", *reversed(runs), "--out", garden / "second", *options).fine()
    assert files_of(garden / "first") == files_of(garden / "second")
    cli("pool", *runs, "--out", garden / "third", *options[:-1], "12").fine()
    assert files_of(garden / "third")[0] != files_of(garden / "first")[0]


def test_pool_on_stdout_is_the_pool_in_the_file(garden: Path) -> None:
    """Standard output has the bytes of `--out`, whatever the locale; words are on stderr."""
    write(garden / "odd.run", 'é Q0 "dö" 1 1.0 odd', "é Q0 日本 2 0.5 odd")
    settings_of_latin = {"PYTHONIOENCODING": "latin-1", "LC_ALL": "C"}
    to_file = run_process("pool", "odd.run", "--out", "pool.txt", folder=garden)
    to_pipe = run_process("pool", "odd.run", folder=garden, settings=settings_of_latin)
    assert (to_file.returncode, to_pipe.returncode) == (0, 0)
    assert to_file.stdout == b""
    assert to_pipe.stdout == (garden / "pool.txt").read_bytes()
    assert to_pipe.stdout.decode() == 'é "dö"\né 日本\n'
    assert b"2 pairs to judge in 1 topic" in to_pipe.stderr


def test_pool_reads_a_run_and_a_list_from_stdin(cli: Cli, garden: Path) -> None:
    """`-` is a run among files, or a list of runs; both give the pool of the files."""
    run = (garden / "runs" / "bm25-words.run").read_bytes()
    of_files = cli("pool", "runs/bm25-words.run", "runs/rm3-bigrams.run", "--depth", "5").fine().out
    piped = cli("pool", "-", "runs/rm3-bigrams.run", "--depth", "5", stdin=run).fine()
    assert piped.out == of_files
    listed = b"file\nruns/bm25-words.run\nruns/rm3-bigrams.run\n"
    assert cli("pool", "--runs", "-", "--depth", "5", stdin=listed).fine().out == of_files


def test_manifest_says_what_the_files_were(cli: Cli, garden: Path) -> None:
    """The manifest has the hash of every run, contributing or not, and no folder and no time."""
    cli("pool", "--runs", "runs.tsv", "--depth", "5", "--out", garden / "pool.txt").fine()
    manifest = json.loads((garden / "pool.txt.manifest.json").read_text("utf-8"))
    rows = {row["tag"]: row for row in read_run_list(garden / "runs.tsv")}
    assert [run["tag"] for run in manifest["runs"]] == sorted(rows)
    for run in manifest["runs"]:
        row = rows[run["tag"]]
        content = (garden / row["file"]).read_bytes()
        assert run["sha256"] == hashlib.sha256(content).hexdigest()
        assert run["file"] == Path(row["file"]).name
        assert run["documents"] == len(content.splitlines())
        assert run["contributes"] is (row["contributes"] == "yes")
    assert sum(manifest["sizes"].values()) == manifest["pairs"] == 84
    assert str(garden) not in json.dumps(manifest)


def test_manifest_goes_where_it_is_asked(cli: Cli, garden: Path) -> None:
    """`--manifest` names the manifest's file, also when the pool goes to stdout."""
    answer = cli("pool", "runs/bm25-words.run", "--depth", "1", "--manifest", "m.json").fine()
    assert len(answer.out.splitlines()) == 8
    assert json.loads((garden / "m.json").read_text("utf-8"))["pairs"] == 8
    assert not list(garden.glob("*.manifest.json"))


def test_annotated_pool_names_every_contributor(cli: Cli, garden: Path) -> None:
    """Each line stands in the run that it names, at a rank within the depth, with its score."""
    cli("pool", "--runs", "runs.tsv", "--depth", "5", "--annotated", "--out", "a.txt").fine()
    pool = set(cli("pool", "--runs", "runs.tsv", "--depth", "5").fine().out.splitlines())
    groups = {row["tag"]: row["group"] for row in read_run_list(garden / "runs.tsv")}
    scores = {
        (tag, topic, docno): float(score)
        for tag in groups
        for topic, docno, score in read_trec(garden / "runs" / f"{tag}.run", (0, 2, 4))
    }
    lines = [line.split() for line in read_lines(garden / "a.txt")]
    assert {f"{topic} {docno}" for topic, docno, *_ in lines} == pool
    assert "late-tfidf-bigrams" not in {line[2] for line in lines}
    for topic, docno, tag, group, rank, score in lines:
        assert group == groups[tag]
        assert 1 <= int(rank) <= 5
        assert float(score) == scores[tag, topic, docno]
        better = sum(other > float(score) for key, other in scores.items() if key[:2] == (tag, topic))
        assert better < int(rank)


def test_ties_at_the_cut_are_told(cli: Cli, here: Path) -> None:
    """When the tie rule decides who is in, stderr says of how many rankings and names the worst."""
    write(here / "flat.run", *[f"1 Q0 d{number} {number} 1.0 flat" for number in range(5)])
    answer = cli("pool", "flat.run", "--depth", "2").fine()
    assert answer.out == "1 d3\n1 d4\n"
    assert "warning: 1 of 1 rankings have ties across depth 2" in answer.err
    assert "5 documents of run flat in topic 1: 2 in, 3 out" in answer.err
    assert cli("pool", "flat.run", "--depth", "2", "--order", "docno-asc").out == "1 d0\n1 d1\n"


def test_pool_again_is_there_already(cli: Cli, judged: Path) -> None:
    """Pooling the collection again in the same way changes nothing and says so."""
    assert "already there, unchanged" in cli("pool", "--depth", "5").fine().err
    rows = cli("status", "--table", "status", "--format", "json").fine().json()
    assert {row["pooled"] for row in rows} == {84}


def test_order_changes_the_pool_of_runs_with_ties(cli: Cli, here: Path) -> None:
    """Each order takes the documents that its rule says, worked out by hand."""
    # 16.00000001 and 16.0 are one 32-bit float; the stated ranks say c, a, b.
    write(here / "t.run", "1 Q0 b 3 16.00000001 t", "1 Q0 c 1 16.0 t", "1 Q0 a 2 16.0 t")
    first = {
        order: cli("pool", "t.run", "--depth", "1", "--order", order).fine().out.split()[1]
        for order in ORDERS
    }
    assert first == {"trec": "b", "trec9": "c", "docno-asc": "b", "rank": "c", "file": "b"}
    two = {
        order: cli("pool", "t.run", "--depth", "2", "--order", order).fine().out.split()[1::2]
        for order in ORDERS
    }
    assert two == {
        "trec": ["b", "c"],
        "trec9": ["b", "c"],
        "docno-asc": ["a", "b"],
        "rank": ["a", "c"],
        "file": ["b", "c"],
    }


def test_file_name_that_is_no_utf8_is_escaped_in_the_manifest(garden: Path) -> None:
    """A run file whose name is no UTF-8 is pooled, and its manifest is JSON all the same."""
    name = b"caf\xe9.run"
    shutil.copyfile(GARDEN / "runs" / "bm25-words.run", bytes(garden) + b"/" + name)
    ran = run_process("pool", name, "--depth", "1", "--out", "pool.txt", folder=garden)
    assert ran.returncode == 0, ran.stderr
    manifest = json.loads((garden / "pool.txt.manifest.json").read_text("utf-8"))
    assert manifest["runs"][0]["file"] == "caf\udce9.run"


def test_file_that_is_no_earlier_pool_is_not_overwritten(cli: Cli, garden: Path) -> None:
    """`--out *.run` names the first run file by mistake; an earlier pool is replaced as asked."""
    runs = ("runs/bm25-words.run", "runs/rm3-bigrams.run")
    before = (garden / runs[0]).read_bytes()
    refused = cli("pool", "--depth", "2", "--out", *runs).failed(1)
    assert "already exists, and is not an earlier result" in refused.err
    assert (garden / runs[0]).read_bytes() == before
    cli("pool", *runs, "--depth", "2", "--out", "p.txt").fine()
    cli("pool", *runs, "--depth", "3", "--out", "p.txt").fine()
    same = cli("pool", *runs, "--out", "q.txt", "--manifest", "q.txt").failed(1)
    assert "cannot be both" in same.err
