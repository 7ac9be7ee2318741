"""Texts that a spreadsheet would take for a formula, and a form of them that it shows as text."""

from __future__ import annotations

import re

_RUN = re.compile("[=+\\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"-([0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?|inf)")
_MARKED = re.compile("'*[=+\\-@\t\r\n＝＋－＠]")


def would_run(text: str) -> bool:
    """Whether a spreadsheet that opens a CSV file may run this cell; a number is no danger.

    >>> would_run("=1+1"), would_run("-cmd"), would_run("-5"), would_run("a=b")
    (True, True, False, False)
    """
    return _RUN.match(text) is not None and _NUMBER.fullmatch(text) is None


def harmless(text: str) -> str:
    """The same text behind an apostrophe if it would run, or if it looks like one that was made harmless already.

    >>> harmless("=1+1"), harmless("'=1+1"), harmless("-5"), harmless("it's")
    ("'=1+1", "''=1+1", '-5', "it's")
    """
    marked = text.startswith("'") and _MARKED.match(text) is not None
    return f"'{text}" if marked or would_run(text) else text


def restored(text: str) -> str:
    """The text that was made harmless, as it was.

    >>> restored("'=1+1"), restored("''=1+1"), restored("-5"), restored("'tis")
    ('=1+1', "'=1+1", '-5', "'tis")
    """
    return text[1:] if text.startswith("'") and _MARKED.match(text) is not None else text
