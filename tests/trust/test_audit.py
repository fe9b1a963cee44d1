"""`pooler audit`: what it takes, whom it ranks, what it says without a number; its arithmetic by hand."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from store.analysis.audit import (
    CONCLUSIONS,
    conclusions,
    cut_agreements,
    cut_gain,
    kappas_at,
    length_bias,
    order_agreement,
    rejections,
)
from tests.helpers.model_judges import JUDGES, PEOPLE_LEVEL, annotations, dl21, grades_of, run_paths
from tests.helpers.run import Cli, Outcome, Tables, run_inside, write, write_run

FAST = ("--resamples", "100", "--format", "json")


def files(folder: Path, **judges: str) -> None:
    """Write qrels: a topic a word, a digit a document, `.` for none."""
    for name, text in judges.items():
        rows = [
            f"{topic} 0 {'abcdefghij'[place]} {grade}"
            for topic, word in enumerate(text.split(), start=1)
            for place, grade in enumerate(word)
            if grade != "."
        ]
        write(folder / f"{name}.qrels", *rows)


def test_files_and_a_collection_say_the_same(cli: Cli, judged: Path) -> None:
    """Judges by name, or files of theirs with run files: the same tables, to the last digit."""
    stored = cli("audit", "strict", "--against", "lenient", *FAST).fine().json()
    # A collection has its runs by name; which of two level ones is told depends on the order.
    header, *rows = (judged / "runs.tsv").read_text("utf-8").splitlines()
    write(judged / "sorted.tsv", header, *sorted(rows, key=lambda row: Path(row.split("\t")[0]).stem))
    files_say = (
        cli(
            *("audit", "judgements/strict.qrels", "--runs", "sorted.tsv"),
            *("--qrels", "judgements/lenient.qrels", "--scale", "0-2", *FAST),
        )
        .fine()
        .json()
    )
    assert [*files_say] == [*stored]
    assert stored.pop("length") != files_say["length"]  # files have no texts
    for name in stored:
        assert files_say[name] == stored[name], name


def test_verdict_comes_first_and_few_topics_have_none(cli: Cli, judged: Path) -> None:
    """Eight topics: that there is no verdict, by which threshold, and that intervals are too narrow."""
    assert judged
    few = ("--resamples", "100")
    told = cli("audit", "strict", "--against", "lenient", *few).fine()
    first = told.out.splitlines()
    assert first[0] == "strict against lenient"
    assert "No verdict: fewer than 20 topics" in told.out
    assert re.search(r"whose threshold", first[1])
    assert "8 topics: intervals of fewer than 20 topics are too narrow" in told.err
    assert "lenient is a model, not a person" in told.err
    both = ("--aggregate", "majority", "--ties", "low", *few)
    kinds = [line for line in cli("audit", "strict", *both).fine().err.splitlines() if "model" in line]
    assert kinds == [
        "warning: lenient, middle are models, not people: this is an audit of one model against others"
    ]
    assert "by topic" not in told.out
    assert "Kappa by topic" in cli("audit", "strict", "--against", "lenient", "--by-topic", *few).fine().out
    assert (
        "Scores of runs" in cli("audit", "strict", "--against", "lenient", "--table", "runs", *few).fine().out
    )


def test_only_what_both_graded_counts(cli: Cli, here: Path) -> None:
    """What one of them alone graded is counted, and has no part in a score."""
    files(here, ann="210. 1100", bot="2101 110.")
    runs = [write_run(here, "x", {"1": "dab", "2": "dca"}), write_run(here, "y", {"1": "abc", "2": "abc"})]
    found = cli("audit", "bot.qrels", *runs, "--qrels", "ann.qrels", "-m", "P@1", *FAST).fine().json()
    assert {row["what"]: row["count"] for row in found["population"]} == {
        "graded by both": 6,
        "topics of these": 2,
        "graded by bot alone": 1,
        "graded by people alone": 1,
    }
    scores = {row["run"]: (row["human"], row["model"]) for row in found["runs"]}
    assert scores == {"x": (0, 0), "y": (1, 1)}  # d of topic 1, relevant by the model, is of its own


def test_skipped_and_not_judged_are_counted_apart(cli: Cli, here: Path) -> None:
    """Neither is grade 0."""
    cli("init", "--scale", "0-2").fine()
    write(here / "bot.qrels", "1 0 a 2", "1 0 b 0", "1 0 c 1", "1 0 d 1")
    write(here / "ann.qrels", "1 0 a 2", "1 0 b 0", "1 0 c -2", "1 0 d -3")
    cli("import", "judgements", "bot.qrels", "--judge", "bot", "--kind", "model").fine()
    codes = ("--code", "-2=skipped", "--code", "-3=cannot")
    cli("import", "judgements", "ann.qrels", "--judge", "ann", "--kind", "human", *codes).fine()
    found = cli("audit", "bot", "--against", "ann", *FAST).fine().json()
    assert {row["what"]: row["count"] for row in found["population"]} == {
        "graded by both": 2,
        "topics of these": 1,
        "graded by bot alone": 2,
        "graded by people alone": 0,
        "skipped by ann": 1,
        "could not be judged by ann": 1,
    }
    assert "orders" not in found  # a collection without runs


def test_several_people_need_a_rule(cli: Cli, here: Path) -> None:
    """What they disagree on without a majority is no grade, and is counted."""
    files(here, ann="2100", bob="2110", cid="2.21", bot="2111")
    people = [word for name in ("ann", "bob", "cid") for word in ("--qrels", f"{name}.qrels")]
    failed = cli("audit", "bot.qrels", *people).failed(1)
    assert "3 people graded: which of their grades counts?" in failed.err
    assert "--aggregate majority --ties low" in failed.err
    rule = ("--aggregate", "majority", "--ties", "unresolved")
    found = cli("audit", "bot.qrels", *people, *rule, *FAST).fine().json()
    told = {row["what"]: row["count"] for row in found["population"]}
    assert told["graded by both"] == 3
    assert told["people disagree, no grade of theirs"] == 1
    table = {(row["human"], row["model"]): row["documents"] for row in found["confusion"] if row["documents"]}
    assert table == {(2, 2): 1, (1, 1): 1, (0, 1): 1}
    cli("audit", "bot.qrels", *people, "--aggregate", "sum").failed(1)


def test_measures_without_a_topic_are_a_reason(cli: Cli, here: Path) -> None:
    """Where the model finds nothing relevant AP is of no topic, P@1 of all; and there is no kappa."""
    files(here, ann="210 021", bot="000 000")
    runs = [write_run(here, tag, {"1": order, "2": order}) for tag, order in (("x", "abc"), ("y", "cab"))]
    found = cli(
        "audit", "bot.qrels", *runs, "--qrels", "ann.qrels", "-m", "AP", "-m", "P@1", "--scale", "0-2", *FAST
    )
    tables = found.fine().json()
    ap, precision = tables["orders"]
    assert (ap["topics"], ap["left_out"], ap["tau_b"], ap["reason"]) == (0, 2, None, "too-few-topics")
    assert (precision["topics"], precision["tau_b"], precision["reason"]) == (2, None, "all-tied")
    assert {row["reason"] for row in tables["levels"]} == {"single-grade"}
    assert {row["reason"] for row in tables["topics"]} == {"single-grade"}
    assert tables["pairs"][0]["reason"] == "too-few-topics"
    assert {row["reason"] for row in tables["runs"] if row["measure"] == "AP"} == {"too-few-topics"}
    assert tables["bias"][0]["reason"] == "too-few-topics"
    shown = (
        cli("audit", "bot.qrels", *runs, "--qrels", "ann.qrels", "--scale", "0-2", "--table", "runs")
        .fine()
        .out
    )
    assert "too-few-topics: two topics or more are needed." in shown


@pytest.fixture
def circular(here: Path) -> Path:
    """Five runs of three groups over three topics; one uses the judge's model, one another, two none."""
    files(here, ann="2100 0210 1002", bot="2011 0120 1022")
    orders = {"v": "abcd", "w": "badc", "x": "cdab", "y": "dcba", "z": "acbd"}
    for tag, order in orders.items():
        write_run(here, tag, dict.fromkeys("123", order))
    rows = ["v.run\tg\tnone", "w.run\tg\tbot, other", "x.run\th\tother", "y.run\t\t", "z.run\th\tnone"]
    return write(here / "runs.tsv", "file\tgroup\tmodels", *rows)


