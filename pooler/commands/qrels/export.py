"""Write qrels and other files for evaluation programs."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pooler.command import Manifest, Option, Out, QrelsName, Stored, command
from pooler.commands.qrels.exporting import made_of, named_qrels, sha256_of, tell_voters
from pooler.commands.qrels.words import rule_facts
from pooler.files import check_out, write_results
from pooler.judge_kinds import erased_facts, erased_words, warn_about_voters
from pooler.messages import progress, say
from pooler.result import Done, frozen_settings
from store.errors import ArgumentError, ConflictError, UnknownNameError
from store.formats import JudgementsFormat, LabelsFormat
from store.text import counted

if TYPE_CHECKING:
    from pathlib import Path

    from pooler.pools.runs import RunSet
    from store.collection import Collection
    from store.event import JudgementEvent
    from store.grades.definition import NamedQrels
    from store.judging.kinds import Voters
    from store.model_judge import Answer, ModelIdentity
    from store.records import Judgement, Pool

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

    check_out(out, None)
    if qrels is not None and not annotated:
        raise ArgumentError("qrels", "is for a pool with grades", None, hint="--annotated writes them")
    stored = collection.pools.get(name)
    manifest = {**stored.manifest, "tool": "pooler"}
    n_documents = len({(entry.topic, entry.docno) for entry in stored.entries if entry.sampled})
    if annotated:
        runs = _runs_of(collection, stored)
        grades, facts, voters = _grades(collection, named_qrels(collection, qrels))
        write_results({out: graded_lines(runs, stored, grades)}, lambda: manifest | {"grades": facts}, None)
        listed = {(entry.topic, entry.docno) for entry in stored.entries if entry.sampled}
        n_open = sum(grades.get(pair, UNJUDGED) == UNJUDGED for pair in listed)
        n_runs = 0 if runs is None else sum(run.contributes for run in runs.runs)
        say(f"{counted(n_documents, 'document')} of {counted(n_runs, 'run')}, {n_open:,} unjudged")
        warn_about_voters(voters)
        tell_voters(collection, [out], voters)
    else:
        write_results({out: pool_lines(stored)}, lambda: manifest, None, names_judges=False)
    if others := [one.name for one in collection.pools.all() if one.name != name and not one.withdrawn]:
        named = ", ".join(others[:_OTHERS_SHOWN])
        named += f" and {len(others) - _OTHERS_SHOWN:,} more" if len(others) > _OTHERS_SHOWN else ""
        say(f"this is only pool `{name}`; other pools: {named} (--name writes one)")
    return Done(counts=frozen_settings(documents=n_documents))


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
    from store.grades.qrels import decide

    all_votes = opened.grades.all_votes(named.definition)
    if not all_votes.votes.n_documents and not all_votes.rulings:
        return {**all_votes.reasons}, None, all_votes.voters
    final = decide(all_votes, named.definition)
    grades: dict[tuple[str, str], str] = dict(final.left_out)
    grades |= {(row.topic, row.docno): str(row.grade) for row in final.rows}
    facts = {"qrels": named.label, **rule_facts(opened.judges.all(), final)}
    return grades, facts, all_votes.voters


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
    facts = {**made_of(collection), "format": form, **erased_facts(collection)}
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
    return _export_answers(collection, judges[0], form, facts, out=out, manifest=manifest)


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

    tally, what = (_Tally("action"), "events") if history else (_Tally("state"), "judgements")
    with opened.as_it_stands() as inside:
        session, chosen = inside.session, [*judges] or None
        kinds = {judge.name: judge.kind for judge in fetch_judges(session)}
        if history:
            lines = history_lines(tally.of(fetch_histories_of(*inside, judges=chosen)), kinds, form)
        else:
            lines = state_lines(
                tally.of(fetch_judgements(session, inside.topics, judges=chosen)), kinds, form
            )
        with progress(what, count_events(session, chosen, first=not history)) as advance:
            rows = tally.of_lines(lines, advance)
            write_results(
                {out: rows}, lambda: {**facts, "history": history} | tally.facts(), manifest, private=True
            )
    if history:
        parts = [f"{count:,} {action}" for action, count in sorted(tally.counts.items())]
    else:
        parts = [f"{tally.counts[one]:,} {words}" for one, words in _STATES.items() if tally.counts[one]]
    n = tally.judges.total()
    noun = counted(n, "judgement event" if history else "judgement")
    say(f"{noun} of {counted(len(tally.judges), 'judge')}" + (f": {', '.join(parts)}" if parts else ""))
    return Done(counts=frozen_settings(**{what: n}))


def _export_answers(
    opened: Collection,
    judge: str,
    form: LabelsFormat,
    facts: Mapping[str, Any],
    *,
    out: str | Path | None,
    manifest: str | Path | None,
) -> Done:
    from store.formats.labels import answer_lines, umbrela_lines

    models = {one.judge: one.identity for one in opened.models.all()}
    if judge not in models:
        raise UnknownNameError("model judge", judge, models, hint="pooler show judges shows their kinds")
    found = _newest(opened.models.answers(judge))
    judged = [one for one in found if one.is_judgement]
    if form == "umbrela":
        found, back = judged, _grades_as_answered(judge, models[judge])
        topics = {one.topic: one.title or one.description for one in opened.topics.all()}
        documents = opened.documents

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


def _newest(found: Iterable[Answer]) -> list[Answer]:
    """Leave out canaries, and answers of a pair before the one that its newest judgement is of."""
    from store.model_judge import CANARIES

    kept = [one for one in found if one.asked not in CANARIES]
    newest = {(one.topic, one.docno): one for one in kept if one.is_judgement}
    return [one for one in kept if not one.is_judgement or newest[one.topic, one.docno] is one]


def _grades_as_answered(judge: str, identity: ModelIdentity | None) -> Mapping[int, int]:
    """Return which grade of the model each of the collection was read from."""
    mapped = {} if identity is None else identity.grade_map
    for new in sorted(set(mapped.values())):
        several = {old for old in mapped if mapped[old] == new} | ({new} - mapped.keys())
        if len(several) > 1:
            listed = " and ".join(map(str, sorted(several)))
            message = f"grades {listed} of `{judge}` were read as {new}, and cannot be told apart any more"
            raise ConflictError(message, hint="--as answers writes the grades of the collection")
    return {new: old for old, new in mapped.items()}
