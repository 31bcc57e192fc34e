"""What the integration tests share: running the tools, reading measurements, other users."""
import atexit
import collections
import contextlib
import ctypes
import functools
import hashlib
import math
import os
import pathlib
import re
import resource
import shutil
import struct
import subprocess
import tempfile
import time
import unittest

from evidence import Chance

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ORDINARY_USER = 65534  # nobody
SYS_PERF_EVENT_OPEN = 298  # x86-64


def build_for_everybody():
    """The build directory; a copy where an ordinary user can't reach it (a clone below /root) or where
    LD_PRELOAD can't name it (a path with a blank or a colon). tests/run.py makes one copy for all test
    classes and names it in BUILD_FOR_EVERYBODY."""
    if "BUILD_FOR_EVERYBODY" in os.environ:
        return pathlib.Path(os.environ["BUILD_FOR_EVERYBODY"])
    build = pathlib.Path(os.environ.get("BUILD", ROOT / "build")).resolve()
    can_be_preloaded = not re.search(r"[ :]", str(build))
    if can_be_preloaded and (os.geteuid() != 0 or
                             subprocess.run(["test", "-x", build / "bin" / "hpcrun"],
                                            user=ORDINARY_USER).returncode == 0):
        return build
    copy = pathlib.Path(tempfile.mkdtemp(prefix="hpctest-build-"))
    atexit.register(shutil.rmtree, copy, ignore_errors=True)
    os.chmod(copy, 0o755)
    for part in ("bin", "lib", "tests/tools", "tests/programs", "address", "thread"):
        if (build / part).exists():
            shutil.copytree(build / part, copy / part, ignore=shutil.ignore_patterns("obj"))
    subprocess.run(["chmod", "-R", "a+rX", copy], check=True)
    return copy


def cache_of_structures():
    """A folder for XDG_CACHE_HOME. All test classes of tests/run.py have one, so that hpcstruct reads each system
    library once (libc: 0.4 s)."""
    if "CACHE_OF_STRUCTURES" in os.environ:
        return pathlib.Path(os.environ["CACHE_OF_STRUCTURES"])
    cache = pathlib.Path(tempfile.mkdtemp(prefix="hpctest-cache-"))
    atexit.register(shutil.rmtree, cache, ignore_errors=True)
    return cache


def compile_once(path, *command, **options):
    """Runs a compiler with `-o path`, or copies what a test with the same command got: what other tests write is no
    source of it. Returns what subprocess.run does."""
    kept = CACHE / hashlib.sha1(repr([*map(str, command)]).encode()).hexdigest()
    if kept.exists():
        shutil.copy(kept, path)
        return subprocess.CompletedProcess(command, 0, "", "")
    done = subprocess.run([*command, "-o", path], capture_output=True, text=True, check=False, **options)
    if done.returncode == 0:
        os.rename(shutil.copy(path, f"{kept}.{os.getpid()}"), kept)
    return done


BUILD = build_for_everybody()
CACHE = cache_of_structures()
HPCRUN = BUILD / "bin" / "hpcrun"
PROGRAMS = BUILD / "tests" / "programs" / "hpcrun"
TOOLS = BUILD / "tests" / "tools"

# Codes of doc/FORMAT-hpcrun.md, section 8.
FIRED, RECORDED, IDLE, NOBODY = 0, 1, 2, 3
DROPPED = range(16, 64)
NO_MEMORY, ENDING = 17, 18  # of those: without room; never came before the end
PARTIAL = range(64, 96)
KERNEL_UNATTRIBUTED = 96

RUNNING = 0  # state of a process that was killed: section 5, PROCESS CLOCK

TICK = 1 / os.sysconf("SC_CLK_TCK")  # seconds, in which /proc counts
KERNEL_TICK = 0.005  # seconds: the scheduler's, or less (Debian: 0.004)

TIME_UNIT = 1e-9 / 1024  # seconds per unit of a time in a measurement file


# Codes of sample sources: doc/FORMAT-hpcrun.md, section 8.
PERF_SOURCES, WALL_CLOCK_SOURCE, OUTSIDE_SOURCES = {1, 2, 5}, 4, {6, 7}


