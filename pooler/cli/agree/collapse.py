"""`pooler collapse`: files of graded judgements to binary qrels, without a collection."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, ClassVar

import typer

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
)
from pooler.cli.qrels_files import QrelsOptions
from pooler.cli.signature import command
from pooler.results.judgement_files import Reading
from pooler.results.source import Source
from store.errors import PoolerError


@dataclass(frozen=True, slots=True, kw_only=True)
class BareQrelsOptions(QrelsOptions):
    """Options of qrels that no collection stands behind."""

    without_rulings: Annotated[
        bool,
        typer.Option(
            "--without-rulings",
            help="Leave adjudicators out, whom jsonl and tsv files may name: what their rulings"
            " decide, a collection knows.",
        ),
    ] = False


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
        typer.Argument(
            metavar="FILE...",
            help="Qrels files, each of one judge, named as the file, or NAME=FILE; - is stdin.",
        ),
    ],
    options: BareQrelsOptions,
    files_read: ReadingOptions,
) -> None:
    """Make one binary qrels file of graded ones, or of several judges'.

    Grades from the level on become 1, the others 0. Documents that a file lists as pooled and not
    judged (--code -1=unjudged), skipped and unjudgeable ones are left out and counted; none becomes
    grade 0. Needs no collection.

    Example: pooler collapse judgements/strict.qrels --level 2 --out strict-2.qrels

    Example: pooler collapse judgements/*.qrels --level 1 --aggregate majority --ties low
    """
    policy = options.policy()
    if not (options.levels or options.graded or options.rigid or options.relaxed):
        message = "from which grade on is a document relevant?"
        hint = "--level N, or --rigid or --relaxed of a --scale; --graded keeps the grades"
        raise PoolerError(message, hint=hint)
    options.write(Source(judgements=files, reading=Reading(**asdict(files_read))), policy)
