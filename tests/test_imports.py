"""What a command loads, seen in a fresh interpreter: nothing that it does not need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pooler import commands
from tests.helpers.run import GARDEN, RUN, qrels_of

pytestmark = pytest.mark.slow  # fresh interpreters

ROOT = Path(__file__).resolve().parents[1]
RUN_FILE = GARDEN / "runs" / "bm25-words.run"
DATABASE = {"sqlmodel", "sqlalchemy", "alembic", "psycopg"}
HEAVY = DATABASE | {"textual", "scipy", "ir_datasets", "pyarrow"}
UNUSED = ("numpy.ma", "store.analysis.measures.sampled", "store.analysis.significance.folds")
"""Not needed for one run and a file of qrels, and slow."""
ANALYSIS = sorted(path.stem for path in (ROOT / "store" / "analysis").glob("[a-z]*.py"))
SCREENS = sorted((ROOT / "judge_ui").rglob("*.py"))


def modules_after(code: str, folder: Path) -> set[str]:
    """Return the modules a fresh interpreter has loaded after some code."""
    report = "import json, sys; open('modules.json', 'w').write(json.dumps(sorted(sys.modules)))"
    ran = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    return set(json.loads((folder / "modules.json").read_text("utf-8")))


def loaded_by(code: str, folder: Path) -> set[str]:
    """Return its top-level packages."""
    return {name.partition(".")[0] for name in modules_after(code, folder)}


def command(*arguments: str) -> str:
    """Return code that runs the command line and stops unless it succeeded."""
    return f"{RUN}; assert run({list(arguments)!r}) == 0"


@pytest.mark.parametrize(
    "code",
    [
        RUN,
        command("--help"),
        command("sensitivity", "--help"),
        command("check", str(RUN_FILE), "--depth", "5"),
        "import pooler; pooler.datasets",
        command("pool", str(RUN_FILE), "--depth", "5", "--out", "pool.txt"),
        command("pool", str(RUN_FILE), "--depth", "5", "--annotated", "--out", "pool.txt"),
    ],
    ids=["import", "help", "help-of-command", "check", "datasets", "pool", "pool-annotated"],
)
def test_command_without_a_collection_loads_no_database_screen_or_scipy(code: str, tmp_path: Path) -> None:
    """Help, checking and pooling from files to a file start fast: they load what they use."""
    assert loaded_by(code, tmp_path) & HEAVY == set()


def test_evaluation_of_bare_files_loads_what_it_uses(tmp_path: Path) -> None:
    """`evaluate --qrels` loads nothing of a collection, no screen, no SciPy, and no reader of values."""
    qrels = RUN_FILE.parents[1] / "judgements" / "strict.qrels"
    code = command("evaluate", "--qrels", str(qrels), str(RUN_FILE))
    assert loaded_by(code, tmp_path) & (HEAVY | {"pydantic", "tomllib", "unittest"}) == set()
    code = f"{code}; import sys; assert sys.modules.keys().isdisjoint({UNUSED!r})"
    assert loaded_by(code, tmp_path)


@pytest.mark.parametrize("module", ["session.session", "session.messages", "text.finding", "plain"])
def test_judging_without_a_screen_loads_no_textual(module: str, tmp_path: Path) -> None:
    """The judging logic and the line mode work where Textual does not, and know no database."""
    loaded = loaded_by(f"import judge_ui.{module}", tmp_path)
    assert loaded & (DATABASE | {"textual", "rich", "typer", "pooler"}) == set()


def test_screens_load_neither_database_nor_pooler(tmp_path: Path) -> None:
    """The judge's screens are blind: importing all of them loads no SQL and nothing of pooler."""
    names = [path.relative_to(ROOT).with_suffix("").parts for path in SCREENS]
    code = "\n".join("import " + ".".join(parts).removesuffix(".__init__") for parts in names)
    assert loaded_by(code, tmp_path) & (DATABASE | {"pooler", "typer"}) == set()


def test_analysis_loads_no_database_and_no_screen(tmp_path: Path) -> None:
    """The arithmetic loads neither SQL nor screen nor command line."""
    assert len(ANALYSIS) > 5
    code = "\n".join(f"import store.analysis.{name}" for name in ANALYSIS)
    assert loaded_by(code, tmp_path) & (DATABASE | {"textual", "rich", "typer", "pooler"}) == set()


