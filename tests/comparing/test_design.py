"""`pooler design`: topics, depth and hours, of a pilot or of variances; documents that judges share."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.helpers.agreement_tables import assert_prints
from tests.helpers.oracles import average_precision, first_documents, read_qrels, read_run
from tests.helpers.run import GARDEN, JUDGES, Cli, qrels_of, write, write_run
from tests.helpers.trec_covid import data_path

METHODS = "methods of the project 4: TC, the 14 whole runs of TREC-COVID round 1, level 1"
STRICT = GARDEN / "judgements" / "strict.qrels"
RUNS = sorted((GARDEN / "runs").iterdir())


def covid(*names: str) -> list[str | Path]:
    """Name the qrels and the whole runs, or some of them."""
    runs = [data_path(f"runs-full/{name}.gz") for name in names] or sorted(data_path("runs-full").iterdir())
    return ["--qrels", data_path("qrels-rnd1.txt.gz"), *runs]


def designed(cli: Cli, *words: str | Path) -> Any:
    """Return the tables of `design`."""
    return cli("design", *words, "--format", "json").fine().json()


def said(cli: Cli, *words: str | Path) -> str:
    """Return what people read of `design`, on one line."""
    return " ".join(cli("design", *words).fine().out.split())


@pytest.mark.slow
@pytest.mark.vector(METHODS)
def test_trec_covid_as_a_pilot(cli: Cli) -> None:
    """Topics by every design, and topics, documents and hours of four depths."""
    rows = designed(cli, "topics", *covid())["topics"]
    topics_of = {(row["test"], row["runs"], row["size"]): row["topics"] for row in rows}
    assert_prints("0.0196635654", rows[0]["variance"] / 2)
    for test, of, size, topics in (
        ("paired t", "any two runs", 0.05, 126),
        ("paired t", "any two runs", 0.1, 33),
        ("analysis of variance", "14 runs", 0.05, 282),
        ("analysis of variance", "14 runs", 0.1, 71),
        ("interval", "any two runs", 0.1, 63),
    ):
        assert topics_of[test, of, size] == topics
    found = designed(cli, "depth", *covid(), "--depths", "3,5,7,10", "--seconds", "30")
    depths = {row["depth"]: row for row in found if row["difference"] == 0.1}
    for depth, pooled, judged, variance, order, topics, documents, hours in (
        (3, "32.3333", "30.1667", "0.02454704", "0.96082991", 41, 1326, "11.05"),
        (5, "50.4000", "46.4333", "0.02416453", "0.96502946", 40, 2016, "16.80"),
        (7, "67.8333", "61.8333", "0.02363381", "0.96543390", 40, 2713, "22.61"),
        (10, "93.1667", "70.7000", "0.02437281", "0.96647073", 41, 3820, "31.83"),
    ):
        row = depths[depth]
        assert (row["topics"], row["documents"]) == (topics, documents)
        names = ("pooled", "judged", "variance", "order", "hours")
        for name, digits in zip(names, (pooled, judged, variance, order, hours), strict=True):
            assert_prints(digits, row[name])
    two = designed(cli, "topics", *covid("sab20.1.meta.docs", "run1"))["topics"]
    of_these = [row for row in two if row["runs"] == "these two runs"]
    assert {row["size"]: row["topics"] for row in of_these}[0.05] == 52
    assert_prints("0.0156453823", of_these[0]["variance"])


@pytest.mark.slow
@pytest.mark.vector(METHODS)
def test_trec_covid_is_reliable(cli: Cli) -> None:
    """Mean squares, components, coefficients with their intervals, topics for .95."""
    [row] = designed(cli, "topics", *covid(), "--topics", "30")["reliability"]
    for name, digits in (
        ("order", "0.96456278"), ("order_low", "0.93133700"), ("order_high", "0.98645342"),
        ("level", "0.92296418"), ("level_low", "0.84093735"), ("level_high", "0.97104650"),
    ):  # fmt: skip
        assert_prints(digits, row[name])
    words = said(cli, "topics", *covid(), "--topics", "30", "--table", "reliability")
    assert "short of 0.95" not in words
    assert "that takes 21 topics, 43 to be safe" in words
    # Components .0078529554, .0110082379 and .0086553275.
    assert "28.5 % comes from the run, 40 % from the topic, 31.5 % from neither" in words


def scores_of(paths: list[Path], qrels: dict[str, dict[str, int]]) -> np.ndarray[Any, Any]:
    """Return trec_eval's AP, runs by topics."""
    return np.array([list(average_precision(qrels, read_run(path)).values()) for path in paths])


