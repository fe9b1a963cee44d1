"""Engines, transactions, locks on SQLite and PostgreSQL; driver errors in words.

SQLite: write-ahead log with `synchronous=FULL` (a committed judgement survives a power cut), and
`BEGIN IMMEDIATE` for every transaction that may write: a transaction that reads first and writes
later cannot be promoted once another process has written, and no timeout helps it then.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import (
    Connection,
    DateTime,
    Engine,
    LargeBinary,
    String,
    Text,
    cast,
    create_engine,
    event,
    exc,
    func,
    select,
    text,
    type_coerce,
)
from sqlalchemy.engine import URL, make_url
from sqlmodel import Session

from store.db.columns import RawText, UnreadableMomentError, driver_errors, is_of
from store.db.digests import note_changes, renew_changed
from store.db.files import SEAL, is_cut, side_files
from store.db.tables import TABLES
from store.errors import ArgumentError, SchemaError, StoreError

MISREAD = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    MemoryError,
    RecursionError,
    exc.NoResultFound,
    exc.MultipleResultsFound,
)
"""What making sense of a value ends in that is none of its column's, or is not there."""
DAMAGED = "the database file is damaged"
DAMAGED_HINT = "restore a backup: pooler restore BACKUP --replace; pooler verify says more"
NO_COLLECTION_HINT = "name another with --collection, or put a backup there: pooler restore BACKUP --replace"
_UNCODED = ("Could not decode to UTF-8", "no such table", "no such column", "unsupported file format")
"""Words of SQLite that damage has, and other things, too."""

_FULL = 1 << 20
"""Bytes: a disk with less has no room for what a decision takes, its log included."""
_NO_READING = frozenset(
    {"SQLITE_IOERR_READ", "SQLITE_IOERR_SHORT_READ", "SQLITE_IOERR_FSTAT", "SQLITE_IOERR_SEEK"}
)
_LOST = "try again once that is fixed; what was reported as saved is in the collection"


def damaged(where: str, what: object, *, hint: str = DAMAGED_HINT) -> StoreError:
    """Return the error of a database that is not what it was."""
    return StoreError(f"{where}: {DAMAGED}: {what}", hint=hint)


def is_like_damage(error: Exception) -> bool:
    """Return whether a failure may come of a file that is not what it was, or not all of it."""
    cause = getattr(error, "orig", error)
    if not isinstance(cause, sqlite3.Error):
        return False
    kind = _code(cause) & 0xFF
    if kind in (0, sqlite3.SQLITE_ERROR):
        return any(words in str(cause) for words in _UNCODED)
    return kind == sqlite3.SQLITE_CORRUPT


def _store_error(where: str, error: Exception) -> StoreError | None:
    """Return in one line what is wrong with a database; ``None`` = the error is the program's."""
    cause = getattr(error, "orig", error)
    reason = next(iter(str(cause).strip().splitlines()), "the connection failed")
    if isinstance(cause, sqlite3.Error):
        return _sqlite_error(where, cause, reason)
    if isinstance(error, exc.OperationalError):
        return StoreError(f"{where}: {reason}")
    if isinstance(error, exc.ProgrammingError | exc.InternalError | exc.DataError | exc.NotSupportedError):
        hint = "use the login that owns the collection; pooler verify checks its tables"
        return StoreError(f"{where}: the server refused it: {reason}", hint=hint)
    return None


_WAITED = "another process is writing and did not finish in time"
_SQLITE_SAYS = {
    sqlite3.SQLITE_READONLY: (
        "{what} may be read but not written",
        "what only reads goes on; to write, chmod u+w {path}, or pooler backup FILE and restore it elsewhere",
    ),
    sqlite3.SQLITE_BUSY: (_WAITED, None),
    sqlite3.SQLITE_LOCKED: (_WAITED, None),
    sqlite3.SQLITE_NOMEM: ("there is not enough memory", _LOST),
    sqlite3.SQLITE_FULL: ("the disk is full: {free} left in {folder}", _LOST),
    sqlite3.SQLITE_IOERR_READ: ("the disk could not be read ({name})", _LOST),
    sqlite3.SQLITE_IOERR: (
        "the disk took no more ({name}), and has {free} left",
        f"look at quotas and limits of the file's size; {_LOST}",
    ),
}
"""What SQLite's own codes mean, and what to do."""


