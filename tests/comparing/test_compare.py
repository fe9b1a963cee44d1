"""`pooler compare`: tests of the difference of runs, the verdict on two, the exit code of `--require`."""

from __future__ import annotations

import html
import itertools
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import pooler as p
from tests.helpers.oracles import average_precision, read_qrels, read_run
from tests.helpers.run import GARDEN, Cli, Outcome, run_shell, write, write_run

STRICT = GARDEN / "judgements" / "strict.qrels"
A, B, C = (GARDEN / "runs" / f"{tag}.run" for tag in ("bm25-words", "rm3-words-title", "lm-words-full"))


def scores_of(path: Path) -> NDArray[np.float64]:
    """Return trec_eval's AP by topic."""
    return np.array([*average_precision(read_qrels(STRICT), read_run(path)).values()])


def compared(cli: Cli, *words: str | Path) -> Any:
    """Compare runs in the order of trec_eval."""
    return cli("compare", "--qrels", STRICT, *words, "--order", "trec9", "--format", "json").fine().json()


def check_moments(row: dict[str, Any], first: NDArray[np.float64], second: NDArray[np.float64]) -> None:
    """Compare variances and covariance with NumPy's."""
    spread = np.cov(first, second)
    assert (row["variance_a"], row["variance_b"], row["covariance"]) == pytest.approx(
        (spread[0, 0], spread[1, 1], spread[0, 1])
    )


