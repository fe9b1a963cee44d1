"""The rules of a track: what a submitted run must be, beside a run file without a fault.

A TOML file, whose keys `docs/reference/files.md` has. A rule that is not named is none. Files are beside the
file of rules, or beneath its folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pooler.reading.check import RunReport, RunWarning, first_of, with_faults
from pooler.reading.run_list import RunEntry
from pooler.reading.strict import quoted
from store.errors import Fault, FaultList, FormatError, nearest
from store.fields import id_fault
from store.formats.lines import read_text_lines
from store.formats.scale import read_toml
from store.formats.topics import read_topics
from store.text import counted, natural_key


def _is_names(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)


def _is_expression(value: object) -> bool:
    try:
        return isinstance(value, str) and re.compile(value) is not None
    except (re.error, OverflowError, RecursionError):
        return False


_COUNT = ("an integer >= 1", lambda value: type(value) is int and value >= 1)
_TRUE = ("true or false", lambda value: isinstance(value, bool))
_KEYS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "topics": ("a file, or a list of topic ids", lambda value: isinstance(value, str) or _is_names(value)),
    "documents": ("a file", lambda value: isinstance(value, str)),
    "depth": _COUNT,
    "min_depth": _COUNT,
    "tag": ("a regular expression", _is_expression),
    "descending": _TRUE,
    "ranks": _TRUE,
    "group": _TRUE,
    "runs_per_group": _COUNT,
    "models": _TRUE,
    "warn": ("a list of rules", lambda value: value == [] or _is_names(value)),
}
RULES = frozenset(_KEYS) - {"warn"}
_OF_LISTS = {"unknown-topic": "topics", "unknown-docno": "documents"}
"""Faults that the reader of run files finds."""


Rules = Mapping[str, Any]
"""By key: topics and documents are sets, and so are the rules that warn, which are always there."""


def read_rules(path: str) -> Rules:
    """Read the rules of a track; `FormatError` with all that is wrong with the file."""
    data, faults = read_toml(path), FaultList(path)
    for key, value in data.items():
        if key not in _KEYS:
            close = ", ".join(f"`{one}`" for one in nearest(key, _KEYS)[:3])
            faults.add(None, f"unknown rule `{key}`; known: {close} and others", "key")
        elif not _KEYS[key][1](value):
            faults.add(None, f"expected `{key}` to be {_KEYS[key][0]}, got {value!r}", "value")
    warned = data.get("warn", [])
    for rule in warned if _is_names(warned) else ():
        if rule not in RULES or rule not in data:
            close = ", ".join(f"`{one}`" for one in nearest(rule, RULES & set(data))[:3]) or "none"
            faults.add(None, f"expected `warn` to name rules of this file ({close}), got `{rule}`", "warn")
    least = data.get("min_depth", 1)
    most = data.get("depth", least)
    if _COUNT[1](least) and _COUNT[1](most) and least > most:
        faults.add(None, f"expected `min_depth` to be at most `depth`, {most}, got {least}", "value")
    if not RULES & set(data) and not faults:
        faults.add(None, f"expected at least one rule of {', '.join(sorted(RULES))}, got none", "empty")
    read: dict[str, Any] = {}
    for key, reader in (("topics", _topics), ("documents", _documents)):
        if key in data and _KEYS[key][1](data[key]):
            try:
                read[key] = frozenset(reader(data[key], Path(path).parent))
            except FormatError as error:
                for fault in error.faults:
                    place = error.path if fault.line is None else f"{error.path}:{fault.line}"
                    faults.add(None, f"{key}: {place}: {fault.message}", fault.code)
                if more := error.n_faults - len(error.faults):
                    faults.add(None, f"{key}: {error.path}: and {more:,} more faults", "more")
    faults.raise_if_any()
    return {**data, **read, "warn": frozenset(warned)}


def _topics(given: str | list[str], folder: Path) -> Iterator[str]:
    yield from given if isinstance(given, list) else (one.topic for one in read_topics(str(folder / given)))


def _documents(file: str, folder: Path) -> Iterator[str]:
    faults, n_docnos = FaultList(str(folder / file)), 0
    for number, line in read_text_lines(faults.path, faults):
        if docno := line.strip():
            n_docnos += 1
            if wrong := id_fault(docno):
                faults.add(number, f"docno: {wrong}", "id")
            yield docno
    if not n_docnos and not faults:
        faults.add(None, "expected a docno on each line, got none", "empty")
    faults.raise_if_any()


def verdict(report: RunReport) -> str:
    """Return what happens to a run: `refused`, `warned` or `accepted`."""
    if report.n_faults:
        return "refused"
    return "warned" if warned_by(report) else "accepted"


def warned_by(report: RunReport) -> list[str]:
    """List the rules that warn of a run."""
    return [one.code for one in report.warnings if one.code in RULES]


def apply_rules(
    rules: Rules, reports: Sequence[RunReport], entries: Sequence[RunEntry], others: Mapping[str, str]
) -> list[RunReport]:
    """Add to the report of each run the rules that it breaks: faults, or warnings of rules that warn."""
    named = zip(entries, reports, strict=True)
    groups = {**others, **{one.tag: entry.group for entry, one in named if one.n_documents}}
    runs: dict[str, list[str]] = {}
    for tag in sorted(groups, key=natural_key):
        runs.setdefault(groups[tag], []).append(tag)
    return [
        _with_broken(rules, one, _broken_by(rules, one, entry, runs[entry.group])) if one.n_documents else one
        for entry, one in zip(entries, reports, strict=True)
    ]


def _broken_by(
    rules: Rules, report: RunReport, entry: RunEntry, of_group: Sequence[str]
) -> Iterator[tuple[str, str, int]]:
    """Yield each rule that a run breaks, what it breaks it by, and the count of its topics or runs."""
    odd = {one.code: one for one in report.warnings}
    if "topics" in rules and (one := odd.get("missing-topic")):
        yield "topics", one.message, one.count
    most, least = rules.get("depth"), rules.get("min_depth")
    if most is not None and (over := [topic for topic, size in report.sizes.items() if size > most]):
        got = f"got {report.sizes[over[0]]:,} in {first_of(over)}"
        yield "depth", f"expected at most {counted(most, 'document')} a topic, {got}", len(over)
    if least is not None and (under := [topic for topic, size in report.sizes.items() if size < least]):
        got = f"got {report.sizes[under[0]]:,} in {first_of(under)}"
        yield "min_depth", f"expected at least {counted(least, 'document')} a topic, {got}", len(under)
    if "tag" in rules and not re.fullmatch(rules["tag"], report.tag):
        yield "tag", f"expected a run tag like `{rules['tag']}`, got {quoted(report.tag)}", 1
    if rules.get("descending") and report.rising:
        yield "descending", f"scores rise from line to line in {first_of(report.rising)}", len(report.rising)
    for code in ("rank-order", "rank-number") if rules.get("ranks") else ():
        if one := odd.get(code):
            yield "ranks", one.message, one.count
    limit = rules.get("runs_per_group")
    if limit is not None and entry.group and len(of_group) > limit:
        listed = ", ".join(of_group[:10]) + (", ..." if len(of_group) > 10 else "")
        got = f"got {len(of_group)} of group {quoted(entry.group)}: {listed}"
        yield "runs_per_group", f"expected at most {counted(limit, 'run')} a group, {got}", len(of_group)
    if rules.get("group") and not entry.group:
        yield "group", "expected a group, in the list of runs, got none", 1
    if rules.get("models") and entry.models is None:
        yield "models", "expected models, or `none`, in the list of runs, got nothing", 1


def _with_broken(rules: Rules, report: RunReport, found: Iterable[tuple[str, str, int]]) -> RunReport:
    broken = list(found)
    report = with_faults(
        report, (Fault(None, text, rule) for rule, text, _ in broken if rule not in rules["warn"])
    )
    counts, faults = dict(report.fault_counts), list(report.faults)
    warnings = [one for one in report.warnings if "topics" not in rules or one.code != "missing-topic"]
    warnings += [RunWarning(*one) for one in broken if one[0] in rules["warn"]]
    for code, rule in _OF_LISTS.items():
        if rule in rules["warn"] and code in counts:
            first = next(
                (f", first on line {one.line}: {one.message}" for one in faults if one.code == code), ""
            )
            faults = [one for one in faults if one.code != code]
            n_unknown = counts.pop(code)
            warnings.append(RunWarning(rule, f"{n_unknown:,} not in the list of {rule}{first}", n_unknown))
    return replace(report, faults=tuple(faults), fault_counts=counts, warnings=tuple(warnings))
