"""What a comparison comes to in one sentence: which run is better, or what has to be done to tell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pooler.reasons import OF_PAIRS
from pooler.result import fields_of
from pooler.sources.command_lines import CommandLines
from pooler.sources.source import Source
from pooler.tables import listed
from store.analysis.arrays import Grades
from store.analysis.measures.names import MEASURES, MeasureName, Scores, evaluate
from store.analysis.pools.contributions import infer_pool
from store.analysis.rankings import graded_rankings, judged_rankings
from store.analysis.significance.power import MOST_TOPICS, POWER, detectable_effect, topics_for_power
from store.analysis.significance.t_tests import SAME, Decision, Requirement, TTest, decide
from store.text import counted

Outcome = Literal["fails", "worse", "judge first", "undecided", "no difference", "holds", "better"]
"""The worst first."""
Pair = tuple[str, str]
FIRST_RANKS, MOST_RANKS = 10, 100
"""Ranks at which unjudged documents count: where nothing tells how many, and at most for deep measures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunVerdict(TTest):
    """What the comparison of two runs comes to, and the t test of the second less the first that it rests on.

    `outcome` is ``holds``, ``fails`` or ``undecided`` where something was required. With a power of .8
    `topics_needed` would show a difference of `margin` that these do not; ``None`` = no number. `unjudged` of
    each run are in its first ranks; `to_judge` of both are to have a grade first, 0 = none, which judges
    differ on for `to_settle` of them; `command` lists the others. Of several `measures` it is the worst
    verdict.
    """

    outcome: Outcome
    answer: str
    details: str
    measure: str
    require: Requirement | None
    margin: float | None
    topics_needed: int | None
    unjudged: tuple[int, int]
    to_judge: int
    to_settle: int
    command: str
    measures: tuple[RunVerdict, ...] = ()

    @property
    def text(self) -> str:
        """All of it in words, on one line."""
        outcome = "does not hold" if self.outcome == "fails" else self.outcome
        required = f" (--require {self.require}): {outcome}" if self.require else ""
        return f"Verdict{required}: {self.answer}: {self.details}."

    def to_json(self) -> dict[str, Any]:
        """Return the text, and every field by its name."""
        return {"text": self.text, **asdict(self)}


