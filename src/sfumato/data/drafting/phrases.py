"""How a draft writes values and shares in its text."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.data.yaml_files import dump_yaml

_COLUMNS = 60
"""Above this many columns a draft names only the first ones."""


def inline(value: object) -> str:
    """A value as YAML writes it in one line."""
    return dump_yaml(value, default_flow_style=True, width=10**6).strip()


def scalar(text: str) -> str:
    """A text as YAML writes it."""
    return inline([text])[1:-1]


def share(part: float) -> str:
    """A share in steps of five per cent: exact ones would tell of single people.

    >>> share(0.0), share(0.004), share(0.52), share(0.999), share(1.0)
    ('none', 'under 5 %', 'about 50 %', 'over 95 %', 'all')
    """
    if part in (0.0, 1.0):
        return "all" if part else "none"
    if not 0.05 <= part <= 0.95:
        return "under 5 %" if part < 0.05 else "over 95 %"
    return f"about {round(part * 20) * 5} %"


def named(names: Sequence[str]) -> str:
    """Columns by their names, as YAML writes them.

    >>> named(["age", "a: b"])
    "age, 'a: b'"
    """
    more = f" and {len(names) - _COLUMNS} more" if len(names) > _COLUMNS else ""
    return ", ".join(scalar(name) for name in names[:_COLUMNS]) + more
