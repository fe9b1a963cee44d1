"""The first documents of run files, read by DuckDB: `--engine duckdb`.

DuckDB runs one query a file, on one thread, while another thread goes through the bytes: it hashes
them and proves what a reader of comma-separated values does not say, that no field is empty and no
odd character stands anywhere. Where DuckDB and `float` could differ, or the query does not tell
enough, the file is left to the reference readers; so the engine changes the time and nothing else.
"""

from __future__ import annotations

import hashlib
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path, PurePath
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pooler.columns import LONGEST_FIELD
from pooler.run_lines import SuspicionError
from pooler.top_ranking import RunTop, TopRanking, take_top
from store.errors import PoolerError
from store.formats.lines import is_regular_file
from store.ranking import Order, compared_scores, ties_at_cut

if TYPE_CHECKING:
    from types import ModuleType

MEMORY_LIMIT = "640MB"
"""What DuckDB may take for itself; more goes to a temporary folder."""
_BLOCK_BYTES = 1 << 16
_HEAD_BYTES = 1 << 18
_FIELDS = 6
_MOST_KEPT = 10
"""Times the depth: what Python would rank for a topic."""
_ORDERS = ("trec", "trec9", "docno-asc")
_SEPARATORS = {b" ": " ", b"\t": "\t"}
_PATTERN_CHARACTERS = frozenset("*?[]{}\\")
"""In a file name DuckDB could take them for a pattern of names."""
_FIRST_PRINTABLE, _DELETE, _NEWLINE = 33, 127, 10
_PLUS, _MINUS, _UNDERSCORE = ord("+"), ord("-"), ord("_")

_QUERY = """
SELECT topic,
       count(*) AS n_documents,
       min(line) AS first_line,
       max(line) AS last_line,
       count(*) FILTER (WHERE tag = $tag) AS n_of_tag,
       bool_and(isfinite(score)) AS is_finite,
       {has_underscore} AS has_underscore,
       array_to_string(max_by(docno, score, {n_kept}), chr(10)) AS docnos,
       max(score, {n_kept}) AS scores,
       list(hash(docno)) AS keys
FROM (
    SELECT topic, docno, written, CAST(written AS DOUBLE) AS score, tag,
           row_number() OVER () AS line
    FROM read_csv(
        $path, delim = '{separator}', columns = {{
            'topic': 'VARCHAR', 'q0': 'VARCHAR', 'docno': 'VARCHAR',
            'rank': 'VARCHAR', 'written': '{score_type}', 'tag': 'VARCHAR'
        }},
        auto_detect = false, header = false, quote = '', escape = '', new_line = '\\n',
        compression = 'none', hive_partitioning = false
    )
)
GROUP BY topic
"""


@dataclass(frozen=True, slots=True)
class _Head:
    """What the first lines of a file say of the others."""

    separator: bytes
    tag: bytes
    has_underscores: bool
    """Whether a field before the tag has one."""
    n_to_keep: int
    """Documents of a topic for the query to return."""


@dataclass(slots=True)
class _Survey:
    """What the bytes of a file say, without a look at its lines."""

    digest: hashlib._Hash = field(default_factory=hashlib.sha256)
    n_blanks: int = 0
    """Separators and line ends."""
    n_underscores: int = 0
    ends_line: bool = False
    """Whether the last line has its end."""


def require_duckdb() -> ModuleType:
    """Return the package `duckdb`.

    Raises
    ------
    PoolerError
        If it is not installed.
    """
    try:
        import duckdb  # takes longer to load than a small file takes
    except ImportError as error:
        message = "the engine `duckdb` needs a package: pip install 'pooler[duckdb]'"
        raise PoolerError(message) from error
    module: ModuleType = duckdb
    return module


