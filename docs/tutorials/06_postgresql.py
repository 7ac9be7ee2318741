"""
A table in PostgreSQL
=====================

The table is in a database, and should not have to be written to a file. The database counts; Sfumato asks for values of
single columns with how many rows have each, then for combinations of codes, and never for an identifier. Both together
are the rows without identifiers: they come to the machine that publishes, and are not written down there.

It needs ``pip install 'sfumato[postgresql]'``. ``tools/postgres.sh start FOLDER`` starts a server of your own to try
it on.
"""

# %%
# Where this page was built without a server, the same lines run on a SQLite file: every database answers the same two
# questions, and tests compare the releases (``tools/engines.sh tests/contracts/test_all_sources.py``).

import os
import sqlite3
import tempfile
from pathlib import Path

import sfumato as sf

folder = Path(tempfile.mkdtemp())
patients = sf.datasets.load("patients", rows=1200, seed=2).table
columns = ["subject_id", "age", "gender", "insurance", "marital_status", "admission_type"]
rows = patients.select(columns).to_pandas()

server = os.environ.get("SFUMATO_POSTGRES")  # the folder of tools/postgres.sh
if server is None:
    address = f"sqlite:///{folder / 'hospital.db'}?table=admissions"
    with sqlite3.connect(folder / "hospital.db") as connection:
        rows.to_sql("admissions", connection, index=False)
else:
    from adbc_driver_postgresql import dbapi

    os.environ["PGPASSWORD"] = Path(server, "password").read_text().strip()
    base = Path(server, "address").read_text().strip()
    address = f"{base}?table=admissions"
    with dbapi.connect(base, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("admissions", patients.select(columns), mode="replace")
print(address.split(":")[0])

# %%
# The recipe names the address
# ----------------------------
# No password stands in it: PostgreSQL's own ways are used (``PGPASSWORD``, ``~/.pgpass``), and an address that holds
# one is refused. In place of a table an address may come with a ``query``.

text = f"""
sfumato: 1
table: {address}
attributes:
  subject_id:     {{kind: category, role: identifier}}
  age:            {{kind: number, role: quasi, range: [0, 90]}}
  gender:         {{kind: category, role: quasi}}
  insurance:      {{kind: category, role: quasi}}
  marital_status: {{kind: category, role: quasi}}
  admission_type: {{kind: category, role: plain}}
structure: {{clusters: kmeans, k: 3, n_init: 3}}
privacy:
  - {{k_anonymity: 15, on: [age, gender, insurance, marital_status]}}
"""
(folder / "recipe.yaml").write_text(text, encoding="utf-8")
recipe = sf.Recipe.from_yaml(folder / "recipe.yaml", allow=[folder])

# %%
# Publish, and verify
# -------------------
# ``sfumato publish recipe.yaml --output out`` in the shell. The identifier is never asked for.

release = sf.publish(recipe.table, recipe, run=sf.Run(report=False))
out = release.write(folder / "out")
print(release.guarantee)
print(f"verified: {sf.verify(out).holds}")

# %%
# What was released
# -----------------
# A released table can be loaded anywhere, into this database as well.

people = sf.load(out)
people.table.head(4)

# %%
# What next
# ---------
# What exactly is sent and what comes back, passwords, several schemas: :doc:`/databases`.
