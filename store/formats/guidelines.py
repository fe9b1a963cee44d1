"""Judging guidelines: one text in markdown."""

from __future__ import annotations

from store.errors import FaultList
from store.formats.compression import DamagedDataError
from store.formats.lines import BOM, open_bytes


def read_guidelines(path: str) -> str:
    """Read guidelines, as they are.

    Parameters
    ----------
    path : str
        A UTF-8 file; ``-`` is standard input; compression is seen through.

    Returns
    -------
    str
        The text with its line ends, whatever they are, but without a byte order mark.

    Raises
    ------
    FormatError
        If it is not UTF-8, is empty or blank, or is damaged.
    PoolerError
        If the file cannot be opened.
    """
    faults = FaultList(path)
    text = ""
    with open_bytes(path) as file:
        try:
            raw = file.read().removeprefix(BOM)
            text = raw.decode("utf-8")
        except DamagedDataError as error:
            faults.add(None, str(error), error.kind)
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            faults.add(line, f"expected UTF-8, got byte 0x{raw[error.start]:02x}", "utf8")
    if not (text.strip() or len(faults)):
        faults.add(None, "expected guidelines, got no text", "empty")
    faults.raise_if_any()
    return text
