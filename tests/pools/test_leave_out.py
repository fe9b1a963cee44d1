"""Runs without what they alone brought to the pool, against sets and scores made from scratch."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from store.analysis.pools.contributions import Withdrawn, remove_uniques, within_depth
from store.analysis.pools.leave_out import LeaveOut, adjust_scores, leave_out, pool_errors
from store.analysis.run_order import TIED_MAP, kendall_tau_b, tau_ap
from tests.helpers.plain_lists import Drawn, arrays_of, as_float, drawn_collections, plain_mean
from tests.helpers.trec_covid import covid_arrays, leaderboard, load_qrels, load_rankings

pytestmark = pytest.mark.slow

GROUPS = ["one", "", "two", "one", "two", ""]


def owners_of(tags: list[str], groups: list[str] | None) -> list[str]:
    """Name what each run is left out with."""
    if groups is None:
        return tags
    return [group or tag for tag, group in zip(tags, groups, strict=True)]


def plain_uniques(
    drawn: Drawn, owners: list[str], contributing: list[bool], depth: int, name: str
) -> dict[str, set[int]]:
    """Take the judged documents that only runs of one name brought, as sets."""
    found = {}
    for topic, judged in drawn.grades.items():
        own: set[int] = set()
        other: set[int] = set()
        for tag, owner, is_fed in zip(drawn.tags, owners, contributing, strict=True):
            if is_fed:
                (own if owner == name else other).update(drawn.listed(tag, topic)[:depth])
        found[topic] = (own - other) & set(judged)
    return found


def scored_without(drawn: Drawn, tag: str, removed: dict[str, set[int]]) -> list[Fraction | None]:
    """Compute AP of one run over the topics from scratch, with documents unjudged."""
    grades = {
        topic: {one: flag for one, flag in judged.items() if one not in removed[topic]}
        for topic, judged in drawn.grades.items()
    }
    less = Drawn(drawn.tags, drawn.rankings, grades, drawn.cutoff)
    scores = []
    for topic in sorted(drawn.grades):
        score = less.ap(tag, topic, "pool")
        was = drawn.ap(tag, topic, "pool")
        scores.append(Fraction(0) if score is None and was is not None else score)
    return scores


def withdrawn_sets(withdrawn: Withdrawn, drawn: Drawn, name: str) -> dict[str, set[int]]:
    """Turn codes back into documents: codes ascend with them."""
    found: dict[str, set[int]] = {topic: set() for topic in drawn.grades}
    topics = sorted(drawn.grades)
    for by, topic, code in zip(withdrawn.by, withdrawn.topics, withdrawn.codes, strict=True):
        if withdrawn.names[by] == name:
            title = topics[topic]
            known = set(drawn.grades[title]).union(*(drawn.listed(t, title) for t in drawn.tags))
            found[title].add(sorted(known)[code])
    return found


@given(drawn=drawn_collections(most_runs=5), data=st.data())
def test_leaving_out_equals_scoring_from_scratch(drawn: Drawn, data: st.DataObject) -> None:
    """Withdrawn documents, AP, means and ranks are those of sets and of AP by its definition."""
    n_runs = len(drawn.tags)
    groups = data.draw(st.sampled_from([None, GROUPS[:n_runs]]))
    contributing = data.draw(st.lists(st.booleans(), min_size=n_runs, max_size=n_runs))
    depth = data.draw(st.integers(1, drawn.cutoff))
    arrays = drawn.arrays()
    pooled = within_depth(arrays, depth, np.array(contributing))
    withdrawn = remove_uniques(arrays, pooled, groups)
    left = leave_out(arrays, withdrawn)
    owners = owners_of(drawn.tags, groups)
    assert withdrawn.names == tuple(dict.fromkeys(owners))
    nothing: dict[str, set[int]] = {topic: set() for topic in drawn.grades}
    before = [scored_without(drawn, tag, nothing) for tag in drawn.tags]
    means = [as_float(plain_mean(row)) for row in before]
    np.testing.assert_allclose(left.before, [[as_float(one) for one in row] for row in before])
    np.testing.assert_allclose(left.score_before, means)
    for place, name in enumerate(withdrawn.names):
        removed = plain_uniques(drawn, owners, contributing, depth, name)
        assert withdrawn_sets(withdrawn, drawn, name) == removed
        assert withdrawn.n_judged()[place] == sum(map(len, removed.values()))
        n_relevant = sum(len(one & drawn.relevant(topic)) for topic, one in removed.items())
        assert left.n_relevant[place] == n_relevant
        replaced = list(means)
        rows = [row for row, owner in enumerate(owners) if owner == name]
        for row in rows:
            after = scored_without(drawn, drawn.tags[row], removed)
            np.testing.assert_allclose(left.after[row], [as_float(one) for one in after])
            replaced[row] = as_float(plain_mean(after))
            assert left.score_after[row] == pytest.approx(replaced[row], nan_ok=True)
        for row in rows:
            for ranks, scores in ((left.rank_before, means), (left.rank_after, replaced)):
                above = sum(one > scores[row] + TIED_MAP for one in scores)
                assert ranks[row] == (0 if np.isnan(scores[row]) else 1 + above)
        if not np.isnan(means).any():
            both = np.array(means), np.array(replaced)
            expected = kendall_tau_b(*both, tolerance=TIED_MAP)
            np.testing.assert_allclose(left.tau_b[place], as_number(expected.tau))
            of_ap = tau_ap(both[1], both[0], tolerance=TIED_MAP)
            np.testing.assert_allclose(left.tau_ap[place], as_number(of_ap.tau))


def as_number(tau: float | None) -> float:
    """Return a tau as arrays hold it."""
    return np.nan if tau is None else tau


# Juru and wdo each have two documents of their own and share one: ECIR'23, bootstrap code, the test
# of the creation of incomplete pools. All five are pooled; without juru three are.
JURU = {("juru", "1"): [1, 2, 5], ("wdo", "1"): [3, 4, 5]}


@pytest.mark.vector("V7: test_creation_of_incomplete_pools.py of the ECIR'23 bootstrap code")
def test_two_runs_that_share_a_document() -> None:
    """Two thirds are unjudged of the run left out."""
    grades = {"1": dict.fromkeys(range(1, 6), True)}
    arrays = arrays_of(JURU, grades, 3, ["juru", "wdo"])
    withdrawn = remove_uniques(arrays, within_depth(arrays, 3))
    # Two of each run's three documents are its own.
    assert (withdrawn.n_judged() / 3).round(4).tolist() == [0.6667, 0.6667]


def changed(before: list[float], after: list[float], topics: NDArray[np.float64]) -> LeaveOut:
    """Make a result of means alone, each run by itself."""
    names = tuple("ABCDE"[: len(before)])
    nothing = np.zeros(0, np.int64)
    zeros = np.zeros(len(before), np.int64)
    withdrawn = Withdrawn(names, np.arange(len(before)), nothing, nothing, nothing)
    means = np.array(before), np.array(after)
    taus = np.full(len(before), np.nan)
    return LeaveOut(withdrawn, zeros, topics, topics, *means, zeros, zeros, taus, taus)


TRUE = [0.5, 0.3, 0.3, 0.2, 0.1]


@pytest.mark.vector("TestScoreError.scala of PoolBiasEstimators")
def test_errors_of_the_pool_bias_estimators() -> None:
    """MAE .01 where every score moves by .01, and SRE 3 where two runs fall by 2 and by 1."""
    same = np.zeros((5, 2))
    assert pool_errors(changed(TRUE, [one + 0.01 for one in TRUE], same)).mae == pytest.approx(0.01)
    found = pool_errors(changed(TRUE, [0.2, 0.3, 0.3, 0.0, 0.1], same))
    assert (found.sre, found.sre_significant, found.n_runs) == (3, 0, 5)


def test_run_that_is_passed_but_does_not_differ_is_not_significant() -> None:
    """Of two runs that A passes, SRE* counts the one whose difference from A has p below .05.

    A - B is .4, -.3, .4, -.1: mean .1, standard deviation sqrt(.38 / 3) = .356, t = .1 / .178 =
    .56. A - C is .1, .12, .1, .12: mean .11, standard deviation .0115, t = .11 / .0058 = 19. With
    3 degrees of freedom t is significant above 3.18.
    """
    topics = np.array([[0.9, 0.6, 0.9, 0.6], [0.5, 0.9, 0.5, 0.7], [0.8, 0.48, 0.8, 0.48]])
    left = changed([0.75, 0.65, 0.64], [0.6, 0.65, 0.64], topics)
    found = pool_errors(left)
    assert (found.sre, found.sre_significant) == (2, 1)
    subset = pool_errors(left, np.array([False, True, True]))
    assert (subset.sre, subset.mae, subset.n_runs) == (0, 0.0, 2)
    nobody = pool_errors(left, np.zeros(3, bool))
    assert (nobody.mae, nobody.tau_b.reason) == (None, "fewer-than-two")


def test_adjustment_adds_the_mean_loss_to_newcomers_alone() -> None:
    """Webber and Park's: runs A and B lost .1 and .2, so C and D gain .15."""
    left = changed([0.5, 0.4, 0.3, np.nan], [0.4, 0.2, 0.3, np.nan], np.zeros((4, 2)))
    adjusted = adjust_scores(left, np.array([True, True, False, False]))
    assert adjusted.bias == pytest.approx(0.15)
    np.testing.assert_allclose(adjusted.scores, [0.5, 0.4, 0.45, np.nan])
    none = adjust_scores(left, np.array([False, False, False, True]))
    assert none.bias is None
    assert np.isnan(none.scores).all()


