"""A run from a search function: what `search(query, k)` of a Python file finds for each topic."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from hashlib import sha256
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any, SupportsFloat

import numpy as np

from pooler.messages import progress, say, warn
from pooler.reading.check import first_of
from pooler.reading.results import tag_of
from pooler.strategies import error_words, function_of, read_source
from store.errors import FaultList
from store.fields import id_fault
from store.formats.texts import DOCNO_KEYS, TEXT_KEYS, TITLE_KEYS
from store.ranking import rank_order
from store.records import Document, Ranking, Run, Topic

_PAUSES_S = (1.0, 2.0, 4.0)  # before a topic is tried again
_KEYS = (DOCNO_KEYS, ("score", "_score"), TITLE_KEYS, TEXT_KEYS)
"""What a result has, in the order of a tuple, and how a mapping or an object may call it."""
_HINT = "FILE.py has `search(query: str, k: int)`, which gives (docno, score) or (docno, score, title, text)"


def search_topics(path: str, topics: Sequence[Topic], depth: int) -> tuple[Run, list[Document]]:
    """Ask `search` of a file for the first `depth` documents of each topic: a run, called as the file is.

    Results are ranked as they come: where their scores do not say that order, minus the rank stands for them.
    An exception has a topic tried again, unless the one before it failed for good. Returns also the documents
    whose title or text came. `FormatError`: topics failed, or results are unfit; all of them.
    """
    source, faults, folder = read_source(path, _HINT), FaultList(path), str(Path(path).parent)
    rankings: list[Ranking] = []
    documents: dict[str, tuple[Document, str]] = {}
    unordered: list[str] = []
    pauses: tuple[float, ...] = _PAUSES_S
    with progress("topics", len(topics)) as advance, ExitStack() as stack:
        sys.path.insert(0, folder)  # modules beside the file
        stack.callback(sys.path.remove, folder)
        search = function_of(path, "search", source, _HINT)
        for topic in topics:
            results = _ask(path, search, topic, depth, pauses)
            pauses = () if isinstance(results, str) else _PAUSES_S
            if isinstance(results, str):
                faults.add(None, f"topic {topic.topic}: {results}", "search")
            elif scored := _scored(topic.topic, results, documents, faults):
                docnos, scores = [*scored], np.array([*scored.values()])
                ranks = np.arange(1, len(docnos) + 1)
                if (rank_order(docnos, scores) != ranks - 1).any():
                    unordered.append(topic.topic)
                    scores = -ranks.astype(np.float64)
                rankings.append(Ranking(topic.topic, docnos, scores, ranks))
            advance(1)
    if not rankings and not faults:
        faults.add(None, "expected results for a topic or more, got none", "empty")
    faults.raise_if_any(hint=f"nothing is stored; {_HINT}")
    found = {one.topic for one in rankings}
    if empty := [one.topic for one in topics if one.topic not in found]:
        warn(f"{path}: no result for {first_of(empty)}")
    if unordered:
        warn(f"{path}: minus the rank stands for scores that are tied or rise in {first_of(unordered)}")
    content = repr([(one.topic, one.docnos, one.scores.tolist()) for one in rankings])
    run = Run(tag_of(path), rankings, sha256(content.encode()).hexdigest(), file=Path(path).name)
    return run, [document for document, _ in documents.values()]


def _ask(
    path: str, search: Callable[..., Any], topic: Topic, depth: int, pauses: Sequence[float]
) -> list[list[Any]] | str:
    """Return docno, score, title and text of each result of a topic, or what went wrong at last."""
    for pause in (*pauses, None):
        try:
            return [_fields(one) for one in islice(search(topic.title, depth), depth)]
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the code of a user raises
            words = error_words(error, path)
        if pause is not None:
            say(f"{path}: topic {topic.topic}: {words}; again in {pause:g} s")
            time.sleep(pause)
    return words


def _scored(
    topic: str, rows: Sequence[list[Any]], documents: dict[str, tuple[Document, str]], faults: FaultList
) -> dict[str, float]:
    """Return the scores of a topic's documents, add those that have a text, with their topic, and faults."""
    found: dict[str, float] = {}
    has_scores = any(row[1] is not None for row in rows)
    for place, (docno, score, title, text) in enumerate(rows, start=1):
        docno = str(docno) if isinstance(docno, str | int | np.integer) else ""
        number = score if has_scores else float(-place)
        document = Document(docno, title or "", text or "")
        known, before = documents.get(docno, (document, topic))
        if fault := id_fault(docno):
            fault = f"docno: {fault}"
        elif docno in found:
            fault = f"document `{docno}` is among the results already"
        elif not (isinstance(number, float) and isfinite(number)):
            fault = f"expected a finite number as score, got {score!r:.60}"
        elif not all(isinstance(one, str) for one in (title or "", text or "")):
            fault = f"expected title and text of document `{docno}` to be text"
        elif known != document and (title or text):
            fault = f"document `{docno}` has another title or text than for topic {before}: a snippet?"
        else:
            found[docno] = number
            documents |= {docno: (known, before)} if title or text else {}
            continue
        faults.add(None, f"topic {topic}, result {place}: {fault}", "result")
    return found


def _fields(result: Any) -> list[Any]:
    """Return docno, score, a float where it is a number, title and text; ``None`` where it has none."""
    fields = ([*result] if isinstance(result, tuple | list) else [])[:4]
    if isinstance(result, Mapping) or any(hasattr(result, key) for key in DOCNO_KEYS):
        get = result.get if isinstance(result, Mapping) else partial(getattr, result)
        fields = [next((one for key in keys if (one := get(key, None)) is not None), None) for keys in _KEYS]
    fields += [None] * (4 - len(fields))
    fields[1] = float(fields[1]) if isinstance(fields[1], SupportsFloat) else fields[1]
    return fields
