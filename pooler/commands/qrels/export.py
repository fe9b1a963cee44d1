"""Write qrels and other files for evaluation programs."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pooler.command import Given, Manifest, Option, Out, QrelsName, Stored, command, levels_of
from pooler.commands.qrels.final_qrels import (
    QrelsResult,
    check_decided,
    qrels_at,
    rule_facts,
    rulings_words,
    tell_few_votes,
    tell_qrels,
    tell_rulings,
)
from pooler.files import check_out, write_results
from pooler.judge_kinds import erased_facts, erased_words, warn_about_voters, who_judged
from pooler.messages import progress, say, warn
from pooler.result import Done, frozen_settings
from pooler.sources.judgement_files import PrelsName, method_of, pairs_listed
from pooler.sources.source import DEFAULT_COLLECTION, Source, opened_collection
from pooler.tables import listed
from pooler.version import __version__
from store.errors import ArgumentError, ConflictError, PoolerError, StoreError, UnknownNameError
from store.formats import JudgementsFormat, Layout
from store.formats.labels import answer_lines, umbrela_lines
from store.formats.prels import COLUMNS, NOT_SAMPLED, StatapRow, XinfapRow, write_statap, write_xinfap
from store.formats.qrels import letters_of, write_ntcir2, write_ntcireval
from store.formats.scale import parse_scale, scale_to_json
from store.grades.definition import NamedQrels, is_file_word
from store.judging.kinds import Voters, is_mixed, sorts_words
from store.model_judge import CANARIES
from store.records import JudgeKind
from store.text import counted, free_name

if TYPE_CHECKING:
    from pooler.pools.runs import RunSet
    from store.collection import Collection
    from store.event import JudgementEvent
    from store.records import Judgement, Pool, Qrel


_OTHERS_SHOWN = 10
_WHOLE = 2**31 - 1
"""A depth that no ranking reaches."""
_STATES = {"judged": "judged", "skipped": "skipped", "cannot": "cannot be judged", "unjudged": "unjudged"}
"""States in words, in the order in which they are counted."""
_STEP = 1000
"""Lines that the progress bar takes as one step."""
Event = TypeVar("Event", "Judgement", "JudgementEvent")


@command
def export_pool(
    collection: Stored,
    *,
    name: str = "pool",
    annotated: bool = False,
    qrels: QrelsName = None,
    out: Out = None,
) -> Done:
    """Write a pool: one `topic docno` per line, in its display order.

    Example: pooler export pool --out pool.txt

    Example: pooler export pool --annotated --qrels strict --out contributions.txt

    name : Name of the pool.
    annotated : Write `topic docno run group rank score grade`, one line per contributing run. - for run,
        group, rank and score where no run contributed; in place of a missing grade: unjudged, skipped,
        cannot or undecided.
    """
    from pooler.pools.contents import UNJUDGED, graded_lines
    from pooler.pools.plan import pool_lines
    from store.grades.qrels import decide

    check_out(out, None)
    if qrels is not None and not annotated:
        raise ArgumentError("qrels", "is for a pool with grades", None, hint="--annotated writes them")
    stored = collection.pools.get(name)
    manifest = {**stored.manifest, "tool": "pooler"}
    chosen = {(entry.topic, entry.docno) for entry in stored.entries if entry.sampled}
    if annotated:
        runs, named = _runs_of(collection, stored), named_qrels(collection, qrels)
        all_votes = collection.grades.all_votes(named.definition)
        grades: dict[tuple[str, str], str] = {**all_votes.reasons}
        facts = None
        if all_votes.votes.n_documents or all_votes.rulings:
            final = decide(all_votes, named.definition)
            grades = {**final.left_out, **{(row.topic, row.docno): str(row.grade) for row in final.rows}}
            facts = {"qrels": named.label, **rule_facts(collection.judges.all(), final)}
        write_results({out: graded_lines(runs, stored, grades)}, lambda: manifest | {"grades": facts}, None)
        n_open = sum(grades.get(pair, UNJUDGED) == UNJUDGED for pair in chosen)
        n_runs = 0 if runs is None else sum(run.contributes for run in runs.runs)
        say(f"{counted(len(chosen), 'document')} of {counted(n_runs, 'run')}, {n_open:,} unjudged")
        warn_about_voters(all_votes.voters)
        tell_voters(collection, [out], all_votes.voters)
    else:
        write_results({out: pool_lines(stored)}, lambda: manifest, None, names_judges=False)
    if others := [one.name for one in collection.pools.all() if one.name != name and not one.withdrawn]:
        names = listed(others, _OTHERS_SHOWN)
        say(f"this is only pool `{name}`; other pools: {names} (--name writes one)")
    return Done(counts=frozen_settings(documents=len(chosen)))


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


@command
def export_judgements(
    collection: Stored,
    judges: Annotated[Sequence[str], Option("JUDGE...", "Default all; of answers, one model.")] = (),
    *,
    form: Annotated[Literal["jsonl", "tsv", "answers", "umbrela"], Option("--as")] = "jsonl",
    history: bool = False,
    out: Out = None,
    manifest: Manifest = None,
) -> Done:
    r"""Write the state of every document for every judge, with notes and reasons.

    Or what a model answered: of a pair that has a newer judgement the newer answer, and no canaries.
    `pooler import judgements` reads every form back.

    Example: pooler export judgements alice --history --out alice.jsonl

    Example: pooler export judgements gpt --as answers --out gpt.jsonl

    form : jsonl: one JSON object per line. tsv: a header, cells separated by tabs, with \t, \n, \r, \\ and
        \uXXXX for what a cell cannot hold; empty = nothing. answers: a JSON object an answer, with topic,
        docno, grade, the reason where there is none, probabilities, tokens and cost. umbrela: with the texts
        of query and passage; what could not be read has result_status 0.
    history : Every event with everything known about it, in the order of time.
    """
    check_out(out, manifest)
    facts = {"tool": "pooler", "version": __version__, "collection": collection.name, "format": form}
    facts |= erased_facts(collection)
    if form == "jsonl" or form == "tsv":
        erased = erased_words(collection)
        done = _export_states(collection, judges, form, facts, history=history, out=out, manifest=manifest)
        if erased:
            say(erased)
        return done
    if history:
        raise ArgumentError("history", f"is for jsonl and tsv; {form} has what was answered", None)
    if len(judges) != 1:
        raise ArgumentError("judges", f"must name one model with --as {form}", " ".join(judges) or None)
    judge = judges[0]
    models = {one.judge: one.identity for one in collection.models.all()}
    if judge not in models:
        raise UnknownNameError("model judge", judge, models, hint="pooler show judges shows their kinds")
    # Canaries are no answers, nor what came before the answer that a pair's newest judgement is of.
    kept = [one for one in collection.models.answers(judge) if one.asked not in CANARIES]
    newest = {(one.topic, one.docno): one for one in kept if one.is_judgement}
    found = [one for one in kept if not one.is_judgement or newest[one.topic, one.docno] is one]
    judged = [one for one in found if one.is_judgement]
    if form == "umbrela":
        # Grades are written as the model gave them.
        mapped = {} if (identity := models[judge]) is None else identity.grade_map
        for new in sorted(set(mapped.values())):
            several = {old for old in mapped if mapped[old] == new} | ({new} - mapped.keys())
            if len(several) > 1:
                olds = " and ".join(map(str, sorted(several)))
                message = f"grades {olds} of `{judge}` were read as {new}, and cannot be told apart any more"
                raise ConflictError(message, hint="--as answers writes the grades of the collection")
        found, back = judged, {new: old for old, new in mapped.items()}
        topics = {one.topic: one.title or one.description for one in collection.topics.all()}
        documents = collection.documents

        def texts(topic: str, docno: str) -> tuple[str, str]:
            document = documents.get(docno)
            return topics.get(topic, ""), "" if document is None else document.text or ""

        lines = [*umbrela_lines(found, texts, back)]
    else:
        lines = [*answer_lines(found)]
    sha256 = sha256_of("".join(f"{line}\n" for line in lines))
    more = {"judge": judge, "answers": len(found), "sha256": sha256}
    write_results({out: lines}, lambda: {**facts, **more}, manifest)
    reasons = Counter(one.unreadable.value for one in judged if one.unreadable is not None)
    what = f": {sum(one.grade is not None for one in judged):,} with a grade"
    what += "".join(f", {n:,} {reason}" for reason, n in sorted(reasons.items()))
    if others := len(found) - len(judged):
        what += f", {others:,} that are no judgement"
    say(f"{counted(len(found), 'answer')} of {judge}" + (what if found else ""))
    return Done(counts=frozen_settings(answers=len(found)))


def _export_states(
    opened: Collection,
    judges: Sequence[str],
    form: JudgementsFormat,
    facts: Mapping[str, Any],
    *,
    history: bool,
    out: str | Path | None,
    manifest: str | Path | None,
) -> Done:
    from store.formats.judgements import history_lines, state_lines
    from store.judging.events import count_events, fetch_judgements
    from store.judging.judges import fetch_judges
    from store.keeping.histories import fetch_histories_of

    what, by = ("events", "action") if history else ("judgements", "state")
    counts, by_judge, digest = Counter[str](), Counter[str](), hashlib.sha256()

    def tallied(records: Iterable[Event]) -> Iterator[Event]:
        for one in records:
            by_judge[one.judge] += 1
            counts[str(getattr(one, by))] += 1
            yield one

    def digested(lines: Iterable[str], advance: Callable[[int], None]) -> Iterator[str]:
        for number, line in enumerate(lines, start=1):
            digest.update(f"{line}\n".encode())
            if number % _STEP == 0:
                advance(_STEP)
            yield line

    def manifest_facts() -> dict[str, Any]:
        found = {what: by_judge.total(), f"by_{by}": counts, "by_judge": by_judge}
        if not history:
            found["by_state"] = Counter({state: counts[state] for state in _STATES})
        return {**facts, "history": history, **found, "sha256": digest.hexdigest()}

    with opened.as_it_stands() as inside:
        session, chosen = inside.session, [*judges] or None
        kinds = {judge.name: judge.kind for judge in fetch_judges(session)}
        if history:
            lines = history_lines(tallied(fetch_histories_of(inside, judges=chosen)), kinds, form)
        else:
            lines = state_lines(tallied(fetch_judgements(session, inside.topics, judges=chosen)), kinds, form)
        with progress(what, count_events(session, chosen, first=not history)) as advance:
            write_results({out: digested(lines, advance)}, manifest_facts, manifest, private=True)
    if history:
        parts = [f"{count:,} {action}" for action, count in sorted(counts.items())]
    else:
        parts = [f"{counts[one]:,} {words}" for one, words in _STATES.items() if counts[one]]
    n = by_judge.total()
    noun = counted(n, "judgement event" if history else "judgement")
    say(f"{noun} of {counted(len(by_judge), 'judge')}" + (f": {', '.join(parts)}" if parts else ""))
    return Done(counts=frozen_settings(**{what: n}))


def sha256_of(text: str) -> str:
    """Return the hash of a file's text, as a manifest has it."""
    return hashlib.sha256(text.encode()).hexdigest()


