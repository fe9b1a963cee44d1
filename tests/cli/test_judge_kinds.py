"""Judges of several kinds: what is said of them, beside what `test_kinds_never_mix` asks of every command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from store.collection import Collection
from tests.helpers.run import JUDGES, Cli, by_rule

pytestmark = pytest.mark.slow

MAJORITY = ("--aggregate", "majority", "--ties", "low")
BOTH = ("--kinds", "human,model")
MIXED = "warning: people and models vote together: 1 person, 3 models\n"
MODELS_ONLY = "warning: no person judged: 3 models count\n"
ALL_VOTE = [
    ("evaluate", *MAJORITY),
    ("variation", "--by", "pair"),
    ("pool", "next"),
    ("compare", "bm25-words", "rm3-bigrams", *MAJORITY),
    ("sensitivity", *MAJORITY),
    ("replay", *MAJORITY, "-s", "take"),
]


@pytest.fixture
def mixed(cli: Cli, judged: Path) -> Path:
    """Work beside the sample collection, judged by its three models and by a person."""
    for judge in JUDGES:
        assert f"{judge}\tmodel\t" in cli("show", "judges", "--format", "tsv").out
    cli("import", "judgements", "judgements/strict.qrels", "--judge", "anna", "--kind",
        "human").fine()  # fmt: skip
    return judged


def test_models_alone_are_told(cli: Cli, judged: Path) -> None:
    """Where models alone judged they count, in one line; named, or asked for by kind, without any."""
    of_models = [word for name in JUDGES for word in ("--judge", name)]
    assert by_rule(cli, "evaluate", *MAJORITY).fine().err.count(MODELS_ONLY) == 1
    assert by_rule(cli, "evaluate", *MAJORITY, "--format", "json").fine().whole()["warnings"] == [
        MODELS_ONLY.removeprefix("warning: ").rstrip()
    ]
    for more in (of_models, ["--kinds", "model"]):
        assert "warning" not in by_rule(cli, "evaluate", *MAJORITY, *more).fine().err
    assert "no person judged: 1 model counts" not in cli("evaluate", "--qrels", "strict").fine().err
    asked = by_rule(cli, "evaluate", *MAJORITY, "--kinds", "model").fine()
    assert asked.out.startswith("Judged by 3 models\n")
    refused = by_rule(cli, "evaluate", *MAJORITY, "--kinds", "human").failed(1)
    assert "nothing is judged by judges of kind human" in refused.err
    refused = by_rule(cli, "evaluate", *MAJORITY, "--kinds", "robot").failed(1)
    assert (
        "`--kinds` must be human, model or imported, or several with commas, but got 'robot'" in refused.err
    )
    refused = by_rule(cli, "evaluate", "--judge", "strict", "--kinds", "model").failed(1)
    assert "`--kinds` and --judge exclude each other" in refused.err


@pytest.mark.parametrize(
    ("command", "fmt"),
    [*((command, "json") for command in ALL_VOTE), (ALL_VOTE[0], "tsv"), (ALL_VOTE[3], "tsv")],
)
def test_programs_find_the_kinds_in_every_row(
    command: tuple[str, ...], fmt: str, cli: Cli, mixed: Path
) -> None:
    """Every row of every table has a cell `kinds` where kinds are mixed, and none otherwise."""
    cli("pool", "--depth", "5").fine()
    one_table = ["--table", "tests"] if command[0] == "compare" and fmt == "tsv" else []
    told, alone = (by_rule(cli, *command, "--format", fmt, *one_table, *more).fine() for more in (BOTH, ()))
    if fmt == "tsv":
        rows = told.tsv()
        assert "kinds" not in alone.tsv()[0]
    else:
        found, of_people = told.json(), alone.json()
        rows = found if isinstance(found, list) else [row for of in found.values() for row in of]
        assert (
            "kinds" not in (of_people if isinstance(of_people, list) else next(iter(of_people.values())))[0]
        )
    assert rows
    assert {row["kinds"] for row in rows} == {"human=1 model=3"}


def test_kinds_are_told_with_a_diagnosis(cli: Cli, mixed: Path) -> None:
    """What follows is by judges of several kinds: people read it first, programs in the settings."""
    cli("pool", "--depth", "5").fine()
    shown = " ".join(by_rule(cli, "diagnose", *MAJORITY, *BOTH).fine().out.split())
    assert shown.startswith("What follows (judged by people and models: 1 person, 3 models)")
    found = by_rule(cli, "diagnose", *MAJORITY, *BOTH, "--format", "json").fine()
    assert found.whole()["settings"]["kinds"] == {"human": 1, "model": 3}
    assert {row["kinds"] for row in found.whole()["runs"]} == {"human=1 model=3"}
    assert "kinds" not in cli("diagnose", "--qrels", "anna", "--format", "json").fine().out


def test_kinds_in_manifests(cli: Cli, mixed: Path) -> None:
    """Of agreement and of a pool that `next` makes: who was mixed, or left out."""
    cli("pool", "--depth", "5").fine()
    for name, more, key, counts in (
        ("mixed", BOTH, "kinds", {"human": 1, "model": 3}),
        ("alone", (), "kinds_left_out", {"model": 3}),
    ):
        values = ("--value", "0=.1", "--value", "1=.5", "--value", "2=.9")
        by_rule(cli, "pool", "next", *values, "--name", name, "--limit", "2", *more).fine()
        with Collection("collection.db") as opened:
            assert opened.pools.get(name).manifest[key] == counts
    settings = by_rule(cli, "agreement", *BOTH, "--format", "json").fine().whole()["settings"]
    assert settings["kinds"] == {"human": 1, "model": 3}


def test_agreement_of_one_person_and_models(cli: Cli, mixed: Path) -> None:
    """Two of the three parts; whoever names judges has them together."""
    told = cli("agreement").fine()
    apart = "people and models are measured apart: 1 person, 3 models (--qrels NAME measures them together"
    assert told.err.count(apart) == 1
    assert told.out.startswith("4 judges (1 person, 3 models)\n")
    assert "People with models: agreement on grades" in told.out
    assert "Pairs of models: agreement on grades" in told.out
    assert "people together" not in told.out
    two = cli("agreement", "anna", "strict").fine()
    assert two.out.startswith("2 judges (1 person, 1 model)\n")
    models = cli("agreement", *JUDGES).fine()
    assert "models" not in models.err
    assert models.out.startswith("3 judges\n")
    against = cli("agreement", "--against", "anna").fine()
    assert "warning: no other person judged: 3 models count\n" in against.err
    refused = cli("agreement", "orders").failed(1)
    assert "needs two judges, but there is only `anna` (people alone count (1 person)" in refused.err


@pytest.mark.slow
def test_report_of_several_kinds(cli: Cli, mixed: Path) -> None:
    """A page says first that several kinds vote; how far they agree is told of each kind by itself."""
    said = "People and models {}: 1 person, 3 models."
    by_rule(cli, "report", "mixed.html", *MAJORITY, "--depth", "5", *BOTH).fine()
    page = (mixed / "mixed.html").read_text("utf-8")
    short = page.index('id="s1"')
    assert short < page.index(said.format("vote together")) < page.index('id="s2"')
    assert "Judges of several kinds (people, models) are measured apart" in page
    assert "No person votes" not in page
    of_models = [word for name in JUDGES for word in ("--judge", name)]
    by_rule(cli, "report", "models.html", *MAJORITY, "--depth", "5", *of_models).fine()
    page = (mixed / "models.html").read_text("utf-8")
    assert "vote together" not in page
    assert "No person votes here: all 3 judges are models." in page[: page.index('id="s2"')]


@pytest.mark.parametrize(
    ("options", "said"),
    [(("--judge", "strict"), "No person votes here: strict is a model."), (("--judge", "anna"), None)],
    ids=["model", "person"],
)
def test_report_in_short_says_that_models_judged(
    options: tuple[str, ...], said: str | None, cli: Cli, mixed: Path
) -> None:
    """Where no person has a say, the first lines of the page tell."""
    by_rule(cli, "report", "page.html", *options, "--depth", "5").fine()
    page = (mixed / "page.html").read_text("utf-8")
    short = page[: page.index('id="s2"')]
    assert ("No person votes" in page) == (said is not None)
    assert said is None or said in short


def test_exported_collection_counts_those_who_graded_and_their_kinds(cli: Cli, mixed: Path) -> None:
    """Of six judges four graded: three models and a person; `qrels.json` and the README say so."""
    cli("judges", "add", "idle", "zoe").fine()
    told = by_rule(cli, "export", "collection", "out", *MAJORITY, *BOTH).fine().err
    assert " 6 judges (2 without a grade), " in told
    assert "majority of 4 judges" in told
    assert told.count(MIXED) == 1
    facts = json.loads((mixed / "out" / "manifest.json").read_text("utf-8"))
    assert facts["counts"]["judge"] == 6
    facts = json.loads((mixed / "out" / "qrels.json").read_text("utf-8"))
    assert [one["kinds"] for one in facts["qrels"]] == [{"human": 1, "model": 3}]
    readme = (mixed / "out" / "README.md").read_text("utf-8")
    assert readme.count("people and models vote together (1 human, 3 model)") == 1
    cli("import", "collection", "out", "--collection", "again.db").fine()
    by_rule(cli, "export", "collection", "alone", *MAJORITY).fine()
    readme = (mixed / "alone" / "README.md").read_text("utf-8")
    assert readme.count("left out for their kind: 3 model") == 1


def test_files_that_name_judges_of_several_kinds(cli: Cli, mixed: Path) -> None:
    """What a file says of kinds counts as it does in a collection."""
    cli("export", "judgements", "--as", "tsv", "--out", "all.tsv").fine()
    (mixed / "collection.db").unlink()
    made = cli("export", "qrels", "all.tsv", "--input", "tsv", "--level", "1", *MAJORITY, "--scale",
               "0-2", "--out", "c", *BOTH).fine()  # fmt: skip
    assert MIXED in made.err
    facts = json.loads((mixed / "c.manifest.json").read_text("utf-8"))
    assert facts["kinds"] == {"human": 1, "model": 3}


@pytest.mark.parametrize(
    ("command", "code", "why"),
    [
        ("judge", 1, "people judge here"),
        ("judge --plain", 1, "people judge here"),
        ("adjudicate", 3, "adjudicators decide disagreements"),
        ("adjudicate --plain", 3, "adjudicators decide disagreements"),
    ],
)
def test_a_model_cannot_sit_down(command: str, code: int, why: str, cli: Cli, judged: Path) -> None:
    """A screen is for people: no model's judgement is typed in; the refusal is one line."""
    before = cli("export", "judgements", "--history").fine().out
    told = cli(*command.split(), "--judge", "strict", stdin=b"2\n").failed(code)
    error, hint = told.err.splitlines()
    assert error == f"error: judge `strict` is of kind model, but only {why}"
    assert hint.startswith("hint: pooler judges add NAME ")
    assert told.out == ""
    assert cli("export", "judgements", "--history").fine().out == before
