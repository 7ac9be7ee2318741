"""The events of a YAML text, one by one, none of them beyond a limit.

Depth, number of values (an alias counts as all that it repeats, so a few lines cannot stand for billions), length of a
text; and no tags, which are how YAML names code. Nothing here calls itself, so no depth of the text is one of ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

MOST_DEEP = 130
"""How deep lists and mappings may be nested: the deepest taxonomy, with some around it."""
MOST_VALUES = 200_000
"""How many names and values a file may hold: twice the largest code books of medicine."""
MOST_TEXT = 10_000
"""How long one name or text may be, in characters."""
LARGEST = 10**18
"""Below this is every number."""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Refusal(Exception):
    """What a text holds that is not taken: the rule, what was given, and in which line."""

    def __init__(self, rule: str, given: str, event: Any) -> None:
        super().__init__(rule)
        self.rule, self.given, self.line = rule, given, int(event.start_mark.line) + 1


class Limited:
    """Owns the events of a text and the counts of what went by. `tags`: they are somebody else's to tell of."""

    def __init__(self, text: str, *, tags: bool = False) -> None:
        self._text, self._tags = text, tags
        self._count = self._documents = 0
        self._open: list[tuple[str | None, int]] = []
        self._sizes: dict[str, int] = {}

    def __iter__(self) -> Iterator[Any]:
        for event in yaml.parse(self._text, Loader=_LOADER):
            self._look(event)
            yield event

    def _look(self, event: Any) -> None:
        if type(event) is yaml.ScalarEvent and event.tag is event.anchor is None and len(event.value) <= MOST_TEXT:
            self._add(event, 1, None)  # what most of them are
            return
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise Refusal("a file holds one document", "a second one (---)", event)
        if getattr(event, "tag", None) is not None and not self._tags:
            raise Refusal("values are plain: no YAML tags", event.tag[:60], event)
        if isinstance(event, yaml.ScalarEvent):
            if len(event.value) > MOST_TEXT:
                raise Refusal(f"a text has at most {MOST_TEXT:,} characters", f"{len(event.value):,}", event)
            self._add(event, 1, event.anchor)
        elif isinstance(event, yaml.AliasEvent):
            self._add(event, self._sizes.get(event.anchor or "", 1), None)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open.append((event.anchor, self._count))
            if len(self._open) > MOST_DEEP:
                raise Refusal(f"lists and mappings are nested at most {MOST_DEEP} deep", "deeper ones", event)
            self._add(event, 1, None)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = self._open.pop()
            if anchor is not None:
                self._sizes[anchor] = self._count - before

    def _add(self, event: Any, size: int, anchor: str | None) -> None:
        self._count += size
        if anchor is not None:
            self._sizes[anchor] = size
        if self._count > MOST_VALUES:
            given = "more, counting what aliases repeat" if self._sizes else "more"
            raise Refusal(f"a file holds at most {MOST_VALUES:,} names and values", given, event)
