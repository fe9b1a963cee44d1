"""Judgements whose guidelines, topic or document have changed since; put back where that is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

from pooler.command import Option, Stored, command
from pooler.messages import say
from pooler.result import Result
from pooler.tables import DOCNO, GRADE, JUDGE, TOPIC, Column, Table
from store.errors import ArgumentError
from store.text import counted

if TYPE_CHECKING:
    from store.judging.rejudging import Outdated

_COLUMNS = (
    JUDGE,
    TOPIC,
    DOCNO,
    Column("state", show="never"),
    GRADE,
    Column("guidelines", "int", show="never"),
    Column("judged_at", "moment", show="never"),
    Column("why", "texts"),
    Column("obstacle", about="why it is not put back", show="if_any"),
    Column("topic_version", "int", show="never"),
)
_OBSTACLES = {
    "judge-disabled": "their judge is disabled",
    "not-pooled": "they are in no pool",
    "not-assigned": "they are not assigned to their judge",
}


@command
def status_outdated(
    collection: Stored,
    *,
    judges: Annotated[Sequence[str], Option("--judge NAME", "Only this judge; may be repeated.")] = (),
    topics: Annotated[Sequence[str], Option("--topic TOPIC", "Only this topic; may be repeated.")] = (),
    why: Annotated[Sequence[str], Option("--why REASON")] = (),
    requeue: bool = False,
) -> OutdatedJudgements:
    """List judgements whose guidelines or texts have changed since.

    With --requeue each becomes unjudged again: the grade stays in the history, but leaves the qrels until
    its judge gives another. Documents that no judge would see again are left alone. Imported judgements are
    never listed, since the texts they were made with are unknown.

    Example: pooler status outdated --why text

    why : Only for this reason; may be repeated: guidelines, text (the document's text changed),
        text-came-later, topic (the topic's text changed).
    requeue : Make them unjudged again, for their judges to repeat.

    Raises
    ------
    ArgumentError
        If a reason is none of these.
    UnknownNameError
        If there is no such judge or topic.
    ConflictError
        If a judge was at work on one of the documents at this very moment; nothing is put back.

    Notes
    -----
    One pass over the judgements of the judges.
    """
    from store.judging.rejudging import Why

    known = [one.value for one in Why]
    if wrong := [one for one in why if one not in known]:
        raise ArgumentError("why", f"must be some of {', '.join(known)}", wrong[0])
    reasons = [Why(one) for one in why]
    listed = collection.rejudging.outdated(judges=judges, topics=topics, why=reasons)
    put_back: Sequence[Outdated] = ()
    if requeue:
        put_back = collection.rejudging.reopen(judges=judges, topics=topics, why=reasons)
    found = OutdatedJudgements(
        judgements=tuple(put_back if requeue else listed.rows),
        newest_version=listed.newest_version,
        n_imported=listed.n_imported,
    )
    if requeue:
        say(_put_back(put_back))
        left = Counter(one.obstacle for one in listed.rows if one.obstacle is not None)
        for obstacle, count in sorted(left.items()):
            say(f"{counted(count, 'judgement')} not put back: {_OBSTACLES[obstacle]}")
    elif listed.rows:
        free = sum(one.obstacle is None for one in listed.rows)
        say(f"nothing is changed; --requeue puts {counted(free, 'document')} back for their judges")
    if listed.n_imported:
        not_looked = f"{counted(listed.n_imported, 'imported judgement')} not looked at"
        say(f"{not_looked}: the texts they were made with are unknown")
    return found


def _put_back(rows: Sequence[Outdated]) -> str:
    if not rows:
        return "nothing was put back"
    judges = len({one.judge for one in rows})
    graded = sum(one.grade is not None for one in rows)
    return (
        f"{counted(len(rows), 'document')} put back for {counted(judges, 'judge')};"
        f" {counted(graded, 'grade')} left the qrels until they are judged again"
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class OutdatedJudgements(Result):
    """Judgements that rest on something that has changed, or those of them that were put back."""

    judgements: tuple[Outdated, ...]
    newest_version: int | None
    """Of the guidelines; ``None`` = there are none."""
    n_imported: int
    """Imported judgements, whose texts at the time are unknown."""

    def facts(self) -> Mapping[str, Any]:
        """Return the newest version of the guidelines, and how many judgements were not looked at."""
        return {"newest_guidelines": self.newest_version, "imported": self.n_imported}

    def _tables(self) -> Iterator[Table]:
        notes, versions = [*self._counted()], attrgetter("guideline_version")
        yield Table.of_records("outdated", _COLUMNS, self.judgements, notes=notes, guidelines=versions)

    def _counted(self) -> Iterator[str]:
        rows = self.judgements
        if not rows:
            yield "no judgement rests on older guidelines or another text of topic or document"
            return
        reasons = Counter(reason.value for one in rows for reason in one.why)
        words = ", ".join(f"{count:,} {reason}" for reason, count in sorted(reasons.items()))
        yield f"{counted(len(rows), 'judgement')}: {words}"
        if self.newest_version is not None:
            yield f"guidelines now: version {self.newest_version}"
        if any(one.grade is None for one in rows):
            yield "grade -: cannot be judged"
