"""The whole chain, run on a sample collection."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import tempfile
import time
from pathlib import Path
from typing import Annotated

from pooler.command import Option, RunLine, screen
from pooler.messages import say
from pooler.result import Done
from store.errors import PoolerError, UnknownNameError

STEPS = (
    ("An empty collection with grades 0 to 2.", "pooler init --scale 0-2"),
    ("Eight topics, half English, half Japanese.", "pooler import topics topics.jsonl"),
    ("Are the nine submitted runs sound?", "pooler check --runs runs.tsv --depth 5"),
    ("Import them.", "pooler import runs --runs runs.tsv"),
    ("The pool: the first five documents of each contributing run.", "pooler pool --depth 5"),
    ("Texts of the pooled documents, for the judges.", "pooler import docs documents.jsonl"),
    (
        "Three judges of different strictness have judged it (a language model in three roles).",
        "pooler import judgements judgements/strict.qrels --judge strict --kind model",
    ),
    ("", "pooler import judgements judgements/middle.qrels --judge middle --kind model"),
    ("", "pooler import judgements judgements/lenient.qrels --judge lenient --kind model"),
    ("How far has judging come?", "pooler status"),
    ("Do the judges agree?", "pooler agreement"),
    (
        "One grade per document: the majority's, with ties to the lower grade.",
        "pooler qrels define official --aggregate majority --ties low",
    ),
    ("", "pooler export qrels --out qrels.txt"),
    ("How good are the runs?", "pooler evaluate -m AP"),
    ("What if the unjudged documents at rank 6 were relevant?", "pooler sensitivity --depth 5"),
    ("In a copy, ask a model: `mock` is built in and only counts words.", "pooler backup mock.backup"),
    ("", "pooler restore mock.backup --collection mock.db"),
    ("", "pooler ask mock --collection mock.db"),
    (
        "May it stand in for a judge?",
        "pooler audit mock --against strict --table confusion --collection mock.db",
    ),
)
NEXT = (
    "pooler judges add you                       # then: pooler judge --judge you",
    "pooler agreement --by-topic",
    "pooler sensitivity --depth 5 --qrels strict --by-topic",
    "pooler export qrels strict --level rigid    # rigid: 2 is relevant, 1 is not",
)


@screen
def demo(
    *,
    keep: Annotated[Path | None, Option("--keep DIR")] = None,
    name: str = "kitchen_garden",
    run_line: RunLine,
) -> Done:
    """Run the whole chain on a sample collection.

    Example: pooler demo --keep garden

    keep : Keep the collection here.
    name : Which sample collection.
    """
    import pooler

    package = Path(pooler.__file__).parent  # installed, or in a checkout with the samples beside it
    folders = [package / "sample_collections", package.parent / "sample_collections"]
    known = {file.parent.name: file.parent for one in folders for file in one.glob("*/topics.jsonl")}
    if name not in known:
        raise UnknownNameError("sample collection", name, known)
    source = known[name]
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="pooler-demo-") as folder:
            code = _run_all(source, Path(folder) / name, run_line)
        last = "Nothing was kept. To keep it, `pooler demo --keep garden`; then, in that folder:"
    else:
        if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
            message = f"{keep} already exists and is not empty"
            raise PoolerError(message, hint="name another folder with --keep")
        code = _run_all(source, keep, run_line)
        last = f"Everything is in {keep}. Go on there (cd {shlex.quote(str(keep))}):"
    if not code:
        say(f"\n{last}")
        for line in NEXT:
            say(f"  {line}")
    return Done(code=code)


def _run_all(source: Path, folder: Path, run_line: RunLine) -> int:
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source, folder, ignore=ignore, dirs_exist_ok=True)
    started = time.monotonic()
    with contextlib.chdir(folder):
        for why, line in STEPS:
            if why:
                say(f"\n# {why}")
            say(f"$ {line}")
            words = [*shlex.split(line)[1:]]
            if words[0] != "check" and "--collection" not in words:
                words += ["--collection", "collection.db"]
            if code := run_line(words):
                return code
    say(f"\n{len(STEPS)} commands in {time.monotonic() - started:.1f} s.")
    return 0
