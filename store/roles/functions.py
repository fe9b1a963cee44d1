"""What a judge calls instead of having rights: functions of the owner, of the queries that SQLite runs, too.

Each begins with the login's own judge, by `session_user`: neither SET ROLE nor a function of the owner
changes that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import ClauseElement, and_, exists, func, literal_column, or_, select
from sqlalchemy.dialects import postgresql

from store.content.lookup import same_pair
from store.db.login import LOGIN_TABLE, SEATED, Role
from store.db.tables import ASSIGNMENT, JUDGEMENT
from store.judging.adjudication import adjudicators_events, disputed_votes
from store.judging.assignments import (
    claimable_now,
    free_place,
    giving_back,
    next_free,
    own_place,
    untouched_places,
)
from store.judging.carried import is_carried
from store.judging.judges import graders_by_kind
from store.records import Action, JudgeKind, State
from store.roles.sight import DRAWS

LONGEST_CLAIM = 20
"""Places that can be claimed at once."""
MOST_HELD = 100
"""Places that a judge may hold without an event, so that nobody takes them all."""
_NOW_S = 60
"""How far the moment of an event may be from the server's."""
_ME: Any = literal_column("me")
_CALLER: Any = literal_column("(SELECT pooler_me())")
"""The same where a function has no variable of that name."""
_TOPIC: Any = literal_column("in_topic")
_DOCUMENT: Any = literal_column("in_document")
_AT: Any = literal_column("at_now")
_AT_DESK = (Action.JUDGE, Action.SKIP, Action.CANNOT, Action.NOTE, Action.MARK, Action.UNDO, Action.REOPEN)
_PAIR = "topic_id = event.topic_id AND {0}.document_id = event.document_id"


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the owner."""

    name: str
    arguments: str
    returns: str
    body: str
    roles: tuple[Role, ...]
    """Who may call it; organisers may, too."""
    language: str = "plpgsql"
    changes: bool = False

    @property
    def signature(self) -> str:
        """Name and types of the arguments, as GRANT wants them."""
        kinds = ", ".join(one.split()[-1] for one in self.arguments.split(", ") if one)
        return f"{self.name}({kinds})"


def _sql(element: ClauseElement) -> str:
    """Write a query as PostgreSQL reads it, its values within."""
    compiled = element.compile(
        dialect=postgresql.dialect(),  # type: ignore[no-untyped-call]  # SQLAlchemy's own
        compile_kwargs={"literal_binds": True},
    )
    return str(compiled)


def _query(name: str, returns: str, body: str, *roles: Role, arguments: str = "") -> Function:
    """Make a function that is one query, and changes nothing."""
    return Function(name, arguments, returns, body, roles, "sql")


def _words(*values: str) -> str:
    return ", ".join(f"'{value}'" for value in values)


@cache
def functions() -> tuple[Function, ...]:
    """Return all of them; one that is called by another stands before it."""
    return (*_who(), *_carried(), *_places(), *_opinions(), _may_append(), _may_mark(), _want())


def _who() -> tuple[Function, ...]:
    """Return those that say which judge a login is."""
    return (
        _query(
            "pooler_judge", "integer", f"SELECT judge_id FROM {LOGIN_TABLE} WHERE login = session_user", *Role
        ),
        _query(
            "pooler_me",
            "integer",
            "SELECT id FROM judge WHERE id = (SELECT pooler_judge()) AND NOT disabled",
            *Role,
        ),
        _query(
            "pooler_whoami",
            "TABLE (id integer, name text, kind text)",
            "SELECT id, name, kind FROM judge WHERE id = (SELECT pooler_judge())",
            *Role,
        ),
        Function(
            "pooler_lock_me",
            "",
            "integer",
            """
DECLARE me integer;
BEGIN
  SELECT id INTO me FROM judge WHERE id = (SELECT pooler_me()) FOR NO KEY UPDATE;
  IF me IS NULL THEN
    RAISE EXCEPTION 'login % is no judge of this collection, or is disabled', session_user
      USING ERRCODE = '42501';
  END IF;
  RETURN me;
