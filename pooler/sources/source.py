"""Runs + judgements of files or a collection: Source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from pooler.judge_kinds import erased_words, warn_about_qrels, warn_about_voters, who_judged
from pooler.messages import Listener, listening, progress, say, warn
from pooler.sources.judged import Judged, Level, chosen_depth, depth_pools, level_of_files
from pooler.sources.memory import qrels_given
from pooler.sources.named_runs import (
    check_no_file_for_a_tag,
    check_no_files,
    check_some_run,
    grade_files,
    is_collection,
    named_runs,
    read_named,
    runs_given,
)
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.formats.lines import STDIN, is_pattern, is_regular_file
from store.grades.definition import NamedQrels, QrelsDefinition, is_file_word
from store.judging.kinds import Voters
from store.records import Qrel, Run, Scale
from store.text import counted

if TYPE_CHECKING:
    from pooler.pools.runs import RunSet
    from pooler.reading.run_list import RunEntry
    from pooler.sources.given_qrels import GivenQrels
    from pooler.sources.judgement_files import FileReading
    from store.analysis.arrays import RankedDocuments
    from store.analysis.rankings import GradedRankings, JudgedRankings
    from store.collection import Collection
    from store.grades.file_votes import FileVotes
    from store.grades.qrels import FinalQrels
    from store.grades.votes import CollectionGrades
    from store.records import Order


Engine = Literal["python", "spark"]
"""Who reads run files: this machine, or Spark."""
Measurable: TypeAlias = "Source | Collection | tuple[Any, Any]"
"""What functions measure: a source, all runs of a collection, or runs and their qrels."""
SomeRuns: TypeAlias = "Source | Collection | str | Path | Iterable[str | Path | Run] | Mapping[str, Any]"
"""What functions pool: as `source` takes runs."""
DEFAULT_COLLECTION = "collection.db"
_QRELS_HINT = "run files need --qrels FILE or NAME; without it, RUN is the tag of a run of the collection"


def named_collection(collection: str | Path | Collection | None) -> dict[str, str]:
    """Return the collection for settings, where it was named."""
    return {"collection": str(collection)} if isinstance(collection, str | Path) else {}


@contextmanager
def opened_collection(collection: str | Path | Collection) -> Iterator[Collection]:
    """Open a collection by its name; one that is open stays so."""
    if is_collection(collection):
        yield collection
        return
    from store.collection import Collection

    with Collection(str(collection)) as opened:
        yield opened


@dataclass(frozen=True, slots=True)
class Opinions:
    """What judges said of documents, each by himself or herself."""

    source: Source
    grades: CollectionGrades | FileVotes
    scale: Scale
    collection: Collection | None = None
    """``None`` = the judges are those of files."""

    def rankings(self) -> RankedDocuments:
        """Return the rankings of the runs, of which there is one at least."""
        stored = self.collection
        ranked = self.source.rankings if stored is None else stored.runs.ranked(order=self.source.order)
        check_some_run(ranked.tags)
        return ranked

    def erased(self) -> str:
        """Say how much of erased judges is gone; empty where nothing is."""
        return "" if self.collection is None else erased_words(self.collection)


class Source:
    """Runs, and the judgements they are measured with, of files, of a collection or of memory.

    Nothing is read before it is asked for, and nothing twice. What reads a source does not know
    which of the three it has.

    Its arguments are those of `source`, worked out: `runs` are files or what is read of them, or tags
    of a collection, none = all; `listed` is a list of run files, with their tags and groups;
    `tells_level` says the level of files, too, where grades are more than relevant or not;
    `judgements` are files of several judges, or of one each, and `reading` how these are read.
    """

    def __init__(
        self,
        runs: Sequence[str | Run] = (),
        *,
        qrels: str | Sequence[Qrel] | QrelsDefinition | None = None,
        collection: str | Collection | None = None,
        listed: str | None = None,
        level: Level = None,
        order: Order = "trec",
        scale: str | None = None,
        codes: Sequence[str] = (),
        lenient: bool = False,
        tells_level: bool = True,
        judgements: Sequence[str] = (),
        reading: FileReading | None = None,
    ) -> None:
        self.judgements = tuple(judgements)
        self.reading = reading
        is_name = isinstance(qrels, str) and not is_file_word(qrels)
        is_rule = isinstance(qrels, QrelsDefinition)
        self.is_of_files = qrels is not None and not is_name and (not is_rule or bool(judgements))
        """Whether the grades are of files, or in memory."""
        self.collection: str | Collection = DEFAULT_COLLECTION if collection is None else collection
        self.order = order
        self.lenient = lenient
        self._given: dict[str, Any] = {
            "runs": [*runs],
            "qrels": qrels,
            "collection": collection,
            "listed": listed,
            "level": level,
            "order": order,
            "scale": scale,
            "codes": tuple(codes or ()),
            "lenient": lenient,
        }
        self._tells_level = tells_level and level is None
        self._arrays: dict[int, JudgedRankings] = {}
        self._graded: dict[int, GradedRankings] = {}

    @cached_property
    def named_qrels(self) -> NamedQrels:
        """The definition that makes the qrels of the collection, or of files of judges."""
        given = self._given["qrels"]
        if isinstance(given, QrelsDefinition):
            given.check()
            return NamedQrels("qrels", given)
        if self.is_of_files or self.judgements:
            return NamedQrels("qrels", QrelsDefinition())
        is_file = given is not None and Path(given).exists()
        try:
            with opened_collection(self.collection) as opened:
                return opened.qrels.named(given)
        except PoolerError as error:
            if not is_file:
                raise
            message = f"`{given}` is the name of no qrels, and a file"
            hint = f"--qrels ./{given} is the file; pooler qrels define {given} makes it a name"
            raise PoolerError(message, hint=hint) from error

    @property
    def definition(self) -> QrelsDefinition:
        """How judgements become qrels, and whose count."""
        return self.named_qrels.definition

    @property
    def whose(self) -> QrelsDefinition:
        """Whose judgements count, for opinions beside what is measured.

        One judge's own grades say what is measured; opinions are of those who count where nobody is named.
        """
        if self.is_of_files or (self.definition.sole is not None and isinstance(self._given["qrels"], str)):
            return QrelsDefinition()
        return self.definition

    @cached_property
    def runs_are_files(self) -> bool:
        """Whether the runs are of files or in memory; the others are of the collection."""
        runs, qrels = self._given["runs"], self._given["qrels"]
        words = [run for run in runs if isinstance(run, str)]
        if self._given["listed"] is not None or len(words) < len(runs) or self.judgements:
            return True
        if self.is_of_files:
            where = self.collection
            has_collection = not isinstance(where, str) or "://" in where or Path(where).exists()
            if any(map(_is_file, words)) or self._given["collection"] is None:
                return True
            return not has_collection
        if qrels is None or not any(map(_is_file, words)):
            return False
        self.named_qrels  # noqa: B018 - what is wrong with the name is told first
        with opened_collection(self.collection) as opened:
            tags = {run.tag for run in opened.runs.all()}
        return tags.isdisjoint(words)

    def _load(self, *, docnos: bool) -> Judged:
        """Read runs and grades; without `docnos` a collection need not give any, and no `qrels`."""
        if not self.is_of_files and not self.runs_are_files:
            return self._of_collection(docnos=docnos)
        judged = self._of_rows(docnos=docnos)
        # Files that are binary need no word on what is relevant.
        if self.is_of_files and self._tells_level and any(one.grade > judged.level for one in judged.qrels):
            say(f"relevant = grade {judged.level} or more; another level with --level")
            if all(one.grade >= judged.level for one in judged.qrels):
                hint = "--scale LOW-HIGH declares the grades, of which the lowest is not relevant"
                warn(f"every judged document is relevant at that level; {hint}")
        return judged

    def _of_rows(self, *, docnos: bool) -> Judged:
        """Read runs and qrels, one of them or both of files or memory; see `given_qrels` on scales."""
        import numpy as np

        from pooler.sources.meeting import TRIED, check_measured

        if self.runs_are_files and not (self._given["runs"] or self._given["listed"]):
            message = "no run file is named"
            raise PoolerError(message, hint="name run files, or --runs FILE that lists them")
        if self.is_of_files:
            given, level = self._qrels_given()
            voters = Voters()
        else:
            given, level, voters = self._qrels_of_collection()
        rows, pooled = given.rows, given.pooled
        known_rows = [*rows, *(Qrel(topic, one, -1) for topic, some in pooled.items() for one in some)]
        if self.runs_are_files:
            ranked, facts = self._runs_of_files(known_rows, docnos=docnos)
            where = "the qrels" if isinstance(self._given["qrels"], list | tuple) else given.name
            check_measured(ranked, known_rows, where, lambda tags: self.tops(TRIED, tags=tags))
        else:
            with opened_collection(self.collection) as opened:
                try:
                    ranked = opened.runs.ranked(self._given["runs"], order=self.order)
                except UnknownNameError as error:
                    error.hint = f"there is no file {error.name}, either"
                    raise
                check_some_run(ranked.tags)
                chosen = [run for run in opened.runs.all() if run.tag in ranked.tags]
            facts = {
                "feeding": tuple(run.tag for run in chosen if run.contributes),
                "groups": {run.tag: run.group for run in chosen},
            }
            check_measured(ranked, known_rows, given.name, lambda tags: self.tops(TRIED, tags=tags))
        numbers = {
            topic: np.array([ranked.ids.get(docno, -1) for docno in docnos], dtype=np.int64)
            for topic, docnos in pooled.items()
        }
        of_files = given if self.is_of_files else None
        return Judged(ranked, rows, level, voters=voters, pooled=numbers, given=of_files, **facts)

    def _runs_of_files(
        self, known: Sequence[Qrel], *, docnos: bool
    ) -> tuple[RankedDocuments, dict[str, Any]]:
        """Read the rankings of files, and say what is known of the runs."""
        from pooler.reading.run_list import RunEntry
        from pooler.reading.whole import judged_runs, ranked_runs
        from pooler.sources.meeting import other_forms

        named, given = self._measured_runs, (self._given["qrels"], self._given["listed"])
        files = [one.file if isinstance(one, RunEntry) else STDIN for one in named]
        files += [one for one in given if isinstance(one, str) and is_file_word(one)]
        # What cannot be read again is read once, docnos and all.
        if docnos or not all(map(is_regular_file, files)):
            ranked = ranked_runs(named, order=self.order, lenient=self.lenient)
        else:
            entries = [one for one in named if isinstance(one, RunEntry)]
            docnos_known = {row.docno for row in known}
            # Look-alikes are told apart, to be warned of.
            wanted = [*docnos_known, *other_forms(docnos_known)]
            ranked = judged_runs(entries, wanted, order=self.order, lenient=self.lenient)
        by_tag = dict(zip(ranked.tags, named, strict=True))
        return ranked, {
            "feeding": tuple(tag for tag, one in by_tag.items() if one.contributes),
            "tells_feeding": any(isinstance(one, RunEntry) and one.is_told for one in named),
            "groups": {tag: one.group for tag, one in by_tag.items()},
            "files": {tag: one.file for tag, one in by_tag.items() if isinstance(one, RunEntry)},
        }

    def _qrels_of_collection(self) -> tuple[GivenQrels, int, Voters]:
        """Return the collection's qrels for runs of files."""
        from pooler.sources.given_qrels import GivenQrels

        with opened_collection(self.collection) as opened:
            definition = self.definition
            level = definition.level_on(opened.scale, self._given["level"])
            is_binary = definition.binary_first or definition.aggregate == "sum"
            final = opened.grades.final(definition, level if is_binary else None)
            pooled: dict[str, list[str]] = {}
            for topic, docno in (*final.left_out, *opened.grades.open_pairs(final.all_votes, definition)):
                pooled.setdefault(topic, []).append(docno)
            self._tell(opened, final, level)
        given = GivenQrels(self.named_qrels.label, final.rows, pooled, ())
        return given, 1 if is_binary else level, final.all_votes.voters

    def _tell(self, opened: Collection, final: FinalQrels, level: int) -> None:
        """Say whose grades are measured, and warn of what has none."""
        what = "sum of grades" if self.definition.aggregate == "sum" else "grade"
        n_rows = counted(final.n_documents, "judgement")
        named = self.named_qrels
        say(f"{named.label}: {n_rows} ({who_judged(final)}), relevant = {what} {level} or more")
        warn_about_qrels(opened, named, final)
        warn_about_voters(final.all_votes.voters)

    def _qrels_given(self) -> tuple[GivenQrels, int]:
        """Return qrels of a file or of memory, or made of files of judges, and the level."""
        from pooler.sources.given_qrels import given_qrels
        from store.formats.scale import parse_scale

        given = self._given
        scale = None if given["scale"] is None else parse_scale(given["scale"])
        if isinstance(given["qrels"], QrelsDefinition):
            return self._qrels_of_judges(scale)
        found = given_qrels(given["qrels"], codes=given["codes"], scale=scale, lenient=given["lenient"])
        return found, level_of_files(scale, given["level"])

    def _qrels_of_judges(self, declared: Scale | None) -> tuple[GivenQrels, int]:
        """Return what files of several judges give by the definition, and the level."""
        from pooler.sources.gathered import gather_files
        from pooler.sources.given_qrels import GivenQrels
        from pooler.sources.judgement_files import FileReading, decode, read_files, scale_of
        from store.grades.qrels import decide

        definition, given = self.definition, self._given["level"]
        reading = self.reading or FileReading()
        is_sum = definition.aggregate == "sum"
        files = read_files(self.judgements, reading)
        scale = scale_of(files, reading, [] if is_sum or not isinstance(given, int) else [given])
        level = definition.level_on(scale, given) if is_sum else level_of_files(declared, given)
        definition.check_scale(scale, None if is_sum else level)
        decode(files, scale, reading)
        is_binary = is_sum or definition.binary_first
        all_votes, _ = gather_files(files, scale, definition)
        final = decide(all_votes, definition, level if is_binary else None)
        if n := final.count_left_out("undecided"):
            warn(f"{counted(n, 'document')} undecided, left out")
        warn_about_voters(all_votes.voters)
        return GivenQrels("the judges", final.rows, {}, ()), 1 if is_binary else level

    def refuse_codes(self) -> None:
        """Raise `PoolerError` where a code of files may mean that a document is unjudged."""
        if self.is_of_files and (given := self._at_hand.given) is not None:
            given.refuse_untold()

    def warn_of_codes(self) -> None:
        """Warn of codes of files that count as judged and not relevant."""
        if (given := self._at_hand.given) is not None:
            given.warn_of_untold()

    def say_pooled(self) -> None:
        """Say of a collection how many pooled documents have no grade; of files, reading them does."""
        if not self.is_of_files and (n := sum(ids.size for ids in self._at_hand.pooled.values())):
            say(f"{counted(n, 'pooled document')} without a grade")

    def _of_collection(self, *, docnos: bool) -> Judged:
        from pooler.sources.meeting import check_stored
        from store.analysis.arrays import grades_by_topic

        tags = [run if isinstance(run, str) else run.tag for run in self._given["runs"]]
        if isinstance(self.collection, str):
            check_no_files(tags, self.collection, "no qrels are named", _QRELS_HINT)
        named = self.named_qrels
        definition = named.definition
        with opened_collection(self.collection) as opened:
            check_no_file_for_a_tag(opened, tags, _QRELS_HINT)
            level = definition.level_on(opened.scale, self._given["level"])
            sole = None if docnos else opened.grades.sole(definition)
            # Grades stay grades where they can: measures may want them.
            is_binary = definition.binary_first or definition.aggregate == "sum"
            final = None
            if sole is None:
                final = opened.grades.final(definition, level if is_binary else None)
            ranked = opened.runs.ranked(tags, order=self.order, docnos=final is not None)
            check_some_run(ranked.tags)
            pools = depth_pools(opened)
            if final is None:
                assert sole is not None
                pooled = opened.grades.ungraded(sole.by_topic, definition)
                n_rows = counted(sole.n_documents, "judgement")
                say(f"{named.label}: {n_rows} (judge {sole.judge}), relevant = grade {level} or more")
                warn_about_voters(sole.voters)
                check_stored(opened, ranked, sole.by_topic, self.order)
                return Judged(
                    ranked, (), level, grades=sole.by_topic, pools=pools, voters=sole.voters, pooled=pooled
                )
            pooled = opened.grades.ungraded(final.by_topic(), definition)
            self._tell(opened, final, level)
            check_stored(opened, ranked, grades_by_topic(ranked, final.rows), self.order)
            chosen = [run for run in opened.runs.all() if run.tag in ranked.tags]
            return Judged(
                ranked,
                final.rows,
                1 if is_binary else level,
                pools=pools,
                feeding=tuple(run.tag for run in chosen if run.contributes),
                groups={run.tag: run.group for run in chosen},
                voters=final.all_votes.voters,
                pooled=pooled,
            )

    @cached_property
    def judged(self) -> Judged:
        """Everything, docnos too."""
        if "numbered" not in self.__dict__:
            return self._load(docnos=True)
        with listening(Listener()):  # what there is to say was said
            return self._load(docnos=True)

    @cached_property
    def numbered(self) -> Judged:
        """Everything but docnos, where these can be done without: it is read much sooner.

        Of files, documents without a grade are then not told apart.
        """
        if "judged" in self.__dict__:
            return self.judged
        found = self._load(docnos=False)
        if found.ranked.docnos:
            self.__dict__["judged"] = found
        return found

    @property
    def read(self) -> Judged:
        """What is read already; else all but docnos of a collection, and all of files."""
        return self.judged if "judged" in self.__dict__ or self.is_of_files else self.numbered

    @property
    def _at_hand(self) -> Judged:
        """What is read already, were it without docnos; else `read`."""
        return self.numbered if "numbered" in self.__dict__ else self.read

    @property
    def level(self) -> int:
        """Least grade that is relevant."""
        return self._at_hand.level

    def arrays(self, cutoff: int = 1000) -> JudgedRankings:
        """Return rankings beside what is relevant, as arrays; see `judged_rankings`."""
        from store.analysis.rankings import judged_rankings

        if cutoff not in self._arrays:
            judged = self.read
            self.refuse_codes()
            binary = {
                topic: (numbers, grades >= judged.level)
                for topic, (numbers, grades) in judged.by_topic().items()
            }
            ranked = judged.ranked
            self._arrays[cutoff] = judged_rankings(
                list(binary), ranked.tags, ranked.rankings, binary, cutoff=cutoff
            )
        return self._arrays[cutoff]

    def graded(self, cutoff: int = 1000) -> GradedRankings:
        """Return rankings beside grades, as arrays."""
        from store.analysis.arrays import graded_arrays

        if cutoff not in self._graded:
            judged = self._at_hand
            if not self._graded:
                self.warn_of_codes()
            self._graded[cutoff] = graded_arrays(
                judged.ranked, judged.by_topic(), cutoff=cutoff, pooled=judged.pooled
            )
        return self._graded[cutoff]

    @contextmanager
    def judging(self, *, of_scale: bool = False) -> Iterator[Opinions]:
        """Give the grades of all judges: of files, or of the collection while it is open.

        `of_scale`: rigid or relaxed relevance is asked for, which a declared scale alone tells.
        """
        if not self.judgements:
            if self.is_of_files:
                message = "qrels have one grade per document, and do not show how judges differ"
                raise PoolerError(message, hint="use several judges' files, or a collection")
            with opened_collection(self.collection) as opened:
                yield Opinions(self, opened.grades, opened.scale, opened)
            return
        from pooler.sources.judgement_files import FileReading, fill, read_files, scale_of
        from pooler.sources.meeting import check_judges
        from store.grades.file_votes import FileVotes

        reading = self.reading or FileReading()
        if of_scale and reading.scale is None:
            hint = "--scale 0-3 declares it; or --level N"
            raise ArgumentError("level", "needs a declared scale to be rigid or relaxed", None, hint=hint)
        votes = FileVotes(self.rankings.ids)
        files = read_files(self.judgements, reading)
        fill(votes, files, scale := scale_of(files, reading), reading)
        check_judges(votes, self.rankings)
        yield Opinions(self, votes, scale)

    @cached_property
    def rankings(self) -> RankedDocuments:
        """Rankings alone, without judgements of their documents."""
        if self.runs_are_files:
            return self.file_rankings
        with opened_collection(self.collection) as opened:
            return opened.runs.ranked(order=self.order)

    @cached_property
    def file_rankings(self) -> RankedDocuments:
        """Rankings of runs that are files or in memory, whatever they are measured with."""
        from pooler.reading.whole import ranked_runs

        return ranked_runs(self._measured_runs, order=self.order, lenient=self.lenient)

    @cached_property
    def _measured_runs(self) -> list[RunEntry | Run]:
        """Runs that are files or in memory; what is read once, as standard input and pipes, is in memory."""
        from pooler.reading.run_list import RunEntry

        return [
            next(read_named([one], lenient=self.lenient))
            if isinstance(one, RunEntry)
            and (one.file == "-" or (Path(one.file).exists() and not is_regular_file(one.file)))
            else one
            for one in named_runs(self._given["runs"], self._given["listed"])
        ]

    def run_files(self) -> list[RunEntry]:
        """Return the run files, for Spark; `ArgumentError` where runs are of a collection or in memory."""
        from pooler.reading.run_list import RunEntry

        hint = "leave `engine` out: this machine reads a collection, and runs in memory"
        if not self.runs_are_files:
            raise ArgumentError("engine", "must not be spark for a collection", None, hint=hint)
        named = named_runs(self._given["runs"], self._given["listed"])
        files = [one for one in named if isinstance(one, RunEntry)]
        if len(files) < len(named):
            raise ArgumentError("engine", "must not be spark for runs in memory", None, hint=hint)
        return files

    def with_order(self, order: Order) -> Source:
        """Return the same with another order of documents within a run."""
        return Source(**{**self._given, "order": order}, tells_level=self._tells_level)

    @contextmanager
    def opened(self) -> Iterator[Source]:
        """Open the collection, where there is one, for what is asked of it in one piece."""
        if self.is_of_files and self.runs_are_files:
            yield self
            return
        with opened_collection(self.collection) as collection:
            yield Source(**{**self._given, "collection": collection}, tells_level=self._tells_level)

    def tops(self, depth: int, *, scores: bool = False, tags: Sequence[str] | None = None) -> RunSet:
        """Return the first documents of every run, as pools are made of; they need no judgements.

        `tags`: these runs alone, and they all contribute.
        """
        from pooler.pools.runs import FileRuns, stored_runs
        from pooler.reading.blocks import read_tops, top_of
        from pooler.reading.run_list import RunEntry

        runs, listed = self._given["runs"], self._given["listed"]
        if not self.runs_are_files:
            chosen = tags or [run for run in runs if isinstance(run, str)] or None
            with opened_collection(self.collection) as opened:
                return stored_runs(opened, depth=depth, order=self.order, tags=chosen, scores=scores)
        how: dict[str, Any] = {"order": self.order, "with_scores": scores}
        named = self._measured_runs if tags or self._given["qrels"] else named_runs(runs, listed)
        # What is measured may be called otherwise than by its tag.
        entries = [replace(one, name=None) if tags else one for one in named if isinstance(one, RunEntry)]
        with progress("runs", len(entries)) as advance:
            read = iter(read_tops(entries, depth, lenient=self.lenient, progress=advance, **how))
        tops = [next(read) if isinstance(one, RunEntry) else top_of(one, depth, **how) for one in named]
        if tags:
            names = [
                one.called(top.tag) if isinstance(one, RunEntry) else one.tag
                for one, top in zip(named, tops, strict=True)
            ]
            pairs = zip(tops, names, strict=True)
            tops = [replace(top, tag=name, contributes=True) for top, name in pairs if name in tags]
        return FileRuns(tops)

    def pool_depth(self, depth: int | None) -> int:
        """Return the depth that was given, or that of the collection's pools."""
        if depth is not None or self.is_of_files or self.judgements:
            return chosen_depth(frozenset(), depth, "rank")
        with opened_collection(self.collection) as opened:
            return chosen_depth(frozenset(one.depth for one in depth_pools(opened)), depth, "rank")

    def level_of_judges(self, scale: Scale) -> int:
        """Return the least relevant grade of a judge, whatever qrels are made of the grades."""
        return QrelsDefinition().level_on(scale, self._given["level"])

    def option(self, name: str) -> Any:
        """Return a parameter as it was given."""
        return self._given[name]

    @property
    def names_qrels(self) -> bool:
        """Whether qrels are named, by a file or a name, rather than a collection's opinions."""
        return self.is_of_files or isinstance(self._given["qrels"], str)

    def named(self, *, with_qrels: bool = True) -> dict[str, Any]:
        """Say which files runs and judgements are of, and what qrels these are, unless others are used.

        Where a collection is does not count: a copy of it gives the same results.
        """
        facts: dict[str, Any] = {
            name: self._given[name]
            for name in ("listed", "scale", "level", "codes")
            if isinstance(self._given[name], str | int) or (name == "codes" and self._given[name])
        }
        given = self._given["qrels"]
        if not with_qrels:
            return facts
        if isinstance(given, QrelsDefinition):
            facts["qrels"] = given.to_json()
        elif self.is_of_files:
            facts |= {"qrels": given} if isinstance(given, str) else {}
        elif not self.judgements and (
            self._given["collection"] is not None or "named_qrels" in self.__dict__
        ):
            facts["qrels"] = self.named_qrels.label
        return facts

    def settings(self) -> dict[str, Any]:
        """Say what was measured, for the settings of a result."""
        judged = self._at_hand
        facts = self.named() | {"level": judged.level, "order": self.order}
        return facts | judged.voters.to_json()


