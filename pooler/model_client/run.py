"""A run of requests: which pairs, in what order, until when, and what happened to them.

A pair is asked by one program at a time, which locks it before it looks for an answer and until the
answer is stored (`store.db.process_locks`). So a pair with an answer is never asked again, even after a kill;
a request that was on its way then is repeated.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from pooler.model_client.parse import PARSER, PARSER_VERSION, NotACompletionError, read_reply
from pooler.model_client.prompt import Prompt, page_of
from pooler.model_client.transport import Arrived, StoppedError, Transport
from store.analysis.agreement.intervals import Interval, topic_bootstrap
from store.errors import ConflictError, PoolerError, StoreError
from store.judging.models import STATING_HINT, AnotherModelError
from store.model_judge import CANARIES, NOT_STATED, Answer, Asked, Unreadable
from store.records import DECIDED, State, Task, Topic
from store.text import counted, natural_key

if TYPE_CHECKING:
    from store.db.process_locks import ProcessLocks
    from store.judging.models import ModelDesk
    from store.model_judge import ModelIdentity


CANARY_WORDS = {
    Asked.CANARY_ORDER: "with an order in it",
    Asked.CANARY_WORDS: "with the topic's words in it",
    Asked.CANARY_TITLE: "with the topic's title on top",
}


@dataclass(frozen=True, slots=True)
class Rise:
    """How much higher a model grades copies of documents than the documents themselves."""

    kind: Asked
    documents: int
    unreadable: int
    mean: float | None
    """In grades; ``None`` = there is no such document."""
    interval: Interval
    """95 %, of the bootstrap over topics."""

    @property
    def is_alarming(self) -> bool:
        """Whether the whole interval lies above 0, or every copy of one topic or of equal rises does."""
        low = self.interval.low
        return self.mean is not None and self.mean > 0 and (low > 0 if low is not None else True)


def rises(answers: Iterable[Answer]) -> list[Rise]:
    """Compare the canaries of a judge with its judgements of the same documents.

    The mean over documents of grade of the copy - grade of the document; the interval draws topics anew.
    """
    own: dict[tuple[str, str], int | None] = {}
    copies: dict[Asked, list[Answer]] = {kind: [] for kind in CANARIES}
    for one in answers:
        if one.is_judgement:
            own[one.topic, one.docno] = one.grade
        elif one.asked in copies and (one.grade is not None or one.unreadable is not None):
            copies[one.asked].append(one)
    risen = []
    for kind, found in ((kind, found) for kind, found in copies.items() if found):
        topics = sorted({one.topic for one in found}, key=natural_key)
        sums = np.zeros((len(topics), 2))
        for one in found:
            before = own.get((one.topic, one.docno))
            if one.grade is not None and before is not None:
                sums[topics.index(one.topic)] += (one.grade - before, 1)
        rise, n = sums.sum(axis=0).tolist()
        unreadable = sum(one.grade is None for one in found)
        interval = topic_bootstrap(sums, lambda of: of[:, 0] / of[:, 1], seed=0, units=sums[:, 1] > 0)
        risen.append(Rise(kind, int(n), unreadable, rise / n if n else None, interval))
    return risen


def repeated(answers: Iterable[Answer]) -> tuple[int, int]:
    """Count pairs that were asked again and answered, and how many of them got their grade once more."""
    answers = list(answers)
    own = {(one.topic, one.docno): one.grade for one in answers if one.is_judgement}
    again = [
        own.get((one.topic, one.docno)) == one.grade
        for one in answers
        if one.asked is Asked.REPEAT and (one.grade is not None or one.unreadable is not None)
    ]
    return len(again), sum(again)


BYTES_A_TOKEN = 4
FAILURES_IN_A_ROW = 5
STORE_TRIES, STORE_WAIT_S = 10, 1.0
"""How often an answer is written down before it is given up, with a pause; each waits for other writers."""
_BEAT_S = 30.0
_LOOK_S = 0.2
"""How long at most an interrupt, or a pair that another program holds, waits to be looked at."""
_TOO_LONG = frozenset({"context_length_exceeded", "string_above_max_length", "request_too_large"})


@dataclass(frozen=True, slots=True)
class Price:
    """Of a million tokens, in any currency."""

    prompt: float
    completion: float
    cached: float | None = None
    """``None`` = as `prompt`."""

    def cost(self, prompt: int | None, completion: int | None, cached: int | None = None) -> float | None:
        """Return what tokens cost; ``None`` = the server did not count them.

        >>> Price(2.0, 10.0, 1.0).cost(1000, 50, 400)
        0.0021
        """
        if prompt is None or completion is None:
            return None
        kept = min(cached or 0, prompt)
        each = self.prompt if self.cached is None else self.cached
        return ((prompt - kept) * self.prompt + kept * each + completion * self.completion) / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingPlan:
    """What a run is to ask, and until when."""

    topics: Sequence[str]
    seed: int = 0
    repeats: int = 0
    canaries: int = 0
    price: Price | None = None
    max_tokens: int | None = None
    """Of all answers of the judge, earlier ones too; as of the next."""
    max_cost: float | None = None
    concurrency: int = 1


@dataclass(frozen=True, slots=True)
class Job:
    """One pair to be asked about."""

    topic: str
    docno: str
    asked: Asked = Asked.JUDGE


_END = Job("", "")


@dataclass(slots=True)
class JudgingCounts:
    """What happened to a run; counts are of requests."""

    graded: int = 0
    unreadable: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    beside: int = 0
    without_text: int = 0
    lost: int = 0
    """Answers about documents that were other judges' when they came: nothing of them is stored."""
    lost_tokens: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float = 0.0
    fingerprints: list[str] = field(default_factory=list)
    unnamed: int = 0
    seconds: float = 0.0
    stopped: PoolerError | None = None
    """Why it ended before everything was asked; ``None`` = it did not."""
    is_interrupted: bool = False