def read_top_duckdb(path: str, depth: int, *, order: Order, with_scores: bool = True) -> RunTop:
    r"""Read the first documents of every topic of a run file that is plainly in order.

    Parameters
    ----------
    path : str
        A regular file, not compressed.
    depth : int
        Documents kept for a topic, at least 1.
    order : {"trec", "trec9", "docno-asc", "rank", "file"}
        What orders the run, see `store.ranking`; the last two are refused.
    with_scores : bool, default=True
        Keep the scores of the documents.

    Returns
    -------
    RunTop
        The same, to the last bit, as `pooler.top.read_top` gives.

    Raises
    ------
    SuspicionError
        If the file may have a fault, or is not all ASCII in six fields between single blanks or
        single tabs, or a topic has more ties at the cut than were looked at, or a score is one
        that DuckDB could read otherwise than `float`.
    PoolerError
        If DuckDB is not installed.

    Notes
    -----
    Somewhat more than `depth` documents of a topic are taken, by score alone; when the last of
    these is below the one at `depth`, they hold all that tie at the cut, and
    `pooler.top_ranking.take_top` ranks them as it does for the other readers. DuckDB reads a
    decimal as `float` does, to the nearest float64; it also accepts ``+-1``, ``nan(1)`` and, as
    `float` does, underscores.

    Memory holds 8 bytes for each line and the kept documents; DuckDB's own is within
    `MEMORY_LIMIT`. Whole pools take about half as much processor time again as by
    `pooler.run_blocks`: DuckDB finds fields fast, but groups them, hashes docnos to prove them
    distinct, and needs the second look at the bytes.
    """
    duckdb = require_duckdb()
    head = _look_at_head(path, depth, order)
    query = _QUERY.format(
        n_kept=head.n_to_keep,
        separator=_SEPARATORS[head.separator],
        score_type="VARCHAR" if head.has_underscores else "DOUBLE",
        has_underscore="bool_or(contains(written, '_'))" if head.has_underscores else "false",
    )
    stop = Event()
    with ThreadPoolExecutor(1) as executor:
        surveying = executor.submit(_survey, path, stop)
        try:
            columns = _ask(
                duckdb, query, {"path": str(Path(path).absolute()), "tag": head.tag.decode()}
            )
        except BaseException:
            stop.set()
            raise
        survey = surveying.result()
    _check(columns, survey, head)
    topics: dict[str, TopRanking] = {}
    for row in np.argsort(columns["first_line"]).tolist():
        ordered = np.sort(columns["keys"][row])
        if (ordered[1:] == ordered[:-1]).any():
            raise SuspicionError("a document twice in a topic")
        docnos, scores = columns["docnos"][row].split("\n"), columns["scores"][row]
        n_documents = int(columns["n_documents"][row])
        _check_kept(scores, depth, order, n_documents=n_documents)
        topics[columns["topic"][row]] = take_top(
            docnos,
            scores,
            None,
            depth=depth,
            order=order,
            n_documents=n_documents,
            with_scores=with_scores,
        )
    return RunTop(
        tag=head.tag.decode(),
        file=PurePath(path).name,
        sha256=survey.digest.hexdigest(),
        depth=depth,
        order=order,
        topics=topics,
        n_lines=int(columns["n_documents"].sum()),
    )


def _look_at_head(path: str, depth: int, order: Order) -> _Head:
    """Look at the first lines; raise `SuspicionError` where the query would be in vain."""
    if order not in _ORDERS:
        raise SuspicionError("an order that is not by score")
    if not is_regular_file(path):
        raise SuspicionError("no regular file")
    if not _PATTERN_CHARACTERS.isdisjoint(str(Path(path).absolute())):
        raise SuspicionError("a name that may be taken for a pattern")
    try:
        with Path(path).open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise SuspicionError("a file that cannot be read") from error
    lines = head.split(b"\n")
    fields = lines[0].split()
    separator = lines[0][len(fields[0]) :][:1] if fields else b""
    if (
        len(fields) != _FIELDS
        or separator not in _SEPARATORS
        or lines[0] != separator.join(fields)
        or not head.isascii()
    ):
        raise SuspicionError("a first line that is not plainly in order")
    has_underscores = b"_" in b"".join(fields[:-1])
    n_to_keep = _n_to_keep([line.split(separator) for line in lines[:-1]], depth, order)
    return _Head(separator, fields[-1], has_underscores, n_to_keep)


def _n_to_keep(lines: list[list[bytes]], depth: int, order: Order) -> int:
    """Say how many documents of a topic will hardly ever be too few to tell the ties at the cut."""
    n_to_keep = 2 * depth
    try:
        for _, of_topic in groupby(lines, key=itemgetter(0)):
            scores = -np.sort([-float(line[4]) for line in of_topic])
            n_tied = sum(ties_at_cut(compared_scores(scores, order), depth))
            n_to_keep = max(n_to_keep, depth + 2 * n_tied)
    except (IndexError, ValueError) as error:
        raise SuspicionError("a line that is not plainly in order") from error
    if n_to_keep > _MOST_KEPT * depth:
        raise SuspicionError("too many ties at the cut")
    return n_to_keep


