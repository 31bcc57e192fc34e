"""Creation contexts: a thread's samples are rooted in the call path that created it."""
import math
import os
import unittest

from logical_case import TOOLS, LogicalTest, procedures, walk
import profiling

HOW = (("perf", {}), ("timers", {"deny_perf": True}))
MAKERS = {"pthread_worker": ["make_pthread"], "nested_worker": ["make_pthread", "pthread_worker"],
          "c11_worker": ["make_c11"], "thread_worker": ["make_thread"], "async_worker": ["make_async"]}
MOST_CREATIONS = 16  # hpcprof/placement.h
LINKS = 24
LIBC = {"clone3", "start_thread"}


def plain(name):
    """A C++ function's name without its parameters."""
    return name.split("(")[0]


class Creation(LogicalTest):
    def profiled(self, **how):
        done, _ = self.profile(profiling.PROGRAMS / "creation", events=("CPUTIME@f2000",), **how)
        return {name: (int(line), int(burned) * 1e-9, int(counted) * 1e-9)
                for name, line, burned, counted in map(str.split, done.stdout.splitlines())}

    def paths_to(self, function, tree):
        return [path for path in walk(tree)
                if path[-1]["kind"] == "procedure" and plain(path[-1]["name"]) == function]

    def check_workers(self, known, tree):
        for worker, makers in MAKERS.items():
            line, *seconds = known[worker]
            if worker == "pthread_worker":
                seconds = [sum(both) for both in zip(seconds, known["nested_worker"][1:])]
            with self.subTest(worker=worker):
                (path,) = self.paths_to(worker, tree)
                names = [plain(name) for name in procedures(path)]
                start = names.index("main")
                self.assertEqual([name for name in names[start + 1:-1] if name in sum(MAKERS.values(), [])],
                                 makers)
                self.assertIn(("creation.cc", line),
                              [(os.path.basename(site["file"]), site["line"])
                               for site in (node.get("call_site") for node in path) if site])
                self.check_time(path[-1]["metrics"]["work"]["inclusive"], *seconds, 0.0015)

    def test_threads_are_rooted_where_they_were_created(self):
        for name, how in HOW:
            with self.subTest(source=name):
                known = self.profiled(**how)
                self.check_workers(known, self.tree)
                self.check_workers(known, self.view("--physical")["root"])

    def test_a_chain_of_creations_is_bounded_and_loses_nothing(self):
        known = self.profiled()
        paths = self.paths_to("chain_link", self.tree)
        depths = [len([1 for name in procedures(path) if plain(name) == "chain_link"])
                  for path in paths]
        self.assertEqual(max(depths), MOST_CREATIONS + 1)
        outermost = [path for path, depth in zip(paths, depths) if depth == 1]
        # Those near enough to main, and those whose outer creations are cut off.
        self.assertEqual(sorted("main" in map(plain, procedures(path)) for path in outermost),
                         [False, True])
        self.check_time(sum(path[-1]["metrics"]["work"]["inclusive"] for path in outermost),
                        *known["chain_link"][1:], 4 * 0.0005 * math.sqrt(24 / 6))

    def test_who_is_forked_in_a_thread_stays_where_that_was_created(self):
        """Through threads and forks in turn, though each process has a file of its own."""
        inner = ["main", "make", "outer_thread", "make", "inner_thread"]
        below = inner + ["make_in_child", "make", "thread_of_child"]
        wanted = {"work_of_child": inner, "thread_of_child": below[:-1], "work_of_grandchild": below}
        for name, how in HOW:
            with self.subTest(source=name):
                done, images = self.profile(profiling.PROGRAMS / "forked_thread", 50,
                                            events=("CPUTIME@f2000",), **how)
                truth = {function: (int(burned) * 1e-9, int(counted) * 1e-9)
                         for function, burned, counted in map(str.split, done.stdout.splitlines())}
                self.assertEqual(sorted(image.origin for image in images), [0, 2, 2])
                for tree in (self.tree, self.view("--physical")["root"]):
                    for function, outer in wanted.items():
                        (path,) = self.paths_to(function, tree)
                        names = procedures(path)
                        self.assertEqual(path[1]["name"], "main thread")
                        self.assertEqual([at for at in names[names.index("main"):] if at not in LIBC],
                                         outer + [function])
                        burned = sum(node["metrics"]["work"]["inclusive"] for node in path[-1]["children"]
                                     if node["name"] == "burn")
                        # One at the begin, one at the end, and twice that: they are no equal lengths.
                        few = 4 * max(image.mean_period("CPUTIME") for image in images if image.origin)
                        self.check_time(burned, *truth[function], few)


if __name__ == "__main__":
    unittest.main()
