"""Qrels of a collection by name: defined, listed, dropped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pooler.messages import say, warn
from pooler.results.judge_kinds import warn_about_qrels, warn_about_voters, who_judged
from pooler.results.result import Result, collect_warnings, frozen_settings
from pooler.results.source import opened_collection
from pooler.results.table import DOCUMENTS, Column, Table
from store.errors import PoolerError
from store.grades.definition import NamedQrels, QrelsDefinition
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection


class Qrels(QrelsDefinition):
    """How the grades of several judges become the qrels that runs are measured with.

    Given to `source`, or under a name to `qrels_define`.

    Attributes
    ----------
    aggregate : {"primary", "majority", "median", "mean", "min", "max", "sum", "dawid-skene"}, optional
        What happens to several grades; default the primary judge's, where assignments name one, else the
        only grade, else equal grades, else none: undecided.
    ties : {"low", "high", "unresolved"}, optional
        What tied grades give, as majority and median need to know: one of them, or no grade.
    votes : int, optional
        Documents with fewer votes stay undecided.
    map : mapping of int to int, optional
        Grades to be read as others, before any rule.
    binary_first : bool, optional
        Make every judge's grade binary at the level that is asked for, then count.
    judges, kinds : sequence of str, optional
        These judges vote, and no other; or those of kinds ("human", "model", "imported"). Default people,
        else imported judges, else models.
    without_rulings : bool, optional
        Whether adjudicators' rulings are ignored, which stand above every rule.
    pool, without_topics, as_of : optional
        Documents of a pool alone; topics that are left out; judgements up to a moment, or "now".
    primary : mapping of str to str, optional
        By topic the judge who is primary, whatever is assigned.
    relaxed, rigid : int, optional
        Levels of a sum.

    Examples
    --------
    >>> Qrels(aggregate="majority", ties="low").to_json()
    {'aggregate': 'majority', 'ties': 'low'}
    """

    __slots__ = ()


def qrels(collection: str | Path | Collection) -> QrelsList:
    """List the qrels of a collection: every version of every definition, and who has grades.

    Parameters
    ----------
    collection : str, Path or Collection
        Its file or URL, or the open collection.

    Returns
    -------
    QrelsList
        The default first; then by name, the newest version first.

    Examples
    --------
    >>> import tempfile
    >>> import pooler as p
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with p.create_collection(f"{folder}/wine.db") as made:
    ...         [one.label for one in p.qrels(made).found]
    ['official@1']
    """
    with collect_warnings() as collected, opened_collection(collection) as opened:
        found, counts, newest = opened.qrels.all(), [], set[str]()
        for one in found:
            counts.append(None if one.name in newest else _n_documents(opened, one))
            newest.add(one.name)
        judges = tuple(sorted(opened.grades.voters(kinds=("human", "model", "imported")).graders))
    return QrelsList(
        found=tuple(found),
        documents=tuple(counts),
        judges=judges,
        settings=frozen_settings(),
        warnings=collected.warnings,
    )


def _n_documents(opened: Collection, named: NamedQrels) -> int | None:
    """Count the documents with a grade; ``None`` = nothing can be said of it."""
    definition = replace(named.definition, binary_first=False)
    try:
        return opened.grades.final(definition).n_documents
    except PoolerError:
        return None


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class QrelsList(Result):
    """The definitions of a collection; table `qrels`."""

    found: tuple[NamedQrels, ...]
    documents: tuple[int | None, ...]
    """Documents with a grade, of the newest version of each name."""
    judges: tuple[str, ...]
    """Judges whose names stand for their own grades."""

    NAMES: ClassVar[tuple[str, ...]] = ("qrels",)

    def _qrels(self) -> Table:
        columns: dict[Column, list[Any]] = {
            Column("qrels"): [one.name for one in self.found],
            Column("version", "int"): [one.version for one in self.found],
            Column("default", "bool"): [one.is_default for one in self.found],
            Column("rule"): [rule_words(one) for one in self.found],
            DOCUMENTS: [*self.documents],
            Column("defined", "moment"): [one.created_at for one in self.found],
        }
        names = ", ".join(self.judges)
        notes = [f"By a judge's name, that judge's own grades: {names}."] if names else []
        return Table.of_columns("qrels", columns, "Qrels by name", notes=notes)


def rule_words(named: NamedQrels) -> str:
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


def qrels_define(
    collection: str | Path | Collection,
    name: str,
    definition: QrelsDefinition | None = None,
    *,
    default: bool = False,
) -> NamedQrels:
    """Define qrels of a collection: how judges' grades become one, under a name.

    Defining a name again makes its next version; earlier ones stay, as ``official@1``.

    Parameters
    ----------
    collection : str, Path or Collection
        Its file or URL, or the open collection.
    name : str
        One word, without ``/``, ``.``, ``=`` and ``@``, that is no judge's name.
    definition : Qrels, optional
        Whose judgements count, and what becomes of several grades; default as `official` is at first.
    default : bool, optional
        Measure with this name where none is given; otherwise the default stays what it is.

    Returns
    -------
    NamedQrels
        With its version.

    Raises
    ------
    ArgumentError
        If the name cannot be one, or choices do not go together.

    Examples
    --------
    >>> import tempfile
    >>> import pooler as p
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with p.create_collection(f"{folder}/wine.db") as made:
    ...         p.qrels_define(made, "strict", p.Qrels(aggregate="min")).label
    'strict@1'
    """
    with opened_collection(collection) as opened:
        named = opened.qrels.define(name, definition or Qrels(), default=default)
        try:
            final = opened.grades.final(replace(named.definition, binary_first=False))
        except PoolerError as error:
            warn(f"{named.label}: {error.message}")
            return named
        words = f"{named.label}: {counted(final.n_documents, 'document')} of {who_judged(final)}"
        if final.ties in ("low", "high") and (n := final.n_decided_by_ties):
            other = "high" if final.ties == "low" else "low"
            words += f"; the tie rule decided {n:,} (--ties {other} would change them)"
        say(words)
        warn_about_qrels(opened, named, final)
        warn_about_voters(final.all_votes.voters)
    return named


def qrels_drop(collection: str | Path | Collection, name: str) -> int:
    """Take a definition out of a collection, with all its versions.

    Parameters
    ----------
    collection : str, Path or Collection
        Its file or URL, or the open collection.
    name : str
        Not ``official``, nor the default.

    Returns
    -------
    int
        How many versions there were.

    Raises
    ------
    UnknownNameError
        If there is no definition of that name.
    PoolerError
        If it is to stay.
    """
    with opened_collection(collection) as opened:
        return opened.qrels.drop(name)
