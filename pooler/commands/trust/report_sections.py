"""What stands on the page of `report`: its sections on the pool, the judges and the scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pooler.commands.measure.compare import needed_for_pairs
from pooler.commands.measure.design import (
    TOPICS,
    load_pilot,
    reliability_notes,
    reliability_plot,
    reliability_table,
)
from pooler.commands.measure.measured import known_measure, measured
from pooler.commands.qrels.agreement import MEASURES, AgreementResult
from pooler.commands.trust.conclusions import REASONS, Alarm
from pooler.commands.trust.diagnose import FACTS, JUDGED_AT, chosen_left, facts, has_siblings, runs_table
from pooler.commands.trust.report_material import Material
from pooler.commands.trust.sensitivity import conclusion, ranks_below, sensitivity
from pooler.commands.trust.variation import variation_of
from pooler.judge_kinds import kinds_words, voters_sentence
from pooler.messages import Listener, listening
from pooler.pages.page import Figure, PageTable, Section
from pooler.pages.report import HEADINGS, facts_table, figure, numbers, page_table
from pooler.reasons import REASONS as UNDEFINED
from pooler.sources.probabilities import empty_words, load_probable, without_words
from pooler.tables import DIFFERENCE, RUN_A, RUN_B, Column, Plot, Table
from store.analysis.rankings import UNJUDGED
from store.analysis.significance.generalizability import score_components
from store.analysis.significance.pairs import compare_pairs
from store.errors import ArgumentError, PoolerError
from store.text import counted

_COUNTED = ("topics", "documents", "judged", "unjudged", "runs")
_OF_POOLS = ("pool", "strategy", "depth", "budget", *_COUNTED, "withdrawn")
_RARE = ("withdrawn", "disabled", "budget")
"""Columns that are shown where they say something."""
MOST_TOPICS = 100
"""Topics that are drawn; the table has all."""
_OF_JUDGES = ("judge", "kind", "disabled", "topics", "judged", "cannot", "skipped", "relevant")
_LATE = ("ap", "ap_left_out", "change", "rank", "rank_left_out", "tau")
_OF_LATE_RUNS = ("run", "group", "unique", "unique_relevant", *_LATE)
_MISSED = ("relevant_to_twice_the_depth", "relevant_low", "relevant_high")
"""Of the facts, a guess and its limits."""


def what_it_is(material: Material) -> Iterator[str | PageTable]:
    """Show the facts of the collection: its pools, its judges, and what is measured."""
    commands, found, stored = material.commands, material.diagnosis.found, material.stored
    known = facts(found, material.diagnosis.left_out)
    if found.reason is not None:
        known["reason"] = REASONS.get(found.reason, "other runs or ranks made the pool")
    grades = f"Relevant = grade {material.judged.level} or more."
    if stored is not None:
        labels = ", ".join(f"{grade.value} {grade.label}" for grade in stored.scale.grades)
        grades = f"Grades: {labels}; relevant = grade {stored.level} or more."
    yield grades
    yield facts_table(
        known,
        FACTS,
        caption="Runs and judgements that this report is about",
        command=commands.of_runs("diagnose", *material.own_depth),
        interval=_MISSED,
    )
    if stored is not None:
        for table, names, caption, what in (
            (stored.pools, _OF_POOLS, "Pools, including withdrawn ones", "pools"),
            (stored.judges, _OF_JUDGES, "Judges", "judges"),
        ):
            if len(table):
                command = commands.of_collection("show", what)
                shown = [one for one in names if one not in _RARE or any(table.cells(one))]
                yield page_table(table, shown, caption=caption, command=command)


def pool(material: Material) -> Iterator[str | Figure]:
    """Show the size of the pool by topic, what is judged of it, and what each rank brought."""
    diagnosis, commands = material.diagnosis, material.commands
    depth_pool = diagnosis.found.pool
    if depth_pool is not None:
        by_topic = diagnosis.table("topics")
        pooled = f"{counted(len(by_topic), 'topic')}, {counted(depth_pool.n_pairs, 'document')} of the pool"
        drawn, which = by_topic, ""
        if len(by_topic) > MOST_TOPICS:
            drawn = by_topic.sort("pool_unjudged", descending=True).head(MOST_TOPICS)
            which = f" Of {len(by_topic):,} topics the {MOST_TOPICS} with the most unjudged ones are drawn."
        parts = {
            "pool_relevant": "relevant",
            "pool_not_relevant": "judged not relevant",
            "pool_unjudged": "unjudged",
        }
        yield figure(
            _plot("stacks", "Documents of the pool, topic by topic", drawn, "topic", "documents", parts),
            "Each bar is the pool of a topic; its last part is unjudged, and a"
            f" topic without a first part has no relevant document.{which}",
            commands.of_runs("diagnose", "--by-topic", *material.own_depth),
            by_topic,
            n=pooled,
        )
    by_rank = replace(diagnosis.table("ranks"), notes=())
    n_runs = material.counted(counted(len(diagnosis.runs), "run"))
    command = commands.of_runs("diagnose", "--table", "ranks", *material.own_depth)
    last = "" if depth_pool is None else f" Rank {depth_pool.span} was the last of the pool."
    axis, parts = "share of the runs' documents that are unjudged", {"share_unjudged": "unjudged"}
    yield figure(
        _plot("lines", "Unjudged documents, rank by rank", by_rank, "rank", axis, parts, ends=(0, 1)),
        "The share of the runs' documents at each rank that are unjudged: runs that fed the pool"
        f" have few down to its depth, other runs more.{last}",
        command,
        by_rank,
        n=n_runs,
    )
    if depth_pool is not None:
        of_pool = by_rank.head(depth_pool.depth)
        title = "Relevant documents by the rank that first found them"
        parts = {
            "entering": "new documents",
            "entering_judged": "of them judged",
            "entering_relevant": "of them relevant",
        }
        yield figure(
            _plot("lines", title, of_pool, "rank", "documents that no rank above had", parts, ends=(0, None)),
            "Where the lowest line is still above 0 at the last rank of the pool, a deeper pool"
            " would probably have found more; ranks below it were not pooled and are left out.",
            command,
            of_pool,
            n=f"{counted(int(depth_pool.contributing.sum()), 'run')}, {pooled}",
        )


def contributions(material: Material) -> Iterator[Figure | str]:
    """Show what each run alone brought, and what it would lose had it come late."""
    found, commands = material.diagnosis.found, material.commands
    if found.pool is None:
        return
    siblings = has_siblings(found.pool)
    for by_group in (True, False) if siblings else (False,):
        table = runs_table(
            found, chosen_left(found, by="group" if by_group else "run"), material.judged.groups, JUDGED_AT
        )
        table = with_reasons(table, material)
        table = table.where([bool(fed) for fed in table.cells("contributes")])
        by_unique = table.sort("unique", descending=True)
        most, most_n = material.first(by_unique, "those that brought the most alone")
        late, late_n = material.first(table.sort("change"), "those that lose the most")
        who, of_whom = ("its group", "one group") if by_group else ("it", "one run")
        option = ("--by", "run") if siblings and not by_group else ()
        command = commands.of_runs("diagnose", *option, *material.own_depth)
        title = "Change of MAP had the run been submitted late"
        if siblings:
            title += ", with its whole group" if by_group else ", without its group"
        parts = {"unique": HEADINGS["unique"], "unique_relevant": HEADINGS["unique_relevant"]}
        yield figure(
            _plot("bars", title, late, "run", "change of MAP", value="change"),
            f"How far the run's MAP falls without the documents that only {who} brought. A run that"
            " came later and differed as much from the others would lose as much.",
            command,
            table.sort("change"),
            _OF_LATE_RUNS,
            n=late_n,
        )
        yield figure(
            _plot("bars", f"Documents that only {of_whom} brought", most, "run", "documents", parts),
            f"How many documents the pool owes only to {of_whom}; the second bar counts the"
            " relevant ones among them.",
            command,
            by_unique,
            _OF_LATE_RUNS,
            n=most_n,
        )


def limits(material: Material) -> Figure | str:
    """Show between what limits each run's MAP lies."""
    table = with_reasons(material.diagnosis.table("runs"), material).sort("ap", descending=True)
    best, n = material.first(table, "the best")
    return figure(
        _plot("dots", "MAP between its limits", best, "run", "MAP", value="ap", low="low", high="high"),
        "The dot is MAP with unjudged documents counted as not relevant; the line goes from the lowest to"
        " the highest that it could be, depending on the unjudged documents of the run's own list. It is"
        " not a confidence interval: the topics stay the same.",
        material.commands.of_runs("diagnose", *material.own_depth),
        table,
        ("run", "judged", "ap", "bpref", "condensed", "low", "high"),
        n=n,
    )


