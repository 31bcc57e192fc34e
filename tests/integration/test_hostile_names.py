"""Names that come from outside hold what a terminal obeys: escape sequences, C1 controls, ends of lines,
controls of the direction of text, bytes that are no UTF-8. Nothing that a tool prints has them raw."""
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import measurement_writer as mw
import profiling
import protobuf_reader
import v4_writer
import viewer_driver
from hpcprof_case import HpcprofCase

BIN = profiling.BUILD / "bin"
# No tool moves the cursor to this place, which is off the screen, or sets a title.
HOSTILE = (b"x\x1b[77;199Hy\x1b]0;owned\x07\xc2\x9b77;199H\xc2\x85\nz\r\x08\x7f"
           b"\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8e\xd8\x9c\xff\xc3\\x1b")
# The same in the form that lib/printable.h describes, written by hand.
FORM = (r"x\x1b[77;199Hy\x1b]0;owned\x07\u009b77;199H\u0085\x0az\x0d\x08\x7f"
        r"\u202e\u2066\u200e\u061c\xff\xc3\\x1b")
THREAD = b"t\x1b[77;199H\xc2\x9b\nq"  # 15 bytes at most
THREAD_FORM = r"t\x1b[77;199H\u009b\x0aq"
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]")
# What hpcviewer sends to a terminal of its own: attributes, places, modes and character sets. Beside
# these it moves the cursor by CR and BS.
OWN_SEQUENCES = re.compile(rb"\x1b\[[0-9;?>]*[A-Za-z]|\x1b[()][A-Z0]|\x1b[=>78M]")

PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
volatile unsigned long sum;
#line 10 "%s"
__attribute__((noinline)) void SYMBOL(void)
{
    for (unsigned long i = 0; i < 100000000; i++)
        sum += i;
}
static void *run(void *name)
{
    prctl(PR_SET_NAME, name);
    SYMBOL();
    return NULL;
}
int main(int count, char **arguments)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, arguments[1]);
    SYMBOL();
    return pthread_join(thread, NULL);
}
"""


class HostileNames(unittest.TestCase):
    def check(self, printed, what, sequences=None):
        """Whether bytes are UTF-8 without controls but for ends of lines, and what is hpcviewer's own."""
        if sequences:
            printed = sequences.sub(b"", printed).translate(None, b"\r\b\x0e\x0f")
        text = printed.decode("utf-8")  # strict
        for line in text.replace("\r\n", "\n").split("\n"):
            if bad := CONTROL.search(line) or DIRECTION.search(line):
                self.fail(f"{what}: {bad[0]!r} in {line!r}")
        return text

    def tool(self, *words, cwd=None, status=0, log=None):
        """Runs a tool; what it printed."""
        done = subprocess.run(words, cwd=cwd, capture_output=True, timeout=600, stdin=subprocess.DEVNULL,
                              env={**os.environ, "LC_ALL": "C.UTF-8"})
        what = os.path.basename(os.fsdecode(words[0]))
        said = [self.check(done.stdout, what), self.check(done.stderr, what)]
        if status is not None:
            self.assertEqual(done.returncode, status, said)
        return said

    def check_pages(self, database, projections=([], ["--physical"])):
        """All that hpcviewer prints of a database."""
        outputs = {}
        for view in ("top-down", "bottom-up", "flat", "threads", "summary"):
            formats = ["text", "json"] if view == "summary" else ["text", "csv", "json"]
            if view in ("top-down", "bottom-up"):
                formats += ["folded", "speedscope", "flamegraph"]
            for kind in formats:
                for more in projections:
                    printed, said = self.tool(BIN / "hpcviewer", "--no-config", "--print", view,
                                              "--format", kind, *more, database)
                    self.assertEqual(said, "")
                    outputs[view, kind, bool(more)] = printed
        for (view, kind, _), printed in outputs.items():
            if kind in ("json", "speedscope"):
                json.loads(printed)
            if kind == "flamegraph":
                html.parser.HTMLParser().feed(printed)
        raw = subprocess.run([BIN / "hpcviewer", "--closed", "--no-config", "--print", "top-down", "--format",
                              "pprof", database], capture_output=True, check=True).stdout
        for text in protobuf_reader.Pprof(raw).strings:
            self.check(text.encode(), "pprof")
        return outputs

    def check_terminal(self, database, locale="C.UTF-8"):
        """The bytes that the viewer sends to a terminal, on all its pages."""
        with viewer_driver.Driver([BIN / "hpcviewer", "--closed", "--no-config", os.fsdecode(database)],
                                  environment={"LC_ALL": locale}) as driver:
            seen = bytearray(driver.first.output)
            for key in ("*", "j", "j", "j", "j", "j", "i", "q", "2", "*", "3", "*", "4", "j", "q", "5",
                        "q", "1", "H", "p", "H", "?", "q"):
                seen += driver.press(key.encode()).output
        for sequence in (b"\x1b]0;", b"\x1b[77;199H"):
            self.assertNotIn(sequence, seen)
        return self.check(bytes(seen), "terminal", OWN_SEQUENCES)


