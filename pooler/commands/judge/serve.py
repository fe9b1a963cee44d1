"""`pooler serve`: the judging screen in browsers."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

from pooler.command import Option, Place, screen
from pooler.messages import say
from store.errors import PoolerError
from store.text import counted

if TYPE_CHECKING:
    from pooler.serving.origin import Origin


@screen
def serve(
    collection: Place,
    *,
    port: Annotated[
        int, Option("--port NUMBER", "Port to listen at; 0 = any that is free.", least=0, most=65535)
    ] = 8000,
    host: Annotated[str, Option("--host ADDRESS", "Address of this machine to listen at.")] = "127.0.0.1",
    origin: Annotated[
        str | None,
        Option("--origin URL", "The https:// address that judges open, where a reverse proxy serves it."),
    ] = None,
) -> None:
    """Let judges judge in a browser.

    Each judge signs in with an access code (`pooler judges code NAME`) and works at the screen of `pooler
    judge`, in a process of their own; a second window closes the first. After 30 minutes without a key, and
    after 12 hours in any case, the code is asked for again. Only this machine can reach the server, unless
    --origin names an https address, which a reverse proxy serves. Ctrl-C stops it: every screen saves and
    ends.

    Example: pooler serve

    Example: pooler serve --origin https://judge.example.org
    """
    missing = [name for name in ("aiohttp", "textual_serve") if find_spec(name) is None]
    if missing:
        message = f"serving needs the package {missing[0].replace('_', '-')}"
        raise PoolerError(message, hint="pip install 'pooler[web]'")
    from pooler.serving.serve import serve as serve_collection

    serve_collection(str(collection), host=host, port=port, origin=origin, began=_tell)
    say("stopped; what judges saved is in the collection")


def _tell(origin: Origin, n_codes: int) -> None:
    who = f"{counted(n_codes, 'judge')} can come in with a code"
    say(f"judges open {origin} ({who if n_codes else 'no judge has a code yet: pooler judges code NAME'})")
    say("Ctrl-C stops it")
