"""Reads structure files (doc/FORMAT-structure.md) for tests, and checks the rules of the format."""
import bisect
import re
import xml.etree.ElementTree as ElementTree

RANGE = re.compile(r"\[0x([0-9a-f]+)-0x([0-9a-f]+)\)")
RANGES = re.compile(rf"\{{({RANGE.pattern}( (?=\[)|(?=\}})))*\}}")
UNKNOWN_FILE = "<unknown file>"


def parse_ranges(text):
    """"{[0x10-0x20) [0x30-0x40)}" as a list of pairs."""
    if not RANGES.fullmatch(text):
        raise ValueError(f"bad set of ranges: {text}")
    return [(int(begin, 16), int(end, 16)) for begin, end in RANGE.findall(text)]


class Scope:
    """P: a procedure; A: an inlined call (a pair of A elements; the outer one is the call site);
    L: a loop; S: a statement; C: a call."""

    def __init__(self, kind, element, parent, file):
        self.kind, self.parent, self.children = kind, parent, []
        self.line = int(element.get("l"))
        self.file = file
        self.name = element.get("n")
        self.linkage_name = element.get("ln")
        self.tag = element.get("o")
        self.ranges = parse_ranges(element.get("v", "{}"))
        self.target = element.get("t")
        self.call_file = self.call_line = None

    def within(self):
        """The scope and all scopes inside it, in their order. Not recursive: large binaries have a million."""
        open_scopes = [self]
        while open_scopes:
            scope = open_scopes.pop()
            yield scope
            open_scopes += scope.children[::-1]

    def chain(self):
        """The scopes from the procedure to this one."""
        return (self.parent.chain() if self.parent else []) + [self]

    def loops(self):
        return [scope for scope in self.within() if scope.kind == "L"]

    def __repr__(self):
        return f"{self.kind} {self.name or ''} {self.file}:{self.line}"


class Structure:
    def __init__(self, data):
        root = ElementTree.fromstring(data)
        self.indices = [int(element.get("i")) for element in root.iter()]
        modules = root.findall("LM")
        if root.tag != "HPCToolkitStructure" or len(root) != 1 or len(modules) != 1:
            raise ValueError("not one load module")
        module = modules[0]
        self.path, self.build_id = module.get("n"), module.get("b")
        self.generator, self.extent = module.get("g"), parse_ranges(module.get("v"))
        self.files, self.procedures = [], []
        for file in module:
            self.files.append(file.get("n"))
            for element in file:
                self.procedures.append(self._procedure(element, file.get("n")))
        self.statements = sorted(((begin, end, scope) for procedure in self.procedures
                                  for scope in procedure.within() if scope.kind == "S"
                                  for begin, end in scope.ranges), key=lambda s: s[0])
        self.begins = [begin for begin, _, _ in self.statements]

    def _procedure(self, element, file):
        if element.tag != "P":
            raise ValueError(f"{element.tag} in F")
        procedure = Scope("P", element, None, file)
        self._children(element, procedure, file)
        return procedure

    def _children(self, element, scope, file):
        """`file` is the file of statements that name none."""
        for child in element:
            if child.tag == "A":
                if len(child) != 1 or child[0].tag != "A" or child.get("n") != "":
                    raise ValueError("an inlined procedure is a pair of A")
                inner = Scope("A", child[0], scope, child[0].get("f"))
                inner.call_file, inner.call_line = child.get("f"), int(child.get("l"))
                self._children(child[0], inner, inner.file)
                scope.children.append(inner)
            elif child.tag == "L":
                loop = Scope("L", child, scope, child.get("f"))
                self._children(child, loop, loop.file)
                scope.children.append(loop)
            elif child.tag in ("S", "C"):
                scope.children.append(Scope(child.tag, child, scope, child.get("f", file)))
            else:
                raise ValueError(f"{child.tag} in {element.tag}")

    def at(self, address):
        """The statement that contains an address, or None."""
        i = bisect.bisect_right(self.begins, address) - 1
        if i < 0 or address >= self.statements[i][1]:
            return None
        return self.statements[i][2]

    def procedure(self, name):
        """The only procedure of this name."""
        found = [p for p in self.procedures if name in (p.name, p.linkage_name)]
        if len(found) != 1:
            raise KeyError(f"{len(found)} procedures {name}")
        return found[0]

    def problems(self):
        """Violations of the format, as a list of lines."""
        found = []
        if self.indices != list(range(len(self.indices))):
            found.append("elements are not numbered in document order")
        if len(set(self.files)) != len(self.files):
            found.append("a file occurs twice")
        pieces = sorted((begin, end, p) for i, p in enumerate(self.procedures)
                        for begin, end in p.ranges for p in [i])
        for (_, end, p), (begin, _, q) in zip(pieces, pieces[1:]):
            if begin < end:
                found.append(f"{self.procedures[p]} and {self.procedures[q]} overlap")
        for procedure in self.procedures:
            found += self._procedure_problems(procedure)
        return found

    def _procedure_problems(self, procedure):
        found, scopes = [], list(procedure.within())
        covered = sorted(pair for scope in scopes if scope.kind == "S" for pair in scope.ranges)
        if any(begin >= end for begin, end in covered + procedure.ranges):
            found.append(f"{procedure}: an empty range")
        if merged(covered) != merged(procedure.ranges):
            found.append(f"{procedure}: statements do not cover it")
        if sum(e - b for b, e in covered) != sum(e - b for b, e in procedure.ranges):
            found.append(f"{procedure}: statements overlap")
        for scope in scopes:
            if scope.kind in "AL" and not any(s.kind == "S" for s in scope.within()):
                found.append(f"{procedure}: {scope} has no statement")
            if scope.kind == "S" and scope.children:
                found.append(f"{procedure}: {scope} is not empty")
            if scope.kind == "L" and not any(b <= scope.ranges[0][0] < e for s in scope.within()
                                             if s.kind == "S" for b, e in s.ranges):
                found.append(f"{procedure}: header of {scope} is not in it")
            keys = [(s.kind, s.line, s.file, s.tag) for s in scope.children if s.kind == "S"]
            if len(set(keys)) != len(keys):
                found.append(f"{procedure}: a statement occurs twice in {scope}")
        return found


def merged(pairs):
    """The ranges, sorted; those that touch or overlap are joined."""
    result = []
    for begin, end in sorted(pairs):
        if result and begin <= result[-1][1]:
            result[-1][1] = max(result[-1][1], end)
        else:
            result.append([begin, end])
    return result