class WholeChain(HostileNames):
    """A program that is hostile by its path, symbols, sources, threads and arguments."""

    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="hpctest-")
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.where = os.path.join(os.fsencode(self.root), HOSTILE)
        os.mkdir(self.where)

    def build(self):
        """The program; its function's name is replaced in the symbols and the debug information."""
        escaped = "".join(f"\\{byte:03o}" for byte in HOSTILE)
        name = b"f" * len(HOSTILE)
        source = os.path.join(self.root, "p.c")
        pathlib.Path(source).write_text(PROGRAM.replace("SYMBOL", name.decode()) % escaped)
        built = os.path.join(self.root, "p")
        subprocess.run(["cc", "-g", "-O1", source, "-o", built, "-lpthread"], check=True)
        data = pathlib.Path(built).read_bytes()
        self.assertIn(name, data)
        self.program = os.path.join(self.where, HOSTILE)
        with open(self.program, "wb") as out:
            out.write(data.replace(name, HOSTILE))
        os.chmod(self.program, 0o755)
        with open(os.path.join(self.where, b"copy"), "wb") as out:
            out.write(b"/* \x1b[77;199H \xc2\x9b \xe2\x80\xae */\n" * 30)
        os.rename(os.path.join(self.where, b"copy"), os.path.join(os.fsencode(self.root), b"p.c"))

    def measure(self):
        self.build()
        _, said = self.tool(profiling.HPCRUN, "-e", "CPUTIME@f1000", self.program, THREAD, HOSTILE,
                            cwd=self.where)
        self.assertIn(FORM + "[", said)
        made = [name for name in os.listdir(self.where) if name.startswith(b"hpctoolkit-")]
        self.assertEqual(len(made), 1)
        self.check(made[0], "name of the measurement directory")
        directory = os.path.join(self.where, made[0])
        with open(os.path.join(directory, b"hpcrun.log"), "rb") as log:
            self.assertIn(FORM + "[", self.check(log.read(), "hpcrun.log"))
        return directory

    def test_every_tool(self):
        directory = self.measure()
        listed, _ = self.tool(BIN / "hpcstruct", directory, status=None)
        self.assertIn(FORM, listed)
        self.tool(BIN / "hpcstruct", "-o", "-", self.program)
        printed, _ = self.tool(BIN / "hpcprof", directory, cwd=self.where,
                               status=None)
        self.assertRegex(printed, r"\Ahpctoolkit-.*-database\n\Z")
        database = os.path.join(self.where, os.fsencode(printed[:-1]))
        outputs = self.check_pages(database, ([],))
        # Where the database has no bytes but UTF-8's, U+FFFD stands for others.
        shown = FORM.replace(r"\xff\xc3", "\ufffd\ufffd")
        for kind in ("text", "csv"):
            self.assertIn(shown, outputs["top-down", kind, False])
        self.assertIn(THREAD_FORM, outputs["threads", "text", False])
        terminal = self.check_terminal(database)
        self.assertIn(THREAD_FORM, terminal)
        self.check_terminal(database, "C")

    def test_what_is_not_there(self):
        """Messages that name what the user, or a file, names."""
        missing = os.path.join(self.where, b"missing" + HOSTILE)
        for words in ([profiling.HPCRUN, missing], [profiling.HPCRUN, b"-e" + HOSTILE, "true"],
                      [profiling.HPCRUN, b"--agent=" + HOSTILE, "true"],
                      [profiling.HPCRUN, b"--" + HOSTILE, "true"],
                      [profiling.HPCRUN, b"--cores", HOSTILE, "true"],
                      [profiling.HPCRUN, b"-o", missing + b"/a/b", "true"],
                      [BIN / "hpcstruct", missing], [BIN / "hpcstruct", b"--" + HOSTILE],
                      [BIN / "hpcstruct", b"-j", HOSTILE, "x"], [BIN / "hpcstruct", self.where],
                      [BIN / "hpcprof", missing], [BIN / "hpcprof", b"--" + HOSTILE],
                      [BIN / "hpcprof", b"-I", missing, self.where],
                      [BIN / "hpcprof", b"-R", HOSTILE, self.where],
                      [BIN / "hpcprof", b"-j", HOSTILE, self.where],
                      [BIN / "hpcviewer", missing], [BIN / "hpcviewer", self.where],
                      [BIN / "hpcviewer", b"--" + HOSTILE, self.where],
                      [BIN / "hpcviewer", b"--print", HOSTILE, self.where],
                      [BIN / "hpcviewer", b"--print", b"top-down", b"--format", HOSTILE, self.where],
                      [BIN / "hpcviewer", b"--print", b"top-down", b"--sort", HOSTILE, self.where]):
            with self.subTest(words=words):
                printed, said = self.tool(*words, cwd=self.root, status=None)
                self.assertTrue(said)

    def test_a_database_of_a_hostile_name(self):
        directory = self.measure()
        target = os.path.join(self.where, b"db" + HOSTILE)
        printed, _ = self.tool(BIN / "hpcprof", b"-o", target, directory, cwd=self.where,
                               status=None)
        self.assertTrue(printed.endswith("db" + FORM + "\n"), printed)
        self.tool(BIN / "hpcviewer", "--no-config", "--print", "summary", target)
        self.tool(BIN / "hpcviewer", "--no-config", "--print", "top-down", "--compare", target, target,
                  status=None)


