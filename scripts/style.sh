#!/usr/bin/env bash
# Fails if a source is not formatted, or if clang-tidy finds something in those that need no LibTorch.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
git ls-files '*.cpp' '*.h' | xargs clang-format --dry-run --Werror
[[ ${1:-} != format ]] || exit 0
scripts/install_packages.sh packages.txt
cmake --preset dev -DGRAPHPAE_BUILD_TORCH=OFF -DGRAPHPAE_BUILD_TESTS=OFF >/dev/null
ninja -C build/dev graphpae_embedded
git ls-files 'graphpae/core/*.cpp' 'graphpae/io/*.cpp' 'graphpae/settings/*.cpp' 'graphpae/evaluate/*.cpp' |
  xargs -P "$(nproc)" -n 4 clang-tidy -quiet -p build/dev --warnings-as-errors='*'
