"""certificate.json, read field by field: a broken field fails the checks that need it, and no others."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sfumato.privacy.verify.canonical import (
    DOTTED,
    FORMAT,
    FORMATS,
    MOST_COLUMNS,
    ORDERS,
    QUOTED,
    ROLES,
    SPELLED,
    canonical,
    compare,
    written,
)
from sfumato.privacy.verify.fields import Form, field, forms, mapping, names, one_of, only_keys, whole
from sfumato.privacy.verify.files.regular_files import TABLES
from sfumato.privacy.verify.maskers import MASKERS, RECODED
from sfumato.privacy.verify.spelling import Spelling
from sfumato.privacy.verify.texts import wording
from sfumato.privacy.verify.texts.labels import LABELS
from sfumato.privacy.verify.texts.wording import GUARANTEE, LIBRARIES, Deployed, check_wording, deployment
from sfumato.privacy.verify.verdict import CheckError

_BEFORE = (
    "this release is of format {}, which an earlier version wrote. Since then {}, and its claims are not recounted: "
)
EARLIER = {
    1: _BEFORE.format(
        1, "there is one form for everything, so that nothing can hide in it; of this that cannot be promised"
    )
    + "publish the table again",
    2: _BEFORE.format(
        2, "a label that nothing else bears out has no name; of this it cannot be promised that names are true"
    )
    + "publish the table again",
}


@dataclass(frozen=True)
class Column:
    """What the certificate says about one column of the table."""

    name: str
    role: str
    masked: str | None
    kind: str
    calendar: str | None = None
    told: tuple[str, ...] = ()


@dataclass(frozen=True)
class Certificate:
    """The claims of a release, and how the release is described."""

    form: Form

    @property
    def _table(self) -> Form:
        return field(self.form, "table", dict)

    @property
    def file(self) -> str:
        """The name of the table's file."""
        return one_of(self._table, "file", TABLES)

    @property
    def format(self) -> int:
        """In which form the release is written."""
        return whole(self.form, "format")

    @property
    def spelling(self) -> Spelling:
        """How what is shown is written in that form."""
        latest = self.format >= SPELLED
        quoted = self.format >= QUOTED
        return Spelling(dotted=self.format >= DOTTED, said_behind=latest, whole_units=latest, quoted=quoted)

    @property
    def rows(self) -> int:
        """How many rows the table should have."""
        return whole(self._table, "rows")

    @property
    def spreadsheet_safe(self) -> bool:
        """Whether a CSV table holds its texts in a form that no spreadsheet runs."""
        return field(self._table, "spreadsheet_safe", bool)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The table's columns, in order."""
        found = forms(self._table, "columns")
        if len(found) > MOST_COLUMNS:
            raise CheckError(f"a table has at most {MOST_COLUMNS} columns")
        return tuple(map(_column, found))

    @property
    def mask(self) -> str:
        """The name of the masker."""
        return one_of(self.form, "mask", tuple(MASKERS))

    @property
    def claims_nothing(self) -> bool:
        """Whether the release says that nothing is claimed of it."""
        return self.form.get("guarantee") == wording.NOTHING

    @property
    def generated(self) -> bool:
        """Whether the rows are said to be generated under differential privacy."""
        return self.form.get("guarantee") == GUARANTEE

    @property
    def recoded(self) -> tuple[str, ...]:
        """The columns that a recoding masks, value by value."""
        return tuple(column.name for column in self.columns if column.masked in RECODED)

    @property
    def masked_otherwise(self) -> tuple[str, ...]:
        """The columns that are masked by something else than a recoding: what they show is counted, not looked up."""
        return tuple(c.name for c in self.columns if c.masked is not None and c.masked not in RECODED)

    @property
    def claims(self) -> tuple[Form, ...]:
        """What is claimed."""
        return forms(self.form, "claims")

    @property
    def covered(self) -> tuple[Form, ...]:
        """What follows from a claim, and was asked for as well."""
        return forms(self.form, "covered") if "covered" in self.form else ()

    @property
    def labels(self) -> str | None:
        """The column of labels that go along, which no raw table has; None where none do."""
        return field(mapping(self.form[LABELS], LABELS), "column", str) if LABELS in self.form else None

    @property
    def lifted(self) -> int:
        """How many records show the top of every masked attribute, because they were lifted there."""
        return whole(self.form, "lifted")

    @property
    def row_order(self) -> str:
        """Whether the rows were shuffled, or kept in the order of the raw table."""
        return one_of(self.form, "row_order", ORDERS)

    @property
    def hashes(self) -> dict[str, str]:
        """SHA-256 of every file but the certificate, by the file's name."""
        files: dict[str, object] = field(self.form, "files", dict)
        return {name: _hash(mapping(entry, name)) for name, entry in files.items()}


