"""The manifest of a directory: what is in it, and the size and hash of every file."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from store.errors import ArgumentError, FaultList, PoolerError, SchemaError
from store.fields import MOMENT, UnfitValueError
from store.formats.scale import make_scale, scale_to_json
from store.formats.syntax.json_lines import once
from store.keeping.directory.tables import TIME, About, Faults, FileFacts, Outgoing, facts_of, path_fault
from store.keeping.progress import Progress
from store.records import Grade

MANIFEST = "manifest.json"
README = "README.md"
FORMAT = "pooler collection directory"
VERSION = 2
"""Of pooler's own layout it is 1."""
_LARGEST = 1 << 28
"""Bytes of a manifest beyond which it is none."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest that was read."""

    about: About
    files: Mapping[str, FileFacts]
    readme: FileFacts
    counts: Mapping[str, int]
    layout: str = "pooler"


def manifest_text(out: Outgoing, qrels: list[dict[str, Any]], *, program: str) -> str:
    """Write the manifest of files that are written.

    The readme is told apart, since it is the publisher's to complete.
    """
    tool, _, version = program.partition(" ")
    about, choice, files = out.about, out.export_choice, out.writer.files
    data = {
        "format": FORMAT,
        "format_version": 1 if choice.layout == "pooler" else VERSION,
        "tool": tool,
        "version": version,
        "collection": {
            "name": about.name,
            "created_at": TIME.write(about.created_at),
            "created_by": about.created_by,
            **({"fields": list(about.fields)} if about.fields else {}),
        },
        "scale": scale_to_json(about.scale),
        "options": {
            "texts": choice.texts,
            "runs": choice.runs,
            "runs_named_in_plans": choice.runs,
            "notes": choice.notes,
            "anonymised": choice.anonymised,
            **({} if choice.layout == "pooler" else {"layout": choice.layout}),
            **_policy_facts(out),
        },
        "counts": out.counts,
        "qrels": qrels,
        "files": {name: _facts(facts) for name, facts in files.items() if name != README},
        "readme": _facts(files[README]),
    }
    data["sha256"] = _own_hash(data)
    return json.dumps(data, indent=1, sort_keys=True) + "\n"


def _policy_facts(out: Outgoing) -> dict[str, Any]:
    """Say how grades became one, with judges as they are named in the files."""
    policy, name = out.export_choice.policy, out.disguise.name
    return {
        "judge": None if policy.judge is None else name(policy.judge),
        "of": sorted(map(name, policy.of)),
        "aggregate": policy.rule,
        "ties": policy.ties,
        "collapse": policy.collapse,
        "rulings": policy.rulings,
    }


def _facts(facts: FileFacts) -> dict[str, Any]:
    return {"sha256": facts.sha256, "bytes": facts.n_bytes}