def test_garden_as_a_pilot(cli: Cli, here: Path) -> None:
    """Variances from the scores, topics by the noncentral t, the detectable difference at those topics."""
    found = designed(cli, "topics", "--qrels", STRICT, *RUNS, "--order", "trec9")
    x = scores_of(RUNS, read_qrels(STRICT))
    own = x.var(axis=1, ddof=1).mean()
    pairs = [np.var(a - b, ddof=1) for a, b in itertools.combinations(x, 2)]
    first, _, these, *_ = (row for row in found["topics"] if row["test"] == "paired t")
    assert (first["variance"], these["variance"]) == pytest.approx((2 * own, np.mean(pairs)))
    n, effect = first["topics"], first["size"] / (2 * own) ** 0.5

    def power(n: int) -> float:
        return float(stats.ncf.sf(stats.f.isf(0.05, 1, n - 1), 1, n - 1, n * effect**2))

    assert power(n) >= 0.8 > power(n - 1)
    limit = [
        stats.t(k - 1).ppf(0.975) * (2 * own / k) ** 0.5 for k in (first["observed"], first["observed"] - 1)
    ]
    assert limit[0] <= first["size"] < limit[1]
    [at_hand] = [row for row in found["detectable"] if row["topics"] == 8]
    shift = 8 * at_hand["paired"] ** 2 / (2 * own)
    assert stats.ncf.sf(stats.f.isf(0.05, 1, 7), 1, 7, shift) == pytest.approx(0.8)
    shift = 8 * at_hand["anova"] ** 2 / (2 * own)
    assert stats.ncf.sf(stats.f.isf(0.05, 8, 63), 8, 63, shift) == pytest.approx(0.8)


def test_depths_cut_pool_and_judgements(cli: Cli, here: Path) -> None:
    """A pool of depth 2, made by hand: its documents, its scores, and what they change."""
    runs = RUNS[:4]
    pilot = ("--qrels", STRICT, *runs, "--order", "trec9")
    found = designed(cli, "depth", *pilot, "--depths", "2,5", "--seconds", "60", "--per-document", "2")
    qrels = read_qrels(STRICT)
    pools = {
        topic: {one for path in runs for one in first_documents(read_run(path), topic, 2)} for topic in qrels
    }
    kept = {topic: {d: g for d, g in grades.items() if d in pools[topic]} for topic, grades in qrels.items()}
    [row] = [one for one in found if (one["depth"], one["difference"]) == (2, 0.1)]
    assert row["pooled"] == pytest.approx(np.mean([len(one) for one in pools.values()]))
    assert row["judged"] == pytest.approx(np.mean([len(one) for one in kept.values()]))
    x, whole = scores_of(runs, kept), scores_of(runs, qrels)
    assert row["variance"] == pytest.approx(x.var(axis=1, ddof=1).mean())
    assert row["moved"] == pytest.approx(np.abs(x.mean(axis=1) - whole.mean(axis=1)).max())
    assert row["hours"] == pytest.approx(row["topics"] * row["pooled"] * 60 * 2 / 3600)
    assert row["documents"] == round(row["topics"] * row["pooled"])


def test_runs_that_do_not_contribute_feed_no_pool(cli: Cli, garden: Path) -> None:
    """The late run of the garden is scored, and adds nothing to the pools."""
    pilot = ("--qrels", STRICT, "--runs", "runs.tsv", "--order", "trec9")
    rows = designed(cli, "depth", *pilot, "--depths", "5,20")
    pooled = {row["depth"]: row["pooled"] for row in rows}
    assert pooled[5] == 84 / 8  # README: 84 pairs to judge in 8 topics
    topics = read_qrels(STRICT)
    sizes = [
        np.mean([len({d for path in paths for d in first_documents(read_run(path), t, 20)}) for t in topics])
        for paths in (RUNS, [path for path in RUNS if "late" not in path.name])
    ]
    assert sizes[0] > sizes[1] == pytest.approx(pooled[20])


