"""Options of the commands that write qrels: graded, or binary at levels, each with its manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pooler.cli.options import ManifestOption, RelaxedOption, RigidOption, WhoseOptions
from pooler.cli.signature import option
from pooler.commands.qrels.export_qrels import write_qrels

if TYPE_CHECKING:
    from pooler.results.source import Source
    from store.grades.policy import Policy


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

    def write(self, source: Source, policy: Policy) -> None:
        """Write qrels, each with its manifest unless it goes to stdout, and say what is in them."""
        names = ("levels", "rigid", "relaxed", "graded", "unjudged")
        wanted = {name: getattr(self, name) for name in names} | {"levels": self.levels or ()}
        write_qrels(source, policy, self.out, self.manifest, **wanted)