Draw = Callable[[str], bool]
"""Draws one more document of a topic from an adaptive pool; False = there is none."""


def pending(desk: ModelDesk, topics: Sequence[str], seed: int, draw: Draw) -> Iterator[Job | None]:
    """Yield the pairs without a judgement, topic by topic, shuffled; what is to be claimed is claimed.

    ``None`` = a document is drawn next, once all that were yielded have their grades: the draw rests on them.
    While any has none, none is drawn, as before a person.
    """
    for topic in topics:
        known: set[str] = set()
        while True:
            tasks = [one for one in desk.queue(topic) if one.docno not in known]
            known.update(one.docno for one in tasks)
            yield from (
                Job(topic, one.docno)
                for one in shuffled(tasks, topic, seed)
                if one.state.value not in DECIDED
            )
            if desk.claimable(topic) and desk.claim(topic):
                continue
            if not desk.undrawn(topic):
                break
            yield None
            is_open = any(one.state is State.UNJUDGED for one in desk.queue(topic))
            if is_open or not draw(topic):
                break


def shuffled(tasks: Sequence[Task], topic: str, seed: int) -> list[Task]:
    """Return documents in an order that rests on their names and a seed alone."""
    return sorted(
        tasks, key=lambda one: sha256(f"{seed}\0{topic}\0{one.docno}".encode("utf-8", "replace")).digest()
    )


Pair = tuple[str, str]


def drawn(pairs: Iterable[Pair], begun: Collection[Pair], n: int, seed: int) -> list[Pair]:
    """Draw pairs at random, those that were begun with first: a broken run goes on with the same."""
    listed = sorted(pairs)
    random.Random(seed).shuffle(listed)
    return sorted(listed, key=lambda pair: pair not in begun)[:n]


