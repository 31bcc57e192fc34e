#!/bin/sh
# demo.sh BUILD: profiles our own hpcstruct while it analyses a big binary of this machine, and shows
# where its time goes.
set -e
bin=$(cd "$1/bin" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/hpctoolkit-demo-XXXXXX")
cd "$work"

big=$(gcc -print-prog-name=cc1)
for candidate in /usr/lib/x86_64-linux-gnu/libLLVM-*.so.1; do
	[ -r "$candidate" ] && big=$candidate
done

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { say "\$ $*"; "$@"; }

PATH=$bin:$PATH
run hpcrun -e CPUTIME@f1000 -o measurements hpcstruct -o structure "$big"
run hpcprof -o database measurements
run hpcviewer --print top-down --min-percent 4 --depth 24 database
run hpcviewer --print bottom-up --min-percent 4 --depth 3 database
run hpcviewer --print summary database
say "The same in the terminal viewer (H: hot path, ?: help, q: quit):"
echo "    $bin/hpcviewer $work/database"