class Agents(HpcprofCase, HostileNames):
    """Names in measurements, which anybody can write: of an agent, modules, threads, hosts, code."""

    def test_names_in_measurements(self):
        module = self.program()
        process = self.process(module, executable=HOSTILE, directory=HOSTILE, arguments=[HOSTILE])
        table = process.names([(0, HOSTILE, HOSTILE, 7)])
        process.code_names = b"900000 100 code" + HOSTILE.replace(b"\n", b"") + b"\n"
        other = process.module(b"/lib/" + HOSTILE, begin=0xa00000, end=0xb00000)
        thread = process.thread(name=HOSTILE)
        thread.add(thread.node(mw.ROOT, lip=("names", table, 0), ip=(other, 0x10)), 0, mw.seconds(1))
        thread.add(thread.node(mw.ROOT, ip=(0, 0x900010)), 0, mw.seconds(1))
        self.scenario.write()
        printed, _ = self.tool(BIN / "hpcprof", "-o", self.at("db"), self.scenario.measurements,
                               status=None)
        outputs = self.check_pages(self.at("db"))
        self.assertIn(FORM.split(r"\xff")[0], outputs["top-down", "text", False])
        self.check_terminal(self.at("db"))


class Databases(HostileNames):
    def test_names_in_a_database(self):
        with tempfile.TemporaryDirectory() as folder:
            db = v4_writer.Database(HOSTILE, [HOSTILE, "work"])
            module, file = db.module(b"/" + HOSTILE), db.file(b"/" + HOSTILE)
            main = db.entry(1, b"main" + HOSTILE).call(db.function(b"main", module, 0x10, file, 1))
            main.statement(file, 2).call(db.function(HOSTILE, module, 0x100, file, 3)).charge(5)
            v4_writer.write_database(db, folder)
            outputs = self.check_pages(folder, ([],))
            self.assertIn(FORM, outputs["top-down", "text", False])
            self.check_terminal(folder)

    def test_a_copy_is_below_the_database(self):
        """Paths of copies come from others, too: one that leads elsewhere is no copy."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "secret").write_text("int secret;\n")
            for i, path in enumerate(["src/../../secret", "../../secret"]):
                db = v4_writer.Database("title", ["work"])
                file = db.file(path, copied=True)
                main = db.entry().call(db.function("main", db.module("/m"), 0, file, 1))
                main.statement(file, 1).charge(5)
                v4_writer.write_database(db, folder / f"db{i}")
                for inner in ("src", "physical"):
                    (folder / f"db{i}" / inner).mkdir(exist_ok=True)
                with viewer_driver.Driver([BIN / "hpcviewer", "--closed", "--no-config", folder / f"db{i}"]) as driver:
                    seen = driver.first.output + driver.press(b"*").output + driver.press(b"j").output
                    self.assertNotIn(b"int secret", seen + driver.press(b"j").output, path)
