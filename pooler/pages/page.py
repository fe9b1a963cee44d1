"""Sections of tables and figures as one HTML file; style; colours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pooler.pages.charts import Chart, draw_in_pieces, escaped, marked, stylesheet

WIDTH = 720.0
"""Width that charts are drawn at; in a narrower window they scroll in their box."""
SHORT_WIDTH = 430.0
"""That of a chart that a narrower window shrinks, to letters that can still be read."""

_LAYOUT = """\
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--text);line-height:1.55;font-size:16px;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"Hiragino Sans",
"Yu Gothic UI","Noto Sans CJK JP","Noto Sans JP",Meiryo,IPAGothic,sans-serif}
header,main,footer{max-width:776px;margin:0 auto;padding:0 28px}
header{padding-top:28px}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .6rem;overflow-wrap:anywhere}
h2{font-size:1.4rem;line-height:1.25;margin:3rem 0 .75rem;padding-top:.75rem;
border-top:1px solid var(--rule);overflow-wrap:anywhere}
h3{font-size:1.1rem;line-height:1.3;margin:0 0 .25rem;overflow-wrap:anywhere}
p{margin:.5rem 0;overflow-wrap:anywhere}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-9999px;top:0;background:var(--page);padding:.5rem 1rem}
.skip:focus{left:0}
.verdicts{list-style:none;margin:1.2rem 0;padding:0}
.verdicts li{margin:.9rem 0;padding-left:.9rem;border-left:6px solid var(--rule)}
.verdicts .alarm{border-left-color:var(--text)}
.verdicts strong,.verdicts span{display:block}
nav{background:var(--panel);border-radius:8px;padding:.9rem 1.2rem;margin:1.5rem 0}
nav h2{font-size:1rem;margin:0;padding:0;border:0}
nav ol{margin:.3rem 0 0;padding-left:1.5rem}
nav ul{margin:0;padding-left:1.1rem;font-size:.92em}
nav li{padding:.1rem 0;overflow-wrap:anywhere}
figure{margin:1.75rem 0}
figcaption{margin-bottom:.75rem}
.how,.command,footer{color:var(--soft)}
.how,.command{font-size:.94em}
.drawing svg{display:block;max-width:100%;height:auto;margin-bottom:.5rem;overflow:visible}
.drawing{overflow-x:auto}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;
font-size:.9em;background:var(--panel);color:var(--text);padding:.1em .35em;border-radius:4px;
overflow-wrap:anywhere;white-space:pre-wrap}
.command span{white-space:nowrap}
details{margin:.5rem 0}
summary{cursor:pointer;color:var(--link);padding:.3rem 0}
.scroll{overflow-x:auto;border:1px solid var(--rule);border-radius:6px;width:fit-content;
min-width:100%;max-width:calc(100vw - 56px);position:relative;left:50%;transform:translateX(-50%)}
details .scroll{max-height:32rem;overflow-y:auto}
details.whole .scroll{max-height:none}
table{border-collapse:collapse;font-size:.88em;width:100%;font-variant-numeric:tabular-nums}
caption{text-align:left;padding:.4rem .7rem;color:var(--soft)}
th,td{padding:.3rem .7rem;text-align:left;vertical-align:top;border-top:1px solid var(--rule)}
thead th{position:sticky;top:0;background:var(--panel);border-top:0;vertical-align:bottom}
tbody th{font-weight:600;max-width:26rem;overflow-wrap:break-word}
tbody th:not(.number){min-width:11rem}
td{overflow-wrap:anywhere}
td:not(.number){min-width:9rem}
.number{text-align:right;white-space:nowrap}
thead .number{white-space:normal}
footer{margin-top:3rem;padding-bottom:2rem;font-size:.9rem}
footer p{border-top:1px solid var(--rule);padding-top:.75rem}
@media screen and (max-width:640px){
body{font-size:15px}
header,main,footer{padding-left:16px;padding-right:16px}
h1{font-size:1.5rem}
h2{font-size:1.25rem}
.drawing svg{max-width:none}
.drawing svg.short{max-width:100%}
.scroll{max-width:calc(100vw - 32px)}
tbody th:not(.number){min-width:8rem}
.whole table{font-size:.76em}
.whole th,.whole td{padding:.3rem .2rem}
.whole tbody th:not(.number){min-width:4rem;overflow-wrap:anywhere;hyphens:auto}
summary{padding:.6rem 0}
}
@media print{
@page{margin:16mm}
body{font-size:10.5pt}
header,main,footer{max-width:none;padding-left:0;padding-right:0}
.skip{display:none}
h2,h3,figcaption,caption{break-after:avoid}
details,.command{break-before:avoid}
.drawing svg,tr,p,figcaption{break-inside:avoid}
details .scroll{max-height:none}
.scroll{overflow:visible;border:0;width:auto;max-width:none;left:0;transform:none}
.drawing{overflow:visible}
thead th{position:static}
tbody th:not(.number){min-width:0}
thead{display:table-header-group}
details:not([open])>summary{color:var(--soft)}
a{color:inherit}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
"""


_LONGEST_COMMAND = 500
_HYPHENATED = re.compile(r"(?<!\S)(?=\S*-)\S{1,24}(?!\S)")
"""A word of a command that a browser would break at its hyphens, and that a telephone has room for."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What a browser lets the page do: show itself, and fetch and run nothing."""


@dataclass(frozen=True, slots=True)
class PageColumn:
    """One column of a table."""

    heading: str
    is_numeric: bool = False


@dataclass(frozen=True, slots=True)
class PageTable:
    """Cells as they are to be read; the first one of a row names it."""

    caption: str
    columns: tuple[PageColumn, ...]
    rows: tuple[tuple[str, ...], ...]
    command: str = ""
    """Prints the same numbers; empty where the table is a figure's, or none does."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart, how to read it, its numbers, and the command that prints them."""

    how_to_read: str
    chart: Chart
    table: PageTable
    command: str
    n: str = ""
    is_short: bool = False
    """Whether all is seen at once: the numbers are open, and the chart fits a telephone."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer at the head of the page."""

    name: str
    answer: str
    text: str
    """The numbers, or why there are none."""
    mark: str = ""
    """The thresholds, and where they come from."""
    n: str = ""
    concern: int = 0
    """How much it alarms: 0 = not at all, 1 = nothing is known, 2 or more = it does."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page under a heading of its own."""

    title: str
    blocks: tuple[str | tuple[str, ...] | PageTable | Figure, ...]
    """Sentences, lists of sentences, tables and figures."""


@dataclass(frozen=True, slots=True)
class ReportPage:
    """The whole page."""

    title: str
    lead: str
    sections: tuple[Section, ...]
    footer: str = ""
    verdicts: tuple[Verdict, ...] = ()


START = (
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
    f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"/>'
)
"""What every page begins with, by which it is known again."""


def render(page: ReportPage) -> str:
    """Write the page as HTML, which is well-formed XML too."""
    body = "".join(part for number, one in enumerate(page.sections, 1) for part in _section(one, number))
    title, lead = escaped(page.title), marked(page.lead)
    return (
        f"{START}\n"
        '<meta name="viewport" content="width=device-width,initial-scale=1"/>\n'
        f"<title>{title}</title>\n<style>\n{stylesheet()}{_LAYOUT}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#main">Skip to the report</a>\n'
        f"<header>\n<h1>{title}</h1>\n{_verdicts(page)}{f'<p>{lead}</p>' if lead else ''}\n"
        f'{_contents(page)}</header>\n<main id="main" tabindex="-1">\n{body}</main>\n'
        f"{f'<footer><p>{escaped(page.footer)}</p></footer>' if page.footer else ''}\n"
        "</body>\n</html>\n"
    )


def _verdicts(page: ReportPage) -> str:
    items = "".join(
        f'<li class="{"alarm" if one.concern > 1 else "calm"}"><strong>{escaped(one.name)}:'
        f" {escaped(one.answer)}.</strong> {marked(one.text)}{_below(one)}</li>\n"
        for one in page.verdicts
    )
    return f'<ul class="verdicts" aria-label="Result">\n{items}</ul>\n' if items else ""


def _below(verdict: Verdict) -> str:
    parts = [f"Threshold: {verdict.mark}."] * bool(verdict.mark) + [f"N: {verdict.n}."] * bool(verdict.n)
    return f' <span class="how">{escaped(" ".join(parts))}</span>' if parts else ""


def _contents(page: ReportPage) -> str:
    items = ""
    for number, section in enumerate(page.sections, 1):
        figures = "".join(
            f'<li><a href="#s{number}-{place}">{escaped(block.chart.title)}</a></li>'
            for place, block in enumerate(section.blocks, 1)
            if isinstance(block, Figure)
        )
        inner = f"<ul>{figures}</ul>" if figures else ""
        items += f'<li><a href="#s{number}">{escaped(section.title)}</a>{inner}</li>\n'
    if not items:
        return ""
    heading = '<h2 id="contents">Contents</h2>'
    return f'<nav aria-labelledby="contents">\n{heading}\n<ol>\n{items}</ol>\n</nav>\n'


def _section(section: Section, number: int) -> Iterator[str]:
    heading = f'<h2 id="s{number}">{escaped(section.title)}</h2>'
    yield f'<section aria-labelledby="s{number}">\n{heading}\n'
    for place, block in enumerate(section.blocks, 1):
        key = f"s{number}-{place}"
        if isinstance(block, str):
            yield f"<p>{marked(block)}</p>\n"
        elif isinstance(block, tuple):
            items = "".join(f"<li>{marked(text)}</li>\n" for text in block)
            yield f"<ul>\n{items}</ul>\n"
        elif isinstance(block, PageTable):
            yield _table(block) + _command(block.command)
        else:
            yield _figure(block, key)
    yield "</section>\n"


def _figure(figure: Figure, key: str) -> str:
    n_rows = len(figure.table.rows)
    n = f'<p class="how">N: {marked(figure.n)}.</p>' if figure.n else ""
    opened = ' class="whole" open=""' * figure.is_short
    return (
        f'<figure id="{key}" aria-labelledby="{key}-h">\n<figcaption>'
        f'<h3 id="{key}-h">{escaped(figure.chart.title)}</h3>\n'
        f'<p class="how">{marked(figure.how_to_read)}</p>'
        f"{n}</figcaption>\n"
        f"{_drawing(figure, key)}"
        f"<details{opened}>\n<summary>Table of the numbers ({n_rows:,} row{'' if n_rows == 1 else 's'})"
        f"</summary>\n{_table(figure.table, f'Numbers of {figure.chart.title}')}</details>\n"
        f"{_command(figure.command)}</figure>\n"
    )


def _command(command: str) -> str:
    """Return the line that says where the numbers come from; folded where it is long."""
    if not command:
        return ""
    words = _HYPHENATED.sub(r"<span>\g<0></span>", escaped(command))
    code = f"<code>{words}</code>"
    if len(command) <= _LONGEST_COMMAND:
        return f'<p class="command">The same numbers: {code}</p>\n'
    summary = f"<summary>The same numbers ({len(command):,} characters of a command)</summary>"
    return f'<details>\n{summary}\n<p class="command">{code}</p></details>\n'


def _drawing(figure: Figure, key: str) -> str:
    """Return a chart in a box that it scrolls in."""
    width = SHORT_WIDTH if figure.is_short else WIDTH
    drawn = "".join(draw_in_pieces(figure.chart, width=width, key=key))
    if figure.is_short:
        drawn = drawn.replace("<svg ", '<svg class="short" ')
    return f'<div class="drawing"{_scrolls(figure.chart.title)}>\n{drawn}</div>\n'


def _table(table: PageTable, name: str = "") -> str:
    """Return a table in a box that it scrolls in; its caption names the box, if nothing else."""
    headings = "".join(
        f'<th scope="col"{_class(column)}>{escaped(column.heading)}</th>' for column in table.columns
    )
    rows = "".join(f"<tr>{_cells(table, row)}</tr>\n" for row in table.rows)
    return (
        f'<div class="scroll"{_scrolls(name or table.caption)}>\n<table>\n'
        f"<caption>{marked(table.caption)}</caption>\n"
        f"<thead><tr>{headings}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n"
    )


def _cells(table: PageTable, row: tuple[str, ...]) -> str:
    cells = ""
    for number, (column, cell) in enumerate(zip(table.columns, row, strict=True)):
        opening, closing = ("td", "td") if number else ('th scope="row"', "th")
        cells += f"<{opening}{_class(column)}>{escaped(cell)}</{closing}>"
    return cells


def _class(column: PageColumn) -> str:
    return ' class="number"' if column.is_numeric else ""


def _scrolls(name: str) -> str:
    return f' role="region" tabindex="0" aria-label="{escaped(name)}"'
