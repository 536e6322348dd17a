#!/usr/bin/env bash
# Makes the Debian packages of a system and tries them in a clean one of the same kind, without a compiler:
#   scripts/package.sh [bookworm|trixie]...     needs root, for chroots; without names: this system, tried in nothing
# The packages are left in build/packages, or in build/packages/SUITE. The steps inside are those of the Dockerfile.
# With CCACHE_DIR=DIR the systems that build share this compiler cache; sources lie where they lie here, so that it fits.
# DEMO_SECONDS=N lets the demo take longer than 90 s on a busy machine.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

make_packages() {
  "$root/scripts/install_packages.sh" packages.txt package_packages.txt
  "$root/scripts/build.sh" release graphpae_cli graphpae_manual
  (cd "$root/build" && rm -f packages/*.deb && cpack >cpack.log 2>&1) || { cat "$root/build/cpack.log" >&2; exit 1; }
  lintian --allow-root --fail-on error --tag-display-limit 0 "$root"/build/packages/*.deb
  ls -l "$root"/build/packages/*.deb
}

# within DIRECTORY COMMAND: runs it in a chroot that has /proc and /dev.
within() {
  mountpoint -q "$1/proc" || mount -t proc proc "$1/proc"
  mountpoint -q "$1/dev" || mount --bind /dev "$1/dev"
  chroot "$1" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    ${CCACHE_DIR:+CCACHE_DIR=/var/ccache} bash -ec "$2"
}

# installed DIRECTORY: megabytes of all packages in a chroot.
installed() {
  dpkg-query --admindir="$1/var/lib/dpkg" -W -f '${Installed-Size}\n' | awk '{ kilobytes += $1 } END { printf "%d", kilobytes / 1024 }'
}

work=
unmount() {
  for directory in "$work"/*/{proc,dev,var/ccache}; do
    ! mountpoint -q "$directory" || umount "$directory"
  done
}
cleanup() {
  [[ -n $work ]] || return 0
  unmount
  rm -rf --one-file-system "$work"
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
  echo force-unsafe-io >"$work/clean/etc/dpkg/dpkg.cfg.d/unsafe-io"  # it is thrown away soon
  cp -a "$work/clean" "$work/builder"
  for system in builder clean; do cp /etc/resolv.conf "$work/$system/etc/"; done
  within "$work/builder" "apt-get -qq update && apt-get -qq install -y --no-install-recommends git >/dev/null"
  git clone -q "$root" "$work/builder$root"
  if [[ -n ${CCACHE_DIR:-} ]]; then
    mkdir -p "$CCACHE_DIR" "$work/builder/var/ccache"
    mount --bind "$CCACHE_DIR" "$work/builder/var/ccache"
  fi
  within "$work/builder" "cd '$root' && scripts/package.sh"
  mkdir -p "$root/build/packages/$suite"
  cp "$work/builder$root"/build/packages/*.deb "$root/build/packages/$suite/"
  cp "$work/builder$root"/build/packages/graphpae_*.deb "$root/scripts/try_package.sh" "$work/clean/root/"
  before=$(installed "$work/clean")
  within "$work/clean" "apt-get -qq update && apt-get -qq install -y --no-install-recommends /root/graphpae_*.deb >/dev/null"
  echo "graphpae: with all it depends on it takes $(($(installed "$work/clean") - before)) MB in $suite" >&2
  within "$work/clean" "bash /root/try_package.sh ${DEMO_SECONDS:-90}"
  unmount
  rm -rf --one-file-system "$work/builder" "$work/clean"
done
