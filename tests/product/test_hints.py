"""Every hint that names a command or an option, drawn by its input and carried out.

The registry is `tests/product/hints/*.toml`. A row has a hint as the program writes it (`{}` is what it fills
in), what comes before in the garden of `tests.helpers.gallery` (files, commands), the command that draws the
hint, and what somebody does who follows it. Then the command that drew it must succeed without the hint;
`again` is that command with what the hint adds, `code` the exit code of what shows faults, `typed` what is
typed at `judge --plain`. Lines of `shell` are run before it, as the hint shows them; `without` is a package
that the hint has installed. A hint that only a server or another process draws names the test which draws it.
"""

from __future__ import annotations

import ast
import gc
import io
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections import ChainMap
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.gallery import COMMANDS
from tests.helpers.run import ROOT, SETTINGS, Outcome, run_inside

ROWS: list[dict[str, Any]] = [
    row
    for file in sorted(Path(__file__).with_name("hints").glob("*.toml"))
    for row in tomllib.loads(file.read_text("utf-8"))["hint"]
]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
DRAWN = [row for row in ROWS if "draws" in row]
_NAMES = re.compile(
    r"\bpooler ((?:[a-z-]+ )*[a-z-]+)|(?<![\w-])(--[a-z][a-z-]+)|`((?:" + "|".join(COMMANDS) + r")\b[^`]*)`"
)
_TYPED = re.compile(
    r"(?:^|[ `])(?:(?:sed|awk|iconv|tail|cut|tr|python3) [-'{]|chmod [0-9]|ir_datasets [el]|pip i)"
)
"""A program of the shell, wherever it stands: what is to be typed is put together before it is a hint."""


def _texts(node: ast.expr | None, constants: Mapping[str, ast.expr]) -> Iterator[str]:
    """Yield what an expression may say; `{}` stands for what is filled in."""
    match node:
        case ast.Constant(str(text)):
            yield text
        case ast.JoinedStr(values):
            yield "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in values)
        case ast.Name(name) if name in constants:
            yield from _texts(constants[name], {})
        case ast.IfExp(body=one, orelse=other):
            yield from _texts(one, constants)
            yield from _texts(other, constants)
        case ast.BinOp(left=one, right=other):
            for before in list(_texts(one, constants)) or ["{}"]:
                yield from (before + after for after in list(_texts(other, constants)) or ["{}"])
        case ast.BoolOp(values=values) | ast.Dict(values=values) | ast.Tuple(values) | ast.List(values):
            for value in values:
                yield from _texts(value, constants)
        case ast.Call(args=values):
            for value in values:
                yield from _texts(value, constants)


