#!/usr/bin/env bash
# Passes tests that need a PostgreSQL or a Spark cluster: starts both, and ends them whatever happens.
#   tools/engines.sh TEST_FILES... [OPTIONS OF PYTEST]
# Here nothing is skipped: a test without its server fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(mktemp -d)
finish() {
  tools/postgres.sh stop "$folder/postgres" 2>/dev/null || true
  tools/spark.sh stop "$folder/spark" 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT
.venv/bin/python -c 'import pyspark' 2>/dev/null \
  || .venv/bin/python -m pip install --quiet --disable-pip-version-check -e ".[spark]"
chmod 755 "$folder"
tools/postgres.sh start "$folder/postgres" >/dev/null
tools/spark.sh start "$folder/spark" >/dev/null
export SFUMATO_POSTGRES="$folder/postgres" SFUMATO_SPARK="$folder/spark" SFUMATO_ENGINES=required
.venv/bin/python -m pytest -q "$@"
