#!/usr/bin/env bash
# Lets every libFuzzer target of a directory search for some seconds, from its corpus: scripts/fuzz.sh DIRECTORY SECONDS
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for program in "$1"/fuzz_*; do
  name=$(basename "$program")
  mkdir -p "$work/$name"
  echo "$name"
  (cd "$work" && "$program" -max_total_time="$2" -print_final_stats=0 -verbosity=0 "$work/$name" "$root/fuzz/corpus/${name#fuzz_}") ||
    { echo "$name found an input that fails; it is printed above" >&2; exit 1; }
done
