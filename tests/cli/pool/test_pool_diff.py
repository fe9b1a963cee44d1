"""`pooler pool diff`: two pools compared, by hand."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.run import RUN, Cli, environment, run_inside, write


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pool two runs at depth 1 as `main`, then a late one with them at 2 as `deep`.

    main: a, b of topic 1; e of topic 2. deep: a, b, c, x of topic 1; e, f of topic 2.
    ann grades c 2 and a 0.
    """
    folder = tmp_path_factory.mktemp("two-pools")

    def call(*arguments: str | Path) -> None:
        run_inside(*arguments, "--collection", folder / "collection.db").fine()

    call("init", "--scale", "0-2")
    for tag, rows in {
        "x": ("1 Q0 a 1 2 x", "1 Q0 c 2 1 x", "2 Q0 e 1 2 x", "2 Q0 f 2 1 x"),
        "y": ("1 Q0 b 1 2 y", "1 Q0 c 2 1 y"),
        "late": ("1 Q0 c 1 2 late", "1 Q0 x 2 1 late"),
    }.items():
        write(folder / f"{tag}.run", *rows)
    call("import", "runs", folder / "x.run", folder / "y.run")
    call("pool", "--depth", "1", "--name", "main")
    call("import", "runs", folder / "late.run")
    call("pool", "--depth", "2", "--name", "deep", "--out", folder / "deep.txt")
    write(folder / "q.txt", "1 0 c 2", "1 0 a 0")
    call("import", "judgements", folder / "q.txt", "--judge", "ann")
    return folder


@pytest.fixture
def two_pools(here: Path, prepared: Path) -> Path:
    """Work in a copy of it."""
    shutil.copytree(prepared, here, dirs_exist_ok=True)
    return here


def test_diff_counts_sides_states_and_bringers(cli: Cli, two_pools: Path) -> None:
    """c, x of topic 1 and f of topic 2 are new; c is judged; who has them within depth 2."""
    answer = cli("pool", "diff", "main", "deep", "--format", "json")
    found = answer.fine().json()
    states = ("documents", "judged", "cannot", "skipped", "unjudged", "outside", "not_pooled")
    assert {row["what"]: tuple(row[name] for name in states) for row in found["summary"]} == {
        "only in A": (0, 0, 0, 0, 0, 0, 0),
        "only in B": (3, 1, 0, 0, 2, 0, 0),
        "in both": (3, 1, 0, 0, 2, 0, 0),
    }
    assert [(row["run"], row["documents"], row["alone"]) for row in found["runs"]] == [
        ("late", 2, 1),
        ("x", 2, 1),
        ("y", 1, 0),
    ]
    listed = [
        (row["topic"], row["docno"], row["state"], row["grade"], row["rank"], row["runs"])
        for row in found["documents"]
    ]
    assert listed == [
        ("1", "c", "judged", 2, 1, ["late", "x", "y"]),
        ("1", "x", "unjudged", None, 2, ["late"]),
        ("2", "f", "unjudged", None, 2, ["x"]),
    ]
    topics = {(row["topic"], row["what"]): row["documents"] for row in found["topics"]}
    assert topics == {
        ("1", "only in A"): 0, ("1", "only in B"): 2, ("1", "in both"): 2,
        ("2", "only in A"): 0, ("2", "only in B"): 1, ("2", "in both"): 1,
    }  # fmt: skip
    assert "2 topics of 2 differ" in cli("pool", "diff", "main", "deep", "--by-topic").fine().out
    table = cli("pool", "diff", "main", "deep").fine().out
    assert "A = pool `main`, B = pool `deep`" in table
    assert "brought by no run" not in table


def test_a_withdrawn_pool_keeps_its_states_apart(cli: Cli, two_pools: Path) -> None:
    """What it alone has is not pooled, or judged outside every pool; never unjudged."""
    cli("pool", "drop", "--pool", "deep").fine()
    answer = cli("pool", "diff", "main", "deep", "--format", "json").fine().json()
    (row,) = (row for row in answer["summary"] if row["what"] == "only in B")
    assert (row["judged"], row["unjudged"], row["outside"], row["not_pooled"]) == (0, 0, 1, 2)
    assert "B = pool `deep`, withdrawn" in cli("pool", "diff", "main", "deep").fine().out


