"""How what the project says of a run file differs from the obvious reader's verdict, in words."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePath

from pooler.reading.blocks import BLOCK_BYTES, LineFacts, stream_rankings
from pooler.reading.check import RunReport, check_run
from pooler.reading.fields import SuspicionError
from pooler.reading.strict import read_run
from pooler.reading.tops import RunTop, read_top, take_top
from store.errors import SHOWN_FAULTS, ArgumentError, FormatError
from store.ranking import ORDERS, Order
from tests.helpers.damaged_runs import DamagedFile
from tests.helpers.obvious_reader import First, GivenGrade, first_of, read_obviously

DEPTHS = (1, 3, 1000)
DAMAGE = {"gzip", "xz", "zstd"}
"""Codes of damaged compression."""


def compare(path: Path, file: DamagedFile, *, lenient: bool) -> GivenGrade | str:
    """Return the obvious verdict on a file, or in words how the project's differs."""
    with_known = file.seed % 5 == 0
    given_grade = read_obviously(
        file.content,
        lenient=lenient,
        known_topics=file.known_topics if with_known else None,
        known_docnos=file.known_docnos if with_known else None,
    )
    report = check_run(
        str(path),
        known_topics=file.known_topics if with_known else None,
        known_docnos=file.known_docnos if with_known else None,
        depth=(None, *DEPTHS)[file.seed % 4],
        order=ORDERS[file.seed % len(ORDERS)],
        lenient=lenient,
    )
    difference = unlike_faults(report, given_grade)
    if difference:
        return difference
    # Reading knows no collection.
    plain = read_obviously(file.content, lenient=lenient) if with_known else given_grade
    if plain.faults or plain.is_damaged:
        difference = accepted_in_spite_of_faults(path, file.seed, lenient=lenient)
    else:
        difference = unlike_report(report, plain) if plain is given_grade else None
        difference = difference or unlike_run(path, plain, lenient=lenient)
        some = DEPTHS if file.seed % 8 == 0 and not lenient else DEPTHS[file.seed % 3 :][:1]
        difference = difference or unlike_tops(path, plain, some, lenient=lenient)
        if not lenient:
            difference = difference or unlike_blocks(path, plain, file.seed)
    return difference or given_grade


def unlike_faults(report: RunReport, given_grade: GivenGrade) -> str | None:
    """Say how the faults told differ; damaged files may be read to the damage or less far."""
    told = [(fault.line, fault.code) for fault in report.faults]
    expected = list(given_grade.faults)
    counts = Counter(report.fault_counts)
    if given_grade.is_damaged:
        n_damage = sum(counts.pop(code, 0) for code in DAMAGE)
        if expected == [(None, "utf16")] and (told == expected or n_damage == len(told) == 1):
            return None  # whichever is met first
        if n_damage != 1 or report.n_lines > given_grade.n_lines + 1:
            return f"damage told {n_damage} times after {report.n_lines} lines: {told}"
        expected = [fault for fault in expected if (fault[0] or 0) <= report.n_lines]
        if len(told) <= SHOWN_FAULTS and told and told[-1][1] in DAMAGE:
            if told[-1][0] is not None and told[-1][0] != report.n_lines + 1:
                return f"damage told on line {told[-1][0]}, after {report.n_lines} lines"
            told.pop()
        elif len(expected) < SHOWN_FAULTS:
            return f"damage not told last: {told}"
    elif report.n_lines != given_grade.n_lines:
        return f"{report.n_lines} lines, expected {given_grade.n_lines}"
    if counts != Counter(code for _, code in expected):
        return f"fault counts {dict(counts)}, expected {expected[:30]}"
    # The order of faults within a line is open, so the last line told may be told in part.
    last = told[-1][0] if told else None
    missing = [
        fault
        for fault in (Counter(expected) - Counter(told)).elements()
        if len(told) < SHOWN_FAULTS - 1 or (fault[0] or 0) < (last or 0)
    ]
    invented = Counter(told) - Counter(expected)
    if missing or invented or [line or 0 for line, _ in told] != sorted(line or 0 for line, _ in told):
        return f"faults {told}, expected {expected[:30]}"
    if len(told) != min(len(expected), SHOWN_FAULTS) and not given_grade.is_damaged:
        return f"{len(told)} faults kept of {len(expected)}"
    return None


def accepted_in_spite_of_faults(path: Path, seed: int, *, lenient: bool) -> str | None:
    """Say which reader takes a file that has faults; not every reader is asked about each file."""
    if lenient and seed % 2:
        return None
    order = ORDERS[seed % len(ORDERS)]
    try:
        read_top(str(path), DEPTHS[seed % 3], order=order, lenient=lenient)
    except FormatError:
        pass
    else:
        return f"read_top in order {order} takes a file with faults"
    for block_bytes in [] if lenient else [few_bytes(path, seed), few_bytes(path, seed + 1)]:
        try:
            read_blocks(str(path), 2, order="trec", block_bytes=block_bytes)
        except SuspicionError:
            continue
        return f"read_blocks, {block_bytes} bytes at a time, takes a file with faults"
    if seed % 4:
        return None
    try:
        read_run(str(path), lenient=lenient)
    except FormatError:
        return None
    return "read_run takes a file with faults"


def unlike_report(report: RunReport, given_grade: GivenGrade) -> str | None:
    """Say what a report tells wrongly of a file without faults."""
    n_documents = sum(map(len, given_grade.topics.values()))
    expected = (given_grade.tag, len(given_grade.topics), n_documents, sha256(given_grade))
    told = (report.tag, report.n_topics, report.n_documents, report.sha256)
    return None if told == expected else f"report says {told}, expected {expected}"


