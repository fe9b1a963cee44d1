"""HTML and Markdown as text: what is read, where it came from, and what hostile texts do."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.formats.html import read_html
from store.formats.markdown import read_markdown
from store.formats.markup import MOST_CHARACTERS, readable

PAGE = """<!DOCTYPE html><html><head><title>Oaks &amp; elms</title>
<style>p { color: red }</style><script>alert("<p>no text</p>")</script></head>
<body><!-- a comment --><h1>Oaks</h1>
<p>Tom &amp; <b>Jerry</b>\r\n  plant   trees<br>in caf&eacute;s.</p>
<ul><li>one<li>two <ol><li>deep</ol></ul>
<table><tr><th>tree</th><th>height</th></tr><tr><td>oak</td><td>30&nbsp;m</td></tr></table>
<pre>  a
    b</pre><img src="x.png" alt="A  tree"><hr>end</body></html>"""

READ = """Oaks & elms

Oaks

Tom & Jerry plant trees
in cafés.

- one
- two
  1. deep

tree | height
oak | 30\xa0m

  a
    b

[A tree]

- - -

end"""


def test_page_is_read_as_paragraphs_lines_and_cells() -> None:
    """Tags become lines, lists and cells; scripts, styles and comments are no text; names are resolved."""
    text = read_html(PAGE)
    assert text.text == READ
    bold = [text.text[start:end] for start, end in text.strong]
    assert bold == ["Oaks & elms", "Oaks", "Jerry", "tree", "height"]


@pytest.mark.parametrize(
    ("raw", "bold"),
    [
        ("<dl><dt>Oak<dd>a tree<dt>Elm<dd>another</dl>", ["Oak", "Elm"]),
        ("<table><tr><th>tree<th>m<tr><td>oak<td>30</table>", ["tree", "m"]),
        ("<table><tr><th>oak<td><b>30<td>or more</table>", ["oak", "30"]),
    ],
)
def test_bold_ends_with_a_cell_whose_end_tag_is_left_out(raw: str, bold: list[str]) -> None:
    """HTML lets terms, their words, cells and rows end where the next begins."""
    text = read_html(raw)
    assert [text.text[start:end] for start, end in text.strong] == bold


def test_every_stretch_knows_where_it_came_from() -> None:
    """A word is its own source; a name is what stands for it; words over tags have the tags in between."""
    text = read_html(PAGE)

    def source(words: str) -> str:
        start = text.text.index(words)
        return PAGE[slice(*text.raw_span(start, start + len(words)))]

    assert source("Jerry") == "Jerry"
    assert source("&") == "&amp;"
    assert source("cafés") == "caf&eacute;s"
    assert source("Tom & Jerry plant") == "Tom &amp; <b>Jerry</b>\r\n  plant"
    assert source("oak | 30") == "oak</td><td>30"
    assert source("[A tree]") == '<img src="x.png" alt="A  tree">'
    assert source("- - -") == "<hr>"


TAGS = "p /p b /b li ul /ul td tr pre /pre br hr script /script textarea title svg plaintext"
OTHERS = ["&amp;", "&#27;", "&#13;", "&nosuch;", "&", "<", "<!--", "-->", "<img alt=x>", "</", "<a href='",
          "'>", "\r\n", "\n", " ", "  ", "\t", "word", "検索", "\x00", "\x1b[2J", "\u202e", "\ud800",
          "<![CDATA[", "]]>", "é", "🙂"]  # fmt: skip
MARKUP = st.lists(st.sampled_from([*(f"<{tag}>" for tag in TAGS.split()), *OTHERS]), max_size=30).map("".join)


MARKS = ["# ", "## ", "* ", "1. ", "> ", "- - -", "```", "    ", "\t", "\n", "\n\n", "\r\n", "\r", " ",
         "  \n", "*", "**", "_", "`", "``", "[", "](", "](u)", "![", ")", "<", ">", "<b>", "&amp;", "&#27;",
         "\\", "\\*", "|", "| a | b |", "|--|--|", "word", "a", "検索", "é", "\x00", "\x1b", "\u2028",
         "<http://a.b>", "===", "---", "[x]: u"]  # fmt: skip
PARTS = st.lists(st.sampled_from(MARKS), max_size=25).map("".join)


@given(st.tuples(MARKUP, st.just("html")) | st.tuples(PARTS, st.just("markdown")), st.data())
def test_any_part_goes_to_the_raw_text_and_back(marked: tuple[str, str], data: st.DataObject) -> None:
    """A part is found again from the raw part that it stands for; pieces at its ends come whole."""
    raw, markup = marked
    text = readable(raw, markup)
    assert text.note == ""
    if not text.text:
        return
    start = data.draw(st.integers(0, len(text.text) - 1))
    end = data.draw(st.integers(start + 1, len(text.text)))
    if not text.text[start:end].strip():
        return
    raw_start, raw_end = text.raw_span(start, end)
    assert 0 <= raw_start < raw_end <= len(raw)
    found = text.span(raw_start, raw_end)
    assert found is not None
    assert found[0] <= start
    assert end <= found[1]
    assert text.raw_span(*found) == (raw_start, raw_end)
    assert not set(text.text) & set(map(chr, [*range(9), *range(11, 32), *range(127, 160)]))


@given(MARKUP)
def test_pieces_are_in_order_on_both_sides(raw: str) -> None:
    """None overlaps another, and none is empty but what separates two others."""
    text = readable(raw, "html")
    starts, ends = text.raw_starts, text.raw_ends
    shown = [text.text[first:last] for first, last in pairwise([*text.starts, len(text.text)])]
    assert all(start < end or words.isspace() for start, end, words in zip(starts, ends, shown, strict=True))
    assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))
    assert text.starts == sorted(set(text.starts))


HOSTILE = {
    "nested": "<div>" * 150_000 + "deep" + "</div>" * 150_000,
    "lists": "<ol><li>" * 100_000 + "deep",
    "open tags": "<a href='" * 100_000,
    "less than": "<" * 1_000_000,
    "comments": "<!--" * 250_000,
    "declarations": "<![" * 300_000,
    "ampersands": "&" * 1_000_000,
    "references": "&#x110000;&nosuch" * 60_000,
    "scripts": "<script>" * 100_000 + "</script>",
    "attributes": "<p " + "a=b " * 200_000 + ">x",
    "blanks": " \n" * 500_000 + "x",
    "one line": "word " * 390_000,
    "tags and words": "<p>Some <b>bold</b> words &amp; more.</p>\n" * 40_000,
    "cells": "<table><tr>" + "<td>x" * 100_000,
    "bold": "<b>x" * 100_000,
    "pre": "<pre>" + "a\r\n" * 300_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_page_is_read_in_time(name: str) -> None:
    """A megabyte or two of anything takes a second or two at most, with neither nesting nor going back."""
    began = time.process_time()
    text = readable(HOSTILE[name], "html")
    assert time.process_time() - began < 4
    assert text.note == ""


def test_terminal_escapes_are_shown_and_act_no_more() -> None:
    """As characters, as references and in attributes; a page cannot steer a terminal."""
    text = readable("a\x1b]0;x\x07b&#27;[2J&#x9b;31m\u202e<img alt='\x1b[2J'>", "html").text
    # The second reference is of a character that HTML takes for one of Windows.
    assert text == "a␛]0;x␇b␛[2J›31m\ufffd[␛[2J]"


def test_too_long_a_page_is_shown_as_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    """And so is one that no parser can make sense of; both say so."""
    monkeypatch.setitem(MOST_CHARACTERS, "html", 10)
    text = readable("<p>too long a page", "html")
    assert (text.text, text.note) == ("<p>too long a page", "shown as it came: longer than 10 characters")


def test_page_of_markup_alone_has_nothing_to_read() -> None:
    """An empty text is what it is."""
    assert readable("<html><body><script>x()</script></body></html>", "html").text == ""
    assert readable("", "html").text == ""


NOTES = """# Oaks *and* elms

