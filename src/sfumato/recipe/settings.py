"""Settings from a recipe: known names, and for each a value of its kind, checked before anything is made of it.

Which files a recipe may name is among them: those in its own folder, and where its user says so. A recipe may come
from a stranger. What it names is read on the user's machine, so a path inside it leads, links followed, into the
recipe's folder or into one that the user allows, and to a regular file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from inspect import signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from sfumato.data.safe_files import is_regular
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import RecipeError, did_you_mean

MOST_NAMES = 10_000
"""How many attributes, labels and other entries one list or mapping of settings may have, trees apart."""
T = TypeVar("T")
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def build(kind: Callable[..., T], what: str, form: Any) -> T:
    """A settings object from a mapping; unknown names are refused with the nearest known one."""
    part = mapping(what, form)
    settings: Any = kind
    known(what, part, names_of(settings))
    needed = [p.name for p in signature(kind).parameters.values() if p.default is p.empty and p.name not in part]
    if needed:
        raise RecipeError(
            what,
            f"it needs {' and '.join(needed)}",
            given="nothing for it",
            remedy=f"write {needed[0]}: beside it (docs/recipes.md has an example)",
        )
    hints = get_type_hints(settings)
    for name, value in part.items():
        if not fits(value, hints[name]):
            raise RecipeError(
                f"{what}: {name}",
                f"it is {_said(hints[name])}",
                given=_given(value),
                remedy="docs/recipes.md tells every key",
            )
    return kind(**part)


def names_of(settings: Any) -> list[str]:
    """The names of its settings."""
    return [field.name for field in fields(settings)]


def known(what: str, form: Mapping[Any, Any], names: Iterable[str]) -> None:
    """Refuse names that are none of these."""
    listed = list(names)
    for name in form:
        if name not in listed:
            raise RecipeError(
                what, f"no setting is called {name!r}", given=repr(name), remedy=did_you_mean(str(name), listed)
            )


def mapping(what: str, form: Any) -> Mapping[str, Any]:
    """A mapping, of a size that people write."""
    if not isinstance(form, Mapping):
        raise RecipeError(
            what, "this is a mapping of names to settings", given=type(form).__name__, remedy="write {name: value, ...}"
        )
    _few(what, form)
    return form


def entries(what: str, form: Any, *, most: int) -> list[Any]:
    """A list with at most so many entries; nothing is an empty one."""
    if form is None:
        return []
    if not isinstance(form, list) or len(form) > most:
        given = f"{len(form):,} of them" if isinstance(form, list) else type(form).__name__
        raise RecipeError(what, f"this is a list with at most {most} entries", given=given, remedy="write [..., ...]")
    return form


def one(what: str, form: Mapping[str, Any], name: str, hint: Any) -> Any:
    """One value of a mapping, of this kind; None where it is not there."""
    value = form.get(name)
    if value is not None and not fits(value, hint):
        raise RecipeError(
            f"{what}: {name}" if what else name,
            f"it is {_said(hint)}",
            given=_given(value),
            remedy="docs/recipes.md tells every key",
        )
    return value


def _few(what: str, value: Any) -> None:
    if len(value) > MOST_NAMES:
        raise RecipeError(
            what,
            f"it has at most {MOST_NAMES:,} entries",
            given=f"{len(value):,}",
            remedy="a taxonomy goes into a file of its own",
        )


def fits(value: Any, hint: Any) -> bool:
    """Whether a plain value can stand where this type is declared; lists stand for tuples.

    >>> fits([1, 2], tuple[int, ...]), fits(True, int), fits("1e9", float | None), fits({"a": 1}, Mapping[str, float])
    (True, False, False, True)
    """
    kind = get_origin(hint)
    if kind in (Union, UnionType):
        return any(fits(value, part) for part in get_args(hint))
    if kind is Literal:
        return isinstance(value, str)  # which of them is told by who knows them
    if kind in (tuple, list, Sequence) or (isinstance(kind, type) and issubclass(kind, tuple)):
        return _fits_all(value, get_args(hint))
    if isinstance(kind, type) and issubclass(kind, Mapping):
        of = get_args(hint)[1]
        return isinstance(value, Mapping) and all(isinstance(n, str) and fits(v, of) for n, v in value.items())
    return _fits_one(value, hint)


def _fits_all(value: Any, parts: tuple[Any, ...]) -> bool:
    if isinstance(value, str):
        return parts[-1:] == (...,) and parts[0] in (str, Any)  # one text is a list of one
    if not isinstance(value, list | tuple) or len(value) > MOST_NAMES:
        return False
    if parts[-1:] == (...,) or len(parts) == 1:
        return all(fits(entry, parts[0]) for entry in value)
    return len(value) == len(parts) and all(map(fits, value, parts))


def _fits_one(value: Any, hint: Any) -> bool:
    if hint in (Any, object):
        return isinstance(value, str | int | float | bool | date | Taxonomy | NoneType)
    if hint in (int, float):
        return isinstance(value, int | float if hint is float else int) and not isinstance(value, bool)
    return isinstance(hint, type) and isinstance(value, hint)


def _said(hint: Any) -> str:
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    words = [_word(part) for part in parts if part is not NoneType]
    return " or ".join(dict.fromkeys(words))


def _word(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(str(word) for word in get_args(hint))
    if isinstance(get_origin(hint), type):
        if issubclass(get_origin(hint), Mapping):
            return "a mapping of names to values"
        return "a list of texts" if get_args(hint)[0] is str else "a list"
    return _WORDS.get(hint, "one plain value")


def _given(value: Any) -> str:
    return repr(value) if isinstance(value, str | int | float | bool) else type(value).__name__


EVERYWHERE = (Path("/"),)
"""For recipes that are our own: those in a holder's folder, and those that were read before."""
MOST_LONG = 4_000


@dataclass(frozen=True)
class Within:
    """Where a recipe's relative paths begin, and where else they may lead."""

    folder: Path
    allowed: tuple[Path, ...] = ()

    @classmethod
    def of(cls, folder: Path, allow: Iterable[str | Path] = ()) -> Within:
        """The folder of a recipe, with what its user allows besides."""
        return cls(folder, tuple(Path(path) for path in allow))

    def path(self, what: str, given: str) -> Path:
        """A path that the recipe names; refused where it leads elsewhere."""
        if not given or len(given) > MOST_LONG or any(ord(mark) < 32 for mark in given):
            raise RecipeError(
                what,
                "a path is a text in one line",
                given=f"one of {len(given)} characters",
                remedy="name a file in the recipe's folder",
            )
        named = self.folder / given
        try:
            target = named.resolve()
            inside = any(target.is_relative_to(root.resolve()) for root in (self.folder, *self.allowed))
        except (OSError, RuntimeError):  # links that lead to each other, names that are too long
            inside = False
        if not inside:
            raise RecipeError(
                what,
                "a recipe names files of its own folder, links followed",
                given=str(named),
                remedy=f"move it there; or, if you trust the recipe, {_remedy(what)}",
            )
        return named

    def file(self, what: str, given: str) -> Path:
        """A path of a file that is there: no folder, device or pipe."""
        found = self.path(what, given)
        if not is_regular(found):
            given = "something that is no regular file" if found.exists() else "no such file"
            raise RecipeError(
                what,
                "the file must exist",
                given=f"{found}: {given}",
                remedy="check the name; a relative one starts at the recipe's folder",
            )
        return found


def _remedy(what: str) -> str:
    table = "name the table yourself with --table FILE, or " if what == "table" else ""
    return f"{table}allow the folder with --allow FOLDER (in Python from_yaml(..., allow=[FOLDER]))"
