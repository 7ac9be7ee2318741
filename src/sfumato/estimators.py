"""Sfumato as a scikit-learn transformer. It holds no logic: it makes a recipe, and calls what `publish` calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.types as pt
from narwhals import dependencies as frames
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_feature_names_in, check_consistent_length, check_is_fitted, validate_data

from sfumato.calls import constructed, expected
from sfumato.data.calendar import is_calendar_type
from sfumato.data.codes import is_list
from sfumato.data.masked import Masked
from sfumato.data.reading import read, read_arrow
from sfumato.data.schema import Attribute, Category, Number, Schema
from sfumato.data.shown import SUPPRESSED
from sfumato.data.table import Column, Table
from sfumato.errors import RecipeError, SchemaError, did_you_mean, quoted, warn
from sfumato.maskers.masker import Mask, Masker
from sfumato.maskers.partition.fit import Partition
from sfumato.privacy.requirements import ConfidenceBound, KAnonymity, Requirement
from sfumato.publishing.orders import learn
from sfumato.recipe import Recipe
from sfumato.structure.shown_numbers import ShownNumbers
from sfumato.structure.structures import Classes, Clusters, class_column

OUTPUTS = ("numbers", "labels")
UNSEEN = ("suppress", "refuse")
USUAL_K = 5
BY_Y = "y"
MANY_OUTSIDE = 0.1
"""The share of new rows that fall into no group from which on it is told."""


@constructed
class Recoder(TransformerMixin, BaseEstimator):
    """k-anonymous rows, as numbers or labels: **k is claimed for the rows that `fit_transform` gives, and no others**.

    New rows find the groups that were learned, but need not fill them: a group of 6 in the training rows may have 1 in
    the test rows. `group_sizes(X)` tells what rows have. Nothing is verified, and nothing is entered in the ledger:
    what leaves the house goes through `sf.publish`. The estimator itself holds what was learned from raw rows, and
    stays with whoever has those.

    Parameters
    ----------
    recipe : Recipe or path, optional
        What each column is, what must hold, and how to mask. Without one every column of `X` is a quasi-identifier,
        a number if it holds numbers and else a category, and `k` must hold on all of them together.
    k : int, optional
        How many rows must share what they show; 5, or as the recipe says.
    mask : Masker, optional
        `sf.Partition(...)` or `sf.TopDown(...)`; as the recipe says, or without one `Partition(extent="cuts")`, whose
        parts leave no gaps between them, so that new rows fall into one. A recipe that says nothing of extents has
        gaps: most new rows may fall between its groups.
    structure : "y" or Clusters, optional
        What must survive: the classes in `y`, or clusters of the rows. As the recipe says, or none: then `y` is not
        used.
    confidence : float, optional
        How sure nobody may be of anybody's `sensitive` value, a share such as 0.6; goes with `fit(X, sensitive=...)`.
    output : "numbers" or "labels"
        Numbers: the mean of the group, and of a category the share of each label in it, in a column for each label.
        Labels: what is shown, `[30-40)` and `{Chile, Peru}`. Numbers that are missing are not a number.
    unseen : "suppress" or "refuse"
        What happens to new rows with values that no group shows: they show nothing, of which a warning tells where
        they are many, or are refused.

    Attributes
    ----------
    recipe_ : Recipe
        What was asked.
    mask_ : Mask
        What was learned.
    n_features_in_, feature_names_in_
        As with every estimator of scikit-learn.

    Examples
    --------
    >>> ages = np.array([*range(20, 30), *range(60, 70)])[:, None]
    >>> shown = Recoder(k=10, output="labels").fit_transform(ages)
    >>> sorted({*shown.ravel()})
    ['[*..50)', '[50..*]']
    """

    def __init__(
        self,
        recipe: Recipe | str | Path | None = None,
        *,
        k: int | None = None,
        mask: Masker | None = None,
        structure: Any = None,
        confidence: float | None = None,
        output: str = "numbers",
        unseen: str = "suppress",
    ) -> None:
        self.recipe = recipe
        self.k = k
        self.mask = mask
        self.structure = structure
        self.confidence = confidence
        self.output = output
        self.unseen = unseen

    def fit(self, X: Any, y: ArrayLike | None = None, *, sensitive: ArrayLike | None = None) -> Self:
        """Learn the groups of rows. `sensitive`: a value for each row of which `confidence` is asked."""
        self._learn(X, y, sensitive)
        return self

    def fit_transform(self, X: Any, y: ArrayLike | None = None, *, sensitive: ArrayLike | None = None) -> Any:
        """Learn the groups of rows, and show these rows: each shows what at least k of them show."""
        return self._out(self._learn(X, y, sensitive))

    def transform(self, X: Any) -> Any:
        """Show rows as the groups that they fall into. Where many fall into none, a warning says so."""
        check_is_fitted(self)
        masked = self._masked(X)
        _tell_outside(masked)
        return self._out(masked)

    def group_sizes(self, X: Any) -> NDArray[np.int64]:
        """(rows,): how many of these rows show what each row shows. For rows that were not fitted it may be 1."""
        check_is_fitted(self)
        masked = self._masked(X)
        sizes = [masked.sizes(need.on)[masked.groups(need.on)] for need in self.recipe_.privacy]
        return np.asarray(np.min(sizes, axis=0), dtype=np.int64)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> NDArray[Any]:
        """The names of the columns that come out."""
        check_is_fitted(self)
        given = [str(name) for name in _check_feature_names_in(self, input_features)]
        renamed = dict(zip(self._columns, given, strict=True))
        if self.output == "labels":
            return np.array([renamed[name] for name in self._schema.kept], dtype=object)
        parts = self._numbers.columns.items()
        return np.array([one for name, columns in parts for one in columns.names(renamed[name])], dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = self.structure == BY_Y
        tags.transformer_tags.preserves_dtype = ["float64"] if self.output == "numbers" else []
        return tags

    def _learn(self, X: Any, y: ArrayLike | None, sensitive: ArrayLike | None) -> Masked:
        """Learn; what is shown of the rows."""
        _check_word("output", self.output, OUTPUTS)
        _check_word("unseen", self.unseen, UNSEEN)
        rows = self._rows(X, reset=True)
        recipe = _edited(_recipe(self.recipe, rows), self)
        _tell_classes(recipe, self)
        self._columns: list[str] = rows.column_names
        self._schema: Schema = recipe.schema
        recipe, beside = _beside(recipe, self, rows, {"y": y, "sensitive": sensitive})
        outcome = learn(beside, recipe)
        self.recipe_, self.mask_ = recipe, outcome.mask
        people = read(rows, self._schema)
        masked = outcome.masked.over(people)
        if self.output == "numbers":
            least = min(need.group_size or 1 for need in recipe.privacy)
            self._numbers = ShownNumbers.learn(people, masked, minimum=least)
        return masked

    def _masked(self, X: Any) -> Masked:
        mask: Mask = self.mask_
        schema = self._schema if self.unseen == "refuse" else self._schema.without_domains()
        people = read(self._rows(X, reset=False), schema)
        return mask.apply(people, unseen=self.unseen).over(people)

    def _out(self, masked: Masked) -> Any:
        if self.output == "numbers":
            return self._numbers.matrix(masked)
        shown = masked.to_arrow()
        cells = [shown.column(name).to_pylist() for name in self._schema.kept]
        return np.array(cells, dtype=object).reshape(len(cells), masked.rows).T

    def _rows(self, X: Any, *, reset: bool) -> pa.Table:
        """Rows as an Arrow table, under their names, or x0, x1, ... where they have none."""
        if frames.is_pandas_dataframe(X) or frames.is_polars_dataframe(X) or isinstance(X, pa.Table):
            validate_data(self, X, reset=reset, skip_check_array=True)
            found = read_arrow(X)
        else:
            least = 2 if reset else 1  # one row has nobody to hide among
            array = validate_data(
                self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan", ensure_min_samples=least
            )
            found = pa.table({str(at): _cells(array[:, at]) for at in range(array.shape[1])})
        names = getattr(self, "feature_names_in_", [f"x{at}" for at in range(found.num_columns)])
        return found.rename_columns([str(name) for name in names])


def _recipe(given: Recipe | str | Path | None, rows: pa.Table) -> Recipe:
    """The recipe that was given, or one by which every column is a quasi-identifier."""
    if given is not None:
        return Recipe.of(given)
    names = rows.column_names
    schema = Schema({name: _attribute(name, rows.column(name).type) for name in names})
    return Recipe(schema=schema, privacy=[KAnonymity(names, USUAL_K)], mask=Partition(extent="cuts"))


def _attribute(name: str, kind: pa.DataType) -> Attribute:
    if is_list(kind):
        raise SchemaError(
            name,
            "without a recipe every column holds numbers, dates or labels",
            given="a column of lists",
            remedy="leave it out of X, or give a recipe that declares it an sf.ItemSet",
        )
    if is_calendar_type(kind):
        return Number(role="quasi", calendar="day")
    number = pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind)
    return Number(role="quasi") if number else Category(role="quasi")


def _edited(recipe: Recipe, asked: Recoder) -> Recipe:
    """The recipe with another k, masker or structure, as far as they were given."""
    if asked.k is not None:
        recipe = replace(recipe, privacy=[_with_k(need, asked.k) for need in recipe.privacy])
    _check_structure(asked.structure, recipe.schema)
    column = class_column(asked.structure)
    if column is not None and column not in recipe.schema:
        raise RecipeError(
            "Recoder: structure",
            "classes that stand in no column of X are those in y",
            given=f"sf.Classes({column!r})",
            remedy='write structure="y", and fit(X, y)',
        )
    given: dict[str, Any] = {"mask": asked.mask, "structure": None if asked.structure == BY_Y else asked.structure}
    recipe = replace(recipe, **{name: one for name, one in given.items() if one is not None})
    if not recipe.privacy or not recipe.mask.guarantee.claims:
        raise RecipeError(
            "Recoder",
            "it shows groups of rows that look alike",
            given="a recipe without requirements, or with a masker that promises none",
            remedy="ask for k-anonymity, with sf.Partition() or sf.TopDown()",
        )
    return recipe


def _check_structure(given: Any, schema: Schema) -> None:
    """Refuse what is no structure; a column's name is answered with how its classes are kept."""
    if given is None or given == BY_Y:
        return
    remedy = 'write structure="y", and fit(X, y)'
    if isinstance(given, str) and given in schema:
        remedy = f"leave it out of X, and {remedy}"
        if schema[given].role in ("plain", "sensitive"):
            remedy += f"; or write structure=sf.Classes({given!r}), and it comes out with the others"
    expected(
        "Recoder: structure",
        given,
        (Clusters, Classes),
        rule='it is "y", sf.Clusters, or sf.Classes of a column of X',
        remedy=remedy,
    )