def _sqlite_error(where: str, error: sqlite3.Error, reason: str) -> StoreError | None:
    """Return what an error of SQLite means; ``None`` = it is an error of the program."""
    name, kind = getattr(error, "sqlite_errorname", ""), _code(error) & 0xFF
    if kind == sqlite3.SQLITE_NOTADB:
        return _not_a_collection(where)
    free = 1 << 62
    with suppress(OSError):
        free = shutil.disk_usage(Path(where).absolute().parent).free
    if name == "SQLITE_IOERR_NOMEM":
        kind = sqlite3.SQLITE_NOMEM
    elif name in _NO_READING:
        kind = sqlite3.SQLITE_IOERR_READ
    elif kind == sqlite3.SQLITE_IOERR and free < _FULL:
        kind = sqlite3.SQLITE_FULL
    if kind not in _SQLITE_SAYS:
        return StoreError(f"{where}: {reason}") if isinstance(error, sqlite3.OperationalError) else None
    words, hint = _SQLITE_SAYS[kind]
    left = f"{free // 1_000_000} MB" if free >= 1_000_000 else f"{free // 1000} kB"
    file = Path(where).absolute()
    facts: dict[str, Any] = {"name": name, "free": left, "folder": Path(where).parent}
    is_folder = os.access(file, os.W_OK)
    facts |= {"what": "its folder", "path": file.parent} if is_folder else {"what": "the file", "path": file}
    reported = words.format(**facts)
    return StoreError(f"{where}: {reported}", hint=hint and hint.format(**facts))


def _code(error: sqlite3.Error) -> int:
    """Return SQLite's extended code; 0 where Python itself raised it."""
    return int(getattr(error, "sqlite_errorcode", 0))


def _not_a_collection(where: str) -> SchemaError:
    file = Path(where)
    is_empty = file.is_file() and not file.stat().st_size
    message = f"{where} is not a pooler collection" + (": the file is empty" if is_empty else "")
    return SchemaError(message, hint=NO_COLLECTION_HINT)


@contextmanager
def hinting(hint: str, *, also: str = DAMAGED_HINT) -> Iterator[None]:
    """Give another hint about damage, where the usual one is of no use."""
    try:
        yield
    except StoreError as error:
        if error.hint not in (DAMAGED_HINT, also):
            raise
        raise type(error)(error.message, hint=hint) from error


SCHEMA_REVISION = "1"
"""The schema's Alembic revision: that of the newest migration."""

BUSY_TIMEOUT_MS = 30_000
"""How long a command waits for another process that is writing to a SQLite file."""
JUDGE_PATIENCE_MS = 10_000
"""How long a judge waits for a writer before it is said that nothing was saved."""
SCREEN_PATIENCE_MS = 2_000
"""The same where a whole screen stands still meanwhile, which tries again by itself."""
TRANSACTIONS: Counter[str] = Counter()
"""How many this process has written, `kept` and `undone`: an interrupt reports it."""

_NETWORK = {
    "connect_timeout": 10,
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}
"""So that a network which falls silent is a failure within seconds, in libpq's words."""
_IMPORT_LOCK = 0x706F6F6C
"""Key of the PostgreSQL advisory lock of bulk imports ("pool")."""
_TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table'",
    "postgresql": "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()",
}
"""Queries for every table: asked at every start."""
_COLUMNS = {
    "sqlite": "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c"
    " WHERE m.type = 'table'",
    "postgresql": "SELECT c.relname, a.attname FROM pg_namespace n"
    " JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p')"
    " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
    " WHERE n.nspname = current_schema()",
}
"""Queries for every table with its columns."""


