"""The addresses of one piece of work, with a screen behind each; what is asked is done in threads or in jobs."""

from __future__ import annotations

import asyncio
import json
import zipfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from sfumato.errors import SfumatoError
from sfumato.studio import form as forms
from sfumato.studio.desk import Desk, Fields, Screen
from sfumato.studio.guard import PICTURE_POLICY
from sfumato.studio.jobs import Job, Jobs
from sfumato.studio.overview import screen_page, summary
from sfumato.studio.pages import fragment, missing, page
from sfumato.studio.screens import attributes, compare, privacy, release, run, survive, table, trees, understand
from sfumato.studio.trials import frontier_page, trials_of
from sfumato.studio.uploads import SUFFIXES, TREES, Upload
from sfumato.studio.workspace import Workspace

SCREENS: list[Screen] = [
    one.SCREEN for one in (table, attributes, trees, survive, privacy, run, compare, understand, release)
]
BY_KEY = {screen.key: screen for screen in SCREENS}
JOBS = ("look", "clusters", "feasible", "advise", "ledger", "release", "explain", "attack")
PAGED = ("clusters", "advise")
BLINK = 0.25
"""Seconds between two looks at what a job told."""


@dataclass(frozen=True)
class Works:
    """Answers requests about pieces of work."""

    space: Workspace
    jobs: Jobs

    def app(self) -> Starlette:
        """All addresses below /w."""
        routes = [
            Route("/{id}", self.first),
            Route("/{id}/delete", self.delete, methods=["POST"]),
            Route("/{id}/recipe", self.recipe, methods=["GET", "POST"]),
            Route("/{id}/recipe.yaml", self.recipe_file),
            Route("/{id}/upload", self.upload, methods=["POST"]),
            Route("/{id}/trees/upload", self.upload_tree, methods=["POST"]),
            Route("/{id}/follow/{job}", self.follow),
            Route("/{id}/picture/{name}", self.picture),
            Route("/{id}/zip/{name}", self.packed),
            Route("/{id}/{screen}", self.show),
            Route("/{id}/{screen}/{action}", self.act, methods=["POST"]),
        ]
        return Starlette(routes=routes, exception_handlers={404: missing, 405: missing, 413: missing})

    def _desk(self, request: Request) -> Desk:
        work = self.space.work(request.path_params["id"])
        if work is None:
            raise HTTPException(404)
        return Desk(self.space, self.jobs, work, dict(request.query_params))

    async def first(self, request: Request) -> Response:
        """Where it stands: the screen that was looked at last."""
        work = self._desk(request).work
        return RedirectResponse(f"/w/{work.id}/{work.place if work.place in BY_KEY else 'table'}", status_code=303)

    async def delete(self, request: Request) -> Response:
        """Gone, with all that is in it but for what was released from it elsewhere."""
        desk = self._desk(request)
        await run_in_threadpool(self.jobs.cancel_all, desk.work)
        await run_in_threadpool(self.space.remove, desk.work)
        return RedirectResponse("/", status_code=303)

    async def show(self, request: Request) -> Response:
        """One screen."""
        screen = BY_KEY.get(request.path_params["screen"])
        if screen is None:
            raise HTTPException(404)
        desk = self._desk(request)
        await run_in_threadpool(desk.work.look_at, screen.key)
        return await run_in_threadpool(_shown, desk, screen)

    async def act(self, request: Request) -> Response:
        """Something is changed or begun; the screen is shown again."""
        desk, screen = self._desk(request), BY_KEY.get(request.path_params["screen"])
        action = None if screen is None else screen.actions.get(request.path_params["action"])
        if screen is None or action is None:
            raise HTTPException(404)
        fields = await _fields(request)

        def do() -> Response:
            try:
                target = action(desk, fields)
            except SfumatoError as error:
                return _shown(desk, screen, error, there=False)
            return RedirectResponse(f"/w/{desk.work.id}/{target or screen.key}", status_code=303)

        return await run_in_threadpool(do)

    async def recipe(self, request: Request) -> Response:
        """The recipe's text; what is sent takes its place if it can be read."""
        desk = self._desk(request)
        text, error = desk.work.recipe_text() or "", None
        if request.method == "POST":
            text = (await _fields(request))["text"].replace("\r\n", "\n")
            try:
                forms.parsed(text)
            except SfumatoError as found:
                error = found
            else:
                desk.work.save_recipe(text if text.endswith("\n") else text + "\n")
        return await run_in_threadpool(_recipe_page, desk, text, error)

    async def recipe_file(self, request: Request) -> Response:
        """The recipe as a file to take away."""
        text = self._desk(request).work.recipe_text()
        if text is None:
            raise HTTPException(404)
        return Response(text, media_type="text/yaml", headers=_attached("recipe.yaml"))

    async def upload(self, request: Request) -> Response:
        """A table."""
        desk = self._desk(request)
        try:
            found = await _received(request, desk.work.folder / "table", SUFFIXES)
            encoding = found.fields.get("encoding", "").strip()
            await run_in_threadpool(table.begin, desk, f"table/{found.called}", found.called, encoding)
        except SfumatoError as error:
            return await run_in_threadpool(_shown, desk, table.SCREEN, error)
        return RedirectResponse(f"/w/{desk.work.id}/table", status_code=303)

    async def upload_tree(self, request: Request) -> Response:
        """A tree for one attribute."""
        desk = self._desk(request)
        try:
            found = await _received(request, desk.work.folder / "trees", TREES)
            name = found.fields.get("name", "")
            await run_in_threadpool(trees.take, desk, name, found.path or Path())
        except SfumatoError as error:
            return await run_in_threadpool(_shown, desk, trees.SCREEN, error)
        target = trees.here(desk, Fields((("name", name),)))
        return RedirectResponse(f"/w/{desk.work.id}/{target}", status_code=303)

    async def follow(self, request: Request) -> Response:
        """What a job tells, as it tells it."""
        desk, name = self._desk(request), request.path_params["job"]
        folder = desk.work.job(name) if name in JOBS else desk.work.trial(name)
        if folder is None:
            raise HTTPException(404)
        return StreamingResponse(self._told(request, Job(folder)), media_type="text/event-stream")

    async def _told(self, request: Request, job: Job) -> AsyncIterator[str]:
        """Events of a job until it ends, each the list of its steps drawn anew where something changed."""

        def draw() -> str:
            return fragment("steps.html", job=job, steps=job.steps(), ahead=self.jobs.ahead(job.folder))

        before = None
        while not await request.is_disconnected():
            drawn = await run_in_threadpool(draw)
            if drawn != before:
                before = drawn
                yield f"event: steps\ndata: {json.dumps(drawn)}\n\n"
            if not job.under_way:
                yield "event: ended\ndata: 1\n\n"
                return
            await asyncio.sleep(BLINK)

    async def picture(self, request: Request) -> Response:
        """A page that the report's room drew: in a frame, without scripts."""
        desk, name = self._desk(request), request.path_params["name"]
        if name == "frontier":
            text = await run_in_threadpool(lambda: frontier_page(trials_of(desk.work)))
            return _framed(text)
        if name in PAGED:
            path = desk.work.job(name) / "page.html"
        else:
            trial = desk.work.trial(name)
            path = (trial or desk.work.folder) / "release.holder" / "report.html"
        if not path.is_file():
            raise HTTPException(404)
        return _framed(path.read_text(encoding="utf-8"))

    async def packed(self, request: Request) -> Response:
        """A release as one file; the holder's folder is not in it."""
        desk, name = self._desk(request), request.path_params["name"]
        found = next((path for path in desk.work.releases() if path.name == name), None)
        if found is None:
            raise HTTPException(404)
        packed = await run_in_threadpool(_zip, found)
        return FileResponse(packed, headers=_attached(f"{name}.zip"), media_type="application/zip")


