"""Leaderboards: scores of runs by topic that another program gave, one or several a line.

============ ======================================================================
four fields  `run measure topic score`, or `run topic measure score`: the topics say
             which; topic `all` is the mean over topics, True is 1 and False 0
JSON lines   `run_id`, `measure`, `topic_id` and `value`; or `qid` and a score by
             each measure, of the run in `run_id`, else of that of the file's name
============ ======================================================================

Sources: trec-auto-judge/auto-judge-base (leaderboard/README.md) and auto-judge-evaluate (README.md), whose
forms are `tot`, `ir_measures` and `jsonl`; castorini/nuggetizer (`metrics` in docs/cli-for-agents.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias

from store.errors import FaultList
from store.formats.json_lines import NoObjectError, read_json_object
from store.formats.lines import read_text_lines

ALL = "all"
"""In the place of a topic: the mean over topics."""
Leaderboard: TypeAlias = "dict[str, dict[tuple[str, str], float]]"
"""Scores by measure, and then by run and topic; none is NaN."""


def read_leaderboards(files: Mapping[str, str], topics: AbstractSet[str]) -> Leaderboard:
    """Read files, each with the run that it is of where its lines name none; a score stands in one of them.

    `topics` tell which field is the topic; others may be there. `FormatError` if a file has faults.
    """
    scores: Leaderboard = {}
    for path, tag in files.items():
        faults = FaultList(path)
        rows = [*_rows(path, tag, faults)]
        known = topics | {ALL}
        # No field says whether the second or the third is the topic.
        is_second = sum(row[2] in known for row in rows) > sum(row[3] in known for row in rows)
        for line, run, first, second, text in rows:
            measure, topic = (second, first) if is_second else (first, second)
            of_measure, score = scores.setdefault(measure, {}), _score(text)
            if not math.isfinite(score):
                faults.add(line, f"expected a score, got `{text}`", "score")
            elif (run, topic) in of_measure:
                faults.add(
                    line, f"expected one {measure} of run {run} for topic {topic}, got another", "twice"
                )
            else:
                of_measure[run, topic] = score
        if not rows and not faults:
            faults.add(None, "expected scores of runs, got none", "fields")
        faults.raise_if_any()
    return scores


def _rows(path: str, tag: str, faults: FaultList) -> Iterator[tuple[int, str, str, str, str]]:
    """Yield line number, run, measure, topic (or topic, measure) and score, as they stand there."""
    for line, text in read_text_lines(path, faults):
        fields = text.split()
        if text.lstrip().startswith("{"):
            try:
                yield from ((line, *row) for row in _of_object(read_json_object(text), tag))
            except NoObjectError as error:
                faults.add(line, str(error), "json")
        elif len(fields) == 4:
            if line > 1 or fields[-1].casefold() not in ("value", "score"):  # else a header
                yield line, fields[0], fields[1], fields[2], fields[3]
        elif fields:
            faults.add(line, f"expected run, measure, topic and score, got {len(fields)} fields", "fields")


def _of_object(data: dict[str, Any], tag: str) -> Iterable[tuple[str, str, str, str]]:
    if "nuggets" in data:
        message = "expected scores, got nuggets: `nuggetizer metrics` makes scores of what `assign` writes"
        raise NoObjectError(message)
    run, topic = (str(data.pop(key, None) or other) for key, other in (("run_id", tag), ("topic_id", "")))
    topic = topic or str(data.pop("qid", ""))
    if not topic:
        message = "expected `topic_id` or `qid`, got neither"
        raise NoObjectError(message)
    named = {str(data["measure"]): data.get("value")} if "measure" in data else data
    return [(run, measure, topic, str(value)) for measure, value in named.items()]


def _score(text: str) -> float:
    """Return a number; NaN = it is none."""
    try:
        return float({"True": "1", "False": "0"}.get(text, text))
    except ValueError:
        return math.nan
