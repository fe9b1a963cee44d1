"""`pooler serve`: its address, who comes in, what is asked of a desk and written once."""

from __future__ import annotations

import socket
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from pooler.web.entering import GUESSES, Guesses
from store.collection import Collection
from store.records import Document, JudgeKind, Qrel, Topic
from tests.helpers.pages import WINDOW, Served, Visitor, asked_of, codes_of, judged, make_collection, serving
from tests.helpers.run import START, program, run_inside
from tests.helpers.world import make_pool, new_collection

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serving")]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a collection."""
    file = tmp_path_factory.mktemp("served") / "secret-place.db"
    make_collection(file, 8, "alice", "bob", "dora", "emil")
    run_inside("judges", "disable", "emil", "--collection", file).fine()
    return file


@pytest.fixture(scope="module")
def served(file: Path) -> Iterator[Served]:
    """Serve it."""
    with serving(file) as running:
        yield running
        assert "Traceback" not in running.said
        assert running.stop() == 0
        assert "stopped; what judges saved is in the collection" in running.said


def test_code_opens_one_judge_s_page(file: Path, served: Served) -> None:
    """Without a cookie, or with one made up, there is the code page, and no answer to the page's requests."""
    visitor = Visitor(served)
    status, page, _ = visitor.ask("GET", "/")
    assert (status, "access code" in page, "alice" in page) == (200, True, False)
    for verb in ("begin", "inbox", "topic", "document", "more", "record", "beat"):
        assert visitor.act(verb, topic="1", docno="d000")[0] == 401
    assert visitor.decide("d001", 1)[0] == 401
    assert ("alice", "d001") not in judged(file)
    visitor.cookie = "pooler=" + "A" * 43
    assert visitor.act("inbox")[0] == 401
    assert visitor.enter("not-a-code") == 403
    assert visitor.enter(codes_of(file, "alice")["alice"].upper()) == 303
    status, page, _ = visitor.ask("GET", "/")
    assert "<strong>alice</strong>" in page
    assert not any(word in page for word in ("secret-place", "sqlite", "bob"))


def test_cookie_and_headers(file: Path, served: Served) -> None:
    """No script reads the cookie; a policy names the page's own script, and lets nothing else run."""
    visitor = Visitor(served)
    _, _, told = visitor.ask("POST", "/enter", b"code=" + codes_of(file, "bob")["bob"].encode())
    name, *rules = told["set-cookie"].split("; ")
    assert name.startswith("pooler=")
    assert {"HttpOnly", "Path=/", "SameSite=lax"} == set(rules)
    for path in ("/", "/missing", "/progress"):
        _, _, told = visitor.ask("GET", path)
        assert told["content-security-policy"].startswith("default-src 'none'")
        assert "frame-ancestors 'none'" in told["content-security-policy"]
        assert (told["server"], told["x-content-type-options"], told["cache-control"]) == (
            "pooler", "nosniff", "no-store")  # fmt: skip


def test_leaving_revoking_and_disabling_end_a_login_at_once(file: Path, served: Served) -> None:
    """A cookie that was copied before opens nothing; a new code ends the logins of the one before."""
    ends = (
        lambda one: one.ask("POST", "/leave"),
        lambda _: run_inside("judges", "code", "dora", "--revoke", "--collection", file).fine(),
        lambda _: codes_of(file, "dora"),
        lambda _: run_inside("judges", "disable", "dora", "--collection", file).fine(),
    )
    for end in ends:
        visitor, thief = Visitor(served), Visitor(served)
        assert visitor.enter(codes_of(file, "dora")["dora"]) == 303
        thief.cookie = visitor.cookie
        assert thief.act("inbox")[0] == 200
        end(visitor)
        assert thief.act("inbox")[0] == 401


