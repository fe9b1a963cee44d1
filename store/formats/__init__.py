"""One reader and writer a file format; what formats are called, for options that must not import them."""

from typing import Literal

GradesFormat = Literal["qrels", "ntcir2", "ntcireval", "columns", "jsonl", "tsv"]
"""Of judgements that are read: what evaluators have, and both of `JudgementsFormat`."""
JudgementsFormat = Literal["jsonl", "tsv"]
"""Of judgements with all that is known of them, read and written."""
LabelsFormat = Literal["answers", "umbrela"]
"""Of what models answered, read and written: see `store.formats.labels`."""
ImportFormat = Literal[
    "qrels", "ntcir2", "ntcireval", "columns", "jsonl", "tsv", "answers", "umbrela", "xinfap", "statap"
]
"""Of judgements that go into a collection: `GradesFormat`, `LabelsFormat`, and samples."""
TopicFormat = Literal["auto", "trec", "tsv", "csv", "jsonl"]
DocumentFormat = Literal["auto", "jsonl", "trec", "tsv"]
Layout = Literal["pooler", "beir", "trec"]
"""Of an exported directory: pooler's own is read back; others hold what others read."""
