"""A command loads no library that nobody asked for, and whoever asks for one later gets it."""

from __future__ import annotations

import subprocess
import sys

ASKED = """
import sys
from sfumato.cli.lean import start_libraries
finders = list(sys.meta_path)
start_libraries()
import pyarrow as pa
assert not {"pandas", "scipy.linalg", "cffi"} & set(sys.modules), "looked for"
assert sys.meta_path == finders, "the finder stays"
assert pa.table({"a": [1]}).to_pandas().a.tolist() == [1]
import cffi, pandas, scipy.linalg
assert pa.array(pandas.Series([1, 2])).to_pylist() == [1, 2]
"""


def test_pandas_and_blas_are_loaded_by_whoever_asks_for_them() -> None:
    done = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
