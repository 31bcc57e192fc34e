"""Reads an HPCToolkit v4 database and checks on the way that it conforms to the specification
(doc/FORMATS.md of HPCToolkit's repository): an implementation of its own, strict where readers are
usually lenient. Anything that does not conform raises Malformed.

    db = read_database(folder)
    for context in db.contexts.values(): context.parent, context.kind, context.name, ...
    db.profiles[1].values[context.id][db.metric("work", "execution")]"""
import os
import struct

LEXICAL, CALL, INLINED_CALL = range(3)
FUNCTION, LOOP, LINE, INSTRUCTION = range(4)
SCOPE_TYPES = ("custom", "point", "execution", "transitive")
COMBINATIONS = ("sum", "min", "max")


class Malformed(Exception):
    pass


def check(condition, *what):
    if not condition:
        raise Malformed(" ".join(map(str, what)))


class Section:
    """A region of a file. Everything that is read through it must lie in it."""

    def __init__(self, data, name, offset, size):
        self.data, self.name, self.begin, self.end = data, name, offset, offset + size
        check(offset % 8 == 0 or name == "Strings", name, "section is not aligned")
        check(self.end <= len(data), name, "section reaches beyond the file")

    def inside(self, offset, size, what):
        check(self.begin <= offset and offset + size <= self.end, what, "at", offset,
              "is not in section", self.name)

    def unpack(self, layout, offset, what, alignment=8):
        """`layout` has explicit padding; padding bytes must be zero."""
        size = struct.calcsize("<" + layout)
        check(offset % alignment == 0, what, "at", offset, "is not aligned")
        self.inside(offset, size, what)
        values = struct.unpack_from("<" + layout, self.data, offset)
        packed = struct.pack("<" + layout, *values)
        check(packed == self.data[offset:offset + size], what, "has nonzero padding")
        return values

    def string(self, offset, what):
        self.inside(offset, 1, what)
        end = self.data.find(b"\0", offset, self.end)
        check(end >= 0, what, "has no terminator within section", self.name)
        return self.data[offset:end].decode("utf-8")


class Item:
    def __init__(self, **fields):
        self.__dict__.update(fields)

    def __repr__(self):
        return f"Item({self.__dict__})"


def open_file(path, form, footer, section_names):
    with open(path, "rb") as file:
        data = file.read()
    check(data[:10] == b"HPCTOOLKIT", path, "has the wrong magic")
    check(data[10:14] == form, path, "has the wrong format")
    check(data[14] == 4, path, "has major version", data[14])
    check(data[-8:] == footer, path, "has the wrong footer")
    sections, header_end = {}, 16 + 16 * len(section_names)
    for i, name in enumerate(section_names):
        size, offset = struct.unpack_from("<QQ", data, 16 + 16 * i)
        sections[name] = Section(data, name, offset, size)
        check(offset >= header_end, name, "section overlaps the header")
    spans = sorted((s.begin, s.end) for s in sections.values())
    for (_, end), (begin, _) in zip(spans, spans[1:]):
        check(end <= begin, "sections of", path, "overlap")
    check(spans[-1][1] <= len(data) - 8, "a section of", path, "overlaps the footer")
    return data, sections


class Context:
    def __init__(self, number, parent, flags=0, relation=None, lexical_type=None, propagation=0):
        self.id, self.parent, self.flags = number, parent, flags
        self.relation, self.lexical_type, self.propagation = relation, lexical_type, propagation
        self.function = self.file = self.line = self.module = self.offset = None
        self.entry = self.name = None
        self.children = []
        if parent:
            parent.children.append(self)

    @property
    def kind(self):
        if self.entry is not None:
            return "entry"
        if self.lexical_type == FUNCTION:
            return "inlined" if self.relation == INLINED_CALL else "call"
        return ("loop", "line", "instruction")[self.lexical_type - 1]

    def label(self):
        """A tuple that identifies the context among its siblings."""
        if self.entry is not None:
            return ("entry", self.name)
        if self.lexical_type == FUNCTION:
            return (self.kind, self.function.name if self.function else None)
        if self.file is not None:
            return (self.kind, self.file.path, self.line)
        return (self.kind, self.module.path, self.offset)

    def above(self):
        """Contexts from the entry down to here."""
        found, context = [], self
        while context.id != 0:
            found.append(context)
            context = context.parent
        return found[::-1]

    def path(self):
        return tuple(context.label() for context in self.above())


