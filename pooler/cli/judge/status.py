"""`pooler status`: how far judging has come, what it cost, and what has changed since."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pooler.cli.commands import with_forms
from pooler.cli.from_function import from_function
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.render import Output, check_choice, render
from pooler.cli.signature import argument, command, option
from pooler.commands.judge.status_recall import status_recall
from pooler.messages import say


@command
def status(
    output: Output,
    by_topic: Annotated[bool, option("--by-topic", "One row per topic and judge.")] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Show how far each judge has got, and how long the rest will take.

    Pooled = in any pool that is not withdrawn; once documents are assigned, what is assigned to that judge.
    Documents judged outside of that are counted apart. Unjudged, skipped, cannot be judged and grade 0 are
    four different things. An adjudicator has no pool to get through: their judged documents are rulings.
    Left = unjudged, plus what adaptive pools may still draw; once documents are assigned, they draw
    nothing. The forecast is the mean active time of the judge's latest decisions, times left: minutes at
    the desk, without pauses.

    Example: pooler status --by-topic
    """
    from store.collection import Collection

    output.check()
    from pooler.results.look.status import status as status_of

    with Collection(collection) as opened:
        result = status_of(opened)
    render(result, output, "topics" if by_topic else "status")


@command
def effort(
    names: Annotated[list[str] | None, argument("JUDGE...", "Default: all judges.")] = None,
    below: Annotated[float, option("--below SECONDS", "A dwell below this counts as low.", min=0)] = 1.0,
    list_: Annotated[bool, option("--list", "Also list the documents decided at a low dwell.")] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    *,
    output: Output,
) -> None:
    """Report what judging cost, and what was hasty.

    Dwell is how long a document was on the screen when it was decided; where a decision was taken back,
    the one that stands counts. Active time leaves out pauses but includes decisions taken back.

    Example: pooler status effort --below 2 --list
    """
    from pooler.results.look.effort import effort as cost
    from store.collection import Collection

    output.check()
    with Collection(collection) as opened:
        found = cost(opened, judges=names or (), below=below)
    render(found, output, *(name for name in found.names() if list_ or name != "low_dwell"))


class _Why(StrEnum):
    GUIDELINES, TEXT, TEXT_CAME, TOPIC = "guidelines", "text", "text-came-later", "topic"


@command
def outdated(
    judges: Annotated[list[str] | None, option("--judge NAME", "Only this judge; may be repeated.")] = None,
    topics: Annotated[list[str] | None, option("--topic TOPIC", "Only this topic; may be repeated.")] = None,
    why: Annotated[
        list[_Why] | None,
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

    Example: pooler status outdated --why text
    """
    from pooler.results.look.outdated import OutdatedJudgements
    from pooler.results.look.outdated import outdated as changed_since
    from store.collection import Collection

    output.check()
    check_choice(OutdatedJudgements(), output)
    with Collection(collection) as opened:
        found = changed_since(
            opened,
            judges=judges or (),
            topics=topics or (),
            why=[one.value for one in why or ()],
            requeue=requeue,
        )
    render(found, output)
    for sentence in found.sentences():
        say(sentence)


app = with_forms(status, effort=effort, outdated=outdated, recall=from_function(status_recall))
