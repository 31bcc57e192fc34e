"""What hpcviewer's views must show, by brute force from the definitions.

A row of any view stands for a set of contexts; its inclusive cost is what all contexts in the union
of their regions were charged, each once, its exclusive cost likewise with other regions. Nothing
here is clever, and nothing is taken from hpcviewer: the regions are sets, and sets are added up.

Every row is a dict with the members of hpcviewer's JSON that identify it (name, kind, file, line,
module, call_site), "metrics" and "children"."""
import os

from v4_writer import (CALL, FUNCTION_SCOPE, INLINED, INSTRUCTION, LEX_AWARE, LEXICAL, LINE, LOOP,
                       Context, Database, contributors)


def is_inlined(context):
    return context.relation == INLINED


def is_procedure(context):
    """Called, or inlined: what has a name of its own."""
    return context.lexical_type is not None and context.relation in (CALL, INLINED)


def is_line(context):
    return context.relation == LEXICAL and context.lexical_type == LINE


def is_loop(context):
    return context.relation == LEXICAL and context.lexical_type == LOOP


def is_part(context):
    """A line or an instruction: what it calls belongs to the scope around it."""
    return context.relation == LEXICAL and context.lexical_type in (LINE, INSTRUCTION)


def shown_path(file):
    path = file.path
    if not file.copied:
        return path
    if path.startswith("../"):
        path = path[3:]
    return path[3:] if path.startswith("src/") else path