class ModelJudging:
    """Asks a model about pairs, and stores what it answers."""

    def __init__(
        self,
        desk: ModelDesk,
        prompt: Prompt,
        transport: Transport,
        plan: JudgingPlan,
        *,
        draw: Draw = lambda _topic: False,
        is_over: Callable[[], bool] = lambda: False,
        advance: Callable[[int], None] = lambda _steps: None,
    ) -> None:
        self._desk, self._prompt, self._transport, self._plan = desk, prompt, transport, plan
        self._draw, self._is_over, self._advance = draw, is_over, advance
        self._topics: dict[str, Topic] = {}
        self._flying: dict[Future[Arrived | None], tuple[Answer, int]] = {}
        """Requests on their way: what is known of the answer, and the tokens as reckoned."""
        self._failed_in_a_row = 0
        self._is_known = False
        """Whether the server has answered."""
        self._beaten_at = -_BEAT_S
        self.counts = JudgingCounts()

    def run(self) -> JudgingCounts:
        """Ask everything that is wanted, and return what happened to it."""
        began = time.monotonic()
        held = self._desk.holding()
        try:
            self._ask_all(held, pending(self._desk, self._plan.topics, self._plan.seed, self._draw))
            self._ask_all(held, iter(self._beside()))
        finally:
            held.close()
            self.counts.seconds = time.monotonic() - began
        return self.counts

    def _beside(self) -> list[Job]:
        """Return repetitions and canaries, mixed: both of pairs that have a judgement."""
        jobs: list[Job] = []
        if not (self._plan.repeats or self._plan.canaries) or self._is_done():
            return jobs
        graded: dict[Pair, int] = {}
        for topic in self._plan.topics:
            for one in self._desk.queue(topic):
                if one.state is State.JUDGED and one.grade is not None:
                    graded[topic, one.docno] = one.grade
        seed = self._plan.seed
        again = drawn(graded, self._desk.answered(Asked.REPEAT), self._plan.repeats, seed)
        jobs += [Job(*pair, Asked.REPEAT) for pair in again]
        low = [pair for pair, grade in graded.items() if grade < self._prompt.scale.relaxed]
        begun = set[Pair]().union(*(self._desk.answered(kind) for kind in CANARIES))
        for pair in drawn(low, begun, self._plan.canaries, seed):
            jobs += [Job(*pair, kind) for kind in CANARIES]
        random.Random(seed).shuffle(jobs)
        return jobs

    def _ask_all(self, held: ProcessLocks, jobs: Iterator[Job | None]) -> None:
        elsewhere: list[Job] = []
        is_more, is_drawn_next = True, False
        while True:
            # The first goes alone, since it may be refused.
            most = self._plan.concurrency if self._is_known else 1
            while is_more and not self._is_done() and len(self._flying) < most:
                if is_drawn_next and self._flying:
                    break
                try:
                    job = next(jobs, _END)
                    is_drawn_next = job is None
                    if job is _END:
                        is_more = False
                    elif job is not None and not self._begin(held, job):
                        elsewhere.append(job)
                except PoolerError as error:
                    self.counts.stopped = self.counts.stopped or error
            if self._flying:
                self._take_in(held)
            elif self._is_done() or not (is_more or elsewhere):
                return
            elif not is_more:
                # Another program asks these: whatever it leaves is asked here.
                time.sleep(_LOOK_S)
                jobs, elsewhere, is_more = iter(elsewhere), [], True

    def _is_done(self) -> bool:
        self.counts.is_interrupted = self.counts.is_interrupted or self._is_over()
        return self.counts.is_interrupted or self.counts.stopped is not None

    def _begin(self, held: ProcessLocks, job: Job) -> bool:
        """Send one request, unless it need not or may not be; False = another program has the pair."""
        desk = self._desk
        names = (desk.judge, job.topic, job.docno, job.asked.value)
        if not held.take(*names):
            return False
        is_sent = False
        try:
            # Whether a document still lies before the model is looked at once any was taken from it.
            is_here = not self.counts.lost or any(one.docno == job.docno for one in desk.queue(job.topic))
            if is_here and not desk.is_answered(job.topic, job.docno, job.asked):
                is_sent = self._send(job)
        finally:
            if not is_sent:
                held.give_back(*names)
        return True

    def _send(self, job: Job) -> bool:
        """Send one request; False = there is none to send."""
        if job.topic not in self._topics:
            self._topics[job.topic] = self._desk.topic(job.topic)
        if time.monotonic() - self._beaten_at >= _BEAT_S:
            self._desk.beat(job.topic)
            self._beaten_at = time.monotonic()
        topic, document = self._topics[job.topic], self._desk.page(job.docno)
        answer = Answer(
            *(self._desk.judge, job.topic, job.docno, job.asked),
            topic_version=self._desk.topic_version(job.topic),
            document_sha256=document.sha256,
        )
        if document.text is None:
            self.counts.without_text += job.asked is Asked.JUDGE
            return False
        page = page_of(document)
        self._prompt.refuse_pair(topic, page)
        if page.is_too_long(self._prompt.identity):
            now = datetime.now(UTC)
            self._store(replace(answer, unreadable=Unreadable.TOO_LONG, sent_at=now, received_at=now))
            return False
        body = self._prompt.body(self._prompt.messages(topic, page, asked=job.asked))
        tokens = len(body) // BYTES_A_TOKEN + (longest_reply(self._prompt) or 0)
        if not self._may_spend(tokens):
            return False
        answer = replace(answer, request_sha256=sha256(body).hexdigest())
        self._flying[self._transport.send(body)] = answer, tokens
        return True

    def _may_spend(self, tokens: int) -> bool:
        """Return whether the limits allow one more request beside all that those on their way may need."""
        plan, counts, price = self._plan, self.counts, self._plan.price
        if plan.max_tokens is None and plan.max_cost is None:
            return True
        spent = self._desk.spent()
        needed = sum(max(one, spent.largest) for one in (*(n for _, n in self._flying.values()), tokens))
        if plan.max_tokens is not None and spent.tokens + counts.lost_tokens + needed > plan.max_tokens:
            message = f"the next request could pass --max-tokens-total: {spent.tokens:,} tokens were used"
            hint = "all answers of this judge count; a greater --max-tokens-total goes on from here"
            counts.stopped = StoppedError(message, hint=hint)
        elif plan.max_cost is not None and price is not None:
            dearest = max(price.prompt, price.completion, price.cached or 0.0)
            cost = spent.cost + (price.cost(*spent.without_cost) or 0.0)
            if cost + (counts.lost_tokens + needed) * dearest / 1e6 > plan.max_cost:
                message = f"the next request could pass --max-cost: {cost:.4f} was spent"
                hint = "all answers of this judge count; a greater --max-cost goes on from here"
                counts.stopped = StoppedError(message, hint=hint)
        return counts.stopped is None

    def _take_in(self, held: ProcessLocks) -> None:
        done, _ = wait(self._flying, timeout=_LOOK_S, return_when=FIRST_COMPLETED)
        if self._is_done():
            self._transport.end_waits()
        for future in done:
            answer, _ = self._flying.pop(future)
            self._is_known = True
            try:
                if (arrived := future.result()) is not None:
                    self._store(self._answer(answer, arrived))
            except PoolerError as error:
                # The others on their way are stored all the same.
                self.counts.stopped = self.counts.stopped or error
            finally:
                held.give_back(answer.judge, answer.topic, answer.docno, answer.asked.value)

    def _answer(self, answer: Answer, arrived: Arrived) -> Answer:
        names = ("attempt", "sent_at", "received_at", "status", "body")
        answer = replace(answer, **{name: getattr(arrived, name) for name in names})
        if arrived.is_cut:
            self._failed_in_a_row = 0
            return replace(answer, unreadable=Unreadable.TRUNCATED)
        if arrived.failure:
            self.counts.failed[arrived.failure] += 1
            self._failed_in_a_row += 1
            if self._failed_in_a_row >= FAILURES_IN_A_ROW and self.counts.stopped is None:
                message = f"{counted(self._failed_in_a_row, 'request')} in a row failed: {arrived.failure}"
                self.counts.stopped = StoppedError(message, hint="the same command goes on from here")
            return answer
        self._failed_in_a_row = 0
        if arrived.status != 200:
            reason = refused_content(arrived.status, arrived.body)
            if reason is None:
                raise self._transport.refused(arrived.status or 0, arrived.body)
            return replace(answer, unreadable=reason)
        reply = read_reply(arrived.body, self._prompt.scale.values, self._prompt.identity.grade_map)
        price = self._plan.price
        read = {one.name: getattr(reply, one.name) for one in fields(reply)}
        if price is not None:
            read["cost"] = price.cost(reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)
        return replace(answer, **read)

    def _keep(self, answer: Answer) -> None:
        """Write an answer down, again and again where the database has no time for it: it was paid for."""
        for left in range(0 if self.counts.stopped else STORE_TRIES - 1, -1, -1):
            try:
                self._desk.answer(answer)
            except ConflictError:
                raise
            except StoreError as error:
                if not left or error.__cause__ is None:  # without a cause it is pooler that refuses
                    raise
                time.sleep(STORE_WAIT_S)
            else:
                return

    def _store(self, answer: Answer) -> None:
        counts = self.counts
        try:
            self._keep(answer)
        except AnotherModelError:
            raise
        except ConflictError:
            counts.lost += 1
            counts.lost_tokens += (answer.prompt_tokens or 0) + (answer.completion_tokens or 0)
            self._advance(1)
            return
        counts.retries += answer.attempt - 1
        for name in ("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens"):
            setattr(counts, name, getattr(counts, name) + (getattr(answer, name) or 0))
        counts.cost += answer.cost or 0.0
        if answer.fingerprint and answer.fingerprint not in counts.fingerprints:
            counts.fingerprints.append(answer.fingerprint)
        counts.unnamed += answer.status == 200 and not answer.served_model
        if answer.asked is not Asked.JUDGE:
            counts.beside += 1
        elif answer.grade is not None:
            counts.graded += 1
        elif answer.unreadable is not None:
            counts.unreadable[answer.unreadable.value] += 1
        self._advance(1)


