"""README.md begins with the set-up; READMEs of samples run; docs/llms.txt and docs/SKILL.md are short."""

from __future__ import annotations

import doctest
import re
import shutil
from pathlib import Path

import pytest

from tests.helpers.run import run_inside, run_shell
from tests.readme_blocks import ROOT, console_blocks, set_up_blocks

README = (ROOT / "README.md").read_text("utf-8")
SAMPLES = sorted((ROOT / "sample_collections").glob("*/README.md"))


def test_readme_begins_with_the_two_set_up_blocks() -> None:
    """The first two console blocks set up and test; .ci/run runs them."""
    setup, tests = set_up_blocks(README)
    assert "pip install ." in setup[0]
    assert setup[0].endswith("pooler demo")
    assert tests[0].endswith("pytest -n 2")
    assert len(console_blocks(README)) > 2


def test_readme_is_short_and_leads_to_pages_that_are_there() -> None:
    """README.md is read in one go, and every relative link in it leads somewhere."""
    assert len(README.splitlines()) <= 150
    led_to = re.findall(r"\]\(([^)#:]+)[^)]*\)", README)
    assert "docs/tutorial.md" in led_to
    assert [place for place in led_to if not (ROOT / place).is_file()] == []


def test_readme_examples_for_python_are_true(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every value that a Python block of README.md shows is what the functions give."""
    monkeypatch.chdir(ROOT / "sample_collections" / "kitchen_garden")
    blocks = "\n".join(re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL))
    examples = doctest.DocTestParser().get_doctest(blocks, {}, "README.md", "README.md", 0)
    assert len(examples.examples) > 5
    assert doctest.DocTestRunner().run(examples).failed == 0


@pytest.mark.slow
@pytest.mark.parametrize("readme", SAMPLES, ids=lambda path: path.parent.name)
def test_sample_readme_blocks_run_and_print_what_they_say(readme: Path, tmp_path: Path) -> None:
    """The blocks of a sample collection's README, run in a copy, print what stands there."""
    copy = tmp_path / readme.parent.name
    shutil.copytree(readme.parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    text = readme.read_text("utf-8")
    blocks = console_blocks(text)
    assert blocks
    stated = re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    for block, lines in zip(blocks, stated, strict=True):
        expected = [line for line in lines.splitlines() if not line.startswith("$ ")]
        ran = run_shell("\n".join(block), copy)
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.splitlines() == expected


DOCS = ROOT / "docs"


@pytest.mark.parametrize("name", ["llms.txt", "SKILL.md"])
def test_page_is_short_and_true(name: str) -> None:
    """It is read in one go, its links lead to pages, and the commands that it names have a help."""
    text = (DOCS / name).read_text("utf-8")
    assert len(text.splitlines()) < 90
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert [one for one in links if not (DOCS / one).is_file()] == []
    for words in re.findall(r"`pooler ((?:[a-z]+ ?)+)", text):
        command = words.split()[:2] if words.startswith(("export ", "import ")) else words.split()[:1]
        assert "Usage: pooler" in run_inside(*command, "--help").out


def test_llms_begins_as_the_form_wants() -> None:
    """A heading, a quotation that says what it is, then lists of links under headings (llmstxt.org)."""
    first, blank, quotation, *rest = (DOCS / "llms.txt").read_text("utf-8").splitlines()
    assert (first, blank, quotation[:2]) == ("# pooler", "", "> ")
    listed = [line for line in rest if line.startswith("- ")]
    assert listed
    assert all(re.match(r"- \[[^]]+\]\([^)]+\)(: .+)?$", line) for line in listed)


def test_skill_begins_as_assistants_read_it() -> None:
    """A name and a description stand before the page."""
    head = (DOCS / "SKILL.md").read_text("utf-8").split("---")[1]
    assert re.search(r"^name: pooler$", head, re.MULTILINE)
    assert len(re.search(r"^description: (.+)$", head, re.MULTILINE)[1]) < 1024  # type: ignore[index]