def test_login_ends_when_idle(file: Path, served: Served) -> None:
    """After 30 minutes without a request, and after 12 hours in any case."""
    for column, minutes in (("seen_at", 31), ("began_at", 12 * 60 + 1)):
        visitor = Visitor(served)
        visitor.enter(codes_of(file, "alice")["alice"])
        assert visitor.act("inbox")[0] == 200
        with sqlite3.connect(file) as connection:
            then = f"strftime('%Y-%m-%d %H:%M:%f', {column}, '-{minutes} minutes') || '000'"
            connection.execute(f"UPDATE login SET {column} = {then}")
        assert visitor.act("inbox")[0] == 401


def test_other_hosts_and_other_pages_can_do_nothing(file: Path, served: Served) -> None:
    """A name that was made to lead here, a form of another page, and one that does not say of which."""
    code = codes_of(file, "alice")["alice"]
    visitor = Visitor(served)
    assert visitor.enter(code) == 303
    for host in ("evil.example", "127.0.0.1", "localhost"):
        assert visitor.ask("GET", "/", headers={"Host": host})[0] == 421
    for origin in ("http://evil.example", "null", None):
        for path in ("/enter", "/leave", "/api/inbox"):
            assert visitor.ask("POST", path, b"code=" + code.encode(), {"Origin": origin})[0] == 403
    assert visitor.act("inbox")[0] == 200


@pytest.mark.parametrize(
    "path", ["/static", "//", "/../etc/passwd", "/secret-place.db", "/api", "/api/inbox", "/enter"]
)
def test_nothing_else_is_there(served: Served, path: str) -> None:
    """No folder, no file, no way up."""
    status, body, _ = Visitor(served).ask("GET", path)
    assert status in (404, 405)
    assert "root:" not in body


def test_a_guesser_waits_and_locks_nobody_out(file: Path, served: Served) -> None:
    """Behind the same address the right code comes in, however many wrong ones were tried."""
    visitor = Visitor(served)
    answers = [visitor.enter(f"guess-{number}") for number in range(GUESSES + 10)]
    assert answers[-1] == 429
    assert set(answers) == {403, 429}
    assert visitor.enter(codes_of(file, "bob")["bob"]) == 303
    served.wait_for("wrong code from 127.0.0.1")


def test_guesses_are_counted_by_address_and_minute() -> None:
    """The next wrong code waits only beyond the limit; an IPv6 network is one; others are not meant."""
    now = 0.0
    guesses = Guesses(lambda: now)
    assert [guesses.note("198.51.100.7") for _ in range(GUESSES)] == [0] * GUESSES
    assert guesses.note("198.51.100.7") == 60
    assert guesses.note("198.51.100.8") == 0
    for number in range(GUESSES):
        guesses.note(f"2001:db8::{number:x}")
    assert guesses.note("2001:db8::ffff") == 60
    now = 61.0
    assert guesses.note("198.51.100.7") == 0


def test_odd_requests_are_refused_in_words(file: Path, served: Served) -> None:
    """Deep and broken JSON, no form, too much; the server goes on."""
    visitor = Visitor(served)
    assert visitor.enter(codes_of(file, "alice")["alice"]) == 303
    window = b'{"window": "0123456789abcdef", "topic": '
    for body, status in (
        (b"hello", 400),
        (b"[" * 200_000, 400),
        (b"[]", 400),
        (window + b"[1]}", 400),
        (window + b'"nowhere"}', 400),
        (window + b'"\xff"}', 400),
        (b" " * 300_000, 413),
    ):
        assert visitor.ask("POST", "/api/topic", body)[0] == status
    for verb in ("__class__", "nothing", "record"):
        assert visitor.act(verb)[0] == 400
    assert visitor.ask("POST", "/enter", b"&".join(b"a=1" for _ in range(50)))[0] == 400
    assert visitor.act("inbox")[0] == 200


