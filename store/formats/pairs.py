"""Pool files: `topic docno`, one document to judge a line."""

from __future__ import annotations

from store.errors import FaultList
from store.formats.lines import id_fault, read_text_lines


def read_pairs(path: str) -> set[tuple[str, str]]:
    r"""Read a pool file.

    Parameters
    ----------
    path : str
        The file; ``-`` is standard input; compression is seen through. Blank lines are passed over.

    Returns
    -------
    set of (str, str)
        Topic and docno of every line.

    Raises
    ------
    FormatError
        If a line has not two fields, names an id that cannot be one, or says what another line
        has said.
    PoolerError
        If the file cannot be opened.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("51 d1\n51 d2\n")
    ...     file.flush()
    ...     sorted(read_pairs(file.name))
    [('51', 'd1'), ('51', 'd2')]
    """
    faults = FaultList(path)
    pairs: dict[tuple[str, str], int] = {}
    for number, text in read_text_lines(path, faults):
        fields = text.split()
        if not fields:
            continue
        if len(fields) != 2:
            faults.add(number, f"expected 2 fields, topic and docno, got {len(fields)}", "fields")
            continue
        topic, docno = fields
        fault = id_fault(topic) or id_fault(docno)
        if fault is not None:
            faults.add(number, fault, "id")
            continue
        first = pairs.setdefault((topic, docno), number)
        if first != number:
            message = f"document `{docno}` of topic `{topic}` is there already, on line {first}"
            faults.add(number, message, "duplicate")
    faults.raise_if_any()
    return set(pairs)
