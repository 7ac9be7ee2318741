"""A run and the holder's ledger: under whose name it is entered, what was released before, what it may spend.

Under differential privacy a release promises how its rows were made, which its uses of the data tell.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Protocol

from sfumato.data.sources.source import RawTable
from sfumato.data.table import Table
from sfumato.errors import ReleaseError, SfumatoError, visible, warn
from sfumato.maskers.masker import Guarantee
from sfumato.maskers.registry import masker_named, name_of
from sfumato.privacy.budget import UNIT, Event, Spending
from sfumato.privacy.ledger import Account, Entry, Known, Ledger, Likeness, People, Rules
from sfumato.privacy.mechanisms import Mechanisms, noise_of
from sfumato.privacy.verify.canonical import FORMAT, OF_NOISE
from sfumato.privacy.verify.texts import readme, wording
from sfumato.privacy.verify.texts.wording import Deployed, deployment
from sfumato.randomness import Randomness
from sfumato.recipe import Recipe
from sfumato.release.certificate import Claim, Promise, Recounted

ALONE = "no_differencing"
"""What is attested where no other table of these people is out."""
SHORT = 8
"""So many digits of an entry's id are shown."""


class Costs(Protocol):
    """What a run spends of a privacy budget, and what may be promised for it."""

    @property
    def mechanisms(self) -> Mechanisms | None:
        """The only way to private data for maskers that spend."""

    @property
    def entered(self) -> bool:
        """Whether the release is entered in the ledger."""

    def reserving(self, account: Account | None, recipe: Recipe) -> AbstractContextManager[None]:
        """Entered in the ledger before anything is spent, and compared with what was spent after."""

    def promise(self, guarantee: Guarantee) -> Promise:
        """What may be promised once the masker is done."""


@dataclass(frozen=True)
class Free:
    """Nothing is spent: what is promised is recounted from the written file."""

    mechanisms: ClassVar[None] = None
    entered: ClassVar[bool] = True

    def reserving(self, account: Account | None, recipe: Recipe) -> AbstractContextManager[None]:
        """Nothing to reserve."""
        return nullcontext()

    def promise(self, guarantee: Guarantee) -> Promise:
        """What is claimed."""
        return Recounted(guarantee)


@dataclass(frozen=True, eq=False)
class Priced:
    """A budget, spent through mechanisms."""

    mechanisms: Mechanisms

    @property
    def entered(self) -> bool:
        """Noise from a seed is not private, and never entered."""
        return self.mechanisms.noise.private

    def reserving(self, account: Account | None, recipe: Recipe) -> AbstractContextManager[None]:
        """Under the account's people; without one, for noise from a seed, what was spent is compared only."""
        if account is None:
            return Ledger().reserved(People(""), self.mechanisms, mask="")
        mask, whole = name_of(recipe.mask), recipe_hash(recipe)
        return account.ledger.reserved(account.people, self.mechanisms, mask=mask, recipe=whole)

    def promise(self, guarantee: Guarantee) -> Promise:
        """Epsilon, and what it went to."""
        return Differential.of(self.mechanisms)


def costs_of(recipe: Recipe, chance: Randomness) -> Costs:
    """What publishing by a recipe spends."""
    return Free() if recipe.budget is None else Priced(Mechanisms(Spending(recipe.budget), noise_of(chance)))


class Accounting:
    """Owns what the ledger gets to see of one run: the rules of the recipe, then the table as it is read.

    A run whose noise comes from a seed is not private and never entered: the ledger is not even opened. With
    `trial` nothing will be written, so that earlier releases are neither told nor in the way.
    """

    def __init__(self, recipe: Recipe, costs: Costs, ledger: Ledger, *, trial: bool = False) -> None:
        self.recipe, self.ledger, self.trial = recipe, ledger, trial
        self.entered = costs.entered
        self._seen: Likeness | None = None

    def begin(self) -> None:
        """Refuse what the ledger forbids: once the table is read, so that its mistakes are told first."""
        if self.entered and not self.trial:
            rules_of(self.recipe).refuse(self.ledger.entries())

    def look(self, table: RawTable) -> None:
        """See the table as it was read, before the recipe changes anything in it."""
        if self.entered:
            self._seen = self.ledger.look(table)

    def account(self, people: Table) -> Account | None:
        """Where a release of these people will be entered. Warns of what can be joined with it."""
        if self._seen is None:
            return None
        whose = self.ledger.people_of(self._seen, people, name=self.recipe.people)
        account = Account(self.ledger, whose, rules_of(self.recipe), untold=self.trial)
        if not self.trial:
            tell_known(account, self.recipe)
        return account


