"""centres.json: where the values of the table stand, and the centres of its clusters, computed again from the rows.

A centre is the mean of the rows that are nearest to it: k-means has settled there. `settled` goes on until that is so,
and is what a release writes; the check asks that one more round changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sfumato.events import checkpoint
from sfumato.privacy.verify.explained.codebook import least, shape_of
from sfumato.privacy.verify.explained.groups import Groups, by_groups, check_ends, entries_of, group_block, groups_of
from sfumato.privacy.verify.explained.places import BLOCK, AnyBlock, Block, block_of, numbers
from sfumato.privacy.verify.explained.shown import CODEBOOK, told
from sfumato.privacy.verify.fields import Form, exact_keys, mapping
from sfumato.privacy.verify.spelling import NOW, Spelling
from sfumato.privacy.verify.verdict import CheckError, Idle

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from sfumato.privacy.verify.folder import Folder

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

CENTRES = "centres.json"
DIGITS = 6  # of a centre, after the point
UNIT = 1.5 * 10**-DIGITS  # by how much a centre may miss the mean of its rows
MOST = 1000  # centres
ROUNDS = 50
MOST_KEYS = 2**62
TIE = 9  # digits of a squared distance by which one centre is nearer than another; else the first is nearest


def centres(release: Folder) -> str:
    """Everything in the file is about values that the table shows, and every centre is the mean of its rows."""
    if CENTRES not in release.files:
        return Idle("this release has none")
    form, table = release.json(CENTRES), release.table
    exact_keys(form, ["attributes", "centres"], CENTRES)
    attributes = mapping(form["attributes"], "attributes")
    exact_keys(attributes, [name for name in table.columns if name in attributes], CENTRES)
    also = {name: len(told(release, name)) for name in attributes}
    book = release.json(CODEBOOK) if CODEBOOK in release.files else None
    groups = groups_of(release, list(mapping(book.get("columns"), "columns"))) if book and by_groups(book) else None
    blocks = _blocks(table, attributes, also, book, groups, spelling=release.certificate.spelling)
    if book is not None and groups is not None:
        _check_scales(release, attributes, book, groups)
    start = _matrix(form["centres"], sum(block.dims for block in blocks))
    found = _round(_Alike(blocks), start)
    most = max((least(release, name) for name in attributes if _masked(release, name)), default=1)
    if int(found.sizes.min()) < most:
        raise CheckError(f"{CENTRES} has a centre of fewer rows than k")
    if abs(found.means - start).max(initial=0) > UNIT:
        raise CheckError(f"a centre of {CENTRES} is not the mean of the rows that are nearest to it")
    return f"{len(start)} centres, each the mean of the rows nearest to it; places of values that are shown"


def _check_scales(release: Folder, attributes: Form, book: Form, groups: Groups) -> None:
    """Scales of means reach as far as the release tells."""
    for name in (name for name in groups.names if name in attributes):
        shape = shape_of(release, name)
        part = mapping(attributes[name], name)
        if (shape is None) != ("labels" in part):
            raise CheckError(f"{CENTRES}, {name}: numbers stand on a scale, and labels in a book")
        if shape is not None:
            check_ends(part, shape, groups.column(name), entries_of(book, name, groups))


def _masked(release: Folder, name: str) -> bool:
    kinds = {column.name: column.masked for column in release.certificate.columns}
    return kinds.get(name) not in (None, "generated")


def settled(form: Form, table: pl.DataFrame, *, minimum: int, book: Form | None = None) -> list[list[float]] | None:
    """The centres where k-means settles on a table from those of `form`, rounded as they are told. `book`: what
    codebook.json tells, where it tells of groups.

    None where it does not settle, or where a cluster has fewer rows than `minimum`.
    """
    blocks = _blocks(table, mapping(form["attributes"], "attributes"), None, book, _grouped(table, book))
    now = _matrix(form["centres"], sum(block.dims for block in blocks))
    alike = _Alike(blocks)
    for _ in range(ROUNDS):
        checkpoint()
        found = _round(alike, now)
        if int(found.sizes.min()) < max(minimum, 1):
            return None
        means = found.means.round(DIGITS) + 0.0
        if abs(means - now).max(initial=0) == 0:
            return [centre.tolist() for centre in now]
        now = means
    return None


def nearest(
    form: Form, table: pl.DataFrame, *, book: Form | None = None, spelling: Spelling = NOW
) -> NDArray[np.integer[Any]]:
    """(rows,): the number of the centre that each row stands nearest to, by the same ties as the rounds above."""
    attributes, groups = mapping(form["attributes"], "attributes"), _grouped(table, book)
    blocks = _blocks(table, attributes, None, book, groups, spelling=spelling)
    now = _matrix(form["centres"], sum(block.dims for block in blocks))
    alike = _Alike(blocks, whose=True)
    return _nearest(alike, now)[alike.of_row]


def _grouped(table: pl.DataFrame, book: Form | None) -> Groups | None:
    """The groups of the table, where the book tells of groups."""
    if book is None or not by_groups(book):
        return None
    return Groups.of(table, list(mapping(book.get("columns"), "columns")))


def _blocks(
    table: pl.DataFrame,
    attributes: Form,
    also: dict[str, int] | None,
    book: Form | None,
    groups: Groups | None,
    *,
    spelling: Spelling = NOW,
) -> list[AnyBlock]:
    found: list[AnyBlock] = []
    for name, part in attributes.items():
        if name not in table.columns:
            raise CheckError(f"{CENTRES} is about a column that the table has not")
        more = None if also is None else also[name]
        try:
            if book is not None and groups is not None and name in groups.names:
                entries = entries_of(book, name, groups)
                found.append(group_block(mapping(part, name), groups.column(name), entries, groups, spelling=spelling))
            else:
                found.append(block_of(table[name], mapping(part, name), told=more, spelling=spelling))
        except CheckError as error:
            raise CheckError(f"{CENTRES}, {name}: {error}") from None
    return found


def _matrix(entries: object, dims: int) -> Floats:
    """(centres, dims): different centres, each of as many numbers as the values have coordinates."""
    import numpy as np

    rows = entries if isinstance(entries, list) else []
    if not 2 <= len(rows) <= MOST or not all(isinstance(row, list) and len(row) == dims for row in rows):
        raise CheckError(f"{CENTRES} has 2 to {MOST} centres, of as many coordinates as its values")
    return np.array([numbers(row, digits=DIGITS) for row in rows], dtype=np.float64).reshape(len(rows), dims)


class _Round:
    """Owns what one round of k-means finds: how many rows are nearest to each centre, and their means."""

    def __init__(self, sizes: Ints, sums: Floats) -> None:
        import numpy as np

        self.sizes = sizes
        self.means: Floats = sums / np.maximum(sizes, 1)[:, None]


class _Alike:
    """Owns what every round looks at: rows that are alike everywhere once, and how many there are of each.

    `whose`: also which of them each row is.
    """

    def __init__(self, blocks: Sequence[AnyBlock], *, whose: bool = False) -> None:
        import numpy as np

        different = list({id(block.codes): block for block in blocks}.values())  # those told by groups share theirs
        key, span = different[0].codes, different[0].count
        for block in different[1:]:
            if span * block.count > MOST_KEYS:
                key = np.unique(key, return_inverse=True)[1]
                span = int(key.max(initial=0)) + 1
            key, span = key.astype(np.int64) * block.count + block.codes, span * block.count
        _, first, counts = np.unique(key, return_index=True, return_counts=True)
        self.counts: Ints = counts
        self.of_row: Ints = np.unique(key, return_inverse=True)[1] if whose else np.empty(0, dtype=np.int64)
        self.blocks = [replace(block, codes=block.codes[first].astype(np.int64)) for block in blocks]


def _round(alike: _Alike, now: Floats) -> _Round:
    """Rows are counted by value and centre, so that their order and number do not change a single digit."""
    import numpy as np

    chosen, k = _nearest(alike, now), len(now)
    sums = [_sums(block, chosen, alike.counts, k) for block in alike.blocks]
    sizes = np.bincount(chosen, weights=alike.counts, minlength=k).astype(np.int64)
    return _Round(sizes, np.concatenate(sums, axis=1))


def _nearest(alike: _Alike, now: Floats) -> NDArray[np.integer[Any]]:
    """(different rows,): the centre that each is nearest to."""
    import numpy as np

    blocks = alike.blocks
    parts = np.split(now, np.cumsum([block.dims for block in blocks])[:-1], axis=1)
    apart = [_apart(block, part) for block, part in zip(blocks, parts, strict=True)]
    rows, k = len(blocks[0].codes), len(now)
    found = np.empty(rows, dtype=np.min_scalar_type(k))
    step = max(1, BLOCK // k)
    for at in range(0, rows, step):
        checkpoint()
        total = apart[0][blocks[0].codes[at : at + step]]
        for block, table in zip(blocks[1:], apart[1:], strict=True):
            total = total + table[block.codes[at : at + step]]
        found[at : at + step] = total.round(TIE).argmin(axis=1)
    return found


def _apart(block: AnyBlock, centres: Floats) -> Floats:
    """(values, centres): squared distances."""
    import numpy as np

    if not isinstance(block, Block):
        return block.apart(centres)
    found = np.empty((block.count, len(centres)))
    for places in block.parts():
        for number, centre in enumerate(centres):
            found[places.first : places.end, number] = ((places.at - centre) ** 2).sum(axis=1)
    return found


def _sums(block: AnyBlock, nearest: NDArray[np.integer[Any]], rows: NDArray[np.integer[Any]], k: int) -> Floats:
    """(centres, dims): the places of each centre's rows, added up."""
    import numpy as np

    counts: Any = np.zeros(block.count * k)  # whole numbers, exactly
    step = max(BLOCK, 2 * len(counts))
    for at in range(0, len(nearest), step):
        cells = block.codes[at : at + step].astype(np.int64) * k + nearest[at : at + step]
        counts += np.bincount(cells, weights=rows[at : at + step], minlength=len(counts))
    counts = counts.reshape(block.count, k)
    if not isinstance(block, Block):
        return block.sums(counts)
    found = np.zeros((k, block.dims))
    for places in block.parts():
        found += counts[places.first : places.end].T @ places.at
    return found
