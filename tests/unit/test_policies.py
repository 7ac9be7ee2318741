"""Policies: for each a table that passes, and for each check one that fails, by the sentence that it fails by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.data.masked import Masked
from sfumato.errors import PolicyError
from sfumato.evaluation.attacks.results import AttackResult, Beside, Measured
from sfumato.evaluation.scores import Estimate
from sfumato.privacy.verify.policies.contents import CONTENTS
from sfumato.privacy.verify.policies.terms import CHECKS, KNOWN
from sfumato.privacy.verify.policies.wording import CONTENT, SENTENCES
from sfumato.recipe.policies.checks import REMEDIES, people_in_areas
from sfumato.recipe.policies.definition import NAMES, bundled
from sfumato.recipe.policies.findings import claimed, findings
from tests.forgeries.certificates import read as read_certificate
from tests.forgeries.certificates import write as write_certificate

ROWS = 330
ON = ("age", "zip", "sex", "admitted")
ATTESTED = {one.name: "A. Muster, 2026-03-01" for name in NAMES for one in bundled(name).attest}


def people(**more: Any) -> pl.DataFrame:
    """A table that passes, but for what is given otherwise."""
    chance = np.random.default_rng(7)
    days = np.datetime64("2014-01-01") + chance.integers(0, 1500, ROWS).astype("timedelta64[D]")
    found = {
        "age": chance.integers(18, 99, ROWS),
        "zip": chance.choice(["021", "000", "100"], ROWS),
        "sex": chance.choice(["f", "m"], ROWS),
        "admitted": days,
        "disease": chance.choice(["flu", "gout", "cold"], ROWS),
    }
    return pl.DataFrame({**found, **more})


ATTRIBUTES: Mapping[str, Any] = {
    "age": sf.Number(role="quasi", range=(0, 90), outside="clip"),
    "zip": sf.Category(role="quasi"),
    "sex": sf.Category(role="quasi"),
    "admitted": sf.Number(role="quasi", calendar="year"),
    "disease": sf.Category(role="sensitive"),
}


@pytest.fixture
def areas(tmp_path: Path) -> str:
    path = tmp_path / "people.csv"
    path.write_text("zip3,people\n021,1000000\n100,1500000\n036,12000\n", encoding="utf-8")
    return str(path)


def recipe(policy: str | sf.Policy, attributes: Mapping[str, Any] | None = None, **more: Any) -> sf.Recipe:
    named = sf.Policy(policy) if isinstance(policy, str) else policy
    asked = {one.name: ATTESTED[one.name] for one in named.definition.attest if one.name in ATTESTED}
    privacy = [sf.KAnonymity(on=ON, k=11), sf.LDiversity(on=ON, sensitive="disease", l=2)]
    whole = {"schema": sf.Schema({**ATTRIBUTES, **(attributes or {})}), "privacy": privacy, "people": "patients"}
    return sf.Recipe(**{**whole, "policies": [named], "attest": asked, **more})


def published(table: pl.DataFrame, asked: sf.Recipe) -> sf.Release:
    return sf.publish(table, asked, run=sf.Run(report=False, trial=True))


def refused(table: pl.DataFrame, asked: sf.Recipe, check: str, sentence: str) -> PolicyError:
    with pytest.raises(PolicyError) as found:
        published(table, asked)
    name = asked.policies[0].name  # type: ignore[union-attr]
    assert found.value.thing.startswith(f"policy {name}, {check}")
    assert sentence in found.value.rule
    assert found.value.remedy
    return found.value


def safe_harbor(areas: str | None, **columns: str) -> sf.Policy:
    return sf.Policy("hipaa-safe-harbor", areas=areas, columns=columns)


@pytest.mark.parametrize("name", NAMES)
def test_a_table_that_passes(name: str, areas: str) -> None:
    policy = safe_harbor(areas) if name == "hipaa-safe-harbor" else name
    release = published(people(), recipe(policy))
    lines = {check.name: check.detail for check in release.verdict.checks if check.name.startswith("policy")}
    assert len(lines) == len(KNOWN[name].checks) + len(KNOWN[name].attested)
    assert all(line.startswith(("rechecked: ", "attested ", "cannot be seen")) for line in lines.values())
    assert release.certificate["policies"][0]["policy"] == name


def test_definitions_and_verify_know_the_same() -> None:
    assert set(NAMES) == set(KNOWN)
    for name in NAMES:
        found = bundled(name)
        assert [dict(check.terms) for check in found.checks] == [dict(check) for check in KNOWN[name].checks]
        assert tuple(one.name for one in found.attest) == KNOWN[name].attested
    assert set(CHECKS) == set(SENTENCES) == set(REMEDIES)
    assert set(CONTENTS) == set(CONTENT)


def test_no_text_says_compliant() -> None:
    """But for the one that says that a policy is not compliance."""
    root = Path(sf.__file__).parent
    for path in (*root.glob("recipe/policies/*"), *root.glob("privacy/verify/policies/*.py"), root / "cli/policies.py"):
        if path.is_file():
            assert "compliant" not in path.read_text(encoding="utf-8").replace("NOT_COMPLIANT", "").lower(), path


# cell-size-11


def test_small_groups_are_refused_by_the_recipe() -> None:
    small = recipe("cell-size-11", privacy=[sf.KAnonymity(on=ON, k=10)])
    refused(people(), small, "least_group", "is shared by at least 11 records")


def test_small_groups_on_all_columns_together_are_refused_by_the_release() -> None:
    """Each quasi-identifier has its eleven, and all of them together do not."""
    parts = [sf.KAnonymity(on=["age", "sex"], k=11), sf.KAnonymity(on=["zip", "admitted"], k=11)]
    error = refused(people(), recipe("cell-size-11", privacy=parts), "least_group", "is shared by at least 11 records")
    assert "together" in error.remedy


def test_rare_labels_are_refused() -> None:
    ill = ["rare"] * 5 + ["flu"] * (ROWS - 5)
    asked = recipe("cell-size-11", privacy=[sf.KAnonymity(on=ON, k=11)])
    error = refused(people(disease=ill), asked, "least_value", "every label shown as it is")
    assert "rare" not in str(error).split("join rare")[0]
    assert error.given == 'a label of "disease" that fewer have'
    ill = [f"rare {at // 5}" for at in range(15)] + ["flu"] * (ROWS - 15)
    error = refused(people(disease=ill), asked, "least_value", "every label shown as it is")
    assert error.given == '3 labels of "disease" that fewer have each, 15 rows together'


COMBINED = {"a|b": 100, "a": 110, "b": 110, "a|b|c": 5, "c": 5}
"""Sets of which each item is held by at least ten, and two combinations by five."""


@pytest.mark.parametrize(
    ("name", "attribute", "cells", "given"),
    [
        (
            "ill",
            sf.ItemSet(role="sensitive", separator="|"),
            [cell for cell, times in COMBINED.items() for _ in range(times)],
            '2 combinations of items of "ill" that fewer have each',
        ),
        (
            "cost",
            sf.Number(role="plain", unique_ok=True),
            [120.5] * 3 + [80.0] * 327,
            'a number of "cost" that fewer have',
        ),
    ],
    ids=["a combination of common items", "an exact amount"],
)
@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_whole_cells_of_every_column_are_counted(
    name: str, attribute: Any, cells: list[Any], given: str, format: Any, tmp_path: Path
) -> None:
    """By publish before anything is masked, and by verify from the folder, whatever its certificate says."""
    asked = recipe("cell-size-11", {name: attribute}, privacy=[sf.KAnonymity(on=ON, k=11)])
    few = replace(asked, policies=[sf.Policy(FEW)], attest={}) if name == "ill" else asked  # type: ignore[arg-type]
    error = refused(people(**{name: cells}), few, "least_value", "every label shown as it is")
    assert error.given.startswith(given)
    enough = [cells[100]] * 165 + [cells[-20]] * 165
    fine = sf.publish(people(**{name: enough}), asked, run=sf.Run(report=False, trial=True, format=format))
    seen = {check.name: check.detail for check in fine.verdict.checks}
    assert seen["policy cell-size-11: least_value"] == "rechecked: 2 columns shown as they are, by whole cells"
    told = {"policies": fine.certificate["policies"]}
    bare = replace(asked, policies=(), attest={})
    kept = sf.publish(people(**{name: cells}), bare, run=sf.Run(report=False, trial=True, format=format)).keep(
        tmp_path / "o"
    )
    form = read_certificate(kept)
    at = [*form].index("versions")
    write_certificate(kept, dict([*[*form.items()][:at], *told.items(), *[*form.items()][at:]]))
    (check,) = [one for one in sf.verify(kept).checks if one.name == "policy cell-size-11: least_value"]
    assert not check.holds
    assert f'a value of "{name}", taken as a whole cell, is held by fewer' in check.detail


FEW = {
    "sfumato_policy": 1,
    "name": "few",
    "title": "Ten",
    "rule": "Ten.",
    "source": "we",
    "checks": [{"check": "least_value", "records": 10, "rule": "Ten.", "source": "we"}],
}
"""Asks for ten: each item of `COMBINED` alone has so many."""


# hipaa-safe-harbor


@pytest.mark.parametrize(
    ("name", "values", "held"),
    [
        ("patient_name", ["x"], "names"),
        ("county", ["Kent"], "areas smaller than a state"),
        ("phone", ["x"], "telephone numbers"),
        ("fax", ["x"], "fax numbers"),
        ("contact", ["a@b.org"], "e-mail addresses"),
        ("number", ["219-09-9999"], "social security numbers"),
        ("mrn", ["x"], "numbers of medical records"),
        ("beneficiary", ["x"], "numbers of a health plan's members"),
        ("account", ["x"], "account numbers"),
        ("license_number", ["x"], "numbers of certificates and licences"),
        ("licensePlate", ["x"], "vehicles and their plates"),
        ("device_id", ["x"], "devices and their serial numbers"),
        ("page", ["https://example.org/a"], "web addresses"),
        ("seen_from", ["10.2.3.4"], "IP addresses"),
        ("fingerprint", ["x"], "finger and voice prints"),
        ("photo", ["x"], "photographs of faces"),
        ("pseudonym", ["x"], "other numbers and codes of one person"),
    ],
)
def test_each_kind_of_identifier_is_refused(name: str, values: list[str], held: str, areas: str) -> None:
    """Seventeen kinds by this check; of the eighteenth, dates, see the years below."""
    table = people(**{name: values * ROWS})
    asked = recipe(safe_harbor(areas), {name: sf.Category()})
    error = refused(table, asked, "identifiers", "no column shows names, areas smaller than a state")
    assert held in error.given
    left_out = replace(asked, schema=sf.Schema({**asked.schema, name: sf.Category(role="identifier")}))
    assert not [one for one in findings(left_out) if one.state == "fails"]


def test_a_column_that_only_seems_to_identify_is_told_as_other(areas: str) -> None:
    table = people(page=["a", "b", "c"] * (ROWS // 3))
    asked = recipe(safe_harbor(areas, photo="other"), {"photo": sf.Category()})
    release = published(table.rename({"page": "photo"}), asked)
    assert release.certificate["policies"][0]["contents"]["photo"] == "other"
    line = next(one.detail for one in release.verdict.checks if one.name.endswith("identifiers"))
    assert "the holder's word" in line


def test_dates_by_months_and_days_are_refused(areas: str) -> None:
    by_month = {"admitted": sf.Number(role="quasi", calendar="month")}
    refused(people(), recipe(safe_harbor(areas), by_month), "years", "dates are shown by their years alone")
    as_text = people(admission=[f"2014-03-{day:02}" for day in range(1, 12)] * (ROWS // 11))
    error = refused(as_text, recipe(safe_harbor(areas), {"admission": sf.Category()}), "years", "by their years alone")
    assert "a month or a day" in error.given  # seen by verify in the written folder


def test_ages_over_89_are_refused_where_they_are_told_apart(areas: str) -> None:
    sentence = "ages over 89, and years of birth that tell them, are shown together as one"
    ages = people().with_columns(pl.Series("age", [*range(20, 101)] * 4 + [90] * (ROWS - 324)))
    wide = {"age": sf.Number(role="quasi", range=(0, 120))}
    masker = sf.Mondrian()
    asked = recipe(safe_harbor(areas), wide, privacy=[sf.KAnonymity(on=ON, k=2)], mask=masker)
    refused(ages, asked, "oldest", sentence)  # masked: seen in the folder
    bare = {"age": sf.Number(role="plain", unique_ok=True)}
    rest = [name for name in ON if name != "age"]
    refused(ages, recipe(safe_harbor(areas), bare, privacy=[sf.KAnonymity(on=rest, k=11)]), "oldest", sentence)
    born = people(birth_year=[1920, 1921, 1990] * (ROWS // 3))
    asked = recipe(safe_harbor(areas), {"birth_year": sf.Number(role="plain", unique_ok=True)})
    refused(born, asked, "oldest", sentence)


def test_zip_codes_are_refused_with_more_digits_without_a_table_and_for_small_areas(areas: str) -> None:
    sentence = "of ZIP codes at most the first 3 digits are shown, and 000 for areas of 20,000 or fewer people"
    long = people(zip=["02139", "02140", "10001"] * (ROWS // 3))
    refused(long, recipe(safe_harbor(areas)), "areas", sentence)
    refused(people(), recipe(safe_harbor(None)), "areas", sentence)
    small = people(zip=["021", "036", "100"] * (ROWS // 3))
    refused(small, recipe(safe_harbor(areas)), "areas", sentence)
    tree = {"ANY": {"021": ["02139", "02140"], "100": ["10001"]}}
    below = {"zip": sf.Category(role="quasi", taxonomy=sf.Taxonomy.from_tree(tree))}
    refused(long, recipe(safe_harbor(areas), below, mask=sf.TopDown()), "areas", sentence)


def test_zip_codes_without_a_table_of_their_people_are_refused_by_the_recipe(tmp_path: Path, areas: str) -> None:
    """Before a table is read or masked, with what to add; a table that is none is refused as early."""
    (found,) = [one for one in findings(recipe(safe_harbor(None))) if one.check == "areas"]
    assert found.state == "fails"
    assert "no table of the people in areas" in found.given
    assert "{policy: hipaa-safe-harbor, areas: people.csv}" in found.remedy
    assert "{policy: hipaa-safe-harbor, columns: {zip: other}}" in found.remedy
    for policy in (safe_harbor(areas), safe_harbor(None, zip="other")):
        (later,) = [one for one in findings(recipe(policy)) if one.check == "areas"]
        assert later.state == "later"
    one_column, bare = tmp_path / "one.csv", tmp_path / "bare.csv"
    bare.write_text("021,1000000\n036,12000\n", encoding="utf-8")
    assert people_in_areas(str(bare), 3) == {"021": 1_000_000, "036": 12_000}
    one_column.write_text("zip3\n021\n", encoding="utf-8")
    with pytest.raises(PolicyError, match="how many people live there"):
        findings(recipe(safe_harbor(str(one_column))))


def test_codes_of_one_person_are_refused(areas: str) -> None:
    cost = people(cost=np.arange(ROWS) / 7)
    asked = recipe(safe_harbor(areas), {"cost": sf.Number(role="plain", unique_ok=True)})
    refused(cost, asked, "unique", "no column that is shown as it is tells most records apart")


# wp29


def test_wp29_refuses_each_of_its_checks() -> None:
    table = people()
    nothing = {"mask": sf.Rotate(), "privacy": (), "i_understand": "no_guarantee"}
    moved = {**ATTRIBUTES, "zip": sf.Category(), "sex": sf.Category(), "admitted": sf.Category(role="identifier")}
    moved |= {"age": sf.Number(role="quasi"), "size": sf.Number(role="quasi")}
    refused(table, recipe("wp29", moved, **nothing), "guarantee", "the masker makes a promise that can be checked")
    small = recipe("wp29", privacy=[sf.KAnonymity(on=ON, k=4), sf.LDiversity(on=ON, sensitive="disease", l=2)])
    refused(table, small, "least_group", "at least 5 records")
    refused(table, recipe("wp29", keep_order=True), "shuffled", "the rows stand in random order")
    refused(table, recipe("wp29", people=None), "named_people", "the people have a name")
    open_ = recipe("wp29", privacy=[sf.KAnonymity(on=ON, k=11)])
    refused(table, open_, "bounded", "every sensitive column is bounded by a requirement")


@pytest.mark.parametrize("criterion", ["linkability", "inference"])
def test_wp29_refuses_attacks_that_succeed(criterion: str) -> None:
    """By the attacks themselves, under a policy that allows them nothing."""
    told = bundled("wp29").form() | {"name": "stricter"}
    told["checks"] = [{**one, "most": 1e-9} if one.get("criterion") == criterion else one for one in told["checks"]]
    leaky = people(disease=np.where(np.arange(ROWS) % 2, "flu", "gout"), sex=np.where(np.arange(ROWS) % 2, "f", "m"))
    sentence = f"the attacks of the criterion {criterion} succeed at most"
    refused(leaky, recipe(sf.Policy(told)), "attack", sentence)  # type: ignore[arg-type]


@pytest.mark.parametrize("criterion", ["singling out", "linkability", "inference"])
def test_wp29_holds_every_attack_against_its_limit(criterion: str) -> None:
    asked = recipe("wp29")
    table = sf.read(people(), asked.schema)
    shown = Masked.of({}, rows=ROWS).over(table)
    most = 0.2 if criterion == "inference" else 0.1

    def found(excess: float) -> Measured:
        success, baseline = Estimate(0.3 + excess, 0, 1), Estimate(0.3, 0, 1)
        beside = Beside("at random", baseline, Estimate(excess, 0, 1))
        return Measured((AttackResult("a", "b", success, "c", "d", criterion=criterion, baseline=beside),))

    assert claimed(asked, table, shown, found(most))
    with pytest.raises(PolicyError, match=f"the attacks of the criterion {criterion} succeed at most {most}") as caught:
        claimed(asked, table, shown, found(most + 0.01))
    assert (
        caught.value.given
        == f"a: {most + 0.01:.2g} more often, {most} allowed ({most + 0.31:.0%} succeed, 30% by "
        + ("guessing without the release)")
    )
    bare = 'declare quasi, or identifier, what goes out as it is ("disease"'  # which no k masks
    assert (caught.value.remedy or "").startswith(bare if criterion == "singling out" else "ask for a larger k")


def test_wp29_refuses_rows_that_are_generated() -> None:
    schema = sf.Schema(age=sf.Number(role="quasi", range=(0, 90)), sex=sf.Category(role="quasi", values=("f", "m")))
    asked = sf.Recipe(
        schema=schema,
        mask=sf.PrivateTree(),
        budget=sf.Budget(epsilon=1),
        policies=["wp29"],
        people="patients",
        attest=dict.fromkeys(KNOWN["wp29"].attested, "A. Muster"),
    )
    refused(people().select("age", "sex"), asked, "least_group", "at least 5 records")


# expert-determination, and what all share


def test_an_expert_determination_refuses_small_groups_and_missing_attestations() -> None:
    small = recipe("expert-determination", privacy=[sf.KAnonymity(on=ON, k=10)])
    refused(people(), small, "least_group", "at least 11 records")
    unsaid = replace(recipe("expert-determination"), attest={})
    refused(people(), unsaid, "expert", "Who the expert is")


@pytest.mark.parametrize("name", NAMES)
def test_every_attestation_is_asked_for(name: str, areas: str) -> None:
    policy = safe_harbor(areas) if name == "hipaa-safe-harbor" else sf.Policy(name)
    whole = recipe(policy)
    for one in policy.definition.attest:
        some = {key: words for key, words in whole.attest.items() if key != one.name}
        refused(people(), replace(whole, attest=some), one.name, one.text)


def test_everything_that_fails_is_told_at_once() -> None:
    small = replace(recipe("cell-size-11", privacy=[sf.KAnonymity(on=ON, k=5)]), attest={})
    error = refused(people(), small, "least_group", "at least 11 records")
    assert error.given == "k = 5"
    assert "--set privacy.0.k=11" in error.remedy
    assert "As well cell-size-11, no_differencing (nobody attests it): " in error.remedy


def test_recipes_keep_policies_through_yaml(areas: str) -> None:
    own = bundled("cell-size-11").form() | {"name": "ours"}
    asked = recipe(safe_harbor(areas, zip="zip"))
    both = replace(asked, policies=[*asked.policies, sf.Policy(own)])  # type: ignore[arg-type]
    assert sf.Recipe.from_yaml(both.to_yaml(), allow=["/"]) == both


OWN = """sfumato_policy: 1
name: ours
title: What we ask
rule: Twenty.
source: we
checks:
  - {check: least_group, records: 20, rule: Twenty., source: we}
