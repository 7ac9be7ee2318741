#!/usr/bin/env bash
# Makes .peers, a Python of its own for the libraries that benchmarks/peers.py compares with: they pin older versions.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python3 -m venv .peers
.peers/bin/pip install --quiet --disable-pip-version-check anjana==1.2.3 anonypy==0.2.1 pycanon==1.3.5
