"""How the process of a judge is started: the settings it gets, and what it tells of the database."""

from __future__ import annotations

import sys

import pytest
from pooler.serving.inside import discreet
from pooler.serving.start import start_of

from store.errors import ConflictError, StoreError

SECRETS = {
    "PGPASSWORD": "secret", "PGPASSFILE": "/home/o/.pgpass", "AWS_SECRET_ACCESS_KEY": "secret",
    "POOLER_JUDGE": "bob",
    "OPENAI_API_KEY": "secret", "PYTHONPATH": "evil", "LD_PRELOAD": "evil.so", "PATH": "evil",
}  # fmt: skip
KNOWN = {
    "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "POOLER_COLLECTION", "TEXTUAL_DRIVER",
    "TEXTUAL_COLOR_SYSTEM", "TERM", "TERM_PROGRAM", "COLUMNS", "ROWS", "PYTHONUTF8",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)


def test_process_gets_settings_by_a_list() -> None:
    """Nothing that is set for the server's account reaches a judge's process unless it is listed."""
    start = start_of("alice", "wine.db", width=100, height=30)
    assert set(start.environment) <= KNOWN
    assert not set(start.environment) & set(SECRETS)
    assert (start.environment["COLUMNS"], start.environment["ROWS"]) == ("100", "30")


def test_process_on_postgresql_can_log_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """What libpq needs is passed on to it, and nothing else."""
    for name in ("PGUSER", "PGSSLCERT", "PGSSLKEY"):
        monkeypatch.setenv(name, "organiser")
    start = start_of("alice", "postgresql://db.example/wine", width=80, height=24)
    assert start.environment["POOLER_COLLECTION"] == "postgresql://db.example/wine"
    assert start.environment["PGPASSWORD"] == "secret"
    assert set(start.environment) - KNOWN == {
        "PGPASSWORD", "PGPASSFILE", "PGUSER", "PGSSLCERT", "PGSSLKEY",
    }  # fmt: skip


def test_name_of_a_judge_is_no_option_and_no_shell_reads_it() -> None:
    """A judge may be called as an option is."""
    start = start_of("--plain;$(id)", "wine.db", width=80, height=24)
    assert start.command[0] == sys.executable
    assert start.command[-2:] == ("judge", "--judge=--plain;$(id)")


class _Failing:
    scale = "0-2"

    def record(self, what: str) -> None:
        message = f"/srv/wine.db: {what}"
        raise StoreError(message, hint="look at /srv")

    def claim(self) -> None:
        message = "judge `alice` is disabled"
        raise ConflictError(message)


def test_failures_do_not_say_where_the_database_is() -> None:
    """Neither file nor server is named to whoever sits in a browser; other words stay, and so do values."""
    desk = discreet(_Failing(), "/srv/wine.db")
    assert desk.scale == "0-2"
    with pytest.raises(StoreError, match="does not answer as it should") as failed:
        desk.record("disk full")
    assert "srv" not in f"{failed.value} {failed.value.hint}"
    with pytest.raises(ConflictError, match="is disabled"):
        desk.claim()
