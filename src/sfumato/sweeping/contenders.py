"""The recipes that advice compares: what is asked stays, the masker changes; then the best with other privacy.

Each is told as settings that `publish --set` takes, and with what it costs in words.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sfumato.data.schema import Number
from sfumato.data.yaml_files import dump_yaml
from sfumato.errors import RecipeError
from sfumato.maskers.histogram.pairs import advised
from sfumato.maskers.registry import name_of
from sfumato.privacy.budget import Budget
from sfumato.publishing.tries import FEWEST, ks_of, with_k
from sfumato.recipe import Recipe
from sfumato.recipe.settings import EVERYWHERE

AS_IT_IS = "as it is"
HALF, DOUBLE = Fraction(1, 2), Fraction(2)
LOCAL = "values may be shown finer in one group than in another"
RECODED = (
    ("partition", "mask={partition: {}}", f"{LOCAL}; a group also tells what nobody in it has"),
    ("cuts", "mask={partition: {extent: cuts}}", f"{LOCAL}; a group tells only where it was cut"),
    ("top_down", "mask={top_down: {}}", "a value has one meaning in the whole table: the easiest to work with"),
    ("mondrian", "mask={mondrian: {}}", f"{LOCAL}; what other programs offer"),
)
AVERAGED = ("microaggregate", "mask={microaggregate: {}}", "numbers stay numbers, and are those of nobody: group means")
NOBODYS = "rows are generated, and are nobody's"
IN_PAIRS = f"{NOBODYS}; pairs of columns are counted in place of parts of the records"


@dataclass(frozen=True)
class Contender:
    """A recipe to compare: its short name, the settings that make it as `--set` takes them, and its price in words.

    `note`: how it differs from what was asked, for a second line; `asked`: it promises what the recipe asks for.
    """

    name: str
    changes: tuple[str, ...]
    price: str
    note: str = ""
    asked: bool = True

    @property
    def title(self) -> str:
        """In one line.

        >>> Contender("partition", (), "", note="k 5").title
        'partition, k 5'
        """
        return f"{self.name}, {self.note}" if self.note else self.name

    @property
    def settings(self) -> str:
        """What is typed after `sfumato publish RECIPE`; nothing for the recipe as it is."""
        return " ".join(f"--set {shlex.quote(change)}" for change in self.changes)

    def recipe(self, recipe: Recipe) -> Recipe:
        """The recipe with its settings; refused where they do not go together."""
        if not self.changes:
            return recipe
        return Recipe.from_yaml(recipe.to_yaml(), changes=self.changes, allow=EVERYWHERE)


def maskers(recipe: Recipe, *, note: str = AS_IT_IS) -> Iterator[Contender]:
    """The recipe as it is, and with other maskers for the same requirements; those that are the same come once."""
    yield Contender(name_of(recipe.mask), (), "nothing is changed", note=note)
    for name, change, price in _generated(recipe) if recipe.mask.guarantee.spends else _recoded(recipe):
        one = Contender(name, (change,), price)
        if not _same(one, recipe):
            yield one


def _recoded(recipe: Recipe) -> Iterator[tuple[str, str, str]]:
    """Those that mask records; group means where all that is masked is numbers."""
    yield from (*RECODED[:2], *([AVERAGED] if _all_numbers(recipe) else []), *RECODED[2:])


def _generated(recipe: Recipe) -> Iterator[tuple[str, str, str]]:
    """Those that spend a budget; what the recipe's own masker declares of the table holds whatever masks it."""
    said, pairs = recipe.mask.declarations, advised(recipe.schema)
    yield "private_tree", _setting("private_tree", said), NOBODYS
    if pairs > 0:
        yield "pairs", _setting("private_tree", {"pairs": pairs, **said}), IN_PAIRS
    yield "dp_heter", _setting("dp_heter", said), NOBODYS


def _setting(name: str, settings: Mapping[str, Any]) -> str:
    """A masker in one line, as `--set` takes it.

    >>> _setting("private_tree", {"pairs": 5, "may_miss": ["age", "a: b"]})
    "mask={private_tree: {pairs: 5, may_miss: [age, 'a: b']}}"
    """
    return f"mask={dump_yaml({name: dict(settings)}, default_flow_style=True, width=10**6).strip()}"


def _all_numbers(recipe: Recipe) -> bool:
    return all(isinstance(recipe.schema[name], Number) for need in recipe.privacy for name in need.on)


def _same(one: Contender, recipe: Recipe) -> bool:
    try:
        return one.recipe(recipe).mask == recipe.mask
    except RecipeError:  # told when it is tried
        return False


def other_privacy(recipe: Recipe, best: Contender) -> Iterator[Contender]:
    """The best with half and with double of k, or of epsilon."""
    if recipe.mask.guarantee.spends:
        yield from _other_epsilon(recipe, best)
        return
    sizes = sorted(set(ks_of(recipe).values()))
    for word, privacy, factor in (("half of k", "less", HALF), ("double k", "more", DOUBLE)):
        changes = with_k(recipe, _times(factor))
        if changes:
            now = max(FEWEST, _times(factor)(sizes[0]))
            price = f"{privacy} privacy: everybody is one of {now}, not of {sizes[0]}"
            note = f"k {now}" if len(sizes) == 1 else word
            yield replace(best, changes=(*best.changes, *changes), price=price, note=note, asked=False)


def _times(factor: Fraction) -> Callable[[int], int]:
    return lambda k: int(k * factor)


def _other_epsilon(recipe: Recipe, best: Contender) -> Iterator[Contender]:
    match recipe.budget:
        case Budget(epsilon=epsilon, total=total):
            for word, other in (("more", epsilon / 2), ("less", epsilon * 2)):
                rest = "" if total is None else f", total: {total}"
                changes = (*best.changes, f"budget={{epsilon: {other}{rest}}}")
                price = f"{word} privacy: epsilon {other}, not {epsilon}"
                yield replace(best, changes=changes, price=price, note=f"epsilon {other}", asked=False)
