#!/bin/bash
# Replaces each copy of the processes by one of the image and the settings as they are now, without an interruption: first the
# migrations, then for one copy after the other a new one next to it, and once that is ready the old one stops.
#   roll-out.sh production.env              every process
#   roll-out.sh production.env billing bff  only these
# COMPOSE_FILE names other files than production.yml. As many copies as now are running are there afterwards. If a new copy does not
# become ready, it is removed, and the old ones keep serving.
set -euo pipefail
settings=$(realpath "${1:?the file of settings, such as production.env}")
shift
cd "$(dirname "$0")"
export COMPOSE_FILE=${COMPOSE_FILE:-production.yml}
compose=(docker-compose)
if docker compose version >/dev/null 2>&1; then compose=(docker compose); fi
compose+=(--env-file "$settings")
processes=("$@")
[ ${#processes[@]} -gt 0 ] || processes=(identity enrollment billing notifications bff)

for process in "${processes[@]}"; do
  echo "Preparing for the new $process …"
  "${compose[@]}" run --rm --no-deps -T "migrate-$process" >/dev/null
done

health() { docker inspect --format '{{if .State.Running}}{{.State.Health.Status}}{{else}}stopped{{end}}' "$1"; }
for process in "${processes[@]}"; do
  mapfile -t old < <("${compose[@]}" ps -q "$process")
  copies=${#old[@]}
  for copy in "${old[@]}"; do
    "${compose[@]}" up -d --no-deps --no-recreate --scale "$process=$((copies + 1))" "$process" >/dev/null 2>&1
    new=$("${compose[@]}" ps -q "$process" | grep -vxF -f <(printf '%s\n' "${old[@]}"))
    old+=("$new")
    until [ "$(health "$new")" = healthy ]; do
      if [[ $(health "$new") == @(unhealthy|stopped) ]]; then
        docker logs --tail 20 "$new" >&2
        docker rm -f "$new" >/dev/null
        echo "The new $process did not become ready. The old one keeps serving." >&2
        exit 1
      fi
      sleep 0.5
    done
    docker stop -t 30 "$copy" >/dev/null
    docker rm "$copy" >/dev/null
    echo "$process: ${copy:0:12} is replaced by ${new:0:12}"
  done
done