def have_perf():
    """Whether this machine lets us open perf's task clock with kernel samples."""
    attributes = bytearray(112)  # struct perf_event_attr of PERF_ATTR_SIZE_VER5
    PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, DISABLED = 1, 1, 1
    struct.pack_into("=IIQQ16xQ", attributes, 0, PERF_TYPE_SOFTWARE, len(attributes), PERF_COUNT_SW_TASK_CLOCK,
                     1_000_000, DISABLED)
    buffer = (ctypes.c_char * len(attributes)).from_buffer(attributes)
    fd = ctypes.CDLL(None).syscall(SYS_PERF_EVENT_OPEN, buffer, 0, -1, -1, 0)
    if fd >= 0:
        os.close(fd)
    return fd >= 0


@functools.cache
def outside_is_allowed():
    """Whether this machine lets us measure our own processes from outside."""
    probe = [BUILD / "lib" / "hpcrun-outside", "check", ""]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def needs_outside(test):
    return unittest.skipUnless(outside_is_allowed(), "perf_event_open is not permitted here")(test)


PERF_IS_REFUSED = not have_perf()
needs_perf = unittest.skipIf(PERF_IS_REFUSED, "perf_event_open is not permitted here")
PERF_NOTICE = re.compile(r"^hpcrun: CPUTIME uses POSIX timers: .*\n", re.M)


def without_perf_notice(stderr):
    """What hpcrun printed, without its line that perf is refused where the whole machine refuses it."""
    return PERF_NOTICE.sub("", stderr) if PERF_IS_REFUSED else stderr


def cpu_ticks():
    """Sums of the fields of /proc/stat, in seconds, of the CPUs that this process may use. The kernel counts in
    ticks."""
    usable = {f"cpu{cpu}" for cpu in os.sched_getaffinity(0)}
    rows = [line.split() for line in pathlib.Path("/proc/stat").read_text().splitlines()]
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    columns = zip(*(map(int, fields) for name, *fields in rows if name in usable))
    return dict(zip(names, (sum(column) * TICK for column in columns)))


def stolen_cpu():
    """Seconds, since some fixed point, that a hypervisor took."""
    return cpu_ticks()["steal"]


def cpu_of_others():
    """Seconds, since some fixed point, that the CPUs that this process may use were busy with others than it and
    its children that have ended, or that a hypervisor took. The kernel cuts the idle time of each CPU to a tick."""
    ticks, now = cpu_ticks(), time.monotonic()
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return (len(os.sched_getaffinity(0)) * now - ticks["idle"] - ticks["iowait"]
            - sum(usage.ru_utime + usage.ru_stime for usage in (own, children)))


