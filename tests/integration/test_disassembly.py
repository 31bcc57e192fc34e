"""instructions.json.gz and the viewer's page of instructions (key D): the code is what objdump reads in
the binary, costs are what the measurement file has at each address."""
import collections
import gzip
import json
import os
import re
import shutil
import tempfile

import profiling
import viewer
import viewer_story
from measurement_reader import Measurement
from viewer_screen import Viewer

SOURCE = """\
#include <stdio.h>
static unsigned long mix(unsigned long s)
{
    return s ^ s << 7;
}
__attribute__((noinline)) unsigned long hot(unsigned long n)
{
    unsigned long s = 1;
    for (unsigned long i = 1; i < n; i++)
        s = mix(s + n / i);
    return s;
}
__attribute__((noinline)) unsigned long warm(unsigned long n)
{
    unsigned long s = 1;
    for (unsigned long i = 1; i < n; i++)
        s += n % i;
    return s;
}
int main(void)
{
    printf("%lu %lu\\n", hot(100000000), warm(30000000));
    return 0;
}
"""


class Disassembly(profiling.ProfilingTest):
    def setUp(self):
        super().setUp()
        self.program = self.compile_text("two", SOURCE, "-O2", "-g")
        self.measure(self.program)

    def procedures(self, database):
        document = json.loads(gzip.decompress((database / "instructions.json.gz").read_bytes()))
        self.assertEqual(document["format"], "hpctoolkit-instructions 1")
        return document, {procedure["name"]: procedure for procedure in document["procedures"]
                          if procedure["module"] == str(self.program)}

    def objdump(self, name):
        """Addresses, mnemonics and bytes of a function."""
        out = self.run_tool("objdump", "-d", f"--disassemble={name}", self.program, check=True).stdout
        lines = re.findall(r"^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *(?:\t(\w+))?", out, re.M)
        return [(int(at, 16), code.replace(" ", ""), word) for at, code, word in lines]

    @staticmethod
    def work(procedure):
        """The costs in the first metric, as (address, seconds)."""
        return [(at, cost) for at, metric, cost in procedure["costs"] if metric == 0]

    def recorded(self):
        """Nanoseconds of work by address in the program, from the measurement file."""
        sums = collections.Counter()
        for path in self.measurements.glob("*.hpcrun"):
            measurement = Measurement(path)
            for thread in measurement.threads.values():
                for (node, metric), amount in thread.values.items():
                    _, *ip = thread.nodes[node]
                    if metric == 0 and ip and measurement.modules.get(ip[0]) == str(self.program):
                        sums[ip[1]] += amount / 1024
        return sums

    def test_costs_and_code(self):
        document, found = self.procedures(self.make_database())
        recorded = self.recorded()
        self.assertEqual(document["metrics"], ["work", "wall"])
        for name in ("hot", "warm"):
            (begin, digits), *more = found[name]["parts"]
            listed = self.objdump(name)
            self.assertEqual((begin, found[name]["entry"]), (listed[0][0], listed[0][0]))
            self.assertEqual((digits, more), ("".join(code for _, code, _ in listed), []))
            end = begin + len(digits) // 2
            costs = dict(self.work(found[name]))
            expected = {at: cost for at, cost in recorded.items() if begin <= at < end}
            self.assertGreater(len(expected), 1)
            self.assertEqual(costs.keys(), expected.keys())
            for at, cost in expected.items():
                self.assertAlmostEqual(costs[at], cost / 1e9, places=9)

    def test_statements_are_the_line_map(self):
        document, found = self.procedures(self.make_database())
        lines = {(document["files"][file], line) for _, _, file, line in found["hot"]["statements"]}
        source = f"{self.program}.c"
        self.assertLessEqual(lines, {(source, line) for line in range(4, 13)})
        self.assertIn((source, 4), lines)  # of the inlined procedure
        for before, after in zip(found["hot"]["statements"], found["hot"]["statements"][1:]):
            self.assertLessEqual(before[0] + before[1], after[0])

    def test_costs_add_up_to_those_of_the_lines(self):
        database = self.make_database()
        document, found = self.procedures(database)
        of_line = collections.Counter()
        for at, cost in self.work(found["hot"]):
            of_line[next(line for begin, size, _, line in found["hot"]["statements"]
                         if begin <= at < begin + size)] += cost
        hot = viewer.find(viewer.printed_json("flat", database)["root"], "hot", "procedure")
        shown = collections.Counter()
        for _, row in viewer.rows_of(hot):
            if row["kind"] == "statement":
                shown[row["line"]] += row["metrics"]["work"]["exclusive"]
        self.assertEqual(of_line.keys(), {line for line, cost in shown.items() if cost})
        for line, cost in of_line.items():
            self.assertAlmostEqual(shown[line], cost, places=9)

    def test_same_bytes_with_any_number_of_threads(self):
        one, four = self.make_database("-j", "1"), self.make_database("-j", "4")
        self.assertEqual((one / "instructions.json.gz").read_bytes(),
                         (four / "instructions.json.gz").read_bytes())

    def test_a_shared_database_has_no_code_that_is_not_for_all(self):
        os.chmod(self.program, 0o700)
        digits = self.procedures(self.make_database("--shared"))[1]["hot"]["parts"][0][1]
        self.assertEqual(digits, "")
        self.assertNotEqual(self.procedures(self.make_database())[1]["hot"]["parts"][0][1], "")

    def test_the_page(self):
        with Viewer(self.make_database(), width=100, height=60) as terminal:
            terminal.press("3", "/")
            terminal.type("^hot$")
            lines = terminal.press_until("Enter D", "work of hot, its own instructions:")
            self.assertIn("two.c:4  return s ^ s << 7;", lines)
            shown = [re.match(r"^[> ] .{17} +([0-9a-f]+)  (\w+)", line) for line in lines]
            shown = [(int(match[1], 16), match[2]) for match in shown if match]
            listed = [at for at, _, word in self.objdump("hot") if word]
            self.assertEqual([at for at, _ in shown], listed)
            self.assertIn("div", [word for _, word in shown])
            terminal.press("D")
            terminal.until_gone("its own instructions")

    def test_the_page_of_a_comparison(self):
        """It has the costs of the run that the row is shown of, the right one."""
        with Viewer(self.make_database(), self.make_database(), width=100, height=40) as terminal:
            terminal.press("3", "/")
            terminal.type("^hot$")
            lines = terminal.press_until("Enter D", "work of hot, its own instructions:")
            cost = sum(cost for _, cost in self.work(self.procedures(self.make_database())[1]["hot"]))
            shown, unit = re.search(r"its own instructions: ([\d.]+) (m?s)", "\n".join(lines)).groups()
            self.assertAlmostEqual(float(shown) * {"s": 1, "ms": 1e-3}[unit], cost, delta=0.001 * cost)


