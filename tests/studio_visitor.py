"""A visitor of the studio without a browser: it has the cookie, says where its requests come from, and can wait."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from httpx2 import Response
from starlette.testclient import TestClient

from sfumato.studio.app import Studio
from sfumato.studio.guard import Doorkeeper, Guard
from sfumato.studio.jobs import Job, Jobs
from sfumato.studio.workspace import Work, Workspace

HOST = "127.0.0.1:8000"
ORIGIN = f"http://{HOST}"
TOKEN = "the-token-of-this-test"
PATIENCE = 600.0


@dataclass
class Visitor:
    """Owns a studio, and a client that has entered it."""

    studio: Studio
    keeper: Doorkeeper
    client: TestClient

    @classmethod
    def of(cls, root: Path, *, beside: Path | None = None, most_upload: int = 1 << 20) -> Visitor:
        studio = Studio(Workspace.opened(root, beside or root.parent), Jobs())
        keeper = Doorkeeper(TOKEN, frozenset({HOST}), most_upload)
        client = TestClient(Guard(studio.app(), keeper), base_url=ORIGIN, raise_server_exceptions=True)
        return cls(studio, keeper, client)

    def enter(self) -> Visitor:
        assert self.client.get(f"/enter?token={TOKEN}").status_code == 200
        return self

    def get(self, path: str) -> Response:
        return self.client.get(path)

    def post(self, path: str, data: Any = None, **more: Any) -> Response:
        return self.client.post(path, data=data, headers={"origin": ORIGIN}, **more)

    def new(self) -> Work:
        answer = self.post("/new")
        work = self.studio.space.work(answer.url.path.split("/")[2])
        assert work is not None
        return work

    def uploaded(self, name: str, content: bytes) -> Work:
        work = self.new()
        answer = self.post(f"/w/{work.id}/upload", files={"file": (name, content)})
        assert answer.status_code == 200
        self.wait(Job(work.job("look")))
        return work

    def wait(self, job: Job) -> Job:
        """Until it has ended, well or not."""
        ends = time.monotonic() + PATIENCE
        while job.under_way:
            assert time.monotonic() < ends, "the job goes on and on"
            time.sleep(0.05)
        return job

    def done(self, job: Job) -> dict[str, Any]:
        """What it found; it must have ended well."""
        self.wait(job)
        assert job.state == "done", job.error
        return job.form
