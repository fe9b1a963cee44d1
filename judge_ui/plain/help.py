"""The help of the line mode: every answer, and what it does."""

from __future__ import annotations

from collections.abc import Mapping

from judge_ui.keys import EXPLANATIONS, REASONS, Command
from judge_ui.plain.answers import FILTER_WORDS, WORDS, Act, Answers, Line

_EXAMPLES: Mapping[Act, str] = {
    Command.CANNOT: "c 2",
    Command.NOTE: "note ask Ann",
    Line.GO: "go 12",
    Command.LIST: "list skipped",
    Command.HISTORY: "history here",
    Command.FIND: "find bridge",
    Command.TERMS: "terms truss, iron girder",
    Line.AGAIN: "again hits",
    Line.SENTENCES: "sentences 3-9",
    Command.MARK: "mark 3-5",
    Line.UNMARK: "unmark 4",
}
"""Commands that may be followed by something, each with an example of it."""

_EXPLANATIONS: Mapping[Act, str] = {
    Command.CANNOT: "cannot be judged; asks why, unless one of these follows: "
    + ", ".join(f"{key} {reason}" for key, reason in REASONS),
    Command.NOTE: "write or change the note; - takes it away",
    Line.GO: "to a document by its number in the list, or by its docno",
    Command.LIST: f"the documents of the topic: {FILTER_WORDS}",
    Line.PROGRESS: "how far the topic has come, and how long the rest will take",
    Command.HISTORY: "what was done in this sitting, or ever to this document",
    Line.AGAIN: "print the document again, if wanted with the words found marked",
    Command.FIND: "sentences with these words; without any, with those of the topic and your own",
    Command.NEXT_HIT: "the next of these sentences",
    Command.TERMS: "words of your own to look for in this topic; - takes them away",
    Line.SENTENCES: "print the sentences with their numbers",
    Command.MARK: "mark sentences as evidence, by their numbers",
    Line.UNMARK: "mark them no longer; without a number, none of them",
    Line.RETRY: "write again what could not be saved",
    Command.HELP: "these lines",
}
"""What differs from the full screen."""


def help_lines(answers: Answers) -> list[str]:
    """Write every answer and what it does."""
    lines = ["Grades: each is saved at once"]
    lines += [f"  {key}: {name}" for key, name in answers.grades]
    lines.append("Commands: a key or a word, in any case")
    for act in WORDS:
        explained = _EXPLANATIONS[act] if act in _EXPLANATIONS else EXPLANATIONS[Command(act)]
        example = f", as in `{_example(act, answers)}`" if act in _EXAMPLES else ""
        lines.append(f"  {answers.names(act)}: {explained}{example}")
    lines.append("Enter goes on with what was not printed yet. The end of the input quits.")
    return lines


def _example(act: Act, answers: Answers) -> str:
    """Write an example with a key that the scale leaves to the command."""
    word, _, rest = _EXAMPLES[act].partition(" ")
    return f"{answers.name(act) if len(word) == 1 else word} {rest}"
