"""Topics and docnos of files read as bytes: decoded and checked, each fault told with its line."""

from __future__ import annotations

from store.errors import FaultList
from store.formats.lines import id_fault, is_plain_id
from store.formats.topics import topic_fault


class IdFields:
    """Fields of a file as text; what repeats is decoded and checked once."""

    def __init__(self, faults: FaultList) -> None:
        self._faults = faults
        self._topics: dict[bytes, str] = {}

    def topic(self, line: int, field: bytes) -> str | None:
        """Return the topic id, or tell the fault."""
        if (known := self._topics.get(field)) is not None:
            return known
        text = self._decoded(line, field)
        if text is not None and (message := topic_fault(text)):
            self._faults.add(line, message, "id")
            return None
        if text is not None:
            self._topics[field] = text
        return text

    def docno(self, line: int, field: bytes) -> str | None:
        """Return the docno, or tell the fault."""
        text = self._decoded(line, field)
        if text is None or is_plain_id(text):
            return text
        if message := id_fault(text):
            self._faults.add(line, message, "id")
            return None
        return text

    def _decoded(self, line: int, field: bytes) -> str | None:
        """Decode a field, or tell the fault."""
        try:
            return field.decode("utf-8")
        except UnicodeDecodeError as error:
            got = field.decode("utf-8", "backslashreplace")
            byte = field[error.start]
            self._faults.add(line, f"expected UTF-8, got byte 0x{byte:02x} in `{got}`", "utf8")
            return None
