#!/usr/bin/env python3
"""Writes a large v4 database fast, to measure what reads it.

usage: v4_big.py FOLDER CONTEXTS THREADS

A random but repeatable tree in preorder: procedures call from lines, some lines are in loops, some
callees are inlined, paths are some 40 contexts deep. One metric, charged to lines. What does
not depend on the size comes from v4_writer; cct.db is left out, and threads have only totals."""
import array
import os
import random
import struct
import sys

import v4_writer
from v4_writer import CALL, FUNCTION, INLINED, LEXICAL, LINE, LOOP

PROCEDURES, FILES, LINES = 5000, 300, 400
# What a context can be: (lexical type, relation), and its size in the file.
KINDS = [(FUNCTION, CALL), (FUNCTION, INLINED), (LOOP, LEXICAL), (LINE, LEXICAL)]
CALLED, INLINE, IN_LOOP, ON_LINE = range(4)
SIZES = [40, 40, 48, 48]


def grow(n, rng):
    """Kinds and parents of n contexts below one entry point (number 0), in preorder."""
    kinds, parents = bytearray(n + 1), array.array("I", bytes(4 * (n + 1)))
    path, rand = [0], rng.random
    for i in range(1, n + 1):
        while len(path) > 1 and (len(path) > 55 or rand() < 0.45):
            path.pop()
        above = kinds[path[-1]]
        if len(path) == 1:
            kind = CALLED
        elif above == ON_LINE:
            kind = CALLED if rand() < 0.8 else INLINE
        else:
            kind = ON_LINE if rand() < 0.8 else IN_LOOP
        kinds[i], parents[i] = kind, path[-1]
        path.append(i)
    return kinds, parents


def propagate(kinds, parents, rng):
    """Columns of the scopes in v4_writer's order: point, function, lex_aware, execution. What a
    context does not need for itself (lex_aware of what is no loop) is that of `function`."""
    n = len(kinds)
    point = array.array("d", bytes(8 * n))
    for i in range(1, n):
        if kinds[i] == ON_LINE and rng.random() < 0.7:
            point[i] = rng.randrange(1, 40) * 0.005
    execution, function, no_loops = point[:], point[:], point[:]
    for i in range(n - 1, 0, -1):
        p = parents[i]
        execution[p] += execution[i]
        if kinds[i] >= IN_LOOP:
            function[p] += function[i]
            if kinds[i] != IN_LOOP:
                no_loops[p] += no_loops[i]
    for i in range(n):
        if kinds[i] != IN_LOOP:
            no_loops[i] = function[i]
    return point, function, no_loops, execution


class BigContexts:
    """Writes the section of contexts of a tree given by kinds and parents."""

    def __init__(self, kinds, parents, rng):
        self.kinds, self.parents, self.rng = kinds, parents, rng

    def __call__(self, db, out, layout, modules, files, functions, common):
        kinds, parents, n = self.kinds, self.parents, len(self.kinds)
        start = out.begin()
        out.reserve(16)
        entry = out.reserve(32)
        out.put(start, "QHB", entry, 1, 32)
        size = array.array("Q", bytes(8 * n))
        for i in range(1, n):
            size[parents[i]] += SIZES[kinds[i]]
        base, end = array.array("Q"), out.at()
        for i in range(n):
            base.append(end if size[i] else 0)
            end += size[i]
        out.bytes.extend(bytes(end - out.at()))
        out.put(entry, "QQIHxxQ", size[0], base[0], 1, 1, common("main thread"))
        place = array.array("Q", base)
        procedure = struct.Struct("<QQIBBBBHxxxxxxQ")
        located = struct.Struct("<QQIBBBBHxxxxxxQI")
        randrange = self.rng.randrange
        for i in range(1, n):
            kind, above = kinds[i], parents[i]
            at = place[above]
            place[above] += SIZES[kind]
            lexical, relation = KINDS[kind]
            if kind <= INLINE:
                procedure.pack_into(out.bytes, at, size[i], base[i], i + 1, 1, relation, lexical,
                                    1, 0, functions[randrange(PROCEDURES)])
            else:
                located.pack_into(out.bytes, at, size[i], base[i], i + 1, 2, relation, lexical, 2,
                                  1, files[randrange(FILES)], randrange(1, LINES))
        out.end(3)


def summary_block(kinds, columns):
    """Values of the summary profile, as v4_writer.encode_block makes them. The contexts' ids are
    their numbers + 1; the entry point has id 1 and context 0 its execution."""
    pairs, index, n_values = bytearray(), bytearray(), 1
    pair, entry = struct.Struct("<Hd"), struct.Struct("<IQ")
    pairs += pair.pack(3, columns[3][0])
    index += entry.pack(0, 0)
    n_contexts = 1
    for i in range(len(kinds)):
        first = n_values
        for metric, column in enumerate(columns):
            if column[i]:
                pairs += pair.pack(metric, column[i])
                n_values += 1
        if n_values > first:
            index += entry.pack(i + 1, first)
            n_contexts += 1
    return pairs, n_values, index, n_contexts


def database(n_threads):
    db = v4_writer.Database("big", ["work"], n_threads)
    modules = [db.module(f"/usr/lib/libpart{i}.so") for i in range(20)]
    files = [db.file(f"/home/user/src/part{i}.c") for i in range(FILES)]
    for i in range(PROCEDURES):
        db.function(f"procedure_{i}", modules[i % 20], 64 * i, files[i % FILES], 10 * (i % 100))
    db.entry()
    return db


def write_big(folder, n_contexts, n_threads, seed=1):
    os.makedirs(folder, exist_ok=True)
    rng = random.Random(seed)
    kinds, parents = grow(n_contexts, rng)
    columns = propagate(kinds, parents, rng)
    db, layout = database(n_threads), v4_writer.Layout()
    v4_writer.write_meta(db, os.path.join(folder, "meta.db"), layout,
                         BigContexts(kinds, parents, rng))
    share = columns[3][0] / n_threads
    blocks = [summary_block(kinds, columns)]
    blocks += [v4_writer.encode_block({0: {3: share}, 1: {3: share}}) for _ in range(n_threads)]
    v4_writer.write_profiles(db, blocks, os.path.join(folder, "profile.db"), layout)


if __name__ == "__main__":
    write_big(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