def text_of(write: Callable[..., None], *what: Any, **how: Any) -> str:
    """Return what a function writes into a file."""
    buffer = io.StringIO()
    write(*what, buffer, **how)
    return buffer.getvalue()


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
            say(f"  a file name that says so: {file.parent / f'{file.stem}.{sorts}{file.suffix}'}")
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
    say(f"{place}: {', '.join(said.values())}; {counted(written.n_files, 'file')}, {written.n_bytes:,} bytes")
    if is_others and (n_bare := counts["document"] - counts["texts"]):
        say(f"left out: {counted(n_bare, 'document')} without a text")
    left_out = [noun for noun in choice.left_out if noun != "names"]
    if left_out:
        say(f"left out: {', '.join(left_out)}")
    if choice.run_files is not None:
        say(f"as handed in: {counts['as_handed_in']:,} of {counted(counts['run'], 'run')}")
    for one in written.qrels:
        who = f"judge {', '.join(one['judges'])}"
        if len(one["judges"]) != 1:
            who = f"{one['rule']} of {counted(len(one['judges']), 'judge')}"
        ties = "" if one["ties"] is None else f", ties {one['ties']}"
        n_documents = counted(one["documents"], "document")
        say(f"qrels {one['name']}@{one['qrels_version']}: {n_documents}, {who}{ties}")
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
    warn_about_voters(written.voters)
    if not written.qrels:
        say("no qrels: nothing is judged yet")
    if choice.anonymised and counts["notes"] and not is_others:
        notes = counted(counts["notes"], "note or reason", "notes and reasons")
        warn(f"judges' own words are included: {notes}; --without-notes leaves them out")
    if erased := erased_words(collection):
        say(erased)
    say(f"fill in the licence yourself: {place / 'README.md'}")
    return Done(counts=frozen_settings(**written.counts, files=written.n_files))


