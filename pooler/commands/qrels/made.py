"""Qrels of several judges' grades, graded or binary, with a manifest: whose they are, how they became one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from heapq import merge
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from pooler.commands.qrels.words import (
    qrels_facts,
    tell_decisions,
    tell_few_votes,
    tell_judged,
    tell_left_out,
    tell_rulings,
    tell_tied,
)
from pooler.files import WritesFile
from pooler.judge_kinds import erased_facts, erased_words, warn_about_voters
from pooler.messages import say, warn
from pooler.result import Done, Result, frozen_settings
from pooler.sources.judged import Level, level_of_files
from pooler.sources.source import Source, opened_collection
from pooler.tables import DOCNO, GRADE, TOPIC, Column, Table
from pooler.version import __version__
from store.errors import ArgumentError, PoolerError
from store.formats.pairs import Classes, classes_facts, read_classes
from store.records import Judge, Qrel, Scale
from store.text import counted, natural_key

if TYPE_CHECKING:
    from pooler.sources.judgement_files import JudgedFile
    from store.collection import Collection
    from store.formats.qrels import QrelCells
    from store.grades.definition import NamedQrels
    from store.grades.opinions import AllVotes
    from store.grades.qrels import FinalQrels, Flip

Pair = tuple[str, str]
"""Topic and docno."""
_QRELS = (TOPIC, Column("iteration"), DOCNO, GRADE)
Levels = list[int | None]
"""Of the qrels that are asked for; ``None`` = graded."""
Choose = Callable[["Scale"], Levels]
"""Of a scale, the levels."""


def qrels_at(
    source: Source,
    *,
    levels: Sequence[Level] = (None,),
    unjudged: int | None = None,
    one_of: Classes | None = None,
    check: Callable[[Levels], None] | None = None,
    publishes: bool = True,
) -> list[QrelsResult]:
    """Make qrels at several levels of the same votes, ``None`` = graded, which come first.

    `one_of`: classes of near-duplicates. Where the judged documents of a class have one grade for a topic,
    its unjudged ones are written with it, marked in the column of the iteration: they are in no
    `qrels`, and no judgements.

    `check` is called with the levels before any work. What `publishes` refuses undecided documents. What
    there is to say of the qrels `tell_qrels` says.
    """
    named = source.named_qrels
    definition = named.definition

    def choose(scale: Scale) -> Levels:
        found = {definition.level_named(scale, level) for level in levels}
        ascending = sorted(level for level in found if level is not None)
        wanted: Levels = [None, *ascending] if None in found else [*ascending]
        if check is not None:
            check(wanted)
        grades = scale.values if None in wanted else ()
        if unjudged is not None and (unjudged >= 0 or unjudged in grades):
            # Evaluators take a code above 0 for relevant.
            requirement = "must be a negative code that is no grade of the scale"
            raise ArgumentError("unjudged", requirement, unjudged)
        return wanted

    if source.judgements or source.is_of_files:
        classes = None if one_of is None else read_classes(one_of)
        found = _of_files(source, named, levels, choose)
    else:
        with opened_collection(source.collection) as opened:
            classes = None if one_of is None else read_classes(one_of, opened.documents.numbers())
            found = _of_collection(opened, named, choose)
    made = list(found.results(source, unjudged=unjudged, one_of=one_of, classes=classes))
    for one in made if publishes else ():
        check_decided(named, one.final)
    if found.files:
        from pooler.sources.judgement_files import tell

        tell(found.files)
    return made


def check_decided(named: NamedQrels, final: FinalQrels) -> None:
    """Raise `PoolerError` where documents are undecided: nobody has said what is published of them."""
    if final.n_undecided:
        n = counted(final.n_undecided, "document")
        message = f"{named.label}: {n} undecided: judges gave different grades, and no rule says what then"
        hint = "--aggregate majority --ties low is one"
        if named.version is not None:
            hint = f"pooler qrels define {named.name} --aggregate RULE, or pooler adjudicate"
        raise PoolerError(message, hint=hint)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class QrelsResult(WritesFile, Done):
    """Qrels, and how they came about.

    Tables: `qrels`; `left_out`, documents without a grade; `duplicates`, grades copied to near-duplicates. Of
    `counts`, `judged` is documents with a grade, some of them `by_ruling` or `by_tie_rule`.
    """

    final: FinalQrels
    """The grades, whose votes they are, and what rule and rulings decided."""
    all_votes: AllVotes
    """Votes and rulings."""
    flips: tuple[Flip, ...]
    """What another tie rule, or order of collapsing, would change."""
    open_pairs: Mapping[Pair, str]
    """Topic and docno of pooled documents without a decision, and their iteration."""
    manifest_facts: Mapping[str, Any]
    """What the manifest says, but for the hash of the file."""
    erased: str = ""
    """How much of erased judges is gone; empty where nothing is."""
    duplicates: tuple[Qrel, ...] = ()
    """Grades of near-duplicates, copied from judged documents, in the file and in no other count."""
    others: tuple[QrelsResult, ...] = ()
    """The same at the other levels that were asked for."""
    _digest: list[str] = field(default_factory=list)
    """The hash, once the lines were gone through."""

    PRIVATE: ClassVar[bool] = True

    @property
    def qrels(self) -> list[Qrel]:
        """Every document with a grade: topics in natural order, docnos bytewise."""
        return self.final.rows

    @property
    def text(self) -> str:
        """The bytes of the file, in TREC's form."""
        return "".join(f"{lines}\n" for lines in self.file_lines())

    def file_lines(self) -> Iterator[str]:
        """Yield the lines of the file, many at once."""
        digest = hashlib.sha256()
        for lines in _blocks(self.final, self.open_pairs, self.settings["unjudged"], self.duplicates):
            digest.update(f"{lines}\n".encode())
            yield lines
        self._digest[:] = [digest.hexdigest()]

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What is written beside the qrels: no times, so that equal qrels have equal manifests."""
        if not self._digest:
            for _ in self.file_lines():
                pass
        return {**self.manifest_facts, "sha256": self._digest[0]}

    def _tables(self) -> Iterator[Table]:
        yield Table.of_records("qrels", _QRELS, self.qrels, title="Qrels")
        about = "undecided: judges differ; cannot: found impossible to judge; unjudged: no decision"
        states = self.final.left_out | dict.fromkeys(sorted(self.open_pairs), "unjudged")
        columns = {
            TOPIC: [topic for topic, _ in states],
            DOCNO: [docno for _, docno in states],
            Column("state", about=about): [*states.values()],
        }
        yield Table.of_columns("left_out", columns, "Documents without a grade")
        yield Table.of_records("duplicates", _QRELS, self.duplicates, title="Grades of near-duplicates")

    def _repr_html_(self) -> str:
        return Result._repr_html_(self)


@dataclass(frozen=True, slots=True)
class _CollectedVotes:
    """Votes, and what is known of where they come from."""

    all_votes: AllVotes
    named: NamedQrels
    levels: Levels
    open_pairs: Mapping[Pair, str]
    """Topic and docno of pooled documents without a grade, and their iteration."""
    judges: Sequence[Judge]
    origin: Mapping[str, Any]
    """Entries of the manifest."""
    erased: str = ""
    files: Sequence[JudgedFile] = field(default_factory=list)

    def results(
        self,
        source: Source,
        *,
        unjudged: int | None,
        one_of: Classes | None,
        classes: Mapping[str, str] | None,
    ) -> Iterator[QrelsResult]:
        from store.grades.qrels import decide, flips_of

        all_votes, definition = self.all_votes, self.named.definition
        # Beside binary files the graded one need not say how relevance would change.
        at_levels = all_votes.scale.values[1:] if len(self.levels) == 1 else ()
        for level in self.levels:
            # Grades are not made binary, whatever is said of the binary files beside them.
            is_beside = level is None and len(self.levels) > 1
            one = replace(definition, binary_first=False) if is_beside else definition
            final = decide(all_votes, one, level)
            flips = flips_of(all_votes, one, level, at_levels)
            manifest_facts = {
                "tool": "pooler",
                "version": __version__,
                **self.origin,
                "qrels": self.named.label,
                **qrels_facts(self.judges, final, all_votes.scale, len(self.open_pairs), flips),
                "unjudged_code": unjudged,
                "mixed_iterations": final.n_mixed_iterations,
            }
            duplicates: list[Qrel] = []
            if classes is not None:
                duplicates, n_without = _duplicate_grades(final, classes)
                counts = {"grades": len(duplicates), "without_grade": n_without}
                manifest_facts["one_of"] = classes_facts(classes) | counts
            settings = {**source.named(), **final.to_json(), "judges": [*final.judges]}
            settings |= {"judgements": [*source.judgements], "unjudged": unjudged}
            settings |= {} if one_of is None else {"one_of": str(one_of)}
            settings |= all_votes.voters.to_json()
            counts = {
                "judged": final.n_documents,
                "by_ruling": final.n_ruled,
                "by_tie_rule": final.n_decided_by_ties if final.ties else 0,
                **{reason: final.count_left_out(reason) for reason in ("undecided", "skipped", "cannot")},
                "unjudged": len(self.open_pairs),
            }
            yield QrelsResult(
                counts=frozen_settings(**counts),
                final=final,
                all_votes=all_votes,
                flips=tuple(flips),
                open_pairs=self.open_pairs,
                manifest_facts=manifest_facts,
                erased=self.erased,
                duplicates=tuple(duplicates),
                settings=frozen_settings(**settings),
            )


def _of_collection(opened: Collection, named: NamedQrels, choose: Choose) -> _CollectedVotes:
    levels = choose(opened.scale)
    all_votes = opened.grades.all_votes(named.definition)
    open_pairs, judges = opened.grades.open_pairs(all_votes, named.definition), opened.judges.all()
    origin = {"collection": opened.name, **erased_facts(opened)}
    return _CollectedVotes(all_votes, named, levels, open_pairs, judges, origin, erased_words(opened))


def _duplicate_grades(final: FinalQrels, classes: Mapping[str, str]) -> tuple[list[Qrel], int]:
    """Return the grades of near-duplicates that nobody judged, and count those whose class has several.

    A document that has a grade, or a reason for none, keeps it.
    """
    from store.formats.qrels import DUPLICATE

    members: dict[str, list[str]] = {}
    for docno, label in classes.items():
        members.setdefault(label, []).append(docno)
    grades: dict[tuple[str, str], set[int]] = {}
    decided = {*final.left_out}
    for row in final.rows:
        if row.docno in classes:
            grades.setdefault((row.topic, classes[row.docno]), set()).add(row.grade)
            decided.add((row.topic, row.docno))
    found: list[Qrel] = []
    n_without = 0
    for (topic, label), of_class in grades.items():
        others = [docno for docno in members[label] if (topic, docno) not in decided]
        if len(of_class) > 1:
            n_without += len(others)
        else:
            found += [Qrel(topic, docno, min(of_class), DUPLICATE) for docno in others]
    return found, n_without


def _of_files(source: Source, named: NamedQrels, levels: Sequence[Level], choose: Choose) -> _CollectedVotes:
    """Collect the votes of files, or of qrels in memory, which are one judge's."""
    from pooler.sources.files import gather_files
    from pooler.sources.judgement_files import read_files, scale_of

    qrels, reading = source.option("qrels"), source.reading
    definition = named.definition
    is_sum = definition.aggregate == "sum"
    for level in levels if reading.scale is None and not is_sum else ():
        level_of_files(None, level)  # a word needs a scale
    if source.judgements or isinstance(qrels, str):
        files = read_files(source.judgements or [qrels], reading)
    else:
        files = [_in_memory(qrels)]
    cuts = () if is_sum else [level for level in levels if isinstance(level, int)]
    scale = scale_of(files, reading, cuts)
    wanted = choose(scale)
    definition.check()
    for level in wanted:
        definition.check_scale(scale, level)
    all_votes, judges = gather_files(files, scale, reading, definition)
    open_pairs = {pair: iteration for file in files for pair, iteration in file.listed.items()}
    for pair, is_settled in zip(all_votes.pairs, all_votes.is_settled.tolist(), strict=True):
        if is_settled:
            open_pairs.pop(pair, None)
    origin = {"files": _origins(files)}
    return _CollectedVotes(all_votes, named, wanted, open_pairs, judges, origin, files=files)


