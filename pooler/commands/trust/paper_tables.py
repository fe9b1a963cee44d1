"""Tables and figures of the paper for two runs, each with what it says here, and the page of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pooler.commands.measure.compare import normality_plot
from pooler.pages.page import Figure, PageTable, ReportPage, Section
from pooler.pages.report import Report, figure, page_table, written_by
from pooler.result import Result
from pooler.sources.probabilities import Probable
from pooler.tables import DOCUMENTS, RUN, TOPIC, Column, Plot, Table, hidden
from store.analysis.agreement.votes import PopulationVotes
from store.analysis.measures.average_precision import (
    expected_average_precision,
    least_average_precision,
    variance_of_average_precision,
)
from store.analysis.significance.t_tests import (
    NormalityPicture,
    normal_p,
    normality_picture,
    paired_t,
    shapiro_wilk,
    unpaired_t,
)
from store.analysis.undiscovered import (
    discovery_effect_below,
    discovery_range,
    relative_drop,
    required_difference,
    round_up,
)
from store.analysis.variation.collection import (
    CollectionVariation,
    Discovery,
    VariedPairs,
    difference_variance,
    order_probabilities,
    pair_components,
    run_components,
)
from store.analysis.variation.simulation import SimulatedMaps
from store.errors import ArgumentError
from store.records import Scale
from store.text import counted, percent

MOST_TOPICS = 16
"""Rows of tables 1 and 2 that people see."""
SMALL_SHARE = 0.1
"""Share of the variance, and of a MAP, below which the paper calls an effect small (its section 5)."""
MOVED = 0.01
"""Difference of p from which on it counts as moved."""
NUMBERS_OF_TOPICS = (30, 50, 100, 150)
"""Of tables 7 and 8, beside the collection's own number."""
STATES = {
    "none": "topics in which the list is shorter",
    "unjudged": "without a judgement",
    "no chance": "judged, and p is 0",
    "either way": "0 < p < 1",
    "relevant": "p is 1",
}
"""Of the document at rank N + 1."""
_ALWAYS = "Judgements of different documents are taken for independent, and p from few judges is coarse."
_CHANCE = {
    "table_1": (least_average_precision, "least (eq. 4)"),
    "table_2": (expected_average_precision, "random (eq. 5)"),
}

_WHY = {
    "one-topic": "one topic has no variance",
    "order-turns": "the order turns",
    "no-difference": "A and B do not differ",
    "no-variation": "nothing varies",
}


@dataclass(frozen=True, slots=True)
class Below:
    """What stands at rank N + 1, and what there would be with the documents of B there found relevant."""

    rank: int
    discovered: Discovery
    """The documents at this rank of B, and the topics with them found relevant."""
    found: CollectionVariation
    """Moments of A and B then."""
    at_rank: Sequence[Mapping[str, int]]
    """Of A and of B, in how many topics each of `STATES` is there; of the unjudged documents, how many
    another run retrieved: ``elsewhere``."""
    simulated: SimulatedMaps


def letters(pair: Paper) -> str:
    """Say which run is A, and which B."""
    return f"A = {pair.runs[0]}, B = {pair.runs[1]}."


def by_whom(pair: Paper) -> str:
    """Say by whose judgement."""
    level = next(iter(pair.scores))
    n = len(pair.judges)
    first = f" alone, the first of {n} (--qrels names another)" if n > 1 else ""
    return f"By judge {pair.judges[0]}{first}; relevant = grade {level} or more."


def rounded(number: float | None, digits: int = 3) -> str:
    """Write a number; a dash = it is not defined, and no digit is shown as 0 that is none."""
    if number is None or np.isnan(number):
        return "-"
    least = 10.0**-digits
    return f"below {least:g}" if 0 < number < least / 2 else f"{number:.{digits}f}"


def share_text(share: float) -> str:
    """Write a share; a dash = it is not defined."""
    return "-" if np.isnan(share) else f"{share:.1%}"


