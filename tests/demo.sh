#!/bin/sh
# demo.sh BUILD: profiles two programs and prints their views: our own hpcstruct, which analyzes a big binary of this
# machine, and a parallel program whose workers often have nothing to do.
set -e
bin=$(cd "$1/bin" && pwd)
programs=$(cd "$1/tests/programs/cilk" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/hpctoolkit-demo-XXXXXX")
cd "$work"

big=$(gcc -print-prog-name=cc1)
for candidate in /usr/lib/x86_64-linux-gnu/libLLVM-*.so.1; do
	[ -r "$candidate" ] && big=$candidate
done

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { say "\$ $*"; "$@"; }

PATH=$bin:$programs:$PATH
say "1. Where does the time go?"
run hpcrun -e CPUTIME@f1000 -o measurements hpcstruct -o structure "$big"
run hpcprof -o database measurements
run hpcviewer --print top-down --min-percent 4 --depth 24 database
run hpcviewer --print bottom-up --min-percent 4 --depth 3 database
run hpcviewer --print summary database

say "2. Why does this parallel program not scale?"
run hpcrun -e CPUTIME@f5000 -o measurements-cholesky cholesky 1000
run hpcprof -o database-cholesky measurements-cholesky
run hpcviewer --print top-down --min-percent 5 --depth 12 --metrics work,overhead,idleness database-cholesky
run hpcviewer --print bottom-up --sort idleness --min-percent 5 --depth 3 --metrics idleness,work database-cholesky
run hpcviewer --print summary database-cholesky

say "The same in the terminal viewer (H: hot path, ?: help, q: quit):"
echo "    $bin/hpcviewer $work/database"
echo "    $bin/hpcviewer $work/database-cholesky"
