"""What exports have in common: how a manifest begins, and what is told of whose grades a file holds."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from pooler.messages import say, warn
from pooler.sources.source import opened_collection
from store.errors import ArgumentError
from store.grades.definition import NamedQrels, is_file_word
from store.judging.kinds import Voters, is_mixed, sorts_words
from store.records import JudgeKind

if TYPE_CHECKING:
    from store.collection import Collection


def made_of(opened: Collection) -> dict[str, Any]:
    """Begin a manifest; no times are in one, so that equal files have equal manifests."""
    from pooler.version import __version__

    return {"tool": "pooler", "version": __version__, "collection": opened.name}


def sha256_of(text: str) -> str:
    """Return the hash of a file's text, as a manifest has it."""
    return hashlib.sha256(text.encode()).hexdigest()


def named_qrels(opened: Collection, name: str | None) -> NamedQrels:
    """Return qrels of a collection by name; `ArgumentError` for a file."""
    if name is not None and is_file_word(name):
        raise ArgumentError("qrels", "must be a name, of qrels or of a judge of the collection", name)
    return opened.qrels.named(name)


def tell_voters(
    collection: str | Path | Collection | None, paths: Sequence[str | Path | None], voters: Voters
) -> None:
    """Say what a file cannot: that kinds of judges are mixed in it, and that a model obeys what it reads."""
    path = next((path for path in paths if path not in (None, "-")), None)
    if path is not None and is_mixed(voters.counts):
        sorts = sorts_words(voters.counts).replace(", ", " and ").replace(" ", "-")
        file = PurePath(path)
        if sorts not in str(path):
            say(f"  a file name that tells: {file.parent / f'{file.stem}.{sorts}{file.suffix}'}")
    models = [one.name for one in voters.judges if one.kind is JudgeKind.MODEL and one.name in voters.graders]
    if not models or collection is None:
        return
    from pooler.model_client.run import CANARY_WORDS, rises

    with opened_collection(collection) as opened:
        asked = {one.judge for one in opened.models.work() if one.canaries}
        for name in models:
            for one in rises(opened.models.answers(name)) if name in asked else ():
                if one.is_alarming:
                    words = f"{one.mean:+.2f} against the documents themselves ({one.documents} of them)"
                    warn(f"`{name}` graded copies {CANARY_WORDS[one.kind]} {words}: it obeys what it reads")