END""",
            SEATED,
            changes=True,
        ),
    )


_TAKE = """
    IF place.lease_s IS NOT NULL THEN
      UPDATE assignment SET judge_id = me,
        lease_until = CASE WHEN decided THEN NULL ELSE at_now + make_interval(secs => place.lease_s) END
        WHERE id = place.id;
    END IF;
    RETURN true;"""


def _places() -> tuple[Function, ...]:
    """Return those that do what `store.judging.assignments` does."""
    too_many = f"""({_sql(untouched_places(_ME))}) >= {MOST_HELD}"""
    refused = f"""
    RAISE EXCEPTION 'more than {MOST_HELD} documents are held and not looked at' USING ERRCODE = '42501';"""
    now: Any = literal_column("(SELECT clock_timestamp())")
    return (
        _query("pooler_is_assigned", "boolean", "SELECT EXISTS (SELECT FROM assignment)", Role.JUDGE),
        _query(
            "pooler_claimable",
            "TABLE (topic_id integer, documents bigint)",
            _sql(claimable_now(_CALLER, now)),
            Role.JUDGE,
        ),
        Function(
            "pooler_claim",
            "in_topic integer, n integer",
            "SETOF integer",
            f"""
DECLARE me integer := pooler_lock_me(); at_now timestamptz := clock_timestamp();
  place record; is_taken boolean;
BEGIN
  IF n > {LONGEST_CLAIM} THEN
    RAISE EXCEPTION 'at most {LONGEST_CLAIM} documents are claimed at once' USING ERRCODE = '42501';
  END IF;
  IF {too_many} THEN {refused}
  END IF;
  FOR i IN 1..n LOOP
    is_taken := false;
    FOR place IN {_sql(next_free(_ME, _TOPIC, _AT))} LOOP
      UPDATE assignment SET judge_id = me, lease_until = at_now + make_interval(secs => place.lease_s)
        WHERE id = place.id;
      is_taken := true;
      RETURN NEXT place.document_id;
    END LOOP;
    EXIT WHEN NOT is_taken;
  END LOOP;
END""",
            (Role.JUDGE,),
            changes=True,
        ),
        Function(
            "pooler_hold",
            "in_topic integer, in_document integer, decided boolean",
            "boolean",
            f"""
DECLARE me integer := pooler_lock_me(); at_now timestamptz := clock_timestamp(); place record;
BEGIN
  FOR place IN {_sql(own_place(_ME, _TOPIC, _DOCUMENT))} LOOP {_TAKE}
  END LOOP;
  IF NOT EXISTS (SELECT FROM assignment) THEN
    RETURN true;
  END IF;
  IF {too_many} THEN {refused}
  END IF;
  FOR place IN {_sql(free_place(_ME, _TOPIC, _DOCUMENT, _AT))} LOOP {_TAKE}
  END LOOP;
  RETURN false;
END""",
            (Role.JUDGE,),
            changes=True,
        ),
        Function(
            "pooler_release",
            "",
            "bigint",
            f"""
DECLARE me integer := pooler_lock_me(); n bigint;
BEGIN
  {_sql(giving_back(_ME))};
  GET DIAGNOSTICS n = ROW_COUNT;
  RETURN n;
END""",
            SEATED,
            changes=True,
        ),
    )


def _carried() -> tuple[Function, ...]:
    """Return the one that says what is not shown to a judge, since a near-duplicate is.

    Once anything is assigned, of the judge's own places alone: of other documents it would tell whether
    somebody has decided on one, or found that a source cannot be judged.
    """
    place = select(_TOPIC.label("topic_id"), _DOCUMENT.label("document_id")).subquery("place")
    own = select(ASSIGNMENT.c.id).where(same_pair(ASSIGNMENT, place), ASSIGNMENT.c.judge_id == _CALLER)
    mine = or_(~exists(select(ASSIGNMENT.c.id)), own.exists())
    asked = _sql(select(and_(mine, is_carried(place))).select_from(place))
    return (_query("pooler_is_carried", "boolean", asked, Role.JUDGE, arguments=_CALLED),)


_CALLED = "in_topic integer, in_document integer"
_IS_ADJUDICATOR = f"(SELECT kind FROM judge WHERE id = (SELECT pooler_me())) = '{JudgeKind.ADJUDICATOR}'"
_HISTORY = (
    *("id", "topic_id", "document_id", "judge_id", "revision", "action", "undoes"),
    *("state", "grade", "display_order", "judged_at"),
)


def _opinions() -> tuple[Function, ...]:
    """Return those that show an adjudicator what judges said, and not who."""
    topic = func.coalesce(_TOPIC, JUDGEMENT.c.topic_id)
    document = func.coalesce(_DOCUMENT, JUDGEMENT.c.document_id)
    # In the order of the letters, as `lettered` of `store.judging.disagreements` has it.
    placed = f"""
