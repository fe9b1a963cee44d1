"""Judges of several kinds: wherever they are counted together, that is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from store.collection import Collection
from tests.cli.command_line import JUDGES
from tests.cli.conftest import Cli

MIXED = "warning: judges of several kinds vote together: 1 person, 3 models\n"
MEASURED = "warning: judges of several kinds are measured together: 1 person, 3 models\n"
MAJORITY = ("--aggregate", "majority", "--ties", "low")
ALL_VOTE = [
    ("export", "qrels", *MAJORITY),
    ("export", "ntcir", "--as", "ntcireval", *MAJORITY),
    ("export", "probabilities", "--level", "1"),
    ("export", "pool", "--annotated", *MAJORITY),
    ("evaluate", *MAJORITY),
    ("evaluate", *MAJORITY, "-m", "AP", "-m", "P@5"),
    ("variation", "--pairs"),
    ("variation", *MAJORITY),
    ("next",),
    ("compare", "bm25-words", "rm3-bigrams", *MAJORITY),
    ("compare", "--all", *MAJORITY),
    ("sensitivity", *MAJORITY),
    ("required-difference", "--all", *MAJORITY),
    ("replay", *MAJORITY, "-s", "take"),
]
MEASURED_BY = "udged by 1 person, 3 models together"


@pytest.fixture
def mixed(cli: Cli, judged: Path) -> Path:
    """Work beside the sample collection, judged by its three models and by a person."""
    for judge in JUDGES:
        assert f"{judge}\tmodel\t" in cli("judges", "list", "--format", "tsv").out
    cli("import", "judgements", "judgements/strict.qrels", "--judge", "anna", "--kind",
        "human").fine()  # fmt: skip
    return judged


@pytest.mark.parametrize("command", ALL_VOTE, ids=" ".join)
def test_votes_of_several_kinds_are_told_once(command: tuple[str, ...], cli: Cli, mixed: Path) -> None:
    """One warning counts the kinds; without the person there is none."""
    cli("pool", "--depth", "5").fine()
    told = cli(*command).fine()
    assert told.err.count("several kinds") == 1
    assert MIXED in told.err
    # The heading stands alone, or in brackets behind what is measured.
    assert (MEASURED_BY in " ".join(told.out.split())) == (command[0] != "export")
    alone = cli(*command, *(word for name in JUDGES for word in ("--of", name))).fine()
    assert "kinds" not in alone.err
    assert "together" not in alone.out.split("\n")[0]


@pytest.mark.parametrize("fmt", ["json", "tsv"])
@pytest.mark.parametrize(
    "command", [one for one in ALL_VOTE if one[0] != "export"], ids=lambda words: " ".join(words)
)
def test_programs_find_the_kinds_in_every_row(
    command: tuple[str, ...], fmt: str, cli: Cli, mixed: Path
) -> None:
    """Every row of every table has a cell `kinds`; without the person there is no such column."""
    cli("pool", "--depth", "5").fine()
    of_models = [word for name in JUDGES for word in ("--of", name)]
    one_table = (
        ["--table", "tests"] if command[0] == "compare" and "--all" not in command and fmt == "tsv" else []
    )
    told, alone = (cli(*command, "--format", fmt, *one_table, *of).fine() for of in ((), of_models))
    assert "kinds" not in alone.out
    if fmt == "tsv":
        rows = told.tsv()
    else:
        found = told.json()
        rows = found if isinstance(found, list) else [row for of in found.values() for row in of]
    assert rows
    assert {row["kinds"] for row in rows} == {"human=1 model=3"}


def test_kinds_are_told_with_a_diagnosis(cli: Cli, mixed: Path) -> None:
    """What follows is by judges of several kinds: people read it first, programs in the settings."""
    cli("pool", "--depth", "5").fine()
    shown = cli("diagnose", *MAJORITY).fine().out
    assert shown.splitlines()[0] == "What follows (judged by 1 person, 3 models together)"
    found = cli("diagnose", *MAJORITY, "--format", "json").fine()
    assert found.whole()["settings"]["kinds"] == {"human": 1, "model": 3}
    assert {row["kinds"] for row in found.json()} == {"human=1 model=3"}
    assert "kinds" not in cli("diagnose", "--judge", "anna", "--format", "json").fine().out


def test_kinds_in_manifests(cli: Cli, mixed: Path) -> None:
    """A manifest counts judges by kind where there are several kinds, else it says nothing."""
    cli("export", "qrels", *MAJORITY, "--out", "q").fine()
    cli("export", "probabilities", "--level", "1", "--out", "p").fine()
    cli("agreement", "--manifest", "a.json").fine()
    cli("next", "--pool", "more", "--limit", "2").fine()
    for name in ("q.manifest.json", "p.manifest.json", "a.json"):
        facts = json.loads((mixed / name).read_text("utf-8"))
        assert facts["kinds"] == {"human": 1, "model": 3}, name
    with Collection("collection.db") as opened:
        assert opened.pools.get("more").manifest["kinds"] == {"human": 1, "model": 3}
    cli("agreement", *JUDGES, "--manifest", "b.json").fine()
    assert "kinds" not in json.loads((mixed / "b.json").read_text("utf-8"))


def test_agreement_of_several_kinds(cli: Cli, mixed: Path) -> None:
    """Agreement says it of those who are measured, on stderr and above the judges."""
    told = cli("agreement").fine()
    assert told.err.count("several kinds") == 1
    assert MEASURED in told.err
    assert told.out.startswith("4 judges (1 person, 3 models)\n")
    of_programs = cli("agreement", "--format", "json").fine().json()
    assert of_programs.settings["kinds"] == {"human": 1, "model": 3}
    two = cli("agreement", "anna", "strict").fine()
    assert "several kinds are measured together: 1 person, 1 model\n" in two.err
    models = cli("agreement", *JUDGES).fine()
    assert "kinds" not in models.err
    assert models.out.startswith("3 judges\n")


def test_report_of_several_kinds(cli: Cli, mixed: Path) -> None:
    """A page says first that several kinds vote, and again beside what they measure."""
    said = "Judges of several kinds {}: 1 person, 3 models."
    cli("report", "mixed.html", *MAJORITY, "--depth", "5").fine()
    page = (mixed / "mixed.html").read_text("utf-8")
    short = page.index('id="s1"')
    assert short < page.index(said.format("vote together")) < page.index('id="s2"')
    assert said.format("are measured together") in page
    of_models = [word for name in JUDGES for word in ("--of", name)]
    cli("report", "models.html", *MAJORITY, "--depth", "5", *of_models).fine()
    assert "vote together" not in (mixed / "models.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--judge", "strict"), "No person votes here: strict is a model."),
        ((*MAJORITY, *(word for name in JUDGES for word in ("--of", name))),
         "No person votes here: all 3 judges are models."),
        (("--judge", "anna"), None),
        (MAJORITY, None),
    ],
    ids=["model", "models", "person", "both"],
)  # fmt: skip
def test_report_in_short_says_that_models_judged(
    options: tuple[str, ...], said: str | None, cli: Cli, mixed: Path
) -> None:
    """Where no person has a say, the first lines of the page tell."""
    cli("report", "page.html", *options, "--depth", "5").fine()
    page = (mixed / "page.html").read_text("utf-8")
    short = page[: page.index('id="s2"')]
    assert ("No person votes" in page) == (said is not None)
    assert said is None or said in short


def test_exported_collection_counts_those_who_graded_and_their_kinds(cli: Cli, mixed: Path) -> None:
    """Of six judges four graded: three models and a person; the manifest and the README say so."""
    cli("judges", "add", "idle", "zoe").fine()
    told = cli("export", "collection", "out", *MAJORITY).fine().err
    assert " 6 judges (2 without a grade), " in told
    assert "majority of 4 judges" in told
    assert told.count(MIXED) == 1
    facts = json.loads((mixed / "out" / "manifest.json").read_text("utf-8"))
    assert facts["counts"]["judges"] == 6
    assert [one["kinds"] for one in facts["qrels"]] == [{"human": 1, "model": 3}] * 3
    readme = (mixed / "out" / "README.md").read_text("utf-8")
    assert readme.count("judges of several kinds vote together (1 human, 3 model)") == 3
    cli("import", "collection", "out", "--collection", "again.db").fine()
    cli("export", "collection", "own").fine()
    assert "kinds" not in (mixed / "own" / "manifest.json").read_text("utf-8")


def test_files_that_name_judges_of_several_kinds(cli: Cli, mixed: Path) -> None:
    """What a file says of kinds counts as it does in a collection."""
    cli("export", "judgements", "--format", "tsv", "--out", "all.tsv").fine()
    (mixed / "collection.db").unlink()
    made = cli("collapse", "all.tsv", "--input", "tsv", "--level", "1", *MAJORITY, "--scale",
               "0-2", "--out", "c").fine()  # fmt: skip
    assert MIXED in made.err
    facts = json.loads((mixed / "c.manifest.json").read_text("utf-8"))
    assert facts["kinds"] == {"human": 1, "model": 3}
    assert MEASURED in cli("agreement", "all.tsv", "--input", "tsv").fine().err


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
