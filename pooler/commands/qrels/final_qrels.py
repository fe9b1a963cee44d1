"""Qrels of several judges' grades, with a manifest and messages: whose they are, how they became one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from heapq import merge
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from pooler.files import WritesFile
from pooler.judge_kinds import erased_facts, erased_words, warn_about_voters, who_judged
from pooler.messages import say, warn
from pooler.result import Done, Result, frozen_settings
from pooler.sources import judgement_files
from pooler.sources.judged import Level, level_of_files
from pooler.sources.source import Source, opened_collection
from pooler.tables import DOCNO, GRADE, TOPIC, Column, Table
from pooler.version import __version__
from store.errors import ArgumentError, PoolerError
from store.formats.pairs import Classes, classes_facts, read_classes
from store.formats.scale import scale_to_json
from store.formats.tables import GradedRow, ReadTable
from store.judging.kinds import SORTS, sorts_words
from store.records import Judge, Qrel, Scale
from store.text import counted, natural_key

if TYPE_CHECKING:
    from store.formats.qrels import QrelCells
    from store.grades.definition import NamedQrels, QrelsDefinition
    from store.grades.opinions import AllVotes, Pair
    from store.grades.qrels import FinalQrels, Flip


_QRELS = (TOPIC, Column("iteration"), DOCNO, GRADE)
Levels = list[int | None]
"""Of the qrels that are asked for; ``None`` = graded."""


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
    from store.grades.qrels import decide, flips_of

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
            raise ArgumentError("unjudged", "must be a negative code that is no grade of the scale", unjudged)
        return wanted

    files: list[judgement_files.JudgedFile] = []
    if source.judgements or source.is_of_files:
        classes = None if one_of is None else read_classes(one_of)
        files, all_votes, judges, wanted = _of_files(source, definition, levels, choose)
        open_pairs = {pair: iteration for file in files for pair, iteration in file.listed.items()}
        for pair, is_settled in zip(all_votes.pairs, all_votes.is_settled.tolist(), strict=True):
            if is_settled:
                open_pairs.pop(pair, None)
        origin: dict[str, Any] = {
            "files": [
                {
                    "file": PurePath(one.named.file).name,
                    "judge": one.named.judge,
                    "sha256": None if one.source is None else one.source.table.sha256 or None,
                }
                for one in files
            ]
        }
        erased = ""
    else:
        with opened_collection(source.collection) as opened:
            classes = None if one_of is None else read_classes(one_of, opened.documents.numbers())
            wanted = choose(opened.scale)
            all_votes = opened.grades.all_votes(definition)
            open_pairs, judges = opened.grades.open_pairs(all_votes, definition), opened.judges.all()
            origin, erased = {"collection": opened.name, **erased_facts(opened)}, erased_words(opened)
    # Beside binary files the graded one need not say how relevance would change.
    at_levels = all_votes.scale.values[1:] if len(wanted) == 1 else ()
    made = []
    for level in wanted:
        # Grades are not made binary, whatever is said of the binary files beside them.
        is_beside = level is None and len(wanted) > 1
        one = replace(definition, binary_first=False) if is_beside else definition
        final = decide(all_votes, one, level)
        flips = flips_of(all_votes, one, level, at_levels)
        left_out = {reason: final.count_left_out(reason) for reason in ("undecided", "skipped", "cannot")}
        manifest_facts = {
            "tool": "pooler",
            "version": __version__,
            **origin,
            "qrels": named.label,
            "scale": scale_to_json(all_votes.scale),
            **rule_facts(judges, final, flips),
            "topics": final.n_topics,
            "judged": final.n_documents,
            "by_grade": {str(grade): count for grade, count in final.by_grade.items()},
            "left_out": {
                "undecided": left_out["undecided"],
                "skipped": left_out["skipped"],
                "cannot_be_judged": left_out["cannot"],
            },
            "pooled_and_unjudged": len(open_pairs),
            "unjudged_code": unjudged,
            "mixed_iterations": final.n_mixed_iterations,
        }
        duplicates: list[Qrel] = []
        if classes is not None:
            duplicates, n_without = _duplicate_grades(final, classes)
            copied = {"grades": len(duplicates), "without_grade": n_without}
            manifest_facts["one_of"] = classes_facts(classes) | copied
        settings = {**source.named(), **final.to_json(), "judges": [*final.judges]}
        settings |= {"judgements": [*source.judgements], "unjudged": unjudged}
        settings |= {} if one_of is None else {"one_of": str(one_of)}
        settings |= all_votes.voters.to_json()
        counts = {
            "judged": final.n_documents,
            "by_ruling": final.n_ruled,
            "by_tie_rule": final.n_decided_by_ties if final.ties else 0,
            **left_out,
            "unjudged": len(open_pairs),
        }
        made.append(
            QrelsResult(
                counts=frozen_settings(**counts),
                final=final,
                all_votes=all_votes,
                flips=tuple(flips),
                open_pairs=open_pairs,
                manifest_facts=manifest_facts,
                erased=erased,
                duplicates=tuple(duplicates),
                settings=frozen_settings(**settings),
            )
        )
    for result in made if publishes else ():
        check_decided(named, result.final)
    if files:
        judgement_files.tell(files)
    return made


def check_decided(named: NamedQrels, final: FinalQrels) -> None:
    """Raise `PoolerError` where documents are undecided: their grade has no rule."""
    if final.n_undecided:
        n = counted(final.n_undecided, "document")
        message = f"{named.label}: {n} undecided: judges gave different grades, and no rule says what then"
        hint = "--aggregate majority --ties low is one"
        raise PoolerError(message, hint=hint if named.version is None else named.undecided_hint)


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


def _duplicate_grades(final: FinalQrels, classes: Mapping[str, str]) -> tuple[list[Qrel], int]:
    """Return the grades of unjudged near-duplicates, and count those whose class has several.

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


