"""Model judges and their answers on copies: united once, refused where they are others, kept in parts."""

from __future__ import annotations

import shutil
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from store.collection import Collection
from store.errors import ConflictError
from store.keeping.merge.copies import SettleRule
from store.model_judge import Answer, ModelIdentity, Unreadable, prompt_hash
from store.records import Action, JudgeKind, State
from tests.helpers.world import change_stored
from tests.store.keeping.merge.apart import copies, export, grades, make, merge, work

IDENTITY = ModelIdentity("m-1", prompt_sha256=prompt_hash("p"), parameters={"temperature": 0}, family="m")


def ask(place: Path, docno: str, **outcome: Any) -> None:
    """Let the model answer at its desk."""
    with Collection(str(place)) as opened:
        desk = opened.model_desk("gpt")
        desk.queue("1")
        desk.answer(Answer("gpt", "1", docno, body=docno.encode(), cost=0.5, **outcome))
        desk.leave()


@pytest.fixture
def apart(tmp_path: Path) -> list[Path]:
    """Make two copies of a collection with a model, on which it answered apart; one pair on both."""
    place = make(tmp_path / "wine.db")
    with Collection(str(place)) as made:
        made.models.add("gpt", IDENTITY, prompt="p")
    ask(place, "a", grade=1)
    both = copies(place, 2)
    ask(both[0], "b", grade=2)
    ask(both[1], "b", grade=0)
    ask(both[1], "c", unreadable=Unreadable.REFUSAL)
    return [place, *both]


def answered(place: Path) -> list[tuple[str, int | None]]:
    """Return docno and grade of every answer."""
    with Collection(str(place)) as opened:
        assert [one.name for one in opened.verify() if one.n_faults] == []
        return sorted(((one.docno, one.grade) for one in opened.models.answers("gpt")), key=repr)


def test_answers_come_together_once(apart: list[Path], tmp_path: Path) -> None:
    """Each answer is there once, in any order of merging; every one has its judgement, settled or not."""
    place, *both = apart
    exported = []
    for number, order in enumerate(permutations(both)):
        whole = Path(shutil.copy(place, tmp_path / f"whole-{number}.db"))
        merge(whole, *order, rule=SettleRule.HIGHEST)
        assert answered(whole) == [("a", 1), ("b", 0), ("b", 2), ("c", None)]
        assert grades(whole, ["gpt"]) == {("gpt", "a"): 1, ("gpt", "b"): 2, ("gpt", "c"): "cannot"}
        merge(whole, *order, rule=SettleRule.HIGHEST)
        assert len(answered(whole)) == 4
        exported.append(export(whole, tmp_path / f"export-{number}"))
    assert exported[0] == exported[1]


def test_checksums_are_of_the_row_ids_here(tmp_path: Path) -> None:
    """A model that has another row id than on its copy is whole here; an answer damaged there is so here."""
    place = make(tmp_path / "wine.db")
    [copy] = copies(place, 1)
    with Collection(str(place)) as opened:
        opened.judges.add("zoe", JudgeKind.HUMAN)
    with Collection(str(copy)) as made:
        made.models.add("gpt", IDENTITY, prompt="p")
    ask(copy, "a", grade=1)
    ask(copy, "b", grade=2)
    change_stored(str(copy), "UPDATE answer SET cost = 9 WHERE grade = 2")
    merge(place, copy)
    with Collection(str(place)) as opened:
        [told] = [one for one in opened.verify() if one.n_faults]
    assert told.examples == ("topic 1 `b`, an answer of `gpt`: its checksum does not match its content",)


def test_stated_on_one_copy_is_stated(tmp_path: Path) -> None:
    """A model that was added on a copy comes with who it is; its answers with it."""
    place = make(tmp_path / "wine.db")
    [copy] = copies(place, 1)
    with Collection(str(copy)) as made:
        made.models.add("gpt", IDENTITY, prompt="p")
    ask(copy, "a", grade=1)
    merge(place, copy)
    with Collection(str(place)) as opened:
        [one] = opened.models.all()
        assert (one.identity, one.prompt) == (IDENTITY, "p")
    assert answered(place) == [("a", 1)]


def test_another_identity_of_one_name_is_refused(tmp_path: Path) -> None:
    """Judges of one name that came apart are one judge; two identities are none."""
    place = make(tmp_path / "wine.db")
    [copy] = copies(place, 1)
    for name, identity in ((place, IDENTITY), (copy, replace(IDENTITY, revision="abc"))):
        with Collection(str(name)) as made:
            made.models.add("gpt", identity)
    before = place.read_bytes()
    with pytest.raises(ConflictError, match="model judge `gpt` is another one there: its identity"):
        merge(place, copy)
    assert place.read_bytes() == before


def test_part_has_the_models_own(apart: list[Path], tmp_path: Path) -> None:
    """A part of one judge has that judge's identity and answers, and none of another."""
    whole = apart[1]
    work(whole, ("ann", "a", Action.JUDGE, 1))
    for judge, expected in (("gpt", [("a", 1), ("b", 2)]), ("ann", [])):
        part = tmp_path / f"{judge}.db"
        with Collection(str(whole)) as opened:
            opened.hand_out(judge, part, program="x")
        with Collection(str(part)) as opened:
            assert [one.identity for one in opened.models.all()] == ([IDENTITY] if expected else [])
            found = opened.models.answers("gpt") if expected else []
        assert [(one.docno, one.grade) for one in found] == expected


BROKEN = [
    ("UPDATE answer SET grade = 0 WHERE grade = 1", "the judgement it led to is not there, or has another"),
    ("UPDATE answer SET judged_at = NULL", "it led to a judgement and must not, or must and did not"),
    ("UPDATE answer SET unreadable = 'tired'", "unreadable by tired"),
    ("UPDATE answer SET unreadable = 'empty'", "a grade and a reason"),
    ("UPDATE answer SET body = X'00'", "it cannot be read"),
    ("UPDATE model_judge SET sha256 = 'x'", "`gpt` has another identity than its hash says"),
    ("UPDATE model_judge SET prompt = X'00'", "`gpt` has another prompt than its identity says"),
    ("UPDATE model_judge SET identity = X'7B7D'", "`gpt`: not the identity of a model judge"),
    (
        "UPDATE judge SET kind = 'human' WHERE name = 'gpt'",
        "is of kind human, and has the identity of a model",
    ),
]


@pytest.mark.parametrize(("change", "words"), BROKEN)
def test_verify_tells_what_is_broken(change: str, words: str, apart: list[Path]) -> None:
    """By rule, and by the checksum of the row."""
    change_stored(str(apart[0]), change)
    with Collection(str(apart[0])) as opened:
        found = {one.name: one.examples for one in opened.verify() if one.n_faults}
    assert "checksums" in found
    assert words in str(found.get("models", ())) + str(found.get("answers", ()))


def test_erased_with_all_it_said(apart: list[Path]) -> None:
    """Nothing of a model is left, and no copy brings it back."""
    place, copy, _ = apart
    with Collection(str(place)) as opened:
        assert opened.erasures.erase("gpt").answers == 1
        assert opened.models.all() == []
    merge(place, copy)
    with Collection(str(place)) as opened:
        assert opened.models.all() == []
        assert [one for one in opened.judgements.current() if one.state is State.JUDGED] == []
        assert [one.name for one in opened.verify() if one.n_faults] == []
