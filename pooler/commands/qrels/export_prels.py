"""`pooler export prels`."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from pooler.command import Manifest, Option, Out, QrelsName, Stored, command
from pooler.commands.qrels.exporting import made_of, named_qrels, sha256_of, tell_voters
from pooler.commands.qrels.made import check_decided
from pooler.commands.qrels.words import rule_facts, tell_few_votes, tell_rulings
from pooler.files import check_out, write_results
from pooler.judge_kinds import erased_facts, erased_words, warn_about_voters, who_judged
from pooler.messages import say, warn
from pooler.result import Done, frozen_settings
from pooler.sources.judgement_files import PrelsName, method_of, pairs_listed
from store.errors import PoolerError
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection
    from store.grades.qrels import FinalQrels
    from store.records import Pool

_WORDS = {
    "unjudged": "unjudged",
    "skipped": "skipped",
    "cannot": "cannot be judged",
    "undecided": "undecided",
}
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
    counts = _sample_counts(sampled, final)
    text = _xinfap(sampled, final) if form == "xinfap" else _statap(sampled, final)
    facts = _facts(collection, sampled, form, final, counts)
    facts |= {"qrels": named.label, "sha256": sha256_of(text)} | erased_facts(collection)
    write_results({out: text.splitlines()}, lambda: facts, manifest)
    _tell(form, sampled, who_judged(final, all_votes), final, counts)
    warn_about_voters(all_votes.voters)
    tell_voters(collection, [out], all_votes.voters)
    if erased := erased_words(collection):
        say(erased)
    return Done(counts=frozen_settings(listed=len(sampled.entries), judged=counts.by_grade.total()))


@dataclass(slots=True)
class _SampleCounts:
    """How many documents of a sampled pool stand where."""

    by_grade: Counter[int] = field(default_factory=Counter)
    """Sampled and graded."""
    without_grade: Counter[str] = field(default_factory=Counter)
    """Sampled and not graded, by reason."""
    n_not_sampled: int = 0
    n_judged_not_sampled: int = 0
    n_judged_elsewhere: int = 0
    """Judged, and not in the pool."""


def _sample_counts(pool: Pool, final: FinalQrels) -> _SampleCounts:
    grades = {(row.topic, row.docno): row.grade for row in final.rows}
    counts = _SampleCounts(n_judged_elsewhere=len(grades))
    for entry in pool.entries:
        pair = (entry.topic, entry.docno)
        grade = grades.get(pair)
        counts.n_judged_elsewhere -= grade is not None
        if not entry.sampled:
            counts.n_not_sampled += 1
            counts.n_judged_not_sampled += grade is not None
        elif grade is None:
            counts.without_grade[final.left_out.get(pair, "unjudged")] += 1
        else:
            counts.by_grade[grade] += 1
    return counts


def _xinfap(pool: Pool, final: FinalQrels) -> str:
    from store.formats.prels import NOT_SAMPLED, XinfapRow, write_xinfap

    graded = {(row.topic, row.docno): row for row in final.rows}
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
    buffer = io.StringIO()
    write_xinfap(rows, buffer)
    return buffer.getvalue()


def _statap(pool: Pool, final: FinalQrels) -> str:
    from store.formats.prels import StatapRow, write_statap

    graded = {(row.topic, row.docno): row.grade for row in final.rows}
    methods = pairs_listed(pool.manifest.get("methods", {}))
    rows: list[StatapRow] = []
    for entry in pool.entries:
        pair = (entry.topic, entry.docno)
        if not entry.sampled:
            continue
        probability = entry.inclusion_probability
        if probability is None:
            raise _no_sample(pool, "inclusion probabilities")
        if pair in graded:
            method = int(methods.get(pair, method_of(probability)))
            rows.append(StatapRow(entry.topic, entry.docno, graded[pair], method, probability))
    buffer = io.StringIO()
    write_statap(rows, buffer)
    return buffer.getvalue()


def _no_sample(pool: Pool, lacks: str) -> PoolerError:
    hint = "pooler pool --strategy stratified, uniform or statap draws a sample"
    return PoolerError(f"pool `{pool.name}` has no {lacks}", hint=hint)


def _facts(
    opened: Collection, pool: Pool, kind: PrelsName, final: FinalQrels, counts: _SampleCounts
) -> dict[str, Any]:
    from store.formats.prels import COLUMNS
    from store.formats.scale import scale_to_json

    return {
        **made_of(opened),
        "format": kind,
        "columns": COLUMNS[kind].split(),
        "scale": scale_to_json(opened.scale),
        "pool": pool.name,
        "strategy": pool.manifest.get("strategy"),
        "seed": pool.manifest.get("seed"),
        **rule_facts(opened.judges.all(), final),
        "listed": len(pool.entries),
        "sampled": len(pool.entries) - counts.n_not_sampled,
        "judged": counts.by_grade.total(),
        "by_grade": {str(grade): count for grade, count in sorted(counts.by_grade.items())},
        "sampled_without_grade": {reason: counts.without_grade[reason] for reason in _WORDS},
        "judged_not_sampled": counts.n_judged_not_sampled,
        "judged_outside_the_pool": counts.n_judged_elsewhere,
    }


def _tell(kind: PrelsName, pool: Pool, who: str, final: FinalQrels, counts: _SampleCounts) -> None:
    n_listed, n_judged = len(pool.entries), counts.by_grade.total()
    grades = ", ".join(f"{count:,} x {grade}" for grade, count in sorted(counts.by_grade.items()))
    say(
        f"{counted(n_listed - counts.n_not_sampled, 'document')} sampled of {n_listed:,} in pool"
        f" {pool.name}, {n_judged:,} judged ({grades or 'none'}); {who}"
    )
    tell_few_votes(final)
    tell_rulings(final)
    is_xinfap = kind == "xinfap"
    if n_open := counts.without_grade.total():
        reasons = ", ".join(
            f"{n:,} {words}" for one, words in _WORDS.items() if (n := counts.without_grade[one])
        )
        how = "written with -1, as if not sampled" if is_xinfap else "left out"
        warn(f"sampled but without a grade: {counted(n_open, 'document')} ({reasons}), {how}")
    if n_others := counts.n_judged_not_sampled:
        how = "written with -1" if is_xinfap else "left out"
        warn(f"judged but not sampled: {counted(n_others, 'document')}, {how}")
    if n_others := counts.n_judged_elsewhere:
        say(f"judged but not in this pool: {counted(n_others, 'document')}, left out")
    if final.n_mixed_iterations and is_xinfap:
        say(f"judged in different rounds: {counted(final.n_mixed_iterations, 'document')}, iteration 0")