def _own_hash(data: Mapping[str, Any]) -> str:
    """Hash a manifest without the hash that it holds."""
    rest = {key: value for key, value in data.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of a directory.

    None may name a file outside of it, or be of a newer program.
    """
    faults = Faults(folder)
    told = faults.of(MANIFEST)
    data = _load(folder, told)
    faults.raise_if_any()
    if data.get("format") != FORMAT:
        message = f"{folder}: {MANIFEST} is not that of an exported collection"
        raise PoolerError(message, hint="pooler export collection DIR makes one")
    version = data.get("format_version")
    if type(version) is not int or version < 1:
        told.add(None, f"`format_version`: expected a number from 1, got {version!r}", "fields")
    elif version > VERSION:
        message = f"{folder} has the newer format {version}; this program knows {VERSION}"
        raise SchemaError(message, hint="install the newest pooler")
    if data.get("sha256") != _own_hash(data):
        told.add(None, "expected its own hash, got another: it was changed", "sha256")
    about = _about(data, told)
    files = {
        name: facts
        for name, one in _mapping(data, "files", told).items()
        if (facts := _file_facts(name, one, told)) is not None
    }
    readme = _file_facts(README, data.get("readme"), told)
    faults.raise_if_any()
    if about is None or readme is None:  # pragma: no cover - a fault was raised
        raise PoolerError(str(folder))
    counts = {name: number for name, number in _mapping(data, "counts", told).items() if type(number) is int}
    layout = str(_mapping(data, "options", told).get("layout", "pooler"))
    return Manifest(about, files, readme, counts, layout)


def _load(folder: Path, told: FaultList) -> dict[str, Any]:
    """Read the JSON object of a manifest; on a fault, tell it and return an empty one."""
    path = folder / MANIFEST
    if not folder.is_dir():
        message = f"{folder}: there is no such folder"
        raise PoolerError(message)
    if not path.is_file() or path.is_symlink():
        message = f"{folder}: there is no {MANIFEST}: it is no exported collection"
        raise PoolerError(message, hint="pooler export collection DIR makes one")
    if path.stat().st_size > _LARGEST:
        told.add(None, f"expected at most {_LARGEST} bytes", "size")
        return {}
    try:
        data = json.loads(path.read_bytes(), object_pairs_hook=once)
        json.dumps(data, allow_nan=False)
    except json.JSONDecodeError as error:
        told.add(error.lineno, f"expected JSON, got: {error.msg}", "json")
    except (ValueError, RecursionError) as error:
        told.add(None, f"expected JSON, got: {error}", "json")
    else:
        if isinstance(data, dict):
            return data
        told.add(None, "expected a JSON object", "json")
    return {}


def _mapping(data: Mapping[str, Any], key: str, told: FaultList) -> dict[str, Any]:
    """Return an object of a manifest; on a fault, tell it and return an empty one."""
    value = data.get(key)
    if isinstance(value, dict):
        return value
    told.add(None, f"`{key}`: expected an object", "fields")
    return {}


def _about(data: Mapping[str, Any], told: FaultList) -> About | None:
    """Read what a manifest says of the collection."""
    own, scale = _mapping(data, "collection", told), _mapping(data, "scale", told)
    if len(told):
        return None
    match own:
        case {"name": str(name), "created_at": str(moment), "created_by": str(program)}:
            pass
        case _:
            told.add(None, "`collection`: expected name, created_at and created_by", "fields")
            return None
    try:
        name.encode()
        grades = tuple(
            Grade(_whole(one["value"]), _text(one["label"]), _text(one["key"])) for one in scale["grades"]
        )
        rigid = scale["rigid"]
        declared = make_scale(
            grades, relaxed=_whole(scale["relaxed"]), rigid=None if rigid is None else _whole(rigid)
        )
        fields = tuple(map(_text, own.get("fields", ())))
        return About(name, declared, MOMENT.read(moment), program, fields)
    except ArgumentError as error:
        told.add(None, f"`scale`: {error.message}", "scale")
    except UnfitValueError as error:
        told.add(None, f"`created_at`: {error}", "value")
    except (KeyError, TypeError, ValueError):
        told.add(None, "`scale`: expected grades of value, label and key, and levels", "scale")
    return None


def _whole(value: object) -> int:
    """Return a whole number, or raise `TypeError`."""
    if type(value) is not int:
        raise TypeError(value)
    return value


def _text(value: object) -> str:
    """Return text, or raise `TypeError`."""
    if type(value) is not str:
        raise TypeError(value)
    return value


def _file_facts(name: str, value: object, told: FaultList) -> FileFacts | None:
    """Read what a manifest says of a file; on a fault, tell it and return ``None``."""
    if fault := path_fault(name):
        told.add(None, f"`files`: {fault}", "path")
        return None
    match value:
        case {"sha256": str(sha256), "bytes": int(n_bytes)}:
            return FileFacts(sha256, n_bytes)
    told.add(None, f"`{name}`: expected sha256 and bytes", "fields")
    return None


def check_files(folder: Path, manifest: Manifest, faults: Faults, progress: Progress) -> None:
    """Tell every file that is not there, is no plain file, or is not what it was."""
    with progress("files", sum(facts.n_bytes for facts in manifest.files.values())) as advance:
        for name, facts in sorted(manifest.files.items()):
            if fault := file_fault(folder, name, facts):
                faults.of(name).add(None, fault, "sha256")
            advance(facts.n_bytes)


def file_fault(folder: Path, name: str, facts: FileFacts) -> str | None:
    """Say why a file is not the one that a manifest lists; ``None`` when it is."""
    path = folder
    for part in name.split("/"):
        path = path / part
        # A link could lead anywhere, and reading from a pipe would never end.
        if path.is_symlink():
            return "expected a file, got a link"
    try:
        status = path.lstat()
    except FileNotFoundError:
        return "expected a file, and there is none"
    if not stat.S_ISREG(status.st_mode):
        return "expected a file, got something else"
    if status.st_size != facts.n_bytes:
        return f"expected {facts.n_bytes:,} bytes, got {status.st_size:,}: it was changed"
    if facts_of(path) != facts:
        return "expected another hash (sha256): it was changed"
    return None
