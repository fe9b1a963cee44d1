"""`pooler export`: qrels, pools, judgements, collections, work files, probabilities."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from pooler.cli.console import check_out, erased_facts, erased_words, write_results
from pooler.cli.keep.export_answers import answers
from pooler.cli.keep.export_formats import made_of, named_qrels, prels
from pooler.cli.keep.export_qrels import qrels
from pooler.cli.keep.export_work import work
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, ManifestOption, OutOption, QrelsOption
from pooler.cli.qrels_files import tell_file_name, tell_rises
from pooler.cli.signature import argument, command, option
from pooler.interrupts import tidy_when_killed
from pooler.messages import progress, say, warn
from pooler.results.judge_kinds import warn_about_voters
from store.errors import ArgumentError
from store.formats import JudgementsFormat, Layout
from store.text import counted

if TYPE_CHECKING:
    from pooler.pools.runs import RunSet
    from store.collection import Collection
    from store.event import JudgementEvent
    from store.grades.definition import NamedQrels
    from store.judging.kinds import Voters
    from store.keeping.directory import ExportChoice, Written
    from store.records import Judgement, Pool


_PROGRAM = {"tool": "pooler"}
"""Stands in every manifest, also in that of a pool that was imported."""
_OTHERS_SHOWN = 10
_WHOLE = 2**31 - 1
"""A depth that no ranking reaches."""


@command
def pool(
    name: Annotated[str, option("--name", "Name of the pool.")] = "pool",
    out: OutOption = None,
    annotated: Annotated[
        bool,
        option(
            "--annotated",
            "Write `topic docno run group rank score grade`, one line per contributing run. - for run,"
            " group, rank and score where no run contributed; in place of a missing grade: unjudged,"
            " skipped, cannot or undecided.",
        ),
    ] = False,
    *,
    qrels: QrelsOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Write a pool: one `topic docno` per line, in its display order.

    Example: pooler export pool --out pool.txt

    Example: pooler export pool --annotated --qrels strict --out contributions.txt
    """
    from pooler.pools.annotated import UNJUDGED, graded_lines
    from pooler.pools.plan import pool_lines
    from store.collection import Collection

    check_out(out, None)
    if qrels is not None and not annotated:
        raise ArgumentError("--qrels", "is for a pool with grades", None, hint="--annotated writes them")
    with Collection(collection) as opened:
        stored = opened.pools.get(name)
        others = [one.name for one in opened.pools.all() if one.name != name and not one.withdrawn]
        if annotated:
            runs = _runs_of(opened, stored)
            grades, facts, voters = _grades(opened, named_qrels(opened, qrels))
    manifest = {**stored.manifest, **_PROGRAM}
    if annotated:
        write_results({out: graded_lines(runs, stored, grades)}, lambda: manifest | {"grades": facts}, None)
        listed = {(entry.topic, entry.docno) for entry in stored.entries if entry.sampled}
        n_open = sum(grades.get(pair, UNJUDGED) == UNJUDGED for pair in listed)
        n_runs = 0 if runs is None else sum(run.contributes for run in runs.runs)
        say(f"{counted(len(listed), 'document')} of {counted(n_runs, 'run')}, {n_open:,} unjudged")
        warn_about_voters(voters)
        tell_file_name([out], voters)
        tell_rises(collection, voters)
    else:
        write_results({out: pool_lines(stored)}, lambda: manifest, None, names_judges=False)
    if others:
        named = ", ".join(others[:_OTHERS_SHOWN])
        named += f" and {len(others) - _OTHERS_SHOWN:,} more" if len(others) > _OTHERS_SHOWN else ""
        say(f"this is only pool `{name}`; other pools: {named} (--name writes one)")


def _runs_of(opened: Collection, stored: Pool) -> RunSet | None:
    """Return the runs that fed a pool, as deep as it looked into them; ``None`` = there are none.

    Of a pool that no run fed, as an imported one, these are all contributing runs, whole.
    """
    from pooler.pools.runs import stored_runs
    from store.ranking import check_order

    tags = list(stored.run_tags) or [run.tag for run in opened.runs.all() if run.contributes]
    if not tags:
        return None
    manifest = stored.manifest if stored.run_tags else {}
    depth = manifest.get("parameters", {}).get("depth", _WHOLE)
    order = check_order(manifest.get("order", "trec"))
    return stored_runs(opened, depth=depth, order=order, tags=tags, scores=True)


def _grades(
    opened: Collection, named: NamedQrels
) -> tuple[dict[tuple[str, str], str], dict[str, Any] | None, Voters]:
    from pooler.results.agree.qrels_words import rule_facts
    from store.grades.qrels import decide

    all_votes = opened.grades.all_votes(named.definition)
    if not all_votes.votes.n_documents and not all_votes.rulings:
        return {**all_votes.reasons}, None, all_votes.voters
    final = decide(all_votes, named.definition)
    grades: dict[tuple[str, str], str] = dict(final.left_out)
    grades |= {(row.topic, row.docno): str(row.grade) for row in final.rows}
    facts = {"qrels": named.label, **rule_facts(opened.judges.all(), final)}
    return grades, facts, all_votes.voters


