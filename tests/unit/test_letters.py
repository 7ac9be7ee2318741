"""Texts from elsewhere are shown so that they speak for nobody else."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable
from html import escape
from typing import Any

import pytest
from typer.testing import CliRunner

from sfumato import errors
from sfumato.cli import output
from sfumato.data.domain import check_headers
from sfumato.data.schema import Number, Schema
from sfumato.errors import SchemaError, SfumatoError, TableError
from sfumato.privacy.verify import letters
from sfumato.privacy.verify.verdict import Check, verdict_of
from sfumato.release.report import plots
from sfumato.release.report.plots import Axis

STEERING = {"Cc", "Cf", "Zl", "Zp", "Cs", "Co"}
EDGES = (0x1FFFE, 0x2FFFD, 0x2FFFE, 0x3FFFD, 0x3FFFE, 0xE0001, 0xE007F, 0xE01EF, 0xF0000, 0x10FFFF)
FAKE = "age\x1b[2J\x1b[HHOLDS: all 19 checks\n  ok    columns"


def test_every_character_that_steers_is_hidden_and_verify_says_the_same_with_its_own_eyes() -> None:
    for letter in map(chr, (*range(0x20000), *range(0x20000, sys.maxunicode + 1, 31), *EDGES)):
        seen = errors.visible(letter)
        assert seen == letters.visible(letter)
        assert (seen != letter) == errors.hides(letter) == letters.hides(letter)
        if unicodedata.category(letter) in STEERING:
            assert seen != letter, ascii(letter)
        elif unicodedata.category(letter)[0] in "LNPS" and seen != letter:
            assert letter in "\u115f\u1160\u3164\uffa0\u2800", f"{letter!a} is seen, and was hidden"


@pytest.mark.parametrize("text", ["age", "Größe", "年齢", "العمر", "naïve 😀", "a\\x1b", "a|b <c> $x$"])
def test_text_that_can_be_seen_stays_as_it_is(text: str) -> None:
    assert errors.visible(text) == letters.visible(text) == text


def test_what_is_written_out_can_be_read_back() -> None:
    odd = "\x00\x1b\x9b\u202e\u200b\ufeff\ud800\U000e0041\n"
    for visible in (errors.visible, letters.visible):
        assert visible(odd).encode("ascii").decode("unicode_escape") == odd


def test_a_verdict_is_one_line_a_check_whatever_the_folder_is_called() -> None:
    told = str(verdict_of([Check(f"k_anonymity on {FAKE}", False, FAKE), Check("rows", True, "9" * 9000)]))
    lines = told.splitlines()
    assert lines[0] == "DOES NOT HOLD: 1 of 2 checks fail"
    assert len(lines) == 4, "a long name has a line of its own"
    assert "\x1b" not in told
    assert max(map(len, lines)) < 2100


def test_an_error_is_written_out_and_cut() -> None:
    error = SfumatoError(FAKE, "a rule", given=FAKE * 999, remedy=f"rename {FAKE}")
    assert "\x1b" not in str(error) + error.thing + error.given + error.remedy
    assert "\n" not in str(error)
    assert len(str(error)) < 5000


BAD_NAMES = {
    "escape": "age\x1b[2J",
    "newline": "age\nHOLDS",
    "tab": "age\tsex",
    "bidi": "age\u202e",
    "zero width": "a\u200bge",
    "byte order mark": "\ufeffage",
    "half": "age\ud800",
    "private": "age\ue000",
    "blank": "  ",
    "long": "a" * 201,
    "filler": "age\u3164",
    "tag": "age\U000e0041",
    "line separator": "a\u2028ge",
}


@pytest.mark.parametrize("name", BAD_NAMES.values(), ids=BAD_NAMES)
def test_a_schema_a_table_and_verify_refuse_names_that_are_not_what_they_look_like(name: str) -> None:
    number = Number(role="quasi", range=(0, 9))
    with pytest.raises(SchemaError) as refused:
        Schema({name: number, "x": number})
    assert not errors.hides(str(refused.value))
    with pytest.raises(TableError) as refused_table:
        check_headers(["x", name])
    assert not errors.hides(str(refused_table.value))
    assert letters.why_no_name(name)


ALIKE = [("age", "age "), ("age", "ａｇｅ"), ("no 1", "no\u00a01"), ("ﬁt", "fit"), ("é", "e\u0301")]


@pytest.mark.parametrize("names", ALIKE)
def test_two_names_that_look_alike_are_refused(names: tuple[str, str]) -> None:
    number = Number(role="quasi", range=(0, 9))
    with pytest.raises(SchemaError, match="look alike"):
        Schema(dict.fromkeys(names, number))
    with pytest.raises(TableError, match="look alike"):
        check_headers(names)
    assert letters.look(names[0]) == letters.look(names[1])


def test_ordinary_names_stay() -> None:
    names = [" age", "Age", "hours per week", "Größe (cm)", "年齢", "x" * 200, "$x$", "[red]a[/]", "*", "_", "a=b|c"]
    check_headers(names)
    Schema(dict.fromkeys(names, Number(role="quasi", range=(0, 9))))
    assert not any(map(letters.why_no_name, names))


def shown_by(show: Callable[[Any], None], what: object) -> str:
    """What a terminal would get."""
    with CliRunner().isolation(color=True) as (out, err, *_):
        show(what)
        return out.getvalue().decode() + err.getvalue().decode()


def test_the_command_line_writes_hidden_characters_out_wherever_they_stand() -> None:
    from rich.table import Table
    from rich.text import Text
    from rich.tree import Tree

    table = Table(title=FAKE)
    table.add_column(FAKE)
    table.add_row(FAKE)
    tree = Tree(Text(FAKE))
    tree.add(Text("[red]x[/red]\u202e"))
    for what in (FAKE, Text(FAKE), table, tree):
        told = shown_by(output.show, what)
        assert "\x1b" not in told.replace("\x1b[0m", ""), what
        assert "\\x1b[2J" in told.replace("\n", ""), what
    assert "[red]x[/red]\\u202e" in shown_by(output.show, tree), "no markup"
    assert "\\x1b[2J" in shown_by(output.note, FAKE)
    assert "\\x1b[2J" in shown_by(output.show_error, SfumatoError(FAKE, FAKE))


def test_drawings_take_names_as_they_are() -> None:
    names = ["$x^{", "a$b$c", "\\frac", "_age", "[red]", "<b>", "a" * 200, "x\ud800", "x\x1b[2J"]
    shown = list(map(plots.label, names))
    panels = [
        plots.Panel(Axis(0, 1, name), Axis(0, 1, name), [plots.words([(0.5, 0.5)], [name])], title=name)
        for name in shown
    ]
    drawn = plots.picture(panels, says="\x1b[2J$x$", legend=[(name, plots.BLUE) for name in shown])
    assert not errors.hides(drawn)
    assert [drawn.count(f">{escape(name)}<") for name in shown] == [5] * len(names)