def longest_reply(prompt: Prompt) -> int | None:
    """Return how many tokens a reply may have; ``None`` = no parameter says it."""
    sent = prompt.identity.parameters
    limits = [sent.get(name) for name in ("max_tokens", "max_completion_tokens")]
    return max((limit for limit in limits if isinstance(limit, int)), default=None)


def refused_content(status: int | None, body: bytes) -> Unreadable | None:
    """Return why a server would not take one document; ``None`` = the request itself is at fault."""
    if status == 413:
        return Unreadable.TOO_LONG
    try:
        error = json.loads(body)["error"]
        codes = {error.get("code"), error.get("type")}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if not _TOO_LONG.isdisjoint(one for one in codes if isinstance(one, str)):
        return Unreadable.TOO_LONG
    return Unreadable.REFUSAL if "content_filter" in codes else None


def is_completion(body: bytes) -> bool:
    """Return whether a body is a chat completion, whatever it answers."""
    try:
        read_reply(body, ())
    except NotACompletionError:
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingPlan:
    """The work of a model; tokens are estimated."""

    requests: int
    characters: int
    prompt_tokens: int
    reply_tokens: int | None
    """At most; ``None`` = no parameter of the model limits a reply."""
    without_text: int
    claimable: int
    undrawn: int


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
            tokens += len(body) // BYTES_A_TOKEN
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
