"""What the columns of a release hold, as rules on identifiers ask: as the recipe says, else as it seems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sfumato.data.drafting.people import NUMBERS, NUMBERS_OF_THINGS
from sfumato.data.drafting.words import IDENTIFYING, SOFT, says
from sfumato.data.schema import Attribute, Number, Schema
from sfumato.privacy.verify.policies.contents import content_of

Values = Mapping[str, Iterable[object]]
"""Some values of columns, as texts."""


def contents_of(schema: Schema, said: Mapping[str, str], *values: Values) -> dict[str, str]:
    """By column that is released: what it is said to hold, or seems to; columns of no concern are left out.

    >>> from sfumato.data.schema import Category
    >>> contents_of(Schema(age=Number(), home=Category(), ill=Category()), {"home": "zip"})
    {'age': 'age', 'home': 'zip'}
    """
    seeming = {name: _seems(name, schema[name], [part.get(name, ()) for part in values]) for name in schema.kept}
    both = {name: said.get(name) or held for name, held in seeming.items()}
    return {name: held for name, held in both.items() if held is not None}


def _seems(name: str, attribute: Attribute, values: Iterable[Iterable[object]]) -> str | None:
    named = content_of(name)
    if isinstance(attribute, Number) and attribute.calendar is not None:
        return "birth" if named == "birth" else "date"
    if named is not None:
        return named
    formed = next((held for part in values if (held := content_of("", part)) is not None), None)
    numbered = says(name, NUMBERS) or says(name, NUMBERS_OF_THINGS)
    if formed is None and (numbered or says(name, IDENTIFYING)) and not says(name, SOFT):
        return "code"  # what other languages call a number, an address or a name
    return formed
