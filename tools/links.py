"""Looks through a built site: every link inside leads somewhere, and nothing is loaded from outside.

python -m tools.links build/site
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "link": "href",
}
TOLD_ONLY = ("canonical", "author", "license", "next", "prev", "index", "search")
"""Relations of <link> that load nothing."""


@dataclass
class Page(HTMLParser):
    """What one page links to and loads, and the places in it that can be linked to."""

    path: Path
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Called for every element."""
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        address = given.get(LOADS.get(tag, ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif address and given.get("rel", "") not in TOLD_ONLY:
            self.loads.append(address)


@cache
def page(path: Path) -> Page:
    """A page, read once."""
    return Page(path)


def outside(address: str) -> bool:
    """Whether an address leads to another machine."""
    return urlsplit(address).scheme in ("http", "https") or address.startswith("//")


def broken(one: Page, address: str) -> str:
    """What is wrong with an address inside the site; nothing if it leads somewhere."""
    parts = urlsplit(address)
    if outside(address) or parts.scheme in ("mailto", "data", "javascript"):
        return ""
    target = (one.path.parent / unquote(parts.path)).resolve() if parts.path else one.path
    if not target.is_file():
        return "no such file"
    place = unquote(parts.fragment)
    known = target.suffix != ".html" or not place or place in page(target).places
    return "" if known else "no such place on the page"


def pages(site: Path) -> list[Path]:
    """The pages of a site; below _static the theme has templates that are none."""
    return sorted(path.resolve() for path in site.rglob("*.html") if "_static" not in path.parts)


def faults(site: Path) -> list[str]:
    """Everything that is wrong, a line each."""
    found = []
    for path in pages(site):
        one, name = page(path), path.relative_to(site)
        found += [f"{name}: loads {address} from outside" for address in one.loads if outside(address)]
        for address in dict.fromkeys([*one.links, *one.loads]):
            if words := broken(one, address):
                found.append(f"{name}: {address}: {words}")
    for path in sorted(site.rglob("*.css")):
        loaded = re.findall(r"(?:url\(|@import\s+)[\"']?((?:https?:)?//[^\"')\s]+)", path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(site)}: loads {address} from outside" for address in loaded]
    return found


def main() -> None:
    """Print what is wrong, and end accordingly."""
    site = Path(sys.argv[1]).resolve()
    read = [page(path) for path in pages(site)]
    if not read:
        sys.exit(f"{site}: there is no page")
    wrong = faults(site)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    links = sum(len(one.links) + len(one.loads) for one in read)
    print(f"{len(read)} pages, {links:,} links, {len(wrong)} of them wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
