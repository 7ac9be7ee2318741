"""A draft as a value: what each column may be, and what to ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sfumato.data.drafting.placeholders import Placeholders
from sfumato.data.drafting.plan import Plan
from sfumato.data.drafting.roles import NOTHING_SAID
from sfumato.data.drafting.spoilt import Spoilt
from sfumato.data.schema import Attribute, Category, Number, Role, Schema
from sfumato.data.taxonomy.draft import TaxonomyDraft
from sfumato.data.taxonomy.taxonomy import Taxonomy

Kind = Literal["number", "category", "item_set"]


def kind_of(attribute: Attribute) -> Kind:
    """An attribute's kind, as a recipe calls it."""
    if isinstance(attribute, Number):
        return "number"
    return "category" if isinstance(attribute, Category) else "item_set"


@dataclass(frozen=True)
class ColumnDraft:
    """What one column may be, and why.

    `asked`: whether others know it is a question to the holder. `distinct` counts its different values;
    `unique_share` is the share of rows that are alone with theirs; `labels` are the values of a column that has few.
    `spoilt`: nearly all its cells are numbers, and these are not. `alike`: how many labels look like another one.
    `clip`: a range that holds nearly all its numbers, where a few stretch it. `unread`: its source does not read it.
    `placeholders`: what stands at the far ends of its numbers or dates, and may mean missing.
    `rows_each`: of a number of people, in how many rows one of them is at most; 0 of all other columns.
    `treeless`: why codes that others know are in no tree. `shared`: how many of them are in several rows.
    """

    name: str
    attribute: Attribute
    reason: str
    holds: str
    asked: bool
    distinct: int
    unique_share: float
    labels: tuple[str, ...] = ()
    spoilt: Spoilt | None = None
    alike: int = 0
    rows_each: int = 0
    shared: int = 0
    unread: bool = False
    clip: tuple[float, float] | None = None
    proposed: TaxonomyDraft | None = None
    treeless: str = ""
    placeholders: Placeholders | None = None

    @property
    def kind(self) -> Kind:
        """Its kind, as a recipe calls it."""
        return kind_of(self.attribute)

    @property
    def role(self) -> Role:
        """Its role."""
        return self.attribute.role

    @property
    def unrecognised(self) -> bool:
        """Whether it goes out as it is for no other reason than that its name says nothing."""
        return self.role == "plain" and NOTHING_SAID in self.reason

    @property
    def repeated(self) -> bool:
        """Whether it is a number of people, and comes again in other rows."""
        return self.rows_each > 1

    @property
    def taxonomy(self) -> Taxonomy | None:
        """The tree of its codes, by their beginnings; other labels have none that means something."""
        return None if self.proposed is None else self.proposed.taxonomy


@dataclass(frozen=True)
class Draft:
    """Proposals for all columns, and what to ask for.

    `alone` is the share of rows unique on all quasi columns together, `alone_plain` on those that go out as they are.
    """

    columns: tuple[ColumnDraft, ...]
    rows: int
    alone: float
    alone_plain: float
    plan: Plan

    @property
    def schema(self) -> Schema:
        """The proposed schema."""
        return Schema({column.name: column.attribute for column in self.columns})

    @property
    def quasi(self) -> tuple[str, ...]:
        """Names of the columns that others may know."""
        return self.with_role("quasi")

    def with_role(self, role: Role) -> tuple[str, ...]:
        """Names of the columns of this role."""
        return tuple(column.name for column in self.columns if column.role == role)

    def __getitem__(self, name: str) -> ColumnDraft:
        return next(column for column in self.columns if column.name == name)