def exact_p(differences: NDArray[np.float64], resolution: float) -> float:
    """Set the signs of rounded differences in every way, as the definition says."""
    whole = [round(one / resolution) for one in differences]
    sums = [
        abs(sum(sign * one for sign, one in zip(signs, whole, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(whole))
    ]
    return sum(one >= abs(sum(whole)) for one in sums) / len(sums)


def test_gmap_is_compared_by_logarithms(cli: Cli, here: Path) -> None:
    """The t test is that of the logarithms of AP, which is said; exp(A - B) is one GMAP by the other."""
    from scipy import stats

    files = ("--qrels", STRICT, A, B, "-m", "GMAP", "--order", "trec9")
    found = cli("compare", *files, "--format", "json").fine()
    assert "exp(A - B) = GMAP of A / GMAP of B" in found.err
    first, second = map(scores_of, (A, B))
    [row] = found.json()["difference"]
    assert np.exp(row["difference"]) == pytest.approx(stats.gmean(first) / stats.gmean(second), rel=1e-12)
    assert " in ln GMAP, 95% interval " in found.whole()["facts"]["verdict"]["text"]
    t2 = found.json()["tests"][0]
    assert t2["p"] == pytest.approx(stats.ttest_rel(np.log(first), np.log(second)).pvalue, rel=1e-9)


def test_two_runs_get_every_test(cli: Cli, here: Path) -> None:
    """The p-values are SciPy's, and that of all assignments of signs."""
    from scipy import stats

    found = compared(cli, A, B)
    first, second = map(scores_of, (A, B))
    differences = first - second
    [row] = found["difference"]
    assert row["difference"] == pytest.approx(np.mean(differences), abs=1e-12)
    interval = stats.ttest_1samp(differences, 0).confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx(tuple(interval), abs=1e-12)
    assert row["effect_size"] == pytest.approx(np.mean(differences) / np.std(differences, ddof=1))
    # What t2 calls significant: the quantile of t times the standard error.
    error = np.std(differences, ddof=1) / np.sqrt(8)
    assert row["needed"] == pytest.approx(stats.t(7).ppf(0.975) * error, rel=1e-9)
    assert row["variance"] == pytest.approx(np.var(differences, ddof=1), rel=1e-9)
    assert (row["better_a"], row["better_b"], row["same"]) == (5, 3, 0)
    check_moments(row, first, second)
    tests = {one["test"]: one for one in found["tests"]}
    students = {
        "t2: paired t": stats.ttest_rel(first, second),
        "t1: unpaired t": stats.ttest_ind(first, second),
        "Welch's t, unequal variances": stats.ttest_ind(first, second, equal_var=False),
    }
    for name, theirs in students.items():
        one = tests[name]
        assert (one["statistic"], one["p"], one["df"]) == pytest.approx(
            (theirs.statistic, theirs.pvalue, theirs.df), rel=1e-9
        )
        assert one["p_normal"] == pytest.approx(2 * stats.norm.sf(abs(theirs.statistic)))
    n_ahead, n_behind = ((sign * differences > 0.5e-4).sum() for sign in (1, -1))
    signs = stats.binomtest(n_ahead, n_ahead + n_behind).pvalue
    rounded, unrounded = (
        stats.wilcoxon(np.round(differences, digits), method="exact").pvalue for digits in (4, 12)
    )
    assert tests["sign test"]["statistic"] == n_ahead
    for name, *expected in (
        ("t2: paired t", students["t2: paired t"].pvalue, None, None),
        ("sign test", signs, 1e-4, None),
        ("Wilcoxon signed ranks", rounded, 1e-4, unrounded),
        ("exact randomisation", exact_p(differences, 1e-4), 1e-4, None),
    ):
        found_ones = [tests[name][column] for column in ("p", "rounded_to", "p_unrounded")]
        assert found_ones == [one and pytest.approx(one, abs=1e-12) for one in expected]
    assert 0.4 < tests["studentised bootstrap"]["p"] < 0.8


def test_all_pairs_are_compared_and_adjusted(cli: Cli, here: Path) -> None:
    """Each pair has its own test; Holm steps down; Tukey's p is of SciPy's studentised range."""
    from scipy import stats

    rows = compared(cli, A, B, C)
    scores = {path.stem: scores_of(path) for path in (A, B, C)}
    assert [(row["a"], row["b"]) for row in rows] == list(itertools.combinations(scores, 2))
    for row in rows:
        first, second = scores[row["a"]], scores[row["b"]]
        check_moments(row, first, second)
        t = stats.ttest_rel(first, second)
        assert (row["t"], row["df"]) == pytest.approx((t.statistic, t.df))
        assert row["p_normal"] == pytest.approx(2 * stats.norm.sf(abs(t.statistic)))
    exact = [exact_p(scores[row["a"]] - scores[row["b"]], 1e-4) for row in rows]
    assert [row["p_randomisation"] for row in rows] == pytest.approx(exact, abs=1e-12)
    in_order = sorted(range(3), key=exact.__getitem__)
    running, holm = 0.0, [0.0] * 3
    for place, index in enumerate(in_order):
        running = max(running, min(1.0, (3 - place) * exact[index]))
        holm[index] = running
    assert [row["p_holm"] for row in rows] == pytest.approx(holm, abs=1e-12)
    table = np.array([*scores.values()])
    residual = table - table.mean(axis=0) - table.mean(axis=1)[:, None] + table.mean()
    n_runs, n_topics = table.shape
    degrees = (n_runs - 1) * (n_topics - 1)
    error = np.sqrt((residual**2).sum() / degrees / n_topics)
    for row in rows:
        q = abs(row["difference"]) / error
        p = stats.studentized_range.sf(q, n_runs, degrees)
        assert row["p_tukey"] == pytest.approx(p, abs=1e-6)
        assert row["p_tukey_randomised"] == pytest.approx(p, abs=0.1)
    # SciPy has one way: with each topic's mean taken off, but of the degrees of freedom within runs.
    one_way = stats.f_oneway(*(table - table.mean(axis=0))).statistic
    f = one_way * degrees / (n_runs * (n_topics - 1))
    options = ("--order", "trec9", "--format", "json")
    facts = cli("compare", "--qrels", STRICT, A, B, C, *options).fine().whole()["facts"]
    assert facts == pytest.approx({"f": f, "p_of_f": stats.f.sf(f, n_runs - 1, degrees)})


def test_a_baseline_is_compared_with_each_other_run(cli: Cli, here: Path) -> None:
    """`--against` gives the rows of the other runs, with the adjustment of so many tests."""
    rows = compared(cli, "--against", A.stem, A, B, C)
    assert [(row["a"], row["b"]) for row in rows] == [(B.stem, A.stem), (C.stem, A.stem)]
    known = {frozenset((row["a"], row["b"])): row["p_randomisation"] for row in compared(cli, A, B, C)}
    assert all(row["p_randomisation"] == known[frozenset((row["a"], row["b"]))] for row in rows)


def test_collection_gives_what_its_files_give(cli: Cli, judged: Path) -> None:
    """Another measure, a judge and named runs."""
    options = ("-m", "nDCG@10", "--plot", "a.svg", "--format", "json")
    for first, second in ((A, B), (B, A)):
        named = first.stem, second.stem, "--qrels", "strict"
        stored = cli("compare", *named, *options).fine().json()
        assert (stored["difference"][0]["a"], stored["difference"][0]["b"]) == named[:2]
        assert cli("compare", first, second, "--qrels", STRICT, *options).fine().json() == stored
    assert set(stored) == {"difference", "tests", "topics", "normality"}
    shares = [row["share"] for row in stored["normality"]]
    assert shares == pytest.approx([n / 8 for n in range(1, 9)])
    everything = cli("compare", "--qrels", "strict").fine().out
    assert "Of 36 pairs" in everything


def test_undefined_is_a_reason(cli: Cli, here: Path) -> None:
    """Two runs that are the same have no t, and one topic has no variance."""
    write(here / "q", "1 0 a 1", "2 0 b 1", "3 0 c 0")
    for tag in ("x", "y"):
        write(here / f"{tag}.run", *(f"{t} Q0 {d} 1 1 {tag}" for t, d in (("1", "a"), ("2", "z"))))
    answer = cli("compare", "--qrels", "./q", "x.run", "y.run", "--format", "json").fine()
    tests = {row["test"]: (row["p"], row["reason"]) for row in answer.json()["tests"]}
    assert tests["t2: paired t"] == (None, "no-variation")
    assert tests["Wilcoxon signed ranks"] == (None, "no-difference")
    assert tests["exact randomisation"] == (1.0, None)
    assert "1 topic without a relevant document: no AP there" in answer.err
    # The words of other tables, on resamples, do not hold here.
    shown = " ".join(cli("compare", "--qrels", "./q", "x.run", "y.run").fine().out.split())
    assert "no-variation: the same difference in every topic." in shown
    assert "no-difference: no topic has a difference that does not round to 0." in shown
    write(here / "q1", "1 0 a 1")
    shown = cli("compare", "--qrels", "./q1", "x.run", "y.run").fine().out
    assert "one-topic: one topic where both runs have a score." in shown


def test_refusals_say_what_to_do(cli: Cli, here: Path) -> None:
    """Too few runs, an unknown one, before any judgement too, options of two runs with several."""
    cli("init").fine()
    cli("import", "runs", A).fine()
    assert "unknown run `nobody`" in cli("compare", "bm25-words", "nobody").failed(1).err
    alone = cli("compare", "--qrels", STRICT, A).failed(1)
    assert "there is one run, `bm25-words`: a comparison needs two" in alone.err
    unknown = cli("compare", "--qrels", STRICT, A, B, "--against", "nobody").failed(1)
    assert "unknown run `nobody`" in unknown.err
    several = cli("compare", "--by-topic", "--qrels", STRICT, A, B, C).failed(1)
    assert "unknown table `topics`; known: `pairs`" in several.err
    assert "`--alpha` must be between 0 and 1" in cli("compare", "--alpha", "2").failed(1).err


def test_a_tag_where_a_file_is_meant_is_told_of(cli: Cli, here: Path) -> None:
    """With --qrels runs are files, those of --runs too: the error says so, before any is read."""
    write(here / "runs.tsv", "file", str(A), str(B))
    options = ("compare", "--qrels", STRICT, "bm25-words", "rm3-words-title")
    assert (
        "hint: with --qrels FILE, and no collection here, a RUN is a file, not a tag"
        in cli(*options).failed(1).err
    )
    answer = cli(*options, "--runs", "runs.tsv").failed(1).err
    assert "error: bm25-words: no such file" in answer
    assert (
        "hint: with --qrels FILE, and no collection here, a RUN is a file, not the tag of one of --runs"
        in answer
    )


OLD, NEW = "abxyz", "abcde"
"""Documents of the first run; relevant ones, of which the second one has some, and v to z are not."""
UP = (3, 3, 4, 3, 3, 4, 3, 2)
"""Relevant documents among five of the second run, by topic; the first has two."""
DOWN = tuple(4 - one for one in UP)
MIXED = (2, 3, 1, 4, 2, 2, 3, 1)


def lists(found: Sequence[int]) -> dict[str, str]:
    """Return the documents of the second run, by topic."""
    return {str(topic): NEW[:n] + "vwxyz"[n:] for topic, n in enumerate(found, 1)}


def write_case(here: Path, second: dict[str, str], grades: dict[str, int]) -> tuple[str, ...]:
    """Write both runs and qrels; return the words that name them."""
    write_run(here, "old", dict.fromkeys(second, OLD))
    write_run(here, "new", second)
    write(here / "some.qrels", *(f"{topic} 0 {one} {g}" for topic in second for one, g in grades.items()))
    return "old.run", "new.run", "--qrels", "some.qrels"


ALL = dict.fromkeys("abcde", 1) | dict.fromkeys("vwxyz", 0)


def verdict_of(answer: Outcome) -> dict[str, Any]:
    """Return the verdict in JSON."""
    found: dict[str, Any] = answer.whole()["facts"]["verdict"]
    return found


# Gains of UP: .2 .2 .4 .2 .2 .4 .2 0, mean .225, standard error .0453, t(7) 2.365 and 1.895: .118 to .332
# and .139 to .311. Of MIXED: 0 .2 -.2 .4 0 0 .2 -.2, mean .05, standard error .0732: -.123 to .223 and -.089
# to .189.
@pytest.mark.parametrize(
    ("found", "options", "code", "outcome", "words"),
    [
        (UP, "", 0, "better", "Verdict: new is better than old: new - old is 0.2250 in P@5, 95% interval"),
        (DOWN, "", 0, "worse", "Verdict: new is worse than old: new - old is -0.2250 in P@5"),
        (MIXED, "", 0, "no difference", "Verdict: no difference that these topics can show: new - old"),
        (UP, "--require better", 0, "holds", "Verdict (--require better): holds: new is better than old"),
        (DOWN, "--require better", 5, "fails", "(--require better): does not hold: new is worse than old"),
        (MIXED, "--require better", 6, "undecided", "better): undecided: no difference that these"),
        ((2,) * 8, "--require better", 5, "fails", "does not hold: no difference that these"),
        ((2,) * 8, "--require not-worse --margin .01", 0, "holds", "new is not worse than old by 0.01"),
        (MIXED, "--require not-worse --margin .09", 0, "holds", "0.05"),
        (MIXED, "--require not-worse --margin .08", 6, "undecided", "do not show whether new is worse"),
        (DOWN, "--require not-worse --margin .13", 5, "fails", "hold: new is worse than old by 0.13"),
        (DOWN, "--require not-worse --margin .15", 6, "undecided", "90% interval -0.31"),
        (DOWN, "--require not-worse --margin .32", 0, "holds", "-0.2250"),
        ((3,), "--require better", 6, "undecided", "new - old in P@5: one topic where both"),
    ],
)  # fmt: skip
def test_outcome_and_exit_code(
    cli: Cli, here: Path, found: tuple[int, ...], options: str, code: int, outcome: str, words: str
) -> None:
    """By hand: better, of the interval of 1 - alpha; not worse, of the one whose ends are one-sided."""
    from scipy import stats

    named = write_case(here, lists(found), ALL)
    measure = "-m", "P@5"
    told = cli("compare", *named, *measure, *options.split())
    assert told.code == code, told.err
    assert words in told.out.splitlines()[-1]
    answer = cli("compare", *named, *measure, *options.split(), "--format", "json")
    assert (answer.code, verdict_of(answer)["outcome"]) == (code, outcome)
    assert verdict_of(answer)["text"] == told.out.splitlines()[-1]
    if len(set(found)) > 1:
        gains = [(n - 2) / 5 for n in found]
        interval = stats.ttest_1samp(gains, 0).confidence_interval(0.9 if "not-worse" in options else 0.95)
        known = verdict_of(answer)
        assert (known["low"], known["high"]) == pytest.approx(tuple(interval), abs=1e-12)


def test_several_measures_must_all_hold(cli: Cli, here: Path) -> None:
    """The verdict names the one that does not: by P@1 both runs are the same."""
    named = (*write_case(here, lists(UP), ALL), "--require", "better")
    told = cli("compare", *named, "-m", "P@5", "-m", "P@1")
    assert (told.code, "old - new" in told.out, "new - old is 0.0000 in P@1" in told.out) == (5, False, True)
    told = cli("compare", *named, "-m", "P@5", "-m", "P@4", "--format", "json")
    known = verdict_of(told.fine())
    assert "0.2250 in P@5" in known["text"]
    assert "in P@4" in known["text"]
    assert [one["measure"] for one in known["measures"]] == ["P@5", "P@4"]


def test_topics_that_would_show_a_difference_are_those_of_the_design(cli: Cli, here: Path) -> None:
    """`design topics` of the same variance and level, and its least difference with so many topics."""
    named = (*write_case(here, lists(MIXED), ALL), "-m", "P@5")
    variance = float(np.var([(n - 2) / 5 for n in MIXED], ddof=1))
    designed = p.design_topics(variance=[variance], difference=[0.05], topics=[8])
    told = cli("compare", *named, "--margin", ".05").fine().out.splitlines()[-1]
    (needed,) = [row["topics"] for row in designed.table("topics").to_records() if row["test"] == "paired t"]
    (least,) = designed.table("detectable").cells("paired")
    assert f"these topics find a difference of {least:.4f}; one of 0.05 takes {needed} topics." in told
    known = verdict_of(cli("compare", *named, "--format", "json").fine())
    assert known["text"].endswith(
        f"a difference of {least:.4f}; --margin D tells how many topics find one of D."
    )
    known = verdict_of(cli("compare", *named, "--margin", ".05", "--format", "json").fine())
    assert known["topics_needed"] == needed == 137


@pytest.mark.parametrize(
    ("second", "unjudged", "outcomes"),
    [
        # One of five is relevant, or three or four: .2 less than the first run, or .2 to .4 more.
        ((5, 5, 4, 5, 4, 5, 5, 4), "cde", ("judge first", 6, 0, 5)),
        # There is none in its first ranks.
        (DOWN, "cde", ("worse", 5, 5, 5)),
    ],
)
def test_unjudged_documents_come_before_worse(
    cli: Cli, here: Path, second: tuple[int, ...], unjudged: str, outcomes: tuple[str, int, int, int]
) -> None:
    """Undecided, until what the printed command lists is judged, unless they could not change it."""
    left = {one: grade for one, grade in ALL.items() if one not in unjudged}
    runs = {topic: one.replace("b", "v") for topic, one in lists(second).items()}
    named = (*write_case(here, runs, left), "-m", "P@5")
    asked = (*named, "--require", "better")
    known = verdict_of(cli("compare", *named, "--format", "json"))
    told = cli("compare", *asked)
    assert (known["outcome"], told.code) == outcomes[:2]
    if not known["to_judge"]:
        return
    command = told.out.splitlines()[-1].split("`")[1]
    rows = [
        (row["topic"], row["docno"])
        for row in cli(*shlex.split(command)[1:], "--format", "json").fine().json()
    ]
    open_ = {(topic, one) for topic, docnos in runs.items() for one in docnos if one in unjudged}
    assert set(rows) == open_
    assert known["to_judge"] == len(rows)
    assert known["unjudged"] == [0, len(open_)]
    for grade, code in zip((1, 0), outcomes[2:], strict=True):
        write_case(here, runs, left)
        with Path("some.qrels").open("a") as file:
            file.writelines(f"{topic} 0 {docno} {grade}\n" for topic, docno in rows)
        assert cli("compare", *asked).code == code


def test_who_has_more_unjudged_documents_is_who_they_could_help(cli: Cli, here: Path) -> None:
    """A run that is better in spite of them is; one that is better than a run with them may not be."""
    runs = {topic: one[:-1] + "U" for topic, one in lists(UP).items()}
    first, second, *options = (*write_case(here, runs, ALL), "-m", "P@5", "--require", "better")
    assert cli("compare", first, second, *options).code == 0
    assert cli("compare", second, first, *options).code == 5
    write_run(here, "old", dict.fromkeys(runs, "abUVW"))
    assert cli("compare", first, second, *options).code == 6
    # One document of eighty does not matter.
    runs = {**lists(UP), "8": "abvwU"}
    write_case(here, runs, ALL)
    assert cli("compare", second, first, *options).code == 5


def test_a_collection_tells_what_to_judge_by_tags(cli: Cli, judged: Path) -> None:
    """The printed command lists as many documents that nobody judged, of either run's first ten."""
    known = verdict_of(cli("compare", "bm25-words", "rm3-words-title", "-m", "P@10", "--qrels", "lenient",
                           "--format", "json").fine())  # fmt: skip
    rows = cli(*shlex.split(known["command"])[1:], "--format", "json").fine().json()
    assert known["outcome"] == "judge first"
    assert len(rows) == known["to_judge"] == 31
    assert not any(row["judged"] for row in rows)
    assert all(min(row["rank_a"] or 99, row["rank_b"] or 99) <= 10 for row in rows)


def test_documents_that_judges_differ_on_are_to_be_settled(
    cli: Cli, here: Path, collection_of: Callable[..., None]
) -> None:
    """What nobody judged is listed to be judged; of the others the verdict names what settles them."""
    runs = {topic: one.replace("b", "v") for topic, one in lists((5, 5, 4, 5, 4, 5, 5, 4)).items()}
    write_case(here, runs, ALL)
    ann = [f"{topic} 0 {one} {grade}" for topic in runs for one, grade in ALL.items() if one != "e"]
    collection_of("0-1", ann=ann, ben=[f"{topic} 0 {one} 0" for topic in runs for one in "cd"])
    cli("import", "runs", "old.run", "new.run").fine()
    asked = "compare", "old", "new", "-m", "P@5", "--require", "better", "--format", "json"
    known = verdict_of(cli(*asked))
    assert (known["to_judge"], known["to_settle"], known["outcome"]) == (21, 16, "undecided")
    listed = cli(*shlex.split(known["command"])[1:], "--format", "json").fine().json()
    assert {row["docno"] for row in listed} == {"e"}
    write(here / "rest.qrels", *(f"{row['topic']} 0 e 0" for row in listed))
    cli("import", "judgements", "rest.qrels", "--judge", "ann").fine()
    known = verdict_of(cli(*asked))
    assert (known["to_judge"], known["to_settle"], known["command"]) == (16, 16, "")
    assert (
        "is unjudged" in cli("pool", "next", "--only-unjudged", "--confidence", "1", "old", "new").fine().err
    )
    shown, rule = known["text"].removesuffix(".").partition("differ on 16: pooler ")[2].split(", or pooler ")
    assert len(cli(*shown.split(), "--table", "disagreements", "--format", "tsv").fine().tsv()) == 16
    cli(*rule.split()).fine()
    assert verdict_of(cli(*asked))["to_judge"] == 0


def test_a_page_has_it_as_a_note_and_data_has_it_not(cli: Cli, here: Path) -> None:
    """Markdown and LaTeX: the last note of the last table; TSV has the table alone."""
    named = write_case(here, lists(UP), ALL)
    assert (
        cli("compare", *named, "--format", "markdown").fine().out.splitlines()[-1].startswith("Verdict: new")
    )
    latex = cli("compare", *named, "--format", "latex").fine().out
    assert latex.count("\\begin{table}") == 2
    assert "Verdict: new is better than old" in latex.split("\\footnotesize")[-1]
    assert "erdict" not in cli("compare", *named, "--format", "tsv", "--table", "tests").fine().out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--require not-worse", "`--margin` must be given for not-worse"),
        ("--require not-worse --margin 0", "`--margin` must be a number > 0"),
        ("--require not-worse --margin .1 --alpha .5", "`--alpha` must be below 0.5 for not-worse"),
        ("--require better --against old", "`--require` needs two runs"),
        ("-m GMAP -m AP --margin .1", "`--margin` is of logarithms by GMAP"),
        ("-m AP -m P@5 --against old", "`--measure` needs two runs"),
    ],
)
def test_refusals(cli: Cli, here: Path, options: str, words: str) -> None:
    """Exit code 1: an error is no outcome."""
    assert words in cli("compare", *write_case(here, lists(UP), ALL), *options.split()).failed(1).err


