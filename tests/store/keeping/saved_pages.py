"""What a page saves, written by hand: the part that it holds, records, and the checksum."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from store.collection import Collection
from store.keeping.page_file import head_of

OPENED = "2026-03-01T09:00:00.000Z"
Record = Mapping[str, Any]


def record(docno: str, revision: int, action: str, *, topic: str = "1", **said: Any) -> dict[str, Any]:
    """Write what was done, as the page does; every one a second after the one before."""
    return {
        "topic": topic,
        "docno": docno,
        "revision": revision,
        "action": action,
        "undoes": None,
        "grade": None,
        "reason": "",
        "note": None,
        "passages": None,
        "shown_at": "2026-03-01T09:00:01.000Z",
        "judged_at": f"2026-03-01T09:00:0{1 + revision}.000Z",
        "dwell_ms": 1000,
        "active_ms": 900,
        "dropped_keys": 0,
        "sitting": OPENED,
        **said,
    }


def page_part(whole: Path | str, judge: str, folder: Path) -> str:
    """Hand out a part, and return the first line of what its page saves."""
    part = folder / f"{judge}.part.db"
    with Collection(str(whole)) as opened:
        opened.hand_out(judge, part, program="x 1")
    head = head_of(part)
    part.unlink()
    return head


def save(file: Path, head: str, records: Sequence[Record]) -> Path:
    """Write a file as a page does."""
    lines = "".join(f"{one}\n" for one in [head, *map(json.dumps, records)]).encode()
    file.write_bytes(lines + b'{"crc32": "%08x"}\n' % zlib.crc32(lines))
    return file