def test_files_need_no_collection(cli: Cli, two_pools: Path) -> None:
    """Two files are compared as they are, one of them from stdin; states are not known."""
    write(two_pools / "other.txt", "1 a", "9 q")
    files = ("deep.txt", "other.txt", "--collection", "none.db", "--format", "json")
    answer = cli("pool", "diff", *files).fine()
    rows = {row["what"]: (row["documents"], row["judged"], row["reason"]) for row in answer.json()["summary"]}
    assert rows == {
        "only in A": (5, None, "no-collection"),
        "only in B": (1, None, "no-collection"),
        "in both": (1, None, "no-collection"),
    }
    assert "the state of the documents is not known" in answer.err
    piped = cli("pool", "diff", "deep.txt", "-", "--format", "json", stdin=b"1 a\n9 q\n").fine()
    assert [row["documents"] for row in piped.json()["summary"]] == [5, 1, 1]
    assert [row["not_pooled"] for row in piped.json()["summary"]] == [0, 1, 0]


def test_what_a_replaced_run_brought_is_not_known(cli: Cli, two_pools: Path) -> None:
    """A run of another file than the pool's says nothing; the others do."""
    write(two_pools / "late.run", "1 Q0 zz 1 2 late")
    cli("import", "runs", "late.run", "--replace").fine()
    answer = cli("pool", "diff", "main", "deep", "--format", "json").fine()
    assert "what `late` brought is not known" in answer.err
    assert [row["run"] for row in answer.json()["runs"]] == ["x", "y"]


def test_words_that_name_nothing_or_two_things_are_refused(cli: Cli, two_pools: Path) -> None:
    """An unknown pool names the known; a pool and a file of one name must be told apart."""
    answer = cli("pool", "diff", "main", "dep").failed(1)
    assert "unknown pool `dep`; known: `deep`, `main`" in answer.err
    write(two_pools / "deep", "1 a")
    answer = cli("pool", "diff", "main", "deep").failed(1)
    assert "`deep` is a pool of the collection, and a file here" in answer.err
    cli("pool", "diff", "main", "./deep").fine()
    assert "must not be `-` too" in cli("pool", "diff", "-", "-").failed(1).err
    assert "none.db" in cli("pool", "diff", "main", "deep", "--collection", "none.db").failed(3).err
    cli("pool", "diff", "main").failed(2)
    alone = cli("pool", "diff", "./deep", "main", "--collection", "none.db").failed(3)
    assert "main: there is no such file, and no none.db whose pool it could be" in alone.err


def test_the_word_diff_is_a_command_and_a_file_as_a_path(cli: Cli, two_pools: Path) -> None:
    """`pool diff --help` tells of it, `pool --help` names it; a run of that name is ./diff."""
    own = cli("pool", "diff", "--help").fine().out
    assert "Usage: pooler pool diff [OPTIONS]" in own
    assert "Example: pooler pool diff pool sample" in own
    whole = cli("pool", "--help").fine().out
    assert "Usage: pooler pool [OPTIONS] [RUN...]" in whole
    assert "diff  Compare two pools" in whole
    (two_pools / "diff").write_bytes((two_pools / "x.run").read_bytes())
    assert cli("pool", "./diff", "--depth", "1").fine().out == "1 a\n2 e\n"
    assert cli("pool", "--depth", "1", "diff").fine().out == "1 a\n2 e\n"


def test_files_are_compared_without_a_database(two_pools: Path) -> None:
    """In a fresh interpreter two files load no SQL and no SciPy."""
    words = "pool diff q.txt deep.txt --format tsv --table summary --collection no"
    code = (
        f"import sys; {RUN}\nassert run({words.split()}) == 0\n"
        "assert not {'sqlalchemy', 'sqlmodel', 'scipy', 'textual'} & set(sys.modules)"
    )
    write(two_pools / "q.txt", "1 a", "9 z")
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=two_pools,
        env=environment({}),
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    assert b"\nin both\t1\t" in ran.stdout
