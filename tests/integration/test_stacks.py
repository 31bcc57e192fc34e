"""Stacks of all kinds: samples change nothing, and call paths are what the program says."""
import re

import profiling
from evidence import OfChance, of_samples
from profiling import FIRED, PARTIAL, RECORDED, program, sources

RATE = 5000
TOO_DEEP, NO_UNWIND_INFORMATION = 68, 64


class Stacks(OfChance, profiling.ProfilingTest):
    def run_stacks(self, what, ms=300, name="stacks", arguments=None, **how):
        """The lines that the program prints after "fine", and the image."""
        done, (image,) = self.measure(program(name), *(arguments or (what, ms)), events=[f"CPUTIME@f{RATE}"],
                                      paths=True, **how)
        first, *rest = done.stdout.splitlines()
        self.assertEqual(first, "fine")
        self.check_fates([image])
        return rest, image

    def functions(self, path, module="stacks"):
        """The names of a path's functions that are the program's own."""
        return [name.split(".")[0] for name in profiling.functions(path, program(module))]

    def check_known(self, lines, image, evidence, module):
        """Each line names functions and the time below them, to 2 %; no sample is elsewhere."""
        paths = [(self.functions(path, module), path, value * profiling.TIME_UNIT)
                 for thread in image.threads for _, value, path in thread.paths]
        for line in lines:
            *known, ns = line.split()
            below = [(names, path, seconds) for names, path, seconds in paths if known[0] in names]
            for names, path, _ in below:
                at = names.index(known[0])
                self.assertEqual(names[at:at + len(known)], known, path)
                self.assertFalse(profiling.is_partial(path), path)
            truth = int(ns) * 1e-9
            evidence.between(" ".join(known), sum(seconds for *_, seconds in below), 0.98 * truth, 1.02 * truth,
                             of_samples(truth, image.mean_period("CPUTIME")), 0.25 * truth)

    def check(self, what, module="stacks", ms=200):
        """200 ms in one function are evidence enough in a single look."""
        for name, how in sources():
            with self.subTest(f"{what} {name}"):
                for evidence in self.looks():
                    lines, image = self.run_stacks(what, ms, name=module, **how)
                    self.check_known(lines, image, evidence, module)
                    self.assertEqual(image.count("CPUTIME", PARTIAL), 0)

    def test_contexts_that_are_switched(self):
        self.check("contexts", ms=300)

    def check_fibers(self, kind, base, **how):
        """Each path of a fiber is complete, and ends with these functions."""
        for evidence in self.looks():
            lines, image = self.run_stacks(None, name="fibers", arguments=(kind, 300), **how)
            self.check_known(lines, image, evidence, "fibers")
            for _, _, path in image.threads[0].paths:
                names = self.functions(path, "fibers")
                if "main" not in names and any(name.startswith("work_") for name in names):
                    self.assertEqual(names[-len(base) - 1:], [name.replace("work", "first") for name in names
                                                              if name.startswith("work_")] + base)
            self.assertEqual(image.count("CPUTIME", PARTIAL), 0)

    def test_fibers(self):
        for kind, base in (("end", []), ("caller", ["call_stub"])):
            for name, how in sources():
                with self.subTest(f"{kind} {name}"):
                    self.check_fibers(kind, base, **how)

    def test_fibers_by_wall_clock(self):
        for kind in ("function", "adjacent"):
            _, (image,) = self.measure(program("fibers"), kind, 300, events=["REALTIME@f1000"])
            self.assertEqual(image.count("REALTIME", PARTIAL), 0)
            self.assertGreater(image.count("REALTIME", [RECORDED]), 0)

    def test_stacks_split_across_mappings(self):
        self.check("split", ms=300)

    def test_the_smallest_stacks(self):
        self.check("tiny")
        self.check("tiny-own")

    def test_longjmp(self):
        self.check("jumps")

    def test_handlers_on_a_signal_stack(self):
        self.check("signal-stack")

    def test_stacks_without_room_for_a_sample(self):
        """Samples take no stack of the program: not of a signal stack, and not of a thread's or context's own."""
        for what in ("handler", "nested", "thread", "context"):
            self.check(what, "full_stacks")
        for name, how in sources():  # the outer frames of a coroutine are gone: its paths are partial
            with self.subTest(f"coroutine {name}"):
                _, image = self.run_stacks("coroutine", name="full_stacks", **how)
                self.assertGreater(image.count("CPUTIME", [FIRED]), 100)

    def test_recursion_a_million_deep(self):
        """The innermost frames of the path are kept, up to the limit, and it is marked as partial."""
        header = (profiling.ROOT / "hpcrun/unwind/unwind.h").read_text()
        bound = int(re.search(r"UNWIND_MAX_FRAMES (\d+)", header).group(1))
        (line,), image = self.run_stacks("deep")
        lengths = [len(path) - 2 for thread in image.threads for _, _, path in thread.paths
                   if profiling.is_partial(path)]
        self.assertEqual(max(lengths), bound)
        for thread in image.threads:
            for _, _, path in thread.paths:
                self.assertTrue(profiling.is_partial(path) or "deepest" not in self.functions(path[:4]), path)
        deep = sum(value for thread in image.threads for _, value, path in thread.paths
                   if "deepest" in self.functions(path[:4])) * profiling.TIME_UNIT
        self.assertGreater(deep, 0.295 - 5 * image.mean_period("CPUTIME"))  # of the 0.3 s of work there
        self.assertLess(deep, int(line) * 1e-9)

    def test_samples_that_take_longer_than_the_period(self):
        """Samples of a path beyond the limit, which is new to the tree every time: the program makes progress between
        them, also with wall-clock samples."""
        for event in ("CPUTIME", "REALTIME"):
            for name, how in sources():
                with self.subTest(f"{event} {name}"):
                    _, (image,) = self.measure(program("recursion"), 10000, 100, "leaf", events=[f"{event}@f10000"], **how)
                    self.check_fates([image])
                    self.assertGreater(image.count(event, [TOO_DEEP]), 0)
                    self.assertLess(image.seconds(event, [FIRED]), 1.02 * image.wall)
                    self.assertGreater(image.seconds(event, [FIRED]), 0.5 * image.cpu)

    def test_overflow_that_the_program_catches(self):
        for name, how in sources():
            with self.subTest(name):
                _, image = self.run_stacks("overflows", **how)
                self.assertGreater(image.count("CPUTIME", [FIRED]), 20)

    def test_stack_pointer_as_a_general_register(self):
        """Only the innermost frame of such a path is known, and the path is marked as partial."""
        lines, image = self.run_stacks("stack-pointer")
        (line,) = lines
        found = [(path, value * profiling.TIME_UNIT) for thread in image.threads for _, value, path in thread.paths
                 if self.functions(path[:1]) == ["sp_counts_down"]]
        self.assertAlmostEqual(sum(seconds for _, seconds in found), int(line.split()[1]) * 1e-9,
                               delta=0.02 + 5 * image.mean_period("CPUTIME"))
        self.assertGreater(image.count("CPUTIME", [NO_UNWIND_INFORMATION]), 0)
        wrong = sum(seconds for path, seconds in found
                    if path[1:2] != ["<placeholder"] and self.functions(path[1:2]) != ["stack_pointer"])
        self.assertEqual(wrong, 0)

    def test_forced_unwinding(self):
        for name, how in sources():
            with self.subTest(name):
                for evidence in self.looks():
                    (threads,), image = self.run_stacks(None, name="forced", arguments=(400,), **how)
                    self.assertEqual(len(image.threads), int(threads) + 1)
                    evidence.rate("incomplete", image.count("CPUTIME", PARTIAL), image.count("CPUTIME", [RECORDED]),
                                  most=0.02, noticed=(0, 0.1))
