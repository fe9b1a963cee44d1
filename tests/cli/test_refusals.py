"""What the command line refuses: in words, with the right exit code, and with nothing changed."""

from __future__ import annotations

import re
import shutil
import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.collection import Collection
from store.records import JudgeKind
from tests.cli.bad_files import make_bad_files
from tests.helpers.run import Cli, Outcome, write

DATA, USAGE, STORE = 1, 2, 3
"""Exit codes."""


REFUSED = [
    # Files that are not there, folders, and places where nothing can be written.
    ("pool none.run", DATA, r"none\.run: no such file"),
    ("pool runs", DATA, r"runs: is a directory"),
    ("check none.run", DATA, r"none\.run: no such file"),
    ("import topics none.jsonl", DATA, r"no such file"),
    ("import docs runs", DATA, r"is a directory"),
    ("import docs documents.jsonl none.jsonl", DATA, r"none\.jsonl: no such file"),
    ("import runs runs", DATA, r"is a directory"),
    ("import judgements none.qrels --judge carol", DATA, r"no such file"),
    ("evaluate --qrels none.qrels runs/bm25-words.run", DATA, r"no such file"),
    ("evaluate --qrels judgements/strict.qrels none.run", DATA, r"none\.run: no such file"),
    ("sensitivity --depth 5 --qrels runs runs/bm25-words.run", DATA, r"is a directory"),
    ("pool --runs none.tsv", DATA, r"no such file"),
    ("pool --runs missing.tsv", DATA, r"runs/none\.run: no such file"),
    ("pool runs/bm25-words.run --out none/pool.txt", DATA, r"cannot be written"),
    ("pool runs/bm25-words.run --out runs", DATA, r"cannot be written: it is a folder"),
    ("pool runs/bm25-words.run --out x --manifest none/x", DATA, r"cannot be written"),
    ("pool --depth 2 --name second --out none/pool.txt", DATA, r"cannot be written"),
    ("export qrels --judge strict --out none/qrels.txt", DATA, r"cannot be written"),
    ("export pool --out none/pool.txt", DATA, r"cannot be written"),
    ("export judgements --out none/all.jsonl", DATA, r"cannot be written"),
    # Contents.
    ("pool empty", DATA, r"empty: expected run lines, got none"),
    ("pool junk", DATA, r"junk:1: expected 6 fields"),
    ("pool bm25-words.run.gz", DATA, r"truncated"),
    ("pool five.run", DATA, r"five\.run:1: expected 6 fields, got 5"),
    ("pool nan.run", DATA, r"nan\.run:1: expected a finite number"),
    ("pool twice.run", DATA, r"twice\.run:2: document `KG-E-001` is in topic `G01` already"),
    ("pool latin.run", DATA, r"latin\.run:1: .*UTF-8"),
    ("pool escape.run", DATA, r"escape\.run:1: run tag: expected an id without control"),
    ("check escape.run", DATA, r""),
    ("check bm25-words.run.gz", DATA, r""),
    ("check --strict runs/bm25-words.run", DATA, r""),
    ("pool ranks.run --order rank", DATA, r"`--order` needs stated ranks that are integers"),
    ("pool runs/bm25-words.run other.run", DATA, r"run tag `bm25-words` is that of two files"),
    ("pool --runs tag.tsv", DATA, r"expected run tag `bm25`, .*got `bm25-words`"),
    ("pool --runs column.tsv", DATA, r"column\.tsv:1: .*`group`.*got `gruop`"),
    ("pool --runs junk", DATA, r"junk:1: expected UTF-8"),
    ("import topics empty", DATA, r"expected at least one topic, got none"),
    ("import topics junk", DATA, r"junk:1: expected UTF-8"),
    ("import topics topics.jsonl.gz --replace", DATA, r"truncated"),
    ("import topics no-json.jsonl", DATA, r"no-json\.jsonl:1"),
    ("import docs empty", DATA, r"got none"),
    ("import docs junk --all", DATA, r"junk:1: expected UTF-8"),
    ("import docs documents.jsonl.gz --all", DATA, r"truncated"),
    ("import runs empty", DATA, r"got none"),
    ("import runs bm25-words.run.gz", DATA, r"truncated"),
    ("import runs escape.run", DATA, r"escape\.run:1: run tag: expected an id without control"),
    ("import judgements empty --judge carol", DATA, r"got none"),
    ("import judgements junk --judge carol", DATA, r"junk:1: expected 4 fields"),
    ("import judgements strict.gz --judge carol", DATA, r"truncated"),
    ("import judgements five.qrels --judge carol", DATA, r"expected 4 fields .* got 5"),
    ("import judgements float.qrels --judge carol", DATA, r"float\.qrels:1: .*`1\.7`"),
    ("import judgements twice.qrels --judge carol", DATA, r"twice\.qrels:2: .*line 1 has it"),
    ("import judgements runs/bm25-words.run --judge carol", DATA, r"looks like a run file"),
    ("evaluate --qrels empty runs/bm25-words.run", DATA, r"got none"),
    ("evaluate --qrels twice.qrels runs/bm25-words.run", DATA, r"twice\.qrels:2"),
    ("init --scale junk --collection x.db", DATA, r"junk: expected TOML"),
    ("init --scale scale.toml --collection x.db", DATA, r"at least two grades"),
    # Grades, codes, levels.
    (
        "import judgements off.qrels --judge carol",
        DATA,
        r"off\.qrels:2: expected a grade of the scale \(0, 1, 2\), got 3\n"
        r"off\.qrels:3: expected a grade of the scale \(0, 1, 2\), got -1\nhint: .*--map.*--code",
    ),
    ("import judgements off.qrels --judge carol --map 3=4", DATA, r"off\.qrels:2: .*got 4"),
    ("import judgements off.qrels --judge carol --map 3", DATA, r"`--map` must be FROM=TO"),
    (
        "import judgements off.qrels --judge carol --map 3=2 --map 3=1",
        USAGE,
        r"must read a grade as one other \(it has 2\)",
    ),
    ("import judgements off.qrels --judge carol --code junk", DATA, r"`--code` must be CODE=MEANING"),
    ("import judgements off.qrels --judge carol --code -1=skip", DATA, r"`--code` must be"),
    ("export qrels --judge strict --level 3", DATA, r"`--level` must be above 0 and at most 2"),
    ("export qrels --judge strict --level 0", DATA, r"`--level` must be above 0"),
    ("export qrels --judge strict --rigid --relaxed", DATA, r"`--out` must contain \{level\}"),
    ("evaluate --judge strict --rigid --relaxed", DATA, r"the only one of"),
    ("export qrels --judge strict --unjudged 0", DATA, r"`--unjudged` must be a negative code"),
    ("export qrels --judge strict --unjudged 7", DATA, r"`--unjudged` must be a negative code"),
    ("agreement --level 3", DATA, r"`--level` must be above 0"),
    ("sensitivity --depth 5 --judge strict --level 9", DATA, r"`--level` must be"),
    ("evaluate --qrels new.qrels runs/bm25-words.run --rigid", DATA, r"needs a declared scale"),
    # Judges.
    (
        "import judgements new.qrels",
        DATA,
        r"whose judgements are these\?\nhint: --judge NAME, or --judge-column 2",
    ),
    ("import judgements new.qrels --judge a --judge-column 2", DATA, r"one of the two"),
    ("import judgements new.qrels --judge-column 3", USAGE, r"`--judge-column` must be 2, but"),
    ("import judgements new.qrels --judge 'two words'", DATA, r"must be one word"),
    ("import judgements new.qrels --judge strict", STORE, r"as kind model, not imported"),
    ("import judgements new.qrels --judge carol --kind judge", USAGE, r"--kind"),
    ("judges add anna 'two words'", DATA, r"must be one word"),
    ("judges add strict", STORE, r"judge `strict` is there as kind model"),
    ("judges add anna --kind robot", USAGE, r"`--kind` must be one of human, model, .* got 'robot'"),
    ("judges", USAGE, r""),
    ("export qrels", DATA, r"3 judges judged \(lenient, middle, strict\); whose"),
    ("export qrels --judge stritc", DATA, r"unknown judge `stritc`; known: `strict`"),
    ("export qrels --judge strict --aggregate majority --ties low", DATA, r"exclude each other"),
    ("export qrels --aggregate majority", DATA, r"`--ties` must be low, high or unresolved"),
    ("export qrels --aggregate mode --ties low", USAGE, r"--aggregate"),
    ("export qrels --aggregate mean --ties low", DATA, r"`--ties` needs --aggregate"),
    ("export qrels --judge strict --ties low", DATA, r"`--ties` needs --aggregate"),
    ("evaluate --judge strict --ties high", DATA, r"`--ties` needs --aggregate"),
    ("evaluate", DATA, r"whose grades are meant\?"),
    ("evaluate --qrels new.qrels runs/bm25-words.run --judge strict", DATA, r"`--judge` is for"),
    ("evaluate --qrels new.qrels runs/bm25-words.run --ties low", DATA, r"`--ties` is for"),
    ("agreement strict", DATA, r"agreement needs two judges, but there is only `strict`"),
    ("agreement strict strict", DATA, r"agreement needs two judges"),
    ("agreement strict midle", DATA, r"unknown judge `midle`; known: `middle`"),
    ("export judgements stritc", DATA, r"unknown judge `stritc`; known: `strict`"),
    ("judge --judge stritc --plain", DATA, r"unknown judge `stritc`; known: `strict`"),
    ("judge --judge strict", DATA, r"`strict` is of kind model, but only people judge"),
    ("judge --judge pat --plain --topic G011", DATA, r"unknown topic `G011`; known: `G01`"),
    ("judge --judge pat", DATA, r"needs a terminal"),
    ("judge", USAGE, r"error: `--judge` must be given, or POOLER_JUDGE, or --model: there is no terminal"),
    # Unknown names, and what the collection does not list.
    ("evaluate bm25-wrods --judge strict", DATA, r"unknown run `bm25-wrods`; known: `bm25-words`"),
    ("sensitivity --depth 5 bm25 --judge strict", DATA, r"unknown run `bm25`"),
    ("evaluate -m MPA --judge strict", DATA, r"unknown measure `MPA`; known: `MAP`, `AP`"),
    ("export pool --name pol", DATA, r"unknown pool `pol`; known: `pool`"),
    ("demo --name garden", DATA, r"unknown sample collection `garden`; known: `kitchen_garden`"),
    ("import runs unknown-topic.run", DATA, r":279: .*`G99`\nhint: --allow-unknown"),
    ("import runs unknown-docno.run", DATA, r":1: .*`KG-E-936`"),
    ("import judgements unknown.qrels --judge carol", DATA, r"qrels:1: .*`G99`\n.*qrels:2: .*901"),
    # Options.
    ("frobnicate", USAGE, r"error: unknown command `frobnicate`"),
    ("polo", USAGE, r"unknown command `polo`; known: `pool`, "),
    ("pool --detph 5", USAGE, r"unknown option `--detph`; known: `--depth`, "),
    ("pool --depth 0", USAGE, r"`--depth` must be an integer >= 1, but got '0'\nhint: pooler pool -"),
    ("pool --depth five", USAGE, r"`--depth` must be an integer >= 1, but got 'five'"),
    ("pool --order score", USAGE, r"`--order` must be one of trec, trec9, .*, but got 'score'"),
    ("pool --out-order shuffled", USAGE, r"--out-order"),
    ("pool --out-order random --depth 3 --name r", DATA, r"`--seed` must be"),
    ("pool --out-order random --seed -1", USAGE, r"--seed"),
    ("pool --round 'round 1' --name r", DATA, r"`--round` must be one word"),
    ("pool --round '' --name r", DATA, r"`--round` must be one word"),
    ("judges add", USAGE, r"`NAME...` must be given"),
    ("assign --overlap 2", USAGE, r"`--overlap` must be a number from 0 to 1, but got '2'"),
    ("pool --strategy", USAGE, r"`--strategy` must have a value"),
    ("pool --list=3", USAGE, r"`--list` takes no value"),
    ("--frob", USAGE, r"unknown option `--frob`.*\nhint: pooler --help"),
    ("upgrade a b", USAGE, r"expected no more arguments, got `a b`"),
    ("check", DATA, r"no run file is named"),
    ("check runs/bm25-words.run --depth 0", USAGE, r"--depth"),
    ("check - --collection none.db", STORE, r"there is no collection at none\.db"),
    ("import", USAGE, r""),
    ("import runs", DATA, r"no run file is named"),
    ("import runs other.run --group 'two words'", DATA, r"`--group` must be one word"),
    ("import topics topics.jsonl --format xls", USAGE, r"--format"),
    ("import documents documents.jsonl", USAGE, r"unknown command `documents`; known: "),
    ("sensitivity --depth 1000 --judge strict", DATA, r"below the cutoff \(1000\)"),
    ("sensitivity --depth 5 --cutoff 5 --judge strict", DATA, r"below the cutoff \(5\)"),
    ("sensitivity --depth 5 --scenario all --judge strict", USAGE, r"--scenario"),
    ("sensitivity --depth 5 --qrels new.qrels", DATA, r"no run file is named"),
    ("evaluate --cutoff 0 --judge strict", USAGE, r"--cutoff"),
    (
        "evaluate --qrels new.qrels other.run runs/bm25-words.run",
        DATA,
        r"must each have their own tag.*'bm25-words'",
    ),
    ("status --format xml", USAGE, r"--format"),
    ("init --scale 2-0 --collection x.db", DATA, r"`--scale` must rise"),
    ("init --scale five --collection x.db", DATA, r"`--scale` must be LOW-HIGH"),
    # What already exists in another way.
    ("init", STORE, r"collection\.db already holds a collection"),
    ("import runs other.run", STORE, r"run `bm25-words` exists with another file"),
    ("import topics new-topics.jsonl", STORE, r"topic `G01` exists with another text"),
    ("import docs new-documents.jsonl", STORE, r"document `KG-E-031` exists with another text"),
    (
        "import judgements new.qrels --judge strict --kind model",
        STORE,
        r"judgements of `strict` are there otherwise: G01 KG-E-\d{3}: \d -> 2.*\nhint: --replace",
    ),
    (
        "import judgements new.qrels --judge carol --as-pool pool",
        STORE,
        r"there is another pool named `pool`\nhint: another --as-pool",
    ),
    ("pool --depth 3", STORE, r"another pool named `pool` \(depth 5, not 3\)\nhint: --name"),
    ("demo --keep runs", DATA, r"runs already exists and is not empty"),
    ("demo --keep runs.tsv", DATA, r"runs\.tsv already exists"),
    # Collections.
    ("status --collection none.db", STORE, r"no collection at none\.db\nhint: pooler init"),
    ("status --collection runs", STORE, r"no collection at runs"),
    ("status --collection runs.tsv", STORE, r"runs\.tsv is not a pooler collection"),
    ("status --collection junk", STORE, r"junk is not a pooler collection"),
    ("status --collection empty", STORE, r"empty is not a pooler collection"),
    ("status --collection other.db", STORE, r"other\.db is not a pooler collection"),
    ("status --collection damaged.db", STORE, r"damaged\.db"),
    ("status --collection ''", STORE, r"there is no collection"),
    ("status --collection mysql://host/wine", DATA, r"must be a file path or a postgresql:// URL"),
    ("upgrade --collection none.db", STORE, r"no collection at none\.db"),
    ("upgrade --collection runs.tsv", STORE, r"runs\.tsv"),
    ("init --collection runs", STORE, r"runs is a folder"),
    ("init --collection none/wine.db", STORE, r"the folder none does not exist"),
    ("init --collection runs.tsv", STORE, r"runs\.tsv"),
]