def verdicts(pair: Paper) -> Table:
    """Say which statements of the paper's section 5 hold here."""
    tested, parts = pair.tested, run_components(pair.varied)
    t1, t2 = abs(float(tested.t1_removed[0])), abs(float(tested.t2_removed[0]))
    shares = parts.share
    drops = (pair.varied.map_mean - pair.found.found.map_mean) / pair.varied.map_mean
    p, after = (one.p_values()["t2_removed"][0] for one in (tested, pair.tested_found))
    rows = [
        ("pairing the topics makes the test sharper: |t2| > |t1|", t2 > t1, f"{rounded(t2)}, {rounded(t1)}"),
        (
            f"judging is a small part of the variance: below {SMALL_SHARE:.0%} in A and B",
            bool((shares < SMALL_SHARE).all()),
            ", ".join(map(share_text, shares)),
        ),
        (
            f"found documents move each MAP by less than {SMALL_SHARE:.0%}",
            bool((np.abs(drops) < SMALL_SHARE).all()),
            ", ".join(f"{-drop:+.1%}" for drop in drops),
        ),
        (
            f"and yet they move p of the paired test by more than {MOVED:g}",
            bool(abs(after - p) > MOVED),
            f"{rounded(p)} to {rounded(after)}",
        ),
    ]
    about = "of section 5 of the paper"
    columns = [Column("statement", about=about), Column("holds", "bool", "here"), Column("numbers")]
    statements, holds, numbers = zip(*rows, strict=True)
    false = sum(not one for one in holds)
    words = f"{false} of the 4 statements {'does' if false == 1 else 'do'} not hold here."
    words = words if false else "All four hold here, too."
    cells = dict(zip(columns, (statements, holds, numbers), strict=True))
    return Table.of_columns("verdicts", cells, notes=[words, _ALWAYS])


def topics(pair: Paper) -> Table:
    """Give the moments of every topic, before and after, and the document of B that is found."""
    after, one = pair.found.found, pair.found.discovered
    places = [(place, int(one.documents[place])) for place in np.flatnonzero(one.flipped).tolist()]
    flipped = dict(zip([place for place, _ in places], pair.loaded.docnos(places), strict=True))
    columns = {
        TOPIC: pair.topics,
        Column("mean_a", "float", "E(A)", "expected AP"): pair.varied.mean[0],
        Column("mean_b", "float", "E(B)"): pair.varied.mean[1],
        Column("variance_a", "float", "V(A)", "by judging"): pair.varied.covariance[:, 0, 0],
        Column("variance_b", "float", "V(B)"): pair.varied.covariance[:, 1, 1],
        Column("covariance", "float", "Cov"): pair.varied.covariance[:, 0, 1],
        Column("docno", about="the document of B that is found relevant"): [
            flipped.get(place) for place in range(len(pair.topics))
        ],
        Column("mean_a_found", "float", "E(A) then"): after.mean[0],
        Column("mean_b_found", "float", "E(B) then"): after.mean[1],
    }
    return Table.of_columns("topics", columns)


def beside_chance(pair: Paper, name: str) -> Table:
    """Make tables 1 and 2: the AP of both runs (eq. 1) beside what their N and R give by chance."""
    of, heading = _CHANCE[name]
    n, r = (np.array([one[which] for one in pair.own]) for which in ("documents", "retrieved"))
    numbers = np.maximum(n, 1), np.maximum(r, 1)
    laws = (of, variance_of_average_precision)
    value, variance = (np.where(r > 0, law(*numbers), np.nan) for law in laws)
    ap, sd = np.array([one["own"] for one in pair.own], dtype=np.float64), np.sqrt(variance)
    is_least = name == "table_1"
    n_so = int((ap <= value + (1e-12 if is_least else 2 * sd)).sum())
    which = "as bad as they could be" if is_least else "no better than a random order (+ 2 sd)"
    of_all = f"of {counted(int((r > 0).sum()), 'list')} with a relevant document"
    columns = {
        RUN: [one["run"] for one in pair.own],
        TOPIC: [one["topic"] for one in pair.own],
        Column("documents", "int", "N", "documents that the run lists"): n,
        Column("relevant", "int", "R", "relevant ones among them"): r,
        Column("ap", "float", "AP", "by eq. 1, with that R"): ap,
        Column("value", "float", heading): value,
        Column("sd", "float", show="never" if is_least else "always"): sd,
    }
    words = f"{n_so:,} {of_all} {'is' if n_so == 1 else 'are'} {which}."
    return Table.of_columns(name, columns, notes=[words, by_whom(pair)])