SELECT vote.*, CAST(row_number() OVER (PARTITION BY vote.topic_id, vote.document_id ORDER BY sha256(
    convert_to(topic.number, 'UTF8') || '\\x00' || convert_to(document.docno, 'UTF8') || '\\x00'
    || convert_to(CAST(vote.judge_id AS text), 'UTF8'))) - 1 AS integer) AS place
FROM ({_sql(disputed_votes(topic, document))}) vote
JOIN topic ON topic.id = vote.topic_id JOIN document ON document.id = vote.document_id
WHERE {_IS_ADJUDICATOR}"""
    kept = ", ".join(f"event.{name}" for name in _HISTORY)
    kinds = dict.fromkeys(("action", "state", "display_order"), "text")
    kinds["judged_at"] = "timestamptz"
    told = ", ".join(f"{name} {kinds.get(name, 'integer')}" for name in _HISTORY)
    return (
        _query(
            "pooler_votes",
            "TABLE (topic_id integer, document_id integer, place integer, grade integer, reason bytea,"
            " note bytea, iteration text, kind text)",
            "SELECT topic_id, document_id, place, grade, reason, note, iteration, kind"
            f" FROM ({placed}) placed",
            Role.ADJUDICATOR,
            arguments=_CALLED,
        ),
        _query(
            "pooler_graders",
            "TABLE (kind text, graders bigint)",
            f"SELECT * FROM ({_sql(graders_by_kind())}) counted WHERE {_IS_ADJUDICATOR}",
            Role.ADJUDICATOR,
        ),
        _query(
            "pooler_vote_passages",
            "TABLE (place integer, start integer, length integer, text bytea)",
            "SELECT placed.place, passage.start, passage.length, passage.text"
            f" FROM ({placed}) placed JOIN passage ON passage.judgement_id = placed.id",
            Role.ADJUDICATOR,
            arguments=_CALLED,
        ),
        _query(
            "pooler_rulings",
            f"TABLE ({told}, identity bigint)",
            f"SELECT {kept}, dense_rank() OVER (ORDER BY ruler.uid)"
            f" FROM ({_sql(adjudicators_events(topic, document))}) event"
            f" JOIN judge ruler ON ruler.id = event.judge_id WHERE {_IS_ADJUDICATOR}",
            Role.ADJUDICATOR,
            arguments=_CALLED,
        ),
    )


def _may_append() -> Function:
    """Return the one that lets an event in: of now, of this judge, of what lies before the judge."""
    same = _PAIR.format("{0}")
    own = "{0}." + same + " AND {0}.judge_id = me.id"
    of_state = {Action.JUDGE: State.JUDGED, Action.SKIP: State.SKIPPED, Action.CANNOT: State.CANNOT}
    fits = " ".join(f"WHEN '{action}' THEN '{state}'" for action, state in of_state.items())
    said = f"'{State.UNJUDGED}'"
    body = f"""
