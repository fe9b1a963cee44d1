"""`pooler export qrels`: one grade a document, for evaluators."""

from __future__ import annotations

from pooler.cli.console import say
from pooler.cli.erased import erased_facts, erased_words
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, RelaxedOption, RigidOption
from pooler.cli.policy_options import (
    AggregateOption,
    CollapseOption,
    JudgeOption,
    OfOption,
    TiesOption,
    WithoutRulingsOption,
    policy_of,
)
from pooler.cli.policy_report import KnownJudges
from pooler.cli.qrels_files import (
    GradedOption,
    ManifestOption,
    QrelsLevelsOption,
    QrelsOutOption,
    UnjudgedOption,
)


def qrels(
    out: QrelsOutOption = None,
    judge: JudgeOption = None,
    aggregate: AggregateOption = None,
    ties: TiesOption = None,
    collapse: CollapseOption = None,
    of: OfOption = None,
    without_rulings: WithoutRulingsOption = False,
    levels: QrelsLevelsOption = None,
    rigid: RigidOption = False,
    relaxed: RelaxedOption = False,
    graded: GradedOption = False,
    unjudged: UnjudgedOption = None,
    manifest: ManifestOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Write qrels (topic iteration docno grade): graded, or binary at a level, or several of them.

    Skipped and unjudgeable documents are left out and counted; none becomes grade 0. An
    adjudicator's ruling is the grade wherever one stands, whatever the rule.

    Example: pooler export qrels --aggregate majority --ties low --out qrels.txt
    """
    from pooler.cli.qrels_files import (
        check_files,
        make_files,
        policies_at,
        tell_files,
        write_files,
    )
    from store.analysis.collapse import levels_of
    from store.collection import Collection

    policy = policy_of(judge=judge, aggregate=aggregate, ties=ties, collapse=collapse, of=of,
                       without_rulings=without_rulings)  # fmt: skip
    with Collection(collection) as opened:
        scale = opened.scale
        wanted = levels_of(
            scale, levels=levels or (), rigid=rigid, relaxed=relaxed, graded=graded,
            sums=policy.rule == "sum",
        )  # fmt: skip
        check_files(wanted, scale, out=out, manifest=manifest, unjudged=unjudged)
        policies = policies_at(policy, wanted)
        ballots = opened.ballots(policies[-1])
        made = make_files(ballots, policies, opened.pooled_rounds(), unjudged=unjudged)
        judges, erased = KnownJudges(opened.judges()), erased_words(opened)
        origin = {"collection": opened.name, **erased_facts(opened)}
    write_files(made, judges, scale, origin, out=out, manifest=manifest)
    tell_files(made, ballots, judges)
    if erased:
        say(erased)