def test_relative_difference_of_a_score_of_zero_is_undefined() -> None:
    """Neither 0 nor a missing score is divided by."""
    left = changed([0.5, 0.0, np.nan], [0.4, 0.0, np.nan], np.zeros((3, 2)))
    np.testing.assert_allclose(left.relative(), [-0.2, np.nan, np.nan])


# Real data ------------------------------------------------------------------------------------


def pooled_runs() -> NDArray[np.bool_]:
    """Tell which runs of TREC-COVID were pooled, by the leaderboard."""
    rows = leaderboard()
    return np.array([rows[tag]["contributed judgments"] == "yes" for tag in covid_arrays().tags])


def plain_pool(depth: int) -> dict[tuple[str, str], set[str]]:
    """Return who of the 56 has each pair within a depth, by a plain loop."""
    fed = {tag for tag, row in leaderboard().items() if row["contributed judgments"] == "yes"}
    owners: dict[tuple[str, str], set[str]] = {}
    for (tag, topic), docnos in load_rankings().items():
        if tag in fed:
            for docno in docnos[:depth]:
                owners.setdefault((topic, docno), set()).add(tag)
    return owners


def test_trec_covid_uniques() -> None:
    """56 runs at depth 7: uniques as counted by a plain loop."""
    arrays, fed = covid_arrays(), pooled_runs()
    withdrawn = remove_uniques(arrays, within_depth(arrays, 7, fed))
    left = leave_out(arrays, withdrawn)
    grades, owners = load_qrels(), plain_pool(7)
    alone: dict[str, list[tuple[str, str]]] = {}
    for pair, who in owners.items():
        if len(who) == 1 and pair[1] in grades[pair[0]]:
            alone.setdefault(next(iter(who)), []).append(pair)
    n_alone = [len(alone.get(tag, [])) for tag in arrays.tags]
    assert withdrawn.n_judged().tolist() == n_alone
    assert (len(owners), sum(n_alone)) == (6959, 5454)
    assert n_alone[arrays.tags.index("lda400s5000")] == 209
    assert n_alone[arrays.tags.index("ERST_PROSE")] == 208
    # Only the runs that were pooled owe anything.
    assert left.difference()[~fed].tolist() == [0.0] * 87
    assert (left.difference()[fed] < 0).any()


def test_trec_covid_teams_lose_what_their_one_pooled_run_brought() -> None:
    """A team's other runs lose the judgements too."""
    arrays, fed = covid_arrays(), pooled_runs()
    teams = [leaderboard()[tag]["team"] for tag in arrays.tags]
    assert (len(set(teams)), int(fed.sum())) == (56, 56)
    by_run = remove_uniques(arrays, within_depth(arrays, 7, fed))
    by_team = remove_uniques(arrays, within_depth(arrays, 7, fed), teams)
    of_run = {arrays.tags[by]: n for by, n in enumerate(by_run.n_judged().tolist()) if fed[by]}
    of_team = dict(zip(by_team.names, by_team.n_judged().tolist(), strict=True))
    assert {teams[arrays.tags.index(tag)]: n for tag, n in of_run.items()} == of_team
    left, alone = leave_out(arrays, by_team), leave_out(arrays, by_run)
    np.testing.assert_allclose(left.score_after[fed], alone.score_after[fed])
    assert np.count_nonzero(left.difference()[~fed] < 0) > 0