def _blocks(
    final: FinalQrels, open_pairs: Mapping[Pair, str], unjudged: int | None, duplicates: Sequence[Qrel]
) -> Iterator[str]:
    from store.formats.qrels import qrels_blocks

    if unjudged is None and not duplicates:
        return qrels_blocks(final.cells())
    place = cache(natural_key)

    def key(cells: QrelCells) -> tuple[Any, str]:
        return place(cells[0]), cells[2]

    coded = [(one.topic, one.iteration, one.docno, one.grade) for one in duplicates]
    if unjudged is not None:
        marked = {(one.topic, one.docno) for one in duplicates}
        pairs = ((pair, iteration) for pair, iteration in open_pairs.items() if pair not in marked)
        coded += [(topic, iteration, docno, unjudged) for (topic, docno), iteration in pairs]
    return qrels_blocks(merge(final.cells(), sorted(coded, key=key), key=key))


def _in_memory(qrels: Sequence[Qrel]) -> JudgedFile:
    from pooler.sources.judgement_files import GradesFile, JudgedFile, NamedFile
    from store.formats.tables import GradedRow, ReadTable

    rows = [
        GradedRow(number, row.topic, row.iteration, row.docno, "qrels", row.grade)
        for number, row in enumerate(qrels, 1)
    ]
    return JudgedFile(NamedFile("qrels", "qrels"), source=GradesFile(rows, ReadTable(), "qrels"))


