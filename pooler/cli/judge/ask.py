"""`pooler ask`: a model is asked where a person would judge."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import confirm
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.signature import argument, command, option
from pooler.messages import progress, say, warn
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.text import counted, sanitise

if TYPE_CHECKING:
    from judge_ui.session.queue import Drawing
    from pooler.model_client.plan import AskingPlan
    from pooler.model_client.prompt import Prompt
    from pooler.model_client.run import JudgingCounts, Price
    from pooler.model_client.transport import Endpoint
    from store.collection import Collection
    from store.judging.models import ModelDesk
    from store.model_judge import Answer

LOCAL = "http://127.0.0.1:11434/v1"
"""Where a server of models on this machine listens, as a rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """How a model is asked; who it is, `pooler judges add` has stated."""

    endpoint: Annotated[str, option("--endpoint URL", "Base URL of a server of chat completions.")] = LOCAL
    key_env: Annotated[str | None, option("--key-env VARIABLE", "Environment variable with the key.")] = None
    key_file: Annotated[
        Path | None, option("--key-file FILE", "File with the key, readable by you alone.")
    ] = None
    proxy: Annotated[
        str | None, option("--proxy URL", "Proxy to use. Default none, also where the environment names one.")
    ] = None
    concurrency: Annotated[int, option("--concurrency N", "Requests at once.", min=1, max=256)] = 4
    rate: Annotated[float | None, option("--rate N", "Most requests begun in a minute.", min=0.01)] = None
    timeout: Annotated[float, option("--timeout SECONDS", "Time limit for one reply.", min=0.1)] = 120.0
    retries: Annotated[
        int, option("--retries N", "How often to repeat a request that fails.", min=0, max=5)
    ] = 5
    max_wait: Annotated[
        float, option("--max-wait SECONDS", "Stop where the server asks for a longer wait.", min=0)
    ] = 300.0
    seed: Annotated[int, option("--seed N", "Seed of the order within topics, and of draws.", min=0)] = 0
    repeat: Annotated[int, option("--repeat K", "Ask K judged pairs again; their grades stay.", min=0)] = 0
    canaries: Annotated[
        int,
        option(
            "--canaries N",
            "Also ask about copies of N documents that contain an instruction to the model, or the"
            " topic's words or title; not stored as judgements.",
            min=0,
        ),
    ] = 0
    price: Annotated[
        str | None, option("--price PROMPT,COMPLETION[,CACHED]", "Price of a million tokens.")
    ] = None
    max_tokens_total: Annotated[
        int | None,
        option(
            "--max-tokens-total N",
            "Stop before its answers, earlier runs included, take more tokens than this.",
            min=1,
        ),
    ] = None
    max_cost: Annotated[
        float | None, option("--max-cost AMOUNT", "Stop before they cost more than this, by --price.", min=0)
    ] = None
    dry_run: Annotated[
        bool, option("--dry-run", "Count requests, characters, tokens and price; ask nothing.")
    ] = False
    show_prompt: Annotated[
        bool, option("--show-prompt", "Show what the first request says; without NAME, a template.")
    ] = False
    yes: Annotated[bool, option("--yes -y", "Send texts to the host without asking first.")] = False


@command
def ask(
    name: Annotated[str | None, argument("NAME", "The model judge.")] = None,
    topic: Annotated[str | None, option("--topic", "Only this topic.")] = None,
    collection: CollectionOption = DEFAULT_COLLECTION,
    *,
    asked: ModelOptions,
) -> None:
    """Ask a model to judge, as `judges add` describes it.

    A server is asked for a grade of each document, and gets topic and document alone. Answers that cannot
    be read are "cannot be judged", never grade 0. Run again, the command continues where it stopped.

    Example: pooler ask llama --endpoint http://127.0.0.1:8000/v1 --yes
    """
    from store.collection import Collection

    if name is not None:
        with Collection(collection) as opened:
            _judge(opened, name, asked, topic)
    elif asked.show_prompt:
        from pooler.model_client.prompt import TEMPLATE

        sys.stdout.write(TEMPLATE)
    else:
        raise ArgumentError("NAME", "must name a model judge", None, hint="pooler show judges shows them")


