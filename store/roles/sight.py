"""Who sees which column of which rows, and who writes them: every table and every column that there is.

A column is in `sees` or in `withheld`: a new one belongs to neither, and `store.roles.faults`, a test
too, says so until somebody has decided about it. Organisers and readers see all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from store.db.login import LOGIN_TABLE, Role

DRAWS = "pooler_draw"
"""Who asks for a document of an adaptive pool, and what came of it."""
VERSION = "alembic_version"
EXTRA_TABLES = {
    VERSION: ("version_num",),
    LOGIN_TABLE: ("judge_id", "login"),
    DRAWS: ("judge_id", "topic_id", "asked_at", "answered_at", "drawn", "fault"),
}
"""Tables of a server beside those of `store.db.tables`, with their columns."""

Write = Literal["INSERT", "UPDATE", "DELETE"]


@dataclass(frozen=True, slots=True)
class Writing:
    """What a role may write of a table."""

    kind: Write
    columns: tuple[str, ...] = ()
    """Of an insertion or an update: these alone."""
    rows: str = "true"
    """SQL of the rows that it may change or remove."""
    becomes: str = "true"
    """SQL of the rows that it may leave."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What a role sees and writes of a table."""

    sees: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    rows: str = "true"
    """SQL of the rows that it sees."""
    writes: tuple[Writing, ...] = ()


def _sight(sees: str, withheld: str = "", rows: str = "true", *writes: Writing) -> Sight:
    """Make a sight of columns in words."""
    return Sight(tuple(sees.split()), tuple(withheld.split()), rows, writes)


def _columns(names: str) -> tuple[str, ...]:
    return tuple(names.split())


# With SELECT: asked once a statement, not once a row.
ME = "(SELECT pooler_me())"
AT_WORK = f"{ME} IS NOT NULL"
"""The login is a judge who is not disabled."""
OWN = f"judge_id = {ME}"

_EVENT = (
    "topic_id document_id judge_id revision action undoes state grade reason note iteration display_order"
    " position shown_at judged_at dwell_ms active_ms dropped_keys guideline_version document_sha256"
    " sitting_id"
    " topic_version"
)
_SITTING = "judge_id started_at seen_at ended_at host process program topic_id"
_TERM = "judge_id topic_id position term checksum"
_PASSAGE = "judgement_id start length text checksum"

_JUDGE: dict[str, Sight] = {
    "collection": _sight("id name scale created_at created_by fields checksum"),
    VERSION: _sight("version_num"),
    "guideline": _sight("id version text created_at checksum", "", AT_WORK),
    "topic": _sight("id number title description narrative version changed_at listed checksum", "", AT_WORK),
    "topic_version": _sight("", "topic_id version title description narrative changed_at checksum"),
    "document": _sight("id docno title text sha256", "listed", AT_WORK),
    "document_metadata": _sight("document_id markup fields checksum", "", AT_WORK),
    "run": _sight(
        "", "id tag group contributes priority sha256 file imported_at checksum header as_handed_in"
    ),
    "ranking": _sight("", "run_id topic_id length document_ids scores ranks positions codec checksum"),
    "pool": _sight(
        "id round display_order withdrawn",
        "name manifest created_at checksum",
        f"NOT withdrawn AND {AT_WORK}",
    ),
    "pool_entry": _sight(
        "pool_id topic_id document_id position sampled",
        "priority stratum inclusion_probability checksum",
        f"sampled AND {AT_WORK}",
    ),
    "pool_run": _sight("", "pool_id run_id"),
    "pool_topic": _sight("pool_id topic_id budget", "checksum", AT_WORK),
    "judge": _sight(
        "id name kind disabled", "created_at uid renamed_at checksum", "id = (SELECT pooler_judge())"
    ),
    "judge_code": _sight("", "judge_id sha256 made_at"),
    "model_judge": _sight("", "judge_id identity sha256 family prompt stated_at checksum"),
    "erasure": _sight("", "id uid kind judgements events erased_at checksum"),
    "assignment_plan": _sight("", "id manifest lease_s created_at checksum"),
    # Others' and open places too: that there is a second one tells that it is an overlap document.
    "assignment": _sight(
        "id topic_id document_id judge_id position display_order lease_until", "purpose plan_id", OWN
    ),
    "sitting": _sight(
        f"id {_SITTING}",
        "",
        OWN,
        Writing("INSERT", _columns(_SITTING), becomes=f"{OWN} AND ended_at IS NULL"),
        Writing("UPDATE", _columns("seen_at ended_at topic_id"), rows=OWN, becomes=OWN),
    ),
    "judge_term": _sight(
        f"id {_TERM}", "", OWN, Writing("INSERT", _columns(_TERM), becomes=OWN), Writing("DELETE", rows=OWN)
    ),
    # Never the id: whoever may choose it takes the next ones away from everybody else's events.
    "judgement": _sight(
        f"id {_EVENT} checksum",
        "",
        OWN,
        Writing("INSERT", _columns(f"{_EVENT} checksum"), becomes=f"{OWN} AND pooler_may_append(judgement)"),
    ),
    # The policy of `judgement` holds within.
    "passage": _sight(
        f"id {_PASSAGE}",
        "",
        "EXISTS (SELECT FROM judgement event WHERE event.id = judgement_id)",
        Writing("INSERT", _columns(_PASSAGE), becomes="pooler_may_mark(judgement_id)"),
    ),
    "carried": _sight(
        "",
        "id topic_id document_id source_id shared united document_sha256 source_sha256 carried_at ended_at"
        " checksum",
    ),
    "answer": _sight(
        "",
        "id judge_id topic_id document_id asked judged_at grade unreadable topic_version document_sha256"
        " request_sha256 attempt sent_at received_at status body served_model fingerprint finish_reason"
        " prompt_tokens cached_tokens completion_tokens reasoning_tokens cost probabilities mass checksum",
    ),
    LOGIN_TABLE: _sight("", "judge_id login"),
    DRAWS: _sight("judge_id topic_id asked_at answered_at drawn fault", "", OWN),
}


