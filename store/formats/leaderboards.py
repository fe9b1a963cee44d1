"""Leaderboards: scores of runs by topic that another program gave.

A line has run, measure, topic and score, or run, topic, measure and score: the topics say which. Topic `all`
is the mean over topics; True is 1, False 0. A line without the run, as trec_eval -q prints it, is of the run
that the file is named after. Or it is JSON with `run_id`, `measure`, `topic_id` and `value`; or with `qid`
and a score by each measure, of the run of that name.

Sources: trec-auto-judge/auto-judge-base (leaderboard/README.md) and auto-judge-evaluate (README.md), whose
forms are `tot`, `ir_measures` and `jsonl`; castorini/nuggetizer (`metrics` in docs/cli-for-agents.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from store.errors import FaultList
from store.formats.json_lines import json_object
from store.formats.lines import read_text_lines

ALL = "all"
_SCORE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?|True|False")
_FLAGS = {"True": "1", "False": "0"}
_MOST = 1e100
"""Beyond it sums of scores could be no numbers."""


def read_leaderboards(
    files: Mapping[str, str], topics: AbstractSet[str]
) -> dict[str, dict[tuple[str, str], float]]:
    """Read files, each with the name of a run for lines without: scores by measure, then by run and topic.

    `topics` tell which field is the topic; others may be there. `FormatError` if a file has faults.
    """
    scores: dict[str, dict[tuple[str, str], float]] = {}
    for path, tag in files.items():
        faults = FaultList(path)
        rows, known = [*_rows(path, tag, faults)], topics | {ALL}
        is_second = sum(row[2] in known for row in rows) > sum(row[3] in known for row in rows)
        for line, run, first, second, text in rows:
            measure, topic = (second, first) if is_second else (first, second)
            if not _SCORE.fullmatch(text) or abs(score := float(_FLAGS.get(text, text))) > _MOST:
                faults.add(line, f"expected a score, got `{text}`", "score")
            elif (run, topic) in scores.setdefault(measure, {}):
                faults.add(
                    line, f"expected one {measure} of run {run} for topic {topic}, got another", "twice"
                )
            else:
                scores[measure][run, topic] = score
        if not rows and not faults:
            faults.add(None, "expected scores of runs, got none", "fields")
        faults.raise_if_any()
    return scores


def _rows(path: str, tag: str, faults: FaultList) -> Iterator[tuple[int, str, str, str, str]]:
    """Yield line number, run, measure and topic, or topic and measure, and score, as they stand there."""
    for line, text in read_text_lines(path, faults):
        fields = text.split()
        if text.lstrip().startswith("{"):
            data = json_object(line, text, faults)
            if data is None:
                continue
            run, topic = str(data.pop("run_id", tag)), data.pop("topic_id", data.pop("qid", None))
            if topic is None or "nuggets" in data:
                nuggets = "nuggets, of which `nuggetizer metrics` makes scores"
                got = nuggets if "nuggets" in data else "no `topic_id` or `qid`"
                faults.add(line, f"expected scores of a topic, got {got}", "json")
                continue
            named = {str(data["measure"]): data.get("value")} if "measure" in data else data
            yield from ((line, run, name, str(topic), str(value)) for name, value in named.items())
        elif len(fields) == 4:
            if line > 1 or fields[-1].casefold() not in ("value", "score"):  # else a header
                yield line, fields[0], fields[1], fields[2], fields[3]
        elif len(fields) == 3:
            yield line, tag, fields[0], fields[1], fields[2]
        elif fields:
            faults.add(line, f"expected run, measure, topic and score, got {len(fields)} fields", "fields")
