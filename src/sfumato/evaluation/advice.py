"""What to do where masking did not keep what guided it, or could not hurt it: a sentence for the holder, or none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.errors import quoted
from sfumato.evaluation.scores import FOUND_UNMASKED
from sfumato.maskers.masker import Masker
from sfumato.maskers.registry import name_of
from sfumato.structure.clusterers import finds_k
from sfumato.structure.structures import Classes, Clusters, class_column

CLEARLY, LOST = 0.02, 0.8
"""How much more of the clusters blind masking keeps, and the share of what raw data reach below which they are lost."""
UNCLEAR = 0.8
"""Where raw data clustered again with another seed reach less than this F-measure, they have no clear clusters."""

UNGUIDED = (
    "the classes in {} do not guide {}: it does the same whatever the rows are for. How well they can be told from "
    "what it gives is among the scores"
)


def advice_on_classes(structure: Clusters | Classes | None, masker: Masker) -> str | None:
    """Where classes do not guide a masker."""
    column = class_column(structure)
    return None if column is None or masker.guided else UNGUIDED.format(quoted(column), name_of(masker))


def advice_on_clusters(asked: Clusters | None, scores: Mapping[str, Any]) -> str | None:
    """Where masking cannot hurt the clusters, where blind masking keeps more of them, where clusters by density are
    not found again, or where the raw table has no clear ones."""
    if asked is None:
        return None
    if told := advice_on_unmasked(scores):
        return told
    figure = {name: float(score["value"]) for name, score in scores["scores"].items()}
    guided, blind = figure.get("f_measure.start"), figure.get("distortion.f_measure.start")
    if guided is not None and blind is not None and blind > guided + CLEARLY:
        return (
            f"masking that is blind to the clusters keeps more of them (F-measure {blind:.2f}) than masking guided by "
            f"them ({guided:.2f}): so many clusters leave too few records in each to guide anything. Ask for fewer "
            "clusters, or use mask: partition"
        )
    cold, most = figure.get("f_measure.cold.mean"), figure.get("f_measure.ceiling.mean")
    if cold is not None and most is not None and cold < LOST * most and finds_k(asked.again):
        return (
            f"what {asked.again} finds by density is not found again in the masked table (F-measure {cold:.2f}): "
            "records that were masked alike stand at one point, and intervals leave gaps. Use mask: partition, a "
            f"larger min_cluster_size or a smaller k-anonymity, or kmeans. Settings that suit masked rows "
            f"were taken{_told(scores)}: recipients have them by load(...).clusters(by_density={asked.again!r})"
        )
    return None if most is None or most >= UNCLEAR else _unclear(asked, most)


def _unclear(asked: Clusters, most: float) -> str:
    auto = asked.k == "auto"
    more = "" if auto else "k: auto tries 2 to 10; "
    return (
        f"the table has no clear {'' if auto else f'{asked.k} '}clusters: in the raw table itself another seed finds "
        f"others (F-measure {most:.2f}), so that how well they are found again says little. {more}structure: "
        "{attributes: [...]} looks for them in fewer columns, {classes: NAME} keeps something else"
    )


def advice_on_unmasked(scores: Mapping[str, Any]) -> str | None:
    """Where the clusters are found from the columns that go out as they are, and from nothing else."""
    names = scores.get(FOUND_UNMASKED)
    if not names:
        return None
    one = len(names) == 1
    said = f"{', '.join(map(quoted, names))} {'goes out as it is' if one else 'go out as they are'}"
    return (
        f"{said}, and the clusters are found from {'it' if one else 'them'} alone: no masking can hurt them, and how "
        "well they are found again says nothing of it. Let the clusters be those of what is masked (structure: "
        "attributes), or declare quasi what somebody can know of a person"
    )


def _told(scores: Mapping[str, Any]) -> str:
    taken = scores.get("settings", {}).get("options_masked", {})
    return f" ({', '.join(f'{name}: {value:g}' for name, value in taken.items())})" if taken else ""