def collection_url(name: str) -> URL:
    """Turn what `--collection` was given into a URL.

    A file path, ``sqlite:///FILE``, or ``postgresql://...`` (psycopg).

    >>> str(collection_url("wine.db"))
    'sqlite:///wine.db'
    >>> collection_url("postgresql://host/wine").drivername
    'postgresql+psycopg'
    """
    if "://" not in name:
        return URL.create("sqlite", database=name)
    requirement = "must be a file path or a postgresql:// URL"
    try:
        url = make_url(name)
    except (exc.ArgumentError, ValueError) as error:
        without_secrets = f"{name.partition('://')[0]}://..."
        raise ArgumentError("collection", requirement, without_secrets) from error
    driver = {"postgresql": "postgresql+psycopg", "sqlite": "sqlite"}.get(url.get_backend_name())
    if driver is None:
        raise ArgumentError("collection", requirement, display(url))
    return url.set(drivername=driver)


def usual_name(where: str) -> str:
    """Name a collection after its file, its database, or the service that has it.

    >>> usual_name("data/wine.db"), usual_name("postgresql:///?service=beer")
    ('wine', 'beer')
    """
    url = collection_url(where)
    return Path(url.database or str(url.query.get("service", ""))).stem


def make_engine(url: URL) -> Engine:
    """Make the engine of a collection; opens no connection yet."""
    if url.get_backend_name() == "sqlite":
        file = Path(url.database or "")
        # A log is made beside the file by who opens it, unless it is there.
        is_closed = not os.access(file.absolute().parent, os.W_OK) and not side_files(file)
        if file.is_file() and (is_closed or not os.access(file, os.W_OK)):
            return read_only_engine(file)
        engine = create_engine(url, creator=lambda: _connect_sqlite(url.database or ":memory:"))
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "checkin", _drop_stopgap)
        event.listen(engine, "begin", _begin_sqlite)
        note_changes(engine)
        return engine
    try:
        # PGCLIENTENCODING, or a database without an encoding, must not choose another.
        engine = create_engine(url, pool_pre_ping=True, connect_args={"client_encoding": "utf8"} | _NETWORK)
    except ModuleNotFoundError as error:
        message = "PostgreSQL needs the driver psycopg"
        raise StoreError(message, hint="pip install 'psycopg[binary]'") from error
    note_changes(engine)
    return engine


@contextmanager
def engine_at(place: URL | Path) -> Iterator[Engine]:
    """Make the engine of a collection, or of a SQLite file, and close its connections in any case."""
    engine = make_engine(URL.create("sqlite", database=str(place)) if isinstance(place, Path) else place)
    try:
        yield engine
    finally:
        engine.dispose()


def read_only_engine(file: Path) -> Engine:
    """Make the engine of a file that may only be read, as an archived collection is.

    SQLite would want to write its shared memory beside it, unless the file is declared immutable, which
    it is not while somebody's log lies beside it.
    """
    url = URL.create("sqlite", database=str(file))
    engine = create_engine(url, creator=lambda: _connect_reading(file))
    event.listen(engine, "begin", _begin_sqlite)
    return engine


class _Stopgap(sqlite3.Connection):
    """Reads on a full disk, for one transaction: there may be room at the next."""

    reason: sqlite3.Error | None = None
    """Why nothing can be written."""


_CONNECTING: Any = {"isolation_level": None, "timeout": BUSY_TIMEOUT_MS / 1000, "check_same_thread": False}
"""`_begin_sqlite` begins transactions, not the driver; SQLAlchemy's pool hands a connection to one thread."""


def _connect_reading(file: Path, reason: sqlite3.Error | None = None) -> sqlite3.Connection:
    steady = "" if _has_log(file) else "&immutable=1"
    name = f"file:{quote(str(file.absolute()))}?mode=ro{steady}"
    connection = _Stopgap(name, uri=True, **_CONNECTING)
    connection.reason = reason
    return connection


