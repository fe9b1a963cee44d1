"""A collection of one topic in which another judge has been at work, and its twin in which nobody has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pooler.pools.live import LiveDrawing
from pooler.pools.plan import Plan, PoolBuild
from pooler.pools.runs import stored_runs
from store.collection import Collection
from store.records import Action, Document, Grade, JudgeKind, Passage, Scale, Topic
from tests.helpers.places import held_place
from tests.helpers.world import JudgeAtWork, change_stored, make_pool, make_run

DOCNOS = "abcdef"
SCALE = Scale(
    (Grade(0, "poor", "0"), Grade(1, "fair", "1"), Grade(9_700, "superb", "2")), relaxed=1, rigid=None
)
OTHER, OTHER_ID, OTHER_SITTING, OTHER_GRADE = "wilhelmina", 7_919, 6_007, 9_700
SCORE, PRIORITY = 0.8675309, 0.5772156
SECRETS = re.compile(
    r"wilhelmina|secretrun|secretgroup|whispered|unspeakable|calibration|overlap"
    r"|8675309|5772156|\.run\b",
    re.IGNORECASE,
)
"""Words that only the runs and the other judge have."""
SECRET_NUMBERS = {OTHER_ID, OTHER_SITTING, OTHER_GRADE, SCORE, PRIORITY}
PLACES = ("none", "by name", "claimed")
"""How documents are assigned."""


@dataclass
class World:
    """A collection, and what draws its documents."""

    name: str
    collection: Collection
    drawing: LiveDrawing | None = None


def make_world(folder: Path, *, places: str, other: bool, adaptive: bool = False) -> World:
    """Make a collection of one topic for bob, in which another judge has been at work or not."""
    folder.mkdir()
    name = str(folder / "c.db")
    made = Collection.create(name, name="x", scale=SCALE, program="x")
    made.judges.add("bob", JudgeKind.HUMAN)
    made.topics.add([Topic("1", "one topic", "described", "narrated")])
    texts = [Document(one, f"Title {one}", f"text of {one} with words") for one in DOCNOS]
    made.documents.add(texts, all_texts=True)
    for number in range(3):
        ranked = [(docno, SCORE - place) for place, docno in enumerate(DOCNOS)]
        run = make_run(f"secretrun{number}", {"1": ranked}, group="secretgroup")
        made.runs.add(run)
    if adaptive:
        plan = Plan(name="pool", strategy="mtf", budget=4, level=1)
        runs = stored_runs(made, depth=6, order="trec")
        made.pools.add(PoolBuild(runs, plan, version="x").whole())
    else:
        tags = tuple(run.tag for run in made.runs.all())
        made.pools.add(make_pool({"1": DOCNOS}, run_tags=tags))
    change_stored(name, "UPDATE pool_entry SET priority = :value", renews=True, value=PRIORITY)
    made.guidelines.add("# How to judge\n\nWith care.")
    made.judges.add(OTHER, JudgeKind.HUMAN)
    change_stored(
        name, "UPDATE judge SET id = :id WHERE name = :judge", renews=True, id=OTHER_ID, judge=OTHER
    )
    for judge, purpose in (("bob", "primary"), (OTHER, "calibration" if other else "primary")):
        if places == "by name":
            held_place(name, "1", DOCNOS, judge, purpose="overlap" if other else purpose)
        elif places == "claimed":
            held_place(name, "1", DOCNOS, None, lease_s=600, purpose=purpose)
    drawing = LiveDrawing(made) if adaptive else None
    if other:
        do_everything(made, name, drawing)
    return World(name, made, drawing)


def do_everything(collection: Collection, name: str, drawing: LiveDrawing | None) -> None:
    """Let the other judge do what a judge can do, and stay at the desk."""
    desk = collection.desk(OTHER, program="x")
    desk.beat("1")
    change_stored(name, "UPDATE sitting SET id = :id, host = 'whispered'", id=OTHER_SITTING)
    desk._sitting = OTHER_SITTING
    while desk.claim("1") or (drawing is not None and drawing.draw("1")):
        pass
    sitting = JudgeAtWork(desk, "1")
    for docno in list(sitting.tasks):
        sitting.act(docno, Action.MARK, passages=(Passage(0, 4, "text"),))
        sitting.act(docno, Action.NOTE, note="whispered note")
        sitting.act(docno, Action.CANNOT, reason="unspeakable", active_ms=OTHER_GRADE)
        sitting.act(docno, Action.JUDGE, grade=OTHER_GRADE, active_ms=OTHER_GRADE, dwell_ms=1)
