"""What the masked columns still tell, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sfumato.display import shortened
from sfumato.errors import visible

if TYPE_CHECKING:
    from rich.table import Table

    from sfumato.evaluation.columns import ColumnKept
    from sfumato.maskers.masker import Masker

LONGEST_LABEL = 60
BAR = "█"
NARROW = 5
NAME = 14
"""Letters of a column's name that stand in one line, however narrow the terminal is."""
KEPT = "Detail kept: of an interval what it leaves of the range, of a set what it leaves of all labels."
ONE_VALUE = "Rows with one value: they show one label or number, neither a set nor an interval of several"
WISH = "; where counts by a column matter, ask for detail: {COLUMN: 1}"


def columns_table(columns: Sequence[ColumnKept]) -> Table:
    """What each masked column still tells: its values before and after, the commonest, and the detail kept.

    What has a measure in no column, as under a budget, is left out. In 80 letters long names and values go on in the
    next line.
    """
    from rich.table import Table

    measured, counted = any(map(_measured, columns)), any(one.alone is not None for one in columns)
    table = Table(title="What the masked columns still tell (for your eyes only)", title_justify="left")
    table.add_column("column", overflow="fold", min_width=min(NAME, max((len(one.name) for one in columns), default=0)))
    table.add_column("values", justify="right", no_wrap=True)
    table.add_column("most frequent, and its share", overflow="fold", min_width=len("frequent,"))
    if measured:
        table.add_column("detail kept", min_width=len("detail kept"))
    if counted:
        table.add_column("rows with one value", justify="right", width=len("one value"))
    for one in columns:
        label = f"{visible(shortened(one.commonest), most=LONGEST_LABEL)} {one.share:.0%}"
        alone = "" if one.alone is None else f"{one.alone:.0%}"
        kept = detail(one.kept) if one.moved is None else one.moved_words
        row = (visible(one.name), f"{one.before:,} -> {one.after:,}", label)
        table.add_row(*row, *([kept] * measured), *([alone] * counted), style="dim" if one.silent else None)
    return table


def _measured(one: ColumnKept) -> bool:
    return one.kept is not None or one.moved is not None


def columns_note(columns: Sequence[ColumnKept], mask: Masker) -> str:
    """What the table's figures mean, of those that it has; a wish for detail is named where the masker keeps one."""
    said = [KEPT] if any(map(_measured, columns)) else []
    if any(one.alone is not None for one in columns):
        said.append(f"{ONE_VALUE}{WISH if _keeps_detail(mask) else ''}.")
    return " ".join(said)


def _keeps_detail(mask: Masker) -> bool:
    from sfumato.data.detail import Few
    from sfumato.errors import RecipeError

    try:
        mask.check_detail({"any": Few(1)})
    except RecipeError:
        return False
    return True


def detail(kept: float | None) -> str:
    """A share with a bar.

    >>> detail(0.5)
    '██    50%'
    """
    return "numbers moved" if kept is None else f"{BAR * round(NARROW * kept):<{NARROW}} {kept:.0%}"
