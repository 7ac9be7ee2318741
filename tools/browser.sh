#!/usr/bin/env bash
# Installs Chromium where it is missing, for the tests that open a report in a browser. Without it they are skipped.
set -euo pipefail
command -v chromium >/dev/null 2>&1 && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null \
    || echo "Chromium could not be installed; the tests that need it are skipped." >&2
else
  echo "Chromium is missing; the tests that need it are skipped." >&2
fi
