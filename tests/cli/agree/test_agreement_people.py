"""`pooler agreement` for people: tables that fit, words that are true, reasons for every dash."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.run import Cli

MINE = {"a": 2, "b": 1, "c": 0, "d": 1}
YOURS = {"a": 2, "b": 0, "e": 1}
NAMES = ("colleag1", "postdoc2", "lenient3", "strict44", "annabel5")


def pairs(answer: Any, **wanted: Any) -> list[dict[str, Any]]:
    """Return the rows of pairs, graded unless a level is wanted."""
    wanted = {"level": None, **wanted}
    return [row for row in answer["pairs"] if all(row[key] == wanted[key] for key in wanted)]


def lines(judgements: dict[str, int], topic: str = "1") -> list[str]:
    """Write grades of a topic by docno as qrels lines."""
    return [f"{topic} 0 {docno} {grade}" for docno, grade in judgements.items()]


def drawn(names: Iterable[str], *, skewed: bool, topics: int = 3) -> dict[str, list[str]]:
    """Draw grades of 40 documents a topic for each judge, nearly all of them 0 if skewed."""
    rng = random.Random(7)
    weights = (30, 1, 1) if skewed else (1, 1, 1)
    return {
        name: [
            line
            for topic in range(topics)
            for line in lines({f"d{n}": rng.choices((0, 1, 2), weights)[0] for n in range(40)}, str(topic))
        ]
        for name in names
    }


def test_few_documents_and_few_topics_are_warned_of(
    cli: Cli, judged: Path, collection_of: Callable[..., None]
) -> None:
    """Numbers that stand on little are said to, on stderr."""
    said = cli("agreement").fine().err
    assert "8 topics: intervals of fewer than 20 topics are too narrow" in said
    assert "fewer than 30 documents" not in said
    (judged / "collection.db").unlink()
    collection_of(me=lines(MINE), you=lines(YOURS))
    said = cli("agreement").fine().err
    assert "1 of 1 pair shares fewer than 30 documents" in said
    assert "too narrow" not in said  # one topic has no interval at all


def test_bands_are_named_by_their_author(cli: Cli, judged: Path) -> None:
    """Words come on request, under the author's name."""
    shown = cli("agreement", "--bands", "landis-koch").fine().out
    assert "Landis-Koch" in shown
    assert "substantial" in shown
    [row] = pairs(cli("agreement", "strict", "lenient", "--bands", "ir-book", "--format", "json")
                  .fine().json())  # fmt: skip
    assert (round(row["kappa"], 3), row["band"]) == (0.535, "dubious")
    assert "substantial" not in cli("agreement").fine().out


def test_ac1_stands_beside_kappa_when_one_grade_prevails(
    cli: Cli, collection_of: Callable[..., None]
) -> None:
    """Of 40 documents 36 are grade 0 to both: kappa is low for that, and AC1 is shown."""
    me = {f"d{n}": int(n < 2) for n in range(40)}
    you = {f"d{n}": int(1 <= n < 4) for n in range(40)}
    collection_of(me=lines(me), you=lines(you))
    assert "AC1" in cli("agreement").fine().out


def test_ac1_is_left_out_when_no_grade_prevails(cli: Cli, judged: Path) -> None:
    """People see as few columns as will do."""
    assert "AC1" not in cli("agreement").fine().out