def test_pace_is_that_of_the_people(cli: Cli, worked: Path) -> None:
    """Hours come of anna's mean active time; those of an unjudged run are none."""
    write(worked / "y.run", *[f"{t} Q0 d{n} 1 {n if t == '1' else -n} y" for t in "12" for n in range(8)])
    cli("import", "runs", "y.run").fine()
    # 3 s of each topic were for a grade that was taken back.
    times = [sum([first, 7, 6, 5, 4, 3, 2, 0.5, 3]) for first in (8, 20)]
    found = cli("design", "depth", "--depths", "3", "--difference", ".3", "--format", "json").fine()
    [row] = found.json()
    seconds = sum(times) / 16
    assert found.whole()["settings"]["seconds"] == pytest.approx(seconds)
    assert row["hours"] == pytest.approx(row["topics"] * row["pooled"] * seconds / 3600)
    words = f"{seconds:.4g} seconds a judgement, the mean of 16 decisions of 1 judge (status effort)."
    assert words in said(cli, "depth", "--depths", "3")


def test_variances_need_no_runs(cli: Cli, here: Path) -> None:
    """Sakai's example of an interval, and the sizes of an analysis of variance of half the variance."""
    rows = designed(cli, "topics", "--variance", ".05,.1", "--difference", "0.1")
    of = {(row["test"], row["variance"]): row["topics"] for row in rows["topics"]}
    assert (of["interval", 0.05], of["interval", 0.1]) == (79, 156)
    assert of["analysis of variance", 0.05] == 158
    assert not list(here.iterdir())
    exact = designed(cli, "topics", "--variance", "0.012345678901234567,1.25e-05")["topics"]
    assert {row["variance"] for row in exact} >= {0.012345678901234567, 1.25e-05}
    many = designed(cli, "topics", "--variance", "1", "--difference", ".001", "--width", "1")["topics"]
    assert [row["reason"] for row in many] == ["too-many-topics"] * 2 + [None]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("topics --variance 0", "`--variance` must be a number > 0"),
        ("topics --variance x", "`--variance` must be numbers"),
        ("topics --variance .1 --difference -1", "`--difference` must be a number > 0"),
        ("topics --variance .1 --width 0", "`--width` must be a number > 0"),
        ("topics --variance .1 --power 1", "`--power` must be a number < 1"),
        ("topics --variance .1 --power .05", "`--power` must be above alpha"),
        ("topics --variance .1 --alpha 0", "`--alpha` must be between 0 and 1"),
        ("topics --variance .1 --topics 1", "`--topics` must be an integer >= 2"),
        ("topics --variance .1 --depths 5", "unknown option `--depths`"),
        ("topics --variance .1 --qrels ./q", "`--qrels` is for runs"),
        ("topics --variance .1 bm25-words", "`RUN` is for runs"),
        ("topics --variance .1 --collection c.db", "`--collection` is for runs"),
        ("topics -m nothing", "measure `nothing`"),
        ("depth --seconds 0", "`--seconds` must be a number > 0, but got 0"),
        ("depth --depths 0", "`--depths` must be an integer >= 1, but got 0"),
        ("overlap --width 3", "`--width` must be a number from 0.001 to 2, but got '3'"),
        ("overlap --against nobody", "unknown judge `nobody`"),
    ],
)
def test_what_makes_no_sense_is_refused(cli: Cli, judged: Path, arguments: str, words: str) -> None:
    """In one line that names the option."""
    failed = cli("design", *arguments.split())
    assert (failed.code in (1, 2), failed.out) == (True, "")
    assert words in failed.err


