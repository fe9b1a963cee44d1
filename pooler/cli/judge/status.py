"""`pooler status`: how far judging has come, what it cost, and what has changed since."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pooler.cli.commands import with_forms
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, kinds_of
from pooler.cli.render import Output, check_choice, render
from pooler.cli.signature import argument, command, option
from pooler.messages import say
from store.errors import ArgumentError, ContradictionError
from store.grades.definition import QrelsDefinition


@command
def status(
    output: Output,
    by_topic: Annotated[bool, option("--by-topic", "One row per topic and judge.")] = False,
    recall: Annotated[
        float | None,
        option(
            "--recall CONFIDENCE",
            "Show instead, topic by topic, how much of what is relevant is found at least, by a random"
            " sample: .95 = right in 95 of 100 cases.",
        ),
    ] = None,
    kinds: Annotated[
        str | None,
        option(
            "--kinds KIND,...",
            "With --recall: count judges of these kinds together, human, model or imported.",
            show_default="people alone; where no person judged, imported, else models",
        ),
    ] = None,
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

    Example: pooler status --recall .95
    """
    from store.collection import Collection

    output.check()
    if recall is not None:
        from pooler.results.look.recall import recall_bounds
        from pooler.results.source import source

        if by_topic:
            raise ContradictionError("--by-topic", "and --recall exclude each other", recall)
        if not 0 < recall < 1:
            raise ArgumentError(
                "--recall", "must be a confidence above 0 and below 1", recall, hint="--recall .95"
            )
        with Collection(collection) as opened:
            voters = source(opened, qrels=None if kinds is None else QrelsDefinition(kinds=kinds_of(kinds)))
            bounds = recall_bounds(voters, confidence=recall)
        render(bounds, output)
        return
    if kinds is not None:
        raise ArgumentError("--kinds", "goes with --recall: otherwise every judge has a row", kinds)
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


app = with_forms(status, effort=effort, outdated=outdated)
