"""The model `mock`: built in, free, without a server, and none to rely on.

It shows the way of a model's judgements, from prompt to audit, to those who have no key. Only the network is
missing: prompts, parsing, limits and stored answers are those of any model. It counts words, and cannot be
taken for another: its name as a judge, its model, its host and what it answers with are all ``mock``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from pooler.model_client.parse import PARSER, PARSER_VERSION
from pooler.model_client.prompt import TEMPLATE
from pooler.model_client.run import BYTES_A_TOKEN, is_completion
from pooler.model_client.transport import Endpoint, RequestSettings, Transport
from store.model_judge import MOCK, ModelIdentity, prompt_hash

ENDPOINT = Endpoint("", MOCK, is_here=True, is_encrypted=True)
IDENTITY = ModelIdentity(
    MOCK,
    revision=MOCK,
    endpoint="chat-completions",
    host=MOCK,
    prompt_sha256=prompt_hash(TEMPLATE),
    parser=PARSER,
    parser_version=PARSER_VERSION,
    topic_fields=("title", "description"),
    document_fields=("title", "text"),
    family=MOCK,
)
_SHOWN = re.compile(r"<(topic|document)-(\w+)>\n(.*?)\n</\1-\2>", re.DOTALL)
_FIELD = re.compile(r"^(?:title|description): ", re.MULTILINE)
_SHORTEST = 4
"""Letters of a word that counts; shorter ones are in every text."""


def words_of(text: str) -> set[str]:
    """Return the words of a text that count; of writing without blanks every two letters in a row.

    >>> sorted(words_of("How to trap Slugs")), sorted(words_of("古い土"))
    (['slugs', 'trap'], ['い土', '古い'])
    """
    found = set[str]()
    for word in re.findall(r"[^\W\d_]+", text.casefold()):
        if max(word) >= "\u3040":
            found.update(word[place : place + 2] for place in range(max(len(word) - 1, 1)))
        elif len(word) >= _SHORTEST:
            found.add(word)
    return found


def answered(body: bytes, scale: Sequence[int]) -> bytes:
    """Answer a request: grades from 0 on, in equal steps of words shared; the highest has half of them."""
    grades = [one for one in scale if one >= 0] or list(scale)
    said = "\n".join(one["content"] for one in json.loads(body)["messages"])
    shown = {name: text for name, _, text in _SHOWN.findall(said)}
    of_topic = words_of(_FIELD.sub("", shown.get("topic", "")))
    both = sorted(of_topic & words_of(shown.get("document", "")))
    place = min(2 * len(both) * (len(grades) - 1) // max(len(of_topic), 1), len(grades) - 1)
    reason = f"{len(both)} of {len(of_topic)} words of the topic: {', '.join(both) or 'none'}"
    content = json.dumps({"grade": grades[place], "reason": f"mock, {reason}"}, ensure_ascii=False)
    counts = {"prompt_tokens": len(body), "completion_tokens": len(content.encode())}
    message = {"role": "assistant", "content": content}
    reply = {
        "model": MOCK,
        "system_fingerprint": MOCK,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {name: size // BYTES_A_TOKEN for name, size in counts.items()},
    }
    return json.dumps(reply, ensure_ascii=False).encode()


class MockTransport(Transport):
    """What `Transport` is, answered by `mock` in place of a server."""

    def __init__(self, scale: Sequence[int], settings: RequestSettings) -> None:
        self._scale = scale
        super().__init__(ENDPOINT, None, settings, is_readable=is_completion)

    async def _post(self, body: bytes) -> tuple[int, bytes, Mapping[str, str], bool]:
        return 200, answered(body, self._scale), {}, False
