"""docs/llms.txt and docs/SKILL.md are a page each, and lead to what is there.

The commands of SKILL.md are run by tests/test_docs.py, as those of every page are.
"""

from __future__ import annotations

import re

import pytest

from tests.helpers.run import run_inside
from tests.readme_blocks import ROOT

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
