"""certificate.md and certificate.html: the certificate for people, made from certificate.json and nothing else.

Whoever publishes writes what these two functions give, and verify demands the same bytes: a page that says something
else than the certificate is found. So the pages of a format never change; a test holds them to the letter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from sfumato.privacy.verify.fields import Form, field, forms, mapping, names
from sfumato.privacy.verify.letters import listed, quoted, visible
from sfumato.privacy.verify.policies.wording import NOT_COMPLIANT, sentence, statement
from sfumato.privacy.verify.texts.labels import LABELS, told_in_words

NAMES = ("certificate.md", "certificate.html")
TITLE = "Certificate"
CHECK = "sfumato verify ."
REPORT = "report.html"
NOT_CHECKED = "What report.html says cannot be checked: sfumato verify --strict refuses a release that has one."
NEEDED = {
    ("k_map",): "A k_map is counted in the population's table, which has to be given: --population TABLE.",
    ("bcf_anonymity", "joint_k_anonymity"): "A claim about several releases is counted in all of them; the others have "
    "to be given: --with FOLDER.",
}
NAMING = ("sensitive", "value")
NOT_A_SETTING = {"claim", "on", "by", "achieved", "sentence", "attacker", "tree", "with"}
CSS = """
:root { --ink: #1c2126; --faint: #66707a; --line: #d5dade; --ground: #fff; --panel: #f5f7f8; --mark: #0072b2;
  color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8eb; --faint: #9aa5af; --line: #3a4249; --ground: #14181b;
  --panel: #1e2429; --mark: #6cbdf0; } }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 56rem; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; margin: 0 0 .5rem; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; padding-top: .7rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.02rem; margin: 1.5rem 0 .3rem; }
blockquote { margin: 1rem 0; padding: .8rem 1rem; background: var(--panel); border-left: 4px solid var(--mark);
  font-size: 1.08rem; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { text-align: left; padding: .28rem .8rem .28rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--faint); }
code { font: .88em/1.5 ui-monospace, monospace; background: var(--panel); padding: .05rem .3rem; }
@media print { :root { --ink: #000; --faint: #444; --line: #bbb; --ground: #fff; --panel: #f2f2f2; --mark: #0072b2;
    color-scheme: light; }
  body { max-width: none; padding: 0; font-size: 10.5pt; print-color-adjust: exact; }
  h2, h3 { break-after: avoid; } tr, blockquote, li { break-inside: avoid; } @page { margin: 16mm; } }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True)
class Text:
    """A paragraph, a heading or a quotation. `kind` is h1, h2, h3, p, blockquote or code."""

    kind: str
    text: str


@dataclass(frozen=True)
class Items:
    """A list."""

    texts: Sequence[str]