class Meta:
    def __init__(self, path):
        names = ("General", "IdNames", "Metrics", "Context", "Strings", "Modules", "Files",
                 "Functions")
        self.data, self.sections = open_file(path, b"meta", b"_meta.db", names)
        self.read_general()
        self.read_metrics()
        self.modules = self.table("Modules", 16, self.read_module)
        self.files = self.table("Files", 16, self.read_file)
        self.functions = self.table("Functions", 40, self.read_function)
        self.read_contexts()

    def read_general(self):
        section = self.sections["General"]
        title, description = section.unpack("QQ", section.begin, "General header")
        self.title = section.string(title, "title")
        self.description = section.string(description, "description")
        section = self.sections["IdNames"]
        names, count = section.unpack("QB7x", section.begin, "IdNames header")
        self.kinds = [section.string(section.unpack("Q", names + 8 * i, "kind")[0], "kind name")
                      for i in range(count)]

    def read_metrics(self):
        section = self.sections["Metrics"]
        (metrics, n_metrics, sz_metric, sz_instance, sz_summary, scopes, n_scopes,
         sz_scope) = section.unpack("QIBBBxQHB5x", section.begin, "Metrics header")
        check((sz_metric, sz_instance, sz_summary, sz_scope) == (32, 16, 24, 16), "metric sizes")
        self.scopes = {}
        for i in range(n_scopes):
            at = scopes + 16 * i
            name, kind, bit = section.unpack("QBB6x", at, "scope")
            check(kind < len(SCOPE_TYPES), "unknown type of scope", kind)
            check(bit < 16, "propagation index")
            self.scopes[at] = Item(name=section.string(name, "scope name"),
                                   type=SCOPE_TYPES[kind], bit=bit)
        self.metrics, self.prop_ids, self.stat_ids = [], {}, {}
        for i in range(n_metrics):
            name, instances, summaries, n_instances, n_summaries = section.unpack(
                "QQQHH4x", metrics + 32 * i, "metric")
            metric = Item(name=section.string(name, "metric name"), scopes={}, summaries={})
            for k in range(n_instances):
                scope, number = section.unpack("QH6x", instances + 16 * k, "scope instance")
                check(scope in self.scopes, "scope instance points to no scope")
                check(number not in self.prop_ids, "propMetricId", number, "repeats")
                self.prop_ids[number] = metric, self.scopes[scope]
                metric.scopes[self.scopes[scope].name] = number
            for k in range(n_summaries):
                scope, formula, combine, number = section.unpack("QQBxH4x", summaries + 24 * k,
                                                                 "summary statistic")
                check(scope in self.scopes, "summary points to no scope")
                check(combine < len(COMBINATIONS), "unknown combination", combine)
                check(number not in self.stat_ids, "statMetricId", number, "repeats")
                self.stat_ids[number] = metric, self.scopes[scope]
                metric.summaries[self.scopes[scope].name, COMBINATIONS[combine],
                                 section.string(formula, "formula")] = number
            self.metrics.append(metric)

    def table(self, name, size, read):
        section = self.sections[name]
        items, count, stride = section.unpack("QIH2x", section.begin, name + " header")
        check(stride == size, name, "have size", stride)
        section.inside(items, count * size, name)
        return {items + size * i: read(section, items + size * i) for i in range(count)}

    def common_string(self, offset, what):
        return self.sections["Strings"].string(offset, what)

    def read_module(self, section, at):
        flags, path = section.unpack("I4xQ", at, "module")
        check(flags == 0, "reserved flags of a module")
        return Item(path=self.common_string(path, "module path"))

    def read_file(self, section, at):
        flags, path = section.unpack("I4xQ", at, "file")
        check(flags < 2, "reserved flags of a file")
        return Item(path=self.common_string(path, "file path"), copied=bool(flags & 1))

    def read_function(self, section, at):
        name, module, offset, file, line, flags = section.unpack("QQQQII", at, "function")
        check(name or module or file, "a function is nothing")
        check(not module or module in self.modules, "function points to no module")
        check(not file or file in self.files, "function points to no file")
        check(flags == 0, "reserved flags of a function")
        return Item(name=self.common_string(name, "function name") if name else None,
                    module=self.modules[module] if module else None,
                    offset=offset, file=self.files[file] if file else None, line=line)

    def read_contexts(self):
        section = self.sections["Context"]
        entries, count, stride = section.unpack("QHB5x", section.begin, "Context header")
        check(stride == 32 or count == 0, "entries have size", stride)
        self.root = Context(0, None)
        self.contexts = {0: self.root}
        spans, open_blocks = [], []
        for i in range(count):
            size, children, number, kind, name = section.unpack("QQIH2xQ", entries + 32 * i,
                                                                "entry")
            check(kind < 3, "unknown entry point", kind)
            entry = self.add_context(Context(number, self.root))
            entry.entry, entry.name = kind, self.common_string(name, "entry name")
            open_blocks.append((entry, children, size))
        if count:
            section.inside(entries, 32 * count, "entries")
            spans.append((entries, entries + 32 * count))
        while open_blocks:
            parent, at, size = open_blocks.pop()
            check((at == 0) == (size == 0), "children without size or size without children")
            if size:
                section.inside(at, size, "children")
                spans.append((at, at + size))
            end = at + size
            while at < end:
                at = self.read_context(section, at, end, parent, open_blocks)
        spans.sort()
        for (_, end), (begin, _) in zip(spans, spans[1:]):
            check(end <= begin, "blocks of children overlap")

    def add_context(self, context):
        check(context.id != 0, "a context has id 0")
        check(context.id not in self.contexts, "context id", context.id, "repeats")
        self.contexts[context.id] = context
        return context

    def read_context(self, section, at, end, parent, open_blocks):
        (size, children, number, flags, relation, lexical_type, words,
         propagation) = section.unpack("QQIBBBBH6x", at, "context")
        next_at = at + 32 + 8 * words
        check(next_at <= end, "a context reaches beyond its block")
        check(flags < 8 and relation < 3 and lexical_type < 4, "enumerations of a context")
        context = self.add_context(
            Context(number, parent, flags, relation, lexical_type, propagation))
        flex = Flex(self.data, at + 32, words)
        if flags & 1:
            context.function = self.pointed(self.functions, flex.take(8), "function")
        if flags & 2:
            context.file = self.pointed(self.files, flex.take(8), "file")
            context.line = flex.take(4)
        if flags & 4:
            context.module = self.pointed(self.modules, flex.take(8), "module")
            context.offset = flex.take(8)
        flex.finish()
        check(lexical_type not in (LINE,) or flags & 2, "a line without location")
        check(lexical_type != INSTRUCTION or flags & 4, "an instruction without point")
        open_blocks.append((context, children, size))
        return next_at

    @staticmethod
    def pointed(table, offset, what):
        check(offset in table, "a context points to no", what)
        return table[offset]


