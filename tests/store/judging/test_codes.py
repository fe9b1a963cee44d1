"""Access codes: had once, hashed at rest, revocable, and in no copy."""

from __future__ import annotations

import math
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from store.collection import Collection
from store.db.engine import collection_url, engine_at
from store.errors import ConflictError, UnknownNameError
from store.judging.codes import hash_of, new_code
from store.keeping.backup import back_up, restore
from store.keeping.directory import ExportChoice, write_directory
from store.records import JudgeKind
from tests.store.full_collection import fill

ANN, MODEL, ZOE = ("ann", JudgeKind.HUMAN), ("gpt", JudgeKind.MODEL), ("zoe", JudgeKind.ADJUDICATOR)


@pytest.fixture
def opened(collection: Collection) -> Collection:
    """Add judges to a collection, on each engine."""
    for name, kind in (ANN, ("bob", JudgeKind.HUMAN), MODEL, ZOE):
        collection.judges.add(name, kind)
    return collection


def rows(name: str) -> list[tuple[str, str]]:
    """Read what is kept of codes."""
    with engine_at(collection_url(name)) as engine, engine.connect() as connection:
        query = "SELECT judge.name, sha256 FROM judge_code JOIN judge ON judge.id = judge_id ORDER BY name"
        return [tuple(row) for row in connection.execute(text(query))]


def test_code_lets_its_judge_in(opened: Collection) -> None:
    """Each judge comes in as themselves; a code nearly right is nobody's."""
    ann, bob = opened.codes.give("ann"), opened.codes.give("bob")
    assert [one.judge for one in (opened.codes.judge_of(ann), opened.codes.judge_of(bob)) if one] == [
        "ann",
        "bob",
    ]
    for wrong in ("", "guess", ann[:-1], f"{ann}0", "' OR 1=1 --", "\0", "\ud800"):
        assert opened.codes.judge_of(wrong) is None
    assert opened.codes.count() == 2


def test_code_cannot_be_guessed() -> None:
    """125 bits: 25 letters of 32; and no two are the same."""
    codes = {new_code() for _ in range(1000)}
    assert len(codes) == 1000
    assert all(re.fullmatch(r"(?:[0-9a-hjkmnp-tv-z]{5}-){4}[0-9a-hjkmnp-tv-z]{5}", one) for one in codes)
    assert math.log2(len(set("".join(codes)) - {"-"})) * 25 == 125


def test_code_may_be_typed_in_other_ways() -> None:
    """Capitals, blanks, other dashes, and letters that look like digits."""
    code = "01abc-defgh-jkmnp-qrstv-wxyz0"
    for typed in (
        code.upper(),
        f"  {code} ",
        code.replace("-", " "),
        code.replace("-", "‑"),
        code.replace("-", ""),
    ):
        assert hash_of(typed) == hash_of(code)
    assert (
        hash_of("OLabc-defgh-jkmnp-qrstv-wxyzo") == hash_of("oIabc-defgh-jkmnp-qrstv-wxyzO") == hash_of(code)
    )
    assert hash_of(code[::-1]) != hash_of(code)


def test_only_the_hash_is_kept(opened: Collection, collection_name: str) -> None:
    """The code is in no table, nor in the bytes of the file."""
    code = opened.codes.give("ann")
    assert rows(collection_name) == [("ann", hash_of(code))]
    if "://" not in collection_name:
        opened.close()
        files = Path(collection_name).parent.glob(f"{Path(collection_name).name}*")
        assert not any(code.encode() in file.read_bytes() for file in files)


def test_new_code_ends_the_one_before(opened: Collection, collection_name: str) -> None:
    """A judge has one at most."""
    old, new = opened.codes.give("ann"), opened.codes.give("ann")
    assert opened.codes.judge_of(old) is None
    assert opened.codes.judge_of(new) is not None
    assert len(rows(collection_name)) == 1


