"""Labels that go along, and the score: counted again from the table and the centres, and from nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.privacy.verify.claims import SIZE
from sfumato.privacy.verify.explained.centres import CENTRES, nearest
from sfumato.privacy.verify.explained.shown import CODEBOOK
from sfumato.privacy.verify.fields import Form, field, mapping, names, number, whole
from sfumato.privacy.verify.intervals import SUPPRESSED
from sfumato.privacy.verify.spelling import NOW
from sfumato.privacy.verify.tallies import tallied
from sfumato.privacy.verify.terms import ROUNDED
from sfumato.privacy.verify.texts.labels import FIGURES, LABELS, SCORE
from sfumato.privacy.verify.verdict import CheckError, Idle

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from sfumato.privacy.verify.folder import Folder

NOISE = "noise"
NOBODY = -1


def check_labels(release: Folder) -> str:
    """Every label is one of the clusters, and the figures that are told of them are those of the table."""
    told = mapping(release.certificate.form.get(LABELS), LABELS)
    column = field(told, "column", str)
    roles = {one.name: one for one in release.certificate.columns}
    if column not in release.table.columns or roles[column].kind != "category":
        raise CheckError(f"the table has no column {column!r} of labels")
    of_row = _numbers(release.table[column], whole(told, "clusters"), masked=roles[column].masked is not None)
    shown = int((of_row != NOBODY).sum())
    groups = [_beside(release.table, claim, column) for claim in release.certificate.claims]
    alike, alone = min(one[0] for one in groups), max(one[1] for one in groups)
    _compare(told, {"alike": alike, "alone": alone, "shown": shown})
    if "agreement" in told:
        by_centre = _by_centre(release, whole(told, "clusters"))
        same = (by_centre == of_row) & (of_row != NOBODY)
        _compare(told, {"agreement": float(same.sum()) / max(shown, 1)})
    elif CENTRES in release.files and shown:
        raise CheckError("centres go along, and how many labels agree with them is not told")
    return f"{shown} labels of {told['clusters']} clusters; beside the columns of a claim {alone} records are alone"


def check_score(release: Folder) -> str:
    """The score is that of the labels and of the nearest centres (000 Eq. 6 to 10), over records that show a label."""
    if SCORE not in release.certificate.form:
        return Idle("this release has none")
    told = mapping(release.certificate.form[SCORE], SCORE)
    labels = mapping(release.certificate.form.get(LABELS), LABELS)
    clusters = whole(labels, "clusters")
    of_row = _numbers(release.table[field(labels, "column", str)], clusters, masked=True)
    there = of_row != NOBODY
    if not there.any():
        raise CheckError("no record shows a label that a score could be counted of")
    reached = _similarity(of_row[there], _by_centre(release, clusters)[there], clusters)
    _compare(told, reached)
    return ", ".join(f"{key} = {reached[key]:.6g}" for key in FIGURES)


def _numbers(column: pl.Series, clusters: int, *, masked: bool) -> NDArray[np.int64]:
    """(rows,): the number of each record's cluster; where several or none are shown, which masking does, nobody's."""
    import numpy as np
    import polars as pl

    known = {str(at): at for at in range(clusters)} | {NOISE: clusters - 1}
    different = column.unique().cast(pl.String)
    found = []
    for text in different.to_list():
        if text in known:
            found.append(known[text])
        elif masked and (text == SUPPRESSED or _several(text, known)):
            found.append(NOBODY)
        else:
            raise CheckError(f"a label is none of the {clusters} clusters")
    numbers = column.cast(pl.String).replace_strict(different, found, return_dtype=pl.Int64)
    return np.asarray(numbers.to_numpy(), dtype=np.int64)


def _several(text: str | None, known: Mapping[str, int]) -> bool:
    """Whether a text is a set of labels."""
    found = [] if text is None else NOW.pieces(text)  # numbers, which every format writes alike
    return bool(found) and all(one in known for one in found)


def _beside(table: pl.DataFrame, claim: Form, column: str) -> tuple[int, int]:
    """Of records that look alike on a claim's columns and have one label: the fewest, and how many are alone."""
    sizes = tallied(table, list(dict.fromkeys((*names(claim, "on"), column))), SIZE)[SIZE].to_numpy()
    return int(sizes.min()), int((sizes == 1).sum())


def _by_centre(release: Folder, clusters: int) -> NDArray[np.int64]:
    """(rows,): the number of the nearest centre; there are as many centres as clusters."""
    import numpy as np

    form = release.json(CENTRES)
    if len(field(form, "centres", list)) != clusters:
        raise CheckError(f"{CENTRES} has another number of centres than there are clusters")
    book = release.json(CODEBOOK) if CODEBOOK in release.files else None
    return np.asarray(nearest(form, release.table, book=book, spelling=release.certificate.spelling), dtype=np.int64)


def _similarity(left: NDArray[np.int64], right: NDArray[np.int64], clusters: int) -> dict[str, float]:
    """F-measure and match point, from how many records each pair of clusters shares."""
    import numpy as np

    shared = np.zeros((clusters, clusters), dtype=np.int64)
    np.add.at(shared, (left, right), 1)
    ours, theirs, rows = shared.sum(axis=1), shared.sum(axis=0), len(left)
    best = 0.0
    for at in range(clusters):
        recall, precision = shared[at] / max(int(ours[at]), 1), shared[at] / np.maximum(theirs, 1)
        both = np.maximum(recall + precision, np.finfo(float).tiny)
        best += float(ours[at]) / rows * float((2 * recall * precision / both).max())
    squares = [int(sum(int(n) ** 2 for n in counts)) for counts in (shared.ravel(), ours, theirs)]
    apart = rows**2 - squares[1] - squares[2] + 2 * squares[0]
    return {"f_measure": best, "match_point": apart / rows**2}


def _compare(told: Form, reached: Mapping[str, float]) -> None:
    for key, figure in reached.items():
        if abs(number(told, key) - figure) > ROUNDED:
            raise CheckError(f"the file gives {key} = {round(figure, 6):g}; the certificate says otherwise")