def _survey(path: str, stop: Event) -> _Survey:
    """Go through the bytes of a file, up to its end or until `stop` is set."""
    survey = _Survey()
    window = np.empty(_BLOCK_BYTES + 1, np.uint8)
    window[0] = _NEWLINE  # what stands before a block
    block = window[1:].data
    with Path(path).open("rb", buffering=0) as file:
        while (n_bytes := file.readinto(block)) and not stop.is_set():
            survey.digest.update(block[:n_bytes])
            text = window[: n_bytes + 1]
            if text.max() >= _DELETE:
                raise SuspicionError("a character that is not printable ASCII")
            is_blank = text < _FIRST_PRINTABLE
            if (is_blank[1:] & is_blank[:-1]).any():
                raise SuspicionError("an empty field, or line")
            whole = is_blank[1 : 1 + n_bytes // LONGEST_FIELD * LONGEST_FIELD]
            if not whole.reshape(-1, LONGEST_FIELD).any(axis=1).all():
                raise SuspicionError("perhaps a very long field")
            if ((text[:-1] == _PLUS) & (text[1:] == _MINUS)).any():
                raise SuspicionError("perhaps a number with two signs")
            survey.n_blanks += int(np.count_nonzero(is_blank[1:]))
            survey.n_underscores += int(np.count_nonzero(text[1:] == _UNDERSCORE))
            window[0] = text[-1]
    survey.ends_line = bool(window[0] == _NEWLINE)
    return survey


def _ask(duckdb: ModuleType, query: str, parameters: dict[str, str]) -> dict[str, Any]:
    """Run a query; return its columns as arrays, by name."""
    with tempfile.TemporaryDirectory(prefix="pooler-") as folder:
        settings = {
            "threads": 1,  # the other processor reads another file; and lines keep their order
            "memory_limit": MEMORY_LIMIT,
            "temp_directory": folder,
            "autoload_known_extensions": False,
            "autoinstall_known_extensions": False,
        }
        try:
            with duckdb.connect(":memory:", config=settings) as connection:
                columns: dict[str, Any] = connection.execute(query, parameters).fetchnumpy()
        except (duckdb.Error, UnicodeError) as error:
            raise SuspicionError(str(error)) from error
    return columns


def _check(columns: dict[str, Any], survey: _Survey, head: _Head) -> None:
    """Raise `SuspicionError` unless query and bytes together prove the file in order.

    Every line that the query saw has five separators and, but for the last one perhaps, a line end.
    When these are all the blanks there are, and none stands beside another, no field is empty or
    has a blank in it.
    """
    n_documents = columns["n_documents"]
    n_lines = int(n_documents.sum())
    if not n_lines or survey.n_blanks != _FIELDS * n_lines - (not survey.ends_line):
        raise SuspicionError("a blank that is no separator")
    if (columns["n_of_tag"] != n_documents).any():
        raise SuspicionError("a second tag")
    if (columns["last_line"] - columns["first_line"] + 1 != n_documents).any():
        raise SuspicionError("a topic in two parts")
    if any(topic.startswith("#") for topic in columns["topic"]):
        raise SuspicionError("a comment, or a topic that looks like one")
    if not columns["is_finite"].all() or columns["has_underscore"].any():
        raise SuspicionError("a score")
    n_of_tag = head.tag.count(b"_") * n_lines
    if not head.has_underscores and survey.n_underscores != n_of_tag:
        raise SuspicionError("perhaps a score with an underscore")


def _check_kept(scores: NDArray[np.float64], depth: int, order: Order, *, n_documents: int) -> None:
    """Raise `SuspicionError` unless the best scores, descending, tell all ties at the cut."""
    if scores.size < n_documents:
        compared = compared_scores(scores[[depth - 1, -1]], order)
        if compared[0] == compared[1]:
            raise SuspicionError("more ties at the cut than were looked at")
    if np.signbit(scores[scores == 0]).any():
        raise SuspicionError("a negative zero, whose sign ties with another")
