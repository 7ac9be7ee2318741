"""The server: on this machine alone unless somebody says otherwise, opened with a token that it prints."""

from __future__ import annotations

import gc
import secrets
import signal
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.errors import SfumatoError

if TYPE_CHECKING:
    from sfumato.studio.app import Studio

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MOST_UPLOAD = 2 << 30
USUAL_PORT = 8765
RECIPES = (".yaml", ".yml")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Where to listen and to work. `opened`: a table or a recipe to begin with, by its path or its address."""

    folder: Path
    beside: Path
    host: str = "127.0.0.1"
    port: int = USUAL_PORT
    browser: bool = True
    opened: str | Path | None = None
    most_upload: int = MOST_UPLOAD


def serve(settings: Settings, tell: Callable[[str], None]) -> None:
    """Serve until it is interrupted. Every job ends with it; what was done stays in the folder."""
    import uvicorn

    from sfumato.studio.app import Studio
    from sfumato.studio.guard import Doorkeeper, Guard
    from sfumato.studio.jobs import Jobs
    from sfumato.studio.workspace import Workspace

    space, jobs = Workspace.opened(settings.folder, settings.beside), Jobs()
    jobs.mend(space.works())
    listening = _listen(settings)
    port = int(listening.getsockname()[1])
    token = secrets.token_urlsafe(32)
    keeper = Doorkeeper(token, _hosts(settings.host, port), settings.most_upload)
    studio = Studio(space, jobs)
    if settings.opened is not None:
        begin(studio, settings.opened)  # what is wrong with it is said here, and the first page shows it
    threading.Thread(target=_prepare, daemon=True).start()
    shown = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host
    address = f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/enter?token={token}"
    tell(address)
    if settings.browser:
        _open(address)
    config = uvicorn.Config(
        Guard(studio.app(), keeper), log_level="critical", access_log=False, server_header=False, timeout_keep_alive=20
    )
    server = uvicorn.Server(config)
    config.timeout_graceful_shutdown = 2
    try:
        server.run(sockets=[listening])
    finally:
        jobs.cancel_all()


def _prepare() -> None:
    """Load what the screens need, while the first page is looked at; and look through it for garbage no more.

    That takes a tenth of a second each time, in which no page is answered.
    """
    from sfumato.studio.pages import environment

    for name in environment().list_templates():
        environment().get_template(name)
    gc.freeze()


def begin(studio: Studio, given: str | Path) -> None:
    """A new piece of work on a table, or with a recipe."""
    from sfumato.studio.desk import Desk, Fields
    from sfumato.studio.form import parsed
    from sfumato.studio.screens.table import address
    from sfumato.studio.screens.table import begin as look
    from sfumato.studio.tables import in_database

    if in_database(str(given)):
        address(Desk(studio.space, studio.jobs, studio.space.new("database")), Fields((("address", str(given)),)))
        return
    opened = Path(given)
    work = studio.space.new(opened.stem)
    work.note(allow=[str(opened.resolve().parent)])
    desk = Desk(studio.space, studio.jobs, work)
    if opened.suffix.lower() not in RECIPES:
        look(desk, str(opened.resolve()), opened.name)
        return
    from sfumato.data.sources.sql.address import parse
    from sfumato.recipe import Recipe

    recipe = Recipe.from_yaml(opened, allow=[studio.space.beside])
    if recipe.table is None:
        raise SfumatoError(
            str(opened), "a recipe for the studio names its table", given="none", remedy="add `table: people.csv`"
        )
    elsewhere = recipe.table.startswith("bundled:") or in_database(recipe.table)
    place = recipe.table if elsewhere else str(Path(recipe.table).resolve())
    look(desk, place, parse(place).called if in_database(place) else Path(place).name)
    form = parsed(recipe.to_yaml())
    work.save_recipe(opened.read_text(encoding="utf-8") if form.get("table") == place else _placed(form, place))


def _placed(form: dict[str, object], table: str) -> str:
    from sfumato.data.yaml_files import dump_yaml

    return dump_yaml({**form, "table": table}, default_flow_style=None, width=110)


def _hosts(host: str, port: int) -> frozenset[str]:
    """What the Host header may say."""
    named = {*LOOPBACK, host}
    return frozenset(f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in named)


def _listen(settings: Settings) -> socket.socket:
    """The port that was asked for; any free one, if it is taken and nobody asked for it in particular."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    for port in (settings.port, *([0] if settings.port == USUAL_PORT else [])):
        found = socket.socket(family, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((settings.host, port))
            found.listen(128)
        except OSError:
            found.close()
            continue
        return found
    raise SfumatoError(
        f"port {settings.port}",
        "the studio listens on a port that is free",
        given="one that is taken, or an address that is not this machine's",
        remedy="name another: --port 8800",
    )


def _open(address: str) -> None:
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def interruptible() -> None:
    """A signal to end is as an interrupt: jobs end first."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
