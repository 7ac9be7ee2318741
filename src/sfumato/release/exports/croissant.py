"""Croissant: a release for loaders of learning data, JSON-LD in the form of MLCommons, version 1.0.

It is made from datapackage.json alone, which verify makes again: it tells nothing that the release does not show. It
lies beside the folder, as NAME.croissant.json, because the certificate speaks of every file inside.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sfumato.errors import ReleaseError
from sfumato.privacy.verify.texts.datapackage import PACKAGE
from sfumato.release.reading import read_json

SUFFIX = ".croissant.json"
CROISSANT = "http://mlcommons.org/croissant/"
FILE = "file"
TABLE = "table"
TERMS = (
    *("citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty", "fileSet", "format"),
    *("includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex"),
    *("repeated", "replace", "samplingRate", "separator", "source", "subField", "transform"),
)
"""Words that are Croissant's own, as every file lists them; all others are those of schema.org."""
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": CROISSANT,
    "rai": f"{CROISSANT}RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{term: {"@id": f"cr:{term}", "@type": "@json"} for term in ("data", "examples")},
    **{term: f"cr:{term}" for term in TERMS},
}
ENCODINGS = {"csv": "text/csv", "parquet": "application/x-parquet"}
TYPES = {
    "boolean": "sc:Boolean",
    "date": "sc:Date",
    "datetime": "sc:DateTime",
    "integer": "sc:Integer",
    "number": "sc:Float",
    "time": "sc:Time",
}
"""What columns hold; all others text."""


def write_croissant(folder: Path) -> Path:
    """Write NAME.croissant.json beside a release's folder; in the place of no other file."""
    folder = folder.absolute()
    path = folder.with_name(folder.name + SUFFIX)
    content = json.dumps(croissant(read_json(folder, PACKAGE), folder.name), ensure_ascii=False, indent=2) + "\n"
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(content)
    except FileExistsError:
        if path.read_bytes() != content.encode():
            raise ReleaseError(
                str(path), "it has a new name", given="another file that is there already", remedy="move it away"
            ) from None
    return path


def croissant(package: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """The description of a release by its data package; `folder`: the name of its folder, which lies beside."""
    (resource,) = package["resources"]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": f"{CROISSANT}1.0",
        "name": package["name"],
        "description": package["description"],
        "datePublished": package["created"],
        "distribution": [_file(resource, folder)],
        "recordSet": [_records(resource)],
    }


def _file(resource: Mapping[str, Any], folder: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": FILE,
        "name": resource["path"],
        "contentUrl": f"{folder}/{resource['path']}",
        "contentSize": f"{resource['bytes']} B",
        "encodingFormat": ENCODINGS[resource["format"]],
        "sha256": resource["hash"].removeprefix("sha256:"),
    }


def _records(resource: Mapping[str, Any]) -> dict[str, Any]:
    fields = [_field(column) for column in resource["schema"]["fields"]]
    return {"@type": "cr:RecordSet", "@id": TABLE, "name": TABLE, "field": fields}


def _field(column: Mapping[str, Any]) -> dict[str, Any]:
    name = column["name"]
    return {
        "@type": "cr:Field",
        "@id": f"{TABLE}/{quote(name, safe='')}",
        "name": name,
        "description": column["description"],
        "dataType": TYPES.get(column["type"], "sc:Text"),
        "source": {"fileObject": {"@id": FILE}, "extract": {"column": name}},
    }
