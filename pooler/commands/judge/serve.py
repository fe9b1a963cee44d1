"""`pooler serve`: the judging page in browsers."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

from pooler.command import Option, Place, screen
from pooler.commands.judge.judge import GoalText, drawing_of, read_goal
from pooler.messages import say
from store.errors import PoolerError
from store.text import counted

if TYPE_CHECKING:
    from pooler.web.origin import Origin


@screen
def serve(
    collection: Place,
    *,
    port: Annotated[
        int, Option("--port NUMBER", "Port to listen at; 0 = any that is free.", least=0, most=65535)
    ] = 8000,
    host: Annotated[
        str, Option("--host ADDRESS", "Address of this machine to listen at, or the path of a Unix socket.")
    ] = "127.0.0.1",
    origin: Annotated[
        str | None,
        Option("--origin URL", "The https:// address that judges open, where a reverse proxy serves it."),
    ] = None,
    trust_header: Annotated[
        str | None,
        Option("--trust-header NAME", "The request header in which that proxy names who has logged in."),
    ] = None,
    goal: GoalText = None,
) -> None:
    """Let judges judge in a browser.

    Each judge signs in with an access code (`pooler judges code NAME`), and so do adjudicators. A decision
    is in the collection before the next document is shown. After 30 minutes without a request, and after 12
    hours in any case, the code is asked for again. A code of the organiser's own, shown at the start, opens
    a page of everybody's progress. Only this machine can reach the server, unless --origin names an https
    address, which a reverse proxy serves. Ctrl-C stops it; judges go on where they were when it is back.

    Example: pooler serve

    Example: pooler serve --origin https://judge.example.org
    """
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        message = f"serving needs the package {missing[0]}"
        raise PoolerError(message, hint="pip install 'pooler[web]'")
    from pooler.web.serve import serve as serve_collection

    serve_collection(
        str(collection),
        host=host,
        port=port,
        origin=origin,
        trust_header=trust_header,
        goal_of=lambda opened: read_goal(opened, goal),
        drawing_of=drawing_of,
        began=_announce,
    )
    say("stopped; what judges saved is in the collection")


def _announce(origin: Origin, n_codes: int, organiser_code: str) -> None:
    who = f"{counted(n_codes, 'judge')} with a code"
    say(f"judges open {origin} ({who if n_codes else 'no judge has a code yet: pooler judges code NAME'})")
    say(f"everybody's progress: {origin}/progress, code {organiser_code} while this server runs")
    say("Ctrl-C stops it")
