"""Streams, exit codes, questions, and errors, those of a mistyped command line included.

stdout is data; stderr is words and progress. Everything shown is sanitised; nothing in data is
ever read as markup.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from enum import IntEnum
from typing import Any

import typer

from pooler.messages import on_terminal, say, text_stdin
from store.errors import ArgumentError, ContradictionError, PoolerError, StoreError, UnknownNameError
from store.text import sanitise


class ExitCode(IntEnum):
    """The exit code for the shell."""

    OK = 0
    DATA = 1
    """A file, an argument or the data is at fault."""
    USAGE = 2
    """Wrong options: what typer finds, and two that contradict each other."""
    STORE = 3
    """The collection could not do it."""
    WARNED = 4
    """Nothing is at fault, but a rule that warns is broken."""
    FAILED, UNDECIDED = 5, 6
    """What was required of a run does not hold, or it is not known whether it holds."""
    INTERRUPTED = 130
    TERMINATED = 143


def show_error(error: PoolerError) -> ExitCode:
    """Write an error and its hint to stderr; return the exit code it deserves."""
    for words in error.lines():
        sys.stderr.write(on_terminal(sanitise(words), sys.stderr) + "\n")
    if isinstance(error, ContradictionError):
        return ExitCode.USAGE
    return ExitCode.STORE if isinstance(error, StoreError) else ExitCode.DATA


def set_up_stdout() -> None:
    """Let stdout take every text; in files and pipes it is UTF-8, as in the files of `--out`."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        encoding = sys.stdout.encoding if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")


def discard_stdout() -> None:
    """Drop what stdout cannot take; the interpreter would complain when it flushes."""
    with suppress(OSError, ValueError):  # a stream that is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def confirm(question: str, *, yes: bool) -> None:
    """Ask on stderr whether to go on, unless the answer is known; any but yes is a `PoolerError`."""
    if yes:
        return
    say(f"{question} This cannot be undone. Type yes to continue:")
    answer = text_stdin().readline().strip()
    if answer.lower() != "yes":
        raise PoolerError(
            "nothing was changed: the answer was not yes", hint="--yes continues without asking"
        )