def test_code_that_is_revoked_opens_nothing(opened: Collection) -> None:
    """It is said whether there was one."""
    code = opened.codes.give("ann")
    assert [opened.codes.revoke("ann"), opened.codes.revoke("ann")] == [True, False]
    assert opened.codes.judge_of(code) is None
    assert opened.codes.count() == 0
    with pytest.raises(UnknownNameError, match="unknown judge `ana`"):
        opened.codes.revoke("ana")


def test_judge_who_is_disabled_stays_out(opened: Collection) -> None:
    """Until they are enabled again; and gets no new code."""
    code = opened.codes.give("ann")
    opened.judges.set_disabled(["ann"], disabled=True)
    assert opened.codes.judge_of(code) is None
    assert opened.codes.count() == 0
    with pytest.raises(ConflictError, match="`ann` is disabled"):
        opened.codes.give("ann")
    opened.judges.set_disabled(["ann"], disabled=False)
    assert opened.codes.judge_of(code) is not None


def test_people_and_adjudicators_have_codes(opened: Collection) -> None:
    """No model judges in a browser."""
    with pytest.raises(ConflictError, match="only people judge in a browser"):
        opened.codes.give("gpt")
    found = opened.codes.judge_of(opened.codes.give("zoe"))
    assert found is not None
    assert (found.judge, found.kind) == ("zoe", JudgeKind.ADJUDICATOR)


def test_login_is_a_judge_s_until_it_ends(opened: Collection, collection_name: str) -> None:
    """By leaving, by another code, by erasing; its cookie is in no table."""
    access = opened.codes.judge_of(opened.codes.give("ann"))
    assert access is not None
    first, second = opened.codes.log_in(access), opened.codes.log_in(access)
    assert opened.codes.login_of(first) == opened.codes.login_of(second) == access
    assert opened.codes.login_of("made-up") is None
    opened.codes.log_out(first)
    assert (opened.codes.login_of(first), opened.codes.login_of(second)) == (None, access)
    with engine_at(collection_url(collection_name)) as engine, engine.connect() as connection:
        kept = [one[0] for one in connection.execute(text("SELECT sha256 FROM login"))]
    assert len(kept) == 1
    assert second not in kept
    opened.codes.give("ann")
    assert opened.codes.login_of(second) is None


def test_code_follows_a_renamed_judge_and_goes_with_an_erased_one(
    opened: Collection, collection_name: str
) -> None:
    """It is the judge's, whatever they are called."""
    code = opened.codes.give("ann")
    opened.judges.rename("ann", "anna")
    found = opened.codes.judge_of(code)
    assert found is not None
    assert found.judge == "anna"
    opened.erasures.erase("anna")
    assert opened.codes.judge_of(code) is None
    assert rows(collection_name) == []


def test_no_copy_has_a_code(tmp_path: Path) -> None:
    """Neither backup nor directory, whole or byte by byte."""
    whole = str(tmp_path / "whole.db")
    fill(whole)
    with Collection(whole) as opened:
        judges = [one.name for one in opened.judges.all() if one.kind is JudgeKind.HUMAN and not one.disabled]
        hashes = [hash_of(opened.codes.give(judge)) for judge in judges]
        assert len(hashes) == len(rows(whole)) > 0
        write_directory(opened.as_it_stands(), tmp_path / "out", ExportChoice(), program="x")
    back_up(collection_url(whole), tmp_path / "backup.db")
    restore(tmp_path / "backup.db", collection_url(str(tmp_path / "restored.db")))
    (tmp_path / "byte-by-byte.db").write_bytes(Path(whole).read_bytes())
    restore(tmp_path / "byte-by-byte.db", collection_url(str(tmp_path / "restored-2.db")))
    for name in ("backup", "restored", "restored-2"):
        file = tmp_path / f"{name}.db"
        assert rows(str(file)) == [], name
        assert not any(one.encode() in file.read_bytes() for one in hashes), name
    written = b"".join(file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file())
    assert written
    assert not any(one.encode() in written for one in hashes)
    with closing(sqlite3.connect(whole)) as connection:
        assert connection.execute("SELECT count(*) FROM judge_code").fetchone() == (len(hashes),)
