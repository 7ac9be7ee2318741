"""YAML read safely: plain values only, within limits, and a name given twice is a mistake, not a silent choice.

Whoever wrote a recipe may be a stranger. So a text is taken event by event, on no stack but our own, and every limit is
checked before the value that would break it is held: `yaml_events` tells which.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from sfumato.data.safe_files import read_text
from sfumato.errors import RecipeError

MOST_BYTES = 8 * 2**20
"""The largest recipe; those that people write have a few thousand."""

_TRUTH = re.compile(r"true|True|TRUE|false|False|FALSE")
_FORMS = {
    first: [(tag, pattern) for tag, pattern in forms if not tag.endswith(":bool")]
    for first, forms in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
"""By its first character, what an unquoted text may stand for."""
_MAKE = yaml.constructor.SafeConstructor()
_INT, _FLOAT, _TIME, _NULL, _MERGE = (
    f"tag:yaml.org,2002:{name}" for name in ("int", "float", "timestamp", "null", "merge")
)
_WHOLE = re.compile(r"[1-9][0-9]{0,16}|0")
_ABSENT = object()


@dataclass
class _Open:
    """Owns a list or a mapping that is not read to its end; of a mapping also the name that waits for its value."""

    held: list[Any] | dict[Any, Any]
    anchor: str | None
    name: Any = _ABSENT


class _Reader:
    """Owns what was read so far of one text."""

    def __init__(self, text: str) -> None:
        self._events = Limited(text)
        self._open: list[_Open] = []
        self._anchored: dict[str, Any] = {}
        self.found: Any = None

    def read(self) -> Any:
        for event in self._events:
            if isinstance(event, yaml.ScalarEvent):
                value = _scalar(event)
                self._keep(event.anchor, value)
                self._put(event, value)
            elif isinstance(event, yaml.AliasEvent):
                if event.anchor not in self._anchored:
                    raise Refusal("an alias stands after the end of what it repeats", f"*{event.anchor}", event)
                self._put(event, self._anchored[event.anchor])
            elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
                self._refuse_name(event)
                self._open.append(_Open([] if isinstance(event, yaml.SequenceStartEvent) else {}, event.anchor))
            elif isinstance(event, yaml.CollectionEndEvent):
                done = self._open.pop()
                self._keep(done.anchor, done.held)
                self._put(event, done.held)
        return self.found

    def _keep(self, anchor: str | None, value: Any) -> None:
        if anchor is not None:
            self._anchored[anchor] = value

    def _put(self, event: Any, value: Any) -> None:
        if not self._open:
            self.found = value
            return
        around = self._open[-1]
        if isinstance(around.held, list):
            around.held.append(value)
        elif around.name is not _ABSENT:
            around.held[around.name] = value
            around.name = _ABSENT
        else:
            around.name = _name(event, value, around.held)

    def _refuse_name(self, event: Any) -> None:
        """A list or a mapping where a name should stand."""
        if self._open and isinstance(self._open[-1].held, dict) and self._open[-1].name is _ABSENT:
            raise Refusal("a name is a text or a number", "a list or a mapping as a name", event)


def _name(event: Any, value: Any, known: dict[Any, Any]) -> Any:
    if value == "<<" and isinstance(event, yaml.ScalarEvent) and _tag(event) == _MERGE:
        raise Refusal("every name is written out", "a merge (<<)", event)
    if not isinstance(value, Hashable):
        raise Refusal("a name is a text or a number", "a list or a mapping as a name", event)
    if value in known:
        raise Refusal("a name may stand in a mapping only once", f"{value!r} twice", event)
    return value


def _tag(event: yaml.ScalarEvent) -> str | None:
    """What an unquoted text is taken for; None for a text. Only true and false are truth values: `on` is a name."""
    if not event.implicit[0]:
        return None
    first = event.value[:1]
    if first in ("t", "T", "f", "F") and _TRUTH.fullmatch(event.value):
        return "truth"
    return next((tag for tag, pattern in _FORMS.get(first, ()) if pattern.match(event.value)), None)


def _scalar(event: yaml.ScalarEvent) -> Any:
    tag = _tag(event)
    if tag == "truth":
        return event.value.lower() == "true"
    if tag == _NULL:
        return None
    if tag not in (_INT, _FLOAT, _TIME):
        return event.value
    node = yaml.ScalarNode(tag, event.value)
    if tag == _TIME:
        try:
            return _MAKE.construct_yaml_timestamp(node)
        except ValueError:
            raise Refusal("a date is one of the calendar", event.value, event) from None
    return _number(event, node)


def _number(event: yaml.ScalarEvent, node: yaml.ScalarNode) -> int | float:
    """A number of a size that people write: whatever counts, measures or limits something fits in 18 digits."""
    if _WHOLE.fullmatch(event.value):  # what nearly all are, and several times quicker
        return int(event.value)
    rule = "a number has at most 18 digits before the point and 60 characters in all"
    try:
        if len(event.value) > 60:
            raise ValueError
        made: Any = _MAKE.construct_yaml_int if node.tag == _INT else _MAKE.construct_yaml_float
        found: int | float = made(node)
        if not -LARGEST < found < LARGEST:  # false for what is no number, too
            raise ValueError
    except (ValueError, OverflowError):
        shown = event.value if len(event.value) < 30 else f"one of {len(event.value)} characters"
        raise Refusal(rule, shown, event) from None
    return found


def load_yaml(source: str | Path, *, what: str) -> Any:
    """The content of a YAML file or text.

    >>> load_yaml("on: [x, no]\\n", what="example")
    {'on': ['x', 'no']}
    >>> load_yaml("k: " + 5001 * "9", what="recipe")
    Traceback (most recent call last):
        ...
    sfumato.errors.RecipeError: recipe, line 1: a number has at most 18 digits before the point and 60 characters in \
