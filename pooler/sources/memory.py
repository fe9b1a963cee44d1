"""Runs and qrels as other Python libraries hold them: mappings, data frames, rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex

from pooler.sources.files import files_of
from store.errors import ArgumentError
from store.fields import LONGEST_ID, are_plain_ids
from store.records import Qrel, Ranking, Run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST = 10**308
"""Whole numbers from here on may be more than a float holds."""

_TOPIC = ("topic", "qid", "query_id", "q_id")
_DOCNO = ("docno", "doc_id", "docid")
_VALUE = {"qrels": ("grade", "label", "relevance", "rel", "score"), "runs": ("score",)}
_WHAT = {"qrels": "grade", "runs": "score"}


def _is_frame(given: object) -> bool:
    """Tell a data frame of any library."""
    return hasattr(given, "columns") and hasattr(given, "__getitem__")


def _is_ranking(given: object) -> bool:
    """Tell what holds one run, without its name."""
    if isinstance(given, Mapping):
        first = next(iter(given.values()), None)
        return isinstance(first, Mapping) and isinstance(next(iter(first.values()), None), SupportsFloat)
    return _is_frame(given) or hasattr(given, "to_dict")


def _by_topic(name: str, given: Any) -> dict[str, tuple[list[str], NDArray[np.float64]]]:
    """Return the documents of each topic and their values; `name` is ``qrels`` or ``runs``.

    `ArgumentError` names what has another shape, and a value that is no number.

    >>> _by_topic("qrels", [(1, 7, 1.0)])
    {'1': (['7'], array([1.]))}
    """
    found: dict[str, tuple[list[Any], list[Any]]] = {}
    for topic, docnos, values in _columns(name, given):
        of_topic = found.setdefault(_id(name, topic), ([], []))
        of_topic[0].extend(docnos)
        of_topic[1].extend(values)
    return {
        topic: (_docnos(name, topic, docnos), _numbers(name, topic, docnos, values))
        for topic, (docnos, values) in found.items()
    }


def _docnos(name: str, topic: str, given: list[Any]) -> list[str]:
    is_plain = {*map(type, given)} <= {str} and are_plain_ids(given)
    docnos = given if is_plain else [_id(name, one) for one in given]
    if len({*docnos}) < len(docnos):
        twice = next(one for one, n in Counter(docnos).items() if n > 1)
        raise ArgumentError(name, f"must name a document once for topic {topic}", twice)
    return docnos


def _numbers(name: str, topic: str, docnos: list[Any], values: list[Any]) -> NDArray[np.float64]:
    import numpy as np

    kinds = {*map(type, values)}
    if not all(issubclass(kind, (int, float, np.integer, np.floating)) for kind in kinds):
        # Text is no number, though float() may read it.
        for docno, value in zip(docnos, values, strict=True):
            if isinstance(value, str) or not isinstance(value, SupportsFloat):
                raise _no_number(name, topic, docno, value)
        values = [*map(float, values)]
    try:
        numbers = np.array(values, dtype=np.float64)
    except OverflowError:  # a whole number beyond what a float holds
        numbers = np.array([value if abs(value) < _MOST else np.inf for value in values], dtype=np.float64)
    for place in np.flatnonzero(~np.isfinite(numbers)).tolist():
        raise _no_number(name, topic, docnos[place], values[place])
    return numbers


def _no_number(name: str, topic: str, docno: Any, value: Any) -> ArgumentError:
    return ArgumentError(name, f"must hold finite numbers: topic `{topic}`, document `{docno}`", value)


def runs_given(runs: Any) -> Iterator[str | Run]:
    """Yield runs that are given as `source` takes them, in order: files, or what is read of them."""
    if isinstance(runs, str | Path):
        yield from files_of([runs])
    elif _is_ranking(runs) and not (isinstance(runs, Mapping) and hasattr(runs, "to_dict")):
        name = getattr(runs, "name", None)  # of a data frame it may be a column
        yield _run(name if isinstance(name, str) and name else "run", runs)
    elif isinstance(runs, Mapping):
        for tag, run in runs.items():
            yield replace(run, tag=tag) if isinstance(run, Run) else _run(tag, run)
    elif isinstance(runs, Iterable):
        given = [*runs]
        if given and (isinstance(given[0], tuple | list) or hasattr(given[0], "query_id")):
            yield _run("run", given)
            return
        for run in given:
            if isinstance(run, str | Path):
                yield from files_of([run])
            else:
                yield run if isinstance(run, Run) else _run(getattr(run, "name", None) or "run", run)
    else:
        raise ArgumentError("runs", "must be files, {tag: {topic: {docno: score}}}, or one run", runs)


def _run(tag: Any, run: Any) -> Run:
    rankings = [Ranking(topic, *ranked, None) for topic, ranked in _by_topic("runs", run).items()]
    return Run(str(tag), rankings, sha256="")


def grade_files(judgements: Any) -> list[str]:
    """List the files of grades that are named, one or several."""
    given = [judgements] if isinstance(judgements, str | Path) else [*judgements]
    if isinstance(judgements, Mapping) or not all(isinstance(one, str | Path) for one in given):
        raise ArgumentError("judgements", "must be files of grades; what is in memory is `qrels`", None)
    return [*files_of(given)]


def qrels_given(given: Any) -> str | list[Qrel] | None:
    """Return a file, or judged documents; `ArgumentError` names a grade that is no whole number."""
    if given is None or isinstance(given, str | Path):
        return None if given is None else str(given)
    if isinstance(given, Iterable) and not isinstance(given, Mapping) and not _is_frame(given):
        given = [*given]
        if all(isinstance(one, Qrel) for one in given):
            return [*given]
    found = []
    for topic, (docnos, grades) in _by_topic("qrels", given).items():
        for place in (grades % 1).nonzero()[0].tolist():
            requirement = f"must hold whole numbers: topic `{topic}`, document `{docnos[place]}`"
            raise ArgumentError("qrels", requirement, float(grades[place]))
        found += [Qrel(topic, *graded) for graded in zip(docnos, map(int, grades.tolist()), strict=True)]
    return found


def _columns(name: str, given: Any) -> Iterator[tuple[Any, Iterable[Any], Iterable[Any]]]:
    """Yield topics with their documents and values; a topic may come again."""
    what = _WHAT[name]
    if not isinstance(given, Mapping) and not _is_frame(given) and hasattr(given, "to_dict"):
        given = given.to_dict()
    if isinstance(given, Mapping):
        for topic, of_topic in given.items():
            if not isinstance(of_topic, Mapping):
                requirement = f"must be {{topic: {{docno: {what}}}}}, and topic `{topic}` is no mapping"
                raise ArgumentError(name, requirement, of_topic)
            yield topic, of_topic.keys(), of_topic.values()
        return
    rows = _frame_rows(name, given) if _is_frame(given) else _rows(name, given)
    for topic, of_topic in groupby(rows, key=itemgetter(0)):
        _, docnos, values = zip(*of_topic, strict=True)
        yield topic, docnos, values


def _frame_rows(name: str, frame: Any) -> Iterator[tuple[Any, Any, Any]]:
    columns = [frame[_column(name, frame, names)] for names in (_TOPIC, _DOCNO, _VALUE[name])]
    # What numpy and Arrow hold is a list sooner than it is iterated.
    lists = [
        next((getattr(one, how)() for how in ("to_pylist", "to_list") if hasattr(one, how)), one)
        for one in columns
    ]
    return zip(*lists, strict=True)


def _rows(name: str, given: Any) -> Iterator[tuple[Any, Any, Any]]:
    what = _WHAT[name]
    for row in given if isinstance(given, Iterable) else [given]:
        if hasattr(row, "query_id"):
            yield row.query_id, row.doc_id, row.relevance if name == "qrels" else row.score
        elif isinstance(row, tuple | list) and len(row) == 3:
            yield row[0], row[1], row[2]
        else:
            requirement = (
                f"must be {{topic: {{docno: {what}}}}}, a data frame, or rows of topic, docno and {what}"
            )
            raise ArgumentError(name, requirement, row)


def _column(name: str, frame: Any, names: tuple[str, ...]) -> str:
    known = [*getattr(frame, "column_names", frame.columns)]  # Arrow's `columns` are the data
    for one in names:
        if one in known:
            return one
    raise ArgumentError(name, f"must be a data frame with a column {' or '.join(names)}", known)


def _id(name: str, given: Any) -> str:
    if isinstance(given, str):
        if 0 < len(given.encode("utf-8", "surrogatepass")) <= LONGEST_ID:
            return given
        raise ArgumentError(name, f"must have ids of 1 to {LONGEST_ID:,} bytes", given[:60])
    if isinstance(given, SupportsIndex) and not isinstance(given, bool):
        return str(int(given))
    raise ArgumentError(name, "must have ids that are text or whole numbers", given)
