"""The documentation runs: every page's commands, in order, print what stands under them.

The pages are those of docs/ and README.md, without the two blocks it begins with. A page is run from top to
bottom in an empty folder, where `source` leads to the project. What is shown under a command is what it
prints on stdout and stderr together (`...` stands for any text); a command shown without output may print
anything. What a page needs and does not show is a block inside an HTML comment. Python blocks run after the
commands, as one session, in the folder that the commands end in. `pytest tests/test_docs.py -m slow --freeze`
writes outputs that have changed anew.
"""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.helpers.run import run_shell
from tests.helpers.trec_covid import data_path
from tests.readme_blocks import ROOT

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
SPARK = DOCS / "how-to" / "spark.md"
"""The page that needs Java, and PySpark."""
OTHER_TOOLS = DOCS / "how-to" / "other-tools.md"
"""The page that needs ir_datasets."""
COVID = DOCS / "trec-covid.md"
"""The page that needs what TREC-COVID published."""
DEMO = "pooler demo --keep garden"
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = "\x1e"
"""Ends what a command prints; no command prints a record separator."""


@dataclass
class Step:
    """A command of a page and the output shown under it."""

    command: str
    shown: list[str]


def steps(block: str) -> list[Step]:
    """Split a console block into commands; a trailing backslash continues a command."""
    found: list[Step] = []
    continues = False
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(Step(line.removeprefix("$ "), []))
        elif continues:
            found[-1].command += f"\n{line}"
        elif found:
            found[-1].shown.append(line)
        continues = line.endswith("\\") and (line.startswith("$ ") or continues)
    return found


def is_printed(shown: Sequence[str], printed: Sequence[str]) -> bool:
    """Say whether a command printed what is shown."""
    want, got = ("".join(f"{line}\n" for line in lines) for lines in (shown, printed))
    return doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS)


def text_to_run(page: Path) -> tuple[str, str]:
    """Return what of a page runs, after the part that does not: in README.md, installing and testing."""
    text = page.read_text("utf-8")
    begin = 0
    if page.name == "README.md":
        _, tests, *_ = _CONSOLE.finditer(text)
        begin = tests.end()
    return text[:begin], text[begin:]


@pytest.fixture(scope="session")
def garden(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run what most pages begin with, once: the folder it keeps, beside what it prints."""
    folder = tmp_path_factory.mktemp("garden")
    made = run_shell(f"PATH={shlex.quote(str(programs))}:$PATH\n{DEMO} > printed 2>&1", folder)
    assert made.returncode == 0, made.stderr
    return folder


def run_page(page: str, folder: Path, programs: Path, garden: Path) -> tuple[list[list[str]], Path]:
    """Run all commands of a page in one shell: the lines each printed, and the folder they end in."""
    (folder / "source").symlink_to(ROOT)
    commands = [step.command for block in _CONSOLE.findall(page) for step in steps(block)]
    if commands[:1] == [DEMO]:
        made = shlex.quote(str(garden))
        commands[0] = f"cp -a {made}/garden garden; cat {made}/printed"
    script = "\n".join(f"{command}\nprintf '{_MARK}'" for command in ("exec 2>&1", *commands, "pwd"))
    script = f"PATH={shlex.quote(str(programs))}:$PATH\n{script}"
    ran = run_shell(script, folder)
    printed = ran.stdout.split(_MARK)[1:]
    assert ran.returncode == 0, f"`{commands[len(printed) - 1]}` failed:\n{printed[-1][-2000:]}"
    *outputs, place, _ = printed
    return [[line.rstrip() for line in one.splitlines()] for one in outputs], Path(place.strip())


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.java] if page == SPARK else []) for page in PAGES],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_page_runs_and_prints_what_it_shows(
    page: Path,
    programs: Path,
    garden: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    pytestconfig: pytest.Config,
) -> None:
    """Each command of a page prints the output shown under it; each Python example gives its value."""
    if page == SPARK:
        pytest.importorskip("pyspark", reason="not run here for want of pyspark")
    if page == OTHER_TOOLS:
        pytest.importorskip("ir_datasets", reason="not run here for want of ir_datasets")
    if page == COVID:
        data_path("runs-top120")
    before, text = text_to_run(page)
    outputs, place = run_page(text, tmp_path, programs, garden)
    printed = iter(outputs)
    wrong: list[str] = []

    def as_printed(block: re.Match[str]) -> str:
        lines = ["```console"]
        for step in steps(block[1]):
            got = next(printed)
            if step.shown and not is_printed(step.shown, got):
                wrong.append("\n".join([f"$ {step.command}", "shown:", *step.shown, "printed:", *got]))
                step.shown = got
            lines += [f"$ {step.command}", *step.shown]
        return "\n".join([*lines, "```"])

    anew = _CONSOLE.sub(as_printed, text)
    if pytestconfig.getoption("--freeze") and wrong:
        page.write_text(before + anew, "utf-8")
        wrong.clear()
    assert not wrong, "\n\n".join(wrong)
    python = "\n".join(_PYTHON.findall(text))
    examples = doctest.DocTestParser().get_doctest(python, {}, page.name, str(page), 0)
    monkeypatch.chdir(place)
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples).failed == 0
