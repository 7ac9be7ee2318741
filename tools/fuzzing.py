"""Changes bytes of releases at random, makes hashes and pages fit, and tells what the changes do that verify lets pass.

python -m tools.fuzzing 20000    # changes, over all kinds of releases; docs/security.md has what it prints
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tests.corruptions import MADE, files, forge
from tests.outcomes import KINDS
from tests.releases import SIGNED, given_with, release_of, untouched

from sfumato.errors import ReleaseError
from sfumato.privacy.verify import verify
from sfumato.privacy.verify.texts.readme import README

FUZZED = tuple(kind for kind in KINDS if kind != SIGNED)
"""A signature fails on any change at all: releases without one are what there is to see."""
Change = Callable[[random.Random, bytes, int], bytes]


def _flip(chance: random.Random, content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 1 << chance.randrange(8)]) + content[at + 1 :]


def _replace(chance: random.Random, content: bytes, at: int) -> bytes:
    return content[:at] + chance.randbytes(1) + content[at + 1 :]


def _insert(chance: random.Random, content: bytes, at: int) -> bytes:
    return content[:at] + chance.randbytes(chance.randint(1, 4)) + content[at:]


def _blank(chance: random.Random, content: bytes, at: int) -> bytes:
    return content[:at] + chance.choice([b" ", b"\n", b"\t", b"\r\n", b"\0"]) + content[at:]


def _delete(chance: random.Random, content: bytes, at: int) -> bytes:
    return content[:at] + content[at + chance.randint(1, 4) :]


def _repeat(chance: random.Random, content: bytes, at: int) -> bytes:
    end = at + chance.randint(1, 32)
    return content[:end] + content[at:end] + content[end:]


def _copy(chance: random.Random, content: bytes, at: int) -> bytes:
    """Some bytes from elsewhere in the file: likelier than chance to mean something there."""
    size, start = chance.randint(1, 8), chance.randrange(len(content))
    return content[:at] + content[start : start + size] + content[at + size :]


CERTIFIED = ("created", "sfumato", "versions", "dropped", "files")
"""What a certificate tells that follows from nothing else in it, and its hashes."""
CHANGES: tuple[Change, ...] = (_flip, _flip, _replace, _insert, _blank, _delete, _repeat, _copy)


def passed(kind: str, seed: int) -> str | None:
    """What one random change did that verify let pass; None where it was found."""
    chance = random.Random(f"{kind} {seed}")
    with tempfile.TemporaryDirectory() as place:
        folder = release_of(kind, Path(place) / "out")
        path = _any_byte(chance, folder) if chance.random() < 0.5 else chance.choice(files(folder))
        content = path.read_bytes()
        path.write_bytes(chance.choice(CHANGES)(chance, content, chance.randrange(len(content))))
        if path.name not in MADE:  # a page that was changed is left as it is
            forge(folder, page=path.name != README)
        try:
            if not verify(folder, **given_with(kind)).holds:
                return None
        except ReleaseError:
            return None
        return _difference(untouched(kind), folder)


def _any_byte(chance: random.Random, folder: Path) -> Path:
    found = files(folder)
    return chance.choices(found, weights=[path.stat().st_size for path in found])[0]


def _difference(before: Path, after: Path) -> str:
    """Which parts of which files differ, pages and hashes aside, which follow from the rest."""
    told = sorted({part for path in files(after) for part in _parts(before, after, path)})
    return ", ".join(told) or "nothing"


def _parts(before: Path, after: Path, path: Path) -> Iterator[str]:
    name = path.relative_to(after).as_posix()
    if path.read_bytes() == (before / name).read_bytes() or name in MADE or name == "README.md":
        return
    if path.suffix != ".json":
        yield f"{name}: other cells, every claim recounted" if name.startswith("table.") else name
        return
    old, new = (json.loads(one.read_text(encoding="utf-8")) for one in (before / name, path))
    yield from (f"{name}: {way}" for way in _ways(old, new) if not way.startswith("files"))


def _ways(old: Any, new: Any, above: str = "") -> Iterator[str]:
    """In what two JSON values differ: a name, or the value of something that the file tells."""
    if isinstance(old, dict) and isinstance(new, dict):
        if list(old) != list(new):
            yield "a name"
        for key in old.keys() & new.keys():
            yield from _ways(old[key], new[key], f"{above}.{key}".strip("."))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for one, two in zip(old, new, strict=True):
            yield from _ways(one, two, above)
    elif old != new or type(old) is not type(new):
        yield above if above.startswith(CERTIFIED) else "a name" if isinstance(old, str) else "a digit"


def _some(kind_and_seeds: tuple[str, range]) -> list[str | None]:
    kind, seeds = kind_and_seeds
    return [passed(kind, seed) for seed in seeds]


def main(count: int) -> None:
    """How many changes were found, and of those that were not what each changes."""
    each = -(-count // len(FUZZED))
    tasks = [(kind, range(start, min(start + 100, each))) for kind in FUZZED for start in range(0, each, 100)]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        found = [one for some in pool.map(_some, tasks) for one in some]
    tally = Counter(one for one in found if one is not None)
    print(f"{len(found)} random changes of {len(FUZZED)} releases: {found.count(None)} found, {tally.total()} pass.")
    print("| what a change that passes does | how many |\n|---|---|")
    for what, many in tally.most_common():
        print(f"| {what} | {many} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
