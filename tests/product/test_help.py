"""What the help page of every command owes its reader."""

from __future__ import annotations

import pytest

from tests.helpers.gallery import COMMANDS, EXAMPLES
from tests.helpers.run import PAGE, SETTINGS, run_inside


@pytest.mark.parametrize("words", COMMANDS)
def test_help_says_what_a_command_does_with_an_example(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A first sentence, one or two uses of this very command, a word on every option, at most 80 columns."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", str(PAGE))
    first, *_ = (COMMANDS[words].help or "").splitlines()
    assert first.endswith((".", "?", "list")) or ":" in first, first
    examples = [one.line for one in EXAMPLES if one.command == words]
    assert 1 <= len(examples) <= 2, examples
    assert all(f"{one} ".startswith(f"pooler {words} ") for one in examples)
    assert [one.name for one in COMMANDS[words].params if not getattr(one, "help", None)] == []
    page = run_inside(*words.split(), "--help").fine().out
    assert [line for line in page.splitlines() if len(line) > PAGE] == []
