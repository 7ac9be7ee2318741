"""Options that every command has: --quiet, and --json for those that print figures.

A command shows its results with `output.show` and hands its figures to `output.figures`, whatever was asked; with
--json what is shown is left out and the figures are printed, and without it the other way round.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, get_args

import typer

from sfumato.cli.output import asking

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No remarks about the run; results, warnings and errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the figures as JSON, and nothing else (docs/json.md).")]


def _take_no_value(kind: Any) -> None:
    """An option that is there or not takes no value: the help names no type for it."""
    taken, *told = get_args(kind) or (kind,)
    for option in told if bool in (taken, *get_args(taken)) else ():
        option.metavar = option.metavar or ""


def quietly(command: Callable[..., None]) -> Callable[..., None]:
    """A command of a group, with --quiet."""
    return with_options(command, json=False)


def with_options(command: Callable[..., None], *, json: bool) -> Callable[..., None]:
    """The command with the options that all have."""
    added = {"quiet": Quiet, **({"json": Json} if json else {})}

    @wraps(command)
    def asked(**given: Any) -> None:
        wanted = {name: bool(given.pop(name)) for name in added}
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