def table_3(pair: Paper) -> Table:
    """Make cells of quartiles of R and AP, with what eq. 19 gives there."""
    r = np.array([one["relevant"] for one in pair.own if one["relevant"]])
    ap = np.array([one["ap"] for one in pair.own if one["ap"] is not None])
    rows, rank = [], pair.found.rank
    quarters = (0.25, 0.5, 0.75)
    counts = sorted({round(float(one)) for one in np.quantile(r, quarters)}) if r.size else []
    for count in counts:
        for before in sorted({float(one) for one in np.quantile(ap, quarters)}):
            low, high = discovery_range(count, before, rank) or (None, None)
            least = float(least_average_precision(rank - 1, count)) if count < rank else 2.0
            change = discovery_effect_below(count, before, rank) if before >= least - 1e-12 else None
            rows.append({"relevant": count, "ap": before, "change": change, "low": low, "high": high})
    columns = [
        Column("relevant", "int", "R", "quartiles of the topics' relevant documents"),
        Column("ap", "float", "AP", "quartiles of the AP of both runs"),
        Column("change", "float", "eq. 20", "- where it cannot occur: all R above already give more", 5),
        Column("low", "float", "least", "by eq. 19, for any number not retrieved", 5),
        Column("high", "float", "greatest", digits=5),
    ]
    real = [one["change"] for one in pair.own if one["change"] is not None]
    words = (
        f"A relevant document at rank {rank:,} would move one topic's AP by"
        f" {min(real):+.4f} to {max(real):+.4f}, {float(np.mean(real)):+.4f} on average, in"
        f" {counted(len(real), 'list')}."
        if real
        else f"No list has a document at rank {rank:,} that is not relevant already."
    )
    return Table.of_rows("table_3", columns, rows, notes=[words, by_whom(pair)])


def figure_1(pair: Paper) -> Table:
    """Count what the two processes, choosing topics and judging, add to the uncertainty of MAP."""
    parts = run_components(pair.varied)
    own = pair.votes.votes
    each = np.bincount(own.documents, minlength=own.n_documents)
    n_topics = len(pair.topics)
    topic_sd, judging_sd = np.sqrt(parts.topic_variance / n_topics), parts.by_judging
    low, high = int(each.min()), int(each.max())
    cells = {
        "topics": str(n_topics),
        "judged documents": f"{own.n_documents:,}",
        "of them may be relevant or not (0 < p < 1)": f"{int(((pair.p > 0) & (pair.p < 1)).sum()):,}",
        "judges a document": str(low) if low == high else f"{low} to {high}",
    }
    for run, name in enumerate("AB"):
        for which, sd in (("choice of topics", topic_sd), ("judging", judging_sd)):
            cells[f"sd of the MAP of {name} by {which}"] = rounded(float(sd[run]), 4)
    share = parts.share
    words = (
        f"Of the variance of the MAP of A, {share_text(1 - share[0])} is the choice of topics and"
        f" {share_text(share[0])} judging; of B {share_text(1 - share[1])} and {share_text(share[1])}."
    )
    columns = {Column("what", heading="two processes"): [*cells], Column("value"): [*cells.values()]}
    return Table.of_columns("figure_1", columns, notes=[words])


def figure_2(pair: Paper) -> Table:
    """Count what stands at rank N + 1."""
    columns: dict[Column, Any] = {RUN: pair.runs}
    elsewhere = {"elsewhere": "of the unjudged ones, those that another run retrieved"}
    for state, about in {**STATES, **elsewhere}.items():
        counts = [one[state] for one in pair.found.at_rank]
        columns[Column(state.replace(" ", "_"), "int", about=about)] = counts
    n_topics = len(pair.topics)
    words = (
        f"Rank {pair.found.rank:,} of B is unjudged in {pair.found.at_rank[1]['unjudged']:,} of"
        f" {counted(n_topics, 'topic')}, of A in {pair.found.at_rank[0]['unjudged']:,}."
    )
    return Table.of_columns("figure_2", columns, notes=[words])


