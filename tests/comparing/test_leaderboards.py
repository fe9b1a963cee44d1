"""`pooler evaluate --leaderboard`: the order of runs beside scores that another program gave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scipy.stats import kendalltau

from tests.helpers.run import Cli, write, write_run

RUNS = {"a": "xyz", "b": "yxz", "c": "zyx"}
"""Documents in rank order; x is relevant for t1, x and y for t2: AP 1, 1/2, 1/3 and 1, 1, 7/12."""
BOARD = """a GRADE t1 0.5
a OK t1 True
a GRADE t2 0.25
a OK t2 False
b GRADE t1 1
b OK t1 False
b GRADE t2 0.25
b OK t2 False
c GRADE t1 0
c OK t1 True
c GRADE t2 0.5
c OK t2 True
d GRADE t1 1
a GRADE all 9
"""


@pytest.fixture
def evaluate(cli: Cli, tmp_path: Path) -> Cli:
    """Return `pooler evaluate` of three runs by qrels, for the options that follow."""
    runs = [write_run(tmp_path, tag, {"t1": docnos, "t2": docnos}) for tag, docnos in RUNS.items()]
    write(tmp_path / "some.qrels", "t1 0 x 1", "t2 0 x 1", "t2 0 y 1")
    return lambda *words, **how: cli("evaluate", "--qrels", "some.qrels", *runs, *words, **how)


def test_the_order_by_each_measure(evaluate: Cli, tmp_path: Path) -> None:
    """MAP 1, 3/4, 11/24; mean GRADE 3/8, 5/8, 1/4: a and b swapped; mean OK 1/2, 0, 1."""
    write(tmp_path / "tot", BOARD)
    found = evaluate("--leaderboard", "tot", "--format", "json").fine().json()
    grade, ok = found["orders"]
    expected = {"GRADE": (3 / 8, 5 / 8, 1 / 4), "OK": (1 / 2, 0, 1)}
    for row in (grade, ok):
        tau = kendalltau((1, 3 / 4, 11 / 24), expected[row["leaderboard"]]).statistic
        assert (row["measure"], row["runs"], row["topics"]) == ("AP", 3, 2)
        assert row["tau"] == pytest.approx(tau, abs=1e-12)
        assert row["tau_low"] <= row["tau"] <= row["tau_high"]
    # b, a, c: of the places 2 and 3 the shares of right runs above are 0/1 and 2/2.
    assert (grade["tau_ap"], grade["swapped"]) == (pytest.approx(0), 1)
    # c, a, b: 0/1, and 1/2.
    assert (ok["tau_ap"], ok["swapped"]) == (pytest.approx(-1 / 2), 2)
    shown = evaluate("--leaderboard", "tot").fine()
    assert "left out, as not in both those measured and tot: d" in shown.err
    assert "Order of the runs, and of the leaderboard" in shown.out


def test_forms_of_one_leaderboard(evaluate: Cli, tmp_path: Path) -> None:
    """Fields in the other order, JSON lines, and nuggetizer's files, one a run, say the same."""
    rows = [line.split() for line in BOARD.splitlines()]
    write(tmp_path / "ir", "run topic measure value\n" + "".join(f"{a} {t} {m} {v}\n" for a, m, t, v in rows))
    keys = ("run_id", "measure", "topic_id", "value")
    write(tmp_path / "jsonl", "".join(f"{json.dumps(dict(zip(keys, row, strict=True)))}\n" for row in rows))
    for run in RUNS:
        scores: dict[str, dict[str, float]] = {}
        for tag, measure, topic, value in rows:
            if tag == run:
                number = {"True": 1.0, "False": 0.0}.get(value)
                scores.setdefault(topic, {})[measure] = float(value) if number is None else number
        write(tmp_path / f"{run}.jsonl", *(json.dumps({"qid": topic, **of}) for topic, of in scores.items()))
    write(tmp_path / "tot", BOARD)
    forms = (["tot"], ["ir"], ["jsonl"], [f"{run}.jsonl" for run in RUNS])
    options = ([word for file in files for word in ("--leaderboard", file)] for files in forms)
    answers = [evaluate(*one, "--format", "json").fine().json()["orders"] for one in options]
    assert answers == [answers[0]] * 4


def test_scores_without_the_run_are_of_the_run_the_file_is_named_after(cli: Cli, tmp_path: Path) -> None:
    """As `trec_eval -q` prints them; a run's name may have points."""
    for tag, docnos in {"x.1": "xy", "x.2": "yx"}.items():
        write_run(tmp_path, tag, {"t1": docnos})
    write(tmp_path / "some.qrels", "t1 0 x 1")
    for tag, value in {"x.1": "1.0", "x.2": "0.5"}.items():
        write(tmp_path / f"{tag}.eval", f"map t1 {value}", f"map all {value}")
    words = ("evaluate", "--qrels", "some.qrels", "x.1.run", "x.2.run", "--format", "json")
    (row,) = cli(*words, "--leaderboard", "x.1.eval", "--leaderboard", "x.2.eval").fine().json()["orders"]
    assert (row["leaderboard"], row["runs"], row["topics"], row["tau"]) == ("map", 2, 1, 1)


def test_what_runs_lack_is_told(evaluate: Cli, tmp_path: Path) -> None:
    """A run without a topic takes it from all; a mean alone is no score; no topic in common is a reason."""
    write(tmp_path / "gaps", "a M t1 3\na M t2 3\nb M t1 2\nc M all 1\n")
    told = evaluate("--leaderboard", "gaps", "--format", "json").fine()
    (row,) = told.json()["orders"]
    assert (row["runs"], row["topics"]) == (2, 1)
    assert "M: some runs lack topics that others have, which are left out: b" in told.err
    assert "M: left out, without such a score by topic: c" in told.err
    write(tmp_path / "apart", "a M T1 3\nb M T1 2\nc M T1 1\n")
    (row,) = evaluate("--leaderboard", "apart", "--format", "json").fine().json()["orders"]
    assert (row["topics"], row["tau"], row["reason"]) == (0, None, "no-common-topics")


def test_means_alone_and_faults(evaluate: Cli, tmp_path: Path) -> None:
    """A mean is compared as it is; what is no score, comes twice or is nuggets is refused by its line."""
    write(tmp_path / "means", "a M all 3\nb M all 2\nc M all 1\n")
    shown = evaluate("--leaderboard", "means")
    assert "Of M the mean over topics alone is there" in shown.fine().out
    assert evaluate("--leaderboard", "means", "--format", "json").json()["orders"][0]["tau"] == 1
    bad = 'a M t1 1e999\na M t2 1\na M t2 1\na M\n{"qid": "t1", "nuggets": []}\n{"value": 1}\n'
    write(tmp_path / "bad", bad)
    err = evaluate("--leaderboard", "bad").failed(1).err
    for part in (
        "bad:1: expected a score, got `1e999`",
        "bad:3: expected one M of run a for topic t2, got another",
        "bad:4: expected run, measure, topic and score, got 2 fields",
        "bad:5: expected scores of a topic, got nuggets",
        "bad:6: expected scores of a topic, got no `topic_id` or `qid`",
    ):
        assert part in err
    write(tmp_path / "others", "e M t1 1\n")
    assert "no run of those measured is in others" in evaluate("--leaderboard", "others").failed(1).err