def test_runs_that_use_the_model_are_reported_apart(cli: Cli, circular: Path) -> None:
    """They have no place in orders, means and pairs, unless that is asked for."""
    command = ("audit", "bot.qrels", "--qrels", "ann.qrels", "--runs", circular, "-m", "P@2", *FAST)
    apart = cli(*command).fine()
    found = apart.json()
    assert "1 run with bot, the model of the audited judge: reported apart and not ranked by it" in apart.err
    assert found["orders"][0]["runs"] == 4
    rows = {row["run"]: row for row in found["runs"]}
    assert [tag for tag, row in rows.items() if row["circular"]] == ["w"]
    assert rows["w"]["models"] == ["bot", "other"]
    assert (rows["v"]["models"], rows["y"]["models"]) == (["none"], None)
    gains = {tag: row["model"] - row["human"] for tag, row in rows.items()}
    others = [gain for tag, gain in gains.items() if tag != "w"]
    assert found["bias"][0]["bias"] == pytest.approx(sum(others) / 4)
    assert rows["w"]["own"] == pytest.approx(gains["w"] - sum(others) / 4)
    groups = {(row["kind"], row["name"]): row for row in found["groups"]}
    assert [*groups] == [("group", "g"), ("group", "h"), ("uses", "bot"), ("uses", "other")]
    other = groups["uses", "other"]
    assert (other["runs"], other["others"]) == (2, 3)
    expected = (gains["w"] + gains["x"]) / 2 - (gains["v"] + gains["y"] + gains["z"]) / 3
    assert other["gain"] == pytest.approx(expected)
    assert {(row["name"], row["own"]) for row in found["documents"]} == {("bot", True), ("other", False)}
    all_ranked = cli(*command, "--circular").fine()
    assert all_ranked.json()["orders"][0]["runs"] == 5
    assert "ranked by it all the same" in all_ranked.err
    renamed = cli(*command, "--family", "other").fine().json()
    assert renamed["orders"][0]["runs"] == 3


def test_documents_of_runs_that_use_a_model_by_hand(cli: Cli, here: Path) -> None:
    """At one grade by people 2 of 3 documents of theirs alone are relevant, 1 of 2 others: (2 1) / (1 1)."""
    write(here / "ann.qrels", *[f"{topic} 0 {docno} 1" for topic in "12" for docno in "abcde"])
    graded = {"a": 1, "b": 1, "e": 0, "c": 1, "d": 0}
    write(here / "bot.qrels", *[f"{topic} 0 {docno} {graded[docno]}" for topic in "12" for docno in "abcde"])
    write_run(here, "x", {"1": "abec", "2": "abec"})
    write_run(here, "y", {"1": "cd", "2": "cd"})
    listed = write(here / "runs.tsv", "file\tmodels", "x.run\tlm", "y.run\tnone")
    found = cli("audit", "bot.qrels", "--qrels", "ann.qrels", "--runs", listed, "-m", "P@2", *FAST)
    [row] = found.fine().json()["documents"]
    assert (row["exposed"], row["others"], row["odds_ratio"]) == (6, 4, pytest.approx(2.0))
    assert row["own"] is False


def test_a_collection_takes_models_from_the_same_list(cli: Cli, circular: Path, here: Path) -> None:
    """By tag, as its runs have no such column: the numbers are those of the files."""
    cli("init", "--scale", "0-2").fine()
    cli("import", "runs", "--runs", circular).fine()
    for name in ("ann", "bot"):
        cli("import", "judgements", f"{name}.qrels", "--judge", name).fine()
    command = ("audit", "bot", "--against", "ann", "-m", "P@2", *FAST)
    missing = cli(*command, "--runs", circular).failed(1)
    assert "expected the tag of" in missing.err
    lines = circular.read_text("utf-8").splitlines()
    tagged = [f"{line}\t{line[0] if place else 'tag'}" for place, line in enumerate(lines)]
    listed = write(here / "tagged.tsv", *tagged)
    stored = cli(*command, "--runs", listed).fine().json()
    bare = cli("audit", "bot.qrels", "--qrels", "ann.qrels", "--runs", circular, "-m", "P@2", *FAST)
    assert stored["groups"] == bare.fine().json()["groups"]
    assert stored["documents"] == bare.json()["documents"]
    chosen = cli("audit", "bot", "v", "x", "z", *command[2:], "--runs", listed).fine().json()
    assert chosen["orders"][0]["runs"] == 3


