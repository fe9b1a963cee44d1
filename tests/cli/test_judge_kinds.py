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
HEADING = "Judged by 1 person, 3 models together\n"
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
]


@pytest.fixture
def mixed(cli: Cli, judged: Path) -> Path:
    """Work beside the sample collection, judged by its three models and by a person."""
    for judge in JUDGES:
        assert f"{judge}\tmodel\t" in cli("judges", "list", "--format", "tsv").out
    cli("import", "judgements", "judgements/strict.qrels", "--judge", "anna", "--kind",
        "human").fine()  # fmt: skip
    return judged


@pytest.mark.parametrize("command", ALL_VOTE, ids=" ".join)
def test_votes_of_several_kinds_are_told_once(
    command: tuple[str, ...], cli: Cli, mixed: Path
) -> None:
    """One warning counts the kinds; without the person there is none."""
    cli("pool", "--depth", "5").fine()
    told = cli(*command).fine()
    assert told.err.count("several kinds") == 1
    assert MIXED in told.err
    assert (HEADING in told.out) == (command[0] not in ("export",))
    alone = cli(*command, *(word for name in JUDGES for word in ("--of", name))).fine()
    assert "kinds" not in alone.err
    assert "together" not in alone.out.split("\n")[0]


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
        assert opened.pool("more").manifest["kinds"] == {"human": 1, "model": 3}
    cli("agreement", *JUDGES, "--manifest", "b.json").fine()
    assert "kinds" not in json.loads((mixed / "b.json").read_text("utf-8"))


def test_agreement_of_several_kinds(cli: Cli, mixed: Path) -> None:
    """Agreement says it of those who are measured, on stderr and above the judges."""
    told = cli("agreement").fine()
    assert told.err.count("several kinds") == 1
    assert MEASURED in told.err
    assert told.out.startswith("4 judges (1 person, 3 models)\n")
    of_programs = cli("agreement", "--format", "tsv").fine().tsv()
    assert of_programs[0]["kinds"] == "human=1 model=3"
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
    assert error == f"error: judge `strict` is of kind model, and {why}"
    assert hint.startswith("hint: pooler judges add NAME ")
    assert told.out == ""
    assert cli("export", "judgements", "--history").fine().out == before