class Oracle:
    def __init__(self, db):
        self.db = db
        self.parent = {}
        for entry in db.entries:
            for context in entry.below():
                for child in context.children:
                    self.parent[child] = context

    # --- costs

    def cost(self, contexts):
        """What these contexts were charged in each metric, each context counted once."""
        costs = {name: 0 for name in self.db.metrics}
        for context in set(contexts):
            for (_, metric), value in context.charges.items():
                costs[self.db.metrics[metric]] += value
        return costs

    def metrics(self, inclusive, exclusive):
        inclusive, exclusive = self.cost(inclusive), self.cost(exclusive)
        return {name: {"inclusive": inclusive[name], "exclusive": exclusive[name]}
                for name in inclusive}

    @staticmethod
    def own(context):
        """The contexts that make up the exclusive costs of one."""
        return contributors(context, LEX_AWARE if is_loop(context) else FUNCTION_SCOPE)

    def has_own_cost(self, context):
        return any(self.cost(self.own(context)).values())

    # --- names and places

    def file(self, index):
        return None if index is None else shown_path(self.db.files[index])

    def base(self, index):
        return "<unknown file>" if index is None else os.path.basename(self.file(index))

    def file_line(self, index, line):
        return self.base(index) + (f":{line}" if line else "")

    def place_of(self, context):
        """Of a loop or line: file and line, or the point in its module."""
        if context.file is None and context.module is not None:
            return ("point", context.module, context.offset)
        return ("line", context.file, context.line)

    def place_name(self, place):
        kind, file_or_module, line_or_offset = place
        if kind == "line":
            return self.file_line(file_or_module, line_or_offset)
        return f"{os.path.basename(self.db.modules[file_or_module])}+0x{line_or_offset:x}"

    def procedure_of(self, context):
        """What tells procedures apart."""
        if context.function is None and context.module is not None:
            return ("point", context.module, context.offset)
        return ("function", context.function)

    def describe_procedure(self, context):
        return self.describe_procedure_key(self.procedure_of(context),
                                           "inlined" if is_inlined(context) else "procedure")

    def describe_procedure_key(self, key, kind):
        name, file, line, module, offset = None, None, 0, None, 0
        if key[0] == "point":
            _, module, offset = key
        elif key[1] is not None:
            f = self.db.functions[key[1]]
            name, file, line, module, offset = f.name, f.file, f.line, f.module, f.offset
        if name is None and module is None:
            name = "<unknown procedure>"
        elif name is None:
            name = f"<{os.path.basename(self.db.modules[module])}+0x{offset:x}>"
        return {"name": name, "kind": kind, "file": self.file(file), "line": line or None,
                "module": None if module is None else self.db.modules[module]}

    def describe(self, context):
        if is_procedure(context):
            row = self.describe_procedure(context)
        else:
            place = self.place_name(self.place_of(context))
            row = {"name": f"loop at {place}" if is_loop(context) else place,
                   "kind": "loop" if is_loop(context) else "statement",
                   "file": self.file(context.file), "line": context.line or None}
        if row["kind"] != "procedure" and row.get("module") is None:
            row["module"] = self.module_around(context)
        return row

    def module_around(self, context):
        """That of the nearest procedure above that has one; not beyond one that was called."""
        while context in self.parent:
            context = self.parent[context]
            if is_procedure(context):
                module = self.describe_procedure(context)["module"]
                if module is not None or not is_inlined(context):
                    return module
        return None

    def call_site(self, context):
        """The line around a context; instructions are looked through."""
        at = self.parent[context]
        while at.lexical_type == INSTRUCTION and at.relation == LEXICAL:
            at = self.parent[at]
        return at if at.lexical_type is not None and is_line(at) else None

    @staticmethod
    def place(line):
        """File and line of a line's context; None where neither is known."""
        if line is None or (line.file is None and not line.line):
            return None
        return (line.file, line.line)

    def with_call_site(self, row, line):
        place = self.place(line)
        if place:
            row["call_site"] = {"file": self.file(place[0]), "line": place[1] or None}
        return row

    # --- top-down

    def topdown(self):
        everything = list(self.db.contexts())
        return {"name": "<whole program>", "kind": "root", "file": None, "line": None,
                "module": None, "metrics": self.metrics(everything, []),
                "children": self.topdown_programs()}

    def topdown_programs(self):
        """A row for each program where there are several: "main thread of make" is one of make."""
        programs = {}
        for entry in self.db.entries:
            name, _, program = entry.name.partition(" of ")
            programs.setdefault(program or self.db.title, []).append((entry, name))
        if len(programs) < 2:
            return [self.topdown_entry(e, e.name) for e in self.db.entries]
        return [{"name": program, "kind": "program", "file": None, "line": None, "module": None,
                 "metrics": self.metrics([c for e, _ in entries for c in e.below()], []),
                 "children": [self.topdown_entry(*entry) for entry in entries]}
                for program, entries in programs.items()]

    def topdown_entry(self, entry, name):
        return {"name": name, "kind": "root", "file": None, "line": None, "module": None,
                "metrics": self.metrics(entry.below(), self.own(entry)),
                "children": self.topdown_children(entry)}

    def topdown_children(self, context):
        rows = []
        for child in context.children:
            if is_line(child) and self.has_own_cost(child):
                rows.append({**self.describe(child), "children": [],
                             "metrics": self.metrics(self.own(child), self.own(child))})
            if is_part(child):
                rows.extend(self.topdown_children(child))
            else:
                row = self.describe(child)
                if is_procedure(child):
                    self.with_call_site(row, self.call_site(child))
                row["metrics"] = self.metrics(child.below(), self.own(child))
                row["children"] = self.topdown_children(child)
                rows.append(row)
        return rows

    # --- bottom-up

    def bottomup(self, depth):
        everything = list(self.db.contexts())
        members = [(c, c, None) for c in everything if is_procedure(c)]
        return {"name": "<whole program>", "kind": "root", "file": None, "line": None,
                "module": None, "metrics": self.metrics(everything, everything),
                "children": self.bottomup_rows(members, depth)}

    def caller(self, frame):
        at = self.parent[frame]
        while at.lexical_type is not None and not is_procedure(at):
            at = self.parent[at]
        return at if at.lexical_type is not None else None

    def bottomup_rows(self, members, depth):
        """Rows for (instance, frame, line that calls in the frame), divided by frame and line."""
        groups = {}
        for member in members:
            _, frame, site = member
            key = (self.procedure_of(frame), self.place(site))
            groups.setdefault(key, []).append(member)
        rows = []
        for group in groups.values():
            inclusive, exclusive, callers = set(), set(), []
            for instance, frame, _ in group:
                inclusive.update(instance.below())
                exclusive.update(self.own(instance))
                if self.caller(frame) is not None:
                    callers.append((instance, self.caller(frame), self.call_site(frame)))
            # A procedure that is called somewhere is one, wherever else it is inlined.
            called = [frame for _, frame, _ in group if not is_inlined(frame)]
            row = self.describe_procedure((called or [group[0][1]])[0])
            self.with_call_site(row, group[0][2])
            row["metrics"] = self.metrics(inclusive, exclusive)
            row["children"] = self.bottomup_rows(callers, depth - 1) if depth > 1 else []
            rows.append(row)
        return rows

    # --- flat

    def flat(self):
        """Every scope is a path of keys, from its module inwards."""
        regions = {}

        def enter(path, inclusive, exclusive):
            for outer in range(1, len(path)):
                regions.setdefault(path[:outer], (set(), set()))
            scope = regions.setdefault(path, (set(), set()))
            scope[0].update(inclusive)
            scope[1].update(exclusive)

        for context in self.db.contexts():
            path = self.static_path(context)
            if path is None:
                continue
            if is_procedure(context):
                enter(path, context.below(), self.own(context))
                for outer in (path[:1], path[:2]):  # the module and the file
                    enter(outer, [] if is_inlined(context) else context.below(),
                          self.own(context))
                site = self.call_site(context)
                if site is not None and not is_inlined(context) and self.static_path(site):
                    enter(self.static_path(site), context.below(), [])
            elif is_loop(context):
                enter(path, context.below(), self.own(context))
            elif is_line(context) and self.has_own_cost(context):
                enter(path, self.own(context), self.own(context))
        everything = list(self.db.contexts())
        return {"name": "<whole program>", "kind": "root", "file": None, "line": None,
                "module": None, "metrics": self.metrics(everything, everything),
                "children": self.flat_rows(regions, (), None)}

    def static_path(self, context):
        """None for entry points and for code that is in no procedure."""
        if context.lexical_type is None:
            return None
        if is_procedure(context) and not is_inlined(context):
            module, file = context.module, None
            if context.function is not None:
                function = self.db.functions[context.function]
                module, file = function.module, function.file
            return (("module", module), ("file", file), ("procedure", self.procedure_of(context)))
        around = self.parent[context]
        while around.lexical_type is not None and is_part(around):
            around = self.parent[around]
        outer = self.static_path(around)
        if outer is None:
            return None
        if is_procedure(context):
            place = self.place(self.call_site(context))
            return outer + (("inlined", self.procedure_of(context), place),)
        kind = "loop" if is_loop(context) else "statement"
        return outer + ((kind, self.place_of(context)),)

    def flat_rows(self, regions, path, module):
        rows = []
        for inner, (inclusive, exclusive) in regions.items():
            if len(inner) != len(path) + 1 or inner[:-1] != path:
                continue
            row = self.describe_key(inner[-1], module)
            row["metrics"] = self.metrics(inclusive, exclusive)
            row["children"] = self.flat_rows(regions, inner, row["module"])
            rows.append(row)
        return rows

    def describe_key(self, key, module):
        """The row of a scope in a row of that module."""
        kind, what = key[0], key[1]
        if kind == "module":
            path = None if what is None else self.db.modules[what]
            return {"name": path or "<unknown module>", "kind": kind, "file": None, "line": None,
                    "module": path}
        if kind == "file":
            path = self.file(what)
            return {"name": path or "<unknown file>", "kind": kind, "file": path, "line": None,
                    "module": module}
        if kind in ("procedure", "inlined"):
            row = self.describe_procedure_key(what, kind)
            if kind == "inlined" and row["module"] is None:
                row["module"] = module
            if kind == "inlined" and key[2] is not None:
                file, line = key[2]
                row["call_site"] = {"file": self.file(file), "line": line or None}
            return row
        place, (is_known, file, line) = self.place_name(what), what
        if is_known != "line":
            file, line = None, 0
        return {"name": f"loop at {place}" if kind == "loop" else place, "kind": kind,
                "file": self.file(file), "line": line or None, "module": module}