REFUSED = {
    "bot": "2 people graded: which of their grades counts?",
    "bot --against bot": "must not be the audited judge",
    "bot --against bod": "unknown judge `bod`",
    "nobody --against ann": "unknown judge `nobody`",
    "bot --against cid": "no document was graded by bot and by cid",
    "bot --against ann --level 7": "level",
    "bot --against ann --alpha 1": "must be between 0 and 1",
    "bot --against ann --epsilon 1": "at least 0 and below 1",
    "bot --against ann --scale 0-2": "is for files",
    "bot --qrels nothing": "unknown qrels `nothing`",
    "nobody --qrels ann.qrels --qrels bot.qrels": "unknown judge `nobody`",
    "bot no-run --against ann": "unknown run `no-run`",
    "bot v --against ann -m NumRet": "must be means over topics",
    "bot v --against ann -m P@": "P@",
    "bot.qrels nothing.run --qrels ann.qrels": "nothing.run: no such file",
}
"""Words after `audit`, and what the answer has."""


def test_what_cannot_be_is_refused_in_a_line(
    cli: Cli, collection_of: Callable[..., None], here: Path
) -> None:
    """What was expected, what was got, what to do."""
    collection_of("0-2", ann=["1 0 a 2", "1 0 b 0"], bot=["1 0 a 1", "1 0 b 0"], cid=["2 0 c 1"])
    write_run(here, "v", {"1": "ab"})
    cli("import", "runs", "v.run").fine()
    for words, said in REFUSED.items():
        assert said in cli("audit", *words.split()).failed(1).err, words


def test_people_are_those_whom_the_qrels_count(cli: Cli, collection_of: Callable[..., None]) -> None:
    """Whoever is audited is none of them; without a name all count who count in the default qrels."""
    grades = {"ann": "2010", "ben": "1010", "cid": "2011", "bot": "2210"}
    collection_of("0-2", **{name: [f"1 0 d{place} {one}" for place, one in enumerate(given)]
                            for name, given in grades.items()})  # fmt: skip
    cli("qrels", "define", "two", "--judge", "ann", "--judge", "bot").fine()
    alone = cli("audit", "bot", "--against", "ann", "--format", "json").fine()
    for name in ("two", "ann"):
        assert cli("audit", "bot", "--qrels", name, "--format", "json").fine().out == alone.out
    rule = ("--aggregate", "majority", "--ties", "low", "--format", "json")
    against = [word for name in ("ann", "ben", "cid") for word in ("--against", name)]
    every = cli("audit", "bot", *against, *rule).fine()
    found = cli("audit", "bot", *rule).fine()
    assert found.json() == every.json()


PEOPLE = {"a": (2, 1, 0, 3, 1, 0), "b": (2, 0, 0, 3, 2, 0), "c": (1, 1, 0, 2, 1, 1)}
MODEL = (2, 1, 0, 3, 2, 1)
TOGETHER = ("--aggregate", "majority", "--ties", "low", "--resamples", "100", "--format", "json")
PRINTED = [  # data, people, nominal, epsilon, model, winning rate, advantage probability
    ("cebab_stars", 10, False, 0.1, "gpt-4o", 0.90, 0.8986),
    ("cebab_stars", 10, False, 0.1, "gemini_pro", 0.80, 0.8666),
    ("cebab_stars", 10, False, 0.1, "mistral-v03", 0.50, 0.8291),
    ("wax", 8, True, 0.1, "gpt-4o", 0.50, 0.7300),
    ("wax", 8, True, 0.1, "llama-31", 0.0, 0.5730),
    ("mtbench", 3, True, 0.2, "gpt-4o", 0.0, 0.7728),
]
"""As the authors' notebook prints them (arXiv 2501.10970, github.com/nitaytech/AltTest)."""


def by_hand(cli: Cli, *options: str, topics: str = "111111", people: str = "abc") -> Outcome:
    """Audit the example of six documents."""
    for name, grades in {**PEOPLE, "model": MODEL}.items():
        rows = enumerate(zip(topics, grades, strict=True))
        write(Path(f"{name}.qrels"), *[f"{topic} 0 d{place} {grade}" for place, (topic, grade) in rows])
    named = [word for name in people for word in ("--qrels", f"{name}.qrels")]
    return cli("audit", "model.qrels", *named, "--scale", "0-3", *TOGETHER, *options)


def test_six_documents_by_hand(cli: Cli) -> None:
    """Of three people one can be replaced: the limits of p are .0091, .0182, .0273."""
    found = by_hand(cli, "--nominal").fine().json()
    first, second, third = found["annotators"]
    assert (first["difference"], first["p"], first["reason"]) == (0, 0, "same-difference")
    assert second["difference"] == pytest.approx(-1 / 6)
    assert (second["t"], second["p"]) == (pytest.approx(-2.2), pytest.approx(0.03955, abs=5e-6))
    assert third["difference"] == pytest.approx(-1 / 3)
    assert third["t"] == pytest.approx(-2.5298, abs=5e-5)
    assert third["p"] == pytest.approx(0.02627, abs=5e-6)
    assert [row["rejected"] for row in found["annotators"]] == [True, False, False]
    assert [row["n"] for row in found["annotators"]] == [6, 6, 6]
    outcome = {"winning_rate": pytest.approx(1 / 3), "advantage": 1.0, "test_reason": None}
    assert {name: found.facts[name] for name in outcome} == outcome
    assert {row["t_of_topics"] for row in found["annotators"]} == {None}  # one topic


def test_one_person_is_a_reason(cli: Cli) -> None:
    """With one person there is nobody whom the model could be as near to."""
    found = by_hand(cli, people="a").fine().json()
    assert found["annotators"] == [
        {**dict.fromkeys(found["annotators"][0]), "person": "a", "reason": "one-human"}
    ]
    outcome = {"winning_rate": None, "advantage": None, "test_reason": "one-human"}
    assert {name: found.facts[name] for name in outcome} == outcome


