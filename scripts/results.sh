#!/bin/sh
# Fills the tables of docs/results.md from docs/results/*.jsonl: scripts/results.sh [path of graphpae]
# Results of new runs are added with: cat OUT/results.jsonl >> docs/results/NAME.jsonl; those of `reproduce tune DATA` with
# cat OUT/results.jsonl >> docs/results/tune-DATA.jsonl
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
program=${1:-$root/build/graphpae}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
set --
for file in "$root"/docs/results/*.jsonl; do
  if [ -f "$file" ]; then set -- "$@" --results "$file"; fi
done
"$program" reproduce all --table-only "$@" --fill "$root/docs/results.md" -o "$work" >/dev/null
for file in "$root"/docs/results/tune-*.jsonl; do
  [ -f "$file" ] || continue
  data=$(basename "$file" .jsonl)
  "$program" reproduce tune "${data#tune-}" --table-only --results "$file" --fill "$root/docs/results.md" -o "$work" -q >/dev/null
done
