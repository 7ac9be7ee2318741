"""Candidates in lines and columns of texts, for a terminal or a page, and that page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sfumato.release.report.markup import Html, bullets, page, paragraph, section, table, tag, text
from sfumato.sweeping.advice import Advice
from sfumato.sweeping.comparison import Tried
from sfumato.sweeping.contenders import Contender

TITLE = "Candidate recipes side by side"
SILENT = "-"
"""A column that tells nothing."""


@dataclass(frozen=True)
class Grid:
    """A heading for each candidate, after that of the lines; a line for each masked column, then those of the whole.

    The last column is that of the raw table, where there is anything to tell of it. A heading may have two lines.
    """

    heads: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    whole: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, tried: Sequence[Tried]) -> Grid:
        """At least one candidate."""
        names = dict.fromkeys(column.name for one in tried for column in one.columns)
        columns = [(name, *(_detail(one, name) for one in tried), "") for name in names]
        whole = [line for line in _whole(tried) if any(line[1:])]
        heads = ["detail kept of", *(_head(one.contender) for one in tried), "raw"]
        width = len(heads) if any(line[-1] for line in whole) else len(heads) - 1
        return cls(tuple(heads[:width]), tuple(line[:width] for line in columns), tuple(line[:width] for line in whole))


def _head(one: Contender) -> str:
    """The masker, and how it differs from what was asked; of other privacy that alone."""
    return "\n".join(part for part in (one.name if one.asked else "", one.note) if part)


def _detail(one: Tried, name: str) -> str:
    column = next((column for column in one.columns if column.name == name), None)
    if column is None:
        return ""
    if column.silent:
        return SILENT
    if column.kept is None:
        return "moved" if one.recipe.mask.guarantee.row_by_row else "new"
    return f"{column.kept:.0%}"


def _whole(tried: Sequence[Tried]) -> Iterator[tuple[str, ...]]:
    kept = tried[0].survived
    yield "all columns", *(_share(one.detail) for one in tried), ""
    yield "that tell nothing", *(str(one.silent) for one in tried), ""
    if kept is not None:
        shares = ("" if one.survived is None else f"{one.survived.share:.2f}" for one in tried)
        yield kept.kind.words, *shares, "" if kept.raw is None else f"{kept.raw:.2f}"
    yield "relations of columns", *(_share(one.relations) for one in tried), ""
    yield "highest risk", *(_share(one.risk) for one in tried), ""
    for at, sure in enumerate(tried[0].certain):
        yield f"certain: {sure.name}", *(_share(one.certain[at].share) for one in tried), _share(sure.raw)
    yield "seconds", *(f"{one.seconds:.1f}" for one in tried), ""


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"


def html(advice: Advice) -> str:
    """The advice, the candidates side by side, and what each means."""
    edition = tag("p", text("For the holder: measured against the raw table"), class_="edition holder")
    more = [paragraph(words) for words in (advice.trade, advice.warning, advice.sample) if words]
    parts = [edition, tag("h1", text(TITLE)), paragraph(advice.sentence, "verdict"), *more]
    return page(TITLE, *parts, *_listed(advice))


def _listed(advice: Advice) -> Iterator[Html]:
    if advice.tried:
        grid = Grid.of(advice.tried)
        lines = [*grid.columns, *grid.whole]
        means = [f"{one.contender.title}: {one.contender.price}. {one.contender.settings}" for one in advice.tried]
        words = f"{SILENT}: the column tells nothing."
        heads = [head.replace("\n", ", ") for head in grid.heads]
        yield section("What each keeps", paragraph(words), table(heads, lines), bullets(means), anchor="kept")
    if advice.skipped:
        rows = [(one.name, one.reason) for one in advice.skipped]
        yield section("Left out", table(["candidate", "why"], rows), anchor="left-out")
