"""What exports have in common: how a manifest begins, and what is told of whose grades a file holds."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from pooler.messages import say, warn
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


def tell_voters(opened: Collection, paths: Sequence[str | Path | None], voters: Voters) -> None:
    """Say what a file cannot: that kinds of judges are mixed in it, and that a model obeys what it reads."""
    tell_file_name(paths, voters)
    tell_rises(opened, voters)


def tell_file_name(paths: Sequence[str | Path | None], voters: Voters) -> None:
    """Say that the name of a file should tell what a line of it cannot: that kinds of judges are mixed."""
    if not is_mixed(voters.counts):
        return
    words = sorts_words(voters.counts).replace(", ", " and ").replace(" ", "-")
    path = next((path for path in paths if path not in (None, "-")), None)
    if path is None or words in str(path):
        return
    folder, name = PurePath(path).parent, PurePath(path)
    say(f"  a file name that tells: {folder / f'{name.stem}.{words}{name.suffix}'}")


def tell_rises(opened: Collection, voters: Voters) -> None:
    """Warn of models that count, and graded copies of documents higher for what was added to them."""
    models = [one.name for one in voters.judges if one.kind is JudgeKind.MODEL and one.name in voters.graders]
    if not models:
        return
    from pooler.model_client.canaries import WORDS, rises

    asked = {one.judge for one in opened.models.work() if one.canaries}
    for name in models:
        for one in rises(opened.models.answers(name)) if name in asked else ():
            if one.is_alarming:
                words = f"{one.mean:+.2f} against the documents themselves ({one.documents} of them)"
                warn(f"`{name}` graded copies {WORDS[one.kind]} {words}: it obeys what it reads")
