"""hpcviewer on damaged databases: it prints one clear line, and never crashes, hangs or uses much
memory. FUZZ_ROUNDS sets the number of damaged databases (default 150)."""
import fcntl
import os
import pathlib
import pty
import random
import resource
import select
import shutil
import struct
import subprocess
import tempfile
import termios
import unittest

import test_viewer_range
import v4_writer
import viewer
import viewer_story as story
from v4_writer import Layout

ROUNDS = int(os.environ.get("FUZZ_ROUNDS", "150"))
FILES = ("meta.db", "profile.db", "run.json")
VIEWS = ("top-down", "bottom-up", "flat", "threads", "summary")
FORMATS = ("text", "csv", "json", "folded", "flamegraph", "speedscope", "pprof")
MEMORY = 1 << 30
OUTPUT = 64 << 20
SANITIZED = b"__asan_init" in viewer.VIEWER.read_bytes()


def limit():
    """Limits of a run. Sanitizers reserve terabytes of address space, so that is then unlimited."""
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT, OUTPUT))
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))


def words(data):
    return len(data) // 8


def damage(data, rng):
    """One to four changes, mostly of numbers that may be a pointer, size or count."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        kind = rng.random()
        if kind < 0.2:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        elif kind < 0.3:
            data[rng.randrange(len(data))] = rng.choice([0, 1, 2, 3, 4, 0x7f, 0x80, 0xff])
        elif kind < 0.4 and len(data) > 32:
            del data[rng.randrange(16, len(data)):]
            if rng.random() < 0.5:  # as long as it should be
                data.extend(bytes(64) + b"_meta.db")
        elif kind < 0.5:
            at = rng.randrange(max(1, len(data) - 4))
            data[at:at + 4] = rng.choice([0, 1, 0xffffffff, 0x7fffffff, 0x10000]).to_bytes(
                4, "little")
        else:
            size = len(data)
            other = rng.randrange(max(1, words(data))) * 8
            value = rng.choice([0, 1, 8, 1 << 32, (1 << 64) - 1, (1 << 64) - 8, 1 << 63, size,
                                size - 8, rng.randrange(max(1, size)) & ~7, other,
                                int.from_bytes(data[other:other + 8], "little")])
            at = rng.randrange(max(1, words(data))) * 8
            data[at:at + 8] = value.to_bytes(8, "little")
    return bytes(data)


def formats_of(view):
    """What a view can be printed as, of the formats that all views but the summary have."""
    return ("text", "json") if view == "summary" else FORMATS[:3]



class Fuzz(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def check(self, folder, *arguments):
        """Runs hpcviewer; it must succeed or print one clear line."""
        output = self.top / "output"
        environment = dict(os.environ, LC_ALL="C.UTF-8", ASAN_OPTIONS="exitcode=99",
                           UBSAN_OPTIONS="halt_on_error=1:exitcode=99")
        with open(output, "wb") as out:
            done = subprocess.run([viewer.VIEWER, *arguments, folder], stdout=out,
                                  stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=600,
                                  env=environment, preexec_fn=limit)
        said = done.stderr.decode(errors="replace").splitlines()
        self.assertIn(done.returncode, (0, 1, 2), (done.returncode, said))
        self.assertLess(output.stat().st_size, OUTPUT)
        self.assertEqual(done.returncode != 0, bool(said), said)
        self.assertLessEqual(len(said), 2, said)
        for line in said:
            self.assertRegex(line, r"^hpcviewer: .+")
        return done.returncode

    def databases(self):
        story.write(self.top / "story")
        yield self.top / "story"
        for seed, layout in enumerate([Layout(), Layout(scopes=("execution", "function")),
                                       Layout(ids="shuffled", arrays="upwards", extra=8)]):
            folder = self.top / f"random{seed}"
            v4_writer.write_database(viewer.random_database(seed, 60), folder, layout)
            yield folder
        parallel = viewer.random_database(3, 60, ("work", "overhead", "idleness", "overhead:spawn",
                                              "overhead:sync"))
        v4_writer.write_database(parallel, self.top / "parallel")
        yield self.top / "parallel"

    def damaged(self, base, file, rng):
        """A copy of a database with one file damaged."""
        folder = self.top / "damaged"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(base, folder)
        (folder / file).write_bytes(damage((base / file).read_bytes(), rng))
        return folder

    def damage_each(self, rounds, seed, bases, files, views, arguments, share=80):
        """Some damage is harmless and some is fatal: each is at least a `share`th of the rounds."""
        results = {0: 0, 1: 0, 2: 0}
        for number in range(rounds):
            rng = random.Random(seed + number)
            base, view = rng.choice(bases), rng.choice(views)
            file = rng.choice([f for f in files if (base / f).exists()])
            with self.subTest(number=number, base=base.name, file=file, view=view):
                folder = self.damaged(base, file, rng)
                results[self.check(folder, "--print", view, *arguments(rng, base, view))] += 1
        self.assertGreater(results[0], ROUNDS // share)
        self.assertGreater(results[1], ROUNDS // share)

    def test_damage_anywhere(self):
        def arguments(rng, base, view):
            kinds = ["--kinds"] if base.name == "parallel" and rng.random() < 0.5 else []
            whole = ("--min-percent", "0") if view in VIEWS[:3] else ()
            return "--format", rng.choice(FORMATS if view in VIEWS[:3] else formats_of(view)), *whole, *kinds
        self.damage_each(ROUNDS, 0, list(self.databases()), FILES, VIEWS, arguments, share=20)

    def test_damage_where_threads_are_added_up(self):
        self.damage_each(ROUNDS // 4, 1000, list(self.databases()), FILES, VIEWS[:4], lambda rng, base, view: (
            "--threads", rng.choice(("[17]", ".")), "--format", rng.choice(formats_of(view))))

    def test_damage_of_the_time_line(self):
        def arguments(rng, base, view):
            time = rng.choice((("--from", "10%", "--to", "60%"), ("--phase", "1"), ("--to", "1ms")))
            return *(time if view != "phases" else ()), "--format", rng.choice(formats_of(view))
        base = self.top / "recorded"
        test_viewer_range.Recorded(1).write(base)
        self.damage_each(ROUNDS // 2, 4000, [base], ("timeline.db",) * 3 + ("profile.db", "meta.db"), VIEWS + ("phases",),
                         arguments)

    def test_damage_under_derived_metrics(self):
        formulas = ("$2 - @1 / $1:exclusive", "-$1", "1 / $1")

        def arguments(rng, base, view):
            sort = ["--sort", "x"] if rng.random() < 0.5 and view != "summary" else []
            return "--derive", f"x = {rng.choice(formulas)}", *sort, "--format", rng.choice(formats_of(view))
        self.damage_each(ROUNDS // 4, 2000, list(self.databases()), FILES, VIEWS, arguments)

    def test_damage_under_folded_inlined_code(self):
        def arguments(rng, base, view):
            more = rng.choice(([], ["--threads", "."], ["--derive", "x = -$1"]))
            return "--fold-inlined", *more, "--format", rng.choice(formats_of(view))
        self.damage_each(ROUNDS // 2, 3000, list(self.databases()), FILES, VIEWS[:4], arguments)

    def test_damage_on_a_side_of_a_comparison(self):
        """Also compares a damaged database with its original, so that much matches."""
        bases = list(self.databases())
        for number in range(ROUNDS // 4):
            rng = random.Random(-number)
            whole, base = rng.choice(bases), rng.choice(bases)
            whole = rng.choice((whole, base))
            file = rng.choice([f for f in FILES if (base / f).exists()])
            view = rng.choice(("top-down", "bottom-up", "flat", "summary"))
            with self.subTest(number=number, base=base.name, file=file, view=view):
                folder = self.damaged(base, file, rng)
                sides = [whole, folder] if rng.random() < 0.5 else [folder, whole]
                whole = ("--min-percent", "0") if view != "summary" else ()
                self.check(sides[1], "--print", view, "--format", rng.choice(formats_of(view)), *whole, sides[0])

    def view(self, folder, keys, width, height):
        """The terminal viewer in a terminal of that size, given all keys at once."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        environment = dict(os.environ, LC_ALL="C.UTF-8", TERM="xterm-256color",
                           ASAN_OPTIONS="exitcode=99",
                           UBSAN_OPTIONS="halt_on_error=1:exitcode=99")
        program = subprocess.Popen([viewer.VIEWER, folder], stdin=slave, stdout=slave,
                                   stderr=subprocess.PIPE, env=environment, preexec_fn=limit)
        os.close(slave)
        # As soon as something is drawn, the terminal passes keys on unchanged.
        is_sent = False
        while self.read(master):
            if not is_sent:
                os.write(master, keys)
            is_sent = True
        os.close(master)
        said = program.stderr.read().decode(errors="replace")
        program.stderr.close()
        self.assertIn(program.wait(timeout=600), (0, 1), said)

    def read(self, master):
        """The next output of a program on its terminal; empty if the program has ended."""
        self.assertTrue(select.select([master], [], [], 600)[0], "neither output nor end")
        try:
            return os.read(master, 65536)
        except OSError:  # the other end is closed
            return b""

    def test_any_keys_on_any_screen(self):
        """Sound and damaged databases, screens of all sizes, keys at random."""
        commands = [b"k", b"j", b"\x1b[A", b"\x1bOB", b"l", b"h", b" ", b"\r", b"+", b"-", b"H",
                    b"z", b"Z", b"1", b"2", b"3", b"\t", b"\x1b[Z", b"p", b"s", b"S", b"r", b"g",
                    b"G", b"/f\r", b"/nowhere\r", b"/\x7f\x7fx\x1b", b"n", b"N", b"v", b"c", b"J",
                    b"K", b"\x04", b"\x15", b"\x06", b"\x02", b"?jG q", b"u", b"i", b"C -sJq",
                    b"Cdaq", b"dx=-$1\r", b"d$1/\r0\r", b"t", b"b", b"{", b"}",
                    b"ajG q", b"\xff", b"\xc3\xa9",
                    b"4q", b"4>hGq", b"4srtq<q", b"4j\r", b"4h\r", b"|.\r", b"|[12]\r", b"|(\r",
                    b"|\x15\r"]
        bases = list(self.databases())
        for number in range(ROUNDS // 8):
            rng = random.Random(number)
            base = rng.choice(bases)
            with self.subTest(number=number):
                folder = self.top / "damaged"
                shutil.rmtree(folder, ignore_errors=True)
                shutil.copytree(base, folder)
                if number % 3:
                    file = rng.choice([f for f in FILES if (base / f).exists()])
                    (folder / file).write_bytes(damage((base / file).read_bytes(), rng))
                keys = b"".join(rng.choice(commands) for _ in range(60))
                # These keys end the viewer in any state, even after the first bytes of a character.
                self.view(folder, keys + b"    \x1b\rqqqq", rng.randint(1, 120),
                          rng.randint(1, 50))

    def test_damaged_values_of_contexts(self):
        """The costs of a row in each thread."""
        bases = list(self.databases())
        for number in range(ROUNDS // 10):
            rng = random.Random(number)
            base = rng.choice(bases)
            with self.subTest(number=number):
                folder = self.damaged(base, "profile.db", rng)
                rows = b"".join(b"4>hq" + b"j+" * rng.randint(1, 5) for _ in range(8))
                self.view(folder, rows + b"2" + rows + b"3" + rows + b"    \x1b\rqqqq", 80, 24)

    def test_truncation_anywhere(self):
        base = next(self.databases())
        for file in FILES:
            data = (base / file).read_bytes()
            for size in sorted({0, 1, 15, 16, 17, 31, 32, len(data) - 1, len(data) - 8} |
                               set(range(0, len(data), max(1, len(data) // 40)))):
                with self.subTest(file=file, size=size):
                    (base / file).write_bytes(data[:size])
                    self.assertEqual(self.check(base, "--print", "flat"), 1)
            (base / file).write_bytes(data)
        self.assertEqual(self.check(base, "--print", "flat"), 0)

    def test_files_that_are_none(self):
        base = next(self.databases())
        for file in FILES[:2]:
            data = (base / file).read_bytes()
            (base / file).unlink()
            (base / file).mkdir()
            self.assertEqual(self.check(base, "--print", "flat"), 1)
            (base / file).rmdir()
            os.mkfifo(base / file)
            self.assertEqual(self.check(base, "--print", "flat"), 1)
            (base / file).unlink()
            (base / file).write_bytes(data)
        for name, cause in ((b"HPCTOOLKITprof\4\0", "another file"), (b"HPCTOOLKITmeta\3\0", "not version 4"),
                            (b"\x7fELF", "not a file of an HPCToolkit")):
            data = bytearray((base / "meta.db").read_bytes())
            data[:len(name)] = name
            (base / "meta.db").write_bytes(data)
            done = viewer.run("--print", "flat", base)
            self.assertEqual(done.returncode, 1)
            self.assertIn(cause, done.stderr)

    def contexts(self, data):
        """(position of the children's description, position of the children) of each context with any."""
        at = int.from_bytes(data[0x48:0x50], "little")
        entries = int.from_bytes(data[at:at + 8], "little")
        found, open_arrays = [], [(entries, 32, None)]
        while open_arrays:
            start, size, _ = open_arrays.pop()
            end = start + size
            while start < end:
                children_size = int.from_bytes(data[start:start + 8], "little")
                children = int.from_bytes(data[start + 8:start + 16], "little")
                if children_size:
                    found.append((start, children_size, children))
                    open_arrays.append((children, children_size, start))
                start += 32 if start == entries else 32 + 8 * data[start + 0x17]
        return found

    def test_cycles_and_shared_children(self):
        """Trees with cycles, or with an exponential number of paths."""
        base = self.top / "story"
        story.write(base)
        data = (base / "meta.db").read_bytes()
        arrays = self.contexts(data)
        self.assertGreater(len(arrays), 5)
        for i, (at, _, _) in enumerate(arrays):
            for k, (_, size, children) in enumerate(arrays):
                changed = bytearray(data)
                changed[at:at + 8] = size.to_bytes(8, "little")
                changed[at + 8:at + 16] = children.to_bytes(8, "little")
                (base / "meta.db").write_bytes(changed)
                self.check(base, "--print", VIEWS[(i + k) % 3], "--format", "csv")
        # Every context has the children of the outermost one, so the number of paths is exponential.
        changed = bytearray(data)
        for at, _, _ in arrays[1:]:
            changed[at:at + 16] = data[arrays[1][0]:arrays[1][0] + 16]
        (base / "meta.db").write_bytes(changed)
        for view in VIEWS[:3]:
            self.assertEqual(self.check(base, "--print", view, "--format", "json"), 1)
