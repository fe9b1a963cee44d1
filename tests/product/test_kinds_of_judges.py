"""People and models never mix unasked: what is told of each kind by itself, and who sees whom."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import pooler as p
from store.collection import Collection
from tests.helpers.run import JUDGES, SETTINGS, Cli, Outcome, by_rule, copy_garden, run_inside

RULE = "--aggregate majority --ties low"
MAJORITY = p.Qrels(aggregate="majority", ties="low")
PEOPLE, MODELS = ("anna", "ben"), ("gpt", "llama", "qwen")
SAID = "people alone count (2 people); left out: 3 models (qrels define --kinds human,model counts both)"
TOGETHER = "people and models"
COUNTS = {"human": 2, "model": 3}


def _make(folder: Path, qrels: Mapping[str, list[str]], kinds: Mapping[str, str]) -> None:
    """Make a collection of the sample collection's runs, and of some judges' qrels."""
    copy_garden(folder)
    with contextlib.chdir(folder):
        run_inside("init", "--scale", "0-2").fine()
        run_inside("import", "topics", "topics.jsonl").fine()
        run_inside("import", "runs", "--runs", "runs.tsv").fine()
        run_inside("pool", "--depth", "5").fine()
        drawn = shlex.split("--strategy stratified --param strata=1:2,3:9:0.4 --depth 9 --budget 12 --seed 3")
        run_inside("pool", *drawn, "--name", "drawn").fine()
        for judge, lines in qrels.items():
            Path("one.qrels").write_text("".join(f"{line}\n" for line in lines), "utf-8")
            run_inside("import", "judgements", "one.qrels", "--judge", judge, "--kind", kinds[judge]).fine()
        run_inside("export", "judgements", "--out", "all.jsonl").fine()


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Make two collections: of two people, and of these with three models, who say the reverse."""
    with pytest.MonkeyPatch.context() as patch:
        for name in SETTINGS:
            patch.delenv(name, raising=False)
        people, mixed = tmp_path_factory.mktemp("people"), tmp_path_factory.mktemp("mixed")
        copy_garden(people)
        rows = [line.split() for line in (people / "judgements/strict.qrels").read_text("utf-8").splitlines()]
        said = {
            "anna": [" ".join(row) for row in rows],
            "ben": [f"{t} {i} {d} {min(int(g) + (n % 5 == 0), 2)}" for n, (t, i, d, g) in enumerate(rows)],
        }
        _make(people, said, dict.fromkeys(PEOPLE, "human"))
        for place, model in enumerate(MODELS):
            said[model] = [
                f"{t} {i} {d} {2 - int(g) if n % 7 != place else int(g)}"
                for n, (t, i, d, g) in enumerate(rows)
            ]
        _make(mixed, said, {**dict.fromkeys(PEOPLE, "human"), **dict.fromkeys(MODELS, "model")})
    return people, mixed


Ask = Callable[..., Outcome]