def unlike_run(path: Path, given_grade: GivenGrade, *, lenient: bool) -> str | None:
    """Say how the content read differs, scores to the last bit."""
    run = read_run(str(path), lenient=lenient)
    if (run.tag, run.sha256) != (given_grade.tag, sha256(given_grade)):
        return f"tag {run.tag} or hash {run.sha256}, expected {given_grade.tag}, {sha256(given_grade)}"
    if [ranking.topic for ranking in run.rankings] != list(given_grade.topics):
        return f"topics {[ranking.topic for ranking in run.rankings]}"
    for ranking in run.rankings:
        rows = given_grade.topics[ranking.topic]
        if ranking.docnos != [row.docno for row in rows]:
            return f"docnos of topic {ranking.topic}: {ranking.docnos}"
        if hexes(ranking.scores.tolist()) != hexes([row.score for row in rows]):
            return f"scores of topic {ranking.topic}: {ranking.scores.tolist()}"
        ranks = [row.rank for row in rows]
        expected = None if None in ranks else ranks
        told = None if ranking.ranks is None else ranking.ranks.tolist()
        if told != expected:
            return f"ranks of topic {ranking.topic}: {told}, expected {expected}"
    return None


def unlike_tops(path: Path, given_grade: GivenGrade, depths: Sequence[int], *, lenient: bool) -> str | None:
    """Say how the first documents differ, in every order and at every depth."""
    for order in ORDERS[:: 2 if lenient else 1]:
        for depth in depths:
            expected = first_documents(given_grade, depth, order)
            try:
                top = read_top(str(path), depth, order=order, lenient=lenient)
            except ArgumentError as error:
                if expected is not None:
                    return f"order {order}, depth {depth}: {error}"
                continue
            if difference := unlike_top(top, given_grade, expected, path.name):
                return f"order {order}, depth {depth}: {difference}"
    return None


def unlike_blocks(path: Path, given_grade: GivenGrade, seed: int) -> str | None:
    """Say how the first documents differ when the fast reader takes few lines at a time."""
    for number in range(3):
        order = ORDERS[(seed + number) % len(ORDERS)]
        depth, block_bytes = (1, 2, 5)[seed % 3], few_bytes(path, seed + number)
        try:
            top = read_blocks(str(path), depth, order=order, block_bytes=block_bytes)
        except SuspicionError:
            continue
        expected = first_documents(given_grade, depth, order)
        if difference := unlike_top(top, given_grade, expected, path.name):
            return f"order {order}, depth {depth}, blocks of {block_bytes}: {difference}"
    return None


def few_bytes(path: Path, seed: int) -> int:
    """Choose a block size, from a fortieth of the file up."""
    return (1, 2, 5, 15)[seed % 4] * (1 + path.stat().st_size // 40)


def first_documents(given_grade: GivenGrade, depth: int, order: Order) -> dict[str, First] | None:
    """Take the first documents of every topic; ``None`` where a topic has not the ranks for it."""
    firsts = {topic: first_of(rows, depth, order) for topic, rows in given_grade.topics.items()}
    known = {topic: first for topic, first in firsts.items() if first is not None}
    return known if len(known) == len(firsts) else None


def unlike_top(
    top: RunTop, given_grade: GivenGrade, expected: dict[str, First] | None, name: str
) -> str | None:
    """Say how the first documents read differ from those expected."""
    told = {
        topic: (one.docnos, hexes(one.scores.tolist()), one.n_tied_in, one.n_tied_out)
        for topic, one in top.topics.items()
    }
    wanted = {
        topic: (one.docnos, hexes(one.scores), one.n_tied_in, one.n_tied_out)
        for topic, one in (expected or {}).items()
    }
    if list(told.items()) != list(wanted.items()):
        unlike = [topic for topic in told if told[topic] != wanted.get(topic)]
        return f"topics {unlike}: {[told[topic] for topic in unlike]}, expected {wanted}"
    n_documents = {topic: len(rows) for topic, rows in given_grade.topics.items()}
    counts = (n_documents, sum(n_documents.values()))
    told_counts = ({topic: one.n_documents for topic, one in top.topics.items()}, top.n_lines)
    if told_counts != counts:
        return f"counts {told_counts}, expected {counts}"
    if (top.tag, top.file, top.sha256) != (given_grade.tag, name, sha256(given_grade)):
        return f"tag {top.tag}, file {top.file}, hash {top.sha256}"
    return None


def sha256(given_grade: GivenGrade) -> str:
    """Hash the uncompressed file."""
    return hashlib.sha256(given_grade.text).hexdigest()


def hexes(scores: list[float]) -> list[str]:
    """Write numbers so that minus zero and the last bit show."""
    return [score.hex() for score in scores]


def read_blocks(
    path: str, depth: int, *, order: Order, with_scores: bool = True, block_bytes: int = BLOCK_BYTES
) -> RunTop:
    """Read the first documents of every topic, so many bytes at a time."""
    facts = LineFacts()
    tops = dict(
        take_top(one, depth=depth, order=order, file=path, with_scores=with_scores)
        for one in stream_rankings(path, facts, block_bytes=block_bytes)
    )
    about = facts.tag.decode(), PurePath(path).name, facts.digest.hexdigest()
    return RunTop(*about, depth, order, tops, facts.n_lines)