@dataclass(frozen=True)
class Rows:
    """A table with a heading over each column."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


Block = Text | Items | Rows


def markdown(form: Form) -> str:
    """The certificate as Markdown."""
    return "\n\n".join(_marked(block) for block in _document(form)) + "\n"


def html(form: Form) -> str:
    """The certificate as one page of HTML, without scripts, which loads nothing."""
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><title>{TITLE}</title><style>{CSS}</style>'
    )
    body = "\n".join(_tagged(block) for block in _document(form))
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n'


def _document(form: Form) -> Iterator[Block]:
    yield Text("h1", TITLE)
    yield Text("blockquote", field(form, "statement", str))
    made = {"Guarantee": "guarantee", "Masked by": "mask", "Made by Sfumato": "sfumato", "On": "created"}
    yield Items([f"{what}: {_plain(form[key])}" for what, key in made.items() if key in form])
    yield from _claims(form)
    yield from _epsilon(form)
    if "grounds" in form:
        yield Text("h2", "On what grounds")
        yield Text("p", _plain(form["grounds"]))
    if form.get("not_claimed"):
        yield Text("h2", "What is not claimed")
        yield Items(names(form, "not_claimed"))
    yield from _policies(form)
    if LABELS in form:
        yield Text("h2", "The labels")
        yield Items(told_in_words(form))
    yield from _table(form)
    yield Text("h2", "Check it yourself")
    yield Text("p", "In this folder every claim is recounted and every file compared by:")
    yield Text("code", CHECK)
    if REPORT in field(form, "files", dict):
        yield Text("p", NOT_CHECKED)
    yield from (Text("p", told) for told in needed([str(claim.get("claim")) for claim in forms(form, "claims")]))


def needed(claims: Sequence[str]) -> list[str]:
    """What verify must be given beside the folder, where the claims of these names are about more than it holds.

    >>> needed(["k_anonymity"])
    []
    """
    return [told for needing, told in NEEDED.items() if set(claims) & set(needing)]


def _claims(form: Form) -> Iterator[Block]:
    claims, covered = forms(form, "claims"), forms(form, "covered") if "covered" in form else ()
    if claims:
        yield Text("h2", "What is claimed, and against whom")
    for number, claim in enumerate(claims, start=1):
        yield Text("h3", f"{number}. {_plain(claim.get('claim'))} on {listed(names(claim, 'on'))}")
        yield Items([*_about(claim)])
    if covered:
        yield Text("h2", "What follows from that")
        yield Items([f"{_plain(c.get('claim'))} on {listed(names(c, 'on'))}: {_settings(c)}" for c in covered])


def _about(claim: Form) -> Iterator[str]:
    if "sentence" in claim:
        yield f"Claimed: {_plain(claim['sentence'])}."
    yield f"Settings: {_settings(claim)}"
    for other in forms(claim, "with") if "with" in claim else ():
        yield f"Beside the release of {_plain(other.get('created'))} with the certificate {_plain(other.get('sha256'))}"
    reached = claim.get("achieved")
    yield f"Counted in the file: {_listed(reached) if isinstance(reached, Mapping) else _plain(reached)}"
    if "attacker" in claim:
        yield f"Against an attacker who {_plain(claim['attacker'])}."


def _settings(claim: Form) -> str:
    return _listed({key: value for key, value in claim.items() if key not in NOT_A_SETTING})


def _listed(entries: Form) -> str:
    told = {key: quoted(str(entries[key])) for key in NAMING if isinstance(entries.get(key), str)}
    return ", ".join(f"{key} = {told.get(key) or _plain(value)}" for key, value in entries.items())


def _epsilon(form: Form) -> Iterator[Block]:
    if "differential_privacy" not in form:
        return
    part = mapping(form["differential_privacy"], "differential_privacy")
    yield Text("h2", "What was spent on what")
    yield Items([f"{key}: {_plain(value)}" for key, value in part.items() if key != "events"])
    headings = ("purpose", "mechanism", "composition", "parts", "epsilon")
    yield Rows(headings, [[_plain(event.get(key)) for key in headings] for event in forms(part, "events")])


def _policies(form: Form) -> Iterator[Block]:
    """What policies the release satisfies the checks of, check by check; nothing where none was asked for."""
    if "policies" not in form:
        return
    yield Text("h2", "Policies")
    for policy in forms(form, "policies"):
        yield Text("p", f"{statement(policy)}:")
        attested = names(policy, "attested")
        told = f"attested by the holder, and not checked: {', '.join(attested)}"
        yield Items([*map(sentence, forms(policy, "checks")), *([told] if attested else [])])
    yield Text("p", NOT_COMPLIANT)


def _table(form: Form) -> Iterator[Block]:
    table = field(form, "table", dict)
    yield Text("h2", "The table")
    yield Text(
        "p",
        f"{_plain(table.get('rows'))} rows; their order: {_plain(form.get('row_order'))}; "
        f"lifted to the top: {_plain(form.get('lifted'))}; "
        f"columns left out: {_plain(form.get('dropped'))}.",
    )
    headings = ("name", "kind", "role", "masked", "calendar")
    yield Rows(headings, [[_plain(column.get(key)) for key in headings] for column in forms(table, "columns")])
    yield Text("h2", "The files")
    hashes: dict[str, object] = field(form, "files", dict)
    found = [[name, _plain(mapping(entry, name).get("sha256"))] for name, entry in hashes.items()]
    yield Rows(("file", "SHA-256"), found)


def _plain(value: object) -> str:
    """A value of JSON as text; nothing is a dash."""
    if value is None:
        return "-"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)


def _marked(block: Block) -> str:
    if isinstance(block, Items):
        return "\n".join(f"- {escaped(text)}" for text in block.texts)
    if isinstance(block, Rows):
        lines = [block.headings, ["---"] * len(block.headings), *block.rows]
        return "\n".join(
            "| " + " | ".join(cell if cell == "---" else escaped(cell) for cell in line) + " |" for line in lines
        )
    if block.kind == "code":
        return f"    {block.text}"
    start = {"h1": "# ", "h2": "## ", "h3": "### ", "blockquote": "> "}.get(block.kind, "")
    return start + escaped(block.text)


def escaped(text: str) -> str:
    """Text in one line in which Markdown sees nothing but text.

    >>> print(escaped("a|b <c> hours_per_week"))
    a\\|b \\<c\\> hours_per_week
    """
    return re.sub(r"([\\`*\[\]<>|&#~$@]|(?<!\w)_|_(?!\w))", r"\\\1", visible(" ".join(text.split())))


def _tagged(block: Block) -> str:
    if isinstance(block, Items):
        return "<ul>" + "".join(f"<li>{_safe(text)}</li>" for text in block.texts) + "</ul>"
    if isinstance(block, Rows):
        head = "".join(f"<th>{_safe(cell)}</th>" for cell in block.headings)
        body = "".join("<tr>" + "".join(f"<td>{_safe(c)}</td>" for c in row) + "</tr>" for row in block.rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    if block.kind == "code":
        return f"<p><code>{_safe(block.text)}</code></p>"
    return f"<{block.kind}>{_safe(block.text)}</{block.kind}>"


def _safe(text: str) -> str:
    return escape(visible(text))
