"""A holder: a table that stays where it is, and what is answered about it.

A holder answers each question once, as its own copy of the recipe says and no other way: which recipe it has, how many
people it has for each combination of codes, and what its rows show under a mask. Rows come last, masked and shuffled,
as they will stand in the release. Under a budget it answers with a whole release of its own people, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from sfumato.data.grouping import first_rows, group_numbers
from sfumato.data.masked import Masked
from sfumato.data.reading import read
from sfumato.data.table import Table
from sfumato.errors import RecipeError, SfumatoError
from sfumato.holders.domains import coded, domains_of, in_order
from sfumato.maskers.masker import WHOLE
from sfumato.publishing import Run, publish
from sfumato.publishing.case import published_rows
from sfumato.randomness import Secure
from sfumato.recipe import Recipe
from sfumato.release.reading import DAMAGE

PLAIN = (pt.is_string, pt.is_large_string, pt.is_integer, pt.is_floating, pt.is_boolean)
Message = Mapping[str, Any]
"""A question or an answer: plain JSON."""


class Holder:
    """Owns one table and the recipe that its holder agreed to; answers questions, each once."""

    def __init__(self, table: object, recipe: Recipe | str | Path, *, run: Run | None = None) -> None:
        self._source, self.recipe, self._run = table, Recipe.of(recipe), run or Run(report=False)
        self._people: Table | None = None
        self._asked: set[str] = set()

    def answer(self, question: Message) -> dict[str, Any]:
        """What the holder says; mistakes are told in words, which never quote a cell."""
        answers = {"recipe": self._agreed, "tuples": self._tuples, "rows": self._rows, "release": self._release}
        asked = str(question.get("ask"))
        try:
            if asked not in answers or asked in self._asked:
                raise _refused("each of recipe, tuples, rows and release is asked once", "another question")
            self._asked.add(asked)
            return answers[asked](question)
        except SfumatoError as error:
            return {"error": str(error)}

    def _agreed(self, question: Message) -> dict[str, Any]:
        del question
        return {"recipe": recipe_digest(self.recipe)}

    def _tuples(self, question: Message) -> dict[str, Any]:
        """How many people have each combination of the needed columns; the order follows from the codes."""
        del question
        self._refuse_budget()
        columns = coded(self._table, domains_of(self.recipe))
        of_row = group_numbers(columns.values(), self._table.rows)
        first = first_rows(of_row)
        once = {name: column[first] for name, column in columns.items()}
        order = in_order(list(once.values()))
        counts = np.bincount(of_row)[order]
        return {"codes": {name: codes[order].tolist() for name, codes in once.items()}, "counts": counts.tolist()}

    def _rows(self, question: Message) -> dict[str, Any]:
        """The rows as they will stand in the release, in random order."""
        self._refuse_budget()
        try:
            mask = type(self.recipe.mask).read_mask(read_files(question))
        except DAMAGE:
            raise _refused("rows are asked for with a mask", "something else") from None
        shown = mask.apply(self._table)
        bare = sorted({*self.recipe.schema.quasi} - {*shown})
        if bare:
            raise _refused("a mask hides every quasi-identifier", f"one that leaves out {bare[0]}")
        rows = shown.over(self._table)
        order = pa.array(Secure().permutation(rows.rows))
        return {"rows": {name: _spelled(rows, name, order) for name in rows.names}}

    def _release(self, question: Message) -> dict[str, Any]:
        """A release of this holder's people under the budget, with noise of its own: every file of it."""
        del question
        if not self.recipe.mask.guarantee.spends:
            raise _refused("a release of one holder's people alone spends a budget", "a recipe without one")
        with TemporaryDirectory(prefix="sfumato-") as scratch:
            folder = publish(self._source, self.recipe, run=self._run).write(Path(scratch) / "release")
            files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
            return {"files": {name: base64.b64encode(path.read_bytes()).decode() for name, path in files.items()}}

    @property
    def _table(self) -> Table:
        if self._people is None:
            read_in = read(self._source, self.recipe.schema, encoding=self.recipe.encoding, query=self.recipe.query)
            self._people = published_rows(read_in, self.recipe)
        return self._people

    def _refuse_budget(self) -> None:
        if self.recipe.mask.guarantee.spends:
            raise _refused("under a budget nothing is counted without noise", "a question for counts or rows")


def _refused(rule: str, given: str) -> RecipeError:
    return RecipeError("holder", rule, given=given, remedy="ask as publish_together does")


def recipe_digest(recipe: Recipe) -> str:
    """The SHA-256 of what a recipe says, apart from where its table lies."""
    text = replace(recipe, table=None, query=None, encoding=None).to_yaml()
    return hashlib.sha256(text.encode()).hexdigest()


def mask_files(files: Mapping[str, Any]) -> dict[str, Any]:
    """The files of a mask as they travel: the whole of it, where the release tells a part."""
    before = f"{WHOLE}/"
    parts = {name: form for name, form in files.items() if not name.startswith(before)}
    return parts | {name.removeprefix(before): form for name, form in files.items() if name.startswith(before)}


def read_files(question: Message) -> dict[str, Any]:
    """The files of the mask that a question brings."""
    files = question.get("mask")
    if not isinstance(files, dict) or not all(isinstance(name, str) for name in files):
        raise _refused("rows are asked for with a mask", "none")
    return files


def _spelled(rows: Masked, name: str, order: pa.Array[Any]) -> list[Any]:
    column: Any = rows.shown(name).decode().take(order)
    if not any(is_so(column.type) for is_so in PLAIN):
        raise _refused("rows travel as texts, numbers and truth values", f"another type in {name}")
    found: list[Any] = column.to_pylist()
    return found
