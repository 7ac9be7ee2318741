"""certificate.json in its one form: made again from what is understood of it, and compared to the byte.

Every field is either recomputed from the others or of a narrow form (`fields`, `terms`). So there is no place for
anything else: no further key at any depth, no other order of keys, no spaces, no other way to write a number.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

from sfumato.privacy.verify.fields import (
    Form,
    ascending,
    column_name,
    count,
    field,
    forms,
    fraction,
    mapping,
    moment,
    names,
    one_of,
    sha256,
    short,
    version,
    whole,
)
from sfumato.privacy.verify.files.regular_files import TABLES
from sfumato.privacy.verify.maskers import IN_UNITS, KINDS, MASKED, MASKERS
from sfumato.privacy.verify.policies.terms import closed_policies
from sfumato.privacy.verify.terms import MOST_CLAIMS, closed, closed_covered
from sfumato.privacy.verify.texts.labels import LABELS, SCORE, closed_labels
from sfumato.privacy.verify.texts.snippet import CLASSES
from sfumato.privacy.verify.texts.wording import (
    GUARANTEE,
    MECHANISMS,
    NOT_PRIVATE,
    NOTHING,
    PLAIN,
    UNIT,
    known,
    purposes,
)
from sfumato.privacy.verify.values import LENGTHS
from sfumato.privacy.verify.verdict import CheckError

FORMATS = (3, 4, 5, 6, 7, 8)
FORMAT = FORMATS[-1]
DOTTED = 4  # from this format on, intervals are written with dots where a minus sign would leave a doubt
SPELLED = 5  # from this format on, dates and sets with missing values are written as they are now
DESCRIBED = 4  # from this format on, a release has a datapackage.json, and its README.md shows how to read the table
LEARNED = 5  # from this format on, the class that was to survive is named, and is no part of the points of README.md
QUOTED = 6  # from this format on, labels with commas in them stand in quotation marks in a set
TOLD_BY_GROUPS = 6  # from this format on, the lines of README.md place rows by what codebook.json tells
DATED = 6  # from this format on, dates are generated too, and a certificate tells their calendar units
GATHERED = 7  # from this format on, a certificate tells in which columns values beyond the declared ones were moved
CUT_SHORT = 8  # from this format on, a certificate tells of which sets the first items alone are kept
# From format 8 on bins of numbers may be declared: BINNED of `texts.wording`.
ROLES = ("quasi", "sensitive", "plain")
ORDERS = ("shuffled", "kept")
ALONG = ("codebook", "centres")
VERSIONS = ("numpy", "pyarrow", "polars", "python")
OF_NOISE = "opendp"
SAFE = "spreadsheet_safe"
OUTSIDE = "outside"
SHORTENED = "shortened"
MOST_COLUMNS = 10_000
MOST_EVENTS = 4_000
MOST_PARTS = 2**20
WORDS = ("statement", "grounds")
TOLD = ("suppress", "region", "extent", "centroid")  # kinds of masking that come without a tree


def written(form: Mapping[str, object]) -> bytes:
    """A JSON file of a release, byte for byte."""
    return (json.dumps(form, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def canonical(form: Form) -> dict[str, object]:
    """The certificate as its own settings make it; sentences are taken as they are, and have a check of their own."""
    table = _table(field(form, "table", dict), field(form, "mask", str), whole(form, "format"))
    columns = [str(column["name"]) for column in forms(table, "columns")]
    claims = [closed(claim, columns) for claim in _some(form, "claims", MOST_CLAIMS)]
    guarantee = _guarantee(field(form, "mask", str), [str(claim["claim"]) for claim in claims])
    generated = guarantee == GUARANTEE
    private = {GUARANTEE: _private(field(form, GUARANTEE, dict), columns)} if generated else {}
    return {
        "format": whole(form, "format"),
        "sfumato": version(form, "sfumato"),
        "created": moment(form, "created"),
        "guarantee": guarantee,
        **{key: field(form, key, str) for key in WORDS},
        "not_claimed": field(form, "not_claimed", list),
        **private,
        **({"deployment": field(form, "deployment", dict)} if generated else {}),
        "mask": form["mask"],
        "table": table,
        "claims": claims,
        "covered": [closed_covered(claim, columns) for claim in _some(form, "covered", MOST_CLAIMS)],
        "lifted": count(form, "lifted", most=0 if generated else count(table, "rows")),
        "row_order": one_of(form, "row_order", ORDERS[:1] if generated else ORDERS),
        "dropped": count(form, "dropped", most=MOST_COLUMNS),
        "along": {name: True for name in ALONG if f"{name}.json" in field(form, "files", dict)},
        **({CLASSES: one_of(form, CLASSES, columns)} if _names_its_classes(form) else {}),
        **({"policies": closed_policies(form, columns)} if "policies" in form else {}),
        **(closed_labels(form, columns) if {LABELS, SCORE} & set(form) else {}),
        "versions": _versions(field(form, "versions", dict), generated=generated),
        "files": _files(field(form, "files", dict)),
    }


def compare(told: object, made: object, where: str) -> None:
    """What the certificate tells is what is made of it; the first difference is named."""
    if isinstance(told, dict) and isinstance(made, dict):
        extra, gone = set(told) - set(made), set(made) - set(told)
        if extra or gone:
            what = "which is not understood" if extra else "and should"
            raise CheckError(f"{where} {'holds' if extra else 'does not hold'} {_short(min(extra or gone))}, {what}")
        for key, part in made.items():
            compare(told[key], part, f"{key!r}" if where == "the certificate" else where)
        if list(told) != list(made):
            raise CheckError(f"the fields of {where} stand in another order than they are written in")
    elif isinstance(told, list) and isinstance(made, list) and len(told) == len(made):
        for one, other in zip(told, made, strict=True):
            compare(one, other, where)
    elif type(told) is not type(made) or told != made:
        raise CheckError(f"{where} is not what follows from the rest of the certificate")


def _names_its_classes(form: Form) -> bool:
    return CLASSES in form and whole(form, "format") >= LEARNED


def _short(key: str) -> str:
    return repr(key[:40])


def _guarantee(mask: str, claims: Sequence[str]) -> str:
    """The kind of promise: that of the masker; k-anonymity, or where that is not claimed, the first claim."""
    shown = MASKERS[mask].masked
    if shown in (("generated",), ("transformed",)):
        if claims:
            raise CheckError("rows that are generated or transformed claim no groups")
        return GUARANTEE if shown == ("generated",) else NOTHING
    if not claims:
        raise CheckError("a certificate claims something, or its guarantee is none")
    return "k_anonymity" if "k_anonymity" in claims else claims[0]


def _some(form: Form, key: str, most: int) -> tuple[Form, ...]:
    found = forms(form, key)
    if len(found) > most:
        raise CheckError(f"{key!r} has more than {most} entries")
    return found


def _table(form: Form, mask: str, number: int) -> dict[str, object]:
    if mask not in MASKERS:
        raise CheckError(f"the masker is not known; known are: {', '.join(MASKERS)}")
    columns = [_column(column, mask, number) for column in _some(form, "columns", MOST_COLUMNS)]
    if not columns or len({str(column["name"]) for column in columns}) < len(columns):
        raise CheckError("a table has columns, each with a name of its own")
    file = one_of(form, "file", TABLES)
    return {"file": file, "rows": count(form, "rows"), SAFE: _spreadsheet_safe(form, file), "columns": columns}


def _spreadsheet_safe(form: Form, file: str) -> bool:
    """Whether texts that a spreadsheet would run were made harmless: of a text file alone."""
    safe = field(form, SAFE, bool)
    if safe and file != "table.csv":
        raise CheckError("only table.csv is made safe for spreadsheets")
    return safe


def _column(form: Form, mask: str, number: int) -> dict[str, object]:
    kind, role, masked = one_of(form, "kind", KINDS), one_of(form, "role", ROLES), form.get("masked")
    if masked is not None and (masked not in MASKERS[mask].masked or kind not in MASKED[str(masked)]):
        raise CheckError(f"'masked' of a column is no way in which {mask} shows a column of its kind")
    unit = {"calendar": one_of(form, "calendar", tuple(LENGTHS))} if "calendar" in form else {}
    if unit and (kind != "number" or masked not in (IN_UNITS if number >= DATED else IN_UNITS[:1])):
        raise CheckError("'calendar' tells the unit of dates, of no other column")
    beyond = {OUTSIDE: True} if OUTSIDE in form and number >= GATHERED else {}
    beyond |= {SHORTENED: True} if SHORTENED in form and number >= CUT_SHORT and kind == "item_set" else {}
    told = {"told": _told(form, kind, masked)} if "told" in form else {}
    return {"name": column_name(form, "name"), "kind": kind, "role": role, "masked": masked, **unit, **beyond, **told}


def _told(form: Form, kind: str, masked: object) -> list[str]:
    """Labels of a masked column that the codebook tells of and no row shows; the codebook's check compares them."""
    labels = [short(label, "'told'") for label in names(form, "told")]
    if not labels or kind != "category" or masked not in TOLD:
        raise CheckError("'told' lists labels that the codebook tells of a masked category without a tree")
    ascending(labels, "'told'")
    return labels


