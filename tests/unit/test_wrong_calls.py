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


def test_what_is_meant_is_taken() -> None:
    tree = {"any": {"a": ["x", "y"]}}
    assert sloppy.Category(taxonomy=tree).taxonomy == sf.Taxonomy.from_tree(tree)
    assert sloppy.Recipe(schema={**SCHEMA}, privacy=NEED) == RECIPE
    assert sloppy.Recipe(schema=SCHEMA, privacy=NEED, missing="age").missing == ("age",)
    assert sloppy.Clusters("kmeans", k=3, attributes="age").attributes == ("age",)
