"""Options that commands share, worded once, and how their values are read."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from pooler import command
from pooler.cli.signature import option
from pooler.command import ORDER_WORDS
from pooler.command import level_word as level_word
from pooler.sources.source import DEFAULT_COLLECTION as DEFAULT_COLLECTION
from store.formats import GradesFormat
from store.grades import Aggregate
from store.records import Order, Ties

if TYPE_CHECKING:
    from store.grades.definition import QrelsDefinition


CollectionOption = Annotated[
    str,
    option(
        "--collection PATH|URL",
        "SQLite file or postgresql:// URL of the collection.",
        envvar="POOLER_COLLECTION",
    ),
]
OrderOption = Annotated[Order, option("--order", ORDER_WORDS)]
LenientOption = Annotated[
    bool,
    option(
        "--lenient",
        "Read files as trec_eval does: extra fields and # lines are ignored, and a topic's lines need not"
        " stand together.",
    ),
]
RunsOption = Annotated[
    str | None,
    option(
        "--runs FILE",
        "TSV with a header that lists the runs: file, and optionally tag, group, contributes (yes/no).",
    ),
]
_LEVEL: command.Option = get_args(command.Level)[1]
LevelOption = Annotated[
    Any,
    option(
        _LEVEL.form, _LEVEL.words, parser=partial(command.level_word, "--level"), show_default=_LEVEL.default
    ),
]
YesOption = Annotated[bool, option("--yes -y", "Go on without asking.")]
JudgesOption = Annotated[
    list[str] | None,
    option(
        "--judge NAME", "Count only this judge's votes; may be repeated.", show_default="those of --kinds"
    ),
]
AggregateOption = Annotated[
    Aggregate | None,
    option(
        "--aggregate",
        "Make one grade of several: that of the primary judge, the most frequent one, the median, the mean"
        " (halves rounded up), the lowest, the highest, the sum (it leaves the scale), or the most probable"
        " one given each judge's habits (dawid-skene).",
        show_default="the primary judge's, else the only or equal ones",
    ),
]
TiesOption = Annotated[
    Ties | None, option("--ties", "Ties of majority and median: the lower grade, the higher one, or none.")
]
VotesOption = Annotated[int | None, option("--votes N", "Leave documents with fewer votes undecided.", min=1)]
BinaryFirstOption = Annotated[
    bool, option("--binary-first", "Make each judge's grade binary at the level, then aggregate.")
]
PrimaryOption = Annotated[
    str | None, option("--primary FILE", "Who is primary: lines `topic judge`, a tab between.")
]
KindsOption = Annotated[
    str | None,
    option(
        "--kinds KIND,...",
        "Count judges of these kinds together: human (with adjudicators), model, imported.",
        show_default="people alone; where no person judged, imported, else models",
    ),
]
WithoutRulingsOption = Annotated[
    bool, option("--without-rulings", "Ignore adjudicators; otherwise their rulings override any rule.")
]
QrelsOption = Annotated[
    str | None,
    option(
        "--qrels NAME|FILE",
        "Qrels by name (`pooler qrels`), or a judge; a word with / . or =, or -, is a file.",
        show_default="official",
    ),
]
FileScaleOption = Annotated[
    str | None,
    option("--scale SCALE", "With --qrels FILE: its scale: 0-3, binary, ntcir or a TOML file as in `init`."),
]
FileCodeOption = Annotated[
    list[str] | None,
    option(
        "--code CODE=MEANING",
        "With --qrels FILE: what a code means: grade, unjudged, not-pooled, skipped, cannot. Without: -1 is"
        " unjudged; -2 and lower are judged, not relevant.",
    ),
]
FileRunsOption = Annotated[
    str | None,
    option(
        "--runs FILE",
        "TSV with a header that lists run files: file; maybe tag, group, contributes (yes/no), name here.",
    ),
]
CutoffOption = Annotated[
    int,
    option(
        "--cutoff",
        "Ranks that count (trec_eval -M); measures with a rank of their own look as deep as that.",
        min=1,
    ),
]
InputOption = Annotated[
    GradesFormat | None,
    option("--input", "Form of the files, as in `import judgements`; jsonl and tsv are of every judge."),
]
_COLUMNS = (
    "Columns of the files in order: docno, grade, and topic, iteration, judge if there are; - skips one."
)
ColumnsOption = Annotated[str | None, option("--input-columns --columns NAME,...", _COLUMNS)]
TopicOption = Annotated[
    str | None,
    option("--topic T", "With --input-columns: the topic of every line, where no column holds it."),
]
JudgeColumnOption = Annotated[
    int | None, option("--judge-column", "The column of the files that names the judge.", min=2, max=2)
]
ScaleOption = Annotated[
    str | None,
    option(
        "--scale SCALE",
        "The scale of the files: 0-3, binary, ntcir or a TOML file, as in `init`.  [default:"
        " from the lowest to the highest grade in them]",
    ),
]
CodeOption = Annotated[
    list[str] | None,
    option(
        "--code CODE=MEANING",
        "A code of the files: unjudged (pooled, not judged), not-pooled, skipped, cannot or unjudgeable; or"
        " grade, if it is one.",
    ),
]
RepeatsOption = Annotated[
    Literal["refuse", "first", "last", "highest", "drop"] | None,
    option(
        "--repeats", "Which line counts where lines of one topic, docno and judge differ.  [default: refuse]"
    ),
]
MapOption = Annotated[list[str] | None, option("--map FROM=TO", "Read one grade of the files as another.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOptions:
    """Whose judgements count, and how several judges' grades become one."""

    aggregate: AggregateOption = None
    ties: TiesOption = None
    votes: VotesOption = None
    binary_first: BinaryFirstOption = False
    judges: JudgesOption = None
    kinds: KindsOption = None
    without_rulings: WithoutRulingsOption = False
    primary: PrimaryOption = None

    def definition(self, **more: Any) -> QrelsDefinition:
        """Return what is asked for; its own `check` says what does not go together."""
        from store.formats.pairs import read_topic_judges
        from store.grades.definition import QrelsDefinition

        own = {one.name: getattr(self, one.name) for one in fields(RuleOptions)}
        given = {name: value for name, value in (own | more).items() if value is not None}
        if self.primary is not None:
            given["primary"] = read_topic_judges(self.primary)
        return QrelsDefinition(**given)


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionOptions(RuleOptions):
    """All that qrels are defined by."""

    mapped: Annotated[
        list[str] | None, option("--map FROM=TO", "Read one grade as another, before any rule.")
    ] = None
    pool: Annotated[str | None, option("--pool NAME", "Only documents of this pool.")] = None
    as_of: Annotated[
        str | None,
        option(
            "--as-of DATE|now",
            "Judgements up to this moment, as 2026-03-01 (its end) or 2026-03-01T18:00.",
            show_default="live: as they stand when they are used",
        ),
    ] = None
    without_topics: Annotated[
        list[str] | None,
        option("--without-topic TOPIC|FILE", "Leave this topic out, or those of a file, one a line."),
    ] = None
    relaxed: Annotated[
        int | None, option("--relaxed SUM", "With --aggregate sum: the least sum that is relevant.")
    ] = None
    rigid: Annotated[
        int | None, option("--rigid SUM", "With --relaxed: the least sum that is highly relevant.")
    ] = None

    def made(self) -> QrelsDefinition:
        """Return the definition."""
        from store.formats.scale import parse_map

        topics: list[str] = []
        for word in self.without_topics or []:
            path = Path(word)
            topics += path.read_text("utf-8").split() if path.is_file() else [word]
        return self.definition(
            map=parse_map(self.mapped or [], {}),
            pool=self.pool,
            as_of=self.as_of,
            without_topics=topics,
            relaxed=self.relaxed,
            rigid=self.rigid,
        )


def kinds_of(text: str | None) -> tuple[str, ...]:
    """Read `--kinds`.

    Examples
    --------
    >>> kinds_of("human, model"), kinds_of(None)
    (('human', 'model'), ())
    """
    from store.judging.kinds import check_kinds

    return () if text is None else check_kinds([part.strip() for part in text.split(",")])


def names_collection(ctx: typer.Context) -> bool:
    """Return whether `--collection` stands on the command line; a setting is not meant for files."""
    source = ctx.get_parameter_source("collection")
    return source is not None and source.name == "COMMANDLINE"