@contextlib.contextmanager
def real_time_priority():
    """Commands of this block get a CPU at once, however busy the machine is: if that is allowed, which is what it
    yields. They must leave the CPUs to others most of the time."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


with real_time_priority() as allowed:
    REAL_TIME_IS_ALLOWED = allowed


def sources():
    """The ways to sample CPU time that can be tried here: (name, keyword arguments of measure)."""
    ways = [("timers", {"deny_perf": True})]
    if not PERF_IS_REFUSED:
        ways.insert(0, ("perf", {}))
    return ways


class Thread:
    def __init__(self, fields):
        self.index, self.tid, self.kind = int(fields["thread"]), int(fields["tid"]), int(fields["kind"])
        self.name = fields["name"]
        self.nodes = int(fields["nodes"])
        self.wall, self.cpu = int(fields["wall"]) * 1e-9, int(fields["cpu"]) * 1e-9
        self.ended = fields["ended"] == "1"
        self.fates = collections.defaultdict(lambda: (0, 0))  # (event, code) -> count, amount
        self.sources = collections.defaultdict(set)  # event -> codes of sample sources
        self.sums = {}  # event -> amount of all nodes of the tree
        self.trace = None  # a Trace, if there are records
        self.marks, self.lost_marks = [], 0  # (CLOCK_MONOTONIC, ns; kind; name)
        self.paths = []  # (metric, value, [frame, innermost first])

    def count(self, event, codes):
        return sum(n for (e, c), (n, _) in self.fates.items() if e == event and c in codes)

    def amount(self, event, codes):
        return sum(a for (e, c), (_, a) in self.fates.items() if e == event and c in codes)


class Trace:
    """The time line of a thread: sums of its records by state."""

    def __init__(self, words):
        self.event, fields = words[0], pairs(words[1:9])
        self.step, self.records = int(fields["step"]), int(fields["records"])
        self.first, self.last = int(fields["from"]) * 1e-9, int(fields["to"]) * 1e-9  # since the thread began
        self.states = dict(enumerate(map(int, words[9:]), 1))

    def amount(self, *states):
        return sum(self.states[state] for state in states)


class Image:
    """One measurement file."""

    def __init__(self, fields):
        self.path = fields["file"]
        self.pid, self.parent = int(fields["pid"]), int(fields["ppid"])
        self.exec_sequence, self.origin = int(fields["exec"]), int(fields["origin"])
        self.state, self.detail = int(fields["state"]), int(fields["detail"])
        self.wall, self.cpu = int(fields["wall"]) * 1e-9, int(fields["cpu"]) * 1e-9
        self.startup = int(fields["startup"]) * 1e-9
        self.epoch = int(fields["epoch"]) * 1e-9  # wall clock when the monotonic one began
        self.executable = fields.get("executable", "")  # it may have ended before it was known
        self.size = os.path.getsize(self.path)
        self.problems, self.modules, self.threads = [], [], []

    def count(self, event, codes):
        return sum(thread.count(event, codes) for thread in self.threads)

    def seconds(self, event, codes):
        return sum(thread.amount(event, codes) for thread in self.threads) * TIME_UNIT

    def mean_period(self, event):
        """What a sample stands for, in seconds: more than was asked for where handling one takes as long. A program
        that got less CPU time than two periods, for all of its life, may have no sample."""
        fired = self.count(event, [FIRED])
        if not fired and self.cpu < 0.01:
            raise unittest.SkipTest(f"others took the CPU: the program had {self.cpu:.4f} s of it, and no sample")
        return self.seconds(event, [FIRED]) / fired


def check_sums(image):
    """What a thread's tree has of each event is what its fates say was recorded, to the unit. A killed process may
    have written the one and not yet the other, and a damaged file may have lost one of them."""
    for thread in image.threads if image.state != RUNNING and not image.problems else []:
        for event, amount in thread.sums.items():
            recorded = thread.amount(event, [RECORDED])
            if amount != recorded:
                raise AssertionError(f"{image.path}, thread {thread.index}, {event}: the tree has {amount}, "
                                     f"recorded was {recorded}")
        if thread.trace:
            check_trace(image, thread)


def check_trace(image, thread):
    """The records of a thread have the time of its samples, to the unit; if each sample has a record, by fate, too. Of
    samples that were lost from outside nothing but their number is known; the kernel's time that perf hides has no
    samples. Ticks become times within a millisecond."""
    trace = thread.trace
    wrong = []
    hidden = thread.amount(trace.event, [KERNEL_UNATTRIBUTED])
    without = [ENDING, KERNEL_UNATTRIBUTED] + [NO_MEMORY] * (thread.sources[trace.event] <= OUTSIDE_SOURCES)
    if trace.amount(*range(1, 10)) != thread.amount(trace.event, [FIRED]) - thread.amount(trace.event, without):
        wrong.append("sum")
    if trace.step == 1:
        for states, fates in (((1, 3, 7, 8), [RECORDED]), ((5,), [NOBODY]), ((4, 6), [IDLE])):
            if trace.amount(*states) != thread.amount(trace.event, fates) - (hidden if RECORDED in fates else 0):
                wrong.append(f"sum of states {states}")
    if not 0 <= trace.first <= trace.last <= thread.wall + 0.001:
        wrong.append("time")
    if wrong:
        raise AssertionError(f"{image.path}, thread {thread.index}, {trace.event}: {', '.join(wrong)} of the trace: "
                             f"{vars(trace)}, fates {dict(thread.fates)}, wall {thread.wall}")


def pairs(words):
    return dict(zip(words[::2], words[1::2]))


def split_quoted(line):
    """The words of a line. The name of a thread is in quotes, and may have spaces."""
    before, _, rest = line.partition("'")
    name, _, after = rest.rpartition("'")
    return [*before.split(), name, *after.split()]


def read_measurements(directory, paths=False):
    """The images in a measurement directory, as dump-measurement prints them. Whatever program a test profiles: its
    trees have what was recorded."""
    files = sorted(str(p) for p in pathlib.Path(directory).glob("*.hpcrun"))
    if not files:
        return []
    command = [TOOLS / "dump-measurement"] + (["--paths"] if paths else []) + files
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    images = []
    for line in out.splitlines():
        words = split_quoted(line) if line.startswith("thread ") else line.split()
        if words[0] == "file":
            images.append(Image(pairs(words)))
        elif words[0] == "problem":
            images[-1].problems.append(line)
        elif words[0] == "module":
            images[-1].modules.append(line)
        elif words[0] == "thread":
            images[-1].threads.append(Thread(pairs(words)))
        elif words[0] == "fate":
            thread, key = images[-1].threads[-1], (words[2], int(words[3]))
            count, amount = thread.fates[key]  # of the thread's other sources of the event
            thread.fates[key] = (count + int(words[4]), amount + int(words[5]))
            thread.sources[words[2]].add(int(words[6]))
        elif words[0] == "sum":
            images[-1].threads[-1].sums[words[2]] = int(words[3])
        elif words[0] == "trace":
            images[-1].threads[-1].trace = Trace(words[2:])
        elif words[0] == "mark":
            images[-1].threads[-1].marks.append((int(words[2]), int(words[3]), words[4]))
        elif words[0] == "marks":
            images[-1].threads[-1].lost_marks = int(words[3])
        elif words[0] == "path":
            images[-1].threads[-1].paths.append((words[2], int(words[3]), words[4:]))
    for image in images:
        check_sums(image)
    return images


def is_partial(path):
    """Whether a path's outer end is the placeholder of a partial one, which is two words."""
    return path[-2:-1] == ["<placeholder"]


