"""`sfumato draft`: a proposed recipe for a table, with a reason for each guess."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.output import echo, figures, note, refuse_overwrite, save, show
from sfumato.cli.policies import Policies, is_policy_file

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.data.drafting.proposal import Draft

EXAMPLE = "sfumato draft people.csv --output recipe.yaml"
MOST_INLINE = 30
"""A tree of more codes is written to a file of its own."""


def draft(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="CSV, Parquet, Arrow or Excel; or the address of a database.")
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the recipe here, not to the screen.")
    ] = None,
    taxonomies: Annotated[
        Path | None,
        typer.Option("--taxonomies", help="Write trees of codes to this folder; else beside the recipe."),
    ] = None,
    encoding: Annotated[
        str | None, typer.Option("--encoding", help="Of a CSV that is not UTF-8, such as cp1252.")
    ] = None,
    query: Annotated[
        str | None,
        typer.Option("--query", metavar="SQL", help="What to read from a database whose address names no table."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the files that are there.")] = False,
    policy: Policies = None,
) -> None:
    """Propose a recipe for TABLE: kinds, roles, what must survive and what must hold, with a reason for each guess.

    It is a suggestion to read and change, and it is never run: only you know what the columns mean, and what others
    know. The recipe ends with questions. As it stands it can be published. With --policy it asks for that policy's
    groups, and ends with what is to be done for its other checks. A database is asked for the values of every column,
    and for how many rows are alike.
    """
    from sfumato.data.drafting.draft import draft as draft_table
    from sfumato.data.drafting.text import recipe_text
    from sfumato.data.reading import placed

    if output is not None:
        refuse_overwrite(output, force=force)
    rows, encoding = _read(table, encoding, query)
    stored = None if "://" in table else Path(table)
    place = placed(table, encoding=encoding)
    found = _asking(draft_table(rows, called=stored.name if stored else table, place=place), policy or ())
    home = Path() if output is None else output.parent
    folder = taxonomies if taxonomies is not None or output is None else home
    files = {} if folder is None else _write_trees(found, folder, every=taxonomies is not None, force=force)
    named = {name: _from(home, file) for name, file in files.items()}
    read = _Named.of(table, home)
    recipe = recipe_text(found, read.text, taxonomies=named, encoding=encoding, query=query)
    recipe = _with_policies(recipe, policy or (), home)
    figures("draft", draft_form(found, recipe))
    if output is None:
        echo(recipe)
        return
    save(recipe, output, force=force)
    _show(found)
    policy_files = [Path(name) for name in policy or () if is_policy_file(name)]
    _what_next(output, _allowance(home, [*read.files, *files.values(), *policy_files]))


def _what_next(output: Path, allow: str) -> None:
    publish = f"sfumato publish {quote(str(output))}"
    show(f"Read {output} and answer its questions. To look at what comes out: {publish} --trial{allow}")
    show(f"The release itself: {publish} --output out{allow}")


def _allowance(home: Path, files: Sequence[Path]) -> str:
    """What `publish` is to be told, with a note, where a file lies outside the recipe's folder `home`."""
    outside = [file for file in files if not file.resolve().is_relative_to(home.resolve())]
    allow = f" --allow {quote(str(outside[0].resolve().parent))}" if outside else ""
    if outside:
        note(f"{outside[0]} is not in the recipe's folder: keep them together, or publish with{allow}")
    return allow


def _asking(found: Draft, policies: Sequence[str]) -> Draft:
    """The draft with groups of the size that policies ask for."""
    if not policies:
        return found
    from dataclasses import replace

    from sfumato.recipe.policies.drafted import least_records

    return replace(found, plan=replace(found.plan, k=max(found.plan.k, least_records(policies))))


def _with_policies(recipe: str, policies: Sequence[str], home: Path) -> str:
    """The recipe with what policies ask; those in files are named from the folder `home`, where it will stand."""
    if not policies:
        return recipe
    from sfumato.recipe.policies.drafted import with_policies

    return with_policies(recipe, [_from(home, Path(n)) if is_policy_file(n) else n for n in policies], home)


