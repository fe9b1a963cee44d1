"""`pooler export work`: one judge's part, as a collection or as a page."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

from pooler.cli.interrupts import tidy_when_killed
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.signature import argument, option
from pooler.telling import progress, say, warn
from store.errors import ArgumentError, PoolerError, StoreError
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection
    from store.keeping.work_copy import HandedOut


def work(
    name: Annotated[str | None, argument("JUDGE", "Whose documents.")] = None,
    judge: Annotated[str | None, option("--judge NAME", "The same as JUDGE.")] = None,
    out: Annotated[
        Path | None, option("--out -o FILE", "A new file. Default JUDGE.db, with --html JUDGE.html.")
    ] = None,
    html: Annotated[
        bool,
        option(
            "--html",
            "Make a page instead, for a browser: no pooler, no server and no network is needed to judge on"
            " it. Texts are in it; it is for its judge alone.",
        ),
    ] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Make a collection, or a page, of one judge's documents, to judge on another machine.

    It holds what is left for the judge (topics, documents with their texts, guidelines) and what the
    judge has done so far; no run, no rank, and nothing of other judges. `pooler judge` works on the
    collection; the page is opened in a browser, and saves a file. `pooler merge FILE` brings back what
    was judged.

    Example: pooler export work --judge ann --out work.db

    Example: pooler export work ann --html
    """
    from pooler import __version__
    from store.collection import Collection
    from store.db.engine import collection_url, display

    whose = _whose(name, judge)
    place = out or _place(whose, "html" if html else "db")
    named, program = display(collection_url(collection)), f"pooler {__version__}"
    back = str(place)
    with Collection(collection) as opened, tidy_when_killed():
        if html:
            made, back = _write_page(opened, whose, place, program)
        else:
            made = opened.hand_out(whose, place, program=program, progress=progress)
    left = f"{made.unjudged:,} unjudged" + (f", {made.skipped:,} skipped" if made.skipped else "")
    say(
        f"{place}: {counted(made.documents, 'document')} of {counted(made.topics, 'topic')},"
        f" {left}; {counted(made.events, 'event')} of `{whose}` so far"
    )
    if made.without_text:
        warn(
            f"{counted(made.without_text, 'document')} without a text: pooler import docs FILE imports"
            " the texts; then make this file again"
        )
    if made.elsewhere:
        say(
            f"{counted(made.elsewhere, 'more document')} could still be claimed by `{whose}`, or drawn,"
            " here; they are not in the file"
        )
    if html:
        say(f"there: open {place} in a browser, and save {back} at the end")
    else:
        say(f"there: pooler judge --judge {whose} --collection {place}")
    whole = "" if collection == DEFAULT_COLLECTION else f" --collection {named}"
    say(f"back here: pooler merge {back}{whole}")


def _whose(name: str | None, judge: str | None) -> str:
    """Return the judge that was named, in one way or the other."""
    named = {one for one in (name, judge) if one}
    if len(named) != 1:
        got = " and ".join(sorted(named)) or None
        raise ArgumentError("JUDGE", "must name one judge", got, hint="pooler export work ann")
    return named.pop()


def _place(judge: str, end: str) -> Path:
    """Name a file after a judge."""
    if judge.startswith(".") or Path(judge).name != judge:
        raise ArgumentError("--out", "must name the file: this judge's name is none", judge)
    return Path(f"{judge}.{end}")


def _write_page(opened: Collection, judge: str, place: Path, program: str) -> tuple[HandedOut, str]:
    """Write the page of a part, and return what is in it and what it will call its file.

    The page knows nothing but the part, which is gone afterwards.
    """
    from judge_ui.page.page import page_data, page_html
    from store.collection import Collection
    from store.db.files import check_folder, made_whole
    from store.keeping.page_file import head_of
    from store.records import JudgeKind

    if any(one.name == judge and one.kind is JudgeKind.MODEL for one in opened.judges.all()):
        message = f"judge `{judge}` is of kind model, but only people judge on a page"
        raise PoolerError(message, hint=f"pooler judge --model {judge} asks the model")
    if place.exists() or place.is_symlink():
        message = f"{place} already exists"
        raise StoreError(message, hint="name another file: nothing is overwritten")
    check_folder(place)
    with TemporaryDirectory(prefix="pooler-") as folder:
        part = Path(folder) / "part.db"
        made = opened.hand_out(judge, part, program=program, progress=progress)
        with Collection(str(part)) as inside, progress("pages", made.documents) as advance:
            data = page_data(inside.desk(judge), inside.name, advance)
        page = page_html(data, head_of(part))
    with made_whole(place) as file:
        file.write_bytes(page.encode())
    return made, data["file"]