def other_pools(material: Material) -> Iterator[str]:
    """Say which pools are no depth pools, as the conclusions look at one."""
    stored, pool = material.stored, material.diagnosis.found.pool
    if stored is not None and stored.made_otherwise:
        depth = "" if pool is None else f" of depth {pool.span}"
        sampled = " `pooler evaluate -m xinfAP -m statAP` scores runs from a sample."
        yield (
            f"Pool {'; pool '.join(stored.made_otherwise)}. This report looks at a depth pool{depth} of"
            f" the same runs instead.{sampled * stored.is_sampled}"
        )


def _plot(
    kind: Any,
    title: str,
    table: Table,
    label: str | tuple[str, ...],
    axis: str,
    parts: Mapping[str, str] | None = None,
    **more: Any,
) -> Plot:
    """Return a plot; `parts`: its columns, and what each is called on it."""
    parts = parts or {}
    return Plot(
        kind=kind, title=title, table=called(table, parts), label=label, axis=axis, parts=[*parts], **more
    )


def called(table: Table, headings: Mapping[str, str]) -> Table:
    """Return a table with other headings, as the parts of a plot are called."""
    columns = [replace(one, heading=headings.get(one.name, one.heading)) for one in table.columns]
    return replace(table, columns=columns)


def with_reasons(table: Table, material: Material) -> Table:
    """Add to the table of runs why some have no AP."""
    ap, tags = material.diagnosis.found.scores.ap, material.diagnosis.runs
    why = {tag: ap.reason(run, 0) for run, tag in enumerate(tags) if not ap.n_defined[run]}
    reasons = [why.get(str(run)) for run in table.cells("run")]
    return replace(table, columns=[*table.columns, Column("reason")], data={**table.data, "reason": reasons})


