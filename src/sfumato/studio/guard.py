"""Who may ask: a token is exchanged for a cookie; Host, Origin, pace and size of every request are checked.

Whatever passes is answered with a policy that loads nothing from elsewhere, and is kept in no cache.
"""

from __future__ import annotations

import hmac
import secrets
import time
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "sfumato_studio"
IDLE = 3600.0
"""Seconds after which a session that asked for nothing ends."""
MOST_SESSIONS = 64
BURST, PACE = 240, 60.0
"""So many requests at once, and so many a second after that."""
GUESSES, MINUTE = 10, 60.0
"""Wrong tokens in a minute; after that none is looked at."""
MOST_BODY = 4 << 20
"""Bytes of a form that is no upload."""
POLICY = (
    "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; frame-ancestors 'self'; "
    "frame-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:"
)
PICTURE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; sandbox allow-same-origin"
)
"""Of pages that the report's room drew: they hold their style themselves, run no script and load nothing."""
HEADERS = {
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), interest-cohort=()",
}
SAFE = ("GET", "HEAD")
ENTER, START = "/enter", "/start"


@dataclass
class _Session:
    """Owns when a session last asked, and how many requests it has left."""

    asked: float
    left: float = BURST


@dataclass
class Doorkeeper:
    """Owns the token and the sessions that were opened with it.

    `hosts`: what the Host header may say. `most_upload`: bytes of an uploaded file.
    """

    token: str
    hosts: frozenset[str]
    most_upload: int
    sessions: dict[str, _Session] = field(default_factory=dict)
    guesses: list[float] = field(default_factory=list)

    def enter(self, given: str) -> str | None:
        """A new session for the right token; None for a wrong one, and for any after too many wrong ones."""
        now = time.monotonic()
        self.guesses = [at for at in self.guesses if now - at < MINUTE]
        if len(self.guesses) >= GUESSES:
            return None
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            self.guesses.append(now)
            return None
        self._forget(now)
        name = secrets.token_urlsafe(32)
        self.sessions[name] = _Session(now)
        return name

    def known(self, name: str) -> _Session | None:
        """An open session; it goes on from now."""
        now, found = time.monotonic(), self.sessions.get(name)
        if found is None or now - found.asked > IDLE:
            self.sessions.pop(name, None)
            return None
        found.left = min(BURST, found.left + (now - found.asked) * PACE)
        found.asked = now
        return found

    def leave(self, name: str) -> None:
        """End a session."""
        self.sessions.pop(name, None)

    def _forget(self, now: float) -> None:
        """Ended sessions, and the longest unused where there are too many."""
        for name in [name for name, one in self.sessions.items() if now - one.asked > IDLE]:
            del self.sessions[name]
        while len(self.sessions) >= MOST_SESSIONS:
            del self.sessions[min(self.sessions, key=lambda name: self.sessions[name].asked)]


class Guard:
    """Owns the way into the app: asks the doorkeeper, and sets the headers of every answer."""

    def __init__(self, app: ASGIApp, keeper: Doorkeeper) -> None:
        self.app, self.keeper = app, keeper

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        refusal = self._refused(scope)
        app = self.app if refusal is None else refusal
        limit = self.keeper.most_upload if scope["path"].endswith("/upload") else MOST_BODY
        await app(scope, _limited(receive, limit), _sealed(send))

    def _refused(self, scope: Scope) -> Response | None:
        """Why a request is not let in; None where it is."""
        headers, method = Headers(scope=scope), str(scope["method"])
        if headers.get("host", "") not in self.keeper.hosts:
            return _no(403, "This address is not one of the studio's.")
        if method not in (*SAFE, "POST"):
            return _no(405, "The studio knows GET and POST.")
        if method == "POST" and not _from_here(headers):
            return _no(403, "This was asked from another page.")
        if scope["path"] == ENTER:
            return self._entered(scope, method)
        session = self.keeper.known(cookie_of(headers))
        if session is None:
            return _no(401, "The studio opens with the address that it printed when it was started.")
        session.left -= 1
        if session.left < 0:
            return _no(429, "Too many requests. Wait a moment.")
        length = headers.get("content-length", "0")
        limit = self.keeper.most_upload if scope["path"].endswith("/upload") else MOST_BODY
        if not length.isascii() or not length.isdigit() or int(length[:20]) > limit:
            return _no(413, f"This is more than {limit >> 20:,} MB: name a file beside the server instead.")
        return None

    def _entered(self, scope: Scope, method: str) -> Response:
        given = QueryParams(scope["query_string"]).get("token", "")
        name = self.keeper.enter(given) if method == "GET" else None
        if name is None:
            return _no(403, "This is not the token that the studio printed, or too many wrong ones came in.")
        answer = RedirectResponse(START, status_code=303)
        answer.set_cookie(COOKIE, name, httponly=True, samesite="strict", path="/")
        return answer


def cookie_of(headers: Headers) -> str:
    """The session's name that a request brings along; an empty one if none."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _from_here(headers: Headers) -> bool:
    """Whether a request that changes something comes from a page of ours: browsers say so, and nothing else may."""
    origin = headers.get("origin")
    if origin is not None:
        return origin == f"http://{headers.get('host')}"
    return headers.get("sec-fetch-site") == "same-origin"


def _no(status: int, words: str) -> Response:
    return PlainTextResponse(words + "\n", status_code=status)


def _limited(receive: Receive, most: int) -> Receive:
    """The request's body up to its limit, whatever length it says it has; the rest is as if the line were cut."""
    left = most

    async def next_part() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        return message if left >= 0 else {"type": "http.disconnect"}

    return next_part


def _sealed(send: Send) -> Send:
    """Every answer with the headers of all; a page that was drawn elsewhere brings its own policy."""

    async def sealed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("content-security-policy", POLICY)
        await send(message)

    return sealed
