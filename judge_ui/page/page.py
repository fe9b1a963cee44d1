"""The judging page: what it shows, as JSON of what a desk has, and the page itself.

It is served, and asks the server for a topic and a document at a time; or it is a file that holds all of a
judge's. Nothing in it acts but its script, whose hash its policy has: texts are JSON in which no ``<`` is
left, and the script shows them as text. The guidelines are markdown, in which HTML is text, and links and
pictures are their source.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from markdown_it import MarkdownIt

from judge_ui.session.keys import REASONS, SCROLLING, Command, key_name, key_table
from judge_ui.session.messages import (
    LONGEST_VALUE,
    guidelines_title,
    history_words,
    opinion_lines,
    remarks,
    text_shown,
)
from judge_ui.session.session import IDLE_AFTER_S, MIN_DWELL_S, QUICK_S
from judge_ui.session.words import grade_mark, grade_name
from judge_ui.text.finding import common_terms, query_terms, term_spans
from judge_ui.text.marking import sentence_spans
from store.analysis.pools.pace import LEAST_DECISIONS, RECENT_DECISIONS
from store.records import Guideline, Scale, Task, Topic
from store.text import escape_json, sanitise, sanitise_line
from store.wrapping import cut

if TYPE_CHECKING:
    from store.judging.desk import Desk
    from store.judging.disagreements import Disagreement

_NOT_HERE = (Command.PALETTE, Command.TERMS)
_OTHERWISE = {
    Command.LIT: "whether words of the topic are lit up",
    Command.MARK: "mark what is selected as evidence, or sentences",
    Command.HISTORY: "what was done in this window",
    Command.RAW: "HTML with its headings, lists and tables, or as text",
}
"""What commands do here that do something else on the screen."""
_QUIT = "save the file that goes back", "every decision is saved: close the window, or leave"
_BUTTONS = (
    *(Command.UNDO, Command.SKIP, Command.CANNOT, Command.NOTE, Command.PREVIOUS, Command.NEXT),
    *(Command.TOPIC, Command.GUIDELINES, Command.LIST, Command.FIND, Command.MARK, Command.RAW),
    Command.INBOX,
)


class LitTerms(NamedTuple):
    """Words of a topic that are lit up in its documents."""

    telling: tuple[str, ...]
    common: tuple[str, ...]
    """In so many documents that they tell none from another: lit up softly."""


def lit_terms(desk: Desk, topic: Topic) -> LitTerms:
    """Choose what is lit up in the documents of a topic."""
    terms = query_terms(topic)
    common = common_terms(desk.sample_texts(topic.topic), terms)
    return LitTerms(tuple(term for term in terms if term not in common), tuple(common))


def head_data(desk: Desk, collection: str, *, is_file: bool) -> dict[str, Any]:
    """Return what the page has from the start: whose it is, scale, keys and guidelines."""
    guidelines = desk.guidelines()
    return {
        "collection": sanitise_line(collection),
        "judge": desk.judge_name,
        "file": f"{''.join(one if one.isalnum() else '-' for one in desk.judge)}.judged.jsonl",
        "guidelines": None if guidelines is None else _guidelines(guidelines),
        "guidelines_version": None if guidelines is None else guidelines.version,
        "dwell_ms": round(MIN_DWELL_S * 1000),
        "idle_ms": round(IDLE_AFTER_S * 1000),
        "quick_ms": round(QUICK_S * 1000),
        "pace": {"least": LEAST_DECISIONS, "most": RECENT_DECISIONS},
        "reasons": REASONS,
        **_keys(desk.scale, is_file=is_file),
    }


def inbox_data(desk: Desk) -> list[dict[str, Any]]:
    """Return the judge's topics as they stand."""
    return [
        {
            "topic": line.topic,
            "name": sanitise_line(line.topic),
            "title": line.title,
            "documents": line.documents,
            "decided": line.judged + line.cannot,
            "skipped": line.skipped,
            "last": None if line.last_judged_at is None else line.last_judged_at.isoformat(),
        }
        for line in desk.inbox()
    ]


def topic_data(desk: Desk, topic: Topic) -> dict[str, Any]:
    """Return a topic and the judge's documents of it, in order."""
    return {
        "topic": topic.topic,
        "name": sanitise_line(topic.topic),
        "title": topic.title,
        "description": topic.description,
        "narrative": topic.narrative,
        "queue": queue_data(desk, topic.topic),
    }


def queue_data(desk: Desk, topic: str) -> list[dict[str, Any]]:
    """Return the documents of a topic, each as it stands."""
    titles = desk.titles(topic)
    return [
        {
            "docno": one.docno,
            "name": sanitise_line(one.docno),
            "title": titles.get(one.docno, ""),
            "now": now_data(one),
        }
        for one in desk.queue(topic)
    ]


def now_data(task: Task) -> dict[str, Any]:
    """Return how a document stands."""
    names = ("state", "grade", "reason", "note", "revision", "dwell_ms")
    now = {name: getattr(task, name) for name in names}
    return now | {"passages": [[one.start, one.length, one.text] for one in task.passages]}


