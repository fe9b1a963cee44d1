"""How files of judgements are read where there is no collection: the options, and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.judgement_sources import EVERY_JUDGE, FileFormat, Wanted, wanted_of
from store.errors import ArgumentError
from store.repeats import Repeats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from store.codes import Meaning
    from store.records import Scale

InputOption = Annotated[
    FileFormat | None,
    typer.Option(
        "--input",
        help="Format of the files, as in `import judgements`: qrels (the default), ntcir2,"
        " ntcireval, columns; jsonl or tsv, of every judge.",
        show_default=False,
    ),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="NAME,...",
        help="The columns of the files in order: docno and grade, and what there is of topic,"
        " iteration and judge; - is passed over.",
        show_default=False,
    ),
]
TopicOption = Annotated[
    str | None,
    typer.Option(
        "--topic",
        metavar="T",
        help="With --columns: the topic of all lines, where no column says it.",
        show_default=False,
    ),
]
JudgeColumnOption = Annotated[
    int | None,
    typer.Option(
        "--judge-column",
        min=2,
        max=2,
        help="The column of qrels files that names the judge, instead of the name of the file.",
        show_default=False,
    ),
]
ScaleOption = Annotated[
    str | None,
    typer.Option(
        "--scale",
        metavar="SCALE",
        help="The scale of the files: 0-3, binary, ntcir or a TOML file, as in `init`.  [default:"
        " from the lowest to the highest grade in them]",
        show_default=False,
    ),
]
CodeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--code",
        metavar="CODE=MEANING",
        help="A code of the files that is no grade: unjudged (pooled, not judged), not-pooled,"
        " skipped, cannot (be judged), or grade.",
        show_default=False,
    ),
]
RepeatsOption = Annotated[
    Repeats | None,
    typer.Option(
        "--repeats",
        help="Which line counts where several of one topic, docno and judge differ. Lines that are"
        " alike are one.  [default: refuse]",
        show_default=False,
    ),
]
MapOption = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="FROM=TO",
        help="Read one grade of the files as another.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The options as given; ``None`` = not given."""

    form: FileFormat | None = None
    columns: str | None = None
    topic: str | None = None
    judge_column: int | None = None
    scale: str | None = None
    codes: Sequence[str] | None = None
    mapped: Sequence[str] | None = None
    repeats: Repeats | None = None
    lenient: bool = False

    @property
    def names_judges(self) -> bool:
        """Whether the files themselves say whose judgements they hold."""
        names = [] if self.columns is None else [one.strip() for one in self.columns.split(",")]
        return self.form in EVERY_JUDGE or self.judge_column is not None or "judge" in names

    @property
    def is_plain(self) -> bool:
        """Whether the files are qrels of one judge, read by the strict rules."""
        from store.codes import Meaning

        form = self.form in (None, FileFormat.QRELS)
        form &= set(self.meanings.values()) <= {Meaning.UNJUDGED}
        return form and self.columns is None and not self.lenient and not self.names_judges

    @property
    def unjudged(self) -> set[int]:
        """Codes that mean "pooled, not judged"."""
        from store.codes import Meaning

        return {code for code, what in self.meanings.items() if what is Meaning.UNJUDGED}

    @property
    def no_grades(self) -> set[int]:
        """Codes that are no grades."""
        from store.codes import Meaning

        return {code for code, what in self.meanings.items() if what is not Meaning.GRADE}

    @property
    def meanings(self) -> dict[int, Meaning]:
        """What codes mean that are named."""
        from store.codes import parse_codes

        return parse_codes(self.codes or [])

    @property
    def mapping(self) -> dict[int, int]:
        """Codes to be read as others."""
        from store.codes import parse_map

        return parse_map(self.mapped or [])

    def wanted(self, judge: str | None) -> Wanted:
        """Say how a file of a judge is read, or of those whom it names itself.

        Raises
        ------
        ArgumentError
            If options do not go together.
        """
        wanted = wanted_of(
            self.form, sample=None, judge=judge, judge_column=self.judge_column,
            columns=self.columns, topic=self.topic, lenient=self.lenient,
        )  # fmt: skip
        if wanted.form in EVERY_JUDGE:
            for name, value in (("--code", self.codes), ("--map", self.mapped),
                                ("--repeats", self.repeats),
                                ("--lenient", self.lenient or None)):  # fmt: skip
                if value:
                    requirement = f"is for files of grades, and a {wanted.form} file says more"
                    raise ArgumentError(name, requirement, value)
        return wanted

    def declared(self) -> Scale | None:
        """Return the declared scale; ``None`` = none is."""
        from store.scale import parse_scale

        return None if self.scale is None else parse_scale(self.scale)

    def given(self) -> dict[str, object]:
        """Return the values of the options by name; what was not given is false."""
        return {
            "--input": self.form, "--columns": self.columns, "--topic": self.topic,
            "--judge-column": self.judge_column, "--scale": self.scale, "--code": self.codes,
            "--map": self.mapped, "--repeats": self.repeats, "--lenient": self.lenient,
        }  # fmt: skip

    def refuse(self) -> None:
        """Raise `ArgumentError` for the first option that was given: there are no files."""
        for name, value in self.given().items():
            if value:
                hint = "name files of judgements, or leave it out: a collection has it all"
                requirement = "is for files, and these are judges of a collection"
                raise ArgumentError(name, requirement, str(value), hint=hint)