def test_half_requests_and_a_thousand_connections_keep_nobody_out(file: Path, served: Served) -> None:
    """A request that does not come to its end is dropped in 10 s; meanwhile others are answered."""
    place = urlsplit(served.origin)
    idle = [socket.create_connection((place.hostname or "", place.port or 0)) for _ in range(1000)]
    begun = time.monotonic()
    for number, one in enumerate(idle):
        one.sendall((b"", b"GET / HTTP/1.1\r\nHost: x\r\n", b"POST /enter HTTP/1.1\r\nHost: " +
                     place.netloc.encode() + b"\r\nOrigin: " + served.origin.encode() +
                     b"\r\nContent-Length: 50\r\n\r\ncode=")[number % 3])  # fmt: skip
    visitor = Visitor(served)
    assert visitor.enter(codes_of(file, "alice")["alice"]) == 303
    assert visitor.act("inbox")[0] == 200
    halves = [  # answered before the body comes; and one right behind another
        f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 99\r\n\r\na"
        for path, host in (("/enter", place.netloc), ("/enter", "x"), ("/nowhere", place.netloc))
    ] + [f"GET / HTTP/1.1\r\nHost: {place.netloc}\r\n\r\nGET / HT"]
    late = [socket.create_connection((place.hostname or "", place.port or 0)) for _ in halves]
    for one, half in zip(late, halves, strict=True):
        one.sendall(half.encode())
    for one in (*idle[:3], *late):
        one.settimeout(30)
        while one.recv(1 << 16):
            pass
        one.close()
    assert time.monotonic() - begun < 20
    for one in idle[3:]:
        one.close()


