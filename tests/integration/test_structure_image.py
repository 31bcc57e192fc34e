"""The image of a structure says what its XML says."""
import struct
import xml.etree.ElementTree

from profiling import BUILD
from structure_case import StructureCase, hpcstruct, run
from structure_model import GENERATOR, INLINED, NONE

HPCSTRUCT = BUILD / "bin" / "hpcstruct"
PROCEDURE, SCOPE, STATEMENT, PAIR = (struct.Struct(form) for form in ("<Q8I", "<8IQ", "<QQ4I", "<QQ"))


def ranges(text):
    return [tuple(int(part, 16) for part in pair.strip("[)").split("-")) for pair in (text or "{}").strip("{}").split()]


def of_file(name):
    return None if name in ("<unknown file>", "") else name


class FromXml:
    """Facts from a document: statements with the scopes around them, waits, calls, directories and more."""

    def __init__(self, text):
        module, = xml.etree.ElementTree.fromstring(text)
        self.statements, self.waits, self.calls = set(), set(), set()
        self.kinds = {element.get("o") for element in module.iter() if element.get("o")}
        self.directories = [d.get("n") for d in module.iter("D")]
        bad, units = module.get("u", "0/0").split("/")
        self.units = int(units), int(bad)
        for file in module.iter("F"):
            for procedure in file:
                chain = ("procedure", procedure.get("n"), of_file(file.get("n")), int(procedure.get("l")),
                         ranges(procedure.get("v"))[0][0])
                self.waits |= set(ranges(procedure.get("w")))
                self.add(procedure, (chain,), of_file(file.get("n")), procedure.get("o"))
        self.has_lines = module.get("d") == "lines" or any(line for *_, line, _ in self.statements)

    def add(self, parent, chain, file, kind):
        for element in parent:
            line, of = int(element.get("l")), of_file(element.get("f", file or ""))
            if element.tag == "S":
                kind_here = element.get("o", kind)
                self.statements |= {(*pair, chain, of, line if of else 0, kind_here) for pair in ranges(element.get("v"))}
            elif element.tag == "L":
                address = ranges(element.get("v"))[0][0]
                self.add(element, (*chain, ("loop", of, line, address, element.get("w") is not None)), of, kind)
            elif element.tag == "C" and element.get("t"):
                self.calls.add((ranges(element.get("v"))[0][1] - 1, int(element.get("t"), 16)))
            elif element.tag == "A":
                inner, = element
                callee = (inner.get("n"), of_file(inner.get("f")), int(inner.get("l")))
                self.add(inner, (*chain, ("inlined", of, line, *callee)), callee[1], inner.get("o", kind))


class FromImage:
    """The same facts from an image."""

    def __init__(self, data):
        self.data, self.at = data, 0
        assert data[:16] == GENERATOR.ljust(16, b"\0")
        *places, self.has_lines, units, bad = struct.unpack_from("<21Q", data, len(data) - 168)
        self.units = units, bad
        (fragments, n), *tables = zip(places[::2], places[1::2])
        self.names, self.files, self.directories, kinds = (self.strings(*tables[i:i + 2]) for i in range(0, 8, 2))
        self.kind_names, self.kinds = kinds, set(kinds)
        self.statements, self.waits, self.calls = set(), set(), set()
        self.fragments = [struct.unpack_from("<3Q", data, fragments + 24 * i) for i in range(n)]
        for self.at in sorted({procedure for _, _, procedure in self.fragments}):
            self.procedure()

    def strings(self, starts, text):
        return [self.data[text[0] + start:self.data.index(b"\0", text[0] + start)].decode()
                for start in struct.unpack_from(f"<{starts[1]}Q", self.data, starts[0])]

    def file(self, number):
        return None if number == NONE else self.files[number]

    def rows(self, form, n):
        rows = [form.unpack_from(self.data, self.at + i * form.size) for i in range(n)]
        self.at += n * form.size
        return rows

    def procedure(self):
        (entry, name_size, file, line, n_scopes, n_statements, n_waits, n_calls, _), = self.rows(PROCEDURE, 1)
        name = self.data[self.at:self.at + name_size - 1].decode()
        self.at += (name_size + 7) // 8 * 8
        chains = [(("procedure", name, self.file(file), line, entry),)]
        for kind, parent, name, file, line, call_file, call_line, pauses, address in self.rows(SCOPE, n_scopes):
            scope = (("inlined", self.file(call_file), call_line, self.names[name], self.file(file), line)
                     if kind == INLINED else ("loop", self.file(file), line, address, bool(pauses)))
            chains.append((*chains[parent], scope))
        for begin, end, scope, file, line, kind in self.rows(STATEMENT, n_statements):
            of_kind = None if kind == NONE else self.kind_names[kind]
            self.statements.add((begin, end, chains[scope], self.file(file), line, of_kind))
        self.waits |= set(self.rows(PAIR, n_waits))
        self.calls |= set(self.rows(PAIR, n_calls))


# A tagged statement, a tagged call of a function that is inlined, and a loop of another file, in a function that is
# not tagged.
TAGGED = """
static inline __attribute__((always_inline)) int helper(int n)
{
    volatile int v = n;
    return v * n;
}
int main(int argc, char **argv)
{
    volatile int sum = argc + (argv != 0);
#line 40 "hpctoolkit:parallel-overhead:steal"
    sum *= 3;
    sum += helper(argc);
#line 3 "loop.inc"
    for (volatile int i = 0; i < argc; i++)
        sum += i;
#line 17 "tagged.c"
    return sum == 0;
}
"""


class ImageTest(StructureCase):
    def check(self, binary):
        text = hpcstruct("--calls", "-o", "-", binary).stdout
        data = run(HPCSTRUCT, "-j", "1", "--image", "--calls", "-o", "-", binary).stdout
        self.assertEqual(run(HPCSTRUCT, "-j", "4", "--image", "--calls", "-o", "-", binary).stdout, data)
        expected, found = FromXml(text), FromImage(data)
        self.assertGreater(len(expected.statements), 10)
        for what in ("statements", "waits", "calls", "kinds", "directories", "units"):
            self.assertEqual(getattr(found, what), getattr(expected, what), what)
        self.assertEqual(bool(found.has_lines), expected.has_lines)
        return found

    def test_programs(self):
        for source, *command in (("objects.cc", "g++", "-O2", "-g"), ("cold.c", "gcc", "-O2", "-g"),
                                 ("loops.c", "gcc", "-O0", "-g"), ("loops.c", "clang", "-O2")):
            with self.subTest(source=source, command=command):
                found = self.check(self.compile(source, *command[1:], compiler=command[0]))
                self.assertTrue(found.calls)

    def test_tags_and_waits(self):
        (self.folder / "tagged.c").write_text(TAGGED)
        run("gcc", "-O1", "-g", "-o", self.folder / "tagged", self.folder / "tagged.c")
        self.assertEqual(self.check(self.folder / "tagged").kinds, {"steal"})
        self.assertIn("steal", self.check(BUILD / "tests/programs/cilk/fib").kinds)
        self.assertTrue(self.check(run("gcc", "-print-file-name=libgomp.so.1").stdout.decode().strip()).waits)
