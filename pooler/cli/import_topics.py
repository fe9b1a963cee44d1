"""Topics into a collection, and what becomes of those whose text was another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pooler.cli.console import counted, say
from pooler.cli.import_report import report_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from store.collection import Collection
    from store.listings import TopicLine
    from store.records import Topic

_SHOWN = 25
"""Topics that are named one by one."""


def import_topics(opened: Collection, file: str, topics: Sequence[Topic], *, replace: bool) -> None:
    """Add topics, and say which got a new version of their text, and what rests on older ones."""
    texts = {one.topic: one for one in opened.topics()}
    versions = {line.topic: line.version for line in opened.topic_lines()}
    report = opened.add_topics(topics, replace=replace)
    say(f"{file}: {report_words(report, 'topic')}")
    lines = {line.topic: line for line in opened.topic_lines()}
    changed = [
        topic for topic in topics if lines[topic.topic].version > versions.get(topic.topic, 1)
    ]
    for topic in changed[:_SHOWN]:
        say(_change(lines[topic.topic], texts[topic.topic], topic))
    if len(changed) > _SHOWN:
        say(f"and {len(changed) - _SHOWN:,} more topics likewise: pooler list topics")
    _tell_older(lines, changed)


def _change(line: TopicLine, old: Topic, new: Topic) -> str:
    """Say what became of one topic."""
    words = f"topic {line.topic} has version {line.version} of its text"
    if _bare(old) == _bare(new):
        words += ", which differs in blanks and line ends alone"
    if line.older:
        words += f"; {counted(line.older, 'judgement')} made by another text"
    return words


def _bare(topic: Topic) -> tuple[list[str], ...]:
    """Return the words of a topic's text."""
    return topic.title.split(), topic.description.split(), topic.narrative.split()


def _tell_older(lines: Mapping[str, TopicLine], changed: Sequence[Topic]) -> None:
    """Say how many judgements rest on another text than the topics have now."""
    older = sum(lines[topic.topic].older for topic in changed)
    if older:
        say(f"{counted(older, 'judgement')} made by another text than now:"
            " pooler rejudge --why topic")  # fmt: skip
