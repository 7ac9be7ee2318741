"""The directive `commands`: every command of the program, from its own help."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

from sfumato.cli.main import app as program


def _plain(text: str | None) -> str:
    """Without the marks that colour a terminal, on one line, safe in a table."""
    return (
        " ".join(re.sub(r"\[/?(?:bold|dim|italic)\]", "", text or "").split()).replace("|", "\\|").replace("*", "\\*")
    )


def _example(epilog: str | None) -> list[str]:
    """What stands below "Example", as it is typed."""
    lines = re.sub(r"\[/?bold\]", "", epilog or "").split("\n\n", 1)
    if len(lines) < 2:
        return []
    return ["```console", *lines[1].replace("\n\n", "\n").strip().splitlines(), "```", ""]


def _called(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name.upper()}`"
    return ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))


def _told(name: str, command: Any, level: int) -> Iterator[str]:
    """The section of one command, in Markdown; a group has those of its commands below it."""
    yield from (f"{'#' * level} sfumato {name}", "")
    for paragraph in (command.help or "").split("\n\n"):
        yield from (_plain(paragraph), "")
    yield from _example(command.epilog)
    shown = [one for one in command.params if not getattr(one, "hidden", False) and one.name != "help"]
    if shown:
        yield from ("| argument or option | says |", "|---|---|")
        yield from (f"| {_called(one)} | {_plain(getattr(one, 'help', ''))} |" for one in shown)
        yield ""
    for inner, one in getattr(command, "commands", {}).items():
        yield from _told(f"{name} {inner}", one, level + 1)


def told() -> str:
    """The whole page in Markdown."""
    commands = get_command(program).commands  # type: ignore[attr-defined]
    return "\n".join(line for name, one in commands.items() for line in _told(name, one, 2))


class Commands(SphinxDirective):
    """Puts the commands where it stands."""

    def run(self) -> list[nodes.Node]:
        """Called by Sphinx."""
        return self.parse_text_to_nodes(told(), allow_section_headings=True)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}