def _tell_classes(recipe: Recipe, asked: Recoder) -> None:
    """Warn of the classes of a recipe: they are a column of X, and come out with the others."""
    column = class_column(recipe.structure)
    if column is not None and asked.structure != BY_Y:
        warn(
            f"Recoder: the class column {quoted(column)} comes out with the others. Where it is to be predicted, "
            'leave it out of X and of the recipe, and say Recoder(structure="y") and fit(X, y)'
        )


def _tell_outside(masked: Masked) -> None:
    """Warn of new rows that no group shows, where they are many: all of them come out alike."""
    nothing = np.ones(masked.rows, dtype=np.bool_)
    for column in masked.values():
        shows = SUPPRESSED in column.labels if isinstance(column, Column) else False
        nothing &= column.keys == (column.labels.index(SUPPRESSED) if shows else -1)
    share = float(nothing.mean()) if masked.rows and len(masked) else 0.0
    if share < MANY_OUTSIDE:
        return
    cuts = 'mask=sf.Partition(extent="cuts"), in a recipe mask: {partition: {extent: cuts}}'
    warn(
        f"Recoder: new rows fall into no group, and show nothing ({share:.0%} of {masked.rows:,}): as numbers they all "
        f"stand where everybody does on average, and no model tells them apart. To mend it: say {cuts}, unless it says "
        "that already: its groups leave no gaps between values that were fitted; or fit more rows, mask fewer columns, "
        'or say unseen="refuse" to have such rows refused'
    )


