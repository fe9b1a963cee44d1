"""How many transactions and statements each command takes on a collection.

As the transcripts beside it, the numbers prove nothing about what is right: a command that looks
at one state of a collection does so in one transaction, and this tells when it no longer does.
`pytest tests/frozen --freeze` writes them anew.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from tests.golden.kept import unpack_upgraded
from tests.helpers.run import SETTINGS, run

FROZEN = Path(__file__).with_name("transactions.tsv")
ON_BUILT = (
    "list runs", "list topics", "list docs", "list pools", "list judges", "show run bm25-words",
    "show topic G01", "show doc KG-E-001", "show judge gpt", "history", "status",
    "status --by-topic", "effort", "agreement", "agreement --by-topic", "diagnose --judge gpt --depth 5",
    "evaluate --judge gpt", "evaluate --aggregate majority --ties low",
    "compare bm25-words tfidf-words --judge gpt",
    "sensitivity --judge gpt --depth 5", "variation", "next", "provenance", "replay --judge gpt",
    "export qrels --judge gpt --out q.txt",
    "export qrels --aggregate majority --ties low --out m.txt", "export pool --out p.txt",
    "export judgements --out j.jsonl", "export collection all", "verify",
    "judges add zed", "judges rename bob rob", "judges disable bob", "pool --depth 7 --name seven",
    "assign ann --pool pool-2", "guidelines set new.md", "merge part.db", "backup copy.db",
    "report page.html --judge gpt --depth 5",
)  # fmt: skip


@contextmanager
def counted() -> Iterator[dict[str, int]]:
    """Count what is begun and executed on any engine of this process."""
    counts = {"transactions": 0, "statements": 0}

    def begun(*_: Any) -> None:
        counts["transactions"] += 1

    def executed(*_: Any) -> None:
        counts["statements"] += 1

    event.listen(Engine, "begin", begun)
    event.listen(Engine, "before_cursor_execute", executed)
    try:
        yield counts
    finally:
        event.remove(Engine, "begin", begun)
        event.remove(Engine, "before_cursor_execute", executed)


@pytest.mark.slow
def test_commands_take_the_transactions_they_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    """Each command on a collection as it is kept, with rulings, pools and several judges."""
    made = tmp_path / "made"
    made.mkdir()
    unpack_upgraded("written/built.db", made / "collection.db")
    unpack_upgraded("written/part.db", made / "part.db")
    (made / "new.md").write_text("# Judge with care\n", "utf-8")
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    lines = ["command\texit\ttransactions\tstatements"]
    for number, words in enumerate(ON_BUILT):
        folder = tmp_path / str(number)
        shutil.copytree(made, folder)
        monkeypatch.chdir(folder)
        with counted() as counts:
            code = int(run(words.split()))
        lines.append(f"{words}\t{code}\t{counts['transactions']}\t{counts['statements']}")
    if pytestconfig.getoption("--freeze"):
        FROZEN.write_text("\n".join(lines) + "\n", "utf-8")
    assert lines == FROZEN.read_text("utf-8").splitlines()
