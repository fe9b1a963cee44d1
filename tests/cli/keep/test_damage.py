"""Six hundred damages of a collection's file: none changes what is published or measured in silence.

A third flips bytes, a third zeroes a part of a page or all of it, a third changes a value by SQL past the
program. After each, every output below is the one from before or is refused in words; and where one would
have been another, `verify` finds the damage. Run it by hand, some ten minutes:

    pytest tests/cli/keep/test_damage.py -m long -s
"""

from __future__ import annotations

import hashlib
import random
import shutil
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.helpers.run import Cli, Outcome, run_inside

N_DAMAGES = 600
OUTPUTS = {
    "qrels": ("export", "qrels", "strict"),
    "pool": ("export", "pool", "--annotated", "--qrels", "strict"),
    "judgements": ("export", "judgements", "--history"),
    "collection": ("export", "collection", "exported"),
    "scores": ("evaluate", "-m", "AP", "-m", "nDCG@5", "-m", "infAP", "--qrels", "strict", "--by-topic"),
    "report": ("report", "reported.html", "--qrels", "strict"),
}
REPORT_EVERY = 10
"""A report takes as long as all the others."""


@pytest.mark.long
def test_no_damage_changes_an_output_in_silence(cli: Cli, judged: Path) -> None:
    """Each of 600 damages is refused, found, or harmless."""
    place, whole = judged / "collection.db", judged / "whole.db"
    cli("judges", "add", "alice").fine()
    keys = b"0\ne\nclear\n1\n2\nu\ns\nq\n"
    cli("judge", "--plain", "--judge", "alice", "--topic", "G01", stdin=keys).fine()
    cli("pool", "--strategy", "thompson", "--name", "drawn", "--budget", "4", "--seed", "1").fine()
    checkpoint(place)
    shutil.copy(place, whole)
    before = {name: output(name) for name in OUTPUTS}
    assert None not in before.values(), [name for name, one in before.items() if one is None]
    dice, found = random.Random(20010909), Counter[str]()
    for number in range(N_DAMAGES):
        shutil.copy(whole, place)
        for log in judged.glob("collection.db-*"):
            log.unlink()
        what = damage(place, number % 3, dice)
        changed = []
        for name in OUTPUTS:
            if name == "report" and number % REPORT_EVERY:
                continue
            after = output(name)
            if after is None:
                found["refused"] += 1
            elif after != before[name]:
                changed.append(name)
        is_found = verify_finds(place)
        found["found by verify" if is_found else "not found"] += 1
        assert not changed, (number, what, changed, "found" if is_found else "not found")
        if not is_found:
            assert differences(whole, place) == set(), (number, what)
    sys.stdout.write(f"{N_DAMAGES} damages: {dict(found)}\n")


def checkpoint(file: Path) -> None:
    """Put everything that is in the log of a collection into its file."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def damage(file: Path, kind: int, dice: random.Random) -> str:
    """Damage a file; return how."""
    if kind == 2:
        return change_a_value(file, dice)
    content = bytearray(file.read_bytes())
    if kind == 0:
        places = [dice.randrange(len(content)) for _ in range(dice.randint(1, 3))]
        for place in places:
            content[place] ^= dice.randint(1, 255)
        file.write_bytes(content)
        return f"bytes at {places}"
    start = dice.randrange(len(content) // 4096) * 4096
    start, end = (start, start + 4096) if dice.random() < 0.5 else (start + 2048, start + 4096)
    content[start:end] = bytes(end - start)
    file.write_bytes(content)
    return f"zeros from {start} to {end}"


def change_a_value(file: Path, dice: random.Random) -> str:
    """Give one value of one row another one, of the same kind, past every rule."""
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        tables = [name for name in tables if name not in {"alembic_version", "digest"}]
        while True:
            table = dice.choice(sorted(tables))
            columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
            column = dice.choice(columns)
            rows = connection.execute(f'SELECT rowid, "{column}" FROM "{table}" ORDER BY rowid').fetchall()
            if rows:
                row_id, old = dice.choice(rows)
                with suppress(sqlite3.IntegrityError):  # a key that is taken: another one
                    new = another(old, dice)
                    connection.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?', (new, row_id))
                    return f"{table}.{column} of row {row_id}: {old!r:.40} -> {new!r:.40}"


def another(value: object, dice: random.Random) -> object:
    """Return another value of the same kind."""
    if value is None:
        return dice.choice([0, 1, "x"])
    if isinstance(value, int | float):
        return value + dice.choice([-1, 1, 2])
    if isinstance(value, bytes):
        return bytes([value[0] ^ 1]) + value[1:] if value else b"x"
    text = str(value)
    return f"{text[:-1]}{'x' if text[-1:] != 'x' else 'y'}"


def output(name: str) -> str | None:
    """Return what a command publishes; ``None`` = it refuses, in words."""
    shutil.rmtree("exported", ignore_errors=True)
    Path("reported.html").unlink(missing_ok=True)
    answer: Outcome = run_inside(*OUTPUTS[name])
    assert "Traceback" not in answer.err, answer.err
    if answer.code:
        assert "error: " in answer.err, answer
        return None
    page = Path("reported.html")
    return "\n".join([answer.out, *contents("exported"), page.read_text() if page.exists() else ""])


def contents(folder: str) -> Iterator[str]:
    """Yield each file of a folder and its hash."""
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file():
            yield f"{path} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def verify_finds(file: Path) -> bool:
    """Return whether `verify` finds a fault, or cannot even open the file."""
    return run_inside("verify", "--collection", str(file)).code != 0


def differences(one: Path, other: Path) -> set[str]:
    """Return the tables in which two files differ."""
    with closing(sqlite3.connect(one)) as first, closing(sqlite3.connect(other)) as second:
        names = [row[0] for row in first.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = (
            (name, *(sorted(map(repr, file.execute(f'SELECT * FROM "{name}"'))) for file in (first, second)))
            for name in names
        )
        return {name for name, mine, its in rows if mine != its}