@pytest.mark.parametrize("case", PRINTED, ids=lambda case: f"{case[0]}-{case[4]}")
def test_authors_print_the_same(cli: Cli, here: Path, case: tuple[Any, ...]) -> None:
    """Winning rate and advantage probability, to the digits of the notebook."""
    name, n_people, nominal, epsilon, model, rate, advantage = case
    people, labels = annotations(name, "human"), annotations(name, "llm")[model]
    items = {
        item: number for number, item in enumerate(sorted({one for of in people.values() for one in of}))
    }
    words = sorted({*labels.values(), *(label for of in people.values() for label in of.values())}, key=str)
    for judge, given in {**{f"p{who}": of for who, of in people.items()}, "model": labels}.items():
        rows = [f"1 0 i{items[item]} {words.index(label)}" for item, label in given.items() if item in items]
        write(here / f"{judge}.qrels", *rows)
    named = [word for who in people for word in ("--qrels", f"p{who}.qrels")]
    options = ("--epsilon", str(epsilon), *(["--nominal"] if nominal else []))
    scale = ("--scale", f"0-{len(words) - 1}")
    found = cli("audit", "model.qrels", *named, *options, *scale, *TOGETHER).fine().json()
    assert len(found["annotators"]) == n_people
    assert round(found.facts["winning_rate"], 2) == rate
    assert round(found.facts["advantage"], 4) == advantage


DRAWN = {"seed": 1, "resamples": 400}


@pytest.fixture
def scores() -> tuple[np.ndarray, np.ndarray]:
    """Nine runs and twenty topics, in tenths, so that means are tied."""
    rng = np.random.default_rng(5)
    human = rng.integers(0, 11, (9, 20)) / 10
    return human, np.clip(human + rng.integers(-2, 5, (9, 20)) / 10, 0, 1)


def test_what_orders_cannot_say_is_a_reason() -> None:
    """One run, runs all tied, two best ones, one topic, or what is no number."""
    one = order_agreement(np.array([[0.5, 0.2]]), np.array([[0.4, 0.3]]), top=10, **DRAWN)
    assert (one.tau.reason, one.tau_ap.reason, one.tau_top.reason) == (
        *("fewer-than-two", "fewer-than-two", "too-few-runs"),
    )
    tied = order_agreement(np.full((4, 3), 0.5), np.eye(4)[:, :3], top=10, **DRAWN)
    assert (tied.tau.reason, tied.tau_top.reason, tied.ceiling) == ("all-tied", "all-tied", None)
    assert tied.tau_interval.reason == "undefined"
    human = np.array([[0.5, 0.1], [0.4, 0.3], [0.1, 0.1], [0, 0.1]])
    two = order_agreement(human, human, top=2, **DRAWN)
    assert (two.n_top, two.tau_top.reason, two.tau_top_interval.reason) == (2, "too-few-runs", "undefined")
    single = order_agreement(human[:, :1], human[:, :1], top=2, **DRAWN)
    assert (single.tau.tau, single.tau_interval.reason, single.ceiling) == (1.0, "one-topic", None)


def test_every_pair_has_one_conclusion(scores: tuple[np.ndarray, np.ndarray]) -> None:
    """As SciPy's paired t test and the signs of the means have it."""
    from scipy import stats

    human, model = scores
    model = model.copy()
    model[0], model[1] = 0.9 - human[0] / 9, human[0]  # a pair that turns
    kinds, opposite = conclusions(human, model, alpha=0.3)
    for place, (one, other) in enumerate(combinations(range(9), 2)):
        p, turned = [], 1.0
        for part in scores[0], model:
            p.append(stats.ttest_rel(part[one], part[other]).pvalue <= 0.3)
            turned *= round(part[one].mean() - part[other].mean(), 10)
        name = {(True, True): "both", (True, False): "vanishes", (False, True): "appears"}.get(tuple(p))
        if name in (None, "both") and turned < 0:
            name = "opposite" if name else "neither-opposite"
        assert CONCLUSIONS[kinds[place]] == (name or "neither")
        assert opposite[place] == (turned < 0)
    assert len(set(kinds.tolist())) > 3


def test_one_class_has_no_kappa() -> None:
    """Where the formula would give 0: a judge with one grade alone tells nothing apart."""
    tables = np.array([[[3, 0, 0], [1, 2, 0], [0, 2, 0]], [[2, 1, 0], [0, 1, 0], [0, 3, 0]]])
    found = {(one.human, one.model): one for one in cut_agreements(tables, **DRAWN)}
    assert found[1, 2].reason == found[2, 2].reason == "single-grade"
    assert found[1, 2].interval.reason == "undefined"
    assert (found[1, 1].human_share, found[1, 1].model_share) == (9 / 15, 9 / 15)
    assert found[1, 1].kappa == pytest.approx((13 / 15 - 117 / 225) / (1 - 117 / 225))
    assert kappas_at(tables, 1, 1).tolist() == pytest.approx([3 / 4, 16 / 23])
    empty = cut_agreements(np.zeros((2, 3, 3), dtype=np.int64), **DRAWN)
    assert {one.reason for one in empty} == {"no-common-docs"}
    gain = cut_gain(tables, (1, 1), (2, 1), **DRAWN)
    stack = np.concatenate([tables, tables.sum(axis=0, keepdims=True)])
    gains = kappas_at(stack, 1, 1) - kappas_at(stack, 2, 1)
    assert (gain.low, gain.high) == pytest.approx((gains.min(), gains.max()))


def test_rejections_are_those_of_scipy() -> None:
    """By its adjusted p values."""
    from scipy import stats

    rng = np.random.default_rng(3)
    for _ in range(30):
        p = rng.uniform(0, 0.06, 7)
        assert (
            rejections(p.tolist(), 0.05) == (stats.false_discovery_control(p, method="by") <= 0.05).tolist()
        )
    assert rejections([None, None], 0.05) == [False, False]


