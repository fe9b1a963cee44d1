"""What a report is made of: everything that is read and computed, and the commands that print the same."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pooler.commands.judge.status import status, status_effort
from pooler.commands.look.show import show_judges, show_pools
from pooler.commands.qrels.agreement import AgreementResult, agreement
from pooler.commands.trust.audit import audit
from pooler.commands.trust.audit_tables import Audit
from pooler.commands.trust.diagnose import JUDGED_AT, Diagnosis, diagnose, is_sampled, made_otherwise
from pooler.commands.trust.sensitivity import depth_in_words
from pooler.judge_kinds import kinds_words
from pooler.messages import Listener, listening
from pooler.sources.judged import Judged
from pooler.sources.source import DEFAULT_COLLECTION, Source, opened_collection
from store.errors import PoolerError
from store.judging.kinds import SORTS
from store.records import JudgeKind, Scale
from store.text import counted, sanitise_line

if TYPE_CHECKING:
    from pooler.tables import Table
    from store.collection import Collection

LOW_DWELL = 1.0
"""What `pooler status effort` takes for a low dwell, in seconds."""
MOST_DRAWN = 20
"""Runs of one chart."""
_STDIN = "-"
_MOST_RUNS = 8
"""Runs that are named one by one."""
_PLAIN_END = re.compile(r"\.[A-Za-z0-9_.-]+\Z")
"""What a file may end with to be named by a pattern."""
_SECRETS = frozenset({"password", "sslpassword"})
_ESCAPED = re.compile(rb"[^ -~]|['\\\\]")
MOST_WITH_INTERVALS = 45
"""Pairs of judges up to which the bootstrap of every pair is worth its time."""


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """What a collection has besides runs and judgements."""

    name: str
    scale: Scale
    pools: Table
    judges: Table
    progress: Table
    costs: Table
    agreement: AgreementResult | str
    """Of everybody whose grades may count, for statements on two judges, or why there is none."""
    by_kind: Mapping[str, AgreementResult | str]
    """Of people, models and imported judges by themselves, or why there is none."""
    audits: Mapping[str, Audit | str]
    """Of every model, where people judged, too: against these, or why there is none."""
    level: int
    """Least relevant grade of `agreement`."""
    made_otherwise: Sequence[str]
    """How pools were made that are there and are no depth pools."""
    is_sampled: bool
    """Whether some pool is a sample."""


@dataclass(frozen=True, slots=True)
class CommandLines:
    """Writes commands about the runs and judgements of a source; empty of what no command can name."""

    source: Source
    files: Mapping[str, str]
    """File of each run by its tag, where runs are files."""
    cutoff: int | None = None
    """As it was given."""
    values: Sequence[str] = ()
    """What grades are worth, for commands about probabilities."""
    out: str = ""
    """The page, which is no run where a pattern would find it."""

    @property
    def reads_stdin(self) -> bool:
        """Whether something was read from standard input, which commands cannot read again."""
        option = self.source.option
        return self.source.is_of_files and _STDIN in (option("qrels"), option("listed"), *self.files.values())

    @property
    def is_in_memory(self) -> bool:
        """Whether some run or the qrels are objects, which no command line can name."""
        objects = (*self.source.option("runs"), self.source.option("qrels"))
        return not all(one is None or isinstance(one, str) for one in objects)

    @property
    def leaves_password(self) -> bool:
        """Whether the collection was named with a password, which no command shows."""
        return not self.source.is_of_files and _without_password(self._where())[1]

    def can_name(self, tags: Sequence[str]) -> bool:
        """Whether some runs are told apart by files alone: the list may have named them."""
        if self.source.option("listed") is None:
            return True
        from pooler.reading.whole import read_whole

        files = [self.files[tag] for tag in tags]
        return len({read_whole(file, lenient=self.source.lenient).tag for file in files}) == len(tags)

    def of_collection(self, name: str, *own: str, judges: Sequence[str] = ()) -> str:
        """Write a command about the collection, or about some judges of it."""
        is_option = any(judge.startswith("-") for judge in judges)
        return _line([name, *own, *self._collection(), *(["--"] if is_option else []), *judges])

    def of_runs(self, name: str, *own: str, runs: Sequence[str] | None = None) -> str:
        """Write a command about the runs that were given, or about some, by their tags."""
        if self.is_in_memory:
            return ""
        named = self._runs()
        if runs is not None:
            named = [_file(self.files[tag]) if tag in self.files else tag for tag in runs]
        # Named runs are read from their files; the list would bring all of its own.
        words = [name, *own, *self._options(with_list=runs is None), *self._collection()]
        is_option = any(run.startswith("-") and run != _STDIN for run in named)
        return _line([*words, *(["--"] if is_option else []), *named])

    def of_probabilities(self, name: str, *own: str) -> str:
        """Write a command about the runs, and how likely their documents are relevant."""
        return self.of_runs(name, *own, *(word for value in self.values for word in ("--value", value)))

    def _where(self) -> str:
        where = self.source.collection
        return where if isinstance(where, str) else where.where

    def _collection(self) -> list[str]:
        source = self.source
        is_of_files = source.is_of_files and source.runs_are_files
        if is_of_files or self._where() == DEFAULT_COLLECTION:
            return []
        return ["--collection", _without_password(self._where())[0]]

    def _options(self, *, with_list: bool) -> list[str]:
        option = self.source.option
        values: dict[str, Any] = {
            "--qrels": option("qrels"),
            "--runs": option("listed") if with_list else None,
            "--level": option("level"),
            "--cutoff": self.cutoff,
            "--order": None if self.source.order == "trec" else self.source.order,
            "--scale": option("scale"),
            "--code": option("codes"),
            "--lenient": self.source.lenient,
        }
        words: list[str] = []
        for name, value in values.items():
            if isinstance(value, bool):
                words += [name] * value
            elif value is not None:
                several = value if isinstance(value, tuple) else (value,)
                words += [word for one in several for word in (name, str(one))]
        return words

    def _runs(self) -> list[str]:
        runs = list(self.source.option("runs"))
        if not self.source.runs_are_files:
            return runs
        if len(runs) <= _MOST_RUNS:
            return [_file(run) for run in runs]
        folders: dict[str, list[str]] = {}
        for run in runs:
            folders.setdefault(str(Path(run).parent), []).append(run)
        words: list[str] = []
        for folder, files in folders.items():
            pattern = _pattern(folder, files, self.out)
            words += map(_file, files) if pattern is None else [pattern]
        return words


class _Pattern(str):
    """A word that the shell fills in; everything else is quoted."""

    __slots__ = ()


def _pattern(folder: str, files: Sequence[str], out: str) -> _Pattern | None:
    """Find `folder/*.end`, or `folder/*`, that names these files in a shell, and no others."""
    named = sorted(Path(file).name for file in files)
    ends = {Path(file).suffix for file in files}
    [end] = ends if len(ends) == 1 else [""]
    # The page would be found as soon as it is there.
    page = Path(out).name if Path(out).resolve().parent == Path(folder).resolve() else None
    for last in dict.fromkeys([end, ""]):
        if (last and not _PLAIN_END.match(last)) or (page is not None and page.endswith(last)):
            continue
        found = [one.name for one in Path(folder).iterdir() if one.name.endswith(last)]
        if sorted(name for name in found if not name.startswith(".")) == named:
            is_option = any(name.startswith("-") for name in named)
            start = f"{_quoted(_file(folder))}/" if folder != "." else "./" * is_option
            return _Pattern(f"{start}*{last}")
    return None


def _file(name: str) -> str:
    return f"./{name}" if name.startswith("-") and name != _STDIN else name


def _without_password(collection: str) -> tuple[str, bool]:
    if "://" not in collection:
        return collection, False
    from store.db.engine import collection_url

    url = collection_url(collection)
    secrets = _SECRETS.intersection(url.query)
    if url.password is None and not secrets:
        return collection, False
    bare = url.difference_update_query(secrets)
    bare = bare._replace(drivername=collection.partition("://")[0], password=None)
    return bare.render_as_string(hide_password=True), True


def _line(words: Sequence[str]) -> str:
    quoted = [word if isinstance(word, _Pattern) else _quoted(word) for word in words]
    return " ".join(["pooler", *quoted])


def _quoted(word: str) -> str:
    """Quote a word for a shell; what a page cannot show is written as bytes."""
    if sanitise_line(word) == word:
        return shlex.quote(word)
    in_bytes = _ESCAPED.sub(lambda found: b"\\x%02x" % found[0][0], os.fsencode(word))
    return f"$'{in_bytes.decode('ascii')}'"


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Runs, judgements, the diagnosis of the pool, and the collection."""

    source: Source
    judged: Judged
    commands: CommandLines
    cutoff: int
    diagnosis: Diagnosis
    stored: Stored | None
    """``None`` = the runs are files."""
    told_depth: int | None
    """As the report was asked for."""
    limit: int
    """Runs, or pairs of runs, of one chart."""

    def first(
        self, table: Table, which: str, what: str = "run", plural: str | None = None
    ) -> tuple[Table, str]:
        """Return as many rows as a chart shows, and a note of how many there are."""
        n = len(table)
        if n <= self.limit:
            return table, self.counted(counted(n, what, plural))
        some = f"{self.limit:,} of {counted(n, what, plural)} ({which}; `--limit {n}` draws all)"
        return table.head(self.limit), self.counted(some)

    def counted(self, what: str) -> str:
        """Write of how many things something is: of some, and of topics and judgements."""
        found = self.diagnosis.found
        n_judged = int(found.topics.judged.sum())
        return (
            f"{what}, {counted(len(found.rankings.topics), 'topic')}, {counted(n_judged, 'judged document')}"
        )

    @property
    def depth(self) -> int | str | None:
        """N of every run, ``7-10`` where runs and topics have several; ``None`` = not known.

        Runs that fed no pool have one, too, which may be another than the pool's.
        """
        found = self.diagnosis.found
        if self.told_depth is not None or found.pool is None:
            return self.told_depth
        if self.source.judged.pools:
            return depth_in_words(self.source.judged.depths(None, found.rankings))
        return found.pool.depth

    @property
    def one_depth(self) -> int | None:
        """The same where it is one number, for functions and commands."""
        return self.depth if isinstance(self.depth, int) else None

    @property
    def own_depth(self) -> Sequence[str]:
        """The option that gives a command the depth, where the report has one."""
        return () if self.told_depth is None else ("--depth", str(self.told_depth))


