"""What a page saves, written by hand: the head that the page has, records, and the checksum.

`python -m tests.helpers.saved_pages PAGE TOPIC GRADE...` grades the first documents of a topic, as its judge
would in a browser, and saves the file beside the page.
"""

from __future__ import annotations

import json
import re
import sys
import time
import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.helpers.run import run_inside

Record = Mapping[str, Any]


def record(docno: str, revision: int, action: str, *, topic: str = "1", **said: Any) -> dict[str, Any]:
    """Write what was done, as the page does; `save` adds window, number and times."""
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
        "position": 0,
        "dwell_ms": 1000,
        "active_ms": 900,
        "dropped_keys": 0,
        "view": None,
        **said,
    }


def page_head(whole: Path | str, judge: str, folder: Path) -> str:
    """Make a judge's page, and return the first line of what it saves."""
    page = folder / f"{judge}.head.html"
    run_inside("export", "work", judge, "--out", page, "--collection", whole).fine()
    head = block(page, "head")
    page.unlink()
    return head


def block(page: Path, name: str) -> str:
    """Return what a page holds as JSON: `head`, or `data`."""
    found = re.search(rf'id="{name}">(.*?)</script>', page.read_text("utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def after(head: str, ms: int) -> str:
    """Tell a moment so long after a page was made."""
    return (datetime.fromisoformat(json.loads(head)["made_at"]) + timedelta(milliseconds=ms)).isoformat()


def save(file: Path, head: str, records: Sequence[Record]) -> Path:
    """Write a file as a page does; every record is a millisecond after the one before.

    A record's `window`, of eight digits, follows the page's own eight.
    """
    lines, numbers, page = [head], dict[str, int](), json.loads(head)["signature"][:8]
    for place, one in enumerate(records):
        window = str(one.get("window", "0" * 8))
        window = window if len(window) > 8 else page + window
        numbers[window] = numbers.get(window, 0) + 1
        times = {"opened_at": after(head, 1), "shown_at": after(head, 1), "judged_at": after(head, 2 + place)}
        named = {**one, "window": window}
        whole = {"number": numbers[window], **times, **named} if len(one) > 1 else one
        lines.append(json.dumps(whole))
    body = "".join(f"{one}\n" for one in lines).encode()
    time.sleep((len(records) + 5) / 1000)  # none of them is in the future
    file.write_bytes(body + b'{"crc32": "%08x"}\n' % zlib.crc32(body))
    return file


def judge_page(page: Path, topic: str, *grades: int) -> Path:
    """Grade the first documents of a topic, and save the file."""
    data = json.loads(block(page, "data"))
    (queue,) = (one["queue"] for one in data["topics"] if one["topic"] == topic)
    records = [
        record(task["docno"], task["now"]["revision"] + 1, "judge", topic=topic, grade=grade)
        for task, grade in zip(queue, grades, strict=False)
    ]
    return save(page.with_name(data["file"]), block(page, "head"), records)


if __name__ == "__main__":
    judge_page(Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:]))