def in_memory(
    **runs: Sequence[int],
) -> tuple[dict[str, dict[str, dict[str, float]]], dict[str, dict[str, int]]]:
    """Return runs by the number of relevant documents in each topic, and what is relevant."""
    of = {tag: lists(found) for tag, found in runs.items()}
    ranked = {
        tag: {topic: {one: -float(rank) for rank, one in enumerate(docnos)} for topic, docnos in by.items()}
        for tag, by in of.items()
    }
    return ranked, dict.fromkeys(lists(UP), ALL)


@pytest.mark.parametrize(
    ("third", "answer"),
    [
        (None, "b is better than a"),
        (DOWN, "b is the best of 3 runs"),
        ((*UP[1:], 3), "b and c cannot be told apart by these topics, and are the best of 3 runs"),
    ],
)
def test_a_report_begins_with_it(third: tuple[int, ...] | None, answer: str) -> None:
    """Of two runs which is better, of more which are the best, each other one at 5 % by their number."""
    page = p.report(in_memory(a=(2,) * 8, b=UP, **({} if third is None else {"c": third})), depth=5)
    assert (page.page.verdicts[0].name, page.page.verdicts[0].answer) == ("Decision", answer)
    if third is not None:
        decision, *others = page.page.verdicts
        assert decision.text.startswith("By 97.5% intervals of the differences to b in AP, 95% together. ")
        # What can be trusted, for new runs and for these, ends it.
        said = {one.name: one.answer for one in others}
        assert said["Order of the runs"] == "unknown"
        ends = f" Reuse: {said['Reuse']}. Order of the runs: unknown."
        assert decision.text.endswith(ends)