def gather(
    source: Source, depth: int | None, values: Sequence[str], cutoff: int | None, out: str, limit: int
) -> Material:
    """Read runs and judgements, and diagnose the pool, for a page in the file `out`."""
    judged = source.judged
    stored = None if source.is_of_files else _of_collection(source)
    with listening(Listener()):  # warnings are on the page
        diagnosis = diagnose(source, depth=depth, judged_at=JUDGED_AT, cutoff=cutoff or 1000)
    commands = CommandLines(source, judged.files, cutoff, values, out)
    return Material(source, judged, commands, cutoff or 1000, diagnosis, stored, depth, limit)


def _of_collection(source: Source) -> Stored:
    definition = source.whose
    with opened_collection(source.collection) as opened:
        scale = opened.scale
        # Of sums the level is a sum; every judge gives grades.
        level = scale.relaxed if definition.aggregate == "sum" else source.level_of_judges(scale)
        pools = [pool for pool in opened.pools.all() if not pool.withdrawn]
        found: AgreementResult | str
        try:
            judges = opened.grades.voters(definition.judges, definition.kinds or tuple(SORTS)).voting
            found = _agreement(opened, level, judges)
        except PoolerError as error:
            found = error.message
        return Stored(
            name=opened.name,
            scale=scale,
            pools=show_pools(opened).table("pools"),
            judges=show_judges(opened).table("judges"),
            progress=status(opened).table("status"),
            costs=status_effort(opened, below=LOW_DWELL).table("effort"),
            agreement=found,
            by_kind={} if isinstance(found, str) else _by_kind(opened, level, found),
            audits=_audits(source, opened, level),
            level=level,
            made_otherwise=[f"{one.name} {made}" for one in pools if (made := made_otherwise(one.manifest))],
            is_sampled=any(is_sampled(one.manifest) for one in pools),
        )