def words(command: str) -> list[str]:
    """Split a command into arguments; single quotes keep blanks."""
    return [quoted or plain for quoted, plain in re.findall(r"'([^']*)'|(\S+)", command)]


@pytest.fixture(scope="module")
def bad_files(imported_garden: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make one folder for all refusals: none of them may change it."""
    folder = tmp_path_factory.mktemp("bad") / "garden"
    shutil.copytree(imported_garden, folder)
    make_bad_files(folder)
    with Collection(str(folder / "collection.db")) as opened:
        opened.judges.add("pat", JudgeKind.HUMAN)
    return folder


def snapshot(folder: Path) -> dict[str, object]:
    """Read all of a folder: bytes of files, rows of its collection."""
    files: dict[str, object] = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith("collection.db")
    }
    connection = sqlite3.connect(folder / "collection.db")
    files["collection.db"] = list(connection.iterdump())
    connection.close()
    return files


@pytest.fixture
def unchanged(bad_files: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in the folder of bad files, and see afterwards that nothing in it changed."""
    monkeypatch.chdir(bad_files)
    before = snapshot(bad_files)
    yield bad_files
    assert snapshot(bad_files) == before


@pytest.mark.parametrize(("command", "code", "said"), REFUSED, ids=[one[0] for one in REFUSED])
def test_bad_invocation_is_refused_in_words_and_changes_nothing(
    cli: Cli, unchanged: Path, command: str, code: int, said: str
) -> None:
    """A mistake has its exit code and a line that says what is wrong, and leaves all as it was."""
    answer = cli(*words(command))
    if command.startswith("check") and "error: " not in answer.err:  # faults are its data
        assert (answer.code, "Traceback" in answer.err) == (code, False)
    elif not said:  # help stands instead
        assert (answer.code, "Usage: " in answer.out + answer.err) == (code, True)
    else:
        answer.failed(code)
        assert re.search(said, answer.err), answer.err
        assert answer.out == ""


def test_unreachable_server_is_refused_without_its_password(cli: Cli) -> None:
    """A PostgreSQL server that does not answer is exit code 3, and no password is shown."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        answer = cli("status", "--collection", f"postgresql://me:secret@127.0.0.1:{port}/wine")
    answer.failed(STORE)
    assert f"127.0.0.1:{port}" in answer.err
    assert "secret" not in answer.err


def test_unknown_topics_of_a_pipe_are_refused(cli: Cli, unchanged: Path) -> None:
    """A run from standard input is checked like a file, though it cannot be read twice."""
    content = (unchanged / "unknown-topic.run").read_bytes()
    refused: Outcome = cli("import", "runs", "-", stdin=content).failed(DATA)
    assert "-: expected a known topic, got `G99`\nhint: --allow-unknown" in refused.err


def test_faults_are_counted_beyond_those_shown(cli: Cli, here: Path) -> None:
    """Of a file of a thousand bad lines, 25 faults are shown and the rest counted."""
    write(here / "long.run", *["G01 Q0 d 1 1.0"] * 1000)
    refused = cli("pool", "long.run").failed(DATA)
    assert refused.err.count("expected 6 fields") == 25
    assert "long.run: and 975 more faults" in refused.err


def test_qrels_given_as_a_run_and_the_other_way_are_one_sentence(cli: Cli, judged: Path) -> None:
    """Whatever reads the file, it is told what it looks like and what takes it."""
    qrels, run = "judgements/strict.qrels", "runs/bm25-words.run"
    for command in (("pool", qrels), ("import", "runs", qrels), ("evaluate", "--qrels", qrels, qrels)):
        answer = cli(*command).failed(1)
        first, hint = answer.err.splitlines()
        assert first.startswith(f"error: {qrels}: this looks like a qrels file (4 columns")
        assert "`--qrels FILE`" in hint
        assert "`pooler import judgements FILE`" in hint
    checked = cli("check", qrels)
    assert (checked.code, len(checked.out.splitlines())) == (1, 2)
    for command in (
        ("import", "judgements", run, "--judge", "zoe"),
        ("evaluate", "--qrels", run, run),
        ("collapse", run, "--level", "1"),
        ("import", "judgements", run, "--judge", "zoe", "--lenient"),
    ):
        answer = cli(*command).failed(1)
        first, hint = answer.err.splitlines()
        assert first.startswith(f"error: {run}: this looks like a run file (6 columns")
        assert "`pooler import runs FILE`" in hint


def test_an_engine_that_is_none_is_told_with_those_there_are(cli: Cli) -> None:
    """An earlier version had others."""
    told = cli("pool", "a.run", "--engine", "duckdb")
    assert told.code == 2
    assert "`--engine` must be one of python, spark, but got 'duckdb'" in told.err