def _has_log(file: Path) -> bool:
    log = file.with_name(file.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def _connect_sqlite(name: str) -> sqlite3.Connection:
    """Connect to a file; where there is no room for SQLite's shared memory, to read it all the same."""
    connection: sqlite3.Connection = sqlite3.connect(name, **_CONNECTING)
    try:
        connection.execute("SELECT 1 FROM sqlite_master").close()
    except UnicodeDecodeError:  # from SQLite's message about a damaged schema: reported with the first query
        return connection
    except sqlite3.Error as error:
        if not getattr(error, "sqlite_errorname", "").startswith("SQLITE_IOERR_SHM"):
            return connection  # what is wrong is reported with the first query
        connection.close()
        if not _has_log(Path(name)):
            return _connect_reading(Path(name), error)
        # What the log holds goes into the file, in place: without others that needs no shared memory.
        connection = stopgap = _Stopgap(name, **_CONNECTING)
        connection.execute("PRAGMA locking_mode = EXCLUSIVE").close()
        with suppress(sqlite3.Error):
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").close()
        if not _has_log(Path(name)):
            connection.close()
            return _connect_reading(Path(name), error)
        stopgap.reason = error
    return connection


def _drop_stopgap(connection: Any, record: Any) -> None:
    """Drop a connection that was only made because the disk was full."""
    if isinstance(connection, _Stopgap):
        record.invalidate()


def _set_up_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    cursor = connection.cursor()
    # The journal's kind is written into the file, so a file that is something else is left alone.
    cursor.execute("SELECT count(*) FROM sqlite_master WHERE name = 'judgement'")
    if cursor.fetchone() != (0,):
        # Changing it needs the file alone; when others have it open, a later connection does it.
        cursor.execute("PRAGMA busy_timeout = 0")
        with suppress(sqlite3.OperationalError):
            cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    """Begin a transaction; one that may write takes the write lock at once."""
    options = connection.get_execution_options()
    if not options.get("pooler_writes"):
        connection.exec_driver_sql("BEGIN")
        return
    if reason := getattr(connection.connection.dbapi_connection, "reason", None):
        raise reason
    patience_ms = options.get("pooler_patience_ms", BUSY_TIMEOUT_MS)
    connection.exec_driver_sql(f"PRAGMA busy_timeout = {patience_ms:d}")
    connection.exec_driver_sql("BEGIN IMMEDIATE")
    if connection.info.get("pooler_has_no_seal"):
        return
    # A sealed file (`store.db.files`) becomes one that is worked on, in this transaction.
    if connection.exec_driver_sql("PRAGMA application_id").scalar() == SEAL:
        connection.exec_driver_sql("PRAGMA application_id = 0")
        connection.exec_driver_sql("PRAGMA user_version = 0")
    else:
        connection.info["pooler_has_no_seal"] = True


@contextmanager
def reading(engine: Engine) -> Iterator[Session]:
    """Open a session that reads one consistent state and writes nothing."""
    if engine.dialect.name == "postgresql":
        # Its default is one state a statement; a transaction of SQLite sees one by nature.
        engine = engine.execution_options(isolation_level="REPEATABLE READ")
    with translated_errors(engine), Session(engine) as session:
        yield session
        session.rollback()


@contextmanager
def writing(
    engine: Engine, *, bulk: bool = False, creates: bool = False, patience_ms: int | None = None
) -> Iterator[Session]:
    """Open a session that commits at the end of the block, or rolls back on any error.

    `bulk`: imports wait for each other, since new docnos and topics are looked up, then added (PostgreSQL
    takes an advisory lock). `creates`: a SQLite file that is not there is made; otherwise it was removed,
    and what is written would be lost with it. `patience_ms`: how long to wait for another process that
    writes to the file.
    """
    file = engine.url.database if engine.dialect.name == "sqlite" else None
    if file and not creates and not Path(file).exists():
        message = f"{file} is gone: it was moved or deleted while it was open"
        raise StoreError(message, hint="put it back; what was saved before is in it")
    patience = BUSY_TIMEOUT_MS if patience_ms is None else min(patience_ms, BUSY_TIMEOUT_MS)
    writer = engine.execution_options(pooler_writes=True, pooler_patience_ms=patience)
    try:
        with translated_errors(engine), Session(writer, expire_on_commit=False) as session:
            if bulk and engine.dialect.name == "postgresql":
                session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _IMPORT_LOCK})
            yield session
            session.flush()
            renew_changed(session)
            _commit(session)
    except BaseException:
        TRANSACTIONS["undone"] += 1
        raise


