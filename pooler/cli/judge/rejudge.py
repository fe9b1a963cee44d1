"""`pooler rejudge`: judgements whose guidelines, topic or document have changed since."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.render import Output, check_choice, render
from pooler.cli.signature import command, option
from pooler.messages import say


class WhyName(StrEnum):
    """Reasons of `store.judging.rejudging.Why`, which is not imported for `--help`."""

    GUIDELINES = "guidelines"
    TEXT = "text"
    TEXT_CAME = "text-came-later"
    TOPIC = "topic"


@command
def rejudge(
    judges: Annotated[list[str] | None, option("--judge NAME", "Only this judge; may be repeated.")] = None,
    topics: Annotated[list[str] | None, option("--topic TOPIC", "Only this topic; may be repeated.")] = None,
    why: Annotated[
        list[WhyName] | None,
        option(
            "--why",
            "Only for this reason; may be repeated. text: the document's text changed; topic: the topic's.",
        ),
    ] = None,
    requeue: Annotated[
        bool, option("--requeue", "Make them unjudged again, for their judges to repeat.")
    ] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    *,
    output: Output,
) -> None:
    """List judgements whose guidelines or texts have changed since.

    With --requeue each becomes unjudged again: the grade stays in the history, but leaves the qrels until
    its judge gives another. Documents that no judge would see again are left alone. Imported judgements are
    never listed, since the texts they were made with are unknown.

    Example: pooler rejudge --why text
    """
    from pooler.results.look.outdated import OutdatedJudgements, outdated
    from store.collection import Collection

    output.check()
    check_choice(OutdatedJudgements(), output)
    with Collection(collection) as opened:
        found = outdated(
            opened,
            judges=judges or (),
            topics=topics or (),
            why=[one.value for one in why or ()],
            requeue=requeue,
        )
    render(found, output)
    for sentence in found.sentences():
        say(sentence)
