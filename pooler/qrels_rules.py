"""How the grades of several judges become qrels, as Python says it."""

from __future__ import annotations

from store.grades.definition import QrelsDefinition


class Qrels(QrelsDefinition):
    """How the grades of several judges become the qrels that runs are measured with.

    Given to `source`, or under a name to `qrels_define`.

    Attributes
    ----------
    aggregate : {"primary", "majority", "median", "mean", "min", "max", "sum", "dawid-skene"}, optional
        What happens to several grades; default the primary judge's, where assignments name one, else the
        only grade, else equal grades, else none: undecided.
    ties : {"low", "high", "unresolved"}, optional
        What tied grades give, as majority and median need to know: one of them, or no grade.
    votes : int, optional
        Documents with fewer votes stay undecided.
    map : mapping of int to int, optional
        Grades to be read as others, before any rule.
    binary_first : bool, optional
        Make every judge's grade binary at the level that is asked for, then count.
    judges, kinds : sequence of str, optional
        These judges vote, and no other; or those of kinds ("human", "model", "imported"). Default people,
        else imported judges, else models.
    without_rulings : bool, optional
        Whether adjudicators' rulings are ignored, which stand above every rule.
    pool, without_topics, as_of : optional
        Documents of a pool alone; topics that are left out; judgements up to a moment, or "now".
    primary : mapping of str to str, optional
        By topic the judge who is primary, whatever is assigned.
    relaxed, rigid : int, optional
        Levels of a sum.

    Examples
    --------
    >>> Qrels(aggregate="majority", ties="low").to_json()
    {'aggregate': 'majority', 'ties': 'low'}
    """

    __slots__ = ()
