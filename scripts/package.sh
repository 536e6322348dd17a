#!/usr/bin/env bash
# Makes the Debian packages of a system and tries them in a clean one of the same kind, without a compiler:
#   scripts/package.sh [bookworm|trixie]...     needs root, for chroots; without names: this system, tried in nothing
# The packages are left in build/packages, or in build/packages/SUITE. The steps inside are those of the Dockerfile.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

make_packages() {
  "$root/scripts/install_packages.sh" packages.txt package_packages.txt
  "$root/scripts/build.sh" release graphpae_cli graphpae_manual
  (cd "$root/build" && rm -rf packages && cpack >cpack.log 2>&1) || { cat "$root/build/cpack.log" >&2; exit 1; }
  lintian --fail-on error --tag-display-limit 0 "$root"/build/packages/*.deb
  ls -l "$root"/build/packages/*.deb
}

# within DIRECTORY COMMAND: runs it in a chroot that has /proc and /dev.
within() {
  mountpoint -q "$1/proc" || mount -t proc proc "$1/proc"
  mountpoint -q "$1/dev" || mount --bind /dev "$1/dev"
  chroot "$1" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive bash -ec "$2"
}

work=
cleanup() {
  for directory in "$work"/*; do umount "$directory/proc" "$directory/dev" 2>/dev/null || true; done
  [[ -z $work ]] || rm -rf --one-file-system "$work"
}

if [[ $# -eq 0 ]]; then
  make_packages
  exit
fi

"$root/scripts/install_packages.sh" package_packages.txt
work=$(mktemp -d)
trap cleanup EXIT
for suite in "$@"; do
  echo "graphpae: $suite, a minimal system" >&2
  debootstrap --variant=minbase "$suite" "$work/clean" >"$work/debootstrap.log" 2>&1 || { tail "$work/debootstrap.log" >&2; exit 1; }
  cp -a "$work/clean" "$work/builder"
  for system in builder clean; do cp /etc/resolv.conf "$work/$system/etc/"; done
  within "$work/builder" "apt-get -qq update && apt-get -qq install -y --no-install-recommends git >/dev/null"
  git clone -q "$root" "$work/builder/root/graphpae"
  within "$work/builder" "cd /root/graphpae && scripts/package.sh"
  mkdir -p "$root/build/packages/$suite"
  cp "$work"/builder/root/graphpae/build/packages/*.deb "$root/build/packages/$suite/"
  cp "$work"/builder/root/graphpae/build/packages/graphpae_*.deb "$work/clean/root/"
  within "$work/clean" "apt-get -qq update && apt-get -qq install -y --no-install-recommends /root/graphpae_*.deb >/dev/null
    if command -v c++ g++ gcc cc clang; then exit 1; fi
    cd /root && time graphpae --version && time graphpae demo --no-progress -q && dpkg-query -W -f '\${Installed-Size}\n' |
      awk '{ s += \$1 } END { printf \"installed with everything: %.0f MB\n\", s / 1024 }'"
  umount "$work"/{builder,clean}/{proc,dev}
  rm -rf --one-file-system "$work/builder" "$work/clean"
done
