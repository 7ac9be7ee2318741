#!/usr/bin/env bash
# A real Spark standalone cluster on this machine, for the tests and the tutorial: one master, two workers, loopback alone.
#   tools/spark.sh start FOLDER   starts it (Java is installed by apt where it is missing) and prints its address
#   tools/spark.sh stop FOLDER    ends it; FOLDER stays, with the logs
# The extra `spark` must be installed in the Python that PYTHON names (.venv/bin/python otherwise).
# FOLDER gets `address`, the process numbers `master.pid`, `worker1.pid`, `worker2.pid`, and the logs.
set -euo pipefail
python=${PYTHON:-$(dirname "${BASH_SOURCE[0]}")/../.venv/bin/python}
memory=${SPARK_MEMORY:-1g}

install_java() {
  command -v java >/dev/null 2>&1 && return 0
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "Java is missing: install the package default-jre-headless (17 or newer) and run this again." >&2; exit 2
  fi
  apt-get update -qq >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends default-jre-headless >/dev/null
}

free_port() {
  "$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

launch() {  # launch FOLDER NAME CLASS ARGUMENTS...
  local folder=$1 name=$2; shift 2
  setsid nohup "$SPARK_HOME/bin/spark-class" "$@" > "$folder/$name.log" 2>&1 < /dev/null &
  echo $! > "$folder/$name.pid"
}

wait_for() {  # wait_for FILE WORDS
  for _ in $(seq 300); do
    grep -q "$2" "$1" 2>/dev/null && return 0
    sleep 0.2
  done
  echo "Spark did not start; the end of $1:" >&2; tail -20 "$1" >&2; exit 1
}

start() {
  install_java
  SPARK_HOME=$("$python" -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')
  export SPARK_HOME SPARK_LOCAL_IP=127.0.0.1 SPARK_NO_DAEMONIZE=1 SPARK_DAEMON_MEMORY=256m
  PYSPARK_PYTHON=$("$python" -c 'import sys; print(sys.executable)') && export PYSPARK_PYTHON
  mkdir -p "$1"
  local folder port; folder=$(cd "$1" && pwd); port=$(free_port)
  launch "$folder" master org.apache.spark.deploy.master.Master --host 127.0.0.1 --port "$port" --webui-port 0
  wait_for "$folder/master.log" "I have been elected leader"
  for n in 1 2; do
    launch "$folder" "worker$n" org.apache.spark.deploy.worker.Worker --host 127.0.0.1 --webui-port 0 --cores 1 \
      --memory "$memory" --work-dir "$folder/work$n" "spark://127.0.0.1:$port"
    wait_for "$folder/worker$n.log" "Successfully registered"
  done
  echo "spark://127.0.0.1:$port" | tee "$folder/address"
}

stop() {
  for name in worker1 worker2 master; do
    [ ! -f "$1/$name.pid" ] || kill "$(cat "$1/$name.pid")" 2>/dev/null || true
    rm -f "$1/$name.pid"
  done
}

case "${1:-}:${2:-}" in
  start:?*) start "$2" ;;
  stop:?*)  stop "$2" ;;
  *) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