_WITHOUT_GRADE = {one: _STATES.get(one, one) for one in ("unjudged", "skipped", "cannot", "undecided")}
"""Why a sampled document has no grade, in words."""


@command
def export_prels(
    collection: Stored,
    *,
    form: Annotated[PrelsName, Option("--as")],
    pool: Annotated[str, Option("--pool NAME")] = "pool",
    qrels: QrelsName = None,
    out: Out = None,
    manifest: Manifest = None,
) -> Done:
    """Write the judgements of a sampled pool, for xinfAP or statAP.

    Documents that were judged but not sampled count as not sampled. Sampled documents without a grade
    are counted on stderr: xinfap can only write -1 for them, statap leaves them out.

    Example: pooler export prels --as xinfap --pool sample --qrels alice --out prels.txt

    form : xinfap (topic iteration docno stratum rel; -1 = not sampled), or statap (topic docno rel method
        iprob).
    pool : A sampled pool.
    """
    from store.grades.qrels import decide

    check_out(out, manifest)
    sampled, named = collection.pools.get(pool), named_qrels(collection, qrels)
    all_votes = collection.grades.all_votes(named.definition)
    final = decide(all_votes, named.definition)
    check_decided(named, final)
    graded, left_out = {(row.topic, row.docno): row for row in final.rows}, final.left_out
    pooled = {(entry.topic, entry.docno): entry.sampled for entry in sampled.entries}
    of_sample = [pair for pair, is_sampled in pooled.items() if is_sampled]
    by_grade = Counter(graded[pair].grade for pair in of_sample if pair in graded)
    without = Counter(left_out.get(pair, "unjudged") for pair in of_sample if pair not in graded)
    n_not_sampled = sum(pair in graded and not is_sampled for pair, is_sampled in pooled.items())
    n_elsewhere = sum(pair not in pooled for pair in graded)
    text = _xinfap(sampled, graded) if form == "xinfap" else _statap(sampled, graded)
    facts = {
        "tool": "pooler",
        "version": __version__,
        "collection": collection.name,
        "format": form,
        "columns": COLUMNS[form].split(),
        "scale": scale_to_json(collection.scale),
        "pool": sampled.name,
        "strategy": sampled.manifest.get("strategy"),
        "seed": sampled.manifest.get("seed"),
        **rule_facts(collection.judges.all(), final),
        "listed": len(pooled),
        "sampled": len(of_sample),
        "judged": by_grade.total(),
        "by_grade": {str(grade): count for grade, count in sorted(by_grade.items())},
        "sampled_without_grade": {reason: without[reason] for reason in _WITHOUT_GRADE},
        "judged_not_sampled": n_not_sampled,
        "judged_outside_the_pool": n_elsewhere,
        "qrels": named.label,
        "sha256": sha256_of(text),
        **erased_facts(collection),
    }
    write_results({out: text.splitlines()}, lambda: facts, manifest)
    grades = ", ".join(f"{count:,} x {grade}" for grade, count in sorted(by_grade.items()))
    who = who_judged(final, counts_votes=True)
    say(
        f"{counted(len(of_sample), 'document')} sampled of {len(pooled):,} in pool {sampled.name},"
        f" {by_grade.total():,} judged ({grades or 'none'}); {who}"
    )
    tell_few_votes(final)
    tell_rulings(final)
    if n_open := without.total():
        reasons = ", ".join(f"{n:,} {words}" for one, words in _WITHOUT_GRADE.items() if (n := without[one]))
        how = "written with -1, as if not sampled" if form == "xinfap" else "left out"
        warn(f"sampled but without a grade: {counted(n_open, 'document')} ({reasons}), {how}")
    if n_not_sampled:
        how = "written with -1" if form == "xinfap" else "left out"
        warn(f"judged but not sampled: {counted(n_not_sampled, 'document')}, {how}")
    if n_elsewhere:
        say(f"judged but not in this pool: {counted(n_elsewhere, 'document')}, left out")
    if final.n_mixed_iterations and form == "xinfap":
        say(f"judged in different rounds: {counted(final.n_mixed_iterations, 'document')}, iteration 0")
    warn_about_voters(all_votes.voters)
    tell_voters(collection, [out], all_votes.voters)
    if erased := erased_words(collection):
        say(erased)
    return Done(counts=frozen_settings(listed=len(pooled), judged=by_grade.total()))


