"""Qrels at every level; counts and agreement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from store.analysis.agreement.kappa import chance_corrected
from store.analysis.agreement.tables import all_pair_tables
from store.errors import UnknownNameError
from store.formats.qrels import qrels_blocks
from store.grades.opinions import AllVotes, gather
from store.grades.policy import Policy
from store.grades.qrels import FinalQrels, decide
from store.grades.votes import fetch_all_votes, fetch_votes
from store.judging.events import fetch_judgements
from store.judging.judges import fetch_graders, fetch_judges
from store.judging.kinds import SORTS, Heard, hear
from store.judging.progress import count_states
from store.keeping.directory.layouts import beir_lines
from store.keeping.directory.tables import (
    FLOAT,
    ID,
    TOPIC_ID,
    FileColumn,
    FileTable,
    Outgoing,
    file_stems,
    or_none,
    whole,
)
from store.records import JudgeKind, Judgement, Scale, State
from store.text import natural_key


@dataclass(frozen=True, slots=True)
class WrittenQrels:
    """Files of qrels, and who graded."""

    files: list[dict[str, Any]]
    """What the manifest says of every file."""
    n_idle: int
    """Judges of the collection who have graded nothing."""
    heard: Heard = field(default_factory=Heard)
    """Whose grades became one, and who was left out; nobody where every judge has qrels of their own."""


def write_all_qrels(out: Outgoing) -> WrittenQrels:
    """Write qrels.

    With a judge or a rule named there is one set; so there is without, where one judge alone voted.
    Several judges whose grades nobody said how to make one of have a set each.
    """
    judgements = list(fetch_judgements(out.session, out.topic_keys))
    judges = fetch_judges(out.session)
    adjudicators = {judge.name for judge in judges if judge.kind is JudgeKind.ADJUDICATOR}
    graders = {one.judge for one in judgements if one.state is State.JUDGED}
    n_idle = len(judges) - len(graders)
    policy, scale = out.export_choice.policy, out.about.scale
    for each in _policies(scale, policy):
        each.check()
        each.check_scale(scale)
    names = [judge.name for judge in judges]
    for name in (policy.judge, *policy.of):
        if name is not None and name not in names:
            raise UnknownNameError("judge", name, names)
    heard = hear(judges, graders, kinds=policy.kinds)
    # An adjudicator who alone graded is the only judge there is.
    voters = (graders & heard.names if policy.kinds else graders - adjudicators) or graders
    is_named = policy.judge is not None or policy.rule is not None
    if not graders and not is_named:
        return WrittenQrels([], n_idle)
    if is_named or len(set(policy.of) or voters) == 1:
        if not is_named and not graders - adjudicators:
            policy = replace(policy, judge=next(iter(voters)))
        # The votes are the same at any level, and collapsing first is of a level alone.
        all_votes = fetch_all_votes(out.session, out.topic_keys, scale, _policies(scale, policy)[-1])
        return WrittenQrels(_write_set(out, all_votes, policy, ""), n_idle, all_votes.heard)
    by_judge: dict[str, list[Judgement]] = {name: [] for name in (voters if policy.kinds else graders)}
    for one in judgements:
        if one.judge in by_judge:
            by_judge[one.judge].append(one)
    new_names = {name: out.disguise.name(name) for name in by_judge}
    in_order = sorted(by_judge, key=lambda name: natural_key(new_names[name]))
    stems = file_stems(new_names[name] for name in in_order)
    written = []
    for name in in_order:
        own = Policy(judge=name)
        all_votes = gather(by_judge[name], scale, own)
        written += _write_set(out, all_votes, own, f"{stems[new_names[name]]}.")
    return WrittenQrels(written, n_idle)


def _write_set(out: Outgoing, all_votes: AllVotes, policy: Policy, prefix: str) -> list[dict[str, Any]]:
    """Write graded and binary qrels by one policy; of sums there is no binary reading."""
    policies = _policies(out.about.scale, policy)
    if out.export_choice.layout == "beir":
        policies = policies[:1]  # one file a split, and BEIR's grades may be of any scale
    return [_write_one(out, decide(all_votes, one), one, prefix) for one in policies]


def _policies(scale: Scale, policy: Policy) -> list[Policy]:
    """Return a policy as it is for grades, then for every level; sums of grades have none."""
    levels = () if policy.rule == "sum" else scale.values[1:]
    graded = replace(policy, collapse="after", level=None)
    return [graded, *(replace(policy, level=level) for level in levels)]


def _write_one(out: Outgoing, final: FinalQrels, policy: Policy, prefix: str) -> dict[str, Any]:
    """Write one file and return what the manifest says of it."""
    kind = "graded" if policy.level is None else f"level{policy.level}"
    is_beir = out.export_choice.layout == "beir"
    name = f"qrels/{prefix[:-1] or 'test'}.tsv" if is_beir else f"qrels/{prefix}{kind}.qrels"
    disguise = out.disguise
    cells = (
        (topic, disguise.iteration(iteration), docno, grade)
        for topic, iteration, docno, grade in final.cells()
    )
    chosen = cells if disguise.is_on else final.cells()
    with out.writer.text(name) as stream:
        stream.writelines(f"{lines}\n" for lines in (beir_lines if is_beir else qrels_blocks)(chosen))
    heard = final.all_votes.heard
    return {
        "file": name,
        **policy.to_json(),
        "judges": sorted(map(disguise.name, final.judges), key=natural_key),
        **heard.to_json(),
        "adjudicators": sorted(map(disguise.name, final.adjudicators), key=natural_key),
        "documents": final.n_documents,
        "by_grade": {str(grade): n for grade, n in final.by_grade.items()},
        "left_out": {reason: final.count_left_out(reason) for reason in ("tied", "cannot", "skipped")},
        "decided_by_tie_rule": final.n_decided_by_ties,
        "decided_by_ruling": final.n_ruled,
        "cannot_by_ruling": final.n_ruled_cannot,
    }


_COUNTS = {
    "pooled": " (to be judged), ",
    "judged": ", ",
    "unjudged": ", ",
    "skipped": ", ",
    "cannot": " (be judged), ",
    "outside": " (judged and in no pool), and by grade",
}
"""What the README has behind each."""
STATISTICS = FileTable(
    "statistics.tsv",
    "documents by topic and judge",
    (
        FileColumn("topic", TOPIC_ID, None),
        FileColumn("judge", ID, None),
        *(FileColumn(name, whole(), about) for name, about in _COUNTS.items()),
    ),
)
AGREEMENT = FileTable(
    "agreement.tsv",
    "pairs of judges over the documents both graded",
    (
        FileColumn("first", ID),
        FileColumn("second", ID),
        FileColumn("documents", whole()),
        FileColumn("same", FLOAT, " (share), Cohen's "),
        FileColumn("kappa", or_none(FLOAT)),
        FileColumn("linear", or_none(FLOAT), " and "),
        FileColumn("quadratic", or_none(FLOAT), " weighted, "),
        FileColumn("reason", about=" where there is no kappa"),
    ),
)


def write_statistics(out: Outgoing) -> None:
    """Write how many documents stand where, by topic and judge."""
    progress = count_states(out.session, out.topic_keys, out.about.scale)
    counts = progress.by_topic()
    judges = list(map(out.disguise.name, progress.judges))
    grades = [f"grade_{value}" for value in out.about.scale.values]
    cells = [*(getattr(counts, name) for name in _COUNTS), *counts.by_grade.T]
    names = ("topic", "judge", *_COUNTS, *grades)
    rows = [
        dict(zip(names, (progress.topics[topic], judges[judge], *numbers), strict=True))
        for topic, judge, *numbers in zip(
            *(column.tolist() for column in (counts.topics, counts.judges, *cells)), strict=True
        )
    ]
    rows.sort(key=lambda row: (natural_key(row["topic"]), natural_key(row["judge"])))
    columns = (*STATISTICS.columns, *(FileColumn(name, whole()) for name in grades))
    replace(STATISTICS, columns=columns).write(out, rows)


def write_agreement(out: Outgoing) -> None:
    """Write the agreement of every pair of judges with a document in common."""
    rows = sorted(_pairs(out), key=lambda row: (natural_key(row["first"]), natural_key(row["second"])))
    AGREEMENT.write(out, rows)


def _pairs(out: Outgoing) -> Iterator[dict[str, Any]]:
    """Yield one row for each pair of judges."""
    judges = fetch_judges(out.session)
    everybody = hear(judges, fetch_graders(out.session), kinds=[*SORTS]).voters
    votes = fetch_votes(out.session, out.topic_keys, out.about.scale.values, judges=everybody).votes
    if len(votes.judges) < 2:
        return
    names = map(out.disguise.name, votes.judges)
    for pair, table in zip(combinations(names, 2), all_pair_tables(votes), strict=True):
        n_documents = int(table.sum())
        if not n_documents:
            continue
        is_turned = natural_key(pair[0]) > natural_key(pair[1])
        first, second = reversed(pair) if is_turned else pair
        counts = table.T if is_turned else table
        plain = chance_corrected("cohen", counts)
        yield {
            "first": first,
            "second": second,
            "documents": n_documents,
            "same": int(np.trace(counts)) / n_documents,
            "kappa": plain.value,
            "linear": chance_corrected("cohen", counts, "linear").value,
            "quadratic": chance_corrected("cohen", counts, "quadratic").value,
            "reason": plain.reason or "",
        }