def read_ledger(path):
    """(pid, tid, burned, used) of each thread, the times in seconds: tests/programs/hpcrun/mapped-ledger.h. Before the
    program has made the file there are none."""
    data = path.read_bytes() if path.exists() else b""
    return [(pid, tid, burned * 1e-9, used * 1e-9)
            for pid, tid, burned, used in struct.iter_unpack("<IIQQ", data) if tid]


HANG = 600  # seconds: only what hangs takes longer, on any machine


def wait_until(condition, what):
    """Waits for what other processes do."""
    end = time.monotonic() + HANG
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"no {what} in {HANG} s: it hangs")
        time.sleep(0.005)


class ProfilingTest(unittest.TestCase):
    """A test with a directory of its own, which an ordinary user can write to."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="hpctest-"))
        os.chmod(self.directory, 0o777)
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def run_tool(self, *command, **options):
        options.setdefault("timeout", 600)
        options.setdefault("cwd", self.directory)
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              errors="replace", **options)
        done.whole_stderr, done.stderr = done.stderr, without_perf_notice(done.stderr)
        return done

    def compile_text(self, name, text, *options, compiler="gcc", suffix=".c"):
        """A program, or a library, of a test's own source; its path."""
        source, built = self.directory / f"{name}{suffix}", self.directory / name
        source.write_text(text)
        subprocess.run([compiler, "-o", built, source, *options], check=True)
        return built

    def measure(self, *command, events=("CPUTIME@f1000",), deny_perf=False, user=None, options=(),
                status=0, paths=False):
        """Profiles a command; returns what it printed and its images. Fails when the profiler
        changes its status or loses anything in the file."""
        where = self.directory / f"measurements-{len(list(self.directory.iterdir()))}"
        words = [HPCRUN, "-o", where, *options]
        for event in events:
            words += ["-e", event]
        words += ["--", *command]
        if deny_perf:
            words = [TOOLS / "deny-perf", *words]
        others, stolen = cpu_of_others(), stolen_cpu()
        done = self.run_tool(*words, user=user)
        # Seconds of CPU time while it ran: taken by other processes or a hypervisor; of these, by the latter.
        self.taken_by_others, self.stolen = max(0, cpu_of_others() - others), stolen_cpu() - stolen
        self.assertEqual(done.returncode, status, done.stderr)
        self.measurements, self.has_timers = where, deny_perf or not have_perf()
        images = read_measurements(where, paths=paths)
        for image in images:
            self.assertEqual(image.problems, [], image.path)
            self.check_sources(image, deny_perf)
        self.check_summary_lines(where / "hpcrun.log", images)
        return done, images

    def make_database(self, *options, measurements=None):
        """hpcprof's, of what was measured last or of another directory."""
        self.database = self.directory / f"database-{len(list(self.directory.iterdir()))}"
        done = self.run_tool(BUILD / "bin" / "hpcprof", "-o", self.database, *options, measurements or self.measurements,
                             env=dict(os.environ, XDG_CACHE_HOME=str(CACHE)))
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.database

    def late(self, changes, beside_own_threads=False):
        """The Chance that samples are late at so many changes from one code to other, and charge time to the wrong one
        of the two: as often to the second of them as to the first. A timer of CPU time waits for the kernel's next
        tick if another thread ran when it was due, of other processes or of this one; perf does not."""
        by_others = changes if beside_own_threads else math.ceil(self.taken_by_others / KERNEL_TICK)
        n_late = min(changes, by_others) * self.has_timers
        return Chance(n_late * KERNEL_TICK**2 / 3, KERNEL_TICK, n_late * KERNEL_TICK)

    def check_sources(self, image, deny_perf):
        """Where perf is refused no sample is said to be perf's; wall time is measured by one clock, or from outside."""
        for thread in image.threads:
            for event, sources in thread.sources.items():
                if deny_perf:
                    self.assertFalse(sources & PERF_SOURCES, f"{image.path}: {event}: {sources}")
                if event == "REALTIME":
                    self.assertIn(sources, [{WALL_CLOCK_SOURCE}, *({source} for source in OUTSIDE_SOURCES)], image.path)

    SUMMARY_LINE = re.compile(r"\[(\d+)\](?: rank \d+)?: (.*) in [\d.]+ s CPU, .*; (\d+) dropped, (\d+) partial paths")

    @staticmethod
    def counts_of_fates(images):
        """Samples that fired, that were dropped, and whose paths are partial, of all events together."""
        events = {event for image in images for thread in image.threads for event, _ in thread.fates}
        return tuple(sum(image.count(event, codes) for image in images for event in events)
                     for codes in ([FIRED], DROPPED, PARTIAL))

    def check_summary_lines(self, log, images):
        """What hpcrun says last of a process is what the files have of it: of its last image, or of all of them
        where it called exec. Lines before that, of other images or of an exec that failed, say no more."""
        last = {}
        for pid, events, dropped, partial in self.SUMMARY_LINE.findall(log.read_text() if log.exists() else ""):
            fired = sum(int(count) for count in re.findall(r"(\d+) samples? of", events))
            last.setdefault(int(pid), []).append((fired, int(dropped), int(partial)))
        for pid, lines in last.items():
            own = [image for image in images if image.pid == pid]
            total = self.counts_of_fates(own)
            for line in lines:
                self.assertTrue(all(said <= counted for said, counted in zip(line, total)), (str(log), line, total))
            self.assertIn(lines[-1], [total, *(self.counts_of_fates([image]) for image in own)], log)

    def small_file_system(self, size):
        """A directory with a tmpfs of this size. Below 16 MiB there is no arena file."""
        if os.geteuid() != 0:
            self.skipTest("needs root, to mount a small file system")
        small = self.directory / "small"
        small.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", small]).returncode != 0:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", small])
        return small

    def check_fates(self, images):
        """fired = recorded + idle + nobody working + dropped, to the unit, per thread and event."""
        for image in images:
            for thread in image.threads:
                for event in {event for event, _ in thread.fates}:
                    rest = [RECORDED, IDLE, NOBODY, *DROPPED]
                    self.assertEqual(thread.count(event, [FIRED]), thread.count(event, rest))
                    self.assertEqual(thread.amount(event, [FIRED]), thread.amount(event, rest))

    def check_time(self, seen, burned, counted, most):
        """What a program `burned` on purpose was sampled, and no more than the kernel `counted`, within
        2 % and `most`: the largest possible error, 1.5 periods for each thread, whose first phase and tail are left
        to chance. With many threads that is too much: Evidence.time. What was counted also has what it cost to
        begin and to end sampling, which is not sampled, and on a slow machine is not small to a short process.
        All in seconds."""
        self.assertGreater(seen, 0.98 * burned - most)
        self.assertLess(seen, 1.02 * counted + most)


def program(name):
    return PROGRAMS / name


NM = ("nm", "--plugin", "/dev/null")  # without clang's plugin for link-time optimization, which takes 30 ms to open


def symbols(path):
    """name -> (address, size) of the functions of a program, as nm sees them."""
    return symbols_of_file(path, os.stat(path).st_mtime_ns)


@functools.cache
def symbols_of_file(path, _):
    out = subprocess.run([*NM, "-S", path], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [tTwW] (\S+)$", out, re.M)
    return {name: (int(address, 16), int(size, 16)) for address, size, name in found}


def functions(frames, binary, module=None):
    """The functions of a program on a call path, innermost first. A frame is "module+offset", where the module is the
    name of the program's file, or another one."""
    prefix = f"{binary.name if module is None else module}+"
    changed = os.stat(binary).st_mtime_ns
    return [name for frame in frames if frame.startswith(prefix)
            for name in functions_at(binary, changed, frame[len(prefix):])]


@functools.cache
def functions_at(binary, _, offset):
    """Paths have the same frames again and again."""
    return [name for name, (start, size) in symbols(binary).items() if start <= int(offset, 16) < start + size]
