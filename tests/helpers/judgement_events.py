"""Hypothesis strategies for judgement events and states."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime

from hypothesis import strategies as st

from store.errors import FaultList
from store.event import JudgementEvent
from store.formats.judgements import history_lines, read_judgements
from store.records import Action, JudgeKind, Judgement, Passage, State
from tests.helpers.strategies import ids

topics = ids.filter(lambda text: not text.startswith("#"))
texts = st.one_of(
    st.sampled_from(["", "a\tb\nc\r\n", "\\t", "\\u0041\\", '"q"', "\ud800", "\x00\x1b\u202e"]),
    st.text(max_size=5),
    st.text(st.characters(exclude_categories=()), max_size=3).filter(
        # JSON has no way to say a high and a low surrogate that are not one character.
        lambda text: not re.search("[\ud800-\udbff][\udc00-\udfff]", text)
    ),
)  # fmt: skip
moments = st.datetimes(
    datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.sampled_from([UTC])
) | st.just(datetime(2026, 3, 1, 9, 30, tzinfo=UTC))
counts = st.integers(0, 2**31 - 1) | st.integers(0, 3)
grades = st.integers(-2, 3)


@st.composite
def passages(draw: st.DrawFn) -> tuple[Passage, ...]:
    """Draw marked passages."""
    marked = draw(st.lists(texts.filter(bool), max_size=2))
    return tuple(Passage(draw(counts), len(text), text) for text in marked)


@st.composite
def histories(draw: st.DrawFn) -> list[JudgementEvent]:
    """Draw events of a few documents and judges, each one's revisions in order, interleaved."""
    keys = draw(st.lists(st.tuples(topics, ids, ids), min_size=1, max_size=3, unique=True))
    turns = draw(st.lists(st.sampled_from(keys), max_size=6))
    newest = dict.fromkeys(keys, 0)
    events = []
    for topic, docno, judge in turns:
        newest[topic, docno, judge] += 1
        revision = newest[topic, docno, judge]
        action = draw(st.sampled_from([one for one in Action if revision > 1 or one != "undo"]))
        state = {
            Action.JUDGE: State.JUDGED,
            Action.SKIP: State.SKIPPED,
            Action.CANNOT: State.CANNOT,
            Action.REOPEN: State.UNJUDGED,
        }.get(action) or draw(st.sampled_from(State))
        events.append(
            JudgementEvent(
                topic=topic,
                docno=docno,
                judge=judge,
                revision=revision,
                action=action,
                undoes=draw(st.integers(1, revision - 1)) if action is Action.UNDO else None,
                state=state,
                grade=draw(grades) if state is State.JUDGED else None,
                reason=draw(texts),
                note=draw(texts),
                iteration=draw(ids),
                passages=draw(passages()),
                display_order=draw(st.none() | texts.filter(bool)),
                order_seed=draw(st.none() | st.integers(0, 2**63 - 1)),
                position=draw(st.none() | counts),
                shown_at=draw(st.none() | moments),
                judged_at=draw(moments),
                dwell_ms=draw(st.none() | st.integers(-5, 5)),
                active_ms=draw(st.none() | counts),
                dropped_keys=draw(counts),
                guideline_version=draw(st.none() | st.integers(1, 3)),
                document_sha256=draw(st.none() | st.just("a" * 64)),
                sitting=draw(st.none() | st.integers(1, 3)),
                topic_version=draw(st.none() | st.integers(1, 3)),
            )
        )  # fmt: skip
    return events


@st.composite
def states(draw: st.DrawFn) -> list[Judgement]:
    """Draw how documents stand with judges."""
    keys = draw(st.lists(st.tuples(topics, ids, ids), max_size=4, unique=True))
    found = []
    for topic, docno, judge in keys:
        state = draw(st.sampled_from(State))
        grade = draw(grades) if state is State.JUDGED else None
        reason, note, iteration = draw(texts), draw(texts), draw(ids)
        found.append(
            Judgement(topic, docno, judge, state, grade, reason=reason, note=note, iteration=iteration)
        )
    return found


def read_events(path: str) -> list[JudgementEvent]:
    """Read a file of events whole, or raise all its faults."""
    faults = FaultList(path)
    found = read_judgements(path, "jsonl", faults)
    faults.raise_if_any()
    return found.events


def written(events: Iterable[JudgementEvent]) -> str:
    """Return the text of a file of events."""
    kinds = defaultdict(lambda: JudgeKind.HUMAN)
    return "".join(f"{line}\n" for line in history_lines(events, kinds, "jsonl"))