def test_more_connections_than_the_system_has_keep_nobody_out(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Idle ones go for those that come, without a word of it."""
    few = ["sh", "-c", 'ulimit -n 256 && exec "$@"', "sh", *program()]
    monkeypatch.setattr("tests.helpers.pages.program", lambda: few)
    with serving(file) as served:
        place = urlsplit(served.origin)
        idle = [socket.create_connection((place.hostname or "", place.port or 0)) for _ in range(600)]
        assert Visitor(served).enter(codes_of(file, "alice")["alice"]) == 303
        for one in idle:
            one.close()
        assert served.stop() == 0
        assert not any(word in served.said for word in ("Traceback", "out of system"))


def test_a_body_of_100_mb_is_not_taken(served: Served) -> None:
    """It is refused when it has become too much, not when it has come."""
    place = urlsplit(served.origin)
    with socket.create_connection((place.hostname or "", place.port or 0)) as one:
        one.sendall(
            f"POST /enter HTTP/1.1\r\nHost: {place.netloc}\r\nOrigin: {served.origin}\r\n"
            f"Content-Length: {100 << 20}\r\n\r\n".encode()
        )
        sent = 0
        try:
            while sent < 100 << 20:
                sent += one.send(b"x" * 65536)
        except OSError:
            pass
        assert sent < 50 << 20


def test_organiser_sees_progress_and_nothing_else(file: Path, served: Served, tmp_path: Path) -> None:
    """Of people, by a code of its own; a judge's login opens it not, and its login no desk.

    Before an adjudicator lies what judges disagree on, not the pool.
    """
    run_inside("judges", "add", "judy", "--kind", "adjudicator", "--collection", file).fine()
    (tmp_path / "m.qrels").write_text("1 0 d000 1\n")
    given = ("--judge", "machine", "--kind", "model", "--collection", file)
    run_inside("import", "judgements", tmp_path / "m.qrels", *given).fine()
    judge = Visitor(served)
    assert judge.enter(codes_of(file, "alice")["alice"]) == 303
    assert judge.decide("d000", 1)[0] == 200
    assert "access code" in judge.ask("GET", "/progress")[1]
    organiser = Visitor(served)
    assert organiser.enter(served.organiser_code) == 303
    page = organiser.ask("GET", "/progress")[1]
    assert "1 of 8 decided" in page
    assert '<th scope="row">judy</th><td>0 decided</td><td>0</td><td></td><td></td>' in page
    assert "<script" not in page
    assert "machine" not in page
    assert organiser.act("inbox")[0] == 401
    assert "access code" in organiser.ask("GET", "/")[1]
    copied = organiser.cookie
    assert organiser.ask("POST", "/leave")[0] == 303
    organiser.cookie = copied
    assert "access code" in organiser.ask("GET", "/progress")[1]


def test_proxy_s_word_is_trusted_where_it_is_asked_for(file: Path, served: Served, tmp_path: Path) -> None:
    """Twice, unknown or disabled, the header names nobody; without the option it is nothing."""
    assert Visitor(served).ask("GET", "/", headers={"X-Remote-User": "alice"})[1].count("alice") == 0
    with serving(file, "--trust-header", "X-Remote-User") as trusting:
        visitor = Visitor(trusting)
        _status, page, _ = visitor.ask("GET", "/", headers={"X-Remote-User": "alice"})
        assert "<strong>alice</strong>" in page
        for name in ("nobody", "emil", "a b", "<b>"):
            page = visitor.ask("GET", "/", headers={"X-Remote-User": name})[1]
            assert f"Nobody who may judge here has the name of your login, {escape(name)}." in page
        run_inside("judges", "add", "田中", "--collection", file).fine()
        named = "田中".encode().decode("latin-1")  # bytes, as a proxy sends them
        assert "<strong>田中</strong>" in visitor.ask("GET", "/", headers={"X-Remote-User": named})[1]
        assert "your login" not in visitor.ask("GET", "/", headers={"X-Remote-User": " "})[1]
        place = urlsplit(trusting.origin)
        with socket.create_connection((place.hostname or "", place.port or 0)) as one:
            head = f"GET / HTTP/1.1\r\nHost: {place.netloc}\r\nConnection: close\r\n"
            one.sendall(f"{head}X-Remote-User: alice\r\nX-Remote-User: bob\r\n\r\n".encode())
            answer = b"".join(iter(lambda: one.recv(1 << 16), b""))
        assert b"access code" in answer
    told = run_inside("serve", "--trust-header", "X-User", "--host", "0.0.0.0", "--origin", "https://judge.example",
                      "--collection", file).failed(1)  # fmt: skip
    assert "`--trust-header`" in told.err
    path = tmp_path / "socket"
    with serving(file, "--host", str(path), "--origin", "https://judge.example", "--trust-header", "X-User"):
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(str(path))
            one.sendall(b"GET / HTTP/1.1\r\nHost: judge.example\r\nX-User: bob\r\nConnection: close\r\n\r\n")
            answer = b"".join(iter(lambda: one.recv(1 << 16), b""))
        assert b"<strong>bob</strong>" in answer


@pytest.mark.usefixtures("started_by_users")
def test_socket_of_a_killed_server_is_taken_over(file: Path, tmp_path: Path) -> None:
    """Who was killed leaves a socket behind; who came too late takes nobody's away."""
    path = tmp_path / "socket"
    options = ("--host", str(path), "--origin", "https://judge.example")
    with serving(file, *options) as killed:
        killed.process.kill()
        killed.process.wait()
        assert path.is_socket()
    with serving(file, *options) as living:
        told = run_inside("serve", *options, "--collection", file).failed(1)
        assert f"cannot listen at {path}: Address already in use" in told.err
        assert "hint: --host may name another path; its folder must be there" in told.err
        assert path.is_socket()
        assert path.stat().st_mode & 0o777 == 0o660
        assert living.stop() == 0
    assert not path.exists()


@pytest.mark.usefixtures("started_by_users")
def test_encrypted_address_makes_the_cookie_secure(file: Path) -> None:
    """Behind a proxy with https no other host can set it; who guesses is whom the proxy names last."""
    with serving(file, "--origin", "https://judge.example") as served:
        inodes = {
            link.readlink().as_posix().partition("[")[2].rstrip("]")
            for link in Path(f"/proc/{served.process.pid}/fd").iterdir()
            if "socket:" in link.readlink().as_posix()
        }
        lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        (port,) = {int(one[1].partition(":")[2], 16) for one in lines if one[3] == "0A" and one[9] in inodes}
        visitor = Visitor(served, at=f"http://127.0.0.1:{port}")
        code = codes_of(file, "alice")["alice"].encode()
        _, _, told = visitor.ask("POST", "/enter", b"code=" + code)
        name, *rules = told["set-cookie"].split("; ")
        assert name.startswith("__Host-pooler=")
        assert {"HttpOnly", "Path=/", "SameSite=lax", "Secure"} == set(rules)
        assert visitor.act("inbox")[0] == 200
        forged = {"X-Forwarded-For": "203.0.113.9, 198.51.100.7"}
        visitor.enter("wrong", **forged)
        served.wait_for("wrong code from 198.51.100.7")


OTHER = "fedcba9876543210"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Make a collection for one test."""
    make_collection(tmp_path / "collection.db", 6, "alice", "bob")
    return tmp_path / "collection.db"


@pytest.fixture
def running(place: Path) -> Iterator[Served]:
    """Serve it."""
    with serving(place) as running:
        yield running
        assert "Traceback" not in running.said


@pytest.fixture
def alice(place: Path, running: Served) -> Visitor:
    """Let a judge come in."""
    visitor = Visitor(running)
    assert visitor.enter(codes_of(place, "alice")["alice"]) == 303
    return visitor


def history(place: Path) -> list[Any]:
    """Return every event, in the order of documents and revisions."""
    with Collection(str(place)) as opened:
        return list(opened.judgements.history())


def test_page_shows_what_the_desk_shows(alice: Visitor) -> None:
    """The topics, a topic with its queue, a document with its text; nobody's opinion."""
    assert [one["topic"] for one in alice.act("inbox")[1]] == ["1"]
    topic = alice.act("topic", topic="1")[1]
    assert [one["docno"] for one in topic["queue"]] == [f"d{number:03}" for number in range(6)]
    assert (topic["version"], topic["is_new"], topic["more"], topic["goal"]) == (1, True, 0, None)
    shown = alice.act("document", topic="1", docno="d002")[1]
    assert (shown["title"], shown["text"], shown["html"]) == ("Title d002", "Some text of d002.", None)
    assert "opinions" not in shown


def test_record_sent_twice_is_written_once(place: Path, alice: Visitor) -> None:
    """So is one of which the answer was lost; another one of the same revision is refused."""
    assert alice.decide("d000", 1)[0] == 200
    status, answer = alice.decide("d000", 1)
    assert (status, answer["now"]["grade"], answer["now"]["revision"]) == (200, 1, 1)
    status, answer = alice.decide("d000", 1, grade=2)
    assert (status, answer["now"]["grade"]) == (409, 1)
    assert [(one.docno, one.revision, one.grade) for one in history(place)] == [("d000", 1, 1)]


def test_undo_sent_twice_takes_back_one_event(place: Path, alice: Visitor) -> None:
    """It names what it takes back; not the one before, and nothing of another document."""
    alice.decide("d000", 1)
    alice.decide("d001", 1, grade=2)
    undo = {"action": "undo", "grade": None, "undoes": 1}
    for _ in range(2):
        status, answer = alice.decide("d001", 2, **undo)
        assert (status, answer["now"]["state"], answer["now"]["revision"]) == (200, "unjudged", 2)
    assert alice.decide("d000", 2, **(undo | {"undoes": 7}))[0] == 409
    assert [(one.docno, one.action.value) for one in history(place)] == [
        ("d000", "judge"), ("d001", "judge"), ("d001", "undo")]  # fmt: skip


@pytest.mark.usefixtures("started_by_users")
def test_sitting_goes_on_after_a_restart(place: Path) -> None:
    """The same window can undo what it did before the server was killed; the events have one sitting."""
    code = codes_of(place, "alice")["alice"]
    with serving(place) as running:
        first = Visitor(running)
        first.enter(code)
        first.decide("d000", 1)
        running.process.kill()
    with serving(place) as running:
        again = Visitor(running)
        again.cookie = first.cookie  # nobody enters a code again
        done = again.act("begin")[1]["done"]
        assert [(one["docno"], one["revision"], one["grade"]) for one in done] == [("d000", 1, 1)]
        assert again.decide("d000", 2, action="undo", grade=None, undoes=1)[0] == 200
        assert again.act("begin")[1]["done"] == []
    assert {one.sitting for one in history(place)} == {1}


def test_versions_and_view_that_were_read_travel_with_the_decision(place: Path, alice: Visitor) -> None:
    """Not the newest there are; of versions that there are not, the newest."""
    alice.act("topic", topic="1")
    with Collection(str(place)) as opened:
        opened.guidelines.add("# How\n\nOtherwise.\n")
        opened.topics.add([Topic("1", "bridges and tunnels")], replace=True)
    alice.decide("d000", 1, view="structure", versions=[1, 1])
    alice.decide("d001", 1, versions=[9, 9])
    alice.decide("d002", 1, versions=[None, 1])
    assert [(one.guideline_version, one.topic_version, one.view) for one in history(place)] == [
        (1, 1, "structure"), (2, 2, None), (None, 1, None)]  # fmt: skip


REFUSED: list[tuple[int, dict[str, Any]]] = [
    (400, {"grade": 9}),
    (400, {"grade": None}),
    (400, {"grade": "1"}),
    (400, {"action": "reopen", "grade": None}),
    (400, {"action": "settle", "grade": None}),
    (400, {"topic": "2"}),
    (409, {"docno": "elsewhere"}),
    (409, {"revision": 7}),
    (400, {"revision": 0}),
    (400, {"action": "mark", "grade": None, "passages": [[0, 4, "none"]]}),
    (400, {"action": "cannot", "grade": None, "reason": ""}),
    (400, {"action": "note", "grade": None, "note": "x" * 20_001}),
    (400, {"versions": [1]}),
    (400, {"sha256": "x"}),
    (400, {"shown_at": "9999-12-31T00:00:00+00:00"}),
    (400, {"shown_at": "0001-01-01T00:00:00+00:00"}),
    (400, {"more": 1}),
]


def test_what_no_page_asks_is_refused(place: Path, alice: Visitor) -> None:
    """Nothing of it is written."""
    for status, said in REFUSED:
        assert alice.decide(said.pop("docno", "d000"), said.pop("revision", 1), **said)[0] == status, said
    assert history(place) == []


def test_no_judge_reaches_another_s_desk(place: Path, running: Served, alice: Visitor) -> None:
    """A window's number is looked up together with the judge of the cookie: it is another sitting."""
    alice.decide("d000", 1)
    bob = Visitor(running)
    bob.enter(codes_of(place, "bob")["bob"])
    assert bob.act("begin")[1]["done"] == []
    assert bob.act("topic", topic="1")[1]["queue"][0]["now"]["state"] == "unjudged"
    assert bob.decide("d000", 2, action="undo", grade=None, undoes=1)[0] == 409
    assert bob.decide("d000", 1, grade=0)[0] == 200
    assert judged(place) == {("alice", "d000"): 1, ("bob", "d000"): 0}
    for window in ("", "short", "x" * 16 + "y", "../../../../etc0", 7):
        assert bob.ask("POST", "/api/inbox", f'{{"window": "{window}"}}'.encode())[0] == 400


def test_topic_of_others_is_not_shown(place: Path, running: Served, alice: Visitor) -> None:
    """Its words are in no answer, nor its documents."""
    run_inside("assign", "bob", "--collection", place).fine()
    known = alice.act("topic", topic="1")[1]
    assert (known["queue"], known["title"], "bridges" in str(known)) == ([], "", False)
    for verb in ("topic", "more", "beat"):
        assert alice.act(verb, topic="nowhere") == (400, {"error": "unknown topic"})
    bob = Visitor(running)
    bob.enter(codes_of(place, "bob")["bob"])
    assert bob.act("topic", topic="1")[1]["title"] == "bridges"


def test_documents_of_a_queue_are_claimed_a_few_at_a_time(place: Path) -> None:
    """What is not held is not shown; leaving gives back what was claimed and not decided."""
    run_inside("assign", "--claim", "--per-document", "1", "--collection", place).fine()
    codes = codes_of(place, "alice", "bob")
    with serving(place) as running:
        alice, bob = Visitor(running), Visitor(running)
        for visitor, judge in ((alice, "alice"), (bob, "bob")):
            assert visitor.enter(codes[judge]) == 303
        assert alice.act("topic", topic="1")[1]["queue"] == []
        held = {one["docno"] for one in alice.act("more", topic="1")[1]["queue"]}
        assert held
        theirs = {one["docno"] for one in bob.act("more", topic="1")[1]["queue"]}
        assert held.isdisjoint(theirs)
        assert bob.act("document", topic="1", docno=min(held))[0] == 400
        assert bob.decide(min(held), 1)[0] == 409
        assert alice.ask("POST", "/leave")[0] == 303
        while bob.act("more", topic="1")[1]["more"]:
            pass
        assert len(bob.act("topic", topic="1")[1]["queue"]) == 6


def test_adjudicator_sees_opinions_as_letters(tmp_path: Path) -> None:
    """Who is who stays hidden; whose grades count, the default qrels say; a goal of judging is none here."""
    place = tmp_path / "disputed.db"
    with new_collection(str(place)) as made:
        made.topics.add([Topic("1", "bridges")])
        made.pools.add(make_pool({"1": ["a", "b", "c"]}))
        made.documents.add([Document(docno, f"Title {docno}", "Some text.") for docno in "abc"])
        models = {"gpt": [Qrel("1", "c", 0)], "qwen": [Qrel("1", "c", 2)]}
        made.judgements.add(models, JudgeKind.MODEL)
        for judge, kind in (
            ("ann", JudgeKind.HUMAN),
            ("ben", JudgeKind.HUMAN),
            ("zoe", JudgeKind.ADJUDICATOR),
        ):
            made.judges.add(judge, kind)
    run_inside("qrels", "define", "official", "--kinds", "human,model", "--collection", place).fine()
    codes = codes_of(place, "ann", "ben", "zoe")
    with serving(place, "--goal", "recall=.5") as running:
        people = {judge: Visitor(running) for judge in codes}
        for judge, visitor in people.items():
            assert visitor.enter(codes[judge]) == 303
        for judge, grades in (("ann", (0, 1)), ("ben", (2, 1))):
            for docno, grade in zip("ab", grades, strict=True):
                assert people[judge].decide(docno, 1, grade=grade)[0] == 200
        zoe = people["zoe"]
        topic = zoe.act("topic", topic="1")[1]
        assert ([one["docno"] for one in topic["queue"]], topic["goal"]) == (["a", "c"], None)
        shown = zoe.act("document", topic="1", docno="a")[1]
        assert sorted(lines[0][0] for lines in shown["opinions"]) == ["A", "B"]
        assert sorted(lines[0].split()[1] for lines in shown["opinions"]) == ["0", "2"]
        assert "ann" not in str(shown)
        assert zoe.decide("a", 1, grade=2)[0] == 200
    assert judged(place)["zoe", "a"] == 2


def test_what_is_sent_while_the_collection_is_locked_is_asked_for_again(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """503, which the page takes for a server that is gone; where the collection lies is not said.

    The server waits for a second, not for its half minute.
    """
    impatient = f"import store.db.engine as engine; engine.BUSY_TIMEOUT_MS = 1000; {START}"
    monkeypatch.setattr("tests.helpers.pages.program", lambda: [sys.executable, "-c", impatient])
    with serving(place) as running, closing(sqlite3.connect(place, isolation_level=None)) as blocker:
        alice = Visitor(running)
        assert alice.enter(codes_of(place, "alice")["alice"]) == 303
        blocker.execute("BEGIN IMMEDIATE")
        status, answer = alice.decide("d000", 1)
        assert (status, place.name in str(answer)) == (503, False)
        blocker.execute("ROLLBACK")
        assert alice.act("record", WINDOW, **asked_of("d000", 1))[0] == 200
    assert judged(place) == {("alice", "d000"): 1}
