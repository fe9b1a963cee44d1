"""The three kinds of strategy, and what a row of the table says.

A fixed strategy gives every document a value at once: float64 of shape (n_documents,), higher
first. An adaptive one chooses document by document, each choice knowing what came of those before.
A sampling one draws some documents at random and says how likely each was to be drawn. All see the
`TopicRankings` of one topic, and no names: equal values go by docno descending, equal runs by tag
ascending. A budget is the number of documents to judge, and all of them where there are fewer; a seed
is not negative, and gives every topic a stream of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from store.errors import ArgumentError, ParameterError, UnknownNameError

ParameterValue = int | float | str


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a strategy."""

    name: str
    default: ParameterValue | None
    """``None`` = it must be given. Unless it must, its type is that of the default."""
    summary: str
    """What it is, in a few words, for lists."""
    type: type[int] | type[float] | type[str] = float
    least: float | None = None
    most: float | None = None
    """Bounds of a number, allowed themselves unless `is_open`."""
    is_open: bool = False
    """Whether the bounds themselves are not allowed."""

    def parse(self, text: str) -> ParameterValue:
        """Read a value; raise `ArgumentError` when it cannot be one.

        >>> Parameter("k", 60, "added to every rank", type=int, least=0).parse("10")
        10
        """
        try:
            value = self.type(text)
        except ValueError:
            raise ParameterError(self.name, self._requirement(), text) from None
        return self.check(value)

    def check(self, value: ParameterValue) -> ParameterValue:
        """Return `value` when it can be used, else raise `ArgumentError`."""
        if isinstance(value, str):
            is_good = self.type is str
        else:
            low = -np.inf if self.least is None else self.least
            high = np.inf if self.most is None else self.most
            is_inside = low < value < high if self.is_open else low <= value <= high
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            is_good = self.type is not str and is_inside and (is_whole or self.type is float)
            is_good = is_good and abs(value) <= sys.float_info.max  # an integer may be larger
        if not is_good:
            raise ParameterError(self.name, self._requirement(), value)
        return value

    def _requirement(self) -> str:
        if self.type is str:
            return "must be a name"
        kind = "an integer" if self.type is int else "a number"
        than = ("> ", "< ") if self.is_open else (">= ", "<= ")
        ends = zip(than, (self.least, self.most), strict=True)
        bounds = [f"{sign}{bound:g}" for sign, bound in ends if bound is not None]
        return f"must be {kind} {' and '.join(bounds)}".rstrip()


class Adaptive(Protocol):
    """The state of an adaptive strategy on one topic.

    The state is a pure function of the rankings, the parameters, the seed, and the sequence of
    calls to `observe`; so a run of judging that broke off is continued by observing again.
    """

    def choose(self) -> int | None:
        """Return the next document to judge; ``None`` when all have been observed.

        Changes nothing: asked again, it answers the same.
        """

    def observe(self, document: int, relevant: bool | None) -> None:  # noqa: FBT001 - an outcome
        """Record what was judged of a document, which need not be the one `choose` would name.

        It was not observed before; `relevant` is its judgement, ``None`` = drawn, but with none (yet).
        """


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """What a sampling strategy drew from one topic."""

    sampled: NDArray[np.bool_]
    """Shape (n_documents,): whether the document is to be judged."""
    strata: NDArray[np.int32]
    """Shape (n_documents,): stratum from 1; 0 = in none, so not in the pool at all."""
    inclusion: NDArray[np.float64]
    """Shape (n_documents,): probability of being sampled, in (0, 1]; 0 where in no stratum."""
    values: NDArray[np.float64]
    """Shape (n_documents,): what orders the sampled documents by priority, higher first."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way of choosing documents: its row in the table."""

    name: str
    summary: str
    """A few words, for lists of strategies."""
    source: str
    """The publication that defines it."""
    parameters: tuple[Parameter, ...] = ()
    """Its own; the depth of the cut, the budget and the seed are common to all."""
    uses_scores: bool = False
    """Whether it looks at the runs' scores."""

    def parse(self, texts: Mapping[str, str]) -> dict[str, ParameterValue]:
        """Read the values of parameters; errors as for `complete`."""
        return {name: self._row(name).parse(text) for name, text in texts.items()}

    def _row(self, name: str) -> Parameter:
        rows = {parameter.name: parameter for parameter in self.parameters}
        if not rows:
            raise ArgumentError("param", f"must not be given: `{self.name}` has none", name)
        if name not in rows:
            raise UnknownNameError(f"parameter of `{self.name}`", name, rows)
        return rows[name]

    def complete(self, chosen: Mapping[str, ParameterValue]) -> dict[str, ParameterValue]:
        """Return all parameters: those given, checked, and the defaults of the others.

        `UnknownNameError` if the strategy has no parameter of a given name; `ArgumentError` if a value
        cannot be used, or one that must be given is not.
        """
        for name in chosen:
            self._row(name)
        values: dict[str, ParameterValue] = {}
        for parameter in self.parameters:
            value = chosen.get(parameter.name, parameter.default)
            if value is None:
                raise ParameterError(parameter.name, f"must be given: {parameter.summary}", None)
            values[parameter.name] = parameter.check(value)
        return values


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedStrategy(Strategy):
    """Gives every document a value at once; the higher, the sooner it is judged."""

    values: Callable[..., NDArray[np.float64]]
    """From `TopicRankings`, and the parameters by name, to values, shape (n_documents,)."""
    sha256: str | None = None
    """Of the file that somebody's own strategy is in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveStrategy(Strategy):
    """Chooses document by document."""

    start: Callable[..., Adaptive]
    """From `TopicRankings`, ``seed=`` (only when needed) and parameters by name to the first state."""
    needs_seed: bool = False
    """Whether choices are random, with all parameters."""
    least_budget: Callable[..., int] | None = None
    """From `TopicRankings` and parameters by name to the least budget of the topic; ``None`` = any."""
    needs_seed_with: Callable[[Mapping[str, ParameterValue]], bool] | None = None
    """From all parameters to whether choices are random with them; ``None`` = `needs_seed` says it."""

    def needs_seed_for(self, parameters: Mapping[str, ParameterValue]) -> bool:
        """Return whether choices are random with all these parameters (see `complete`)."""
        return self.needs_seed if self.needs_seed_with is None else self.needs_seed_with(parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingStrategy(Strategy):
    """Draws documents at random; always needs a seed."""

    draw: Callable[..., Sample]
    """From `TopicRankings`, ``budget=`` (int or ``None``), ``seed=`` and parameters by name to the sample."""
    needs_budget: bool = False
    least_depth: Callable[..., int] | None = None
    """From parameters by name to the least depth of the cut they can be used with; ``None`` = any."""


AnyStrategy = FixedStrategy | AdaptiveStrategy | SamplingStrategy