Tom \\& **Jerry**
plant [old trees](https://a.example/old) in caf&eacute;s.\\
評価を
行う `code *x*`.

- one
- two
  1. deep

> quoted
> words

| tree | height |
|------|--------|
| oak  | 30 m   |

```
  a <b>
```

![A tree](x.png) <b>html</b> https://b.example

***

end
"""

READ_MARKDOWN = """Oaks and elms

Tom & Jerry plant old trees in cafés.
評価を行う code *x*.

- one
- two
  1. deep

quoted words

tree | height
oak | 30 m

  a <b>

[A tree] <b>html</b> https://b.example

- - -

end"""


def test_text_is_read_without_its_marks() -> None:
    """Blocks, lists and cells stay; marks go; HTML is text; a link is its words."""
    text = read_markdown(NOTES)
    assert text.text == READ_MARKDOWN
    bold = [text.text[start:end] for start, end in text.strong]
    assert bold == ["Oaks and elms", "Jerry", "tree", "height"]


def test_one_text_knows_nothing_of_another() -> None:
    """What a link of one text is defined as is no link in the next, and an open list ends with its text."""
    assert read_markdown("[oak]: https://a.example\n\n- an [oak]").text == "- an oak"
    assert read_markdown("an [oak]").text == "an [oak]"


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_every_stretch_of_markdown_knows_where_it_came_from(line_end: str) -> None:
    """Words are their own source, with the marks in between where they go over some."""
    raw = NOTES.replace("\n", line_end)
    text = read_markdown(raw)
    assert text.text == READ_MARKDOWN

    def source(words: str) -> str:
        start = text.text.index(words)
        return raw[slice(*text.raw_span(start, start + len(words)))]

    for words in ("Oaks", "Jerry", "old trees", "code *x*", "deep", "quoted", "30 m", "a <b>", "<b>html</b>"):
        assert source(words) == words
    assert source("caf\xe9s") == "caf&eacute;s"
    assert source("& Jerry") == "\\& **Jerry"
    assert source("[A tree]") == "[A tree]"
    assert source("trees in") == "trees](https://a.example/old) in"
    assert source("Jerry plant") == f"Jerry**{line_end}plant"


@given(PARTS)
def test_no_word_is_lost(raw: str) -> None:
    """Every word is read, but for addresses of links, names of languages, and cells beyond a table's head."""
    text = readable(raw, "markdown").text
    if not any(mark in raw for mark in ("[", "](", "```", "|--")):
        assert text.count("word") == raw.count("word")
        assert text.count("検索") == raw.count("検索")


HOSTILE_MARKDOWN = {
    "brackets": "[" * 50_000,
    "stars": "*a **a " * 20_000,
    "open links": "[a](" * 30_000,
    "quotes": ">" * 50_000 + "a",
    "lists": "".join(" " * n + "- a\n" for n in range(1_000)),
    "ticks": "".join("`" * n + " " for n in range(1, 700)),
    "entities": "&" * 200_000,
    "escapes": "\\" * 200_000,
    "paragraphs": "Some *words* and [links](u) here.\n\n" * 5_000,
    "one line": "word " * 39_000,
    "table": "| a | b |\n|---|---|\n" + "| c | d |\n" * 15_000,
    "images": "![" * 50_000,
    "angles": "<" * 100_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE_MARKDOWN)
def test_hostile_text_is_read_in_time(name: str) -> None:
    """Whatever it is, it takes no longer than a judge would wait."""
    began = time.process_time()
    readable(HOSTILE_MARKDOWN[name], "markdown")
    assert time.process_time() - began < 6
