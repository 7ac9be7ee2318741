"""What a written release tells when it is read back: its recoding, and the holder's recipe beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sfumato.data.taxonomy import Taxonomy
from sfumato.errors import ReleaseError
from sfumato.maskers.topdown.recoding import Recoding, tree_file
from sfumato.recipe import Recipe
from sfumato.release.release import HOLDER


def read_certificate(release: str | Path) -> dict[str, Any]:
    """The content of certificate.json."""
    found: dict[str, Any] = _json(Path(release) / "certificate.json")
    return found


def read_recoding(release: str | Path) -> Recoding:
    """The recoding of a top-down release, with its taxonomies."""
    folder = Path(release)
    mask = read_certificate(folder).get("mask")
    if not (folder / "recoding.json").is_file():
        raise ReleaseError(str(release), "only a recoding can be read back and applied to other rows",
                           given=f"a release masked by {mask}",
                           remedy="look into the holder's folder, or publish the new rows together")  # fmt: skip
    form = _json(folder / "recoding.json")
    trees = {
        name: Taxonomy.from_tree(_json(folder / tree_file(name)))
        for name, part in form["attributes"].items()
        if part["kind"] == "generalize"
    }
    return Recoding.from_json(form, trees)


def read_history(release: str | Path) -> dict[str, Any]:
    """The history of the search, from the holder's folder."""
    found: dict[str, Any] = _json(_holder(release) / "history.json")
    return found


def read_recipe_of(release: str | Path) -> Recipe:
    """The recipe that made a release, from the holder's folder."""
    return Recipe.from_yaml(_holder(release) / "recipe.yaml")


def _holder(release: str | Path) -> Path:
    folder = Path(release).resolve()
    holder = folder.with_name(folder.name + HOLDER)
    if not holder.is_dir():
        raise ReleaseError(str(release), "the holder's folder stands beside the release", given=f"no {holder.name}/",
                           remedy="run this where publish wrote both folders")  # fmt: skip
    return holder


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ReleaseError(str(path.parent), "this is a release folder", given=f"no {path.name} in it",
                           remedy="name a folder that publish wrote") from None  # fmt: skip
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise ReleaseError(str(path), "this file is JSON", given="something else",
                           remedy="restore the release from a good copy") from None  # fmt: skip
