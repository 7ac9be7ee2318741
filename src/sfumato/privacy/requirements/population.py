"""The population of a k-map: the attributes of a quasi-identifier, of everybody that a record may be about."""

from __future__ import annotations

from sfumato.data.encoding import encode
from sfumato.data.reading import read_arrow
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import SfumatoError, TableError, did_you_mean
from sfumato.privacy.requirements.anonymity import KMap


def read_population(requirement: KMap, schema: Schema) -> Table:
    """The population's rows in codes of their own; columns that are not asked about are left out."""
    found = read_arrow(requirement.population)
    for name in requirement.on:
        if name not in found.column_names:
            raise TableError("population", f"{requirement} needs the column {name!r} in it", given="none of that name",
                             remedy=did_you_mean(name, found.column_names))  # fmt: skip
    try:
        return encode(found.select(list(requirement.on)), Schema({name: schema[name] for name in requirement.on}))
    except SfumatoError as error:  # it knows the column, not whose
        raise type(error)(f"{error.thing} of the population", error.rule, given=error.given,
                          remedy=f"{error.remedy} (it is the population that must be mended, or its declaration)",
                          ) from None  # fmt: skip
