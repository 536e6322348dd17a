#!/usr/bin/env bash
# Installs what is missing, configures and builds: scripts/build.sh PRESET [TARGET...]
# Messages go to stderr, so that a program run afterwards has stdout to itself.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=$1
shift

build_directory() {
  case $preset in
    release) echo "$root/build" ;;
    fuzz) echo "$root/build/fuzz-clang" ;;
    *) echo "$root/build/$preset" ;;
  esac
}

"$root/scripts/install_packages.sh" packages.txt
dir=$(build_directory)
cd "$root"
log=$dir/configure.log
if [[ ! -f $dir/build.ninja ]]; then
  mkdir -p "$dir"
  echo "graphpae: configuring and building ($preset), some minutes the first time" >&2
  cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
fi
# Nothing to build, nothing to say.
ninja -C "$dir" "$@" 2>&1 | sed -u -e '/no work to do/d' -e '/Entering directory/d' -e '/Re-checking globbed/d' >&2
