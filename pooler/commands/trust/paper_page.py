"""The page of `pooler paper --html`: the tables and figures of the paper in its order."""

from __future__ import annotations

from pooler.commands.trust.paper import Paper
from pooler.pages.figures import figure, page_table
from pooler.pages.page import Figure, PageTable, Points, ReportPage, Section
from pooler.pages.report import Report, written_by
from store.text import counted

_READ = {
    "figure_1": "A bar is the variance of one run's AP: its first part comes from the choice of topics, its"
    " second from judging.",
    "figure_2": "A bar is what stands at that rank in the topics of one run.",
    "figure_3": "The closer the steps follow the curve, the more nearly normal the differences are, as the t"
    " test assumes.",
}


def paper_report(paper: Paper) -> Report:
    """Make the page, which needs no network and no script."""
    sections = [_verdicts(paper)] if "verdicts" in paper.names() else []
    sections += [_section(paper, name) for name in paper.shown() if name != "verdicts"]
    a, b = paper.runs
    lead = (
        f"Kishida (2001) redone with A = {a} and B = {b}, {counted(len(paper.topics), 'topic')} and"
        f" {counted(len(paper.judges), 'judge')}: {', '.join(paper.judges)}. Exact where the paper simulates."
    )
    return Report(ReportPage("The paper on this collection", lead, tuple(sections), written_by()))


def _verdicts(paper: Paper) -> Section:
    """Return which statements hold; those that do not come first."""
    rows = sorted(paper.table("verdicts").to_records(), key=lambda row: bool(row["holds"]))
    points = tuple(
        f"{'Holds' if row['holds'] else 'Does not hold'}: {row['statement']} ({row['numbers']})."
        for row in rows
    )
    notes = paper.table("verdicts").notes
    return Section(paper.title("verdicts"), (notes[0], Points(points), *notes[1:]))


def _section(paper: Paper, name: str) -> Section:
    table = paper.table(name)
    notes = [note for note in table.notes if note]
    drawn = paper.drawings().get(name)
    blocks: list[str | Points | PageTable | Figure] = [*notes[:1]]
    if drawn is not None:
        blocks.append(figure(drawn, _READ[name], "", table, caption="Numbers of the figure"))
    else:
        (view,) = paper.views(name)
        names = [column.name for column in view.declared() if column.show != "never"]
        meanings = [
            f"{one.title}: {one.about}." for one in view.declared() if one.name in names and one.about
        ]
        blocks.append(page_table(table, names, caption=" ".join([*notes[1:], *meanings]) or "Numbers"))
    return Section(paper.title(name), tuple(blocks))
