"""Options of the commands that write qrels: graded, or binary at levels, each with its manifest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pooler.cli.console import check_out, write_results
from pooler.cli.options import ManifestOption, RelaxedOption, RigidOption, WhoseOptions
from pooler.cli.signature import option
from pooler.commands.qrels.exporting import tell_file_name
from store.errors import ArgumentError

if TYPE_CHECKING:
    from pooler.results.agree.aggregate import QrelsResult
    from pooler.results.source import Source
    from store.grades.policy import Policy
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
        list[int] | None,
        option(
            "--level N",
            "Least grade (or sum of grades) that counts as relevant: 0s and 1s are written. May be repeated,"
            " with {level} in --out.",
        ),
    ] = None
    rigid: RigidOption = False
    relaxed: RelaxedOption = False
    graded: Annotated[bool, option("--graded", "Also write the graded qrels.")] = False
    whose: WhoseOptions
    unjudged: Annotated[
        int | None,
        option("--unjudged CODE", "Also write unjudged pooled documents, with this code (such as -1)."),
    ] = None
    manifest: ManifestOption = None

    def write(self, source: Source, policy: Policy, *, one_of: str | None = None) -> Voters:
        """Write qrels, each with its manifest unless it goes to stdout, and say what is in them.

        `one_of`: a file of classes of near-duplicates, which get each other's grades.
        """
        from pooler.results.agree.aggregate import qrels_at, tell_qrels

        made = qrels_at(
            source,
            policy,
            levels=self.levels or (),
            rigid=self.rigid,
            relaxed=self.relaxed,
            graded=self.graded,
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
        path, beside = (_path_at(given, one.final.policy.level) for given in (self.out, self.manifest))
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


def _path_at(template: str | None, level: int | None) -> str | None:
    return None if template is None else template.replace(LEVEL, _level_word(level))


def _level_word(level: int | None) -> str:
    return "graded" if level is None else str(level)