def _xinfap(pool: Pool, graded: Mapping[tuple[str, str], Qrel]) -> str:
    iterations = pairs_listed(pool.manifest.get("iterations", {}))
    rows: list[XinfapRow] = []
    for entry in pool.entries:
        if entry.stratum is None:
            raise _no_sample(pool, "strata")
        pair = (entry.topic, entry.docno)
        qrel = graded.get(pair) if entry.sampled else None
        code, iteration = NOT_SAMPLED, iterations.get(pair, pool.round)
        if qrel is not None:
            code, iteration = qrel.grade, qrel.iteration
            if code == NOT_SAMPLED:
                message = f"grade {code} of the scale would mean `not sampled` in an xinfap file"
                raise PoolerError(message, hint="--as statap has no such code")
        rows.append(XinfapRow(entry.topic, iteration, entry.docno, entry.stratum, code))
    return text_of(write_xinfap, rows)


def _statap(pool: Pool, graded: Mapping[tuple[str, str], Qrel]) -> str:
    methods = pairs_listed(pool.manifest.get("methods", {}))
    rows: list[StatapRow] = []
    for entry in pool.entries:
        if not entry.sampled:
            continue
        probability, qrel = entry.inclusion_probability, graded.get((entry.topic, entry.docno))
        if probability is None:
            raise _no_sample(pool, "inclusion probabilities")
        if qrel is not None:
            method = int(methods.get((entry.topic, entry.docno), method_of(probability)))
            rows.append(StatapRow(entry.topic, entry.docno, qrel.grade, method, probability))
    return text_of(write_statap, rows)


