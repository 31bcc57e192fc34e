#!/usr/bin/env python3
"""OpenMP, oneTBB and threaded programs of Debian under hpcrun (make stress-threads), with 1, 2, 4 and 8 threads, those
that are linked to libgomp also on LLVM's libomp.

usage: tests/stress/threaded_programs.py [--rounds N] [--hours H] [--one-way] [--jobs N] [--programs A,B]"""
import os
import random
import sys

import comparison
from comparison import Program

LIBOMP = "/usr/lib/x86_64-linux-gnu/libomp.so.5"
THREADS = (1, 2, 4, 8)

NUMPY = "import numpy as n; r = n.random.default_rng(1); a = r.random((300, 300)); b = a @ a; " \
    "print(b.shape, round(float(b.trace()), 3), round(float(n.linalg.svd(a[:200, :200])[1][0]), 6))"
R = "set.seed(1); a <- matrix(runif(160000), 400); b <- crossprod(a); " \
    "cat(dim(b), signif(sum(diag(b)), 8), signif(det(b[1:9, 1:9]), 6), '\\n')"
R_FORKS = "cat(sum(unlist(parallel::mclapply(1:40, function(i) sum(i %% 1:9999), " \
    "mc.cores = as.integer(Sys.getenv('OMP_NUM_THREADS'))))), '\\n')"
T = "$OMP_NUM_THREADS"

# name: a shell command run in the directory of the inputs; it says on standard output what it did.
OPENMP = {
    "primecount": f"primecount 1e11 --threads={T}",
    "cd-hit": f"cd-hit -i proteins.fa -o out -c 0.9 -T {T} > /dev/null && cksum out",
    "clustalo": f"clustalo -i few.fa --threads={T} -o out --force && cksum out",
    "fasttreeMP": "fasttreeMP -quiet -nosupport aligned.fa 2> /dev/null",
    "gm": "gm convert image.ppm -blur 0x3 -resize 70% -sharpen 0x1 out.ppm && cksum out.ppm",
    "sox": "sox -R --multi-threaded -n -c 2 -r 44100 out.raw synth 1 sine 440 reverb && cksum out.raw",
}
TBB = {
    "flexbar": f"flexbar -r reads.fq -t out -n {T} -ap ON -as AGATCGGAAG > /dev/null && cksum out.fastq",
    "twopaco": f"twopaco -k 21 -f 20 -t {T} -o out --tmpdir . genome.fa > /dev/null && wc -c < out",
    "mathicgb": f"mgb gb ideal -threadCount {T} > /dev/null && cksum ideal.gb",
}
THREADED = {
    "numpy": ["/usr/bin/python3", "-c", NUMPY],
    "R": ["Rscript", "-e", R], "R, processes": ["Rscript", "-e", R_FORKS],
    "pigz": f"pigz -p {T} -nc text | cksum", "xz": f"xz -T {T} -c text | cksum", "zstd": f"zstd -qc -T{T} text | cksum",
    "lbzip2": f"lbzip2 -n {T} -c text | cksum", "pbzip2": f"pbzip2 -p{T} -c text | cksum",
    "plzip": f"plzip -n {T} -c text | cksum", "pixz": f"pixz -p {T} < text | pixz -d -p {T} | cksum",
    "7z": f"7z a -mmt={T} -bd out.7z text > /dev/null && 7z x -so out.7z | cksum",
    "sort": f"sort --parallel={T} -S 1M text | cksum", "primesieve": f"primesieve 1e9 -t{T} -q",
    "bwa": "bwa index genome.fa 2> /dev/null && "
    f"bwa mem -t {T} genome.fa reads.fq 2> /dev/null | grep -v ^@PG | cksum",
    "minimap2": f"minimap2 -t {T} genome.fa reads.fq 2> /dev/null | cksum",
    "samtools": "samtools import -0 reads.fq 2> /dev/null | "
    f"samtools sort -n -@ {T} --no-PG -O sam 2> /dev/null | cksum",
    "vsearch": "vsearch --usearch_global alike.fa --db alike.fa --self --id 0.8 --quiet --blast6out - "
    f"--threads {T} | sort | cksum",
    "swarm": f"swarm -d 0 -t {T} -o - alike.fa 2> /dev/null | cksum",
    "phmmer": f"phmmer --cpu {T} --noali --tblout out one.fa proteins.fa > /dev/null && grep -v '^#' out | cksum",
    "x264": f"x264 --quiet --preset ultrafast --threads {T} --input-res 64x64 --demuxer raw -o out.264 image.ppm "
    "2> /dev/null && cksum out.264",
    "sqlite3": f"sqlite3 :memory: \"pragma threads={T}; create table t as with recursive c(x) as (values(1) union all "
    "select x+1 from c where x<90000) select x*7919%90001 y from c; "
    "select sum(y), max(y) from (select y from t order by y);\"",
}


def fasta(names, rng, letters, length):
    """Sequences of which each ten are alike."""
    lines = []
    for i in range(names):
        if i % 10 == 0:
            first = rng.choices(letters, k=length)
        lines.append(f">s{i}_{1 + i % 3}\n" + "".join(rng.choice(letters) if rng.random() < 0.05 else c for c in first))
    return "\n".join(lines) + "\n"


def make_inputs(directory):
    rng = random.Random(1)
    genome = "".join(rng.choices("ACGT", k=60000))
    reads = [genome[at:at + 100] + "AGATCGGAAG" for at in rng.sample(range(59000), 2000)]
    quality, proteins = "I" * 110, fasta(600, rng, "ACDEFGHIKLMNPQRSTVWY", 200)
    files = {
        "text": "".join(rng.choice(("of the", "a line\n", "words ", "and ", str(rng.random()))) for _ in range(40000)),
        "proteins.fa": proteins, "one.fa": "".join(proteins.splitlines(True)[:2]),
        "few.fa": fasta(40, rng, "ACDEFGHIKLMNPQRSTVWY", 120),
        "aligned.fa": fasta(30, rng, "ACDEFGHIKLMNPQRSTVWY", 150),
        "alike.fa": fasta(2000, rng, "ACGT", 80), "genome.fa": f">g\n{genome}\n",
        "reads.fa": "".join(f">r{i}\n{read}\n" for i, read in enumerate(reads)),
        "reads.fq": "".join(f"@r{i}\n{read}\n+\n{quality}\n" for i, read in enumerate(reads)),
        "ideal.ideal": "101 4 1 1 1 1 1\n4\na3+b2c+7d\nb3+ac+5d2\nc3+abd+a\nd3+2bc+b\n",
    }
    for name, text in files.items():
        (directory / name).write_text(text)
    (directory / "image.ppm").write_bytes(b"P6 640 480 255\n" + rng.randbytes(640 * 480 * 3))


def program(command):
    if isinstance(command, list):
        return Program(command, tool=command[0])
    return Program(["sh", "-c", command], tool=command.split()[0])


def ways():
    """Without libomp all ways are libgomp's."""
    runtimes = [()] + [(f"LD_PRELOAD={LIBOMP}",)] * os.path.exists(LIBOMP)
    return tuple(("CPUTIME@f1000", ("env", f"OMP_NUM_THREADS={threads}", "OMP_WAIT_POLICY=passive", *runtime))
                 for threads in THREADS for runtime in runtimes)


if __name__ == "__main__":
    COMMANDS = {name: program(command) for name, command in {**OPENMP, **TBB, **THREADED}.items()}
    sys.exit(comparison.main(__doc__, COMMANDS, make_inputs, ways()))