def _nothing(table: str) -> Sight:
    """Withhold the whole of a table."""
    return Sight(withheld=(*_JUDGE[table].sees, *_JUDGE[table].withheld))


def _only(table: str, sees: str, *writes: Writing) -> Sight:
    """Show some columns of all rows of a table."""
    shown = _columns(sees)
    return Sight(
        shown,
        tuple(name for name in (*_JUDGE[table].sees, *_JUDGE[table].withheld) if name not in shown),
        writes=writes,
    )


def _all(table: str, *writes: Writing) -> Sight:
    """Show the whole of a table."""
    return Sight((*_JUDGE[table].sees, *_JUDGE[table].withheld), writes=writes)


_DRAWER: dict[str, Sight] = {
    "collection": _all("collection"),
    VERSION: _all(VERSION),
    "topic": _only("topic", "id number"),
    "document": _only("document", "id docno"),
    "run": _all("run"),
    "ranking": _all("ranking"),
    # To lock a row of it, which a draw does, takes the right to change it; none of its rows may be left so.
    "pool": _all("pool", Writing("UPDATE", ("withdrawn",), becomes="false")),
    "pool_entry": _all(
        "pool_entry",
        # What a draw left is given its checksum before it is committed.
        Writing(
            "UPDATE",
            ("sampled", "position", "checksum"),
            rows="NOT sampled OR checksum IS NULL",
            becomes="sampled",
        ),
    ),
    "pool_run": _all("pool_run"),
    "pool_topic": _all("pool_topic"),
    "judge": _only("judge", "id name kind"),
    "judgement": _only("judgement", "id topic_id document_id judge_id revision grade judged_at"),
    DRAWS: _all(DRAWS, Writing("UPDATE", ("answered_at", "drawn", "fault"))),
}

SIGHT: dict[Role, dict[str, Sight]] = {
    Role.JUDGE: _JUDGE,
    Role.ADJUDICATOR: _JUDGE | {name: _nothing(name) for name in ("assignment", "pool_topic", DRAWS)},
    Role.DRAWER: {name: _DRAWER.get(name, _nothing(name)) for name in _JUDGE},
}
"""What each role sees that does not see everything, by table."""
TABLE_NAMES = tuple(_JUDGE)
"""Every table that is decided about."""
NUMBERED = ("judgement", "passage", "sitting", "judge_term")
"""Tables in which a judge's rows get ids: as an identity, which needs no right, not from a sequence, which
tells how many there are, and which anybody with the right to it can empty."""