def _is_file(run: str) -> bool:
    """Return whether a word for a run can be a file."""
    return run == "-" or is_pattern(run) or "://" in run or Path(run).exists()


def source_of(given: Measurable | str | Path) -> Source:
    """Return a source; a collection means all its runs, a pair its runs and its qrels."""
    if isinstance(given, Source):
        return given
    if isinstance(given, tuple):
        runs, qrels = given
        return source(runs, qrels=qrels)
    if isinstance(given, str | Path) or is_collection(given):
        return Source(collection=str(given) if isinstance(given, Path) else given)
    hint = "pooler.source(runs, qrels=...), pooler.source(judgements=[...]), or an open collection"
    raise ArgumentError("source", "must be a source, a collection, or (runs, qrels)", given, hint=hint)


def runs_of(given: SomeRuns) -> Source:
    """Return a source of runs alone: of files, of memory, or all those of an open collection."""
    if isinstance(given, Source):
        return given
    return Source(collection=given) if is_collection(given) else source(cast("Any", given), qrels=())


def source(
    runs: Collection | str | Iterable[str | Run] | Mapping[str, Any] = (),
    tags: Iterable[str] = (),
    *,
    qrels: str | Path | Iterable[Any] | Mapping[Any, Any] | QrelsDefinition | None = None,
    judgements: str | Path | Iterable[str | Path] = (),
    collection: str | Path | Collection | None = None,
    level: Level = None,
    order: Order = "trec",
    scale: str | None = None,
    codes: Sequence[str] = (),
    lenient: bool = False,
) -> Source:
    """Name the runs and the judgements that functions measure.

    Parameters
    ----------
    runs : Collection, str, iterable or mapping
        Of files: paths or patterns, what `read_runs` returns, or ``{tag: {topic: {docno: score}}}``; a
        run may be a data frame, or what pytrec_eval, ir_measures and ranx take, and one needs no tag.
        A collection stands for itself, with `tags`.
    tags : iterable of str, optional
        Of a collection these runs; none = all.
    qrels : str, Path, iterable, mapping or Qrels, optional
        Of a collection the name of qrels (``"official"``, ``"official@2"``), or of a judge for that
        judge's own grades; default the collection's own. A word with ``/``, ``.`` or ``=``, and a Path,
        is a file. Or what `read_qrels` returns, ``{topic: {docno: grade}}``, a data frame, or rows of
        topic, docno and grade; or `Qrels`, how the grades of several judges become one, of `judgements`
        or the collection. Ids that are whole numbers become text.
    judgements : str, Path or iterable of them, optional
        Files of several judges, one each (``NAME=FILE``, or named as the file), or of all of them,
        for functions that compare judges.
    collection : str, Path or Collection, optional
        Another way to name it.
    level : int, "rigid" or "relaxed", optional
        Least relevant grade; default the relaxed level of the scale, and 1 of files without one.
    order : {"trec", "trec9", "docno-asc", "rank", "file"}, optional
        Of documents within a run.
    scale : str, optional
        Of the grades in a file, as ``"0-3"``.
    codes : sequence of str, optional
        What codes of files mean, as ``"-2=grade"`` or ``"-1=unjudged"``. Default: -1 is pooled and
        unjudged, and lower ones are judged and not relevant, which is warned of.
    lenient : bool, optional
        Read files by trec_eval's own rules.

    Returns
    -------
    Source
        Reads nothing yet.

    Raises
    ------
    ArgumentError
        If what is given does not go together.

    Examples
    --------
    >>> found = source({"a": {"1": {"x": 2.0, "y": 1.0}}}, qrels={"1": {"y": 1}})
    >>> found.arrays().tags, found.level
    (('a',), 1)
    """
    from store.ranking import check_order

    if is_collection(runs):
        named: list[str | Run] = [*tags]
        collection = runs
    else:
        named = list(runs_given(cast("Any", runs)))
        if not named and runs != ():
            raise ArgumentError("runs", "must name one or more", None)
        if collection is not None:
            named += tags
        elif tags := list(tags):
            requirement = "are of a collection; of files and of runs in memory name those that are meant"
            raise ArgumentError("tags", requirement, tags)
    check_order(order)
    if isinstance(collection, Path):
        collection = str(collection)
    files = grade_files(judgements)
    if isinstance(qrels, Path):
        qrels = str(qrels) if is_file_word(str(qrels)) else f"./{qrels}"
    reading = None
    if files:
        from pooler.sources.judgement_files import FileReading

        reading = FileReading(scale=scale, codes=codes, lenient=lenient)
    return Source(
        named,
        judgements=files,
        reading=reading,
        qrels=qrels if isinstance(qrels, QrelsDefinition) else qrels_given(qrels),
        collection=collection,
        level=level,
        order=order,
        scale=scale,
        codes=codes,
        lenient=lenient,
    )