def document_data(desk: Desk, docno: str, lit: LitTerms) -> dict[str, Any]:
    """Return a document as it is shown, where it is lit up, and its source where that is HTML."""
    shown = desk.page(docno)
    text, found = shown.text or "", shown.readable
    is_html = found is not None and found.raw.lstrip().startswith("<") and not found.note
    return {
        "docno": docno,
        "title": shown.title,
        "fields": [(name, cut(value, LONGEST_VALUE)) for name, value in remarks(shown)],
        "text": text,
        "missing": "" if text.strip() else text_shown(shown),
        "sha256": shown.sha256,
        "strong": () if found is None else found.strong,
        "sentences": sentence_spans(text),
        "lit": term_spans(text, lit.telling),
        "often": term_spans(text, lit.common),
        "html": found.raw if found is not None and is_html else None,
    }


def opinions_data(found: Disagreement, scale: Scale) -> dict[str, Any]:
    """Return what an adjudicator sees of what judges decided on a document, and of how it was settled."""
    opinions = [opinion_lines(one, scale) for one in found.opinions]
    return {"opinions": opinions, "past": history_words(found, scale)}


def file_data(desk: Desk, collection: str, advance: Callable[[int], None]) -> dict[str, Any]:
    """Return all that lies before a judge, for a page that is a file."""
    topics, documents = [], dict[str, dict[str, Any]]()
    data = head_data(desk, collection, is_file=True)
    for line in desk.inbox():
        topic = desk.topic(line.topic)
        known, lit = topic_data(desk, topic), lit_terms(desk, topic)
        for task in known["queue"]:
            shown = document_data(desk, task["docno"], lit)
            task |= {name: shown.pop(name) for name in ("lit", "often")}
            documents[task["docno"]] = shown
        advance(len(known["queue"]))
        if known["queue"]:
            topics.append(known)
    return {**data, "topics": topics, "documents": documents}


def _keys(scale: Scale, *, is_file: bool) -> dict[str, Any]:
    """Return the keys of the screen that a browser can have, and what they are called."""
    table = key_table(scale)
    used = {
        key: command.value
        for key, command in table.commands.items()
        if command not in _NOT_HERE
        and (len(key) == 1 or key == table.best[command] or command in (*SCROLLING, Command.INBOX))
    }
    words = {**_OTHERWISE, Command.QUIT: _QUIT[not is_file]}
    return {
        "keys": used | dict(table.grades),
        "grades": [_grade(scale, value, table.grade_name(value)) for value in scale.values],
        "commands": [
            {
                "name": command.value,
                "key": key_name(table.best[command]),
                "explanation": words.get(command, command.explanation),
                "shown": command in _BUTTONS,
            }
            for command in Command
            if command not in _NOT_HERE
        ],
    }


def _grade(scale: Scale, value: int, key: str) -> dict[str, Any]:
    name, mark = sanitise_line(grade_name(scale, value)), grade_mark(scale, value)
    label = name.removeprefix(mark).lstrip(": ") if mark.lower() == key.lower() else name
    return {"value": value, "name": name, "label": label, "key": sanitise_line(key)}


def _guidelines(guideline: Guideline) -> str:
    """Write the guidelines as HTML in which nothing acts, their headings below that of the question."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.disable(["link", "image", "autolink"])
    tokens = markdown.parse(guideline.text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"
    body = markdown.renderer.render(tokens, markdown.options, {})
    # Character references are decoded only now.
    return f"<h2>{escape(guidelines_title(guideline))}</h2>\n{sanitise(body)}"


@cache
def _part(name: str) -> str:
    return files("judge_ui.page").joinpath(name).read_text("utf-8")


def _script() -> str:
    return _part("desks.js") + _part("page.js")


def policy(*, is_served: bool) -> str:
    """Write what the page may do: its own script and style, pictures within it, and its own server."""
    script, style = _hash(_script()), style_hash()
    asked = "'self'" if is_served else "'none'"
    return (
        f"default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; img-src data:;"
        f" connect-src {asked}; base-uri 'none'; form-action 'none'"
    )


def page_html(data: dict[str, Any], head: str = "") -> str:
    """Write the page. With a `head`, the first line of what it saves, it is a file; else it is served.

    What the browser keeps stands under collection, judge and head; see `store.keeping.work.head_of`.
    """
    known = {**data, "head": sha256(head.encode()).hexdigest() if head else ""}
    guidelines = known.pop("guidelines") or "<p>There are no guidelines.</p>"
    shown = escape_json(json.dumps(known, ensure_ascii=False)).replace("<", "\\u003c")
    judge, collection = escape(data["judge"]), escape(data["collection"])
    body = f"""\
<header>
<p id="who"><strong>{judge}</strong> · {collection}</p>
<p id="far"></p>
<p id="kept">Scripts are off in this browser, and this page needs them.</p>
<div id="ways" role="group" aria-label="Page"></div>
</header>
<div id="alarm" role="alert"></div>
<main id="main" tabindex="-1"></main>
<footer>
<div id="grades" role="group" aria-label="Grades"></div>
<div id="commands" role="group" aria-label="Other keys"></div>
<p id="said" role="status"></p>
</footer>
<dialog id="box" aria-labelledby="box-title"></dialog>
<template id="guidelines">{guidelines}</template>
<script type="application/json" id="head">{head}</script>
<script type="application/json" id="data">{shown}</script>
<script>{_script()}</script>
"""
    return html_of(f"{collection} - {judge} - pooler", f"<body>\n{body}</body>", policy(is_served=not head))


def html_of(title: str, body: str, rules: str) -> str:
    """Write a document in the style of the page."""
    return f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{rules}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="same-origin">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{_part("page.css")}</style>
</head>
{body}
</html>
"""


def style_hash() -> str:
    """Return the hash of the style, as a policy names it."""
    return _hash(_part("page.css"))


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()
