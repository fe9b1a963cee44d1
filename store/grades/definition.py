"""How judges' grades become one: the choices that qrels are the outcome of, kept by name in a collection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any, Self, get_args

from store.errors import ArgumentError
from store.grades import Aggregate
from store.judging.kinds import check_kinds
from store.records import AsOf, Scale, TieRule, Ties
from store.text import counted

_TIES: tuple[Ties, ...] = get_args(Ties)
_TIE_RULES: tuple[TieRule, ...] = get_args(TieRule)
AGGREGATES: tuple[Aggregate, ...] = get_args(Aggregate)

SINGLE_JUDGE = "single judge"
"""The rule where one judge's grades are taken as they are."""
EQUAL = "primary judge, else equal grades"
"""The rule where several judges have a say and none is named."""

OFFICIAL = "official"
"""The definition that every collection has from the start."""
_FILE_SIGNS = "/.="
_TIES_HINT = "low or high take that one of the tied grades, unresolved leaves the document out"


def moment_of(text: str) -> datetime:
    """Read a moment: ``now``, or ISO 8601, a day meaning its end; without a zone it is the machine's.

    >>> moment_of("2026-03-01T10:00+00:00").isoformat()
    '2026-03-01T10:00:00+00:00'
    """
    if text == "now":
        return datetime.now(UTC)
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        requirement = "must be now, or a moment like 2026-03-01 or 2026-03-01T18:00"
        raise ArgumentError("as_of", requirement, text) from None
    if len(text) == len("2026-03-01"):
        found = found.replace(hour=23, minute=59, second=59, microsecond=999_999)
    return found.astimezone(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class QrelsDefinition:
    """Whose judgements count, and how several grades of a document become one.

    An adjudicator is no voter. Where a ruling stands it is the grade, whatever the rule, unless
    `without_rulings`; what `judges` alone names, without rulings, are that judge's own grades.
    """

    aggregate: Aggregate | None = None
    """``None`` = the primary judge's grade, where assignments name one, else the only or equal grades."""
    ties: Ties | None = None
    """What tied votes give; needed by majority and median."""
    votes: int | None = None
    """Documents with fewer votes stay undecided."""
    map: tuple[tuple[int, int], ...] = ()
    """Grades to be read as others, before any rule; may be given as a mapping."""
    binary_first: bool = False
    """Whether every judge's grade is made binary, at the level that is asked for, before the rule."""
    judges: tuple[str, ...] = ()
    """These judges alone vote; empty = those of `kinds`."""
    kinds: tuple[str, ...] = ()
    """Judges of these kinds count; empty = those of `store.judging.kinds.choose_voters`."""
    without_rulings: bool = False
    pool: str | None = None
    """Documents of this pool alone."""
    as_of: datetime | None = None
    """Judgements up to this moment; ``None`` = as they stand. May be given as ISO 8601, or ``now``."""
    without_topics: tuple[str, ...] = ()
    primary: tuple[tuple[str, str], ...] = ()
    """Topic and judge: who is primary there, whatever is assigned; may be given as a mapping."""
    relaxed: int | None = None
    """Least relevant sum; of other rules the scale says what is relevant."""
    rigid: int | None = None
    erased: tuple[str, ...] = ()
    """Identities of judges who were named, and are erased."""
    events: int | None = None
    """With `as_of`, not to come: the judgement events there were up to it when it was defined."""
    last_event: int | None = field(default=None, compare=False)
    """Row id of the newest of all events then: its place is the table, not JSON."""

    def __post_init__(self) -> None:
        """Take lists, mappings and moments as they are written."""
        for name in ("map", "primary"):
            given: Any = getattr(self, name)
            if isinstance(given, Mapping):
                object.__setattr__(self, name, tuple(given.items()))
        for name in ("judges", "kinds", "without_topics", "erased"):
            given = getattr(self, name)
            several = given.split(",") if name == "kinds" and isinstance(given, str) else given
            one = (several,) if isinstance(several, str) else several
            object.__setattr__(self, name, tuple(dict.fromkeys(one)))
        moment: Any = self.as_of
        if isinstance(moment, str):
            object.__setattr__(self, "as_of", moment_of(moment))

    @property
    def sole(self) -> str | None:
        """The judge whose own grades these are, if they are."""
        is_own = len(self.judges) == 1 and self.aggregate is None and self.without_rulings
        return self.judges[0] if is_own and not self.erased else None

    @property
    def until(self) -> AsOf | None:
        """The events that may count, where not all that there are."""
        if self.as_of is None or self.events is None:
            return None if self.as_of is None else AsOf(self.as_of)
        return AsOf(self.as_of, self.last_event or 0)

    @property
    def is_whole(self) -> bool:
        """Whether every judgement counts as it stands, of those who count."""
        return not (self.votes or self.map or self.pool or self.as_of or self.without_topics)

    def check(self) -> None:
        """Raise `ArgumentError` for choices that do not go together."""
        if self.kinds and self.judges:
            requirement = "and --judge exclude each other: judges that are named are those that count"
            raise ArgumentError("kinds", requirement, ",".join(self.kinds))
        check_kinds(self.kinds)
        if self.aggregate is not None and self.aggregate not in AGGREGATES:
            raise ArgumentError("aggregate", f"must be one of {', '.join(AGGREGATES)}", self.aggregate)
        if self.ties is not None and self.ties not in _TIES:
            raise ArgumentError("ties", f"must be one of {', '.join(_TIES)}", self.ties, hint=_TIES_HINT)
        if self.aggregate in _TIE_RULES and self.ties is None:
            requirement = f"must be low, high or unresolved with --aggregate {self.aggregate}"
            raise ArgumentError("ties", requirement, None, hint=_TIES_HINT)
        if self.aggregate not in _TIE_RULES and self.ties is not None:
            rules = " or ".join(_TIE_RULES)
            but = "" if self.aggregate is None else f", not {self.aggregate}"
            raise ArgumentError("ties", f"needs --aggregate {rules}{but}", None)
        if self.votes is not None and self.votes < 1:
            raise ArgumentError("votes", "must be an integer >= 1", self.votes)
        if self.binary_first and self.aggregate == "sum":
            requirement = "must not be asked for with --aggregate sum, whose level is one of the sums"
            raise ArgumentError("binary_first", requirement, None)
        if self.primary and self.aggregate not in (None, "primary"):
            raise ArgumentError("primary", f"needs --aggregate primary, not {self.aggregate}", None)
        own = self.relaxed, self.rigid
        if own != (None, None) and self.aggregate != "sum":
            name = "rigid" if self.relaxed is None else "relaxed"
            requirement = "needs --aggregate sum: grades of the scale have the scale's levels"
            raise ArgumentError(name, requirement, None)
        if self.rigid is not None and (self.relaxed is None or self.relaxed > self.rigid):
            raise ArgumentError("rigid", "must come with --relaxed, which is at most as high", self.rigid)

    def check_scale(self, scale: Scale, level: int | None = None) -> None:
        """Raise `ArgumentError` when the rule, or a level, has no meaning on the scale."""
        if level is not None and self.aggregate != "sum":
            scale.check_level(level)
        values = scale.values
        if off := next((one for pair in self.map for one in pair if one not in values), None):
            raise ArgumentError("map", f"must be of grades of the scale, {', '.join(map(str, values))}", off)
        if self.relaxed is not None and self.relaxed <= values[0] >= 0:
            requirement = f"must be above {values[0]}: every sum of grades is at least that"
            raise ArgumentError("relaxed", requirement, self.relaxed)
        is_gapped = values[-1] - values[0] != len(values) - 1
        if self.aggregate == "mean" and is_gapped and not self.binary_first:
            gap = next(one for one in range(values[0], values[-1]) if one not in values)
            hint = f"a mean may be {gap}, which is no grade; median and majority always give one"
            raise ArgumentError("aggregate", "must be another rule on a scale with gaps", "mean", hint=hint)

    def level_named(self, scale: Scale, level: int | str | None) -> int | None:
        """Return the least relevant grade, or sum, that a number or ``rigid`` or ``relaxed`` names.

        >>> from store.formats.scale import parse_scale
        >>> QrelsDefinition().level_named(parse_scale("ntcir"), "rigid")
        2
        """
        if level is None or isinstance(level, int):
            is_sum = self.aggregate == "sum"
            return level if level is None or is_sum else scale.check_level(level)
        if level not in ("rigid", "relaxed"):
            raise ArgumentError("level", "must be a grade, rigid or relaxed", level)
        if self.aggregate == "sum":
            if (own := self.rigid if level == "rigid" else self.relaxed) is None:
                hint = "--level N is the least sum that counts as relevant"
                requirement = f"must be a number: the qrels are sums of grades, and define no {level} one"
                raise ArgumentError("level", requirement, level, hint=hint)
            return own
        if level == "rigid" and scale.rigid is None:
            requirement = "must be relaxed on a scale with one relevant grade"
            raise ArgumentError("level", requirement, level, hint=f"relaxed is grade {scale.relaxed}")
        return scale.rigid if level == "rigid" else scale.relaxed

    def level_on(self, scale: Scale, level: int | str | None) -> int:
        """Return the same, by default the relaxed level; of sums one must be known."""
        if level is None and self.aggregate == "sum" and self.relaxed is None:
            requirement = "must say which sum of grades is relevant, with --aggregate sum"
            raise ArgumentError("level", requirement, None)
        found = self.level_named(scale, "relaxed" if level is None else level)
        assert found is not None
        return found

    def to_json(self) -> dict[str, Any]:
        """Return every choice that is not the default, by the names of options."""
        found: dict[str, Any] = {
            one.name: value
            for one in fields(self)
            if one.compare and (value := getattr(self, one.name)) not in (None, (), "") and value is not False
        }
        for name in ("map", "primary"):
            if name in found:
                found[name] = {str(key): value for key, value in found[name]}
        if self.as_of is not None:
            found["as_of"] = self.as_of.isoformat()
        return {name: [*one] if isinstance(one, tuple) else one for name, one in found.items()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote.

        >>> QrelsDefinition.from_json({"map": {"1": 0}, "kinds": ["human"]}).map
        ((1, 0),)
        """
        found: dict[str, Any] = dict(values)
        if "map" in found:
            found["map"] = {int(key): value for key, value in found["map"].items()}
        return cls(**found)

    @property
    def words(self) -> str:
        """The choices as the options that make them; of none, what is done by default."""
        words = []
        for name, value in self.to_json().items():
            option = {"judges": "judge", "without_topics": "without-topic"}.get(name, name.replace("_", "-"))
            match value:
                case True:
                    words.append(f"--{option}")
                case list() if name == "kinds":
                    words.append(f"--kinds {','.join(value)}")
                case list() if name == "erased":
                    words.append(f"({counted(len(value), 'judge')} erased)")
                case list():
                    words += [f"--{option} {one}" for one in value]
                case dict() if name == "map":
                    words += [f"--map {source}={target}" for source, target in value.items()]
                case dict():
                    words.append(f"--primary FILE ({counted(len(value), 'topic')})")
                case _ if name != "events":
                    words.append(f"--{option} {value}")
        return " ".join(words) or "primary judge, else the only or equal grades"

    def with_judges(self, rename: Callable[[str], str]) -> Self:
        """Return the same with judges called otherwise."""
        judges = tuple(rename(one) for one in self.judges)
        return replace(self, judges=judges, primary=tuple((one, rename(who)) for one, who in self.primary))


@dataclass(frozen=True, slots=True)
class NamedQrels:
    """A definition under its name; or a judge's own grades, under the judge's."""

    name: str
    definition: QrelsDefinition
    version: int | None = None
    """``None`` = a judge's own grades."""
    is_default: bool = False
    created_at: datetime | None = None

    @property
    def label(self) -> str:
        """The name with its version, as ``official@2``."""
        return self.name if self.version is None else f"{self.name}@{self.version}"

    @property
    def undecided_hint(self) -> str:
        """Commands after which documents on which judges differ have a grade: a ruling's, or by a rule.

        >>> NamedQrels("all", QrelsDefinition(kinds=("human", "model"))).undecided_hint.partition(", or ")[0]
        'pooler adjudicate --qrels all'
        """
        rule = replace(self.definition, aggregate="majority", ties="low", primary=(), erased=())
        listed = "" if self.name == OFFICIAL else f" --qrels {self.name}"
        return f"pooler adjudicate{listed}, or pooler qrels define {self.name} {rule.words}"


def is_file_word(word: str) -> bool:
    """Return whether a word for qrels is that of a file; others are names.

    >>> is_file_word("./official"), is_file_word("-"), is_file_word("official@2")
    (True, True, False)
    """
    return word == "-" or any(sign in word for sign in _FILE_SIGNS)
