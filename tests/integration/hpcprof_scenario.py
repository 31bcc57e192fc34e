"""A made-up run: its measurements, its structure, and the database that hpcprof must write, computed
here from the description by brute force."""
import os
import shutil
import subprocess

import measurement_writer as mw
from structure_model import FakeHpcstruct, elf_file, function_label
from v4_reader import LEXICAL, read_database

SCOPES = ("point", "function", "lex_aware", "execution")


def named(name):
    """The contexts of code that only has a name in angle brackets."""
    return [("call", name, None, 0)]


UNKNOWN_CODE = named("<unknown code>")

# Follows a procedure in a path if its call of the next one is at an unknown site.
NO_SITE = ("no site",)


def hpcprof_path():
    return os.path.join(os.environ["BUILD"], "bin", "hpcprof")


def is_lexical(label):
    return label[0] in ("loop", "loop at", "line")


def is_loop(label):
    return label[0] in ("loop", "loop at")


def scopes_of_prefix(path, length):
    """The scopes in which an amount at the end of `path` counts for its first `length` labels."""
    scopes = {"execution"}
    below = path[length:]
    if length and all(map(is_lexical, below)):
        scopes.add("function")
        if not below:
            scopes.add("point")
        if not is_loop(path[length - 1]) or not any(map(is_loop, below)):
            scopes.add("lex_aware")
    return scopes


def frames_of(path):
    """The calls of a path, each with the labels of its code. The first element has the labels before the first call."""
    frames = [[]]
    for label in path:
        if label[0] == "call":
            frames.append([])
        frames[-1].append(label)
    return [tuple(frame) for frame in frames]


def without_loops(site):
    return tuple(label for label in site if not is_loop(label))


class CallSites:
    """The known sites of calls, from all paths of a run, and the rule of hpcprof/tree/unknown-call-sites.h."""

    def __init__(self, paths):
        self.known = {}  # (caller, callee): labels of the site without the caller
        for path in paths:
            frames = frames_of(path)[1:]
            for caller, callee in zip(frames, frames[1:]):
                if NO_SITE not in caller:
                    self.known.setdefault((caller[0], callee[0]), set()).add(caller[1:])

    def site(self, caller, callee):
        """The labels of the site; None if there is no single one."""
        known = self.known.get((caller, callee), set())
        lines = {without_loops(site) for site in known}
        is_line = all(site and site[-1][0] == "line" for site in known)
        if len(known) == 1 or (len(lines) == 1 and is_line):
            return max(known, key=len)
        return None

    def path(self, path):
        """A path as it is shown, and the lengths of its prefixes that end with a call from an unknown site."""
        frames, shown, unknown = frames_of(path), [], []
        for frame, callee in zip(frames, frames[1:] + [None]):
            if NO_SITE not in frame:
                shown += frame
                continue
            site = self.site(frame[0], callee[0]) if callee else ()
            shown += [frame[0], *(site or ())]
            if callee and site is None:
                unknown.append(len(shown) + 1)
        return tuple(shown), unknown


def collapsed(path):
    """A path whose recursion is collapsed: a function that is on it already cuts off what follows it."""
    short = []
    for label in path:
        kind, what = label[0], label[1:]
        is_function = kind in ("call", "inlined")
        is_placeholder = is_function and what[0].startswith("<") and not what[1] and not what[2]
        outer = [i for i, other in enumerate(short) if is_function and not is_placeholder and
                 other[0] in ("call", "inlined") and other[1:] == what]
        if outer:
            del short[outer[0] + 1:]
        else:
            short.append(label)
    return tuple(short)


class Module:
    def __init__(self, path, build_id, structure):
        self.path, self.build_id, self.structure = path, build_id, structure

    @property
    def unknown(self):
        return named(f"<unknown procedure in {os.path.basename(self.path)}>")

    def labels(self, address):
        found = self.structure.labels(address) if self.structure else None
        return self.unknown if found is None else self.name_loops(found)

    def procedure(self, address):
        found = self.structure.procedure(address) if self.structure else None
        return self.unknown if found is None else found

    def name_loops(self, labels):
        """Identifies a loop of unknown line by its module and address."""
        return [("loop at", self.path, label[1]) if label[0] == "loop at" else label
                for label in labels]