def _of_files(
    source: Source, definition: QrelsDefinition, levels: Sequence[Level], choose: Callable[[Scale], Levels]
) -> tuple[list[judgement_files.JudgedFile], AllVotes, list[Judge], Levels]:
    from pooler.sources.files import gather_files

    qrels, reading = source.option("qrels"), source.reading
    is_sum = definition.aggregate == "sum"
    for level in levels if reading.scale is None and not is_sum else ():
        level_of_files(None, level)  # a word needs a scale
    if source.judgements or isinstance(qrels, str):
        files = judgement_files.read_files(source.judgements or [qrels], reading)
    else:
        rows = [
            GradedRow(number, row.topic, row.iteration, row.docno, "qrels", row.grade)
            for number, row in enumerate(qrels, 1)
        ]
        grades = judgement_files.GradesFile(rows, ReadTable(), "qrels")
        files = [judgement_files.JudgedFile(judgement_files.NamedFile("qrels", "qrels"), source=grades)]
    cuts = () if is_sum else [level for level in levels if isinstance(level, int)]
    scale = judgement_files.scale_of(files, reading, cuts)
    wanted = choose(scale)
    definition.check()
    for level in wanted:
        definition.check_scale(scale, level)
    return [*files], *gather_files(files, scale, reading, definition), wanted


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


