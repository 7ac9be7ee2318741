"""Recipes as an attack: each a different way to make a reader of recipes run code, look elsewhere, work without end or
break. A recipe is made in a folder of its own, beside `outside/`, which holds what nobody may read."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SECRET = "canary-4711"
"""A word that stands outside the recipes' folder alone."""
RAN = "code-ran-here"
"""A file that only a recipe's code makes, in the recipe's folder."""
EVIL = f"from pathlib import Path\nPath(__file__).with_name({RAN!r}).touch()\nclass Thing:\n    pass\n"
BASE = """sfumato: 1
table: people.csv
attributes:
  age:  {kind: number, role: quasi, range: [0, 99]}
  town: {kind: category, role: quasi}
  ill:  {kind: category, role: sensitive}
structure: {classes: ill}
privacy: [{k_anonymity: 4, on: [age, town]}]
"""
PRIVATE = """sfumato: 1
table: people.csv
attributes:
  age:  {kind: number, role: quasi, range: [0, 99]}
  town: {kind: category, role: quasi, values: [Ur, Uruk, Kish]}
  ill:  {kind: category, role: sensitive, values: [yes, no]}
structure: {classes: ill}
mask: private_tree
budget: {epsilon: 1}
"""
GEOMETRIC = """sfumato: 1
table: people.csv
attributes:
  age:  {kind: number, role: quasi}
  town: {kind: category}
  ill:  {kind: category, role: sensitive}
structure: {classes: ill}
i_understand: no_guarantee
mask: MASK
"""
NAMES = ", ".join(f"n{at}" for at in range(100_000))


@dataclass(frozen=True)
class Hostile:
    """How a recipe is made in its folder, and whether it may be published: most are refused."""

    make: Callable[[Path], None]
    harmless: bool = False


HOSTILE: dict[str, Hostile] = {}
Make = Callable[[Path], None]


def lay_out(root: Path) -> Path:
    """A folder with an honest table in it, and beside it what nobody may read."""
    folder = root / "recipe"
    folder.mkdir()
    rows = "".join(
        f"{(at * 7) % 90},{['Ur', 'Uruk', 'Kish'][at % 3]},{'yes' if at % 4 else 'no'}\n" for at in range(60)
    )
    (folder / "people.csv").write_text("age,town,ill\n" + rows)
    (folder / "evil.py").write_text(EVIL)
    outside = root / "outside"
    outside.mkdir()
    (outside / "secret.csv").write_text("age,town,ill\n" + rows.replace("Kish", SECRET))
    (outside / "secret.yaml").write_text(f"{SECRET}: [Ur, Uruk, Kish]\n{SECRET}2: x\n")
    (outside / "certificate.json").write_text(f'{{"{SECRET}": 1}}')
    return folder


def write(text: str | bytes) -> Make:
    """The recipe itself."""
    content = text.encode() if isinstance(text, str) else text

    def make(folder: Path) -> None:
        (folder / "recipe.yaml").write_bytes(content)

    return make


def changed(old: str, new: str, *, base: str = BASE) -> Make:
    """An honest recipe with one thing in it that is not."""
    assert old in base
    return write(base.replace(old, new))


def beside(name: str, content: str | bytes, recipe: Make) -> Make:
    """The same with another file."""

    def make(folder: Path) -> None:
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        recipe(folder)

    return make


def linked(name: str, target: str, recipe: Make) -> Make:
    """The same with a link; the target is seen from the recipe's folder."""

    def make(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)
        recipe(folder)

    return make