def _commit(session: Session) -> None:
    """Commit, and count it: an interrupt may come when it is done, and has not returned."""
    driver: Any = session.connection().connection.driver_connection
    try:
        session.commit()
    except Exception:
        raise
    except BaseException:
        is_sqlite = isinstance(driver, sqlite3.Connection)
        if not (driver.in_transaction if is_sqlite else driver.info.transaction_status):
            TRANSACTIONS.update(kept=1, undone=-1)
        raise
    TRANSACTIONS["kept"] += 1


def database_now(session: Session) -> datetime:
    """Return the time of the database, in UTC: one clock for all the machines that share it."""
    if session.get_bind().dialect.name == "postgresql":
        moment: datetime = session.execute(text("SELECT clock_timestamp()")).scalar_one()
        return moment.astimezone(UTC)
    return datetime.now(UTC)


@contextmanager
def translated_errors(engine: Engine) -> Iterator[None]:
    """Turn the driver's failures a user can put right into `StoreError`."""
    try:
        yield
    except (exc.DatabaseError, sqlite3.Error) as error:
        where = display(engine.url)
        is_damage = is_like_damage(error)
        place = unreadable_place(engine) if is_damage or isinstance(error, exc.DataError) else ""
        if isinstance(error, exc.IntegrityError) and engine.dialect.name == "sqlite":
            with suppress(exc.DatabaseError), engine.connect() as connection:  # of an index, too, it may come
                found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
                place = "" if found == "ok" else str(found).splitlines()[-1]
        if place or is_damage:
            raise damaged(where, place or getattr(error, "orig", error)) from error
        reported = _store_error(where, error)
        if reported is None:
            raise
        raise reported from error
    except (UnicodeDecodeError, UnreadableMomentError) as error:  # or of what SQLite says of a damaged schema
        place = unreadable_place(engine) or "a text in it is no UTF-8"
        raise damaged(display(engine.url), place) from error


def unreadable_place(engine: Engine) -> str:
    """Name the first value that is kept as a text or a moment and is none; empty = all can be read."""
    with suppress(exc.DatabaseError, sqlite3.Error, UnicodeDecodeError), engine.connect() as connection:
        is_sqlite = engine.dialect.name == "sqlite"
        for table in TABLES.values():
            # A key, too, may be what cannot be read.
            keys = [cast(key, LargeBinary if is_sqlite else Text) for key in table.primary_key]
            for column in table.columns:
                is_moment, is_raw = is_of(column, DateTime), isinstance(column.type, RawText)
                if not is_sqlite and not is_moment and not is_raw:
                    continue  # the server keeps texts in UTF-8
                is_wordy = is_moment or is_raw or is_of(column, String)
                # SQLite keeps a text in place of a number or bytes, too.
                is_suspect = column.is_not(None) if is_wordy else func.typeof(column) == "text"
                kept: Any = LargeBinary if is_sqlite or is_raw else Text
                raw = cast(column, kept) if is_sqlite or not is_raw else type_coerce(column, kept)
                for *key, value in connection.execute(select(*keys, raw).where(is_suspect)):
                    # Where an index is damaged, the table may have no value after all.
                    if value is not None and _is_unreadable(value, is_moment=is_moment):
                        names = (str(one or b"", errors="replace") if is_sqlite else one for one in key)
                        row = ", ".join(names)
                        return f"row {row} of `{table.name}`: `{column.name}` cannot be read: {value!r:.80}"
    return ""


def _is_unreadable(value: bytes | str, *, is_moment: bool) -> bool:
    try:
        text = value if isinstance(value, str) else bytes(value).decode("utf-8", "surrogatepass")
        if is_moment:
            datetime.fromisoformat(text)
    except ValueError:
        return True
    return False


def display(url: URL) -> str:
    """Name a collection for people: the file, or the URL without its password and options but a service."""
    if url.get_backend_name() == "sqlite":
        return url.database or ":memory:"
    service = {name: value for name, value in url.query.items() if name == "service"}
    return url.set(query=service).render_as_string(hide_password=True)


