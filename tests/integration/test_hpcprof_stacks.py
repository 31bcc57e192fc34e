"""Workers whose paths an agent roots in the stack of another thread, which a thread of the program created."""
import measurement_writer as mw
from hpcprof_case import HpcprofCase
from structure_model import F, P, S, Structure
from v4_reader import read_database

CREATES, JOINS = 0x1005, 0x1015
WORK, BODY, NESTED, RUNTIME, CLONE, START_THREAD = 0x2000, 0x3000, 0x4000, 0x5000, 0x100, 0x200


class BorrowedStacks(HpcprofCase):
    """Threads of the program run work(), in which a worker of a runtime runs body() for them."""

    def setUp(self):
        super().setUp()
        program = Structure(F("/s/a.c", P("main", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1010)),
                                          S(3, (0x1010, 0x1020))),
                              P("work", 10, [(WORK, WORK + 16)], S(11, (WORK, WORK + 16))),
                              P("body", 20, [(BODY, BODY + 16)], S(21, (BODY, BODY + 16))),
                              P("nested", 30, [(NESTED, NESTED + 16)], S(31, (NESTED, NESTED + 16))),
                              P("worker", 50, [(RUNTIME, RUNTIME + 16)], S(51, (RUNTIME, RUNTIME + 16)))))
        libc = Structure(F("/s/c.c", P("clone3", 1, [(CLONE, CLONE + 16)], S(2, (CLONE, CLONE + 16))),
                           P("start_thread", 5, [(START_THREAD, START_THREAD + 16)],
                             S(6, (START_THREAD, START_THREAD + 16)))))
        self.image = self.process()
        self.image.agents = [("any", "1.0", 1, "any.rules", "1.0")]
        self.exe = self.scenario.load(self.image, self.scenario.binary("program", "abcd01", program), flags=mw.MAIN)
        self.libc = self.scenario.load(self.image, self.scenario.binary("libc.so", "abcd02", libc), flags=mw.LIBC)
        self.main = self.image.thread()
        self.main.add(self.main.path([(self.exe, CREATES)]), 0, 1)

    def thread(self, join=None):
        """A thread that runs work(), in which body() has 10."""
        node = self.main.path([(self.exe, CREATES)])
        thread = self.image.thread(creator=(0, node), start=(self.exe, WORK))
        thread.add(thread.path([(self.libc, CLONE), (self.libc, START_THREAD), (self.exe, WORK), (self.exe, BODY)]),
                   0, 10)
        if join:
            self.main.joined(thread, node, (self.exe, join))
        return thread

    def worker(self, *path, owner=None):
        """A thread of the runtime, in whose own frame an agent puts a path; `owner`: index of a thread."""
        thread = self.image.thread(start=(self.exe, RUNTIME))
        node = thread.node(0, (self.libc, CLONE), association=mw.ONE_ZERO)
        ip = (self.exe, RUNTIME)
        if owner is not None:
            node = thread.node(node, ip, (mw.PLACEHOLDER, mw.STACK_OF + owner), association=mw.ONE_M)
            ip = None
        for instance, offset in path:
            node = thread.node(node, ip, (instance, offset), offset, mw.ONE_M, first=ip is not None)
            ip = None
        thread.add(node, 0, 100)
        return thread, node

    def stack(self):
        return [(self.libc, CLONE), (self.libc, START_THREAD), (self.exe, WORK), (self.exe, BODY)]

    def paths(self, database="db"):
        """{names of the entry point and the procedures of samples in body() and below: their sum}"""
        db, found = read_database(self.scenario.at(database)), {}
        own = db.metric("work", "point")
        for context, row in db.profiles[0].values.items():
            names, at = (), db.contexts[context]
            while at.id != 0:
                if at.kind in ("entry", "call"):
                    names = (at.name if at.kind == "entry" else at.function.name, *names)
                at = at.parent
            if own in row and "body" in names:
                found[names] = found.get(names, 0) + round(row[own] * mw.seconds(1))
        return found

    def run_hpcprof(self):
        self.scenario.write()
        self.scenario.run("-o", "db")
        return self.paths()

    def test_threads_that_hang_alike(self):
        self.thread(JOINS)
        self.thread(JOINS)
        self.worker(*self.stack())
        self.assertEqual(self.run_hpcprof(), {("main thread", "main", "work", "body"): 120})
        self.assertEqual(self.paths("db/physical")["<thread root>", "work", "body"], 20)

    def test_threads_that_hang_elsewhere(self):
        """It is unclear which of them met the construct."""
        self.thread(JOINS)
        self.thread()
        self.worker(*self.stack())
        self.assertEqual(self.run_hpcprof(), {("main thread", "main", "work", "body"): 10,
                                              ("<thread root>", "work", "body"): 110})

    def test_the_thread_that_is_named(self):
        """Each hangs at its own place, whatever other threads have its start routine."""
        joined, detached = self.thread(JOINS), self.thread()
        for owner in joined, detached, detached:
            self.worker(*self.stack(), owner=owner.index)
        self.assertEqual(self.run_hpcprof(), {("main thread", "main", "work", "body"): 110,
                                              ("<thread root>", "work", "body"): 210})
        self.assertEqual(self.paths("db/physical")["<thread root>", "work", "body"], 20)

    def test_a_named_thread_without_its_start_routine(self):
        """It ended with a jump to body(). Another thread's start routine is no reason to hide frames."""
        joined = self.thread(JOINS)
        other = self.image.thread(start=(self.exe, BODY))
        other.add(other.path([(self.libc, CLONE), (self.exe, BODY)]), 0, 1000)
        self.worker((self.libc, CLONE), (self.libc, START_THREAD), (self.exe, BODY), owner=joined.index)
        self.assertEqual(self.run_hpcprof(), {("main thread", "main", "work", "body"): 10,
                                              ("<thread root>", "body"): 1000,
                                              ("main thread", "main", "clone3", "start_thread", "body"): 100})

    def test_a_named_thread_that_the_file_has_lost(self):
        self.thread(JOINS)
        self.worker(*self.stack(), owner=1000)
        self.assertEqual(self.run_hpcprof(), {("main thread", "main", "work", "body"): 110})

    def test_a_path_of_the_initial_thread(self):
        self.worker((self.exe, CREATES), (self.exe, BODY), owner=0)
        self.assertEqual(self.run_hpcprof(), {("main thread", "main", "body"): 100})

    def test_threads_that_are_not_joined(self):
        self.thread()
        self.thread()
        self.worker(*self.stack())
        self.assertEqual(self.run_hpcprof(), {("<thread root>", "work", "body"): 120})

    def test_another_frame_in_the_place_of_a_start_routine(self):
        """A start routine that ended with a jump to body() has no frame."""
        self.thread(JOINS)
        self.worker((self.libc, CLONE), (self.libc, START_THREAD), (self.exe, BODY))
        self.assertEqual(self.run_hpcprof(), {("main thread", "main", "work", "body"): 10,
                                              ("<thread root>", "clone3", "start_thread", "body"): 100})

    def test_frames_around_start_routines(self):
        """Sanitizers and the like add some; up to 8 are hidden."""
        for count, routine in ((8, WORK), (9, NESTED)):
            thread = self.image.thread(start=(self.exe, routine))
            frames = [(self.libc, CLONE), *[(self.libc, START_THREAD)] * (count - 1)]
            thread.add(thread.path([*frames, (self.exe, routine), (self.exe, BODY)]), 0, count)
        self.assertEqual(self.run_hpcprof(), {
            ("<thread root>", "work", "body"): 8,
            ("<thread root>", "clone3", *["start_thread"] * 8, "nested", "body"): 9})

    def test_threads_that_a_worker_creates(self):
        """The path of their creation begins on the other thread's stack, too."""
        self.thread(JOINS)
        worker, body = self.worker(*self.stack())
        created = self.image.thread(creator=(worker.index, body), start=(self.exe, NESTED))
        created.add(created.path([(self.libc, CLONE), (self.exe, NESTED)]), 0, 1000)
        worker.joined(created, body, (self.exe, BODY + 8))
        self.assertEqual(self.run_hpcprof(), {("main thread", "main", "work", "body"): 110,
                                              ("main thread", "main", "work", "body", "nested"): 1000})

    def test_threads_that_a_worker_of_a_named_thread_creates(self):
        joined, _ = self.thread(JOINS), self.thread()
        worker, body = self.worker(*self.stack(), owner=joined.index)
        created = self.image.thread(creator=(worker.index, body), start=(self.exe, NESTED))
        created.add(created.path([(self.libc, CLONE), (self.exe, NESTED)]), 0, 1000)
        worker.joined(created, body, (self.exe, BODY + 8))
        self.assertEqual(self.run_hpcprof(), {("main thread", "main", "work", "body"): 110,
                                              ("<thread root>", "work", "body"): 10,
                                              ("main thread", "main", "work", "body", "nested"): 1000})
