"""README.md begins with the set-up; READMEs of samples run.

What else README.md shows is run and compared by tests/test_docs.py, as the pages of docs/ are.
"""

from __future__ import annotations

import doctest
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.run import run_shell
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


@pytest.mark.parametrize("arguments", [[], ["all"], ["setup", "tests"]])
def test_readme_blocks_are_asked_for_by_name(arguments: list[str]) -> None:
    """Without a known name there is one line that says what to type, and no traceback."""
    script = ROOT / "tests" / "readme_blocks.py"
    asked = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, check=False)
    assert (asked.returncode, asked.stdout) == (1, "")
    assert asked.stderr == "usage: python tests/readme_blocks.py setup|tests\n"


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
