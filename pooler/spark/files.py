"""Run files wherever Spark finds them: by paths and file:// on the worker itself, else through Hadoop.

Hadoop's file systems (hdfs://, s3a:// and what else the settings of Spark name) give a file whole, in
memory and of at most 2 GB; it is then read from a temporary file on the worker. No line is split or
decoded by Spark.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote

from pooler.reading.run_list import RunEntry
from pooler.spark.session import java_reason
from store.errors import ArgumentError, FormatError, PoolerError
from store.formats.syntax.lines import STDIN, is_pattern, is_regular_file

_FILE = ("file://localhost/", "file:///")
_HIDDEN = ("_", ".")
_MOST_BYTES = 2**31 - 1
"""Of a file that Java holds whole."""
_ASKED_AT_ONCE = 16
_NOT_THERE = ("FileNotFoundException", "PathNotFoundException", "NotInMountpointException")


@dataclass(frozen=True, slots=True)
class FilePlace:
    """Where a run file is."""

    entry: RunEntry
    path: str | None
    """On the worker; ``None`` = Hadoop has it."""
    key: str = ""
    """What Hadoop calls it."""
    n_bytes: int = 0
    """0 where it is not known."""
    fault: PoolerError | None = None
    """Why it cannot be read."""


def find_files(context: Any, entries: Sequence[RunEntry]) -> list[FilePlace]:
    """Find where run files are, in their order; a pattern in a URI is all files it names, by name.

    What is wrong with one file is its fault, and told with those of others; `PoolerError` where a file system
    does not answer.
    """
    is_there = ["://" in entry.file and not entry.file.startswith("file:/") for entry in entries]
    there = [entry for entry, far in zip(entries, is_there, strict=True) if far]
    with ThreadPoolExecutor(_ASKED_AT_ONCE) as pool:
        of_hadoop = iter([*pool.map(lambda entry: _of_hadoop(context, entry), there)])
    places = []
    for entry, far in zip(entries, is_there, strict=True):
        places += next(of_hadoop) if far else [_of_path(entry)]
    return places


def _of_path(entry: RunEntry) -> FilePlace:
    """Find a file by its path."""
    path = entry.file
    for start in _FILE:
        if path.startswith(start):
            path = "/" + unquote(path.removeprefix(start))
    if path == STDIN or (Path(path).exists() and not Path(path).is_dir() and not is_regular_file(path)):
        requirement = "must be files: what can be read but once cannot go to a worker"
        raise ArgumentError("runs", requirement, entry.file)
    try:
        n_bytes = Path(path).stat().st_size
    except (OSError, ValueError):  # the worker says so, or sees it
        n_bytes = 0
    return FilePlace(entry, os.path.abspath(path), n_bytes=n_bytes)  # noqa: PTH100 - links stay


def _of_hadoop(context: Any, entry: RunEntry) -> list[FilePlace]:
    """Ask a file system of Hadoop for a file, or for those of a pattern."""
    from py4j.protocol import Py4JJavaError

    uri = entry.file
    try:
        path = context._jvm.org.apache.hadoop.fs.Path(uri)
        system = path.getFileSystem(context._jsc.hadoopConfiguration())
        try:
            return [_place(entry, system.getFileStatus(path), uri)]
        except Py4JJavaError as error:
            if not java_reason(error).startswith(_NOT_THERE):
                raise
        found = [*(system.globStatus(path) or ())] if is_pattern(uri) else []
    except Py4JJavaError as error:
        hint = "a URI is read by Hadoop, by the settings that Spark has: SPARK_CONF_DIR, HADOOP_CONF_DIR"
        message = f"{uri}: cannot be reached ({java_reason(error)})"
        raise PoolerError(message, hint=hint) from None
    if not found:
        return [FilePlace(entry, None, fault=PoolerError(f"{uri}: no such file or directory"))]
    return sorted((_place(entry, status) for status in found), key=lambda place: place.key)


def _place(entry: RunEntry, status: Any, uri: str | None = None) -> FilePlace:
    """Tell where a file is that Hadoop has, under its own name unless told, and its fault."""
    key, n_bytes = str(status.getPath().toString()), int(status.getLen())
    name = uri or key
    fault = None
    if status.isDirectory():
        fault = PoolerError(f"{name}: is a directory", hint=f"name the files in it: {name.rstrip('/')}/*")
    elif key.rpartition("/")[2].startswith(_HIDDEN):
        hint = "call it otherwise, or mount it and name its path"
        fault = PoolerError(f"{name}: Hadoop hides files whose names begin with _ or .", hint=hint)
    elif n_bytes > _MOST_BYTES:
        hint = "compress it, or mount it and name its path"
        fault = PoolerError(f"{name}: has {n_bytes:,} bytes; Hadoop gives files of up to 2 GB", hint=hint)
    return FilePlace(replace(entry, file=name), None, key, n_bytes, fault)


def hadoop_paths(keys: Sequence[str]) -> str:
    """Name files to Hadoop, which takes some signs for its own; other files may match, too."""
    signs = {ord(sign): f"\\{sign}" for sign in "\\*?[]"} | {ord(sign): "?" for sign in ",{}"}
    return ",".join(key.translate(signs) for key in keys)


@contextmanager
def as_file(name: str, content: bytes) -> Iterator[str]:
    """Keep a file's bytes on this machine for a while, under its own name; give the path."""
    place = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or None
    with TemporaryDirectory(prefix="pooler-run-", dir=place) as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        yield str(path)


def renamed(error: PoolerError, path: str, name: str) -> PoolerError:
    """Return an error of a file under the name that the user gave it."""
    hint = None if error.hint is None else error.hint.replace(path, name)
    if isinstance(error, FormatError):
        return FormatError(name, error.faults, n_faults=error.n_faults, hint=hint)
    return PoolerError(error.message.replace(path, name), hint=hint) if type(error) is PoolerError else error


def by_key(places: Mapping[int, FilePlace]) -> dict[str, list[int]]:
    """Return the numbers of files by what Hadoop calls them; one may be named twice."""
    found: dict[str, list[int]] = {}
    for number, place in places.items():
        found.setdefault(place.key, []).append(number)
    return found
