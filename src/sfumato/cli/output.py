"""What the commands say and write: results on standard output, everything about the run on standard error.

With --json figures are printed instead of what is shown for people; with --quiet remarks about the run are left out.
`Allow` is an option that several commands have.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.errors import SfumatoError, hides, visible

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.segment import Segment

Allow = Annotated[
    list[Path] | None,
    typer.Option("--allow", metavar="FOLDER", help="The recipe may name files there, not only beside itself."),
]


def console(*, stderr: bool = False) -> Console:
    """Where everything is shown: no markup in texts, and no character that steers the terminal but our own styles."""
    from rich.console import Console, ConsoleOptions

    class Shown(Console):
        """Writes hidden characters out, whatever they came in with: a text, a cell of a table, a label of a tree."""

        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
            """Parts of a line; the ends of lines are rich's own."""
            for part in super().render(renderable, options):
                yield part if part.control or not hides(part.text.rstrip("\n")) else _written_out(part)

    return Shown(stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=True)


def _written_out(part: Segment) -> Segment:
    from rich.segment import Segment

    return Segment(visible_lines(part.text), part.style)


def visible_lines(text: str) -> str:
    """A text of several lines with hidden characters written out, but for the ends of its lines."""
    return "\n".join(visible(line) for line in text.split("\n"))


@dataclass(frozen=True)
class Asked:
    """How a command was asked to speak."""

    json: bool = False
    quiet: bool = False


_USUAL = Asked()
_ASKED: ContextVar[Asked] = ContextVar("sfumato_asked", default=_USUAL)
FORM = 1
"""The version of what --json prints: docs/json.md, and a schema for each command."""


@contextmanager
def asking(*, json: bool = False, quiet: bool = False) -> Iterator[None]:
    """Within this, commands speak as they were asked to."""
    token = _ASKED.set(Asked(json, quiet))
    try:
        yield
    finally:
        _ASKED.reset(token)


def is_quiet() -> bool:
    """Whether remarks about the run are left out."""
    return _ASKED.get().quiet


def show(result: RenderableType) -> None:
    """A result, on standard output; a text is shown as it is, without markup. With --json it is left out."""
    if not _ASKED.get().json:
        console().print(result)


def figures(command: str, told: Mapping[str, Any]) -> None:
    """The figures of a command, printed with --json: ASCII, so that nothing in them steers a terminal."""
    if _ASKED.get().json:
        from json import dumps

        typer.echo(dumps({"format": FORM, "command": command, **told}, indent=1, ensure_ascii=True, default=str))


def echo(text: str) -> None:
    """A text that may go on into a file: as it is there, with hidden characters written out on a terminal."""
    if _ASKED.get().json:
        return
    typer.echo(visible_lines(text) if sys.stdout.isatty() else text, nl=False)


def note(message: str, *, style: str = "dim") -> None:
    """A remark about the run, on standard error; with --quiet only what is no mere remark."""
    if is_quiet() and style == "dim":
        return
    console(stderr=True).print(message, style=style)


@contextmanager
def noting_warnings() -> Iterator[list[str]]:
    """What the library warns of becomes a note; given is a list that holds all of it at the end."""
    found: list[str] = []
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        yield found
    found += dict.fromkeys(str(one.message) for one in told if issubclass(one.category, UserWarning))
    for message in found:
        note(f"warning: {message}", style="yellow")


def show_error(error: SfumatoError) -> None:
    """One message on standard error: the thing and the rule, what was given, what to do."""
    from rich.text import Text

    message = Text.assemble(("error: ", "bold red"), (f"{error.thing}: {error.rule}", "red"))
    if error.given:
        message.append(f"\n  given: {error.given}")
    if error.remedy:
        message.append(f"\n  to mend it: {error.remedy}")
    console(stderr=True).print(message)


def refuse_overwrite(path: Path, *, force: bool) -> None:
    """Stop before any work when the file is there already and nobody said --force."""
    if path.exists() and not force:
        raise SfumatoError(
            str(path),
            "an existing file is not overwritten",
            given="no --force",
            remedy="add --force or name another file",
        )


def check_places(folders: Sequence[Path]) -> None:
    """Stop before any work where a release could not be written, or not be entered in the ledger."""
    from sfumato.privacy.ledger import Ledger
    from sfumato.release.output import check_output

    for folder in folders:
        check_output(folder)
    Ledger().check()


def save(text: str, path: Path, *, force: bool, private: bool = False) -> None:
    """Write a text file, with a note where it went; a private one is for its owner alone to read."""
    from sfumato.data.safe_files import write_private

    refuse_overwrite(path, force=force)
    try:
        if private:
            write_private(path, text)
        else:
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SfumatoError(
            str(path),
            "the file cannot be written",
            given=error.strerror or type(error).__name__,
            remedy="name a file in a folder that exists and is yours",
        ) from error
    note(f"wrote {path}")