def tell_qrels(made: Sequence[QrelsResult]) -> None:
    """Say what is in qrels that `qrels_at` made, and what is not."""
    for one in made:
        final, level = one.final, one.final.level
        is_all_zero = final.by_grade.keys() == {0}
        label = "" if len(made) == 1 else "graded: " if level is None else f"{level}: "
        grades = ", ".join(f"{count:,} x {grade}" for grade, count in final.by_grade.items())
        n_judged = counted(final.n_documents, "document")
        say(f"{label}{n_judged} judged ({grades}); {who_judged(final, counts_votes=True)}")
        if level is not None and is_all_zero:
            warn(f"no document is relevant at level {level}")
        if level is None and final.n_documents > 1 and is_all_zero:
            warn(
                "every grade is 0: no document is relevant; `import judgements --map 0=1` reads"
                " lists of relevant documents"
            )
        n_tied = final.n_decided_by_ties
        if final.ties is not None and final.ties != "unresolved":
            say(f"the tie rule decided {n_tied:,} of them")
        elif final.rule == "mean" and n_tied:
            say(f"half-way between two grades, rounded up: {counted(n_tied, 'document')}")
        elif final.outcome.estimate is not None and n_tied:
            say(f"two grades equally probable, the lower taken: {counted(n_tied, 'document')}")
        is_tied = n_tied or final.count_left_out("undecided")
        for flip in one.flips:
            if flip.option != "ties":
                option = "--binary-first" if flip.value else "without --binary-first: it"
                say(f"  {option} would {_would(flip)}")
            elif is_tied:
                say(f"  --ties {flip.value} would {_would(flip)}")
        tell_few_votes(final)
    first = made[0]
    tell_tied([one.final for one in made], has_collection="collection" in first.manifest_facts)
    warn_about_voters(first.all_votes.voters)
    tell_rulings(first.final)
    written = {(one.topic, one.docno) for one in first.duplicates}
    skipped, cannot = (first.final.count_left_out(reason) for reason in ("skipped", "cannot"))
    if skipped or cannot:
        say(f"left out: {skipped:,} skipped, {cannot:,} cannot be judged")
    if n_open := sum(pair not in written for pair in first.open_pairs):
        code = first.manifest_facts["unjudged_code"]
        how = "left out" if code is None else f"written with code {code}"
        say(f"pooled and unjudged: {counted(n_open, 'document')}, {how}")
    if (one_of := first.manifest_facts.get("one_of")) is not None:
        grades = counted(one_of["grades"], "grade")
        say(f"with {grades} copied to near-duplicates: iteration `duplicate`")
        if one_of["without_grade"]:
            n_without = counted(one_of["without_grade"], "near-duplicate")
            say(f"{n_without} left out: the judged documents of the class have different grades")


def rule_facts(known: Sequence[Judge], final: FinalQrels, flips: Sequence[Flip] = ()) -> dict[str, Any]:
    """Return the entries of a manifest that say whose grades these are and how they became one."""
    definition, voters = final.definition, final.all_votes.voters
    kinds = {judge.name: judge.kind.value for judge in known}
    facts: dict[str, Any] = {"judges": [{"name": name, "kind": kinds[name]} for name in final.judges]}
    facts |= voters.to_json()
    if voters.counts_if_mixed:
        facts["judged_by"] = sorts_words(voters.counts_if_mixed)
    if definition.judges and definition.sole is None:
        others = sorted(kinds.keys() - set(definition.judges))
        facts["judges_left_out"] = [name for name in others if kinds[name] != "adjudicator"]
    elif voters.left_out:
        facts["judges_left_out"] = sorted(one.name for one in voters.left_out)
    facts |= {
        "defined": definition.to_json(),
        **final.to_json(),
        "decided_by_tie_rule": final.n_decided_by_ties if final.ties else 0,
        "adjudication": {
            "adjudicators": list(final.adjudicators),
            "decided": final.n_ruled,
            "cannot_be_judged": final.n_ruled_cannot,
            "changed_since": final.n_rulings_changed,
            "no_disagreement": final.n_rulings_unneeded,
        },
    }
    if flips:
        facts["other_choices"] = [
            {
                flip.option: flip.value,
                **({} if flip.grades is None else {"grades": flip.grades.to_json()}),
                "relevance": {str(level): one.to_json() for level, one in flip.relevance.items()},
            }
            for flip in flips
        ]
    if definition.aggregate == "sum":
        facts["with_fewer_judges"] = final.outcome.n_fewer_votes
    if definition.aggregate == "mean":
        facts["means_rounded_up_from_half"] = final.n_decided_by_ties
    if (estimate := final.outcome.estimate) is not None:
        facts["dawid_skene"] = {
            "iterations": estimate.n_iterations,
            "converged": estimate.converged,
            "below_three_votes": final.outcome.n_fewer_votes,
            "equally_probable_taken_low": final.n_decided_by_ties,
        }
    return facts


def _would(flip: Flip) -> str:
    grades, changed = flip.grades, _by_level(flip, "changed")
    if grades is None:
        by_verb = {"add": _by_level(flip, "added"), "leave out": _by_level(flip, "removed")}
        by_verb["change the relevance of"] = changed
        words = [f"{verb} {counts}" for verb, counts in by_verb.items() if counts]
    else:
        words = [f"add {counted(grades.added, 'document')}"] if grades.added else []
        words += [f"leave {counted(grades.removed, 'document')} out"] if grades.removed else []
        also = f", and the relevance of {changed}" if changed else ""
        words += [f"change {counted(grades.changed, 'grade')}{also}"] if grades.changed else []
    return "; ".join(words) or "change nothing"


