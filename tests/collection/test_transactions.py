"""The collection as a whole: one transaction a method, and what a failure leaves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from inspect import signature
from operator import attrgetter
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from store.collection import Collection
from store.records import Action, Document, JudgeKind, Pool, PoolEntry, Qrel, Topic
from tests.helpers.world import JudgeAtWork, make_run, parse_scale, statements, stored_run

HUMAN = JudgeKind.HUMAN
IDS = ["1", "001", "NA", '"x', "2681119#1", "文書", "doc", "Doc", "é", "e\u0301"]


def fill(collection: Collection) -> None:
    """Put a bit of everything into a collection."""
    collection.topics.add([Topic("1", "wine", "d", "n"), Topic("001", "beer\0\ud800")])
    scores = [(docno, 1.0 / (place + 3)) for place, docno in enumerate(IDS)]
    collection.runs.add(make_run("bm25", {"1": scores, "001": scores[::-1]}, group="g"))
    entries = [
        PoolEntry(topic, docno, place, 0.1 * place, place, 1 / (place + 1))
        for topic in ("1", "001")
        for place, docno in enumerate(IDS)
    ]
    manifest = {"strategy": "depth", "seed": 3, "out_order": "priority", "q": "文"}
    collection.pools.add(Pool(entries, manifest, "main", "2", ("bm25",)))
    collection.documents.add(Document(docno, f"t {docno}", f"\0{docno}") for docno in IDS)
    collection.judges.add("ann", HUMAN)
    collection.guidelines.add("# One")
    collection.judgements.add({"old": [Qrel("1", "zz", 2, "7")]}, JudgeKind.IMPORTED)
    sitting = JudgeAtWork(collection.desk("ann"), "1")
    sitting.grade("1", 2)
    sitting.act("001", Action.JUDGE, grade=0, note="日本語 \0 \ud800")
    sitting.act("NA", Action.SKIP)
    sitting.act('"x', Action.CANNOT, reason="torn", note="n")
    sitting.act("文書", Action.NOTE, note="only a note")
    sitting.grade("doc", 1)
    sitting.undo()
    sitting.desk.leave()


def test_collection_reopens_as_it_was_made(collection_name: str, tmp_path: Path) -> None:
    """Name and scale come back, letters and negative grades too."""
    file = tmp_path / "scale.toml"
    file.write_text(
        '[[grade]]\nvalue = -2\nlabel = "がらくた"\nkey = "j"\n[[grade]]\nvalue = 0\nlabel = "no"\n'
        '[[grade]]\nvalue = 1\nlabel = "yes"\nkey = "はい"[0:0]\n'.replace('"はい"[0:0]', '"y"')
    )
    scale = parse_scale(str(file))
    with Collection.create(collection_name, name="ワイン", scale=scale, program="x") as made:
        assert (made.name, made.scale) == ("ワイン", scale)
        where = made.where
    with Collection(collection_name) as opened:
        assert (opened.name, opened.scale, opened.where) == ("ワイン", scale, where)


ASKED = """
    documents.get 1 | documents.read 1 | pools.get main | progress.count_judged main | codes.judge_of guess
    codes.judge_called ann | codes.login_of guess | desk ann
    details.run bm25 | details.topic 1 | details.document NA | details.pool main | details.judge ann
    history.of_document 1 NA
"""
"""Methods that read, beside those that need nothing to be told."""


def test_a_look_is_one_transaction_and_changes_nothing(collection: Collection) -> None:
    """Each method that reads begins once, and sends nothing that writes."""
    fill(collection)
    collection.judgements.current()  # indexes are looked at once, on a connection of their own
    methods: dict[str, list[str]] = {}
    for area in [name for name, value in vars(Collection).items() if isinstance(value, cached_property)]:
        for name, method in vars(type(getattr(collection, area))).items():
            if name[0] != "_":
                needed = [one for one in signature(method).parameters.values() if one.default is one.empty]
                methods |= {} if needed[1:] else {f"{area}.{name}": []}
    assert len(methods) > 30
    for words in re.split(r"[|\n]", ASKED.strip()):
        name, *told = words.split()
        methods[name] = told
    begun: list[object] = []
    listen: tuple[Any, str, Any] = (Engine, "begin", begun.append)
    event.listen(*listen)
    try:
        for name, told in methods.items():
            begun.clear()
            with statements() as sent:
                found = attrgetter(name)(collection)(*told)
                _ = list(found) if isinstance(found, Iterator) else found
            assert len(begun) == 1, name
            assert not [one for one, _ in sent if one.startswith(("INSERT", "UPDATE", "DELETE"))], name
    finally:
        event.remove(*listen)


def test_two_objects_see_each_others_rows(collection: Collection, collection_name: str) -> None:
    """Ids that one object adds are known to the other at its next call."""
    with Collection(collection_name) as other:
        for number in range(3):
            for one, tag in ((collection, "mine"), (other, "theirs")):
                docnos = [(f"{tag}{number}", 2.0), (f"both{number}", 1.0)]
                one.runs.add(make_run(f"{tag}{number}", {f"{tag}": docnos, "both": docnos}))
        for one in (collection, other):
            for stored in one.runs.all():
                for ranking in stored_run(one, stored).rankings:
                    assert ranking.docnos == [stored.tag, f"both{stored.tag[-1]}"]
