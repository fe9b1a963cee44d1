"""`pooler import`: topics, documents, runs and judgements into a collection."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import progress, say, warn
from pooler.cli.import_collection import whole_collection
from pooler.cli.import_judgements import judgements
from pooler.cli.import_report import importing, report_words, text_words
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    AllowUnknownOption,
    CollectionOption,
    LenientOption,
    ReplaceOption,
    RunsOption,
)
from pooler.cli.runs_given import entries_of
from store.errors import PoolerError

if TYPE_CHECKING:
    from collections.abc import Callable

app = typer.Typer(help="Bring topics, documents, runs and judgements in.", no_args_is_help=True)
app.command("judgements")(judgements)
app.command("collection")(whole_collection)


class TopicFormatName(StrEnum):
    """Formats of `store.formats.topics`."""

    AUTO = "auto"
    TREC = "trec"
    COVID = "covid"
    TSV = "tsv"
    JSONL = "jsonl"


class DocumentFormatName(StrEnum):
    """Formats of `store.formats.documents`."""

    AUTO = "auto"
    JSONL = "jsonl"
    TREC = "trec"
    TSV = "tsv"


@app.command("topics")
def topics(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="- is stdin; .gz, .xz, .zst are fine.")
    ],
    fmt: Annotated[
        TopicFormatName, typer.Option("--format", help="Default: told by the content.")
    ] = TopicFormatName.AUTO,
    replace: ReplaceOption = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Import topics: TREC <top> SGML, TREC-COVID XML, TSV, or JSONL.

    Columns of TSV, with or without a line of names on top, and keys of JSONL: topic (or id, qid,
    query_id, number, ...), title (or query, text), description, narrative.

    With --replace, a topic that has another text gets a new version of it. Judgements keep the
    version they were made by, and `pooler rejudge --why topic` lists those made by another text.

    Example: pooler import topics topics.xml
    """
    from pooler.cli.import_topics import import_topics
    from store.collection import Collection
    from store.formats.topics import read_topics

    with Collection(collection) as opened:
        read = read_topics(file, format=fmt.value, doubt=_warner(file))
        import_topics(opened, file, read, replace=replace)


@app.command("docs")
def docs(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="- is stdin; .gz, .xz, .zst are fine.")
    ],
    fmt: Annotated[
        DocumentFormatName, typer.Option("--format", help="Default: told by the content.")
    ] = DocumentFormatName.AUTO,
    all_texts: Annotated[
        bool, typer.Option("--all", help="Store the text of documents in no pool too.")
    ] = False,
    replace: ReplaceOption = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Import documents: JSONL, TREC <DOC> SGML, or TSV. Texts are kept of pooled documents only.

    Keys of JSONL, and columns of TSV, with or without a line of names on top: docno (or id, doc_id,
    ...), title if there is one, text (or contents, body, abstract).

    One transaction a file. Called again, also after an interrupt, it skips what is in already.

    Example: pooler import docs documents.jsonl
    """
    from store.formats.documents import read_documents

    with importing(collection) as opened, progress("documents", len(files)) as advance:
        has_pool = bool(opened.pools())
        for file in files:
            records = read_documents(file, format=fmt.value, doubt=_warner(file))
            report = opened.add_documents(records, all_texts=all_texts, replace=replace)
            say(f"{file}: {report_words(report, 'document')}")
            if words := text_words(report, has_pool=has_pool):
                say(f"{file}: {words}")
            advance(1)


@app.command("runs")
def runs(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN...", help="- is stdin; .gz, .xz, .zst are fine."),
    ] = None,
    listed: RunsOption = None,
    group: Annotated[
        str, typer.Option("--group", help="Organisation or kind of system of the RUN arguments.")
    ] = "",
    late: Annotated[
        bool, typer.Option("--late", help="These runs do not feed pools (contributes = no).")
    ] = False,
    lenient: LenientOption = False,
    allow_unknown: AllowUnknownOption = False,
    replace: ReplaceOption = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Import run files (topic Q0 docno rank score tag), one transaction a file.

    Called again, also after an interrupt, it skips the runs that are in already.

    Example: pooler import runs runs/*.run --group bm25
    """
    from dataclasses import replace as with_changes

    from pooler.cli.import_runs import import_runs

    entries = entries_of(files or [], listed, group)
    if late:
        entries = [with_changes(entry, contributes=False) for entry in entries]
    if not entries:
        message = "no run file is named"
        raise PoolerError(message, hint="name run files, or a list of them with --runs FILE")
    with importing(collection) as opened:
        import_runs(opened, entries, lenient=lenient, allow_unknown=allow_unknown, replace=replace)


def _warner(file: str) -> Callable[[str], None]:
    """Return what warns of a file."""
    return lambda words: warn(f"{file}: {words}")