MOST_PAIRS = 45
"""Pairs of judges that a figure shows."""
FEW_SHARED = 20
"""Documents of a pair below which its kappa is drawn in grey."""
_STATES = {"judged": "judged", "skipped": "skipped", "cannot": "cannot be judged", "unjudged": "unjudged"}


def judging(material: Material) -> Iterator[str | Figure]:
    """Show how far each judge has come."""
    stored, commands = material.stored, material.commands
    if stored is None or not len(stored.progress):
        return
    owing = stored.progress.where([cell is not None for cell in stored.progress.cells("pooled")])
    if len(owing):
        progress = replace(stored.progress, notes=())
        yield figure(
            _plot("stacks", "How far each judge has come", owing, "judge", "documents", _STATES),
            "Each bar shows what a judge was given; what was skipped or is unjudged still has to be done.",
            commands.of_collection("status"),
            progress,
            caption="Documents of the pool by judge and state; grades include"
            " everything the judge has graded, pooled or not.",
            n=counted(len(owing), "judge"),
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
    own = ("--level", str(stored.level), "--resamples", str(found.settings["resamples"]))
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
    of_interval = " The line is its 95% interval over topics." * (own[-1] != "0")
    several = graded if len(stored.scale.values) > 2 else graded.head(0)
    figures = (
        (several, "quadratic", "Cohen's kappa of the grades, quadratic weights"),
        (at_level, "kappa", f"Cohen's kappa, {binary}"),
    )
    shared: dict[str, Any] = {"ends": (0, 1), "few": ("n", FEW_SHARED)}
    for every, name, title in figures:
        if not len(every):
            continue
        table = _most_shared(every, name)
        some = f" Of {len(every):,} pairs, these share the most documents; those that agree least come first."
        which = some if len(every) > len(table) else ""
        low, high = f"{name}_low", f"{name}_high"
        yield figure(
            _plot(
                "dots", title, table, ("first", "second"), "kappa", value=name, low=low, high=high, **shared
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


def _together(found: AgreementResult, binary: str) -> Table:
    table = found.table("all_judges")
    table = table.where([name in MEASURES for name in table.cells("coefficient")])
    words = {
        "level": ["grades" if level is None else binary for level in table.cells("level")],
        "coefficient": [MEASURES[str(name)] for name in table.cells("coefficient")],
    }
    columns = [Column(one.name) if one.name in words else one for one in table.columns]
    return replace(table, columns=columns, data={**table.data, **words})


def _most_shared(pairs: Table, name: str) -> Table:
    """Keep as many pairs as can be read, those that share the most documents; the least kappa first."""
    if len(pairs) <= MOST_PAIRS:
        return pairs.sort(name)
    return pairs.sort(name).sort("n", descending=True).head(MOST_PAIRS).sort(name)


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


_RELIABLE = 0.9
"""E rho2 below which the order of the runs is an alarm."""
_OF_SWAPS = ("p_t2_removed", "p_t2_included", "reversed", "simulated", "simulated_error")
_OF_PAIRS = ("a", "b", "topics", "difference", "sd", "k", *_OF_SWAPS)


@dataclass(frozen=True, slots=True)
class SectionPart:
    """A section, and its sentence at the head of the page."""

    section: Section
    words: Sequence[str] = ()
    about: str = ""
    """What is supposed."""
    tau: float = math.nan
    """Kendall's tau of the orders of the runs before and after."""
    why: str = ""
    """Why there is no tau."""


def unjudged(material: Material) -> SectionPart:
    """Show what the unjudged documents can do to the scores."""
    blocks: list[str | Figure] = [limits(material)]
    words: list[str] = []
    about, tau, why = "unjudged documents", math.nan, "not tried, as the depth of the pool is not known"
    if material.depth is not None:
        found = sensitivity(material.source, depth=material.one_depth, cutoff=material.cutoff)
        below = ranks_below(material.depth)
        depth = () if material.one_depth is None else ("--depth", str(material.one_depth))
        words = conclusion(found.runs, found)
        taus = found.tau_b[(found.status == UNJUDGED).any(axis=1)]
        if not taus.size:
            why = f"none is at {below}, so none could be tried"
        elif np.isnan(taus).all():
            why = f"no tau: {UNDEFINED['all-tied']}"
        else:
            about = f"if the unjudged documents at {below} of one run, the worst, were relevant"
            tau, why = float(np.nanmin(taus)), ""
        table = found.table("sensitivity")
        moves = [-abs(change) for change in numbers(table, "change")]
        table = table.take(sorted(range(len(table)), key=lambda row: (math.isnan(moves[row]), moves[row])))
        drawn, n = material.first(table, "those that change most")
        title = f"Change of MAP if unjudged documents at {below} were relevant"
        blocks += [
            figure(
                _plot("bars", title, drawn, "run", "change of MAP", value="change"),
                "Each run's own unjudged documents at the first rank below the pool turn relevant, and no"
                " deeper ones (eq. 19 of Kishida 2001): a long bar means a score that depends on"
                " where judging stopped.",
                material.commands.of_runs("sensitivity", *depth),
                replace(table, notes=()),
                n=n,
            ),
            *filter(None, [" ".join(words)]),
        ]
        supposed = f"If each run's unjudged documents at {below}, and none deeper, were relevant:"
        words = [f"{supposed} {' '.join(words)}"] if words else []
    return SectionPart(Section("What unjudged documents could change", tuple(blocks)), words, about, tau, why)


def disagreement(material: Material) -> SectionPart:
    """Show what another judging would do to the scores and to the order of the runs."""
    title, about = "What judging again could change", "another judging"
    commands, values = material.commands, material.commands.values
    try:
        loaded = load_probable(
            material.source, values=values or None, cutoff=material.cutoff, judged=material.judged
        )
    except PoolerError as error:
        if isinstance(error, ArgumentError) and error.name == "values":
            error = error.named("--value")
        text = f"Nothing can be said about it: {error.message}."
        return SectionPart(Section(title, (text,)), about=about, why=error.message)
    probable = loaded.rankings
    if not any(bool(((p > 0) & (p < 1)).any()) for p in probable.probabilities):
        text = (
            "Every document is certainly relevant or certainly not, as each has one judgement: nothing is"
            " known about how judges differ. `--value GRADE=P`, once for every grade, says how likely a"
            " document of that grade is relevant to another judge."
        )
        why = "unknown, as each document has one judgement; `--value` says what grades are worth"
        return SectionPart(Section(title, (text,)), about=about, why=why)
    has_pairs = len(probable.tags) > 1
    varied = variation_of(
        loaded,
        material.judged if material.source.names_qrels else None,
        source=material.source,
        by="pair" if has_pairs else "run",
        neighbours=True,
    )
    plots = {plot.table.name: plot for plot in varied.plots()}
    worth = "the value of its grade" if values else "the share of its judges who find it so"
    table = replace(varied.table("variation").sort("mean", descending=True), notes=())
    drawn, n = material.first(table, "the best")
    of_runs = replace(varied.runs_plot(), table=drawn, by="", title="MAP if judged again", axis="MAP")
    blocks: list[str | Figure] = [
        *voters_sentence(loaded.voters),
        figure(
            of_runs,
            "The dot is the expected MAP. If each document were judged again independently, and found"
            f" relevant with its probability ({worth}), the MAP over the same topics would lie within the"
            " line 95 times in 100. A judge who is stricter or milder throughout can move all MAPs beyond"
            " it.",
            commands.of_probabilities("variation"),
            table,
            ("run", "topics", "judged", "mean", "sd", "low", "high", "share"),
            n=n,
        ),
        *([f"{without_words(loaded.n_left_out)}."] if loaded.n_left_out else []),
        *(f"{one[0].upper()}{one[1:]}." for one in empty_words(probable.topics, varied.varied)),
    ]
    if not has_pairs:
        return SectionPart(Section(title, tuple(blocks)))
    pairs = varied.table("pairs").sort("reversed", descending=True)
    every = plots["reversed"].table.sort("reversed", descending=True)
    drawn, n = material.first(every, "those most likely to", "pair of neighbours", "pairs of neighbours")
    of_pairs = replace(
        plots["reversed"],
        table=drawn,
        by="",
        title="Neighbours that may change places",
        axis="probability of the reverse order",
    )
    blocks += [
        figure(
            of_pairs,
            "How likely judging again is to put the second run of each pair above the first; 0.5 ="
            " either order is as likely.",
            commands.of_probabilities("variation", "--by", "pair", "--neighbours"),
            pairs,
            _OF_PAIRS,
            n=n,
        ),
        f"{varied.conclusion()} Judging again is assumed to decide each document independently: relevant"
        f" with its probability ({worth}).",
    ]
    tau, why = varied.tau, f"no tau: {UNDEFINED['all-tied']}" if math.isnan(varied.tau) else ""
    if not why:
        about = f"on average if judged again (relevant with a probability: {worth})"
    return SectionPart(Section(title, tuple(blocks)), about=about, tau=tau, why=why)


def differences(material: Material) -> SectionPart | None:
    """Show how far apart runs have to be."""
    if len(material.diagnosis.runs) < 2 or material.depth is None:
        return None
    needed = _needed(material)
    gaps = [a - b for a, b in zip(numbers(needed, "difference"), numbers(needed, "needed"), strict=True)]
    n_enough = sum(gap >= 0 for gap in gaps)
    undecided = ""
    if n_enough < len(needed):
        pair = "any other pair" if n_enough else "a pair"
        # Not that they are equal follows for pairs that are not significantly different.
        undecided = f" These topics do not show which run of {pair} is better; that does not prove a tie."
    weight = Alarm if undecided else str
    words = weight(
        f"{n_enough or 'None'} of {counted(len(needed), 'pair')} of neighbours by MAP"
        f" {('is' if n_enough == 1 else 'are')} far enough apart for a paired t test at 0.05, each"
        f" pair taken by itself; by chance, 1 in 20 pairs of equal runs would be.{undecided}"
    )
    by_map = [str(needed.cells("a")[0]), *map(str, needed.cells("b"))]
    needed = needed.take(sorted(range(len(needed)), key=lambda row: (math.isnan(gaps[row]), gaps[row])))
    drawn, n = material.first(needed, "those furthest from it", "pair of neighbours", "pairs of neighbours")
    parts = {"difference": "difference in MAP", "needed": "needed"}
    drawing = figure(
        _plot("bars", "The difference that two runs need", drawn, ("a", "b"), "difference in MAP", parts),
        "Neighbours in the order of MAP: where the first bar is shorter than the second,"
        " the two are not significantly different at 0.05 (eq. 23 of Kishida 2001).",
        material.commands.of_runs("compare", runs=by_map),
        needed,
        ("a", "b", "difference", "needed"),
        n=n,
    )
    return SectionPart(Section("Whether runs differ", (drawing,)), [words])


def _needed(material: Material) -> Table:
    """Compute what every two neighbours by MAP need for a paired t test to find them different."""
    with listening(Listener()):  # what there is to say is on the page
        name = known_measure("AP", level=material.source.level)
        rankings, (scores,) = measured(material.source, [name], material.commands.cutoff)
    order = np.argsort(-scores.overall, kind="stable")
    places = np.arange(order.size)
    pairs = compare_pairs(scores.values[order], pairs=(places[:-1], places[1:]), tests=["t"])
    return Table.of_columns(
        "needed",
        {
            RUN_A: [rankings.tags[run] for run in order[:-1]],
            RUN_B: [rankings.tags[run] for run in order[1:]],
            DIFFERENCE: pairs.difference,
            Column("needed", "float", about="to be significant at 0.05 (eq. 23)"): needed_for_pairs(
                pairs, 0.05
            ),
        },
    )


def other_topics(material: Material) -> SectionPart | None:
    """Show how reliable the order of the runs is, and the order to expect with a new set of topics."""
    if len(material.diagnosis.runs) < 2:
        return None
    title = "What other topics would change"
    try:
        with listening(Listener()):  # warnings are on the page
            scores = load_pilot(material.source, "AP", material.commands.cutoff).scores
    except PoolerError as error:
        return SectionPart(Section(title, (f"Nothing can be said about it: {error.message}.",)))
    found, words = score_components(scores), " ".join(reliability_notes(scores))
    if found.reason is not None:
        return SectionPart(Section(title, (words,)))
    n_runs, n_topics = scores.shape
    command = material.commands.of_runs("design", "topics", "--table", "reliability")
    table = reliability_table(scores, sorted({n_topics, *TOPICS}))
    blocks = (
        figure(
            reliability_plot(table),
            "The dot is the share of the variance of mean scores that the runs themselves make: 1 = the same"
            " order with any such set of topics. The line is its 95% interval.",
            command,
            table,
            n=material.counted(counted(n_runs, "run")),
        ),
        words,
    )
    weight = Alarm if found.order().at(n_topics)[0] < _RELIABLE else str
    return SectionPart(Section(title, blocks), [weight(reliability_notes(scores)[0])])
