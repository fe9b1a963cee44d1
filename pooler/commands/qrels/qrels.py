"""`pooler qrels`: qrels of a collection by name, listed, defined and dropped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from pooler.command import Given, Option, Stored, command
from pooler.judge_kinds import warn_about_qrels, warn_about_voters, who_judged
from pooler.messages import say, warn
from pooler.result import Done, Result, frozen_settings
from pooler.tables import DOCUMENTS, Column, Table
from store.errors import PoolerError
from store.grades.definition import NamedQrels, QrelsDefinition
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection


@command
def qrels(collection: Stored) -> QrelsList:
    """List the qrels of the collection by name, with their versions.

    `official` is there from the start, and is what is measured with unless --qrels names others: the grade
    of the judge to whom the document is assigned as primary, else the only grade, else equal grades; an
    adjudicator's ruling stands above every rule. A judge's name stands for that judge's own grades.

    Example: pooler qrels

    Examples
    --------
    >>> import tempfile
    >>> import pooler as p
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = p.init(f"{folder}/wine.db")
    ...     [one.label for one in p.qrels(f"{folder}/wine.db").found]
    ['official@1']
    """
    found, counts, newest = collection.qrels.all(), [], set[str]()
    for one in found:
        counts.append(None if one.name in newest else _n_documents(collection, one))
        newest.add(one.name)
    judges = tuple(sorted(collection.grades.voters(kinds=("human", "model", "imported")).graders))
    return QrelsList(found=tuple(found), documents=tuple(counts), judges=judges)


@command
def qrels_define(
    collection: Stored,
    name: Annotated[str, Option("NAME", "What the qrels are to be called: no judge's name.")],
    definition: Annotated[QrelsDefinition | None, Given("pooler.cli.options:DefinitionOptions")] = None,
    *,
    default: bool = False,
) -> NamedQrels:
    """Define qrels: whose judgements count, and how several grades become one.

    Defining a name again makes its next version; earlier ones stay and are named as in official@1. With
    --as-of now the qrels are those of this moment, whatever is judged later.

    Example: pooler qrels define official --aggregate majority --ties low

    Example: pooler qrels define published --aggregate majority --ties low --as-of now

    default : Measure with these where no qrels are named.

    Examples
    --------
    >>> import tempfile
    >>> import pooler as p
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = p.init(f"{folder}/wine.db")
    ...     p.qrels_define(f"{folder}/wine.db", "strict", p.Qrels(aggregate="min")).label
    'strict@1'
    """
    named = collection.qrels.define(name, definition or QrelsDefinition(), default=default)
    try:
        final = collection.grades.final(replace(named.definition, binary_first=False))
    except PoolerError as error:
        warn(f"{named.label}: {error.message}")
        return named
    words = f"{named.label}: {counted(final.n_documents, 'document')}, {who_judged(final)}"
    if final.ties in ("low", "high") and (n := final.n_decided_by_ties):
        other = "high" if final.ties == "low" else "low"
        words += f"; the tie rule decided {n:,} (--ties {other} would change them)"
    say(words)
    warn_about_qrels(collection, named, final)
    warn_about_voters(final.all_votes.voters)
    return named


@command
def qrels_drop(
    collection: Stored, name: Annotated[str, Option("NAME", "Not `official`, nor the default.")]
) -> Done:
    """Drop qrels of the collection, with all their versions.

    Example: pooler qrels drop strict
    """
    versions = collection.qrels.drop(name)
    say(f"`{name}` is dropped: {counted(versions, 'version')}")
    return Done(counts=frozen_settings(versions=versions))


def _n_documents(opened: Collection, named: NamedQrels) -> int | None:
    """Count the documents with a grade; ``None`` = nothing can be said of it."""
    definition = replace(named.definition, binary_first=False)
    try:
        return opened.grades.final(definition).n_documents
    except PoolerError:
        return None


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class QrelsList(Result):
    """The definitions of a collection: the default first; then by name, the newest version first."""

    found: tuple[NamedQrels, ...]
    documents: tuple[int | None, ...]
    """Documents with a grade, of the newest version of each name."""
    judges: tuple[str, ...]
    """Judges whose names stand for their own grades."""

    def _tables(self) -> Iterator[Table]:
        columns: dict[Column, list[Any]] = {
            Column("qrels"): [one.name for one in self.found],
            Column("version", "int"): [one.version for one in self.found],
            Column("default", "bool"): [one.is_default for one in self.found],
            Column("rule"): [_rule_words(one) for one in self.found],
            DOCUMENTS: [*self.documents],
            Column("defined", "moment"): [one.created_at for one in self.found],
        }
        names = ", ".join(self.judges)
        notes = [f"By a judge's name, that judge's own grades: {names}."] if names else []
        yield Table.of_columns("qrels", columns, "Qrels by name", notes=notes)


def _rule_words(named: NamedQrels) -> str:
    """Write the choices of a definition as the options that made it; of none, what is done by default."""
    words = []
    for name, value in named.definition.to_json().items():
        option = {"judges": "judge", "without_topics": "without-topic"}.get(name, name.replace("_", "-"))
        match value:
            case True:
                words.append(f"--{option}")
            case list() if name == "kinds":
                words.append(f"--kinds {','.join(value)}")
            case list() if name == "erased":
                words.append(f"({counted(len(value), 'judge')} erased)")
            case list():
                words += [f"--{option} {one}" for one in value]
            case dict() if name == "map":
                words += [f"--map {source}={target}" for source, target in value.items()]
            case dict():
                words.append(f"--primary FILE ({counted(len(value), 'topic')})")
            case _ if name != "events":
                words.append(f"--{option} {value}")
    return " ".join(words) or "primary judge, else the only or equal grades"