# --- folding inlined code

def fold_inlined(db):
    """The same program had the code that is inlined stood in the lines at which it was: what was
    charged to it, and to the loops and lines in it, is charged to the line or scope around it, and
    what it calls is called from there. Calls, loops and lines that are then the same are one."""
    oracle, folded = Oracle(db), Database(db.title, db.metrics)
    for name in ("modules", "files", "functions", "id_names", "id_tuples"):
        setattr(folded, name, getattr(db, name))
    known = {}

    def charge(context, onto):
        for (profile, metric), value in context.charges.items():
            onto.charge(value, metric, profile)

    def same(parent, child, siblings):
        """The context for a child that is kept, below its new parent."""
        def key(context):
            if is_procedure(context):
                return (is_inlined(context), oracle.procedure_of(context))
            return (is_loop(context), oracle.place_of(context), context.line)
        twins = [c for c in siblings if not is_instruction(c) and is_procedure(c) ==
                 is_procedure(child) and key(c) == key(child)]
        whole = (parent, is_procedure(child), key(child), twins.index(child))
        if whole not in known:
            known[whole] = parent.add(Context(child.lexical_type, child.relation, child.function,
                                              child.file, child.line, child.module, child.offset))
        charge(child, known[whole])
        return known[whole]

    def is_instruction(context):
        return is_part(context) and not is_line(context)

    def put_below(parent, context, in_procedure, in_folded):
        for child in context.children:
            if is_inlined(child) and in_procedure:
                charge(child, parent)
                put_below(parent, child, True, True)
            elif is_procedure(child):
                put_below(same(parent, child, context.children), child, True, False)
            elif in_folded or is_instruction(child):
                charge(child, parent)
                put_below(parent, child, in_procedure, in_folded)
            else:
                put_below(same(parent, child, context.children), child, in_procedure, False)

    for entry in db.entries:
        new = folded.entry(entry.kind, entry.name)
        charge(entry, new)
        put_below(new, entry, False, False)
    return folded


