"""`pooler rejudge`: judgements whose guidelines, topic or document have changed since."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import emit
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, FormatOption
from pooler.results.look.status import moment
from pooler.results.printed import Column, Format, Table
from pooler.telling import say
from store.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from store.judging.rejudging import Outdated

COLUMNS = [
    Column("judge"),
    Column("topic"),
    Column("docno"),
    Column("state"),
    Column("grade"),
    Column("guidelines"),
    Column("judged_at"),
    Column("why"),
    Column("obstacle"),
    Column("topic_version"),
]
_OBSTACLES = {
    "judge-disabled": "their judge is disabled",
    "not-pooled": "they are in no pool",
    "not-assigned": "they are not assigned to their judge",
}


class WhyName(StrEnum):
    """Reasons of `store.judging.rejudging.Why`, which is not imported for `--help`."""

    GUIDELINES = "guidelines"
    TEXT = "text"
    TEXT_CAME = "text-came-later"
    TOPIC = "topic"


def rejudge(
    judges: Annotated[
        list[str] | None, typer.Option("--judge", metavar="NAME", help="Of this judge; may be repeated.")
    ] = None,
    topics: Annotated[
        list[str] | None, typer.Option("--topic", metavar="TOPIC", help="Of this topic; may be repeated.")
    ] = None,
    why: Annotated[
        list[WhyName] | None,
        typer.Option(
            "--why", help="For this reason; may be repeated. text: the document's; topic: the topic's."
        ),
    ] = None,
    requeue: Annotated[
        bool, typer.Option("--requeue", help="Put them back before their judges, as unjudged.")
    ] = False,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """List judgements whose guidelines, or text of topic or document, have changed since.

    With --requeue, each is unjudged again: the grade leaves the qrels until its judge has given
    another, and stays in the history. Those that no judge would be shown again stay as they are.
    Of imported judgements nobody knows what they were made of; they are never listed.

    Example: pooler rejudge --why text
    """
    from store.collection import Collection
    from store.judging.rejudging import Why

    reasons = [Why(one.value) for one in why or []]
    with Collection(collection) as opened:
        listed = opened.rejudging.outdated(judges=judges or [], topics=topics or [], why=reasons)
        rows: Sequence[Outdated] = listed.rows
        if requeue:
            rows = opened.rejudging.reopen(judges=judges or [], topics=topics or [], why=reasons)
    table = Table("rejudge", COLUMNS)
    for one in rows:
        table.rows.append(
            {
                "judge": one.judge,
                "topic": one.topic,
                "docno": one.docno,
                "state": one.state.value,
                "grade": one.grade,
                "guidelines": one.guideline_version,
                "judged_at": moment(one.judged_at, fmt),
                "why": (", " if fmt is Format.TABLE else " ").join(one.why),
                "obstacle": None if one.obstacle is None else one.obstacle.value,
                "topic_version": one.topic_version,
            }
        )
    if fmt is Format.TABLE:
        table.columns = _for_people(table)
        table.caption = _summary(rows, listed.newest_version)
    emit([table], fmt)
    if requeue:
        _report_requeued(rows)
        left = Counter(one.obstacle for one in listed.rows if one.obstacle is not None)
        for obstacle, count in sorted(left.items()):
            say(f"{counted(count, 'judgement')} not put back: {_OBSTACLES[obstacle]}")
    elif rows:
        free = sum(one.obstacle is None for one in rows)
        say(f"nothing is changed; --requeue puts {counted(free, 'document')} back before judges")
    if listed.n_imported:
        say(f"{counted(listed.n_imported, 'imported judgement')} not looked at: nobody knows"
            " what they were made of")  # fmt: skip


def _for_people(table: Table) -> list[Column]:
    """Leave out what a narrow table has no room for, and a column that says nothing."""
    left_out = {"state", "guidelines", "judged_at", "topic_version"}
    if all(row["obstacle"] is None for row in table.rows):
        left_out.add("obstacle")
    return [column for column in table.columns if column.name not in left_out]


def _summary(rows: Sequence[Outdated], newest: int | None) -> str:
    """Count the reasons."""
    if not rows:
        return "no judgement rests on older guidelines or another text of topic or document"
    reasons = Counter(reason.value for one in rows for reason in one.why)
    said = ", ".join(f"{count:,} {reason}" for reason, count in sorted(reasons.items()))
    now = "" if newest is None else f"\nguidelines now: version {newest}"
    cannot = "\ngrade -: cannot be judged" if any(one.grade is None for one in rows) else ""
    return f"{counted(len(rows), 'judgement')}: {said}{now}{cannot}"


def _report_requeued(rows: Sequence[Outdated]) -> None:
    """Say what was put back, and what that does to the qrels."""
    if not rows:
        say("nothing was put back")
        return
    graded = sum(one.grade is not None for one in rows)
    judges = len({one.judge for one in rows})
    say(f"{counted(len(rows), 'document')} put back before {counted(judges, 'judge')};"
        f" {counted(graded, 'grade')} left the qrels until they are judged again")  # fmt: skip
