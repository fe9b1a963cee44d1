"""`pooler export judgements`: who said what about which document."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pooler.cli.console import check_out, counted, progress, say, write_json, write_lines
from pooler.cli.erased import erased_facts, erased_words
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption

if TYPE_CHECKING:
    from store.formats.judgement_files import JudgementsFormat
    from store.formats.judgements import JudgementEvent
    from store.records import Judgement

_STATES = {
    "judged": "judged",
    "skipped": "skipped",
    "cannot": "cannot be judged",
    "unjudged": "unjudged",
}
"""States in words, in the order in which they are counted."""

_STEP = 1000
"""Lines that the progress bar takes as one step."""


class JudgementsFormatName(StrEnum):
    """Formats of `store.formats.judgement_files`."""

    JSONL = "jsonl"
    TSV = "tsv"


@dataclass(slots=True)
class _Tally:
    """What passed by on its way into a file."""

    judges: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)
    digest: Any = field(default_factory=hashlib.sha256)
    """Of the bytes of the file."""

    def of_states(self, records: Iterable[Judgement]) -> Iterator[Judgement]:
        """Count how documents stand."""
        for one in records:
            self.judges[one.judge] += 1
            self.states[str(one.state)] += 1
            yield one

    def of_events(self, events: Iterable[JudgementEvent]) -> Iterator[JudgementEvent]:
        """Count events."""
        for one in events:
            self.judges[one.judge] += 1
            self.actions[str(one.action)] += 1
            yield one

    def of_lines(self, lines: Iterable[str], advance: Callable[[int], None]) -> Iterator[str]:
        """Hash lines, and tell of them from time to time."""
        for number, line in enumerate(lines, start=1):
            self.digest.update(f"{line}\n".encode())
            if number % _STEP == 0:
                advance(_STEP)
            yield line


def judgements(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="JUDGE...", help="Default all.")
    ] = None,
    form: Annotated[
        JudgementsFormatName,
        typer.Option(
            "--format",
            help="jsonl: a JSON object a line. tsv: a header and cells between tabs, with \\t, \\n,"
            " \\r, \\\\ and \\uXXXX in them for what a cell cannot hold; empty = nothing.",
        ),
    ] = JudgementsFormatName.JSONL,
    history: Annotated[
        bool,
        typer.Option(
            "--history", help="Every event with all that is known of it, in the order it was done."
        ),
    ] = False,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="Default stdout.")
    ] = None,
    manifest: Annotated[
        str | None,
        typer.Option("--manifest", metavar="FILE", help="Default: the file, .manifest.json added."),
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Write how every document stands with every judge, notes and reasons too: one a line.

    `pooler import judgements --format jsonl` (or tsv) reads it back.

    Example: pooler export judgements alice --history --out alice.jsonl
    """
    from store.collection import Collection
    from store.formats.judgement_files import history_lines, state_lines
    from store.histories import fetch_histories_of
    from store.judgements import count_events
    from store.judges import fetch_judges
    from store.natural_order import natural_key

    check_out(out, manifest)
    kind: JudgementsFormat = "jsonl" if form is JudgementsFormatName.JSONL else "tsv"
    tally = _Tally()
    with Collection(collection) as opened:
        name = opened.name
        erased, gone = erased_words(opened), erased_facts(opened)
        if history:
            with opened.as_it_stands() as inside:
                kinds = {judge.name: judge.kind for judge in fetch_judges(inside.session)}
                keys = inside.session, inside.topics, inside.documents
                events = tally.of_events(fetch_histories_of(*keys, judges=names or None))
                lines = history_lines(events, kinds, kind)
                with progress("events", count_events(inside.session, names or None)) as advance:
                    write_lines(
                        out, tally.of_lines(lines, advance), manifest=manifest, private=True
                    )
        else:
            records = opened.judgements(names or None)
            kinds = {judge.name: judge.kind for judge in opened.judges()}
    if not history:
        records.sort(key=lambda one: (natural_key(one.topic), one.docno, one.judge))
        lines = state_lines(tally.of_states(records), kinds, kind)
        with progress("judgements", len(records)) as advance:
            write_lines(out, tally.of_lines(lines, advance), manifest=manifest, private=True)
    if manifest is not None or out not in (None, "-"):
        facts = {**_manifest(name, kind, tally, history=history), **gone}
        write_json(manifest or f"{out}.manifest.json", facts, private=True)
    _report(tally, history=history)
    if erased:
        say(erased)


def _manifest(
    name: str, kind: JudgementsFormat, tally: _Tally, *, history: bool
) -> dict[str, object]:
    """Say what was exported and how; no times, so that equal files have equal manifests."""
    from pooler import __version__

    what = {"events": tally.judges.total(), "by_action": dict(tally.actions)}
    if not history:
        what = {
            "judgements": tally.judges.total(),
            "by_state": {state: tally.states[state] for state in _STATES},
        }
    return {
        "tool": "pooler",
        "version": __version__,
        "collection": name,
        "format": kind,
        "history": history,
        **what,
        "by_judge": dict(tally.judges),
        "sha256": tally.digest.hexdigest(),
    }


def _report(tally: _Tally, *, history: bool) -> None:
    """Say on stderr what was written."""
    number, n_judges = tally.judges.total(), counted(len(tally.judges), "judge")
    if history:
        parts = [f"{count:,} {action}" for action, count in sorted(tally.actions.items())]
    else:
        parts = [f"{tally.states[one]:,} {words}" for one, words in _STATES.items()
                 if tally.states[one]]  # fmt: skip
    what = counted(number, "judgement event" if history else "judgement")
    say(f"{what} of {n_judges}" + (f": {', '.join(parts)}" if parts else ""))
