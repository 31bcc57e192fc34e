#!/bin/sh
# demo.sh BUILD: profiles three programs and prints their views: our own hpcstruct, which analyzes a big binary of this
# machine, a parallel program whose workers often have nothing to do, and one that computes while it holds a lock.
set -e
bin=$(cd "$1/bin" && pwd)
programs=$(cd "$1/tests/programs/cilk" && pwd)
examples=$(cd "$(dirname "$0")/../examples" && pwd)
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

say "3. Which lock holds the threads up, and where?"
run g++ -O2 -g -pthread "$examples/pipe.cc" -o pipe
run hpcrun -q -o m-old ./pipe
run hpcprof -o old m-old
run g++ -O2 -g -pthread "$examples/pipe-fixed.cc" -o pipe
run hpcrun -q -o m-new ./pipe
run hpcprof -o new m-new
say "\$ hpcviewer --print summary old; hpcviewer --print summary old new"
hpcviewer --print summary old | sed -n '1p;/^Advice/,/^$/p'
printf 'pipe-fixed.cc computes before it takes the lock:\n\033[1m  '
hpcviewer --print summary old new | head -1
printf '\033[0m'

say "The same in the terminal viewer (H: hot path, ?: help, q: quit):"
for name in database database-cholesky old "old $work/new"; do
	echo "    $bin/hpcviewer $work/$name"
done
