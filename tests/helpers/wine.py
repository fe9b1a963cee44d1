"""A small collection of four documents and three judges: made, judged at desks, and looked at."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from store.collection import Collection
from store.records import Action, Document, JudgeKind, Passage, Topic
from tests.helpers.run import run_inside
from tests.helpers.world import JudgeAtWork, make_pool, parse_scale

DOCNOS = ("a", "b", "c", "d")
JUDGES = ("ann", "bob", "cy")
Step = tuple[str, str, Action, Any]
"""Judge, docno, action, and the grade or the word that goes with it."""


def make(place: Path, *, name: str = "wine", scale: str = "0-2") -> Path:
    """Make a collection: a pool of four documents with texts, three judges, guidelines."""
    where = Collection.create(str(place), name=name, scale=parse_scale(scale), program="x")
    with where as made:
        made.topics.add([Topic("1", "wine", "d", "n")])
        made.pools.add(make_pool({"1": DOCNOS}))
        made.documents.add([Document(docno, docno, f"text of {docno}") for docno in DOCNOS])
        made.guidelines.add("# One\n")
        for judge in JUDGES:
            made.judges.add(judge, JudgeKind.HUMAN)
    return place


def copies(place: Path, n: int) -> list[Path]:
    """Copy a collection that nobody has open."""
    made = [place.with_name(f"{place.stem}-{number}.db") for number in range(n)]
    for copy in made:
        shutil.copy(place, copy)
    return made


def work(place: Path, *steps: Step) -> None:
    """Let judges work at their desks, each in one sitting."""
    with Collection(str(place)) as opened:
        sittings = {judge: JudgeAtWork(opened.desk(judge), "1") for judge, *_ in steps}
        for judge, docno, action, value in steps:
            do(sittings[judge], docno, action, value)
        for sitting in sittings.values():
            sitting.desk.leave()


def do(sitting: JudgeAtWork, docno: str, action: Action, value: Any) -> None:
    """Do one thing at a desk."""
    if action is Action.JUDGE:
        sitting.grade(docno, value)
    elif action is Action.UNDO:
        sitting.undo()
    elif action is Action.MARK:
        sitting.act(docno, action, passages=(Passage(0, 4, "text"),) if value else ())
    elif action is Action.CANNOT:
        sitting.act(docno, action, reason=str(value))
    else:
        sitting.act(docno, action, note=str(value))


def export(place: Path | str, folder: Path) -> dict[str, bytes]:
    """Export a collection and return its files."""
    run_inside("export", "collection", folder, "--collection", place).fine()
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.parent.name != "tables" and file.name != "manifest.json"
    }


def done(place: Path | str) -> list[tuple[Any, ...]]:
    """Return what was done in a collection, but for times, sittings and positions."""
    with Collection(str(place)) as opened:
        return sorted(
            (one.judge, one.docno, one.revision, one.action.value, one.undoes or 0, one.state.value,
             one.grade is None, one.grade or 0, one.reason, one.note, one.passages)
            for one in opened.judgements.history()
        )  # fmt: skip


def grades(place: Path | str, judges: Iterable[str] = JUDGES) -> dict[tuple[str, str], Any]:
    """Return how documents stand, by judge and docno: a grade, or a state."""
    with Collection(str(place)) as opened:
        return {
            (one.judge, one.docno): one.state.value if one.grade is None else one.grade
            for one in opened.judgements.current(list(judges))
        }