# --- collapsing recursion

def is_one_procedure(oracle, context):
    """Whether two calls of it are calls of the same code: not for the placeholders of unknown code."""
    key = oracle.procedure_of(context)
    if key == ("function", None):
        return False
    if key[0] == "point":
        return True
    function = oracle.db.functions[key[1]]
    is_placeholder = function.name is not None and function.name.startswith("<")
    return not is_placeholder or function.file is not None or function.offset != 0


def collapsed_path(path):
    """[(key, procedure or None)]: a procedure that is on the path already cuts off what follows it."""
    short = []
    for key, procedure in path:
        on_path = [i for i, (_, other) in enumerate(short) if other is not None and
                   other == procedure]
        if on_path:
            del short[on_path[0] + 1:]
        else:
            short.append((key, procedure))
    return short


def collapse_recursion(db):
    """The same program, with every charge moved to the collapsed path of its context. What is left without charges is
    left out, but for entry points."""
    oracle, collapsed = Oracle(db), Database(db.title, db.metrics)
    for name in ("modules", "files", "functions", "id_names", "id_tuples"):
        setattr(collapsed, name, getattr(db, name))

    def key_of(context):
        if is_procedure(context):
            return (is_inlined(context), oracle.procedure_of(context))
        return (is_loop(context), oracle.place_of(context), context.line)

    def place(context, entry):
        """The collapsed path of a context: of its keys, each with its number among equal siblings."""
        path = []
        while context is not entry:
            parent = oracle.parent[context]
            if is_procedure(context) or not is_part(context) or is_line(context):
                twins = [c for c in parent.children if key_of(c) == key_of(context) and
                         is_procedure(c) == is_procedure(context) and
                         (is_procedure(c) or not is_part(c) or is_line(c))]
                procedure = (oracle.procedure_of(context) if is_procedure(context) and
                             is_one_procedure(oracle, context) else None)
                path.append(((is_procedure(context), key_of(context), twins.index(context), context),
                             procedure))
            context = parent
        return collapsed_path(reversed(path))

    for entry in db.entries:
        known = {(): collapsed.entry(entry.kind, entry.name)}
        for context in entry.below():
            if not context.charges:
                continue
            at = ()
            for (*key, original), _ in place(context, entry):
                if at + (tuple(key),) not in known:
                    known[at + (tuple(key),)] = known[at].add(Context(
                        original.lexical_type, original.relation, original.function, original.file,
                        original.line, original.module, original.offset))
                at += (tuple(key),)
            for (profile, metric), value in context.charges.items():
                known[at].charge(value, metric, profile)
    return collapsed


class ByThread(Oracle):
    """Costs by metric and profile in place of costs by metric."""

    def cost(self, contexts):
        costs = {(name, profile): 0 for name in self.db.metrics
                 for profile in range(1, len(self.db.id_tuples) + 1)}
        for context in set(contexts):
            for (profile, metric), value in context.charges.items():
                costs[self.db.metrics[metric], profile] += value
        return costs
