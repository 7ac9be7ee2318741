"""`sfumato draft`: a proposed recipe for a table, with a reason for each guess."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import echo, note, refuse_overwrite, save

if TYPE_CHECKING:
    from sfumato.data.draft import Draft

EXAMPLE = "sfumato draft people.csv --output recipe.yaml"


def draft(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="The table: CSV, Parquet, Arrow or Excel.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the recipe here, not to the screen.")
    ] = None,
    taxonomies: Annotated[
        Path | None,
        typer.Option("--taxonomies", help="Write drafted taxonomies to this folder and use them."),
    ] = None,
    encoding: Annotated[
        str | None, typer.Option("--encoding", help="Of a CSV that is not UTF-8, such as cp1252.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the files that are there.")] = False,
) -> None:
    """Propose a recipe for TABLE: kinds, roles and taxonomies, with a reason for each guess.

    It is a suggestion to read and change, and it is never run: only you know what the columns mean.
    """
    from sfumato.data.draft import draft as draft_table
    from sfumato.data.reading import read_arrow

    if output is not None:
        refuse_overwrite(output, force=force)
    found = draft_table(read_arrow(table, encoding=encoding), called=table.name)
    files = {} if taxonomies is None else _write_taxonomies(found, taxonomies, force=force)
    home = Path() if output is None else output.parent
    named = {name: _from(home, file) for name, file in files.items()}
    recipe = found.to_yaml(_from(home, table), taxonomies=named, encoding=encoding)
    if output is None:
        echo(recipe)
    else:
        save(recipe, output, force=force)
    outside = [file for file in (table, *files.values()) if not file.resolve().is_relative_to(home.resolve())]
    if outside:
        folder = outside[0].resolve().parent
        note(f"{outside[0]} is not in the recipe's folder: keep them together, or publish with --allow {folder}")


def _from(home: Path, file: Path) -> str:
    """How a recipe in the folder `home` names a file."""
    return str(file) if file.is_absolute() else Path(os.path.relpath(file, home)).as_posix()


def _write_taxonomies(found: Draft, folder: Path, *, force: bool) -> dict[str, Path]:
    from sfumato.data.taxonomy_files import taxonomy_text

    wanted = {column.name: column.taxonomy for column in found.columns if column.taxonomy is not None}
    files = {name: folder / f"{_file_name(name)}.yaml" for name in wanted}
    for path in files.values():
        refuse_overwrite(path, force=force)
    folder.mkdir(parents=True, exist_ok=True)
    for name, taxonomy in wanted.items():
        save(taxonomy_text(taxonomy, layout="yaml"), files[name], force=force)
    return files


def _file_name(column: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in column)
