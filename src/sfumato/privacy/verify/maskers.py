"""The maskers whose releases verify understands: how each shows a column, and which files explain that.

A masker that is not here is not believed, whatever its certificate says: nobody would have looked into its files. A
test holds this list against the registry.
"""

from __future__ import annotations

from dataclasses import dataclass

SETS = "generalize_sets"  # a set is shown as the set of the cut's labels that it has items under
RECODED = ("generalize", "suppress", "discretize", SETS)
RECODING, REGIONS, CENTROIDS, EXTENTS = "recoding.json", "regions.json", "centroids.json", "partition.json"
KINDS = ("number", "category", "item_set")
# The check of `gate` that looks into each file which explains a table. A file that is not here is not believed, whoever
# lists it: a masker that brings a file of its own brings the check that closes it.
LOOKED_INTO = {
    RECODING: "explained",
    REGIONS: "regions and centres",
    CENTROIDS: "regions and centres",
    EXTENTS: "extents",
    "private_tree.json": "made of",
    "dp_heter.json": "made of",
    "codebook.json": "codebook",
    "centres.json": "centres",
    "datapackage.json": "package",
}
# What a column of each kind can become.
MASKED = {
    "discretize": ("number",),
    "generalize": ("category",),
    "suppress": ("category",),
    SETS: ("item_set",),
    "region": ("number", "category"),
    "extent": ("number", "category"),
    "centroid": KINDS,
    "transformed": ("number",),
    "generated": KINDS,
}
# Words beside which a certificate tells the calendar unit of dates; the second from format 6 on.
IN_UNITS = ("discretize", "generated")


@dataclass(frozen=True)
class Masker:
    """The words for what it does to a column, and the file that explains it, if there is one."""

    masked: tuple[str, ...]
    file: str | None


_RECODER = Masker(RECODED, RECODING)
_CENTRED = Masker(("centroid",), CENTROIDS)
_MOVED = Masker(("transformed",), None)
MASKERS = {
    "partition": Masker(("extent",), EXTENTS),
    "top_down": _RECODER,
    "genetic": _RECODER,
    "mondrian": Masker(("region",), REGIONS),
    "microaggregate": _CENTRED,
    "wf_c_means": _CENTRED,
    "mdav": _CENTRED,
    "linkage": _CENTRED,
    "private_tree": Masker(("generated",), "private_tree.json"),
    "dp_heter": Masker(("generated",), "dp_heter.json"),
    "translate": _MOVED,
    "scale": _MOVED,
    "rotate": _MOVED,
    "hybrid": _MOVED,
    "add_noise": _MOVED,
}