_CARD = "model revision endpoint host prompt param parser shows max-characters family"
"""Options that are entries of a model's card."""
_OLD_WORDS = {
    "pooler judge --model": "pooler ask NAME",
    "pooler judge --until": "pooler judge --goal GOAL",
    "pooler effort": "pooler status effort",
    "pooler rejudge": "pooler status outdated",
    "pooler guidelines": "pooler show guidelines; pooler import guidelines FILE adds a version",
    "pooler provenance": "pooler diagnose --table contributions",
    "pooler report --for": "pooler report runs DIR --for RUN",
    "pooler report --for-all": "pooler report runs DIR",
    "pooler diagnose --by-run": "pooler diagnose --by run",
    "pooler diagnose --by-group": "pooler diagnose --by group",
    "pooler diagnose --by-rank": "pooler diagnose --table ranks",
    "pooler diagnose --by-contributors": "pooler diagnose --table contributors",
    "pooler diagnose --scores": "pooler diagnose --table scores",
    **{
        f"pooler {one} --{old}": f"pooler {one} {new}"
        for one in ("sensitivity", "variation")
        for old, new in {"pairs": "--by pair", "by topic": "--by-topic"}.items()
    },
    "pooler variation --discover": "pooler paper A B --table section_4_3",
    "pooler audit --with-model": "pooler audit MODEL --table corrected",
    "pooler variation --with-model": "pooler audit MODEL --table corrected",
    "pooler export probabilities": "pooler variation --table probabilities --format tsv",
    "pooler paper --of-kishida": "pooler paper sources",
    "pooler required-difference": "pooler paper difference; pooler paper A B has that of two runs",
    "pooler ap-properties": "pooler paper least",
    "pooler estimate": "pooler evaluate -m xinfAP -m infNDCG -m statAP",
    "pooler agreement --plan": "pooler design overlap --width WIDTH",
    "pooler agreement --interval": "pooler agreement --resamples N; 0 for none",
    "pooler agreement --all-pairs": "pooler agreement --limit N",
    **{
        f"pooler design --{one}": f"pooler design {form} --{one}"
        for form, names in {
            "topics": "variance difference width compared topics judge qrels table",
            "depth": "depths seconds per-document",
        }.items()
        for one in names.split()
    },
    "pooler design --reliability": "pooler design topics --table reliability",
    "pooler assign --show": "pooler assign",
    "pooler unpool": "pooler pool drop RUN",
    "pooler next": "pooler pool next",
    "pooler next --until": "pooler status recall --target R",
    "pooler status --recall": "pooler status recall --confidence C",
    "pooler pool diff --list": "pooler pool diff A B --table documents",
    "pooler compare --all": "pooler compare",
    "pooler compare --signs": "pooler compare A B -m P@10",
    "pooler evaluate --list": "pooler show measures",
    "pooler evaluate --cut": "pooler evaluate -m TP@5 -m FP@5 -m FN@5",
    "pooler evaluate --attainable": "pooler.attainable(SOURCE, N) in Python",
    "pooler evaluate --form": "pooler evaluate -m MEASURE --prels FILE --as xinf|statap RUN...",
    "pooler evaluate --folds": "pooler.choose(SOURCE, MEASURE, folds=N) in Python",
    "pooler evaluate --leave-one-out": "pooler.choose(SOURCE, MEASURE) in Python",
    "pooler evaluate --curves": "pooler evaluate curves",
    "pooler evaluate --r": "pooler evaluate -m OwnAP",
    "pooler clusters": "pooler evaluate clusters CLUSTERS CLASSES",
    "pooler pool --list": "pooler show strategies",
    "pooler collapse": "pooler export qrels FILE... --level N",
    "pooler diff": "pooler qrels diff A B",
    "pooler qrels diff --list": "pooler qrels diff A B --table differences",
    "pooler export ntcir": "pooler export qrels --as ntcir2|ntcireval",
    "pooler list": "pooler show runs; topics, docs, judges and pools, with their rounds, likewise",
    **{f"pooler show {one}": "pooler show pools" for one in ("round", "rounds")},
    "pooler draw": "pooler judge",
    "pooler grant": "pooler serve",
    "pooler merge": "pooler import work FILE",
    "pooler copy": "pooler backup FILE; pooler restore FILE --collection PATH|URL",
    "pooler judges scrub": "pooler judges erase NAME",
    "pooler judges anonymise": "pooler export collection DIR --anonymised",
    "pooler judges list": "pooler show judges",
    "pooler judge --keymap": "pooler init --scale FILE.toml: the keys of grades are the scale's",
    "pooler adjudicate --list": "pooler adjudicate",
    "pooler adjudicate --summary": "pooler adjudicate --table cells",
    "pooler agreement --matters": "pooler agreement orders",
    "pooler agreement --per-grade": "pooler agreement --table per_grade",
    "pooler agreement --tables": "pooler agreement --table cross_tables",
    "pooler agreement --manifest": "pooler agreement --format json --out FILE",
    **{
        f"pooler {one} --{old}": f"pooler import judgements FILE --{new} VALUE; pooler {one}"
        for one in ("agreement", "agreement orders")
        for old, new in {
            "input": "as",
            "input-columns": "columns",
            **{same: same for same in ("topic", "judge-column", "map", "repeats")},
        }.items()
    },
    "pooler audit --by-run": "pooler audit JUDGE --table runs",
    "pooler show docs --text": "pooler show docs DOCNO --table text",
    "pooler export answers": "pooler export judgements NAME --as answers",
    "pooler export judgements --format": "pooler export judgements --as FORM",
    "pooler import judgements --input-columns": "pooler import judgements FILE --columns NAME,...",
    "pooler export qrels --input-columns": "pooler export qrels FILE... --columns NAME,...",
    "pooler export work --html": "pooler export work JUDGE",
    "pooler export work --judge": "pooler export work JUDGE",
    **{
        f"pooler import {one} --{old}": f"pooler import {one} {new}"
        for one in ("topics", "docs", "judgements")
        for old, new in {"format": "FILE --as FORM", "from": "irds:NAME"}.items()
    },
    **{
        f"pooler {one} --{name}": "pooler judges add NAME --model CARD.toml; the card says it"
        for one in ("judges add", "import judgements")
        for name in _CARD.split()
    },
    **{f"pooler show {one}": f"pooler show {one}s NAME" for one in ("run", "topic", "doc", "pool", "judge")},
}
"""Lines that earlier versions had, and what to type now."""
_OLD_OPTIONS = {
    "--judge": "--qrels JUDGE for one judge's own grades; of several `pooler qrels define both --judge A"
    " --judge B`, then --qrels both",
    "--rigid": "--level rigid",
    "--relaxed": "--level relaxed",
    "--collapse": "pooler qrels define NAME --binary-first ...; then --qrels NAME",
    "--of": "pooler qrels define NAME --judge NAME ...; then --qrels NAME",
    **{
        one: f"pooler qrels define NAME {one} ...; then --qrels NAME"
        for one in ("--aggregate", "--ties", "--kinds", "--without-rulings")
    },
}
"""Options that commands which measure with qrels had, and what to type now."""
_UsageError: Any = typer.BadParameter.__mro__[1]  # typer does not export it
_NOT_ONE_OF = re.compile(r"'(.*)' is not one of (.*?)\.?", re.DOTALL)
_NO_COMMAND = re.compile(r"No such command '(.*?)'\..*", re.DOTALL)
_TOO_MANY = re.compile(r"Got unexpected extra argument(?:s|\(s\))? \((.*)\)", re.DOTALL)