def _by_kind(opened: Collection, level: int, found: AgreementResult) -> dict[str, AgreementResult | str]:
    names: dict[str, list[str]] = {}
    for judge in opened.judges.all():
        if judge.name in found.judges:
            names.setdefault(judge.kind.value, []).append(judge.name)
    if len(names) == 1:
        return dict.fromkeys(names, found)
    by_kind: dict[str, AgreementResult | str] = {}
    for kind in (one for one in JudgeKind if one in names):
        if len(names[kind]) < 2:
            of_kind = kinds_words({kind: 2})[2:]
            by_kind[kind] = f"Agreement needs two, and {names[kind][0]} is the only one of {of_kind}"
            continue
        try:
            by_kind[kind] = _agreement(opened, level, names[kind])
        except PoolerError as error:
            by_kind[kind] = error.message
    return by_kind


def _audits(source: Source, opened: Collection, level: int) -> dict[str, Audit | str]:
    definition, judges = source.definition, opened.grades.voters(kinds=tuple(SORTS)).voting
    kinds = {judge.name: judge.kind for judge in opened.judges.all()}
    people = [name for name in definition.judges or judges if kinds[name] == JudgeKind.HUMAN]
    models = [name for name in judges if kinds[name] == JudgeKind.MODEL]
    if not people or not models:
        return {}
    rule, ties = (definition.aggregate, definition.ties) if len(people) > 1 else (None, None)
    if len(people) > 1 and rule in (None, "primary", "sum"):
        return dict.fromkeys(models, "an audit takes one person's grades, or several people's by a rule")
    found: dict[str, Audit | str] = {}
    for model in models:
        try:
            with listening(Listener()):  # what there is to say is on the page
                found[model] = audit(source, model, people, aggregate=rule, ties=ties, level=level)
        except PoolerError as error:
            found[model] = error.message
    return found


def _agreement(opened: Collection, level: int, judges: Sequence[str]) -> AgreementResult:
    interval: Literal["topic", "none"] = "topic" if comb(len(judges), 2) <= MOST_WITH_INTERVALS else "none"
    source = Source(collection=opened)
    with listening(Listener()):  # warnings are on the page
        return agreement(source, *judges, levels=(level,), interval=interval, all_pairs=True)
