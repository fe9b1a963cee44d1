"""Options of the commands that write qrels: graded, or binary at levels, each with its manifest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated

from pooler.cli.console import check_out, write_results
from pooler.cli.options import ManifestOption
from pooler.cli.signature import option
from pooler.command import level_word
from pooler.messages import say, warn
from store.errors import ArgumentError

if TYPE_CHECKING:
    from pooler.results.agree.aggregate import QrelsResult
    from pooler.results.source import Source
    from store.judging.kinds import Voters

LEVEL = "{level}"
"""What stands in a file name for the level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QrelsOptions:
    """Which qrels are made of whose grades, and where they go."""

    out: Annotated[
        str | None, option("--out -o FILE", "Default stdout. {level} in it becomes graded, 1, 2, ...")
    ] = None
    levels: Annotated[
        list[str] | None,
        option(
            "--level N|rigid|relaxed",
            "Least grade (or sum of grades) that counts as relevant: 0s and 1s are written. May be repeated,"
            " with {level} in --out.",
        ),
    ] = None
    graded: Annotated[bool, option("--graded", "Also write the graded qrels.")] = False
    unjudged: Annotated[
        int | None,
        option("--unjudged CODE", "Also write unjudged pooled documents, with this code (such as -1)."),
    ] = None
    manifest: ManifestOption = None

    def write(self, source: Source, *, one_of: str | None = None) -> Voters:
        """Write qrels, each with its manifest unless it goes to stdout, and say what is in them.

        `one_of`: a file of classes of near-duplicates, which get each other's grades.
        """
        from pooler.results.agree.aggregate import qrels_at, tell_qrels

        levels: list[int | str | None] = [level_word("--level", one) for one in self.levels or ()]
        made = qrels_at(
            source,
            levels=[*levels, None] if self.graded or not levels else levels,
            unjudged=self.unjudged,
            one_of=one_of,
            check=self._check,
        )
        for one in made:
            self._write_one(one)
        tell_qrels(made)
        voters = made[0].final.all_votes.voters
        tell_file_name([self.out], voters)
        return voters

    def _write_one(self, one: QrelsResult) -> None:
        path, beside = (_path_at(given, one.final.level) for given in (self.out, self.manifest))
        write_results({path: one.file_lines()}, lambda: one.manifest, beside)

    def _check(self, wanted: Sequence[int | None]) -> None:
        if len(wanted) > 1:
            known = ", ".join(map(_level_word, wanted))
            for name, path in (("--out", self.out), ("--manifest", self.manifest)):
                if LEVEL not in (path or "") and (name == "--out" or path is not None):
                    requirement = f"must contain {LEVEL} where {len(wanted)} files are written"
                    hint = f"as in --out qrels.{LEVEL}.txt: {LEVEL} becomes {known}"
                    raise ArgumentError(name, requirement, path, hint=hint)
        for level in wanted:
            check_out(_path_at(self.out, level), _path_at(self.manifest, level))


def tell_rises(where: str, voters: Voters) -> None:
    """Warn of models that count, and graded copies of documents higher for what was added to them."""
    from store.records import JudgeKind

    models = [one.name for one in voters.judges if one.kind is JudgeKind.MODEL and one.name in voters.graders]
    if not models:
        return
    from pooler.model_client.canaries import WORDS, rises
    from store.collection import Collection

    with Collection(where) as opened:
        asked = {one.judge for one in opened.models.work() if one.canaries}
        for name in models:
            for one in rises(opened.models.answers(name)) if name in asked else ():
                if one.is_alarming:
                    words = f"{one.mean:+.2f} against the documents themselves ({one.documents} of them)"
                    warn(f"`{name}` graded copies {WORDS[one.kind]} {words}: it obeys what it reads")


def tell_file_name(paths: Sequence[str | None], voters: Voters) -> None:
    """Say that the name of a file should tell what a line of it cannot: that kinds of judges are mixed."""
    from store.judging.kinds import is_mixed, sorts_words

    if not is_mixed(voters.counts):
        return
    words = sorts_words(voters.counts).replace(", ", " and ").replace(" ", "-")
    path = next((path for path in paths if path not in (None, "-")), None)
    if path is None or words in path:
        return
    folder, name = PurePath(path).parent, PurePath(path)
    say(f"  a file name that tells: {folder / f'{name.stem}.{words}{name.suffix}'}")


def _path_at(template: str | None, level: int | None) -> str | None:
    return None if template is None else template.replace(LEVEL, _level_word(level))


def _level_word(level: int | None) -> str:
    return "graded" if level is None else str(level)
