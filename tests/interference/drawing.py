"""Pictures drawn once: from the same numbers comes the same picture, and drawing takes half the time of a release.

Numbers that differ are drawn, so that a record which reaches a picture is seen in it.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from types import FunctionType
from typing import Any
from unittest.mock import patch

from sfumato.release.report.markup import Html
from sfumato.release.report.plots import picture

PARTS = ("clusters", "groups", "histograms", "search", "utility")
"""Parts of the report that draw; one that is not named here draws every time."""
_DRAWN: dict[tuple[object, bytes], Html] = {}


def once(draw: Callable[[Any], None], **how: Any) -> Html:
    """The picture that this function drew when it held the same numbers, to the byte; or a new one."""
    if not isinstance(draw, FunctionType):
        return picture(draw, **how)
    held = [cell.cell_contents for cell in draw.__closure__ or ()]
    key = draw.__code__, pickle.dumps((held, how))
    if key not in _DRAWN:
        _DRAWN[key] = picture(draw, **how)
    return _DRAWN[key]


@contextmanager
def drawn_once() -> Iterator[None]:
    """Within, no picture is drawn twice."""
    with ExitStack() as stack:
        for part in PARTS:
            stack.enter_context(patch.object(import_module(f"sfumato.release.report.{part}"), "picture", once))
        yield