def _no_sample(pool: Pool, lacks: str) -> PoolerError:
    hint = "pooler pool --strategy stratified, uniform or statap draws a sample"
    return PoolerError(f"pool `{pool.name}` has no {lacks}", hint=hint)


LEVEL = "{level}"
"""What stands in a file name for the level."""


@command
def export_qrels(
    source: Annotated[Source, Given("pooler.cli.options:GivenQrelsOptions", "source")],
    *,
    form: Annotated[Literal["trec", "ntcir2", "ntcireval"], Option("--as")] = "trec",
    letters: Annotated[
        str | None, Option("--letters LETTERS", default="the keys of the scale; of sums CBA")
    ] = None,
    level: Annotated[
        int | str | Sequence[int | str] | None,
        Option("--level N|rigid|relaxed", read=levels_of, repeated=True),
    ] = None,
    graded: bool = False,
    unjudged: Annotated[int | None, Option("--unjudged CODE")] = None,
    one_of: Annotated[str | Path | None, Option("--one-of CLASSES")] = None,
    out: Annotated[str | Path | None, Option("--out -o FILE")] = None,
    manifest: Manifest = None,
) -> QrelsResult:
    """Write qrels: graded, or binary at one or more levels.

    Documents that were skipped or cannot be judged are left out and counted; none becomes grade 0. Where
    judges gave a document different grades, and no rule says what then, nothing is written.

    Example: pooler export qrels official --level 1 --out qrels.txt

    Example: pooler export qrels judgements/*.qrels --level 1 --aggregate majority --ties low

    form : trec: topic iteration docno grade; ntcir2: topic letter docno 0|1, in OUT.rigid and OUT.relaxed;
        ntcireval: topic docno L0..Ln.
    letters : With ntcir2: a letter for each grade of the scale, lowest first, such as CBA.
    level : Write 0s and 1s: least relevant grade, or sum; may be repeated, with {level} in --out.
    graded : Also write the graded qrels.
    unjudged : Also write unjudged pooled documents, with this code (such as -1).
    one_of : Also write unjudged documents of these classes, with the grade of the judged ones and the
        iteration `duplicate`.
    out : Default stdout. {level} in it becomes graded, 1, 2, ...

    Raises
    ------
    PoolerError
        If nothing is judged; if judges differ on a document, and no rule says what then.

    Notes
    -----
    One application of the rule, and one for each other choice that would change something.

    Sources: Dawid & Skene (1979).

    Examples
    --------
    >>> import pooler as p
    >>> made = p.export_qrels(p.source(qrels={"1": {"a": 2, "b": 0, "c": -1}}))
    >>> made.qrels
    [Qrel(topic='1', docno='a', grade=2, iteration='0'), Qrel(topic='1', docno='b', grade=0, iteration='0')]
    >>> made.counts["judged"], made.counts["unjudged"], made.written
    (2, 1, ('1 0 a 2', '1 0 b 0'))
    """
    is_stdout = out in (None, "-")
    if form != "ntcir2" and letters is not None:
        raise ArgumentError("letters", "is for --as ntcir2", letters)
    if form != "trec":
        refused = {"level": level is not None, "graded": graded, "one_of": one_of}
        for name, value in (refused | {"unjudged": unjudged is not None}).items():
            if value:
                raise ArgumentError(name, f"is not used with --as {form}, which has its own levels", None)
    paths: list[str | Path | None] = [out]
    beside = manifest
    if form == "ntcir2":
        if is_stdout:
            requirement = "must be given with --as ntcir2, which writes OUT.rigid and OUT.relaxed"
            raise ArgumentError("out", requirement, out)
        paths, beside = [f"{out}.rigid", f"{out}.relaxed"], manifest or f"{out}.manifest.json"

    def check(levels: Sequence[int | None]) -> None:
        if len(levels) > 1:
            known = ", ".join(map(_level_word, levels))
            for name, path in (("out", out), ("manifest", manifest)):
                if LEVEL not in str(path or "") and (name == "out" or path is not None):
                    requirement = f"must contain {LEVEL} where {len(levels)} files are written"
                    hint = f"as in --out qrels.{LEVEL}.txt: {LEVEL} becomes {known}"
                    raise ArgumentError(name, requirement, path, hint=hint)
        for one in levels:
            for path in paths:
                check_out(_path_at(path, one), _path_at(beside, one))

    levels = [level] if level is None or isinstance(level, int | str) else [*level]
    wanted = [*levels, None] if graded or not levels else levels
    made = qrels_at(source, levels=wanted, unjudged=unjudged, one_of=one_of, check=check)
    first = made[0]
    if form == "trec":
        for one in made:
            at, facts_at = (_path_at(path, one.final.level) for path in (out, manifest))
            write_results({at: one.file_lines()}, lambda one=one: one.manifest, facts_at)  # type: ignore[misc]
    else:
        texts, facts = _of_ntcir(form, letters, source.named_qrels, first)
        files = {path: text.splitlines() for path, text in zip(paths, texts, strict=True)}
        write_results(files, lambda: {**first.manifest_facts, "format": form, **facts}, beside)
    tell_qrels(made)
    n_mixed = first.final.n_mixed_iterations
    if form == "trec" and n_mixed:
        say(f"judged in different rounds: {counted(n_mixed, 'document')}, iteration 0")
    if form != "trec" and (n_rounds := len({row.iteration for row in first.qrels})) > 1:
        say(f"these files cannot say which of {n_rounds:,} rounds a document was judged in")
    if first.erased:
        say(first.erased)
    of_files = source.judgements or source.is_of_files
    tell_voters(None if of_files else source.collection, paths, first.all_votes.voters)
    return replace(first, others=tuple(made[1:]))