def special(name: str, kind: str, recipe: Make) -> Make:
    """The same with a pipe or a socket."""

    def make(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        if kind == "pipe":
            os.mkfifo(folder / name)
        else:
            before = Path.cwd()
            os.chdir(folder)  # a socket's path may not be long
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(name)
            os.chdir(before)
        recipe(folder)

    return make


def structure(form: str) -> Make:
    """Another structure."""
    return changed("structure: {classes: ill}", f"structure: {form}")


def tree(form: str) -> Make:
    """A taxonomy for the towns."""
    return changed("town: {kind: category, role: quasi}", f"town: {{kind: category, role: quasi, taxonomy: {form}}}")


def table(form: str) -> Make:
    """Another table."""
    return changed("table: people.csv", f"table: {form}")


def deep(levels: int) -> str:
    """A tree as it stands in YAML, one label a level."""
    return "{" + "".join(f"a{at}: {{" for at in range(levels)) + "x: " + "}" * (levels + 1)


def laughs() -> str:
    """Ten lines that stand for ten billion values."""
    lines = ["l0: &l0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]"]
    lines += [f"l{at}: &l{at} [{', '.join([f'*l{at - 1}'] * 10)}]" for at in range(1, 10)]
    return "\n".join(lines) + "\n"


def many_requirements() -> str:
    return "privacy: [" + ", ".join(f"{{k_anonymity: {at + 2}, on: [age, town]}}" for at in range(10_000)) + "]"


K = "k_anonymity: 4"
CODE = {
    "a cache of pickles": structure("{clusters: ward, k: 2, options: {memory: cache}}"),
    "a module as clusterer": structure("{clusters: evil.Thing, k: 2}"),
    "a module as second clusterer": structure("{clusters: kmeans, k: 2, recluster: evil.Thing}"),
    "a function of os": structure("{clusters: os.system, k: 2}"),
    "a class of scikit-learn's tests": structure("{clusters: sklearn.conftest.Thing, k: 2}"),
    "a function as metric": structure("{clusters: dbscan, options: {metric: evil.Thing}}"),
    "workers without number": structure("{clusters: dbscan, options: {n_jobs: 100000}}"),
    "python/object/apply": write(BASE + f"encoding: !!python/object/apply:os.system ['touch {RAN}']\n"),
    "python/object/new": write(BASE + f"encoding: !!python/object/new:subprocess.Popen [['touch', {RAN}]]\n"),
    "python/name": write(BASE + "encoding: !!python/name:evil.Thing\n"),
    "python/module": write(BASE + "encoding: !!python/module:evil\n"),
    "an include": write(BASE + "encoding: !include ../outside/secret.yaml\n"),
    "a module as masker": write(BASE + "mask: evil.Thing\n"),
    "a path of ours as masker": write(BASE + "mask: {'sfumato.cli.main:main': {}}\n"),
    "a module as encoding": write(BASE + "encoding: evil\n"),
    "an encoding that is none of text": write(BASE + "encoding: zlib_codec\n"),
    "an encoding of names": write(BASE + "encoding: punycode\n"),
    "a format": changed("town:", "'{0.__class__.__init__.__globals__} %(x)s ${HOME}':"),
}
PATHS = {
    "a table above": table("../outside/secret.csv"),
    "a table by an absolute path": lambda folder: table(str(folder.parent / "outside" / "secret.csv"))(folder),
    "a table above, by a detour": table("./x/../../outside/secret.csv"),
    "a link to a table": linked("people.csv", "../outside/secret.csv", write(BASE)),
    "a link to a folder": linked("data", "../outside", table("data/secret.csv")),
    "a link to itself": linked("people.csv", "people.csv", write(BASE)),
    "a name in the environment": table("$OUTSIDE/secret.csv"),
    "a name of home": table("~/secret.csv"),
    "a pattern": table("'../outside/*.csv'"),
    "an address": table("file:///etc/passwd"),
    "a path with a zero": table('"people.csv\\0.parquet"'),
    "a long path": table("'" + "a/" * 4_000 + "x.csv'"),
    "a tree above": tree("../outside/secret.yaml"),
    "a tree of passwords": tree("/etc/passwd"),
    "a link to a tree": linked("tree.yaml", "../outside/secret.yaml", tree("tree.yaml")),
    "a bundled tree above": tree("'bundled:../../../../outside/secret'"),
    "a bundled table above": table("'bundled:../../../../outside/secret'"),
    "a population above": changed(K, "k_map: 4, population: ../outside/secret.csv"),
    "a release above": write(BASE + "earlier: {releases: [../outside], people: same}\n"),
    "a device": table("/dev/zero"),
    "a link to a device": linked("people.csv", "/dev/zero", write(BASE)),
    "a link to the process": linked("people.csv", "/proc/self/environ", write(BASE)),
    "a tree from a device": linked("tree.csv", "/dev/zero", tree("tree.csv")),
    "a pipe as table": special("people.csv", "pipe", write(BASE)),
    "a pipe as tree": special("tree.yaml", "pipe", tree("tree.yaml")),
    "a pipe as population": special("all.csv", "pipe", changed(K, "k_map: 4, population: all.csv")),
    "a pipe as recipe": special("recipe.yaml", "pipe", lambda folder: None),
    "a device as recipe": linked("recipe.yaml", "/dev/zero", lambda folder: None),
    "a socket as table": special("people.csv", "socket", write(BASE)),
    "a folder as table": table("."),
}
BOMBS = {
    "a billion laughs": write(BASE + laughs()),
    "a long text a thousand times": write(BASE + f"x: &x '{'x' * 9000}'\ny: [{', '.join(['*x'] * 400_000)}]\n"),
    "brackets": write("[" * 100_000),
    "braces": write("{a: " * 100_000),
    "questions": write("? " * 100_000),
    "dashes": write("- " * 100_000 + "x"),
    "a deep tree": tree(deep(3_000)),
    "a tree with thousands of columns": beside("tree.csv", ";".join(map(str, range(9_000))) + "\n", tree("tree.csv")),
    "a chain of parents": beside(
        "tree.csv", "parent,child\n" + "".join(f"{at},{at + 1}\n" for at in range(100_000)), tree("tree.csv")
    ),
    "a chain of parents, upwards": beside(
        "tree.csv", "parent,child\n" + "".join(f"{at + 1},{at}\n" for at in range(100_000)), tree("tree.csv")
    ),
    "a deep tree in JSON": beside("tree.json", '{"a":' * 100_000, tree("tree.json")),
    "laughs in a tree": beside("tree.yaml", laughs(), tree("tree.yaml")),
    "a wide tree": beside(
        "tree.yaml", "ANY: [" + ", ".join(f"x{at}" for at in range(900_000)) + "]\n", tree("tree.yaml")
    ),
    "a large tree": beside("tree.csv", b"x;ANY\n" * 4_000_000, tree("tree.csv")),
    "a large recipe": write(BASE + "# " + "x" * 9_000_000),
    "an alias within itself": write(BASE + "x: &x [*x]\n"),
    "merges": write(BASE + "x: &x {a: 1}\ny: {<<: [*x, *x]}\n"),
    "a list as name": write(BASE + "? [a, b]\n: c\n"),
    "a hundred thousand attributes": changed("  age:", "".join(f"  n{at}: {{}}\n" for at in range(100_000)) + "  age:"),
    "a hundred thousand names": changed("on: [age, town]", f"on: [{NAMES}]"),
    "ten thousand requirements": changed("privacy: [{k_anonymity: 4, on: [age, town]}]", many_requirements()),
    "combinations": changed(
        "{k_anonymity: 4, on: [age, town]}",
        f"{{lkc: {{l: 500, k: 4, c: 0.5}}, sensitive: ill, on: [{', '.join(f'n{at}' for at in range(999))}]}}",
    ),
    "a name to guess": changed("on: [age, town]", f"on: ['{'age' * 3000}']"),
}
NUMBERS = {
    "a k of 5,001 digits": changed(K, f"k_anonymity: {'9' * 5001}"),
    "a k in hexadecimal": changed(K, f"k_anonymity: 0x{'f' * 50}"),
    "a k in minutes": changed(K, f"k_anonymity: {':'.join(['59'] * 30)}"),
    "a k of 18 digits": changed(K, "k_anonymity: 999999999999999999"),
    "a k of 1": changed(K, "k_anonymity: 1"),
    "an infinite k": changed(K, "k_anonymity: .inf"),
    "a share that is no number": changed(K, "confidence_bound: .nan, sensitive: ill"),
    "a million starts": structure("{clusters: kmeans, k: 2, n_init: 1000000}"),
    "a hundred thousand clusters": structure("{clusters: kmeans, k: 100000}"),
    "numbers of clusters": structure(f"{{clusters: kmeans, k: 2, also: [{', '.join(['3'] * 5_000)}]}}"),
    "a seed without end": structure("{clusters: kmeans, k: 2, seed: 99999999999999999}"),
    "rounds without end": structure("{clusters: kmeans, k: 2, options: {max_iter: 1000000000}}"),
    "a weight without end": structure("{clusters: kmeans, k: 2, weights: {age: 1.0e+308}}"),
    "seconds without end": write(BASE + "mask: {top_down: {search: portfolio, seconds: 1.0e+9}}\n"),
    "seconds as text": write(BASE + "mask: {top_down: {seconds: 1e9}}\n"),
    "generations without end": write(BASE + "mask: {genetic: {generations: 1000000000000}}\n"),
    "a population without end": write(BASE + "mask: {genetic: {generations: 1, population: 100000000}}\n"),
    "an epsilon to be worked out": changed("epsilon: 1", "epsilon: '1e999999999'", base=PRIVATE),
    "a small epsilon": changed("epsilon: 1", "epsilon: '1e-99'", base=PRIVATE),
    "steps without end": changed("private_tree", "{dp_heter: {steps: 1000000000}}", base=PRIVATE),
    "bins without end": changed("private_tree", "{private_tree: {bins: 100000000}}", base=PRIVATE),
    "weights without end": changed("private_tree", "{private_tree: {weights: {age: 1.0e+308}}}", base=PRIVATE),
    "a range of everything": changed("range: [0, 99]", "range: [-1.0e+308, 1.0e+308]"),
    "a range of nothing": changed("range: [0, 99]", "range: [.nan, .inf]"),
    "a date that is none": changed("range: [0, 99]", "calendar: day, range: [2020-13-45, 2021-01-01]"),
    "a year far away": changed("range: [0, 99]", "calendar: day, range: ['0001', '999999999']"),
    "a distance without end": write(GEOMETRIC.replace("MASK", "{translate: {by: {age: 1.0e+300}}}")),
    "a factor without end": write(GEOMETRIC.replace("MASK", "{scale: {by: 1.0e+300}}")),
    "noise without end": write(GEOMETRIC.replace("MASK", "{add_noise: {noise: {age: {normal: [0, 1.0e+300]}}}}")),
}
ODD = {
    "no UTF-8": write(BASE.encode() + b"x: \xff\xfe"),
    "control characters": write(BASE + "x: \x01\x02\n"),
    "two documents": write(BASE + "---\n" + BASE),
    "a list": write("[a, b]\n"),
    "nothing": write(""),
    "a name twice": write(BASE + "table: other.csv\n"),
    "raw labels": write(BASE + "release: {labels: true}\n"),
    "names of other kinds": write(BASE + "1: x\n2.5: y\n~: z\ntrue: w\n2020-01-01: v\n"),
    "a list as k": changed(K, "k_anonymity: [4]"),
    "a mapping as names": changed("on: [age, town]", "on: {age: town}"),
    "numbers as names": changed("on: [age, town]", "on: [1, 2]"),
    "a list as kind": changed("kind: number", "kind: [number]"),
    "a list as role": changed("role: sensitive", "role: [sensitive]"),
    "a number as structure": structure("5"),
    "a mapping as method": structure("{clusters: {a: b}, k: 2}"),
    "a list as options": structure("{clusters: kmeans, k: 2, options: [a]}"),
    "a text as weights": structure("{clusters: kmeans, k: 2, weights: x}"),
    "lists as weights": structure("{clusters: kmeans, k: 2, weights: {age: [1]}}"),
    "a list as mask": write(BASE + "mask: [top_down]\n"),
    "a text as settings": write(BASE + "mask: {top_down: yes}\n"),
    "a list as masker": write(BASE + "mask: {? [a] : b}\n"),
    "a number as path": table("5"),
    "a list as path": table("[people.csv]"),
    "a text as budget": changed("{epsilon: 1}", "x", base=PRIVATE),
    "a list as epsilon": changed("epsilon: 1", "epsilon: [1]", base=PRIVATE),
    "a tree of numbers": tree("{1: {2: [3, 4.5, true, ~]}}"),
    "a tree that is a text": tree("5"),
    "a text as privacy": changed("privacy: [{k_anonymity: 4, on: [age, town]}]", "privacy: k_anonymity"),
    "a list as requirement": changed("{k_anonymity: 4, on: [age, town]}", "[k_anonymity, 4]"),
    "lists as missing": changed("role: sensitive}", "role: sensitive, missing: [[a], {b: c}]}"),
    "an odd rule for missing": write(BASE + "missing: {town: [drop]}\n"),
    "a list as order": write(BASE + "keep_order: [1]\n"),
    "pairs of anything": write(GEOMETRIC.replace("MASK", "{rotate: {pairs: [[1, 2, 3, 4], x]}}")),
    "operations of anything": write(GEOMETRIC.replace("MASK", "{hybrid: {operations: {age: [rotate, [1]]}}}")),
    "noise of anything": write(GEOMETRIC.replace("MASK", "{add_noise: {noise: {age: {normal: [a, [b]]}}}}")),
    "marks that hide": changed("town:", '"town\\u202e\\u200b":'),
}
HARMLESS = {
    "an expression that backtracks": changed("role: sensitive}", "role: sensitive, missing: ['(a+)+$', '.*', '[']}"),
    "an alias": changed("on: [age, town]}]", "on: &on [age, town]}, {l_diversity: 2, on: *on, sensitive: ill}]"),
    "an honest recipe": write(BASE),
}
for _group in (CODE, PATHS, BOMBS, NUMBERS, ODD):
    HOSTILE.update({name: Hostile(make) for name, make in _group.items()})
HOSTILE.update({name: Hostile(make, harmless=True) for name, make in HARMLESS.items()})