def table_4(pair: Paper) -> Table:
    """Count documents by the grades of their judges."""
    own = pair.votes.votes
    patterns: dict[tuple[int, ...], list[float]] = {}
    starts = np.searchsorted(own.documents, np.arange(own.n_documents + 1))
    for document in range(own.n_documents):
        grades = own.places[starts[document] : starts[document + 1]]
        key = tuple(sorted((own.scale_values[place] for place in grades.tolist()), reverse=True))
        patterns.setdefault(key, []).append(float(pair.p[document]))
    keys = sorted(patterns, key=lambda key: (-len(key), [-grade for grade in key]))
    n_open = int(((pair.p > 0) & (pair.p < 1)).sum())
    words = f"{counted(n_open, 'document')} ({percent(n_open, pair.p.size)}) may turn out either way."
    columns = {
        Column("grades", "ints", about="of the judges of a document, in any order"): [*map(list, keys)],
        Column("judges", "int", show="if_varied"): [*map(len, keys)],
        DOCUMENTS: [len(patterns[key]) for key in keys],
        Column("p", "float", about="how likely such a document is relevant"): [
            patterns[key][0] for key in keys
        ],
    }
    return Table.of_columns("table_4", columns, notes=[words])


def table_5(pair: Paper) -> Table:
    """Make a row for every judge and level, and one for the model."""
    rows: list[dict[str, Any]] = []
    for level, judge, scores in pair.by_judge:
        for run, own in zip(pair.runs, scores, strict=True):
            row = {"run": run, "judge": judge, "level": level, "topics": own.size}
            row |= {"mean": float(own.mean())} if own.size else {}
            rows.append(row | ({"variance": float(own.var(ddof=1))} if own.size > 1 else {}))
    parts, simulated = run_components(pair.varied), pair.simulated
    for number, run in enumerate(pair.runs):
        topic, judging = float(parts.topic_variance[number]), float(parts.judging_variance[number])
        of_run = {"run": run, "topics": len(pair.topics)}
        row = of_run | {"judge": "(model)", "mean": float(parts.mean[number]), "variance": topic + judging}
        row |= {"topic_variance": topic, "judging_variance": judging, "share": float(parts.share[number])}
        drawn = float(simulated.covariance[number, number] * len(pair.topics))
        again = {"judge": "(simulated)", "mean": float(simulated.mean[number]), "judging_variance": drawn}
        rows += [row, of_run | again]
    columns = [
        RUN,
        Column("judge"),
        Column("level", "int", about="least relevant grade"),
        Column("topics", "int", show="if_varied"),
        Column("mean", "float", "MAP"),
        Column("variance", "float", "s2", "over topics, of the model with judging included"),
        Column("topic_variance", "float", "by topics", "of the expected AP, over topics"),
        Column("judging_variance", "float", "by judging", "mean over topics; simulated: L times that of MAP"),
        Column("share", "float", about="how much of the variance is by judging"),
    ]
    a, b = map(share_text, parts.share)
    words = f"Judging makes up {a} of the variance of A, {b} of B."
    return Table.of_rows("table_5", columns, rows, notes=[words, letters(pair)])


def table_6(pair: Paper) -> Table:
    """Test the difference by every judge and level, and in the model."""
    rows: list[dict[str, Any]] = []
    for level, judge, (first, second) in pair.by_judge:
        rows.append({"judge": judge, "level": level, "topics": first.size, **_tests(first, second)})
    tested, parts = pair.tested, pair.tested.components
    moments = moments_of_pair(pair.varied, tested)
    p = tested.p_values()
    for which, judging in (("removed", 0), ("included", 1)):
        row: dict[str, Any] = {"judge": f"(model, judging {which})", "topics": len(pair.topics)}
        row["difference"] = float(parts.mean[0])
        for name in ("variance", "variance_a", "variance_b", "covariance"):
            row[name] = moments[f"topic_{name}"] + judging * moments[f"judging_{name}"]
        for name in ("t1", "t2"):
            t = float(getattr(tested, f"{name}_{which}")[0])
            row |= {name: t, f"p_normal_{name}": normal_p(t), f"p_{name}": float(p[f"{name}_{which}"][0])}
        rows.append(row)
    columns = [
        Column("judge"),
        Column("level", "int"),
        Column("topics", "int", show="if_varied"),
        Column("difference", "float", "A - B"),
        *map(hidden, ("variance_a", "variance_b", "covariance")),
        Column("t1", "float", about="of two samples (eq. 8)", digits=3),
        hidden("p_normal_t1"),
        Column("p_t1", "float", "p(t1)", digits=3),
        Column("variance", "float", "s2", "of the differences by topic"),
        Column("t2", "float", about="of pairs (eq. 9)", digits=3),
        hidden("p_normal_t2"),
        Column("p_t2", "float", "p(t2)", digits=3),
    ]
    removed, included = (float(p[f"t2_{which}"][0]) for which in ("removed", "included"))
    words = (
        f"Pairing the topics takes p from {rounded(float(p['t1_included'][0]))} to {rounded(included)};"
        f" taking the judging out, to {rounded(removed)}."
    )
    return Table.of_rows("table_6", columns, rows, notes=[words, letters(pair)])


