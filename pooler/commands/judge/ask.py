"""`pooler ask`: a model judges."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.command import Confirm, Option, Stored, command
from pooler.commands.judge.judge import drawing_of
from pooler.messages import progress, say, warn
from pooler.model_client.prompt import SHOWN_NONCE, TEMPLATE, Prompt, check_template, page_of
from pooler.model_client.run import (
    BYTES_A_TOKEN,
    AskingPlan,
    JudgingCounts,
    JudgingPlan,
    ModelJudging,
    Price,
    check_askable,
    is_completion,
    left_to_ask,
    planned,
    refuse_examples,
)
from pooler.version import __version__
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.model_judge import MOCK
from store.text import counted, sanitise

if TYPE_CHECKING:
    from pooler.model_client.transport import Endpoint
    from store.judging.models import ModelDesk
    from store.model_judge import Answer

LOCAL = "http://127.0.0.1:11434/v1"
"""Where a server of models on this machine listens, as a rule."""


def _price(name: str, text: str) -> tuple[float, ...]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 3) or not all(0 <= one < 1e9 for one in numbers):
        requirement = "must be the prices of a million prompt and completion tokens, as 2.5,10"
        raise ArgumentError(name, requirement, text)
    return (*numbers,)


@command
def ask(
    collection: Stored,
    name: Annotated[str | None, Option("NAME", "The model judge.")] = None,
    *,
    topic: Annotated[str | None, Option("--topic", "Only this topic.")] = None,
    endpoint: Annotated[str, Option("--endpoint URL", "Base URL of a server of chat completions.")] = LOCAL,
    key_env: Annotated[str | None, Option("--key-env VARIABLE", "Environment variable with the key.")] = None,
    key_file: Annotated[
        Path | None, Option("--key-file FILE", "File with the key, readable by you alone.")
    ] = None,
    proxy: Annotated[str | None, Option("--proxy URL")] = None,
    concurrency: Annotated[int, Option("--concurrency N", "Requests at once.", least=1, most=256)] = 4,
    rate: Annotated[float | None, Option("--rate N", "Most requests begun in a minute.", least=0.01)] = None,
    timeout: Annotated[float, Option("--timeout SECONDS", "Time limit for one reply.", least=0.1)] = 120.0,
    retries: Annotated[
        int, Option("--retries N", "How often to repeat a request that fails.", least=0, most=5)
    ] = 5,
    max_wait: Annotated[
        float, Option("--max-wait SECONDS", "Stop where the server asks for a longer wait.", least=0)
    ] = 300.0,
    seed: Annotated[int, Option("--seed N", least=0)] = 0,
    repeat: Annotated[int, Option("--repeat K", "Ask K judged pairs again; their grades stay.", least=0)] = 0,
    canaries: Annotated[int, Option("--canaries N", least=0)] = 0,
    price: Annotated[
        Sequence[float] | None,
        Option("--price PROMPT,COMPLETION[,CACHED]", "Price of a million tokens.", read=_price),
    ] = None,
    max_tokens_total: Annotated[int | None, Option("--max-tokens-total N", least=1)] = None,
    max_cost: Annotated[
        float | None,
        Option("--max-cost AMOUNT", "Stop before they cost more than this, by --price.", least=0),
    ] = None,
    dry_run: bool = False,
    show_prompt: bool = False,
    confirm: Confirm = None,
) -> JudgingCounts | AskingPlan | None:
    """Ask a model to judge; `judges add --model` says which.

    A server is asked for a grade of each document, and gets topic and document alone. Answers that cannot
    be read are "cannot be judged", never grade 0. Run again, the command continues where it stopped.
    `mock` is built in, to try this without a server: it grades by the words that topic and document share.

    Example: pooler ask mock

    Example: pooler ask llama --endpoint http://127.0.0.1:8000/v1 --yes

    proxy : Proxy to use. Default none, also where the environment names one.
    seed : Seed of the order within topics, and of draws.
    canaries : Also ask about copies of N documents that contain an instruction to the model, or the
        topic's words or title; not stored as judgements.
    max_tokens_total : Stop before its answers, earlier runs included, take more tokens than this.
    max_cost : Stop before they cost more than this, by --price.
    dry_run : Count requests, characters, tokens and price; ask nothing.
    show_prompt : Show what the first request says; without NAME, a template.

    Raises
    ------
    UnknownNameError
        If there is no such judge or topic.
    PoolerError
        If nothing is left to ask, the model is not stated, or the server stopped it.
    """
    if name is None:
        if not show_prompt:
            raise ArgumentError("name", "must name a model judge", None, hint="pooler show judges shows them")
        sys.stdout.write(TEMPLATE)
        return None
    from pooler.model_client import mock
    from pooler.model_client.transport import RequestSettings, Transport, read_endpoint, read_key

    is_mock = name == MOCK
    server = mock.ENDPOINT if is_mock else read_endpoint(endpoint)
    if is_mock:
        if not collection.pools.all():
            hint = "pooler pool --depth 10 --name NAME makes one from the runs"
            raise PoolerError("there is no pool to judge", hint=hint)
        collection.models.add(name, mock.IDENTITY, prompt=TEMPLATE)
        warn("mock is no language model: it counts words; its grades show how things work, and nothing else")
    if max_cost is not None and price is None:
        raise ArgumentError("max_cost", "needs --price", max_cost)
    cost = None if price is None else Price(*price)
    desk = collection.model_desk(name, program=f"pooler {__version__}")
    topics = [one.topic for one in desk.inbox()]
    if topic is not None and topic not in topics:
        raise UnknownNameError("topic", topic, topics)
    topics = topics if topic is None else [topic]
    prompt = Prompt(desk.identity, desk.prompt or "", collection.scale)
    if show_prompt:
        _show_prompt(desk, prompt, topics, seed)
        return None
    check_askable(desk.identity, desk.prompt, server.host, name)
    check_template(prompt.template)
    refuse_examples(desk, prompt, topics)
    if not topics:
        raise _nothing_to_ask(name)
    n_beside = repeat + 3 * canaries
    if dry_run:
        plan = planned(desk, prompt, topics, seed)
        _say_plan(plan, server, cost, n_beside)
        return plan
    key = None if is_mock else read_key(key_env, key_file, server)
    if not is_mock and find_spec("httpx2") is None:
        raise PoolerError("asking a model needs the package httpx2", hint="pip install 'pooler[models]'")
    work = {one.judge: one for one in collection.models.work()}
    if confirm is not None and not is_mock and (name not in work or not work[name].answers):
        where = "this machine" if server.is_here else "another machine"
        how = "" if server.is_encrypted or server.is_here else ", without encryption"
        confirm(f"Texts of topics and documents will be sent to {server.host}, {where}{how}.")
    limits = JudgingPlan(
        topics=topics,
        seed=seed,
        repeats=repeat,
        canaries=canaries,
        price=cost,
        max_tokens=max_tokens_total,
        max_cost=max_cost,
        concurrency=concurrency,
    )
    requests = RequestSettings(
        deadline_s=timeout,
        retries=retries,
        max_wait_s=max_wait,
        per_minute=rate,
        concurrency=concurrency,
        proxy=proxy,
    )
    drawing = drawing_of(collection)
    draw = {} if drawing is None else {"draw": drawing.draw}
    left = sum(one.left for one in desk.inbox() if one.topic in topics) + n_beside
    transport = (
        mock.MockTransport(prompt.scale.values, requests)
        if is_mock
        else Transport(server, key, requests, is_readable=is_completion)
    )
    try:
        with finishing() as is_over, progress(f"asking {desk.judge_name}", left) as advance:
            judging = ModelJudging(desk, prompt, transport, limits, **draw, is_over=is_over, advance=advance)
            try:
                judging.run()
            finally:
                with suppress(PoolerError):
                    desk.leave()
    finally:
        transport.close()
    ran = judging.counts
    _say_counts(desk.judge_name, ran, cost)
    if repeat or canaries:
        _say_beside(collection.models.answers(desk.judge))
    if ran.stopped is not None:
        raise ran.stopped
    if ran.is_interrupted:
        raise typer.Exit(130)
    return ran


@contextmanager
def finishing() -> Iterator[Callable[[], bool]]:
    """Let the first Ctrl-C finish the requests under way; the next one interrupts as usual."""
    pressed: list[int] = []

    def note(number: int, _frame: object) -> None:
        pressed.append(number)
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def _show_prompt(desk: ModelDesk, prompt: Prompt, topics: Sequence[str], seed: int) -> None:
    if desk.prompt is None:
        message = f"the prompt of `{desk.judge_name}` is not stated"
        raise PoolerError(message, hint="pooler ask --show-prompt shows a template to begin from")
    check_template(desk.prompt)
    for name in topics:
        for one in left_to_ask(desk, name, seed):
            document = desk.page(one.docno)
            if document.text is not None:
                messages = prompt.messages(desk.topic(name), page_of(document), nonce=SHOWN_NONCE)
                sent = dict(prompt.identity.parameters)
                shown = "\n".join(f"[{one['role']}]\n{one['content']}" for one in messages)
                sys.stdout.write(sanitise(shown) + "\n")
                say(f"{SHOWN_NONCE} is another in every request; parameters: {sent}")
                return
    raise _nothing_to_ask(desk.judge_name)


def _nothing_to_ask(name: str) -> PoolerError:
    hint = f"pooler status shows how far all judges are; if others are assigned some: pooler assign {name}"
    return PoolerError(f"nothing is left for `{name}` to judge", hint=hint)


def _say_plan(plan: AskingPlan, endpoint: Endpoint, price: Price | None, n_beside: int) -> None:
    say(f"{counted(plan.requests, 'request')} to {endpoint.host}: {plan.characters:,} characters of prompts")
    replies = plan.reply_tokens
    words = "replies have no limit (max_tokens)" if replies is None else f"at most {replies:,} of replies"
    say(f"about {plan.prompt_tokens:,} tokens of prompts ({BYTES_A_TOKEN} bytes a token), {words}")
    if price is not None:
        how = "about" if replies is None else "at most about"
        cost = price.cost(plan.prompt_tokens, replies or 0) or 0
        say(f"{how} {cost:.4f} by --price{' for the prompts alone' if replies is None else ''}")
    for number, what in (
        (plan.claimable, "more may be claimed, each a request like these"),
        (plan.undrawn, "more may be drawn by adaptive pools, one after the other"),
        (n_beside, "more requests for repetitions and canaries"),
        (plan.without_text, "have no text, and will not be asked"),
    ):
        if number:
            say(f"{number:,} {what}")


def _say_counts(name: str, ran: JudgingCounts, price: Price | None) -> None:
    n_bad = ran.unreadable.total()
    say(f"{name}: {counted(ran.graded, 'judgement')} with a grade, {n_bad:,} that cannot be judged")
    for words, counts in (("cannot be judged", ran.unreadable), ("failed, and stays unjudged", ran.failed)):
        if counts:
            listed = ", ".join(f"{number:,} {what}" for what, number in sorted(counts.items()))
            say(f"{words}: {listed}")
    if ran.lost:
        say(f"{counted(ran.lost, 'answer')} about documents of other judges: not stored")
    if ran.without_text:
        say(f"{counted(ran.without_text, 'document')} without a text: not asked")
    parts = [f"{ran.prompt_tokens:,} prompt", f"{ran.completion_tokens:,} completion"]
    parts += [
        f"{n:,} {what}"
        for what, n in (("cached", ran.cached_tokens), ("reasoning", ran.reasoning_tokens))
        if n
    ]
    cost = ""
    if price is not None:
        each = f", {ran.cost / ran.graded:.6f} a grade" if ran.graded else ""
        cost = f"; cost {ran.cost:.6f}{each}"
    say(f"tokens: {', '.join(parts)}{cost}; {counted(ran.retries, 'retry', 'retries')}; {ran.seconds:,.0f} s")
    if ran.unnamed:
        warn(f"the server did not say which model it is in {counted(ran.unnamed, 'answer')}: not stated")
    if len(ran.fingerprints) > 1:
        warn(f"the server's system changed during the run: {', '.join(ran.fingerprints)}")


def _say_beside(answers: Sequence[Answer]) -> None:
    from pooler.model_client.run import CANARY_WORDS, repeated, rises

    n_again, n_same = repeated(answers)
    if n_again:
        say(f"asked again: {counted(n_again, 'pair')}, {n_same:,} with the same grade")
    for one in rises(answers):
        if one.mean is None:
            say(f"copies {CANARY_WORDS[one.kind]}: none has a grade to compare")
            continue
        low, high = one.interval.low, one.interval.high
        spread = (
            f"95 % {low:+.2f} to {high:+.2f}" if low is not None else f"no interval: {one.interval.reason}"
        )
        words = f"copies {CANARY_WORDS[one.kind]}: {counted(one.documents, 'document')}"
        words += f", grade {one.mean:+.2f} ({spread})"
        if one.unreadable:
            words += f", {one.unreadable:,} cannot be judged"
        (warn if one.is_alarming else say)(words)