def _with_k(need: Any, k: int) -> Requirement:
    changed: Requirement = replace(need, k=k) if "k" in need.claim() else need
    return changed


def _beside(
    recipe: Recipe, asked: Recoder, rows: pa.Table, given: Mapping[str, ArrayLike | None]
) -> tuple[Recipe, Table]:
    """With the columns that are asked about and do not come out: the classes in y, and what is sensitive."""
    if (asked.confidence is None) != (given["sensitive"] is None):
        raise RecipeError(
            "confidence",
            "how sure nobody may be goes with the values that it is about",
            given="one without the other",
            remedy="say Recoder(confidence=0.6) and fit(X, sensitive=values)",
        )
    if asked.structure == BY_Y:
        rows, name = _with_column(rows, "y", _classes(given["y"]))
        recipe = replace(recipe, schema=_with(recipe.schema, name), structure=Classes(name))
    if asked.confidence is not None:
        rows, name = _with_column(rows, "sensitive", given["sensitive"])
        bound = ConfidenceBound(recipe.schema.quasi, name, asked.confidence)
        recipe = replace(recipe, schema=_with(recipe.schema, name), privacy=[*recipe.privacy, bound])
    return recipe, read(rows, recipe.schema)


def _with(schema: Schema, name: str) -> Schema:
    return Schema({**schema, name: Category(role="sensitive", unique_ok=True)})


def _with_column(rows: pa.Table, name: str, values: Any) -> tuple[pa.Table, str]:
    """With one more column of labels, under a name that is free."""
    check_consistent_length(rows.columns[0], values)
    while name in rows.column_names:
        name += "_"
    return rows.append_column(name, pa.array([None if one is None else str(one) for one in values])), name


def _classes(y: ArrayLike | None) -> ArrayLike:
    """The classes of rows: there are some, and they are no measurements."""
    if y is None or type_of_target(y) not in ("binary", "multiclass"):
        given = "no y" if y is None else "numbers that are no classes"
        raise ValueError(
            f"Recoder: structure='y' keeps the classes in y. Given: {given}. To mend it: give classes, or "
            "leave structure out."
        )
    return y


def _cells(column: NDArray[Any]) -> pa.Array[Any]:
    try:
        found: pa.Array[Any] = pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):  # their messages quote cells
        raise TypeError("argument must be a string or a number, in each column one of both") from None
    return found


def _check_word(name: str, given: object, words: Sequence[str]) -> None:
    if given not in words:
        raise RecipeError(
            f"Recoder: {name}",
            f"it is one of {', '.join(words)}",
            given=repr(given),
            remedy=did_you_mean(str(given), words),
        )