def test_length_bias_is_spearmans_and_by_thirds() -> None:
    """Rho as scipy has it, with ties; its interval beside resamples of scipy's; thirds and means by hand."""
    from scipy import stats

    rng = np.random.default_rng(3)
    lengths, topics = rng.integers(100, 160, 400), rng.integers(0, 25, 400)
    human = rng.integers(0, 4, 400).astype(float)
    model = np.clip(human + (lengths > rng.integers(100, 160, 400)), 0, 3)
    found = length_bias(np.append(lengths, -1), np.append(human, 3), np.append(model, 0),
                        np.append(topics, 3), **DRAWN)  # fmt: skip
    assert found.rho == pytest.approx(stats.spearmanr(lengths, model - human).statistic, abs=1e-12)
    members = [np.flatnonzero(topics == topic) for topic in range(25)]
    rhos, means = [], []
    for _ in range(1000):
        rows = np.concatenate([members[topic] for topic in rng.integers(0, 25, 25)])
        rhos.append(stats.spearmanr(lengths[rows], (model - human)[rows]).statistic)
        means.append((model - human)[rows].mean())
    for interval, values in ((found.interval, rhos), (found.parts[-1].interval, means)):
        assert interval.low == pytest.approx(np.quantile(values, 0.025), abs=0.03)
        assert interval.high == pytest.approx(np.quantile(values, 0.975), abs=0.03)
    # Of seven, numbers 3 and 5 from the shortest both have length 30: no document is in the middle third.
    lengths, topics = np.array([30, 10, 30, 20, 30, 50, 40]), np.array([0, 0, 0, 1, 1, 1, 1])
    human, model = np.array([1.0, 0, 1, 2, 0, 1, 1]), np.array([2.0, 0, 2, 1, 0, 2, 2])
    parts = length_bias(lengths, human, model, topics, **DRAWN).parts
    assert [(one.shortest, one.longest, one.n) for one in parts] == [(10, 30, 5), (40, 50, 2), (10, 50, 7)]
    assert [(one.human, one.model) for one in parts] == [(4 / 5, 1), (1, 2), (6 / 7, 9 / 7)]
    assert [one.interval.reason for one in parts] == [None, "one-topic", None]


@pytest.mark.parametrize(
    ("lengths", "model", "reason", "n_parts"),
    [
        ([-1, -1, -1], [1, 0, 2], "no-texts", 0),
        ([5, 5, 5], [1, 0, 2], "one-length", 2),
        ([5, 6, 7], [1, 1, 1], "same-difference", 4),
        ([7, -1, -1], [1, 0, 2], "one-length", 2),
    ],
)
def test_length_bias_without_a_number(
    lengths: list[int], model: list[float], reason: str, n_parts: int
) -> None:
    """No texts, one length, one difference: a reason, and the parts that there are."""
    arrays = np.array(lengths), np.zeros(3), np.array(model, dtype=float), np.array([0, 1, 2])
    found = length_bias(*arrays, **DRAWN)
    assert (found.rho, found.reason, found.interval.low) == (None, reason, None)
    assert len(found.parts) == n_parts


