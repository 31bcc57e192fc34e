"""The largest strings and numbers of each of our formats are written, and our readers accept what was written."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree

import measurement_writer as mw
import profiling
import viewer
from hpcprof_case import HpcprofCase
from structure_model import F, P, S, Structure

LONGEST = 65535  # lib/long-text.h
MARK = re.compile(r"\.\.\.\[(\d+) bytes, [0-9a-f]{8}\]\.\.\.")


class Shortened:
    def check_shortened(self, shown, whole):
        """The beginning and the end of the whole text, and how much is missing."""
        mark = MARK.search(shown)
        self.assertIsNotNone(mark, shown[:200])
        begin, end = shown[:mark.start()], shown[mark.end():]
        self.assertTrue(whole.startswith(begin) and whole.endswith(end))
        self.assertEqual(len(begin.encode()) + int(mark[1]) + len(end.encode()), len(whole.encode()))
        self.assertLess(len(shown.encode()), 2000)


class MeasurementFile(profiling.ProfilingTest):
    """The longest paths that the kernel has, and the longest arguments that are recorded."""

    def deep_folder(self, length):
        folder = str(self.directory.resolve())
        while length - len(folder) > 1:
            folder += "/" + "d" * min(200, length - len(folder) - 1)
        for at in range(len(str(self.directory)) + 1, len(folder) + 1):
            if at == len(folder) or folder[at] == "/":
                os.makedirs(folder[:at], exist_ok=True)
        return folder

    def test_paths_and_arguments(self):
        """PATH_MAX is 4096: paths of 4,095 bytes. 64 arguments are recorded, of each 1,024 bytes."""
        folder = self.deep_folder(4080)
        name = "p" * (4095 - len(folder) - 1)
        shutil.copy("/bin/true", os.path.join(folder, name))
        arguments = [f"{i:02}" + "a" * 1100 for i in range(70)]
        done = subprocess.run([profiling.HPCRUN, "-q", "-o", self.directory / "m", "./" + name, *arguments], cwd=folder,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, profiling.without_perf_notice(done.stderr)), (0, ""))
        image, = profiling.read_measurements(self.directory / "m")
        self.assertEqual((image.problems, image.executable), ([], f"{folder}/{name}"))
        self.assertGreater(image.wall, 0)  # of the last fields of the record
        line = next((self.directory / "m").glob("*.processes")).read_text().splitlines()[0]
        listed = line.split(" ", 7)[7]
        self.assertEqual(len(line.split(" ")), 8)
        self.assertRegex(listed, r"^\.\.\./")
        self.assertTrue(image.executable.endswith(listed.removeprefix("...")))
        self.assertLess(len(listed), 512)
        database = self.make_database(measurements=self.directory / "m")
        process, = json.loads((database / "run.json").read_text())["processes"]
        self.assertEqual(process["command"], " ".join(["./" + name] + [a[:1024] for a in arguments[:63]]))
        self.assertTrue(process["complete"])
        summary = viewer.printed_json("summary", database)
        self.assertEqual(summary["processes"][0]["command"], process["command"])


class StructureFile(Shortened, profiling.ProfilingTest):
    def test_a_symbol_and_a_source_path(self):
        """A linker takes any symbol. hpcstruct keeps source paths that can be opened, of up to 4,096 bytes."""
        symbol, path = "long_" + "s" * 200_000, "/" + "f" * 4095
        self.compile_text("long", f'void spin(void) __asm__("{symbol}");\n#line 7 "{path}"\n'
                                  "volatile double sink;\n__attribute__((noinline)) void spin(void)\n"
                                  "{ for (int i = 0; i < 100000000; i++) sink = sink + i; }\n"
                                  "int main(void) { spin(); return 0; }\n", "-O1", "-gdwarf-4")
        done = self.run_tool(profiling.BUILD / "bin/hpcstruct", "-o", "long.hpcstruct", "long")
        self.assertEqual(done.returncode, 0, done.stderr)
        values = [value for element in xml.etree.ElementTree.parse(self.directory / "long.hpcstruct").iter()
                  for value in element.attrib.values()]
        self.assertLessEqual(max(len(value.encode()) for value in values), LONGEST)
        self.check_shortened(next(value for value in values if value.startswith("long_")), symbol)
        self.assertIn(path, values)
        self.measure("./long")
        done = self.run_tool(profiling.BUILD / "bin/hpcprof", "-o", "db", self.measurements)
        self.assertEqual((done.returncode, "error" in done.stderr), (0, False), done.stderr)
        shown = viewer.printed_json("flat", self.directory / "db")
        rows = [row for _, row in viewer.rows_of(shown["root"]) if row["name"].startswith("long_")]
        self.assertTrue(rows)
        for row in rows:
            self.check_shortened(row["name"], symbol)
            self.assertEqual(row["file"], path)


class Database(Shortened, HpcprofCase):
    def longest_run(self, size):
        """A run whose names have this many bytes, some of them invalid UTF-8, which takes three bytes each."""
        def text(name):
            return f"{name}:".encode() + b"\xff" * (size - len(name) - 1)
        structure = Structure(F("/s/" + "f" * size, P("q" * size, 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1100)))))
        module = self.scenario.binary("program", "abcd01", structure)
        process = self.scenario.process(pid=2**64 - 1, parent_pid=2**64 - 1, start_time=2**64 - 1,
                                        executable=b"/" + text("executable"), directory=text("directory"),
                                        arguments=[text("argument")] * 3, cpus=2**64 - 1)
        event = process.event(text("event"), unit="count", period=2**64 - 1, why=text("why"))
        process.metric(text("event"), event)
        instance = self.scenario.load(process, module)
        table = process.names([(5, text("procedure"), text("file"), 2**64 - 1)])
        process.code_names = mw.string(b"1000 10 " + text("code") + b"\n")
        process.refusals.append((text("agent"), text("why")))
        thread = process.thread(tid=2**64 - 1, name=text("thread"))
        for node in (thread.path([(instance, 0x1000)]), thread.path([(mw.NO_MODULE, 0x1004)]),
                     thread.node(mw.ROOT, None, ("names", table, 5))):
            thread.add(node, 0, 2**40)
        thread.fate(event, mw.COUNTER, mw.FIRED, 2**62, 2**63)
        thread.fate(event, mw.COUNTER, mw.RECORDED, 2**62, 2**63)

    def test_names_of_every_size(self):
        """Such as fit exactly, such as do not fit any more, and such as fit only before they are repaired."""
        for size in (LONGEST // 3, LONGEST, LONGEST + 1, 150_000):
            with self.subTest(size=size):
                self.setUp()
                self.longest_run(size)
                read, db = self.scenario.database(), self.at("db")
                texts = [function.name for function in read.meta.functions.values()] + [file.path for file in read.meta.files.values()]
                self.assertLessEqual(max(len(text.encode()) for text in texts), LONGEST)
                self.assertEqual({text.partition(":")[0] for text in texts if ":" in text and text[0] != "/"},
                                 {"procedure", "code", "file"})
                whole = "q" * size
                name = next(text for text in texts if text.startswith("qq"))
                if size <= LONGEST:
                    self.assertEqual(name, whole)
                else:
                    self.check_shortened(name, whole)
                for view in ("top-down", "flat", "threads", "summary"):
                    done = viewer.run("--print", view, "--format", "json", db)
                    self.assertEqual((done.returncode, done.stderr), (0, ""), view)
                run = json.loads(pathlib.Path(db, "run.json").read_text())
                self.assertEqual(run["processes"][0]["pid"], 2**63 - 1)  # JSON readers have 64 bits with a sign

    def test_names_that_differ_only_in_what_is_left_out(self):
        names = ["x" * 50_000 + letter + "y" * 50_000 for letter in "ab"]
        structure = Structure(F("/s/a.c", *(P(name, 1, [(at, at + 0x100)], S(2, (at, at + 0x100)))
                                            for name, at in zip(names, (0x1000, 0x2000)))))
        module = self.scenario.binary("program", "abcd01", structure)
        process = self.scenario.process()
        process.metric("work", process.event("CPUTIME"))
        thread, instance = process.thread(), self.scenario.load(process, module)
        for address in (0x1000, 0x2000):
            thread.add(thread.path([(instance, address)]), 0, mw.seconds(1))
        shown = {function.name for function in self.scenario.database().meta.functions.values() if function.name.startswith("xx")}
        self.assertEqual(len(shown), 2)
        for name in shown:
            self.assertTrue(any(name.endswith(whole[-200:]) for whole in names))
