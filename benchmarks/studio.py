"""The studio under load: how long pages take while runs go on, how much memory all processes take, how much is sent.

XDG_STATE_HOME=$(mktemp -d) python -m benchmarks.studio people --people 8 --rows 50000
XDG_STATE_HOME=$(mktemp -d) python -m benchmarks.studio large --rows 1000000
XDG_STATE_HOME=$(mktemp -d) python -m benchmarks.studio cold
"""

from __future__ import annotations

import argparse
import http.cookiejar
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

import pyarrow.csv as pv

import sfumato as sf

SCREENS = ("table", "attributes", "trees", "survive", "privacy", "run", "compare", "understand", "release", "recipe")


class Server:
    """Owns a studio in a process of its own, and looks at what it and its runs take."""

    def __init__(self, folder: Path) -> None:
        words = [sys.executable, "-m", "sfumato.cli.main", "studio", "--no-browser", "--port", "0"]
        self.process = subprocess.Popen(
            [*words, "--folder", str(folder / "work")],
            cwd=folder,
            stdout=subprocess.PIPE,
            env={**os.environ, "COLUMNS": "400"},
        )
        assert self.process.stdout is not None
        found = re.search(rb"(http://[^/]+)/enter\S+", self.process.stdout.readline())
        assert found is not None
        self.enter, self.address, self.peak, self.open = found[0].decode(), found[1].decode(), 0, True
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while self.open:
            self.peak = max(self.peak, sum(_resident(pid) for pid in _family(self.process.pid)))
            time.sleep(0.3)

    def close(self) -> None:
        """End it."""
        self.open = False
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)


def _family(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return [pid]
    threads = [path.name for path in Path(f"/proc/{pid}/task").iterdir()]
    for thread in threads:
        try:
            children += Path(f"/proc/{pid}/task/{thread}/children").read_text().split()
        except OSError:
            continue
    return [pid, *(one for child in set(children) for one in _family(int(child)))]


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


class Person:
    """Owns a session, and how long its pages took."""

    def __init__(self, server: Server) -> None:
        self.server = server
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.opener = urllib.request.build_opener(jar)
        self.opener.open(server.enter).read()
        self.seconds: list[tuple[float, str]] = []
        self.most = 0
        answer = self.opener.open(self._post("/new", b""))
        self.base = answer.url.rsplit("/", 1)[0]

    def _post(self, path: str, body: bytes, kind: str = "application/x-www-form-urlencoded") -> urllib.request.Request:
        url = path if path.startswith("http") else self.server.address + path
        return urllib.request.Request(url, body, {"origin": self.server.address, "content-type": kind})

    def send(self, where: str, **fields: str) -> str:
        """Send a form."""
        return str(self.opener.open(self._post(f"{self.base}/{where}", urlencode(fields).encode())).read())

    def see(self, screen: str) -> str:
        """Look at a screen, by the clock."""
        began = time.perf_counter()
        body = self.opener.open(f"{self.base}/{screen}").read()
        self.seconds.append((time.perf_counter() - began, screen))
        self.most = max(self.most, len(body))
        return str(body)

    def wait(self, screen: str, word: str, patience: float = 1800) -> None:
        """Look again and again until something is there."""
        ends = time.monotonic() + patience
        while word not in self.see(screen):
            assert time.monotonic() < ends, f"{screen} never told {word}"
            time.sleep(0.5)


def table(folder: Path, rows: int) -> Path:
    """Adult, as often as it takes, in a file beside the server."""
    adult = sf.datasets.load("adult").table
    path = folder / f"people-{rows}.csv"
    more = sf.datasets.blow_up(adult, rows, seed=0) if rows > adult.num_rows else adult.slice(0, rows)
    pv.write_csv(more, path)
    return path


def told(people: list[Person], server: Server) -> None:
    """What was measured."""
    pages = sorted(page for one in people for page in one.seconds)
    seconds = [took for took, _ in pages]
    print(f"pages: {len(seconds)}")
    print(
        f"half of them within {seconds[len(seconds) // 2]:.3f} s, 99 % within {seconds[int(len(seconds) * 0.99)]:.3f} s"
    )
    print(f"slowest: {', '.join(f'{screen} {took:.3f} s' for took, screen in reversed(pages[-5:]))}")
    print(f"largest page: {max(one.most for one in people) / 1e6:.2f} MB")
    print(f"all processes together, at most: {server.peak / 1e9:.2f} GB")


def several(server: Server, folder: Path, people: int, rows: int) -> None:
    """So many people at once, each with a table, until all runs are over."""
    name = table(folder, rows).name
    persons = [Person(server) for _ in range(people)]

    def go(person: Person) -> None:
        person.send("table/beside", path=name)
        person.wait("table", "A first look")
        person.send("run/start")
        while "Verified" not in person.see("run"):
            for screen in SCREENS:
                person.see(screen)
                time.sleep(0.5)

    threads = [threading.Thread(target=go, args=(person,)) for person in persons]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told(persons, server)


def large(server: Server, folder: Path, rows: int) -> None:
    """One person with a large table: every screen, three times."""
    person = Person(server)
    person.send("table/beside", path=table(folder, rows).name)
    person.wait("table", "A first look")
    person.seconds.clear()
    for _ in range(3):
        for screen in SCREENS:
            person.see(screen)
            print(f"  {screen}: {person.seconds[-1][0]:.3f} s")
    told([person], server)


def cold(server: Server) -> None:
    """CPU of the server until it listens, and until its first page is answered."""
    listening = _cpu(server.process.pid)
    jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
    urllib.request.build_opener(jar).open(server.enter).read()
    print(f"CPU until the address is printed: {listening:.2f} s")
    print(f"CPU until the first page is answered: {_cpu(server.process.pid):.2f} s")


def _cpu(pid: int) -> float:
    """User and system seconds of a process."""
    figures = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(figures[11]) + int(figures[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["people", "large", "cold"])
    parser.add_argument("--people", type=int, default=8)
    parser.add_argument("--rows", type=int, default=50_000)
    given = parser.parse_args()
    with TemporaryDirectory() as place:
        folder = Path(place)
        server = Server(folder)
        try:
            if given.what == "cold":
                cold(server)
            elif given.what == "people":
                several(server, folder, given.people, given.rows)
            else:
                large(server, folder, given.rows)
        finally:
            server.close()


if __name__ == "__main__":
    main()
