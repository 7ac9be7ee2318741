"""certificate.json, read field by field: a broken field fails the checks that need it, and no others."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from sfumato.privacy.verify import differential, wording
from sfumato.privacy.verify.claims import CLAIMS
from sfumato.privacy.verify.fields import Form, field, forms, mapping, names, number, whole
from sfumato.privacy.verify.rule import only_keys
from sfumato.privacy.verify.verdict import CheckError
from sfumato.privacy.verify.wording import check_wording

FORMAT = 1
ROLES = ("quasi", "sensitive", "plain")
ORDERS = ("shuffled", "kept")
RECODED = ("generalize", "suppress", "discretize")
NOTHING = "none"
# Everything that a certificate may hold: what is not understood might be anything, raw values too.
FIELDS = {"format", "sfumato", "created", "guarantee", "statement", "grounds", "not_claimed", "differential_privacy",
          "deployment", "mask", "table", "claims", "covered", "lifted", "row_order", "dropped", "along", "versions",
          "files"}  # fmt: skip
TABLE = {"file", "rows", "spreadsheet_safe", "columns"}
PRIVATE = {"epsilon", "delta", "unit", "private", "warning", "events"}
EVENT = {"mechanism", "purpose", "epsilon", "composition", "parts", "draws"}
NOT_NAMED = {"claim", "on", "achieved", "sentence", "attacker", "order", "tree", "population", "people", "with"}


@dataclass(frozen=True)
class Column:
    """What the certificate says about one column of the table."""

    name: str
    role: str
    masked: str | None
    kind: str | None = None


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
        name = field(self._table, "file", str)
        if name not in ("table.parquet", "table.csv"):
            raise CheckError("the certificate's table is neither table.parquet nor table.csv")
        return name

    @property
    def rows(self) -> int:
        """How many rows the table should have."""
        return whole(self._table, "rows")

    @property
    def spreadsheet_safe(self) -> bool:
        """Whether a CSV table holds its texts in a form that no spreadsheet runs."""
        return field(self._table, "spreadsheet_safe", bool) if "spreadsheet_safe" in self._table else False

    @property
    def columns(self) -> tuple[Column, ...]:
        """The table's columns, in order."""
        return tuple(_column(form) for form in forms(self._table, "columns"))

    @property
    def mask(self) -> str:
        """The name of the masker."""
        return field(self.form, "mask", str) if "mask" in self.form else "top_down"

    @property
    def claims_nothing(self) -> bool:
        """Whether the release says that nothing is claimed of it."""
        return self.form.get("guarantee") == NOTHING

    @property
    def generated(self) -> bool:
        """Whether the rows are said to be generated under differential privacy."""
        return self.form.get("guarantee") == differential.GUARANTEE

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
    def lifted(self) -> int:
        """How many records show the top of every masked attribute, because they were lifted there."""
        return whole(self.form, "lifted")

    @property
    def row_order(self) -> str:
        """Whether the rows were shuffled, or kept in the order of the raw table."""
        order = field(self.form, "row_order", str)
        if order not in ORDERS:
            raise CheckError(f"row_order is one of {', '.join(ORDERS)}")
        return order

    @property
    def dropped(self) -> tuple[str, ...]:
        """The identifiers that were taken out."""
        return names(self.form, "dropped")

    @property
    def hashes(self) -> dict[str, str]:
        """SHA-256 of every file but the certificate, by the file's name."""
        files: dict[str, object] = field(self.form, "files", dict)
        return {name: _hash(mapping(entry, name)) for name, entry in files.items()}