"""


def test_a_policy_of_ones_own_lies_beside_the_recipe(tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_text(OWN, encoding="utf-8")
    text = replace(recipe("cell-size-11"), policies=(), attest={}).to_yaml() + "policies: [ours.yaml]\n"
    (tmp_path / "recipe.yaml").write_text(text, encoding="utf-8")
    asked = sf.Recipe.from_yaml(tmp_path / "recipe.yaml")
    refused(people(), asked, "least_group", "at least 20 records")
    larger = [sf.KAnonymity(on=ON, k=20)]
    release = published(people(), replace(asked, privacy=larger))
    assert release.certificate["policies"][0]["own"]
    with pytest.raises(sf.RecipeError, match="files of its own folder"):
        sf.Recipe.from_yaml(f"{text}\n".replace("ours.yaml", "/etc/ours.yaml"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("records: 20", "records: 1"), "'records' is no whole number from 2"),
        (("records: 20", "records: 20, most: 3"), "it has no setting 'most'"),
        (("least_group", "least_groups"), "did you mean 'least_group'"),
        (("name: ours", "name: wp29"), "none of those that come along"),
        (("name: ours", "name: Our policy"), "small letters"),
        (("sfumato_policy: 1", "sfumato: 1"), "begins with `sfumato_policy: 1`"),
        (("source: we\nchecks", "sources: we\nchecks"), "did you mean 'source'"),
        (("title: What we ask\n", ""), "it says its title"),
    ],
)
def test_mistakes_in_a_policy_are_told(change: tuple[str, str], says: str, tmp_path: Path) -> None:
    (tmp_path / "ours.yaml").write_text(OWN.replace(*change, 1), encoding="utf-8")
    with pytest.raises(PolicyError) as found:
        sf.Policy(str(tmp_path / "ours.yaml"))
    assert says in str(found.value)


def test_mistakes_in_a_recipe_are_told(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="did you mean 'wp29'"):
        recipe("wp28")
    with pytest.raises(PolicyError, match="a column holds one of"):
        sf.Policy("wp29", columns={"home": "house"})
    with pytest.raises(sf.SchemaError, match="no such attribute"):
        recipe(sf.Policy("hipaa-safe-harbor", columns={"house": "zip"}))
    with pytest.raises(PolicyError, match="it answers what a policy asks"):
        recipe("cell-size-11", attest={"no_difference": "me"})
    with pytest.raises(PolicyError, match="it says who attests it"):
        recipe("cell-size-11", attest={"no_differencing": " "})
    with pytest.raises(PolicyError, match="asked for once"):
        recipe("wp29", policies=["wp29", "wp29"])
    (tmp_path / "people.csv").write_text("zip3,people\n021,many\n", encoding="utf-8")
    with pytest.raises(PolicyError, match="its first column is the beginning"):
        published(people(), recipe(safe_harbor(str(tmp_path / "people.csv"))))


def test_a_draft_asks_for_a_policy_and_says_what_is_left_to_do(tmp_path: Path) -> None:
    people().write_csv(tmp_path / "people.csv")
    done = CliRunner().invoke(app, ["draft", str(tmp_path / "people.csv"), "--policy", "cell-size-11", "--quiet"])
    assert done.exit_code == 0, done.output
    assert "{k_anonymity: 11" in done.stdout
    assert "policies: [cell-size-11]" in done.stdout
    assert "# cell-size-11, no_differencing: No other table" in done.stdout
    drafted = sf.Recipe.from_yaml(done.stdout, allow=["/"])
    assert [one.check for one in findings(drafted) if one.state in ("fails", "to attest")] == ["no_differencing"]
    assert "singles people out" not in done.stdout
    done = CliRunner().invoke(app, ["draft", str(tmp_path / "people.csv"), "--policy", "wp29", "--quiet"])
    said = " ".join(done.stdout.replace("\n#", " ").split())
    assert '"disease") usually singles people out, by combinations of its values' in said
    assert "sfumato attack TABLE NAME.trial" in said


def test_policies_are_asked_for_on_the_command_line(tmp_path: Path) -> None:
    table, path = tmp_path / "people.csv", tmp_path / "recipe.yaml"
    people().write_csv(table)
    text = replace(recipe("cell-size-11"), policies=(), attest={}, people=None, table=str(table)).to_yaml()
    path.write_text(text, encoding="utf-8")
    call = [
        "publish",
        str(path),
        "-o",
        str(tmp_path / "out"),
        "--no-report",
        "--no-suggest",
        "--policy",
        "cell-size-11",
    ]
    refusal = CliRunner().invoke(app, call).exception
    assert isinstance(refusal, PolicyError)
    done = CliRunner().invoke(app, [*call, "--attest", "no_differencing=A. Muster"])
    assert done.exit_code == 0, done.output
    assert "policy cell-size-11: least_group" in str(sf.verify(tmp_path / "out"))
    wrong = CliRunner().invoke(app, [*call, "--attest", "no_differencing"]).exception
    assert "it is NAME=WHO" in str(wrong)


def test_one_policy_is_shown_in_full_and_as_yaml(tmp_path: Path) -> None:
    shown = CliRunner().invoke(app, ["policies", "wp29"]).stdout
    assert all(check.sentence in shown for check in bundled("wp29").checks)
    text = CliRunner().invoke(app, ["policies", "wp29", "--yaml"]).stdout.replace("name: wp29", "name: ours")
    (tmp_path / "ours.yaml").write_text(text, encoding="utf-8")
    assert sf.Policy(str(tmp_path / "ours.yaml")).definition.checks == bundled("wp29").checks


def test_an_expert_is_given_a_report_by_chapters(tmp_path: Path) -> None:
    asked = recipe(sf.Policy(EXPERT), people=None)  # type: ignore[arg-type]
    release = sf.publish(people(), asked, run=sf.Run(trial=True))
    folder = release.keep(tmp_path / "out")
    page = (tmp_path / "out.holder" / "determination.html").read_text(encoding="utf-8")
    for chapter in ("6 Context assessment", "7 Data assessment", "8 Identifiability", "9 De-identification governance"):
        assert f"<h2>{chapter}" in page
    assert "A. Muster, 2026-03-01" in page
    assert "To be filled in by the expert" in page
    short = (tmp_path / "out.holder" / "report_short.html").read_text(encoding="utf-8")
    assert "This release satisfies the checks of its holder&#x27;s own policy ours" in short
    files = [path for path in folder.rglob("*") if path.is_file()]
    handed_over = "".join(path.read_text(encoding="utf-8", errors="replace") for path in files)
    assert "Muster" not in handed_over
    assert "satisfies the checks of" in handed_over


EXPERT = {
    "sfumato_policy": 1,
    "name": "ours",
    "title": "An expert looks",
    "rule": "An expert looks.",
    "source": "we",
    "report": "determination",
    "checks": [{"check": "least_group", "records": 11, "rule": "Eleven.", "source": "we"}],
    "attest": [{"name": "expert", "text": "Who it is.", "source": "we"}],
}