def _shown(desk: Desk, screen: Screen, error: SfumatoError | None = None, *, there: bool = True) -> HTMLResponse:
    """A screen; where even the recipe cannot be read, its text. `there`: it is what the address says."""
    try:
        found = screen_page(desk, screen, SCREENS, error)
    except SfumatoError as unreadable:
        found = _recipe_page(desk, desk.work.recipe_text() or "", error or unreadable)
    if not there:
        found.headers["hx-replace-url"] = "false"
    return found


def _recipe_page(desk: Desk, text: str, error: SfumatoError | None) -> HTMLResponse:
    return page(
        "recipe.html",
        work=desk.work,
        base=f"/w/{desk.work.id}",
        screens=SCREENS,
        screen=None,
        summary=summary(desk.work),
        text=text,
        error=error,
        problem=desk.problem() if text and error is None else None,
        command=f"sfumato publish {desk.work.recipe_path} --allow {desk.space.beside}",
    )


async def _fields(request: Request) -> Fields:
    """The form that was sent; one that was cut off is none."""
    try:
        sent = await request.form(max_files=0, max_fields=5000)
    except (ClientDisconnect, ValueError):
        raise HTTPException(413) from None
    return Fields(tuple((name, text) for name, text in sent.multi_items() if isinstance(text, str)))


async def _received(request: Request, folder: Path, suffixes: tuple[str, ...]) -> Upload:
    found = Upload(folder, suffixes)
    try:
        await found.read(request.headers.get("content-type", ""), request.stream())
    except (ClientDisconnect, ValueError):
        raise HTTPException(413, "The file was not received whole.") from None
    if found.path is None:
        from sfumato.errors import TableError

        raise TableError("file", "one is chosen", given="none", remedy="choose a file and send it")
    return found


def _framed(text: str) -> Response:
    return HTMLResponse(text, headers={"content-security-policy": PICTURE_POLICY})


def _attached(name: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="{name}"'}


def _zip(folder: Path) -> Path:
    """All files of a release, of one time, in the order of their names."""
    target = folder.with_name(f".{folder.name}.zip")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(f"{folder.name}/{path.relative_to(folder)}")
            entry.compress_type = zipfile.ZIP_DEFLATED
            with path.open("rb") as read, packed.open(entry, "w") as write:
                while chunk := read.read(1 << 20):
                    write.write(chunk)
    return target
