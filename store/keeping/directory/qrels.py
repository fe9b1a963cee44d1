"""Qrels of a collection: graded and at every level, and how each was made."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from store.formats.qrels import qrels_blocks
from store.formats.scale import scale_to_json
from store.grades.policy import Policy
from store.grades.qrels import decide
from store.grades.votes import fetch_all_votes
from store.judging.judges import fetch_graders, fetch_judges
from store.judging.kinds import Heard, count_kinds, hear
from store.keeping.directory.contract import Outgoing, file_stems
from store.records import Judge, JudgeKind
from store.text import natural_key


def write_all_qrels(out: Outgoing) -> tuple[list[dict[str, Any]], int, Heard]:
    """Write qrels; return what `qrels.json` says of each file, how many judges graded nothing, who counts.

    With a judge or a rule named there is one set; so there is without, where one judge alone voted.
    Several judges whose grades nobody said how to make one of have a set each.
    """
    judges, graders, policy = fetch_judges(out.session), fetch_graders(out.session), out.choice.policy
    for each in _policies(out, policy):
        each.check()
        each.check_scale(out.scale)
    heard = hear(judges, graders, of=policy.named, kinds=policy.kinds)
    people = {judge.name for judge in judges if judge.kind is not JudgeKind.ADJUDICATOR}
    # An adjudicator who alone graded is the only judge there is.
    voters = (graders & heard.names if policy.kinds else graders & people) or graders
    is_named = policy.judge is not None or policy.rule is not None
    if is_named or (graders and len(set(policy.of) or voters) == 1):
        if not is_named and not graders & people:
            policy = replace(policy, judge=next(iter(voters)))
        files, heard = _write_set(out, policy, "")
    else:
        own = {out.disguise.name(name): name for name in (voters if policy.kinds else graders)}
        stems, heard, files = file_stems(sorted(own, key=natural_key)), Heard(), []
        for name, stem in stems.items():
            files += _write_set(out, Policy(judge=own[name]), f"{stem}.")[0]
    data = {"format": "pooler qrels", "format_version": 1, "scale": scale_to_json(out.scale), "qrels": files}
    out.lines("qrels.json", [json.dumps(data, indent=1, sort_keys=True)])
    return files, len(judges) - len(graders), heard


def _policies(out: Outgoing, policy: Policy) -> list[Policy]:
    """Return a policy as it is for grades, then for every level; sums of grades have none."""
    levels = () if policy.rule == "sum" else out.scale.values[1:]
    graded = replace(policy, collapse="after", level=None)
    return [graded, *(replace(policy, level=level) for level in levels)]


def _write_set(out: Outgoing, policy: Policy, prefix: str) -> tuple[list[dict[str, Any]], Heard]:
    """Write graded and binary qrels by one policy; return what is said of each file, and who counts."""
    policies, name, iteration = _policies(out, policy), out.disguise.name, out.disguise.iteration
    # The votes are the same at any level, and collapsing first is of a level alone.
    all_votes = fetch_all_votes(out.session, out.inside.topics, out.scale, policies[-1])
    is_beir = out.choice.layout == "beir"  # one file a split, and its grades may be of any scale
    written = []
    for one in policies[:1] if is_beir else policies:
        final = decide(all_votes, one)
        kind = "graded" if one.level is None else f"level{one.level}"
        file = f"qrels/{prefix[:-1] or 'test'}.tsv" if is_beir else f"qrels/{prefix}{kind}.qrels"
        cells = ((topic, iteration(label), docno, grade) for topic, label, docno, grade in final.cells())
        beir = (f"{topic}\t{docno}\t{grade}" for topic, _, docno, grade in cells)
        out.lines(file, ["query-id\tcorpus-id\tscore", *beir] if is_beir else qrels_blocks(cells))
        judges, rulers = (
            sorted(map(name, who), key=natural_key) for who in (final.judges, final.adjudicators)
        )
        facts = {
            "judges": judges,
            "kinds": count_kinds(Judge(judge, out.kinds[judge]) for judge in judges),
            "kinds_left_out": all_votes.heard.counts_left_out,
            "adjudicators": rulers,
            "documents": final.n_documents,
            "by_grade": {str(grade): n for grade, n in final.by_grade.items()},
            "left_out": {reason: final.count_left_out(reason) for reason in ("tied", "cannot", "skipped")},
            "decided_by_tie_rule": final.n_decided_by_ties,
            "decided_by_ruling": final.n_ruled,
            "cannot_by_ruling": final.n_ruled_cannot,
        }
        written.append({"file": file, "sha256": out.files[file].sha256, **one.to_json(), **facts})
    return written, all_votes.heard
