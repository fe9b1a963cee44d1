"""Notes that are being written: kept by judge and document until they are saved or given up."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path

Pair = tuple[str, str]
"""Topic and docno."""


class Drafts:
    """The drafts of one judge, in a folder of their own that nobody else can read.

    `folder`: ``None`` = they last as long as the sitting, and so do drafts that cannot be written there.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._texts: dict[Pair, str] = {}
        for file in () if folder is None else sorted(folder.glob("*.json")):
            with suppress(OSError, ValueError, KeyError, TypeError):
                kept = json.loads(file.read_text("utf-8"))
                self._texts[str(kept["topic"]), str(kept["docno"])] = str(kept["text"])

    def __len__(self) -> int:
        return len(self._texts)

    def of(self, topic: str) -> list[str]:
        """Return the documents of a topic that have a draft, the latest last."""
        return [docno for name, docno in self._texts if name == topic]

    def get(self, pair: Pair) -> str | None:
        """Return the draft for a document; ``None`` = there is none."""
        return self._texts.get(pair)

    def keep(self, pair: Pair, text: str) -> None:
        """Keep what is typed so far."""
        self._texts.pop(pair, None)
        self._texts[pair] = text
        if self._folder is None:
            return
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            part = self._file(self._folder, pair).with_suffix(".part")
            part.touch(mode=0o600)
            part.write_text(json.dumps({"topic": pair[0], "docno": pair[1], "text": text}), "utf-8")
            part.replace(part.with_suffix(".json"))

    def drop(self, *pairs: Pair) -> None:
        """Remove drafts, by default all of them."""
        for pair in pairs or list(self._texts):
            self._texts.pop(pair, None)
            if self._folder is not None:
                with suppress(OSError):
                    self._file(self._folder, pair).unlink(missing_ok=True)
        if self._folder is not None and not self._texts:
            with suppress(OSError):
                self._folder.rmdir()

    def _file(self, folder: Path, pair: Pair) -> Path:
        return folder / f"{hashlib.sha256(json.dumps(pair).encode()).hexdigest()[:16]}.json"
