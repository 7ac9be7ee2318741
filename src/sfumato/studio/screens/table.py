"""Screen 1, the table: which one, and a first look at it."""

from __future__ import annotations

from pathlib import Path

from sfumato.data.datasets import names
from sfumato.data.safe_files import is_regular
from sfumato.data.sources.sql.address import SCHEMES, located, parse
from sfumato.errors import TableError
from sfumato.recipe.yaml_form import BUNDLED
from sfumato.studio.desk import Context, Desk, Fields, Screen
from sfumato.studio.uploads import SUFFIXES

HOW = "write for example sqlite:///people.db?table=people"
FIRST = (0, 5, 20)
"""How many rows can be asked for."""


def context(desk: Desk) -> Context:
    """The table, if there is one, and where another could come from."""
    wanted = desk.query.get("rows", "0")
    return {
        "look": desk.look(),
        "job": desk.job("look"),
        "facts": desk.work.facts,
        "examples": [name for name in names() if name != "adult_heterogeneous"],
        "beside": files_beside(desk),
        "beside_folder": str(desk.space.beside),
        "first": FIRST,
        "wanted": int(wanted) if wanted in map(str, FIRST) else 0,
    }


def files_beside(desk: Desk, most: int = 200) -> list[str]:
    """Tables in the folder in which the studio was started."""
    try:
        found = sorted(path.name for path in desk.space.beside.iterdir() if path.suffix.lower() in SUFFIXES)
    except OSError:
        return []
    return found[:most]


def begin(desk: Desk, table: str, called: str, encoding: str = "") -> None:
    """Look at a table; a recipe that was drafted for another one goes."""
    desk.jobs.cancel_all(desk.work)
    desk.work.recipe_path.unlink(missing_ok=True)
    desk.work.note(table=table, called=called, name=called, chosen=None)
    desk.start("look", table=table, encoding=encoding or None)


def example(desk: Desk, fields: Fields) -> None:
    """A bundled table."""
    name = fields["example"]
    if name not in names():
        raise TableError("example", "it is one of the bundled tables", given="another", remedy="choose one")
    begin(desk, BUNDLED + name, name)


def beside(desk: Desk, fields: Fields) -> None:
    """A file in the folder in which the studio was started, or below it."""
    begin(desk, str(inside(desk, fields["path"])), Path(fields["path"]).name, fields["encoding"])


def address(desk: Desk, fields: Fields) -> None:
    """A table in a database. A password is no part of an address: it is refused, and shown and kept nowhere."""
    given = fields["address"].strip()
    if given.partition("://")[0] not in SCHEMES:
        raise TableError(
            "address", f"it begins with one of {', '.join(f'{one}://' for one in SCHEMES)}", given="another", remedy=HOW
        )
    found = parse(given)
    if found.table is None:
        raise TableError("address", "it names a table", given="none", remedy=HOW)
    begin(desk, located(given, lambda part, path: str(inside(desk, path, ()))), found.called)


def inside(desk: Desk, given: str, suffixes: tuple[str, ...] = SUFFIXES) -> Path:
    """The file that a path names, links followed; refused where it lies elsewhere, or ends with another suffix."""
    rule = "a table beside the server lies in the folder in which it was started, or below it"
    try:
        found = (desk.space.beside / given).resolve()
        allowed = bool(given.strip()) and "\0" not in given and found.is_relative_to(desk.space.beside)
        fits = allowed and is_regular(found) and (not suffixes or found.suffix.lower() in suffixes)
    except (OSError, ValueError, RuntimeError):
        fits = False
    if not fits or found.is_relative_to(desk.space.root):
        raise TableError("path", rule, given="another, or no table", remedy="start the studio where the table is")
    return found


def encoding(desk: Desk, fields: Fields) -> None:
    """Read the same table again in another encoding."""
    facts = desk.work.facts
    begin(desk, str(facts["table"]), str(facts["called"]), fields["encoding"])


SCREEN = Screen(
    "table",
    "Table",
    "Which table of people is to be published?",
    context,
    {"example": example, "beside": beside, "address": address, "encoding": encoding},
    needs_table=False,
)
