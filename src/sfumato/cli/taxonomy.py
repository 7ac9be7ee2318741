"""`sfumato taxonomy`: draft, check, convert and show trees of labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from sfumato.cli.options import quietly
from sfumato.cli.output import echo, note, refuse_overwrite, show
from sfumato.errors import SfumatoError, visible

if TYPE_CHECKING:
    from rich.tree import Tree

    from sfumato.data.taxonomy.draft import Way
    from sfumato.data.taxonomy.parsing import Layout
    from sfumato.data.taxonomy.taxonomy import Taxonomy

app = typer.Typer(
    no_args_is_help=True,
    help="Draft, check, convert and show taxonomies: trees of labels.",
    epilog="[bold]Example[/bold]\n\nsfumato taxonomy check education.csv",
)

_File = Annotated[Path, typer.Argument(metavar="FILE", help="A taxonomy: .yaml, .json or .csv.")]
_Missing = Annotated[
    list[str] | None,
    typer.Option("--missing", metavar="TEXT", help='Another text that means missing; NA, "?" and the like are known.'),
]
_Encoding = Annotated[str | None, typer.Option("--encoding", help="Of a CSV that is not UTF-8, such as cp1252.")]
_Force = Annotated[bool, typer.Option("--force", metavar="", help="Overwrite the file that is there.")]


def _example(*lines: str) -> str:
    return "\n\n".join(["[bold]Example[/bold]", *lines])


@app.command(epilog=_example("sfumato taxonomy check education.csv --table people.csv --column education"))
@quietly
def check(
    file: _File,
    table: Annotated[
        str | None, typer.Option("--table", help="The table it is meant for: a file, or a database's address.")
    ] = None,
    column: Annotated[str | None, typer.Option("--column", help="The column of that table.")] = None,
    missing: _Missing = None,
    encoding: _Encoding = None,
) -> None:
    """List everything that is wrong with the taxonomy in FILE, each with its line.

    Labels that stand twice or have two parents, cycles, chains of single children, unquoted words that YAML
    takes for something else and, with a table, values that are no leaf. Exit code 0: clean, 1: findings.
    """
    from sfumato.data.taxonomy.check import check as check_taxonomy

    asked = table is not None or column is not None
    values = _values(table, column, missing=missing or (), encoding=encoding) if asked else None
    findings = check_taxonomy(file, values)
    for finding in findings:
        where = f"{file}:{finding.line}" if finding.line else str(file)
        label = f"{finding.label!r}: " if finding.label else ""
        show(visible(f"{where}: {finding.rule}: {label}{finding.message}"))
    if findings:
        note(f"{len(findings)} finding{'s' if len(findings) > 1 else ''}", style="yellow")
        raise typer.Exit(1)
    note(f"{file} is clean", style="green")


def _values(table: str | None, column: str | None, *, missing: Sequence[str], encoding: str | None) -> list[object]:
    from sfumato.data.drafting.draft import column_values, missing_texts
    from sfumato.data.reading import look

    if table is None or column is None:
        given, wanted = ("--column", "--table FILE") if table is None else ("--table", "--column NAME")
        raise SfumatoError(
            "taxonomy check",
            "a column is named together with its table",
            given=f"{given} alone",
            remedy=f"add {wanted}",
        )
    found = look(table, encoding=encoding, columns=[column])
    _note_missing(missing_texts(found, column, missing=missing))
    return column_values(found, column, missing=missing)


def _note_missing(texts: Sequence[str]) -> None:
    if texts:
        note(f"taken for missing: {', '.join(map(repr, texts))}; a recipe says so with `missing: [...]`")


@app.command(epilog=_example("sfumato taxonomy draft people.csv education --output education.yaml"))
@quietly
def draft(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="CSV, Parquet, Arrow or Excel; or the address of a database.")
    ],
    column: Annotated[str, typer.Argument(metavar="COLUMN", help="A column of labels or of lists of labels.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write it here: .yaml, .json, .csv.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="calendar, prefix or balanced.")] = None,
    missing: _Missing = None,
    encoding: _Encoding = None,
    force: _Force = False,
) -> None:
    """Propose a taxonomy for COLUMN of TABLE, to look at and to change.

    Dates are grouped by the calendar and codes by their beginnings; other labels become groups of neighbours
    with similar numbers of records, which you will want to rename.
    """
    from sfumato.data.drafting.draft import missing_texts, propose_for
    from sfumato.data.reading import look
    from sfumato.data.taxonomy.files import layout_for, taxonomy_text

    if output is not None:
        layout_for(output)
        refuse_overwrite(output, force=force)
    found, texts = look(table, encoding=encoding, columns=[column]), missing or ()
    proposed = propose_for(found, column, kind=cast("Way | None", kind), missing=texts)
    _note_missing(missing_texts(found, column, missing=texts))
    note(f"a draft, {proposed.way}: {proposed.reason}")
    if output is None:
        echo(taxonomy_text(proposed.taxonomy, layout="yaml"))
    else:
        proposed.taxonomy.to_file(output)
        note(f"wrote {output}")


@app.command(
    epilog=_example("sfumato taxonomy convert education.csv education.yaml", "sfumato taxonomy convert t.yaml t.csv")
)
@quietly
def convert(
    source: Annotated[Path, typer.Argument(metavar="FROM", help="The taxonomy to read.")],
    target: Annotated[Path, typer.Argument(metavar="TO", help="The file to write: .yaml, .json or .csv.")],
    layout: Annotated[
        str | None,
        typer.Option("--as", help="yaml, json, arx or parents; by default as TO ends (.csv is arx)."),
    ] = None,
    force: _Force = False,
) -> None:
    """Write the taxonomy in FROM as TO: nested YAML or JSON, an ARX hierarchy, or parent-child rows."""
    from sfumato.data.taxonomy.taxonomy import Taxonomy

    refuse_overwrite(target, force=force)
    taxonomy = Taxonomy.from_file(source)
    taxonomy.to_file(target, layout=cast("Layout | None", layout))
    note(f"wrote {target}: {_size(taxonomy)}")


@app.command(epilog=_example("sfumato taxonomy grown release age --output age.yaml"))
@quietly
def grown(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="By top_down, with its .holder beside it.")],
    column: Annotated[str, typer.Argument(metavar="COLUMN", help="A number.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write it here: .yaml, .json, .csv.")] = None,
    force: _Force = False,
) -> None:
    """Take the tree of intervals that was grown for COLUMN from a release's history, to edit and to use again.

    It is for your eyes: a recipe that names it (`taxonomy: age.yaml`) releases the part down to what its table shows.
    """
    from sfumato.data.taxonomy.files import layout_for, taxonomy_text
    from sfumato.maskers.topdown.grown import grown_tree
    from sfumato.release.reading import read_history

    if output is not None:
        layout_for(output)
        refuse_overwrite(output, force=force)
    tree = grown_tree(read_history(release), column)
    if output is None:
        echo(taxonomy_text(tree, layout="yaml"))
    else:
        tree.to_file(output)
        note(f"wrote {output}: {_size(tree)}")


@app.command(name="show", epilog=_example("sfumato taxonomy show education.yaml"))
@quietly
def show_tree(file: _File) -> None:
    """Draw the tree in FILE."""
    from sfumato.data.taxonomy.taxonomy import Taxonomy

    taxonomy = Taxonomy.from_file(file)
    show(_drawn(taxonomy))
    note(_size(taxonomy))


def _size(taxonomy: Taxonomy) -> str:
    return f"{len(taxonomy.leaves)} leaves, {taxonomy.levels} levels{', a draft' if taxonomy.draft else ''}"


def _drawn(taxonomy: Taxonomy) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    drawn: dict[str, Tree] = {taxonomy.root: Tree(Text(visible(taxonomy.root)))}
    for label in taxonomy.labels[1:]:
        drawn[label] = drawn[taxonomy.parent(label) or ""].add(Text(visible(label)))
    return drawn[taxonomy.root]
