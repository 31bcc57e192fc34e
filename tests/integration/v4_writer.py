"""Writes v4 databases of HPCToolkit from a description, for tests of their readers.

Written from the format's specification (doc/FORMATS.md of HPCToolkit) alone; shares nothing with
hpcprof or hpcviewer. A Database is a tree of Contexts with what each profile (thread) was charged
in each metric; propagated values are computed here by their definitions. Layout says which of the
format's freedoms a file uses, so that readers can be tested with all of them."""
import dataclasses
import os
import pathlib
import random
import struct

CALL, INLINED, LEXICAL = 1, 2, 0
FUNCTION, LOOP, LINE, INSTRUCTION = 0, 1, 2, 3
POINT, FUNCTION_SCOPE, LEX_AWARE, EXECUTION = "point", "function", "lex_aware", "execution"
SCOPES = (POINT, FUNCTION_SCOPE, LEX_AWARE, EXECUTION)


@dataclasses.dataclass
class File:
    path: str
    copied: bool = False


@dataclasses.dataclass
class Function:
    """name, module and file may be None; module and file are indices."""
    name: str
    module: int = None
    offset: int = 0
    file: int = None
    line: int = 0


class Context:
    """A context and its charges: charges[(profile, metric)] = value, profiles from 1."""

    def __init__(self, lexical_type, relation=LEXICAL, function=None, file=None, line=0,
                 module=None, offset=0):
        self.lexical_type, self.relation = lexical_type, relation
        self.function, self.file, self.line = function, file, line
        self.module, self.offset = module, offset
        self.children = []
        self.charges = {}
        self.id = None

    def add(self, child):
        self.children.append(child)
        return child

    # The usual patterns.
    def call(self, function):
        return self.add(Context(FUNCTION, CALL, function=function))

    def inline(self, function):
        return self.add(Context(FUNCTION, INLINED, function=function))

    def loop(self, file, line):
        return self.add(Context(LOOP, file=file, line=line))

    def statement(self, file, line):
        return self.add(Context(LINE, file=file, line=line))

    def instruction(self, module, offset):
        return self.add(Context(INSTRUCTION, module=module, offset=offset))

    def charge(self, value, metric=0, profile=1):
        self.charges[profile, metric] = self.charges.get((profile, metric), 0) + value
        return self

    def below(self):
        """This context and all below it, in preorder."""
        stack = [self]
        while stack:
            context = stack.pop()
            yield context
            stack.extend(reversed(context.children))


class Entry(Context):
    def __init__(self, kind=1, name="main thread"):
        super().__init__(None)
        self.kind, self.name = kind, name


@dataclasses.dataclass
class Layout:
    """Freedoms of the format."""
    ids: str = "ascending"     # or "shuffled", "sparse"
    extra: int = 0             # bytes by which expandable structures are larger than specified
    arrays: str = "downwards"  # children after their parents; or "upwards"
    scopes: tuple = SCOPES     # of each metric
    totals: bool = True        # values of context 0
    seed: int = 0
    physical: bool = False


class Database:
    def __init__(self, title="program", metrics=("work",), n_profiles=1):
        self.title, self.metrics = title, list(metrics)
        self.modules, self.files, self.functions, self.entries = [], [], [], []
        self.id_names = ["SUMMARY", "NODE", "RANK", "PROCESS", "THREAD"]
        # Each identifier: kind, is physical, logical id, physical id.
        self.id_tuples = [[(1, True, 0, 7), (3, True, 0, 71), (4, False, i, i)]
                          for i in range(n_profiles)]

    def module(self, path):
        self.modules.append(path)
        return len(self.modules) - 1

    def file(self, path, copied=False):
        self.files.append(File(path, copied))
        return len(self.files) - 1

    def function(self, name, module=None, offset=0, file=None, line=0):
        self.functions.append(Function(name, module, offset, file, line))
        return len(self.functions) - 1

    def entry(self, kind=1, name="main thread"):
        self.entries.append(Entry(kind, name))
        return self.entries[-1]

    def contexts(self):
        for entry in self.entries:
            yield from entry.below()


# --- values by their definitions ------------------------------------------------------------------

def is_lexical(context):
    return context.relation == LEXICAL and context.lexical_type in (LOOP, LINE, INSTRUCTION)


def contributors(context, scope):
    """The contexts whose charges the value of a scope of one procedure sums up."""
    if scope == POINT:
        return [context]
    stop_at_loops = scope == LEX_AWARE and context.lexical_type == LOOP
    found, stack = [], [context]
    while stack:
        at = stack.pop()
        found.append(at)
        stack.extend(c for c in at.children
                     if is_lexical(c) and not (stop_at_loops and c.lexical_type == LOOP))
    return found


def added(charges):
    sums = {}
    for one in charges:
        for key, value in one.items():
            sums[key] = sums.get(key, 0) + value
    return sums


