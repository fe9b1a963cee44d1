"""Judgements of files of several judges, gathered as those of a collection are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pooler.sources.meeting import doubt_forms
from store.errors import ArgumentError, PoolerError
from store.grades.definition import QrelsDefinition
from store.grades.opinions import AllVotes, gather
from store.judging.kinds import Voters, choose_voters
from store.records import Judge, JudgeKind, Scale, State
from store.text import look_alikes

if TYPE_CHECKING:
    from pooler.sources.judgement_files import JudgedFile


def gather_files(
    files: Sequence[JudgedFile], scale: Scale, definition: QrelsDefinition
) -> tuple[AllVotes, list[Judge]]:
    """Return the votes of files that are decoded, as a definition lets them count, and every judge.

    `PoolerError`: nothing is judged, or there are rulings, of which only a collection knows which stand.
    """
    judges = _judges(files)
    judgements = [one for file in files for one in file.judgements]
    doubt_forms(look_alikes(docnos := {one.docno for one in judgements}, docnos))
    voters = _voters(files, judges, definition)
    adjudicators = _check_judges(judges, definition, voters)
    states = {one.state for file in files for one in file.judgements}
    if State.JUDGED not in states:
        names = ", ".join(file.named.file for file in files)
        message = f"{names}: has judged nothing here"
        raise PoolerError(message)
    judgements = [one for one in judgements if one.judge in voters.names]
    all_votes = gather(judgements, scale, definition, adjudicators=adjudicators)
    return replace(all_votes, voters=voters), judges


def _judges(files: Sequence[JudgedFile]) -> list[Judge]:
    kinds: dict[str, JudgeKind] = {}
    for file in files:
        names = {one.judge for one in file.judgements}
        names |= set() if file.named.judge is None else {file.named.judge}
        kinds |= {name: file.kinds.get(name, JudgeKind.IMPORTED) for name in names}
    return [Judge(name, kinds[name]) for name in sorted(kinds)]


def _voters(files: Sequence[JudgedFile], judges: Sequence[Judge], definition: QrelsDefinition) -> Voters:
    """Choose whose judgements count; judges of files of one judge each are named by the user."""
    graders = {one.judge for file in files for one in file.judgements if one.state is State.JUDGED}
    of: Sequence[str] = definition.judges
    if not definition.kinds and all(file.named.judge is not None for file in files):
        of = of or [one.name for one in judges]
    has_rulings = not definition.without_rulings
    return choose_voters(judges, graders, of=of, kinds=definition.kinds, rulings=has_rulings)


def _check_judges(judges: Sequence[Judge], definition: QrelsDefinition, voters: Voters) -> set[str]:
    """Refuse adjudicators who count, since files do not hold their rulings; return them all."""
    adjudicators = {one.name for one in judges if one.kind is JudgeKind.ADJUDICATOR}
    for name in definition.judges if definition.sole is None else ():
        if name in adjudicators:
            hint = "an adjudicator's rulings count, but not as votes"
            raise ArgumentError("--judge", "must be judges, not adjudicators", name, hint=hint)
    if not adjudicators.isdisjoint(voters.names) and not definition.without_rulings:
        message = f"{', '.join(sorted(adjudicators))} made rulings, and only"
        message += " a collection knows which of them stand"
        hint = "pooler import judgements, then pooler export qrels; or --without-rulings leaves them out"
        raise PoolerError(message, hint=hint)
    return adjudicators