@cache
def written() -> dict[str, str]:
    """Return each hint that names a command or an option, and the first place that writes it."""
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for room in ("pooler", "store", "judge_ui")
        for path in sorted((ROOT / room).rglob("*.py"))
    }
    gc.disable()  # it would look through all the trees for garbage, again and again
    try:
        trees = {path: ast.parse(text) for path, text in texts.items()}
    finally:
        gc.enable()
    named = {
        path: {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
            and isinstance(node.value, ast.Constant | ast.JoinedStr | ast.BinOp)
        }
        for path, tree in trees.items()
    }
    everywhere = dict(ChainMap(*named.values()))
    found: dict[str, str] = {}
    for path, tree in trees.items():
        if "hint" not in texts[path].lower() and not _TYPED.search(texts[path]):
            continue
        constants = everywhere | named[path]  # a module's own name is not another's
        for node in ast.walk(tree):
            for inner in ast.iter_child_nodes(node):
                if isinstance(inner, ast.expr) and not isinstance(node, ast.JoinedStr | ast.Expr):
                    typed = _texts(inner, {}) if isinstance(inner, ast.Constant | ast.JoinedStr) else ()
                    found |= {text: f"{path}:{inner.lineno}" for text in typed if _TYPED.search(text)}
            said: ast.expr | None = None
            match node:
                case ast.keyword(arg=str(name), value=value) if "hint" in name:
                    said = value
                case (
                    ast.Assign(targets=[ast.Name(name) | ast.Attribute(attr=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(name) | ast.Attribute(attr=name), value=value)
                ) if "hint" in name.lower():
                    said = value
                case ast.FunctionDef(name=name) if "hint" in name:
                    for inner in ast.walk(node):
                        if isinstance(inner, ast.Return):
                            found |= dict.fromkeys(_texts(inner.value, constants), f"{path}:{inner.lineno}")
            found |= {text: f"{path}:{getattr(said, 'lineno', 0)}" for text in _texts(said, constants)}
    return {text: place for text, place in found.items() if _NAMES.search(text) or _TYPED.search(text)}


@pytest.mark.slow
def test_every_hint_has_its_row() -> None:
    """None of the program is missing, and none of the registry is said by nothing."""
    known = {row["says"] for row in ROWS}
    assert {text: place for text, place in written().items() if text not in known} == {}
    assert known - set(written()) == set()


@pytest.mark.parametrize("row", [row for row in ROWS if "draws" not in row], ids=lambda row: row["says"][:60])
def test_a_hint_drawn_elsewhere_is_drawn_there(row: dict[str, Any]) -> None:
    """The test that is named is there, and expects words of the hint."""
    file, _, test = row["drawn_by"].partition("::")
    text = (ROOT / file).read_text("utf-8")
    assert f"def {test}(" in text
    assert any(len(part.strip()) > 8 and part.strip() in text for part in re.split(r"\{\}|; |`", row["says"]))


def pooler(line: str, typed: str = "") -> Outcome:
    """Run a command line of pooler; `typed` is its stdin."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(typed.encode())))
        return run_inside(*shlex.split(line))


def hinted(outcome: Outcome, says: str) -> bool:
    """Return whether an answer shows the hint."""
    pattern = ".*".join(re.escape(part) for part in says.strip().split("{}"))
    return re.search(pattern, " ".join((outcome.out + outcome.err).split())) is not None


@pytest.mark.slow
@pytest.mark.parametrize("row", DRAWN, ids=lambda row: row["says"][:60])
def test_a_hint_does_what_it_says(
    row: dict[str, Any], planted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its input draws it, what it names is tried, and then the command succeeds."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "garden"
    shutil.copytree(planted, folder)
    monkeypatch.chdir(folder)
    for name, text in row.get("files", {}).items():
        Path(name).write_text(text, "utf-8", newline="\n")
    for line in row.get("before", []):
        pooler(line).fine()
    if absent := row.get("without"):
        monkeypatch.setitem(sys.modules, absent, None)
    drawn = pooler(row["draws"])
    assert hinted(drawn, row["says"]), drawn.err
    assert "Traceback" not in drawn.err
    if absent:  # nothing is installed by a test: what the line would install has what is absent
        extra = re.search(r"pooler\[(\w+)\]", row["says"])
        brought = EXTRAS[extra[1]] if extra else [drawn.err.rpartition("hint: ")[2]]
        assert any(absent in one for one in brought)
        return
    followed = row.get("follow", [])
    for line in followed:
        assert pooler(line, row.get("typed", "")).code == row.get("code", 0), line
    commands = row.get("shell", [])
    assert commands or not _TYPED.search(row["says"]), "what is to be typed was not"
    for line in commands:
        assert line.partition(" > ")[0] in drawn.err
        subprocess.run(["bash", "-c", line], check=True)
    again = pooler(row.get("again", row["draws"]))
    if row.get("shows_only", False):
        assert followed, "a hint that shows something is followed by showing it"
    else:
        assert not hinted(again.fine(), row["says"])
    tried = " ; ".join([*followed, row.get("again", "")])
    for command, option, quoted in _NAMES.findall(row["says"]):
        if option and row["says"].count(option) == row["says"].count(f"without {option}"):
            assert option in row["draws"], f"{option} was not there"
            assert option not in tried, f"{option} was not left out"
        elif option:
            assert re.search(rf"{re.escape(option)}\b", tried), f"{option} was not tried"
        else:
            words = (command or quoted).split()
            names = [known for known in COMMANDS if words[: len(known.split())] == known.split()]
            assert names, f"`{' '.join(words)}` is no command"
            assert re.search(rf"(^|; ){max(names, key=len)}\b", tried), f"`{names[-1]}` was not tried"
