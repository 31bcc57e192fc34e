"""What a comparison of two databases must show, from the rules in viewer-tui/compare/match.h: two trees
of rows as view_oracle makes them, merged by brute force. And pairs of databases of a program that
was edited between its runs."""
import os
import random

import v4_writer
from viewer import UNIT

CODE = ("procedure", "inlined")


def base(path):
    return os.path.basename(path or "")


class NoSources:
    """Nothing is known of the lines of either side."""

    @staticmethod
    def edited(side, path, line):
        return None


class Sources:
    """Texts of both sides, by path; no line is twice in one of them, but names of files are once."""

    def __init__(self, left, right):
        self.texts = [{base(path): lines for path, lines in side.items()} for side in (left, right)]
        self.numbers = [{name: {line: n for n, line in enumerate(lines, 1)}
                         for name, lines in side.items()} for side in self.texts]

    def edited(self, side, path, line):
        """(whether only this side has it, where it is on the right); None unknown."""
        own, other = self.texts[side].get(base(path)), self.numbers[1 - side].get(base(path))
        if not own or not other or not 0 < line <= len(own):
            return None
        is_changed = own[line - 1] not in other
        if side == 1:
            return is_changed, line
        before = line
        while before and own[before - 1] not in other:
            before -= 1
        return is_changed, (other[own[before - 1]] if before else 0) + line - before


class Key:
    """What a row is recognized by; `above` are the rows around it, innermost first."""

    def __init__(self, row, above, shows_callers, sources, side):
        self.row, self.kind = row, row["kind"]
        site = row.get("call_site") or {}
        if not site.get("line"):
            site = {}
        self.file, self.call_file = row["file"] or "", site.get("file") or ""
        self.module = (row["module"] or "") if self.kind in CODE + ("module",) else ""
        is_told = self.kind not in CODE + ("root",) and (self.file or self.module)
        self.name = "" if is_told else row["name"]
        self.edit = "unknown"
        self.line = self.line_of(row, site, [row] if shows_callers else above)
        line_file = (site or row).get("file")
        edited = sources.edited(side, line_file, (site or row).get("line") or 0)
        if edited:
            self.edit, self.line = "changed" if edited[0] else "kept", edited[1]

    def line_of(self, row, site, around):
        line = site.get("line") or row["line"] or 0
        if not line or (self.kind in CODE and not site):
            return line
        file = site.get("file") if site else row["file"]
        procedure = next((r for r in around if r["kind"] in CODE), None)
        is_its_line = procedure is not None and procedure["file"] == file
        return line - (procedure["line"] or 0) if is_its_line else line

    @property
    def kind_by_name(self):
        return "procedure" if self.kind in CODE else self.kind

    def identity(self, strictness):
        if strictness == "name":
            is_program = self.kind == "module" and ".so" not in base(self.module)
            return (self.kind_by_name, self.name, "" if is_program else base(self.module)
                    if self.kind == "module" else "",
                    "" if self.kind in CODE else base(self.file))
        part = base if strictness == "file name" else str
        return (self.kind, self.name, part(self.file), part(self.module), base(self.call_file))

    def order(self):
        kinds = ("root", "module", "file", "procedure", "inlined", "loop", "statement")
        return (self.line, self.edit, kinds.index(self.kind), self.file, self.module,
                self.call_file)


def matches(left, right):
    """Pairs of keys, each in one: ([(a, b)], what is left of each side)."""
    pairs = []
    for strictness, same_line in (("path", True), ("file name", True), ("file name", False),
                                  ("name", True), ("name", False)):
        for identity in {k.identity(strictness) for k in left}:
            a = sorted((k for k in left if k.identity(strictness) == identity), key=Key.order)
            b = sorted((k for k in right if k.identity(strictness) == identity), key=Key.order)
            is_container = a[0].kind in ("module", "file")
            if is_container and strictness != "path" and (len(a) > 1 or len(b) > 1):
                continue
            if a[0].kind == "statement" and (strictness == "name" or not same_line):
                continue
            for key in a:
                allowed = [k for k in b if (k.line, k.edit) == (key.line, key.edit)] if same_line \
                    else [k for k in b if "kept" not in (k.edit, key.edit)]
                if not allowed:
                    continue
                like = min(allowed, key=lambda k: (abs(k.line - key.line), k.line))
                b.remove(like)
                left.remove(key)
                right.remove(like)
                pairs.append((key, like))
    return pairs


def metrics_of(left, right, names):
    def part(row, metric, which):
        return row["metrics"][metric][which] if row else 0

    merged = {}
    for metric in (left or right)["metrics"]:
        both = {which: [part(row, metric, which) for row in (left, right)]
                for which in ("inclusive", "exclusive")}
        for side, name in enumerate(names):
            merged[f"{metric} [{name}]"] = {w: ab[side] for w, ab in both.items()}
        merged[f"{metric} difference"] = {w: b - a for w, (a, b) in both.items()}
        merged[f"{metric} ratio"] = {w: b / a if a else None for w, (a, b) in both.items()}
    return merged


