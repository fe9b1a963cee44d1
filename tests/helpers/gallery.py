"""The garden in which every example of `--help` runs, and these examples as words.

`plant` makes the folder: the sample collection imported, two people who judged every document and, where
they are asked for, three models who say the reverse and outvote them; the files that examples name.
"""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from typer.main import get_command

import pooler
from pooler.cli.commands import app
from tests.helpers.run import copy_garden, run_inside, write
from tests.helpers.saved_pages import judge_page

PEOPLE, MODELS = ("alice", "bob"), ("gpt", "mistral", "qwen")
_EXAMPLE = re.compile(r"^ *Example: (.*)$", re.MULTILINE)
BEGINNING = """
    init --scale 0-2
    import topics topics.jsonl
    import runs --runs runs.tsv
    pool --depth 5
    pool --strategy stratified --param strata=1:2,3:5:0.4 --depth 5 --budget 12 --seed 3 --name sample
    import docs documents.jsonl
    import guidelines guidelines.md
    judges add ann ben
    judges add zoe --kind adjudicator
    judges add llama --model llama.toml
"""
CARD = """\
model = "llama-3"
prompt = "prompt.txt"
endpoint = "chat-completions"
host = "{host}"
parser = "json-grade:1"
shows = ["topic.title", "doc.text"]
parameters = {{ max_tokens = 20 }}
"""
END = """
    qrels define official --aggregate majority --ties low
    qrels define strict --aggregate min
    qrels define lenient --aggregate max
    export work ann --out page.html
    export prels --as xinfap --pool sample --out sampled.prels
    export collection published
    pool --runs runs.tsv --depth 5 --out pool.txt
    pool --runs runs.tsv --depth 7 --out deeper.txt
    backup friday.backup
"""


def plant(folder: Path, *, models: bool = True, host: str = "127.0.0.1:8000") -> None:
    """Make the folder; `host` serves the model `llama`."""
    copy_garden(folder)
    strict = [line.split() for line in (folder / "judgements/strict.qrels").read_text("utf-8").splitlines()]
    said = {
        "alice": [(t, d, int(g)) for t, _, d, g in strict],
        "bob": [(t, d, 2 - int(g) if n % 5 == 0 else int(g)) for n, (t, _, d, g) in enumerate(strict)],
    }
    for place, model in enumerate(MODELS if models else ()):
        said[model] = [
            (t, d, int(g) if n % 7 == place else 2 - int(g)) for n, (t, _, d, g) in enumerate(strict)
        ]
    write(folder / "prompt.txt", "[system]", "Grade it.", "[user]", "{scale}", "{topic}", "{document}")
    write(folder / "llama.toml", *CARD.format(host=host).splitlines())
    write(folder / "judy.toml", 'model = "judy-2"', 'prompt = "prompt.txt"', "parameters = { top_p = 1 }")
    write(folder / "clusters.txt", "d1 a", "d2 a", "d3 b")
    write(folder / "classes.txt", "d1 red", "d2 white", "d3 white")
    topics = sorted({topic for topic, *_ in said["alice"]})
    write(folder / "authors.tsv", *(f"{t}\t{PEOPLE[n % 2]}" for n, t in enumerate(topics)))
    write(folder / "crowd.txt", *(f"{d} carol {g}" for t, d, g in said["bob"] if t == "G01"))
    with contextlib.chdir(folder):
        _run(BEGINNING)
        for judge, rows in said.items():
            write(folder / "one.qrels", *(f"{t} 0 {d} {g}" for t, d, g in rows))
            kind = "human" if judge in PEOPLE else "model"
            run_inside("import", "judgements", "one.qrels", "--judge", judge, "--kind", kind).fine()
        (folder / "one.qrels").unlink()
        _run(END)
        if models:
            _run("qrels define both --kinds human,model --aggregate majority --ties low")
        judge_page(folder / "page.html", "G01", 2, 1)
    (folder / "page.html").unlink()


def _run(lines: str) -> None:
    """Run commands, a line each; a line that begins with an option goes on with the one before."""
    for line in lines.replace("\n    --", " --").strip().splitlines():
        run_inside(*shlex.split(line)).fine()


def commands() -> Iterator[tuple[str, Any]]:
    """Yield every command that does something, by its words after `pooler`."""
    waiting: list[tuple[str, Any]] = [("", get_command(app))]
    while waiting:
        words, command = waiting.pop()
        inner = getattr(command, "commands", None)
        if hasattr(command, "alone"):
            yield words.strip(), command.alone
        if inner is None:
            yield words.strip(), command
        else:
            waiting += [(f"{words} {name}", one) for name, one in inner.items()]


class Example(NamedTuple):
    """One use of a command, as its help shows it."""

    command: str
    line: str
    options: frozenset[str]
    """All options that the command has."""

    def words(self, folder: Path) -> list[str]:
        """Return the words after `pooler`; patterns of files stand for those in the folder, as in a shell."""
        _, *words = shlex.split(self.line)
        found = [(word, sorted(folder.glob(word)) if "*" in word else []) for word in words]
        return [
            one
            for word, files in found
            for one in ([str(file.relative_to(folder)) for file in files] or [word])
        ]


@contextlib.contextmanager
def noting() -> Iterator[list[Any]]:
    """Note every result that a function of the API returns inside, whoever calls it."""
    returned: list[Any] = []

    def noted(function: Callable[..., Any]) -> Callable[..., Any]:
        def note(*arguments: Any, **named: Any) -> Any:
            result = function(*arguments, **named)
            if hasattr(result, "names"):
                returned.append(result)
            return result

        return note

    def noted_first(render: Callable[..., Any]) -> Callable[..., Any]:
        def note(result: Any, *arguments: Any, **named: Any) -> Any:
            returned.append(result)
            return render(result, *arguments, **named)

        return note

    with contextlib.ExitStack() as patched:
        for name, where in pooler._WHERE.items():
            module = import_module(where)
            function = getattr(module, name)
            if not isinstance(function, type):
                setattr(module, name, noted(function))
                patched.callback(setattr, module, name, function)
        # A function that is a command hands its result on.
        shown = import_module("pooler.cli.from_function")
        patched.callback(setattr, shown, "render", shown.render)
        shown.render = noted_first(shown.render)
        yield returned


COMMANDS = dict(sorted(commands()))
EXAMPLES = [
    Example(
        name, line, frozenset(option for one in command.params for option in (*one.opts, *one.secondary_opts))
    )
    for name, command in COMMANDS.items()
    for line in _EXAMPLE.findall(command.help or "")
]
