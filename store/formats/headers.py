"""Lines of column names on top of tab-separated topics and documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def header_fields(
    cells: Sequence[str], ids: Sequence[str], fields: Mapping[str, Sequence[str]]
) -> list[str] | None:
    """Return what the columns of a table are, if its first line says so.

    Parameters
    ----------
    cells : sequence of str
        The cells of the first line.
    ids : sequence of str
        What the first column may be called, in lower case, with ``_`` for blanks and hyphens.
    fields : mapping of str to sequence of str
        What each field may be called.

    Returns
    -------
    list of str or None
        The fields of the other columns, in their order; ``None`` = the line is no header: a name
        is unknown, two mean the same, or there is but one column.

    Examples
    --------
    >>> header_fields(["Query-ID", "Query"], ["query_id"], {"title": ["title", "query"]})
    ['title']
    >>> header_fields(["7", "Query"], ["query_id"], {"title": ["title", "query"]}) is None
    True
    """
    first, *others = (_name(cell) for cell in cells)
    meant = {name: field for field, names in fields.items() for name in names}
    found = [meant[name] for name in others if name in meant]
    is_header = first in ids and 0 < len(found) == len(others) == len(set(found))
    return found if is_header else None


def _name(cell: str) -> str:
    """Write a column's name in one way."""
    return cell.strip(" ").lower().replace(" ", "_").replace("-", "_")


def doubt_words(ids: Iterable[str], noun: str, names: str) -> str | None:
    """Say that the first id of a table looks like the name of its column; ``None`` = it does not.

    It does when it is a word without a digit, and every other has a digit.

    Parameters
    ----------
    ids : iterable of str
        All ids of the table, in its order.
    noun : str
        What the table has.
    names : str
        Names of columns that would have been known.

    Examples
    --------
    >>> doubt_words(["keyword", "G01", "G02"], "topic", "topic, title")
    'the first line was read as topic `keyword`, but looks like names of columns, since all ...'
    >>> doubt_words(["wine", "beer", "G02"], "topic", "topic, title") is None
    True
    """
    rest = iter(ids)
    first, second = next(rest, ""), next(rest, "")
    is_word = any(map(str.isalpha, first)) and not _has_digit(first)
    if not is_word or not _has_digit(second) or not all(map(_has_digit, rest)):
        return None
    return (
        f"the first line was read as {noun} `{first}`, but looks like names of columns, since all"
        f" other ids have digits; known names are {names}"
    )


def _has_digit(text: str) -> bool:
    """Say whether a digit is in a text."""
    return any(map(str.isdigit, text))
