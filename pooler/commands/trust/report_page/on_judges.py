"""Parts of a report on the judges: what they did, how far they agree, and models in the place of people."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pooler.commands.qrels.agreement import MEASURES, AgreementResult
from pooler.commands.trust.report_page.material import Material
from pooler.commands.trust.report_page.on_pool import called
from pooler.judge_kinds import kinds_words
from pooler.pages.figures import figure, numbers, page_table
from pooler.pages.page import Figure, PageTable
from pooler.tables import Column, Plot, Table
from store.text import counted

MOST_PAIRS = 45
"""Pairs of judges that a figure shows."""
FEW_SHARED = 20
"""Documents of a pair below which its kappa is drawn in grey."""
MOST_ON_A_MAP = 20
"""Judges of whom a map of every two can be read."""
_STATES = {"judged": "judged", "skipped": "skipped", "cannot": "cannot be judged", "unjudged": "unjudged"}


def judging(material: Material) -> Iterator[str | Figure]:
    """Show how far each judge has come and what judging cost."""
    stored, commands = material.stored, material.commands
    if stored is None or not len(stored.progress):
        return
    owing = stored.progress.where([cell is not None for cell in stored.progress.cells("pooled")])
    if len(owing):
        progress = replace(stored.progress, notes=())
        yield figure(
            Plot(
                table=called(owing, _STATES),
                kind="stacks",
                label="judge",
                parts=[*_STATES],
                axis="documents",
                title="How far each judge has come",
            ),
            "Each bar shows what a judge was given; what was skipped or is unjudged still has to be done.",
            commands.of_collection("status"),
            progress,
            caption="Documents of the pool by judge and state; grades include"
            " everything the judge has graded, pooled or not.",
            n=counted(len(owing), "judge"),
        )
    timed = stored.costs.where([cell is not None for cell in stored.costs.cells("dwell_median_s")])
    if not len(timed):
        yield "No judgement here was timed, so nothing is known about what judging cost."
        return
    n = f"{counted(len(timed), 'judge')} whose judging was timed"
    yield figure(
        Plot(
            table=timed,
            kind="bars",
            label="judge",
            value="active_s",
            axis="active time (seconds)",
            title="Time at the desk",
        ),
        "Active seconds of each judge, pauses left out.",
        commands.of_collection("status", "effort"),
        stored.costs,
        caption="Times are in seconds.",
        n=n,
    )
    of_dwell = ("dwell_median_s", "dwell_lower_s", "dwell_upper_s")
    yield figure(
        Plot(
            table=timed,
            kind="dots",
            label="judge",
            value=of_dwell[0],
            low=of_dwell[1],
            high=of_dwell[2],
            axis="time until decided (seconds)",
            ends=(0, None),
            title="Time on a document",
        ),
        "The line spans the middle half of the times that a judge's documents were on the screen before"
        " they were decided; the dot is the median.",
        commands.of_collection("status", "effort"),
        stored.costs,
        caption="Times are in seconds.",
        n=n,
    )


def agreement(material: Material) -> Iterator[str | Figure | PageTable]:
    """Show how far judges agree."""
    stored, commands = material.stored, material.commands
    if stored is None:
        yield (
            "The judgements are one grade per document, so nothing is known about how judges differ. For"
            " several judges' files, use `pooler agreement --qrels FILE --qrels FILE`."
        )
        return
    found = stored.agreement
    if isinstance(found, str):
        yield f"Nothing can be said about agreement: {found}."
        return
    own = ("--level", str(stored.level), "--interval", found.settings["interval"])
    whose = commands.source.whose
    is_by_kind = whose.kinds or len(stored.by_kind) > 1
    command = commands.of_collection("agreement", *own, judges=found.judges if is_by_kind else whose.judges)
    binary = f"relevant = grade {stored.level} or more"
    if len(stored.by_kind) > 1:
        kinds = kinds_words(dict.fromkeys(stored.by_kind, 2)).replace("2 ", "")
        yield f"Judges of several kinds ({kinds}) are measured apart; below, every two judges are compared."
    for kind, of_kind in stored.by_kind.items():
        if isinstance(of_kind, str):
            yield f"{of_kind[:1].upper()}{of_kind[1:]}."
        elif len(of_kind.table("all_judges")):
            who = kinds_words({kind: len(of_kind.judges)})
            judges = of_kind.judges if is_by_kind else whose.judges
            yield page_table(
                _together(of_kind, binary),
                caption=f"{who} together, with 95% intervals over topics where they exist. alpha, kappa, AC1:"
                " 1 = all agree, 0 = as by chance; overlap of all: documents relevant to every judge among"
                " those relevant to any, 0 = none; documents: with at least two judges, for the overlap those"
                " with all",
                names=("level", "coefficient", "value", "low", "high", "n", "topics", "reason"),
                command=commands.of_collection("agreement", *own, judges=judges),
                interval=("value", "low", "high"),
            )
    pairs = found.table("pairs")
    is_graded = [level is None for level in pairs.cells("level")]
    graded, at_level = pairs.where(is_graded), pairs.where([not one for one in is_graded])
    of_interval = " The line is its 95% interval over topics." * (own[-1] == "topic")
    several = graded if len(stored.scale.values) > 2 else graded.head(0)
    figures = (
        (several, "quadratic", "Cohen's kappa of the grades, quadratic weights"),
        (at_level, "kappa", f"Cohen's kappa, {binary}"),
    )
    ends = _shared_ends([(table, name) for table, name, _ in figures])
    for every, name, title in figures:
        if not len(every):
            continue
        table = _most_shared(every, name)
        some = f" Of {len(every):,} pairs, these share the most documents; those that agree least come first."
        which = some if len(every) > len(table) else ""
        low, high = f"{name}_low", f"{name}_high"
        yield figure(
            Plot(
                table=table,
                kind="dots",
                label=("first", "second"),
                value=name,
                low=low,
                high=high,
                axis="kappa",
                ends=ends,
                few=("n", FEW_SHARED),
                title=title,
            ),
            f"1 = the two judges always agree, 0 = as often as by chance.{of_interval}{which} n: documents"
            f" that both graded; pairs with fewer than {FEW_SHARED} are grey, as they mean little.",
            command,
            table,
            ("first", "second", "n", "raw", name, low, high, "macro_overlap", "reason", "interval_reason"),
            caption="documents: graded by both; same grade: the share of them with the same grade from both;"
            " overlap: relevant to both among those relevant to either, averaged over topics that have any",
            n=f"{counted(len(table), 'pair')} of {counted(len(found.judges), 'judge')}",
        )
    if 2 < len(found.judges) <= MOST_ON_A_MAP:
        yield _map_of_judges(found.judges, graded, command)
    graded = graded.where([bool(n) for n in graded.cells("n")])
    if "cross_tables" in found.names() and len(graded):
        yield _map_of_grades(found.table("cross_tables"), graded, command)


def _together(found: AgreementResult, binary: str) -> Table:
    table = found.table("all_judges")
    table = table.where([name in MEASURES for name in table.cells("coefficient")])
    words = {
        "level": ["grades" if level is None else binary for level in table.cells("level")],
        "coefficient": [MEASURES[str(name)] for name in table.cells("coefficient")],
    }
    columns = [Column(one.name) if one.name in words else one for one in table.columns]
    return replace(table, columns=columns, data={**table.data, **words})


def _shared_ends(tables: Sequence[tuple[Table, str]]) -> tuple[float, float]:
    """Return the ends of one axis, by fifths, for figures that are read one beside the other."""
    known = [0.0]
    for table, name in tables:
        values = numbers(table, name)
        for column in (name, f"{name}_low", f"{name}_high"):
            ends = zip(values, numbers(table, column), strict=True)
            known += [end for value, end in ends if not math.isnan(value) and not math.isnan(end)]
    low, high = math.floor(5 * min(known)) / 5, math.ceil(5 * max(known)) / 5
    return low, high if high > low else 1.0


def _most_shared(pairs: Table, name: str) -> Table:
    """Keep as many pairs as can be read, those that share the most documents; the least kappa first."""
    if len(pairs) <= MOST_PAIRS:
        return pairs.sort(name)
    return pairs.sort(name).sort("n", descending=True).head(MOST_PAIRS).sort(name)


def _map_of_judges(judges: Sequence[str], graded: Table, command: str) -> Figure | str:
    pairs = zip(graded.cells("first"), graded.cells("second"), graded.cells("raw"), strict=True)
    raw = {frozenset((first, second)): share for first, second, share in pairs}
    columns = [Column("judge"), *(Column(judge, "float", judge, digits=2) for judge in judges)]
    rows = [{"judge": one} | {other: raw.get(frozenset((one, other))) for other in judges} for one in judges]
    return figure(
        Plot(
            table=Table.of_rows("same_grade", columns, rows),
            kind="grid",
            label="judge",
            parts=judges,
            title="The same grade, judge by judge",
            axis="judge",
            words=(
                "Of the documents that both judges graded, the share with the same grade from both.",
                "a judge with itself, or two who share no document",
            ),
        ),
        "The stronger the shade, the more often the two judges gave the same grade.",
        command,
        graded,
        ("first", "second", "n", "raw", "reason"),
        caption="same grade: share of the documents with the same grade from both",
        n=f"{counted(len(judges), 'judge')}, {counted(len(graded), 'pair')}",
    )


def _map_of_grades(cross: Table, graded: Table, command: str) -> Figure | str:
    """Show which grades two judges gave to the same documents: those two who gave the same least often."""
    shared, raw = numbers(graded, "n"), numbers(graded, "raw")
    enough = [row for row, n in enumerate(shared) if n >= FEW_SHARED]
    pair = min(enough or range(len(graded)), key=raw.__getitem__)
    of = f"share {FEW_SHARED} documents or more" if enough else "share a document"
    which = f" Of the pairs that {of}, these two gave the same grade least often." if len(graded) > 1 else ""
    first, second = str(graded.cells("first")[pair]), str(graded.cells("second")[pair])
    found = zip(cross.cells("first"), cross.cells("second"), strict=True)
    table = cross.where([names == (first, second) for names in found])
    parts = [column.name for column in table.columns if column.name.startswith("second_")]
    return figure(
        Plot(
            table=called(table, {"first_grade": f"grade of {first}"}),
            kind="grid",
            label="first_grade",
            parts=parts,
            axis=f"grade of {second}",
            title=f"Where {first} and {second} differ",
            words=(f"Documents by the grades of {first} and of {second}.", ""),
        ),
        f"Cells outside the frame are documents to which the two gave different grades.{which}",
        command,
        table,
        caption=cross.title,
        n=f"2 judges, {counted(int(shared[pair]), 'document')}",
    )


def models(material: Material) -> Iterator[str | PageTable]:
    """Show the verdict on every model that graded what people graded, too."""
    stored = material.stored
    if stored is None or not stored.audits:
        return
    yield "What each model's grades would do in people's place, over the documents that both graded."
    refused: dict[str, list[str]] = {}
    for name, found in stored.audits.items():
        if isinstance(found, str):
            refused.setdefault(found, []).append(name)
            continue
        settings = found.settings
        options = [word for person in settings["against"] for word in ("--against", person)]
        for option in ("aggregate", "ties"):
            options += [f"--{option}", settings[option]] if settings[option] is not None else []
        options += ["--level", str(settings["level"])]
        table = found.table("verdict")
        yield page_table(
            table,
            caption=f"{table.title}. {' '.join(table.notes)}",
            command=material.commands.of_collection("audit", *options, judges=[name]),
        )
    for why, names in refused.items():
        yield f"{', '.join(names)}: {why}."
