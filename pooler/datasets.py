"""A collection as a dataset of ir_datasets, and so of PyTerrier: `register`; needs the extra ``datasets``."""

import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pooler.sources.source import Source, opened_collection, source_of
from store.errors import ArgumentError, PoolerError, StoreError
from store.formats.irds import HINT

if TYPE_CHECKING:
    from store.collection import Collection
    from store.grades.definition import QrelsDefinition as Qrels


# The kinds of fields are looked at by PyTerrier: this module does not turn annotations into text.
class CollectionDoc(NamedTuple):
    """A document of a collection."""

    doc_id: str
    title: str
    text: str

    def default_text(self) -> str:
        """Return what a ranker reads that takes one text."""
        return f"{self.title}\n{self.text}" if self.title else self.text


class CollectionQuery(NamedTuple):
    """A topic of a collection."""

    query_id: str
    title: str
    description: str
    narrative: str

    def default_text(self) -> str:
        """Return what a ranker reads that takes one text."""
        return self.title or self.description or self.narrative


_AT_ONCE = 500
"""Documents in memory at a time."""
_registered: dict[str, Any] = {}
"""What `register` made, by name."""


def register(
    collection: "str | Path | Collection | Source", name: str = "", *, qrels: "str | Qrels | None" = None
) -> Any:
    """Make a collection a dataset of ir_datasets, in this process.

    Parameters
    ----------
    collection : str, Path, Collection or Source
        A file, a ``postgresql://`` URL, a collection that stays open, or a source of one.
    name : str, optional
        Of the dataset; default ``pooler/`` and the name of the collection. One that was registered here
        before is taken over.
    qrels : str or Qrels, optional
        Those of the collection by name, as for `source`; default those of the source, or the collection's
        default.

    Returns
    -------
    ir_datasets.Dataset
        ``docs`` (doc_id, title, text: those whose text is here), ``queries`` (query_id, title, description,
        narrative: those with a text) and ``qrels`` (query_id, doc_id, relevance, iteration), each as the
        collection is when it is read.

    Raises
    ------
    PoolerError
        If ir_datasets is not installed; when qrels are read, as `pooler.export_qrels`: nothing is judged,
        or judges differ and no rule says what then.
    ArgumentError
        If ir_datasets has another dataset of that name.
    StoreError
        If there is no collection.

    Notes
    -----
    Documents are read from the database, none is copied: one by `docs_store`, 500 at a time by `docs_iter`.
    Qrels are the lines of ``pooler export qrels``: documents that are skipped, cannot be judged, are
    undecided, unjudged or not pooled are not among them. What `pooler.export_qrels` warns of is a
    Python warning.

    Examples
    --------
    >>> import tempfile
    >>> import pooler as p
    >>> from store.records import Document
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = f"{folder}/wine.db"
    ...     _ = p.init(place)
    ...     with p.open_collection(place) as made:
    ...         _ = made.documents.add([Document("d1", "Merlot", "A red grape.")], all_texts=True)
    ...         register(made).docs[0]
    CollectionDoc(doc_id='d1', title='Merlot', text='A red grape.')
    """
    source = source_of(collection)
    if qrels is not None:
        source = Source(collection=source.collection, qrels=qrels)
    if source.is_of_files or source.judgements:
        raise ArgumentError("collection", "must be a collection, and not files", None)
    made = _handlers()
    with opened_collection(source.collection) as opened:
        name = name or f"pooler/{opened.name}"
        defs = {grade.value: grade.label for grade in opened.scale.grades}
    import ir_datasets

    before = _registered.get(name)
    if before is None and name in ir_datasets.registry:
        raise ArgumentError("name", "must not be that of another dataset of ir_datasets", name)
    parts = before or [kind() for kind in made]
    for part in parts:
        part.source, part.defs = source, defs
    if before is None:
        ir_datasets.registry.register(name, ir_datasets.Dataset(*parts))
        _registered[name] = parts
    return ir_datasets.load(name)


