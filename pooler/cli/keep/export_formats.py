"""`pooler export ntcir` and `pooler export prels`."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pooler.cli.collect.exchange import pairs_listed
from pooler.cli.console import check_out, erased_facts, erased_words, write_json, write_lines, write_manifest
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    AggregateOption,
    CollectionOption,
    JudgeOption,
    ManifestOption,
    OfOption,
    OutOption,
    TiesOption,
    WithoutRulingsOption,
    policy_of,
)
from pooler.results.judgement_files import PrelsName, method_of
from pooler.telling import say, warn
from store.errors import ArgumentError, PoolerError
from store.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from store.collection import Collection
    from store.formats.prels import StatapRow, XinfapRow
    from store.grades.qrels import FinalQrels
    from store.records import Pool, Qrel, Scale


NtcirName = Literal["ntcir2", "ntcireval"]


@dataclass(frozen=True, slots=True)
class _File:
    """One file, ready to be written."""

    path: str | None
    reading: str | None
    """``rigid`` or ``relaxed``; ``None`` = it has grades alone."""
    level: int | None
    text: str


def ntcir(
    kind: Annotated[
        NtcirName,
        typer.Option(
            "--as",
            help="ntcir2 (topic letter docno 0|1, in the two files PREFIX.rigid and"
            " PREFIX.relaxed; the letters are the keys of the scale, or --letters), or ntcireval"
            " (topic docno L0..Ln, in the file PREFIX; default stdout).",
            show_default=False,
        ),
    ],
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="PREFIX", help="The file, or the two files.")
    ] = None,
    letters: Annotated[
        str | None,
        typer.Option(
            "--letters",
            metavar="LETTERS",
            help="With ntcir2: a letter for each grade of the scale, lowest first, such as CBA.",
            show_default=False,
        ),
    ] = None,
    judge: JudgeOption = None,
    aggregate: AggregateOption = None,
    ties: TiesOption = None,
    of: OfOption = None,
    without_rulings: WithoutRulingsOption = False,
    manifest: Annotated[
        str | None, typer.Option("--manifest", metavar="FILE", help="Default: PREFIX.manifest.json.")
    ] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Write qrels in an NTCIR format: grades as letters, or as levels L0 to Ln.

    Documents without a grade are left out and counted. These files have no place for judging rounds.

    Example: pooler export ntcir --as ntcireval --aggregate majority --ties low --out web.rel
    """
    from pooler import __version__
    from pooler.results.agree.aggregate import qrels_facts, tell_final
    from pooler.results.judge_kinds import tell_kinds
    from store.collection import Collection
    from store.formats.ntcir import letters_of
    from store.grades.qrels import decide
    from store.judging.kinds import kind_counts

    if kind == "ntcir2" and out in (None, "-"):
        requirement = "must be given with --as ntcir2, which writes PREFIX.rigid and PREFIX.relaxed"
        raise ArgumentError("--out", requirement, out)
    if kind == "ntcir2" and aggregate == "sum":
        requirement = "must give a grade of the scale with --as ntcir2, and a sum is none"
        raise ArgumentError("--aggregate", requirement, aggregate)
    if kind != "ntcir2" and letters is not None:
        raise ArgumentError("--letters", "is for --as ntcir2", letters)
    policy = policy_of(judge=judge, aggregate=aggregate, ties=ties, of=of, without_rulings=without_rulings)
    beside = manifest or (None if out in (None, "-") else f"{out}.manifest.json")
    for suffix in (".rigid", ".relaxed") if kind == "ntcir2" else ("",):
        check_out(None if out is None else f"{out}{suffix}", beside)
    with Collection(collection) as opened:
        readings = _readings(kind, opened.scale, letters)
        all_votes = opened.grades.all_votes(policy)
        final = decide(all_votes, policy)
        files = [_file(out, *one, final.rows, opened.scale, letters) for one in readings]
        n_open = len(opened.pools.rounds().keys() - final.pairs - final.left_out.keys())
        facts = {
            "tool": "pooler",
            "version": __version__,
            "collection": opened.name,
            "format": kind,
            **erased_facts(opened),
            **qrels_facts(opened.judges.all(), final, opened.scale, n_open),
            "files": [
                {
                    "reading": file.reading or "graded",
                    "level": file.level,
                    "sha256": hashlib.sha256(file.text.encode()).hexdigest(),
                }
                for file in files
            ],
        }
        erased, kinds = erased_words(opened), kind_counts(opened.judges.all(), final.judges)
        if kind == "ntcir2":
            named = letters_of(opened.scale, letters)
            facts["letters"] = {str(grade): letter for grade, letter in named.items()}
    for file in files:
        write_lines(file.path, file.text.splitlines(), manifest=beside)
    if beside is not None:
        write_json(beside, facts, private=True)
    tell_final(final, all_votes, n_open)
    n_rounds = len({row.iteration for row in final.rows})
    if n_rounds > 1:
        say(f"these files cannot say which of {n_rounds:,} rounds a document was judged in")
    tell_kinds(kinds)
    if erased:
        say(erased)


