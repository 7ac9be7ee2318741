"""Ways to forge a release, one function each, by what is forged: what a liar or a smuggler would do to a folder.

A forgery changes a copy of an honest release in place. Whatever fits by itself (hashes, number of rows, pages made from
the certificate) is made to fit afterwards by `tests.corruptions.forge`, unless the forgery did that itself. They
are built without any of verify's own code.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Forge = Callable[[Path], None]
FORGERIES: dict[str, Forgery] = {}


@dataclass(frozen=True)
class Forgery:
    """One way to forge a release of a kind that tests.releases knows. `fits`: hashes and pages are then made to fit."""

    name: str
    of: str
    forge: Forge
    fits: bool = True


def forgery(name: str, *, of: str = "k_anonymity", fits: bool = True) -> Callable[[Forge], Forge]:
    """Enter a function that forges releases of this kind."""

    def enter(forge: Forge) -> Forge:
        if name in FORGERIES:
            raise ValueError(f"two forgeries are called {name!r}")
        FORGERIES[name] = Forgery(name, of, forge, fits)
        return forge

    return enter


def every_forgery() -> dict[str, Forgery]:
    """All of them, from every module beside this one."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return FORGERIES