class PyTerrierDatasets:
    """What PyTerrier finds under ``pooler:``, by the entry point ``pyterrier.dataset_provider``."""

    def get_dataset(self, name: str) -> Any:
        """Return the dataset that `register` made of that name, or of the collection in that file.

        `KeyError`, as PyTerrier wants it: there is neither.
        """
        import pyterrier

        found = next((one for one in (name, f"pooler/{name}") if one in _registered), name)
        if found not in _registered:
            try:
                register(name, name)
            except StoreError as error:
                raise KeyError(f"{name}: neither registered nor a collection: {error.message}") from error
        return pyterrier.get_dataset(f"irds:{found}")

    def list_dataset_names(self) -> list[str]:
        """Return the names that `register` was given."""
        return [*_registered]


@cache
def _handlers() -> tuple[type, type, type]:
    try:
        from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries, TrecQrel
        from ir_datasets.indices.base import Docstore
    except ImportError as error:
        raise PoolerError("ir_datasets is not installed", hint=HINT) from error

    class Docs(BaseDocs):
        source: Source

        def docs_iter(self) -> Iterator[CollectionDoc]:
            return _Docs(self, self.docnos())

        def docnos(self) -> list[str]:
            with opened_collection(self.source.collection) as opened:
                return opened.documents.with_texts()

        def docs_of(self, docnos: Sequence[str]) -> Iterator[CollectionDoc]:
            with opened_collection(self.source.collection) as opened:
                for start in range(0, len(docnos), _AT_ONCE):
                    for one in opened.documents.read(docnos[start : start + _AT_ONCE]):
                        if one.text is not None:
                            yield CollectionDoc(one.docno, one.title, one.text)

        def docs_store(self, field: str = "doc_id", **_options: Any) -> Any:
            return Store(self, field)

        def docs_cls(self) -> type:
            return CollectionDoc

        def docs_count(self) -> int:
            return len(self.docnos())

    class Store(Docstore):
        def __init__(self, docs: Docs, field: str) -> None:
            super().__init__(CollectionDoc, field)
            self._docs = docs

        def get_many_iter(self, doc_ids: Sequence[str]) -> Iterator[CollectionDoc]:
            return self._docs.docs_of([*doc_ids])

    class Queries(BaseQueries):
        source: Source

        def queries_iter(self) -> Iterator[CollectionQuery]:
            with opened_collection(self.source.collection) as opened:
                topics = opened.topics.all()
            for one in topics:
                if "".join((one.title, one.description, one.narrative)).strip():
                    yield CollectionQuery(one.topic, one.title, one.description, one.narrative)

        def queries_cls(self) -> type:
            return CollectionQuery

    class Qrels(BaseQrels):
        source: Source
        defs: dict[int, str]

        def qrels_iter(self) -> Iterator[Any]:
            from pooler import export_qrels

            made = export_qrels(self.source)
            for words in made.warnings:
                warnings.warn(words, stacklevel=2)
            for one in made.qrels:
                yield TrecQrel(one.topic, one.docno, one.grade, one.iteration)

        def qrels_cls(self) -> Any:
            return TrecQrel

        def qrels_defs(self) -> dict[int, str]:
            return self.defs

    return Docs, Queries, Qrels


class _Docs:
    """Documents one after another, and slices of them, as ir_datasets gives them."""

    def __init__(self, docs: Any, docnos: Sequence[str]) -> None:
        self._docs, self._docnos = docs, docnos
        self._coming: Iterator[CollectionDoc] | None = None

    def __iter__(self) -> "_Docs":
        return self

    def __next__(self) -> CollectionDoc:
        self._coming = self._coming or self._docs.docs_of(self._docnos)
        return next(self._coming)

    def __getitem__(self, key: int | slice) -> Any:
        if isinstance(key, slice):
            return _Docs(self._docs, self._docnos[key])
        return next(islice(self._docs.docs_of([self._docnos[key]]), 1))
