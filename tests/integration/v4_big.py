#!/usr/bin/env python3
"""Writes a large v4 database fast, to measure its readers.

usage: v4_big.py FOLDER CONTEXTS THREADS [RECORDS]

A random but repeatable tree in preorder: procedures call from lines, some lines are in loops, some
callees are inlined, paths are some 40 contexts deep; the first procedure calls 10,000 others (fewer in
small trees). Lines have charges, each by a few threads, so that a thread has reached a part of the
contexts only. That procedure is the only one called "wide", and costs most. v4_writer writes the parts
that do not depend on the size; there is no cct.db. With RECORDS there is a time line of 40 s (write_timeline)."""
import array
import json
import os
import random
import struct
import sys

import timeline_writer as tw
import v4_writer
from v4_writer import CALL, FUNCTION, INLINED, LEXICAL, LINE, LOOP

PROCEDURES, FILES, LINES = 5000, 300, 40
# Kinds of contexts: (lexical type, relation), and their sizes in the file.
KINDS = [(FUNCTION, CALL), (FUNCTION, INLINED), (LOOP, LEXICAL), (LINE, LEXICAL)]
CALLED, INLINE, IN_LOOP, ON_LINE = range(4)
SIZES = [40, 40, 48, 48]
MOST_CALLED = 10000
MOST_GROUPS = 64  # threads of a group have the same charges
METRICS = {"work": 1, "idleness": 1 / 2, "overhead": 1 / 4}  # as a share of the first


