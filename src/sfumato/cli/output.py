"""What the commands say and write: results on standard output, everything about the run on standard error."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.errors import SfumatoError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


def _console(*, stderr: bool = False) -> Console:
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=True)


def show(result: RenderableType) -> None:
    """A result, on standard output; a text is shown as it is, without markup."""
    _console().print(result)


def note(message: str, *, style: str = "dim") -> None:
    """A remark about the run, on standard error."""
    from rich.console import Console

    Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True).print(message, style=style)


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
    _console(stderr=True).print(message)


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
    from sfumato.data.private_files import write_private

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