def tell_known(account: Account, recipe: Recipe, *, certificate: str = "") -> None:
    """Refuse a table that has not only grown where the recipe says so; warn of releases that it can be joined with.

    `certificate`: the SHA-256 of its own, if it is made: the same release elsewhere is no other one.
    """
    for entry, share in account.shrunk() if recipe.before.growing else ():
        said = (
            f"people left, or values changed, since {entry.folder}: about {max(share, 0.001):.1%} of the rows that its "
            "table had are not in this one"
        )
        if not recipe.missing and not account.rules.accepted:
            raise ReleaseError("earlier", said, given="people: growing", remedy=SHRUNK)
        warn(visible(f"{said}. What is claimed of both holds only if those rows were left out of that release"))
    if known := account.known(certificate=certificate):
        masked = [one.entry for one in known if one.entry.epsilon is None]
        said = _told(known, private=recipe.mask.guarantee.spends, follow=_follow(masked, recipe) if masked else "")
        attested = f". Yet the recipe attests {ALONE}: {recipe.attest[ALONE]}" if ALONE in recipe.attest else ""
        warn(visible(f"{said}{attested}"))


# Rows that the recipe leaves out for a missing value may have it by now: there it is only told.
SHRUNK = (
    "nothing makes such releases safe together but a budget of differential privacy: publish under one (mask: "
    "private_tree, budget: {epsilon: 1}, without earlier), or do not publish this one; keep people who left, with the "
    "values they had, in the table if they may stay in it"
)


def rules_of(recipe: Recipe) -> Rules:
    """What a recipe says of several releases of the same people."""
    told = set()
    for folder in recipe.before.releases:
        with suppress(OSError):  # a release that is not there is told where it is read
            told.add(hashlib.sha256((Path(folder) / "certificate.json").read_bytes()).hexdigest())
    return Rules(
        recipe.people,
        frozenset(told),
        "several_releases" in recipe.understood,
        recipe.mask.guarantee.spends,
        lambda entries: _follow(entries, recipe),
    )


def _follow(entries: Sequence[Entry], recipe: Recipe) -> str:
    """How a release can be made safe with earlier ones, beside those that its recipe tells of already; nothing where
    one of their maskers does not know how."""
    if not recipe.mask.joins_earlier or not all(map(_followed, entries)):
        return ""
    told = [Path(folder).absolute() for folder in recipe.before.releases]
    folders = ", ".join(map(_near, dict.fromkeys([*told, *(Path(entry.folder) for entry in entries)])))
    people = "growing" if recipe.before.growing else "same" if recipe.before.same else "same or growing"
    return (
        "where the table is the same or has only grown, make this one safe with it, in a folder of its own: "
        f"earlier: {{releases: [{folders}], people: {people}}}, {'each folder' if ', ' in folders else 'the folder'} "
        "as seen from the recipe (elsewhere: --allow)"
    )


def _followed(entry: Entry) -> bool:
    """Whether a release can be made safe with that one."""
    try:
        return bool(masker_named(entry.mask)().joins_earlier)
    except SfumatoError:  # of a version that had other maskers
        return False


def _near(folder: Path) -> str:
    return str(folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder)


def recipe_hash(recipe: Recipe) -> str:
    """The SHA-256 of recipe.yaml, as it is written to the holder's folder."""
    return hashlib.sha256(recipe.to_yaml().encode()).hexdigest()


def _last(known: Sequence[Known]) -> Known:
    return max(known, key=lambda one: one.share or 0.0) if known[-1].share is None else known[-1]


def _told(known: Sequence[Known], *, private: bool, follow: str = "") -> str:
    """What earlier releases mean for this one, by those first of which rows can be compared: none was generated."""
    masked = [one for one in known if one.entry.epsilon is None]
    told = masked or known
    last = _last(told)
    number = "an earlier release" if len(told) == 1 else f"{len(told)} earlier releases"
    share = "" if last.share is None else f", with about {last.share * 100:.0f} % of the smaller one's rows in common"
    means = _means(told, private=private, follow=follow if masked else "")
    others = len(known) - len(told)
    besides = f". Besides, {others:,} generated under a budget: no row of such can be compared" if others else ""
    return (
        f"the ledger knows {number} of this table, or of nearly this table: the last of {last.entry.when} in "
        f"{last.entry.folder}{share}. {means}{besides}"
    )


