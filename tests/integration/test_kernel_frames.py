"""The kernel's frames below the program's: hpcrun --kernel, and from outside."""
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import unittest

import profiling
from evidence import OfChance, of_share
from profiling import HPCRUN, ORDINARY_USER, program

BIN = profiling.BUILD / "bin"
KERNEL = "[kernel]"
WAYS = {"preloaded": ["--kernel"], "outside": ["--outside"]}


def addresses_are_shown():
    return any(int(line.split(None, 1)[0], 16) for line in pathlib.Path("/proc/kallsyms").open())


def kernel_names():
    """Names in /proc/kallsyms, with the module as hpcrun adds it."""
    fields = (line.split() for line in pathlib.Path("/proc/kallsyms").open())
    return {" ".join(words[2:]) for words in fields}


def rows(row, above=()):
    """Each row of a printed tree, after the names above it."""
    yield above, row
    for child in row["children"]:
        yield from rows(child, above + (row["name"],))


def seconds(row, metric, part):
    return row["metrics"].get(metric, {}).get(part) or 0


class KernelTest(profiling.ProfilingTest):
    def setUp(self):
        super().setUp()
        if profiling.PERF_IS_REFUSED:
            self.skipTest("perf may not sample the kernel here")

    def way(self, name):
        if name == "outside" and not profiling.outside_is_allowed():
            self.skipTest("perf_event_open is not permitted here")
        return WAYS[name]

    def tree(self, database, *options, view="top-down"):
        done = self.run_tool(BIN / "hpcviewer", "--no-config", "--print", view, "--format", "json", "--min-percent", 0,
                             *options, database)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["root"]

    def symbol_files(self):
        return list(self.measurements.glob("*.kernel"))


class Shares(OfChance, KernelTest):
    measures_time = True

    def test_time_in_the_kernel(self):
        """As much as the kernel's own account of the process has. Both are samples: of ticks, and ours."""
        for name in WAYS:
            option = self.way(name)
            with self.subTest(name):
                for evidence in self.looks():
                    done, images = self.measure(program("kernel_work"), 1, options=option, paths=True)
                    self.check_fates(images)
                    user, system = map(float, done.stdout.split())
                    paths = [(value, path) for thread in images[0].threads for _, value, path in thread.paths]
                    total = sum(value for value, _ in paths) * profiling.TIME_UNIT
                    seen = sum(value for value, path in paths if path[0].startswith(KERNEL)) * profiling.TIME_UNIT
                    truth, period = total * system / (user + system), images[0].mean_period("CPUTIME")
                    evidence.between(name, seen, truth - 0.02 * total, truth + 0.02 * total,
                                     of_share(truth, total, period) + of_share(truth, total, profiling.KERNEL_TICK),
                                     0.3 * total)


class Frames(KernelTest):
    def check_places(self, tree):
        """Reads are below `read`, faults below the code that touches the pages; the rest is the program's."""
        below = {"reader": 0, "toucher": 0, "burn": 0}
        for above, row in rows(tree):
            own = next((name for name in reversed(above) if name in below), None)
            if row["module"] == KERNEL and own:
                below[own] += seconds(row, "work", "exclusive")
            if row["module"] == KERNEL and row["name"] == "vfs_read":
                self.assertIn("reader", above)
            if row["module"] == KERNEL and row["name"] == "handle_mm_fault" and "toucher" in above:
                self.assertIn("asm_exc_page_fault", above[above.index("toucher"):])
        names = {row["name"] for _, row in rows(tree) if row["module"] == KERNEL}
        self.assertLessEqual({"vfs_read", "handle_mm_fault"}, names)
        self.assertGreater(below["reader"], 0)
        self.assertGreater(below["toucher"], 0)
        return names

    def check_folding(self, database, shown):
        """By default all costs are where the program called the kernel, and no procedure of the kernel is there."""
        folded = self.tree(database)
        self.assertEqual([row["name"] for _, row in rows(folded) if row["module"] == KERNEL], [])
        for metric in ("work", "kernel"):
            of = [{(*above, row["name"]): seconds(row, metric, "inclusive") for above, row in rows(tree)
                   if row["module"] != KERNEL and row["kind"] == "procedure"} for tree in (folded, shown)]
            self.assertEqual(of[0].keys(), of[1].keys())
            for path, value in of[0].items():
                self.assertAlmostEqual(value, of[1][path], 9, path)
        self.assertAlmostEqual(seconds(folded, "kernel", "inclusive"),
                               sum(seconds(row, "work", "exclusive") for _, row in rows(shown)
                                   if row["module"] == KERNEL), 6)

    def test_frames_below_the_program(self):
        if not addresses_are_shown():
            self.skipTest("the kernel hides its addresses")
        for name in WAYS:
            option = self.way(name)
            with self.subTest(name):
                _, images = self.measure(program("kernel_work"), 0.4, options=option)
                self.assertEqual(sum(KERNEL in line for line in images[0].modules), 1)
                database = self.make_database()
                shown = self.tree(database, "--kernel")
                names = self.check_places(shown)
                self.assertLessEqual(names, kernel_names())
                self.check_folding(database, shown)
                half = self.tree(database, "--kernel", "--to", "50%")
                self.assertAlmostEqual(seconds(half, "kernel", "inclusive"),
                                       sum(seconds(row, "work", "exclusive") for _, row in rows(half)
                                           if row["module"] == KERNEL), 6)
                self.assertTrue(0 < seconds(half, "kernel", "inclusive") < seconds(shown, "kernel", "inclusive"))
                (saved,) = self.symbol_files()
                self.assertEqual(saved.stat().st_mode & 0o777, 0o600)

    def test_program_without_the_kernel(self):
        """Without the option nothing is recorded of it, nor saved."""
        _, images = self.measure(program("kernel_work"), 0.1)
        self.assertFalse(any(KERNEL in line for line in images[0].modules))
        self.assertEqual(self.symbol_files(), [])
        self.assertEqual(seconds(self.tree(self.make_database()), "kernel", "inclusive"), 0)

    def test_child_of_a_fork(self):
        """It has rings of its own: its parent's are not mapped in it."""
        _, images = self.measure(program("kernel_work"), "fork", 0.2, options=["--kernel"], paths=True)
        self.check_fates(images)
        child = max(images, key=lambda image: image.cpu)
        self.assertEqual((len(images), child.state), (2, 1))
        self.assertTrue(any(path[0].startswith(KERNEL) for thread in child.threads for _, _, path in thread.paths))


