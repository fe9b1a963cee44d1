"""What a model would be asked, and whether it may be: looked at before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pooler.model_client.parse import PARSER, PARSER_VERSION
from pooler.model_client.prompt import Prompt, page_of
from pooler.model_client.run import longest_reply, prompt_tokens, shuffled
from store.errors import PoolerError
from store.judging.models import STATING_HINT
from store.model_judge import NOT_STATED
from store.records import DECIDED, Task

if TYPE_CHECKING:
    from store.judging.models import ModelDesk
    from store.model_judge import ModelIdentity


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingPlan:
    """The work of a model; tokens are estimated."""

    requests: int
    characters: int
    """Of all prompts."""
    prompt_tokens: int
    reply_tokens: int | None
    """At most; ``None`` = no parameter of the model limits a reply."""
    without_text: int
    """Documents that will not be asked."""
    claimable: int
    """Documents that may be claimed besides."""
    undrawn: int
    """Documents that adaptive pools may draw besides."""


def planned(desk: ModelDesk, prompt: Prompt, topics: Sequence[str], seed: int) -> AskingPlan:
    """Count what is to be asked of some topics; O(documents), each text is read."""
    requests = characters = tokens = without_text = 0
    for name in topics:
        topic = desk.topic(name)
        for one in left_to_ask(desk, name, seed):
            document = desk.page(one.docno)
            if document.text is None:
                without_text += 1
                continue
            messages = prompt.messages(topic, page_of(document))
            body = prompt.body(messages)
            requests += 1
            characters += sum(len(message["content"]) for message in messages)
            tokens += prompt_tokens(body)
    longest = longest_reply(prompt)
    return AskingPlan(
        requests=requests,
        characters=characters,
        prompt_tokens=tokens,
        reply_tokens=None if longest is None else requests * longest,
        without_text=without_text,
        claimable=sum(desk.claimable(name) for name in topics),
        undrawn=sum(desk.undrawn(name) for name in topics),
    )


def left_to_ask(desk: ModelDesk, topic: str, seed: int) -> list[Task]:
    """Return what is to be asked of a topic, without what may still be claimed, in its order."""
    return [one for one in shuffled(desk.queue(topic), topic, seed) if one.state.value not in DECIDED]


def check_askable(identity: ModelIdentity, template: str | None, host: str, name: str) -> None:
    """Refuse a model that is not stated as it would be asked: its judgements would be another judge's."""
    parser, due = f"{identity.parser}:{identity.parser_version}", f"{PARSER}:{PARSER_VERSION}"
    faults = []
    if template is None:
        faults.append('its prompt is not stated (prompt = "FILE")')
    if identity.endpoint != "chat-completions":
        faults.append(f'its endpoint is {identity.endpoint} (endpoint = "chat-completions")')
    if identity.host != host:
        faults.append(f'its host is {identity.host}, and {host} would be asked (host = "{host}")')
    if parser != due:
        stated = parser.removesuffix(f":{NOT_STATED}")
        faults.append(f'its parser is {stated} (parser = "{due}")')
    if not (identity.topic_fields and identity.document_fields):
        faults.append('what it is shown is not stated (shows = ["topic.title", "doc.text"])')
    barred = [one for one in ("model", "messages", "stream", "n") if one in identity.parameters]
    if barred:
        faults.append(f"the parameter {barred[0]} cannot be set")
    if faults:
        message = f"model `{name}` cannot be asked: {'; '.join(faults)}"
        hint = STATING_HINT
        if len(faults) == 1 and identity.host not in (host, NOT_STATED):
            hint = f"--endpoint with the URL of {identity.host} asks it there"
        raise PoolerError(message, hint=hint)


def refuse_examples(desk: ModelDesk, prompt: Prompt, topics: Sequence[str]) -> None:
    """Refuse a prompt whose examples are pairs for the model to judge."""
    for name in topics:
        topic = desk.topic(name)
        if prompt.names(topic):
            for one in desk.queue(name):
                prompt.refuse_pair(topic, page_of(desk.page(one.docno)))
