"""Runs, and the judgements they are measured with: `Source`, whatever the two are of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from pooler.judge_kinds import erased_words
from pooler.messages import Listener, listening, say, warn
from pooler.reading.results import ids_by_title
from pooler.sources.files import FileQrels, JudgesQrels, NamedRuns
from pooler.sources.judged import Judged, Level, code_words, only_depth
from pooler.sources.judgement_files import FileReading, untold
from pooler.sources.memory import grade_files, qrels_given, runs_given
from pooler.sources.residual import residual
from pooler.sources.stored import DEFAULT_COLLECTION as DEFAULT_COLLECTION
from pooler.sources.stored import (
    CollectionQrels,
    CollectionRuns,
    check_no_files,
    check_some_run,
    depth_pools,
    is_collection,
)
from pooler.sources.stored import named_collection as named_collection
from pooler.sources.stored import opened_collection as opened_collection
from store.errors import ArgumentError, PoolerError
from store.formats.lines import is_pattern
from store.grades.definition import NamedQrels, QrelsDefinition, is_file_word
from store.records import Qrel, QrelColumns, Run, Scale
from store.text import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pooler.pools.runs import RunSet
    from pooler.reading.run_list import RunEntry
    from store.analysis.arrays import RankedDocuments
    from store.analysis.rankings import GradedRankings, JudgedRankings
    from store.collection import Collection
    from store.grades.file_votes import FileVotes
    from store.grades.votes import CollectionGrades
    from store.records import Order


Engine = Literal["python", "spark"]
"""Who reads run files: this machine, or Spark."""
Measurable: TypeAlias = "Source | Collection | tuple[Any, Any]"
"""What functions measure: a source, all runs of a collection, or runs and their qrels."""
SomeRuns: TypeAlias = "Source | Collection | str | Path | Iterable[str | Path | Run] | Mapping[str, Any]"
"""What functions pool: as `source` takes runs."""
_QRELS_HINT = "run files need --qrels FILE or NAME; without it, RUN is the tag of a run of the collection"


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
    """Runs, and the judgements they are measured with.

    Runs are of files and memory (`NamedRuns`) or of a collection (`CollectionRuns`); qrels are of a file or
    memory (`FileQrels`), of files of several judges (`JudgesQrels`) or of a collection (`CollectionQrels`),
    in any mix. Nothing is read before it is asked for, and nothing twice.

    Its arguments are those of `source`, worked out: `runs` are files or what is read of them, or tags
    of a collection, none = all; `listed` is a list of run files, with their tags and groups;
    `tells_level` says the level of files, too, where grades are more than relevant or not;
    `judgements` are files of several judges, or of one each, and `reading` how these are read. Documents that
    the qrels `without` judge are left out of runs and qrels.
    """

    def __init__(
        self,
        runs: Sequence[str | Run] = (),
        *,
        qrels: str | Sequence[Qrel] | QrelsDefinition | None = None,
        collection: str | Path | Collection | None = None,
        listed: str | Path | None = None,
        level: Level = None,
        order: Order = "trec",
        scale: str | None = None,
        codes: Sequence[str] | None = (),
        lenient: bool = False,
        tells_level: bool = True,
        judgements: Sequence[str] = (),
        reading: FileReading | None = None,
        without: str | Sequence[Qrel] | None = None,
    ) -> None:
        collection = str(collection) if isinstance(collection, Path) else collection
        self._given = {name: value for name, value in locals().items() if name != "self"}
        self._given |= {"runs": [*runs], "codes": tuple(codes or ())}
        self.judgements = tuple(judgements)
        self.reading = reading or FileReading(scale=scale, codes=codes, lenient=lenient)
        is_name = isinstance(qrels, str) and not is_file_word(qrels)
        is_rule = isinstance(qrels, QrelsDefinition)
        self.is_of_files = qrels is not None and not is_name and (not is_rule or bool(judgements))
        """Whether the grades are of files, or in memory."""
        self.collection: str | Collection = DEFAULT_COLLECTION if collection is None else collection
        self.order = order
        self.lenient = lenient
        self._arrays: dict[int, JudgedRankings] = {}
        self._graded: dict[int, GradedRankings] = {}

    def option(self, name: str) -> Any:
        """Return a parameter as it was given."""
        return self._given[name]

    def with_order(self, order: Order) -> Source:
        """Return the same with another order of documents within a run."""
        return Source(**{**self._given, "order": order})

    @contextmanager
    def opened(self) -> Iterator[Source]:
        """Return the same with its collection open, which is then opened, and held to its digests, once."""
        with ExitStack() as stack:
            held = self
            if not self.is_of_files:
                with suppress(PoolerError):  # who reads says what is wrong, or what was meant
                    opened = stack.enter_context(opened_collection(self.collection))
                    held = Source(**self._given | {"collection": opened})
            yield held

    def residual(self, without: Any) -> Source:
        """Return the same without the documents that some qrels judge, given as those of `source`."""
        qrels = str(without) if isinstance(without, str | Path) else qrels_given(without)
        return Source(**self._given | {"without": qrels})

    @cached_property
    def _before(self) -> Source:
        others = {"runs": [], "judgements": (), "qrels": self._given["without"], "without": None}
        return Source(**self._given | others)

    @cached_property
    def left_out(self) -> dict[str, set[str]]:
        """By topic, the documents that are left out, as they were judged before."""
        found: dict[str, set[str]] = {}
        if self._given["without"] is not None:
            with listening(Listener()):  # what is said of qrels is said of those that measure
                rows = self._before._qrels.read().rows
            for row in rows:
                found.setdefault(row.topic, set()).add(row.docno)
        return found

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
            hint = f"./{given} is the file; pooler qrels define {given} makes it a name"
            raise PoolerError(message, hint=hint) from error

    @property
    def definition(self) -> QrelsDefinition:
        """How judgements become qrels, and whose count."""
        return self.named_qrels.definition

    @property
    def whose(self) -> QrelsDefinition:
        """Whose judgements count, for opinions beside what is measured.

        One judge's own grades say what is measured; opinions are of those who count by the default qrels.
        """
        if self.is_of_files:
            return QrelsDefinition()
        if self.definition.sole is not None and isinstance(self._given["qrels"], str):
            with opened_collection(self.collection) as opened:
                return opened.qrels.named().definition
        return self.definition

    @cached_property
    def runs_are_files(self) -> bool:
        """Whether the runs are of files or in memory; the others are of the collection."""
        runs, qrels = self._given["runs"], self._given["qrels"]
        words = [run for run in runs if isinstance(run, str)]
        if self._given["listed"] is not None or len(words) < len(runs) or self.judgements:
            return True
        has_files = any(run == "-" or is_pattern(run) or "://" in run or Path(run).exists() for run in words)
        if self.is_of_files:
            return has_files or self._given["collection"] is None or not self._has_collection
        if qrels is None or not has_files:
            return False
        self.named_qrels  # noqa: B018 - what is wrong with the name is told first
        with opened_collection(self.collection) as opened:
            tags = {run.tag for run in opened.runs.all()}
        return tags.isdisjoint(words)

    @property
    def _has_collection(self) -> bool:
        where = self.collection
        return not isinstance(where, str) or "://" in where or Path(where).exists()

    @cached_property
    def _file_runs(self) -> NamedRuns:
        given = self._given
        titles: dict[str, str] | None = None
        if not (self.is_of_files or self.judgements) and self._has_collection:
            with opened_collection(self.collection) as opened:
                titles = ids_by_title(opened.topics.all())
        return NamedRuns(given["runs"], given["listed"], self.order, self.lenient, given["qrels"], titles)

    @cached_property
    def _runs(self) -> NamedRuns | CollectionRuns:
        if self.runs_are_files:
            return self._file_runs
        tags = [run if isinstance(run, str) else run.tag for run in self._given["runs"]]
        return CollectionRuns(tags, self.collection, self.order)

    @property
    def _qrels(self) -> FileQrels | JudgesQrels | CollectionQrels:
        given, level, scale = self._given["qrels"], self._given["level"], self._given["scale"]
        if not self.is_of_files:
            return CollectionQrels(self.named_qrels, self.collection, level)
        if isinstance(given, QrelsDefinition):
            return JudgesQrels(self.judgements, self.reading, self.definition, level)
        return FileQrels(given, self._given["codes"], scale, level, self.lenient)

    def _load(self, *, docnos: bool) -> Judged:
        """Read runs and grades; without `docnos` a collection need not give any, and no `qrels`."""
        if self._given["without"] is None:
            return self._read(docnos=docnos)
        before = self.left_out  # what is wrong with them is told before anything is read
        return residual(self._read(docnos=True), before, self._before.qrels_name)

    @property
    def qrels_name(self) -> str:
        """The name of the qrels, with its version, or their file."""
        given = self._given["qrels"]
        name = given if isinstance(given, str) else "the qrels given"
        return name if self.is_of_files else self.named_qrels.label

    def _read(self, *, docnos: bool) -> Judged:
        import numpy as np

        from pooler.sources.meeting import TRIED, Ids, check_measured

        runs = self._runs
        are_named = self.is_of_files or self._given["qrels"] is not None
        if not are_named or (isinstance(runs, CollectionRuns) and not self.is_of_files):
            check_no_files(self._given["runs"], self.collection, "no qrels are named", _QRELS_HINT)
        elif isinstance(runs, NamedRuns) and not (runs.runs or runs.listed):
            raise PoolerError("no run file is named", hint="name run files, or --runs FILE that lists them")
        qrels = self._qrels
        if isinstance(runs, CollectionRuns) and isinstance(qrels, CollectionQrels):
            return qrels.beside(runs, _QRELS_HINT, docnos=docnos)
        given = qrels.read()
        rows = QrelColumns.of(given.rows)
        topics = {*rows.topics, *given.pooled}
        # To go through a set is slow.
        judged = dict.fromkeys(chain(rows.docnos, *given.pooled.values())).keys()
        ranked, facts = runs.beside(None if docnos else judged)
        in_memory = self.runs_are_files and isinstance(self._given["qrels"], list | tuple)
        where = "the qrels" if in_memory else given.name
        check_measured(ranked, Ids(where, topics), judged, lambda tags: self.tops(TRIED, tags=tags))
        facts["pooled"] = {
            topic: np.array([ranked.ids.get(docno, -1) for docno in some], dtype=np.int64)
            for topic, some in given.pooled.items()
        }
        facts["left_out"] = given.left_out
        if self.is_of_files:
            facts["given"] = given
            tells_level = self._given["tells_level"] and self._given["level"] is None
            # Files that are binary need no word on what is relevant.
            grades = {*rows.grades} if tells_level else {given.level}
            if max(grades, default=given.level) > given.level:
                say(f"relevant = grade {given.level} or more; another level with --level")
                if min(grades) >= given.level:
                    hint = "--scale LOW-HIGH declares the grades, of which the lowest is not relevant"
                    warn(f"every judged document is relevant at that level; {hint}")
        return Judged(ranked, rows, given.level, voters=given.voters, **facts)

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
        """All but docnos of a collection, and all of files."""
        return self.judged if self.is_of_files else self.numbered

    @property
    def _at_hand(self) -> Judged:
        """What is read already, were it without docnos; else `read`."""
        return self.numbered if "numbered" in self.__dict__ else self.read

    @property
    def level(self) -> int:
        """Least grade that is relevant."""
        return self._at_hand.level

    def refuse_codes(self) -> None:
        """Raise `PoolerError` where a code of files may mean that a document is unjudged."""
        given = self._at_hand.given if self.is_of_files else None
        if given is not None and given.untold:
            raise untold(given.name, given.untold[0])

    def warn_of_codes(self) -> None:
        """Warn of codes of files that count as judged and not relevant."""
        given = self._at_hand.given
        if given is not None and given.untold:
            n = counted(sum(row.grade in given.untold for row in given.rows), "document")
            warn(
                f"{given.name}: {n} with {code_words(given.untold)} counted as judged and not relevant;"
                f" --code {given.untold[0]}=grade|unjudged|not-pooled|skipped|cannot says what it means"
            )

    def say_pooled(self) -> None:
        """Say of a collection how many pooled documents have no grade; of files, reading them does."""
        if not self.is_of_files and (n := sum(ids.size for ids in self._at_hand.pooled.values())):
            say(f"{counted(n, 'pooled document')} without a grade")

    def arrays(self, cutoff: int = 1000) -> JudgedRankings:
        """Return rankings beside what is relevant, as arrays; see `judged_rankings`."""
        if cutoff not in self._arrays:
            self.refuse_codes()
            self._arrays[cutoff] = self._arranged(self.read.ranked.rankings, cutoff)
        return self._arrays[cutoff]

    def _arranged(self, rankings: Mapping[tuple[str, str], NDArray[np.int64]], cutoff: int) -> JudgedRankings:
        from store.analysis.rankings import judged_rankings

        judged = self.read
        grades = judged.by_topic()
        binary = {topic: (numbers, of >= judged.level) for topic, (numbers, of) in grades.items()}
        return judged_rankings(list(binary), judged.ranked.tags, rankings, binary, cutoff=cutoff)

    @cached_property
    def as_pooled(self) -> Source:
        """The same in the order that the collection's depth pools were made in, where they share one."""
        if self.is_of_files or self.runs_are_files:
            return self
        with opened_collection(self.collection) as opened:
            orders = {one.order for one in depth_pools(opened)}
        return self.with_order(*orders) if len(orders) == 1 and orders != {self.order} else self

    def pooling(self, cutoff: int = 1000) -> JudgedRankings:
        """Return `arrays`, each list in the order that the pool was made in; codes stay the same."""
        import numpy as np

        arrays = self.arrays(cutoff)
        if self.as_pooled is self:
            return arrays
        with listening(Listener()):  # what there is to say was said
            ordered, scored = self.as_pooled.read.ranked.rankings, self.read.ranked.rankings
        kept = {at: one[np.isin(one, scored[at][:cutoff])] for at, one in ordered.items()}
        return self._arranged(kept, cutoff)

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
        from pooler.sources.judgement_files import fill, read_files, scale_of
        from pooler.sources.meeting import check_judges
        from store.grades.file_votes import FileVotes

        reading = self.reading
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
        return self._runs.rankings

    @property
    def file_rankings(self) -> RankedDocuments:
        """Rankings of runs that are files or in memory, whatever they are measured with."""
        return self._file_runs.rankings

    def run_files(self) -> list[RunEntry]:
        """Return the run files, for Spark; `ArgumentError` where runs are of a collection or in memory."""
        hint = "leave `engine` out: this machine reads a collection, and runs in memory"
        if not self.runs_are_files:
            raise ArgumentError("engine", "must not be spark for a collection", None, hint=hint)
        named = self._file_runs.named()
        files = [one for one in named if not isinstance(one, Run)]
        if len(files) < len(named):
            raise ArgumentError("engine", "must not be spark for runs in memory", None, hint=hint)
        return files

    def tops(self, depth: int, *, scores: bool = False, tags: Sequence[str] | None = None) -> RunSet:
        """Return the first documents of every run, as pools are made of; they need no judgements.

        `tags`: these runs alone, and they all contribute.
        """
        return self._runs.tops(depth, scores=scores, tags=tags)

    def pool_depth(self) -> int:
        """Return the depth of the collection's pools; `PoolerError`: they have none, or several."""
        with opened_collection(self.collection) as opened:
            return only_depth({one.depth for one in depth_pools(opened)}, "rank")

    def level_of_judges(self, scale: Scale) -> int:
        """Return the least relevant grade of a judge, whatever qrels are made of the grades."""
        return QrelsDefinition().level_on(scale, self._given["level"])

    @property
    def names_qrels(self) -> bool:
        """Whether qrels are named, by a file or a name, rather than a collection's opinions."""
        return self.is_of_files or isinstance(self._given["qrels"], str)

    def named(self, *, with_qrels: bool = True) -> dict[str, Any]:
        """Say which files runs and judgements are of, and what qrels these are, unless others are used.

        Where a collection is does not count: a copy of it gives the same results.
        """
        names = ("listed", "scale", "level", "codes")
        facts = {name: given for name in names if (given := self._given[name]) not in (None, ())}
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
        if self._given["without"] is not None:
            facts |= {"without": self._before.qrels_name, "topics_without_judgement": list(judged.emptied)}
        return facts | judged.voters.to_json()


def source_of(given: Measurable | str | Path) -> Source:
    """Return a source; a collection means all its runs, a pair its runs and its qrels."""
    if isinstance(given, Source):
        return given
    if isinstance(given, tuple):
        runs, qrels = given
        return source(runs, qrels=qrels)
    if isinstance(given, str | Path) or is_collection(given):
        return Source(collection=given)
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
    if isinstance(qrels, Path):
        qrels = str(qrels) if is_file_word(str(qrels)) else f"./{qrels}"
    return Source(
        named,
        judgements=grade_files(judgements),
        qrels=qrels if isinstance(qrels, QrelsDefinition) else qrels_given(qrels),
        collection=collection,
        level=level,
        order=order,
        scale=scale,
        codes=codes,
        lenient=lenient,
    )
