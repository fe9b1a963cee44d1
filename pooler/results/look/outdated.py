"""Judgements whose guidelines, topic or document have changed since; put back where that is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

from pooler.results.result import Result, frozen_settings
from pooler.results.table import DOCNO, GRADE, JUDGE, TOPIC, Column, Table
from store.errors import ArgumentError
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection
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


def outdated(
    collection: Collection,
    *,
    judges: Sequence[str] = (),
    topics: Sequence[str] = (),
    why: Sequence[str] = (),
    requeue: bool = False,
) -> OutdatedJudgements:
    """List judgements whose guidelines, or text of topic or document, have changed since.

    Parameters
    ----------
    collection : Collection
        Open; to put judgements back, for writing.
    judges, topics : sequence of str, optional
        Of these; default all.
    why : sequence of {"guidelines", "text", "text-came-later", "topic"}, optional
        For these reasons; default any. Text is the document's, topic the topic's.
    requeue : bool, default=False
        Put them back before their judges, as unjudged: the grade leaves the qrels until there is
        another, and stays in the history. Those that no judge would be shown again stay.

    Returns
    -------
    OutdatedJudgements
        Table `outdated`, by judge, topic and docno: all of them, or those that were put back.
        Imported judgements are never among them: the texts they were made with are unknown.

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

    Examples
    --------
    >>> from store.collection import Collection
    >>> with Collection("collection.db") as opened:  # doctest: +SKIP
    ...     outdated(opened, why=["text"]).table("outdated").to_dict()["docno"]
    ['KG-E-002']
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
    settings = frozen_settings(
        collection=collection.name, judges=[*judges], topics=[*topics], why=[*why], requeue=requeue
    )
    return OutdatedJudgements(
        settings=settings,
        judgements=tuple(put_back if requeue else listed.rows),
        left=tuple(one for one in listed.rows if one.obstacle is not None),
        newest_version=listed.newest_version,
        n_imported=listed.n_imported,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class OutdatedJudgements(Result):
    """Judgements that rest on something that has changed, or those of them that were put back."""

    judgements: tuple[Outdated, ...] = ()
    left: tuple[Outdated, ...] = ()
    """Those that no judge would be shown again."""
    newest_version: int | None = None
    """Of the guidelines; ``None`` = there are none."""
    n_imported: int = 0
    """Imported judgements, whose texts at the time are unknown."""

    NAMES: ClassVar[tuple[str, ...]] = ("outdated",)

    def facts(self) -> Mapping[str, Any]:
        """Return the newest version of the guidelines, and how many judgements were not looked at."""
        return {"newest_guidelines": self.newest_version, "imported": self.n_imported}

    def sentences(self) -> Iterator[str]:
        """Say what was done, what could be, and what was not looked at."""
        rows = self.judgements
        if self.settings["requeue"]:
            yield self._put_back()
            left = Counter(one.obstacle for one in self.left if one.obstacle is not None)
            for obstacle, count in sorted(left.items()):
                yield f"{counted(count, 'judgement')} not put back: {_OBSTACLES[obstacle]}"
        elif rows:
            free = sum(one.obstacle is None for one in rows)
            yield f"nothing is changed; --requeue puts {counted(free, 'document')} back for their judges"
        if self.n_imported:
            not_looked = f"{counted(self.n_imported, 'imported judgement')} not looked at"
            yield f"{not_looked}: the texts they were made with are unknown"

    def _table(self, name: str) -> Table:
        notes, versions = [*self._counted()], attrgetter("guideline_version")
        return Table.of_records(name, _COLUMNS, self.judgements, notes=notes, guidelines=versions)

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

    def _put_back(self) -> str:
        rows = self.judgements
        if not rows:
            return "nothing was put back"
        judges = len({one.judge for one in rows})
        graded = sum(one.grade is not None for one in rows)
        return (
            f"{counted(len(rows), 'document')} put back for {counted(judges, 'judge')};"
            f" {counted(graded, 'grade')} left the qrels until they are judged again"
        )
