"""Calls that do not fit, told in words: a misspelt name, an argument too many or too few, one of another kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, TypeVar

from sfumato.errors import SfumatoError, did_you_mean
from sfumato.forks import refuse_lost_threads

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


ANOTHER = "write dataclasses.replace(it, {name}=...), which gives another one"
"""How a value with another setting is made, where its class does not say it in `_another`."""
CHANCE = ("chance=sf.Seeded(1)", "run=sf.Run(chance=sf.Seeded(1))")
ELSEWHERE = {
    "n_clusters": ("k",),
    "columns": ("on",),
    "attributes": ("on",),
    "eps": ("epsilon",),
    "random_state": ("seed", *CHANCE),
    "seed": CHANCE,
}
"""What other libraries call an argument, and its name here, or how it is written."""


class CallError(SfumatoError, TypeError):
    """A call whose arguments do not fit; a `TypeError`, as in every Python program."""


class FixedError(SfumatoError, FrozenInstanceError):
    """A setting of a value that stays as it was made; an `AttributeError`, as in every Python program."""


def constructed(kind: type[T]) -> type[T]:
    """A class whose constructor tells in words what does not fit, and whose values tell how another one is made.

    >>> @constructed
    ... class Ring:
    ...     def __init__(self, size: int, colour: str = "red") -> None: ...
    >>> Ring(3, color="blue")
    Traceback (most recent call last):
        ...
    sfumato.calls.CallError: Ring: it takes size and colour. Given: 'color'. To mend it: did you mean 'colour'?
    """
    made: Any = kind
    made.__init__ = _checked(made.__init__, kind.__name__, skip=1)
    if is_dataclass(kind) and made.__dataclass_params__.frozen:
        made.__setattr__ = made.__delattr__ = _stays
    return kind


def _stays(value: Any, name: str, given: object = None) -> None:
    """What is called for `value.name = given`, and for `del value.name`."""
    kind, names = type(value).__name__, [one.name for one in fields(value)]
    if name not in names:
        raise FixedError(kind, f"it has {_listed(names)}", given=repr(name), remedy=did_you_mean(name, names))
    remedy = str(getattr(value, "_another", ANOTHER)).format(name=name)
    raise FixedError(kind, "it stays as it was made", given=f"a new {name}", remedy=remedy)


def called(function: F) -> F:
    """A function that tells in words what does not fit, and does not begin where it could never end."""
    made: Any = _checked(function, function.__name__, skip=0, first=refuse_lost_threads)
    return made  # type: ignore[no-any-return]


def _checked(
    function: Callable[..., Any], name: str, *, skip: int, first: Callable[[], None] = lambda: None
) -> Callable[..., Any]:
    """`first` is done before each call that fits."""
    known = signature(function)

    @wraps(function)
    def checked(*given: Any, **named: Any) -> Any:
        try:
            known.bind(*given, **named)
        except TypeError:
            raise _told(name, known, given[skip:], named, skip) from None
        first()
        return function(*given, **named)

    return checked


def _told(name: str, known: Signature, given: tuple[Any, ...], named: Mapping[str, Any], skip: int) -> CallError:
    taken = list(known.parameters.values())[skip:]
    names = [one.name for one in taken]
    rule = f"it takes {_listed(names)}"
    strange = next((one for one in named if one not in names), None)
    if strange is not None:
        ours = next((one for one in ELSEWHERE.get(strange, ()) if one.partition("=")[0] in names), "")
        here = f"write {ours}" if "=" in ours else f"here it is called {ours}"
        return CallError(name, rule, given=repr(strange), remedy=here if ours else did_you_mean(strange, names))
    placed = [one.name for one in taken if one.kind is not Parameter.KEYWORD_ONLY]
    if len(given) > len(placed):
        some = f", of which {_listed(placed)} may go without their names" if placed else ", each by its name"
        kinds = _listed([type(one).__name__ for one in given])
        return CallError(name, rule + some, given=f"{kinds} in a row", remedy=f"write {name}({_example(taken)})")
    twice = next((one for one in placed[: len(given)] if one in named), None)
    if twice is not None:
        at = placed.index(twice)
        where = f"{_article(type(given[at]).__name__)} in place {at + 1}, which is {twice}, and {twice} by its name"
        return CallError(name, rule, given=where, remedy=f"write each by its name: {name}({_example(taken)})")
    needed = [one.name for one in taken if one.default is Parameter.empty and one.name not in named]
    lacking = [one for one in needed if one not in placed[: len(given)]]
    return CallError(name, rule, given=f"nothing for {_listed(lacking)}", remedy=f"write {name}({_example(taken)})")


def _example(taken: list[Parameter]) -> str:
    """What a call looks like: what is needed, or else the first."""
    needed = [one.name for one in taken if one.default is Parameter.empty] or [one.name for one in taken[:1]]
    return ", ".join(f"{name}=..." for name in needed)


def _listed(names: list[str]) -> str:
    """Names in a sentence.

    >>> _listed(["on", "k"]), _listed([])
    ('on and k', 'nothing')
    """
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), *names[-1:]]) or "nothing"


def expected(name: str, given: object, kinds: type | tuple[type, ...], *, remedy: str, rule: str) -> None:
    """Refuse an argument of another kind; a class where one of its objects is meant is told as such."""
    if not isinstance(given, kinds):
        what = f"the class {given.__name__}" if isinstance(given, type) else f"{_article(type(given).__name__)}"
        raise CallError(name, rule, given=what, remedy=remedy)


def _article(word: str) -> str:
    return f"{'an' if word[:1].lower() in 'aeiou' else 'a'} {word}"
