"""`pooler export answers`: what a model answered, in its own words, as other tools read it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

from pooler.cli.console import check_out, write_lines
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, OutOption
from pooler.cli.signature import argument, option
from pooler.messages import say
from store.errors import ConflictError, UnknownNameError
from store.formats import LabelsFormat
from store.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from store.collection import Collection
    from store.model_judge import Answer, ModelIdentity


def answers(
    judge: Annotated[str, argument("JUDGE", "The model's judge.")],
    form: Annotated[
        LabelsFormat,
        option(
            "--as",
            "answers: a JSON object a line, with topic, docno, grade, the reason where there is none,"
            " probabilities, tokens and cost. umbrela: with the texts of query and passage; what could not"
            " be read has result_status 0.",
        ),
    ] = "answers",
    out: OutOption = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Write what a model answered.

    `pooler import judgements --format answers` (or umbrela) reads it back. Of a pair that has a newer
    judgement the newer answer is written; canaries are not written.

    Example: pooler export answers gpt --out gpt.jsonl
    """
    from store.collection import Collection
    from store.formats.labels import answer_lines, umbrela_lines

    check_out(out, None)
    with Collection(collection) as opened:
        models = {one.judge: one.identity for one in opened.models.all()}
        if judge not in models:
            raise UnknownNameError("model judge", judge, models, hint="pooler show judges shows their kinds")
        found = _newest(opened.models.answers(judge))
        judged = [one for one in found if one.is_judgement]
        if form == "umbrela":
            found, back = judged, _back(judge, models[judge])
            topics = {one.topic: one.title or one.description for one in opened.topics.all()}
            lines = umbrela_lines(
                found, lambda topic, docno: (topics.get(topic, ""), _text(opened, docno)), back
            )
        else:
            lines = answer_lines(found)
        write_lines(out, lines)
    reasons = Counter(one.unreadable.value for one in judged if one.unreadable is not None)
    what = f": {sum(one.grade is not None for one in judged):,} with a grade"
    what += "".join(f", {n:,} {reason}" for reason, n in sorted(reasons.items()))
    if others := len(found) - len(judged):
        what += f", {others:,} that are no judgement"
    say(f"{counted(len(found), 'answer')} of {judge}" + (what if found else ""))


def _newest(found: Iterable[Answer]) -> list[Answer]:
    """Leave out canaries, and answers of a pair before the one that its newest judgement is of."""
    from store.model_judge import CANARIES

    kept = [one for one in found if one.asked not in CANARIES]
    newest = {(one.topic, one.docno): one for one in kept if one.is_judgement}
    return [one for one in kept if not one.is_judgement or newest[one.topic, one.docno] is one]


def _back(judge: str, identity: ModelIdentity | None) -> Mapping[int, int]:
    mapped = {} if identity is None else identity.grade_map
    for new in sorted(set(mapped.values())):
        several = {old for old in mapped if mapped[old] == new} | ({new} - mapped.keys())
        if len(several) > 1:
            listed = " and ".join(map(str, sorted(several)))
            message = f"grades {listed} of `{judge}` were read as {new}, and cannot be told apart any more"
            raise ConflictError(message, hint="--as answers writes the grades of the collection")
    return {new: old for old, new in mapped.items()}


def _text(opened: Collection, docno: str) -> str:
    """Return the text of a document; empty = there is none."""
    document = opened.documents.get(docno)
    return "" if document is None else document.text or ""
