"""Names of measures as a user types them: ``P@10``, ``nDCG(dcg='exp-log2')@10``, ``AP(rel=2)``.

The names and their form are those of ir_measures where it has the measure: a name, parameters in
parentheses, and after ``@`` the cutoff, or for IPrec the recall. The same text means the same
measure there, with four exceptions, each for a reason:

- without ``rel`` the level of relevance is the one the caller gives, not always 1, and RBP has
  one, while there it then has graded gains;
- ``SetF(beta=2.0)`` is the textbook's F, in which recall weighs beta times as much as precision;
  trec_eval, and ir_measures with it, leaves beta unsquared, so that its 4.0 is our 2.0;
- a measure of a set, such as ``SetF``, may have a cutoff, which ir_measures gives to none of them;
- ``dcg`` may also be ``jarvelin`` or ``exp-jarvelin``: the discount of the original article.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

from store.analysis.measures.table import DCGS, MEASURES, Dcg, Definition, MeasureName
from store.errors import ArgumentError, UnknownNameError

ALIASES: dict[str, str] = {
    "MAP": "AP",
    "Precision": "P",
    "Recall": "R",
    "RPrec": "Rprec",
    "MRR": "RR",
    "BPref": "Bpref",
    "NDCG": "nDCG",
    "NumRelRet": "NumRet",
}
"""Other names, as ir_measures has them; NumRelRet is NumRet of relevant documents."""

_ELSEWHERE = {
    "11pt_avg": "ElevenPoint",
    "average_precision": "AP",
    "hit_rate": "Success",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "num_ret": "NumRet",
    "r_precision": "Rprec",
    "recip_rank": "RR",
    "reciprocal_rank": "RR",
    "set_f": "SetF",
    "set_p": "SetP",
    "set_recall": "SetR",
}
"""Names that trec_eval, pytrec_eval and ranx have for the very same, in lower case."""
_WITH_CUTOFF = {
    "p": "P",
    "recall": "R",
    "success": "Success",
    "ndcg_cut": "nDCG",
    "map_cut": "AP",
    "unj": "Unjudged",
    "iprec_at_recall": "IPrec",
}
"""Those of trec_eval that go on with `_` or `.` and a cutoff, or a recall."""
_NOT_QUITE = {
    "auc": "`Accuracy` is the AUC over the documents retrieved, by rank; `evaluate curves` has it by score,"
    " ties counted half",
    "f": "`SetF` is the F of the whole list, `SetF@10` of its first ranks; beta weighs recall: SetF(beta=2)",
    "iprec_at_recall": "with a recall, as in `IPrec@0.1` or `iprec_at_recall_0.1`",
    "ndcg_burges": "`nDCG(dcg='exp-log2')` has gains of 2**grade - 1",
    "ndcg_cut": "with a cutoff, as in `nDCG@10` or `ndcg_cut_10`",
    "map_cut": "with a cutoff, as in `AP@10` or `map_cut_10`",
}
"""What to type for names that mean almost the same elsewhere, in lower case, without a number."""

_NAMES = {name.lower(): name for name in (*ALIASES, *MEASURES)}
_FORM = re.compile(r"\s*([\w.-]+)\s*(?:\(([^()]*)\))?\s*(?:@\s*(\S+))?\s*", re.ASCII)
_TURNED = re.compile(r"(\s*[\w-]+\s*)(@\s*[^\s()]+)\s*(\([^()]*\))\s*", re.ASCII)
"""A name with its parameters behind the cutoff."""
_TREC_EVAL = re.compile(rf"\s*({'|'.join(_WITH_CUTOFF)})[_.]([0-9.]+)\s*", re.ASCII | re.I)
_NUMBER_BEHIND = re.compile(r"_?[0-9.]+$", re.ASCII)
_INTEGER = re.compile(r"[+-]?[0-9]{1,9}", re.ASCII)
_DECIMAL = re.compile(r"(?:[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})", re.ASCII)


def parse_measure(text: str, *, level: int = 1) -> MeasureName:
    """Read the name of a measure.

    Parameters
    ----------
    text : str
        As in ``P@10``, ``AP(rel=2)``, ``RR(rel=2)@10``, ``nDCG(dcg='exp-log2')@10``,
        ``IPrec@0.1``, ``SetF(beta=2)``, ``SetFallout(docs=100000)``. Upper and lower case are the
        same in names; spaces between the parts are skipped; parameters may stand behind the cutoff.
        Names of trec_eval that mean the same are known: ``P_5``, ``ndcg_cut_10``, ``recip_rank``.
    level : int, default=1
        Least relevant grade where the text has no ``rel``.

    Returns
    -------
    MeasureName
        With every parameter filled in. `UnknownNameError` if no measure, or no parameter of this measure,
        has the name; `ArgumentError` if the text has another form, or a value cannot be used.

    Examples
    --------
    >>> str(parse_measure("ndcg_cut_10")), str(parse_measure("AP", level=2))
    ('nDCG@10', 'AP(rel=2)')
    >>> parse_measure("P")
    Traceback (most recent call last):
        ...
    store.errors.ArgumentError: `measure` P needs a cutoff, as in `P@10`, but got 'P'
    """
    plain = _TURNED.sub(r"\1\3\2", text)
    if found := _TREC_EVAL.fullmatch(text):
        plain = f"{_WITH_CUTOFF[found[1].lower()]}@{found[2]}"
    form = _FORM.fullmatch(plain)
    if form is None:
        requirement = "must be a name, as in `AP`, `P@10` or `nDCG(dcg='exp-log2')@10`"
        raise ArgumentError("measure", requirement, text)
    typed, listed, at = form.groups()
    key = typed.lower().replace("-", "_")
    typed = _ELSEWHERE.get(key) or _NAMES.get(key, typed)
    name = ALIASES.get(typed, typed)
    if name not in MEASURES:
        hint = _NOT_QUITE.get(_NUMBER_BEHIND.sub("", key))
        raise UnknownNameError("measure", typed, [*MEASURES, *ALIASES], hint=hint)
    measure = MEASURES[name]
    values = _parameters(name, measure, listed, text)
    if at is not None:
        if measure.at is None:
            raise ArgumentError("measure", f"{name} takes nothing after `@`", text)
        if measure.at in values:
            raise ArgumentError("measure", f"must have one {measure.at}", text)
        values[measure.at] = at
    if measure.is_at_required and measure.at not in values:
        example = "0.1" if measure.at == "recall" else "10"
        requirement = f"{name} needs a {measure.at}, as in `{name}@{example}`"
        raise ArgumentError("measure", requirement, text)
    if "docs" in measure.parameters and "docs" not in values:
        requirement = f"{name} needs the size of the collection, as in `{name}(docs=100000)`"
        raise ArgumentError("measure", requirement, text)
    if "alpha" in values and "beta" in values:
        raise ArgumentError("measure", "must have one of `beta` and `alpha`", text)
    rel = level if "rel" in measure.parameters and typed != "NumRet" else None
    try:
        return _named(name, values, rel)
    except ArgumentError as error:
        # Its name may be that of an option, which was not given.
        requirement = f"{text.strip()}: {error.name} {error.requirement}"
        raise ArgumentError("measure", requirement, error.got) from None


def _named(name: str, values: Mapping[str, str], rel: int | None) -> MeasureName:
    read = {key: _READERS[key](value) for key, value in values.items()}
    return MeasureName(name, **{"rel": rel} | read)


def _parameters(name: str, measure: Definition, listed: str | None, text: str) -> dict[str, str]:
    known = [*measure.parameters, *([measure.at] if measure.at else [])]
    values: dict[str, str] = {}
    for part in listed.split(",") if listed and listed.strip() else []:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not key or not equals or not value:
            requirement = "must have parameters as in `AP(rel=2)`"
            raise ArgumentError("measure", requirement, text)
        if key not in known:
            raise UnknownNameError(f"parameter of {name}", key, known)
        if key in values:
            raise ArgumentError("measure", f"must have `{key}` once", text)
        values[key] = value
    return values


def _integer(name: str, value: str, *, least: int | None) -> int:
    if not _INTEGER.fullmatch(value) or (least is not None and int(value) < least):
        at_least = "" if least is None else f" >= {least}"
        raise ArgumentError(name, f"must be an integer{at_least}", value)
    return int(value)


def _decimal(name: str, value: str, *, most: float) -> float:
    if not _DECIMAL.fullmatch(value) or float(value) > most:
        requirement = "must be a number >= 0" if most == math.inf else "must be between 0 and 1"
        raise ArgumentError(name, requirement, value)
    return float(value)


def _persistence(value: str) -> float:
    if not _DECIMAL.fullmatch(value) or float(value) >= 1:
        raise ArgumentError("p", "must be at least 0 and below 1", value)
    return float(value)


def _recall(value: str) -> Fraction:
    if not _DECIMAL.fullmatch(value) or Fraction(value) > 1:
        raise ArgumentError("recall", "must be between 0 and 1", value)
    return Fraction(value)


def _dcg(value: str) -> Dcg:
    """Read a discount and gain, quoted or not."""
    unquoted = value[1:-1] if value[0] in "'\"" and value[-1] == value[0] else value
    for known in DCGS:
        if unquoted == known:
            return known
    raise ArgumentError("dcg", f"must be one of {', '.join(DCGS)}", unquoted)


_READERS: dict[str, Callable[[str], Any]] = {
    "cutoff": partial(_integer, "cutoff", least=1),
    "recall": _recall,
    "rel": partial(_integer, "rel", least=None),
    "beta": partial(_decimal, "beta", most=math.inf),
    "dcg": _dcg,
    "docs": partial(_integer, "docs", least=1),
    "alpha": partial(_decimal, "alpha", most=1),
    "p": _persistence,
}
"""How the value of each parameter is read."""
