#!/usr/bin/env bash
# The ten dearest units of the last build and the seconds of all of them: scripts/build_times.sh [BUILD_DIRECTORY]
# Seconds are those on the clock of each unit, several at once; `time ./run` tells processor time.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "${1:-$root/build}"
awk -F'\t' '
  !/^#/ { seconds[$4] = ($2 - $1) / 1000 }
  END { for (unit in seconds) printf "%.1f\t%s\n", seconds[unit], unit }' .ninja_log | sort -rn |
  while IFS=$'\t' read -r seconds unit; do [[ ! -e $unit ]] || printf '%s\t%s\n' "$seconds" "$unit"; done |
  awk -F'\t' '{ total += $1; if (NR <= 10) printf "%7.1f s  %s\n", $1, $2 } END { printf "%7.1f s  all %d units\n", total, NR }'