class WithoutInstructions(viewer_story.StoryTest):
    def page(self, text=None, name="instructions.json.gz"):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        viewer_story.write(folder)
        if text is not None:
            with open(os.path.join(folder, name), "wb") as file:
                file.write(text)
        terminal = self.enterContext(Viewer(folder, width=120, height=40))
        terminal.answer("3", "/", "coder_run")
        terminal.press("D")
        return terminal

    def test_a_narrow_screen_has_the_whole_reason(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        viewer_story.write(folder)
        with gzip.open(os.path.join(folder, "instructions.json.gz"), "wt") as file:
            file.write('{"format": "hpctoolkit-instructions 1", "procedures": []}')
        with Viewer(folder, width=50, height=24) as terminal:
            terminal.press("3", "/")
            terminal.type("coder_run")
            lines = terminal.press_until("Enter D", "procedure is not inlined")
            said = " ".join(line.strip() for line in lines[19:23])
            self.assertIn("no instructions: the database has the instructions of a procedure only if they cost at least "
                          "0.1 % of a metric, and if the procedure is not inlined everywhere", said)

    def test_a_database_of_another_tool(self):
        self.page().until_seen("no instructions: the database has no instructions.json.gz")

    def test_damaged_files(self):
        other = gzip.compress(b'{"format": "hpctoolkit-instructions 2"}')
        for text in (b"", b"{", gzip.compress(b"[]"), other, other[:-9], b"[]"):
            self.page(text).until_seen("no instructions: the database has no instructions.json.gz")
        good = {"format": "hpctoolkit-instructions 1", "metrics": ["work"], "files": [], "procedures": 7}
        good = json.dumps(good).encode()
        self.page(gzip.compress(good)).until_seen("no instructions: the database has the instructions of")