def _judge(opened: Collection, name: str, asked: ModelOptions, topic: str | None) -> None:
    """Ask a model about all its documents, or say what that would be."""
    from pooler.cli.judge.judge import drawing_of
    from pooler.model_client.plan import check_askable, planned, refuse_examples
    from pooler.model_client.prompt import Prompt, check_template
    from pooler.model_client.transport import read_endpoint, read_key
    from pooler.version import __version__

    endpoint = read_endpoint(asked.endpoint)
    price = _price(asked)
    desk = opened.model_desk(name, program=f"pooler {__version__}")
    topics = _topics(desk, topic)
    prompt = Prompt(desk.identity, desk.prompt or "", opened.scale)
    if asked.show_prompt:
        if desk.prompt is not None:
            check_template(desk.prompt)
        _show_prompt(desk, prompt, topics, asked.seed)
        return
    check_askable(desk.identity, desk.prompt, endpoint.host, name)
    check_template(prompt.template)
    refuse_examples(desk, prompt, topics)
    if not topics:
        raise _nothing_to_ask(name)
    if asked.dry_run:
        _tell_plan(planned(desk, prompt, topics, asked.seed), endpoint, price, asked)
        return
    key = read_key(asked.key_env, asked.key_file, endpoint)
    if find_spec("httpx2") is None:
        message = "asking a model needs the package httpx2"
        raise PoolerError(message, hint="pip install 'pooler[models]'")
    work = {one.judge: one for one in opened.models.work()}
    if name not in work or not work[name].answers:
        where = "this machine" if endpoint.is_here else "another machine"
        how = "" if endpoint.is_encrypted or endpoint.is_here else ", without encryption"
        question = f"Texts of topics and documents will be sent to {endpoint.host}, {where}{how}."
        confirm(question, yes=asked.yes)
    _run(opened, desk, prompt, topics, endpoint, key, price, asked, drawing_of(opened))


def _run(
    opened: Collection,
    desk: ModelDesk,
    prompt: Prompt,
    topics: Sequence[str],
    endpoint: Endpoint,
    key: str | None,
    price: Price | None,
    asked: ModelOptions,
    drawing: Drawing | None,
) -> None:
    from pooler.model_client.run import JudgingPlan, ModelJudging, is_completion
    from pooler.model_client.transport import RequestSettings, Transport

    plan = JudgingPlan(
        topics=topics,
        seed=asked.seed,
        repeats=asked.repeat,
        canaries=asked.canaries,
        price=price,
        max_tokens=asked.max_tokens_total,
        max_cost=asked.max_cost,
        concurrency=asked.concurrency,
    )
    request_settings = RequestSettings(
        deadline_s=asked.timeout,
        retries=asked.retries,
        max_wait_s=asked.max_wait,
        per_minute=asked.rate,
        concurrency=asked.concurrency,
        proxy=asked.proxy,
    )
    lines = [one for one in desk.inbox() if one.topic in topics]
    left = sum(one.left for one in lines) + asked.repeat + 3 * asked.canaries
    transport = Transport(endpoint, key, request_settings, is_readable=is_completion)
    try:
        with finishing() as is_over, progress(f"asking {desk.judge_name}", left) as advance:
            draw = {} if drawing is None else {"draw": drawing.draw}
            judging = ModelJudging(desk, prompt, transport, plan, **draw, is_over=is_over, advance=advance)
            try:
                judging.run()
            finally:
                with suppress(PoolerError):
                    desk.leave()
    finally:
        transport.close()
    ran = judging.counts
    _tell(desk.judge_name, ran, price)
    if asked.repeat or asked.canaries:
        _tell_beside(opened.models.answers(desk.judge))
    if ran.stopped is not None:
        raise ran.stopped
    if ran.is_interrupted:
        raise typer.Exit(130)