def _origins(files: Sequence[JudgedFile]) -> list[dict[str, Any]]:
    return [
        {
            "file": PurePath(one.named.file).name,
            "judge": one.named.judge,
            "sha256": None if one.source is None else one.source.table.sha256 or None,
        }
        for one in files
    ]


def tell_qrels(made: Sequence[QrelsResult]) -> None:
    """Say what is in qrels that `qrels_at` made, and what is not."""
    for one in made:
        final, level = one.final, one.final.level
        is_all_zero = final.by_grade.keys() == {0}
        label = "graded" if level is None else str(level)
        tell_judged(final, one.all_votes, "" if len(made) == 1 else f"{label}: ")
        if level is not None and is_all_zero:
            warn(f"no document is relevant at level {level}")
        if level is None and final.n_documents > 1 and is_all_zero:
            warn(
                "every grade is 0: no document is relevant; `import judgements --map 0=1` reads"
                " lists of relevant documents"
            )
        tell_decisions(final, one.flips)
        tell_few_votes(final)
    first = made[0]
    tell_tied([one.final for one in made], has_collection="collection" in first.manifest_facts)
    warn_about_voters(first.all_votes.voters)
    tell_rulings(first.final)
    written = {(one.topic, one.docno) for one in first.duplicates}
    n_open = sum(pair not in written for pair in first.open_pairs)
    tell_left_out(first.final, n_open, first.manifest_facts["unjudged_code"])
    if (one_of := first.manifest_facts.get("one_of")) is not None:
        grades = counted(one_of["grades"], "grade")
        say(f"with {grades} copied to near-duplicates: iteration `duplicate`")
        if one_of["without_grade"]:
            n_without = counted(one_of["without_grade"], "near-duplicate")
            say(f"{n_without} left out: the judged documents of the class have different grades")