@contextmanager
def usage_errors_reported() -> Iterator[None]:
    """Report what typer finds wrong with a command line, and end with the exit code of that."""
    try:
        yield
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the help is the answer
            raise
        shown = _pooler_error(error)
        if error.ctx is not None:
            path = error.ctx.command_path
            shown.hint = f"{path} --help"
            asked = f"{getattr(shown, 'name', '')} {getattr(shown, 'got', None) or ''}".rstrip()
            if line := _OLD_WORDS.get(f"{path} {asked}"):
                shown.hint = line
                show_error(shown)
                raise typer.Exit(ExitCode.USAGE) from error
            if isinstance(shown, UnknownNameError) and {"--qrels", "--level"} & {*shown.known}:
                shown.hint = _OLD_OPTIONS.get(shown.name, shown.hint)
            if isinstance(shown, UnknownNameError) and shown.kind == "command":
                for near in get_close_matches(shown.name.lower(), shown.known, 1, 0.7):
                    shown.hint = f"did you mean `{path} {near}`? {shown.hint} lists all"
        show_error(shown)
        raise typer.Exit(ExitCode.USAGE) from error


def _pooler_error(error: Any) -> PoolerError:
    match type(error).__name__:
        case "BadParameter":
            return _bad_value(error)
        case "MissingParameter":
            return ArgumentError(_name(error.param), "must be given", None)
        case "NoSuchOption":
            options = {one for param in error.ctx.command.params for one in param.opts}
            known = [one for one in options if one.startswith("-")]
            return UnknownNameError("option", error.option_name, known)
        case "BadOptionUsage":
            takes = "must have a value" if "requires" in error.message else "takes no value"
            return ArgumentError(error.option_name, takes, None)
    if found := _NO_COMMAND.fullmatch(error.message):
        known = error.ctx.command.list_commands(error.ctx)
        return UnknownNameError("command", found[1], known)
    if found := _TOO_MANY.fullmatch(error.message):
        return PoolerError(f"expected no more arguments, got `{found[1]}`")
    return PoolerError(f"{error.message[:1].lower()}{error.message[1:].rstrip('.')}")


def _bad_value(error: Any) -> PoolerError:
    name, message = _name(error.param), error.message.removeprefix("Value error, ")
    if found := _NOT_ONE_OF.fullmatch(message):
        return ArgumentError(name, f"must be one of {found[2].replace(chr(39), '')}", found[1])
    faults: list[Any] = getattr(error.__cause__, "errors", list)()
    if not faults or not hasattr(error.param, "get_runtime_param"):  # another version of typer
        return PoolerError(f"`{name}`: {message[:1].lower()}{message[1:].rstrip('.')}")
    wanted = error.param.get_runtime_param()
    noun = "a number" if "float" in str(wanted.annotation) else "an integer"
    least, most = wanted.parameter_info.min, wanted.parameter_info.max
    if least is not None and most is not None:
        noun = f"{least}" if least == most else f"{noun} from {least} to {most}"
    elif least is not None or most is not None:
        noun += f" <= {most}" if least is None else f" >= {least}"
    return ArgumentError(name, f"must be {noun}", faults[0]["input"])


def _name(param: Any) -> str:
    if param.param_type_name == "argument":
        return str(param.metavar or param.name.upper())
    return str(max(param.opts, key=len))