def merged(left, right, names, shows_callers=False, sources=NoSources, above=((), ())):
    """The row for a row of each side; one of them may be None."""
    row = dict(right or left)
    row["in"] = [name for name, side in zip(names, (left, right)) if side]
    row["metrics"] = metrics_of(left, right, names)
    above = tuple((side, *rows) if side else () for side, rows in zip((left, right), above))
    keys = [[Key(child, rows, shows_callers, sources, number) for child in side["children"]]
            if side else [] for number, (side, rows) in enumerate(zip((left, right), above))]
    pairs = [(a.row, b.row) for a, b in matches(*keys)]
    pairs += [(key.row, None) for key in keys[0]] + [(None, key.row) for key in keys[1]]
    row["children"] = [merged(a, b, names, shows_callers, sources, above) for a, b in pairs]
    return row


class Program:
    """A program in two versions: `databases` are of runs of them. Lines of procedures move as
    wholes, some lines within them too, the second version is built elsewhere, some calls are inlined
    there, and either run does what the other does not. Siblings differ in what they are or in
    their lines, so that there is one way to match them."""

    FILES = ("main.c", "util.c", "lib/list.c")

    def __init__(self, seed, size=120, metrics=("work", "misses"), unit=UNIT, sources=False):
        self.rng, self.unit, self.has_sources = random.Random(seed), unit, sources
        self.is_moved = self.rng.random() < 0.5  # built elsewhere
        self.is_renamed = self.rng.random() < 0.5
        self.functions = [(f"f{i}", self.rng.randrange(len(self.FILES)), 100 * i + 10)
                          for i in range(6)]
        self.shifts = [self.rng.choice((0, 0, 3, 40)) for _ in self.functions]
        self.roots = [None, None]
        self.databases = [self.new_database(version, metrics) for version in (0, 1)]
        self.grow([db.entry().call(0) for db in self.databases], 0, size)

    def new_database(self, version, metrics):
        db = v4_writer.Database("program", metrics)
        root = "/new/build" if version and self.is_moved else "/old"
        name = "program-2" if version and self.is_renamed else "program"
        modules = [db.module(f"{root}/{name}"), db.module(f"{root}/lib/libhelp.so.1")]
        self.roots[version] = root
        files = [db.file(f"src{root}/{file}" if self.has_sources else f"{root}/{file}",
                         self.has_sources) for file in self.FILES]
        for i, (function, file, line) in enumerate(self.functions):
            db.function(function, modules[i % 2], 64 * i, files[file],
                        line + self.shifts[i] * version)
        db.function("without_source", modules[1], 999)
        return db

    def line(self, function, offset, version):
        """The file and line of an offset in a procedure; far ones were edited."""
        if function == len(self.functions):
            return 0, 1 + offset
        _, file, line = self.functions[function]
        edited = 2 if version and offset > 6 else 0
        return file, line + self.shifts[function] * version + offset + edited

    def text(self, file, version):
        """The lines of a source file; in each function one is changed, and two are added."""
        lines = [f"{file} nothing of {version}, {n}" for n in range(1, 720)]
        for function, (name, its_file, _) in enumerate(self.functions):
            if its_file != file:
                continue
            for offset in range(10):
                is_changed = version and offset == 3 + function % 3
                line = self.line(function, offset, version)[1]
                lines[line - 1] = f"{name} {'new ' if is_changed else ''}{offset}"
        return lines

    def sources(self):
        """Of both versions, by path."""
        return [{f"{root}/{name}": self.text(file, version) for file, name in
                 enumerate(self.FILES)} for version, root in enumerate(self.roots)]

    def grow(self, contexts, function, budget):
        """Contexts of either version (None: not there) get the same below them, more or less."""
        rng, used = self.rng, set()
        while budget > 0:
            part = rng.randint(1, 1 + budget // 2)
            budget -= part
            offset, callee = rng.randint(0, 9), rng.randint(0, len(self.functions))
            what = rng.choice(("call", "loop", "line", "inline"))
            signature = (what, offset, callee if what in ("call", "inline") else None)
            similar = (("call", "inline")[what == "call"], *signature[1:])
            if signature in used or similar in used:
                continue
            used.add(signature)
            there = rng.choice(5 * ((0, 1),) + ((0,), (1,)))
            made = [self.add(context, what, function, offset, callee, version)
                    if context is not None and version in there else None
                    for version, context in enumerate(contexts)]
            inner = callee if what in ("call", "inline") else function
            if what != "line" and any(made):
                self.grow(made, inner, part - 1)

    def add(self, context, what, function, offset, callee, version):
        line = self.line(function, offset, version)
        made = context.loop(*line) if what == "loop" else self.statement(context, *line)
        if what in ("inline", "call"):
            is_inlined = what == "inline" and not (version and callee % 2)
            made = made.inline(callee) if is_inlined else made.call(callee)
        for metric in range(len(self.databases[version].metrics)):
            made.charge(self.rng.randint(1, 5000) * self.unit, metric)
        return made

    @staticmethod
    def statement(context, file, line):
        """That of this line, which there is once."""
        for child in context.children:
            if child.lexical_type == v4_writer.LINE and (child.file, child.line) == (file, line):
                return child
        return context.statement(file, line)
