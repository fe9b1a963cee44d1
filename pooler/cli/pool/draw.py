"""`pooler draw`: documents of adaptive pools for judges whose own logins may not draw."""

from __future__ import annotations

from typing import Annotated

from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.signature import option
from pooler.telling import say
from store.text import counted


def draw(
    serve: Annotated[bool, option("--serve", "Go on until Ctrl-C, instead of once.")] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Draw the documents of adaptive pools that judges ask for.

    Where judges have logins of their own (`pooler grant`), they have no right to what a strategy looks
    at: runs and everybody's grades. They ask for the next document, and this program, with a login of the
    role drawer or organiser, draws it. Nothing is lost when it ends; two of them take turns.

    Example: pooler draw --serve
    """
    from pooler.pools.serving import DrawingService
    from store.collection import Collection

    with Collection(collection) as opened:
        opened.requests.check_may_draw()
        service = DrawingService(opened, say)
        if serve:
            say(f"{opened.where}: drawing for judges who ask; Ctrl-C ends it")
            service.serve()
        else:
            say(f"{counted(service.answer_waiting(), 'request')} answered")