def draft_form(found: Draft, recipe: str) -> dict[str, Any]:
    """A draft as figures: each column with its reason, and the recipe's text."""
    from sfumato.data.drafting.questions import questions
    from sfumato.data.drafting.text import told

    columns = [
        {"column": one.name, "kind": one.kind, "role": one.role, "why": told(one), "asked": one.asked}
        for one in found.columns
    ]
    figures = {"rows": found.rows, "k": found.plan.k, "alone": found.alone}
    return {**figures, "columns": columns, "questions": [*questions(found)], "recipe": recipe}


def _read(table: str, encoding: str | None, query: str | None) -> tuple[pa.Table, str | None]:
    """The table, and its encoding if it is not UTF-8."""
    from sfumato.data.csv_files import likely_encoding
    from sfumato.data.reading import look
    from sfumato.data.safe_files import is_regular
    from sfumato.data.sources.openers import CSV
    from sfumato.errors import TableError

    try:
        return look(table, encoding=encoding, query=query), encoding
    except TableError:
        path = Path(table)
        unsaid = encoding is None and path.suffix.lower() in CSV and is_regular(path)
        likely = likely_encoding(path) if unsaid else None
        if likely is None:
            raise
    note(f"{table} is not UTF-8. It was read as {likely}: check that accents look right", style="yellow")
    return look(table, encoding=likely, query=query), likely


def _from(home: Path, file: Path) -> str:
    """How a recipe in the folder `home` names a file."""
    return str(file) if file.is_absolute() else Path(os.path.relpath(file, home)).as_posix()


@dataclass(frozen=True)
class _Named:
    """How a recipe names its table, and the files that are meant."""

    text: str
    files: tuple[Path, ...]

    @classmethod
    def of(cls, table: str, home: Path) -> _Named:
        """As it is named from the folder `home`; of an address, the files in it."""
        if "://" not in table:
            return cls(_from(home, Path(table)), (Path(table),))
        from sfumato.data.sources.sql.address import located

        files: list[Path] = []

        def place(_: str, path: str) -> str:
            files.append(Path(path))
            return _from(home, Path(path))

        text = located(table, place)
        return cls(table if home == Path() else text, tuple(files))


def _write_trees(found: Draft, folder: Path, *, every: bool, force: bool) -> dict[str, Path]:
    """Trees of codes in files of their own: all of them, or those that are too large for the recipe."""
    from sfumato.data.taxonomy.files import taxonomy_text

    trees = {column.name: column.taxonomy for column in found.columns if column.taxonomy is not None}
    wanted = {name: tree for name, tree in trees.items() if every or len(tree.leaves) > MOST_INLINE}
    files = {name: folder / f"{_file_name(name)}.yaml" for name in wanted}
    texts = {name: taxonomy_text(tree, layout="yaml") for name, tree in wanted.items()}
    new = [name for name, path in files.items() if not _holds(path, texts[name])]
    for name in new:
        _refuse_another_tree(files[name], force=force)
    folder.mkdir(parents=True, exist_ok=True)
    for name in new:
        save(texts[name], files[name], force=force)
    return files


def _holds(path: Path, text: str) -> bool:
    """Whether a file of an earlier draft is there that holds the same tree."""
    from sfumato.data.safe_files import is_regular

    return is_regular(path) and path.stat().st_size == len(text.encode()) and path.read_bytes() == text.encode()


def _refuse_another_tree(path: Path, *, force: bool) -> None:
    """An earlier recipe may use the tree that is there: it is not overwritten unasked."""
    from sfumato.errors import SfumatoError

    if path.exists() and not force:
        raise SfumatoError(
            str(path),
            "an existing file is not overwritten",
            given="another tree, which an earlier recipe may use",
            remedy="add --taxonomies FOLDER to write the trees elsewhere, or --force to overwrite it",
        )


def _file_name(column: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in column)


def _show(found: Draft) -> None:
    """One line a column: its role and why."""
    from rich.table import Table

    from sfumato.data.drafting.phrases import share
    from sfumato.data.drafting.questions import one_row_one_person
    from sfumato.data.drafting.text import told

    table = Table(box=None, pad_edge=False)
    for heading in ("column", "role", "why"):
        table.add_column(heading)
    for column in found.columns:
        table.add_row(column.name, column.role, told(column))
    show(table)
    if several := one_row_one_person(found):
        note(several, style="yellow")
    if found.alone_plain > 0:
        alone = share(found.alone_plain)
        note(
            f"Plain and sensitive columns go out as they are; with them {alone} of the people are alone", style="yellow"
        )