MEASURES = ("AP", "P@10", "nDCG@10")
CONFUSION = {
    "umbrela": [[2641, 1105, 469, 123], [315, 1223, 1037, 488], [46, 556, 1082, 657], [0, 38, 372, 676]],
    "gpt-4o": [[3467, 867, 0, 0], [1027, 2036, 0, 0], [199, 2142, 0, 0], [19, 1067, 0, 0]],
    "llama": [[2366, 1972, 0, 0], [655, 2408, 0, 0], [275, 2066, 0, 0], [78, 1008, 0, 0]],
}
"""Documents: NIST's grades in rows, the model's in columns."""
KAPPAS = {
    "umbrela": {
        (1, 1): (0.5829, 0.519, 0.647),
        (1, 2): (0.4978, 0.416, 0.578),
        (1, 3): (0.2149, 0.150, 0.294),
        (2, 1): (0.2871, 0.230, 0.342),
        (2, 2): (0.4725, 0.398, 0.543),
        (2, 3): (0.3467, 0.246, 0.454),
        (3, 1): (0.0820, 0.049, 0.122),
        (3, 2): (0.2222, 0.140, 0.306),
        (3, 3): (0.3644, 0.231, 0.483),
    },
    "gpt-4o": {
        (1, 1): (0.5994, 0.531, 0.663),
        (2, 1): (0.4494, 0.381, 0.512),
        (3, 1): (0.1520, 0.091, 0.225),
    },
    "llama": {(1, 1): (0.4050, 0.350, 0.464), (2, 1): (0.2320, 0.185, 0.281), (3, 1): (0.0739, 0.045, 0.110)},
}
"""Kappa at NIST's level and the model's, and its percentiles over 2,000 resamples of topics."""
SHARES = {"umbrela": (0.723, 0.453, 0.180), "gpt-4o": (0.565,), "llama": (0.688,)}
"""Documents relevant by the model, by its level."""
CALIBRATION = {
    "umbrela": ((0.0153, 0.2033, 0.4912, 0.6857), (0.136, 0.838, 1.458, 1.970)),
    "gpt-4o": ((0.0463, 0.5250), None),
    "llama": ((0.1046, 0.4124), None),
}
"""By the model's grade, the share that NIST graded 2 or 3, and NIST's mean grade."""
KAPPA_TOPICS = {
    "umbrela": (0.041, 0.253, 0.418, 0.590, 0.848),
    "gpt-4o": (0.037, 0.227, 0.358, 0.520, 0.871),
    "llama": (0.011, 0.089, 0.179, 0.256, 0.598),
}
"""Kappa by topic: least, quartiles, greatest."""
SCORES = {  # NIST, umbrela, gpt-4o, llama; AP, P@10, nDCG@10
    "p_bm25": ".1357 .3547 .4458 .1947 .5358 .5863 .2006 .6434 .6564 .2247 .8170 .8272",
    "NLE_P_v1": ".3923 .6642 .7347 .4374 .8925 .8813 .4033 .9245 .9385 .3556 .9491 .9563",
    "pash_f1": ".3193 .6698 .7494 .3751 .8849 .8850 .3619 .9358 .9530 .3231 .9453 .9523",
    "TUW_TAS-B_ANN": ".1932 .4566 .5426 .2436 .6528 .6868 .2588 .7642 .7856 .2255 .8226 .8288",
    "watprp": ".1728 .4491 .5493 .2238 .6321 .6851 .2292 .7226 .7407 .2445 .8849 .8931",
    "yorku21_a": ".3309 .6151 .6965 .3602 .8585 .8399 .3328 .8830 .9029 .3106 .9434 .9484",
}
"""Means over 53 topics by pytrec_eval."""
ORDERS = {  # tau-b, tau_AP, runs at the top, their tau-b, place of NIST's best run, mean bias
    ("umbrela", "AP"): (0.9017, 0.8889, 10, 0.8667, 1, 0.0459),
    ("umbrela", "P@10"): (0.9035, 0.7834, 11, 0.5745, 2, 0.2084),
    ("umbrela", "nDCG@10"): (0.9241, 0.8826, 10, 0.9524, 1, 0.1419),
    ("gpt-4o", "AP"): (0.8249, 0.7869, 10, 0.7778, 1, 0.0423),
    ("gpt-4o", "P@10"): (0.8836, 0.8193, 11, 0.6401, 1, 0.2778),
    ("gpt-4o", "nDCG@10"): (0.9056, 0.8569, 10, 0.9048, 1, 0.2111),
    ("llama", "AP"): (0.7081, 0.6809, 10, 0.6889, 1, 0.0358),
    ("llama", "P@10"): (0.7842, 0.6738, 11, 0.5455, 2, 0.3731),
    ("llama", "nDCG@10"): (0.7918, 0.6711, 10, 0.5714, 2, 0.2980),
}
BIASES = {  # least bias, of which run, greatest, of which run, runs off the mean, correlation
    ("umbrela", "P@10"): (0.0811, "uogTrPCP", 0.2509, "NLE_P_quick", 1, 0.64),
    ("gpt-4o", "P@10"): (0.1189, "uogTrPCP", 0.3377, "watprd", 1, 0.04),
    ("llama", "P@10"): (0.2396, None, 0.5019, "watprd", 10, -0.57),
    ("llama", "AP"): (-0.0367, "NLE_P_v1", 0.1010, None, 11, None),
}
PAIRS = {  # both, opposite, vanishes (turned), appears (turned), neither in the same, in opposite directions
    ("umbrela", "P@10"): (1341, 0, 81, 1, 95, 1, 339, 97),
    ("umbrela", "AP"): (1348, 0, 74, 0, 145, 2, 292, 94),
    ("umbrela", "nDCG@10"): (1405, 0, 49, 0, 90, 1, 336, 73),
    ("gpt-4o", "P@10"): (1303, 0, 119, 1, 100, 5, 321, 110),
    ("llama", "P@10"): (1054, 1, 367, 44, 149, 31, 246, 136),
    ("llama", "AP"): (1199, 30, 193, 58, 339, 108, 103, 89),
}
ORDER_INTERVALS = {  # percentiles of tau-b, of all runs and of the best, and the mean of NIST's own order
    "P@10": (0.824, 0.908, 0.168, 0.927, 0.897),
    "AP": (0.783, 0.926, 0.556, 0.956, 0.893),
    "nDCG@10": (0.866, 0.930, 0.381, 1.0, 0.907),
}
"""Of umbrela."""
FAVOURS = {  # gain of 58 runs over the 5 that are no neural ones in P@10; odds ratio of their documents
    "umbrela": (0.0215, -0.019, 0.061, 1.106, 0.865, 1.395),
    "gpt-4o": (-0.0118, -0.053, 0.030, 1.076, 0.815, 1.402),
    "llama": (-0.0677, -0.106, -0.030, 1.035, 0.835, 1.268),
}
TRADITIONAL = {"p_bm25", "p_bm25rm3", "paug_bm25", "paug_bm25rm3", "bl_bcai_p_trad"}
SORTED = [  # run, who sorted it, who judges, NIST's score and place, the judge's, own bias, t
    ("p_bm25", "llama", "llama", 0.3943, 49, 1.0, 1, 0.2289, 9.91),
    ("p_bm25", "gpt-4o", "gpt-4o", 0.4736, 34, 0.9604, 1, 0.2057, 9.26),
    ("p_bm25", "umbrela", "umbrela", 0.5717, 16, 0.9434, 1, 0.1607, 5.77),
    ("p_bm25", "umbrela", "gpt-4o", 0.5717, 16, 0.9283, 4, 0.0776, 3.88),
    ("yorku21_a", "llama", "llama", 0.6208, 5, 1.0, 1, 0.0060, 0.22),
]
APART = {("llama", 49), ("umbrela", 16)}
"""Those of them that are also left out: by the judge who sorted them, and by another of its kind."""


def audited(judge: str, *options: str | Path, runs: Sequence[str | Path] = ()) -> Tables:
    """Audit a model against NIST."""
    file, level = JUDGES[judge]
    found = run_inside(
        *("audit", f"{judge}={dl21(file)}", *runs, "--qrels", dl21("nist.qrels.gz")),
        *("--level", str(PEOPLE_LEVEL), "--model-level", str(level), "--format", "json", *options),
    )
    tables = found.fine().json()
    assert isinstance(tables, Tables)
    return tables


@cache
def of_runs(judge: str, resamples: int = 100, seed: int = 1) -> Tables:
    """Audit a model with all runs and three measures."""
    measures = [word for name in MEASURES for word in ("-m", name)]
    drawn = ("--resamples", str(resamples), "--seed", str(seed))
    return audited(judge, *measures, *drawn, runs=run_paths())


def row_of(rows: list[dict[str, Any]], **cells: Any) -> dict[str, Any]:
    """Return the only row with these cells."""
    [found] = [row for row in rows if all(row[name] == cell for name, cell in cells.items())]
    return found


def same(number: float, printed: float, digits: int = 4) -> bool:
    """Say whether a number is the printed one, to its last digit."""
    return abs(number - printed) <= 0.5 * 10**-digits + 1e-9