def test_many_pairs_are_cut_to_their_ends(cli: Cli, collection_of: Callable[..., None]) -> None:
    """Of 78 pairs people see the 10 lowest and the 10 highest; programs all."""
    judges = {
        f"j{judge:02d}": lines({f"d{n:02d}": (n * (judge + 3) // 5) % 3 for n in range(35)})
        for judge in range(13)
    }
    collection_of(**judges)
    ran = cli("agreement").fine()
    rows = [line for line in ran.out.splitlines() if line.startswith("j")]
    in_pairs = [line.split() for line in rows if line.split()[1].startswith("j")]
    assert len(in_pairs) == 20
    kappas = [float(line[4]) for line in in_pairs]
    assert kappas == sorted(kappas)
    assert "Of 78 pairs: the 10 lowest and 10 highest kappas" in ran.out
    assert "--all-pairs shows every pair" in ran.out
    answer = cli("agreement", "--format", "json").fine().json()
    assert len(pairs(answer)) == 78
    assert {row["kappa_low"] for row in answer["pairs"]} == {None}
    measured = sorted(row["kappa"] for row in pairs(answer) if row["kappa"] is not None)
    assert kappas[:10] == pytest.approx(measured[:10], abs=5e-4)
    everything = cli("agreement", "--all-pairs", "--level", "1").fine().out
    assert len([line for line in everything.splitlines() if line.startswith("j")]) > 150


@pytest.mark.slow
@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize(
    "options",
    [(), ("--against", "strict44"), ("--by-topic",),
     ("--interval", "asymptotic"), ("--interval", "none"), ("--table", "cross_tables"),
     ("--table", "per_grade"),
     ("--against", "strict44", "--aggregate", "majority", "--ties", "low")],
    ids=" ".join,
)  # fmt: skip
def test_tables_of_five_judges_fit_80_columns(
    cli: Cli, collection_of: Callable[..., None], options: tuple[str, ...], skewed: bool
) -> None:
    """With names of eight characters no line is longer, whatever the numbers."""
    collection_of(**drawn(NAMES, skewed=skewed))
    shown = cli("agreement", *options).fine().out
    assert [line for line in shown.splitlines() if len(line) > 80] == []
    assert ("AC1" in shown) == (skewed and "--table" not in options)


def test_reasons_in_pair_tables_fit_80_columns(cli: Cli, collection_of: Callable[..., None]) -> None:
    """A pair without a number says why in the place of its interval."""
    one = lines(dict.fromkeys("abc", 0))
    collection_of(colleag1=one, postdoc2=one, strict44=lines({"z": 1}))
    shown = cli("agreement").fine().out
    assert [line for line in shown.splitlines() if len(line) > 80] == []
    assert "single-grade, no-relevant" in shown
    for code in ("single-grade", "no-relevant", "no-common-docs"):
        assert f"\n{code}: " in shown


def row_of(shown: str, *cells: str) -> list[str]:
    """Return the cells of the one row that starts with these."""
    [found] = [line.split() for line in shown.splitlines() if line.split()[: len(cells)] == [*cells]]
    return found


def test_all_judges_together_say_what_they_rest_on(cli: Cli, collection_of: Callable[..., None]) -> None:
    """Fleiss and alpha count documents with two graders, the overlap those everybody graded."""
    collection_of(
        "binary",
        x=[*lines(dict.fromkeys("abcd", 1)), *lines({"a": 1, "b": 0}, "2")],
        y=[*lines({"a": 1, "b": 0, "c": 1}), *lines({"a": 1}, "2")],
        z=lines({"a": 1, "b": 1}),
    )
    shown = cli("agreement", "--interval", "none").fine().out
    # Two graders: a, b and c of topic 1, a of topic 2. Three: a and b of topic 1.
    assert row_of(shown, "relevant", "1+", "Fleiss'")[-2:] == ["4", "2"]
    assert row_of(shown, "relevant", "1+", "overlap")[-2:] == ["2", "1"]
    assert "documents with at least two graders" in shown
    assert "documents that everybody" in shown
    assert "95 %" not in shown
    by_topic = cli("agreement", "--by-topic").fine().out
    [_, _, by_topic] = by_topic.partition("topic by topic\n")
    assert row_of(by_topic, "2", "1")[-1] == "no-common-docs"
    assert "reason: for every dash in the row" in by_topic


def test_pairs_that_share_nothing_are_counted_when_there_are_many(
    cli: Cli, collection_of: Callable[..., None]
) -> None:
    """Of 15 pairs of 6 judges, of whom three and three share documents, people see 6."""
    halves = {name: {f"{name[0]}{n}": n % 3 for n in range(35)} for name in
              ("a1", "a2", "a3", "b1", "b2", "b3")}  # fmt: skip
    collection_of(**{name: lines(grades) for name, grades in halves.items()})
    shown = cli("agreement", "--level", "1").fine().out
    assert "\n9 pairs share no document.\n" in shown
    there = {tuple(line.split()[:2]) for line in shown.splitlines()}
    for first, second in combinations(halves, 2):
        assert ((first, second) in there) == (first[0] == second[0])
    counted = cli("agreement", "--format", "json").fine().json()
    assert {(row["first"], row["second"]) for row in counted["pairs"]} == {
        (first, second) for first, second in combinations(halves, 2) if first[0] == second[0]
    }
    assert counted.facts["pairs_apart"] == 9
    listed = cli("agreement", "--all-pairs", "--format", "json").fine().json()
    assert len(pairs(listed)) == 15
    assert "pairs_apart" not in listed.facts
    plan = cli("design", "overlap").fine().out
    assert "9 pairs share no document." in plan
    assert "no-common-docs" not in plan


def test_few_pairs_are_all_shown(cli: Cli, collection_of: Callable[..., None]) -> None:
    """Of three pairs one that shares nothing has a row and a reason."""
    collection_of(a=lines({"x": 1, "y": 0}), b=lines({"x": 1, "y": 1}), c=lines({"z": 1}))
    shown = cli("agreement").fine().out
    assert "share no document" not in shown
    assert "no-common-docs" in row_of(shown, "a", "c", "0*")


def test_pairs_of_few_documents_are_marked(cli: Cli, collection_of: Callable[..., None]) -> None:
    """An asterisk stands at the N below 30, and a line says what it is."""
    long = {f"d{n}": n % 3 for n in range(30)}
    collection_of(a=lines(long), b=lines(long), c=lines(dict(list(long.items())[:29])))
    shown = cli("agreement", "--level", "1", "--interval", "none").fine().out
    [*_, graded, _] = shown.split("Pairs of judges")
    assert row_of(graded, "a", "b")[2] == "30"
    assert row_of(graded, "a", "c")[2] == "29*"
    assert "\nN: documents both graded; *: fewer than 30, so the row means little.\n" in shown
    assert "*" not in cli("agreement", "a", "b", "--interval", "none").fine().out


def test_all_labels_count_labels_and_need_two_other_judges(
    cli: Cli, collection_of: Callable[..., None]
) -> None:
    """The row on all labels is left out where it would repeat the one judge."""
    collection_of(**drawn(("a", "b", "c"), skewed=False))
    shown = cli("agreement", "--against", "c").fine().out
    assert row_of(shown.split("relevant or not")[0], "(all", "labels)")[2] == "240"
    assert "its N counts labels, not documents" in " ".join(shown.split())
    assert "all labels" not in cli("agreement", "a", "--against", "c").fine().out


def test_words_on_intervals_stand_where_intervals_are(cli: Cli, judged: Path) -> None:
    """Topic by topic pairs have none, and it is said; the line on them is left out then."""
    two = ("agreement", "strict", "lenient")
    shown = cli(*two).fine().out
    assert "95 %: the interval in which the number may lie" in shown
    said = cli(*two, "--by-topic").fine()
    assert "With --by-topic, pairs have no intervals." in said.out
    assert "may lie" not in said.out
    assert "too narrow" not in said.err
    assert "nterval" not in cli(*two, "--interval", "none").fine().out
    cli("judges", "add", "anna").fine()
    assert "may lie" not in cli("agreement", "strict", "anna").fine().out
    error = cli("agreement", "--interval", "asymptotic").fine().out
    for code in ("no-standard-error", "topics-only"):
        assert f"\n{code}: " in error


def test_codes_that_no_row_shows_are_not_explained(cli: Cli, collection_of: Callable[..., None]) -> None:
    """Kappa varies and overlap does not, and people are not shown the interval of overlap.

    Of the two documents of a topic that `a` finds relevant `b` finds one: an overlap of 1/2.
    """
    sizes = {"1": 10, "2": 20, "3": 40}
    collection_of(
        **{
            judge: [
                line
                for topic, size in sizes.items()
                for line in lines({f"d{place}": int(place < n) for place in range(size)}, topic)
            ]
            for judge, n in (("a", 2), ("b", 1))
        }
    )
    [pair] = pairs(cli("agreement", "--format", "json").fine().json(), level=1)
    assert pair["interval_reason"] == "no-variation"
    assert "no-variation" not in cli("agreement").fine().out


def test_ac1_stands_at_the_skewed_level_only(cli: Cli, collection_of: Callable[..., None]) -> None:
    """Grades 0 and 1 by halves: at level 2 not relevant prevails, at level 1 and graded nothing."""
    names = ("a", "b", "c")
    collection_of(**{name: lines({f"d{n:02d}": n % 2 + (n == 39) for n in range(40)})
                     for name in names})  # fmt: skip
    shown = cli("agreement", "--interval", "none").fine().out
    graded, binary = [line for line in shown.splitlines() if line.startswith("first")]
    assert ("AC1" in graded, "AC1" in binary) == (False, True)
    assert "relevant 2+  AC1" in shown
    assert "relevant 1+  AC1" not in shown


def test_words_say_how_many_documents_and_what_numbers_mean(cli: Cli, judged: Path) -> None:
    """Documents of topics are counted in so many words, and kappa below 0 is explained."""
    shown = cli("agreement").fine().out
    assert "Measured over 84 documents of 8 topics: those that at least two judges graded." in shown
    assert "a near miss counts less than a far one" in shown
    assert "below 0 = less often than by chance" in " ".join(shown.split())