def stored_revision(engine: Engine) -> str | None:
    """Read the schema revision of a database; ``None`` when it holds no collection.

    `StoreError`: it cannot be reached.
    """
    url = engine.url
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        message = f"there is no collection at {display(url)}"
        hint = "pooler init makes one; --collection or POOLER_COLLECTION names another"
        raise StoreError(message, hint=hint)
    if url.get_backend_name() == "sqlite" and is_cut(Path(url.database or "")):
        raise damaged(display(url), "it ends in the middle of a page")
    with reading(engine) as session:
        # Alembic's own table alone is found in many databases.
        tables = {*session.scalars(text(_TABLES[session.get_bind().dialect.name]))}
        if not {"collection", "judgement", "alembic_version"} <= tables:
            return None
        revision = session.execute(text("SELECT version_num FROM alembic_version")).scalar()
        return None if revision is None else str(revision)


def stored_columns(session: Session) -> set[tuple[str, str]]:
    """Read which tables a database has, and which columns they have."""
    query = text(_COLUMNS[session.get_bind().dialect.name])
    return {(table, column) for table, column in session.execute(query)}


@contextmanager
def unreadable_as_damage(engine: Engine) -> Iterator[None]:
    """Raise `StoreError` where what a collection says of itself makes no sense."""
    try:
        yield
    except MISREAD as error:
        raise damaged(display(engine.url), "its name, scale or fields cannot be read") from error


def check_revision(engine: Engine) -> None:
    """Refuse a database whose schema is another, or that is no collection."""
    where, revision = display(engine.url), stored_revision(engine)
    if revision is None:
        raise _not_a_collection(where)
    if revision != SCHEMA_REVISION:
        raise other_schema(where, revision)


def other_schema(where: str, revision: str) -> SchemaError:
    """Word the refusal of a collection that another version wrote."""
    message = f"{where} has the schema {revision} of another version; this program has {SCHEMA_REVISION}"
    return SchemaError(message, hint="docs/upgrade.md says how to carry over what is in it")


@contextmanager
def driver_rows(connection: Connection, query: str) -> Iterator[Iterator[tuple[Any, ...]]]:
    """Yield the rows of a query without parameters as the driver has them, to be read within the block.

    SQLAlchemy's would cost as much as all the rest.
    """
    cursor: Any = connection.exec_driver_sql(query).cursor
    with driver_errors(connection, query), closing(cursor):
        yield cursor


_PREVENTED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL}


class Scrubbed(StrEnum):
    """What has happened to the bytes of removed rows.

    SQLite marks the place of a removed row as free and leaves its bytes there, and its log keeps pages as
    they were. PostgreSQL does alike; there, and in backups of either, it is for others to do.
    """

    DONE = "done"
    """The file has been written anew, without them, and its log is empty."""
    OPEN_ELSEWHERE = "open-elsewhere"
    """The file has been written anew; its old pages stay until the last program that has it open closes
    it."""
    NOT_REWRITTEN = "not-rewritten"
    """The rows are overwritten. Another program was writing, or there was no room for a second copy of the
    file: older copies of the rows may be in its free pages."""
    NOT_HERE = "not-here"
    """The database is a server's."""


def overwrite_removed(session: Session) -> None:
    """Let SQLite overwrite with zeros whatever this transaction removes."""
    connection = session.connection()
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete = ON")


def scrub(engine: Engine) -> Scrubbed:
    """Write the file of a collection anew without what was removed from it, and empty its log."""
    if engine.dialect.name != "sqlite":
        return Scrubbed.NOT_HERE
    with translated_errors(engine), closing(engine.raw_connection()) as raw:
        cursor = raw.cursor()
        cursor.execute("PRAGMA secure_delete = ON")
        try:
            cursor.execute("VACUUM")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _PREVENTED:
                raise
            return Scrubbed.NOT_REWRITTEN
        cursor.execute(f"PRAGMA busy_timeout = {SCREEN_PATIENCE_MS}")  # a reader may stay for hours
        is_busy = bool(cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0])
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    return Scrubbed.OPEN_ELSEWHERE if is_busy else Scrubbed.DONE
