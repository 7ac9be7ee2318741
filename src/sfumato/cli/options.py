"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Allow = Annotated[
    list[Path] | None,
    typer.Option("--allow", metavar="FOLDER", help="The recipe may name files there, not only beside itself."),
]
