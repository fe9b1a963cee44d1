"""What browsers are sent: the page with the code, that with the terminal, and what belongs to them.

No page says where the database is. The terminal is that of textual-serve, whose files are served by name.
"""

from __future__ import annotations

import importlib.util
from html import escape
from pathlib import Path
from typing import Final

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""Inline styles are the terminal's: it writes the sizes of its letters."""
HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # Not no-referrer: with that Chromium says `Origin: null` of a form.
    "Referrer-Policy": "same-origin",
    "Server": "pooler",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
FILES: Final = {
    "/static/textual.js": ("js/textual.js", "text/javascript"),
    "/static/xterm.css": ("css/xterm.css", "text/css"),
}
"""What of textual-serve's files is served, and as what."""

_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>pooler</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/pooler.css">
"""


def code_page(words: str = "") -> str:
    """Ask for an access code; `words` is the message about the one before."""
    return (
        f'{_HEAD}</head><body class="code"><main><h1>Judging</h1>\n'
        f'<form method="post" action="/enter"><label for="code">Your access code</label>\n'
        f'<input id="code" name="code" type="password" autocomplete="off" autofocus required>'
        f"\n<button>Begin</button></form>\n"
        f'<p role="alert">{escape(words)}</p></main></body></html>\n'
    )


def judging_page(socket: str) -> str:
    """Show the terminal, at a WebSocket's address; and what to do when it has ended."""
    return (
        f'{_HEAD}<link rel="stylesheet" href="/static/xterm.css"><script src="/pooler.js" defer></script>\n'
        f'<script src="/static/textual.js"></script></head><body class="judging">\n'
        f'<div id="ended" role="alertdialog" aria-labelledby="ended-title" hidden>'
        f'<p id="ended-title">The window is closed. What was said to be saved is saved.</p>\n'
        f'<a id="go-on" href="/">Go on judging</a>\n'
        f'<form method="post" action="/leave"><button>Leave</button></form></div>\n'
        f'<div id="terminal" class="textual-terminal" data-session-websocket-url="{escape(socket)}"'
        f' data-font-size="16"></div></body></html>\n'
    )


STYLE = """
html, body { height: 100%; margin: 0; background: #000; color: #e6e6e6 }
body { font: 1.1rem/1.5 system-ui, sans-serif }
body.code main { max-width: 26rem; margin: 0 auto; padding: 12vh 1rem 1rem }
label { display: block }
input { box-sizing: border-box; width: 100%; padding: .5rem; font: inherit }
button, #go-on { margin: .7rem .7rem 0 0; padding: .5rem 1rem; font: inherit; display: inline-block;
  background: #e6e6e6; color: #000; border: 2px solid #e6e6e6; border-radius: .3rem; text-decoration: none }
:focus-visible { outline: 3px solid #6cb6ff; outline-offset: 2px }
#terminal { position: absolute; inset: 0 }
#ended { position: absolute; inset: auto 0 0; z-index: 10; padding: 1rem;
  background: #222; border-top: 2px solid }
#ended[hidden] { display: none }
#ended form { display: inline }
#ended p { margin: 0 }
"""
SCRIPT = """
"use strict";
window.open = () => null;  // no address in a document opens a window
const seen = new Set();
new MutationObserver(() => {
  const once = (name) => document.body.classList.contains(name) && !seen.has(name) && seen.add(name);
  if (once("-loaded")) document.querySelector("#terminal textarea").focus();
  if (once("-closed")) {
    document.getElementById("ended").hidden = false;
    document.getElementById("go-on").focus();
  }
}).observe(document.body, {attributes: true, attributeFilter: ["class"]});
"""
"""The terminal's script says of the body that the connection is open, and that it is closed: the keyboard
is to find its way then."""


def static_folder() -> Path | None:
    """Return the folder of textual-serve's files; ``None`` = it is not installed."""
    found = importlib.util.find_spec("textual_serve")
    places = None if found is None else found.submodule_search_locations
    return Path(places[0]) / "static" if places else None