def _readings(kind: NtcirName, scale: Scale, letters: str | None) -> list[tuple[str | None, int | None]]:
    """Return what is written: the readings and their levels, or the grades alone."""
    from store.analysis.collapse import level_of
    from store.formats.ntcir import letters_of

    if kind == "ntcireval":
        return [(None, None)]
    letters_of(scale, letters)
    rigid = level_of(scale, level=None, rigid=True, relaxed=False)
    return [("rigid", rigid), ("relaxed", scale.relaxed)]


def _file(
    out: str | None,
    reading: str | None,
    level: int | None,
    rows: Sequence[Qrel],
    scale: Scale,
    letters: str | None,
) -> _File:
    """Make one file."""
    from store.formats.ntcir import write_ntcir2, write_ntcireval

    buffer = io.StringIO()
    if reading is None:
        write_ntcireval(rows, buffer)
        return _File(out, reading, level, buffer.getvalue())
    write_ntcir2(rows, scale, level, buffer, letters=letters)
    return _File(f"{out}.{reading}", reading, level, buffer.getvalue())


_WORDS = {"unjudged": "unjudged", "skipped": "skipped", "cannot": "cannot be judged", "tied": "tied"}
"""Why a sampled document has no grade, in words."""


def prels(
    kind: Annotated[
        PrelsName,
        typer.Option(
            "--as",
            help="xinfap (topic iteration docno stratum rel; -1 = not sampled), or statap (topic"
            " docno rel method iprob).",
            show_default=False,
        ),
    ],
    name: Annotated[str, typer.Option("--pool", metavar="NAME", help="A sampled pool.")] = "pool",
    out: OutOption = None,
    judge: JudgeOption = None,
    aggregate: AggregateOption = None,
    ties: TiesOption = None,
    of: OfOption = None,
    without_rulings: WithoutRulingsOption = False,
    manifest: ManifestOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Write the judgements of a sampled pool, for xinfAP or statAP.

    Documents that were judged but not sampled count as not sampled. Sampled documents without a grade
    are counted on stderr: xinfap can only write -1 for them, statap leaves them out.

    Example: pooler export prels --as xinfap --pool sample --out prels.txt
    """
    from pooler.results.judge_kinds import tell_kinds, who_judged
    from store.collection import Collection
    from store.grades.qrels import decide
    from store.judging.kinds import kind_counts

    check_out(out, manifest)
    policy = policy_of(judge=judge, aggregate=aggregate, ties=ties, of=of, without_rulings=without_rulings)
    with Collection(collection) as opened:
        pool = opened.pools.get(name)
        all_votes = opened.grades.all_votes(policy)
        final = decide(all_votes, policy)
        document_states = _document_states(pool, final)
        text = _xinfap(pool, final) if kind == "xinfap" else _statap(pool, final)
        facts = _prels_manifest(opened, pool, kind, final, document_states, text) | erased_facts(opened)
        erased, kinds = erased_words(opened), kind_counts(opened.judges.all(), final.judges)
    write_lines(out, text.splitlines(), manifest=manifest)
    write_manifest(out, manifest, facts, private=True)
    _report_prels(kind, pool, who_judged(final, all_votes), final, document_states)
    tell_kinds(kinds)
    if erased:
        say(erased)


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


def _document_states(pool: Pool, final: FinalQrels) -> _SampleCounts:
    """Count the documents of a pool by where they stand."""
    grades = {(row.topic, row.docno): row.grade for row in final.rows}
    document_states = _SampleCounts(n_judged_elsewhere=len(grades))
    for entry in pool.entries:
        pair = (entry.topic, entry.docno)
        grade = grades.get(pair)
        document_states.n_judged_elsewhere -= grade is not None
        if not entry.sampled:
            document_states.n_not_sampled += 1
            document_states.n_judged_not_sampled += grade is not None
        elif grade is None:
            document_states.without_grade[final.left_out.get(pair, "unjudged")] += 1
        else:
            document_states.by_grade[grade] += 1
    return document_states


def _xinfap(pool: Pool, final: FinalQrels) -> str:
    """Return the bytes of an xinfap file: every document of every stratum."""
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
    """Return the bytes of a statap file: the sampled documents that are graded."""
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
    """Return the error of a pool that is not what the format needs."""
    hint = "pooler pool --strategy stratified, uniform or statap draws a sample"
    return PoolerError(f"pool `{pool.name}` has no {lacks}", hint=hint)


def _prels_manifest(
    opened: Collection,
    pool: Pool,
    kind: PrelsName,
    final: FinalQrels,
    document_states: _SampleCounts,
    text: str,
) -> dict[str, object]:
    """Say what was exported and how; no times, so that equal prels have equal manifests."""
    from pooler import __version__
    from pooler.results.agree.aggregate import policy_facts
    from store.formats.prels import COLUMNS
    from store.formats.scale import scale_to_json

    return {
        "tool": "pooler",
        "version": __version__,
        "collection": opened.name,
        "format": kind,
        "columns": COLUMNS[kind].split(),
        "scale": scale_to_json(opened.scale),
        "pool": pool.name,
        "strategy": pool.manifest.get("strategy"),
        "seed": pool.manifest.get("seed"),
        **policy_facts(opened.judges.all(), final),
        "listed": len(pool.entries),
        "sampled": len(pool.entries) - document_states.n_not_sampled,
        "judged": document_states.by_grade.total(),
        "by_grade": {str(grade): count for grade, count in sorted(document_states.by_grade.items())},
        "sampled_without_grade": {reason: document_states.without_grade[reason] for reason in _WORDS},
        "judged_not_sampled": document_states.n_judged_not_sampled,
        "judged_outside_the_pool": document_states.n_judged_elsewhere,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }


def _report_prels(
    kind: PrelsName, pool: Pool, who: str, final: FinalQrels, document_states: _SampleCounts
) -> None:
    """Say on stderr what was written, and what stands otherwise than the file can say."""
    from pooler.results.agree.aggregate import tell_few_votes, tell_rulings

    n_listed, n_judged = len(pool.entries), document_states.by_grade.total()
    grades = ", ".join(f"{count:,} x {grade}" for grade, count in sorted(document_states.by_grade.items()))
    say(
        f"{counted(n_listed - document_states.n_not_sampled, 'document')} sampled of {n_listed:,} in pool"
        f" {pool.name}, {n_judged:,} judged ({grades or 'none'}); {who}"
    )
    tell_few_votes(final)
    tell_rulings(final)
    is_xinfap = kind == "xinfap"
    if n_open := document_states.without_grade.total():
        reasons = ", ".join(
            f"{document_states.without_grade[reason]:,} {words}"
            for reason, words in _WORDS.items()
            if document_states.without_grade[reason]
        )
        how = "written with -1, as if not sampled" if is_xinfap else "left out"
        warn(f"sampled and without a grade: {counted(n_open, 'document')} ({reasons}), {how}")
    if document_states.n_judged_not_sampled:
        how = "written with -1" if is_xinfap else "left out"
        n_judged = document_states.n_judged_not_sampled
        warn(f"judged and not sampled: {counted(n_judged, 'document')}, {how}")
    if document_states.n_judged_elsewhere:
        n_judged = document_states.n_judged_elsewhere
        say(f"judged and not in this pool: {counted(n_judged, 'document')}, left out")
    if final.n_mixed_iterations and is_xinfap:
        n_mixed = counted(final.n_mixed_iterations, "document")
        say(f"judged in different rounds: {n_mixed}, iteration 0")
