"""What `pooler agreement` was asked for, checked and resolved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from pooler.judge_kinds import kinds_words, voters_words, warn_about_voters
from pooler.messages import say, warn
from store.errors import PoolerError, UnknownNameError
from store.judging.kinds import SORTS, Voters, choose_voters

if TYPE_CHECKING:
    from pooler.sources.source import Opinions
    from store.analysis.agreement.kappa import Bands
    from store.analysis.agreement.tables import IntervalKind
    from store.analysis.agreement.votes import PopulationVotes
    from store.grades.definition import QrelsDefinition
    from store.records import Judge, Scale

Pair = tuple[str, str]

ALL_LABELS = "(all labels)"
"""Every label of the others, each compared with the reference; no judge's name has a blank."""


@dataclass(frozen=True, slots=True)
class AgreementOptions:
    """What is to be computed."""

    scale: Scale
    levels: tuple[int, ...]
    """Least relevant grades, by value, ascending."""
    has_levels: bool
    """Whether they were asked for by name."""
    kind: IntervalKind = "topic"
    resamples: int = 10_000
    seed: int = 1
    bands: Bands | None = None
    by_topic: bool = False

    @property
    def level_indices(self) -> list[int]:
        """The levels as indices into the scale."""
        from store.analysis.agreement.votes import level_index

        return [level_index(self.scale, level) for level in self.levels]

    def level_at(self, index: int | None) -> int | None:
        """Return the level of an index; ``None`` = graded."""
        return None if index is None else self.scale.values[index]


def resolve_levels(scale: Scale, levels: Sequence[int | str], *, all_of_them: bool) -> tuple[int, ...]:
    """Resolve the levels; by default all of the scale, or its relaxed and rigid one."""
    from store.grades.definition import QrelsDefinition

    if levels:
        return tuple(sorted({QrelsDefinition().level_on(scale, level) for level in levels}))
    if all_of_them:
        return scale.values[1:]
    both = [scale.relaxed, *([] if scale.rigid is None else [scale.rigid])]
    return tuple(dict.fromkeys(both))


def check_names(known: Sequence[Judge], names: Sequence[str], against: str | None) -> None:
    """Refuse unknown judges; warn of adjudicators, who do not judge by themselves."""
    kinds = {judge.name: judge.kind for judge in known}
    for name in dict.fromkeys([*names, *([] if against is None else [against])]):
        if name not in kinds:
            raise UnknownNameError("judge", name, list(kinds))
        if kinds[name] == "adjudicator":
            warn(
                f"{name} is an adjudicator, who saw the others' opinions: agreement with {name} says"
                " little about how far judges agree"
            )


@dataclass(frozen=True, slots=True)
class ChosenJudges:
    """The judges that are measured, two at least, and their votes."""

    votes: PopulationVotes
    voters: Voters
    """Whose votes these are, and who was left out."""
    people: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    """Who is measured apart from the others; empty where all are measured together."""