def test_alembic_is_loaded_by_upgrade_alone(tmp_path: Path) -> None:
    """Working on a collection loads no migrations."""
    code = f"{command('init')}\n{command('status')}"
    loaded = loaded_by(code, tmp_path)
    assert "sqlalchemy" in loaded
    assert loaded & {"alembic", "textual", "scipy"} == set()


@pytest.mark.slow
def test_looking_at_a_collection_loads_no_arrays(tmp_path: Path) -> None:
    """What reads and prints does without numpy; `status` alone counts, a million events in arrays."""
    code = f"{command('init')}\n{command('import', 'runs', str(RUN_FILE))}"
    loaded_by(code, tmp_path)
    reading = [("show", "runs"), ("show", "runs", "bm25-words"), ("show", "topics"), ("history",)]
    loaded = loaded_by("\n".join(command(*words) for words in reading), tmp_path)
    assert "sqlmodel" in loaded
    assert loaded & {"numpy", "scipy", "alembic", "textual", "psycopg"} == set()


def test_pooler_in_python_loads_what_is_used(tmp_path: Path) -> None:
    """Nothing before a name is used; files in a notebook need no database."""
    heavy = HEAVY | {"numpy", "rich", "typer", "pandas"}
    assert loaded_by("import pooler; dir(pooler)", tmp_path) & heavy == set()
    code = (
        "import pooler as p; "
        "p.sensitivity(({'a': {'1': {'x': 1}}}, {'1': {'x': 1}}), depth=1, r='pool').table('sensitivity')"
    )
    assert loaded_by(code, tmp_path) & {"sqlalchemy", "textual", "rich", "typer"} == set()


def test_help_imports_no_command_and_a_command_only_its_own(tmp_path: Path) -> None:
    """`--help` and a wrong name import no command's module; `check --help` only that of `check`."""
    places = {announced.module for announced in commands.announced().values()}
    own = {f"pooler.cli.{name}" for name in ("commands", "console", "main")}
    for line, code, of_commands in (
        ("--help", 0, set()),
        ("chekc", 2, set()),
        ("check --help", 0, {"pooler.commands.start.check"}),
    ):
        loaded = modules_after(f"{RUN}; assert run({line.split()!r}) == {code}", tmp_path)
        assert loaded & places == of_commands
        assert of_commands or {name for name in loaded if name.startswith("pooler.cli.")} == own


FIRST, SECOND, THIRD = (
    str(GARDEN / "judgements" / f"{judge}.qrels") for judge in ("lenient", "middle", "strict")
)
RUNS = tuple(str(GARDEN / "runs" / f"{tag}.run") for tag in ("bm25-words", "tfidf-words"))

ON_FILES = {
    "agreement": (
        (*qrels_of(FIRST, SECOND), "--by-topic"),
        (*qrels_of(FIRST, SECOND, THIRD), "--against", THIRD[-12:-6]),
        ("orders", *qrels_of(FIRST, SECOND), "--mixtures", "10", "--run", RUNS[0], "--run", RUNS[1]),
    ),
    "export qrels": (
        (FIRST, "--level", "1"),
        (FIRST, SECOND, THIRD, "--level", "1", "--aggregate", "dawid-skene", "--out", "q.txt"),
    ),
    "evaluate": (("--qrels", FIRST, *RUNS), ("--qrels", FIRST, *RUNS, "--scale", "0-2",
                                             "--level", "rigid")),
    "sensitivity": (("--qrels", FIRST, *RUNS, "--depth", "5", "--by-topic"),),
    "qrels diff": ((FIRST, SECOND, *RUNS, "--by-topic"),),
    "pool": ((*RUNS, "--depth", "5", "--out", "pool.txt"),),
}  # fmt: skip


@pytest.mark.slow
def test_commands_on_files_load_no_database_screen_or_scipy(tmp_path: Path) -> None:
    """A fresh interpreter that worked on files has loaded neither SQL nor a screen nor SciPy."""
    lines = [(*name.split(), *arguments) for name, given in ON_FILES.items() for arguments in given]
    code = "\n".join(command(*line) for line in lines)
    assert loaded_by(code, tmp_path) & (DATABASE | {"textual", "scipy"}) == set()
    assert not (tmp_path / "collection.db").exists()