def well_formed(certificate: Certificate, content: bytes) -> str:
    """The certificate can be understood, all of it, and is written in its one form."""
    form = certificate.form
    if form.get("format") not in FORMATS or isinstance(form.get("format"), bool):
        raise CheckError(f"verify understands the formats {FORMATS[0]} to {FORMAT} and no other")
    made = canonical(form)
    compare(form, made, "the certificate")
    if content != written(made):
        raise CheckError("certificate.json is written otherwise than it is written here: spaces, escapes or numbers")
    count = len(certificate.claims)
    claims = "1 claim" if count == 1 else f"{count} claims"
    return f"format {certificate.format}, {claims}, all understood, in its one form"


def stated(certificate: Certificate) -> str:
    """What people read says what is claimed, in verify's own words and to the letter."""
    form, claims = certificate.form, certificate.claims
    for claim in claims:
        check_wording(claim, certificate.format)
    told = field(form, "statement", str), field(form, "grounds", str), names(form, "not_claimed")
    if told[0] != _statement(certificate):
        raise CheckError("the statement does not say what is claimed, and nothing else")
    guarantee = field(form, "guarantee", str)
    bare = [column.name for column in certificate.columns if column.role == "sensitive"]
    bounded = {claim.get("sensitive") for claim in claims}
    open_to = wording.not_claimed(
        guarantee,
        bare=[name for name in bare if name not in bounded],
        beside=any("with" in claim for claim in claims),
        relations=_relations(certificate),
    )
    if told[1:] != (wording.grounds(guarantee), open_to):
        raise CheckError("'grounds' or 'not_claimed' are not in the words that belong to this guarantee")
    if certificate.generated:
        _check_deployment(certificate)
    return "the statement says what is claimed, and nothing else"


def _relations(certificate: Certificate) -> str | None:
    """What a generated table says of relations between its columns, from the format on that says it."""
    if not certificate.generated or certificate.format < wording.RELATED:
        return None
    return wording.of_relations(forms(mapping(certificate.form[GUARANTEE], GUARANTEE), "events"))


def _statement(certificate: Certificate) -> str:
    if certificate.generated:
        part = mapping(certificate.form[GUARANTEE], GUARANTEE)
        return wording.private_statement(Fraction(field(part, "epsilon", str)), private=field(part, "private", bool))
    if certificate.claims_nothing:
        return wording.NOTHING_CLAIMED
    return wording.statement([wording.sentence(claim, certificate.format) for claim in certificate.claims])


def _check_deployment(certificate: Certificate) -> None:
    """The registry's fields are those that are made from the rest."""
    form = certificate.form
    part, versions = mapping(form[GUARANTEE], GUARANTEE), field(form, "versions", dict)
    made = deployment(
        Deployed(
            epsilon=Fraction(field(part, "epsilon", str)),
            private=field(part, "private", bool),
            events=forms(part, "events"),
            mask=certificate.mask,
            columns={column.name: column.kind for column in certificate.columns},
            created=field(form, "created", str),
            versions={name: field(form if name == "sfumato" else versions, name, str) for name in LIBRARIES},
            release=certificate.format,
        )
    )
    compare(form.get("deployment"), made, "'deployment'")


def _hash(entry: Form) -> str:
    only_keys(entry, {"sha256"}, "the entry of a file")
    return field(entry, "sha256", str)


def _column(form: Form) -> Column:
    kind, role, masked = field(form, "kind", str), one_of(form, "role", ROLES), form.get("masked")
    if masked is not None and not isinstance(masked, str):
        raise CheckError("'masked' names the kind of masking, or is null")
    calendar = field(form, "calendar", str) if "calendar" in form else None
    told = names(form, "told") if "told" in form else ()
    return Column(field(form, "name", str), role, masked, kind, calendar, tuple(told))
