"""Parts of a report on the scores: how far they and the order of runs can move, with other topics, too."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pooler.commands.measure.compare import compare, needed_for_pairs
from pooler.commands.measure.design import (
    TOPICS,
    load_pilot,
    reliability_notes,
    reliability_plot,
    reliability_table,
)
from pooler.commands.measure.evaluate_curves import RECALLS, evaluate_curves
from pooler.commands.measure.measured import known_measure, measured
from pooler.commands.trust.conclusions import Alarm
from pooler.commands.trust.depth_words import ranks_below
from pooler.commands.trust.report_page.material import Material
from pooler.commands.trust.report_page.on_pool import called, limits
from pooler.commands.trust.sensitivity import conclusion, sensitivity
from pooler.commands.trust.variation import variation_of
from pooler.judge_kinds import voters_sentence
from pooler.messages import Listener, listening
from pooler.pages.figures import figure, numbers
from pooler.pages.page import Figure, Section
from pooler.pages.svg import N_SERIES
from pooler.reasons import REASONS as UNDEFINED
from pooler.sources.probabilities import empty_words, load_probable, without_words
from pooler.tables import DIFFERENCE, RUN_A, RUN_B, Column, Plot, Table
from store.analysis.rankings import UNJUDGED
from store.analysis.significance.generalizability import score_components
from store.analysis.significance.pairs import compare_pairs
from store.errors import ArgumentError, PoolerError
from store.text import counted

_OF_SENSITIVITY = (
    "run",
    "unjudged",
    "judged",
    "ended",
    "no_run",
    "map_before",
    "map_after",
    "change",
    "tau_b",
    "tau_ap",
    "swapped",
    "reason",
)
_RELIABLE = 0.9
"""E rho2 below which the order of the runs is an alarm."""
_OF_REQUIRED = ("a", "b", "difference", "needed")
_OF_VARIATION = ("run", "topics", "judged", "mean", "sd", "low", "high", "share")
_OF_PAIRS = (
    "a",
    "b",
    "topics",
    "difference",
    "sd",
    "k",
    "p_t2_removed",
    "p_t2_included",
    "reversed",
    "simulated",
    "simulated_error",
)


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
        words = conclusion(found.runs, found)
        about = f"if the unjudged documents at {below} of one run, the worst, were relevant"
        why = ""
        taus = found.tau_b[(found.status == UNJUDGED).any(axis=1)]
        if not taus.size:
            about = "unjudged documents"
            why = f"none is at {below}, so none could be tried"
        elif np.isnan(taus).all():
            about, why = "unjudged documents", f"no tau: {UNDEFINED['all-tied']}"
        else:
            tau = float(np.nanmin(taus))
        table = found.table("sensitivity")
        moves = [-abs(change) for change in numbers(table, "change")]
        table = table.take(sorted(range(len(table)), key=lambda row: (math.isnan(moves[row]), moves[row])))
        drawn, n = material.first(table, "those that change most")
        title = f"Change of MAP if unjudged documents at {below} were relevant"
        blocks += [
            figure(
                Plot(
                    table=drawn, kind="bars", label="run", value="change", axis="change of MAP", title=title
                ),
                "Each run's own unjudged documents at the first rank below the pool turn relevant, and no"
                " deeper ones (eq. 19 of Kishida 2001): a long bar means a score that depends on"
                " where judging stopped.",
                material.commands.of_runs("sensitivity", *material.depth_words),
                replace(table, notes=()),
                _OF_SENSITIVITY,
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
            _OF_VARIATION,
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
    """Show how the topics of two runs differ, and how far apart runs have to be."""
    if len(material.diagnosis.runs) < 2:
        return None
    blocks: list[str | Figure] = [*_normality(material)]
    words: list[str] = []
    if material.depth is not None:
        needed = _needed(material)
        gaps = [a - b for a, b in zip(numbers(needed, "difference"), numbers(needed, "needed"), strict=True)]
        n_enough = sum(gap >= 0 for gap in gaps)
        weight = Alarm if n_enough < len(needed) else str
        words = [
            weight(
                f"{n_enough or 'None'} of {counted(len(needed), 'pair')} of neighbours by MAP"
                f" {('is' if n_enough == 1 else 'are')} far enough apart for a paired t test at 0.05, each"
                " pair taken by itself; by chance, so would 1 in 20 pairs of equal runs."
                + _undecided(n_enough, len(needed))
            )
        ]
        by_map = [str(needed.cells("a")[0]), *map(str, needed.cells("b"))]
        needed = needed.take(sorted(range(len(needed)), key=lambda row: (math.isnan(gaps[row]), gaps[row])))
        drawn, n = material.first(
            needed, "those furthest from it", "pair of neighbours", "pairs of neighbours"
        )
        blocks.append(
            figure(
                Plot(
                    table=called(drawn, {"difference": "difference in MAP", "needed": "needed"}),
                    kind="bars",
                    label=("a", "b"),
                    parts=("difference", "needed"),
                    axis="difference in MAP",
                    title="The difference that two runs need",
                ),
                "Neighbours in the order of MAP: where the first bar is shorter than the second,"
                " the two are not significantly different at 0.05 (eq. 23 of Kishida 2001).",
                material.commands.of_runs("compare", runs=by_map)
                if material.commands.can_name(by_map)
                else "",
                needed,
                _OF_REQUIRED,
                n=n,
            )
        )
    return SectionPart(Section("Whether runs differ", tuple(blocks)), words) if blocks else None


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


def _normality(material: Material) -> list[str | Figure]:
    best, second = material.diagnosis.table("runs").sort("ap", descending=True).cells("run")[:2]
    if not material.commands.can_name((str(best), str(second))):
        return [
            f"The differences of the two best runs, {best} and {second}, topic by topic, are not shown:"
            " their files have the same tag, and only the list of runs distinguishes them."
        ]
    with listening(Listener()):  # warnings are on the page
        compared = compare(material.source, str(best), str(second), cutoff=material.commands.cutoff)
    if compared.picture.reason is not None:
        return []
    table = compared.table("normality")
    parts = {"share": "topics", "normal": "normal distribution", "difference": "difference in AP"}
    return [
        figure(
            Plot(
                table=called(table, parts),
                kind="lines",
                label="difference",
                parts=("share", "normal"),
                axis="share of topics with a difference no larger",
                ends=(0, 1),
                stepped=("share",),
                title=f"Differences in AP, {best} minus {second}, topic by topic",
            ),
            "Of the two best runs: the closer the steps follow the curve, the more nearly normal the"
            " differences are, as the t test assumes (figure 3 of Kishida 2001). So few topics show only"
            " gross departures.",
            material.commands.of_runs("compare", "--plot", "differences.svg", runs=(str(best), str(second))),
            table,
            caption="Points of the figure",
            n=f"2 runs, {counted(len(table), 'topic')}",
        )
    ]


def curves(material: Material) -> Section:
    """Draw precision by recall, and recall by fallout, of the best runs."""
    with listening(Listener()):  # what there is to say is on the page
        found = evaluate_curves(material.source, cutoff=material.cutoff)
    command = material.commands.of_runs("evaluate", "curves")
    order = [*map(str, material.diagnosis.table("runs").sort("ap", descending=True).cells("run"))]
    areas = replace(found.table("areas").sort("area", descending=True), notes=())
    worth = dict(zip(found.runs, found.mean_area.tolist(), strict=True))
    points = found.table("precision_recall")
    drawn = order[: min(N_SERIES, material.limit)]
    # As many lines as a picture tells apart.
    which = f"{len(drawn)} best of {counted(len(order), 'run')}" if len(drawn) < len(order) else ""
    n = material.counted(which or counted(len(order), "run"))
    if which:
        n += "; a picture tells no more lines apart, the command prints all"
    of_drawn = points.where([run in drawn for run in points.cells("run")])
    return Section(
        "How the best runs find relevant documents",
        (
            figure(
                _lines("recall", "precision", found.mean_precision, found.runs, {one: one for one in drawn}),
                "Mean precision, at each recall the highest at any rank that has at least this recall (as in"
                " trec_eval).",
                command,
                of_drawn,
                ("run", "recall", "precision"),
                n=n,
            ),
            figure(
                _lines(
                    "fallout",
                    "recall",
                    found.mean_rates,
                    found.runs,
                    {one: f"{one}, area {worth[one]:.2f}" for one in drawn},
                ),
                "ROC curve of the documents of each list: the share of the relevant ones above a rank, by the"
                " share of the others above it. The area below it (AUC) is 0.5 for a list in random order;"
                " what a run did not retrieve plays no part.",
                command,
                areas,
                ("run", "area", "topics", "reason"),
                caption="area: mean area below the ROC curve, over the topics where it is defined",
                n=n,
            ),
        ),
    )


def _lines(
    across: str, up: str, values: NDArray[np.float64], runs: Sequence[str], names: Mapping[str, str]
) -> Plot:
    """Draw the mean curve of some runs over eleven places."""
    # A run may be called as an axis is.
    columns = {
        Column(f"line {place}", "float", name): values[:, runs.index(one)]
        for place, (one, name) in enumerate(names.items())
    }
    return Plot(
        table=Table.of_columns("curves", {Column(across, "float"): RECALLS, **columns}),
        kind="lines",
        label=across,
        parts=[column.name for column in columns],
        axis=up,
        ends=(0, 1),
        title=f"{up.capitalize()} by {across}",
    )


def _undecided(n_enough: int, n_pairs: int) -> str:
    """Return what follows for pairs that are not significantly different: not that they are equal."""
    if n_enough == n_pairs:
        return ""
    pair = "any other pair" if n_enough else "a pair"
    return f" These topics do not show which run of {pair} is better; that does not prove a tie."


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
            (
                "topics",
                "order",
                "order_low",
                "order_high",
                "level",
                "level_low",
                "level_high",
                "tau",
                "tau_ap",
            ),
            n=material.counted(counted(n_runs, "run")),
        ),
        words,
    )
    weight = Alarm if found.order().at(n_topics)[0] < _RELIABLE else str
    return SectionPart(Section(title, blocks), [weight(reliability_notes(scores)[0])])
