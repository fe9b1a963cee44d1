"""`--format markdown` and `--format latex`: what people see of a table, for a page or a paper."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.run import Cli

MARKDOWN = r"""| run | AP | P@1 |
| --- | ---: | ---: |
| 50%\_of\|runs | 1.0000 | 1.0000 |
| a&b | 0.5000 | 0.0000 |
"""
LATEX = r"""\begin{table}
\centering
\begin{tabular}{lrr}
\toprule
run & AP & P@1 \\
\midrule
50\%\_of|runs & 1.0000 & 1.0000 \\
a\&b & 0.5000 & 0.0000 \\
\bottomrule
\end{tabular}
\end{table}
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Two runs of one topic, their tags full of signs, and qrels: one finds x first, one second."""
    monkeypatch.chdir(tmp_path)
    Path("one").write_text("1 Q0 x 1 2 50%_of|runs\n1 Q0 y 2 1 50%_of|runs\n", "utf-8")
    Path("two").write_text("1 Q0 y 1 2 a&b\n1 Q0 x 2 1 a&b\n", "utf-8")
    Path("qrels").write_text("1 0 x 1\n1 0 y 0\n", "utf-8")
    return "--qrels", "./qrels", "one", "two"


@pytest.mark.parametrize(("form", "expected"), [("markdown", MARKDOWN), ("latex", LATEX)])
def test_signs_of_a_name_are_text(cli: Cli, files: tuple[str, ...], form: str, expected: str) -> None:
    """Nothing in a tag is read as markup; numbers stand to the right, as people see them."""
    assert cli("evaluate", *files, "-m", "AP", "-m", "P@1", "--format", form).fine().out == expected


def test_undefined_and_negative_numbers(cli: Cli, files: tuple[str, ...]) -> None:
    """A dash for what is undefined, a minus in mathematics; notes stand below each table."""
    shown = cli("compare", *files, "--format", "latex", "-m", "RR").fine().out
    first, second = shown.split("\n\n")
    assert r"1.0000 & 0.5000 & 0.5000 & -- & -- &" in first
    assert r"\caption{RR of A = 50\%\_of|runs and B = a\&b over 1 topic}" in first
    assert r"p $<$= 0.05" in second
    assert second.count(r"\parbox{\linewidth}{\footnotesize ") == 1
    marked = cli("compare", *files, "--format", "markdown", "-m", "RR").fine().out
    assert marked.startswith("**RR of A = 50%\\_of\\|runs and B = a&b over 1 topic**\n\n| mean A |")