def grow(n, rng):
    """Kinds and parents of n contexts below one entry point (number 0), in preorder."""
    kinds, parents = bytearray(n + 1), array.array("I", bytes(4 * (n + 1)))
    path, rand = [0], rng.random
    n_called = min(MOST_CALLED, n // 20)
    for i in range(1, n_called + 2):
        parents[i] = 0 if i == 1 else 1
    for i in range(n_called + 2, n + 1):
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


def charge(kinds, rng):
    """The charges of a thread in each context. Only the threads of group_of() have any. Sums of these numbers are
    exact."""
    charges = [rng.randrange(1, 40) / 64 if kind == ON_LINE and rng.random() < 0.7 else 0
               for kind in kinds]
    i = 2
    while kinds[i] == CALLED:  # the first procedure calls others
        charges[i] = rng.randrange(100, 4000) / 64
        i += 1
    return charges


def group_of(context, n_groups):
    """The group of threads that a context belongs to; neighboring contexts have the same one."""
    return context // 97 % n_groups


def propagate(kinds, parents, charges):
    """Columns of the scopes in v4_writer's order: point, function, lex_aware, execution. For a context
    that is no loop, lex_aware is the same as function."""
    n = len(kinds)
    point = array.array("d", charges)
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


def propagate_few(kinds, parents, charges):
    """The same for the charges of few contexts: {context: [point, function, lex_aware, execution]}."""
    values = {0: [0, 0, 0, 0]}
    for i in charges:
        while i not in values:
            values[i] = [0, 0, 0, 0]
            i = parents[i]
    for i in sorted(values, reverse=True):
        own = values[i]
        for scope in range(4):
            own[scope] += charges.get(i, 0)
        if i == 0:
            break
        above = values[parents[i]]
        above[3] += own[3]
        if kinds[i] >= IN_LOOP:
            above[1] += own[1]
            if kinds[i] != IN_LOOP:
                above[2] += own[2]
        if kinds[i] != IN_LOOP:
            own[2] = own[1]
    values[0][2] = values[0][1]
    return values


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
        # The procedure around each context, and its line.
        around, line = array.array("I", bytes(4 * n)), array.array("I", bytes(4 * n))
        randrange = self.rng.randrange
        for i in range(1, n):
            kind, above = kinds[i], parents[i]
            at = place[above]
            place[above] += SIZES[kind]
            lexical, relation = KINDS[kind]
            if i == 1:
                around[i] = PROCEDURES
            elif parents[i] <= 1:
                around[i] = i % PROCEDURES
            elif kind <= INLINE:  # a line calls one of two procedures
                around[i] = (31 * around[above] + 7 * line[above] + randrange(2)) % PROCEDURES
            else:
                around[i], line[i] = around[above], randrange(1, LINES)
            if kind <= INLINE:
                procedure.pack_into(out.bytes, at, size[i], base[i], i + 1, 1, relation, lexical,
                                    1, 0, functions[around[i]])
            else:
                located.pack_into(out.bytes, at, size[i], base[i], i + 1, 2, relation, lexical, 2,
                                  1, files[around[i] % FILES], 10 * (around[i] % 100) + line[i])
        out.end(3)


def block(rows, factors):
    """Values of a profile as v4_writer.encode_block makes them, from (context, [point, ...]) in
    order. The contexts' ids are their numbers + 1; the entry point has id 1 and context 0 its
    execution."""
    pairs, index, n_values, n_contexts = bytearray(), bytearray(), 0, 0
    pair, entry = struct.Struct("<Hd"), struct.Struct("<IQ")
    for i, values in rows:
        first = n_values
        if i == 0:
            index += entry.pack(0, 0)
            n_contexts += 1
            for m, factor in enumerate(factors):
                pairs += pair.pack(4 * m + 3, values[3] * factor)
            first = n_values = len(factors)
        for m, factor in enumerate(factors):
            for scope, value in enumerate(values):
                if value:
                    pairs += pair.pack(4 * m + scope, value * factor)
                    n_values += 1
        if n_values > first:
            index += entry.pack(i + 1, first)
            n_contexts += 1
    return pairs, n_values, index, n_contexts


def database(n_threads):
    db = v4_writer.Database("big", list(METRICS), n_threads)
    modules = [db.module(f"/usr/lib/libpart{i}.so") for i in range(20)]
    files = [db.file(f"/home/user/src/part{i}.c") for i in range(FILES)]
    for i in range(PROCEDURES):
        db.function(f"procedure_{i}", modules[i % 20], 64 * i, files[i % FILES], 10 * (i % 100))
    db.function("wide", modules[0], 1 << 20, files[0], 1)
    db.entry()
    return db


def write_big(folder, n_contexts, n_threads, seed=1):
    os.makedirs(folder, exist_ok=True)
    rng = random.Random(seed)
    kinds, parents = grow(n_contexts, rng)
    charges, factors = charge(kinds, rng), list(METRICS.values())
    db, layout = database(n_threads), v4_writer.Layout()
    v4_writer.write_meta(db, os.path.join(folder, "meta.db"), layout,
                         BigContexts(kinds, parents, rng))
    n_groups = min(n_threads, MOST_GROUPS)
    of_group = [{} for _ in range(n_groups)]
    for i, value in enumerate(charges):
        if value:
            of_group[group_of(i, n_groups)][i] = value
    blocks = [block(sorted(propagate_few(kinds, parents, few).items()), factors)
              for few in of_group]
    # Thread t is in group t % n_groups. Totals are those of a thread times the threads of its group.
    sizes = [len(range(group, n_threads, n_groups)) for group in range(n_groups)]
    together = [value * sizes[group_of(i, n_groups)] for i, value in enumerate(charges)]
    columns = propagate(kinds, parents, together)
    summary = block(enumerate(zip(*columns)), factors)
    v4_writer.write_profiles(db, [summary] + [blocks[t % n_groups] for t in range(n_threads)],
                             os.path.join(folder, "profile.db"), layout)


SECONDS, UNIT, PLACES = 40, 10, 4000
WORKS = tw.WORK | tw.WORKER
# The run has as many stages: shares of the states in each, and of the workers that work.
STAGES = [([WORKS] * 9 + [tw.IDLE], 0.9), ([WORKS] * 2 + [tw.IDLE] * 8, 0.2),
          ([tw.WORK] * 3 + [tw.WAITING] * 5 + [tw.OFF_CPU, tw.READY], 0.3), ([WORKS] * 4 + [tw.WAITING] * 2 + [tw.IDLE] * 4, 0.4)]


def records_of(n, rng):
    """n records of a thread, of equal times: seven in a row have the same state and place."""
    step, packed, at = SECONDS * 10**9 // n, bytearray(16 * n), struct.Struct(tw.RECORD)
    for i in range(n):
        stage = i * len(STAGES) // n
        if i % 7 == 0:
            place, state = rng.randrange(stage, PLACES, len(STAGES)), rng.choice(STAGES[stage][0])
        at.pack_into(packed, 16 * i, (i + 1) * step // UNIT, place, step << tw.SHIFT << 8 | state)
    return packed


def write_timeline(folder, n_contexts, n_threads, n_records):
    """A time line with that many records, and run.json, for a database of write_big. Threads of a group have the same
    records."""
    rng, n = random.Random(2), n_records // n_threads
    groups = [records_of(n, rng) for _ in range(min(n_threads, MOST_GROUPS))]
    working = [int(share * n_threads) for _, share in STAGES]
    places = b"".join(struct.pack(tw.PLACE, rng.randrange(2, n_contexts), 0, n_threads, working[i % len(STAGES)], 0, 0)
                      for i in range(PLACES))
    begin = struct.calcsize(tw.HEADER)
    at, size = begin + len(places), 16 * n
    end = at + size * n_threads
    heads = b"".join(struct.pack(tw.THREAD, t + 1, 1, at + size * t, n) for t in range(n_threads))
    with open(os.path.join(folder, "timeline.db"), "wb") as file:
        file.write(struct.pack(tw.HEADER, b"HPCTLINE", 1, 0, tw.SHIFT, n_threads, PLACES, end, begin, 0, UNIT, end + len(heads)))
        file.write(places)
        for t in range(n_threads):
            file.write(groups[t % len(groups)])
        file.write(heads + n_threads * struct.pack(tw.WAKE_LIST, 0, 0, 1, 0, 0))
    threads = [{"tid": t + 1, "name": "t", "profile": t + 1, "wall": SECONDS, "start_routine": f"run_{t % 100}"}
               for t in range(n_threads)]
    with open(os.path.join(folder, "run.json"), "w", encoding="utf-8") as file:
        json.dump({"format": "hpctoolkit-run", "version": 2, "title": "big", "events": [{"name": "REALTIME", "unit": "s"}],
                   "metrics": [{"name": m, "event": "REALTIME", "unit": "s", "state": "measured"} for m in METRICS],
                   "processes": [{"pid": 1, "command": "big", "wall": SECONDS, "time_line_begin": 0, "threads": threads}]}, file)


if __name__ == "__main__":
    write_big(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    if len(sys.argv) > 4:
        write_timeline(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
