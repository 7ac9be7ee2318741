"""What `import sfumato` and `sfumato --help` may load: nothing heavy. Modules are asserted, not times."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato

HEAVY = {
    "numba",
    "sklearn",
    "scipy",
    "pyspark",
    "opendp",
    "pandas",
    "polars",
    "pyarrow",
    "numpy",
    "narwhals",
    "uvicorn",
    "starlette",
    "fastapi",
    "nicegui",
    "flask",
    "tornado",
    "matplotlib",
}
SOURCE = Path(sfumato.__file__).parent
REPORT = """
import json, sys
print(json.dumps(sorted({name.split(".")[0] for name in sys.modules})))
"""


def loaded_by(code: str) -> set[str]:
    """Top-level modules that are loaded after running the code in a new interpreter."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def program(*arguments: str) -> str:
    lines = [
        "import sys",
        f"sys.argv = ['sfumato', *{list(arguments)!r}]",
        "from sfumato.cli.main import main",
    ]
    return "\n".join([*lines, "try:\n    main()\nexcept SystemExit:\n    pass", REPORT])


def test_importing_the_package_loads_nothing_heavy() -> None:
    modules = loaded_by(f"import sfumato\n{REPORT}")
    assert "sfumato" in modules
    assert modules & HEAVY == set()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["draft", "--help"], ["taxonomy", "check", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    modules = loaded_by(program(*arguments))
    assert "typer" in modules
    assert modules & HEAVY == set()


def test_the_measurement_can_fail() -> None:
    modules = loaded_by(f"import sfumato; sfumato.Schema; import numpy\n{REPORT}")
    assert "numpy" in modules


def test_every_public_name_resolves() -> None:
    for name in sfumato.__all__:
        assert getattr(sfumato, name) is not None
    assert set(sfumato.__all__) <= set(dir(sfumato))
    with pytest.raises(AttributeError, match="no attribute 'publlish'"):
        sfumato.__getattr__("publlish")


def test_the_type_checker_sees_the_same_names() -> None:
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    (guarded,) = [node for node in tree.body if isinstance(node, ast.If)]
    imported = {alias.asname for node in guarded.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert imported | {"__version__"} == set(sfumato.__all__)
