#!/usr/bin/env bash
# Installs Chromium where it is missing, for the tests that open pages in a browser, and fetches axe-core, which looks for
# barriers in them. Without them those tests are skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if ! command -v chromium >/dev/null 2>&1; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null \
      || echo "Chromium could not be installed; the tests that need it are skipped." >&2
  else
    echo "Chromium is missing; the tests that need it are skipped." >&2
  fi
fi
if [ ! -f .venv/axe/axe.min.js ]; then
  if command -v npm >/dev/null 2>&1; then
    mkdir -p .venv/axe && (cd .venv/axe && npm pack --silent axe-core@4 >/dev/null && tar xzf axe-core-*.tgz --strip-components=1 package/axe.min.js && rm axe-core-*.tgz) \
      || echo "axe-core could not be fetched; the tests that need it are skipped." >&2
  else
    echo "npm is missing, and so is axe-core; the tests that need it are skipped." >&2
  fi
fi