def figure_3(pair: Paper) -> Table:
    """List the expected differences with the two curves."""
    picture = pair.picture
    [(w, p)] = shapiro_wilk(picture.differences[None])
    words = (
        "The differences do not vary."
        if picture.reason
        else f"Shapiro and Wilk's W is {w:.4f}, p {rounded(p)}: the differences look"
        f" {'unlike' if p < 0.05 else 'like'} a normal law at 5%; the curves are at most"
        f" {picture.largest_distance:.3f} apart."
        if p is not None
        else "There are too few topics for a test of normality."
    )
    columns = {
        Column("difference", "float", "E(A - B)", "of a topic"): picture.differences,
        Column("share", "float", about="topics whose difference is no larger"): picture.shares,
        Column("normal", "float", about="normal curve of the same mean and variance"): picture.normal,
    }
    return Table.of_columns("figure_3", columns, notes=[words])


def section_4_3(pair: Paper) -> Table:
    """Set both runs before and after beside each other, and what judging again at random gave."""
    rows: list[dict[str, Any]] = []
    for name, varied, tested, simulated in (
        ("before", pair.varied, pair.tested, pair.simulated),
        ("found", pair.found.found, pair.tested_found, pair.found.simulated),
    ):
        moments = moments_of_pair(varied, tested)
        low, high = tested.components.interval()
        own = [*simulated.mean, -np.diff(simulated.mean)[0]]
        (a, both), (_, b) = simulated.covariance
        share = float(simulated.above[1, 0])
        cells = (
            ("MAP of A", moments["mean_a"], own[0]),
            ("MAP of B", moments["mean_b"], own[1]),
            ("A - B", moments["difference"], own[2]),
            ("variance of the differences by topics", moments["topic_variance"], None),
            (
                "and by judging",
                moments["judging_variance"],
                difference_variance(a, b, both) * len(pair.topics),
            ),
            ("K", moments["k"], None),
            ("t2, judging removed", tested.t2_removed[0], None),
            ("its p", tested.p_values()["t2_removed"][0], None),
            ("B above A if judged again: how likely", order_probabilities(varied)[1, 0], share),
            ("standard error of that share", None, (share * (1 - share) / simulated.repetitions) ** 0.5),
            ("A - B if judged again: at least (95%)", low[0], None),
            ("and at most", high[0], None),
        )
        told_of = "simulated" if name == "before" else "simulated_found"
        rows = rows or [{"what": what} for what, _, _ in cells]
        for row, (_, exact, drawn) in zip(rows, cells, strict=True):
            row[name] = None if exact is None else float(exact)
            row[told_of] = None if drawn is None else float(drawn)
    columns = [
        Column("what", heading="of A and B"),
        Column("before", "float", "as judged"),
        Column("simulated", "float"),
        Column("found", "float", "if found"),
        Column("simulated_found", "float", "simulated"),
    ]
    q, h, included = pair.difference_drop, *(pair.variance_drop(judging=one) for one in (False, True))
    difference, then = (float(one.components.mean[0]) for one in (pair.tested, pair.tested_found))
    p, p_then = (float(one.p_values()["t2_removed"][0]) for one in (pair.tested, pair.tested_found))
    turns = "the order turns" if q >= 1 else "the order stays"
    if difference == 0:
        turns = "there was no order"
    drop = "" if np.isnan(q) else f" (Q = {q:.2f})"
    n_found = counted(int(pair.found.discovered.flipped.sum()), "topic")
    settings = (pair.settings["scenario"], pair.settings["flip"])
    papers = "as in the paper" if settings == ("own", "not-relevant") else f"{settings[0]}, {settings[1]}"
    words = (
        f"Had the document at rank {pair.found.rank:,} of B been relevant in {n_found} ({papers}), the"
        f" difference would be {then:.4f} instead of {difference:.4f}{drop}, p"
        f" {rounded(p_then)} instead of {rounded(p)}; {turns}."
    )
    drawn = pair.simulated
    notes = [
        words,
        f"H, by which the variance falls: {rounded(h, 2)} judging removed, {rounded(included, 2)} included.",
        "That all of them are relevant is a worst case, no likelihood.",
        "As judged and if found: exact moments, and the normal law of them.",
        f"simulated: {drawn.repetitions:,} random judgings, seed {drawn.seed}.",
    ]
    return Table.of_rows("section_4_3", columns, rows, notes=notes)


