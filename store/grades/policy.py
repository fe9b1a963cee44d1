"""How several judges' grades become one: the choices that a file of qrels is the outcome of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

from store.analysis.aggregation import TIE_RULES, TIES
from store.errors import ArgumentError
from store.grades import Collapse, Rule
from store.judging.kinds import check_kinds
from store.records import Scale, Ties

RULES: tuple[Rule, ...] = get_args(Rule)

COLLAPSES: tuple[Collapse, ...] = get_args(Collapse)

SINGLE_JUDGE = "single judge"
"""The rule where one judge's grades are taken as they are."""

_TIES_HINT = "low or high take that one of the tied grades, unresolved leaves the document out"


@dataclass(frozen=True, slots=True)
class Policy:
    """Whose grades count, and what happens to several.

    An adjudicator is no voter. Where a ruling stands it is the grade, whatever the rule, unless
    `rulings` is false or `judge` names one judge.
    """

    judge: str | None = None
    """Take this judge's own grades, and no ruling of another."""
    rule: Rule | None = None
    """``None`` = a single judge: `judge`, or the only one who judged."""
    ties: Ties | None = None
    """What tied votes give; needed by majority and median."""
    collapse: Collapse = "after"
    """Whether every judge's grade is made binary before the rule, or the rule's grade after."""
    level: int | None = None
    """Least relevant grade (of rule sum: least relevant sum); ``None`` = stay graded."""
    rulings: bool = True
    """Whether adjudicators' rulings win over the rule."""
    of: tuple[str, ...] = ()
    """These judges alone vote; empty = those of `kinds`."""
    kinds: tuple[str, ...] = ()
    """Judges of these kinds count; empty = those of `store.judging.kinds.hear`."""

    @property
    def named(self) -> tuple[str, ...]:
        """Judges who are named."""
        return self.of if self.judge is None else (self.judge,)

    def check(self) -> None:
        """Raise `ArgumentError` for choices that do not go together."""
        if self.judge is not None and self.rule is not None:
            raise ArgumentError("judge", "and --aggregate exclude each other", self.judge)
        if self.judge is not None and self.of:
            requirement = "and --judge exclude each other"
            raise ArgumentError("of", requirement, ", ".join(self.of))
        if self.kinds and (self.of or self.judge is not None):
            other = "--of" if self.of else "--judge"
            requirement = f"and {other} exclude each other: judges that are named are those that count"
            raise ArgumentError("kinds", requirement, ",".join(self.kinds))
        check_kinds(self.kinds)
        if self.rule is not None and self.rule not in RULES:
            raise ArgumentError("aggregate", f"must be one of {', '.join(RULES)}", self.rule)
        self._check_ties()
        self._check_collapse()

    def _check_ties(self) -> None:
        rules = " or ".join(TIE_RULES)
        if self.ties is not None and self.ties not in TIES:
            requirement = f"must be one of {', '.join(TIES)}"
            raise ArgumentError("ties", requirement, self.ties, hint=_TIES_HINT)
        if self.rule in TIE_RULES and self.ties is None:
            requirement = f"must be low, high or unresolved with --aggregate {self.rule}"
            raise ArgumentError("ties", requirement, None, hint=_TIES_HINT)
        if self.rule not in TIE_RULES and self.ties is not None:
            requirement = f"needs --aggregate {rules}" + ("" if self.rule is None else f", not {self.rule}")
            raise ArgumentError("ties", requirement, None)

    def _check_collapse(self) -> None:
        if self.collapse not in COLLAPSES:
            requirement = f"must be one of {', '.join(COLLAPSES)}"
            raise ArgumentError("collapse", requirement, self.collapse)
        if self.collapse == "after":
            return
        if self.rule is None:
            raise ArgumentError("collapse", "needs --aggregate", None)
        if self.rule == "sum":
            requirement = "must be after with --aggregate sum, whose level is one of the sums"
            raise ArgumentError("collapse", requirement, self.collapse)
        if self.level is None:
            hint = "--level N, --rigid or --relaxed say what is relevant"
            requirement = "must come with a level: graded qrels are not collapsed"
            raise ArgumentError("collapse", requirement, self.collapse, hint=hint)

    def check_scale(self, scale: Scale) -> None:
        """Raise `ArgumentError` when the rule or the level has no meaning on the scale."""
        if self.level is not None and self.rule != "sum":
            scale.check_level(self.level)
        values = scale.values
        if self.rule == "mean" and values[-1] - values[0] != len(values) - 1:
            if self.collapse == "before":
                return
            gap = next(one for one in range(values[0], values[-1]) if one not in values)
            hint = f"a mean may be {gap}, which is no grade; median and majority always give one"
            requirement = "must be another rule on a scale with gaps"
            raise ArgumentError("aggregate", requirement, "mean", hint=hint)

    def to_json(self) -> dict[str, Any]:
        """Return what a manifest says of it: the names of the options, and their values."""
        return {
            "rule": self.rule or SINGLE_JUDGE,
            "ties": self.ties,
            "collapse": None if self.rule is None or self.level is None else self.collapse,
            "level": self.level,
            "rulings": self.rulings and self.judge is None,
        }