class Scenario:
    def __init__(self, folder):
        self.folder = str(folder)
        self.measurements = self.at("hpctoolkit-program-measurements")
        self.hpcstruct = FakeHpcstruct(self.at("bin"))
        self.hpcprof = self.at("bin/hpcprof")
        shutil.copy(hpcprof_path(), self.hpcprof)
        self.collapses = False  # the database is made with --collapse-recursion
        self.processes = []
        self.samples = []  # (process, thread index, {projection: path}, metric, amount)

    def at(self, name):
        return os.path.join(self.folder, name)

    def binary(self, name, build_id, structure=None, content=None):
        """Writes a binary and the structure that hpcstruct will print for it."""
        path = self.at(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(elf_file(build_id) if content is None else content)
        if structure:
            self.hpcstruct.set_structure(path, structure)
        return Module(path, build_id, structure)

    def process(self, **fields):
        process = mw.Measurement(**fields)
        process.instances = {}
        self.processes.append(process)
        return process

    def load(self, process, module, **fields):
        """The id of a new instance of a module."""
        number = process.module(module.path, module.build_id, **fields)
        process.instances[number] = module
        return number

    # Samples.

    def labels(self, process, note):
        """The contexts that an (instance, offset) note stands for."""
        instance, offset = note
        if instance in process.instances:
            return process.instances[instance].labels(offset)
        if instance == mw.PLACEHOLDER:
            return named("<partial call path>" if offset == mw.PARTIAL
                         else "<kernel, unattributed>")
        return UNKNOWN_CODE

    def sample(self, process, thread, notes, metric, amount):
        """A native call path: both projections are the same."""
        node = thread.path(notes)
        thread.add(node, metric, amount)
        path = [self.entry(thread, notes[0] if notes else None)]
        for note in notes:
            path += self.labels(process, note)
        self.record(process, thread, path, path, metric, amount)

    def record(self, process, thread, logical, physical, metric, amount):
        self.samples.append((process, thread.index,
                             {"logical": tuple(logical), "physical": tuple(physical)}, metric,
                             amount))

    @staticmethod
    def entry(thread, first_note=None):
        if first_note == (mw.PLACEHOLDER, mw.PARTIAL):
            return ("entry", "unknown entry")
        return ("entry", "<thread root>" if thread.kind else "main thread")

    # Running.

    def write(self):
        for process in self.processes:
            process.write(self.measurements)

    def run(self, *arguments, directories=None, status=0, **options):
        """Runs hpcprof, checks the exit status and returns the result."""
        done = subprocess.run(
            [self.hpcprof, *arguments, *([self.measurements] if directories is None
                                         else directories)],
            cwd=self.folder, capture_output=True, text=True, errors="replace", timeout=600,
            env={**os.environ, "XDG_CACHE_HOME": self.at("cache")}, **options)
        if done.returncode != status:
            raise AssertionError(f"status {done.returncode}, not {status}:\n{done.stderr}")
        return done

    def database(self, *arguments, status=0):
        """Writes the measurements, runs hpcprof, and reads the database."""
        self.write()
        done = self.run("-o", self.at("db"), *arguments, status=status)
        self.stderr = done.stderr
        return read_database(self.at("db"))

    # Expected output.

    def ordered_threads(self):
        """(process, thread index) in the order of profiles."""
        def key(process):
            return (process.host_id, process.host, process.rank, process.start_time,
                    process.pid, process.exec_sequence, process.clock[0])
        return [(process, thread.index) for process in sorted(self.processes, key=key)
                for thread in process.threads]

    def expected(self, projection):
        """{(profile, path, metric, scope): amount}, and the set of paths. The path () is context 0."""
        profiles = {thread: i + 1 for i, thread in enumerate(self.ordered_threads())}
        values, paths = {}, {()}
        sites = CallSites(projections[projection] for _, _, projections, _, _ in self.samples)
        for process, thread, projections, metric, amount in self.samples:
            path, _ = sites.path(projections[projection])
            if self.collapses:
                path = collapsed(path)
            for length in range(len(path) + 1):
                paths.add(path[:length])
                for scope in scopes_of_prefix(path, length):
                    for profile in (0, profiles[process, thread]):
                        key = profile, path[:length], metric, scope
                        values[key] = values.get(key, 0) + amount
        return {key: amount for key, amount in values.items() if amount}, paths

    def unknown_call_sites(self):
        """The paths of calls from sites that stay unknown."""
        found = [projections["logical"] for _, _, projections, _, _ in self.samples]
        sites = CallSites(found)
        calls = {path[:length] for path, lengths in map(sites.path, found) for length in lengths}
        if not self.collapses:
            return calls
        return {collapsed(call) for call in calls
                if collapsed(call) == collapsed(call[:-1]) + call[-1:]}


def source_path(file):
    """The original path of a source file, also of a copy."""
    return file.path[file.path.index("src/") + 3:] if file.copied else file.path


def database_paths(contexts):
    """{id: path} of contexts in the terms of a scenario."""
    def plain(context):
        if context.kind in ("call", "inlined"):
            function = context.function
            path = source_path(function.file) if function.file else None
            return function_label(context.kind, function.name, path, function.line,
                                  function.offset)
        if context.kind == "loop" and context.file is None:
            return ("loop at", context.module.path, context.offset)
        if context.file is not None:
            return (context.kind, source_path(context.file), context.line)
        return context.label()
    paths = {0: ()}
    for context in contexts:
        unknown = []
        while context.id not in paths:
            unknown.append(context)
            context = context.parent
        for context in reversed(unknown):
            paths[context.id] = paths[context.parent.id] + (plain(context),)
    return paths


def check_equal(test, found, expected, what):
    """assertEqual for large sets, with a readable message."""
    if found != expected:
        more, less = found - expected, expected - found
        few = [f"\n  {sign} {item}" for sign, items in (("+", more), ("-", less))
               for item in sorted(items, key=repr)[:3]]
        test.fail(f"{what}: {len(more)} too many, {len(less)} missing{''.join(few)}")


def check_database(test, scenario, db, metrics, projection="logical"):
    """Contexts, and values of all profiles, to the last bit. `metrics`: {number in the measurement:
    (name in the database, amounts per unit)}."""
    expected, paths = scenario.expected(projection)
    path_of = database_paths(db.contexts.values())
    test.assertEqual(len(set(path_of.values())), len(path_of), "two contexts are the same")
    check_equal(test, set(path_of.values()), paths, "contexts")
    for context in db.contexts.values():  # bit 0 belongs to the scope "function"
        if context.relation is not None:
            test.assertEqual(context.propagation, 1 if context.relation == LEXICAL else 0)
    test.assertEqual(len(db.profiles), len(scenario.ordered_threads()) + 1)
    found = {}
    names = {db.metric(name, scope): (number, scope) for number, (name, _) in metrics.items()
             for scope in SCOPES}
    for profile, item in enumerate(db.profiles):
        for context, row in item.values.items():
            for metric_id, value in row.items():
                number, scope = names[metric_id]
                found[profile, path_of[context], number, scope] = value
    wanted = {key: amount / metrics[key[2]][1] for key, amount in expected.items()}
    check_equal(test, set(found.items()), set(wanted.items()), "values")
