"""Files of results: written as a whole, and over nothing but an earlier result of pooler's."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, ClassVar

from pooler.messages import say, write
from store.db.files import made_whole, real_place
from store.errors import PoolerError
from store.text import escape_json

_LARGEST = 1 << 28
"""Bytes of a file beyond which it is no manifest."""
_DATABASE = b"SQLite format 3\0"
"""A collection begins so; it is never a result, whatever lies beside it."""
_DIRECTORY = ("pooler collection", "pooler collection directory")
"""Formats of a manifest that holds an exported collection together; the second is that of 0.2.0."""
_HINT = "name another file, or remove this one first"


def check_place(path: str | Path | None) -> None:
    """Raise `PoolerError` now, before any work, when nothing could be written there."""
    if path is None or path == "-":
        return
    target = Path(path)
    reason = None
    if target.is_dir():
        reason = "it is a folder"
    elif not target.parent.is_dir():
        reason = f"there is no folder {target.parent}"
    elif not os.access(target if target.exists() else target.parent, os.W_OK):
        reason = "permission denied"
    if reason is not None:
        raise PoolerError(f"{path}: cannot be written: {reason}")


def check_manifest(path: str | Path | None) -> None:
    """Raise `PoolerError` now when a manifest could not be written, or would replace another file.

    What is there already is replaced only if it is a manifest of a result, and of no exported collection.
    """
    check_place(path)
    if path not in (None, "-") and _is_something(Path(path)) and _manifest_of(path) is None:
        raise PoolerError(f"{path}: already exists, and is not the manifest of an earlier result", hint=_HINT)


def check_out(out: str | Path | None, manifest: str | Path | None) -> None:
    """Raise `PoolerError` now when a result and its manifest could not be written, or would harm.

    A file that is there already is replaced only if it is an earlier result, one with a manifest beside it:
    `--out *.run` would replace the first run file otherwise, and `--out collection.db` the collection.
    """
    check_place(out)
    check_manifest(manifest)
    if out is None or out == "-":
        return
    target, beside = Path(out), manifest or f"{out}.manifest.json"
    if real_place(target) == real_place(Path(beside)):
        raise PoolerError(f"{out}: cannot be both the result and its manifest")
    is_database = _is_something(target) and _is_database(target)
    if _is_something(target) and (is_database or not Path(beside).is_file()):
        reason = "it is a database" if is_database else f"it has no {beside}"
        raise PoolerError(f"{out}: already exists, and is not an earlier result ({reason})", hint=_HINT)
    check_manifest(beside)


def json_text(data: Any, *, indent: int | None = None, sort_keys: bool = False) -> str:
    """Write JSON: text as it is, but escaped where UTF-8 has no bytes for it or it could steer."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=indent, sort_keys=sort_keys)
    return escape_json(text)


def write_whole(
    path: str | Path, lines: Iterable[str], *, private: bool = False, first: Callable[[], None] | None = None
) -> None:
    """Write lines to a file, which appears complete or not at all; one that is there keeps its mode.

    A new `private` file is for its owner alone, as it is when judges are named in it. `first` is called when
    all lines are written and the file has not its name yet: it writes the manifest, without which a file is
    no result, and would be refused to the command that is given again after a kill.
    """
    target = Path(path)
    is_device = target.exists() and not target.is_file()  # or a pipe
    try:
        with nullcontext(target) if is_device else made_whole(target, replaces=True, private=private) as part:
            with part.open("w", encoding="utf-8", newline="") as file:
                file.writelines(f"{line}\n" for line in lines)
            if first is not None:
                first()
    except OSError as error:
        raise PoolerError(f"{path}: cannot be written: {error.strerror}") from error


def write_lines(
    path: str | Path | None,
    lines: Iterable[str],
    *,
    private: bool = False,
    first: Callable[[], None] | None = None,
) -> None:
    """Write lines to a file, complete or not at all, or to who listens; see `write_whole`."""
    if path is not None and path != "-":
        write_whole(path, lines, private=private, first=first)
        return
    write(lines)
    if first is not None:
        first()


def write_results(
    files: Mapping[Any, Iterable[str]],
    facts: Callable[[], Mapping[str, Any]],
    manifest: str | Path | None,
    *,
    private: bool = False,
    names_judges: bool = True,
) -> None:
    """Write results, each to a file or to stdout, and their manifest; say which replace earlier ones.

    `files`: lines by path. `facts` gives what the manifest says, when the lines of the first file are
    written. `manifest`: its path, by default beside a file; of stdout there is none. `private`: new files are
    for their owner alone, and a new manifest where it names judges.
    """
    paths = [path for path in files if path is not None and path != "-"]
    beside = manifest or (f"{paths[0]}.manifest.json" if paths else None)
    replaced = [path for path in paths if _is_something(Path(path))]
    waiting = [] if beside is None else [beside]

    def write_manifest() -> None:
        while waiting:
            write_json(waiting.pop(), facts(), private=names_judges)

    for path, lines in files.items():
        write_lines(path, lines, private=private, first=write_manifest)
    for path in replaced:
        say(f"{path}: replaced an earlier result")


def write_json(path: str | Path, data: Mapping[str, Any], *, private: bool = False) -> None:
    """Write a JSON file as a whole, or to stdout; keys sorted. See `write_whole` of `private`."""
    write_lines(path, [json_text(data, indent=2, sort_keys=True)], private=private)


class WritesFile:
    """Part of the results that are a file of their `file_lines`, with their `manifest` beside it."""

    __slots__ = ()

    PRIVATE: ClassVar[bool] = False
    """Whether a new manifest is for its owner alone, since it names judges."""

    def write(self: Any, path: str | Path, *, manifest: str | Path | None = None, **form: bool) -> None:
        """Write the file, and its manifest beside it.

        Parameters
        ----------
        path : str or Path
            A file that is there is replaced only if it is an earlier result, with its manifest.
        manifest : str or Path, optional
            Default the file, `.manifest.json` added.
        form : bool, optional
            As `file_lines` takes it: of a pool, `annotated`.
        """
        check_out(path, manifest)
        lines = {path: self.file_lines(**form)}
        write_results(lines, lambda: self.manifest, manifest, names_judges=self.PRIVATE)


def _is_something(path: Path) -> bool:
    """Return whether there is a file with something in it; a device or a pipe is none."""
    return path.is_file() and path.stat().st_size > 0


def _is_database(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(_DATABASE)) == _DATABASE
    return False


def _manifest_of(path: str | Path) -> dict[str, Any] | None:
    """Read a manifest of pooler's; ``None`` = it is none."""
    try:
        if Path(path).stat().st_size > _LARGEST:
            return None
        data = json.loads(Path(path).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or data.get("format") in _DIRECTORY:
        return None
    program = str(data.get("program", "")).partition(" ")[0]
    return data if "pooler" in (data.get("tool"), program) else None