DECLARE me judge; latest judgement; fault text;
BEGIN
  SELECT * INTO me FROM judge WHERE id = pooler_me();
  SELECT * INTO latest FROM judgement one WHERE {own.format("one")} ORDER BY one.revision DESC LIMIT 1;
  fault := CASE
    WHEN me.id IS NULL OR event.judge_id <> me.id THEN 'it is of another judge than this login'
    WHEN abs(extract(epoch FROM clock_timestamp() - event.judged_at)) > {_NOW_S} THEN 'its moment is not now'
    WHEN NOT EXISTS (SELECT FROM sitting WHERE sitting.id = event.sitting_id AND sitting.judge_id = me.id
      AND sitting.ended_at IS NULL) THEN 'it is of no open sitting of this judge'
    WHEN event.revision <> coalesce(latest.revision, 0) + 1 THEN 'it is not the next revision'
    WHEN event.action NOT IN ({_words(*_AT_DESK)}) THEN 'nobody does that at a desk'
    WHEN event.state <> CASE event.action {fits} WHEN '{Action.REOPEN}' THEN {said} ELSE event.state END
      THEN 'its state is not that of its action'
    WHEN event.action IN ('{Action.NOTE}', '{Action.MARK}') AND (event.state, event.grade)
      IS DISTINCT FROM (coalesce(latest.state, {said}), latest.grade) THEN 'a note or mark changes no grade'
    WHEN (event.action = '{Action.UNDO}') <> (event.undoes IS NOT NULL)
      THEN 'only an undo takes something back'
    WHEN event.undoes IS NOT NULL AND NOT EXISTS (
      SELECT FROM judgement undone LEFT JOIN judgement former ON {own.format("former")}
        AND former.revision = undone.revision - 1
      WHERE undone.id = event.undoes AND {own.format("undone")} AND (event.state, event.grade)
        IS NOT DISTINCT FROM (coalesce(former.state, {said}), former.grade))
      THEN 'it does not restore what was'
    WHEN event.grade IS NOT NULL AND NOT EXISTS (
      SELECT FROM collection, jsonb_array_elements(collection.scale::jsonb -> 'grades') AS grade (of_scale)
      WHERE (of_scale ->> 'value')::integer = event.grade) THEN 'its grade is not on the scale'
    WHEN me.kind = '{JudgeKind.ADJUDICATOR}' THEN CASE
      WHEN latest.id IS NULL AND NOT EXISTS (SELECT FROM pooler_votes(event.topic_id, event.document_id))
        THEN 'judges do not disagree on it' END
    WHEN me.kind <> '{JudgeKind.HUMAN}' THEN 'only people judge by a login of their own'
    WHEN latest.id IS NULL AND NOT EXISTS (
      SELECT FROM pool_entry JOIN pool ON pool.id = pool_entry.pool_id
      WHERE pool_entry.{same.format("pool_entry")} AND pool_entry.sampled AND NOT pool.withdrawn)
      THEN 'its document is in no pool'
    WHEN EXISTS (SELECT FROM assignment) AND NOT EXISTS (SELECT FROM assignment WHERE
      assignment.{same.format("assignment")} AND assignment.judge_id = me.id)
      THEN 'its document is not assigned to this judge'
  END;
  IF fault IS NOT NULL THEN
    RAISE EXCEPTION 'the judgement is refused: %', fault USING ERRCODE = '42501';
  END IF;
  RETURN true;
END"""
    return Function("pooler_may_append", "event judgement", "boolean", body, SEATED)


def _may_mark() -> Function:
    """Return the one that lets a passage in: its event is this judge's, and of the same transaction.

    Not of a savepoint within, whose number the event would have.
    """
    body = """SELECT EXISTS (SELECT FROM judgement WHERE id = in_event AND judge_id = (SELECT pooler_me())
  AND xmin::text = pg_current_xact_id()::xid::text)"""
    return _query("pooler_may_mark", "boolean", body, *SEATED, arguments="in_event integer")


def _want() -> Function:
    """Return the one that asks for a drawn document: False = one lies before the judge already."""
    return Function(
        "pooler_want",
        "in_topic integer",
        "boolean",
        f"""
DECLARE me integer := pooler_lock_me();
BEGIN
  IF EXISTS (SELECT FROM assignment) OR NOT EXISTS (SELECT FROM pool_topic WHERE topic_id = in_topic) THEN
    RAISE EXCEPTION 'nothing is drawn for this topic' USING ERRCODE = '42501';
  END IF;
  -- Else a pool could be drawn to its end by somebody who judges nothing.
  IF EXISTS (SELECT FROM pool_entry entry JOIN pool ON pool.id = entry.pool_id
      WHERE entry.topic_id = in_topic AND entry.sampled AND NOT pool.withdrawn AND NOT EXISTS (
        SELECT FROM judgement event WHERE event.topic_id = in_topic AND event.document_id = entry.document_id
          AND event.judge_id = me)) THEN
    RETURN false;
  END IF;
  INSERT INTO {DRAWS} (judge_id, topic_id) VALUES (me, in_topic) ON CONFLICT (judge_id, topic_id)
    DO UPDATE SET asked_at = clock_timestamp(), answered_at = NULL, drawn = NULL, fault = NULL;
  PERFORM pg_notify('{DRAWS}', '');
  RETURN true;
END""",
        (Role.JUDGE,),
        changes=True,
    )
