#!/usr/bin/env python3
"""loop_truth.py [--list] BUILD SOURCE.c... [-- COMPILER-OPTIONS]: the loops that hpcstruct finds, compared with those
of gcc and clang in the code that they have written, at -O0 to -O3.

gcc says with -dA which blocks an assembly file has and where they lead to: loops follow from that. clang marks the
headers of loops in its assembly. A label at each of these headers gives the address that hpcstruct must name.
The sources are linked together, without libraries: with all
sources of a program it is known which functions never return. Run by hand:

    tests/bench/loop_truth.py --list build lua-5.4/src/*.c

merged       a loop directly inside another one of the same loop statement, which hpcstruct shows as one
missing      a loop that is not shown, in another loop statement than the loop around it
false        a loop whose header is none for the compiler
irreducible  not in `loops`: loops with several entries, which hpcstruct and gcc name
header       loops whose line is one of the header of a loop statement (of a `do`: or of its condition)
no code      loops whose statement has no header in the line table, as `for (;;)` and `do`
goto         loops in no loop statement
wrong        the line of another loop or statement

Lua 5.4.8, zlib and SQLite 3.53 with gcc 12 and clang 14 have 22,355 loops (2026-11-24): 22,040 found, 296 merged, 19
missing (0.08 %), 5 false (0.02 %). What differs, and why:

missing  The compiler moved a test of the outer loop into the inner one, which then begins at the line of that test.
         hpcstruct takes both for one loop with several `continue`.
false    gcc makes a jump of the last call of a function that calls itself, but no loop (3). Or a loop has several
         entries for the compiler and one for hpcstruct, which sees that a function of another file never returns (2).
wrong    `for (i = 0; 1; i++) if (c) break;` has the line of `c`: its code is that of `do i++; while (!c)`. These are
         11 loop statements of SQLite, some of them in functions that are inlined often; 109 loops of 22,355.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
from structure_file import Structure  # noqa: E402

LABEL = "loop_truth_header_"
INSTRUCTION = re.compile(r"\t[a-z]")
GCC_BLOCK = re.compile(r"# BLOCK (\d+)[, ]")
NO_EDGE = re.compile(r"\[[^\]]*\]|\(([^()]|\([^()]*\))*\)|\S*:\S*")  # what else a list of edges has
CLANG_HEADER = re.compile(r"# +=> *This (?:Inner )?Loop Header: Depth=")


def natural_loops(entry, edges):
    """The headers of loops, and the blocks of irreducible loops, which have several entries."""
    order, seen, stack = [], {entry}, [(entry, iter(edges[entry]))]
    while stack:
        block, rest = stack[-1]
        following = next((b for b in rest if b not in seen), None)
        if following is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(edges[following])))
    order.reverse()
    place = {block: i for i, block in enumerate(order)}
    before = collections.defaultdict(list)
    for block in order:
        for following in edges[block]:
            before[following].append(block)
    dominator = {entry: entry}

    def common(a, b):
        while a != b:
            while place[a] > place[b]:
                a = dominator[a]
            while place[b] > place[a]:
                b = dominator[b]
        return a
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            new = None
            for b in before[block]:
                if b in dominator:
                    new = b if new is None else common(new, b)
            changed |= dominator.get(block) != new
            dominator[block] = new

    def dominates(a, b):
        while place[b] > place[a]:
            b = dominator[b]
        return a == b
    headers = {f for b in order for f in edges[b] if place[f] <= place[b] and dominates(f, b)}
    return headers, cyclic(order, {b: [f for f in edges[b] if place[f] > place[b] or not dominates(f, b)]
                                   for b in order})


def cyclic(blocks, edges):
    """The blocks that lie on a cycle: of edges that do not lead back to a header, these are irreducible loops."""
    def reached(start, edges):
        found, stack = set(), list(edges.get(start, ()))
        while stack:
            block = stack.pop()
            if block not in found:
                found.add(block)
                stack += edges.get(block, ())
        return found
    place = {block: i for i, block in enumerate(blocks)}
    found = set()
    for block in blocks:
        if any(place[f] <= place[block] for f in edges[block]) and block not in found:
            ahead = reached(block, edges)
            found |= {b for b in ahead if block in ahead and block in reached(b, edges)}
    return found


class Assembly:
    """Assembly with a label at each header (in `headers`) and at each block of irreducible loops (in `irreducible`)."""

    def __init__(self, prefix):
        self.lines, self.headers, self.irreducible = [], set(), set()
        self.prefix, self.number = prefix, 0

    def place(self, line, waiting):
        """Puts labels that wait before the next instruction."""
        if INSTRUCTION.match(line):
            self.lines += [label + ":" for label in waiting]
            waiting.clear()
        self.lines.append(line)

    def new_label(self):
        self.number += 1
        return f"{LABEL}{self.prefix}_{self.number}"

    def of_clang(self, text):
        waiting = []
        for line in text.splitlines():
            if CLANG_HEADER.search(line):
                waiting.append(self.new_label())
                self.headers.add(waiting[-1])
            self.place(line, waiting)
        return self

    def of_gcc(self, text):
        waiting, edges, labels, block, first = [], None, {}, None, None

        def finish():
            if first is not None:
                headers, irreducible = natural_loops(first, edges)
                self.headers |= {labels[b] for b in headers}
                self.irreducible |= {labels[b] for b in irreducible}
        for line in text.splitlines():
            found = GCC_BLOCK.match(line)
            if found:
                block = int(found[1])
                if "seq:0" in line.split():
                    finish()
                    edges, labels, first = collections.defaultdict(list), {}, block
                labels[block] = self.new_label()
                waiting.append(labels[block])
            elif line.startswith("# SUCC:"):
                edges[block] += [int(b) for b in NO_EDGE.sub("", line[7:]).split() if b.isdigit() and int(b) > 1]
            self.place(line, waiting)
        finish()
        return self


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr}")
    return done.stdout


def source_loops(source, options):
    """(first line, last line, lines of the header, other lines that tell the loop) of each loop statement."""
    tree = json.loads(run("clang", *options, "-w", "-fsyntax-only", "-Xclang", "-ast-dump=json", source))
    found, at = [], {"line": 0}

    def line_of(place):
        """clang names a line only if it is another one than that of the place before."""
        for part in ("spellingLoc", "expansionLoc"):
            if part in place:
                line_of(place[part])
        at["line"] = place.get("line", at["line"])
        return at["line"]

    def visit(node):
        line_of(node.get("loc", {}))
        begin, end = (line_of(node.get("range", {}).get(side, {})) for side in ("begin", "end"))
        inner = [visit(child) for child in node.get("inner", [])]
        if node.get("kind") == "DoStmt":
            found.append((begin, end, {begin}, set(range(inner[-1][0], end + 1))))
        elif node.get("kind") in ("ForStmt", "WhileStmt"):
            found.append((begin, end, set(range(begin, max(inner[-1][0], begin) + 1)), set()))
        return begin, end
    visit(tree)
    return found


def misplaced(loop, statements):
    """Why the line of a loop is not that of a loop statement; None: it is."""
    around = [s for s in statements if s[0] <= loop.line <= s[1]]
    if any(loop.line in header | condition for _, _, header, condition in statements):
        return None
    if not around:
        return "goto"
    _, _, header, _ = min(around, key=lambda s: s[1] - s[0])
    rows = {s.line for s in loop.within() if s.kind == "S" and s.file == loop.file}
    return "wrong" if header & rows else "no code"


def innermost(statements, scope):
    """The innermost loop statement around the line of a scope, or None."""
    around = [s for s in statements.get(pathlib.Path(scope.file), ()) if s[0] <= scope.line <= s[1]]
    return min(around, key=lambda s: s[1] - s[0])[:2] if around else None


def is_shown_as(header, statements):
    """Whether a loop is a part of another one in the structure: their code is in one loop statement. `header` is
    the scope of the code at its header."""
    loops = [s for s in header.chain() if s.kind == "L"]
    own, shown = innermost(statements, header), loops and innermost(statements, loops[-1])
    return bool(loops) and (own is None or shown is None or own == shown)


def addresses(program):
    found = {}
    for line in run("nm", program).splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[2].startswith(LABEL):
            found[fields[2]] = int(fields[0], 16)
    return found


def compare(hpcstruct, compiler, level, sources, options, folder):
    texts, program, headers, irreducible = [], folder / "code.so", set(), set()
    for number, source in enumerate(sources):
        texts.append(folder / f"{number}.s")
        run(compiler, *options, "-w", "-g", "-fPIC", level, *(["-dA"] if compiler == "gcc" else []), "-S", source,
            "-o", texts[-1])
        assembly = Assembly(number)
        (assembly.of_gcc if compiler == "gcc" else assembly.of_clang)(texts[-1].read_text("latin-1"))
        texts[-1].write_text("\n".join(assembly.lines) + "\n", "latin-1")
        headers |= assembly.headers
        irreducible |= assembly.irreducible
    run(compiler, "-shared", "-nostdlib", "-Wl,-Bsymbolic", "-Wl,--unresolved-symbols=ignore-all", *texts,
        "-o", program)
    at = addresses(program)
    run("objcopy", "--wildcard", f"--strip-symbol={LABEL}*", program)
    structure = Structure(run(hpcstruct, "-o", "-", program))
    gaps = re.findall(r"^(0x\w+) +\d+ several-entries", run(hpcstruct, "--show-gaps", program), re.M)
    return ({at[label] for label in headers}, {at[label] for label in irreducible},
            {int(address, 16) for address in gaps}, structure)


COLUMNS = ("loops", "found", "merged", "missing", "false", "irreducible", "header", "no code", "goto", "wrong")


def report(hpcstruct, compiler, level, options, statements, show):
    """The numbers, by column. `statements`: source -> its loop statements."""
    with tempfile.TemporaryDirectory() as folder:
        truth, irreducible, told, structure = compare(hpcstruct, compiler, level, statements, options,
                                                       pathlib.Path(folder))
    loops = {loop.ranges[0][0]: loop for procedure in structure.procedures for loop in procedure.loops()}
    missing = truth - set(loops)
    # Directly nested loops at one line are one loop in the structure.
    merged = {a for a in missing if is_shown_as(structure.at(a), statements)}
    # clang marks no irreducible loops.
    several = set(loops) & ((irreducible & told) if compiler == "gcc" else told) - truth
    false = set(loops) - truth - several
    lines = {a: misplaced(loop, statements[pathlib.Path(loop.file)]) for a, loop in loops.items()
             if pathlib.Path(loop.file) in statements}
    if show:
        for what, where in (("missing", missing - merged), ("merged", merged), ("false", false),
                            ("wrong line", [a for a in lines if lines[a] == "wrong"])):
            for address in sorted(where):
                scope = loops.get(address) or structure.at(address)
                print(f"{compiler} {level}: {what} {address:#x} {scope.chain()[0].name} {scope}")
    found = collections.Counter(kind or "header" for kind in lines.values())
    found.update({"loops": len(truth), "found": len(truth & set(loops)), "merged": len(merged),
                  "missing": len(missing - merged), "false": len(false), "irreducible": len(several)})
    return found


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--list"]
    options = arguments[arguments.index("--") + 1:] if "--" in arguments else []
    build, *sources = arguments[:arguments.index("--")] if "--" in arguments else arguments
    statements = {source: source_loops(source, options)
                  for source in (pathlib.Path(source).resolve() for source in sources)}
    print(" " * 9 + "".join(f"{column:>12}" for column in COLUMNS))
    for compiler in ("gcc", "clang"):
        for level in ("-O0", "-O1", "-O2", "-O3"):
            found = report(f"{build}/bin/hpcstruct", compiler, level, options, statements, "--list" in sys.argv)
            print(f"{compiler:5} {level} " + "".join(f"{found[column]:12}" for column in COLUMNS), flush=True)


if __name__ == "__main__":
    main()
