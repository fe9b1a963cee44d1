"""Options that commands share, worded once, and how their values are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pooler.cli.signature import option
from pooler.results.source import DEFAULT_COLLECTION as DEFAULT_COLLECTION
from store.analysis.aggregation import Ties
from store.errors import ArgumentError
from store.formats import GradesFormat
from store.grades import Collapse, Rule

if TYPE_CHECKING:
    from store.grades.policy import Policy

OrderName = Literal["trec", "trec9", "docno-asc", "rank", "file"]
CollectionOption = Annotated[
    str,
    option(
        "--collection PATH|URL",
        "SQLite file or postgresql:// URL of the collection.",
        envvar="POOLER_COLLECTION",
    ),
]
OutOption = Annotated[str | None, option("--out -o FILE", "Default stdout.")]
ManifestOption = Annotated[
    str | None, option("--manifest FILE", "Default: the name of the file with .manifest.json added.")
]
OrderOption = Annotated[
    OrderName,
    option(
        "--order",
        "Rank order: trec (by score, ties by docno descending), trec9 (the same, scores rounded to 32 bits"
        " as trec_eval 9.0.4 does), docno-asc (by score, ties by docno ascending), rank (the rank in the"
        " file), file (the order of lines).",
    ),
]
LenientOption = Annotated[
    bool,
    option(
        "--lenient",
        "Read files as trec_eval does: extra fields and # lines are ignored, and a topic's lines need not"
        " stand together.",
    ),
]
ReplaceOption = Annotated[
    bool, option("--replace", "Replace different content that the collection has under the same name.")
]
RunsOption = Annotated[
    str | None,
    option(
        "--runs FILE",
        "TSV with a header that lists the runs: file, and optionally tag, group, contributes (yes/no).",
    ),
]
TrackRulesOption = Annotated[
    str | None,
    option(
        "--rules FILE",
        "TOML with the rules of a track: topics, documents, depth, min_depth, tag, descending, ranks, group,"
        " runs_per_group, models, header; and in `warn` those that do not refuse a run.",
    ),
]
LevelOption = Annotated[int | None, option("--level", "Least grade that counts as relevant.")]
RigidOption = Annotated[
    bool, option("--rigid", "Relevant = at or above the scale's rigid level, the stricter one (NTCIR: S, A).")
]
RelaxedOption = Annotated[
    bool,
    option("--relaxed", "Relevant = at or above the scale's relaxed level, the milder one (NTCIR: S, A, B)."),
]
YesOption = Annotated[bool, option("--yes -y", "Go on without asking.")]
AllowUnknownOption = Annotated[
    bool,
    option("--allow-unknown", "Accept topics and docnos that no text, run or pool of the collection has."),
]
JudgeOption = Annotated[
    str | None, option("--judge NAME", "Use this judge's own grades, without any adjudicator's ruling.")
]
AggregateOption = Annotated[
    Rule | None,
    option(
        "--aggregate",
        "Combine the judges' grades into one: the most frequent (majority), the middle one (median), the"
        " mean with halves rounded up, the lowest, the highest, their sum (which leaves the scale), or the"
        " most probable one given each judge's habits (dawid-skene, for three or more judges a document).",
    ),
]
TiesOption = Annotated[
    Ties | None,
    option(
        "--ties",
        "How majority and median break ties: the lower grade, the higher grade, or no grade (unresolved).",
    ),
]
CollapseOption = Annotated[
    Collapse | None,
    option(
        "--collapse",
        "With a level: make each judge's grade binary, then aggregate (before); or aggregate, then make the"
        " result binary (after).",
        show_default="after",
    ),
]
OfOption = Annotated[
    list[str] | None,
    option("--of NAME", "Count only this judge's votes; may be repeated.", show_default="those of --kinds"),
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
    option("--qrels FILE", "Use files instead of a collection: these qrels and the run files named."),
]
FileScaleOption = Annotated[
    str | None,
    option(
        "--scale SCALE",
        "With --qrels: the scale of the file: 0-3, binary, ntcir or a TOML file as in `init`. Needed for"
        " --rigid and --relaxed; negative values then are grades.",
    ),
]
FileCodeOption = Annotated[
    list[str] | None,
    option(
        "--code CODE=MEANING",
        "With --qrels: what a code of the file means: grade, or unjudged, not-pooled, skipped, cannot."
        " Without: -1 is pooled and unjudged; -2 and lower are judged, not relevant.",
    ),
]
FileRunsOption = Annotated[
    str | None,
    option(
        "--runs FILE",
        "With --qrels: a TSV file with a header that lists the runs: file, and optionally tag, group,"
        " contributes (yes/no), name (what to call the run here, instead of its tag).",
    ),
]
PoolDepthOption = Annotated[
    int | None,
    option(
        "--depth -N",
        "N: the pool's depth.",
        min=1,
        show_default="the pools', where they have one; else what the judgements look like",
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
    option(
        "--input",
        "Format of the files, as in `import judgements`: qrels unless another is named; jsonl and tsv are of"
        " every judge.",
    ),
]
_COLUMNS = (
    "What the columns of the files are, in order: docno and grade, and topic, iteration and judge where there"
    " are any; - skips a column."
)
InputColumnsOption = Annotated[str | None, option("--input-columns NAME,...", _COLUMNS)]
ColumnsOption = Annotated[str | None, option("--input-columns --columns NAME,...", _COLUMNS)]
TopicOption = Annotated[
    str | None,
    option("--topic T", "With --input-columns: the topic of every line, where no column holds it."),
]
JudgeColumnOption = Annotated[
    int | None,
    option(
        "--judge-column",
        "The column of the qrels files that names the judge; otherwise the file name does.",
        min=2,
        max=2,
    ),
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
        "A code in the files that is not a grade: unjudged (pooled but not judged), not-pooled, skipped,"
        " cannot or unjudgeable (cannot be judged); or grade, if it is one.",
    ),
]
RepeatsOption = Annotated[
    Literal["refuse", "first", "last", "highest", "drop"] | None,
    option(
        "--repeats",
        "Which line counts where lines of the same topic, docno and judge differ. Identical lines"
        " count once.  [default: refuse]",
    ),
]
MapOption = Annotated[list[str] | None, option("--map FROM=TO", "Read one grade of the files as another.")]
ValueOption = Annotated[
    list[str] | None,
    option(
        "--value GRADE=P",
        "The probability, from 0 to 1, that a document a judge gave this grade is relevant. Repeat for every"
        " grade of the scale. Default: the share of judges at or above the level.",
    ),
]
EmptyOption = Annotated[
    Literal["given", "zero"],
    option(
        "--empty",
        "What to do where judging again would leave a topic without a relevant document: leave that"
        " outcome out, as AP does not exist there (given), or count AP as 0, as trec_eval does (zero)."
        " The same goes for a topic in which no document can be relevant; an unjudged topic never counts.",
    ),
]


class _ReadAsPolicy:
    """Options that are the arguments of `policy_of`, or some of them."""

    __slots__ = ()

    def policy(self) -> Policy:
        return policy_of(**asdict(self))  # type: ignore[call-overload]  # a dataclass is made of it


@dataclass(frozen=True, slots=True, kw_only=True)
class WhoseOptions(_ReadAsPolicy):
    """Whose judgements count, and how several judges' grades become one."""

    judge: JudgeOption = None
    aggregate: AggregateOption = None
    ties: TiesOption = None
    collapse: CollapseOption = None
    of: OfOption = None
    kinds: KindsOption = None
    without_rulings: WithoutRulingsOption = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedOptions(_ReadAsPolicy):
    """The same where grades are not made binary."""

    judge: JudgeOption = None
    aggregate: AggregateOption = None
    ties: TiesOption = None
    of: OfOption = None
    kinds: KindsOption = None
    without_rulings: WithoutRulingsOption = False


