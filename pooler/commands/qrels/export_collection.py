"""`pooler export collection`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pooler.command import Option, Stored, command
from pooler.commands.qrels.words import rulings_words
from pooler.judge_kinds import erased_words, warn_about_voters
from pooler.messages import progress, say, warn
from pooler.result import Done, frozen_settings
from pooler.version import __version__
from store.formats import Layout
from store.text import counted

if TYPE_CHECKING:
    from store.keeping.directory import ExportChoice, Written


@command
def export_collection(
    collection: Stored,
    folder: Annotated[str | Path, Option("DIR", "A folder that does not exist yet, or is empty.")],
    *,
    layout: Annotated[Layout, Option("--as")] = "pooler",
    run_files: Annotated[str | Path | None, Option("--run-files DIR")] = None,
    without_texts: bool = False,
    without_runs: bool = False,
    without_notes: bool = False,
    anonymised: bool = False,
) -> Done:
    """Write the whole collection into a folder, with a README.

    Topics, documents, runs, pools, all judgements, and the qrels of every definition (`pooler qrels`), as
    its newest version makes them. `pooler import collection DIR` makes the same collection
    again, of what lies in DIR/tables.

    Example: pooler export collection garden --run-files runs

    layout : pooler's own files, the whole collection; or part of it as a BEIR folder or TREC files.
    run_files : Copy run files as they were handed in from DIR, each known by its SHA-256; others are written
        as plain TREC lines, as all are without this.
    without_texts : Only docnos, not the texts of documents.
    without_runs : Leave the runs out; plans of pools then name none, either.
    without_notes : Leave the judges' notes and reasons out.
    anonymised : Rename judges to judge-1, judge-2, ... in a random order that is recorded nowhere, and leave
        out their machines and programs. Notes and reasons stay, with [judge] in place of every judge's name:
        see --without-notes.
    """
    from store.keeping.directory import ExportChoice, write_directory

    place = Path(folder)
    choice = ExportChoice(
        layout=layout,
        run_files=None if run_files is None else Path(run_files),
        texts=not without_texts,
        runs=not without_runs,
        notes=not without_notes,
        anonymised=anonymised,
    )
    written = write_directory(
        collection.as_it_stands(), place, choice, program=f"pooler {__version__}", progress=progress
    )
    _tell(place, choice, written)
    if erased := erased_words(collection):
        say(erased)
    say(f"fill in the licence yourself: {place / 'README.md'}")
    return Done(counts=frozen_settings(**written.counts, files=written.n_files))


def _tell(folder: Path, choice: ExportChoice, written: Written) -> None:
    counts = Counter(written.counts)
    nouns = {name: name for name in ("topic", "document", "run", "pool", "judge")}
    nouns["judgement"] = "judgement event"
    is_others = choice.layout != "pooler"
    if is_others:  # what else there is, the data card counts
        nouns = {"topic": "topic", "texts": "document"}
        nouns |= {"run": "run"} if choice.layout == "trec" and choice.runs else {}
    said = {name: counted(counts[name], noun) for name, noun in nouns.items()}
    if "judge" in said and written.n_idle and counts["judge"] > written.n_idle:
        said["judge"] += f" ({written.n_idle:,} without a grade)"
    say(
        f"{folder}: {', '.join(said.values())}; {counted(written.n_files, 'file')}, {written.n_bytes:,} bytes"
    )
    if is_others and (n_bare := counts["document"] - counts["texts"]):
        say(f"left out: {counted(n_bare, 'document')} without a text")
    left_out = [noun for noun in choice.left_out if noun != "names"]
    if left_out:
        say(f"left out: {', '.join(left_out)}")
    if choice.run_files is not None:
        say(f"as handed in: {counts['as_handed_in']:,} of {counted(counts['run'], 'run')}")
    for one in written.qrels:
        _tell_qrels(one)
    warn_about_voters(written.voters)
    if not written.qrels:
        say("no qrels: nothing is judged yet")
    if choice.anonymised and counts["notes"] and not is_others:
        words = counted(counts["notes"], "note or reason", "notes and reasons")
        warn(f"judges' own words are included: {words}; --without-notes leaves them out")


def _tell_qrels(one: Mapping[str, Any]) -> None:
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
