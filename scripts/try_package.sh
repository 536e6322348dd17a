#!/usr/bin/env bash
# Tries an installed graphpae as a stranger would, on a system without a compiler; says what it takes. Leaves nothing.
#   scripts/try_package.sh [SECONDS]     in which the demo must have printed its table, 90 unless said
set -euo pipefail
! command -v c++ g++ gcc cc clang || { echo "graphpae: there is a compiler, so this proves little" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

TIMEFORMAT='%1R s on the clock, %1U s of processor time'
say() { echo "graphpae: $*"; }
say version; time graphpae --version
graphpae generate heterophilic -o small --nodes 500 -q
say info of a small graph; time graphpae info small
say demo; time timeout "${1:-90}" graphpae demo --no-progress -q

say the manual page and completions
gzip -dc /usr/share/man/man1/graphpae.1.gz | grep -q '^\.SH VERBS'
bash -c 'source /usr/share/bash-completion/completions/graphpae
  COMP_WORDS=(graphpae pretrain --recipe cham) COMP_CWORD=3; _graphpae; [[ ${COMPREPLY[*]} == chameleon ]]'
test -s /usr/share/zsh/vendor-completions/_graphpae
test -s /usr/share/fish/vendor_completions.d/graphpae.fish
test -s /usr/share/graphpae/recipes/chameleon.yaml