_WHOLE = re.compile(r"[0-9]{1,9}", re.ASCII)
_DECIMAL = re.compile(r"-?(?:[0-9]{1,9}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})", re.ASCII)


def whole_numbers(name: str, text: str, *, least: int) -> list[int]:
    """Read whole numbers like ``10,20,50``, each once, in the order given, none below `least`.

    Examples
    --------
    >>> whole_numbers("--topics", "50, 30,50", least=1)
    [50, 30]
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(_WHOLE.fullmatch(part) and int(part) >= least for part in parts):
        requirement = f"must be integers >= {least}, separated by commas"
        raise ArgumentError(name, requirement, text)
    return list(dict.fromkeys(map(int, parts)))


def decimals(name: str, text: str) -> list[float]:
    """Read numbers, each once, in the order given; their range is left to who uses them.

    Examples
    --------
    >>> decimals("--variance", ".01,.03")
    [0.01, 0.03]
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(_DECIMAL.fullmatch(part) for part in parts):
        raise ArgumentError(name, "must be numbers, separated by commas", text)
    return list(dict.fromkeys(map(float, parts)))


def policy_of(
    *,
    judge: str | None = None,
    aggregate: Rule | None = None,
    ties: Ties | None = None,
    collapse: Collapse | None = None,
    of: Sequence[str] | None = None,
    kinds: str | None = None,
    without_rulings: bool = False,
) -> Policy:
    """Read the options on whose judgements count; `Policy.check` says what does not go together."""
    from store.grades.policy import Policy

    if collapse is not None and aggregate is None:
        raise ArgumentError("--collapse", "needs --aggregate", None)
    return Policy(
        judge=judge,
        rule=aggregate,
        ties=ties,
        collapse="after" if collapse is None else collapse,
        rulings=not without_rulings,
        of=tuple(dict.fromkeys(of or ())),
        kinds=kinds_of(kinds),
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
