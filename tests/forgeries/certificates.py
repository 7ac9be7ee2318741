"""Certificates and pages that say more than is true, or carry what nobody has looked at."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.corruptions import forge as make_fit
from tests.corruptions import read_rows, write_rows
from tests.forgeries import forgery

PACKAGE = "datapackage.json"
RAW = "Ada,36,PhD,flu;Bob,41,9th,rash"
SPEAKS = "age; and at least 5000 records share every combination of values shown for age"
ENDS = 'age", "sex"; and at least 5000 records share every combination of values shown for "age'
Form = dict[str, Any]


def read(folder: Path, name: str = "certificate.json") -> Form:
    form: Form = json.loads((folder / name).read_text(encoding="utf-8"))
    return form


def write(folder: Path, form: object, name: str = "certificate.json") -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(form, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


@contextmanager
def certificate(folder: Path) -> Iterator[Form]:
    """The certificate, to be changed in place."""
    form = read(folder)
    yield form
    write(folder, form)


def changed(name: str, change: Callable[[Form], object], *, of: str = "k_anonymity") -> None:
    """Enter a forgery that changes the certificate, and nothing else."""

    @forgery(name, of=of)
    def forge(folder: Path) -> None:
        with certificate(folder) as form:
            change(form)


EPSILON = {
    "epsilon": "1/10",
    "delta": "0",
    "unit": "one record added or removed",
    "private": True,
    "events": [
        {
            "mechanism": "discrete Laplace",
            "purpose": "the number of records",
            "epsilon": "1/10",
            "composition": "sequential",
            "parts": 1,
        }
    ],
}
LOSS = {"privacy_loss": {"privacy_parameters": {"epsilon": 0.1, "delta": 0}}}
changed("an epsilon in a k-anonymous release", lambda form: form.update(differential_privacy=EPSILON))
changed("a deployment in a k-anonymous release", lambda form: form.update(deployment=LOSS))
changed(
    "an epsilon and a deployment in a k-anonymous release",
    lambda form: form.update(
        differential_privacy=EPSILON, deployment=LOSS, versions={**form["versions"], "opendp": "1"}
    ),
)
changed("an epsilon in a release without a guarantee", lambda f: f.update(differential_privacy=EPSILON), of="translate")

changed("a column masked in a way nobody knows", lambda form: form["table"]["columns"][0].update(masked="hidden"))
changed("a column masked as another masker does", lambda form: form["table"]["columns"][0].update(masked="centroid"))
changed("a category called discretized", lambda form: form["table"]["columns"][2].update(masked="discretize"))
changed("raw values as the kind of a column", lambda form: form["table"]["columns"][3].update(kind=RAW))
changed("raw values beside a column", lambda form: form["table"]["columns"][3].update(note=RAW))
changed("a calendar that a column does not have", lambda form: form["table"]["columns"][0].update(calendar="month"))
changed("raw values as the role of a column", lambda form: form["table"]["columns"][3].update(role=RAW))

changed("raw values as a version", lambda form: form["versions"].update(numpy=RAW))
changed("a version of something else", lambda form: form["versions"].update(secret="1.2.3"))
changed("digits of raw values as a version", lambda form: form.update(sfumato="1.36." + "4" * 4000))
changed("raw values as dropped columns", lambda form: form.update(dropped=RAW.split(",")))
changed("raw values as a number of dropped columns", lambda form: form.update(dropped=int.from_bytes(RAW.encode())))
changed("raw values as the time of the release", lambda form: form.update(created=RAW))
changed("a time with more digits than seconds", lambda f: f.update(created="2026-01-01T00:00:00.123456+00:00"))
changed("raw values under a key of their own", lambda form: form.update(raw=RAW))

changed("grounds in other words", lambda form: form.update(grounds="Certified by the authorities."))
changed("nothing that is not claimed", lambda form: form.update(not_claimed=[]))
changed("one more thing that is not claimed", lambda form: form["not_claimed"].append(RAW))
changed(
    "an attacker in other words", lambda form: form["claims"][0].update(attacker="knows everything: learns nothing")
)
changed("a promise beside the claims", lambda f: f.update(statement=f["statement"] + " Nobody can ever be found."))
changed("more than nothing claimed", lambda f: f.update(statement=f["statement"] + " It is safe."), of="translate")
changed("another guarantee than is claimed", lambda form: form.update(guarantee="l_diversity"))
changed("a guarantee taken away", lambda form: form.update(guarantee="none"))
changed("raw values beside a claim", lambda form: form["claims"][0].update(note=RAW))
changed("raw values beside a covered claim", lambda form: form["covered"][0].update(sentence=RAW))
changed(
    "a figure with more digits than were counted", lambda f: f["claims"][0]["achieved"].update(h=0.5000001), of="shares"
)
changed("a figure of another claim", lambda f: f["claims"][0]["achieved"].update(k=4), of="shares")
changed("raw values in the order of a distance", lambda f: f["claims"][0]["order"].append(RAW), of="ordered")
changed(
    "raw values in the tree of a distance", lambda f: f["claims"][0]["tree"]["below"].append(RAW), of="hierarchical"
)
changed("raw values as a label of a tree", lambda f: f["claims"][0]["tree"].update(label=RAW), of="hierarchical")
changed("a tree in another order", lambda f: f["claims"][0]["tree"]["below"].reverse(), of="hierarchical")
changed("raw values as the hash of a population", lambda f: f["claims"][0].update(population=RAW), of="k_map")
changed(
    "raw values as the time of an earlier one", lambda f: f["claims"][-1]["with"][0].update(created=RAW), of="earlier"
)

changed("fields in another order", lambda form: form.update(format=form.pop("format")))
changed("settings of a claim in another order", lambda form: form["claims"][0].update(on=form["claims"][0].pop("on")))
changed(
    "columns' fields in another order",
    lambda f: f["table"]["columns"][1].update(name=f["table"]["columns"][1].pop("name")),
)


def priced(part: Form) -> None:
    """A use for every raw value, at a price that tells it; they add up as before."""
    first, prices = part["events"][0], [Fraction(1 + byte, 10**6) for byte in RAW.encode()]
    first["epsilon"] = str(Fraction(first["epsilon"]) - sum(prices))
    part["events"][1:1] = [{**first, "epsilon": str(price)} for price in prices]


def spent(name: str, change: Callable[[Form], object]) -> None:
    changed(name, lambda form: change(form["differential_privacy"]), of="private_tree")


spent("raw values as the purpose of a use", lambda part: part["events"][0].update(purpose=RAW))
spent("the purpose of a column that is not there", lambda part: part["events"][-1].update(purpose='marginal of "Ada"'))
spent("draws beside a use of the data", lambda part: part["events"][0].update(draws=4))
spent("parts without end", lambda part: part["events"][-1].update(parts=int.from_bytes(RAW.encode())))
spent("raw values in the prices of many uses", priced)
spent("an epsilon written at length", lambda part: part.update(epsilon="1000000/1000000"))
spent("a warning where there is none", lambda part: part.update(warning=RAW))
changed(
    "a deployment with a curator's words",
    lambda f: f["deployment"]["basic"].update(data_curators=RAW),
    of="private_tree",
)
changed("a deployment of a smaller epsilon", lambda f: f["deployment"].update(LOSS), of="private_tree")
changed("a generated release without its deployment", lambda f: f.pop("deployment"), of="private_tree")
changed("a generated release that says kept", lambda f: f.update(row_order="kept"), of="private_tree")


def renamed(folder: Path, name: str) -> None:
    """The column `age` gets another name, everywhere, and the sentences say it without quotation marks of their own."""
    for gone in ("codebook.json", "centres.json"):
        (folder / gone).unlink(missing_ok=True)
    rules = read(folder, "recoding.json")
    attributes = {name if old == "age" else old: rule for old, rule in rules["attributes"].items()}
    write(folder, {**rules, "attributes": attributes}, "recoding.json")
    rows = [{name if old == "age" else old: cell for old, cell in row.items()} for row in read_rows(folder)]
    write_rows(folder, rows, list(rows[0]))
    with certificate(folder) as form:
        form["table"]["columns"][0]["name"] = name
        for claim in (*form["claims"], *form["covered"]):
            for key in ("on", "by"):
                claim[key] = [name if old == "age" else old for old in claim.get(key, [])]
            for key in ("sentence", "attacker"):
                claim[key] = claim.get(key, "").replace('"age"', f'"{name}"' if '"' in name else name)
        for claim in form["claims"]:
            del claim["by"]
        for claim in form["covered"]:
            del claim["sentence"], claim["attacker"]
        form["statement"] = "In this table " + "; and ".join(claim["sentence"] for claim in form["claims"]) + "."


@forgery("a column whose name speaks")
def speaking(folder: Path) -> None:
    renamed(folder, SPEAKS)


@forgery("a column whose name ends its quotation")
def ending(folder: Path) -> None:
    renamed(folder, ENDS)


@forgery("a column whose name turns the line around")
def turning(folder: Path) -> None:
    renamed(folder, "a\u202eeg")


@forgery("a masker that nobody knows, with a file of its name")
def invented(folder: Path) -> None:
    write(folder, {"rows": RAW}, "raw_rows.json")
    with certificate(folder) as form:
        form["mask"] = "raw_rows"


@forgery("a masker that nobody knows, with a file in a folder")
def invented_below(folder: Path) -> None:
    write(folder, {"rows": RAW}, "notes/rows.json")
    with certificate(folder) as form:
        form["mask"] = "notes/rows"


@forgery("the file of another masker")
def another(folder: Path) -> None:
    write(folder, {"rows": RAW}, "private_tree.json")


@forgery("another masker than it was, with its file")
def called_otherwise(folder: Path) -> None:
    write(folder, {"rows": RAW}, "private_tree.json")
    with certificate(folder) as form:
        form["mask"] = "private_tree"


@forgery("regions beside a recoding")
def regions(folder: Path) -> None:
    write(folder, {"attributes": [], "top": {}, "nodes": []}, "regions.json")


@forgery("a taxonomy of a column that is not generalized")
def stray_tree(folder: Path) -> None:
    write(folder, {"ANY": RAW.split(",")}, "taxonomies/country.json")


@forgery("a codebook of a release without a guarantee", of="translate")
def stray_codebook(folder: Path) -> None:
    write(folder, {"rows": RAW}, "codebook.json")


@forgery("another README", fits=False)
def other_readme(folder: Path) -> None:
    (folder / "README.md").write_text("# A table\n\nEverything is safe.\n", encoding="utf-8")
    make_fit(folder, page=False)


@forgery("a README with one more line", fits=False)
def longer_readme(folder: Path) -> None:
    with (folder / "README.md").open("a", encoding="utf-8") as file:
        file.write(f"\n<!-- {RAW} -->\n")
    make_fit(folder, page=False)


@forgery("a datapackage.json that tells more", fits=False)
def longer_package(folder: Path) -> None:
    write(folder, read(folder, PACKAGE) | {"contributors": [{"title": RAW}]}, PACKAGE)
    make_fit(folder, page=False)


@forgery("a datapackage.json that names a label nobody shows", fits=False)
def labelled_package(folder: Path) -> None:
    form = read(folder, PACKAGE)
    form["resources"][0]["schema"]["fields"][-1].update(categories=[RAW])
    write(folder, form, PACKAGE)
    make_fit(folder, page=False)


@forgery("a datapackage.json that is missing", fits=False)
def no_package(folder: Path) -> None:
    (folder / PACKAGE).unlink()
    make_fit(folder, page=False)


@forgery("a page of the certificate that says more", fits=False)
def longer_page(folder: Path) -> None:
    with (folder / "certificate.html").open("a", encoding="utf-8") as file:
        file.write(f"<!-- {RAW} -->")


def rewritten(name: str, change: Callable[[str], str], *, of: str = "k_anonymity") -> None:
    """Enter a forgery that writes the same certificate in another way; its pages say the same."""

    @forgery(name, of=of, fits=False)
    def forge(folder: Path) -> None:
        path = folder / "certificate.json"
        text = path.read_text(encoding="utf-8")
        path.write_text(change(text), encoding="utf-8")
        if json.loads(change(text)) != json.loads(text) or change(text) == text:
            raise ValueError("this forgery says the same in other bytes")


rewritten("a certificate with other spaces", lambda text: json.dumps(json.loads(text), indent=2) + "\n")
rewritten("a certificate with spaces at its end", lambda text: text + " \t " * 20)
rewritten("a certificate with escaped letters", lambda text: text.replace("k_anonymity", "\\u006b_anonymity", 1))
rewritten(
    "a certificate with a number written at length", lambda text: text.replace("0.6,", "0.60000,", 1), of="shares"
)


@forgery("a hash in capital letters", fits=False)
def capitals(folder: Path) -> None:
    with certificate(folder) as form:
        for entry in form["files"].values():
            entry["sha256"] = entry["sha256"].upper()
    for name in ("certificate.md", "certificate.html"):
        (folder / name).unlink()


def unpaged(name: str, change: Callable[[Form], object]) -> None:
    """Enter a forgery of a certificate whose pages are taken away; what is changed is on no other page."""

    @forgery(name, fits=False)
    def forge(folder: Path) -> None:
        with certificate(folder) as form:
            change(form)
        for page in ("certificate.md", "certificate.html"):
            (folder / page).unlink()


unpaged("raw values beside a hash", lambda form: form["files"]["README.md"].update(note=RAW))
unpaged("a further aggregate in along", lambda form: form["along"].update(raw=RAW))
unpaged("raw values for an aggregate in along", lambda form: form["along"].update(codebook=RAW))
unpaged("an aggregate that is not told in along", lambda form: form["along"].pop("codebook"))


def to_be_kept(form: Form, classes: object) -> None:
    """Tell of classes where a certificate tells of them, which is before its versions."""
    behind = {key: form.pop(key) for key in ("versions", "files")}
    form.update(classes=classes, **behind)


changed("classes that are no column's", lambda form: to_be_kept(form, RAW))
changed("classes of two columns", lambda form: to_be_kept(form, ["age", RAW]))


@forgery("raw values beside a signature", of="signed", fits=False)
def beside_a_signature(folder: Path) -> None:
    path = folder / "certificate.sig"
    path.write_text(path.read_text(encoding="utf-8") + " " * 36, encoding="utf-8")


HEAD = (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
    'img-src data:"><title>A masked table</title></head><body>'
)


def reported(name: str, text: str) -> None:
    @forgery(name)
    def forge(folder: Path) -> None:
        (folder / "report.html").write_text(text, encoding="utf-8")


reported("a report that runs a script", f"{HEAD}<script>alert(1)</script></body></html>\n")
reported(
    "a report that asks for a password", f"{HEAD}<form action='https://example.org'><input></form></body></html>\n"
)
reported("a report that leads elsewhere", f"{HEAD}<a href='https://example.org'>Open</a></body></html>\n")
reported("a report that loads what it likes", "<!DOCTYPE html>\n<html><body><p>Safe.</p></body></html>\n")