class Rights(KernelTest):
    def as_user(self, *capabilities):
        """The words before a command of an ordinary user with these capabilities."""
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("needs root and setpriv")
        words = ["setpriv", "--reuid", ORDINARY_USER, "--regid", ORDINARY_USER, "--clear-groups"]
        for name in capabilities:
            words += [f"--inh-caps=+{name}", f"--ambient-caps=+{name}"]
        if subprocess.run([*map(str, words), "true"], capture_output=True).returncode != 0:
            self.skipTest("this setpriv knows no such capability")
        return words

    def level(self):
        return int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())

    def test_ordinary_user(self):
        """One line says why there are none, and what would allow it. The program runs and is measured as without."""
        user = self.as_user()
        if self.level() < 2:
            self.skipTest("ordinary users may sample the kernel here")
        where = self.directory / "m"
        done = self.run_tool(*user, HPCRUN, "--kernel", "-o", where, program("kernel_work"), 0.1)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = [line for line in done.whole_stderr.splitlines() if "no kernel frames" in line]
        self.assertEqual(len(said), 1, done.whole_stderr)
        self.assertTrue(said[0].endswith("as root, allow it by: sysctl kernel.perf_event_paranoid=1"), said)
        outside = self.directory / "outside"
        done = self.run_tool(*user, HPCRUN, "--outside", "-o", outside, program("kernel_work"), 0.1)
        self.assertEqual(done.returncode, 0, done.stderr)
        for measurements in where, outside:
            (image,) = profiling.read_measurements(measurements)
            self.assertFalse(any(KERNEL in line for line in image.modules))
            self.assertEqual(list(measurements.glob("*.kernel")), [])

    def test_hidden_addresses(self):
        """A user who may sample the kernel, but not see its addresses, gets one frame; no address is recorded."""
        user = self.as_user("perfmon")
        if self.level() < 2:
            self.skipTest("ordinary users may see addresses here")
        self.measurements = self.directory / "m"
        done = self.run_tool(*user, HPCRUN, "--kernel", "-o", self.measurements, program("kernel_work"), 0.2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("kernel frames have no names: the kernel hides its addresses from you", done.stderr)
        self.assertEqual(self.symbol_files(), [])
        (image,) = profiling.read_measurements(self.measurements, paths=True)
        frames = {frame for thread in image.threads for _, _, path in thread.paths for frame in path
                  if frame.startswith(KERNEL)}
        self.assertEqual(frames, {KERNEL + "+0x0"})
        shown = self.tree(self.make_database(), "--kernel")
        self.assertEqual({row["name"] for _, row in rows(shown) if row["module"] == KERNEL}, {KERNEL})


class Names(KernelTest):
    def measured(self):
        if not addresses_are_shown():
            self.skipTest("the kernel hides its addresses")
        self.measure(program("kernel_work"), 0.1, options=["--kernel"])
        (saved,) = self.symbol_files()
        return saved, gzip.decompress(saved.read_bytes()).decode()

    def test_hostile_names(self):
        """The names are text from a file."""
        saved, text = self.measured()
        lines = text.splitlines()
        hostile = [line if line.startswith("kernel ") else line + "\x1b[77;199H\x07\x9b\u202e" for line in lines]
        saved.write_bytes(gzip.compress("\n".join(hostile).encode()))
        database = self.make_database()
        for kind in ("text", "json", "csv", "folded"):
            done = subprocess.run([BIN / "hpcviewer", "--no-config", "--print", "top-down", "--kernel", "--format", kind,
                                   database], capture_output=True, check=True)
            self.assertIn(rb"vfs_read\u001b[77" if kind == "json" else rb"vfs_read\x1b[77", done.stdout)
            for bad in (b"\x1b", b"\x07", "\x9b".encode(), "\u202e".encode()):
                self.assertNotIn(bad, done.stdout)

    def test_damaged_names(self):
        """They cost the names only, and one line says so."""
        saved, _ = self.measured()
        saved.write_bytes(saved.read_bytes()[:-50])
        where = self.directory / "database"
        done = self.run_tool(BIN / "hpcprof", "-o", where, self.measurements)
        self.assertIn(f"{saved}: damaged: the kernel's code is shown without names", done.stderr)
        shown = self.tree(where, "--kernel")
        self.assertGreater(seconds(shown, "kernel", "inclusive"), 0)
        self.assertEqual({row["name"] for _, row in rows(shown) if row["module"] == KERNEL}, {KERNEL})

    def test_names_that_another_run_has_listed(self):
        """From outside, names are kept for other runs in the same boot, and only for these."""
        if not addresses_are_shown():
            self.skipTest("the kernel hides its addresses")
        cache = self.directory / "cache"
        kept = cache / "hpctoolkit" / "structure" / "kernel-names"

        def names():
            self.measurements = self.directory / "m"
            shutil.rmtree(self.measurements, ignore_errors=True)
            done = self.run_tool(HPCRUN, *self.way("outside"), "-o", self.measurements, program("kernel_work"), 0.2,
                                 env={**os.environ, "XDG_CACHE_HOME": str(cache)})
            self.assertEqual(done.returncode, 0, done.stderr)
            (saved,) = self.symbol_files()
            return {line.split(" ", 2)[2] for line in gzip.decompress(saved.read_bytes()).decode().splitlines()[1:]}

        self.assertTrue(names())
        text = kept.read_text()
        head, *lines = text.splitlines(keepends=True)
        self.assertFalse([line for line in lines if line.endswith("]\n")])
        changed = "".join(line.replace("\n", "_of_another_run\n") for line in lines)
        kept.write_text(head + changed)
        if any(name.endswith("]") for name in names()):
            self.skipTest("samples in modules: /proc/kallsyms is read each time")
        self.assertEqual({name.endswith("_of_another_run") for name in names()}, {True})
        kept.write_text(head.replace("kernel ", "kernel 1", 1) + changed)
        self.assertEqual({name.endswith("_of_another_run") for name in names()}, {False})
        self.assertEqual(kept.read_text(), text)

    def test_names_of_another_boot(self):
        """Loadable modules are at other places in another boot."""
        saved, text = self.measured()
        saved.write_bytes(gzip.compress(text.replace("kernel ", "kernel 1", 1).encode()))
        shown = self.tree(self.make_database(), "--kernel")
        self.assertEqual({row["name"] for _, row in rows(shown) if row["module"] == KERNEL}, {KERNEL})

    def test_names_that_an_earlier_rank_has_saved(self):
        """All names are saved once; a file with those of another boot, or with a few, does not count."""
        if not addresses_are_shown():
            self.skipTest("the kernel hides its addresses")
        self.measurements = self.directory / "ranks"

        def run(rank):
            done = self.run_tool(HPCRUN, "--kernel", "-o", self.measurements, program("kernel_work"), 0.01,
                                 env={**os.environ, "PMI_RANK": str(rank), "PMI_SIZE": "4"})
            self.assertEqual(done.returncode, 0, done.stderr)
            (saved,) = self.symbol_files()
            return saved, gzip.decompress(saved.read_bytes()).decode()

        saved, text = run(0)
        self.assertEqual(text.count(" all\n"), 1)
        lines = text.splitlines(keepends=True)
        for rank, (content, is_added) in enumerate(((text, False), ("kernel 1 all\n" + "".join(lines[1:5]), True),
                                                    (lines[0].replace(" all", "") + "".join(lines[1:5]), True)), 1):
            with self.subTest(rank):
                saved.write_bytes(gzip.compress(content.encode()))
                self.assertEqual(run(rank)[1], content + is_added * text)


if __name__ == "__main__":
    unittest.main()