def _versions(form: Form, *, generated: bool) -> dict[str, str]:
    return {name: version(form, name) for name in (*VERSIONS, *((OF_NOISE,) if generated else ()))}


def _files(form: Form) -> dict[str, object]:
    return {name: {"sha256": sha256(mapping(form[name], "files"), "sha256")} for name in sorted(form)}


def _private(form: Form, columns: Sequence[str]) -> dict[str, object]:
    private, among = field(form, "private", bool), purposes(columns)
    events = [_event(event, among) for event in _some(form, "events", MOST_EVENTS)]
    # A masker prices uses of one kind alike, and each column at most twice: other prices could spell anything.
    if len({event["epsilon"] for event in events}) > 2 * len(columns) + len(PLAIN):
        raise CheckError("the uses of the data have more different prices than there are kinds of uses")
    return {
        "epsilon": str(fraction(form, "epsilon")),
        "delta": "0",
        "unit": UNIT,
        "private": private,
        **({} if private else {"warning": NOT_PRIVATE}),
        "events": events,
    }


def _event(form: Form, among: Collection[str]) -> dict[str, object]:
    parts = count(form, "parts", least=1, most=MOST_PARTS)
    return {
        "mechanism": one_of(form, "mechanism", sorted(MECHANISMS)),
        "purpose": known(field(form, "purpose", str), among),
        "epsilon": str(fraction(form, "epsilon")),
        "composition": "parallel" if parts > 1 else "sequential",
        "parts": parts,
    }