def all_values(db, layout):
    """{profile: {context id: {metric id: value}}}; profile 0 is the summary."""
    n = len(layout.scopes)
    result = {p: {} for p in range(len(db.id_tuples) + 1)}
    contexts, whole = list(db.contexts()), {}  # charges of each context with all below it
    for context in reversed(contexts):
        whole[context] = added([context.charges, *(whole[child] for child in context.children)])

    def put(context_id, scope, charges):
        for (profile, metric), value in charges.items():
            for p in (0, profile):
                values = result[p].setdefault(context_id, {})
                key = n * metric + scope
                values[key] = values.get(key, 0) + value

    for scope, name in enumerate(layout.scopes):
        for context in contexts:
            put(context.id, scope, whole[context] if name == EXECUTION else
                added(one.charges for one in contributors(context, name)))
        if name == EXECUTION and layout.totals:
            put(0, scope, added(whole[entry] for entry in db.entries))
    return result


def assign_ids(db, layout):
    contexts = list(db.contexts())
    ids = list(range(1, len(contexts) + 1))
    if layout.ids == "shuffled":
        random.Random(layout.seed).shuffle(ids)
    elif layout.ids == "sparse":
        ids = [3 * i + 5 for i in ids]
    for context, number in zip(contexts, ids):
        context.id = number


# --- files ----------------------------------------------------------------------------------------

class Out:
    """A growing file; offsets are absolute."""

    def __init__(self, format, n_sections):
        self.bytes = bytearray(16 + 16 * n_sections)
        self.bytes[0:16] = b"HPCTOOLKIT" + format + bytes([4, 0])
        self.section_start = None

    def at(self):
        return len(self.bytes)

    def align(self, to=8):
        self.bytes.extend(bytes(-len(self.bytes) % to))
        return self.at()

    def reserve(self, size):
        start = self.align()
        self.bytes.extend(bytes(size))
        return start

    def put(self, at, format, *values):
        struct.pack_into("<" + format, self.bytes, at, *values)

    def string(self, text):
        at = self.at()
        self.bytes.extend(text.encode() + b"\0" if isinstance(text, str) else text + b"\0")
        return at

    def begin(self):
        self.section_start = self.align()
        return self.section_start

    def end(self, section):
        self.put(16 + 16 * section, "QQ", self.at() - self.section_start, self.section_start)

    def write(self, path, footer):
        self.align()
        pathlib.Path(path).write_bytes(bytes(self.bytes) + footer)


def write_meta(db, path, layout, contexts=None):
    """`contexts` writes the section of contexts in place of write_contexts."""
    out, extra = Out(b"meta", 8), layout.extra

    start = out.begin()
    out.reserve(16 + extra)
    out.put(start, "QQ", out.string(db.title), out.string("made by a test"))
    out.end(0)

    start = out.begin()
    out.reserve(16 + extra)
    names = out.reserve(8 * len(db.id_names))
    out.put(start, "QB", names, len(db.id_names))
    for i, name in enumerate(db.id_names):
        out.put(names + 8 * i, "Q", out.string(name))
    out.end(1)

    write_metrics(db, out, layout)

    strings = {}
    out.begin()

    def common(text):
        if text not in strings:
            strings[text] = out.string(text)
        return strings[text]

    for text in (db.modules + [f.path for f in db.files] + [e.name for e in db.entries] +
                 [f.name for f in db.functions if f.name is not None]):
        common(text)
    out.end(4)

    def table(section, items, size):
        start = out.begin()
        out.reserve(16)
        array = out.reserve(len(items) * (size + extra))
        out.put(start, "QIH", array, len(items), size + extra)
        out.end(section)
        return [array + i * (size + extra) for i in range(len(items))]

    modules = table(5, db.modules, 16)
    for at, module in zip(modules, db.modules):
        out.put(at, "IxxxxQ", 0, common(module))
    files = table(6, db.files, 16)
    for at, file in zip(files, db.files):
        out.put(at, "IxxxxQ", 1 if file.copied else 0, common(file.path))
    functions = table(7, db.functions, 40)
    for at, f in zip(functions, db.functions):
        out.put(at, "QQQQII", 0 if f.name is None else common(f.name),
                0 if f.module is None else modules[f.module], f.offset,
                0 if f.file is None else files[f.file], f.line, 0)
    (contexts or write_contexts)(db, out, layout, modules, files, functions, common)
    out.write(path, b"_meta.db")