def needed(pair: Paper, name: str) -> Table:
    """Compute tables 7 and 8: the differences needed with the pair's own variance, K, Q and H."""
    parts = pair.tested.components
    whole = float(parts.topic_variance[0] + parts.judging_variance[0])
    k = float(parts.share[0])
    alpha = pair.settings["alpha"]
    rows: list[dict[str, Any]] = []
    for share, words in ((0.0, "included"), (k, "removed")):
        q = h = 0.0
        if name == "table_8":
            q, h = pair.difference_drop, pair.variance_drop(judging=words == "included")
        for n_topics in dict.fromkeys((len(pair.topics), *NUMBERS_OF_TOPICS)):
            row = {"judging": words, "variance": whole, "k": share, "q": q, "h": h, "topics": n_topics}
            if n_topics > 1 and q < 1 and whole > 0 and np.isfinite([whole, q, h, share]).all():
                drops = {"variation_share": share, "difference_drop": q, "variance_drop": h}
                y = required_difference(whole, n_topics, **drops, alpha=alpha)
                row |= {"difference": float(y), "rounded": float(round_up(y))}
            else:
                why = "no-difference" if np.isnan(q) else "order-turns" if q >= 1 else "no-variation"
                row["reason"] = "one-topic" if len(pair.topics) < 2 else why
            rows.append(row)
    is_8 = name == "table_8"
    columns = [
        Column("judging"),
        Column("variance", "float", "s2", show="never" if is_8 else "always"),
        Column("k", "float", "K", "share of it that is left out", digits=3),
        Column("q", "float", "Q", digits=3, show="always" if is_8 else "never"),
        Column("h", "float", "H", digits=3, show="always" if is_8 else "never"),
        Column("topics", "int", "L"),
        hidden("difference"),
        Column("rounded", "float", "needed", f"for significance at {alpha:g}, rounded up"),
        Column("reason", show="if_any"),
    ]
    own = rows[0]
    have = abs(float(parts.mean[0]))
    if "reason" in own:
        words = f"None: {_WHY[own['reason']]}."
    else:
        reached = "reach it" if have >= own["difference"] else "do not reach it"
        words = (
            f"With {counted(len(pair.topics), 'topic')} a difference of {own['rounded']:.4f} is needed;"
            f" A and B, {have:.4f} apart, {reached}."
        )
    return Table.of_rows(name, columns, rows, notes=[words])


def _tests(first: NDArray[np.float64], second: NDArray[np.float64]) -> dict[str, Any]:
    apart, together = unpaired_t(first, second), paired_t(first - second)
    found: dict[str, Any] = {"difference": together.difference, "variance": together.variance}
    found |= {"t1": apart.t, "p_normal_t1": apart.p_normal, "p_t1": apart.p}
    found |= {"t2": together.t, "p_normal_t2": together.p_normal, "p_t2": together.p}
    if first.size > 1:
        found |= {"variance_a": float(first.var(ddof=1)), "variance_b": float(second.var(ddof=1))}
        found["covariance"] = float(np.cov(first, second)[0, 1])
    return found


def moments_of_pair(varied: CollectionVariation, tested: VariedPairs) -> dict[str, float]:
    """Return the moments of A and B and of their difference, by name."""
    runs, parts = run_components(varied), tested.components
    found = {"difference": parts.mean[0], "k": parts.share[0]}
    found |= {"topic_variance": parts.topic_variance[0], "judging_variance": parts.judging_variance[0]}
    for name, row in (("a", 0), ("b", 1)):
        found[f"mean_{name}"] = runs.mean[row]
        found[f"topic_variance_{name}"] = runs.topic_variance[row]
        found[f"judging_variance_{name}"] = runs.judging_variance[row]
    enough = varied.mean.shape[1] > 1
    found["topic_covariance"] = np.cov(varied.mean)[0, 1] if enough else np.nan
    found["judging_covariance"] = varied.covariance[:, 0, 1].mean()
    return {name: float(value) for name, value in found.items()}


