"""What the attributes of each bundled table are: kinds, roles, declared domains.

Ranges and values are those of the tables' public descriptions, so they may be declared where a domain must
not be learned from the data.
"""

from __future__ import annotations

from functools import cache

from sfumato.data.datasets.trees import taxonomy
from sfumato.data.schema import Attribute, Category, ItemSet, Number, Schema

Domain = str | tuple[float, float]

# Ranges of 002 Table 3a and 000 Table 6. The papers' final weight begins at 13492, the least of the complete
# records; incomplete records go down to 12285.
_ADULT_NUMBERS = {
    "age": (17, 90),
    "fnlwgt": (12285, 1490400),
    "education_num": (1, 16),
    "capital_gain": (0, 99999),
    "capital_loss": (0, 4356),
    "hours_per_week": (1, 99),
}
_ADULT_ORDER = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    "native_country",
)
_GERMAN: dict[str, Domain] = {
    "account_status": "A11 A12 A13 A14",
    "duration": (4, 72),
    "credit_history": "A30 A31 A32 A33 A34",
    "purpose": "A40 A41 A42 A43 A44 A45 A46 A47 A48 A49 A410",
    "credit_amount": (250, 18424),
    "savings": "A61 A62 A63 A64 A65",
    "employment": "A71 A72 A73 A74 A75",
    "installment_rate": (1, 4),
    "personal_status": "A91 A92 A93 A94 A95",
    "debtors": "A101 A102 A103",
    "residence_since": (1, 4),
    "property": "A121 A122 A123 A124",
    "age": (19, 75),
    "installment_plans": "A141 A142 A143",
    "housing": "A151 A152 A153",
    "existing_credits": (1, 4),
    "job": "A171 A172 A173 A174",
    "liable_people": (1, 2),
    "telephone": "A191 A192",
    "foreign": "A201 A202",
}
_CRX: dict[str, Domain] = {
    "A1": "a b",
    "A2": (13.75, 80.25),
    "A3": (0.0, 28.0),
    "A4": "l t u y",
    "A5": "g gg p",
    "A6": "aa c cc d e ff i j k m q r w x",
    "A7": "bb dd ff h j n o v z",
    "A8": (0.0, 28.5),
    "A9": "f t",
    "A10": "f t",
    "A11": (0, 67),
    "A12": "f t",
    "A13": "g p s",
    "A14": (0, 2000),
    "A15": (0, 100000),
}
_IRIS: dict[str, Domain] = {
    "sepal_length": (4.3, 7.9),
    "sepal_width": (2.0, 4.4),
    "petal_length": (1.0, 6.9),
    "petal_width": (0.1, 2.5),
}
_WINE: dict[str, Domain] = {
    "alcohol": (11.0, 14.9),
    "malic_acid": (0.7, 5.8),
    "ash": (1.3, 3.3),
    "alcalinity_of_ash": (10.0, 30.0),
    "magnesium": (70.0, 162.0),
    "total_phenols": (0.9, 3.9),
    "flavanoids": (0.3, 5.1),
    "nonflavanoid_phenols": (0.1, 0.7),
    "proanthocyanins": (0.4, 3.6),
    "color_intensity": (1.2, 13.0),
    "hue": (0.4, 1.8),
    "od280_od315": (1.2, 4.0),
    "proline": (278.0, 1680.0),
}
_TRAITS = (
    "hair feathers eggs milk airborne aquatic predator toothed backbone breathes venomous fins legs tail "
    "domestic catsize"
)
_ZOO: dict[str, Domain] = {name: (0, 8) if name == "legs" else (0, 1) for name in _TRAITS.split()}


@cache
def adult() -> Schema:
    """The 14 attributes are quasi-identifying, income is sensitive, the train/test split is plain."""
    attributes: dict[str, Attribute] = {name: _adult(name) for name in _ADULT_ORDER}
    income = Category(role="sensitive", values=("<=50K", ">50K"))
    return Schema(attributes, income=income, split=Category(values=("train", "test")))


@cache
def adult_heterogeneous() -> Schema:
    """Seven categories, three numbers, and occupation as a set: all quasi-identifying."""
    dropped = {"fnlwgt", "capital_gain", "capital_loss"}
    attributes: dict[str, Attribute] = {name: _adult(name) for name in _ADULT_ORDER if name not in dropped}
    return Schema(attributes | {"occupation": ItemSet(role="quasi", taxonomy=taxonomy("occupation"))})


@cache
def german() -> Schema:
    """The 20 attributes are quasi-identifying, the credit risk is sensitive."""
    return _classified(_GERMAN, label="class", values=("good", "bad"))


@cache
def crx() -> Schema:
    """The 15 attributes are quasi-identifying, the decision A16 is sensitive."""
    return _classified(_CRX, label="A16", values=("+", "-"))


@cache
def iris() -> Schema:
    """Four measurements in cm, quasi-identifying; the species is sensitive."""
    return _classified(_IRIS, label="species", values=("setosa", "versicolor", "virginica"))


@cache
def wine() -> Schema:
    """Thirteen measurements, quasi-identifying; the cultivar is sensitive."""
    return _classified(_WINE, label="class", values=("class_0", "class_1", "class_2"))


@cache
def zoo() -> Schema:
    """The name identifies; 15 yes-or-no traits (0, 1) and the legs are quasi, the type is sensitive."""
    types = ("amphibian", "bird", "fish", "insect", "invertebrate", "mammal", "reptile")
    traits = _classified(_ZOO, label="type", values=types)
    return Schema({"name": Category(role="identifier"), **traits})


def _adult(name: str) -> Attribute:
    if name in _ADULT_NUMBERS:
        return Number(role="quasi", range=_ADULT_NUMBERS[name], integer=True)
    return Category(role="quasi", taxonomy=taxonomy(name))


def _classified(domains: dict[str, Domain], *, label: str, values: tuple[str, ...]) -> Schema:
    """Attributes with their domains, and the class last."""
    attributes = {name: _quasi(domain) for name, domain in domains.items()}
    return Schema({**attributes, label: Category(role="sensitive", values=values)})


def _quasi(domain: Domain) -> Attribute:
    """A range for a number, its values with spaces between for a category."""
    if isinstance(domain, str):
        return Category(role="quasi", values=tuple(domain.split()))
    return Number(role="quasi", range=domain, integer=isinstance(domain[0], int))
