"""Creation contexts: a thread's samples are below the deepest frame of its creation path that stayed live until the
thread was joined; without such a frame, below <thread root>."""
import os

from evidence import OfChance, of_ends
from logical_case import LogicalTest, procedures, walk
import profiling

MOST_CREATIONS = 16  # MAX_CREATIONS of hpcprof/attribution/thread-root.c

# Start routine or worker: the procedures below main that stayed live until the join, and the creating procedure.
WORKERS = {"pthread_worker": ([], "make_pthread"), "nested_worker": (["pthread_worker"], "pthread_worker"),
           "c11_worker": ([], "make_c11"), "thread_worker": ([], "make_thread"), "async_worker": ([], "make_async"),
           "own_thread_worker": (["use_thread"], "use_thread"), "own_async_worker": (["use_async"], "use_async")}
OWN = {name for live, maker in WORKERS.values() for name in [*live, maker]} | set(WORKERS)


def plain(name):
    """A C++ function's name without its parameters."""
    return name.split("(")[0]


class Creation(OfChance, LogicalTest):
    def profiled(self, **how):
        done, _ = self.profile(profiling.PROGRAMS / "creation", events=("CPUTIME@f2000",), **how)
        return {name: (int(line), int(burned) * 1e-9, int(counted) * 1e-9)
                for name, line, burned, counted in map(str.split, done.stdout.splitlines())}

    def paths_to(self, function, tree):
        return [path for path in walk(tree)
                if path[-1]["kind"] == "procedure" and plain(path[-1]["name"]) == function]

    def check_worker(self, worker, known, tree):
        line, *seconds = known[worker]
        if worker == "pthread_worker":
            seconds = [sum(both) for both in zip(seconds, known["nested_worker"][1:])]
        (path,) = self.paths_to(worker, tree)
        self.check_time(path[-1]["metrics"]["work"]["inclusive"], *seconds, 0.0015)
        return path

    @staticmethod
    def call_sites(path):
        return [(os.path.basename(site["file"]), site["line"])
                for site in (node.get("call_site") for node in path) if site]

    def check_live(self, known, tree):
        """Each thread is below the procedures that stayed live until it was joined. If their own code creates it, also
        through the C++ library, it is at the line of the call; else at no line."""
        for worker, (live, maker) in WORKERS.items():
            with self.subTest(worker=worker):
                path = self.check_worker(worker, known, tree)
                names = [plain(name) for name in procedures(path)]
                below_main = names[names.index("main") + 1:-1]
                self.assertEqual([name for name in below_main if name in OWN], live)
                lines = [line for file, line in self.call_sites(path) if file == "creation.cc"]
                self.assertEqual(known[worker][0] in lines, maker in live)
                if not live:
                    self.assertEqual(lines, [])
        (path,) = self.paths_to("coroutine_worker", tree)
        self.assertEqual(path[1]["name"], "<thread root>", "the stacks of two coroutines have no frame in common")

    def check_roots(self, known, tree):
        """In the physical projection a thread begins at <thread root>, with its start routine."""
        for worker in WORKERS:
            with self.subTest(worker=worker):
                path = self.check_worker(worker, {**known, "nested_worker": (0, 0, 0)}
                                         if worker == "pthread_worker" else known, tree)
                self.assertEqual(path[1]["name"], "<thread root>")
                if worker in ("pthread_worker", "nested_worker", "c11_worker"):
                    self.assertEqual(plain(path[2]["name"]), worker)

    def check_creations(self, known):
        """The threads view shows where each was created."""
        created = [[(plain(frame["name"]), frame["line"]) for frame in thread["created_at"]]
                   for thread in self.view(view="threads")["threads"] if thread["created_at"]]
        makers = {**{worker: maker for worker, (_, maker) in WORKERS.items()}, "coroutine_worker": "coroutine"}
        for worker, maker in makers.items():
            self.assertIn((maker, known[worker][0]), sum(created, []), worker)

    def test_threads_hang_where_they_were_created_if_that_stayed_live(self):
        for name, how in profiling.sources():
            with self.subTest(source=name):
                known = self.profiled(**how)
                self.check_live(known, self.tree)
                self.check_roots(known, self.view("--physical")["root"])
                self.check_creations(known)

    def test_a_chain_of_creations_is_bounded_and_loses_nothing(self):
        for found in self.looks():
            known = self.profiled()
            found.time("time", self.check_chain(), *known["chain_link"][1:], of_ends(24, 0.0005), notices=1 / 3)

    def check_chain(self):
        """The seconds of all links."""
        paths = self.paths_to("chain_link", self.tree)
        depths = [len([1 for name in procedures(path) if plain(name) == "chain_link"])
                  for path in paths]
        self.assertEqual(max(depths), MOST_CREATIONS + 1)
        outermost = [path for path, depth in zip(paths, depths) if depth == 1]
        # Threads near enough to main, and threads whose outer creations are cut off.
        self.assertEqual(sorted(path[1]["name"] for path in outermost), ["<thread root>", "main thread"])
        return sum(path[-1]["metrics"]["work"]["inclusive"] for path in outermost)

    def test_who_is_forked_in_a_thread_begins_with_its_start_routine(self):
        """Through alternating threads and forks, though each process has its own file."""
        # A thread that continues in a forked process ends with it: nobody joins it.
        wanted = {"work_of_child": ["inner_thread"], "thread_of_child": ["inner_thread", "make_in_child", "make"],
                  "work_of_grandchild": ["thread_of_child"]}
        physical = {**wanted, "thread_of_child": []}
        for name, how in profiling.sources():
            with self.subTest(source=name):
                done, images = self.profile(profiling.PROGRAMS / "forked_thread", 50,
                                            events=("CPUTIME@f2000",), **how)
                truth = {function: (int(burned) * 1e-9, int(counted) * 1e-9)
                         for function, burned, counted in map(str.split, done.stdout.splitlines())}
                self.assertEqual(sorted(image.origin for image in images), [0, 2, 2])
                for tree, wants in (self.tree, wanted), (self.view("--physical")["root"], physical):
                    for function, outer in wants.items():
                        (path,) = [path for path in self.paths_to(function, tree)
                                   if any(node["name"] == "burn" for node in path[-1]["children"])]
                        self.assertEqual(path[1]["name"], "<thread root>")
                        self.assertEqual([name for name in procedures(path) if "fork" not in name.lower()],
                                         outer + [function])
                        burned = sum(node["metrics"]["work"]["inclusive"] for node in path[-1]["children"]
                                     if node["name"] == "burn")
                        # One at the beginning, one at the end; twice that, since the lengths differ.
                        few = 4 * max(image.mean_period("CPUTIME") for image in images if image.origin)
                        self.check_time(burned, *truth[function], few)


class BorrowedStacks(LogicalTest):
    """Paths whose outer frames are on another thread's stack hang where that thread does."""
    LENDERS = ("first", "second", "third")

    def test_rests_of_functions_of_other_threads(self):
        for name, how in profiling.sources():
            with self.subTest(name):
                self.profile(profiling.PROGRAMS / "borrowed-stacks", 100, events=("CPUTIME@f2000",), **how)
                found = set()
                for path in self.sampled_paths():
                    if "work" in path:
                        self.assertEqual(path.count("work"), 1)
                        found.add(path[path.index("main"):path.index("work")] if "main" in path else path)
                self.assertEqual(found, {("main", lender, "lender", "lend") for lender in self.LENDERS})
