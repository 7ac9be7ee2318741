"""What the masked columns still tell, in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sfumato.display import shortened
from sfumato.errors import quoted, visible

if TYPE_CHECKING:
    from rich.table import Table

    from sfumato.data.schema import Attribute
    from sfumato.evaluation.columns import ColumnKept
    from sfumato.evaluation.relations import Relations
    from sfumato.maskers.masker import Masker

LONGEST_LABEL = 60
BAR = "█"
NARROW = 5
NAME = 14
"""Letters of a column's name that stand in one line, however narrow the terminal is."""
KEPT = "Detail kept: of an interval what it leaves of the range, of a set what it leaves of all labels."
WIDE = 'Sets of so many: half of the rows show a set of at least so many labels, of which "detail kept" says little.'
ONE_VALUE = "Rows with one value: they show one label or number, neither a set nor an interval of several"
WISH = "; where counts by a column matter, ask for detail: {COLUMN: 1}"
OFF = (
    "Off: of labels the share of the rows that would have to show another one for their shares to be the raw table's, "
    "of numbers the largest difference of cumulative shares. Above 20 % a column does not tell how its values lie: "
    "amounts of which many are 0, or most small for their range, need bins that are declared (bins: [0, 1000, 20000]: "
    "0 alone, then from each number on); where the range is wider than need be, a smaller one helps (outside: clip). "
    "Go by what is publicly known of such amounts: choosing after a look at these figures is not covered by epsilon."
)
RELATED = "From 0 to 1 (Cramer's V). Lost: less than half is left. For your eyes only."
EXAMPLE = "By its declared range alone {} could have bins: {}."


def columns_table(columns: Sequence[ColumnKept]) -> Table:
    """What each masked column still tells: its values before and after, the commonest, and the detail kept.

    What has a measure in no column, as under a budget, is left out. In 80 letters long names and values go on in the
    next line.
    """
    from rich.table import Table

    from sfumato.evaluation.columns import kept_heading

    measured, counted = any(map(_measured, columns)), any(one.alone is not None for one in columns)
    heading = kept_heading(columns)
    table = Table(title="What the masked columns still tell (for your eyes only)", title_justify="left")
    table.add_column("column", overflow="fold", min_width=min(NAME, max((len(one.name) for one in columns), default=0)))
    table.add_column("values", justify="right", no_wrap=True)
    table.add_column("most frequent, and its share", overflow="fold", min_width=len("frequent,"))
    if measured:
        table.add_column(heading, min_width=len(heading))
    if counted:
        table.add_column("rows with one value", justify="right", width=len("one value"))
    for one in columns:
        label = f"{visible(shortened(one.commonest_words), most=LONGEST_LABEL)} {one.share:.0%}"
        alone = "" if one.alone is None else f"{one.alone:.0%}"
        kept = one.moved_words or one.off_words or (one.unmeasured if one.kept is None else detail(one.kept))
        kept += f"\n{one.wide_words}" if one.wide_words else ""
        row = (visible(one.name), f"{one.before:,} -> {one.after:,}", label)
        table.add_row(*row, *([kept] * measured), *([alone] * counted), style="dim" if one.silent else None)
    return table


def _measured(one: ColumnKept) -> bool:
    return one.kept is not None or one.moved is not None or one.off is not None


def columns_note(columns: Sequence[ColumnKept], mask: Masker, schema: Mapping[str, Attribute]) -> str:
    """What the table's figures mean, of those that it has; a wish for detail is named where the masker keeps one, and
    bins where a number lost its distribution."""
    said = [KEPT] if any(one.kept is not None or one.moved is not None for one in columns) else []
    said += [WIDE] if any(one.wide_words for one in columns) else []
    said += [OFF] if any(one.off is not None for one in columns) else []
    said += _examples(columns, schema)
    if any(one.alone is not None for one in columns):
        said.append(f"{ONE_VALUE}{WISH if _keeps_detail(mask) else ''}.")
    return " ".join(said)


def _examples(columns: Sequence[ColumnKept], schema: Mapping[str, Attribute]) -> list[str]:
    """Bins for the first number that lost its distribution and has none; they follow from what is declared."""
    from sfumato.data.cut_points import powers_of_ten
    from sfumato.data.schema import Number

    for one in columns:
        attribute = schema.get(one.name)
        if one.lost and isinstance(attribute, Number) and attribute.bins is None and (cuts := powers_of_ten(attribute)):
            return [EXAMPLE.format(quoted(one.name), list(cuts))]
    return []


def lost_relations(relations: Relations) -> Table:
    """Pairs of columns that no longer go along with each other."""
    from rich.table import Table

    table = Table(title=f"Relations between columns that are lost: {relations.gone} of {relations.clear}")
    table.title_justify, table.caption_justify, table.caption = "left", "left", RELATED
    for heading in ("columns", "raw", "generated"):
        table.add_column(heading, overflow="fold", justify="left" if heading == "columns" else "right")
    for one in relations.lost:
        table.add_row(visible(" with ".join(one.columns)), f"{one.raw:.2f}", f"{one.generated:.2f}")
    return table


def _keeps_detail(mask: Masker) -> bool:
    from sfumato.data.detail import Few
    from sfumato.errors import RecipeError

    try:
        mask.check_detail({"any": Few(1)})
    except RecipeError:
        return False
    return True


def detail(kept: float) -> str:
    """A share with a bar.

    >>> detail(0.5)
    '██    50%'
    """
    return f"{BAR * round(NARROW * kept):<{NARROW}} {kept:.0%}"
