"""The header of a run file: what its maker says of the run, as `ir_metadata` [1]_ has it.

It begins on the first line with ``# ir_metadata.start``, ends with ``# ir_metadata.end``, and has YAML
behind the ``#`` of the lines between. All is kept as it stands, and four things are read: ``tag``, which
is the run's; ``actor`` / ``team``, its group, in one word; the stages under ``method`` / ``retrieval``; and
``method`` / ``models``, the language models that it uses, or ``none``. Version 0.1 has no name for the last:
this one is pooler's.

References
----------
.. [1] Breuer, Keller, Schaer, "ir_metadata: An Extensible Metadata Schema for IR Experiments", *SIGIR* 2022,
   doi:10.1145/3477495.3531738; https://www.ir-metadata.org.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from store.errors import FaultList, PoolerError
from store.fields import id_fault
from store.formats.compression import DamagedDataError
from store.formats.lines import BOM, is_regular_file, open_bytes

START = re.compile(rb"# ir_metadata\.start[ \t\r]*\n")
_END = re.compile(rb"^# ir_metadata\.end[ \t\r]*$\n?", re.MULTILINE)
NO_MODEL = "none"
"""What a run says that uses no model."""
_LONGEST = 1 << 16
"""Bytes of a header; some of the tools list every library of a machine."""


@dataclass(frozen=True, slots=True)
class RunHeader:
    """What a header says."""

    text: str
    """As it stands in the file, line ends too."""
    tag: str | None = None
    group: str = ""
    """Empty = not said."""
    models: tuple[str, ...] | None = None
    """``None`` = not said."""
    method: str = ""
    """The stages of retrieval, in their order."""
    tag_line: int = 1
    group_line: int = 1
    models_line: int = 1
    """Where that is stated."""

    def contradicted(self, what: str, stated: object, where: str) -> tuple[int, str, str]:
        """Return the fault of a header that says something else of the run than another place does."""
        expected = f"the header's {what} to be {_quoted(stated)}, {where}"
        return (
            getattr(self, f"{what}_line"),
            f"expected {expected}, got {_quoted(getattr(self, what))}",
            "header",
        )


def _quoted(expected: object) -> str:
    return f"`{', '.join(expected) or NO_MODEL}`" if isinstance(expected, tuple) else f"`{expected}`"


def is_end(line: bytes) -> bool:
    """Return whether a line is the last one of a header."""
    return _END.fullmatch(line) is not None


def cut_header(data: bytes) -> tuple[bytes, bytes]:
    """Split bytes that begin with a header from what follows it; all is header where its end is not there."""
    found = _END.search(data)
    end = len(data) if found is None else found.end()
    return data[:end], data[end:]


def read_header(raw: bytes, faults: FaultList) -> RunHeader | None:
    """Read the lines of a header; ``None`` after a fault. Some 100 microseconds a line."""
    n_faults = faults.count
    lines = raw.splitlines(keepends=True)
    if not is_end(lines[-1]) or not all(line.startswith(b"#") for line in lines):
        message = "expected every line of the header to begin with `#`, down to `# ir_metadata.end`"
        faults.add(1, message, "header")
    elif len(raw) > _LONGEST:
        faults.add(1, f"expected a header of at most {_LONGEST:,} bytes, got {len(raw):,}", "header")
    if faults.count > n_faults:
        return None
    try:
        yaml = b"".join(line.removeprefix(b"#") for line in lines[1:-1]).decode()
        header = _header_of(raw.decode(), _compose(yaml, faults), faults)
    except UnicodeDecodeError:
        faults.add(1, "expected a header in UTF-8", "header")
    return None if faults.count > n_faults else header


def _compose(text: str, faults: FaultList) -> Any:
    """Return the nodes of YAML: scalars are text, so that a team may be called `no` or `1`."""
    import yaml  # few runs have a header

    try:
        return yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        line = 1 if error.problem_mark is None else error.problem_mark.line + 2
        reason = error.problem or "no YAML"
    except RecursionError:
        line, reason = 1, "nesting that is too deep"
    except yaml.YAMLError:
        line, reason = 1, "a control character"
    faults.add(line, f"expected YAML in the header, got: {reason}", "header")
    return None


def _header_of(text: str, root: Any, faults: FaultList) -> RunHeader:
    values: dict[str, Any] = {"text": text}
    for name, *keys in (("tag", "tag"), ("group", "actor", "team")):
        node = _at(root, keys, faults)
        if node is None or node.value == "":
            continue
        line = node.start_mark.line + 2
        wrong = id_fault(node.value) if node.id == "scalar" else "expected one word"
        if wrong:
            faults.add(line, f"{' / '.join(keys)}: {wrong}", "header")
        values |= {name: node.value, f"{name}_line": line}
    if (node := _at(root, ("method", "models"), faults)) is not None:
        stated = [node] if node.id == "scalar" else node.value
        names = tuple(dict.fromkeys(filter(None, (_scalar(one) for one in stated))))
        line = node.start_mark.line + 2
        if None in map(_scalar, stated) or (NO_MODEL in names and len(names) > 1):
            faults.add(line, f"method / models: expected names or `{NO_MODEL}`", "header")
        if names:
            values |= {"models": () if names == (NO_MODEL,) else names, "models_line": line}
    if (node := _at(root, ("method", "retrieval"), faults)) is not None:
        stages = node.value if node.id == "sequence" else [node]
        named = (_at(one, ("name",), faults) or _at(one, ("method",), faults) or one for one in stages)
        values["method"] = " > ".join(one.value for one in named if one.id == "scalar")
    return RunHeader(**values)


def _at(node: Any, keys: Sequence[str], faults: FaultList) -> Any:
    """Return the node under some keys; ``None`` where there is none."""
    for key in keys:
        if node is None or node.id != "mapping":
            return None
        found = [(name, value) for name, value in node.value if name.value == key]
        if len(found) > 1:
            line = found[1][0].start_mark.line + 2
            faults.add(line, f"expected `{key}` once in the header", "header")
        node = found[0][1] if found else None
    return node


def _scalar(node: Any) -> str | None:
    return node.value.strip() if getattr(node, "id", "") == "scalar" else None


def header_of(path: str) -> str | None:
    """Return the header of a run file that can be read twice; ``None`` = none, or one with a fault."""
    if not is_regular_file(path):
        return None
    try:
        with open_bytes(path) as file:
            raw = file.read(len(BOM) + _LONGEST).removeprefix(BOM)[:_LONGEST]
    except (PoolerError, DamagedDataError, OSError):
        return None  # the reader of the file reports it
    faults = FaultList(path)
    header = read_header(cut_header(raw)[0], faults) if START.match(raw) else None
    return None if header is None else header.text
