"""A codebook as its recipient looks at it: a mapping that shows of what it tells instead of all that it tells."""

from __future__ import annotations

from typing import Any

from sfumato.display import Card, Grid
from sfumato.structure.released_groups import tells_groups


class Book(dict[str, Any]):
    """The content of codebook.json: by group, or by shown value, the mean number or the shares of labels."""

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()

    def _card(self) -> Card:
        grouped = tells_groups(self)
        columns = self["columns"] if grouped else self
        entries = {name: told if grouped else [*told.values()] for name, told in columns.items()}
        rows = [[name, _kind(told), sum(bool(one) for one in told), len(told)] for name, told in entries.items()]
        of = f"{self['groups']:,} groups, numbered as people.groups" if grouped else "each shown value"
        reach = '["columns"][NAME][GROUP]' if grouped else "[NAME][VALUE]"
        grid = Grid(("column", "tells", "entries with something", "of"), rows)
        return Card(f"Codebook: what is told of {of}", [f"{reach} is one entry."], [grid])


def _kind(entries: list[Any]) -> str:
    """Means of numbers, or shares of labels."""
    known = next((one for one in entries if one), None)
    return "nothing" if known is None else "means" if not isinstance(known, dict) or "mean" in known else "shares"