@pytest.mark.slow
@pytest.mark.xdist_group("audit")
@pytest.mark.parametrize("judge", JUDGES)
def test_grades_are_as_other_programs_find_them(judge: str) -> None:
    """Confusion, kappa at every two levels, shares, what a grade is worth, kappa by topic."""
    found = of_runs(judge)
    table = [[0] * 4 for _ in range(4)]
    for row in found["confusion"]:
        table[row["human"]][row["model"]] = row["documents"]
    assert table == CONFUSION[judge]
    if judge == "umbrela":
        for weights, kappa in (("none", 0.3463), ("linear", 0.4928), ("quadratic", 0.6220)):
            assert same(found.facts[f"kappa_{weights}"], kappa)
    for (human, model), (kappa, *_) in KAPPAS[judge].items():
        row = row_of(found["levels"], human=human, model=model)
        assert same(row["kappa"], kappa), (human, model)
        assert same(row["model_share"], SHARES[judge][model - 1], 3)
    others = [row for row in found["levels"] if (row["human"], row["model"]) not in KAPPAS[judge]]
    assert {(row["kappa"], row["reason"]) for row in others} <= {(None, "single-grade")}
    relevant, means = CALIBRATION[judge]
    assert all(same(row["relevant"], share) for row, share in zip(found["grades"], relevant, strict=True))
    if means is not None:
        assert all(same(row["mean"], mean, 3) for row, mean in zip(found["grades"], means, strict=True))
    kappas = sorted(row["kappa"] for row in found["topics"])
    assert len(kappas) == 53  # so that the quartiles are three of them
    assert all(
        same(kappas[place], one, 3)
        for place, one in zip((0, 13, 26, 39, 52), KAPPA_TOPICS[judge], strict=True)
    )


@pytest.mark.slow
@pytest.mark.xdist_group("audit")
@pytest.mark.parametrize("judge", JUDGES)
def test_scores_orders_and_pairs_are_as_other_programs_find_them(judge: str) -> None:
    """Scores by both; tau-b of all runs and of the best; bias; pairs that differ significantly."""
    found = of_runs(judge)
    place = [*JUDGES].index(judge) + 1
    for tag, text in SCORES.items():
        printed = [float(word) for word in text.split()]
        for number, measure in enumerate(MEASURES):
            row = row_of(found["runs"], run=tag, measure=measure)
            assert same(row["human"], printed[number]), (tag, measure)
            assert same(row["model"], printed[3 * place + number]), (tag, measure)
    for measure in MEASURES:
        tau, _, n_top, tau_top, best, mean_bias = ORDERS[judge, measure]
        order, bias = (row_of(found[name], measure=measure) for name in ("orders", "bias"))
        assert (order["topics"], order["runs"], order["top"], order["best_place"]) == (53, 63, n_top, best)
        assert same(order["tau_b"], tau)
        assert same(order["tau_top"], tau_top)
        assert same(bias["bias"], mean_bias)
        if (judge, measure) in BIASES:
            least, least_run, most, most_run, n_off, correlation = BIASES[judge, measure]
            assert same(bias["least"], least)
            assert same(bias["most"], most)
            assert least_run in (None, bias["least_run"])
            assert most_run in (None, bias["most_run"])
            assert bias["off"] == n_off
            assert correlation is None or same(bias["correlation"], correlation, 2)


@pytest.mark.slow
@pytest.mark.xdist_group("audit")
@pytest.mark.parametrize(("judge", "measure"), PAIRS)
def test_pairs_are_as_other_programs_find_them(judge: str, measure: str) -> None:
    """Every count, but for means that are level: those programs gave them the sign of their last bit.

    In P@10 some means are level. Here they have no direction, so that fewer pairs turn; with all of them
    taken to turn there would be more than the other programs have.
    """
    found = of_runs(judge)
    row = row_of(found["pairs"], measure=measure)
    both, opposite, vanishes, turned, appears, also_turned, neither, against = PAIRS[judge, measure]
    assert (row["both"], row["opposite"], row["vanishes"], row["appears"]) == (
        *(both, opposite, vanishes, appears),
    )
    assert row["neither"] + row["neither_opposite"] == neither + against
    at_most = (turned, also_turned, against)
    counted = (row["vanishes_turned"], row["appears_turned"], row["neither_opposite"])
    if measure != "P@10":
        assert counted == at_most
        return
    level = n_level(found["runs"], measure)
    assert all(low <= high <= low + level for low, high in zip(counted, at_most, strict=True))


def n_level(rows: list[dict[str, Any]], measure: str) -> int:
    """Count the pairs of runs that are level by one of the two, from their scores."""
    scores = [(round(row["human"], 9), round(row["model"], 9)) for row in rows if row["measure"] == measure]
    pairs = [(one, other) for place, one in enumerate(scores) for other in scores[:place]]
    return sum(one[0] == other[0] or one[1] == other[1] for one, other in pairs)


@pytest.mark.slow
@pytest.mark.xdist_group("audit")
@pytest.mark.parametrize(("judge", "measure"), ORDERS)
def test_tau_ap_is_the_published_one(judge: str, measure: str) -> None:
    """Published with every tied pair half right, of all nine; here those tied by both judges are right.

    In P@10 and nDCG@10 there are some: pair by pair, both values follow from the printed scores.
    """
    found = of_runs(judge)
    rows = [row for row in found["runs"] if row["measure"] == measure]
    scores = [(round(row["model"], 9), round(row["human"], 9)) for row in rows]
    assert same(tau_ap_with_ties(scores, tied_in_both=0.5), ORDERS[judge, measure][1])
    expected = tau_ap_with_ties(scores, tied_in_both=1.0)
    assert row_of(found["orders"], measure=measure)["tau_ap"] == pytest.approx(expected, abs=1e-12)


def tau_ap_with_ties(scores: list[tuple[float, float]], *, tied_in_both: float) -> float:
    """Compute tau_AP of pairs (estimate, truth) from the mean of every place over the orders of tied runs."""

    def right(above: tuple[float, float], below: tuple[float, float]) -> float:
        signs = [(one > other) - (one < other) for one, other in zip(above, below, strict=True)]
        if signs == [0, 0]:
            return tied_in_both
        return 0.5 if 0 in signs else float(signs[0] == signs[1])

    total, ahead = 0.0, list[tuple[float, float]]()
    for level in sorted({one for one, _ in scores}, reverse=True):
        level_runs = [one for one in scores if one[0] == level]
        for place in range(len(ahead), len(ahead) + len(level_runs)):
            for number, run in enumerate(level_runs if place else ()):
                beside = [right(other, run) for at, other in enumerate(level_runs) if at != number]
                among = (place - len(ahead)) * sum(beside) / max(len(beside), 1)
                total += (sum(right(one, run) for one in ahead) + among) / place / len(level_runs)
        ahead += level_runs
    return 2 * total / (len(scores) - 1) - 1