TABLES: dict[str, tuple[str, Callable[[Paper], Table]]] = {
    "verdicts": ("What the paper would say of this collection", verdicts),
    "table_1": ("Table 1: AP beside the least there can be", partial(beside_chance, name="table_1")),
    "table_2": ("Table 2: AP beside that of a random order", partial(beside_chance, name="table_2")),
    "table_3": ("Table 3: change of AP by one relevant document at rank {rank:,}", table_3),
    "figure_1": ("Figure 1: two processes, the choice of topics and judging", figure_1),
    "figure_2": ("Figure 2: the documents at rank {rank:,}", figure_2),
    "table_4": ("Table 4: how likely documents are relevant, by their judges' grades", table_4),
    "table_5": ("Table 5: MAP and variance, by judge and by the model", table_5),
    "table_6": ("Table 6: tests of the difference of A and B", table_6),
    "figure_3": ("Figure 3: expected differences by topic, and the normal curve", figure_3),
    "section_4_3": ("Section 4.3: the documents at rank {rank:,} of B found relevant", section_4_3),
    "table_7": ("Table 7: difference needed (eq. 23)", partial(needed, name="table_7")),
    "table_8": (
        "Table 8: difference needed if the documents at rank {rank:,} were found (eq. 24)",
        partial(needed, name="table_8"),
    ),
    "topics": ("Moments by topic", topics),
}
"""Title and maker of each table, in the paper's order."""
NEEDS_RANK = ("verdicts", "table_3", "figure_2", "section_4_3", "table_8", "topics")
"""What is of the documents at rank N + 1."""


