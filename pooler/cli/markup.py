"""A table as Markdown or LaTeX: what people see of it, for a page or a paper."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TextIO

from pooler.tables import RenderedView

_TEX = str.maketrans(
    {one: f"\\{one}" for one in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": "$<$", ">": "$>$"}
)
_MARKDOWN = re.compile(r"([\\`*_\[\]|]|<(?=[A-Za-z/!]))")
_NEGATIVE = re.compile(r"-(?=[\d.])")


def write_markdown(rendered: RenderedView, stream: TextIO) -> None:
    """Write a table with pipes, numbers to the right; title above in bold, each note a paragraph below."""
    if rendered.title:
        stream.write(f"**{_markdown(rendered.title)}**\n\n")
    if rows := [*_rows(rendered)]:
        stream.write(_row(_markdown(one.title) for one in rendered.columns))
        stream.write(_row("---:" if one.is_number else "---" for one in rendered.columns))
        stream.writelines(_row(map(_markdown, row)) for row in rows)
    stream.writelines(f"\n{_markdown(line)}\n" for line in rendered.caption)


def write_latex(rendered: RenderedView, stream: TextIO) -> None:
    r"""Write a `table` with the rules of booktabs, and its notes below it."""
    stream.write("\\begin{table}\n\\centering\n")
    if rendered.title:
        stream.write(f"\\caption{{{_latex(rendered.title)}}}\n")
    if rows := [*_rows(rendered)]:
        places = "".join("r" if one.is_number else "l" for one in rendered.columns)
        stream.write(f"\\begin{{tabular}}{{{places}}}\n\\toprule\n")
        stream.write(_line([_latex(one.title) for one in rendered.columns]) + "\\midrule\n")
        for row in rows:
            cells = zip(row, rendered.columns, strict=True)
            stream.write(_line([_number(cell) if one.is_number else _latex(cell) for cell, one in cells]))
        stream.write("\\bottomrule\n\\end{tabular}\n")
    if rendered.caption:
        lines = (line if line.endswith((".", ":", ";")) else f"{line}." for line in rendered.caption)
        notes = " ".join(map(_latex, lines))
        stream.write(f"\\par\\smallskip\\parbox{{\\linewidth}}{{\\footnotesize {notes}}}\n")
    stream.write("\\end{table}\n")


def _rows(rendered: RenderedView) -> Iterator[tuple[str, ...]]:
    return zip(*rendered.cells, strict=True)


def _row(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _line(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\\n"


def _markdown(text: str) -> str:
    r"""Write text so that no sign of it is read as Markdown.

    >>> print(_markdown("a|b_c"))
    a\|b\_c
    """
    return _MARKDOWN.sub(r"\\\1", text)


def _latex(text: str) -> str:
    r"""Write text so that no sign of it is read as TeX.

    >>> print(_latex("50 % of p < .05"))
    50 \% of p $<$ .05
    """
    return text.translate(_TEX)


def _number(text: str) -> str:
    """Write a number, its minus as one; undefined is a dash.

    >>> _number("-0.25"), _number("1,200"), _number("-")
    ('$-$0.25', '1,200', '--')
    """
    return "--" if text == "-" else _NEGATIVE.sub("$-$", _latex(text))