WITHIN = {"kappa": 0.009, "gain": 0.006, "tau": 0.008, "top": 0.05, "odds": 0.03}
"""How far limits of 2,000 resamples may lie from printed ones, which are of as many at most.

Eight seeds give limits of kappa a standard deviation of .001 to .003, of tau-b .001 to .002, of tau-b of
the best .02, where a step from one value to the next is .04. The two sides differ by both errors, and the
worst of thirty limits by about three of them.
"""


@pytest.mark.xdist_group("audit")
@pytest.mark.slow
@pytest.mark.parametrize(
    "judge", ["umbrela", *(pytest.param(one, marks=pytest.mark.long) for one in ("gpt-4o", "llama"))]
)
def test_resampled_limits_are_those_of_other_programs(judge: str, tmp_path: Path) -> None:
    """Percentiles over topics of kappa, of the gain of a group, and of an odds ratio."""
    found = audited(judge, "--runs", listed_runs(tmp_path), "-m", "P@10")
    assert found.settings["resamples"] == 2000
    for (human, model), (_, *printed) in KAPPAS[judge].items():
        row = row_of(found["levels"], human=human, model=model)
        assert (row["low"], row["high"]) == pytest.approx(printed, abs=WITHIN["kappa"]), (human, model)
    gain, *gains, odds, low, high = FAVOURS[judge]
    group, documents = row_of(found["groups"], kind="uses", name="lm"), row_of(found["documents"], name="lm")
    assert same(group["gain"], gain)
    assert (group["runs"], group["others"]) == (58, 5)
    assert (group["low"], group["high"]) == pytest.approx(gains, abs=WITHIN["gain"])
    assert same(documents["odds_ratio"], odds, 3)
    assert (documents["low"], documents["high"]) == pytest.approx((low, high), abs=WITHIN["odds"])


@pytest.mark.xdist_group("audit")
@pytest.mark.slow
def test_resampled_orders_are_those_of_other_programs() -> None:
    """Percentiles of tau-b of all runs and of the best, and the order of NIST on resampled topics."""
    found = of_runs("umbrela", 2000)
    for measure, (low, high, top_low, top_high, ceiling) in ORDER_INTERVALS.items():
        row = row_of(found["orders"], measure=measure)
        assert (row["tau_b_low"], row["tau_b_high"]) == pytest.approx((low, high), abs=WITHIN["tau"])
        assert (row["tau_top_low"], row["tau_top_high"]) == pytest.approx(
            (top_low, top_high), abs=WITHIN["top"]
        )
        assert row["ceiling"] == pytest.approx(ceiling, abs=0.0015)


def listed_runs(folder: Path) -> Path:
    """List the runs: five use no model, the others one."""
    rows = [f"{path}\t{'none' if path.stem in TRADITIONAL else 'lm'}" for path in run_paths()]
    return write(folder / "runs.tsv", "file\tmodels", *rows)


@pytest.mark.slow
@pytest.mark.xdist_group("audit")
@pytest.mark.parametrize(
    "case", [SORTED[0], *SORTED[3:], *(pytest.param(case, marks=pytest.mark.long) for case in SORTED[1:3])]
)
def test_a_run_sorted_by_a_judge_is_found_out(tmp_path: Path, case: tuple[Any, ...]) -> None:
    """Put in a judge's order a poor run comes first by that judge; it is reported apart unless asked for."""
    tag, sorter, judge, human, human_place, model, model_place, own, t = case
    grades = grades_of(sorter)
    topics: dict[str, list[list[str]]] = {}
    with gzip.open(dl21("runs") / f"{tag}.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            topics.setdefault(line.split()[0], []).append(line.split())
    rows = []
    for topic, ranking in topics.items():
        ranking.sort(key=lambda row: -grades.get((topic, row[2]), -1))  # stable; unjudged last
        rows += [f"{topic} Q0 {row[2]} {place} {-place} sorted" for place, row in enumerate(ranking, start=1)]
    write(tmp_path / "sorted.run", *rows)
    names = [f"{path}\tnone" for path in run_paths()]
    listed = write(tmp_path / "runs.tsv", "file\tmodels", *names, f"sorted.run\t{sorter}")
    options: tuple[str | Path, ...] = ("--runs", listed, "-m", "P@10", "--resamples", "100")
    options += ("--family", sorter)
    found = audited(judge, *options, "--circular")
    row = row_of(found["runs"], run="sorted")
    assert same(row["human"], human)
    assert same(row["model"], model)
    assert (row["human_place"], row["model_place"], row["circular"]) == (human_place, model_place, True)
    assert same(row["own"], own)
    assert same(row["t"], t, 2)
    if (sorter, human_place) not in APART:
        return
    apart = audited(judge, *options)
    [order] = apart["orders"]
    assert order["runs"] == 63
    assert same(order["tau_b"], ORDERS[judge, "P@10"][0])
    assert row_of(apart["runs"], run="sorted")["circular"]
    assert same(row_of(apart["bias"], measure="P@10")["bias"], ORDERS[judge, "P@10"][5])


@pytest.mark.slow
@pytest.mark.xdist_group("audit")
def test_verdict_says_which_threshold_of_whom() -> None:
    """A GPT-4 judge orders runs as other topics would; which of the best is best it does not know."""
    says = [
        (row["says"], row["measure"], row["threshold"], row["source"])
        for row in of_runs("umbrela")["verdict"]
    ]
    assert says[0][0] == "Cannot replace people, for the reasons that follow"
    assert any("one person graded" in words and "Calderon" in source for words, _, _, source in says)
    told = {(words, measure) for words, measure, _, _ in says}
    assert ("Orders these runs about as another set of topics would", "P@10") in told
    assert ("Says nothing about the order of the best 11 runs", "P@10") in told
    drifted = "Its relevant (1+) is people's 1+, not 2+: the scale has drifted"
    assert drifted in [row["says"] for row in of_runs("gpt-4o")["verdict"]]
    assert not any("drifted" in words for words, _ in told)
    worse = [row for row in of_runs("gpt-4o")["verdict"] if "less well than another set" in row["says"]]
    assert "P@10" in [row["measure"] for row in worse]
