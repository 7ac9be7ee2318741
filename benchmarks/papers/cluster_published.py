"""Paper 000, section 5: the test cases of Figures 3, 4, 10 and 11 as a user gets them, measured by `publish`."""

from __future__ import annotations

from dataclasses import replace
from tempfile import TemporaryDirectory

import sfumato as sf
from benchmarks.papers.cluster_measuring import RAW_STARTS, Row, Study, masker, study
from benchmarks.papers.cluster_settings import Setting, requirements
from sfumato.data.schema import Schema
from sfumato.maskers.masker import Masker

MASKERS: dict[str, Masker] = {"partition": sf.Partition(), "pure": sf.Partition(pure=True)}
"""Beside the scores of top-down refinement."""


def published(setting: Setting) -> Row:
    """Publish one test case, and take its figures from what the holder is told.

    `f_start` of bisecting is what the nearest of the starting centres gives; cold figures are means of one start each.
    """
    raw = study(setting.dataset, setting.method, setting.clusters, setting.seed, setting.rows)
    with TemporaryDirectory() as folder:
        run = sf.Run(report=False, trial=True, ledger=sf.Ledger(f"{folder}/ledger"))
        release = sf.publish(raw.table.to_arrow(), recipe_of(setting, raw), run=run)
    told = release.scores["scores"]

    def figure(*names: str) -> float:
        return next((float(told[name]["value"]) for name in names if name in told), float("nan"))

    return Row(
        setting,
        f_start=figure("f_measure.start"),
        mp_start=figure("match_point.start"),
        agreement=figure("agreement"),
        f_cold_mean=figure("f_measure.cold1", "f_measure.cold.mean"),
        mp_cold_mean=figure("match_point.cold1", "match_point.cold.mean"),
        f_ten=figure("f_measure.cold10"),
        f_ten_raw=figure("f_measure.ceiling.mean"),
        penalty=figure("certainty_penalty"),
    )


def recipe_of(setting: Setting, raw: Study) -> sf.Recipe:
    """The quasi-identifier is masked, the other attributes stay as they are, and all are clustered by."""
    needs = requirements(setting, raw.table, raw.ranking)
    asked = {name for need in needs for name in need.on}
    schema = Schema(
        {
            name: attribute if name in asked else replace(attribute, role="plain", unique_ok=True)
            for name, attribute in raw.table.schema.items()
        }
    )
    structure = sf.Clusters(
        setting.method, k=setting.clusters, seed=setting.seed, n_init=RAW_STARTS, attributes=tuple(schema)
    )
    mask = MASKERS[setting.mask] if setting.mask in MASKERS else masker(setting.mask)
    return sf.Recipe(schema=schema, structure=structure, privacy=needs, mask=mask)
