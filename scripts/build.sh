#!/usr/bin/env bash
# Installs what is missing, configures and builds: scripts/build.sh PRESET [TARGET...]
# Messages go to stderr, so that a program run afterwards has stdout to itself.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=$1
shift

install_missing_packages() {
  local package missing=()
  local installed
  installed=" $(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' 2>/dev/null | awk '$1 == "ii" {printf "%s ", $2}') "
  while read -r package; do
    [[ -z $package || $package == \#* || $installed == *" $package "* ]] || missing+=("$package")
  done <"$root/scripts/packages.txt"
  [[ ${#missing[@]} -gt 0 ]] || return 0

  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    command -v sudo >/dev/null || {
      echo "graphpae: these Debian packages are needed and this user may not install them: ${missing[*]}" >&2
      exit 1
    }
    as_root=(sudo)
  fi
  local log
  log=$(mktemp)
  echo "graphpae: installing Debian packages: ${missing[*]}" >&2
  if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "graphpae: installing failed (whole log: $log)" >&2
    exit 1
  fi
  rm -f "$log"
}

build_directory() {
  case $preset in
    release) echo "$root/build" ;;
    *) echo "$root/build/$preset" ;;
  esac
}

install_missing_packages
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
