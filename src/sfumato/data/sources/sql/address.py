"""Addresses of databases: `postgresql://user@host/name?table=people`, `duckdb:///path?table=`, `sqlite:///path?table=`.

An address holds no password. PostgreSQL's own ways to find one work (PGPASSWORD, ~/.pgpass), or the address names an
environment variable or a file that holds it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from sfumato.data.safe_files import read_text
from sfumato.errors import TableError, warn

SCHEMES = ("postgresql", "duckdb", "sqlite")
ALSO = {"postgres": "postgresql"}
"""Other names of schemes."""
OURS = ("table", "password_env", "password_file")
"""What an address says to us; everything else is for PostgreSQL."""
SECRETS = ("password", "sslpassword")
LIBPQ = ("host", "port", "user", "dbname", "sslmode", "sslrootcert", "connect_timeout", "application_name", "passfile")
VARIABLE = r"(PG|SFUMATO_)[A-Z0-9_]+"
LONGEST_PASSWORD = 4096


@dataclass(frozen=True)
class Address:
    """Where a database is, and which of its tables is meant: `schema.table`, or a table alone."""

    scheme: str
    where: str
    table: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    variable: str | None = None
    file: str | None = field(default=None, repr=False)

    @property
    def path(self) -> Path:
        """The file of a database that is one."""
        return Path(self.where)

    @property
    def called(self) -> str:
        """What it is called in messages."""
        kind = {"postgresql": "PostgreSQL", "duckdb": "DuckDB", "sqlite": "SQLite"}[self.scheme]
        return kind if self.table is None else f"{kind}, table {self.table}"

    @property
    def server(self) -> str:
        """Who asks at which server for which database, as far as it is said: user@host:port/database, no password.

        >>> parse("postgresql://holder@db.example.org/census?port=5433&table=people").server
        'holder@db.example.org:5433/census'
        """
        place, _, name = self.where.partition("/")
        user, _, host = place.rpartition("@")
        host, _, port = host.rpartition(":") if re.search(r":\d+$", host) else (host, "", "")
        said = dict(self.options)

        def first(option: str, found: str, variable: str) -> str:
            return said.get(option) or unquote(found) or os.environ.get(variable, "")

        parts = (
            (first("user", user, "PGUSER"), "{}@"),
            (first("host", host, "PGHOST"), "{}"),
            (first("port", port, "PGPORT"), ":{}"),
            (first("dbname", name, "PGDATABASE"), "/{}"),
        )
        return "".join(form.format(part) for part, form in parts if part)

    @property
    def password_from(self) -> str | None:
        """Where it says that its password is; None where it says nothing."""
        if self.file is not None:
            return f"the password_file {self.file}"
        return None if self.variable is None else f"the variable {self.variable}"

    def libpq(self) -> str:
        """The address as PostgreSQL's own library takes it, with the password if one was named. Never shown."""
        options = dict(self.options)
        secret = self._password()
        if secret is not None:
            options["password"] = secret
        return f"postgresql://{self.where}" + (f"?{urlencode(options, quote_via=quote)}" if options else "")

    def _password(self) -> str | None:
        if self.variable is not None:
            found = os.environ.get(self.variable)
            if found is None:
                raise TableError(
                    self.called,
                    "the environment variable that holds the password must be set",
                    given=f"{self.variable}, which is not",
                    remedy=f"set {self.variable}",
                )
            return found
        if self.file is None:
            return None
        if os.name == "posix" and Path(self.file).exists() and Path(self.file).stat().st_mode & 0o077:
            warn("others than its owner can read the password_file: chmod 600 keeps it to you")
        text = read_text(Path(self.file), what="password_file", most=LONGEST_PASSWORD, kind=TableError)
        return text.rstrip("\r\n")


def parse(address: str) -> Address:
    """An address in parts. What is wrong with it is told without showing it, for it may hold a password.

    >>> parse("sqlite:///data/people.db?table=people").called
    'SQLite, table people'
    """
    try:
        found = _split(address)
        options = parse_qsl(found.query, keep_blank_values=True, strict_parsing=bool(found.query))
        password = found.password
    except ValueError:
        raise _malformed("something else") from None
    if found.scheme not in SCHEMES:
        raise _malformed("something else", f"begin it with {', '.join(f'{one}://' for one in SCHEMES)}")
    if password is not None or any(name in SECRETS for name, _ in options):
        raise _malformed("an address with a password in it", "leave it out, and set PGPASSWORD or name password_env=")
    if found.fragment or len({name for name, _ in options}) < len(options):
        raise _malformed("an address with a # or with an option twice", "write %23 for #, and each option once")
    ours = {name: text for name, text in options if name in OURS}
    rest = tuple((name, text) for name, text in options if name not in OURS)
    _check(found.scheme, ours, rest)
    where = found.netloc + found.path if found.scheme == "postgresql" else _path(found.netloc, found.path)
    return Address(found.scheme, where, ours.get("table"), rest, ours.get("password_env"), ours.get("password_file"))


def located(address: str, place: Callable[[str, str], str]) -> str:
    """The same address with the files that it names where `place` says, which is given what each is and its path."""
    found = _split(address)
    if found.scheme not in SCHEMES:
        return address
    parts = parse(address)
    if parts.file is not None:
        options = [
            (name, place(name, text) if name == "password_file" else text) for name, text in parse_qsl(found.query)
        ]
        found = found._replace(query=urlencode(options, quote_via=quote))
    if parts.scheme != "postgresql":
        found = found._replace(path="/" + quote(place("table", parts.where)))
    return f"{found.scheme}://{found.netloc}{found.path}" + (f"?{found.query}" if found.query else "")


def _split(address: str) -> SplitResult:
    found = urlsplit(address)
    return found._replace(scheme=ALSO.get(found.scheme, found.scheme))


def _path(netloc: str, path: str) -> str:
    """`sqlite:///people.db` is a path from here, `sqlite:////data/people.db` one from the root."""
    if netloc or len(path) < 2:
        raise _malformed("a host before the path, or no path", "write three strokes and the path: sqlite:///people.db")
    return unquote(path[1:])


def _check(scheme: str, ours: dict[str, str], rest: tuple[tuple[str, str], ...]) -> None:
    allowed = LIBPQ if scheme == "postgresql" else ()
    for name, _ in rest:
        if name not in allowed:
            known = ", ".join(("table", *(("password_env", "password_file", *LIBPQ) if allowed else ())))
            raise _malformed("an option that is not known", f"use only {known}")
    if scheme != "postgresql" and set(ours) - {"table"}:
        raise _malformed("a password for a file", "leave it out")
    if not re.fullmatch(VARIABLE, ours.get("password_env", "PGPASSWORD")):
        raise _malformed(
            "a password_env with another name", "name a variable that begins with PG or SFUMATO_, in capital letters"
        )
    if ours.get("table") == "":
        raise _malformed("an empty table", "name the table")


def _malformed(given: str, remedy: str = "write it as docs/databases.md shows") -> TableError:
    rule = "a database's address is scheme://where?table=NAME, without a password"
    return TableError("address", rule, given=given, remedy=remedy)