@pytest.fixture
def asks(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> tuple[Ask, Ask]:
    """Give two functions that run a command beside the people, and beside the people and the models."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)

    def asking(folder: Path) -> Ask:
        def ask(*words: str) -> Outcome:
            with contextlib.chdir(folder):
                return by_rule(run_inside, *words).fine()

        return ask

    people, mixed = map(asking, folders)
    return people, mixed


def test_agreement_is_of_people_as_if_there_were_no_models(asks: tuple[Ask, Ask]) -> None:
    """Models are left out, which is said."""
    words = ("agreement", "--format", "json", "--resamples", "100")
    alone, mixed = (ask(*words).whole() for ask in asks)
    assert mixed["pairs"] == alone["pairs"]
    assert mixed["settings"]["judges"] == [*PEOPLE]
    assert [one for one in mixed["warnings"] if "left out: 3 models" in one]


def test_agreement_of_everybody_together_is_asked_for(asks: tuple[Ask, Ask]) -> None:
    """By kinds, or by names: one set of numbers, which says so."""
    words = ("agreement", "--resamples", "100")
    for more in (("--kinds", "human,model"), (*PEOPLE, *MODELS)):
        told = asks[1](*words, *more)
        assert "models" not in told.err  # the heading says it, and JSON
        assert told.out.startswith("5 judges (2 people, 3 models)\n")
        assert "All 5 judges together" in told.out
        whole = asks[1](*words, *more, "--format", "json").whole()
        assert whole["settings"]["kinds"] == COUNTS
        assert f"{TOGETHER} are measured together: 2 people, 3 models" in whole["warnings"]
    people = asks[1](*words, "--kinds", "human", "--format", "json").whole()
    assert people["pairs"] == asks[0](*words, "--format", "json").whole()["pairs"]
    assert asks[1](*words, "--against", "anna", "--format", "json").whole()["settings"]["judges"] == [
        "ben", "anna",
    ]  # fmt: skip


def test_an_adjudicator_sees_people_alone(asks: tuple[Ask, Ask]) -> None:
    """Two opinions a document, and five where models are asked for."""
    assert {len(row["grades"]) for row in _listed(asks[1])} == {2}
    assert {len(row["grades"]) for row in _listed(asks[1], "--kinds", "human,model")} == {5}


def test_models_are_parties_where_their_kind_is_named(asks: tuple[Ask, Ask]) -> None:
    """All models are, beside the people; people alone stand beside nobody."""
    both = ("--names", "--kinds", "human,model")
    told = asks[1]("adjudicate", *both)
    assert "judged by people and models: 2 people, 3 models" in told.out.partition("\n")[0]
    assert "models" not in told.err
    rows = _listed(asks[1], *both)
    assert rows
    names = {frozenset(one.partition("=")[2] for one in row["judges"]) for row in rows}
    assert names == {frozenset(("anna", "ben", "gpt", "llama", "qwen"))}
    assert "people and models" not in asks[1]("adjudicate", "--kinds", "human").out


def _listed(ask: Ask, *words: str) -> list[dict[str, Any]]:
    """Return the rows of the list of disagreements."""
    rows: list[dict[str, Any]] = ask(
        "adjudicate", "--table", "disagreements", *words, "--format", "json"
    ).whole()["disagreements"]
    return rows


@pytest.mark.slow
def test_report_is_that_of_the_people(asks: tuple[Ask, Ask], folders: tuple[Path, Path]) -> None:
    """Every section but those that list judges, tell how far each kind agrees, or are of models."""
    words = ("report", "page.html", "--depth", "5")
    pages = []
    for ask, folder in zip(asks, folders, strict=True):
        ask("qrels", "define", "official", *shlex.split(RULE))
        ask(*words)
        page = (folder / "page.html").read_text("utf-8")
        pages.append(page)
    said = f"{SAID[0].upper()}{SAID[1:]}."
    of_people, of_mixed = pages
    assert said in of_mixed[: of_mixed.index('id="s2"')]
    assert said not in of_people
    assert "agreement --level 1 --resamples 10000 gpt llama qwen" in re.sub("<[^>]*>", "", of_mixed)
    ours, theirs = (_sections(page, said) for page in pages)
    assert theirs.keys() - ours.keys() == {"Models against people"}
    assert not ours.keys() - theirs.keys()
    differing = {title for title in ours if ours[title] != theirs[title]}
    assert differing == {"Agreement of the judges", "Judging", "What this report is about"}
    asks[1]("qrels", "define", "both", *shlex.split(RULE), "--kinds", "human,model")
    asks[1](*words, "--qrels", "both")
    page = (folders[1] / "page.html").read_text("utf-8")
    both = "People and models vote together: 2 people, 3 models."
    assert both in page[: page.index('id="s2"')]
    mixed = _sections(page, both)
    assert {title for title in mixed if mixed[title] == theirs[title]} == {
        "Agreement of the judges",
        "Judging",
        "Models against people",
    }


def _sections(page: str, said: str) -> dict[str, str]:
    """Return a report's sections by title, without a sentence and the numbers that the order gives them."""
    kept = re.sub(rf"\n<(p|li)>{re.escape(said)}</\1>", "", page)
    kept = re.sub(r"\bs\d+(-\d+)*\b", "s", kept)
    return {part.split("</h2>")[0].rpartition(">")[2]: part for part in kept.split("<section")[1:]}


BY_MAJORITY = ("--aggregate", "majority", "--ties", "low")
BOTH = ("--kinds", "human,model")
MIXED = "warning: people and models vote together: 1 person, 3 models\n"
MODELS_ONLY = "warning: no person judged: 3 models count\n"
ALL_VOTE = [
    ("evaluate", *BY_MAJORITY),
    ("variation", "--by", "pair"),
    ("pool", "next"),
    ("compare", "bm25-words", "rm3-bigrams", *BY_MAJORITY),
    ("sensitivity", *BY_MAJORITY),
    ("replay", *BY_MAJORITY, "-s", "take"),
]


@pytest.fixture
def mixed(cli: Cli, judged: Path) -> Path:
    """Work beside the sample collection, judged by its three models and by a person."""
    for judge in JUDGES:
        assert f"{judge}\tmodel\t" in cli("show", "judges", "--format", "tsv").out
    cli("import", "judgements", "judgements/strict.qrels", "--judge", "anna", "--kind",
        "human").fine()  # fmt: skip
    return judged


@pytest.mark.slow
def test_models_alone_are_told(cli: Cli, judged: Path) -> None:
    """Where models alone judged they count, in one line; named, or asked for by kind, without any."""
    of_models = [word for name in JUDGES for word in ("--judge", name)]
    assert by_rule(cli, "evaluate", *BY_MAJORITY).fine().err.count(MODELS_ONLY) == 1
    assert by_rule(cli, "evaluate", *BY_MAJORITY, "--format", "json").fine().whole()["warnings"] == [
        MODELS_ONLY.removeprefix("warning: ").rstrip()
    ]
    for more in (of_models, ["--kinds", "model"]):
        assert "warning" not in by_rule(cli, "evaluate", *BY_MAJORITY, *more).fine().err
    assert "no person judged: 1 model counts" not in cli("evaluate", "--qrels", "strict").fine().err
    asked = by_rule(cli, "evaluate", *BY_MAJORITY, "--kinds", "model").fine()
    assert asked.out.startswith("Judged by 3 models\n")
    refused = by_rule(cli, "evaluate", *BY_MAJORITY, "--kinds", "human").failed(1)
    assert "nothing is judged by judges of kind human" in refused.err
    refused = by_rule(cli, "evaluate", *BY_MAJORITY, "--kinds", "robot").failed(1)
    assert (
        "`--kinds` must be human, model or imported, or several with commas, but got 'robot'" in refused.err
    )
    refused = by_rule(cli, "evaluate", "--judge", "strict", "--kinds", "model").failed(1)
    assert "`--kinds` and --judge exclude each other" in refused.err


@pytest.mark.slow
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


@pytest.mark.slow
def test_kinds_are_told_with_a_diagnosis(cli: Cli, mixed: Path) -> None:
    """What follows is by judges of several kinds: people read it first, programs in the settings."""
    cli("pool", "--depth", "5").fine()
    shown = " ".join(by_rule(cli, "diagnose", *BY_MAJORITY, *BOTH).fine().out.split())
    assert shown.startswith("What follows (judged by people and models: 1 person, 3 models)")
    found = by_rule(cli, "diagnose", *BY_MAJORITY, *BOTH, "--format", "json").fine()
    assert found.whole()["settings"]["kinds"] == {"human": 1, "model": 3}
    assert {row["kinds"] for row in found.whole()["runs"]} == {"human=1 model=3"}
    assert "kinds" not in cli("diagnose", "--qrels", "anna", "--format", "json").fine().out


@pytest.mark.slow
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


@pytest.mark.slow
def test_agreement_of_one_person_and_models(cli: Cli, mixed: Path) -> None:
    """People alone count; whoever names judges has them together."""
    assert "needs two judges, but there is only `anna` (people alone" in cli("agreement").failed(1).err
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
    by_rule(cli, "report", "mixed.html", *BY_MAJORITY, "--depth", "5", *BOTH).fine()
    page = (mixed / "mixed.html").read_text("utf-8")
    short = page.index('id="s1"')
    assert short < page.index(said.format("vote together")) < page.index('id="s2"')
    assert "Judges of several kinds (people, models) are measured apart" in page
    assert "No person votes" not in page
    of_models = [word for name in JUDGES for word in ("--judge", name)]
    by_rule(cli, "report", "models.html", *BY_MAJORITY, "--depth", "5", *of_models).fine()
    page = (mixed / "models.html").read_text("utf-8")
    assert "vote together" not in page
    assert "No person votes here: all 3 judges are models." in page[: page.index('id="s2"')]


@pytest.mark.slow
def test_exported_collection_counts_those_who_graded_and_their_kinds(cli: Cli, mixed: Path) -> None:
    """Of six judges four graded: three models and a person; `qrels.json` and the README say so."""
    cli("judges", "add", "idle", "zoe").fine()
    told = by_rule(cli, "export", "collection", "out", *BY_MAJORITY, *BOTH).fine().err
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
    by_rule(cli, "export", "collection", "alone", *BY_MAJORITY).fine()
    readme = (mixed / "alone" / "README.md").read_text("utf-8")
    assert readme.count("left out for their kind: 3 model") == 1


@pytest.mark.slow
def test_files_that_name_judges_of_several_kinds(cli: Cli, mixed: Path) -> None:
    """What a file says of kinds counts as it does in a collection."""
    cli("export", "judgements", "--as", "tsv", "--out", "all.tsv").fine()
    (mixed / "collection.db").unlink()
    made = cli("export", "qrels", "all.tsv", "--input", "tsv", "--level", "1", *BY_MAJORITY, "--scale",
               "0-2", "--out", "c", *BOTH).fine()  # fmt: skip
    assert MIXED in made.err
    facts = json.loads((mixed / "c.manifest.json").read_text("utf-8"))
    assert facts["kinds"] == {"human": 1, "model": 3}


@pytest.mark.slow
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
