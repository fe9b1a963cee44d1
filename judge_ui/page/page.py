"""The page as one file: what a desk shows as JSON, the script and the style beside this file, and a policy.

Nothing in it acts but the script, whose hash the policy has: texts are JSON in which no ``<`` is left, and
the script shows them as text. The guidelines are markdown, in which HTML is text, and links and pictures are
their source.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterable
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt

from judge_ui.session.keys import REASONS, SCROLLING, Command, key_name, key_table
from judge_ui.session.messages import LONGEST_VALUE, guidelines_title, remarks, text_shown
from judge_ui.session.session import IDLE_AFTER_S, MIN_DWELL_S
from judge_ui.session.words import grade_mark, grade_name
from judge_ui.text.finding import common_terms, query_terms, term_spans
from judge_ui.text.marking import sentence_spans
from store.records import Guideline, Scale, Task
from store.text import escape_json, sanitise, sanitise_line
from store.wrapping import cut

if TYPE_CHECKING:
    from store.judging.desk import Desk

_NOT_HERE = (Command.PALETTE, Command.TERMS, Command.RAW)
_OTHERWISE = {
    Command.QUIT: "save the file that goes back",
    Command.LIT: "whether words of the topic are lit up",
    Command.MARK: "mark sentences as evidence",
    Command.HISTORY: "what was done since this page was opened",
}
"""What commands do here that do something else on the screen."""
_BUTTONS = (
    *(Command.UNDO, Command.SKIP, Command.CANNOT, Command.NOTE, Command.PREVIOUS, Command.NEXT),
    *(Command.TOPIC, Command.GUIDELINES, Command.LIST, Command.FIND, Command.MARK, Command.INBOX),
)


def page_data(desk: Desk, collection: str, advance: Callable[[int], None]) -> dict[str, Any]:
    """Return all that a page shows: the documents of a desk's judge, as the desk shows it.

    Beside each document the hash of its text, which is for the head of the page's file.
    """
    topics, documents = [], dict[str, dict[str, Any]]()
    guidelines = desk.guidelines()
    for line in desk.inbox():
        topic, tasks = desk.topic(line.topic), desk.queue(line.topic)
        if not tasks:
            continue
        terms = query_terms(topic)
        common = common_terms(desk.sample_texts(topic.topic), terms)
        lit = [term for term in terms if term not in common]
        for task in tasks:
            if task.docno not in documents:
                documents[task.docno] = _document(desk, task.docno)
        advance(len(tasks))
        topics.append(
            {
                "topic": topic.topic,
                "name": sanitise_line(topic.topic),
                "title": topic.title,
                "description": topic.description,
                "narrative": topic.narrative,
                "queue": [_task(task, documents[task.docno]["text"] or "", lit) for task in tasks],
            }
        )
    return {
        "collection": sanitise_line(collection),
        "judge": desk.judge_name,
        "file": f"{''.join(one if one.isalnum() else '-' for one in desk.judge)}.judged.jsonl",
        "guidelines": None if guidelines is None else _guidelines(guidelines),
        "dwell_ms": round(MIN_DWELL_S * 1000),
        "idle_ms": round(IDLE_AFTER_S * 1000),
        "reasons": REASONS,
        **_keys(desk.scale),
        "topics": topics,
        "documents": documents,
    }


def _document(desk: Desk, docno: str) -> dict[str, Any]:
    shown = desk.page(docno)
    text = shown.text or ""
    return {
        "title": shown.title,
        "fields": [(name, cut(value, LONGEST_VALUE)) for name, value in remarks(shown)],
        "text": shown.text,
        "missing": "" if text.strip() else text_shown(shown),
        "strong": () if shown.readable is None else shown.readable.strong,
        "sentences": sentence_spans(text),
        "sha256": shown.sha256,
    }


def _task(task: Task, text: str, lit: Iterable[str]) -> dict[str, Any]:
    now = {name: getattr(task, name) for name in ("state", "grade", "reason", "note", "revision")}
    now["passages"] = [[one.start, one.length, one.text] for one in task.passages]
    return {"docno": task.docno, "name": sanitise_line(task.docno), "now": now, "lit": term_spans(text, lit)}


def _keys(scale: Scale) -> dict[str, Any]:
    """Return the keys of the screen that a browser can have, and what they are called."""
    table = key_table(scale)
    used = {
        key: command.value
        for key, command in table.commands.items()
        if command not in _NOT_HERE
        and (len(key) == 1 or key == table.best[command] or command in (*SCROLLING, Command.INBOX))
    }
    return {
        "keys": used | dict(table.grades),
        "grades": [_grade(scale, value, table.grade_name(value)) for value in scale.values],
        "commands": [
            {
                "name": command.value,
                "key": key_name(table.best[command]),
                "explanation": _OTHERWISE.get(command, command.explanation),
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


def page_html(data: dict[str, Any], head: str) -> str:
    """Write the page; `head` is the first line of what it saves, see `store.keeping.work.head_of`.

    What the browser keeps stands under collection, judge and head.
    """
    script, style = (
        files("judge_ui.page").joinpath(f"page.{end}").read_text("utf-8") for end in ("js", "css")
    )
    known = {**data, "head": sha256(head.encode()).hexdigest()}
    guidelines = known.pop("guidelines") or "<p>There are no guidelines.</p>"
    shown = escape_json(json.dumps(known, ensure_ascii=False)).replace("<", "\\u003c")
    policy = (
        f"default-src 'none'; script-src 'sha256-{_hash(script)}'; style-src 'sha256-{_hash(style)}';"
        " base-uri 'none'; form-action 'none'"
    )
    judge, collection = escape(data["judge"]), escape(data["collection"])
    return f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{collection} - {judge} - pooler</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{judge}, {collection}</h1>
<p id="kept">Scripts are off in this browser, and this page needs them.</p>
<div id="ways" role="group" aria-label="File and help">
<button type="button" id="save">Save file</button>
<button type="button" id="open">Open a saved file</button>
<button type="button" id="help"><kbd>?</kbd> keys</button>
<label><input type="checkbox" id="letters" checked> keys of one character</label>
<input type="file" id="file" hidden>
</div>
</header>
<main>
<section id="inbox" aria-labelledby="inbox-name">
<h2 id="inbox-name">Topics</h2>
<ol id="topics"></ol>
</section>
<section id="work" aria-labelledby="question" hidden>
<h2 id="question"></h2>
<p id="description"></p>
<p id="progress"></p>
<article id="document" tabindex="0" aria-labelledby="docname">
<h3 id="docname"></h3>
<p id="doctitle"></p>
<p id="fields"></p>
<p id="stands"></p>
<div id="text" dir="auto"></div>
</article>
<div id="grades" role="group" aria-label="Grades"></div>
<div id="commands" role="group" aria-label="Other keys"></div>
</section>
</main>
<footer><p id="said" role="status"></p></footer>
<dialog id="box" aria-labelledby="box-title">
<h2 id="box-title"></h2>
<div id="box-body" tabindex="0"></div>
<div id="box-answers"></div>
</dialog>
<template id="guidelines">{guidelines}</template>
<script type="application/json" id="head">{head}</script>
<script type="application/json" id="data">{shown}</script>
<script>{script}</script>
</body>
</html>
"""


def _hash(text: str) -> str:
    """Return the hash of a script or a style, as a policy names it."""
    return b64encode(sha256(text.encode()).digest()).decode()
