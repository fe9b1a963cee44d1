"""Who has which role in a collection on a server, and what a client needs to connect."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pooler.results.result import Result, frozen
from pooler.results.source import opened_collection
from pooler.results.table import JUDGE, Column, Table

if TYPE_CHECKING:
    from store.collection import Collection
    from store.roles.grants import Address, Granted


def grants(collection: str | Path | Collection) -> GrantsResult:
    """List who has which role in a collection on a PostgreSQL server.

    Parameters
    ----------
    collection : str, Path or Collection
        Its URL, or the open collection.

    Returns
    -------
    GrantsResult
        Table `grants`: a login a row, by name; empty where the collection has no roles.

    Raises
    ------
    StoreError
        If it is a file, which has no roles, or the login may not see all of the collection.

    Notes
    -----
    Whoever owns the database, and superusers, are not listed: they are above every role. Cost: one look at
    the server's catalogue.

    Examples
    --------
    >>> for one in grants("postgresql:///?service=wine").granted:  # doctest: +SKIP
    ...     print(one.login, one.role, one.judge)
    alice judge alice
    """
    with opened_collection(collection) as opened:
        return GrantsResult(
            granted=tuple(opened.roles.all()), settings=frozen(collection=opened.name), where=opened.where
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class GrantsResult(Result):
    """Who has which role; table `grants`."""

    granted: tuple[Granted, ...]
    where: str
    """The URL without its password."""

    NAMES: ClassVar[tuple[str, ...]] = ("grants",)

    def _table(self, name: str) -> Table:
        columns = {
            Column("login"): [one.login for one in self.granted],
            Column("role"): [one.role.value for one in self.granted],
            JUDGE: [one.judge for one in self.granted],
            Column("disabled", "bool"): [one.is_disabled for one in self.granted],
            Column("may_log_in", "bool"): [one.may_log_in for one in self.granted],
            Column("connections", "int"): [one.connections for one in self.granted],
        }
        notes = () if self.granted else ("nobody has a role: everything is its owner's",)
        return Table.of_columns(name, columns, title=f"grants ({self.where})", notes=notes)


def client_files(address: Address, login: str, password: str | None) -> str:
    """Write what a login's own machine needs: a service, its password, and the collection's name."""
    service = "".join(sign if sign.isalnum() or sign in "_-" else "_" for sign in address.database)
    lines = [
        "# into ~/.pg_service.conf",
        f"[{service}]",
        f"host={address.host}",
        f"port={address.port}",
        f"dbname={address.database}",
        f"user={login}",
    ]
    if address.schema != "public":
        lines.append(f"options=-csearch_path={address.schema}")
    if address.needs_tls:
        lines += [
            "sslmode=verify-full",
            "# needs libpq 16; before, the file of the authority that signed the server's certificate",
            "sslrootcert=system",
            "channel_binding=require",
        ]
    if password is not None:
        secret = [address.host, address.port, address.database, login, password]
        escaped = (part.replace("\\", "\\\\").replace(":", "\\:") for part in secret)
        lines += ["", "# into ~/.pgpass, which nobody else may read: chmod 600 ~/.pgpass", ":".join(escaped)]
    lines += ["", "# then", f"export POOLER_COLLECTION='postgresql:///?service={service}'"]
    return "\n".join(lines)