@contextmanager
def finishing() -> Iterator[Callable[[], bool]]:
    """Let the first Ctrl-C ask to finish what is on its way; the next ends it as ever."""
    pressed: list[int] = []

    def note(number: int, _frame: object) -> None:
        pressed.append(number)
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def _price(asked: ModelOptions) -> Price | None:
    from pooler.model_client.run import Price

    if asked.price is None:
        if asked.max_cost is not None:
            raise ArgumentError("--max-cost", "needs --price", asked.max_cost)
        return None
    try:
        numbers = [float(part) for part in asked.price.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (2, 3) or not all(0 <= one < 1e9 for one in numbers):
        requirement = "must be the prices of a million prompt and completion tokens, as 2.5,10"
        raise ArgumentError("--price", requirement, asked.price)
    return Price(*numbers)


def _topics(desk: ModelDesk, topic: str | None) -> list[str]:
    known = [one.topic for one in desk.inbox()]
    if topic is None:
        return known
    if topic not in known:
        raise UnknownNameError("topic", topic, known)
    return [topic]


def _show_prompt(desk: ModelDesk, prompt: Prompt, topics: Sequence[str], seed: int) -> None:
    from pooler.model_client.plan import left_to_ask
    from pooler.model_client.prompt import SHOWN_NONCE, page_of

    if desk.prompt is None:
        message = f"the prompt of `{desk.judge_name}` is not stated"
        raise PoolerError(message, hint="pooler ask --show-prompt shows a template to begin from")
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


def _tell_plan(plan: AskingPlan, endpoint: Endpoint, price: Price | None, asked: ModelOptions) -> None:
    from pooler.model_client.run import BYTES_A_TOKEN

    say(f"{counted(plan.requests, 'request')} to {endpoint.host}: {plan.characters:,} characters of prompts")
    replies = plan.reply_tokens
    words = "replies have no limit (max_tokens)" if replies is None else f"at most {replies:,} of replies"
    say(f"about {plan.prompt_tokens:,} tokens of prompts ({BYTES_A_TOKEN} bytes a token), {words}")
    if price is not None:
        how = "about" if replies is None else "at most about"
        cost = price.cost(plan.prompt_tokens, replies or 0) or 0
        say(f"{how} {cost:.4f} by --price{' for the prompts alone' if replies is None else ''}")
    for number, what in (
        (plan.claimable, "may be claimed besides, each a request like these"),
        (plan.undrawn, "may be drawn besides by adaptive pools, one after the other"),
        (asked.repeat + 3 * asked.canaries, "requests besides for repetitions and canaries"),
        (plan.without_text, "have no text, and will not be asked"),
    ):
        if number:
            say(f"{number:,} {what}")


def _tell(name: str, ran: JudgingCounts, price: Price | None) -> None:
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


def _tell_beside(answers: Sequence[Answer]) -> None:
    from pooler.model_client.canaries import WORDS, repeated, rises

    n_again, n_same = repeated(answers)
    if n_again:
        say(f"asked again: {counted(n_again, 'pair')}, {n_same:,} with the same grade")
    for one in rises(answers):
        if one.mean is None:
            say(f"copies {WORDS[one.kind]}: none has a grade to compare")
            continue
        low, high = one.interval.low, one.interval.high
        spread = (
            f"95 % {low:+.2f} to {high:+.2f}" if low is not None else f"no interval: {one.interval.reason}"
        )
        words = f"copies {WORDS[one.kind]}: {counted(one.documents, 'document')}"
        words += f", grade {one.mean:+.2f} ({spread})"
        if one.unreadable:
            words += f", {one.unreadable:,} cannot be judged"
        (warn if one.is_alarming else say)(words)