all. Given: one of 5001 characters. To mend it: write plain names, texts and numbers.
    """
    thing = str(source) if isinstance(source, Path) else what
    text = read_text(source, what=what, most=MOST_BYTES) if isinstance(source, Path) else source
    try:
        return _Reader(text).read()
    except Refusal as refusal:
        raise RecipeError(
            f"{thing}, line {refusal.line}",
            refusal.rule,
            given=refusal.given,
            remedy="write plain names, texts and numbers",
        ) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark is not None else ""
        problem = str(getattr(error, "problem", "") or getattr(error, "reason", "") or "broken YAML")
        if mark is not None and "\t" in "".join(text.splitlines()[mark.line : mark.line + 1]):
            raise RecipeError(
                thing + where,
                f"a {what} is indented with spaces alone",
                given="a tab in that line",
                remedy="write spaces in place of the tab",
            ) from None
        raise RecipeError(
            thing + where,
            f"a {what} must be valid YAML",
            given=problem,
            remedy="check indentation, brackets and colons there",
        ) from None


class _Dumper(yaml.SafeDumper):
    """The safe dumper, with every text that begins like a number in quotes, and nothing said by an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="'" if _CODE.fullmatch(text) else None)


_CODE = re.compile(r"[-+.]?\d[\d_.,:eE+-]*")
_Dumper.add_representer(str, _represent)


def dump_yaml(value: object, **options: Any) -> str:
    """A value as YAML, in its own order. Codes are in quotes, whether or not YAML 1.1 takes them for numbers.

    >>> dump_yaml(["02138", "02140", "A1"], default_flow_style=True)
    "['02138', '02140', A1]\\n"
    """
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, **options)
    return text


# The events of a YAML text, one by one, none of them beyond a limit.
# Depth, number of values (an alias counts as all that it repeats, so a few lines cannot stand for billions), length of
# a text; and no tags, which are how YAML names code. Nothing here calls itself, so no depth of the text is one of ours.
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