@dataclass(frozen=True, slots=False, eq=False, repr=False, kw_only=True)
class Paper(Result):
    """Tables and figures of the paper for two runs of a collection.

    Tables: `verdicts`, what its section 5 says, true or false here; `table_1` to `table_8`, `figure_1` to
    `figure_3`, `section_4_3`, in the paper's order; `topics`, the moments they rest on. Of files without a
    rank those that rest on it are not there.
    """

    runs: tuple[str, str]
    """A, with the higher expected MAP, and B."""
    topics: Sequence[str]
    judges: Sequence[str]
    scale: Scale = field(repr=False)
    votes: PopulationVotes = field(repr=False)
    scores: Mapping[int, NDArray[np.float64]] = field(repr=False)
    """By level the AP of A and B by every judge, shape (n_topics, 2, n_judges); NaN where R = 0."""
    p: NDArray[np.float64] = field(repr=False)
    """Of every judged document, in [0, 1]."""
    varied: CollectionVariation = field(repr=False)
    """Moments of A and B, in this order."""
    below: Below | None = field(repr=False)
    """``None`` = of files without a rank."""
    loaded: Probable = field(repr=False)
    own: Sequence[Mapping[str, Any]] = field(repr=False)
    """Scores of both runs by the first judge, a row a run and topic."""
    simulated: SimulatedMaps = field(repr=False)
    """As judged."""

    @property
    def found(self) -> Below:
        """What is found at rank N + 1; `ArgumentError` without a rank."""
        if self.below is None:
            raise ArgumentError("rank", "must be the rank below the pool", None)
        return self.below

    @cached_property
    def tested(self) -> VariedPairs:
        """The difference of A and B in the model, and its tests."""
        return pair_components(self.varied, (np.array([0]), np.array([1])))

    @cached_property
    def tested_found(self) -> VariedPairs:
        """The same with the documents found."""
        return pair_components(self.found.found, (np.array([0]), np.array([1])))

    @property
    def difference_drop(self) -> float:
        """Q, share by which the difference falls then; 1 or more = the order turns, NaN = there is none."""
        return float(relative_drop(self.tested.components.mean, self.tested_found.components.mean)[0])

    def variance_drop(self, *, judging: bool) -> float:
        """H, share by which the variance over topics falls, with or without judging; NaN = it is 0."""
        sides = [one.components for one in (self.tested, self.tested_found)]
        variances = [one.topic_variance + (one.judging_variance if judging else 0.0) for one in sides]
        return float(relative_drop(*variances)[0])

    @cached_property
    def picture(self) -> NormalityPicture:
        """Figure 3: expected differences by topic beside the normal curve."""
        return normality_picture(self.varied.mean[0] - self.varied.mean[1])

    @cached_property
    def by_judge(self) -> list[tuple[int, str, NDArray[np.float64]]]:
        """Level, judge, and AP of A and B, shape (2, n), over the topics where both have one."""
        found = []
        for number, judge in enumerate(self.judges):
            for level, scores in self.scores.items():
                own = scores[:, :, number]
                found.append((level, judge, own[~np.isnan(own).any(axis=1)].T))
        return found

    PAGE = "pooler.commands.trust.paper_tables:paper_report"

    def _tables(self) -> Iterator[Table]:
        for name in (*self.shown(), *(["topics"] * (self.below is not None))):
            is_long = name in ("table_1", "table_2") and len(self.topics) > MOST_TOPICS
            table = TABLES[name][1](self)
            yield table.seen_as(title=self.title(name), limit=MOST_TOPICS if is_long else None)

    def shown(self) -> tuple[str, ...]:
        """Return what the paper prints."""
        left_out = {"topics", *(() if self.below is not None else NEEDS_RANK)}
        return tuple(name for name in TABLES if name not in left_out)

    def facts(self) -> Mapping[str, Any]:
        """Return the test of normality of figure 3, and how far its two curves are apart."""
        [(w, p)] = shapiro_wilk(self.picture.differences[None])
        distance = self.picture.largest_distance
        return {"w": w, "p_normality": p, "largest_distance": None if np.isnan(distance) else distance}

    def title(self, name: str) -> str:
        """Return what a table or figure is called."""
        return TABLES[name][0].format(rank=self.below and self.below.rank)

    def drawings(self) -> dict[str, Plot]:
        """Return the figures by name; figure 3 where the differences have a law."""
        components = run_components(self.varied)
        variances = {
            RUN: self.runs,
            Column("topic_variance", "float", "topics"): components.topic_variance,
            Column("judging_variance", "float", "judging"): components.judging_variance,
        }
        stacks: dict[str, tuple[Table, Sequence[Column], str]]
        stacks = {"figure_1": (Table.of_columns("figure_1", variances), [*variances][1:], "variance of AP")}
        if self.below is not None:
            table = self.table("figure_2")
            stacks["figure_2"] = (table, table.columns[1 : 1 + len(STATES)], "topics")
        found = {}
        for name, (table, columns, axis) in stacks.items():
            parts = [one.name for one in columns]
            found[name] = Plot(table=table, kind="stacks", label="run", parts=parts, axis=axis)
        found |= dict(zip(["figure_3"], normality_plot(self.picture, "expected difference"), strict=False))
        return {name: replace(plot, title=self.title(name)) for name, plot in found.items()}


_READ = {
    "figure_1": "A bar is the variance of one run's AP: its first part comes from the choice of topics, its"
    " second from judging.",
    "figure_2": "A bar is what stands at that rank in the topics of one run.",
    "figure_3": "The closer the steps follow the curve, the more nearly normal the differences are, as the t"
    " test assumes.",
}


def paper_report(paper: Paper) -> Report:
    """Make the page of `pooler paper --html`, in the paper's order, without network and script."""
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
    table = paper.table("verdicts")
    points = tuple(
        f"{'Holds' if row['holds'] else 'Does not hold'}: {row['statement']} ({row['numbers']})."
        for row in table.sort("holds").to_records()
    )
    return Section(paper.title("verdicts"), (table.notes[0], points, *table.notes[1:]))


def _section(paper: Paper, name: str) -> Section:
    table = paper.table(name)
    notes = [note for note in table.notes if note]
    drawn = paper.drawings().get(name)
    blocks: list[str | PageTable | Figure] = [*notes[:1]]
    if drawn is not None:
        blocks.append(figure(drawn, _READ[name], "", table, caption="Numbers of the figure"))
    else:
        (view,) = paper.views(name)
        shown = [one for one in view.declared() if one.show != "never"]
        meanings = [f"{one.title}: {one.about}." for one in shown if one.about]
        caption = " ".join([*notes[1:], *meanings]) or "Numbers"
        blocks.append(page_table(table, [one.name for one in shown], caption=caption))
    return Section(paper.title(name), tuple(blocks))