def _means(told: Sequence[Known], *, private: bool, follow: str) -> str:
    """What somebody can do who has them and this one, and what the holder can do."""
    last = _last(told).entry
    house = f"If that one never left the house, delete it and say `sfumato ledger --withdraw {last.id[:SHORT]}`"
    spent = sum((one.entry.epsilon or Fraction(0) for one in told), Fraction(0))
    if last.epsilon is not None and private:
        return (
            "The rows of both are generated, and none can be compared; but who is in both tables is charged twice. "
            "If they are the same people, give both recipes the same people: NAME, so that their epsilons add up"
        )
    if last.epsilon is not None:
        return (
            f"It was generated under a budget (epsilon = {spent}{'' if len(told) == 1 else ' in all'}): nobody's row "
            "is in it, and none can be compared with one of this release. It keeps its promise; that of this one is "
            "about this one alone"
        )
    if private:
        return (
            "The rows of this one are generated, and none can be compared with that one's. This one keeps its promise "
            "whatever else is out, and its epsilon is counted. What that one, without a budget, gives away of anybody "
            f"stays given away. {house}"
        )
    return (
        "Whoever has both can compare them and reads off what only one of them holds: every value of a person who is "
        f"missing from the other. {_otherwise(follow)} only. {house}; to try settings out without a word of this, "
        "sfumato publish --trial, in Python run=sf.Run(trial=True), with keep in place of write"
    )


def _otherwise(follow: str) -> str:
    """What makes two releases safe, from the best to the last."""
    last = "publish under a budget, or hand over one of them"
    return f"{follow[:1].upper()}{follow[1:]}; else {last}" if follow else f"No earlier: covers it: {last}"


NOT_PRIVATE = "NOT PRIVATE"


@dataclass(frozen=True)
class Differential:
    """Epsilon and the events it went to. `private`: the noise came from a secure generator."""

    libraries: ClassVar[tuple[str, ...]] = (OF_NOISE,)

    epsilon: Fraction
    events: Sequence[Event]
    private: bool

    @classmethod
    def of(cls, mechanisms: Mechanisms) -> Differential:
        """What a run spent."""
        spending = mechanisms.spending
        return cls(spending.budget.epsilon, spending.events, mechanisms.noise.private)

    @property
    def relations(self) -> str:
        """They follow from what was counted."""
        return wording.of_relations([event.to_json() for event in self.events])

    def statement(self, claims: Sequence[Claim]) -> str:
        """Epsilon, and what it means for a person; nothing is counted."""
        return wording.private_statement(self.epsilon, private=self.private)

    def in_short(self, claims: Sequence[Claim]) -> str:
        """Epsilon."""
        return f"epsilon = {self.epsilon}, differentially private; every row is generated"

    def state(self, *, verified: bool) -> str:
        """Noise that repeats is named, whatever verify said."""
        if not self.private:
            return f"{NOT_PRIVATE} (a seeded run)"
        return "Verified" if verified else "NOT verified"

    def fields(
        self, *, mask: str, columns: Mapping[str, str], created: str, versions: Mapping[str, str]
    ) -> dict[str, Any]:
        """The events, and the fields of OpenDP's deployments registry."""
        events = [event.to_json() for event in self.events]
        deployed = Deployed(
            epsilon=self.epsilon,
            private=self.private,
            events=events,
            mask=mask,
            columns=columns,
            created=created,
            versions=versions,
            release=FORMAT,
        )
        return {"differential_privacy": self.to_json(), "deployment": deployment(deployed)}

    def title(self) -> str:
        """A generated table; noise that repeats is named first."""
        return readme.title(generated=True, private=self.private)

    def cited(self, mask: str) -> str:
        """Generated by this masker."""
        return readme.cited(mask, generated=True)

    def checks(self) -> str:
        """It adds up."""
        return readme.checks(generated=True)

    def to_json(self) -> dict[str, Any]:
        """The certificate's part of its own."""
        return {
            "epsilon": str(self.epsilon),
            "delta": "0",
            "unit": UNIT,
            "private": self.private,
            **({} if self.private else {"warning": NOT_PRIVATE}),
            "events": [event.to_json() for event in self.events],
        }
