"""The parts of a directory, in the order in which they are written and read, with the files of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from store.keeping.directory import content, models, people, pools, qrels
from store.keeping.directory.tables import FileTable, Incoming, Outgoing


class Part(NamedTuple):
    """One kind of thing that a directory holds."""

    write: Callable[[Outgoing], None]
    read: Callable[[Incoming], None]
    files: tuple[FileTable, ...]


PARTS = (
    Part(content.write_topics, content.read_topics, (content.TOPICS, content.TOPIC_VERSIONS)),
    Part(
        content.write_documents,
        content.read_documents,
        (content.DOCUMENTS, content.DOCUMENT_FIELDS, content.DOCNOS),
    ),
    Part(content.write_guidelines, content.read_guidelines, (content.GUIDELINES,)),
    Part(content.write_runs, content.read_runs, (content.RUNS,)),
    Part(pools.write_pools, pools.read_pools, (pools.POOLS,)),
    Part(people.write_judges, people.read_judges, (people.JUDGES,)),
    Part(models.write_models, models.read_models, (models.MODELS,)),
    Part(people.write_erasures, people.read_erasures, (people.ERASURES,)),
    Part(people.write_sittings, people.read_sittings, (people.SITTINGS,)),
    Part(people.write_terms, people.read_terms, (people.TERMS,)),
    Part(people.write_assignments, people.read_assignments, (people.PLANS, people.ASSIGNMENTS)),
    Part(people.write_judgements, people.read_judgements, (people.JUDGEMENTS,)),
    Part(models.write_answers, models.read_answers, (models.ANSWERS,)),
)
FILES = (*(file for part in PARTS for file in part.files), qrels.STATISTICS, qrels.AGREEMENT)
"""What the README describes, in its order."""
COUNTED = {file.counts: file.into for file in (*FILES, pools.ENTRIES) if file.counts}
"""What a manifest counts, and the tables whose rows they are."""
