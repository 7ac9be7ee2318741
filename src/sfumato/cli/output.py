"""What the commands say and write: results on standard output, everything about the run on standard error.

`Allow` is an option that several commands have.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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


def show(result: RenderableType) -> None:
    """A result, on standard output; a text is shown as it is, without markup."""
    console().print(result)


def echo(text: str) -> None:
    """A text that may go on into a file: as it is there, with hidden characters written out on a terminal."""
    typer.echo(visible_lines(text) if sys.stdout.isatty() else text, nl=False)


def note(message: str, *, style: str = "dim") -> None:
    """A remark about the run, on standard error."""
    console(stderr=True).print(message, style=style)


@contextmanager
def noting_warnings() -> Iterator[None]:
    """What the library warns of becomes a note."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        yield
    for message in dict.fromkeys(str(one.message) for one in told if issubclass(one.category, UserWarning)):
        note(message, style="yellow")


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
