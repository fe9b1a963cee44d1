"""`pooler export work`: a judge's documents as one page for a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pooler.command import Option, Stored, command
from pooler.messages import progress, say, warn
from pooler.result import Done, frozen_settings
from pooler.sources.source import DEFAULT_COLLECTION
from store.errors import ArgumentError, PoolerError, StoreError
from store.records import JudgeKind
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection

_Words = tuple[Callable[[str], None], str]
"""What is said, and how: plainly, or as a warning."""


@command
def export_work(
    collection: Stored,
    judge: Annotated[str | None, Option("JUDGE", "Whose documents.")] = None,
    *,
    all_judges: Annotated[str | Path | None, Option("--all DIR")] = None,
    out: Annotated[str | Path | None, Option("--out -o FILE", default="JUDGE.html")] = None,
) -> Done:
    """Make a page of one judge's documents, to judge on in a browser on another machine.

    It holds what is left for the judge (topics, documents with their texts, guidelines) and how it stands;
    no run, no rank, and nothing of other judges. No pooler, no server and no network is needed to judge on
    it. It saves a file, and `pooler import work FILE` brings back what was judged. It is for its judge
    alone. Adaptive pools depend on all judgements, which a page cannot know: they are judged with `pooler
    judge` or `pooler serve`.

    Example: pooler export work ann

    Example: pooler export work --all pages

    all_judges : A page for every human judge who has documents, in a new folder.
    out : A new file.
    """
    from store.db.files import check_folder, folder_beside

    pages = 0
    if all_judges is None:
        if judge is None:
            raise ArgumentError("judge", "must name one judge", None, hint="as in pooler export work ann")
        place = _place(judge) if out is None else Path(out)
        _check_free(place)
        check_folder(place)
        told = _write_page(collection, judge, place, place)
        if not told:
            message = f"there is no document for judge `{judge}`"
            hint = "pooler pool makes a pool, pooler assign gives documents to judges"
            raise StoreError(message, hint=hint)
        pages = 1
    else:
        if judge or out:
            raise ArgumentError(
                "all_judges", "is for every judge, in files named after them", str(all_judges)
            )
        target = Path(all_judges)
        _check_free(target)
        check_folder(target)
        judges = collection.judges.all()
        people = [one.name for one in judges if one.kind is JudgeKind.HUMAN and not one.disabled]
        files = {whose: _place(whose) for whose in people}
        told = []
        with folder_beside(target, private=True) as folder:
            for whose, page in files.items():
                written = _write_page(collection, whose, folder / page, target / page)
                pages += bool(written)
                told += written or [(say, f"`{whose}` has no document, and so no page")]
    for tell, words in told:
        tell(words)
    return Done(counts=frozen_settings(pages=pages))


def _place(judge: str) -> Path:
    if judge.startswith(".") or Path(judge).name != judge:
        raise ArgumentError("out", "must name the file: this judge's name is none", judge)
    return Path(f"{judge}.html")


def _check_free(place: Path) -> None:
    if place.exists() or place.is_symlink():
        message = f"{place} already exists"
        raise StoreError(message, hint="choose another name: nothing is overwritten")


def _write_page(opened: Collection, judge: str, file: Path, place: Path) -> list[_Words]:
    """Write the page of a judge; return what to say when it is in its place, nothing = there is no document.

    `file`: where it is written.
    """
    from judge_ui.page.page import page_data, page_html
    from store.db.files import made_whole

    kind = next((one.kind for one in opened.judges.all() if one.name == judge), None)
    if kind is JudgeKind.MODEL:
        message = f"judge `{judge}` is of kind model, but only people judge on a page"
        raise PoolerError(message, hint=f"pooler ask {judge} asks the model")
    if kind is JudgeKind.ADJUDICATOR:
        message = f"`{judge}` is an adjudicator, who sees what all judges decided"
        raise StoreError(message, hint=f"pooler adjudicate --judge {judge}")
    desk = opened.desk(judge)
    lines = desk.inbox()
    if any(desk.undrawn(line.topic) for line in lines):
        message = "a pool here is adaptive: it draws by what was judged, which a page cannot know"
        raise PoolerError(message, hint=f"pooler judge --judge {judge}, or pooler serve, draws from it")
    with progress("documents", sum(line.documents for line in lines)) as advance:
        data = page_data(desk, opened.name, advance)
    tasks = [task["now"] for topic in data["topics"] for task in topic["queue"]]
    if not tasks:
        return []
    guidelines, topics = desk.shown_versions()
    hashes = {docno: one.pop("sha256") for docno, one in data["documents"].items()}
    head = opened.page_head(judge, guidelines=guidelines, topics=topics, hashes=hashes)
    with made_whole(file) as part:
        part.write_bytes(page_html(data, head).encode())
    states = [now["state"] for now in tasks]
    left = f"{states.count('unjudged'):,} unjudged"
    left += f", {states.count('skipped'):,} skipped" if "skipped" in states else ""
    so_far = counted(sum(now["revision"] for now in tasks), "event")
    of = f"{counted(len(tasks), 'document')} of {counted(len(data['topics']), 'topic')}"
    told: list[_Words] = [(say, f"{place}: {of}, {left}; {so_far} of `{judge}` so far")]
    if n_without := sum(hashes[one["docno"]] is None for topic in data["topics"] for one in topic["queue"]):
        missing = f"{counted(n_without, 'document')} without a text"
        then = "pooler import docs FILE imports the texts; then make this file again"
        told.append((warn, f"{missing}: {then}"))
    if n_open := sum(desk.claimable(line.topic) for line in lines):
        more = counted(n_open, "more document")
        told.append((say, f"{more} could still be claimed by `{judge}` here; not on the page"))
    told.append((say, f"there: open {place} in a browser, and save {data['file']} at the end"))
    back = "" if opened.where == DEFAULT_COLLECTION else f" --collection {opened.where}"
    told.append((say, f"back here: pooler import work {data['file']}{back}"))
    return told
