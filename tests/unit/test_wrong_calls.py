"""Calls in Python that do not fit: each is answered in words, with the rule, what was given and what to do."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import sfumato as sf

sloppy: Any = sf
FRAME = pd.DataFrame({"age": [*range(20, 70)] * 4, "sex": ["f", "m"] * 100, "ill": ["a", "b", "c", "d"] * 50})
NEED = sf.KAnonymity(["age", "sex"], 5)
SCHEMA = sf.Schema(
    age=sf.Number(role="quasi"), sex=sf.Category(role="quasi"), ill=sf.Category(role="sensitive", values=tuple("abcd"))
)
RECIPE = sf.Recipe(schema=SCHEMA, privacy=[NEED])

WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "k before the names": (lambda: sloppy.KAnonymity(5, ["age"]), 'write on=\\["age", "sex"\\] first'),
    "k as text": (lambda: sloppy.KAnonymity(["age"], "5"), "k is a whole number .* Given: '5'"),
    "k with a point": (lambda: sloppy.KAnonymity(["age"], 5.0), "k is a whole number .* Given: 5.0"),
    "no k": (lambda: sloppy.KAnonymity(["age"]), "it takes on and k. Given: nothing for k"),
    "only k": (lambda: sloppy.KAnonymity(k=5), "nothing for on. To mend it: write KAnonymity\\(on=..., k=...\\)"),
    "a large K": (lambda: sloppy.KAnonymity(["age"], K=5), "Given: 'K'. To mend it: use one of: on, k"),
    "columns": (lambda: sloppy.KAnonymity(columns=["age"], k=5), "Given: 'columns'. To mend it: here it is called on"),
    "names one by one": (lambda: sloppy.KAnonymity("age", "sex", 5), "str, str and int in a row"),
    "names that are numbers": (lambda: sloppy.KAnonymity([1, 2], 5), "not all of them names"),
    "how many clusters first": (lambda: sloppy.Clusters(6), "a clusterer is one of ours.* Given: 6"),
    "clusters as text": (lambda: sloppy.Clusters("kmeans", k="6"), "k is a whole number"),
    "scikit-learn's n_clusters": (
        lambda: sloppy.Clusters("kmeans", n_clusters=6),
        "Given: 'n_clusters'. To mend it: here it is called k",
    ),
    "kmean": (lambda: sf.Clusters("kmean", k=6), "did you mean 'kmeans'"),
    "classes in a list": (lambda: sloppy.Classes(["ill"]), "classes are those of one column. Given: a list"),
    "classes of nothing": (lambda: sloppy.Classes(), "nothing for column"),
    "a role in a row": (lambda: sloppy.Number("quasi"), "each by its name. Given: str in a row"),
    "a role misspelt": (lambda: sloppy.Number(role="quasy"), "did you mean 'quasi'"),
    "one end of a range": (lambda: sloppy.Number(range=90), "a lower and an upper end. Given: 90"),
    "a range as text": (
        lambda: sloppy.Number(range="17-90"),
        "Given: '17-90'. To mend it: write \\(lowest, highest\\)",
    ),
    "a range turned round": (lambda: sf.Number(range=(90, 17)), "lower end must be below its upper end"),
    "a number with a tree": (lambda: sloppy.Number(taxonomy="a.csv"), "a tree of intervals goes with"),
    "a tree that is a number": (lambda: sloppy.Category(taxonomy=3), "a tree, or the file of one. Given: an int"),
    "a tree that is not there": (lambda: sloppy.Category(taxonomy="nothing.csv"), "nothing.csv"),
    "a class as an attribute": (lambda: sloppy.Schema(age=sf.Number), "Given: the class Number"),
    "a list as a schema": (lambda: sloppy.Schema(["age", "sex"]), "attributes by their names. Given: a list"),
    "roles as a schema": (lambda: sloppy.Schema(age="quasi"), "an attribute is a Number, .* Given: str"),
    "l before what is sensitive": (lambda: sloppy.LDiversity(["age"], 3, "ill"), "one sensitive attribute. Given: 3"),
    "percent": (lambda: sf.ConfidenceBound(["age"], "ill", 60), "a share above 0 and below 1.* Given: 60"),
    "no epsilon": (lambda: sloppy.Budget(), "it takes epsilon and total. Given: nothing for epsilon"),
    "an extent in a row": (lambda: sloppy.Partition("parts"), "each by its name. Given: str in a row"),
    "extents": (lambda: sloppy.Partition(extents="parts"), "did you mean 'extent'"),
    "a score misspelt": (lambda: sf.TopDown(score="tradeof"), "did you mean 'tradeoff'"),
    "a recipe in a row": (lambda: sloppy.Recipe(SCHEMA, NEED), "each by its name. Given: Schema and KAnonymity"),
    "no schema": (lambda: sloppy.Recipe(privacy=[NEED]), "nothing for schema"),
    "privicy": (lambda: sloppy.Recipe(schema=SCHEMA, privicy=[NEED]), "did you mean 'privacy'"),
    "k as privacy": (lambda: sloppy.Recipe(schema=SCHEMA, privacy=5), "it is a list of requirements. Given: an int"),
    "k in the list": (lambda: sloppy.Recipe(schema=SCHEMA, privacy=[5]), "each entry is a requirement. Given: an int"),
    "a class as privacy": (lambda: sloppy.Recipe(schema=SCHEMA, privacy=[sf.KAnonymity]), "the class KAnonymity"),
    "a mask as text": (lambda: sloppy.Recipe(schema=SCHEMA, privacy=[NEED], mask="partition"), "sf.Partition\\(\\)"),
    "a class as mask": (lambda: sloppy.Recipe(schema=SCHEMA, privacy=[NEED], mask=sf.TopDown), "the class TopDown"),
    "kmeans as structure": (lambda: sloppy.Recipe(schema=SCHEMA, privacy=[NEED], structure="kmeans"), "sf.Clusters"),
    "epsilon as budget": (lambda: sloppy.Recipe(schema=SCHEMA, budget=1), "it is an sf.Budget. Given: an int"),
    "detail as a number": (lambda: sloppy.Recipe(schema=SCHEMA, privacy=[NEED], detail=10), "a mapping of attributes"),
    "an attribute misspelt": (lambda: sf.Recipe(schema=SCHEMA, privacy=[sf.KAnonymity(["agee"], 5)]), "'age'"),
    "a policy misspelt": (lambda: sf.Policy("wp28"), "did you mean 'wp29'"),
    "a number as policies": (lambda: sloppy.Recipe(schema=SCHEMA, privacy=[NEED], policies=5), "a list of policies"),
    "no such recipe": (lambda: sf.publish(FRAME, "nothing.yaml"), "nothing.yaml"),
    "table and recipe swapped": (lambda: sloppy.publish(RECIPE, FRAME), "Given: a DataFrame.*the table first"),
    "no recipe": (lambda: sloppy.publish(FRAME), "nothing for recipe"),
    "a schema as recipe": (lambda: sloppy.publish(FRAME, SCHEMA), "Given: a Schema"),
    "lists as a table": (lambda: sf.publish([1, 2], RECIPE), "a table is a path, .*a data frame.* Given: list"),
    "a seed": (lambda: sloppy.publish(FRAME, RECIPE, seed=1), "it takes table, recipe and run. Given: 'seed'"),
    "a run that is none": (lambda: sloppy.publish(FRAME, RECIPE, run=1), "how to run is an sf.Run. Given: an int"),
    "a frame to verify": (lambda: sloppy.verify(FRAME), "a release is a folder.* Given: a DataFrame"),
    "no such release": (lambda: sf.verify("nowhere"), "no folder"),
    "raw and release swapped": (lambda: sloppy.evaluate("nowhere", FRAME), "Given: a DataFrame.*after the raw table"),
    "explain a frame": (lambda: sloppy.explain(FRAME), "a release is a folder.* Given: a DataFrame"),
    "clusters of a frame": (lambda: sloppy.find_clusters(FRAME), "a release is a folder"),
    "a frame as YAML": (lambda: sloppy.Recipe.from_yaml(FRAME), "Given: a DataFrame"),
    "people misspelt": (lambda: sloppy.Earlier(releases="a", people="sme"), "did you mean 'same'"),
    "a draft of nothing": (lambda: sloppy.draft(), "nothing for table"),
    "quasi-identifier": (lambda: sloppy.Number(role="quasi-identifier"), "here it is called quasi"),
    "QID": (lambda: sloppy.Category(role="QID"), "here it is called quasi"),
    "an id": (lambda: sloppy.Category(role="id"), "here it is called identifier"),
    "confidential": (lambda: sloppy.ItemSet(role="confidential"), "here it is called sensitive"),
    "a target": (lambda: sloppy.Category(role="target"), r"make it plain.* structure=sf.Classes\("),
    "insensitive": (lambda: sloppy.Number(role="insensitive"), "here it is called plain"),
    "dates that are clipped to no range": (
        lambda: sf.Number(role="quasi", calendar="year", outside="clip"),
        "declare the range as well",
    ),
    "a run with a seed": (lambda: sloppy.Run(seed=1), "Given: 'seed'. To mend it: write chance=sf.Seeded\\(1\\)"),
    "a number as chance": (lambda: sloppy.Run(chance=1), "an sf.Secure or an sf.Seeded. Given: an int"),
    "a class as chance": (lambda: sloppy.Run(chance=sf.Seeded), "Given: the class Seeded"),
    "a path as ledger": (lambda: sloppy.Run(ledger="here"), "it is an sf.Ledger. Given: a str"),
    "a share in the place of a name": (
        lambda: sloppy.ConfidenceBound(["age"], 0.9, sensitive="ill"),
        "a float in place 2, which is sensitive, .* write each by its name: ConfidenceBound\\(on=..., sensitive=..., h",
    ),
    "a tree of mappings": (lambda: sloppy.Taxonomy({"ANY": ["a"]}), "write sf.Taxonomy.from_tree"),
    "n of a recoder": (lambda: sloppy.Recoder(n=5), "it takes recipe, k, mask, .* Given: 'n'"),
    "a column as a table": (lambda: sf.draft(FRAME.sex), "one column, a Series. To mend it: write series.to_frame"),
    "nothing asked": (
        lambda: sf.Recipe(schema=sf.Schema(age=sf.Number())),
        "at least one requirement, .* Given: none, and no column with the role quasi",
    ),
    "nothing asked of quasi": (lambda: sf.Recipe(schema=SCHEMA), "Given: none, though these are quasi: age, sex"),
    "a bound on items": (
        lambda: sf.Recipe(
            schema=sf.Schema(**{**SCHEMA, "ill": sf.ItemSet(role="sensitive")}),
            privacy=[sf.ConfidenceBound(["age", "sex"], "ill", 0.5)],
        ),
        "of an item set its items are counted, and this counts single values. Given: 'ill', an item set",
    ),
    "items of single values": (
        lambda: RECIPE.replace(privacy=[NEED, sf.LDiversity(["age", "sex"], "ill", 2, kind="items")]),
        "it counts the items of sets, and nothing else. Given: 'ill', which holds single values",
    ),
    "a new role": (
        lambda: setattr(SCHEMA["age"], "role", "plain"),
        "Number: it stays as it was made. Given: a new role. To mend it: write recipe = recipe.with_roles\\(",
    ),
    "a new k": (lambda: setattr(NEED, "k", 20), "recipe.replace\\(privacy=\\[need.replace\\(k=...\\)"),
    "a new structure": (
        lambda: setattr(RECIPE, "structure", None),
        "a new structure. To mend it: write recipe = recipe.replace\\(structure=...\\)",
    ),
    "a new structur": (lambda: setattr(RECIPE, "structur", None), "Given: 'structur'. To mend it: did you mean 'struc"),
    "a masker without its setting": (
        lambda: delattr(sf.Partition(), "extent"),
        "write dataclasses.replace\\(it, extent=...\\)",
    ),
    "replace what is not there": (lambda: RECIPE.replace(privicy=[NEED]), "did you mean 'privacy'"),
    "a role that is none": (
        lambda: RECIPE.with_roles({"age": "quasy"}),  # type: ignore[dict-item]
        "^age: a role is one of .* did you mean 'quasi'",
    ),
    "a role of nobody": (lambda: RECIPE.with_roles(agee="plain"), "with_roles.* did you mean 'age'"),
    "k as a recipe": (
        lambda: sloppy.Recoder(5).fit(FRAME),
        "a recipe is an sf.Recipe, or the path of one. Given: an int",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls_are_answered_in_words(name: str) -> None:
    call, says = WRONG[name]
    with pytest.raises(sf.SfumatoError, match=says) as caught:
        call()
    message = str(caught.value)
    assert "Given:" in message
    assert "To mend it:" in message
    assert "__init__" not in message
    assert "?." not in message
    again = pickle.loads(pickle.dumps(caught.value))  # as from one process to another
    assert (type(again), str(again), vars(again)) == (type(caught.value), message, vars(caught.value))


def test_there_are_enough_of_them_and_the_measurement_can_fail() -> None:
    assert len(WRONG) >= 30
    with pytest.raises(pytest.fail.Exception), pytest.raises(sf.SfumatoError):
        sf.KAnonymity(["age"], 5)


def test_a_misspelt_name_of_the_package_is_told() -> None:
    with pytest.raises(AttributeError, match="Did you mean 'KAnonymity'"):
        sloppy.KAnonimity  # noqa: B018


def test_wrong_calls_are_type_errors_as_everywhere() -> None:
    with pytest.raises(TypeError):
        sloppy.KAnonymity(["age"])


def test_a_seed_is_a_whole_number() -> None:
    with pytest.raises(TypeError, match=r"a seed is a whole number\. Given: str"):
        sloppy.Seeded("1")


def test_a_recipe_with_other_settings() -> None:
    assert RECIPE.replace(privacy=[NEED.replace(k=20)]).privacy == (sf.KAnonymity(["age", "sex"], 20),)
    assert RECIPE.replace(mask=sf.TopDown()).replace(mask=sf.Partition()) == RECIPE
    bound = sf.ConfidenceBound(["age", "sex"], "ill", 0.5)
    both = RECIPE.replace(privacy=[NEED, bound], reasons={"sex": "guessed", "ill": "guessed"})
    changed = both.with_roles({"sex": "plain"})
    assert changed.schema.quasi == ("age",)
    assert [need.on for need in changed.privacy] == [("age",)] * 2
    assert changed.reasons == {"sex": "you said so", "ill": "guessed"}
    again = RECIPE.with_roles(ill="quasi", sex="identifier")
    assert [need.on for need in again.privacy] == [("age", "ill")]
    assert RECIPE.replace(privacy=[NEED, sf.KAnonymity(["age"], 9)]).with_roles(ill="quasi").privacy[1].on == ("age",)


@pytest.mark.parametrize("role", ["plain", "quasi", "identifier"])
def test_a_bound_goes_with_its_secret(role: Any) -> None:
    bound, small = sf.AlphaK(["age", "sex"], "ill", 0.5, 9), NEED.replace(k=2)
    asked = ["Are these known? age, ill."]
    recipe = RECIPE.replace(privacy=[small, bound, sf.LDiversity(["age"], "ill", 2)], questions=asked)
    with pytest.warns(
        UserWarning, match=r'"ill" is no longer sensitive, and what was asked of it is left out: '
    ) as told:
        changed = recipe.with_roles(ill=role)
    assert len(told) == 2
    on = ("age", "sex", "ill") if role == "quasi" else ("age", "sex")
    assert changed.privacy == (sf.KAnonymity(on, 9),)  # the k that came with the bound stays
    assert changed.questions[0] == f"{asked[0]} (It was asked before you said what these are: ill.)"
    again = changed.with_roles(age="quasi", ill=role).questions
    assert again[0].endswith("what these are: ill, age.)")
    with pytest.warns(UserWarning, match="no longer sensitive"), pytest.raises(sf.RecipeError, match="at least one"):
        RECIPE.replace(privacy=[sf.LDiversity(["age", "sex"], "ill", 2)]).with_roles(ill=role)


def test_what_is_meant_is_taken() -> None:
    tree = {"any": {"a": ["x", "y"]}}
    assert sloppy.Category(taxonomy=tree).taxonomy == sf.Taxonomy.from_tree(tree)
    assert sloppy.Recipe(schema={**SCHEMA}, privacy=NEED) == RECIPE
    assert sloppy.Recipe(schema=SCHEMA, privacy=NEED, missing="age").missing == ("age",)
    assert sloppy.Clusters("kmeans", k=3, attributes="age").attributes == ("age",)