class Flex:
    """The flexible part of a context: each field goes to the first free place of its size."""

    def __init__(self, data, at, words):
        self.data, self.at, self.words, self.used = data, at, words, bytearray(8 * words)  # 1: a byte of a field

    def take(self, size):
        offset = 0
        while any(self.used[offset:offset + size]):
            offset += size
        check(offset + size <= 8 * self.words, "flex words are too few")
        self.used[offset:offset + size] = bytes([1]) * size
        return int.from_bytes(self.data[self.at + offset:self.at + offset + size], "little")

    def finish(self):
        check(not self.words or any(self.used[-8:]), "flex words are too many")
        padding = [byte for byte, is_used in zip(self.data[self.at:self.at + len(self.used)], self.used) if not is_used]
        check(not any(padding), "flex padding is not zero")


def read_block(data, spans, what, n_values, p_values, n_indices, p_indices, value_layout,
               index_layout):
    """A sparse value block: {index: {key: value}}, both sorted, values not zero."""
    value_size, index_size = struct.calcsize(value_layout), struct.calcsize(index_layout)
    check(p_values % (value_size % 8) == 0 or value_size % 8 == 0, what, "values unaligned")
    check(p_values % 2 == 0 and p_indices % 2 == 0, what, "is not aligned")
    values_end, indices_end = p_values + n_values * value_size, p_indices + n_indices * index_size
    check(values_end <= p_indices <= values_end + 7, what, "more than padding before the indices")
    check(indices_end <= len(data) - 8, what, "reaches beyond the file")
    if n_values:
        spans.append((p_values, indices_end))
    check(not any(data[values_end:p_indices]), what, "padding is not zero")
    values = list(struct.iter_unpack(value_layout, data[p_values:values_end]))
    indices = list(struct.iter_unpack(index_layout, data[p_indices:indices_end]))
    check(bool(values) == bool(indices), what, "values without indices")
    check(not indices or indices[0][1] == 0, what, "does not start at 0")
    result, before = {}, -1
    for i, (key, start) in enumerate(indices):
        end = indices[i + 1][1] if i + 1 < len(indices) else n_values
        check(key > before, what, "indices are not sorted")
        check(start < end <= n_values, what, "index", key, "is empty")
        part = values[start:end]
        row = result[key] = dict(part)
        keys = list(row)
        check(len(keys) == len(part) and keys == sorted(keys), what, "values are not sorted")
        check(not [value for value in row.values() if value == 0 or value != value], what, "has a zero")
        before = key
    return result


def check_spans(path, spans, sections):
    """Equal blocks may be one block; otherwise nothing overlaps."""
    spans = sorted(set(spans) | {(s.begin, s.end) for s in sections.values()})
    for (_, end), (begin, _) in zip(spans, spans[1:]):
        check(end <= begin, "regions of", path, "overlap")