def test_too_little_to_plan_from_says_so(cli: Cli, here: Path) -> None:
    """One run, one topic, runs without relevant documents; two runs have no components."""
    a, b = (write(here / f"{tag}.run", *[f"{t} Q0 d{n} 1 {-n} {tag}" for t in "12" for n in order])
            for tag, order in (("a", (0, 1)), ("b", (1, 0))))  # fmt: skip
    both = write(here / "both", "1 0 d0 1", "1 0 d1 0", "2 0 d1 1", "2 0 d0 1")
    one, none = write(here / "one", "1 0 d0 1"), write(here / "none", "1 0 d0 0", "2 0 d0 0")
    assert "there is one run, `a`" in cli("design", "topics", "--qrels", both, a).err
    assert (
        "1 topic with a score in every run: a pilot needs two or more"
        in cli("design", "topics", "--qrels", one, a, b).err
    )
    assert "0 topics with a score" in cli("design", "topics", "--qrels", none, a, b).err
    short = write(here / "short.run", "1 Q0 d0 1 1 short")
    told = cli("design", "depth", "--qrels", both, a, short, "--depths", "1").err
    assert "in 1 topic a run has no documents and scores as if it had found nothing" in told
    # The same score in every topic of every run: nothing to plan by.
    flat = write(here / "flat", "1 0 d0 1", "1 0 d1 1", "2 0 d1 1", "2 0 d0 1")
    failed = cli("design", "topics", "--qrels", flat, a, b)
    assert "every run has the same score in all topics" in failed.err
    assert "--variance S2 plans without runs" in failed.err
    # One run twice: any two runs differ, these do not, and depth 1 finds one document only.
    same = write(here / "same.run", *[f"{t} Q0 d{n} 1 {-n} same" for t in "12" for n in (0, 1)])
    half = write(here / "half", "1 0 d0 1", "1 0 d1 0", "2 0 d1 1", "2 0 d0 0")
    pilot = ("--qrels", half, a, same)
    found = designed(cli, "topics", *pilot)
    assert {row["runs"] for row in found["topics"]} == {"any two runs", "2 runs"}
    costs = designed(cli, "depth", *pilot, "--depths", "1,2")
    assert {row["depth"]: row["reason"] for row in costs} == {1: "no-spread", 2: None}
    reasons = {(row["reason"], row["order"]) for row in found["reliability"]}
    assert reasons == {("fewer-than-three-runs", None)}
    assert "components need three runs or more" in said(cli, "topics", *pilot, "--table", "reliability")


NEAREST = "(tau_AP 0.9 or more); depth 1 comes nearest, -1.000."
CHEAPEST = "depth 1 is the cheapest that orders"
NONE = "no depth is known to order the runs as deeper judgements would: beyond depth 2 nothing is judged"


@pytest.mark.parametrize(
    ("docnos", "first", "second", "depths", "tau", "words"),
    [
        # By all judgements the first, with three of four relevant documents, leads, AP .479 against .25 in
        # two topics; of the one relevant document in a pool of depth 1 it is 0 against 1.
        ("nxabc", ("nabc", "nabc", "nabcx"), ("xn", "xn", "xn"), "1", -1, NEAREST),
        # At every depth the order is that of all judgements; depth 1 lacks y, which is judged; 2 nothing.
        ("nxy", ("xy", "xy", "xn"), ("nx", "ny", "ny"), "1,2", 1, CHEAPEST),
        ("nxy", ("xy", "xy", "xn"), ("nx", "ny", "ny"), "2", 1, NONE),
    ],
    ids=["nearest", "cheapest", "none known"],
)
def test_the_depth_that_orders_runs_as_all_judgements_do(
    cli: Cli, here: Path, docnos: str, first: tuple[str, ...], second: tuple[str, ...],
    depths: str, tau: int, words: str,
) -> None:  # fmt: skip
    """By hand; n is not relevant."""
    qrels = write(here / "q", *(f"{topic} 0 {one} {int(one != 'n')}" for topic in "123" for one in docnos))
    runs = [write_run(here, tag, dict(zip("123", of, strict=True)))
            for tag, of in (("first", first), ("second", second))]  # fmt: skip
    options = ("--qrels", qrels, *runs, "--depths", depths)
    assert {row["tau_ap"] for row in designed(cli, "depth", *options)} == {tau}
    text = said(cli, "depth", *options)
    assert [one in text for one in (NEAREST, CHEAPEST, NONE)] == [
        one == words for one in (NEAREST, CHEAPEST, NONE)
    ]


def test_a_narrower_interval_needs_more_shared_documents(cli: Cli, judged: Path) -> None:
    """Of two judges who judged."""
    wide, narrow = (
        designed(cli, "overlap", "strict", "lenient", "--width", width)[0]["documents"]
        for width in ("0.3", "0.2")
    )
    assert 0 < wide < narrow
    assert "per topic" in said(cli, "overlap")


def test_files_of_judges_give_what_the_collection_gives(cli: Cli, judged: Path) -> None:
    """A file a judge, and one of them as the reference."""
    files = qrels_of(*(f"judgements/{name}.qrels" for name in JUDGES))
    for against in ((), ("--against", "middle")):
        options = (*against, "--width", "0.2")
        stored = designed(cli, "overlap", *JUDGES, *options)
        assert designed(cli, "overlap", *JUDGES, *files, "--scale", "0-2", *options) == stored
