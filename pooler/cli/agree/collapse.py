"""`pooler collapse`: binary qrels from files of graded judgements, without a collection."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, ClassVar

from pooler.cli.options import (
    CodeOption,
    ColumnsOption,
    InputOption,
    JudgeColumnOption,
    LenientOption,
    MapOption,
    RepeatsOption,
    ScaleOption,
    TopicOption,
    WhoseOptions,
)
from pooler.cli.qrels_files import QrelsOptions
from pooler.cli.signature import argument, command, option
from pooler.results.judgement_files import FileReading
from pooler.results.source import Source
from store.errors import PoolerError


@dataclass(frozen=True, slots=True, kw_only=True)
class BareWhoseOptions(WhoseOptions):
    """Whose judgements count where no collection stands behind them."""

    without_rulings: Annotated[
        bool,
        option(
            "--without-rulings",
            "Ignore adjudicators named in jsonl and tsv files; only a collection knows what their rulings"
            " decide.",
        ),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BareQrelsOptions(QrelsOptions):
    """Options of qrels that no collection stands behind."""

    whose: BareWhoseOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """How files of judgements are read."""

    PANEL: ClassVar[str] = "Files"

    scale: ScaleOption = None
    codes: CodeOption = None
    mapped: MapOption = None
    repeats: RepeatsOption = None
    form: InputOption = None
    columns: ColumnsOption = None
    topic: TopicOption = None
    judge_column: JudgeColumnOption = None
    lenient: LenientOption = False


@command
def collapse(
    files: Annotated[
        list[str],
        argument(
            "FILE...", "Qrels files, each of one judge and called by its file name, or NAME=FILE; - is stdin."
        ),
    ],
    options: BareQrelsOptions,
    files_read: ReadingOptions,
) -> None:
    """Make binary qrels from graded ones, or from several judges'.

    Grades at or above the level become 1, the others 0. Documents that are pooled but not judged
    (--code -1=unjudged), skipped or impossible to judge are left out and counted; none becomes grade 0.
    Needs no collection.

    Example: pooler collapse judgements/strict.qrels --level 2 --out strict-2.qrels

    Example: pooler collapse judgements/*.qrels --level 1 --aggregate majority --ties low
    """
    policy = options.whose.policy()
    if not (options.levels or options.graded or options.rigid or options.relaxed):
        message = "from which grade up is a document relevant?"
        hint = "--level N says it, or --rigid or --relaxed with --scale SCALE; --graded keeps the grades"
        raise PoolerError(message, hint=hint)
    options.write(Source(judgements=files, reading=FileReading(**asdict(files_read))), policy)