def _by_level(flip: Flip, name: str) -> str:
    """Write counts of a change by level, as `3 documents at level 1, 1 at level 2`; levels with none not."""
    numbers = [(level, n) for level, one in flip.relevance.items() if (n := getattr(one, name))]
    first = [f"{counted(n, 'document')} at level {level}" for level, n in numbers[:1]]
    return ", ".join([*first, *(f"{n:,} at level {level}" for level, n in numbers[1:])])


def tell_rulings(final: FinalQrels) -> None:
    """Say on stderr what adjudicators decided, and which of it may be out of date."""
    if not final.n_ruled + final.n_ruled_cannot:
        return
    say(f"rulings: {rulings_words(final.n_ruled, final.n_ruled_cannot)}")
    if final.n_rulings_changed:
        n_changed = counted(final.n_rulings_changed, "ruling")
        warn(
            f"{n_changed} made before judges changed their decision; `pooler adjudicate` marks them"
            " as changed since"
        )
    if final.n_rulings_unneeded:
        n_unneeded = counted(final.n_rulings_unneeded, "document")
        say(f"rulings on documents that judges agree on: {n_unneeded}")


def rulings_words(n_decided: int, n_cannot: int) -> str:
    """Say what adjudicators did, in the words of the manifest; decided = gave a grade."""
    words = f"{counted(n_decided, 'document')} decided"
    return words + (f", {n_cannot:,} found impossible to judge" if n_cannot else "")


def tell_few_votes(final: FinalQrels) -> None:
    """Warn on stderr where a rule had fewer votes than it wants."""
    n_fewer = counted(final.outcome.n_fewer_votes, "document")
    if final.rule == "sum" and final.outcome.n_fewer_votes:
        warn(f"{n_fewer} with fewer judges than others: their sums are lower only for that reason")
    if (estimate := final.outcome.estimate) is None:
        return
    say(f"Dawid-Skene: {counted(estimate.n_iterations, 'iteration')}")
    if not estimate.converged:
        warn(
            "Dawid-Skene had not settled when it reached its limit of iterations: grades that are almost"
            " equally probable may come out differently"
        )
    if final.outcome.n_fewer_votes:
        warn(
            f"{n_fewer} with fewer than three votes: as a rule of thumb Dawid-Skene needs three; median"
            " may do better there"
        )


def tell_tied(finals: Sequence[FinalQrels], *, has_collection: bool) -> None:
    """Warn once of tied documents left out, and name the command that settles them in a collection."""
    tied = [(final, final.count_left_out("undecided")) for final in finals]
    if not any(number for _, number in tied):
        return
    if len({number for _, number in tied}) == 1:
        words = f"{counted(tied[0][1], 'document')} left out"
    else:
        names = (
            f"{number:,} {'graded' if final.level is None else f'at level {final.level}'}"
            for final, number in tied
        )
        words = f"documents left out, {', '.join(names)}"
    final, number = next(one for one in tied if one[1])
    definition, n_few = final.definition, final.n_few_votes
    words += ": undecided"
    if n_few:
        which = "all" if n_few == number else f"{n_few:,} of them"
        words += f", {which} with fewer than {definition.votes} votes"
    warn(words)
    if not has_collection or n_few == number:
        return
    # The command counts the grades of all judges, as they gave them.
    voters = final.all_votes.voters
    counts_all = not voters.left_out and (not voters.kinds or voters.graders <= voters.names)
    is_exact = not definition.judges and counts_all and final.ties and not definition.binary_first
    command = "pooler adjudicate" + (f" --unresolved {final.rule}" if is_exact else "")
    which = "those that judges differ on" if n_few else "them"
    words = f"  `{command}` shows {which}, --judge NAME settles them"
    if (
        not definition.judges
        and not definition.without_rulings
        and voters.counts.keys().isdisjoint(SORTS["human"])
    ):
        words += f"; then --kinds human,{','.join(voters.counts)} counts the rulings, too"
    say(words)
