"""`sfumato studio`: the workbench in the browser."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.output import note, show
from sfumato.errors import SfumatoError

EXAMPLE = "sfumato studio people.csv"
NEEDED = ("starlette", "uvicorn", "jinja2", "python_multipart")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def studio(
    opened: Annotated[
        str | None,
        typer.Argument(metavar="[TABLE|RECIPE]", help="Begin with this table (or a database's address), or recipe."),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Where to listen; 0 for any free port.")] = 8765,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")] = True,
    folder: Annotated[Path | None, typer.Option("--folder", help="Where to work; usually beside your ledger.")] = None,
    host: Annotated[
        str, typer.Option("--host", help="Another address than this machine's own; needs --i-understand.")
    ] = "127.0.0.1",
    understood: Annotated[
        bool, typer.Option("--i-understand", help="Others on the network may try to reach raw data.")
    ] = False,
) -> None:
    """Open the workbench in the browser: look at a table, try settings, see what survives, release.

    It listens on this machine alone and opens with a token that it prints. What it keeps is in a folder that only you
    may read. Nothing is entered in your ledger before you say "release". Files of the folder in which it was started
    can be named as tables. It ends with Ctrl-C.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise SfumatoError(
            "studio",
            "it needs the extra `studio`",
            given=f"{', '.join(missing)} not installed",
            remedy="pip install 'sfumato[studio]'",
        )
    if host not in LOOPBACK:
        _warn_of(host, understood=understood)
    if opened is not None and "://" not in opened and not Path(opened).is_file():
        raise SfumatoError(opened, "it must be a table or a recipe", given="no such file", remedy="check the path")
    from sfumato.studio.serve import Settings, interruptible, serve
    from sfumato.studio.workspace import usual_folder

    place = folder or usual_folder()
    settings = Settings(folder=place, beside=Path.cwd(), host=host, port=port, browser=browser, opened=opened)

    def tell(address: str) -> None:
        show(f"The studio is open: {address}")
        note(f"It works in {place}, which only you may read. Ctrl-C ends it.")

    interruptible()
    serve(settings, tell)


def _warn_of(host: str, *, understood: bool) -> None:
    if not understood:
        raise SfumatoError(
            f"--host {host}",
            "the studio shows raw data, and others could reach it there; what goes over the network is not encrypted",
            given="no --i-understand",
            remedy="leave --host out and use an SSH tunnel; or add --i-understand on a network that you trust",
        )
    note(f"WARNING: whoever reaches {host} and has the token sees raw data; nothing is encrypted.", style="bold red")
