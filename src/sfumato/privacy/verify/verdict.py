"""What verify answers: one line for each check, and whether all of them hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sfumato.display import Card, Grid
from sfumato.events import checkpoint
from sfumato.privacy.verify.letters import visible


class CheckError(Exception):
    """A check fails; the text says why, without a cell's value and without a count below k."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at, whether it is as it should be, and what was seen; `idle`: nothing of the kind is
    there."""

    name: str
    holds: bool
    detail: str
    idle: bool = False

    @property
    def state(self) -> str:
        """In a word: what nobody signed does not fail for it, and is not in order, either."""
        return "FAIL" if not self.holds else "-" if self.detail.startswith(UNSIGNED) or self.idle else "ok"


class Idle(str):
    """What a check answers that found nothing of its kind to look at."""

    __slots__ = ()


UNSIGNED = "not signed"


@dataclass(frozen=True)
class Looked:
    """A file of the release, and how it was checked."""

    name: str
    how: str


WIDEST = 24  # characters of a name that still stands in a column with the others
LONGEST_TITLE, LONGEST_DETAIL = 300, 2000
IDLE = "Not needed for this release"


@dataclass(frozen=True)
class Verdict:
    """Whether a release is what its certificate says, check by check; and how each file was checked.

    It is true where it holds.

    >>> print(verdict_of([Check("rows", True, "45222"), Check("columns", False, "'name' should be gone")]))
    DOES NOT HOLD: 1 of 2 checks fail
      ok    rows     45222
      FAIL  columns  'name' should be gone
    """

    holds: bool
    checks: tuple[Check, ...]
    files: tuple[Looked, ...] = ()

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that fail."""
        return tuple(check for check in self.checks if not check.holds)

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        failed = [Grid(("fails", "why"), [[check.name, check.detail] for check in self.failed])] if self.failed else []
        return Card(self._head, () if self.failed else ["print it to see every check"], failed).text()

    def _repr_html_(self) -> str:
        checks = [[check.state, check.name, check.detail] for check in self.checks if not check.idle]
        checks += [[" ", IDLE, ", ".join(idle)]] if (idle := [one.name for one in self.checks if one.idle]) else []
        files = [[one.name, one.how] for one in self.files]
        grids = [Grid(("", "check", "what was seen"), checks)]
        grids += [Grid(("file", "how it was checked"), files)] if files else []
        return Card(self._head, grids=grids, state="good" if self.holds else "poor").html()

    @property
    def _head(self) -> str:
        tally = f"{len(self.failed)} of {len(self.checks)} checks fail"
        return f"Verdict: holds, all {len(self.checks)} checks" if self.holds else f"Verdict: does not hold, {tally}"

    def __str__(self) -> str:
        seen = [check for check in self.checks if not check.idle]
        names = [visible(check.name, most=LONGEST_TITLE) for check in seen]
        width = max((len(name) for name in names if len(name) <= WIDEST), default=0)
        lines = [
            f"  {check.state:4}  {_padded(name, width)}{visible(check.detail, most=LONGEST_DETAIL)}"
            for name, check in zip(names, seen, strict=True)
        ]
        idle = [check.name for check in self.checks if check.idle]
        lines += [f"{IDLE}: {_names(idle)}"] if idle else []
        head = f"HOLDS: all {len(self.checks)} checks" if self.holds else "DOES NOT HOLD"
        tally = "" if self.holds else f": {len(self.failed)} of {len(self.checks)} checks fail"
        return "\n".join([head + tally, *lines, *_files(self.files)])


def _padded(name: str, width: int) -> str:
    """A name in a column; a longer one has a line of its own."""
    return f"{name:{width}}  " if len(name) <= width else f"{name}\n{' ' * (width + 10)}"


def _files(files: Iterable[Looked]) -> list[str]:
    """How each file was checked, those of one kind in a line."""
    kinds: dict[str, list[str]] = {}
    for one in files:
        kinds.setdefault(one.how, []).append(one.name)
    return (
        ["How each file was checked", *(f"  {how}: {_names(names)}" for how, names in kinds.items())] if kinds else []
    )


def _names(names: Iterable[str]) -> str:
    return visible(", ".join(names), most=LONGEST_DETAIL)


def verdict_of(checks: Iterable[Check], files: Iterable[Looked] = ()) -> Verdict:
    """It holds where there are checks and every one of them holds."""
    found = tuple(checks)
    return Verdict(bool(found) and all(check.holds for check in found), found, tuple(files))


def run(name: str, ask: Callable[[], str]) -> Check:
    """Ask one question. Whatever goes wrong is a check that fails, never a traceback.

    Messages of other libraries may quote cells, so only the kind of an unforeseen error is told.
    """
    from polars.exceptions import PanicException

    checkpoint()
    try:
        seen = ask()
        return Check(name, True, str(seen), idle=isinstance(seen, Idle))
    except CheckError as error:
        return Check(name, False, str(error))
    except (Exception, PanicException) as error:
        return Check(name, False, f"cannot be checked: {type(error).__name__}")