_STATES = {"judged": "judged", "skipped": "skipped", "cannot": "cannot be judged", "unjudged": "unjudged"}
"""States in words, in the order in which they are counted."""

_STEP = 1000
"""Lines that the progress bar takes as one step."""


Event = TypeVar("Event", "Judgement", "JudgementEvent")


@dataclass(slots=True)
class _Tally:
    """What passed by on its way into a file."""

    by: str
    """What is counted of each: its `state` or its `action`."""
    counts: Counter[str] = field(default_factory=Counter)
    judges: Counter[str] = field(default_factory=Counter)
    digest: Any = field(default_factory=hashlib.sha256)
    """Of the bytes of the file."""

    def of(self, records: Iterable[Event]) -> Iterator[Event]:
        for one in records:
            self.judges[one.judge] += 1
            self.counts[str(getattr(one, self.by))] += 1
            yield one

    def of_lines(self, lines: Iterable[str], advance: Callable[[int], None]) -> Iterator[str]:
        for number, line in enumerate(lines, start=1):
            self.digest.update(f"{line}\n".encode())
            if number % _STEP == 0:
                advance(_STEP)
            yield line

    def facts(self) -> dict[str, Any]:
        n, states = self.judges.total(), {state: self.counts[state] for state in _STATES}
        counted_by = {
            "action": {"events": n, "by_action": self.counts},
            "state": {"judgements": n, "by_state": states},
        }
        return counted_by[self.by] | {"by_judge": self.judges, "sha256": self.digest.hexdigest()}


