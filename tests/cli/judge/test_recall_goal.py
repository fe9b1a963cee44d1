"""`--goal` and `status recall`: from a sample drawn by the command line to the judge's offer to stop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from store.analysis.pools.stopping import most_relevant
from tests.helpers.run import Cli, by_rule

pytestmark = pytest.mark.slow

TOPIC = "G01"


@pytest.fixture
def tail(cli: Cli, judged: Path) -> Path:
    """Work beside the sample collection: a person, a sample of 30 documents a topic in random order."""
    cli("judges", "add", "anna").fine()
    cli("pool", "drop", "--pool", "pool").fine()
    drawn = ("--strategy", "uniform", "--depth", "20", "--budget", "30", "--seed", "4")
    cli("pool", *drawn, "--name", "tail").fine()
    cli("assign", "anna", "--order", "random", "--seed", "4").fine()
    return judged


def rows(cli: Cli, *arguments: str) -> dict[str, dict[str, object]]:
    """Return the rows of a table of recall by topic."""
    found = json.loads(cli(*arguments, "--format", "json").fine().out)["recall"]
    return {row["topic"]: row for row in found}


def test_a_target_adds_what_is_needed(cli: Cli, tail: Path) -> None:
    """Six documents are judged in the order of the sample, two of them relevant: by the limit itself."""
    cli("judge", "--judge", "anna", "--topic", TOPIC, "--plain", stdin=b"2\n0\n1\n0\n0\n0\nq\n").fine()
    status, to_do = (
        rows(cli, "status", "recall", "--confidence", ".9", *more) for more in ((), ("--target", ".6"))
    )
    size = status[TOPIC]["n_random"]
    assert isinstance(size, int)
    limit = most_relevant(size, 6, 2, confidence=0.9)
    for row in (status[TOPIC], to_do[TOPIC]):
        assert (row["found"], row["judged"], row["relevant"], row["waiting"]) == (2, 6, 2, 24)
        assert (row["more"], row["recall"]) == (limit - 2, 2 / limit)
    assert (
        to_do[TOPIC]["needed"]
        == next(
            n for n in range(6, size + 1) if min(most_relevant(size, n, 2, confidence=0.9), 2 + size - n) <= 3
        )
        - 6
    )
    assert {row["reason"] for topic, row in status.items() if topic != TOPIC} == {"sample-unjudged"}


def test_people_read_a_table_and_on_what_it_rests(cli: Cli, tail: Path) -> None:
    """Universe, confidence, assumption; why there is no bound."""
    cli("judge", "--judge", "anna", "--topic", TOPIC, "--plain", stdin=b"2\n0\n1\n0\n0\n0\nq\n").fine()
    shown = cli("status", "recall").fine()
    text = " ".join(shown.out.split())
    assert (
        "Recall is of the documents that pool tail lists, drawn or not: the first 20 documents of its runs."
        in text
    )
    assert "Each bound holds with confidence 0.95, however often one looks, if the sample is random" in text
    assert "sample-unjudged: nothing of the random sample is judged yet" in text


def test_a_judge_is_offered_to_stop_where_the_organiser_says(
    cli: Cli, tail: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the option, or by POOLER_GOAL; without both no word of it."""
    typed = b"2\n" * 25 + b"q\n"
    said = "goal reached: at least 50% of the relevant documents of the runs are found (95% sure)"
    silent = cli("judge", "--judge", "anna", "--topic", "G02", "--plain", stdin=typed).fine()
    assert "goal" not in silent.out
    by_option = cli(
        "judge", "--judge", "anna", "--topic", "G03", "--plain", "--goal", "recall=.5", stdin=typed
    )
    assert by_option.fine().out.count(said) == 1
    monkeypatch.setenv("POOLER_GOAL", "recall=.5@.95")
    by_setting = cli("judge", "--judge", "anna", "--topic", "G04", "--plain", stdin=typed)
    assert by_setting.fine().out.count(said) == 1


def test_without_a_sample_both_say_what_to_do(cli: Cli, judged: Path) -> None:
    """It names itself with a target, and what that names draws a sample, once its two numbers are chosen."""
    cli("judges", "add", "anna").fine()
    told = " ".join(cli("status", "recall").fine().out.split())
    assert "no sample, pooler status recall --target .8 tells how many" in told
    told = " ".join(by_rule(cli, "status", "recall", "--target", ".8", "--kinds", "model").fine().out.split())
    command = told.partition("fewer: pooler ")[2].partition(".")[0]
    cli(*command.replace(" N ", " 500 ").replace(" D ", " 20 ").split()).fine()
    assert "no-sample" not in cli("status", "recall").fine().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("judge", "--judge", "anna", "--plain", "--goal", "recall=2"), "`--goal` must have a recall"),
        (("judge", "--judge", "anna", "--plain", "--goal", "all"), "`--goal` must be recall=R"),
        (("status", "recall", "--confidence", "95"), "`--confidence` must be between 0 and 1"),
        (("status", "recall", "--target", "0"), "`--target` must be between 0 and 1"),
    ],
)
def test_refusals(cli: Cli, tail: Path, arguments: tuple[str, ...], message: str) -> None:
    """One line, and what to do instead."""
    refused = cli(*arguments)
    assert refused.code != 0
    assert message in refused.err
    assert "Traceback" not in refused.err


def test_a_setting_that_is_wrong_is_named(cli: Cli, tail: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not an option, so the option is not blamed; a model's run takes no notice of it."""
    monkeypatch.setenv("POOLER_GOAL", "soon")
    refused = cli("judge", "--judge", "anna", "--plain")
    assert "`--goal` must be recall=R" in refused.err
