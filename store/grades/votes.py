"""Votes as arrays, from rows or files, of one judge or all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, select
from sqlmodel import Session

from store.analysis.agreement.votes import PLACE_OF_STATE, Cells, PopulationVotes, population_votes
from store.analysis.arrays import Grades, cut_by_code
from store.content.lookup import row_named
from store.db.database import Area
from store.db.keys import Keys, fetch_docnos, fetch_ordered_docnos
from store.db.tables import JUDGE, POOL
from store.errors import ArgumentError, UnknownNameError
from store.grades.definition import QrelsDefinition
from store.grades.opinions import AllVotes, CurrentRuling, CurrentStates, Pair, arrange
from store.grades.qrels import decide
from store.grades.sampled import fetch_candidates, fetch_sampled_pools, sole_sampled_pool
from store.judging.disagreements import Selection
from store.judging.event_arrays import (
    FROM_EVERY_POOL,
    FROM_POOLS,
    LOW,
    PAIR,
    are_in,
    as_pairs,
    codes_of,
    fetch_integers,
    fetch_rounds,
    moment_literal,
    newest_events,
)
from store.judging.events import count_graded
from store.judging.judges import fetch_graders, fetch_judges, judge_id
from store.judging.kinds import Voters, check_kinds, check_share, choose_voters, sorts_of
from store.records import AsOf, Judge, JudgeKind, Scale, State
from store.text import natural_key

if TYPE_CHECKING:
    from store.analysis.measures.sampled import SampledPool
    from store.grades.qrels import FinalQrels
    from store.grades.sampled import TopicCandidates


def _judge_rows(session: Session) -> Sequence[Row[Any]]:
    return session.execute(select(JUDGE.c.id, JUDGE.c.name, JUDGE.c.kind).order_by(JUDGE.c.name)).all()


def refuse_adjudicators(named: Iterable[str], adjudicators: Collection[str]) -> None:
    """Raise `ArgumentError` where an adjudicator is named as one who votes."""
    for name in named:
        if name in adjudicators:
            hint = "an adjudicator's rulings count, and are no votes"
            raise ArgumentError("judges", "must be judges, not adjudicators", name, hint=hint)


def _by_topic(topics: Keys, topic_of: NDArray[np.int64], *columns: NDArray[np.int64]) -> dict[str, Any]:
    """Cut columns, which rise with the row ids of topics, into those of every topic, in natural order."""
    found = cut_by_code(topics.names, topic_of, *columns)
    return {topic: found[topic] for topic in sorted(found, key=natural_key)}


@dataclass(frozen=True, slots=True, eq=False)
class SoleGrades:
    """What a definition chooses, where it is what one judge graded."""

    judge: str
    by_topic: Grades
    """Topics in natural order, document ids ascending."""
    n_documents: int
    """Graded (topic, document) pairs."""
    voters: Voters
    """The judge, and who was left out."""


def fetch_voters_of(session: Session, definition: QrelsDefinition, *, refuses: bool = True) -> Voters:
    """Choose whose judgements count by a definition, as of its moment.

    `PoolerError`: no judge is named, and those who count graded less than half of what others did. `refuses`:
    adjudicators who are named, as they do not vote.
    """
    judges, until = fetch_judges(session), definition.until
    for name in definition.judges:
        judge_id(session, name)  # its error says how to see the names
    if refuses and definition.sole is None:
        refuse_adjudicators(
            definition.judges, [one.name for one in judges if one.kind is JudgeKind.ADJUDICATOR]
        )
    if definition.erased and not definition.judges:
        return Voters(is_named=True)
    graders = fetch_graders(session) if until is None else _graders_then(session, until)
    has_rulings = not definition.without_rulings
    voters = choose_voters(judges, graders, of=definition.judges, kinds=definition.kinds, rulings=has_rulings)
    if voters.left_out:
        check_share(count_graded(session, until), voters)
    return voters


def _graders_then(session: Session, until: AsOf) -> frozenset[str]:
    """Return who had graded something, or as an adjudicator decided something, up to a moment."""
    judges = {row.id: row for row in _judge_rows(session)}
    _, _, judge_of, state_of, _ = newest_events(session.connection(), None, until=until)
    decided = np.isin(state_of, [0, PLACE_OF_STATE[State.CANNOT]])
    deciders = {number for number, one in judges.items() if one.kind == JudgeKind.ADJUDICATOR}
    found = {*judge_of[state_of == 0].tolist(), *(deciders & {*judge_of[decided].tolist()})}
    return frozenset(judges[number].name for number in found)


_PRIMARY = """
SELECT topic_id, document_id, judge_id
  FROM assignment LEFT JOIN assignment_plan ON assignment_plan.id = plan_id
 WHERE purpose = 'primary' AND judge_id IS NOT NULL"""


def _earlier(connection: Connection, table: str, until: AsOf | None) -> str:
    """Return the SQL condition that a row of a table was made up to a moment."""
    return "" if until is None else f" AND {table}.created_at <= {moment_literal(connection, until.moment)}"


def pooled_of(session: Session, definition: QrelsDefinition, pools: str = FROM_POOLS) -> str:
    """Return the SQL, from ``FROM`` on, of the pools that a definition is of, as of its moment."""
    wanted = pools + _earlier(session.connection(), "pool", until := definition.until)
    if until is not None:
        later = f"pool.withdrawn_at > {moment_literal(session.connection(), until.moment)}"
        wanted = wanted.replace("NOT pool.withdrawn", f"(NOT pool.withdrawn OR {later})")
    if definition.pool is not None:
        wanted += f" AND pool_id = {row_named(session, 'pool', POOL.c.name, definition.pool).id:d}"
    return wanted


def topic_ids_of(topics: Keys, definition: QrelsDefinition) -> list[int]:
    """Return the topics that a definition leaves out."""
    for topic in definition.without_topics:
        if topic not in topics.ids:
            raise UnknownNameError("topic", topic, topics.ids)
    return [topics.ids[topic] for topic in definition.without_topics]


def fetch_all_votes(session: Session, topics: Keys, scale: Scale, definition: QrelsDefinition) -> AllVotes:
    """Gather the votes and rulings that count by a definition; see `store.grades.opinions.gather`."""
    from store.judging.adjudication import fetch_listed  # what a desk needs comes with it

    definition.check()
    definition.check_scale(scale)
    until, connection = definition.until, session.connection()
    judges = _judge_rows(session)
    names = {one.id: one.name for one in judges}
    adjudicators = {one.name for one in judges if one.kind == JudgeKind.ADJUDICATOR}
    rulings: list[CurrentRuling] = []
    voters = fetch_voters_of(session, definition)
    if not definition.without_rulings and not adjudicators.isdisjoint(voters.names):
        named = (one.kind for one in voters.judges if one.kind is not JudgeKind.ADJUDICATOR)
        kinds = sorts_of(named) if definition.judges or until else definition.kinds
        for case in fetch_listed(session, Selection(kinds=kinds), until=until):
            if (one := case.ruling) is not None:
                by = names[one.judge]
                rulings.append(CurrentRuling(case.topic, case.docno, one.given_grade, by, case.status))
    rounds = fetch_rounds(connection)
    ids = [number for number, name in names.items() if name in voters.names]
    chosen = None if len(ids) == len(names) else np.array(sorted(ids), dtype=np.int64)
    events = newest_events(connection, chosen, has_rounds=True, until=until)
    if definition.without_topics or definition.pool:
        wanted = ~np.isin(events[0], topic_ids_of(topics, definition))
        if definition.pool is not None:
            of_pool = f"SELECT {PAIR} {pooled_of(session, definition)}"
            wanted &= np.isin(as_pairs(events[0], events[1]), fetch_integers(connection, of_pool, 1))
        events = events[:, wanted]
    topic_ids = sorted(
        np.flatnonzero(np.bincount(events[0])).tolist(), key=lambda number: natural_key(topics.names[number])
    )
    ids, docnos = fetch_ordered_docnos(session, (np.bincount(events[1]) > 0).tobytes())
    document_ids, judge_ids = np.array(ids, dtype=np.int64), np.array(list(names), dtype=np.int64)
    states = CurrentStates(
        topics=[topics.names[number] for number in topic_ids],
        docnos=docnos,
        judges=list(names.values()),
        rounds=rounds,
        topic_codes=codes_of(events[0], np.array(topic_ids, dtype=np.int64)),
        docno_codes=codes_of(events[1], document_ids),
        judge_codes=codes_of(events[2], judge_ids),
        places=events[3],
        grades=events[4],
        round_codes=events[5],
        document_ids=document_ids,
    )
    if definition.aggregate in (None, "primary"):
        held = fetch_integers(connection, _PRIMARY + _earlier(connection, "assignment_plan", until), 3).T
        columns = np.array(topic_ids, dtype=np.int64), document_ids, judge_ids
        codes = np.array([codes_of(one, known) for one, known in zip(held, columns, strict=True)])
        states = replace(states, primary=codes[:, (codes >= 0).all(axis=0)])
    if definition.without_topics or definition.pool:
        known = {(topics.names[one], document) for one, document in zip(*events[:2].tolist(), strict=True)}
        row_of = dict(zip(docnos, ids, strict=True))
        rulings = [one for one in rulings if (one.topic, row_of.get(one.docno)) in known]
    found = arrange(states, scale, definition, adjudicators=adjudicators, rulings=rulings)
    return replace(found, voters=voters)


class CollectionGrades(Area):
    """The grades of a collection, of one judge or of all."""

    def sole(self, definition: QrelsDefinition) -> SoleGrades | None:
        """Return the grades that a definition chooses, where they are those of one judge.

        They are those of `final`, at half a microsecond an event where that takes some three.
        ``None`` = several judges or an adjudicator may have a say, or nothing is graded.
        """
        with self._db.reading_topics() as (session, topics):
            self._db.check_digests(session, judgements=True)
            if definition.aggregate is not None or not definition.is_whole or definition.binary_first:
                return None
            definition.check()
            judges = _judge_rows(session)
            is_own = definition.sole is not None
            if not is_own and any(one.kind == JudgeKind.ADJUDICATOR for one in judges):
                return None
            voters = fetch_voters_of(session, definition)
            names = {one.id: one.name for one in judges if one.name in voters.names}
            chosen = None if len(names) == len(judges) else np.array(list(names), dtype=np.int64)
            events = newest_events(session.connection(), chosen)
            topic_of, document_of, judge_of, _, grade_of = events[:, events[3] == 0]
            who = np.unique(judge_of).tolist()
            if len(who) != 1:
                return None
            order = np.lexsort((document_of, topic_of))
            by_topic = _by_topic(topics, topic_of[order], document_of[order], grade_of[order])
            return SoleGrades(names[who[0]], by_topic, int(topic_of.size), voters)

    def voters(self, of: Sequence[str] = (), kinds: Sequence[str] = (), *, rulings: bool = False) -> Voters:
        """Choose whose judgements count, of adjudicators where they are named; see `fetch_voters_of`."""
        whose = QrelsDefinition(judges=tuple(of), kinds=check_kinds(kinds), without_rulings=not rulings)
        with self._db.reading() as session:
            return fetch_voters_of(session, whose, refuses=False)

    def judges(self) -> list[Judge]:
        """Return every judge, whether or not they graded anything."""
        with self._db.reading() as session:
            return fetch_judges(session)

    def votes(self, judges: Sequence[str] | None = None, *, least: int = 2) -> PopulationVotes:
        """Return the current grades of some judges, on the documents that `least` of them graded or more.

        Judges in the order given; by default those who count and have graded, by name, adjudicators
        apart (`fetch_voters_of`).
        """
        with self._db.reading_topics() as (session, topics):
            self._db.check_digests(session, judgements=True)
            everybody = QrelsDefinition(without_rulings=True)
            names = fetch_voters_of(session, everybody).voting if judges is None else judges
            known = {name: judge_id(session, name) for name in names}
            ids = np.array(list(known.values()), dtype=np.int64)
            topic_of, document_of, judge_of, state_of, grade_of = newest_events(session.connection(), ids)
            values = self._db.scale.values
            ordered = sorted(np.unique(topic_of).tolist(), key=lambda one: natural_key(topics.names[one]))
            cells = Cells(
                topics=tuple(topics.names[number] for number in ordered),
                judges=tuple(known),
                scale_values=values,
                topic_codes=codes_of(topic_of, np.array(ordered, dtype=np.int64)),
                documents=document_of,
                judge_codes=codes_of(judge_of, ids),
                places=np.where(state_of < 0, state_of, np.searchsorted(values, grade_of)),
            )
            return population_votes(cells, least=least)

    def all_votes(self, definition: QrelsDefinition) -> AllVotes:
        """Return the votes and rulings that count; see `fetch_all_votes`."""
        with self._db.reading_topics() as (session, topics):
            self._db.check_digests(session, judgements=True)
            return fetch_all_votes(session, topics, self._db.scale, definition)

    def open_pairs(self, all_votes: AllVotes, definition: QrelsDefinition) -> dict[Pair, str]:
        """Return the round of every document to be judged that has neither a grade nor a reason for none.

        It is that of its first pool.
        """
        assert all_votes.document_ids is not None
        settled = all_votes.is_settled
        documents = all_votes.document_ids[all_votes.docno_codes[settled]]
        with self._db.reading_topics() as (session, topics):
            pooled = fetch_integers(
                session.connection(), f"SELECT {PAIR}, pool_id {pooled_of(session, definition)}", 2
            )
            pooled = pooled[~np.isin(pooled[:, 0] >> 32, topic_ids_of(topics, definition))]
            topic_ids = np.array([topics.ids[topic] for topic in all_votes.topics], dtype=np.int64)
            pairs = as_pairs(topic_ids[all_votes.topic_codes[settled]], documents)
            pooled = pooled[~are_in(pooled[:, 0], pairs)]
            docnos = fetch_docnos(session, (pooled[:, 0] & LOW).tolist())
            rounds = dict(map(tuple, session.execute(select(POOL.c.id, POOL.c.round))))
            last_first = pooled[np.argsort(-pooled[:, 1], kind="stable")].tolist()
            return {(topics.names[pair >> 32], docnos[pair & LOW]): rounds[pool] for pair, pool in last_first}

    def ungraded(self, grades: Grades, definition: QrelsDefinition) -> dict[str, NDArray[np.int64]]:
        """Return by topic the ids of the documents of pools, sampled or not, that have no grade."""
        with self._db.reading_topics() as (session, topics):
            every = f"SELECT {PAIR} {pooled_of(session, definition, FROM_EVERY_POOL)}"
            pooled = fetch_integers(session.connection(), every, 1)
            pooled = pooled[~np.isin(pooled[:, 0] >> 32, topic_ids_of(topics, definition))]
            graded = [topics.ids[topic] << 32 | ids for topic, (ids, _) in grades.items()]
            left = np.setdiff1d(pooled, np.concatenate(graded)) if graded else np.unique(pooled)
            return {topic: ids for topic, (ids,) in _by_topic(topics, left >> 32, left & LOW).items()}

    def final(self, definition: QrelsDefinition, level: int | None = None) -> FinalQrels:
        """Choose the grade of every judged document; see `store.grades.qrels.decide`."""
        return decide(self.all_votes(definition), definition, level)

    def sampled_pools(self, grades: Grades, pool: str | None = None) -> tuple[str, dict[str, SampledPool]]:
        """Return a sampled pool, default the only one, by name; see `store.grades.sampled`."""
        with self._db.reading_topics() as (session, topics):
            name = sole_sampled_pool(session) if pool is None else pool
            self._db.check_digests(session, judgements=True, pool=name)
            return name, fetch_sampled_pools(session, topics, name, grades)

    def candidates(
        self, level: int, *, of: Sequence[str] = (), kinds: Sequence[str] = (), topic: str | None = None
    ) -> tuple[list[TopicCandidates], Voters]:
        """Return what bounds of recall are made of, and of whose grades; see `store.grades.sampled`."""
        with self._db.reading_topics() as (session, topics):
            voters = choose_voters(fetch_judges(session), fetch_graders(session), of=of, kinds=kinds)
            return fetch_candidates(session, topics, voters, level, topic=topic), voters