def _path_at(template: str | Path | None, level: int | None) -> str | None:
    return None if template is None else str(template).replace(LEVEL, _level_word(level))


def _level_word(level: int | None) -> str:
    return "graded" if level is None else str(level)


def _of_ntcir(
    form: str, letters: str | None, named: NamedQrels, one: QrelsResult
) -> tuple[list[str], dict[str, Any]]:
    """Return the texts of the files, and what their manifest says of them.

    A sum has the letter of the level of its definition that it reaches.
    """
    rows, scale, definition = one.qrels, one.all_votes.scale, named.definition
    texts: list[str] = []
    readings: dict[str, int | None] = {"graded": None}
    more = {}
    if form == "ntcireval":
        texts.append(text_of(write_ntcireval, rows))
    else:
        if definition.aggregate != "sum":
            of_grades = letters_of(scale, letters)
            readings = {"rigid": definition.level_named(scale, "rigid"), "relaxed": scale.relaxed}
            cuts = [*readings.values()]
            more["letters"] = {str(grade): letter for grade, letter in of_grades.items()}
        else:
            relaxed, rigid = definition.relaxed, definition.rigid
            if relaxed is None or rigid is None:
                requirement = "must be defined with --relaxed and --rigid: a sum has no letter of the scale"
                name = "NAME" if named.version is None else named.name
                hint = f"pooler qrels define {name} --aggregate sum --relaxed SUM --rigid SUM"
                raise ArgumentError("form", requirement, form, hint=hint)
            scale, letters, cuts = parse_scale("0-2"), letters or "CBA", [2, 1]
            rows = [row._replace(grade=(row.grade >= relaxed) + (row.grade >= rigid)) for row in rows]
            readings = {"rigid": rigid, "relaxed": relaxed}
            sums = ("", f"{relaxed}", f"{rigid}")
            more["letters"] = dict(zip(sums, letters_of(scale, letters).values(), strict=True))
        texts += [text_of(write_ntcir2, rows, scale, cut, letters=letters) for cut in cuts]
    files = [
        {"reading": reading, "level": level, "sha256": sha256_of(text)}
        for (reading, level), text in zip(readings.items(), texts, strict=True)
    ]
    return texts, {"files": files, **more}


