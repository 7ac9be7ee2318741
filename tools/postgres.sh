#!/usr/bin/env bash
# A real PostgreSQL of one's own, for the tests and the tutorial: nothing but loopback reaches it.
#   tools/postgres.sh start FOLDER   makes and starts a database in FOLDER (installed by apt where it is missing)
#   tools/postgres.sh stop FOLDER    ends it; of it the log stays, in FOLDER
# FOLDER gets `address` (without the password), `password`, and `log` with every statement that the server was sent.
set -euo pipefail

install_server() {
  [ -z "$(programs)" ] || return 0
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "PostgreSQL is missing: install the package postgresql and run this again." >&2; exit 2
  fi
  apt-get update -qq >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql >/dev/null
}

programs() {  # the folder of the newest server's programs; Debian keeps them out of the path
  local found
  found=$(ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null | sort -V | tail -1)
  [ -n "$found" ] || found=$(command -v initdb || true)
  [ -z "$found" ] || dirname "$found"
}

as_owner() {  # the server refuses to run as root
  if [ "$(id -u)" = 0 ]; then setpriv --reuid=postgres --regid=postgres --clear-groups -- "$@"; else "$@"; fi
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

start() {
  local folder=$1 server port bin
  install_server
  bin=$(programs)
  mkdir -p "$folder"
  # The server's own folder stands apart: whoever may not enter FOLDER's parents, such as the server, finds it there.
  server=$(as_owner mktemp -d /tmp/sfumato-postgres-XXXXXX)
  ln -sfn "$server" "$folder/server" && ln -sfn "$server/log" "$folder/log"
  (umask 077 && head -c 24 /dev/urandom | base64 | tr '+/' '-_' | tee "$folder/password" | as_owner tee "$server/password" >/dev/null)
  port=$(free_port)
  as_owner "$bin/initdb" --pgdata "$server/data" --username holder --pwfile "$server/password" \
    --auth scram-sha-256 --encoding UTF8 --locale C.UTF-8 --no-sync >/dev/null
  as_owner rm "$server/password"
  as_owner "$bin/pg_ctl" --pgdata "$server/data" --log "$server/log" --wait start --options \
    "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c log_statement=all \
     -c shared_buffers=64MB -c max_connections=40 -c fsync=off" >/dev/null
  echo "postgresql://holder@127.0.0.1:$port/postgres" | tee "$folder/address"
}

stop() {
  local server; server=$(readlink "$1/server")
  as_owner "$(programs)/pg_ctl" --pgdata "$server/data" --mode immediate --wait stop >/dev/null
  rm -f "$1/log" "$1/server" && mv "$server/log" "$1/log" && rm -rf "$server"
}

case "${1:-}:${2:-}" in
  start:?*) start "$2" ;;
  stop:?*)  stop "$2" ;;
  *) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
