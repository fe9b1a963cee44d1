"""The alternative annotator test of `pooler audit`: by hand, and on the data of its authors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.helpers.run import Cli, Outcome, write
from tests.model_judges import annotations

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


def test_topics_are_units_beside_documents(cli: Cli) -> None:
    """Of b the differences less .2 are -.2 five times and -1.2; topics of two add up to -.4, -.4 and -1.4.

    Their mean is -2.2/3, their standard deviation the square root of 1/3: t is -2.2.
    """
    found = by_hand(cli, "--nominal", topics="112233").fine().json()
    differences = [0, 0, 0, 0, 0, -1]  # b differs from the model in d1 and d5; in d1 nobody is nearer
    assert found["annotators"][1]["difference"] == pytest.approx(sum(differences) / 6)
    assert found["annotators"][1]["t_of_topics"] == pytest.approx(-2.2)


def test_distances_of_grades_are_the_default(cli: Cli) -> None:
    """A person two grades off is farther than one who is one grade off, unless grades are names."""
    graded = by_hand(cli).fine().json()
    assert graded.settings["nominal"] is False
    wins = [row["model_wins"] for row in graded["annotators"]]
    assert wins == [pytest.approx(one) for one in plain_wins()]


def plain_wins() -> list[float]:
    """Return how often the model is as near to the other people as a person is, by plain loops."""
    shares = []
    for name, own in PEOPLE.items():
        others = [grades for other, grades in PEOPLE.items() if other != name]
        wins = 0
        for place, grade in enumerate(MODEL):
            squares = [sum((one - other[place]) ** 2 for other in others) for one in (grade, own[place])]
            wins += squares[0] <= squares[1]
        shares.append(wins / len(MODEL))
    return shares


def test_one_person_is_a_reason(cli: Cli) -> None:
    """With one person there is nobody whom the model could be as near to."""
    found = by_hand(cli, people="a").fine().json()
    assert found["annotators"] == [
        {**dict.fromkeys(found["annotators"][0]), "person": "a", "reason": "one-human"}
    ]
    outcome = {"winning_rate": None, "advantage": None, "test_reason": "one-human"}
    assert {name: found.facts[name] for name in outcome} == outcome


def test_few_documents_are_told(cli: Cli) -> None:
    """The t test of the paper wants 30 documents of every person."""
    assert "3 people of 3 with fewer than 30 documents" in by_hand(cli).fine().err


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
