"""Documents of adaptive pools for judges whose own logins may not draw: they ask, an organiser's draws.

Nothing is remembered between two draws but what `LiveDrawing` can find out again: the program may be
stopped and started, and two of them take turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from pooler.pools.live import LiveDrawing
from store.collection import Collection
from store.content.requests import DrawAnswer, DrawRequest
from store.errors import PoolerError, StoreError

ANSWER_S = 5.0
"""How long a judge waits for an answer."""
_POLL_S = 0.02
_LISTEN_S = 1.0
"""How often is looked without having been told."""
_LONGEST_REST_S = 30.0


class RequestedDrawing:
    """Draws by asking the program that may: what `LiveDrawing` is to a judge's own login."""

    def __init__(self, collection: Collection, *, answer_s: float = ANSWER_S) -> None:
        self._requests = collection.requests
        self._answer_s = answer_s

    def draw(self, topic: str) -> bool:
        """Ask for one more document of a topic; False when no pool has one left for it.

        `PoolerError`: nobody answers, or the pool cannot be drawn from.
        """
        if not self._requests.ask(topic):
            return True
        end = time.monotonic() + self._answer_s
        while (answer := self._requests.answer(topic)) is None:
            if time.monotonic() > end:
                message = "nobody draws: the program that draws for judges does not answer"
                raise StoreError(message, hint="an organiser: pooler draw --serve")
            time.sleep(_POLL_S)
        if answer.fault is not None:
            raise PoolerError(answer.fault, hint="an organiser can make another pool")
        return answer.drawn


Told = Callable[[str], None]


class DrawingService:
    """Answers the judges who ask."""

    def __init__(self, collection: Collection, told: Told) -> None:
        self._collection = collection
        self._told = told
        self._pools: dict[str, object] = {}
        self._drawing: LiveDrawing | None = None

    def answer_waiting(self) -> int:
        """Answer whatever is asked now; return how many requests."""
        requests = self._collection.requests.waiting()
        for request in requests:
            self._answer(request)
        return len(requests)

    def serve(self, stopped: Callable[[], bool] = lambda: False) -> None:
        """Answer until `stopped`, or an interrupt; a server that cannot be reached is waited for."""
        rest = 1.0
        while not stopped():
            try:
                with self._collection.requests.listening() as wait:
                    while not stopped():
                        self.answer_waiting()
                        rest = 1.0
                        wait(_LISTEN_S)
            except StoreError as error:
                self._told(f"{error.message}; trying again in {rest:.0f} s")
                time.sleep(rest)
                rest = min(2 * rest, _LONGEST_REST_S)

    def _answer(self, request: DrawRequest) -> None:
        """Draw for a request; what stands in its way is the answer."""
        began = time.perf_counter()
        try:
            answer = DrawAnswer(self._live().draw(request.topic))
        except StoreError:
            raise
        except PoolerError as error:
            answer = DrawAnswer(drawn=False, fault=error.message)
        self._collection.requests.settle(request, answer)
        what = answer.fault or ("a document" if answer.drawn else "none left")
        self._told(f"topic {request.topic}: {what}, {1000 * (time.perf_counter() - began):.0f} ms")

    def _live(self) -> LiveDrawing:
        """Return what draws from the pools that there are now."""
        pools = self._collection.pools.adaptive()
        if self._drawing is None or pools != self._pools:
            self._pools = dict(pools)
            self._drawing = LiveDrawing(self._collection)
        return self._drawing
