"""The console blocks of README.md, for tests and for `.ci/run`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def console_blocks(text: str) -> list[list[str]]:
    """Return the commands of every console block; a trailing backslash continues a command."""
    blocks = []
    for match in _BLOCK.finditer(text):
        commands: list[str] = []
        continues = False
        for line in match[1].splitlines():
            if line.startswith("$ "):
                commands.append(line.removeprefix("$ "))
            elif continues:
                commands[-1] += "\n" + line
            continues = line.endswith("\\") and bool(commands)
        blocks.append(commands)
    return blocks


def set_up_blocks(text: str) -> tuple[list[str], list[str]]:
    """Return the two blocks that set everything up: install and demo; install and test."""
    blocks = console_blocks(text)
    return blocks[0], blocks[1]


if __name__ == "__main__":
    setup, tests = set_up_blocks((ROOT / "README.md").read_text("utf-8"))
    wanted = {"setup": setup, "tests": tests}.get(" ".join(sys.argv[1:]))
    if wanted is None:
        sys.exit("usage: python tests/readme_blocks.py setup|tests")
    sys.stdout.write("\n".join(wanted) + "\n")
