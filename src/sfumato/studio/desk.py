"""A desk: what a screen is given: the studio's folder and jobs, and one piece of work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.errors import SfumatoError
from sfumato.recipe import Recipe
from sfumato.studio import form as forms
from sfumato.studio.jobs import Job, Jobs
from sfumato.studio.workspace import Work, Workspace


@dataclass(frozen=True)
class Fields:
    """What a form sent: texts by name, some names several times."""

    pairs: tuple[tuple[str, str], ...]

    def __getitem__(self, name: str) -> str:
        """The last one of this name; empty if there is none."""
        return next((text for key, text in reversed(self.pairs) if key == name), "")

    def every(self, name: str) -> list[str]:
        """All of this name."""
        return [text for key, text in self.pairs if key == name]

    def number(self, name: str) -> int:
        """A whole number."""
        text = self[name]
        if not text.isascii() or not text.isdigit() or len(text) > 9:
            raise SfumatoError(name, "it is a whole number", given="something else", remedy="write for example 10")
        return int(text)


@dataclass(frozen=True)
class Desk:
    """One piece of work, and what works on it. `query`: what the address says after its question mark."""

    space: Workspace
    jobs: Jobs
    work: Work
    query: Mapping[str, str] = field(default_factory=dict)

    @property
    def allow(self) -> list[Path]:
        """Where a recipe of this work may name files, beside its own folder."""
        return [self.space.beside, *map(Path, self.work.facts.get("allow", ()))]

    def form(self) -> forms.Form:
        """The recipe as a mapping."""
        return forms.read(self.work)

    def save(self, form: forms.Form) -> None:
        """Write it back; what was found out about the earlier one is out of date."""
        forms.save(self.work, form)

    def recipe(self) -> Recipe:
        """The recipe, checked."""
        return forms.recipe_of(self.work, self.allow)

    def problem(self) -> SfumatoError | None:
        """Why the recipe cannot be run."""
        return forms.problem(self.work, self.allow)

    def look(self) -> dict[str, Any] | None:
        """What the table looks like; None before it was read."""
        return self.work.found("look")

    def job(self, kind: str) -> Job:
        """A job that there is one of."""
        return Job(self.work.job(kind))

    def start(self, kind: str, *, secret: str = "", **arguments: Any) -> Job:
        """Begin such a job, on a copy of the recipe as it stands now."""
        folder, text = self.work.job(kind), self.work.recipe_text()
        form = {"recipe": str(self.work.recipe_path), "allow": [str(path) for path in self.allow], **arguments}
        return self.jobs.start(folder, kind, {**form, "of": text}, secret=secret)

    def fresh(self, kind: str) -> bool:
        """Whether a job was begun on the recipe as it stands now."""
        return self.job(kind).form.get("of") == self.work.recipe_text()


Context = dict[str, Any]
Action = Callable[[Desk, Fields], str | None]
"""Changes something; gives the address to go to, None for the same screen."""


@dataclass(frozen=True)
class Screen:
    """One screen: what its template shows, and what can be done on it. `needs_table`: there is nothing before one."""

    key: str
    title: str
    lead: str
    context: Callable[[Desk], Context]
    actions: Mapping[str, Action]
    needs_table: bool = True
