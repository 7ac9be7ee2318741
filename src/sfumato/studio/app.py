"""The studio's addresses. What a piece of work needs is loaded when the first one is opened: the door opens sooner."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from sfumato.studio.guard import START
from sfumato.studio.jobs import Jobs
from sfumato.studio.pages import STATIC, missing, page
from sfumato.studio.workspace import Workspace


@dataclass(frozen=True)
class Studio:
    """Answers requests about one folder."""

    space: Workspace
    jobs: Jobs

    def app(self) -> Starlette:
        """All addresses."""
        routes = [
            Route("/", self.home),
            Route(START, self.start),
            Route("/new", self.new, methods=["POST"]),
            Mount("/w", Later(self.space, self.jobs)),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]
        return Starlette(routes=routes, exception_handlers={404: missing, 405: missing})

    async def home(self, request: Request) -> Response:
        """All pieces of work."""
        works = await run_in_threadpool(self.space.works)
        return page("home.html", works=works, folder=str(self.space.root))

    async def start(self, request: Request) -> Response:
        """Where the work stands that was looked at last; without any, the first page."""
        last = await run_in_threadpool(self.space.last)
        return RedirectResponse("/" if last is None else f"/w/{last.id}", status_code=303)

    async def new(self, request: Request) -> Response:
        """A new one."""
        work = self.space.new("Untitled")
        return RedirectResponse(f"/w/{work.id}/table", status_code=303)


class Later:
    """Owns the screens of pieces of work, once somebody has asked for one."""

    def __init__(self, space: Workspace, jobs: Jobs) -> None:
        self.space, self.jobs = space, jobs
        self.app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if self.app is None:
            self.app = await run_in_threadpool(self._load)
        await self.app(scope, receive, send)

    def _load(self) -> ASGIApp:
        from sfumato.studio.works import Works

        return Works(self.space, self.jobs).app()