@dataclass(frozen=True, kw_only=True)
class Referee:
    """Compares runs of a source; `cutoff` as for `evaluate`, the others as for `decide`."""

    source: Source
    cutoff: int | None
    require: Requirement | None = None
    margin: float | None = None
    alpha: float = 0.05

    @cached_property
    def _grades(self) -> Grades:
        return self.source.numbered.by_topic()

    def of_pair(self, runs: Pair, scores: Mapping[MeasureName, NDArray[np.float64]]) -> RunVerdict:
        """Compare two runs; `scores` of each measure have shape (2, n_topics), NaN = undefined."""
        each = [self._of_measure(runs, name, values) for name, values in scores.items()]
        found = min(each, key=lambda one: get_args(Outcome).index(one.outcome))
        if found.outcome in ("holds", "better"):
            found = replace(found, details="; ".join(one.details for one in each))
        return replace(found, measures=tuple(each)) if len(each) > 1 else found

    def of_best(self, tags: Sequence[str], name: MeasureName, scores: Scores) -> tuple[str, str]:
        """Say which runs are the best that these topics cannot tell apart, comparing each with the best."""
        best, *others = np.argsort(-scores.overall, kind="stable").tolist()
        pairs = {tags[row]: {name: scores.values[[best, row]]} for row in others}
        found = {tag: self.of_pair((tags[best], tag), pair) for tag, pair in pairs.items()}
        alike = [tags[best], *(tag for tag, one in found.items() if one.outcome != "worse")]
        are = "is" if len(alike) == 1 else "cannot be told apart by these topics, and are"
        named = " and ".join(alike) if len(alike) == 2 else listed(alike, 3)
        answer = f"{named} {are} the best of {len(tags):,} runs"
        each, whole = (f"{100 - 100 * self.alpha * n:.4g}%" for n in (1, len(others)))
        details = f"By {each} intervals of the differences to {tags[best]} in {_unit(name)}, {whole} together"
        if unclear := [tag for tag, one in found.items() if one.to_judge]:
            first, feeding = found[unclear[0]], self.source.numbered.feeding
            details += f". To be sure, judge more documents of {listed(unclear, 3)} first"
            details += (
                f". {counted(first.unjudged[1], 'document')} of {unclear[0]} that count here are unjudged"
            )
            details += ", as it fed no pool" * bool(feeding and unclear[0] not in feeding)
            details += f". To list them: `{first.command}`" * bool(first.command)
        return answer, f"{details}."

    def _of_measure(self, runs: Pair, name: MeasureName, values: NDArray[np.float64]) -> RunVerdict:
        decision, test = self._decide(values)
        rank, unjudged, to_judge, to_settle = self._unjudged(runs, name, decision)
        details = f"{runs[1]} - {runs[0]} in {_unit(name)}: {OF_PAIRS[test.reason or 'no-topics']}"
        if test.low is not None:
            details = (
                f"{runs[1]} - {runs[0]} is {test.difference:.4f} in {_unit(name)},"
                f" {100 * test.level:.4g}% interval {test.low:.4f} to {test.high:.4f},"
                f" {counted(test.n_topics, 'topic')}"
            )
        alpha, deviation, command, needed = 1 - test.level, math.sqrt(test.variance or 0), "", None
        outcome, answer = self._answer(runs, decision, is_worse=test.high is not None and test.high < -SAME)
        if to_judge:
            outcome = "undecided" if self.require else "judge first"
            n_open = to_judge - to_settle
            first = {"judge": n_open, "settle": to_settle}
            what = " and ".join(f"{do} {counted(n, 'document')}" for do, n in first.items() if n)
            answer = f"{what} first"
            ungraded = "ungraded document" if to_settle else "unjudged document"
            has = f"{runs[1]} has {counted(unjudged[1], ungraded)}, {runs[0]} {unjudged[0]:,}"
            details = f"in the first {counted(rank, 'rank')} {has}; so far {details}"
            lines = CommandLines(self.source, self.source.numbered.files, rank)
            if n_open:
                options = "--only-unjudged", "--confidence", "1", "--limit", str(n_open)
                command = lines.of_runs("pool", "next", *options, runs=runs)
                details += f". To list them: `{command}`" if command else ""
            if to_settle:
                way_out = "" if self.source.is_of_files else f": {self.source.named_qrels.undecided_hint}"
                details += f". Judges differ on {to_settle:,}{way_out}"
        elif decision == "undecided" and deviation and alpha < POWER:
            found = detectable_effect(test.n_topics, alpha=alpha) * deviation
            details += f". With a probability of {POWER:g} these topics find a difference of {found:.4f}"
            if self.margin is None:
                details += "; --margin D tells how many topics find one of D"
            else:
                needed = topics_for_power(self.margin / deviation, alpha=alpha)
                topics = f"more than {MOST_TOPICS:,}" if needed is None else f"{needed:,}"
                details += f"; one of {self.margin:g} takes {topics} topics"
        return RunVerdict(
            **fields_of(test),
            outcome=outcome,
            answer=answer,
            details=details,
            measure=str(name),
            require=self.require,
            margin=self.margin,
            topics_needed=needed,
            unjudged=unjudged,
            to_judge=to_judge,
            to_settle=to_settle,
            command=command,
        )

    def _decide(self, values: NDArray[np.float64]) -> tuple[Decision, TTest]:
        first, second = values[:, np.isfinite(values).all(axis=0)]
        return decide(second - first, self.require or "better", margin=self.margin, alpha=self.alpha)

    def _answer(self, runs: Pair, decision: Decision, *, is_worse: bool) -> tuple[Outcome, str]:
        first, second = runs
        if self.require == "not-worse":
            by = f"worse than {first} by {self.margin:g} or more"
            words = {"holds": f"{second} is not {by}", "fails": f"{second} is {by}"}
            return decision, words.get(decision, f"these topics do not show whether {second} is {by}")
        found: Outcome = "better" if decision == "holds" else "worse" if is_worse else "no difference"
        same = "no difference that these topics can show"
        answer = same if found == "no difference" else f"{second} is {found} than {first}"
        return decision if self.require else found, answer

    def _unjudged(
        self, runs: Pair, name: MeasureName, said: Decision
    ) -> tuple[int, tuple[int, int], int, int]:
        """Return ranks that count, ungraded documents there of each run, how many need a grade first.

        The last number is of those of them on which judges differ.
        The run that has more of them may be better than it seems, and no other: what says that it is not
        better is in doubt, unless it would be said, too, were they all of the best grade that any has.
        """
        judged, grades, level = self.source.numbered, self._grades, self.source.level
        rankings, depth = judged.ranked.rankings, max((one.depth for one in judged.pools), default=None)
        if name.cutoff is None and depth is None:
            binary = {topic: (ids, given >= level) for topic, (ids, given) in grades.items()}
            arrays = judged_rankings([*grades], runs, rankings, binary, cutoff=MOST_RANKS)
            depth = infer_pool(arrays).depth or FIRST_RANKS
        rank = min(one for one in (name.cutoff or depth, MOST_RANKS, self.cutoff) if one)
        found = []
        for run in runs:
            tops = {topic: rankings.get((run, topic), ids[:0])[:rank] for topic, (ids, _) in grades.items()}
            found.append({topic: top[~np.isin(top, grades[topic][0])] for topic, top in tops.items()})
        first, second = (sum(one.size for one in of.values()) for of in found)
        in_doubt = {"holds": first > second, "fails": second > first, "undecided": first != second}
        to_judge = to_settle = 0
        if in_doubt[said]:
            best = max([level, *(int(given.max()) for _, given in grades.values() if given.size)])
            whole = {}
            for topic, (ids, given) in grades.items():
                more = found[second > first][topic]
                whole[topic] = np.append(ids, more), np.append(given, np.full_like(more, best))
            cutoff = self.cutoff or max(1000, name.cutoff or 0)
            (scores,) = evaluate(graded_rankings([*grades], runs, rankings, whole, cutoff=cutoff), [name])
            if self._decide(scores.values)[0] != said:
                open_ids = {topic: np.union1d(*(of[topic] for of in found)) for topic in grades}
                to_judge = sum(one.size for one in open_ids.values())
                known, why = judged.ranked.ids, judged.left_out.items()
                differ = [pair for pair, reason in why if reason == "undecided" and pair[0] in grades]
                to_settle = sum(known.get(docno) in open_ids[topic] for topic, docno in differ)
        return rank, (first, second), to_judge, to_settle


def _unit(name: MeasureName) -> str:
    """Say what differences are of: of a geometric mean they are of logarithms."""
    return f"ln {name}" if MEASURES[name.name].is_geometric else str(name)