def fetch_chosen(
    opinions: Opinions, named: Sequence[str], against: str | None, *, apart: bool = False
) -> ChosenJudges:
    """Return the votes of the judges to be measured, two at least, and say whose they are.

    By default the judges who count and graded are measured; with a reference they are the others. `apart`:
    people and models both, which are then to be kept apart.
    """
    opened, whose = opinions.grades, opinions.source.whose
    check_names(opened.judges(), named, against)
    names = named or whose.judges
    kinds = () if names else whose.kinds
    reference = [] if against is None else [against]
    every = opened.voters(kinds=[*SORTS])
    others = [one for one in every.judges if one.name != against]
    of_files = opened.voters().is_named and not kinds and not names
    of = [*names, *reference] if names else [one.name for one in others] if of_files else []
    voters = opened.voters(of) if names else choose_voters(others, every.graders, of=of, kinds=kinds)
    people, models = _apart(every) if apart and not voters.is_named and against is None else ((), ())
    if people:
        voters = replace(
            voters,
            judges=tuple(one for one in every.judges if one.name in {*people, *models}),
            left_out=tuple(one for one in voters.left_out if one.name not in models),
        )
        chosen = [*people, *models]
    else:
        chosen = list(dict.fromkeys([*names, *reference])) if names else [*voters.voting, *reference]
    votes = opened.votes(chosen)
    judges = votes.votes.judges
    if not judges or not votes.graded.any():
        raise _nothing(opinions, names, voters)
    if len(judges) < 2:
        raise _alone(opinions, judges[0], names, voters)
    if not votes.n_documents and opinions.collection is None:
        message = f"no document is judged by two of the judges: {', '.join(judges)}"
        raise PoolerError(message, hint="name files of judges who had the same documents")
    if people:
        say(f"people and models are measured apart: {kinds_words(voters.counts)} ({TOGETHER})")
        if voters.left_out:
            warn(f"left out: {kinds_words(voters.counts_left_out)}")
    else:
        warn_about_voters(voters, "are measured together", others=against is not None)
    return ChosenJudges(votes, voters, people, models)


TOGETHER = "--qrels NAME measures them together, defined with --kinds human,model"


def _apart(every: Voters) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the people and the models who graded, where there are both."""
    voters = {*every.voting}
    people, models = (
        tuple(one.name for one in every.judges if one.kind == kind and one.name in voters)
        for kind in ("human", "model")
    )
    return (people, models) if people and models else ((), ())


def _nothing(opinions: Opinions, names: Sequence[str], voters: Voters) -> PoolerError:
    message = "there is nothing to measure: "
    if voters.kinds and voters.graders:
        message += f"no judge of kind {' or '.join(voters.kinds)} has graded a document"
    elif names and voters.graders:  # others have
        message += "none of them has graded a document"
    else:
        message += "no judge has graded a document yet"
    hint = (
        "no line of the files is a judgement"
        if opinions.collection is None
        else "pooler judge makes judgements; pooler import judgements reads them"
    )
    return PoolerError(message, hint=hint)


def _alone(opinions: Opinions, name: str, names: Sequence[str], voters: Voters) -> PoolerError:
    message = f"agreement needs two judges, but there is only `{name}`"
    hint = "name another judge, or none: then all who graded are measured"
    if not names and voters.left_out:
        message += f" ({voters_words(voters)})"
        hint = "name the judges, or --qrels of several kinds, as of `qrels define NAME --kinds human,model`"
    elif not names:
        hint = (
            "let another judge grade the same documents: pooler judge --judge NAME"
            if opinions.collection is not None
            else "name another judge's file with --qrels, too; a file of several judges is read by"
            " `pooler import judgements FILE --judge-column 2`"
        )
    return PoolerError(message, hint=hint)


def pairs_of(judges: Sequence[str], reference: str | None) -> list[tuple[str, str]]:
    """Return every two judges, or each with the reference."""
    if reference is None:
        return list(combinations(judges, 2))
    return [(judge, reference) for judge in judges if judge != reference]


def settings_of(
    votes: PopulationVotes,
    options: AgreementOptions,
    *,
    against: str | None,
    rule: QrelsDefinition,
    voters: Voters,
) -> dict[str, Any]:
    """Say what was measured, and how: for programs and for the manifest."""
    return {
        "documents": votes.n_documents,
        "topics": votes.n_topics,
        "judges": list(votes.votes.judges),
        **voters.to_json(),
        "scale": list(options.scale.values),
        "levels": list(options.levels),
        "interval": options.kind,
        "interval_level": None if options.kind == "none" else 0.95,
        "resamples": options.resamples if options.kind in ("topic", "item") else None,
        "seed": options.seed,
        "bands": options.bands,
        "against": against,
        "aggregate": rule.aggregate,
        "ties": rule.ties,
        "binary_first": rule.binary_first,
    }