def read_profiles(path, meta):
    data, sections = open_file(path, b"prof", b"_prof.db", ("ProfileInfos", "IdTuples"))
    section, tuples = sections["ProfileInfos"], sections["IdTuples"]
    infos, count, stride = section.unpack("QIB3x", section.begin, "ProfileInfos header")
    check(stride == 48, "profiles have size", stride)
    profiles, spans = [], []
    for i in range(count):
        (n_values, p_values, n_contexts, p_contexts, p_tuple,
         flags) = section.unpack("QQI4xQQI4x", infos + 48 * i, "profile")
        check(flags == (1 if i == 0 else 0), "only profile 0 is a summary")
        check((p_tuple == 0) == (i == 0), "only profile 0 has no tuple")
        check(p_values % 2 == 0 and p_contexts % 4 == 0, "profile", i, "is not aligned")
        values = read_block(data, spans, f"profile {i}", n_values, p_values, n_contexts, p_contexts,
                            "<Hd", "<IQ")
        ids = meta.stat_ids if i == 0 else meta.prop_ids
        for context, row in values.items():
            check(context in meta.contexts, "profile", i, "has values of no context", context)
            check(all(metric in ids for metric in row), "profile", i, "has values of no metric")
        profiles.append(Item(values=values, ids=read_tuple(tuples, p_tuple, meta)))
    check_spans(path, spans, sections)
    return profiles


def read_tuple(section, at, meta):
    if at == 0:
        return []
    count, = section.unpack("H6x", at, "identifier tuple")
    ids = []
    for i in range(count):
        kind, flags, logical, physical = section.unpack("BxHIQ", at + 8 + 16 * i, "identifier")
        check(kind < len(meta.kinds), "unknown kind of identifier", kind)
        check(flags < 2, "reserved flags of an identifier")
        check(flags == 1 or logical == physical, "a logical identifier's physical id")
        ids.append(Item(kind=meta.kinds[kind], logical=logical, physical=physical,
                        is_physical=flags == 1))
    return ids


def read_contexts(path, meta, profiles):
    data, sections = open_file(path, b"ctxt", b"__ctx.db", ("CtxInfos",))
    section = sections["CtxInfos"]
    infos, count, stride = section.unpack("QIB3x", section.begin, "CtxInfos header")
    check(stride == 32, "contexts have size", stride)
    check(count == max(meta.contexts) + 1, "cct.db has", count, "contexts")
    values, spans = {}, []
    for i in range(count):
        n_values, p_values, n_metrics, p_metrics = section.unpack("QQH6xQ", infos + 32 * i,
                                                                  "context info")
        check(p_values % 4 == 0 and p_metrics % 2 == 0, "context", i, "is not aligned")
        values[i] = read_block(data, spans, f"context {i}", n_values, p_values, n_metrics,
                               p_metrics, "<Id", "<HQ")
        for metric, row in values[i].items():
            check(metric in meta.prop_ids, "context", i, "has values of no metric")
            check(all(0 < profile < len(profiles) for profile in row), "values of no profile")
    check_spans(path, spans, sections)
    return values


class Database:
    def __init__(self, folder, for_viewer):
        self.meta = Meta(os.path.join(folder, "meta.db"))
        self.title, self.description = self.meta.title, self.meta.description
        self.metrics, self.contexts = self.meta.metrics, self.meta.contexts
        self.files = list(self.meta.files.values())
        self.functions = list(self.meta.functions.values())
        self.modules = list(self.meta.modules.values())
        self.profiles = read_profiles(os.path.join(folder, "profile.db"), self.meta)
        if not for_viewer:
            self.by_context = read_contexts(os.path.join(folder, "cct.db"), self.meta, self.profiles)
            self.check_transposition()

    def metric(self, name, scope):
        """The id of a metric in a propagation scope, the same for threads and the summary."""
        for metric in self.metrics:
            if metric.name == name:
                number = metric.scopes[scope]
                check(metric.summaries[scope, "sum", "$$"] == number, "ids differ")
                return number
        raise KeyError(name)

    def check_transposition(self):
        """profile.db and cct.db have the same values."""
        seen = 0
        for i, profile in enumerate(self.profiles[1:], 1):
            for context, row in profile.values.items():
                for metric, value in row.items():
                    check(self.by_context[context].get(metric, {}).get(i) == value,
                          "profile.db and cct.db differ at context", context)
                    seen += 1
        check(seen == sum(len(row) for c in self.by_context.values() for row in c.values()),
              "cct.db has values that profile.db lacks")


def read_database(folder, for_viewer=False):
    """With `for_viewer` without cct.db, which the viewer does not read."""
    return Database(folder, for_viewer)
