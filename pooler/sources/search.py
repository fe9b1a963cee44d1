"""A run from a search function: what `search(query, k)` of a Python file finds for each topic."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np

from pooler.messages import progress, say, warn
from pooler.python_file import error_words, function_of, read_source
from pooler.reading.check import first_of
from pooler.reading.results import tag_of
from store.errors import FaultList
from store.fields import id_fault
from store.formats.texts import DOCNO_KEYS, TEXT_KEYS, TITLE_KEYS
from store.ranking import rank_order
from store.records import Document, Ranking, Run, Topic

_PAUSES_S = (1.0, 2.0, 4.0)
"""Before a topic is tried again."""
_KEYS = {"docno": DOCNO_KEYS, "score": ("score", "_score"), "title": TITLE_KEYS, "text": TEXT_KEYS}
"""What a result has, in the order of a tuple, and how a mapping or an object may call it."""
_HINT = "`search(query: str, k: int)` gives (docno, score) or (docno, score, title, text), the best first"


def search_topics(path: str, topics: Sequence[Topic], depth: int) -> tuple[Run, list[Document]]:
    """Ask `search` of a file for the first `depth` documents of each topic: a run, called as the file is.

    The query is the topic's title. A result is a tuple, a mapping or an object, see `_KEYS`. Results are ranked
    as they come: where scores say no such order, minus the rank stands for them. After an exception a topic is tried again, three times, but for one
    that comes after a topic which failed for good.

    Returns the run, and the documents whose title or text came with it. `FormatError`: topics failed, or
    results cannot be a run; it has all of them.
    """
    hint = "--search FILE.py names a file that has `def search(query: str, k: int)`"
    source, faults = read_source(path, hint), FaultList(path)
    rankings: list[Ranking] = []
    documents: dict[str, tuple[Document, str]] = {}
    digest = hashlib.sha256()
    empty: list[str] = []
    unordered: list[str] = []
    pauses = _PAUSES_S
    with progress("topics", len(topics)) as advance, _importing_from(Path(path).parent):
        search = function_of(path, "search", source, hint)
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
                lines = (
                    f"{topic.topic} {one} {score!r}\n"
                    for one, score in zip(docnos, scores.tolist(), strict=True)
                )
                digest.update("".join(lines).encode())
            elif not results:
                empty.append(topic.topic)
            advance(1)
    if not rankings and not faults:
        faults.add(None, "expected results for a topic or more, got none", "empty")
    faults.raise_if_any(hint=f"nothing is stored; {_HINT}")
    if empty:
        warn(f"{path}: no result for {first_of(empty)}")
    if unordered:
        where = f"{path}: scores of results are tied or rise in {first_of(unordered)}"
        warn(f"{where}: minus the rank stands for them")
    run = Run(tag_of(path), rankings, digest.hexdigest(), file=Path(path).name)
    return run, [document for document, _ in documents.values()]


@contextmanager
def _importing_from(folder: Path) -> Iterator[None]:
    """Let code import the modules beside it."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _ask(
    path: str, search: Callable[..., Any], topic: Topic, depth: int, pauses: Sequence[float]
) -> list[Any] | str:
    """Return the results of a topic, or what went wrong each time."""
    for pause in (*pauses, None):
        try:
            return [*islice(search(topic.title, depth), depth)]
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the code of a user raises
            words = error_words(error, path)
        if pause is not None:
            say(f"{path}: topic {topic.topic}: {words}; again in {pause:g} s")
            time.sleep(pause)
    return words


def _scored(
    topic: str, results: Sequence[Any], documents: dict[str, tuple[Document, str]], faults: FaultList
) -> dict[str, float]:
    """Return the scores of a topic's documents, add those that have a text, with their topic, and faults."""
    found: dict[str, float] = {}
    rows = [_fields(one) for one in results]
    has_scores = any(score is not None for _, score, *_ in rows)
    for place, (docno, score, title, text) in enumerate(rows, start=1):
        if isinstance(docno, SupportsIndex) and not isinstance(docno, bool):
            docno = str(int(docno))
        number = _number(score) if has_scores else float(-place)
        fault = id_fault(docno) if isinstance(docno, str) else f"expected a docno, got {docno!r:.60}"
        if fault is None and docno in found:
            fault = f"document `{docno}` is among the results already"
        elif fault is None and number is None:
            fault = f"expected a finite number as score, got {score!r:.60}"
        elif fault is None and not all(isinstance(one, str) for one in (title, text) if one is not None):
            fault = f"expected title and text of document `{docno}` to be text"
        elif fault is None and (title or text):
            document = Document(docno, title or "", text or "")
            known, before = documents.setdefault(docno, (document, topic))
            if known != document:
                fault = f"document `{docno}` has another title or text than for topic {before}"
                fault += ": leave out what is of the query, as snippets are"
        if fault or number is None:
            faults.add(None, f"topic {topic}, result {place}: {fault}", "result")
        else:
            found[docno] = number
    return found


def _number(score: Any) -> float | None:
    try:
        number = None if isinstance(score, str | bytes) else float(score)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number is not None and isfinite(number) else None


def _fields(result: Any) -> list[Any]:
    """Return docno, score, title and text of a result; ``None`` where it has none."""
    if not isinstance(result, Mapping) and any(hasattr(result, key) for key in DOCNO_KEYS):
        names = {key for keys in _KEYS.values() for key in keys if hasattr(result, key)}
        result = {name: getattr(result, name) for name in names}
    if isinstance(result, Mapping):
        return [next((result[key] for key in keys if key in result), None) for keys in _KEYS.values()]
    fields = [*result][:4] if isinstance(result, tuple | list) else []
    return fields + [None] * (4 - len(fields))
