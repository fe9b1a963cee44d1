"""Qrels of a directory: graded, and binary at every level of the scale."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from store.ballots import Ballots, gather
from store.directory.moving import Outgoing
from store.directory.names import file_stems
from store.errors import UnknownNameError
from store.final_qrels import FinalQrels, decide
from store.formats.qrels import write_qrels
from store.gathering import fetch_ballots
from store.judgements import fetch_judgements
from store.judges import fetch_judges
from store.natural_order import natural_key
from store.policy import Policy
from store.records import JudgeKind, Judgement, Qrel, Scale, State


def write_all_qrels(out: Outgoing) -> list[dict[str, Any]]:
    """Write qrels, and return what the manifest says of every file of them.

    With a judge or a rule named there is one set; so there is without, where one judge alone voted.
    Several judges whose grades nobody said how to make one of have a set each.
    """
    judgements = fetch_judgements(out.session, out.topic_keys, out.document_keys)
    judges = fetch_judges(out.session)
    adjudicators = {judge.name for judge in judges if judge.kind is JudgeKind.ADJUDICATOR}
    graders = {one.judge for one in judgements if one.state is State.JUDGED}
    policy = out.wishes.policy
    for each in _policies(out.scale, policy):
        each.check()
        each.check_scale(out.scale)
    names = [judge.name for judge in judges]
    for name in (policy.judge, *policy.of):
        if name is not None and name not in names:
            raise UnknownNameError("judge", name, names)
    # An adjudicator who alone graded is the only judge there is.
    voters = graders - adjudicators or graders
    is_named = policy.judge is not None or policy.rule is not None
    if not graders and not is_named:
        return []
    if is_named or len(set(policy.of) or voters) == 1:
        if not is_named and not graders - adjudicators:
            policy = replace(policy, judge=next(iter(voters)))
        keys = out.topic_keys, out.document_keys
        # Ballots are the same at any level, and collapsing first is of a level alone.
        ballots = fetch_ballots(out.session, *keys, out.scale, _policies(out.scale, policy)[-1])
        return _write_set(out, ballots, policy, "")
    by_judge: dict[str, list[Judgement]] = {name: [] for name in graders}
    for one in judgements:
        if one.judge in by_judge:
            by_judge[one.judge].append(one)
    new_names = {name: out.disguise.name(name) for name in by_judge}
    in_order = sorted(by_judge, key=lambda name: natural_key(new_names[name]))
    stems = file_stems(new_names[name] for name in in_order)
    written = []
    for name in in_order:
        own = Policy(judge=name)
        ballots = gather(by_judge[name], out.scale, own)
        written += _write_set(out, ballots, own, f"{stems[new_names[name]]}.")
    return written


def _write_set(
    out: Outgoing, ballots: Ballots, policy: Policy, prefix: str
) -> list[dict[str, Any]]:
    """Write graded and binary qrels by one policy; of sums there is no binary reading."""
    policies = _policies(out.scale, policy)
    return [_write_one(out, decide(ballots, one), one, prefix) for one in policies]


def _policies(scale: Scale, policy: Policy) -> list[Policy]:
    """Return a policy as it is for grades, then for every level; sums of grades have none."""
    levels = () if policy.rule == "sum" else scale.values[1:]
    graded = replace(policy, collapse="after", level=None)
    return [graded, *(replace(policy, level=level) for level in levels)]


def _write_one(out: Outgoing, final: FinalQrels, policy: Policy, prefix: str) -> dict[str, Any]:
    """Write one file and return what the manifest says of it."""
    kind = "graded" if policy.level is None else f"level{policy.level}"
    name = f"qrels/{prefix}{kind}.qrels"
    disguise = out.disguise
    rows = final.rows
    if disguise.is_on:
        rows = [
            Qrel(row.topic, row.docno, row.grade, disguise.iteration(row.iteration)) for row in rows
        ]
    with out.writer.text(name) as stream:
        write_qrels(rows, stream)
    by_grade = Counter(row.grade for row in rows)
    return {
        "file": name,
        **policy.to_json(),
        "judges": sorted(map(disguise.name, final.judges), key=natural_key),
        "adjudicators": sorted(map(disguise.name, final.adjudicators), key=natural_key),
        "documents": len(rows),
        "by_grade": {str(grade): n for grade, n in sorted(by_grade.items())},
        "left_out": {
            reason: final.count_left_out(reason) for reason in ("tied", "cannot", "skipped")
        },
        "decided_by_tie_rule": final.n_decided_by_ties,
        "decided_by_ruling": final.n_ruled,
        "cannot_by_ruling": final.n_ruled_cannot,
    }