def judgements(
    names: Annotated[list[str] | None, argument("JUDGE...", "Default all.")] = None,
    form: Annotated[
        JudgementsFormat,
        option(
            "--format",
            "jsonl: one JSON object per line. tsv: a header, cells separated by tabs, with \\t, \\n,"
            " \\r, \\\\ and \\uXXXX for what a cell cannot hold; empty = nothing.",
        ),
    ] = "jsonl",
    history: Annotated[
        bool, option("--history", "Every event with everything known about it, in the order of time.")
    ] = False,
    out: OutOption = None,
    manifest: ManifestOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Write the state of every document for every judge, with notes and reasons.

    `pooler import judgements --format jsonl` (or tsv) reads it back.

    Example: pooler export judgements alice --history --out alice.jsonl
    """
    from store.collection import Collection
    from store.formats.judgements import history_lines, state_lines
    from store.judging.events import count_events, fetch_judgements
    from store.judging.judges import fetch_judges
    from store.keeping.histories import fetch_histories_of

    check_out(out, manifest)
    tally = _Tally("action" if history else "state")
    with Collection(collection) as opened:
        facts = {**made_of(opened), "format": form, "history": history, **erased_facts(opened)}
        erased = erased_words(opened)
        with opened.as_it_stands() as inside:
            session, chosen = inside.session, names or None
            kinds = {judge.name: judge.kind for judge in fetch_judges(session)}
            if history:
                what = "events"
                lines = history_lines(tally.of(fetch_histories_of(*inside, judges=chosen)), kinds, form)
            else:
                what = "judgements"
                lines = state_lines(
                    tally.of(fetch_judgements(session, inside.topics, judges=chosen)), kinds, form
                )
            with progress(what, count_events(session, chosen, first=not history)) as advance:
                rows = tally.of_lines(lines, advance)
                write_results({out: rows}, lambda: facts | tally.facts(), manifest, private=True)
    n, n_judges = tally.judges.total(), counted(len(tally.judges), "judge")
    if history:
        parts = [f"{count:,} {action}" for action, count in sorted(tally.counts.items())]
    else:
        parts = [f"{tally.counts[one]:,} {words}" for one, words in _STATES.items() if tally.counts[one]]
    what = counted(n, "judgement event" if history else "judgement")
    say(f"{what} of {n_judges}" + (f": {', '.join(parts)}" if parts else ""))
    if erased:
        say(erased)


@command
def whole_collection(
    folder: Annotated[Path, argument("DIR", "A folder that does not exist yet, or is empty.")],
    *,
    without_texts: Annotated[
        bool, option("--without-texts", "Only docnos, not the texts of documents.")
    ] = False,
    without_runs: Annotated[
        bool, option("--without-runs", "Leave the runs out; plans of pools then name none, either.")
    ] = False,
    run_files: Annotated[
        Path | None,
        option(
            "--run-files DIR",
            "Copy run files as they were handed in from DIR, each known by its SHA-256; others are written as"
            " plain TREC lines, as all are without this.",
        ),
    ] = None,
    without_notes: Annotated[
        bool, option("--without-notes", "Leave the judges' notes and reasons out.")
    ] = False,
    anonymised: Annotated[
        bool,
        option(
            "--anonymised",
            "Rename judges to judge-1, judge-2, ... in a random order that is recorded nowhere, and leave out"
            " their machines and programs. Notes and reasons stay, with [judge] in"
            " place of every judge's name: see --without-notes.",
        ),
    ] = False,
    layout: Annotated[
        Layout,
        option(
            "--as",
            "Layout: pooler's own files, the whole collection; or part of it as a BEIR folder or TREC files.",
        ),
    ] = "pooler",
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Write the whole collection into a folder, with a README.

    Topics, documents, runs, pools, all judgements, and the qrels of every definition (`pooler qrels`), as
    its newest version makes them. `pooler import collection DIR` makes the same collection
    again, of what lies in DIR/tables.

    Example: pooler export collection garden --run-files runs
    """
    from pooler.version import __version__
    from store.collection import Collection
    from store.keeping.directory import ExportChoice, write_directory

    export_choice = ExportChoice(
        layout=layout,
        run_files=run_files,
        texts=not without_texts,
        runs=not without_runs,
        notes=not without_notes,
        anonymised=anonymised,
    )
    with tidy_when_killed(), Collection(collection) as opened:
        written = write_directory(
            opened.as_it_stands(), folder, export_choice, program=f"pooler {__version__}", progress=progress
        )
        erased = erased_words(opened)
    _report_directory(folder, export_choice, written)
    if erased:
        say(erased)
    say(f"fill in the licence yourself: {folder / 'README.md'}")


def _report_directory(folder: Path, export_choice: ExportChoice, written: Written) -> None:
    counts = Counter(written.counts)
    nouns = {name: name for name in ("topic", "document", "run", "pool", "judge")}
    nouns["judgement"] = "judgement event"
    is_others = export_choice.layout != "pooler"
    if is_others:  # what else there is, the data card counts
        nouns = {"topic": "topic", "texts": "document"}
        nouns |= {"run": "run"} if export_choice.layout == "trec" and export_choice.runs else {}
    said = {name: counted(counts[name], noun) for name, noun in nouns.items()}
    if "judge" in said and written.n_idle and counts["judge"] > written.n_idle:
        said["judge"] += f" ({written.n_idle:,} without a grade)"
    say(
        f"{folder}: {', '.join(said.values())}; {counted(written.n_files, 'file')}, {written.n_bytes:,} bytes"
    )
    if is_others and (n_bare := counts["document"] - counts["texts"]):
        say(f"left out: {counted(n_bare, 'document')} without a text")
    left_out = [noun for noun in export_choice.left_out if noun != "names"]
    if left_out:
        say(f"left out: {', '.join(left_out)}")
    if export_choice.run_files is not None:
        say(f"as handed in: {counts['as_handed_in']:,} of {counted(counts['run'], 'run')}")
    for one in written.qrels:
        _report_qrels(one)
    warn_about_voters(written.voters)
    if not written.qrels:
        say("no qrels: nothing is judged yet")
    if export_choice.anonymised and counts["notes"] and not is_others:
        words = counted(counts["notes"], "note or reason", "notes and reasons")
        warn(f"judges' own words are included: {words}; --without-notes leaves them out")


def _report_qrels(one: Mapping[str, Any]) -> None:
    from pooler.results.agree.qrels_words import rulings_words

    who = f"judge {', '.join(one['judges'])}"
    if len(one["judges"]) != 1:
        who = f"{one['rule']} of {counted(len(one['judges']), 'judge')}"
    ties = "" if one["ties"] is None else f", ties {one['ties']}"
    say(f"qrels {one['name']}@{one['qrels_version']}: {counted(one['documents'], 'document')}, {who}{ties}")
    words = []
    if one["left_out"]["undecided"]:
        words.append(f"{counted(one['left_out']['undecided'], 'document')} left out: undecided")
    if one["ties"] in ("low", "high"):
        words.append(f"the tie rule decided {counted(one['decided_by_tie_rule'], 'document')}")
    if one["decided_by_ruling"] or one["cannot_by_ruling"]:
        words.append(f"rulings: {rulings_words(one['decided_by_ruling'], one['cannot_by_ruling'])}")
    skipped, cannot = (one["left_out"][reason] for reason in ("skipped", "cannot"))
    if skipped or cannot:
        words.append(f"left out: {skipped:,} skipped, {cannot:,} cannot be judged")
    if words:
        say(f"  {'; '.join(words)}")


app = typer.Typer(help="Write qrels and other files for evaluation programs.", no_args_is_help=True)
app.command("qrels")(qrels)
app.command("prels")(prels)
app.command("pool")(pool)
app.command("judgements")(judgements)
app.command("answers")(answers)
app.command("collection")(whole_collection)
app.command("work")(work)
