"""Who a model judge is, as options say it; files of a model's answers imported."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from dataclasses import replace as changed
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pooler.cli.signature import option
from pooler.messages import say, warn
from pooler.results.judgement_files import UNKNOWN_HINT
from pooler.results.meeting import add_unknown
from store.errors import ArgumentError, FaultList, PoolerError
from store.text import counted

if TYPE_CHECKING:
    from pathlib import PurePath

    from store.collection import Collection
    from store.formats import LabelsFormat
    from store.formats.labels import Label
    from store.model_judge import Answer, ModelIdentity

_TOPIC_FIELDS = ("title", "description", "narrative")
_DOCUMENT_FIELDS = ("title", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityOptions:
    """What there is to state of a model; what is not given is "not stated"."""

    PANEL = "Who a model judge is"

    model: Annotated[str | None, option("--model ID", "The model's id, as the server knows it.")] = None
    revision: Annotated[str | None, option("--revision HASH", "Revision of its weights.")] = None
    endpoint: Annotated[str | None, option("--endpoint KIND", "Kind of server: chat-completions.")] = None
    host: Annotated[str | None, option("--host HOST", "The server's host and port, without a key.")] = None
    prompt: Annotated[
        Path | None, option("--prompt FILE", "Template of the prompt, with any few-shot examples.")
    ] = None
    param: Annotated[
        list[str] | None,
        option("--param NAME=VALUE", "A parameter to send, such as temperature=0; may be repeated."),
    ] = None
    parser: Annotated[
        str | None,
        option(
            "--parser NAME[:VERSION]",
            "The rule that turns an answer into a grade. Default for files of umbrela: umbrela.",
        ),
    ] = None
    shown: Annotated[
        str | None,
        option(
            "--shows FIELD,...",
            "What it is shown: topic.title, topic.description, topic.narrative, doc.title, doc.text.",
        ),
    ] = None
    max_characters: Annotated[
        int | None,
        option(
            "--max-characters",
            "Most characters of a document to send; longer ones are cut at the end.",
            min=1,
        ),
    ] = None
    family: Annotated[
        str | None,
        option("--family NAME", "Family of models; models of one family are not independent judges."),
    ] = None

    def refuse_any(self, when: str) -> None:
        """Refuse what states a model where there is none."""
        for one in fields(self):
            if getattr(self, one.name):
                requirement = f"states who a model is, and cannot be used {when}"
                raise ArgumentError(one.name, requirement, str(getattr(self, one.name)))

    def identity(
        self, grade_map: Mapping[int, int], *, parser: str = ""
    ) -> tuple[ModelIdentity | None, str | None]:
        """Return who the model is, and its prompt; ``None`` = not stated."""
        from store.model_judge import NOT_STATED, ModelIdentity, prompt_hash

        if self.model is None:
            self.refuse_any("without --model")
            return None, None
        name, _, version = (self.parser or parser).partition(":")
        prompt = None if self.prompt is None else _read(self.prompt)
        topic, document = _shown(self.shown)
        identity = ModelIdentity(
            model=self.model,
            revision=self.revision or NOT_STATED,
            endpoint=self.endpoint or NOT_STATED,
            host=self.host or NOT_STATED,
            prompt_sha256=NOT_STATED if prompt is None else prompt_hash(prompt),
            parameters=_parameters(self.param or []),
            parser=name or NOT_STATED,
            parser_version=version or NOT_STATED,
            grade_map=grade_map,
            topic_fields=topic,
            document_fields=document,
            max_characters=self.max_characters,
            cut="never" if self.max_characters is None else "end",
            family=self.family or "",
        )
        return identity, prompt


def _read(file: PurePath) -> str:
    try:
        return Path(file).read_bytes().decode("utf-8")
    except OSError as error:
        message = f"{file}: {error.strerror}"
        raise PoolerError(message) from error
    except UnicodeDecodeError as error:
        message = f"{file}: expected UTF-8, got the byte {error.object[error.start]:#04x} at {error.start}"
        raise PoolerError(message) from error


def _parameters(texts: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise ArgumentError("--param", "must be NAME=VALUE", text)
        if name in found:
            raise ArgumentError("--param", "must be given once for each name", text)
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _shown(text: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    known = {f"topic.{one}": one for one in _TOPIC_FIELDS} | {f"doc.{one}": one for one in _DOCUMENT_FIELDS}
    names = [] if text is None else text.split(",")
    for name in names:
        if name not in known:
            raise ArgumentError("--shows", f"must be of {', '.join(known)}", name)
    topic = tuple(one for one in _TOPIC_FIELDS if f"topic.{one}" in names)
    return topic, tuple(one for one in _DOCUMENT_FIELDS if f"doc.{one}" in names)


def import_labels(
    opened: Collection,
    file: str,
    form: LabelsFormat,
    *,
    judge: str,
    stated: IdentityOptions,
    mapping: Mapping[int, int],
    allow_unknown: bool,
    replace: bool,
) -> None:
    """Import the answers of a model, or refuse the file with all that is wrong with it, by line."""
    from store.formats.labels import MAP_HINT, read_labels

    faults = FaultList(file)
    read = read_labels(file, form, opened.scale, mapping, faults)
    hints = [faults.hint] if faults.hint else []
    hints += [MAP_HINT] if any(fault.code == "grade" for fault in faults.kept) else []
    if len(read.models) > 1:
        listed = ", ".join(read.models)
        faults.add(None, f"expected the answers of one model, got those of {len(read.models)}: {listed}")
    answers = _placed(opened, read.labels, judge, faults)
    topics = [one.topic for one in read.labels if one.topic is not None]
    docnos = [one.docno for one in read.labels if one.docno is not None]
    if not allow_unknown and add_unknown(opened, faults, topics, docnos):
        hints.append(UNKNOWN_HINT)
    faults.raise_if_any(hint="; ".join(hints))
    identity, prompt = stated.identity(mapping, parser="umbrela" if form == "umbrela" else "")
    judged = [one for one in answers if one.is_judgement]
    done = opened.models.take(judge, answers, identity=identity, prompt=prompt, replace=replace)
    parts = [f"{done.added:,} added"]
    parts += [
        f"{n:,} {what}" for n, what in ((done.replaced, "replaced"), (done.unchanged, "unchanged")) if n
    ]
    say(f"{file}: {counted(len(judged), 'answer')} of {judge}: {', '.join(parts)}")
    reasons = Counter(one.unreadable.value for one in judged if one.unreadable is not None)
    if reasons:
        listed = ", ".join(f"{n:,} {reason}" for reason, n in sorted(reasons.items()))
        say(
            f"{file}: {counted(reasons.total(), 'answer')} cannot be read, so the documents"
            f" cannot be judged: {listed}"
        )
    if read.unread:
        say(f"{file}: not read: {', '.join(f'`{name}`' for name in read.unread)}")
    if failed := sum(label.failed for label in read.labels):
        say(f"{file}: {counted(failed, 'request')} failed on the way: no judgement")
    chances = sum(one.probabilities is not None for one in judged)
    if chances:
        say(f"{file}: {counted(chances, 'answer')} with probabilities of grades")
    known = {one.judge: one.identity for one in opened.models.all()}
    if known.get(judge) is None:
        warn(f"model `{judge}` is not described: --model ID, --prompt FILE, --param ...")
    elif identity is not None and read.models and read.models != (identity.model,):
        warn(f"{file} names the model {read.models[0]}, and --model says {identity.model}")


def _placed(opened: Collection, labels: Sequence[Label], judge: str, faults: FaultList) -> list[Answer]:
    """Say which topic and document each label is of; by their texts where it names none."""
    from store.judging.models import text_key
    from store.model_judge import Answer

    needs_texts = any(one.topic is None or one.docno is None for one in labels)
    texts = opened.models.text_keys() if needs_texts else None
    found: list[Answer] = []
    lines: dict[tuple[str, str], int] = {}
    for label in labels:
        names: list[str] = []
        for noun, name, text in (("topic", label.topic, label.query), ("docno", label.docno, label.passage)):
            if name is None and texts is not None:
                keys = texts.topics if noun == "topic" else texts.documents
                key = text_key(text)
                name = keys.get(key)
                if name is None:
                    what = "query" if noun == "topic" else "passage"
                    how_many = "several have" if key in keys else "none has"
                    faults.add(
                        label.line, f"expected the {what} of one {noun}, and {how_many} this text", "text"
                    )
                    break
            names.append(str(name))
        if len(names) < 2:
            continue
        pair = names[0], names[1]
        answer = Answer(judge, *pair, **label.values)
        if answer.is_judgement:
            if (first := lines.get(pair)) is not None:
                message = f"expected topic {pair[0]} `{pair[1]}` once, and line {first} has it, too"
                faults.add(label.line, message, "duplicate")
                continue
            lines[pair] = label.line
        found.append(changed(answer, judge=judge))
    return found