_Words = tuple[Callable[[str], None], str]
"""What is said, and how: plainly, or as a warning."""


@command
def export_work(
    collection: Stored,
    judge: Annotated[str | None, Option("JUDGE", "Whose documents.")] = None,
    *,
    all_judges: Annotated[str | Path | None, Option("--all DIR")] = None,
    out: Annotated[str | Path | None, Option("--out -o FILE", default="JUDGE.html")] = None,
) -> Done:
    """Make a page of one judge's documents, to judge on in a browser on another machine.

    It holds what is left for the judge (topics, documents with their texts, guidelines) and how it stands;
    no run, no rank, and nothing of other judges. No pooler, no server and no network is needed to judge on
    it. It saves a file, and `pooler import work FILE` brings back what was judged. It is for its judge
    alone. Adaptive pools depend on all judgements, which a page cannot know: they are judged with `pooler
    judge` or `pooler serve`.

    Example: pooler export work ann

    Example: pooler export work --all pages

    all_judges : A page for every human judge who has documents, in a new folder.
    out : A new file.
    """
    from store.db.files import check_folder, folder_beside
    from store.keeping.directory import file_stems

    pages = 0
    if all_judges is None:
        if judge is None:
            raise ArgumentError("judge", "must name one judge", None, hint="as in pooler export work ann")
        place = _place(judge) if out is None else Path(out)
        _check_free(place)
        check_folder(place)
        told = _write_page(collection, judge, place, place)
        if not told:
            message = f"there is no document for judge `{judge}`"
            hint = "pooler pool makes a pool, pooler assign gives documents to judges"
            raise StoreError(message, hint=hint)
        pages = 1
    else:
        if judge or out:
            raise ArgumentError(
                "all_judges", "is for every judge, in files named after them", str(all_judges)
            )
        target = Path(all_judges)
        _check_free(target)
        check_folder(target)
        judges = collection.judges.all()
        people = [one.name for one in judges if one.kind is JudgeKind.HUMAN and not one.disabled]
        stems = file_stems(whose for whose in people if not _is_file_name(whose))
        files: dict[str, str] = {}
        for whose in people:
            files[whose] = free_name(stems.get(whose, whose), lambda name: name in files.values())
        told = []
        with folder_beside(target, private=True) as folder:
            for whose, page in files.items():
                page = f"{page}.html"
                written = _write_page(collection, whose, folder / page, target / page)
                pages += bool(written)
                told += written or [(say, f"`{whose}` has no document, and so no page")]
    for tell, words in told:
        tell(words)
    return Done(counts=frozen_settings(pages=pages))