def well_formed(certificate: Certificate) -> str:
    """The certificate can be understood, all of it."""
    form = certificate.form
    if form.get("format") != FORMAT or isinstance(form.get("format"), bool):
        raise CheckError(f"verify understands format {FORMAT} and no other")
    only_keys(form, FIELDS, "the certificate")
    only_keys(field(form, "table", dict), TABLE, "the table's description")
    for key in ("sfumato", "created", "statement", *(["grounds"] if "grounds" in form else [])):
        field(form, key, str)
    if "not_claimed" in form:
        names(form, "not_claimed")
    for key in {"along", "versions", "deployment"} & set(form):
        field(form, key, dict)
    known = {_understood(claim) for claim in (*certificate.claims, *certificate.covered)}
    if certificate.generated:
        if certificate.claims or certificate.covered or certificate.lifted or certificate.row_order != "shuffled":
            raise CheckError("generated rows claim no groups, are not lifted, and have no order")
        _check_private(form)
    elif certificate.claims_nothing == bool(certificate.claims):
        raise CheckError("a certificate claims something, or says that its guarantee is none")
    if not certificate.claims_nothing and not certificate.generated and form.get("guarantee") not in known:
        raise CheckError("the guarantee is not the name of one of the claims")
    for claim in certificate.claims:
        if "by" in claim:
            raise CheckError("a claim that follows from another stands under 'covered'")
        if not isinstance(claim.get("achieved"), dict):
            whole(claim, "achieved")
    _ = certificate.file, certificate.rows, certificate.columns, certificate.lifted, certificate.spreadsheet_safe
    _ = certificate.row_order, certificate.dropped, certificate.hashes
    count = len(certificate.claims)
    return f"format {FORMAT}, {'1 claim' if count == 1 else f'{count} claims'}, all understood"


def _check_private(form: Form) -> None:
    """The events add up; nothing else is told there; and the registry's fields name the same epsilon."""
    differential.spent(form)
    part = mapping(form[differential.GUARANTEE], differential.GUARANTEE)
    only_keys(part, PRIVATE, differential.GUARANTEE)
    for event in forms(part, "events"):
        only_keys(event, EVENT, "an event")
    if "deployment" in form:
        loss = mapping(mapping(form["deployment"], "deployment").get("privacy_loss"), "privacy_loss")
        told = mapping(loss.get("privacy_parameters"), "privacy_parameters")
        if (number(told, "epsilon"), told.get("delta")) != (float(Fraction(field(part, "epsilon", str))), 0):
            raise CheckError("'deployment' names another epsilon or delta than is claimed")


def stated(certificate: Certificate, page: str) -> str:
    """What people read says what is claimed.

    The statement is made of what the claims mean, in verify's own words and to the letter, whether the certificate
    gives their sentences or not. The page for the recipient repeats it, and its SHA-256 stands in the certificate.
    """
    statement = field(certificate.form, "statement", str)
    claims = certificate.claims
    for claim in claims:
        check_wording(claim)
        _check_named(claim, statement)
    sentences = [wording.SENTENCES[field(claim, "claim", str)](claim) for claim in claims]
    if sentences and statement != wording.statement(sentences):
        raise CheckError("the statement is not made of the sentences of the claims")
    if certificate.generated:
        differential.stated(certificate.form, statement)
    if certificate.claims_nothing and not statement.startswith("Nothing is claimed"):
        raise CheckError("the statement does not begin by saying that nothing is claimed")
    if statement not in page:
        raise CheckError("README.md does not repeat the certificate's statement")
    return "the statement and README.md say what is claimed"


def _check_named(claim: Form, statement: str) -> None:
    settings = [str(value) for key, value in claim.items() if key not in NOT_NAMED]
    for word in (*names(claim, "on"), *settings):
        if not re.search(rf"(?<![\w.]){re.escape(word)}(?!\w|\.\d)", statement):
            raise CheckError(f"the statement does not speak of {word!r}, which is claimed")


def _understood(claim: Form) -> str:
    name = field(claim, "claim", str)
    if name not in CLAIMS:
        raise CheckError(f"the claim {name!r} is not understood; known are: {', '.join(CLAIMS)}")
    return name


def _hash(entry: Form) -> str:
    only_keys(entry, {"sha256"}, "the entry of a file")
    return field(entry, "sha256", str)


def _column(form: Form) -> Column:
    only_keys(form, {"name", "kind", "role", "masked"}, "a column's description")
    kind = field(form, "kind", str) if "kind" in form else None
    role, masked = field(form, "role", str), form.get("masked")
    if role not in ROLES:
        raise CheckError(f"the role of a released column is one of {', '.join(ROLES)}")
    if masked is not None and not isinstance(masked, str):
        raise CheckError("'masked' names the kind of masking, or is null")
    return Column(field(form, "name", str), role, masked, kind)
