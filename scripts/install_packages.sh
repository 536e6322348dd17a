#!/usr/bin/env bash
# Installs Debian packages of lists beside this file that are missing: scripts/install_packages.sh packages.txt ...
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

missing=()
installed=" $(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' 2>/dev/null | awk '$1 == "ii" {printf "%s ", $2}') "
while read -r package; do
  [[ -z $package || $package == \#* || $installed == *" $package "* ]] || missing+=("$package")
done < <(cd "$root/scripts" && cat "$@")
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo >/dev/null || {
    echo "graphpae: these Debian packages are needed and this user may not install them: ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi
log=$(mktemp)
echo "graphpae: installing Debian packages: ${missing[*]}" >&2
if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "graphpae: installing failed (whole log: $log)" >&2
  exit 1
fi
rm -f "$log"