def _place(judge: str) -> Path:
    if not _is_file_name(judge):
        raise ArgumentError("out", "must name the file: the judge's name cannot be a file's", judge)
    return Path(f"{judge}.html")


def _is_file_name(judge: str) -> bool:
    return not judge.startswith(".") and Path(judge).name == judge


def _check_free(place: Path) -> None:
    if place.exists() or place.is_symlink():
        raise StoreError(f"{place} already exists", hint="choose another name: nothing is overwritten")


def _write_page(opened: Collection, judge: str, file: Path, place: Path) -> list[_Words]:
    """Write the page of a judge; return what to say when it is in its place, nothing = there is no document.

    `file`: where it is written.
    """
    from judge_ui.page.page import file_data, page_html
    from store.db.files import made_whole

    kind = next((one.kind for one in opened.judges.all() if one.name == judge), None)
    if kind is JudgeKind.MODEL:
        message = f"judge `{judge}` is of kind model, but only people judge on a page"
        raise PoolerError(message, hint=f"pooler ask {judge} asks the model")
    if kind is JudgeKind.ADJUDICATOR:
        message = f"`{judge}` is an adjudicator, who sees what all judges decided"
        raise StoreError(message, hint=f"pooler adjudicate --judge {judge}")
    desk = opened.desk(judge)
    lines = desk.inbox()
    if any(desk.undrawn(line.topic) for line in lines):
        message = "a pool here is adaptive: it draws by what was judged, which a page cannot know"
        raise PoolerError(message, hint=f"pooler judge --judge {judge}, or pooler serve, draws from it")
    with progress("documents", sum(line.documents for line in lines)) as advance:
        data = file_data(desk, opened.name, advance)
    tasks = [task["now"] for topic in data["topics"] for task in topic["queue"]]
    if not tasks:
        return []
    guidelines, topics = desk.shown_versions()
    hashes = {docno: one.pop("sha256") for docno, one in data["documents"].items()}
    head = opened.page_head(judge, guidelines=guidelines, topics=topics, hashes=hashes)
    with made_whole(file) as part:
        part.write_bytes(page_html(data, head).encode())
    states = [now["state"] for now in tasks]
    left = f"{states.count('unjudged'):,} unjudged"
    left += f", {states.count('skipped'):,} skipped" if "skipped" in states else ""
    so_far = counted(sum(now["revision"] for now in tasks), "event")
    of = f"{counted(len(tasks), 'document')} of {counted(len(data['topics']), 'topic')}"
    told: list[_Words] = [(say, f"{place}: {of}, {left}; {so_far} of `{judge}` so far")]
    if n_without := sum(hashes[one["docno"]] is None for topic in data["topics"] for one in topic["queue"]):
        missing = f"{counted(n_without, 'document')} without a text"
        then = "pooler import docs FILE imports the texts; then make this file again"
        told.append((warn, f"{missing}: {then}"))
    if n_open := sum(desk.claimable(line.topic) for line in lines):
        more = counted(n_open, "more document")
        told.append((say, f"{more} could still be claimed by `{judge}` here; not on the page"))
    told.append((say, f"there: open {place} in a browser, and save {data['file']} at the end"))
    back = "" if opened.where == DEFAULT_COLLECTION else f" --collection {opened.where}"
    told.append((say, f"back here: pooler import work {data['file']}{back}"))
    return told
