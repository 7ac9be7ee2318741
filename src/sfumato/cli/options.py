"""Options that every command has: --quiet, and --json for those that print figures.

A command shows its results with `output.show` and hands its figures to `output.figures`, whatever was asked; with
--json what is shown is left out and the figures are printed, and without it the other way round.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from sfumato.cli.output import asking
from sfumato.errors import SfumatoError

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No remarks about the run; results, warnings and errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the figures as JSON, and nothing else (docs/json.md).")]


def _take_no_value(kind: Any) -> None:
    """An option that is there or not takes no value: the help names no type for it."""
    taken, *told = get_args(kind) or (kind,)
    for option in told if bool in (taken, *get_args(taken)) else ():
        option.metavar = option.metavar or ""


def _refuse_addresses(given: dict[str, Any]) -> None:
    """An address where a path belongs, which has lost a stroke by then; it is not shown, for it may hold a password."""
    if not any(isinstance(value, Path) and (value.parts or "-")[0].endswith(":") for value in given.values()):
        return  # what can be opened is not loaded before it is asked for
    from sfumato.data.sources.openers import ADDRESSES

    for name, value in given.items():
        if not isinstance(value, Path) or value.parts[:1] not in [(f"{scheme}:",) for scheme in ADDRESSES]:
            continue
        swapped = any(isinstance(other, str) and Path(other).is_dir() for other in given.values())
        raise SfumatoError(
            name.upper(),
            "this is the path of a file or folder here",
            given="the address of a database",
            remedy="name the two the other way round"
            if swapped
            else "name a path; --help says where an address belongs",
        )


def quietly(command: Callable[..., None]) -> Callable[..., None]:
    """A command of a group, with --quiet."""
    return with_options(command, json=False)


def with_options(command: Callable[..., None], *, json: bool) -> Callable[..., None]:
    """The command with the options that all have."""
    added = {"quiet": Quiet, **({"json": Json} if json else {})}

    @wraps(command)
    def asked(**given: Any) -> None:
        wanted = {name: bool(given.pop(name)) for name in added}
        _refuse_addresses(given)
        with asking(**wanted):
            command(**given)

    own = signature(command, eval_str=True).parameters.values()
    for kind in [*added.values(), *(one.annotation for one in own)]:
        _take_no_value(kind)
    more = [Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=kind) for name, kind in added.items()]
    whole = signature(command).replace(parameters=[*own, *more])
    setattr(asked, "__signature__", whole)  # noqa: B010 - typer reads what a command takes from there
    asked.__annotations__ = {one.name: one.annotation for one in whole.parameters.values()}
    return asked