def test_a_report_says_what_to_judge_before_it_decides(cli: Cli, here: Path) -> None:
    """A run that fed no pool has four unjudged documents in each of 8 topics; its command lists them."""
    write_case(here, lists(UP), ALL)
    write_run(here, "late", dict.fromkeys(lists(UP), "STUVx"))
    write(here / "runs.tsv", "file\tcontributes", "old.run\tyes", "new.run\tyes", "late.run\tno")
    cli("report", "trust.html", "--qrels", "some.qrels", "--runs", "runs.tsv", "--depth", "5").fine()
    text = html.unescape((here / "trust.html").read_text("utf-8").split("</li>")[0])
    assert "32 documents of late that count here are unjudged, as it fed no pool." in text
    [command] = re.findall("<code>pooler (pool next .*?)</code>", text)
    rows = cli(*shlex.split(command), "--format", "json").fine().json()
    assert {row["docno"] for row in rows} == set("STUV")
    assert len(rows) == 32


@pytest.mark.parametrize(("found", "said"), [(UP, "replaced"), (DOWN, "kept"), (MIXED, "asked")])
def test_a_shell_script_branches_on_it(here: Path, programs: Path, found: tuple[int, ...], said: str) -> None:
    """Three outcomes, and an error that is none of them."""
    named = write_case(here, lists(found), ALL)
    script = f"""
        PATH={shlex.quote(str(programs))}:$PATH
        decide() {{
            code=0; pooler compare "$@" -m P@5 --require better > verdict.txt || code=$?
            case $code in 0) echo replaced;; 5) echo kept;; 6) echo asked;; *) echo "error $code";; esac
        }}
        decide {shlex.join(named)}
        tail -n 1 verdict.txt
        decide old.run nowhere.run --qrels some.qrels
    """
    done = run_shell(script, here)
    first, verdict, last = done.stdout.splitlines()
    assert (first, last) == (said, "error 1"), done.stderr
    assert verdict.startswith("Verdict (--require better): ")
