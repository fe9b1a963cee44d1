"""Parts of a report on the scores: how far they and the order of runs can move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pooler.cli.report.figures import Row, bars, dots, in_order, lines, page_table
from pooler.cli.report.material import Material
from pooler.cli.report.pool import limits
from pooler.report.drawing import Axis
from pooler.report.page import Figure, Section
from store.errors import ArgumentError, PoolerError
from store.text import counted

_OF_SENSITIVITY = ("run", "unjudged", "judged", "ended", "no_run", "map_before", "map_after",
                   "change", "tau_b", "tau_ap", "swapped", "reason")  # fmt: skip


_OF_REQUIRED = ("a", "b", "difference", "needed", "enough", "q", "h", "needed_if_found", "enough_if_found")


@dataclass(frozen=True, slots=True)
class Found:
    """A section, and what is said of it at the head of the page."""

    section: Section
    words: Sequence[str] = ()


def unjudged(material: Material) -> Found:
    """Show what the documents that nobody judged can do to the scores."""
    blocks: list[str | Figure] = [limits(material)]
    words: list[str] = []
    if material.depth is not None:
        from pooler.results.measure.sensitivity import conclusion, sensitivity
        from pooler.results.printed import printed

        result = sensitivity(material.source, depth=material.depth, cutoff=material.given.cutoff)
        table = in_order(printed(result.table("sensitivity")), "run", material.order)
        words = conclusion(result.runs, result)
        title = f"Change of MAP, were unjudged documents at rank {material.depth + 1:,} relevant"
        blocks += [
            Figure(
                title,
                "Each run's own unjudged documents at the first rank below the pool turn relevant,"
                " and no deeper ones (eq. 19 of Kishida 2001): a long bar is a score that hangs on"
                " where judging stopped.",
                bars(table, {"change": "change"}, title=title, axis=Axis("change of MAP"),
                     label=_run),
                page_table(table, names=_OF_SENSITIVITY),
                material.commands.of_runs("sensitivity", "--depth", str(material.depth)),
            ),
            *filter(None, [" ".join(words)]),
        ]  # fmt: skip
        supposed = (
            f"Supposing that each run's unjudged documents at rank {material.depth + 1:,}, and none"
            " deeper, are relevant:"
        )
        words = [f"{supposed} {' '.join(words)}"] if words else []
    return Found(Section("What unjudged documents can do", tuple(blocks)), words)


def disagreement(material: Material) -> Found:
    """Show what another judging would do to the scores and to the order of the runs."""
    from pooler.results.judge_kinds import mixture_sentence
    from pooler.results.measure.probabilities import empty_words, load_probable, without_words
    from pooler.results.measure.variation import REACH, variation_of
    from pooler.results.printed import printed

    title = "What another judging can do"
    values = material.given.ctx.params.get("values")
    try:
        loaded = load_probable(
            material.source, values=values, cutoff=material.given.cutoff, judged=material.judged
        )
    except ArgumentError as error:
        if error.name == "values":
            error = error.named("--value")
        return Found(Section(title, (f"Nothing can be said of it: {error.message}.",)))
    except PoolerError as error:
        return Found(Section(title, (f"Nothing can be said of it: {error.message}.",)))
    probable = loaded.rankings
    if not any(bool(((p > 0) & (p < 1)).any()) for p in probable.probabilities):
        text = (
            "Every document is surely relevant or surely not, as there is one judgement of each:"
            " nothing is known of how judges differ. `--value GRADE=P`, once for every grade, says"
            " how likely a document of that grade is relevant to another judge."
        )
        return Found(Section(title, (text,)))
    varied = variation_of(loaded, material.judged, pairs=len(probable.tags) > 1, neighbours=True)
    commands, extra = material.commands, material.commands.extra
    every = printed(varied.table("variation"))
    every.caption = every.caption.removeprefix(f"{varied.conclusion()}\n")  # said below
    order = {row["run"]: place for place, row in enumerate(
        sorted(every.rows, key=lambda row: -float(str(row["mean"]))))}  # fmt: skip
    table = in_order(every, "run", order)
    of_runs = "MAP, judged again"
    blocks: list[str | Figure] = [
        *mixture_sentence(loaded.kinds),
        Figure(
            of_runs,
            "The dot is the expected MAP. Were each document judged again by itself, relevant with"
            f" its probability ({_worth(extra)}), 95 in 100 such judgings of the same topics would"
            " give a MAP within the line. One judge who is stricter or milder throughout can move"
            " all MAPs beyond it.",
            dots(table, "mean", ("low", "high"), title=of_runs, axis=Axis("MAP", with_zero=False),
                 label=_run),
            page_table(table, interval=("mean", "low", "high"),
                       names=("run", "topics", "judged", "mean", "sd", "low", "high", "law",
                              "share")),
            commands.of_runs("variation", *extra),
        ),
        *([f"{without_words(loaded.n_left_out)}."] if loaded.n_left_out else []),
        *(f"{one[0].upper()}{one[1:]}." for one in empty_words(probable.topics, varied.varied)),
    ]  # fmt: skip
    words: list[str] = []
    if len(probable.tags) > 1:
        tau = varied.conclusion()
        words = [
            f"{tau} Another judging decides each document by itself, relevant with its probability"
            f" ({_worth(extra)})."
        ]
        pairs = printed(varied.table("pairs"))
        of_pairs = "Neighbours that may change places"
        blocks += [
            Figure(
                of_pairs,
                "How likely another judging puts the second run of each pair above the first; 0.5"
                " = either order is as likely.",
                bars(pairs, {"reversed": "reversed"}, title=of_pairs,
                     axis=Axis("probability of the other order", 0, REACH), label=_pair),
                page_table(pairs, names=("a", "b", "topics", "difference", "sd", "k",
                                         "p_t2_removed", "p_t2_included", "reversed", "tied",
                                         "law", "reversed_error")),
                commands.of_runs("variation", "--pairs", "--neighbours", *extra),
            ),
            tau,
        ]  # fmt: skip
    return Found(Section(title, tuple(blocks)), words)


def _worth(values: Sequence[str]) -> str:
    """Say what makes the probability that a document is relevant."""
    return "what its grade is worth" if values else "the share of its judges who find it so"


def differences(material: Material) -> Found | None:
    """Show how the topics of two runs differ, and how far apart runs have to be."""
    from pooler.results.measure.compare import compare
    from pooler.results.measure.required import required_difference
    from pooler.results.printed import printed
    from pooler.telling import Listener, listening

    if len(material.rankings.tags) < 2:
        return None
    given = material.given
    best, second = sorted(material.rankings.tags, key=lambda tag: material.order[tag])[:2]
    with listening(Listener()):  # what there is to say is on the page
        compared = compare(
            material.source, best, second, cutoff=given.cutoff if given.names("cutoff") else None
        )
    blocks: list[str | Figure] = []
    words: list[str] = []
    title = f"Differences of AP, {best} less {second}, topic by topic"
    if not material.commands.can_name((best, second)):
        blocks.append(
            f"The differences of the two best runs, {best} and {second}, topic by topic, are not"
            " shown: their files have one tag, which the list of runs alone tells apart."
        )
    elif compared.picture.reason is None:
        table = printed(compared.table("normality"))
        blocks.append(
            Figure(
                title,
                "Of the two best runs: the closer the steps follow the curve, the more nearly"
                " normal are the differences, as the t test supposes (figure 3 of Kishida 2001)."
                f" {counted(len(table.rows), 'topic')} show gross departures alone.",
                lines(table, "difference", {"share": "topics", "normal": "normal distribution"},
                      title=title, x_axis=Axis("difference of AP", with_zero=False),
                      y_axis=Axis("share of topics with a difference no larger", 0, 1),
                      stepped=frozenset({"share"})),
                page_table(table, caption="Points of the figure"),
                material.commands.of_runs("compare", "--plot", runs=(best, second)),
            )
        )  # fmt: skip
    if material.depth is not None:
        found = required_difference(
            material.source, variation=0.0, depth=material.depth, neighbours=True, cutoff=given.cutoff
        )
        needed = printed(found.table("required_difference"))
        n_enough = sum(row["enough"] is True for row in needed.rows)
        words = [
            f"{n_enough or 'None'} of {counted(len(needed.rows), 'pair')} of neighbours by MAP"
            f" {'is' if n_enough == 1 else 'are'} far enough apart for a paired t test at 0.05,"
            " each taken alone, as 1 in 20 pairs of equal runs would be by chance."
            + _undecided(n_enough, len(needed.rows))
        ]
        title = "The difference that two runs need"
        blocks.append(
            Figure(
                title,
                "Neighbours in the order of MAP: where the first bar is shorter than the second,"
                " the two are not significantly different at 0.05 (eq. 23 of Kishida 2001).",
                bars(needed, {"difference": "difference of MAP", "needed": "needed"}, title=title,
                     axis=Axis("difference of MAP"), label=_pair),
                page_table(needed, names=_OF_REQUIRED),
                material.commands.of_runs(
                    "required-difference", *([] if given.runs else ["--all"]), "--neighbours",
                    "--depth", str(material.depth),
                ),
            )
        )  # fmt: skip
    return Found(Section("Whether runs differ", tuple(blocks)), words) if blocks else None


def _undecided(n_enough: int, n_pairs: int) -> str:
    """Say what follows for pairs that are not significantly different: not that they are equal."""
    if n_enough == n_pairs:
        return ""
    pair = "any other pair" if n_enough else "a pair"
    return f" Which run of {pair} is the better these topics do not tell; that proves no tie."


def _run(row: Row) -> str:
    """Name the row of a run."""
    return str(row["run"])


def _pair(row: Row) -> str:
    """Name the row of two runs."""
    return f"{row['a']}, {row['b']}"
