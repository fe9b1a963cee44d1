"""Kinds of judges never mix unasked: a test for every command.

Two people and three models who outvote them: without `--kinds` every command answers as it does where
the models never judged, and says who was left out; with it, it answers otherwise, and says that.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import pooler as p
from pooler.cli.commands import app
from tests.helpers.run import SETTINGS, Outcome, copy_garden, run_inside

RULE = "--aggregate majority --ties low"
PEOPLE, MODELS = ("anna", "ben"), ("gpt", "llama", "qwen")
SAID = "people alone count (2 people); left out: 3 models (--kinds human,model counts both)"
TOGETHER = "people and models"
COUNTS = {"human": 2, "model": 3}

PRINTED = [
    "adjudicate --list",
    "adjudicate --summary",
    "agreement --matters --mixtures 20",
    "agreement --plan 0.3",
    f"evaluate {RULE}",
    f"evaluate {RULE} --by-topic -m P@5",
    f"evaluate {RULE} --curves",
    f"evaluate {RULE} --cut 5 --size 160",
    f"evaluate {RULE} --leave-one-out",
    f"evaluate {RULE} --attainable 5",
    f"estimate --pool drawn {RULE}",
    f"compare bm25-words rm3-bigrams {RULE}",
    f"compare --against bm25-words {RULE}",
    f"design --depths 2 {RULE}",
    f"design --reliability {RULE}",
    f"required-difference --all {RULE}",
    f"diagnose {RULE}",
    f"sensitivity --depth 5 {RULE}",
    "variation",
    f"variation {RULE}",
    "variation --discover bm25-words --flip not-relevant",
    "paper bm25-words rm3-bigrams",
    "next --limit 5",
    f"replay {RULE} -s take --depth 5",
    "provenance --depth 5",
    "status --recall .9",
]
"""Commands that print tables."""

WRITTEN = {
    f"export qrels {RULE} --out made": "made",
    f"export qrels {RULE} --level 1 --collapse before --out made": "made",
    f"export ntcir --as ntcireval {RULE} --out made": "made",
    f"export prels --as xinfap --pool drawn {RULE} --out made": "made",
    "export probabilities --level 1 --out made": "made",
    f"export pool --annotated {RULE} --out made": "made",
    f"collapse all.jsonl --input jsonl --scale 0-2 --level 1 {RULE} --out made": "made",
    f"export collection folder {RULE}": "folder/qrels/graded.qrels",
}
"""Commands that write a file with a manifest, and the file."""

ELSEWHERE = {
    "agreement": "below: in three parts",
    "report": "below: a page",
    "duplicates": "tests/cli/pool/test_duplicates.py: with texts",
}
ONE_GRADE = "files of one grade a document, or no judgements at all"
BY_JUDGE = "what each judge did, by name: nothing is made of several judgements"
KEEPS = "keeps or moves what there is, and makes nothing of several judgements"
EXEMPT = {
    **dict.fromkeys(["ap-properties", "check", "clusters", "diff", "pool diff"], ONE_GRADE),
    **dict.fromkeys(
        [
            "effort", "export answers", "export judgements", "export work", "history", "judge", "judges add",
            "judges disable", "judges enable", "judges list", "judges rename", "judges anonymise",
            "judges erase", "judges scrub", "judges code",
            "list docs", "list judges", "list pools", "list rounds", "list runs", "list topics",
            "rejudge", "show doc", "show judge", "show pool", "show run", "show topic", "assign",
        ],
        BY_JUDGE,
    ),
    **dict.fromkeys(
        [
            "backup", "copy", "demo", "guidelines list", "guidelines set", "guidelines show",
            "import collection", "import docs", "import judgements", "import runs",
            "import topics", "init", "merge", "restore", "upgrade", "verify", "grant", "serve", "draw",
        ],
        KEEPS,
    ),
    "audit": "compares judges that are named",
    "pool": "people alone steer an adaptive pool, where one judged: tests/store/content/test_draws.py",
    "unpool": "counts documents that somebody judged",
}  # fmt: skip
"""Commands that make nothing of the judgements of several judges, and why."""


def _leaves(command: Any, name: str = "") -> Iterator[tuple[str, set[str]]]:
    """Yield every command with its options."""
    if not hasattr(command, "commands") or hasattr(command, "alone"):
        alone = getattr(command, "alone", command)
        yield name, {option for parameter in alone.params for option in parameter.opts}
    for word in list(getattr(command, "commands", ())):
        yield from _leaves(command.commands[word], f"{name} {word}".strip())


def test_every_command_is_tested_or_makes_nothing_of_judgements() -> None:
    """A new command stands in one of the lists here; whoever has `--kinds` is tested."""
    commands = dict(_leaves(get_command(app)))
    asked = [*PRINTED, *WRITTEN, *ELSEWHERE]
    tested = {name for name in commands for one in asked if f"{one} ".startswith(f"{name} ")}
    assert tested.isdisjoint(EXEMPT)
    assert tested | EXEMPT.keys() == commands.keys()
    assert {name for name, options in commands.items() if "--kinds" in options} == tested


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
                return run_inside(*words).fine()

        return ask

    people, mixed = map(asking, folders)
    return people, mixed


def tables_of(outcome: Outcome) -> dict[str, Any]:
    """Return tables and facts: all but settings, warnings, and the column that counts kinds."""
    found = {name: table for name, table in outcome.whole().items() if name not in ("settings", "warnings")}
    for table in found.values():
        for row in table if isinstance(table, list) else ():
            row.pop("kinds", None)
    return found


@pytest.mark.parametrize("command", PRINTED)
def test_tables_are_those_of_the_people(command: str, asks: tuple[Ask, Ask]) -> None:
    """Cell by cell; the models are told of. Asked for, they change the numbers, and every form says it."""
    words = (*shlex.split(command), "--format", "json")
    of_people, of_mixed = (ask(*words) for ask in asks)
    assert tables_of(of_mixed) == tables_of(of_people)
    assert SAID not in of_people.err
    assert of_mixed.err.count(SAID) == 1
    whole = of_mixed.whole()
    assert SAID in whole["warnings"]
    assert whole["settings"]["kinds_left_out"] == {"model": 3}
    assert "kinds" not in whole["settings"]

    together = asks[1](*words, "--kinds", "human,model")
    assert tables_of(together) != tables_of(of_people)
    whole = together.whole()
    assert whole["settings"]["kinds"] == COUNTS
    assert "kinds_left_out" not in whole["settings"]
    assert any(one.startswith(f"{TOGETHER} ") for one in whole["warnings"])
    shown = asks[1](*shlex.split(command), "--kinds", "human,model")
    heading = " ".join(shown.out.split("\n\n")[0].split())
    assert f"udged by {TOGETHER}: 2 people, 3 models" in heading
    assert shown.err.count(f"{TOGETHER} ") == 1


@pytest.mark.parametrize("command", WRITTEN)
def test_files_are_those_of_the_people(
    command: str, asks: tuple[Ask, Ask], folders: tuple[Path, Path]
) -> None:
    """Byte by byte; the manifest names who is left out. Asked for, both file and manifest say it."""
    words, name = shlex.split(command), WRITTEN[command]
    made = []
    for ask, folder in zip(asks, folders, strict=True):
        told = ask(*words, *(["--replace"] if "collection" in words else []))
        assert told.err.count(SAID) == (folder is folders[1])
        made.append(((folder / name).read_bytes(), _manifest(folder, name)))
    (of_people, _), (of_mixed, facts) = made
    assert of_mixed == of_people
    assert facts["kinds_left_out"] == {"model": 3}
    assert "kinds" not in facts

    told = asks[1](*words, "--kinds", "human,model", *(["--replace"] if "collection" in words else []))
    assert (folders[1] / name).read_bytes() != of_people
    assert _manifest(folders[1], name)["kinds"] == COUNTS
    assert f"{TOGETHER} vote together: 2 people, 3 models" in told.err
    if "collection" not in words:
        assert _manifest(folders[1], name)["judged_by"] == TOGETHER
        assert "a file name that tells: made.people-and-models" in told.err


def _manifest(folder: Path, name: str) -> dict[str, Any]:
    """Return what the manifest says of a file."""
    if name.startswith("folder/"):
        facts: dict[str, Any] = json.loads((folder / "folder/manifest.json").read_text("utf-8"))["qrels"][0]
        return facts
    found: dict[str, Any] = json.loads((folder / f"{name}.manifest.json").read_text("utf-8"))
    return found.get("grades", found)


def test_agreement_has_three_parts(asks: tuple[Ask, Ask]) -> None:
    """People with people as if there were no models; people with models; models with models."""
    words = ("agreement", "--format", "json", "--resamples", "100")
    alone, apart = (ask(*words).whole() for ask in asks)
    pairs = [row for row in apart["pairs"] if row.pop("part") == "people"]
    assert pairs == alone["pairs"]
    assert apart["settings"]["parts"] == {
        "people": [*PEOPLE], "people and models": [*PEOPLE, *MODELS], "models": [*MODELS],
    }  # fmt: skip
    apart = asks[1](*words).whole()
    sides = {
        part: {(row["first"], row["second"]) for row in apart["pairs"] if row["part"] == part}
        for part in apart["settings"]["parts"]
    }
    assert sides["people"] == {PEOPLE}
    assert sides["people and models"] == {(person, model) for person in PEOPLE for model in MODELS}
    assert len(sides["models"]) == 3
    assert not [one for one in apart["warnings"] if "left out" in one]
    # Each coefficient of all models is what it is where nobody else is measured.
    models = asks[1](*words, *MODELS).whole()
    assert [row for row in apart["all_judges"] if row["part"] == "models"] == [
        {"part": "models", **row} for row in models["all_judges"]
    ]
    # Of all labels across, the share that is the same is the mean of the pairs': each has 84 documents.
    across = [row for row in apart["pairs"] if row["part"] == "people and models" and row["level"] is None]
    raw = next(
        row
        for row in apart["all_judges"]
        if (row["part"], row["level"], row["coefficient"]) == ("people and models", None, "raw")
    )
    assert raw["n"] == sum(row["n"] for row in across) == 6 * 84
    assert raw["value"] == pytest.approx(sum(row["raw"] for row in across) / 6)


def test_agreement_of_everybody_together_is_asked_for(asks: tuple[Ask, Ask]) -> None:
    """By kinds, or by names: one set of numbers, which says so."""
    words = ("agreement", "--resamples", "100")
    for more in (("--kinds", "human,model"), (*PEOPLE, *MODELS)):
        told = asks[1](*words, *more)
        assert f"{TOGETHER} are measured together: 2 people, 3 models" in told.err
        assert told.out.startswith("5 judges (2 people, 3 models)\n")
        assert "All 5 judges together" in told.out
        whole = asks[1](*words, *more, "--format", "json").whole()
        assert whole["settings"]["kinds"] == COUNTS
        assert "part" not in whole["pairs"][0]
    people = asks[1](*words, "--kinds", "human", "--format", "json").whole()
    assert people["pairs"] == asks[0](*words, "--format", "json").whole()["pairs"]
    assert asks[1](*words, "--against", "anna", "--format", "json").whole()["settings"]["judges"] == [
        "ben", "anna",
    ]  # fmt: skip


def test_an_adjudicator_sees_people_alone(asks: tuple[Ask, Ask]) -> None:
    """Two opinions a document, and five where models are asked for."""
    assert {len(row["grades"]) for row in _listed(asks[1])} == {2}
    assert {len(row["grades"]) for row in _listed(asks[1], "--kinds", "human,model")} == {5}


def test_a_model_is_a_party_where_it_is_named(asks: tuple[Ask, Ask], folders: tuple[Path, Path]) -> None:
    """All models are, beside the people; kinds and names exclude each other."""
    told = asks[1]("adjudicate", "--list", "--names", "--judges", "anna,gpt")
    assert "people and models stand side by side: 2 people, 3 models" in told.err
    rows = _listed(asks[1], "--names", "--judges", "anna,gpt")
    assert rows
    names = {frozenset(one.partition("=")[2] for one in row["judges"]) for row in rows}
    assert names == {frozenset(("anna", "ben", "gpt", "llama", "qwen"))}
    assert "side by side" not in asks[1]("adjudicate", "--list", "--judges", "anna,ben").err
    with contextlib.chdir(folders[1]):
        refused = run_inside("adjudicate", "--list", "--judges", "anna,ben", "--kinds", "human")
    assert refused.code == 1
    assert "`--kinds` and --judges exclude each other" in refused.err


def _listed(ask: Ask, *words: str) -> list[dict[str, Any]]:
    """Return the rows of the list of disagreements."""
    rows: list[dict[str, Any]] = ask("adjudicate", "--list", *words, "--format", "json").whole()[
        "disagreements"
    ]
    return rows


@pytest.mark.slow
def test_report_is_that_of_the_people(asks: tuple[Ask, Ask], folders: tuple[Path, Path]) -> None:
    """Every section but those that list judges, tell how far each kind agrees, or are of models."""
    words = ("report", "page.html", *shlex.split(RULE), "--depth", "5")
    pages = []
    for ask, folder in zip(asks, folders, strict=True):
        ask(*words)
        page = (folder / "page.html").read_text("utf-8")
        pages.append(page)
    said = f"{SAID[0].upper()}{SAID[1:]}."
    of_people, of_mixed = pages
    assert said in of_mixed[: of_mixed.index('id="s2"')]
    assert said not in of_people
    assert "agreement --level 1 --tables --interval topic gpt llama qwen" in of_mixed
    ours, theirs = (_sections(page, said) for page in pages)
    assert theirs.keys() - ours.keys() == {"Models against people"}
    assert not ours.keys() - theirs.keys()
    differing = {title for title in ours if ours[title] != theirs[title]}
    assert differing == {"Agreement of the judges", "Judging", "What this report is about"}
    asks[1](*words, "--kinds", "human,model")
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


API: dict[str, Callable[[Any], Any]] = {
    "agreement": lambda s: p.agreement(s, kinds=("human",)).table("pairs"),
    "aggregate": lambda s: p.aggregate(s, ties="low").table("qrels"),
    "collapse": lambda s: p.collapse(s, 1, rule="majority", ties="low").table("qrels"),
    "disagreement_matters": lambda s: p.disagreement_matters(s, mixtures=20).table("run_scores"),
    "plan_sharing": lambda s: p.plan_sharing(s, 0.3).table("plan"),
    "probabilities": lambda s: p.probabilities(s).table("probabilities"),
    "variation": lambda s: p.variation(s).table("variation"),
    "next_documents": lambda s: p.next_documents(s, limit=5).table("next"),
    "paper": lambda s: p.paper(s, "bm25-words", "rm3-bigrams").table("table_4"),
    "provenance": lambda s: p.provenance(s, depth=5).table("contributions"),
}


@pytest.mark.parametrize("name", API)
def test_functions_never_mix_either(name: str, folders: tuple[Path, Path]) -> None:
    """Of an open collection people alone; `kinds` of a source mixes."""
    records = []
    for folder in folders:
        with p.open_collection(str(folder / "collection.db")) as collection:
            records.append(API[name](collection).to_records())
    assert records[0] == records[1]
    if name == "agreement":
        return
    with p.open_collection(str(folders[1] / "collection.db")) as collection:
        mixed = API[name](p.source(collection, kinds=["human", "model"])).to_records()
    assert [{**row, "kinds": None} for row in mixed] != [{**row, "kinds": None} for row in records[0]]