def write_metrics(db, out, layout):
    extra, n = layout.extra, len(layout.scopes)
    start = out.begin()
    out.reserve(32 + extra)
    types = {POINT: (1, 0), FUNCTION_SCOPE: (3, 0), LEX_AWARE: (0, 0), EXECUTION: (2, 0)}
    scope_size, metric_size = 16 + extra, 32 + extra
    instance_size, summary_size = 16 + extra, 24 + extra
    scopes = out.reserve(n * scope_size)
    metrics = out.reserve(len(db.metrics) * metric_size)
    for i, name in enumerate(layout.scopes):
        out.put(scopes + i * scope_size, "QBB", out.string(name), *types[name])
    formula = out.string("$$")
    for m, name in enumerate(db.metrics):
        instances = out.reserve(n * instance_size)
        summaries = out.reserve(n * summary_size)
        out.put(metrics + m * metric_size, "QQQHH", out.string(name), instances, summaries, n, n)
        for i in range(n):
            scope = scopes + i * scope_size
            out.put(instances + i * instance_size, "QH", scope, n * m + i)
            out.put(summaries + i * summary_size, "QQBxH", scope, formula, 0, n * m + i)
    out.put(start, "QIBBBxQHB", metrics, len(db.metrics), metric_size, instance_size,
            summary_size, scopes, n, scope_size)
    out.end(2)


def context_size(context):
    words = (1 if context.function is not None else 0) + (2 if context.file is not None else 0) + \
        (2 if context.module is not None else 0)
    return 32 + 8 * words


def write_contexts(db, out, layout, modules, files, functions, common):
    entry_size = 32 + layout.extra
    start = out.begin()
    out.reserve(16)
    entries = out.reserve(len(db.entries) * entry_size)
    out.put(start, "QHB", entries, len(db.entries), entry_size)
    parents = [c for c in db.contexts() if c.children]
    if layout.arrays == "upwards":
        parents.reverse()
    arrays, places = {}, {}
    for parent in parents:
        size = sum(context_size(c) for c in parent.children)
        at = out.reserve(size)
        arrays[id(parent)] = (size, at)
        for child in parent.children:
            places[id(child)] = at
            at += context_size(child)
    for i, entry in enumerate(db.entries):
        out.put(entries + i * entry_size, "QQIHxxQ", *arrays.get(id(entry), (0, 0)), entry.id,
                entry.kind, common(entry.name))
    for context in db.contexts():
        if isinstance(context, Entry):
            continue
        at = places[id(context)]
        flags, flex = 0, at + 32
        if context.function is not None:
            flags |= 1
            out.put(flex, "Q", functions[context.function])
            flex += 8
        if context.file is not None:
            flags |= 2
            out.put(flex, "QI", files[context.file], context.line)
            flex += 16
        if context.module is not None:
            flags |= 4
            out.put(flex, "QQ", modules[context.module], context.offset)
            flex += 16
        out.put(at, "QQIBBBBH", *arrays.get(id(context), (0, 0)), context.id, flags,
                context.relation, context.lexical_type, (flex - at - 32) // 8,
                0 if context.lexical_type == FUNCTION else 1)
    out.end(3)


def encode_block(values):
    """The values of one profile, {context: {metric: value}}: pairs, their number, index and its
    number."""
    pairs, index, first = bytearray(), bytearray(), 0
    for context in sorted(values):
        index += struct.pack("<IQ", context, first)
        for metric, value in sorted(values[context].items()):
            pairs += struct.pack("<Hd", metric, value)
        first += len(values[context])
    return pairs, first, index, len(values)


def write_profiles(db, blocks, path, layout):
    """The blocks, as encode_block makes them, are those of the summary and of each profile."""
    out = Out(b"prof", 2)
    size = 48 + layout.extra
    start = out.begin()
    out.reserve(16 + layout.extra)
    infos = out.reserve(len(blocks) * size)
    out.put(start, "QIB", infos, len(blocks), size)
    out.end(0)
    out.begin()
    tuples = []
    for ids in db.id_tuples:
        at = out.reserve(8 + 16 * len(ids))
        tuples.append(at)
        out.put(at, "H", len(ids))
        for i, (kind, is_physical, logical, physical) in enumerate(ids):
            out.put(at + 8 + 16 * i, "BxHIQ", kind, 1 if is_physical else 0, logical, physical)
    out.end(1)
    for profile, (pairs, n_values, index, n_contexts) in enumerate(blocks):
        pairs_at = out.align()
        out.bytes.extend(pairs)
        index_at = out.align()
        out.bytes.extend(index)
        out.put(infos + profile * size, "QQIxxxxQQI", n_values, pairs_at, n_contexts, index_at,
                tuples[profile - 1] if profile else 0, 0 if profile else 1)
    out.write(path, b"_prof.db")


def write_database(db, folder, layout=None):
    """Creates the folder and writes meta.db and profile.db into it. The viewer does not read cct.db."""
    layout = layout or Layout()
    os.makedirs(folder, exist_ok=True)
    assign_ids(db, layout)
    values = all_values(db, layout)
    write_meta(db, os.path.join(folder, "meta.db"), layout)
    blocks = [encode_block(values[profile]) for profile in range(len(values))]
    write_profiles(db, blocks, os.path.join(folder, "profile.db"), layout)
