"""Table 6, figure 3, section 4.3, tables 7 and 8: the difference of two runs, its tests, what it needs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pooler.commands.trust.two_runs import TwoRuns, letters, rounded
from pooler.tables import Column, Table, hidden
from store.analysis.significance.t_tests import TTest, normal_p, paired_t, shapiro_wilk, unpaired_t
from store.analysis.undiscovered.pairs import required_difference, round_up
from store.analysis.variation.collection import (
    CollectionVariation,
    VariedPairs,
    difference_variance,
    run_components,
)
from store.analysis.variation.order import order_probabilities
from store.text import counted

TOPICS = (30, 50, 100, 150)
"""Of tables 7 and 8, beside the collection's own number."""
_WHY = {
    "one-topic": "one topic has no variance",
    "order-turns": "the order turns",
    "no-difference": "A and B do not differ",
    "no-variation": "nothing varies",
}


def table_6(pair: TwoRuns) -> Table:
    """Test the difference by every judge and level, and in the model."""
    rows: list[dict[str, Any]] = []
    for level, judge, (first, second) in pair.by_judge:
        rows.append({"judge": judge, "level": level, "topics": first.size, **_tests(first, second)})
    tested, parts = pair.tested, pair.tested.components
    moments = moments_of_pair(pair.varied, tested)
    p = tested.p_values()
    for which in ("removed", "included"):
        judged = which == "included"
        variance = parts.topic_variance[0] + (parts.judging_variance[0] if judged else 0.0)
        t1, t2 = (float(getattr(tested, f"{name}_{which}")[0]) for name in ("t1", "t2"))
        rows.append(
            {
                "judge": f"(model, judging {which})",
                "level": None,
                "topics": len(pair.topics),
                "difference": float(parts.mean[0]),
                "variance": float(variance),
                "t1": t1,
                "p_normal_t1": normal_p(t1),
                "p_t1": float(p[f"t1_{which}"][0]),
                "t2": t2,
                "p_normal_t2": normal_p(t2),
                "p_t2": float(p[f"t2_{which}"][0]),
                "covariance": moments["covariance_topics"]
                + (moments["covariance_judging"] if judged else 0.0),
                "variance_a": moments["topic_variance_a"]
                + (moments["judging_variance_a"] if judged else 0.0),
                "variance_b": moments["topic_variance_b"]
                + (moments["judging_variance_b"] if judged else 0.0),
            }
        )
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


def figure_3(pair: TwoRuns) -> Table:
    """List the expected differences with the two curves."""
    picture = pair.picture
    w, p = shapiro_wilk(picture.differences)
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


def section_4_3(pair: TwoRuns) -> Table:
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


def needed(pair: TwoRuns, name: str) -> Table:
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
        for n_topics in dict.fromkeys((len(pair.topics), *TOPICS)):
            needs = n_topics > 1 and q < 1 and whole > 0 and np.isfinite([whole, q, h, share]).all()
            y = (
                required_difference(
                    whole, n_topics, variation_share=share, difference_drop=q, variance_drop=h, alpha=alpha
                )
                if needs
                else None
            )
            rows.append(
                {
                    "judging": words,
                    "variance": whole,
                    "k": share,
                    "q": q,
                    "h": h,
                    "topics": n_topics,
                    "difference": None if y is None else float(y),
                    "rounded": None if y is None else float(round_up(y)),
                    "reason": None if y is not None else _why_none(pair, q),
                }
            )
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
    if own["rounded"] is None:
        words = f"None: {_WHY[own['reason']]}."
    else:
        reached = "reach it" if have >= own["difference"] else "do not reach it"
        words = (
            f"With {counted(len(pair.topics), 'topic')} a difference of {own['rounded']:.4f} is needed;"
            f" A and B, {have:.4f} apart, {reached}."
        )
    return Table.of_rows(name, columns, rows, notes=[words])


def _why_none(pair: TwoRuns, q: float) -> str:
    if len(pair.topics) < 2:
        return "one-topic"
    if q >= 1:
        return "order-turns"
    return "no-difference" if np.isnan(q) else "no-variation"


def _tests(first: NDArray[np.float64], second: NDArray[np.float64]) -> dict[str, Any]:
    apart: TTest = unpaired_t(first, second)
    together: TTest = paired_t(first - second)
    enough = first.size > 1
    return {
        "difference": together.difference,
        "variance_a": float(first.var(ddof=1)) if enough else None,
        "variance_b": float(second.var(ddof=1)) if enough else None,
        "covariance": float(np.cov(first, second)[0, 1]) if enough else None,
        "t1": apart.t,
        "p_normal_t1": apart.p_normal,
        "p_t1": apart.p,
        "variance": together.variance,
        "t2": together.t,
        "p_normal_t2": together.p_normal,
        "p_t2": together.p,
    }


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
    found["covariance_topics"] = np.cov(varied.mean)[0, 1] if enough else np.nan
    found["covariance_judging"] = varied.covariance[:, 0, 1].mean()
    return {name: float(value) for name, value in found.items()}
